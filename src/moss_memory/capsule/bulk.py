"""Changing many capsules at once, always by at least one filter."""

from __future__ import annotations

import json

from ..arguments import NamePrefix, Phase, Role, RunId, Tag, Tags, Workspace
from ..errors import invalid
from ..operation import operation
from ..values import clean_tags, label
from .rows import Filters, capsule_filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import Transaction

    NewPhase = str
    NewRole = str
else:
    NewPhase = {"type": "string", "description": '"" clears'}
    NewRole = {"type": "string", "description": '"" clears'}


@operation(mutates=True, destructive=True, example="moss bulk-delete --workspace shop --tag stale")
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
    filters = _required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    deleted = _change_all(tx, filters, {"deleted_at": tx.now})
    return {"deleted": deleted, "message": f"Soft-deleted {_capsules(deleted)} matching {filters.shown()}"}


@operation(
    mutates=True,
    destructive=True,
    idempotent=True,
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
    filters = _required_filters(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    changes: dict[str, Any] = {}
    said = []
    for name, value in (("phase", set_phase), ("role", set_role)):
        if value is not None:
            changes[name] = label(value, what=f"set_{name}")
            said.append(f'{name}="{changes[name] or ""}"')
    if set_tags is not None:
        tags = clean_tags(set_tags, what="set_tags")
        changes["tags_json"] = json.dumps(tags, ensure_ascii=False) if tags else None
        said.append(f"tags={json.dumps(tags, ensure_ascii=False)}")
    if not changes:
        raise invalid("nothing to set; give set_phase, set_role or set_tags")
    updated = _change_all(tx, filters, changes)
    message = f"Updated {_capsules(updated)} matching {filters.shown()}; set {', '.join(said)}"
    return {"updated": updated, "message": message}


def _required_filters(tx: Transaction, **given: str | None) -> Filters:
    filters = capsule_filters(tx, strict=True, **given)
    if not filters.named:
        raise invalid(f"at least one filter is needed: {', '.join(given)}")
    return filters


def _change_all(tx: Transaction, filters: Filters, changes: dict[str, Any]) -> int:
    """Sets columns of every matching active capsule in one statement, keeping their order among each other."""
    assignments = ", ".join(f"{column} = :new_{column}" for column in changes)
    # A row's number among the matching ones keeps the order that the capsules had before.
    numbered = (
        "select row_id, row_number() over (order by updated_at, change_seq) as place "
        f"from capsules {filters.where('deleted_at is null')}"
    )
    count = tx.run(
        f"update capsules set {assignments}, updated_at = max(updated_at, :now), change_seq = :change + chosen.place "
        f"from ({numbered}) as chosen where capsules.row_id = chosen.row_id",
        {
            **filters.parameters,
            **{f"new_{column}": value for column, value in changes.items()},
            "now": tx.now,
            "change": tx.next_change(),
        },
    )
    tx.concerns(workspace=filters.parameters.get("f_workspace"))
    return count


def _capsules(count: int) -> str:
    return f"{count} capsule" if count == 1 else f"{count} capsules"
