"""Steps that continue after a crash of their worker, and failed runs that can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from moss_memory import MossError

from .client import Artifact, Artifacts
from .kinds import DLQ_ENTRY, STEP_RESULT, Action, DlqEntry, StepResult


class Edit(NamedTuple):
    """The new content of a file."""

    path: str
    content: str


def run_step(artifacts: Artifacts, run_id: str, step: str, edits: list[Edit], root: Path) -> Artifact[StepResult]:
    """Make every edit of a step; continue after the last recorded action of a worker that crashed.

    Raise `VERSION_MISMATCH` if another worker has taken over the step.
    """
    progress = begin_step(artifacts, run_id, step)
    if progress.data["status"] == "OK":
        return progress
    recorded = {action["action_id"] for action in progress.data["actions"]}
    for edit in edits:
        if edit.path not in recorded:
            actions = [*progress.data["actions"], apply_edit(edit, root)]
            progress = artifacts.update(progress, {**progress.data, "actions": actions})
    return artifacts.update(progress, {**progress.data, "status": "OK", "note": "done"})


def begin_step(artifacts: Artifacts, run_id: str, step: str) -> Artifact[StepResult]:
    """Return the record of a step: that of an earlier worker, else a new one."""
    name = f"{run_id}-{step}"
    begun: StepResult = {
        "step_instance_id": name, "status": "BLOCKED", "artifact_ids": [], "actions": [], "note": "begun",
    }  # fmt: skip
    try:
        return artifacts.store(STEP_RESULT, begun, workspace="steps", name=name, run_id=run_id, phase="implementing")
    except MossError as error:
        if error.code != "NAME_ALREADY_EXISTS":
            raise
        return artifacts.fetch(STEP_RESULT, workspace="steps", name=name)


def apply_edit(edit: Edit, root: Path) -> Action:
    """Write a file atomically; writing it again after a crash changes nothing."""
    target = root / edit.path
    before = digest(target.read_text()) if target.exists() else ""
    after = digest(edit.content)
    if before != after:
        draft = target.with_name(target.name + ".draft")
        draft.write_text(edit.content)
        os.replace(draft, target)
    op: Literal["edit", "create"] = "edit" if before else "create"
    return {"action_id": edit.path, "path": edit.path, "op": op, "pre_hash": before, "post_hash": after}


def digest(content: str) -> str:
    """Return a short hash of a content."""
    return sha256(content.encode()).hexdigest()[:16]


def bury(artifacts: Artifacts, run_id: str, entry: DlqEntry) -> Artifact[DlqEntry]:
    """Store a failed run until it is resumed; if it is stored already, add one to its retry count."""
    old = artifacts.find(DLQ_ENTRY, workspace="dlq", name=run_id)
    if old is None:
        return artifacts.store(DLQ_ENTRY, entry, workspace="dlq", name=run_id, run_id=run_id)
    return artifacts.update(old, {**entry, "retry_count": old.data["retry_count"] + 1})


def resume(artifacts: Artifacts, run_id: str, routes: dict[str, Callable[[DlqEntry], None]]) -> None:
    """Resume a failed run with its workflow, and delete the entry after that has succeeded."""
    entry = artifacts.fetch(DLQ_ENTRY, workspace="dlq", name=run_id)
    routes[entry.data["workflow"]](entry.data)
    artifacts.delete(entry)
