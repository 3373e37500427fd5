"""Times: RFC 3339 output, and ISO 8601 input converted to instants in UTC."""

from __future__ import annotations

import re
import time

from moss_memory.errors import invalid_request

_ISO_8601 = (
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|z|[+-]\d\d(?::?\d\d)?)?)?"
)
"""Compiled at its first use, to keep the start fast."""
SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
_UNITS_S = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def format_time(ms: int) -> str:
    """Return a time as RFC 3339 in UTC, to the millisecond."""
    moment = time.gmtime(ms // 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{ms % 1000:03d}Z"


def instant_us(text: str, *, what: str, end_of_day: bool = False) -> int:
    """Return microseconds since the epoch of a date or time; a time without a zone is UTC.

    A date is its first instant, with `end_of_day` its last.
    """
    import datetime as dt  # only few calls need it

    match = re.fullmatch(_ISO_8601, text.strip(), re.ASCII)
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second, fraction, zone = match.groups()
        moment = dt.datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=dt.UTC
        )
        moment -= dt.timedelta(minutes=_offset_minutes(zone))
    except (ValueError, OverflowError):
        raise invalid_request(f"`{what}` is no ISO 8601 date or time such as 2025-12-31T10:00:00Z", path=what) from None
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    whole = (moment - epoch) // dt.timedelta(microseconds=1) + int((fraction or "")[:6].ljust(6, "0"))
    return whole + DAY_US - 1 if hour is None and end_of_day else whole


def duration_s(text: str) -> int | None:
    """Return the seconds of a duration such as `30m`, `12h`, `90d` or `4w`; None for any other text."""
    match = re.fullmatch(r"([0-9]{1,9})([mhdw])", text.strip())
    return int(match[1]) * _UNITS_S[match[2]] if match else None


def exact_instant(text: str, *, what: str) -> str:
    """Return an instant as text with every digit of its fraction, as identities compare it."""
    match = re.fullmatch(_ISO_8601, text.strip(), re.ASCII)
    rest = (match[7] or "")[6:].rstrip("0") if match else ""
    return f"{instant_us(text, what=what)}{f'.{rest}' if rest else ''}"


def format_instant(us: int) -> str:
    """Return an instant as RFC 3339 in UTC, with at most six digits of fraction."""
    import datetime as dt

    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=us)
    text = moment.isoformat(timespec="microseconds").rstrip("0") if moment.microsecond else moment.isoformat()
    return f"{text}Z"


def _offset_minutes(zone: str | None) -> int:
    if zone is None or zone in "Zz":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError
    return (hours * 60 + minutes) * (1 if zone[0] == "+" else -1)
