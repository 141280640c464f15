"""The one door to the validation library, which is loaded by the first schema that is compiled.

Start-up and the loading of an agent file reach this package without needing a validator, and the library takes about
as long to import as all of mm: hence a late import by name instead of one at the top.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any, Protocol

from mm.messages import JSON

BACKTRACKS = 100_000
"""Steps that a pattern with look-around or back-references may take before it counts as not matching."""


class BrokenSchemaError(Exception):
    """The library cannot use a schema. `path` is the place in the schema, as far as it is known."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


class Validator(Protocol):
    def is_valid(self, instance: JSON) -> bool: ...

    def iter_errors(self, instance: JSON) -> Any: ...

    def validate(self, instance: JSON) -> None: ...


@lru_cache(maxsize=1)
def _library() -> Any:
    return importlib.import_module("jsonschema_rs")


@lru_cache(maxsize=1)
def _options() -> dict[str, Any]:
    patterns = _library().FancyRegexOptions(backtrack_limit=BACKTRACKS)
    return {"offline": True, "validate_formats": False, "pattern_options": patterns}


def compile_whole(document: JSON) -> Validator:
    """A validator of the document's root. Raises BrokenSchemaError. Nothing is ever fetched."""
    return _compile("validator_for", document)  # type: ignore[no-any-return]


def compile_parts(document: JSON) -> Any:
    """A mapping from `#/pointer` to a validator of that subschema within its document. Raises BrokenSchemaError."""
    return _compile("validator_map_for", document)


def _compile(function: str, document: JSON) -> Any:
    try:
        return getattr(_library(), function)(document, **_options())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of the library is no Exception
        path = tuple(getattr(error, "instance_path", None) or ())
        lines = str(getattr(error, "message", None) or error).strip().splitlines()
        raise BrokenSchemaError((lines or [type(error).__name__])[0][:300], path) from None


_PLAIN_PATTERN = re.compile(
    r"(?:[\w ^$.*+|/,:;@#=~\"'<>!-]|\[\^?[\w .,:/@_-]+\]|\((?!\?)|\)|\\[dws./+-]|\{[0-9,]{1,3}\})*"
)
"""Patterns that every engine reads alike: they are known to be sound without loading the library."""


def _compiles(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return len(text) <= 200


def is_pattern(text: str) -> bool:
    """Whether the text is a regular expression that the validator understands (ECMA 262, with limits of size)."""
    if _PLAIN_PATTERN.fullmatch(text) and _compiles(text):
        return True
    try:
        compile_whole({"pattern": text})
    except BrokenSchemaError:
        return False
    return True


@lru_cache(maxsize=512)
def pattern_validator(pattern: str) -> Validator:
    """A validator of texts that the pattern is found in."""
    return compile_whole({"type": "string", "pattern": pattern})


def first_error(validator: Validator, instance: JSON) -> Any:
    """The first validation error, or None. Cheap on instances of any size, unlike all the errors."""
    try:
        validator.validate(instance)
    except _library().ValidationError as error:
        return error
    return None
