"""Bytes of files as text for a model, and text back as bytes: encodings, binary files, line ends."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

SNIFFED = 8192  # bytes at the start of a file that tell what it is
_SIGNATURES = {
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (or an office document)",
    b"\x1f\x8b": "gzip-compressed data",
    b"\x7fELF": "a compiled program",
    b"\x00asm": "a WebAssembly module",
    b"SQLite format 3\x00": "an SQLite database",
}
_WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the text of a file is stored. `name` is Python's; `mark` the byte order mark it starts with."""

    name: str = "utf-8"
    mark: bytes = b""

    @property
    def wide(self) -> bool:
        """Whether every character takes two bytes or more, so that NUL bytes are no sign of binary data."""
        return self.name.startswith("utf-16")

    def decode(self, data: bytes) -> str:
        return data.removeprefix(self.mark).decode(self.name)

    def encode(self, text: str) -> bytes:
        """Raises UnicodeEncodeError where the encoding has no such character."""
        return self.mark + text.encode(self.name)


def binary_kind(start: bytes) -> str:
    """What a file is, judged by its first bytes, if it is no text; else ""."""
    for signature, kind in _SIGNATURES.items():
        if start.startswith(signature):
            return kind
    if any(start.startswith(mark) for mark in _WIDE):
        return ""
    controls = sum(byte in _CONTROL for byte in start)
    return "binary data" if b"\0" in start or controls * 20 > len(start) else ""


def encoding_of(data: bytes) -> Encoding:
    """UTF-8 or UTF-16 by its mark, UTF-8 if it reads as that, else Latin-1, in which every byte is a character."""
    if data.startswith(codecs.BOM_UTF8):
        return Encoding("utf-8", codecs.BOM_UTF8) if _reads_as_utf8(data) else Encoding("latin-1")
    for mark, name in _WIDE.items():
        if data.startswith(mark):
            return Encoding(name, mark)
    return Encoding() if _reads_as_utf8(data) else Encoding("latin-1")


def line_end(text: str) -> str:
    """The line end of a text: CRLF only if every line has it."""
    return "\r\n" if "\r\n" in text and text.count("\n") == text.count("\r\n") else "\n"


def _reads_as_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
