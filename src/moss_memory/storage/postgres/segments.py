"""Write segments of the index, and expunge deleted documents from them.

An advisory lock lets one transaction at a time do either. Writers of documents never take it, except those that erase,
because erased terms must be removed at once.
"""

from __future__ import annotations

import numpy as np

from . import segment_size
from .codec import deltas, encode_varints
from .documents import BUFFERED, SEGMENT_COLUMNS, Buffered, hash_workspace
from .posting_blocks import BLOCK_COLUMNS, POSITION_COLUMNS, Postings, decode_deltas, keys_of, shared_key
from .term_dictionary import TERMS_LOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Row

    from .documents import Columns
    from .posting_blocks import Numbers
    from .transaction import PostgresTransaction

DELETED_SHARE = 8
"""A segment is swept if more than one in this many of its documents are deleted."""
SEGMENTS_LOCK = 0x6D6F7373_00000010
_TERMS_AT_ONCE = 2000
_BLOCKS_AT_ONCE = 4000
_ORPHANS_AT_ONCE = 1000
_LOCK_TIMEOUT_MS = 200
"""Less than the time after which PostgreSQL ends a writer because of a deadlock."""
_COLUMNS = f"{BLOCK_COLUMNS}, {POSITION_COLUMNS}"
_SIZE = "octet_length(weights) + octet_length(sizes) + octet_length(positions)"
_OLDEST = (
    "join (select slot as first, sum({0}) over (order by slot) - ({0}) as before from search_buffer"
    " order by slot limit {1}) as oldest on first = slot and before < {2}"
)
_DELETED_IN = (
    "select slots from search_segments where {} * (select count(*) from search_deleted where slot between low"
    " and high) > octet_length(lives)"
)
_SEGMENTS_OF = (
    f"select segment, {', '.join(SEGMENT_COLUMNS)} from search_segments where exists"
    " (select 1 from unnest(cast(:slots as integer[])) as given (slot) where slot between low and high)"
)

_WITH_BLOCK = (
    "select one from unnest(cast(:terms as integer[])) as one"
    " where exists (select 1 from search_postings where key = one)"
)
_IN_BLOCKS = "select terms from search_postings where key = any(cast(:keys as integer[]))"
_IN_BUFFER = "select terms from search_buffer join search_docs using (slot)"


def flush(tx: PostgresTransaction) -> bool:
    """Write the oldest buffered documents as a segment; return False if there are too few.

    Nothing is locked until the end. A document that a writer has replaced meanwhile is deleted in the new segment.
    """
    count, size = tx.row(f"select count(*), coalesce(sum({_SIZE}), 0) from search_buffer") or (0, 0)
    if count < segment_size.SEGMENT and size < segment_size.SEGMENT_BYTES:
        return False
    (rows,) = tx.together(
        (BUFFERED.format(_OLDEST.format(_SIZE, segment_size.SEGMENT, segment_size.SEGMENT_BYTES)), {})
    )
    buffered = Buffered.of(rows[0])
    write_segment(tx, buffered.columns(), buffered.postings)
    tx.queue(f"set local lock_timeout = {_LOCK_TIMEOUT_MS}")
    slots = {"slots": buffered.rows["slot"].tolist()}
    removed = tx.rows("delete from search_buffer where slot = any(cast(:slots as integer[])) returning slot", slots)
    gone = ~np.isin(buffered.rows["slot"], [slot for (slot,) in removed])
    for row in buffered.rows[gone]:
        terms = np.sort(buffered.postings.numbers[buffered.postings.slots == row["slot"]]).tolist()
        values = {"slot": int(row["slot"]), "doc": int(row["doc"]), "terms": encode_varints(deltas(terms))}
        tx.queue("insert into search_deleted (slot, doc, terms) values (:slot, :doc, :terms)", values)
    return True


def write_documents(tx: PostgresTransaction, rows: list[Row]) -> None:
    slots, docs, workspaces, lives, lengths, terms, *columns = zip(*rows, strict=True)
    hashes = np.frombuffer(b"".join(map(hash_workspace, workspaces)), dtype=np.uint64)
    kinds = SEGMENT_COLUMNS.values()
    values = [
        np.array(part, dtype=kind) for part, kind in zip((slots, docs, lengths, lives, hashes), kinds, strict=True)
    ]
    counts = np.array([len(weights) for weights in columns[0]])
    postings = Postings.of_documents(values[0], counts, b"\0".join(terms), [b"".join(column) for column in columns])
    write_segment(tx, tuple(values), postings)


