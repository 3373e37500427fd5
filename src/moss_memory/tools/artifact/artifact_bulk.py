"""Bulk changes of artifacts that have not expired, by at least one filter."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.arguments import Days, Phase, Role, RunId, Tag, Tags, Workspace
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import integer
from moss_memory.rows.bulk_changes import (
    DRY_RUN,
    PURGE_OPTIONS,
    PURGED,
    DryRun,
    NewPhase,
    NewRole,
    change_all,
    is_not_dry_run,
    new_labels,
    purge_deleted,
    required_filters,
)
from moss_memory.rows.list_filters import ListFilters, filters_from

from .artifact_rows import versioned
from .artifact_tools import ArtifactKind, lifetime, normalize_kind, sweep_expired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction

NewTtlSeconds = Annotated[int, {"minimum": 1, "nullable": True}, "from now on; null clears"]

UNCHANGED = 0
"""The default of a time to live, since null clears it."""


@operation(
    mutates=True,
    destructive=True,
    writes_if=is_not_dry_run,
    answers={"deleted": integer("how many were deleted"), **DRY_RUN},
    example="moss artifact bulk-delete --run-id run-1",
    words=(
        "delete many results, clean up a run, remove all json of a run, delete all artifacts of a run, delete "
        "several artifacts, remove artifacts of a kind, clear old results, delete every artifact with a tag"
    ),
)
def artifact_bulk_delete(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    kind: ArtifactKind | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    tag: Tag | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Soft-delete every artifact that matches all of the given filters; at least one is needed."""
    filters = _filters(tx, workspace=workspace, kind=kind, run_id=run_id, phase=phase, role=role, tag=tag)
    tx.begin()
    deleted, remarks = change_all(tx, versioned, filters, {"deleted_at": tx.now}, dry_run=dry_run)
    if not dry_run:
        sweep_expired(tx)
    return {"deleted": deleted, **remarks}


@operation(
    mutates=True,
    scan_secrets=True,
    destructive=True,
    writes_if=is_not_dry_run,
    answers={"updated": integer("how many were changed"), **DRY_RUN},
    example="moss artifact bulk-update --run-id run-1 --set-phase done",
    words=(
        "change many results, retag, set the ttl of a whole run, change tags of many artifacts, change the phase "
        "of all artifacts, extend the lifetime of all artifacts, update several artifacts, set the role of all "
        "results"
    ),
)
def artifact_bulk_update(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    kind: ArtifactKind | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    tag: Tag | None = None,
    set_phase: NewPhase | None = None,
    set_role: NewRole | None = None,
    set_tags: Tags | None = None,
    set_ttl_seconds: NewTtlSeconds | None = UNCHANGED,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Set phase, role, tags or time to live of every artifact that matches all of the given filters.

    An empty string or list, or a null time to live, clears the field. Versions stay.
    """
    filters = _filters(tx, workspace=workspace, kind=kind, run_id=run_id, phase=phase, role=role, tag=tag)
    changes = new_labels(set_phase, set_role, set_tags)
    if set_ttl_seconds != UNCHANGED:
        changes |= lifetime(tx, set_ttl_seconds, what="set_ttl_seconds")
    if not changes:
        raise invalid_request("nothing to set; give `set_phase`, `set_role`, `set_tags` or `set_ttl_seconds`")
    updated, remarks = change_all(tx, versioned, filters, changes, dry_run=dry_run)
    if not dry_run:
        sweep_expired(tx)
    return {"updated": updated, **remarks}


@operation(
    mutates=True,
    cross_workspace=True,
    destructive=True,
    slow=True,
    visible=False,
    writes_if=is_not_dry_run,
    answers=PURGED,
    cli=Cli(hidden=True, options=PURGE_OPTIONS, asks=True, runs="commands.purge_command.run_purge"),
    example="moss purge --type artifact --older-than 7d",
)
def artifact_purge(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    older_than_days: Days | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Remove soft-deleted artifacts for good, with their versions: from the store, the search index and the disk."""
    return purge_deleted(tx, versioned, filters_from(tx, workspace=workspace), older_than_days, dry_run=dry_run)


def _filters(tx: Transaction, *, kind: str | None, **filters: str | None) -> ListFilters:
    if kind is not None:
        normalize_kind(kind)
    return required_filters(tx, code="FILTER_REQUIRED", kind=kind, **filters)
