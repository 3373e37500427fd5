"""The notes about a plan or task, as its own tools show them."""

from __future__ import annotations

import json

from ..reasoning.arguments import CursorPage
from ..reasoning.documents import tail
from ..values import norm
from ..work.rows import sql
from .projection import home_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction
    from ..work.rows import Task

LOOKED_THROUGH = 500


def notes_about(tx: ReadTransaction, workspace: str, task: Task, most: int) -> list[dict[str, Any]]:
    """The last notes about a plan or task, newest first; without reasoning only those that `tasks_note` wrote."""
    closed = "reasoning" in tx.config.disabled_types
    found = tail(tx, home_of(workspace, task, "notes"), CursorPage(None, LOOKED_THROUGH if closed else most))
    if not closed:
        return found
    key = {"workspace": norm(workspace), "address": task.id, "limit": LOOKED_THROUGH}
    own = {json.loads(payload)["payload"].get("seq") for (payload,) in tx.rows(sql["note_events"], key)}
    return [note for note in found if note["seq"] in own][:most]
