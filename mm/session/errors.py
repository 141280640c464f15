"""What can go wrong with the store of sessions. Apart from the store itself, which is loaded only where it is used."""

from __future__ import annotations

from mm.errors import MMError


class StoreError(MMError):
    """The store of sessions cannot be used: full, damaged, newer, not ours. A conversation goes on without."""


class BusyError(StoreError):
    """Another process holds the store: the same may work a moment later."""


class IndexDamagedError(StoreError):
    """The full-text index is damaged: it can be made anew from the messages."""
