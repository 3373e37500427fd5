"""Capsules as a person sees their use: when each was last loaded, how large it is, and which are nearly the same."""

from __future__ import annotations

from moss_memory.rows.list_filters import ALIVE, filters_from
from moss_memory.rows.load_counts import loads_of
from moss_memory.rows.near_duplicates import MAX_CHARS, near_duplicates, sketch
from moss_memory.rows.token_estimate import tokens_about

from .capsule_rows import NEWEST_FIRST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

    Sketches = dict[tuple[str, int], tuple[int, ...]]
    """The sketches of capsules by id and version, so that each text is read once."""

MOST_SHOWN = 2_000
"""The maximum number of capsules that are looked at: the last changed ones."""
_COLUMNS = ("id", "workspace_raw", "name_raw", "title", "capsule_chars", "updated_at", "version")


def capsules_by_load(tx: ReadTransaction, *, workspace: str | None) -> list[dict[str, Any]]:
    """Return the last changed capsules, last loaded first; those that were never loaded follow, last changed first."""
    filters = filters_from(tx, workspace=workspace)
    rows = tx.stream(
        f"select {', '.join(_COLUMNS)} from capsules {filters.where(ALIVE)} {NEWEST_FIRST} limit {MOST_SHOWN}",
        filters.parameters,
    )
    items = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    loads = loads_of(tx, [item["id"] for item in items])
    for item in items:
        item["loads"], item["loaded_at"] = loads.get(item["id"], (0, 0))
    return sorted(items, key=lambda item: -item["loaded_at"])


def token_counts(tx: ReadTransaction, *, capsules: list[str]) -> dict[str, int]:
    """Return the estimated tokens of capsules, of a long one by its beginning."""
    counts = {}
    for capsule, chars, text in _beginnings(tx, capsules):
        counts[capsule] = round(tokens_about(text) * max(1.0, chars / max(1, len(text))))
    return counts


def find_near_duplicates(tx: ReadTransaction, *, workspace: str | None, known: Sketches) -> dict[str, str]:
    """Return, for each of the last changed capsules that is nearly the same as an older one, the id of that one."""
    filters = filters_from(tx, workspace=workspace)
    listed = tx.stream(
        f"select id, version from capsules {filters.where(ALIVE)} {NEWEST_FIRST} limit {MOST_SHOWN}",
        filters.parameters,
    )
    present = [(capsule, version) for capsule, version in listed]
    versions = dict(present)
    missing = [capsule for capsule, version in present if (capsule, version) not in known]
    for start in range(0, len(missing), 100):
        for capsule, _, text in _beginnings(tx, missing[start : start + 100]):
            known[capsule, versions[capsule]] = sketch(text)
    for key in set(known).difference(present):
        if workspace is None:
            del known[key]
    return near_duplicates((key[0], known[key]) for key in reversed(present) if key in known)


def _beginnings(tx: ReadTransaction, capsules: list[str]) -> list[tuple[str, int, str]]:
    rows = tx.stream(
        f"select id, capsule_chars, substr(capsule_text, 1, {MAX_CHARS}) from capsules"
        f" where {tx.sql_in('id', 'capsules')}",
        {"capsules": capsules},
    )
    return [(capsule, chars, text) for capsule, chars, text in rows]
