from __future__ import annotations

from mm.counts import count


def test_a_number_agrees_with_its_noun() -> None:
    assert [count(1, "line"), count(0, "line"), count(20_000, "line")] == ["1 line", "0 lines", "20,000 lines"]
    assert [count(1, "entry", "entries"), count(2, "entry", "entries")] == ["1 entry", "2 entries"]
