"""The kinds and runs of artifacts with their counts, for a person who looks through them."""

from __future__ import annotations

from moss_memory.rows.list_filters import filters_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction

_OPTIONS = 12


def artifact_kinds(tx: ReadTransaction, *, workspace: str | None) -> list[tuple[str, int]]:
    """Return the most used kinds of unexpired artifacts with their counts, in the store or in a workspace."""
    filters = filters_from(tx, workspace=workspace)
    return _counts(tx, "kind", filters.where("deleted_at is null"), filters.parameters)[:_OPTIONS]


def run_counts(tx: ReadTransaction, *, runs: list[str], workspace: str | None) -> list[tuple[str, int]]:
    """Return runs with the number of their unexpired artifacts, the largest first."""
    filters = filters_from(tx, workspace=workspace)
    chosen = filters.where("deleted_at is null", "run_id is not null", tx.sql_in("run_id", "runs"))
    return _counts(tx, "run_id", chosen, {**filters.parameters, "runs": runs}) if runs else []


def _counts(tx: ReadTransaction, column: str, where: str, values: dict[str, object]) -> list[tuple[str, int]]:
    """Return the values of a column with their counts; expired rows are subtracted, since no index has both."""
    counted = f"select {column}, count(*) from artifacts {where}"
    counts: dict[str, int] = dict(tx.stream(f"{counted} group by {column}", values))
    expired = f"{counted} and expires_at is not null and expires_at <= :now group by {column}"
    for value, count in tx.stream(expired, {**values, "now": tx.now}):
        counts[value] -= count
    return sorted(((value, count) for value, count in counts.items() if count), key=lambda one: (-one[1], one[0]))
