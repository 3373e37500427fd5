"""Full-text search on SQLite: one FTS5 index over all families, exact order and exact totals.

A natural question is ordered by how many of its words a row holds, then by bm25, then newest. Ranking every row that
holds any of the words is slow when words are common, so the rows that hold the most words are found first and only
those are ranked; `_ranked_many` says how. Where thousands hold the same words, words no longer tell which is meant,
and the newest of them are ranked; `_ranked_crowd` says how. A search is several statements: run it inside one read
transaction.
"""

from __future__ import annotations

import json
from collections import Counter

from ...query.expression import Operand
from ...query.matcher import Matcher
from ...query.words import stems_of
from .bm25 import TITLE_WEIGHT, Collection
from .scope import AMONG, DOCS, MARK, Scope, json_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set
    from typing import Any

    import apsw

    from ...families import Source
    from ...query.expression import Operation
    from ...query.query import Query

_SCORE = f"-bm25(search_index, {TITLE_WEIGHT}, 1.0, 0.0)"
_FEW = 1000
"""Up to so many documents of all words together, ranking them all is quickest."""
_FEW_TO_LOOK_UP = 200
"""Up to so many documents, asking the tables about filters is quicker than asking the index."""
_PASS_COST = 4
"""What two passes from the rare words cost a document, against one pass over all words."""
_READ_COST = 2
"""What reading a word of a text costs, against a step in the index."""
_FETCH_COST = 60
"""What fetching a text costs, against reading a word of it."""
_TIED = 300
"""So many documents of the same score can share the last place before all of them are looked up once more."""
_CROWD = 8000
"""More documents of a source that hold all of the words, or that all hold just one, are too many to rank them all."""
_FRONT = 1000
"""Of such a crowd the newest so many are ranked, and so many of the newest with one of the words in their title."""
_GROWS = "\U0010ffff"


class Hits:
    """One page of documents in final order, as `(doc, score)`, and how many match in all."""

    __slots__ = ("exact", "items", "matcher", "total", "words")

    def __init__(
        self, items: list[tuple[int, float]], total: int, matcher: Matcher, words: dict[int, int] | None = None
    ) -> None:
        self.items = items
        self.total = total
        self.exact = True
        """Whether the total was counted; else there may be more."""
        self.matcher = matcher
        self.words = words or {}
        """How many words of a question a document holds, where it may be more than one."""


def row_of(doc: int) -> int:
    """The `row_id` of a document in its source's table."""
    return doc >> 4


def search(
    connection: apsw.Connection,
    query: Query,
    *,
    sources: Sequence[str] = ("capsule",),
    workspace_norm: str | None = None,
    include_deleted: bool = False,
    where: Sequence[str] = (),
    parameters: dict[str, Any] | None = None,
    among: Sequence[int] | None = None,
    limit: int,
    offset: int = 0,
    counted: bool = True,
    now: int = 0,
) -> Hits:
    """Every document that the query and the filters match, one page of it, in an order that never changes.

    `where` holds conditions on columns of the sources' tables, with named `parameters`; what has expired by
    `now` is not found, nor is what is not `among` certain documents. Unless `counted`, a question's total may be too
    small: it counts what had to be looked at.
    """
    chosen = {**(parameters or {}), "moss_now": now}
    scope = Scope(connection, sources, workspace_norm, include_deleted, where, chosen, among)
    if query.expression is not None:
        expression = _render(query.expression)
        if query.excludes:
            return _everything_but(scope, expression, limit, offset)
        total = scope.count(expression)
        ranked = _ranked(scope, expression, limit + offset) if offset < total else []
        return Hits(ranked[offset : offset + limit], total, Matcher(operands=tuple(_operands(query.expression))))
    words = _forms(connection, query.words)
    matcher = Matcher(frozenset(form for word in words for form in word.forms))
    if not words:
        return Hits([], 0, matcher)
    need = limit + offset
    if sum(word.docs for word in words) <= _FEW:
        ranked, held, total = _ranked_few(scope, words, need)
        return Hits(ranked[offset:need], total, matcher, held)
    total = scope.count(_any(words)) if counted else need
    ranked, held = _ranked_many(scope, words, need) if offset < total else ([], {})
    hits = Hits(ranked[offset:need], total if counted else len(ranked), matcher, held)
    hits.exact = counted or len(ranked) < need
    return hits


