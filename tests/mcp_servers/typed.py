"""A server as people write them: functions with pydantic types, whose schemas the SDK makes. Tells what it received."""

from __future__ import annotations

import json
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

Count = TypeAliasType("Count", Annotated[int, Field(ge=1)])
Flag = TypeAliasType("Flag", bool)


class Filters(BaseModel):
    labels: list[str]
    inner: Filters | None = None


class Person(BaseModel):
    first_name: str = Field(alias="first name")


SERVER = MCPServer("typed")


@SERVER.tool()
def search(
    count: Count,
    verbose: Annotated[Flag, Field(description="Say more.")] = False,
    filters: Filters | None = None,
    person: Person | None = None,
) -> str:
    """Search for something."""
    seen = {"count": count, "verbose": verbose}
    if filters is not None:
        seen["filters"] = filters.model_dump(exclude_none=True)
    if person is not None:
        seen["person"] = person.model_dump(by_alias=True)
    return json.dumps(seen)


SERVER.run("stdio")
