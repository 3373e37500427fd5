"""Compact the index of words: fold fresh documents into segments, merge segments, remove dead documents.

An advisory lock lets one transaction compact at a time. `fold` runs right before a commit and never waits: it is
skipped if another transaction has the lock. Only a purge waits, because purged words must be removed at once.
"""

from __future__ import annotations

import numpy as np

from .codec import DOC, LENGTH, SLOT, pack_integers
from .documents import FRESH, hash_of
from .posting_lists import BLOCKS
from .postings import BLOCK_COLUMNS, NEAR, PLACE_COLUMNS, Postings, decode_deltas, keys_of
from .term_dictionary import WORDS_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .postings import Numbers
    from .transaction import PostgresWrite

FOLD_LOCK = 0x6D6F7373_00000010
JOINED = 8
"""The number of segments of one level that are merged into one of the next."""
_MANY_DEAD = 512
_DEAD_SHARE = 8
"""Dead documents are removed if they are more than one in this many."""
_WORDS_AT_ONCE = 2000
_DOCUMENT_COLUMNS = ("slots", "docs", "lengths", "lives", "workspaces")
"""The columns of a segment with one value for each document."""
_PAST_ALL = 1 << 31
_POSTINGS_AT_ONCE = 1_000_000

_BLOCKS_AT_ONCE = 4000
_ORPHANS = "delete from search_words where id = any(cast(:words as integer[]))"
_JOIN = """
with gone as (
  delete from search_segments where segment = any(cast(:old as integer[]))
  returning segment, slots, docs, lengths, lives, workspaces)
insert into search_segments (segment, level, slots, docs, lengths, lives, workspaces)
  select cast(:new as integer), cast(:level as smallint), string_agg(slots, ''), string_agg(docs, ''),
    string_agg(lengths, ''), string_agg(lives, ''), string_agg(workspaces, '')
  from (select * from gone order by segment) as in_order -- which is about the order of the slots
"""
_COLUMNS = f"{BLOCK_COLUMNS}, {PLACE_COLUMNS}"
_NEAR = f"case when key < 0 then -1 - key else key >> {NEAR} end"
"""SQL for the group of words that may share a block."""
_SIZES = (
    f"select {_NEAR}, sum(length(weights)) from search_postings where segment = any(cast(:old as integer[]))"
    " group by 1 order by 1"
)
_BETWEEN = (
    f"select {_COLUMNS} from search_postings where segment = any(cast(:old as integer[]))"
    f" and {_NEAR} >= :start and {_NEAR} < :end"
)


