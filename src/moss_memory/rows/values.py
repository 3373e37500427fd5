"""Names, tags, pages, ids and times."""

from __future__ import annotations

import json
import math
import os
import time
from _thread import allocate_lock
from functools import lru_cache

from moss_memory.errors import invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME_MAX_CHARS = 256
LABEL_MAX_CHARS = 256
TAGS_MAX = 50
TAG_MAX_CHARS = 100
DEFAULT_WORKSPACE = "default"
MOST_ROWS = 2**62
"""More than any table has; small enough for sums in 64 bits."""

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
_FORTY_BITS = (1 << 40) - 1
_LAST_CHARACTER = "\U0010ffff"


def normalize(raw: str, *, what: str) -> str:
    """Return the normal form of a name: NFC, stripped, lower case, single spaces."""
    return _normal_form(raw, what)


def norm(workspace: str) -> str:
    """Return the normal form of a workspace; refuse a blank one."""
    return _normal_form(workspace, "workspace")


@lru_cache(maxsize=1024)
def _normal_form(raw: str, what: str) -> str:
    # Cached: calls repeat the same names, and two normalizations take a tenth of a fetch.
    if len(raw) > NAME_MAX_CHARS:
        raise invalid_request(f"`{what}` has {len(raw)} characters; at most {NAME_MAX_CHARS} are allowed", path=what)
    if raw.isascii():
        composed = raw
    else:
        import unicodedata  # only names beyond ASCII need it

        composed = unicodedata.normalize("NFC", raw)
    if not composed.isprintable() and has_control(composed):
        raise invalid_request(
            f"`{what}` contains a control character; remove tabs, line breaks and the like", path=what
        )
    norm = " ".join(composed.strip().lower().split())
    if not norm.isascii():
        norm = unicodedata.normalize("NFC", norm)  # a lower-case letter may compose where its capital does not
    if not norm:
        raise invalid_request(f"`{what}` is blank; give it at least one visible character", path=what)
    return norm


def has_control(text: str) -> bool:
    """Return True if the text has a C0 or C1 control character, including tabs and line breaks."""
    return any(character < " " or "\x7f" <= character <= "\x9f" for character in text)


def prefix_range(prefix: str) -> tuple[str, str]:
    """Return the half-open range of normalized names that begin with the prefix."""
    begin = prefix.rstrip(_LAST_CHARACTER)
    if not begin:
        return prefix, _LAST_CHARACTER * (NAME_MAX_CHARS + 1)
    following = ord(begin[-1]) + 1
    return prefix, begin[:-1] + chr(0xE000 if following == 0xD800 else following)


def label(raw: str | None, *, what: str) -> str | None:
    """Return a trimmed `run_id`, `phase`, `role` or `source`; None if blank."""
    if raw is None:
        return None
    trimmed = raw.strip()
    if len(trimmed) > LABEL_MAX_CHARS:
        raise invalid_request(
            f"`{what}` has {len(trimmed)} characters; at most {LABEL_MAX_CHARS} are allowed", path=what
        )
    return trimmed or None


def clean_tags(raw: list[str] | None, *, what: str = "tags") -> list[str]:
    """Return the tags trimmed and without duplicates, in their order; refuse blank ones."""
    if not raw:
        return []
    seen: dict[str, None] = {}
    for index, tag in enumerate(raw):
        trimmed = tag.strip()
        if not trimmed:
            raise invalid_request(f"`{what}[{index}]` is blank; leave it out", path=f"{what}[{index}]")
        if len(trimmed) > TAG_MAX_CHARS:
            raise invalid_request(
                f"`{what}[{index}]` is longer than {TAG_MAX_CHARS} characters", path=f"{what}[{index}]"
            )
        seen[trimmed] = None
    if len(seen) > TAGS_MAX:
        raise invalid_request(f"`{what}` has {len(seen)} entries; at most {TAGS_MAX} are allowed", path=what)
    return list(seen)


def tags_json(raw: list[str] | None, *, what: str = "tags") -> str | None:
    """Return the cleaned tags as stored JSON; None if there are none."""
    tags = clean_tags(raw, what=what)
    return json.dumps(tags, ensure_ascii=False) if tags else None


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens: 1.3 a word, rounded up."""
    return math.ceil(len(text.split()) * 1.3)


class Page:
    """One page of an ordered list: at most `maximum` rows from `offset` on."""

    __slots__ = ("limit", "offset")

    def __init__(self, limit: int, offset: int, *, maximum: int) -> None:
        if limit < 1:
            raise invalid_request(f"`limit` is {limit}; ask for at least 1", path="limit")
        if offset < 0:
            raise invalid_request(f"`offset` is {offset}; the first row has offset 0", path="offset")
        self.limit = min(limit, maximum)
        self.offset = offset

    @property
    def most(self) -> int:
        """The number of rows up to the end of this page."""
        return min(self.offset + self.limit, MOST_ROWS)

    def answer(self, *, returned: int, total: int) -> dict[str, Any]:
        """Return the pagination object of an offset list."""
        has_more = self.offset + returned < total and returned > 0
        return {"limit": self.limit, "offset": self.offset, "has_more": has_more, "total": total}


class IdSource:
    """Generates ULIDs that strictly increase, even if the clock does not."""

    __slots__ = ("_last", "_lock")

    def __init__(self) -> None:
        self._last = 0
        self._lock = allocate_lock()

    def __call__(self, now_ms: int) -> str:
        chance = int.from_bytes(os.urandom(10), "big")
        value = (now_ms << 80) | chance
        with self._lock:
            if value <= self._last:
                # A random increment: a forked process continues from the same last id.
                value = self._last + 1 + (chance >> 16)
            self._last = value
        return encode_ulid(value)


new_id = IdSource()
"""Shared by all stores of the process, so that their ids never collide or decrease."""


def encode_ulid(value: int) -> str:
    """Return the 26 Crockford characters of a 128-bit number."""
    pairs = _PAIRS
    low, middle, high = value & _FORTY_BITS, (value >> 40) & _FORTY_BITS, value >> 80
    # Two characters at a time: 0.8 µs instead of 3, and every write makes two ids.
    return (
        f"{pairs[high >> 40]}{pairs[high >> 30 & 1023]}{pairs[high >> 20 & 1023]}{pairs[high >> 10 & 1023]}"
        f"{pairs[high & 1023]}{pairs[middle >> 30]}{pairs[middle >> 20 & 1023]}{pairs[middle >> 10 & 1023]}"
        f"{pairs[middle & 1023]}{pairs[low >> 30]}{pairs[low >> 20 & 1023]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )


def format_time(ms: int) -> str:
    """Return a time as RFC 3339 in UTC, to the millisecond."""
    moment = time.gmtime(ms // 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', moment)}.{ms % 1000:03d}Z"


def wall_clock_ms() -> int:
    """Return milliseconds since the epoch by the wall clock."""
    return time.time_ns() // 1_000_000


def pluralize(count: int, noun: str) -> str:
    """Return a number with its noun: `1 capsule`, `3 capsules`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
