"""Bulk changes of capsules, by at least one filter."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.arguments import NamePrefix, Phase, Role, RunId, Tag, Tags, Workspace
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import integer, text
from moss_memory.rows.bulk_changes import (
    DRY_RUN,
    DryRun,
    NewPhase,
    NewRole,
    change_all,
    is_not_dry_run,
    new_labels,
    required_filters,
)
from moss_memory.rows.names import pluralize

from .capsule_rows import versioned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction


@operation(
    mutates=True,
    destructive=True,
    writes_if=is_not_dry_run,
    answers={"deleted": integer("how many were deleted"), "message": text("the result in a sentence"), **DRY_RUN},
    cli=Cli(sentence="{message}."),
    example="moss bulk-delete --workspace shop --tag stale",
    words=(
        "delete many, clear a run, mass delete, wipe all of a run, clean out, remove all with a tag, every "
        "capsule of a tag, tagged, delete all capsules of a run, delete several capsules, delete capsules by "
        "prefix, remove all capsules with a tag, clear a workspace, delete everything of a phase"
    ),
)
def capsule_bulk_delete(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    name_prefix: NamePrefix | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""
    filters = required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    tx.begin()
    deleted, remarks = change_all(tx, versioned, filters, {"deleted_at": tx.now}, dry_run=dry_run)
    verb = "Would soft-delete" if dry_run else "Soft-deleted"
    message = f"{verb} {pluralize(deleted, 'capsule')} matching {filters.as_text()}"
    return {"deleted": deleted, "message": message, **remarks}


@operation(
    mutates=True,
    scan_secrets=True,
    writes_if=is_not_dry_run,
    answers={"updated": integer("how many were changed"), "message": text("the result in a sentence"), **DRY_RUN},
    cli=Cli(sentence="{message}."),
    example="moss bulk-update --run-id r7 --set-phase archived",
    words=(
        "change many at once, retag all, mass edit, set the phase of a whole run, change tags of many capsules, "
        "set the role of all capsules, update several capsules, tag all capsules, move a run to another phase, "
        "relabel all"
    ),
)
def capsule_bulk_update(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    name_prefix: NamePrefix | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    set_phase: NewPhase | None = None,
    set_role: NewRole | None = None,
    set_tags: Tags | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Set phase, role or tags of every active capsule that matches all of the given filters.

    An empty string or list clears the field; tags are replaced, not merged.
    """
    filters = required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    changes = new_labels(set_phase, set_role, set_tags)
    if not changes:
        raise invalid_request("nothing to set; give `set_phase`, `set_role` or `set_tags`")
    updated, remarks = change_all(tx, versioned, filters, changes, dry_run=dry_run, as_versions=True)
    settings = [f'{name}="{changes[name] or ""}"' for name in ("phase", "role") if name in changes]
    settings += [f"tags={changes['tags_json'] or '[]'}"] if "tags_json" in changes else []
    verb = "Would update" if dry_run else "Updated"
    message = f"{verb} {pluralize(updated, 'capsule')} matching {filters.as_text()}; set {', '.join(settings)}"
    return {"updated": updated, "message": message, **remarks}
