"""The notes about a plan or task, as its own tools show them."""

from __future__ import annotations

import json

from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.reasoning.notes.note_tools import tail
from moss_memory.tools.reasoning.reasoning_arguments import CursorPage
from moss_memory.tools.task.model.task_rows import sql

from .graph_projection import home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.tools.task.model.task_rows import Task

LOOKED_THROUGH = 500


def notes_about(tx: ReadTransaction, workspace: str, task: Task, most: int) -> list[dict[str, Any]]:
    """The last notes about a plan or task, newest first; without reasoning only those that `tasks_note` wrote."""
    closed = "reasoning" in tx.config.disabled_types
    found = tail(tx, home_of(workspace, task, "notes"), CursorPage(None, LOOKED_THROUGH if closed else most))
    if not closed:
        return found
    key = {"workspace": normalize_workspace(workspace), "address": task.id, "limit": LOOKED_THROUGH}
    own = {json.loads(payload)["payload"].get("seq") for (payload,) in tx.rows(sql["note_events"], key)}
    return [note for note in found if note["seq"] in own][:most]
