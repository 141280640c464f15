"""The plans of built-in tools: what is shown, what consent is needed, and what an "always" is bound to."""

from __future__ import annotations

from mm.tools.spec import Look, Need, Plan, Shown


def plan(
    name: str, what: object, shown: tuple[Shown, ...], need: Need, scope: str = "", covers: str | None = None
) -> Plan:
    """`scope` narrows an "always": it then holds for this tool with this scope only. `covers` says it in words."""
    definition = f"builtin {name} {scope}".rstrip()
    return Plan(what=what, shown=shown, definition=definition, need=need, covers=scope if covers is None else covers)


def free(name: str, what: object, **shown: str) -> Plan:
    """A plan that asks nobody: it touches nothing but what the conversation already has."""
    texts = tuple(Shown(label, Look.TEXT, (text,)) for label, text in shown.items() if text)
    return plan(name, what, texts, Need.NONE)
