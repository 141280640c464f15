"""The tools as the model is shown them, from request to request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mm.messages import ToolOffer
from mm.models import offers
from mm.tools.catalog import Catalog
from mm.tools.spec import Tool


class Offered:
    """Made once for each set of tools, so that requests stay the same. `refresh` brings the catalog up to date."""

    def __init__(self, catalog: Catalog, refresh: Callable[[Catalog], None]) -> None:
        self._catalog = catalog
        self._refresh = refresh
        self._tools: Sequence[Tool] = ()
        self._made: list[ToolOffer] = []

    def __call__(self) -> Sequence[ToolOffer]:
        self._refresh(self._catalog)
        tools = self._catalog.tools()
        if list(map(id, tools)) != list(map(id, self._tools)):
            self._tools = tools
            self._made = [offers.offer(tool.name, tool.description, tool.schema) for tool in tools]
        return self._made
