"""Writes the figures of results/*.json into docs/explanation/measurements.md, and the picture beside it.

python benchmarks/chart.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from measuring import RESULTS, ROOT

PAGE = ROOT / "docs" / "explanation" / "measurements.md"
PICTURE = PAGE.with_name("measurements.svg")
COLOURS = {"skill": "#9aa5b1", "mcp": "#6b8fb5", "declared": "#1f6f54"}
WORDS = {"skill": "skill + bash", "mcp": "MCP", "declared": "declared"}


def read(name: str) -> dict[str, Any] | None:
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def machine(facts: dict[str, Any]) -> str:
    before, after = facts["load"][0], facts["load"][-1]
    return (
        f"{facts['processor'] or facts['machine']}, {facts['cores']} cores, {facts['system']}, "
        f"Python {facts['python']}; load {before} before, {after} after."
    )


def actions(found: dict[str, Any]) -> str:
    rows = [
        (
            block["model"].partition(":")[2],
            block["set"],
            WORDS[block["way"]],
            f"{block['right']}/{block['runs']}",
            block["once"],
            f"{block['mean_seconds']:.1f}",
            f"{block['mean_rounds']:.1f}",
            f"{block['mean_tokens_read']} + {block['mean_tokens_written']}",
            f"{block['machine']['load'][0]}",
        )
        for block in found["measurements"]
    ]
    head = ("model", "set", "way", "right", "exactly once", "mean s", "rounds", "tokens read + written", "load")
    return table(head, rows)


def startup(found: dict[str, Any]) -> str:
    rows = [
        (
            f"`{one['name']}`" if one["name"][0].islower() and one["name"] != "a command tool" else one["name"],
            f"{one['median_ms']:.1f}",
            f"{one['ratio']:.2f} × `{one['base']}`" if one["ratio"] else "",
            f"≤ {one['limit']}" if one["limit"] else "",
            f"{one['peak_mib']:.0f}" if one["peak_mib"] else "",
        )
        for one in found["measurements"]
    ]
    return f"{machine(found['machine'])}\n\n{table(('', 'median ms', 'ratio', 'wanted', 'peak MiB'), rows)}"


def journey(found: dict[str, Any]) -> str:
    cases = dict.fromkeys(one["case"] for one in found["measurements"])
    by_case = {(one["case"], one["kind"]): one["journey_ms"] for one in found["measurements"]}
    kinds = ("valid", "repaired", "invalid")
    rows = [(case, *(f"{by_case[case, kind]:.3g}" for kind in kinds)) for case in cases]
    return f"{machine(found['machine'])}\n\n{table(('ms of a call', *kinds), rows)}"


def sandbox(found: dict[str, Any]) -> str:
    first = [
        (name, f"{times['compile_and_call']:.1f}", f"{times['first_call_cached']:.2f}")
        for name, times in found["first_call_ms"].items()
    ]
    counts = list(next(iter(found["median_ms"].values())))
    calls = [(name, *(f"{row[count]:.3f}" for count in counts)) for name, row in found["median_ms"].items()]
    head = ("median ms of a call", *(f"of {count}" for count in counts))
    return f"{table(('first call in a new process, ms', 'compiled anew', 'cached'), first)}\n\n{table(head, calls)}"


def picture(found: dict[str, Any]) -> str:
    """Bars: the share that was right, and the mean seconds, for each model and way of the first set."""
    blocks = [block for block in found["measurements"] if block["set"].startswith("first")]
    return "\n".join(drawing(blocks))


def drawing(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    height = 34 + 22 * len(blocks)
    slowest = max(block["mean_seconds"] for block in blocks)
    style = "font-family='sans-serif' font-size='12'"
    yield f"<svg xmlns='http://www.w3.org/2000/svg' width='720' height='{height}' {style}>"
    yield f"<rect width='720' height='{height}' fill='white'/>"
    yield "<text x='250' y='18'>right</text><text x='500' y='18'>mean seconds</text>"
    for number, block in enumerate(blocks):
        top = 28 + 22 * number
        name = f"{block['model'].rpartition('-')[2]}, {WORDS[block['way']]}"
        fill = COLOURS[block["way"]]
        right, seconds = block["right"] / block["runs"], block["mean_seconds"]
        yield f"<text x='240' y='{top + 13}' text-anchor='end'>{name}</text>"
        yield f"<rect x='250' y='{top}' width='{max(1, 200 * right):.0f}' height='16' fill='{fill}'/>"
        yield f"<text x='{255 + 200 * right:.0f}' y='{top + 13}'>{block['right']}/{block['runs']}</text>"
        yield f"<rect x='500' y='{top}' width='{max(1, 160 * seconds / slowest):.0f}' height='16' fill='{fill}'/>"
        yield f"<text x='{505 + 160 * seconds / slowest:.0f}' y='{top + 13}'>{seconds:.1f}</text>"
    yield "</svg>\n"


def main() -> None:
    text = PAGE.read_text("utf-8")
    for name, write in (("actions", actions), ("startup", startup), ("journey", journey), ("sandbox", sandbox)):
        found = read(name)
        if found is None:
            continue
        block = f"<!-- {name} -->\n\n{write(found)}\n\n<!-- /{name} -->"
        text = re.sub(rf"<!-- {name} -->.*?<!-- /{name} -->", lambda _, block=block: block, text, flags=re.DOTALL)
        if name == "actions":
            PICTURE.write_text(picture(found), "utf-8")
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
