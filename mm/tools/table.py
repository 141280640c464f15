"""How each kind of tool runs: Kind -> Executor. The only list of kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mm.tools.spec import Executor, Kind


class Table(Mapping[Kind, Executor]):
    """The executors of a run, each made when the first tool of its kind is called.

    Every kind needs a maker: a kind that is not wired in fails when mm starts, not when it is called.
    """

    def __init__(self, makers: Mapping[Kind, Callable[[], Executor]]) -> None:
        missing = set(Kind) - set(makers)
        if missing:
            raise ValueError(f"no executor for {', '.join(sorted(missing))}")
        self._makers = makers
        self._made: dict[Kind, Executor] = {}

    def __getitem__(self, kind: Kind) -> Executor:
        if kind not in self._made:
            self._made[kind] = self._makers[kind]()
        return self._made[kind]

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