def fold(tx: PostgresWrite) -> None:
    """Fold fresh documents into a segment, merge segments, and remove dead documents if there are many."""
    if not tx.value(f"select cast(pg_try_advisory_xact_lock({FOLD_LOCK}) as integer)"):
        return
    _fold_fresh(tx)
    tx.queue(
        "with gone as (delete from search_totals returning docs, length)"
        " insert into search_totals (docs, length) select sum(docs), sum(length) from gone having count(*) > 0"
    )
    _join_levels(tx)
    dead, docs = tx.row("select (select count(*) from search_dead), (select sum(docs) from search_totals)") or (0, 0)
    is_due = dead > max(_MANY_DEAD, (docs or 0) // _DEAD_SHARE)
    if is_due and tx.value(f"select cast(pg_try_advisory_xact_lock({WORDS_LOCK}) as integer)"):
        _remove_dead(tx)


def prepare_to_expunge(tx: PostgresWrite) -> None:
    """Lock the dictionary exclusively before the transaction locks it shared, which avoids a deadlock."""
    tx.queue(f"select pg_advisory_xact_lock({WORDS_LOCK})")


def expunge(tx: PostgresWrite) -> None:
    """Remove the postings of dead documents, and words that are in no document, from the index."""
    tx.queue(f"select pg_advisory_xact_lock({FOLD_LOCK})")
    _remove_dead(tx)


def _fold_fresh(tx: PostgresWrite) -> None:
    """Fold fresh documents into a segment, except those that another transaction is removing."""
    (fresh,) = tx.together((f"{FRESH} order by slot for update of search_fresh skip locked", {}))
    if not fresh:
        return
    segment = _new_segment(tx)
    slots, *_, docs, lengths, lives, workspaces, _ = zip(*fresh, strict=True)
    tx.queue("delete from search_fresh where slot = any(cast(:slots as integer[]))", {"slots": list(slots)})
    tx.queue(
        "insert into search_segments (segment, level, slots, docs, lengths, lives, workspaces)"
        " values (:segment, 0, :slots, :docs, :lengths, :lives, :workspaces)",
        {
            "segment": segment,
            "slots": pack_integers(SLOT, slots),
            "docs": pack_integers(DOC, docs),
            "lengths": pack_integers(LENGTH, lengths),
            "lives": bytes(lives),
            "workspaces": b"".join([hash_of(workspace) for workspace in workspaces]),
        },
    )
    postings = Postings.of_documents([row[:5] for row in fresh])
    _add_blocks(tx, segment, postings.blocks())


def _add_blocks(tx: PostgresWrite, segment: int, blocks: list[tuple[Any, ...]]) -> None:
    names = ("keys", "words", "counts", "bases", "slots", "weights", "sizes", "places")
    for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
        part = blocks[start : start + _BLOCKS_AT_ONCE]
        tx.queue(
            f"insert into search_postings (segment, key, {_COLUMNS}) select cast(:segment as integer), given.*"
            " from unnest(cast(:keys as integer[]), cast(:words as bytea[]),"
            " cast(:counts as bytea[]), cast(:bases as integer[]), cast(:slots as bytea[]), cast(:weights as bytea[]),"
            " cast(:sizes as bytea[]), cast(:places as bytea[])) as given",
            {"segment": segment, **dict(zip(names, map(list, zip(*part, strict=True)), strict=True))},
        )


def _join_levels(tx: PostgresWrite) -> None:
    """Merge the segments of every level that has at least `JOINED` into one of the next level."""
    levels: dict[int, list[int]] = {}
    for segment, level in tx.rows("select segment, level from search_segments order by level, segment"):
        levels.setdefault(level, []).append(segment)
    level = 0
    while len(levels.get(level, ())) >= JOINED:
        new = _new_segment(tx)
        tx.queue(_JOIN, {"new": new, "level": level + 1, "old": levels[level]})
        _join_blocks(tx, new, levels[level])
        level += 1
        levels.setdefault(level, []).append(new)


def _join_blocks(tx: PostgresWrite, new: int, old: list[int]) -> None:
    """Merge the postings of segments, at most about `_POSTINGS_AT_ONCE` at a time."""
    sizes = list(tx.rows(_SIZES, {"old": old}))
    start = taken = 0
    for near, size in [*sizes, (_PAST_ALL, _POSTINGS_AT_ONCE)]:
        taken += size
        if taken >= _POSTINGS_AT_ONCE:
            (rows,) = tx.together((_BETWEEN, {"old": old, "start": start, "end": near}))
            _add_blocks(tx, new, Postings.of_blocks(rows).blocks())
            start, taken = near, size
    tx.queue("delete from search_postings where segment = any(cast(:old as integer[]))", {"old": old})


def _new_segment(tx: PostgresWrite) -> int:
    number: int = tx.value("select nextval('search_segment_numbers')")
    return number


def _remove_dead(tx: PostgresWrite) -> None:
    """Remove the postings of all dead slots, and the words that are in no other document."""
    rows = list(tx.rows("select slot, words from search_dead"))
    if not rows:
        return
    dead = np.array([slot for slot, _ in rows])
    words = np.unique(decode_deltas([held for _, held in rows]))
    (fresh,) = tx.together(("select words from search_fresh join search_docs using (slot)", {}))
    held = decode_deltas([words for (words,) in fresh])
    for start in range(0, len(words), _WORDS_AT_ONCE):
        part = words[start : start + _WORDS_AT_ONCE]
        left = _rewrite_blocks(tx, dead, part.tolist())
        if orphans := part[~np.isin(part, left) & ~np.isin(part, held)].tolist():
            tx.queue(_ORPHANS, {"words": orphans})
    _remove_documents(tx, dead)
    tx.queue("delete from search_dead where slot = any(cast(:slots as integer[]))", {"slots": dead.tolist()})


def _rewrite_blocks(tx: PostgresWrite, dead: Numbers, words: list[int]) -> Numbers:
    """Rewrite the blocks of these words without dead slots; return the words that are still in documents."""
    (rows,) = tx.together((BLOCKS.format(f"segment, key, {_COLUMNS}"), {"keys": keys_of(words)}))
    postings = Postings.of_blocks([row[2:] for row in rows])
    segments, keys = (np.repeat([row[at] for row in rows], [len(row[6]) for row in rows]) for at in (0, 1))
    is_dead = np.isin(postings.slots, dead)
    for segment in np.unique(segments[is_dead]).tolist():
        changed = np.unique(keys[is_dead & (segments == segment)])
        tx.queue(
            "delete from search_postings where segment = :segment and key = any(cast(:keys as integer[]))",
            {"segment": segment, "keys": changed.tolist()},
        )
        kept = np.flatnonzero((segments == segment) & np.isin(keys, changed) & ~is_dead)
        _add_blocks(tx, segment, postings.take(kept).blocks_by(keys[kept]))
    return postings.numbers[~is_dead]


def _remove_documents(tx: PostgresWrite, dead: Numbers) -> None:
    """Remove dead slots from the document columns of segments."""
    for segment, *columns in tx.rows(f"select segment, {', '.join(_DOCUMENT_COLUMNS)} from search_segments"):
        keep = ~np.isin(np.frombuffer(columns[0], dtype="<i4"), dead)
        if keep.all():
            continue
        if not keep.any():
            tx.queue("delete from search_segments where segment = :segment", {"segment": segment})
            continue
        kept = {
            name: np.frombuffer(column, dtype=np.uint8).reshape(len(keep), -1)[keep].tobytes()
            for name, column in zip(_DOCUMENT_COLUMNS, columns, strict=True)
        }
        changes = ", ".join([f"{name} = :{name}" for name in _DOCUMENT_COLUMNS])
        tx.queue(f"update search_segments set {changes} where segment = :segment", {**kept, "segment": segment})
