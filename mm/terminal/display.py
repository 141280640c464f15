"""Shows a turn while it happens: streamed Markdown, running calls, notices. One thread paints, others only report."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator

from mm.events import Event
from mm.terminal.frame import TurnFrame
from mm.terminal.plain_frame import PlainFrame
from mm.terminal.screen import Screen

_FRAMES_A_SECOND = 12
_SHARE_OF_TIME = 4  # painting may take a quarter of the time, so that a huge open block cannot stall the turn


class _Stop:
    """Ends the painter after everything before it was painted."""


class _Rest:
    """Hands the terminal to someone else, in two steps.

    The painter sets `resting` once all before it is painted and the cursor is free, then waits for `go_on`. Nothing
    else wakes it, so whoever asks for a rest sets `go_on` whatever happens, even if they no longer want it.
    """

    def __init__(self) -> None:
        self.resting = threading.Event()
        self.go_on = threading.Event()


class TurnDisplay:
    """A Listener for the chat. Use `showing()` around each turn and `paused()` around each question.

    Only the painter's thread touches the terminal, so that a KeyboardInterrupt, which Python raises in the main
    thread alone, can never cut a frame in two.
    """

    def __init__(self, screen: Screen, *, verbose: bool = False) -> None:
        self._screen = screen
        self._verbose = verbose
        self._items: queue.SimpleQueue[Event | _Stop | _Rest] = queue.SimpleQueue()
        self._painting = False  # a painter is there to rest and to stop
        self._at_rest = False
        self._fault: Exception | None = None
        self._frame = self._new_frame()

    def __call__(self, event: Event) -> None:
        """Outside of `showing()` it waits for `show_pending()`: nobody else may write under an open input line."""
        self._items.put(event)

    @property
    def answer(self) -> str:
        """The text of the last answer that was shown in this turn."""
        return self._frame.answer

    @contextlib.contextmanager
    def showing(self) -> Iterator[None]:
        """Paint from here to the end of the block; then all of it is on the terminal and the cursor is free."""
        self._frame = self._new_frame()
        self._fault = None
        painter = threading.Thread(target=self._paint_all, name="painter", daemon=True)
        painter.start()
        self._painting = True
        try:
            yield
        finally:
            self._painting = False  # from here on nobody may wait for it to rest
            self._items.put(_Stop())
            painter.join()
        if self._fault is not None:
            self._screen.close()
            raise self._fault

    def show_pending(self) -> None:
        """Paint what was told outside of a turn, such as that something could not be stored."""
        if not self._items.empty():
            with self.showing():
                pass

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The terminal belongs to the caller inside the block: nothing is painted, the cursor is shown."""
        if not self._painting or self._at_rest:
            yield
            return
        rest = _Rest()
        self._at_rest = True
        try:
            self._items.put(rest)
            rest.resting.wait()
            yield
        finally:
            rest.go_on.set()
            self._at_rest = False

    def _paint_all(self) -> None:
        pause = 0.0
        stopped = False
        while not stopped:
            items = self._collect(pause)
            began = time.monotonic()
            for item in items:
                if isinstance(item, _Rest):
                    began += self._rest(item)
                elif isinstance(item, _Stop):
                    stopped = True
                else:
                    self._safely(self._frame.report, item, self._screen.width)
            self._safely(self._paint, stopped)
            pause = max(1 / _FRAMES_A_SECOND, _SHARE_OF_TIME * (time.monotonic() - began))

    def _collect(self, pause: float) -> list[Event | _Stop | _Rest]:
        """What was reported until the next frame is due; less if someone waits for the painter."""
        items: list[Event | _Stop | _Rest] = []
        due = time.monotonic() + pause
        while not (items and isinstance(items[-1], _Stop | _Rest)):
            try:
                items.append(self._items.get(timeout=max(due - time.monotonic(), 0.001)))
            except queue.Empty:
                break
        return items

    def _safely(self, work: Callable[..., None], *arguments: object) -> None:
        """A fault ends the painting and not the painter, whom questions still wait for. It is raised after the turn."""
        if self._fault is None:
            try:
                work(*arguments)
            except Exception as error:  # noqa: BLE001 - handed to the thread that shows the turn
                self._fault = error

    def _rest(self, rest: _Rest) -> float:
        """Returns the seconds that the terminal was someone else's: they are not the painter's own work."""
        self._safely(self._paint, False)
        self._safely(self._screen.close)
        rest.resting.set()
        began = time.monotonic()
        rest.go_on.wait()
        self._frame.someone_wrote()
        return time.monotonic() - began

    def _paint(self, ended: bool) -> None:
        """One frame."""
        width, height = self._screen.width, self._screen.height
        if ended:
            self._frame.end(width)
        if isinstance(self._frame, PlainFrame):
            text = self._frame.take()
            self._screen.write(text)
            if text:
                self._screen.someone_wrote()
        else:
            self._screen.paint(self._frame.take_lines(width), self._frame.live_lines(width, height))
        if ended:
            self._screen.close()

    def _new_frame(self) -> TurnFrame | PlainFrame:
        if self._screen.moves:
            return TurnFrame(self._screen.palette, verbose=self._verbose)
        return PlainFrame(verbose=self._verbose)
