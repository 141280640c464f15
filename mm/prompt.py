"""The system text: what the agent file says, and the few facts that mm adds. The same bytes in every request."""

from __future__ import annotations

from pathlib import Path

from mm.config.schema import Config

_DEFAULT = "You are mm, an assistant in the user's terminal. Be brief and exact."
_TOOLS = (
    "To act, call one of your tools; do not describe the call instead of making it. "
    "Never call a tool again whose result you already have: answer from the result."
)


def system_text(config: Config, cwd: Path, *, has_tools: bool, skills: str = "", memory: str = "") -> str:
    """Instructions first, then how to use tools, the working folder, skills and memory, each only if there."""
    parts = [config.instructions.strip() or _DEFAULT]
    if has_tools:
        parts.append(_TOOLS)
    if "bash" in config.builtins or "read_file" in config.builtins:
        parts.append(f"Working directory: {cwd}")
    return "\n\n".join([*parts, *(part.strip() for part in (skills, memory) if part.strip())])
