"""The columns of a capsule, and how its row is shown."""

from __future__ import annotations

import json

from ..addressing import NamedRows
from ..answers import Column, Shape, integer, moment, nameless, object_of, text, texts
from ..storage.queries import load_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import Row

SUMMARY_COLUMNS = (
    "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_chars", "tokens_estimate",
    "tags_json", "source", "run_id", "phase", "role", "created_at", "updated_at", "deleted_at",
)  # fmt: skip
FULL_COLUMNS = (*SUMMARY_COLUMNS, "capsule_text")
NEWEST_FIRST = "order by updated_at desc, change_seq desc"

summary_columns = ", ".join(SUMMARY_COLUMNS)
full_columns = ", ".join(FULL_COLUMNS)
sql = load_queries(__file__)


capsules = NamedRows("capsules", FULL_COLUMNS, noun="capsule", lists="capsule_list", lists_all="capsule_inventory")


FETCH_KEY = Shape(
    "FetchKey",
    {
        "moss_capsule": text("its name", optional=True, label="name"),
        "moss_workspace": text("its workspace", optional=True, label="workspace"),
        "moss_id": text("its id, where it has no name", optional=True, shown="never"),
    },
)
KEY = object_of(FETCH_KEY, "what to put into a task, so that another session finds it", shown="opened")

_SUMMARY = {
    "id": text("ULID"),
    "workspace": text("namespace, as it was written"),
    "workspace_norm": text("the form in which workspaces are compared", shown="never"),
    "name": text("handle, as it was written", optional=True),
    "name_norm": text("the form in which names are compared", optional=True, shown="never"),
    "title": text("display title", optional=True),
    "capsule_chars": integer("characters of its text"),
    "tokens_estimate": integer("tokens of its text, about"),
    "tags": texts("tags"),
    "source": text("who wrote it", optional=True),
    "run_id": text("workflow run", optional=True),
    "phase": text("workflow phase", optional=True),
    "role": text("agent role", optional=True),
    "created_at": moment("when it was first stored"),
    "updated_at": moment("when it last changed"),
    "deleted_at": moment("when it was deleted", optional=True),
    "fetch_key": KEY,
}
NAME = Column("name", least=8)
WORKSPACE = Column("workspace", least=8, goes=6)
DELETED = Column("deleted_at", "deleted", goes=2, unless=None)
ID = Column("id", when=nameless)

SUMMARY = Shape(
    "CapsuleSummary",
    _SUMMARY,
    table=(
        NAME,
        WORKSPACE,
        Column("title", least=8, goes=7),
        Column("capsule_chars", "chars", goes=4),
        Column("updated_at", "updated", goes=3),
        DELETED,
        ID,
    ),
)
CAPSULE = SUMMARY.with_fields(
    {"capsule_text": text("the capsule itself, if asked for", optional=True, shown="whole")}, "Capsule"
)
STORED = Shape("StoredCapsule", {"id": text("ULID"), "fetch_key": KEY})


def fetch_key(row: dict[str, Any]) -> dict[str, str]:
    """What to put into a task's metadata so that another session finds this capsule again."""
    if row["name_raw"] is None:
        return {"moss_id": row["id"]}
    return {"moss_capsule": row["name_raw"], "moss_workspace": row["workspace_raw"]}


def shown(row: dict[str, Any], *, include_text: bool) -> dict[str, Any]:
    """A capsule as callers see it; what it does not have is left out."""
    item: dict[str, Any] = {
        "id": row["id"],
        "workspace": row["workspace_raw"],
        "workspace_norm": row["workspace_norm"],
    }
    if row["name_raw"] is not None:
        item["name"] = row["name_raw"]
        item["name_norm"] = row["name_norm"]
    if row["title"] is not None:
        item["title"] = row["title"]
    if include_text:
        item["capsule_text"] = row["capsule_text"]
    item["capsule_chars"] = row["capsule_chars"]
    item["tokens_estimate"] = row["tokens_estimate"]
    item["tags"] = json.loads(row["tags_json"]) if row["tags_json"] else []
    for key in ("source", "run_id", "phase", "role"):
        if row[key] is not None:
            item[key] = row[key]
    item["created_at"] = row["created_at"]
    item["updated_at"] = row["updated_at"]
    if row["deleted_at"] is not None:
        item["deleted_at"] = row["deleted_at"]
    item["fetch_key"] = fetch_key(row)
    return item


def summary(row: Row) -> dict[str, Any]:
    """A row of `summary_columns` as callers see it."""
    return shown(dict(zip(SUMMARY_COLUMNS, row, strict=True)), include_text=False)
