"""Which way of giving tools do small models get right? Skill + bash, MCP, and declared, asked the same things.

    python benchmarks/actions.py [--model MODEL]... [--way WAY]... [--set SET]... [--repeat N] [--every N]

Each request is one real `mm -p`. It counts as right if the scripts really ran with exactly the expected arguments and
nothing else ran, judged by the file that they write. The sets of requests are actions/*.json: `first` is the
experiment of the design notes, six requests asked five times each; `wordings` asks for the same in thirty wordings;
`second` was written before anything was measured, has three other actions too, and nothing is tuned to it. Without
--way and --set, `first` is asked in every way and the others with declared tools.

A `local:` model is loaded once by a server that serves every run, so that no time of loading is in the figures. Each
run is a conversation of its own; the first request of each way and agent is asked once more before, uncounted, so that
the server has the system text and the tools in its cache, as on any day. Sampling is at temperature 0: the same
words give the same reply. For a server that samples, name it (`--model ollama:NAME`) and use --repeat.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import measuring
import yaml
from measuring import RESULTS, ROOT

from mm.models import weights
from mm.models.local import CONTEXT, LONGEST, count_threads

HERE = ROOT / "benchmarks"
MM = Path(sys.executable).with_name("mm")
AGENTS = {"ops": ROOT / "examples" / "ops", "office": HERE / "actions" / "office"}
WAYS = ("declared", "mcp", "skill")
SETS = ("first", "wordings", "second")
MODELS = ("local:qwen2.5-coder-1.5b", "local:qwen2.5-coder-0.5b")
LONGEST_RUN = 60  # seconds; what takes longer is ended and counts as wrong, unless its script had run by then
_SKILL_INSTRUCTIONS = (
    "Do what the user asks for with the skill that does it, with the values that the user gave. Do not make up values."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One run: what was asked and expected, what the scripts wrote, and what it took."""

    way: str
    set: str
    agent: str
    language: str
    text: str
    expected: str
    ran: tuple[str, ...]
    exit_code: int | None
    seconds: float
    rounds: int
    tokens_read: int
    tokens_written: int
    calls: tuple[str, ...]
    answer: str

    @property
    def right(self) -> bool:
        return set(self.ran) == {self.expected}

    @property
    def once(self) -> bool:
        return self.ran == (self.expected,)


class Stage:
    """A folder with the agents of one way, and how they are run."""

    def __init__(self, folder: Path, way: str, model: dict[str, Any] | str) -> None:
        self._folder = folder
        self._way = way
        self._model = model
        self._log = folder / "ops.log"
        self._environment = {**os.environ, "MM_HOME": str(folder / "home"), "OPS_LOG": str(self._log)}
        self._environment.pop("MM_MODEL", None)
        self._servers: list[subprocess.Popen[bytes]] = []

    def agent(self, name: str) -> Path:
        """The agent file, written when it is first asked for, beside a copy of its scripts."""
        folder = self._folder / self._way / name
        if not folder.exists():
            shutil.copytree(AGENTS[name], folder, ignore=shutil.ignore_patterns("*.log"))
            written = self._rewritten(yaml.safe_load((folder / "agent.yaml").read_text("utf-8")), name, folder)
            if isinstance(self._model, dict):
                written["model"] = self._model
            (folder / "mm.yaml").write_text(yaml.safe_dump(written, allow_unicode=True), "utf-8")
        return folder / "mm.yaml"

    def ask(self, agent: str, text: str) -> tuple[list[str], dict[str, Any], int | None, float]:
        """Lines of the scripts' log, mm's result, its exit code (None: it took too long), seconds."""
        file = self.agent(agent)
        self._log.unlink(missing_ok=True)
        command = [MM, "-a", file, "-y", "--no-session", "--output-format", "json", "-p", text]
        if isinstance(self._model, str):
            command += ["-m", self._model]
        begin = time.perf_counter()
        code, output = None, b""
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                command,
                cwd=file.parent,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST_RUN,
                check=False,
            )
            code, output = done.returncode, done.stdout
            if code == 2:
                raise SystemExit(done.stderr.decode())
        seconds = time.perf_counter() - begin
        lines = self._log.read_text("utf-8").splitlines() if self._log.exists() else []
        told = output.decode().replace(str(self._folder), "FOLDER").replace(str(ROOT), "PROJECT")
        return lines, json.loads(told or "{}"), code, seconds

    def close(self) -> None:
        for server in self._servers:
            server.kill()
            server.wait()

    def _rewritten(self, agent: dict[str, Any], name: str, folder: Path) -> dict[str, Any]:
        """The same three actions, given in another way."""
        if self._way == "declared":
            return agent
        del agent["tools"]
        if self._way == "skill":
            skills = {"builtins": ["bash", "read_skill"], "skills": [str(HERE / "actions" / "skills" / name)]}
            return {**agent, "instructions": _SKILL_INSTRUCTIONS, **skills}
        return {**agent, "mcpServers": {name: {"url": f"http://127.0.0.1:{self._serve(folder)}/mcp"}}}

    def _serve(self, folder: Path) -> int:
        command = [sys.executable, HERE / "mcp_stand_in.py", folder / "agent.yaml"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, env=self._environment, cwd=folder)
        self._servers.append(server)
        assert server.stdout is not None
        return int(server.stdout.readline())


