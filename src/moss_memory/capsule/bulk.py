"""Changing many capsules at once, always by at least one filter."""

from __future__ import annotations

from ..answers import integer, text
from ..arguments import NamePrefix, Phase, Role, RunId, Tag, Tags, Workspace
from ..bulk import NewPhase, NewRole, change_all, new_labels, required_filters
from ..errors import invalid
from ..operation import operation
from ..values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import Transaction


@operation(
    mutates=True,
    destructive=True,
    answers={"deleted": integer("how many were deleted"), "message": text("what was done, in a sentence")},
    example="moss bulk-delete --workspace shop --tag stale",
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
) -> dict[str, Any]:
    """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""
    filters = required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    deleted = change_all(tx, "capsules", filters, {"deleted_at": tx.now})
    return {"deleted": deleted, "message": f"Soft-deleted {counted(deleted, 'capsule')} matching {filters.shown()}"}


@operation(
    mutates=True,
    stores=True,
    destructive=True,
    idempotent=True,
    answers={"updated": integer("how many were changed"), "message": text("what was done, in a sentence")},
    example="moss bulk-update --run-id r7 --set-phase archived",
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
) -> dict[str, Any]:
    """Set phase, role or tags of every active capsule that matches all of the given filters.

    An empty string or list clears the field; tags are replaced, not merged.
    """
    filters = required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    changes = new_labels(set_phase, set_role, set_tags)
    if not changes:
        raise invalid("nothing to set; give `set_phase`, `set_role` or `set_tags`")
    updated = change_all(tx, "capsules", filters, changes)
    said = [f'{name}="{changes[name] or ""}"' for name in ("phase", "role") if name in changes]
    said += [f"tags={changes['tags_json'] or '[]'}"] if "tags_json" in changes else []
    message = f"Updated {counted(updated, 'capsule')} matching {filters.shown()}; set {', '.join(said)}"
    return {"updated": updated, "message": message}
