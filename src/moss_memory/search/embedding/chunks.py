"""A text in passages: as many word pieces each, cut where a line or a sentence ends if one does nearby."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK_TOKENS = 128
"""A vector says little about more than this. Passages of 64 pieces, whose mean was taken, found less in long texts."""

MAX_CHUNKS = 64
"""Some 32,000 characters; what follows them is found by its words."""


def passages(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """The pieces of each passage as `(first, end)`, given where in the text the word of each piece begins."""
    count = len(starts)
    wanted = max(1, -(-count // CHUNK_TOKENS))
    reach = count // wanted // 4
    ends = [_cut(text, starts, count * number // wanted, reach) for number in range(1, wanted)]
    return list(zip([0, *ends], [*ends, count], strict=True))


def _cut(text: str, starts: Sequence[int], ideal: int, reach: int) -> int:
    """The piece to begin a passage with: after a line, a sentence or a word, whichever is best, then nearest."""
    best, found = (0, 0), ideal
    for distance in range(reach + 1):
        for at in (ideal - distance, ideal + distance):
            if starts[at] != starts[at - 1]:
                worth = _worth(text, starts[at])
                if (worth, -distance) > best:
                    best, found = (worth, -distance), at
    return found


def _worth(text: str, start: int) -> int:
    """How good a place this is to cut, before a word."""
    before = text[max(0, start - 3) : start]
    if "\n" in before:
        return 3
    return 2 if before.rstrip()[-1:] in (".", "!", "?", ":", ";", "。", "！", "？") else 1  # noqa: RUF001
