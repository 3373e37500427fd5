"""Keeping the index of words small and quick: fresh documents become segments, segments are joined, the dead go.

One at a time does it, and whoever finds another at it goes on without: `fold` is the last thing that a transaction does
before it commits and waits for nobody. Only a purge waits, for what it purged has to go now.
"""

from __future__ import annotations

from itertools import accumulate

from .packing import DOC, LENGTH, SLOT, as_numbers, packed, parts_of, unpacked
from .words import WORDS_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .transaction import PostgresWrite

FOLD_LOCK = 0x6D6F7373_00000010
JOINED = 8
"""So many segments of one level become one of the next."""
_MANY_DEAD = 512
_DEAD_SHARE = 8
"""Where more than one of so many documents is dead, the dead are taken out."""
_WORDS_AT_ONCE = 2000

_JOIN = (
    """
with gone as (delete from search_segments where segment = any(cast(:old as integer[])) returning slots, docs, lengths)
insert into search_segments (segment, level, slots, docs, lengths)
  select cast(:new as integer), cast(:level as smallint), string_agg(slots, ''), string_agg(docs, ''),
    string_agg(lengths, '') from gone
""",
    """
with gone as (
  delete from search_postings where segment = any(cast(:old as integer[]))
  returning word, slots, weights, sizes, places)
insert into search_postings (word, segment, slots, weights, sizes, places)
  select word, cast(:new as integer), string_agg(slots, ''), string_agg(weights, ''), string_agg(sizes, ''),
    string_agg(places, '')
  from gone group by word
""",
)
_ORPHANS = """
delete from search_words where id = any(cast(:words as integer[]))
  and not exists (select 1 from search_postings where word = id)
  and id not in (select unnest(words) from search_fresh)
"""


