"""Types of parameters by the words of other languages: `int`, `date`, `list[str]`, `string?`."""

from __future__ import annotations

import re

from mm.config.keys import PARAMETER_TYPES
from mm.config.near import nearest
from mm.messages import JSON

_WORDS: dict[str, str] = {
    **{kind: kind for kind in PARAMETER_TYPES},
    **dict.fromkeys(("str", "text", "char", "varchar", "password", "regex", "path", "file", "filename"), "string"),
    **dict.fromkeys(("folder", "directory", "dir", "name", "word", "enum", "choice", "select", "any"), "string"),
    **dict.fromkeys(("int", "long", "int32", "int64", "uint", "count", "year", "port"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "numeric", "real", "float64", "percent", "currency"), "number"),
    **dict.fromkeys(("bool", "flag", "switch", "yes/no", "true/false"), "boolean"),
    **dict.fromkeys(("list", "tuple", "set", "sequence", "strings"), "array"),
    **dict.fromkeys(("dict", "map", "mapping", "hash", "json", "struct", "record"), "object"),
}
_FORMATS = {
    "date": "date",
    "time": "time",
    **dict.fromkeys(("datetime", "date-time", "date_time", "timestamp"), "date-time"),
    "email": "email",
    **dict.fromkeys(("url", "uri", "link"), "uri"),
    "uuid": "uuid",
    "ipv4": "ipv4",
    "ipv6": "ipv6",
    "hostname": "hostname",
    "duration": "duration",
}
_LIST = re.compile(r"(?:list|array|sequence|set|tuple)\s*(?:\[|<|\(|of\s)\s*(\w+?)s?\s*[\]>)]?|(\w+)\s*\[\s*\]")
_CHOICE = re.compile(r"(?:enum|choice|choices|select|one of|literal)\s*[\[(<:]\s*(.+?)\s*[\])>]?", re.IGNORECASE)
_OPTIONAL = re.compile(
    r"(?:optional|maybe|nullable)\s*[\[<( ]\s*([^\])>]+)[\])>]?|(.+?)\?|(.+?)\s*\|\s*(?:null|none|undefined)"
)
_LONGEST = 200  # characters of an optional type, which may be one of an optional type, and so on


def meant_type(text: str) -> dict[str, JSON]:
    """The keys of a parameter that say what a type of another language says; {} if it is none."""
    word = text.strip().lower()
    if word in _WORDS:
        return {"type": _WORDS[word]}
    if word in _FORMATS:
        return {"type": "string", "format": _FORMATS[word]}
    optional = _OPTIONAL.fullmatch(word) if len(word) <= _LONGEST else None
    if optional:
        inner = meant_type(next(group for group in optional.groups() if group))
        return {**inner, "required": False} if inner else {}
    choice = _CHOICE.fullmatch(text.strip())
    if choice:
        values = [value.strip(" \"'") for value in re.split(r"[,|]", choice.group(1))]
        return {"type": "string", "enum": list(values)}
    many = _LIST.fullmatch(word)
    if many:
        inner = meant_type(many.group(1) or many.group(2))
        return {"type": "array", "items": inner} if inner else {}
    near = nearest(word, PARAMETER_TYPES)
    return {"type": near} if near else {}
