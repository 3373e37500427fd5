"""Detection of duplicate cards by the Jaccard similarity of their words."""

from __future__ import annotations

import math
import re
from itertools import islice

from moss_memory.tools.reasoning.branches.visible_ranges import graph_view
from moss_memory.tools.reasoning.graph.node_queries import NodeFilters, newest_first
from moss_memory.tools.reasoning.graph.node_versions import Version
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.reasoning.branches.document_refs import DocumentRef
    from moss_memory.tools.reasoning.branches.visible_ranges import View

SIMILAR = 0.9
MERGED = "merged"
_CARDS_MAX = 10_000
_WORD = re.compile(r"\w+")


class DuplicateGroup:
    """The oldest of some duplicate cards, and the others."""

    __slots__ = ("canonical", "others", "similarity")

    def __init__(self, canonical: Version) -> None:
        self.canonical = canonical
        self.others: list[Version] = []
        self.similarity = 1.0

    def to_dict(self) -> dict[str, Any]:
        merged = [card.key for card in self.others]
        return {"canonical": self.canonical.key, "merged": merged, "similarity": round(self.similarity, 3)}


def find_duplicates(tx: ReadTransaction, document: DocumentRef, cards: list[Version] | None) -> list[DuplicateGroup]:
    """Return the groups of duplicates among the given cards, or among all unmerged cards if None."""
    view = graph_view(tx, document.branch.branch_id, document.doc)
    if cards is None:
        from .card_model import CARD_TYPES

        filters = NodeFilters(types=list(CARD_TYPES))
        cards = list(islice(newest_first(tx, view, filters), _CARDS_MAX))
    open_cards = [card for card in cards if card.status != MERGED]
    born = {card.key: _first_seq(tx, view, card.key) for card in open_cards}
    groups: list[DuplicateGroup] = []
    index: dict[tuple[str, str], list[tuple[DuplicateGroup, frozenset[str]]]] = {}
    for card in sorted(open_cards, key=lambda card: (born[card.key], card.seq)):
        words = frozenset(_WORD.findall(_normal_text(card)))
        best = _most_similar(index, card, words)
        if best is None:
            group = DuplicateGroup(card)
            groups.append(group)
            for word in _prefix_words(words):
                index.setdefault((card.type, word), []).append((group, words))
        else:
            group, similarity = best
            group.others.append(card)
            group.similarity = min(group.similarity, similarity)
    return [group for group in groups if group.others]


def _first_seq(tx: ReadTransaction, view: View, key: str) -> int:
    """Return the seq of the first version of a card in the view."""
    keys = [{"branch_id": branch_id, "doc": view.doc, "key": key, "upto": upto} for branch_id, upto in view.sources]
    firsts: list[int | None] = [tx.value(sql["first_version"], key) for key in keys]
    return min(first for first in firsts if first is not None)


def _normal_text(card: Version) -> str:
    text = f"{card.title or ''} {card.text or ''}"
    folded = text.casefold() if text.isascii() else _to_nfc(_to_nfc(text).casefold())
    return " ".join(folded.split())


def _to_nfc(text: str) -> str:
    import unicodedata  # only non-ASCII text needs it

    return unicodedata.normalize("NFC", text)


def _prefix_words(words: frozenset[str]) -> list[str]:
    """Return the prefix filter of a word set: two sets as similar as SIMILAR share a word of their prefixes."""
    ordered = sorted(words)
    return ordered[: len(ordered) - math.ceil(SIMILAR * len(ordered)) + 1] or [""]


def _most_similar(
    index: dict[tuple[str, str], list[tuple[DuplicateGroup, frozenset[str]]]], card: Version, words: frozenset[str]
) -> tuple[DuplicateGroup, float] | None:
    best: tuple[DuplicateGroup, float] | None = None
    for word in _prefix_words(words):
        for group, group_words in index.get((card.type, word), ()):
            if words or group_words:
                similarity = len(words & group_words) / len(words | group_words)
            else:
                similarity = float(_normal_text(card) == _normal_text(group.canonical))
            if similarity >= SIMILAR and (best is None or similarity > best[1]):
                best = (group, similarity)
    return best
