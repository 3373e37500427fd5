"""Split a text into chunks of about equal numbers of tokens, at the end of a line or sentence if one is near."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK_TOKENS = 128
"""Vectors of longer chunks are less precise. Chunks of 64 tokens with averaged vectors had less recall."""

MAX_CHUNKS = 64
"""About 32,000 characters; the rest of a text is found by its words only."""


def chunk_spans(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the tokens of each chunk as `(first, end)`, given the offset of each token's word in the text."""
    count = len(starts)
    chunks = max(1, -(-count // CHUNK_TOKENS))
    reach = count // chunks // 4
    ends = [_choose_cut(text, starts, count * number // chunks, reach) for number in range(1, chunks)]
    return list(zip([0, *ends], [*ends, count], strict=True))


def _choose_cut(text: str, starts: Sequence[int], ideal: int, reach: int) -> int:
    """Return the first token of a chunk: after a line, else a sentence, else a word, nearest to the ideal."""
    best, best_cut = (0, 0), ideal
    for distance in range(reach + 1):
        for cut in (ideal - distance, ideal + distance):
            if starts[cut] != starts[cut - 1]:
                quality = _cut_quality(text, starts[cut])
                if (quality, -distance) > best:
                    best, best_cut = (quality, -distance), cut
    return best_cut


def _cut_quality(text: str, start: int) -> int:
    before = text[max(0, start - 3) : start]
    if "\n" in before:
        return 3
    return 2 if before.rstrip()[-1:] in (".", "!", "?", ":", ";", "。", "！", "？") else 1  # noqa: RUF001
