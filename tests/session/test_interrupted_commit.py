"""Ctrl-C while something is written down: it is written whole, and only then does the interrupt count."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mm.app.assembly import Assembly
from mm.config.schema import Config, ModelConfig
from mm.errors import ExitCode
from mm.interrupt import Interrupt
from mm.options import Options
from mm.session.store import Store


class InterruptedStore(Store):
    """The real store. Ctrl-C is pressed once, in its first transaction or right behind it; `cut` are those it ended."""

    def __init__(self, path: Path, *, inside: bool) -> None:
        super().__init__(path)
        self.cut: list[str] = []
        self._inside = inside
        self._depth = 0
        self._pressed = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._depth += 1
        try:
            with super().transaction():
                yield
                self._press(self._inside)
            self._press(not self._inside)
        except KeyboardInterrupt:
            self.cut.append("inside" if self._inside else "behind")
            raise
        finally:
            self._depth -= 1

    def _press(self, now: bool) -> None:
        if now and self._depth == 1 and not self._pressed:
            self._pressed = True
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("inside", [True, False], ids=["inside the transaction", "right behind it"])
def test_what_is_written_while_the_model_is_waited_for_is_written_whole_and_once(
    tmp_path: Path, interrupt: Interrupt, inside: bool
) -> None:
    """The store must not forget what was said, and mm must not forget that it is stored."""
    (tmp_path / "script.yaml").write_text("- Too late.\n- In time.\n")
    config = Config(None, tmp_path, model=ModelConfig("scripted", str(tmp_path / "script.yaml")), builtins=())
    assembly = Assembly(config, Options(), interrupt=interrupt, listen=lambda event: None, person=None)
    store = assembly.sessions._store = InterruptedStore(tmp_path / "sessions.db", inside=inside)
    agent = assembly.agent()
    assert agent.turn("hello").code is ExitCode.INTERRUPTED
    assert store.cut == []
    interrupt.clear()
    assert agent.turn("and now?").text == "In time."
    agent.close()
    assembly.close()
    (session,) = Store(store.path).sessions()
    records, _ = Store(store.path).records(session.id)
    assert [record.content for record in records] == [
        "hello",
        "The user stopped this before you answered.",
        "and now?",
        "In time.",
    ]


def test_a_commit_outside_of_waiting_is_never_interrupted(interrupt: Interrupt) -> None:
    with interrupt.committing():
        signal.raise_signal(signal.SIGINT)
    assert interrupt.stop.is_set()


def test_waiting_goes_on_after_a_commit_and_can_be_interrupted(interrupt: Interrupt) -> None:
    with pytest.raises(KeyboardInterrupt), interrupt.waiting():
        with interrupt.committing():
            pass
        signal.raise_signal(signal.SIGINT)
