"""Schemas of MCP servers, made usable where that is possible."""

from __future__ import annotations

from mm.messages import JSON
from mm.schemas.engine import BrokenSchemaError, compile_whole
from mm.schemas.mend import mend
from mm.schemas.references import pointer

__all__ = ["BrokenSchemaError", "repaired"]


def repaired(document: JSON) -> tuple[JSON, list[str]]:
    """The schema with every unusable position accepting anything, and one warning for each of them.

    Without problems the document is returned as it is. Raises BrokenSchemaError if the whole cannot be used.
    """
    mended = mend(document)
    if not isinstance(document, dict) or any(not problem.pointer for problem in mended.problems):
        reason = mended.problems[0].message if mended.problems else "it is not a JSON object"
        raise BrokenSchemaError(reason)
    if isinstance(mended.document, bool):
        return {"type": "object"}, [f"{pointer(problem.pointer)}: {problem.message}" for problem in mended.problems]
    if mended.document.get("type") not in (None, "object", ["object"]):
        raise BrokenSchemaError(f"its `type` is {mended.document['type']}, but parameters are an object")
    compile_whole(mended.document)
    warnings = [f"{pointer(problem.pointer)}: {problem.message}" for problem in mended.problems]
    return (mended.document if warnings else document), warnings
