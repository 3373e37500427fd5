"""Highlighting on a terminal: zero-width marks in a text, replaced by colours or removed at the end."""

from __future__ import annotations

import os

HIT, HIT_END, TITLE, TITLE_END = "\ue000", "\ue001", "\ue002", "\ue003"
"""Private-use characters; `printable` escapes them, so stored text cannot contain marks."""

_CODES = {HIT: "\x1b[1m", HIT_END: "\x1b[22m", TITLE: "\x1b[2m", TITLE_END: "\x1b[22m"}
_COLOURED = str.maketrans(_CODES)
_PLAIN = str.maketrans(dict.fromkeys(_CODES, ""))


def wants_colour() -> bool:
    """Return True unless `NO_COLOR` or `TERM=dumb` is set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *, colour: bool) -> str:
    """Return the text with its marks replaced by colours, or removed."""
    return text.translate(_COLOURED if colour else _PLAIN)


def strip_marks(text: str) -> str:
    return text.translate(_PLAIN)


def close_marks(text: str) -> str:
    """Return a cut text with its open mark closed."""
    return text + HIT_END if text.count(HIT) > text.count(HIT_END) else text
