"""What stands out on a terminal: marks in a text that take no room, and are painted or taken out at the end."""

from __future__ import annotations

import os

HIT, HIT_END, TITLE, TITLE_END = "\ue000", "\ue001", "\ue002", "\ue003"
"""Private characters: `printable` lets none of them through, so stored text cannot mark anything."""

_PAINTS = {HIT: "\x1b[1m", HIT_END: "\x1b[22m", TITLE: "\x1b[2m", TITLE_END: "\x1b[22m"}
_PAINTED = str.maketrans(_PAINTS)
_PLAIN = str.maketrans(dict.fromkeys(_PAINTS, ""))


def wants_colour() -> bool:
    """Whether the person at the terminal did not ask for plain text."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, *, colour: bool) -> str:
    """The text with its marks painted, or without them."""
    return text.translate(_PAINTED if colour else _PLAIN)


def unmarked(text: str) -> str:
    """The text as wide as it is seen."""
    return text.translate(_PLAIN)


def closed(text: str) -> str:
    """A text that was cut, with the mark closed that the cut left open."""
    return text + HIT_END if text.count(HIT) > text.count(HIT_END) else text