def matcher_of(connection: apsw.Connection, query: Query) -> Matcher:
    """What shows the words of a query in the texts that it finds by other means."""
    if query.expression is not None:
        return Matcher(operands=() if query.excludes else tuple(_operands(query.expression)))
    return Matcher(frozenset(form for word in _forms(connection, query.words) for form in word.forms))


class _Word:
    """One word of a question: the forms of it that the index holds, and how many documents have each and any."""

    __slots__ = ("counted", "docs", "expression", "forms")

    def __init__(self, counted: list[tuple[str, int]]) -> None:
        self.counted = counted
        self.forms = forms = [form for form, _ in counted]
        self.docs = sum(docs for _, docs in counted)
        self.expression = "(" + " OR ".join(f'"{form}"' for form in forms) + ")"


def _forms(connection: apsw.Connection, words: Sequence[str]) -> list[_Word]:
    """For each word of a question that the index holds in any form, those forms: all words of the same stem.

    The rarest comes first. The order is the same for every page, and so are the sums that bm25 makes.
    """
    found = []
    for word, stem in zip(words, stems_of(words), strict=True):
        beginning = _shared_beginning(word, stem)
        end = beginning + _GROWS if len(stem) > 1 else stem + "\0"
        rows: list[Any] = connection.execute(
            "select term, doc from search_terms where term >= ? and term < ?", (beginning, end)
        ).fetchall()
        same = [row for row, other in zip(rows, stems_of(row[0] for row in rows), strict=True) if other == stem]
        if same:
            found.append(_Word(same))
    found.sort(key=lambda word: word.docs)
    return found


def _shared_beginning(word: str, stem: str) -> str:
    """What every word of this stem begins with. The stemmer may change the last letter of a stem: happy, happi;
    store, storing; sensible, sensibility."""
    if not word.startswith(stem) or stem.endswith(("e", "i", "y", "bl")):
        return stem[:-1] or stem
    return stem


def _any(words: Iterable[_Word]) -> str:
    """Any form of any of the words; flat, because FTS5 walks one OR faster than an OR of ORs."""
    return " OR ".join(f'"{form}"' for word in words for form in word.forms)


def _ranked_few(scope: Scope, words: list[_Word], need: int) -> tuple[list[tuple[int, float]], dict[int, int], int]:
    """The first `need` documents of a question of rare words in final order, how many words each holds, and how many
    there are."""
    if sum(word.docs for word in words) <= _FEW_TO_LOOK_UP:
        rows = _scores(scope, scope.part(_any(words)), scope.table_condition())
    else:
        rows = _scores(scope, scope.match(_any(words)), scope.condition)
    covered: dict[int, int] = {}
    for word in words if len(words) > 1 else ():
        for (doc,) in scope.rows(DOCS, moss_match=scope.part(word.expression)):
            covered[doc] = covered.get(doc, 0) + 1
    return _in_order(scope, rows, covered, need), covered, len(rows)


def _ranked_many(scope: Scope, words: list[_Word], need: int) -> tuple[list[tuple[int, float]], dict[int, int]]:
    """The first `need` documents of a question of common words in final order, and how many words each holds."""
    guess = _first_guess(scope, words, need)
    complete: list[tuple[int, float]] = []
    if guess == len(words) or len(words) <= 2 or words[0].docs > _CROWD:
        complete = _ranked_crowd(scope, words, need, frozenset(), at_least=len(words))
    covered = dict.fromkeys((doc for doc, _ in complete), len(words))
    if len(complete) >= need or len(words) == 1:
        return complete, covered
    done = frozenset(covered)
    for at_least in range(min(guess, len(words) - 1), 1, -1):
        covered = _coverage(scope, words, at_least=at_least)
        if len(covered) >= need:
            return complete + _ranked_levels(scope, words, covered, done, need - len(complete), at_least), covered
    # Too few documents hold two of the words: after those, the best of all the others.
    best = complete + _ranked_levels(scope, words, covered, done, need, 2)
    return best + _ranked_crowd(scope, words, need - len(best), covered.keys(), at_least=1), covered


