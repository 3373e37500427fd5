"""Capsules of a given length with six sections; the frequencies of their words are those of prose."""

from __future__ import annotations

import random

SECTIONS = (
    "Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions",
)  # fmt: skip
_SYLLABLES = ("ka", "lo", "mi", "ter", "sol", "ven", "dra", "pin", "qu", "sto", "ra", "bel", "nu", "tig", "ex", "or")


def vocabulary(size: int = 20_000, *, seed: int = 7) -> list[str]:
    """Return distinct made-up words, the most common first."""
    generator = random.Random(seed)  # noqa: S311
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(generator.choices(_SYLLABLES, k=generator.randint(1, 4)))] = None
    return list(words)


class Author:
    """Writes capsules; no two are equal."""

    def __init__(self, *, seed: int) -> None:
        self._generator = random.Random(seed)  # noqa: S311
        self._words = vocabulary()
        self._weights: list[float] = []
        total = 0.0
        for rank in range(1, len(self._words) + 1):
            total += 1 / rank
            self._weights.append(total)

    def prose(self, chars: int) -> str:
        """Return words with at most this number of characters in all."""
        return " ".join(self._generator.choices(self._words, cum_weights=self._weights, k=chars // 4))[:chars]

    def capsule(self, chars: int) -> str:
        """Return a complete capsule of exactly this length."""
        headings = "".join(f"## {title}\n\n\n" for title in SECTIONS)
        each = (chars - len(headings)) // len(SECTIONS) - 1
        text = "".join(f"## {title}\n{self.prose(each)}\n\n" for title in SECTIONS)
        return text + self.prose(chars * 2)[: chars - len(text)]
