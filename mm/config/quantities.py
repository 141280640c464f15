"""Times and sizes as people write them: `90s`, `2m`, `64MiB`."""

from __future__ import annotations

import re

from mm.messages import JSON

SHORTEST, LONGEST = 0.01, 24 * 3600.0  # seconds
SMALLEST, LARGEST = 1024 * 1024, 4 * 1024**3  # bytes; 4 GiB is all that wasm32 can address

_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([kmg]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}


def seconds(value: JSON) -> float:
    """Seconds of a number or a text such as `90s`. Raises ValueError with what is wrong with it."""
    amount = _seconds(value)
    if amount is None:
        raise ValueError("is no time: write seconds, or `90s`, `2m`, `1h`")
    if not SHORTEST <= amount <= LONGEST:
        raise ValueError(f"must be between {SHORTEST} s and {LONGEST:.0f} s (a day), and is counted in seconds")
    return amount


def size(value: JSON) -> int:
    """Bytes of a number or a text such as `64MiB`; k, M and G count in 1024s. Raises ValueError like `seconds`."""
    amount = _bytes(value)
    if amount is None:
        raise ValueError("is no size: write `64MiB`, or a number of bytes")
    if not SMALLEST <= amount <= LARGEST:
        raise ValueError("must be between `1MiB` and `4GiB`; a number without a unit is counted in bytes")
    return amount


def _seconds(value: JSON) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return min(value, 1e9) * 1.0
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    return float(found.group(1)) * _UNITS[found.group(2)] if found else None


def _bytes(value: JSON) -> int | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return int(min(value, 2**50))
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    return int(float(found.group(1)) * 1024 ** _POWERS[found.group(2).lower()])
