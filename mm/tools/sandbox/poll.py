"""WASI's `poll_oneoff` in terms of bytes: what a guest waits for, and what it is told.

Layouts: WASI preview 1 (`wasi_snapshot_preview1`), structures `subscription` (48 bytes) and `event` (32 bytes).
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

SUBSCRIPTION_SIZE = 48
EVENT_SIZE = 32
MOST_SUBSCRIPTIONS = 4096

_CLOCK, _READ, _WRITE = 0, 1, 2
_REALTIME, _MONOTONIC = 0, 1
_ABSOLUTE = 1
_INVALID = 28  # errno `inval`

_HEAD = struct.Struct("<QB7x")
_CLOCK_BODY = struct.Struct("<I4xQQH6x")
_EVENT = struct.Struct("<QHB5xQH6x")


@dataclass(frozen=True, slots=True)
class Subscription:
    """One thing a guest waits for. `due` is in nanoseconds of this machine's monotonic clock; 0 is: at once."""

    userdata: int
    kind: int
    due: int
    error: int = 0

    def event(self) -> bytes:
        """What the guest is told when it is due. A file says one byte, since nothing here ever blocks on it."""
        return _EVENT.pack(self.userdata, self.error, self.kind, 0 if self.kind == _CLOCK else 1, 0)


def read_subscriptions(data: bytes, clock_start: int) -> list[Subscription]:
    """Decode subscriptions. `clock_start` is where the guest's monotonic clock has its zero, on this machine's."""
    now = time.monotonic_ns()
    return [
        _read_subscription(data[start : start + SUBSCRIPTION_SIZE], now, clock_start)
        for start in range(0, len(data), SUBSCRIPTION_SIZE)
    ]


def wait_for(subscriptions: Sequence[Subscription], cut: threading.Event) -> list[Subscription]:
    """Sleep until at least one is due, and return those that are; none if `cut` came first."""
    while True:
        now = time.monotonic_ns()
        due = [subscription for subscription in subscriptions if subscription.due <= now]
        if due:
            return due
        soonest = min(subscription.due for subscription in subscriptions)
        if cut.wait(min((soonest - now) / 1e9, 3600.0)):
            return []


def _read_subscription(data: bytes, now: int, clock_start: int) -> Subscription:
    userdata, kind = _HEAD.unpack_from(data)
    if kind in (_READ, _WRITE):
        return Subscription(userdata, kind, 0)
    if kind != _CLOCK:
        return Subscription(userdata, kind, 0, _INVALID)
    clock, timeout, _, flags = _CLOCK_BODY.unpack_from(data, _HEAD.size)
    if clock not in (_REALTIME, _MONOTONIC):
        return Subscription(userdata, kind, 0, _INVALID)
    if not flags & _ABSOLUTE:
        return Subscription(userdata, kind, now + timeout)
    if clock == _MONOTONIC:
        return Subscription(userdata, kind, clock_start + timeout)
    return Subscription(userdata, kind, now + max(0, timeout - time.time_ns()))