def write_segment(tx: PostgresTransaction, columns: Columns, postings: Postings) -> None:
    """Write a segment: the columns of its documents, and its postings in blocks."""
    segment: int = tx.value("select nextval('search_segment_numbers')")
    names = ", ".join(SEGMENT_COLUMNS)
    data = {name: column.tobytes() for name, column in zip(SEGMENT_COLUMNS, columns, strict=True)}
    bounds = {"segment": segment, "low": int(columns[0].min()), "high": int(columns[0].max())}
    tx.queue(
        f"insert into search_segments (segment, low, high, {names})"
        f" values (:segment, :low, :high, {', '.join([f':{name}' for name in SEGMENT_COLUMNS])})",
        bounds | data,
    )
    _write_blocks(tx, segment, postings.blocks())


def _write_blocks(tx: PostgresTransaction, segment: int, blocks: list[tuple[Any, ...]]) -> None:
    names = ("keys", "terms", "counts", "bases", "slots", "weights", "sizes", "positions")
    for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
        part = blocks[start : start + _BLOCKS_AT_ONCE]
        tx.queue(
            f"insert into search_postings (segment, key, {_COLUMNS}) select cast(:segment as integer), given.*"
            " from unnest(cast(:keys as integer[]), cast(:terms as bytea[]),"
            " cast(:counts as bytea[]), cast(:bases as integer[]), cast(:slots as bytea[]), cast(:weights as bytea[]),"
            " cast(:sizes as bytea[]), cast(:positions as bytea[])) as given",
            {"segment": segment, **dict(zip(names, map(list, zip(*part, strict=True)), strict=True))},
        )


def sweep(tx: PostgresTransaction) -> bool:
    """Expunge the deleted documents of one segment that has many; return False if none has."""
    for (slots,) in tx.together((_DELETED_IN.format(DELETED_SHARE), {}))[0]:
        segment_slots = set(np.frombuffer(slots, dtype=SEGMENT_COLUMNS["slots"]).tolist())
        sql = "select slot, doc, terms from search_deleted where slot between :low and :high"
        rows = tx.together((sql, {"low": min(segment_slots), "high": max(segment_slots)}))[0]
        deleted = [row for row in rows if row[0] in segment_slots]
        if DELETED_SHARE * len(deleted) > len(segment_slots):
            for _, doc, terms in _expunge(tx, deleted):
                values = {"doc": doc, "terms": encode_varints(deltas(terms))}
                tx.queue("insert into search_orphans (doc, terms) values (:doc, :terms)", values)
            return True
    return False


def sum_totals(tx: PostgresTransaction) -> bool:
    """Replace the rows of the totals by their sum."""
    tx.queue(
        "with gone as (delete from search_totals returning docs, length)"
        " insert into search_totals (docs, length) select sum(docs), sum(length) from gone having count(*) > 0"
    )
    return False


def remove_orphans(tx: PostgresTransaction) -> bool:
    """Remove unused terms from the dictionary, unless a writer is indexing; return False if no more are known."""
    if not tx.value(f"select cast(pg_try_advisory_xact_lock({TERMS_LOCK}) as integer)"):
        return False
    sql = (
        "delete from search_orphans where ctid = any(array("
        f"select ctid from search_orphans limit {_ORPHANS_AT_ONCE})) returning terms"
    )
    (rows,) = tx.together((sql, {}))
    _remove_unused(tx, np.unique(decode_deltas([terms for (terms,) in rows])))
    return len(rows) == _ORPHANS_AT_ONCE


def erase(tx: PostgresTransaction, docs: list[int]) -> None:
    """Expunge earlier texts of these documents, and remove their unused terms from the dictionary.

    The transaction holds `TERMS_LOCK` alone.
    """
    tx.queue(f"select pg_advisory_xact_lock({SEGMENTS_LOCK})")
    values = {"docs": docs}
    deleted, orphans = tx.together(
        ("select slot, doc, terms from search_deleted where doc = any(cast(:docs as bigint[]))", values),
        ("delete from search_orphans where doc = any(cast(:docs as bigint[])) returning terms", values),
    )
    terms = [decode_deltas([terms for (terms,) in orphans])]
    terms += [np.array(gone, dtype=np.int64) for _, _, gone in _expunge(tx, deleted)]
    _remove_unused(tx, np.unique(np.concatenate(terms)))


