"""Views of branches: a branch shows its own writes and the snapshots of its bases, without copies."""

from __future__ import annotations

import json

from moss_memory.errors import MossError
from moss_memory.storage.consistency import DEEPEST
from moss_memory.tools.reasoning.reasoning_sql import sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Row, Transaction

    Range = tuple[int, int, int]
    """A branch's entries after one seq and up to another."""

HEAD = 2**63 - 2
"""The upper bound of a view without a cut-off."""


def reserve_seqs(tx: Transaction, count: int = 1, *, series: str = "seq") -> int:
    """Reserve `count` consecutive numbers and return the first; their order is the commit order."""
    last: int = tx.value(sql["take_numbers"], {"series": series, "count": count})
    return last - count + 1


def last_number(tx: ReadTransaction) -> int:
    last: int = tx.value(sql["last_number"])
    return last


class View:
    """One document as seen from one branch: ranges of seqs per writing branch, oldest first."""

    __slots__ = ("doc", "names", "ranges", "sources", "written")

    def __init__(
        self, doc: str, ranges: list[Range], names: dict[int, str], written: bool, sources: list[tuple[int, int]]
    ) -> None:
        self.doc = doc
        self.ranges = ranges
        self.names = names
        self.written = written
        """True if the document has at least one write in this view."""
        self.sources = sources
        """Each branch that the view reads with its last seq, nearest first, even without writes."""

    def shows(self, branch_id: int, seq: int) -> bool:
        return any(writer == branch_id and after < seq <= upto for writer, after, upto in self.ranges)

    def writers(self) -> set[int]:
        return {writer for writer, _, _ in self.ranges}

    def head(self, tx: ReadTransaction) -> int | None:
        """Return the seq of the newest entry, or None."""
        for branch_id, after, upto in reversed(self.ranges):
            parameters = {"branch_id": branch_id, "doc": self.doc, "after": after, "upto": upto}
            seq: int | None = tx.value(sql["newest_entry"], parameters)
            if seq is not None:
                return seq
        return None


def log_view(tx: ReadTransaction, branch_id: int, doc: str, *, upto: int = HEAD) -> View:
    """Return the view of a document's entries on a branch as of a seq, by default now."""
    ranges: list[Range] = []
    names: dict[int, str] = {}
    sources = []
    written = settled = False
    for writer, name, cut_off, first_seq, reset_seq in base_chain(tx, branch_id, "log", doc):
        names[writer] = name
        top = min(cut_off, upto)
        sources.append((writer, top))
        if settled or first_seq is None or first_seq > top:
            continue
        written = True
        reset = None if reset_seq is None else tx.row(sql["last_reset"], {"branch_id": writer, "upto": top})
        if reset is None:
            ranges.insert(0, (writer, 0, top))
        else:
            own_after, reach_json = reset
            reach = [(reached_id, after, until) for reached_id, after, until in json.loads(reach_json)]
            ranges[:0] = [*reach, (writer, own_after, top)]
            settled = True
    return View(doc, ranges, names, written, sources)


def graph_view(tx: ReadTransaction, branch_id: int, doc: str, *, upto: int = HEAD) -> View:
    """Return the view of a graph document on a branch; the nearest version of a key wins."""
    ranges: list[Range] = []
    names: dict[int, str] = {}
    sources = []
    for writer, name, cut_off, first_seq, _ in base_chain(tx, branch_id, "graph", doc):
        names[writer] = name
        top = min(cut_off, upto)
        sources.append((writer, top))
        if first_seq is not None and first_seq <= top:
            ranges.insert(0, (writer, 0, top))
    return View(doc, ranges, names, bool(ranges), sources)


def base_chain(tx: ReadTransaction, branch_id: int, shape: str, doc: str) -> list[Row]:
    """Return a branch and its bases, nearest first; refuse a chain that is longer than the maximum depth."""
    chain = list(tx.rows(sql["chain"], {"branch_id": branch_id, "shape": shape, "doc": doc}))
    if len(chain) > DEEPEST + 1:
        raise MossError(
            "STORAGE_CORRUPT",
            f"the bases of branch {chain[0][1]!r} form a cycle, or a chain of more than {DEEPEST}; run `moss doctor`",
            details={"table": "branches", "row": branch_id},
        )
    return chain


def truncate_ranges(ranges: list[Range], branch_id: int, seq: int) -> list[Range]:
    """Return the ranges up to and including one entry of a branch; empty if they do not contain it."""
    earlier: list[Range] = []
    for writer, after, upto in ranges:
        if writer == branch_id and after < seq <= upto:
            return [*earlier, (writer, after, seq)]
        earlier.append((writer, after, upto))
    return []


def subtract_ranges(ranges: list[Range], known: list[Range]) -> list[Range]:
    """Return the parts of the ranges that the known ranges do not cover, in the same order."""
    uncovered: list[Range] = []
    for writer, after, upto in ranges:
        parts = [(after, upto)]
        for known_writer, known_after, known_upto in known:
            if known_writer == writer:
                parts = [piece for part in parts for piece in _subtract(part, known_after, known_upto)]
        uncovered.extend((writer, low, high) for low, high in parts)
    return uncovered


def _subtract(part: tuple[int, int], after: int, upto: int) -> list[tuple[int, int]]:
    low, high = part
    if upto <= low or after >= high:
        return [part]
    return [(a, b) for a, b in ((low, min(high, after)), (max(low, upto), high)) if a < b]
