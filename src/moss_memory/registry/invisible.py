"""Invisible characters and characters that reorder text: detection, escaping, replacement.

Invisible are the control characters, the code points that Unicode calls default ignorable (zero width, bidirectional
controls, variation selectors, the tags block, Hangul fillers), the separators of lines and paragraphs, and the
controls of interlinear annotation. Three uses have a visible effect and stay: a carriage return before a line feed, a
joiner after a letter of a script that needs joiners or between emoji, and the emoji variation selector after an emoji.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Patterns = tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]

_BASIC = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb"
)
_INVISIBLE = f"[{_BASIC}\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]"
_VISIBLE_RUN = f"[^{_BASIC}\\U0001bca0-\\U0001d17a]*+"
"""For a fast check: one range beyond the basic plane; the tags block is detected by its first byte in UTF-8."""
_TAGS_BYTE = b"\xf3"
_EMOJI = "\\xa9\\xae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u2bff\\u3030\\u303d\\u3297\\u3299\\U0001f000-\\U0001faff"
_JOINED = "\\u0620-\\u08ff\\u0900-\\u0dff\\u0f00-\\u109f\\u1780-\\u17b3\\u17b6-\\u17d3\\u1820-\\u18aa"
"""Arabic, Syriac and N'Ko, the scripts of India, Tibetan, Myanmar, Khmer, Mongolian."""
_NEEDED = (
    "\\r(?=\\n)"
    f"|(?<=[{_EMOJI}])\\ufe0f"
    "|(?<=[0-9#*])\\ufe0f(?=\\u20e3)"
    f"|(?<=[{_EMOJI}\\ufe0f])\\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINED}])[\\u200c\\u200d]"
)
_ASCII = bytes(range(0x7F))
_compiled: list[Patterns] = []


def has_invisible(text: str, data: bytes) -> bool:
    """Return True if a text without line breaks, such as compact JSON, may have an invisible character.

    `data` is the text in UTF-8. If most of it is ASCII, that is removed first: a pattern takes five times as long.
    """
    if data.isascii():
        return b"\x7f" in data
    if _TAGS_BYTE in data:
        return True
    if len(data) < len(text) * 1.25:
        text = data.translate(None, _ASCII).decode()
    match = _patterns()[2].match(text)
    return match is None or match.end() < len(text)


def escape_json(text: str) -> str:
    """Return JSON in which every invisible character is an escape; it decodes to the same value."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON itself escapes the other control characters
    return _substitute(text, lambda character: json.dumps(character)[1:-1])


def escape_text(text: str) -> str:
    """Return text in which every invisible character is written as `\\u202e` or `\\U000e0041`."""
    if text.isascii() and text.isprintable():
        return text
    return _substitute(text, _escape)


def replace_invisible(text: str) -> str:
    """Return text in which every invisible character is replaced by U+FFFD, which is one column wide."""
    return text if text.isascii() and text.isprintable() else _substitute(text, lambda _: "\ufffd")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _substitute(text: str, substitute: Callable[[str], str]) -> str:
    invisible, needed, _ = _patterns()

    def replacement(match: re.Match[str]) -> str:
        return match[0] if needed.match(text, match.start()) else substitute(match[0])

    return invisible.sub(replacement, text)


def _patterns() -> Patterns:
    """Return the patterns of an invisible character, of a needed one and of a run of visible ones.

    Compile them for the first text that is not ASCII, to keep the start fast.
    """
    if not _compiled:
        _compiled.append((re.compile(_INVISIBLE), re.compile(_NEEDED), re.compile(_VISIBLE_RUN)))
    return _compiled[0]
