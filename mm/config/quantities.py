"""Times and sizes as people write them: `90s`, `2m`, `64MiB`; and what is meant by `5 minutes`."""

from __future__ import annotations

import re

from mm.messages import JSON

SHORTEST, LONGEST = 0.01, 24 * 3600.0  # seconds
SMALLEST, LARGEST = 1024 * 1024, 4 * 1024**3  # bytes; 4 GiB is all that wasm32 can address

_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([kmg]?)(?:i?b)?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}
_ENDLESS = frozenset({"none", "never", "no", "off", "false", "infinite", "inf", ".inf", "unlimited", "forever", "null"})
_AMOUNT = r"(-?[0-9][0-9_]*(?:[.,][0-9]+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_TIME_WORDS = re.compile(
    _AMOUNT + r"\s*-?(|ms|msecs?|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)\.?"
)
_TIME_SUM = re.compile(r"(?:([0-9]+)\s*h[a-z]*)?[\s,]*(?:([0-9]+)\s*m[a-z]*)?[\s,]*(?:([0-9]+)\s*s[a-z]*)?")
_SIZE_WORDS = re.compile(_AMOUNT + r"\s*-?([a-z]*)\.?")


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


def meant_seconds(text: str, usual: float) -> str:
    """How to write a time that people write in words; the usual one if there is none in it."""
    words = text.strip().lower()
    if words in _ENDLESS:
        return "24h"
    found = _TIME_WORDS.fullmatch(words)
    unit = found.group(2)[:2] if found else ""
    if found and unit[:1] == "d":
        return "24h"
    if found and (unit == "mi" or unit[:1] in ("s", "m", "h", "")):
        unit = "ms" if unit == "ms" or found.group(2).startswith("mil") else unit[:1] or "s"
        amount = _decimal(found.group(1))
        return _within(amount * _UNITS[unit], f"{amount:.9g}{unit}")
    whole = _TIME_SUM.fullmatch(words)
    if words and whole:
        parts = [float(part or 0) for part in whole.groups()]
        return _within(parts[0] * 3600 + parts[1] * 60 + parts[2], "")
    return f"{usual:.0f}s"


def meant_size(text: str) -> str:
    """How to write a size that people write in words, or count in MiB."""
    found = _SIZE_WORDS.fullmatch(text.strip().lower())
    if not found:
        return "256MiB"
    amount, unit = _decimal(found.group(1)), found.group(2)[:1]
    in_bytes = amount * 1024 ** _POWERS.get(unit, 0)
    if unit in ("", "b") and in_bytes < SMALLEST and amount * SMALLEST <= LARGEST:
        in_bytes = amount * SMALLEST  # a number below a megabyte is one of megabytes
    mebibytes = max(1, min(round(in_bytes / SMALLEST), LARGEST // SMALLEST))
    return f"{mebibytes // 1024}GiB" if mebibytes % 1024 == 0 else f"{mebibytes}MiB"


def _within(amount: float, written: str) -> str:
    """A time between the limits. Far more than a day in plain seconds was counted in milliseconds."""
    if amount > LONGEST and written.endswith("s") and not written.endswith("ms") and amount / 1000 <= LONGEST:
        return f"{amount / 1000:.9g}s"
    if not SHORTEST <= amount <= LONGEST:
        return "24h" if amount > LONGEST or amount <= 0 else f"{SHORTEST:g}s"
    if written:
        return written
    return f"{amount / 60:.0f}m" if amount % 60 == 0 else f"{amount:.9g}s"


def _decimal(text: str) -> float:
    named = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    if text in named:
        return float(max(1, named.index(text)))
    return 1.0 if text == "an" else float(text.replace(",", ".").replace("_", ""))
