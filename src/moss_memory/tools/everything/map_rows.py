"""The capsules, cards, tasks and records of a store as points of the map page: title, link, times and loads."""

from __future__ import annotations

import json

from moss_memory.rows.load_counts import loads_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

MOST_DOTS = 10_000
_LAST = 9223372036854775807
_TITLE_CHARS = 120

_STATEMENTS = {
    "capsule": (
        "select row_id * 16, id, coalesce(title, name_raw, id), workspace_raw, tags_json, created_at, updated_at, null,"
        " 'capsule' from capsules where deleted_at is null order by updated_at desc, change_seq desc limit :most"
    ),
    "reasoning": (
        "select v.seq * 16 + 3, v.key, coalesce(v.title, v.key), w.workspace_raw, v.tags_json, v.ts_ms / 1000,"
        " v.ts_ms / 1000, b.name, v.type from graph_versions v join branches b on b.branch_id = v.branch_id"
        " join workspaces w on w.workspace_norm = v.workspace_norm"
        " where v.type is not null and v.type not in ('plan', 'task', 'step') and v.deleted = 0"
        f" and v.next_seq = {_LAST} order by v.seq desc limit :most"
    ),
    "task": (
        "select n.seq * 16 + 3, t.id, t.title, w.workspace_raw, t.tags_json, t.created_at_ms / 1000,"
        " t.updated_at_ms / 1000, null, t.kind from tasks t join workspaces w on w.workspace_norm = t.workspace_norm"
        " left join graph_versions n on n.branch_id = t.branch_id and n.doc = t.id || '-graph'"
        f" and n.key = 'task:' || t.id and n.next_seq = {_LAST} and n.deleted = 0"
        " order by t.row_id desc limit :most"
    ),
    "record": (
        "select r.row_id * 16 + 4, e.entity_id, coalesce(r.title, e.entity_id), e.workspace_raw, null,"
        " r.created_at_ms / 1000, r.updated_at_ms / 1000, null, 'record' from records r"
        " join entities e on e.row_id = r.entity_row order by r.row_id desc limit :most"
    ),
}
"""For each family: number of the document, id, title, workspace, tags, first and last change, branch, kind."""


def map_rows(tx: ReadTransaction, *, most: int) -> list[dict[str, Any]]:
    """Return the last changed capsules, cards, tasks and records, at most `most`, last changed first."""
    dots: dict[tuple[str, str, str], dict[str, Any]] = {}
    for family, statement in _STATEMENTS.items():
        if family in tx.config.disabled_types:
            continue
        for doc, key, title, workspace, tags, created, updated, branch, kind in tx.stream(statement, {"most": most}):
            tx.check_cancelled()
            dots.setdefault(  # one dot for a card of several branches, and for the records of an entity
                (family, workspace, key),
                {
                    "doc": doc,
                    "family": family,
                    "id": key,
                    "title": " ".join(title.split())[:_TITLE_CHARS] or key,
                    "workspace": workspace,
                    "tag": next(iter(json.loads(tags)), "") if tags else "",
                    "created_at": created,
                    "updated_at": updated,
                    "branch": branch,
                    "kind": kind,
                    "loads": 0,
                },
            )
    newest = sorted(dots.values(), key=lambda dot: -dot["updated_at"])[:most]
    capsules = [dot["id"] for dot in newest if dot["family"] == "capsule"]
    loads = loads_of(tx, capsules) if capsules else {}
    for dot in newest:
        if dot["family"] == "capsule":
            dot["loads"] = loads.get(dot["id"], (0, 0))[0]
    return newest


def vectors_of_dots(tx: ReadTransaction, *, docs: list[int]) -> dict[int, bytes]:
    """Return the encoded chunks of documents, of the model that most of them have."""
    by_model: dict[str, dict[int, bytes]] = {}
    sql = f"select doc, model, vector from vectors where {tx.sql_in('doc', 'docs')}"
    for doc, model, vector in tx.stream(sql, {"docs": docs}):
        by_model.setdefault(model, {})[doc] = bytes(vector)
    return max(by_model.values(), key=len, default={})
