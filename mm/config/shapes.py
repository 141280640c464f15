"""What a key of the agent file is made of: its name, what it says, and the JSON Schema of its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mm.config.quantities import LARGEST, LONGEST, SHORTEST, SMALLEST
from mm.messages import JSON

Shape = Mapping[str, JSON]

TEXT: Shape = {"type": ["string", "number", "boolean"]}
BOOLEAN: Shape = {"type": "boolean"}
COUNT: Shape = {"type": "integer", "minimum": 0}
NUMBER: Shape = {"type": "number"}
TEXTS: Shape = {"type": "array", "items": TEXT}
TEXT_MAP: Shape = {"type": "object", "additionalProperties": TEXT}
ANY: Shape = {}
SECONDS: Shape = {
    "anyOf": [
        {"type": "number", "minimum": SHORTEST, "maximum": LONGEST},
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?\s*(ms|s|m|h)$"},
    ]
}
SIZE: Shape = {
    "anyOf": [
        {"type": "integer", "minimum": SMALLEST, "maximum": LARGEST},
        {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?\s*([kKmMgG]([iI]?[bB])?|[bB])?$"},
    ]
}


def section(name: str) -> Shape:
    """A reference to a section of the table."""
    return {"$ref": f"#/$defs/{name}"}


def list_of(shape: Shape) -> Shape:
    return {"type": "array", "items": shape}


def map_of(shape: Shape) -> Shape:
    return {"type": "object", "additionalProperties": shape}


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `aliases` are read as well; `misspellings` are what other programs call it, and are problems."""

    name: str
    says: str
    shape: Shape
    required: bool = False
    aliases: tuple[str, ...] = ()
    misspellings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The keys of one mapping. `advice` says more about keys that people expect here and that mm does not have."""

    name: str
    title: str  # as in "a tool entry"
    keys: tuple[Key, ...]
    advice: Mapping[str, str] | None = None
    one_of: tuple[str, ...] = ()  # exactly one of these keys is there

    def find(self, name: str) -> Key | None:
        return next((key for key in self.keys if name == key.name or name in key.aliases), None)