def _ranked_levels(
    scope: Scope, words: list[_Word], covered: dict[int, int], done: Set[int], need: int, at_least: int
) -> list[tuple[int, float]]:
    """The first `need` of documents that hold at least so many of the words in final order, except those done.

    Those that hold equally many are scored together, whatever is needed, so that pages fit together.
    """
    levels: dict[int, list[int]] = {}
    for doc, held in covered.items():
        if doc not in done:
            levels.setdefault(held, []).append(doc)
    ranked: list[tuple[int, float]] = []
    for held in sorted(levels, reverse=True):
        if len(ranked) < need:
            missing = need - len(ranked)
            ranked += _in_order(scope, _scores_of(scope, words, levels[held], missing, at_least), {}, missing)
    return ranked


def _ranked_crowd(
    scope: Scope, words: list[_Word], need: int, without: Set[int], *, at_least: int
) -> list[tuple[int, float]]:
    """The first `need` documents that hold all of the words, or any, except some; all hold equally many.

    Of a crowd only the front is scored; the others follow, the last stored first, and count as much as the least of it.
    """
    expression = _any(words) if at_least == 1 else " AND ".join(word.expression for word in words)
    if not _is_crowd(scope, words, expression, at_least):
        return [row for row in _ranked(scope, expression, need + len(without)) if row[0] not in without][:need]
    titled = f"({expression}) AND ({{title}} : ({_any(words)}))"
    most = _FRONT + len(without)
    front = {
        doc for source in scope.sources for one in (expression, titled) for doc in _newest(scope, one, most, source)
    }
    front.difference_update(without)
    if not front:
        return []
    ranked = _in_order(scope, _scores_by_walking(scope, words, sorted(front), need, at_least), {}, need)
    if need > len(front):
        front.update(without)
        later = [doc for doc in _newest(scope, expression, need + len(without)) if doc not in front]
        ranked += [(doc, ranked[-1][1]) for doc in later]
    return ranked[:need]


def _is_crowd(scope: Scope, words: list[_Word], expression: str, at_least: int) -> bool:
    """Whether too many documents of one source match an expression that holds all of the words, or any."""
    most = sum(word.docs for word in words) if at_least == 1 else words[0].docs
    if most <= _CROWD:
        return False
    sql = f"select count(*) from ({DOCS}{scope.condition} limit {_CROWD + 1})"
    return any(scope.rows(sql, moss_match=_of(scope, source, expression))[0][0] > _CROWD for source in scope.sources)


def _of(scope: Scope, source: Source | None, expression: str) -> str:
    """The FTS5 query for an expression in one source, or in all."""
    match = scope.match(expression)
    if source is None or len(scope.sources) == 1:
        return match
    return f'(filter : "{MARK}t{source.name}") AND ({match})'


def _newest(scope: Scope, expression: str, most: int, source: Source | None = None) -> list[int]:
    """The documents of an expression, of one source or of all, the last stored first."""
    sql = f"{DOCS}{scope.condition} order by rowid desc limit :moss_limit"
    return [doc for (doc,) in scope.rows(sql, moss_match=_of(scope, source, expression), moss_limit=most)]


def _first_guess(scope: Scope, words: list[_Word], need: int) -> int:
    """The largest number of words that, were words spread by chance, enough documents would hold."""
    rows: int = (scope.rows("select max(id) from search_index_docsize")[0][0] >> 4) + 1
    chances = [1.0]
    for word in words:
        share = min(word.docs / rows, 1.0)
        chances = [
            (chances[held] if held < len(chances) else 0.0) * (1 - share) + (chances[held - 1] * share if held else 0.0)
            for held in range(len(chances) + 1)
        ]
    expected = 0.0
    for held in range(len(words), 1, -1):
        expected += chances[held] * rows
        if expected >= need:
            return held
    return 2