def fold(tx: PostgresWrite) -> None:
    """Folds what is fresh into a segment, joins segments where there are many, takes the dead out where many are."""
    if not tx.value(f"select cast(pg_try_advisory_xact_lock({FOLD_LOCK}) as integer)"):
        return
    _fold_fresh(tx)
    tx.queue(
        "with gone as (delete from search_totals returning docs, length)"
        " insert into search_totals (docs, length) select sum(docs), sum(length) from gone having count(*) > 0"
    )
    _join_levels(tx)
    dead, docs = tx.row("select (select count(*) from search_dead), (select sum(docs) from search_totals)") or (0, 0)
    if dead > max(_MANY_DEAD, (docs or 0) // _DEAD_SHARE) and _has_words_alone(tx):
        _take_out_dead(tx)


def prepare_to_scrub(tx: PostgresWrite) -> None:
    """Has the dictionary alone before the transaction shares it, so that no two wait for each other."""
    tx.queue(f"select pg_advisory_xact_lock({WORDS_LOCK})")


def scrub(tx: PostgresWrite) -> None:
    """Takes everything out of the index that no document says any more, words that nobody holds too."""
    tx.queue(f"select pg_advisory_xact_lock({FOLD_LOCK})")
    _take_out_dead(tx)


def _has_words_alone(tx: PostgresWrite) -> bool:
    return bool(tx.value(f"select cast(pg_try_advisory_xact_lock({WORDS_LOCK}) as integer)"))


def _fold_fresh(tx: PostgresWrite) -> None:
    """Makes a segment of what is fresh; what another transaction is removing stays as it is."""
    fresh = list(
        tx.rows(
            "select slot, doc, length, words, weights, sizes, places from search_fresh order by slot"
            " for update skip locked"
        )
    )
    if not fresh:
        return
    segment = _new_segment(tx)
    tx.queue(
        "delete from search_fresh where slot = any(cast(:slots as integer[]))", {"slots": [row[0] for row in fresh]}
    )
    tx.queue(
        "insert into search_segments (segment, level, slots, docs, lengths)"
        " values (:segment, 0, :slots, :docs, :lengths)",
        {
            "segment": segment,
            "slots": packed(SLOT, [row[0] for row in fresh]),
            "docs": packed(DOC, [row[1] for row in fresh]),
            "lengths": packed(LENGTH, [row[2] for row in fresh]),
        },
    )
    held: dict[int, _Postings] = {}
    for slot, _, _, words, weights, sizes, places in fresh:
        for posting in zip(words, weights, sizes, parts_of(sizes, places), strict=True):
            one = held.get(posting[0])
            if one is None:
                one = held[posting[0]] = _Postings()
            one.add(slot, *posting[1:])
    _add_postings(tx, segment, held)


class _Postings:
    """The postings of one word, to be packed."""

    __slots__ = ("places", "sizes", "slots", "weights")

    def __init__(self) -> None:
        self.slots: list[int] = []
        self.weights = bytearray()
        self.sizes = bytearray()
        self.places: list[bytes] = []

    def add(self, slot: int, weight: int, size: int, places: bytes) -> None:
        self.slots.append(slot)
        self.weights.append(weight)
        self.sizes.append(size)
        self.places.append(places)

    def columns(self) -> dict[str, bytes]:
        """As they are stored."""
        return {
            "slots": packed(SLOT, self.slots),
            "weights": bytes(self.weights),
            "sizes": bytes(self.sizes),
            "places": b"".join(self.places),
        }


def _add_postings(tx: PostgresWrite, segment: int, held: dict[int, _Postings]) -> None:
    words = sorted(held)
    for start in range(0, len(words), _WORDS_AT_ONCE):
        part = words[start : start + _WORDS_AT_ONCE]
        rows = [held[word].columns() for word in part]
        tx.queue(
            "insert into search_postings (word, segment, slots, weights, sizes, places)"
            " select word, cast(:segment as integer), slots, weights, sizes, places from unnest("
            " cast(:words as integer[]), cast(:slots as bytea[]), cast(:weights as bytea[]), cast(:sizes as bytea[]),"
            " cast(:places as bytea[])) as given (word, slots, weights, sizes, places)",
            {"segment": segment, "words": part, **{name: [row[name] for row in rows] for name in rows[0]}},
        )


def _join_levels(tx: PostgresWrite) -> None:
    """Joins the segments of every level that has many into one of the next."""
    levels: dict[int, list[int]] = {}
    for segment, level in tx.rows("select segment, level from search_segments order by level, segment"):
        levels.setdefault(level, []).append(segment)
    level = 0
    while len(levels.get(level, ())) >= JOINED:
        new = _new_segment(tx)
        for sql in _JOIN:
            values = {"new": new, "level": level + 1, "old": levels[level]}
            tx.queue(sql, {name: value for name, value in values.items() if f":{name}" in sql})
        level += 1
        levels.setdefault(level, []).append(new)


def _new_segment(tx: PostgresWrite) -> int:
    number: int = tx.value("select nextval('search_segment_numbers')")
    return number


def _take_out_dead(tx: PostgresWrite) -> None:
    """Removes the postings of all dead slots, and the words that were held by no other document."""
    rows = list(tx.rows("select slot, words from search_dead"))
    dead = {slot for slot, _ in rows}
    words = sorted({word for _, distances in rows for word in accumulate(as_numbers(distances))})
    for start in range(0, len(words), _WORDS_AT_ONCE):
        part = words[start : start + _WORDS_AT_ONCE]
        found = tx.rows(
            "select word, segment, slots, weights, sizes, places from search_postings"
            " where word = any(cast(:words as integer[]))",
            {"words": part},
        )
        for word, segment, *postings in found:
            _rewrite(tx, (word, segment), _without(dead, *postings))
        tx.queue(_ORPHANS, {"words": part})
    if dead:
        _take_out_documents(tx, dead)
        tx.queue("delete from search_dead where slot = any(cast(:slots as integer[]))", {"slots": list(dead)})


def _take_out_documents(tx: PostgresWrite, dead: set[int]) -> None:
    """Removes dead slots from the segments' lists of documents."""
    for segment, slots, docs, lengths in tx.rows("select segment, slots, docs, lengths from search_segments"):
        listed = unpacked(SLOT, slots)
        if dead.isdisjoint(listed):
            continue
        keep = [at for at, slot in enumerate(listed) if slot not in dead]
        columns = {
            "slots": (SLOT, listed), "docs": (DOC, unpacked(DOC, docs)), "lengths": (LENGTH, unpacked(LENGTH, lengths)),
        }  # fmt: skip
        kept = {name: packed(code, [numbers[at] for at in keep]) for name, (code, numbers) in columns.items()}
        if keep:
            tx.queue(
                "update search_segments set slots = :slots, docs = :docs, lengths = :lengths where segment = :segment",
                {**kept, "segment": segment},
            )
        else:
            tx.queue("delete from search_segments where segment = :segment", {"segment": segment})


def _rewrite(tx: PostgresWrite, key: tuple[int, int], kept: _Postings | None) -> None:
    """Puts what is left in the place of what was there, if anything was taken out."""
    if kept is None:
        return
    place: dict[str, Any] = {"word": key[0], "segment": key[1]}
    if not kept.slots:
        tx.queue("delete from search_postings where word = :word and segment = :segment", place)
        return
    tx.queue(
        "update search_postings set slots = :slots, weights = :weights, sizes = :sizes, places = :places"
        " where word = :word and segment = :segment",
        {**kept.columns(), **place},
    )


def _without(dead: set[int], slots: bytes, weights: bytes, sizes: bytes, places: bytes) -> _Postings | None:
    """Postings without those of dead slots, or none where they held none."""
    listed = unpacked(SLOT, slots)
    if dead.isdisjoint(listed):
        return None
    kept = _Postings()
    for posting in zip(listed, weights, sizes, parts_of(sizes, places), strict=True):
        if posting[0] not in dead:
            kept.add(*posting)
    return kept
