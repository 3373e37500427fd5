"""Notes about a plan or task."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.notes.note_tools import tail
from moss_memory.tools.reasoning.reasoning_arguments import CursorPage
from moss_memory.tools.task.model.task_rows import sql

from .graph_projection import task_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.task.model.task_rows import Task

NOTES_SCANNED = 500


def notes_about(tx: ReadTransaction, workspace: str, task: Task, most: int) -> list[dict[str, Any]]:
    """Return the last notes about a plan or task, newest first; only those of `tasks_note` if reasoning is disabled."""
    closed = "reasoning" in tx.config.disabled_types
    found = tail(tx, task_document(workspace, task, "notes"), CursorPage(None, NOTES_SCANNED if closed else most))
    if not closed:
        return found
    key = {"workspace": normalize_workspace(workspace), "address": task.id, "limit": NOTES_SCANNED}
    own = {json.loads(payload)["payload"].get("seq") for (payload,) in tx.rows(sql["note_events"], key)}
    return [note for note in found if note["seq"] in own][:most]
