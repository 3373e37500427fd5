"""Random characters and blocks of base64, as opposed to words, names and placeholders.

A block of base64 contains the prefixes of short keys by chance, so a match inside of one is no credential.
"""

from __future__ import annotations

import functools
import re

from .kinds import PLACEHOLDER_PARTS

_WEAK_PREFIX = 6
"""Prefixes of at most this length occur by chance in base64: once in 64 ** 4 characters for `AKIA`."""
_BLOCK_LINE = 60
"""The compared part of a line of base64; encoders break lines after 64 or 76 characters."""
BLOCK_CHARS = 40
SHORTEST = 16
"""The length of the shortest credential that is known by its shape."""
_RANDOM_SAMPLE = 400
_KEY_SAMPLE = 200
"""Randomness is measured on the first characters, so that a long run takes no more time than a short one."""
_LINE_MAX = 400
"""The part of the line before that is searched for its beginning."""
_BASE64_SIGNS = frozenset("+/-_")


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern at its first use."""
    return re.compile(pattern, re.ASCII)


def is_random(value: str, prefix: str = "") -> bool:
    """Return True if characters look random: no placeholder such as `xxxx` or `0000`, no words of a language.

    No character may be more than a third of the value, as in a placeholder, and at least 8 of them must be different.
    Words have few digits and capitals: without a digit, every fourth character must be of another class than the next.
    Keys with a prefix of capitals consist of capitals and may have no digit.
    """
    sample = value[:_RANDOM_SAMPLE]
    commonest = max(map(sample.count, set(sample)))
    if 3 * commonest > len(sample) or len(set(sample)) < min(8, len(sample) // 3):
        return False
    if compiled(PLACEHOLDER_PARTS).search(sample):
        return False
    if prefix.isupper() and sample.isupper():
        return True
    return compiled("[0-9]").search(sample) is not None or 4 * class_changes(sample) >= len(sample)


def class_changes(value: str) -> int:
    """Count the neighbours of different classes: small letter, capital, digit, other."""
    classes = ["a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else "-" for char in value]
    return sum(map(str.__ne__, classes, classes[1:]))


def is_key(value: str) -> bool:
    """Return True if a run is a key, and not a word, a path, a version or the name of a file.

    Keys mix digits with letters. The fewer groups of digits a value has, the more often its characters must change
    class: after half of them for one group (`checkout2026Release`), three eighths for two, a quarter for three and
    more. A hexadecimal number must have 32 digits, because shorter ones are commits and colours.
    """
    part = max(value[:_KEY_SAMPLE].split("."), key=len)
    if len(part) < SHORTEST or value.startswith("eyJ") or compiled("[0-9]").search(part) is None:
        return False
    if compiled(r"[A-Za-z0-9+/]*|[\w~+-]*").fullmatch(part) is None or not is_random(part):
        return False
    if compiled(r"[0-9a-f-]*").fullmatch(part):
        return len(part) >= 32 and not part.replace("-", "").isdigit()
    groups = len(compiled(r"[0-9]{1,200}+").findall(part))
    eighths = 4 if groups < 2 else 3 if groups == 2 else 2
    return 8 * class_changes(part) >= eighths * len(part)


def is_in_block(text: str, start: int, end: int, prefix: str) -> bool:
    """Return True if a match with a short prefix lies in a block of base64, where anything may occur by chance."""
    if len(prefix) > _WEAK_PREFIX:
        return False
    if _is_inside_base64(text, start):
        return True
    if not prefix.isalnum():
        return False
    if is_after_base64(text, start):
        return not _previous_line_begins_with(prefix, text, start)
    if text[start - 1 : start] in _BASE64_SIGNS and is_after_base64(text, _run_start(text, start)):
        return True
    after = compiled(  # the rest of this line, its end (also as `\\n` in JSON), and the next line of base64
        rf"[\w+/-]{{0,100}}+[\"',\\nr\r]{{0,4}}(?:\n|\\n)[\s\"']{{0,12}}([\w+/=-]{{{_BLOCK_LINE}}})"
    ).match(text, end)
    return after is not None and _is_base64(after[1]) and not after[1].startswith(prefix)


def _is_inside_base64(text: str, start: int) -> bool:
    """Return True if at least `BLOCK_CHARS` characters of base64 end at an offset with one that is not alphanumeric."""
    before = _line_before(text, start)
    if before[-1:].isalnum():
        return False
    inside = compiled(rf"[A-Za-z0-9+/]{{{BLOCK_CHARS},}}\Z|[\w-]{{{BLOCK_CHARS},}}\Z").search(before)
    return inside is not None and _is_base64(inside[0])


def _line_before(text: str, start: int) -> str:
    """Return the characters before an offset, as many as a line of base64 has."""
    return text[max(0, start - _BLOCK_LINE) : start]


def _run_start(text: str, start: int) -> int:
    """Return the start of the base64 that ends at an offset; it is at most one line long."""
    run = compiled(r"(?:\\n){0,1}([\w+/-]{1,60})\Z").search(_line_before(text, start))
    return start if run is None else start - len(run[1])


def is_after_base64(text: str, start: int) -> bool:
    """Return True if the line before an offset is one of base64."""
    line_end = text[max(0, start - 12) : start]
    if "\n" not in line_end and "\\n" not in line_end:
        return False
    before = compiled(r"[\s\"',\\nr+]{1,12}\Z").sub("", text[max(0, start - _BLOCK_LINE - 24) : start])
    line = before[-_BLOCK_LINE:]
    return len(line) == _BLOCK_LINE and _is_base64(line)


def _previous_line_begins_with(prefix: str, text: str, start: int) -> bool:
    """Return True if the line before an offset begins with the same prefix: then it is a list of such values.

    Prefixes that look like the base64 of zeros begin many lines of a binary.
    """
    if prefix.endswith("AA"):
        return False
    line_end = text.rfind("\n", max(0, start - 12), start)
    line_start = text.rfind("\n", max(0, line_end - _LINE_MAX), line_end) + 1
    return text.startswith(prefix, line_start)


def _is_base64(part: str) -> bool:
    """Return True if a text is base64 of random bytes or of zeros.

    A path has other characters, a line of dashes no letters, a hexadecimal number no letters of both cases. Long names
    have all three classes, but seldom change between them: random base64 does after two of three characters.
    """
    if compiled(r"[A-Za-z0-9+/=]*|[\w=-]*").fullmatch(part) is None:
        return False
    if 3 * part.count("A") >= len(part):
        return True
    is_mixed = all(compiled(kind).search(part) is not None for kind in ("[0-9]", "[a-z]", "[A-Z]"))
    return is_mixed and 5 * sum(map(class_changes, compiled("[^A-Za-z0-9]").split(part))) >= len(part)