def _expunge(tx: PostgresTransaction, deleted: list[Row]) -> list[tuple[int, int, list[int]]]:
    """Remove deleted documents from their segments; return the terms of each that its segment no longer has."""
    slots = {"slots": [slot for slot, _, _ in deleted]}
    unused_terms: list[tuple[int, int, list[int]]] = []
    for segment, *data in tx.together((_SEGMENTS_OF, slots))[0] if deleted else []:
        kinds = SEGMENT_COLUMNS.values()
        columns = [np.frombuffer(column_bytes, dtype=kind) for column_bytes, kind in zip(data, kinds, strict=True)]
        gone = np.isin(columns[0], slots["slots"])
        segment_slots = set(columns[0][gone].tolist())
        segment_rows = [row for row in deleted if row[0] in segment_slots]
        remaining_terms = _rewrite_blocks(tx, segment, columns[0][gone], [terms for _, _, terms in segment_rows])
        unused_terms += [(slot, doc, [term for term in decode_deltas([terms]).tolist() if term not in remaining_terms])
                         for slot, doc, terms in segment_rows]  # fmt: skip
        _rewrite_documents(tx, segment, [column[~gone] for column in columns])
    tx.queue("delete from search_deleted where slot = any(cast(:slots as integer[]))", slots)
    return unused_terms


def _rewrite_blocks(tx: PostgresTransaction, segment: int, deleted: Numbers, terms: list[bytes]) -> set[int]:
    """Rewrite the blocks of these terms without deleted slots; return the terms that the segment still has."""
    numbers = np.unique(decode_deltas(terms))
    remaining_terms: set[int] = set()
    for start in range(0, len(numbers), _TERMS_AT_ONCE):
        part = numbers[start : start + _TERMS_AT_ONCE]
        values = {"segment": segment, "keys": keys_of(part.tolist())}
        where = "where segment = :segment and key = any(cast(:keys as integer[]))"
        (rows,) = tx.together((f"select key, {_COLUMNS} from search_postings {where}", values))
        postings = Postings.of_blocks([row[1:] for row in rows])
        keys = np.repeat([row[0] for row in rows], [len(row[5]) for row in rows])
        is_deleted = np.isin(postings.slots, deleted)
        changed = np.unique(keys[is_deleted])
        tx.queue(f"delete from search_postings {where}", {"segment": segment, "keys": changed.tolist()})
        kept_indexes = np.flatnonzero(np.isin(keys, changed) & ~is_deleted)
        _write_blocks(tx, segment, postings.take(kept_indexes).blocks_by(keys[kept_indexes]))
        remaining_terms |= set(postings.numbers[~is_deleted].tolist())
    return remaining_terms


def _rewrite_documents(tx: PostgresTransaction, segment: int, columns: list[Numbers]) -> None:
    if not len(columns[0]):
        tx.queue("delete from search_segments where segment = :segment", {"segment": segment})
        return
    data = {name: column.tobytes() for name, column in zip(SEGMENT_COLUMNS, columns, strict=True)}
    changes = ", ".join([f"{name} = :{name}" for name in SEGMENT_COLUMNS])
    tx.queue(
        f"update search_segments set tag = default, {changes} where segment = :segment", data | {"segment": segment}
    )


def _remove_unused(tx: PostgresTransaction, terms: Numbers) -> None:
    """Remove those of the terms that are in no document from the dictionary."""
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        part = terms[start : start + _TERMS_AT_ONCE]
        values: dict[str, Any] = {"terms": part.tolist(), "keys": np.unique(shared_key(part)).tolist()}
        own, shared, buffered = tx.together((_WITH_BLOCK, values), (_IN_BLOCKS, values), (_IN_BUFFER, values))
        used = decode_deltas([*(term_bytes for (term_bytes,) in shared), *(term_bytes for (term_bytes,) in buffered)])
        unused = part[~np.isin(part, used) & ~np.isin(part, [number for (number,) in own])]
        if len(unused):
            tx.queue("delete from search_terms where id = any(cast(:terms as integer[]))", {"terms": unused.tolist()})