def _coverage(scope: Scope, words: list[_Word], *, at_least: int) -> dict[int, int]:
    """Every document that holds at least so many of the words, and how many.

    Such a document holds one of the rarest words, however the others fall; the common words are only looked up
    in documents that do.
    """
    rare, common = _split(words, at_least)
    matches = [scope.part(word.expression) for word in rare]
    matches += [scope.part(f"{word.expression} AND ({_any(rare)})") for word in common]
    held: Counter[int] = Counter()
    for match in matches:
        # As one text they come quicker than as rows, and they are counted quicker here than by a `group by`.
        ((docs,),) = scope.rows(f"select json_group_array(rowid) from ({DOCS}{scope.condition})", moss_match=match)
        held.update(json.loads(docs))
    covered = {doc: count for doc, count in held.items() if count >= at_least}
    # Few are left to ask about; keeping deleted documents out of every part costs more.
    for doc in scope.gone(covered):
        del covered[doc]
    return covered


def _split(words: list[_Word], at_least: int) -> tuple[list[_Word], list[_Word]]:
    """The rarest words, so many that whatever holds `at_least` words holds one of them, and the other words."""
    return words[: len(words) - at_least + 1], words[len(words) - at_least + 1 :]


def _scores(scope: Scope, match: str, condition: str, **values: Any) -> list[tuple[int, float]]:
    """The score of every document that matches and meets the condition, in no order."""
    return scope.rows(
        f"select rowid, {_SCORE} from search_index where search_index match :moss_match{condition}",
        moss_match=match,
        moss_workspace=scope.workspace_norm,
        **values,
    )


def _best(scope: Scope, match: str, condition: str, need: int, **values: Any) -> list[tuple[int, float]]:
    """The `need` best documents that match and meet the condition, and all that share the last place, with scores."""
    start = f"select rowid, {_SCORE} as score from search_index where search_index match :moss_match{condition}"
    most = need + _TIED
    rows = scope.rows(f"{start} order by score desc limit :moss_limit", moss_match=match, moss_limit=most, **values)
    if len(rows) == most and rows[need - 1][1] == rows[-1][1]:
        # The last place is tied: everything with its score takes part in the decision who is newest.
        rows = scope.rows(f"{start} and {_SCORE} >= :moss_least", moss_match=match, moss_least=rows[-1][1], **values)
    return rows


def _scores_of(scope: Scope, words: list[_Word], docs: list[int], need: int, at_least: int) -> list[tuple[int, float]]:
    """The scores of at least the best of documents that hold so many of the words: of a few texts, or of the index."""
    read = _scores_by_reading(scope, words, docs)
    return _scores_by_walking(scope, words, docs, need, at_least) if read is None else read


def _scores_by_walking(
    scope: Scope, words: list[_Word], docs: list[int], need: int, at_least: int
) -> list[tuple[int, float]]:
    """The scores of at least the best `need` of documents that hold so many of the words, from the index.

    One pass walks every document that holds any word, from the oldest of those asked about. When most hold common words
    only, two passes that start from the rare words are quicker; together they too see every word once, as bm25 must.
    """
    condition, values = f" and rowid >= {min(docs)}{AMONG}", {"moss_docs": json_list(docs)}
    rare, common = _split(words, at_least)
    if not common or _PASS_COST * sum(word.docs for word in rare) > sum(word.docs for word in words):
        return _best(scope, scope.part(_any(words)), condition, need, **values)
    rows = _best(scope, scope.part(f"({_any(rare)}) AND ({_any(common)})"), condition, need, **values)
    if len(rows) < len(docs):
        rows += _best(scope, scope.part(f"({_any(rare)}) NOT ({_any(common)})"), condition, need, **values)
    return rows


