"""Every problem of a schema that an author wrote, in one go: for the loader of agent files and `mm tools check`."""

from __future__ import annotations

from mm.messages import JSON
from mm.schemas.defaults import refused_defaults
from mm.schemas.engine import BrokenSchemaError, compile_whole
from mm.schemas.mend import SchemaProblem, mend

__all__ = ["SchemaProblem", "problems"]


def problems(document: JSON) -> list[SchemaProblem]:
    """What is wrong in a schema, by its path; empty if it can be used as written."""
    mended = mend(document)
    found = list(mended.problems)
    if not found:
        try:
            compile_whole(mended.document)
            found += refused_defaults(mended)
        except BrokenSchemaError as error:
            found.append(SchemaProblem(error.path, f"it cannot be used: {error.reason}", "correct the schema"))
    return sorted(found, key=lambda problem: [str(token) for token in problem.pointer])
