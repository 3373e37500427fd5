"""Searching by words on PostgreSQL: the postings of the words come here, and are scored as FTS5 scores them.

The sums are made in the same order of the same numbers, so that scores are the same to the last bit and what ties there
ties here.
"""

from __future__ import annotations

import math
from heapq import nlargest

from ...query.expression import wanted
from ...query.hits import Document, Hit, Hits, number_of
from ...query.matcher import Matcher
from ..ranking import IDEAL, SHARE_WEIGHT, Word, page_of, ranges_of
from .held import Index, Matched
from .scope import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...query.request import Request
    from .held import Weights
    from .scope import Inside
    from .transaction import PostgresTransaction

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


def by_words(tx: PostgresTransaction, request: Request) -> Hits:
    """One page of what the words find, in an order that never changes."""
    query = request.query
    index = Index(tx)
    if query.expression is None:
        scope = Scope(tx, request, index, without=query.unwanted)
        question = Question(index, query.words)
        found = question.scores(scope)
        matcher = Matcher(question.forms())
    else:
        scope = Scope(tx, request, index)
        matched = Matched(index, query.expression)
        if query.excludes:
            return _everything_but(scope, matched.slots, request)
        matcher = Matcher(operands=wanted(query.expression))
        inside = scope.within(matched.slots)
        scored = bm25(index, matched.phrases, inside)
        found = [(score, inside.docs[slot]) for slot, score in scored.items()]
    items = [Hit(Document.of(doc), score) for score, doc in page_of(best(found, request.most), request, scope.changes)]
    return Hits(items, len(found), matcher)


def best(found: list[tuple[float, int]], most: int) -> list[tuple[float, int]]:
    """The best so many and all that tie with the last of them."""
    if len(found) <= most:
        return found
    least = nlargest(most, found)[-1][0]
    return [one for one in found if one[0] >= least]


def bm25(index: Index, phrases: Sequence[tuple[int, Weights]], inside: Inside) -> dict[int, float]:
    """The bm25 of every slot inside, as FTS5 reckons it; of each phrase it is known how many documents hold it."""
    norms = _Norms(index.average)
    lengths = inside.lengths
    found = dict.fromkeys(inside.slots, 0.0)
    for hits, weights in phrases:
        idf = math.log((index.documents - hits + 0.5) / (hits + 0.5))
        if idf <= 0:
            idf = _LEAST_IDF
        for slot in weights.keys() & inside.slots:
            often = weights[slot]
            found[slot] += idf * ((often * (_K1 + 1.0)) / (often + norms[lengths[slot]]))
    return found


class _Norms(dict[int, float]):
    """What the length of a document takes from how often it holds a word, each reckoned once."""

    def __init__(self, average: float) -> None:
        super().__init__()
        self._average = average

    def __missing__(self, length: int) -> float:
        norm = self[length] = _K1 * (1 - _B + _B * length / self._average)
        return norm


class Question:
    """A natural question in the terms of the index: its words, in any form, the rarest first."""

    def __init__(self, index: Index, words: Sequence[str]) -> None:
        self._index = index
        spans = ranges_of(words)
        index.look_up([(span.beginning, span.end) for span in spans])
        forms = [span.forms_among(index.between((span.beginning, span.end))) for span in spans]
        index.read([number for rows in forms for _, number in rows])
        found: list[tuple[Word, list[Weights]]] = []
        for span, rows in zip(spans, forms, strict=True):
            held = [(form, index.weights(number), number) for form, number in rows if index.weights(number)]
            word = Word(span.word, [(form, len(weights)) for form, weights, _ in held], index.documents)
            open_ones = [index.any_of([number for _, _, number in held])] if word.is_open else None
            found.append((word, [weights for _, weights, _ in held] if open_ones is None else open_ones))
        self.weight = 0.0
        """What all of the words say together, also those that no document holds."""
        for word, _ in found:
            self.weight += word.idf
        self.weight = self.weight or 1.0
        self._words = sorted([one for one in found if one[0].forms], key=lambda one: one[0].held_by)

    def forms(self) -> list[str]:
        """Every form of every word that there is."""
        return [form for word, _ in self._words for form in word.forms]

    def scores(self, scope: Scope) -> list[tuple[float, int]]:
        """The score of every document within the filters that holds any of the words, and the document."""
        return [(SHARE_WEIGHT * share + score, doc) for doc, score, share in self.everything(scope)]

    def everything(self, scope: Scope) -> list[tuple[int, float, float]]:
        """Every document within the filters that holds any of the words: its number, its bm25 over the ideal one, and
        the share of what the words say that it holds."""
        inside, scored, held = self._walk(scope)
        scale = 1 / (IDEAL * self.weight)
        shares = self._shares(inside, held)
        docs = inside.docs
        return [(docs[slot], score * scale, shares[slot]) for slot, score in scored.items()]

    def _shares(self, inside: Inside, held: list[set[int]]) -> dict[int, float]:
        """The share of each slot, summed in the order of the words, so that equal ones are equal to the last digit."""
        bits = dict.fromkeys(inside.slots, 0)
        for place, slots in enumerate(held):
            for slot in slots & bits.keys():
                bits[slot] |= 1 << place
        known = {one: self._share(one) for one in set(bits.values())}
        return {slot: known[one] for slot, one in bits.items()}

    def _share(self, bits: int) -> float:
        return sum([word.idf for place, (word, _) in enumerate(self._words) if bits >> place & 1]) / self.weight

    def _walk(self, scope: Scope) -> tuple[Inside, dict[int, float], list[set[int]]]:
        """What is within the filters, the bm25 of each, and for each word the slots that hold it."""
        held = [set().union(*forms) for _, forms in self._words]
        inside = scope.within(set().union(*held))
        phrases = [(len(weights), weights) for _, forms in self._words for weights in forms]
        return inside, bm25(self._index, phrases, inside), held


def _everything_but(scope: Scope, slots: set[int], request: Request) -> Hits:
    """Every document in the filters that the expression does not match, newest first."""
    inside = scope.within(slots)
    matched = [inside.docs[slot] for slot in inside.slots]
    parts = [
        f"select {number_of(source)} as doc, updated_at, change_seq from {source.table}"
        f" where {scope.row_condition(source)} and not ({number_of(source)} = any(:moss_docs))"
        for source in scope.sources
    ]
    source = " union all ".join(parts)
    total: int = scope.rows(f"select count(*) from ({source}) as found", moss_docs=matched)[0][0]
    rows = scope.rows(
        f"select doc from ({source}) as found order by updated_at desc, change_seq desc, doc desc"
        " limit :moss_limit offset :moss_offset",
        moss_docs=matched,
        moss_limit=request.limit,
        moss_offset=request.offset,
    )
    return Hits([Hit(Document.of(doc), 0.0) for (doc,) in rows], total, Matcher())