def _scores_by_reading(scope: Scope, words: list[_Word], docs: list[int]) -> list[tuple[int, float]] | None:
    """The scores of the documents from their texts, or none where walking the index is quicker."""
    collection = Collection(scope.connection)
    affordable = sum(word.docs for word in words) / _READ_COST - len(docs) * _FETCH_COST
    # A word with the mark may stand in the filter column too, where bm25 must not count it and its forms' counts do.
    if len(docs) * collection.average > affordable or MARK in _any(words):
        return None
    lengths = collection.lengths(docs)
    if sum(lengths.values()) > affordable:
        return None
    return collection.scores([form for word in words for form in word.counted], lengths, scope.sources)


def _ranked(scope: Scope, expression: str, need: int) -> list[tuple[int, float]]:
    """The first `need` documents of an expression by score, then newest."""
    return _in_order(scope, _best(scope, scope.match(expression), scope.condition, need), {}, need)


def _in_order(scope: Scope, rows: list[Any], covered: dict[int, int], need: int) -> list[tuple[int, float]]:
    """The first `need` rows by number of words held, then score, then newest."""
    held = covered.get
    ranked = [(held(doc, 0), score, doc) for doc, score in rows]
    ranked.sort(reverse=True)
    end = need
    while 0 < end < len(ranked) and ranked[end][:2] == ranked[need - 1][:2]:
        end += 1
    del ranked[end:]
    tied = [
        row[2]
        for at, row in enumerate(ranked)
        if (at and ranked[at - 1][:2] == row[:2]) or (at + 1 < len(ranked) and ranked[at + 1][:2] == row[:2])
    ]
    if tied:
        changed = _changes(scope, tied)
        ranked.sort(key=lambda row: (row[0], row[1], changed.get(row[2], ())), reverse=True)
    return [(doc, score) for _, score, doc in ranked[:need]]


def _changes(scope: Scope, docs: list[int]) -> dict[int, tuple[int, int, int]]:
    """When each document last changed, comparable across sources."""
    found = {}
    for source in scope.sources:
        sql = (
            f"select row_id * 16 + {source.code}, updated_at, change_seq from {source.table}"
            " where row_id in (select value from json_each(:moss_rows))"
        )
        for doc, updated_at, change_seq in scope.rows(
            sql, moss_rows=json_list(doc >> 4 for doc in docs if doc & 15 == source.code)
        ):
            found[doc] = (updated_at, change_seq, doc)
    return found


def _everything_but(scope: Scope, expression: str, limit: int, offset: int) -> Hits:
    """Every document in the filters that the expression does not match, newest first."""
    parts = [
        f"select row_id * 16 + {source.code} as doc, updated_at, change_seq from {source.table} "
        f"where {scope.row_condition(source)} and row_id * 16 + {source.code} not in "
        "(select rowid from search_index where search_index match :moss_match)"
        for source in scope.sources
    ]
    source = " union all ".join(parts)
    values = {"moss_match": scope.match(expression), "moss_workspace": scope.workspace_norm}
    total: int = scope.rows(f"select count(*) from ({source})", **values)[0][0]
    rows = scope.rows(
        f"select doc from ({source}) order by updated_at desc, change_seq desc, doc desc"
        " limit :moss_limit offset :moss_offset",
        **values,
        moss_limit=limit,
        moss_offset=offset,
    )
    return Hits([(doc, 0.0) for (doc,) in rows], total, Matcher())


def _operands(node: Operand | Operation) -> Iterable[Operand]:
    """The operands that a match can show; those after NOT never do."""
    if isinstance(node, Operand):
        yield node
        return
    for part in node.parts[:1] if node.operator == "NOT" else node.parts:
        yield from _operands(part)


def _render(node: Operand | Operation) -> str:
    """The node in FTS5's own language; words are quoted, so nothing in them can be an operator."""
    if isinstance(node, Operand):
        return f'"{" ".join(node.words)}"' + (" *" if node.prefix else "")
    parts = [_render(part) if isinstance(part, Operand) else f"({_render(part)})" for part in node.parts]
    return f" {node.operator} ".join(parts)
