"""A JSON Schema as its author wrote it: kept untouched, compiled when first needed."""

from __future__ import annotations

from mm.messages import JSON


class Schema:
    """The author's schema of a tool's parameters. Arguments are judged by it and by nothing else.

    `compiled_form` belongs to `mm.schemas.compiled`, which fills it when the first call is checked.
    """

    __slots__ = ("compiled_form", "document")

    def __init__(self, document: JSON) -> None:
        self.document = document
        self.compiled_form: object = None