@contextlib.contextmanager
def served(model: str) -> Iterator[dict[str, Any] | str]:
    """The `model` of the agent files: of a server that is started for a `local:` one, else the name as it is."""
    provider, _, name = model.partition(":")
    if provider != "local":
        yield model
        return
    key = secrets.token_hex(8)
    wanted = {"path": str(weights.find(name)), "name": name, "key": key, "context": CONTEXT, "threads": count_threads()}
    script = ROOT / "mm" / "models" / "local_server.py"
    quiet = subprocess.DEVNULL
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-P", script], stdin=pipe, stdout=pipe, stderr=quiet)
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(wanted).encode() + b"\n")
        process.stdin.flush()
        address = json.loads(process.stdout.readline())["address"]
        limits = {"temperature": 0, "max_tokens": LONGEST, "context": CONTEXT}
        yield {"provider": "llamacpp", "name": name, "base_url": f"{address}/v1", "api_key": key, **limits}
    finally:
        process.kill()
        process.wait()


def plan(given: argparse.Namespace) -> dict[str, list[str]]:
    """Way -> the sets that are asked in it."""
    sets = given.set or SETS
    if given.way:
        return {way: list(sets) for way in given.way}
    return {way: [name for name in sets if way == "declared" or name == "first"] for way in WAYS}


def measure(model: str, way: str, sets: Sequence[str], repeat: int, every: int) -> Iterator[Asked]:
    """Ask everything in one way; tell each run that went wrong."""
    requests = [(_label(name, every), one) for name in sets for one in read_set(name, repeat)[::every]]
    with served(model) as settings, tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder).resolve(), way, settings)
        try:
            for agent in dict.fromkeys(one["agent"] for _, one in requests):
                stage.ask(agent, next(one["text"] for _, one in requests if one["agent"] == agent))
                yield from (run(stage, way, name, one) for name, one in requests if one["agent"] == agent)
        finally:
            stage.close()


def _label(name: str, every: int) -> str:
    return name if every == 1 else f"{name}, 1 of {every}"


def read_set(name: str, repeat: int) -> list[dict[str, str]]:
    """The requests of a set, each as often as the set says, `repeat` times over."""
    read = json.loads((HERE / "actions" / f"{name}.json").read_text("utf-8"))
    requests: list[dict[str, str]] = read["requests"] * (read.get("repeat", 1) * repeat)
    return requests


