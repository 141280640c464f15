"""The status line: what is most important stays, however narrow the window is."""

from __future__ import annotations

import pytest
from prompt_toolkit.formatted_text import fragment_list_to_text

from mm.terminal.status import status_line
from tests.terminal.stand_in import StandIn

LONG = "openrouter:some-company/a-model-with-a-long-name"


def shown(agent: StandIn, width: int) -> str:
    return fragment_list_to_text(status_line(agent, width))


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setattr("mm.terminal.chat.ChatTerminal.__init__", lambda self, interrupt: None)
    agent = StandIn()
    agent.model_label, agent._context = LONG, 4120
    return agent


def test_the_context_is_told_as_fully_as_there_is_room(agent: StandIn) -> None:
    assert shown(agent, 120) == f"  {LONG} · 4,120 of 32,768 tokens (13%)"
    assert shown(agent, 79) == "  openrouter:some-company/a-model-with-a-long-n… · 4,120 of 32,768 tokens (13%)"
    assert shown(agent, 39) == "  openrouter:some-company/a… · 13% full"
    assert shown(agent, 19) == "  openrouter… · 13%"


def test_yolo_stays_in_the_narrowest_window(agent: StandIn) -> None:
    agent.yolo = True
    assert shown(agent, 120).startswith("  yolo: nothing asks · openrouter:")
    assert shown(agent, 19) == "  yolo · openroute…"


@pytest.mark.parametrize("width", range(19, 120, 7))
@pytest.mark.parametrize("yolo", [False, True])
def test_no_status_is_wider_than_the_window(agent: StandIn, width: int, yolo: bool) -> None:
    agent.yolo = yolo
    assert len(shown(agent, width)) <= width
