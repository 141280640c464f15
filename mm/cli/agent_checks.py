"""What `mm doctor` looks at in an agent file: problems, trust, the model and its server, MCP servers."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mm.cli.agent_file import is_trusted_already
from mm.cli.checks import Check, broken, ok, problem, warning
from mm.config.find import Found
from mm.config.findings import Severity, findings
from mm.config.load import load
from mm.config.problems import ConfigProblems
from mm.config.schema import Config, McpServer, ModelConfig
from mm.counts import count
from mm.errors import MMError
from mm.interrupt import Interrupt
from mm.models import providers, weights
from mm.tools.catalog import Catalog
from mm.tools.environment import PROVIDER_KEYS, filter_environment
from mm.visible import make_shell_word

_PATIENCE = 3.0  # seconds that a server may take to answer


def agent_file(found: Found | None) -> tuple[Check, Config | None]:
    """The agent file, and what is in it: None if it cannot be loaded or is not trusted. Then nothing of it counts."""
    if found is None:
        return ok("agent file", "none here, so the built-in defaults (mm init writes one)"), _defaults()
    name = f"{found.path}"
    named = f"-a {make_shell_word(name)}"
    try:
        config = load(found.path, environ=os.environ)
    except ConfigProblems as problems:
        return problem(
            "agent file", f"{name}: {count(len(problems.problems), 'problem')}", f"mm tools check {named}"
        ), None
    except MMError as error:
        return broken("agent file", error), None
    if not found.own and not is_trusted_already(config):
        says = f"{name} is not trusted, so nothing of it is used"
        return warning("agent file", says, f"mm tools check {named} && mm trust {make_shell_word(name)}"), None
    to_mend = findings(config)
    for severity, noun, make in ((Severity.ERROR, "problem", problem), (Severity.WARNING, "warning", warning)):
        number = sum(one.severity is severity for one in to_mend)
        if number:
            return make("agent file", f"{name}: {count(number, noun)}", f"mm tools check {named}"), config
    return ok("agent file", f"{name}, {count(len(config.tools), 'tool')}"), config


def _defaults() -> Config:
    return Config(file=None, folder=Path.cwd())


def model(config: Config | None, override: str | None) -> Iterator[Check]:
    """Which model, and why; whether it can be asked. Sends nothing but a request for the list of models."""
    written = config.model if config else None
    folder = config.folder if config else None
    try:
        chosen = providers.resolve(written, override=override, environ=os.environ, folder=folder)
    except MMError as error:
        yield broken("model", error)
        return
    yield ok("model", f"{chosen}, {_why(written, override)}")
    yield from _local(chosen) if chosen.provider == "local" else _server(chosen)


def _why(written: ModelConfig | None, override: str | None) -> str:
    if override:
        return "from -m"
    if os.environ.get("MM_MODEL", "").strip():
        return "from MM_MODEL"
    return "from the agent file" if written else "the default"


def _local(chosen: ModelConfig) -> Iterator[Check]:
    if importlib.util.find_spec("xllamacpp") is None:
        yield problem("model runs", "llama.cpp is not installed", 'pip install "mm-agent[local]"')
    try:
        yield ok("weights", str(weights.find(chosen.name)))
    except MMError as error:
        yield broken("weights", error)


def _server(chosen: ModelConfig) -> Iterator[Check]:
    if chosen.provider == "scripted":
        is_there = Path(chosen.name).is_file()
        yield ok("script", chosen.name) if is_there else problem("script", f"no file `{chosen.name}`", "Mend the path.")
        return
    try:
        made = providers.create(chosen)
        from mm.models.openai import OpenAIModel  # behind `create`, which knows how to load httpx quickly

        assert isinstance(made, OpenAIModel), "the other models are looked at above"
        try:
            answer = made.list_models(_PATIENCE)
        finally:
            made.close()
    except MMError as error:
        yield broken("model server", error)
        return
    if answer.status_code != 200:
        says = f"{chosen.provider} answers, but gives no list of models ({answer.status_code})"
        yield warning("model server", says, 'Try it: mm -p "Say hello."')
    else:
        yield _listed(chosen, answer.content)


def _listed(chosen: ModelConfig, content: bytes) -> Check:
    try:
        names = [str(item["id"]) for item in json.loads(content)["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return warning("model server", f"{chosen.provider} answers, but not with a list of models", "Check `base_url`.")
    if chosen.name in names or f"{chosen.name}:latest" in names:
        return ok("model server", f"{chosen.provider} answers and has `{chosen.name}`")
    near = f"It has: {', '.join(names[:5])}{' …' if len(names) > 5 else ''}" if names else "It has none."
    return warning("model server", f"{chosen.provider} answers, but does not list `{chosen.name}`", near)


def servers(config: Config | None, *, start: bool) -> Iterator[Check]:
    """The MCP servers of the agent file: that they could start or, with `start`, that they do."""
    wanted = [server for server in config.mcp_servers if not server.disabled] if config else []
    if not config or not wanted:
        return
    if importlib.util.find_spec("mcp") is None:
        yield problem(
            "mcp", f"{count(len(wanted), 'server')}, and the package is missing", 'pip install "mm-agent[mcp]"'
        )
    elif start:
        yield from _started(config)
    else:
        yield from map(_could_start, wanted)


def _could_start(server: McpServer) -> Check:
    name = f"mcp {server.name}"
    if server.url:
        return ok(name, "not asked (mm doctor --mcp asks it)")
    if shutil.which(server.command[0], path=server.env.get("PATH", os.environ.get("PATH"))) is None:
        return problem(name, f"the program `{server.command[0]}` is not there", "Install it, or mend `command`.")
    return ok(name, f"{server.command[0]} is there, not started (mm doctor --mcp starts it)")


def _started(config: Config) -> Iterator[Check]:
    secrets = config.secret_variables | PROVIDER_KEYS
    environment = filter_environment(os.environ, env_pass=config.env_pass, secret_variables=secrets)
    told: list[str] = []
    started = importlib.import_module("mm.app.servers").LazyServers(
        config, Path.cwd(), environment=lambda: environment, interrupt=Interrupt(), warn=told.append, rules=()
    )
    try:
        started.start()
        started.refresh(Catalog((), ()))
        lines = started.lines()
    finally:
        started.close()
    if started.problem is not None:
        yield broken("mcp", started.problem)
        return
    for line in lines:
        name = f"mcp {line.name}"
        if line.ok:
            yield ok(name, f"{line.state}, {count(len(line.tools), 'tool')}")
        else:
            yield problem(name, line.state, "Start its command by hand to see why.")