def run(stage: Stage, way: str, name: str, one: dict[str, str]) -> Asked:
    lines, result, code, seconds = stage.ask(one["agent"], one["text"])
    usage = result.get("usage") or {}
    asked = Asked(
        way=way,
        set=name,
        agent=one["agent"],
        language=one["language"],
        text=one["text"],
        expected=one["expect"],
        ran=tuple(lines),
        exit_code=code,
        seconds=round(seconds, 3),
        rounds=result.get("num_turns", 0),
        tokens_read=usage.get("input_tokens") or 0,
        tokens_written=usage.get("output_tokens") or 0,
        calls=tuple(f"{call['name']} {call['arguments']}"[:300] for call in result.get("tool_calls", [])),
        answer=str(result.get("result", ""))[:300],
    )
    if not asked.right:
        print(
            f"  wrong ({way}): {asked.text!r} -> {list(asked.ran)} {list(asked.calls)} {asked.answer[:80]!r}",
            flush=True,
        )
    return asked


def summary(asked: Sequence[Asked]) -> dict[str, Any]:
    count = len(asked)
    return {
        "runs": count,
        "right": sum(one.right for one in asked),
        "once": sum(one.once for one in asked),
        "mean_seconds": round(sum(one.seconds for one in asked) / count, 2),
        "mean_rounds": round(sum(one.rounds for one in asked) / count, 2),
        "mean_tokens_read": round(sum(one.tokens_read for one in asked) / count),
        "mean_tokens_written": round(sum(one.tokens_written for one in asked) / count),
    }


def save(model: str, asked: Sequence[Asked], facts: dict[str, Any], repeat: int) -> None:
    """Into results/actions.json, in place of what was measured there before for this model, way and set."""
    file = RESULTS / "actions.json"
    blocks = json.loads(file.read_text("utf-8"))["measurements"] if file.exists() else []
    facts["load"].append(measuring.load())
    for way, name in dict.fromkeys((one.way, one.set) for one in asked):
        runs = [one for one in asked if (one.way, one.set) == (way, name)]
        keys = {"model": model, "way": way, "set": name}
        blocks = [block for block in blocks if any(block[key] != value for key, value in keys.items())]
        machine = {**facts, "load": list(facts["load"])}
        runs_as_data = [{**asdict(one), "right": one.right} for one in runs]
        blocks.append({**keys, "repeat": repeat, **summary(runs), "machine": machine, "asked": runs_as_data})
    order = {key: place for place, key in enumerate([*MODELS, *WAYS])}
    blocks.sort(key=lambda block: (order.get(block["model"], 99), block["set"], order[block["way"]]))
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"measurements": blocks}, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", "utf-8")


def tell(model: str, asked: Sequence[Asked]) -> None:
    rows = []
    for name, way in dict.fromkeys((one.set, one.way) for one in asked):
        told = summary([one for one in asked if (one.way, one.set) == (way, name)])
        tokens = f"{told['mean_tokens_read']} + {told['mean_tokens_written']}"
        share = f"{told['right']}/{told['runs']}"
        rows.append((model, name, way, share, told["once"], told["mean_seconds"], told["mean_rounds"], tokens))
    measuring.print_table(("model", "set", "way", "right", "once", "mean s", "rounds", "tokens"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", help="provider:model; default: both embedded ones")
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--set", action="append", choices=SETS)
    parser.add_argument("--repeat", type=int, default=1, help="ask each request so often (for servers that sample)")
    parser.add_argument("--every", type=int, default=1, help="ask only every so many-th request of each set")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for model in given.model or MODELS:
        for way, sets in plan(given).items():
            facts = measuring.machine()
            asked: list[Asked] = []
            with contextlib.suppress(KeyboardInterrupt):  # what was asked so far is kept
                for one in measure(model, way, sets, given.repeat, given.every):
                    asked.append(one)
            tell(model, asked)
            save(model, asked, facts, given.repeat)


if __name__ == "__main__":
    main()
