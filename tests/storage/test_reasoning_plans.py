"""Reasoning tools find their rows by an index, so that a large store answers as fast as a small one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moss_memory.storage.sqlite.transaction import SqliteTransaction, SqliteWrite
from moss_memory.store import Store
from storage.database import connect

Statement = tuple[str, Any]
Plan = Callable[[str, dict[str, Any]], list[tuple[str, list[str]]]]

WORKSPACE = {"workspace": "shop"}
NODES = [
    {"op": "node_upsert", "id": f"n{number}", "type": "question", "status": "open", "tags": ["auth"]}
    for number in range(3)
]
EDGE = {"op": "edge_upsert", "from": "n0", "rel": "blocks", "to": "n1"}
SMALL = ("CONSTANT", "chain", "family", "json_each", "newest", "wanted")
"""Intermediate results of a statement, which it may read from end to end."""


@pytest.fixture
def shop(store: Store) -> Store:
    """Return a store with a branch on a branch, both with notes and a graph, a tag, a reset and an open conflict."""
    store.call("branchmind_notes_commit", {**WORKSPACE, "content": "first"})
    store.call("branchmind_tag_create", {**WORKSPACE, "name": "begin"})
    store.call("branchmind_graph_apply", {**WORKSPACE, "ops": [*NODES, EDGE]})
    store.call("branchmind_branch_create", {**WORKSPACE, "name": "what-if"})
    for branch, status in (("main", "closed"), ("what-if", "stuck")):
        store.call("branchmind_notes_commit", {**WORKSPACE, "content": f"on {branch}", "branch": branch})
        store.call("branchmind_graph_apply", {**WORKSPACE, "branch": branch, "ops": [{**NODES[0], "status": status}]})
    store.call("branchmind_reset", {**WORKSPACE, "ref": "what-if", "to": "begin"})
    store.call("branchmind_notes_commit", {**WORKSPACE, "content": "after the reset", "branch": "what-if"})
    store.call("branchmind_branch_create", {**WORKSPACE, "name": "deeper", "from": "what-if"})
    store.call("branchmind_graph_merge", {**WORKSPACE, "from": "what-if", "into": "main"})
    return store


@pytest.fixture
def plan(shop: Store, home: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Return a function that calls a tool and returns SQLite's plan of each of its statements."""
    heard: list[Statement] = []
    spoken = [(SqliteTransaction, name) for name in ("rows", "stream", "row", "value")] + [(SqliteWrite, "run")]
    for owner, name in spoken:
        monkeypatch.setattr(owner, name, _overheard(getattr(owner, name), heard))

    def planned(tool: str, arguments: dict[str, Any]) -> list[tuple[str, list[str]]]:
        heard.clear()
        shop.call(tool, {**WORKSPACE, **arguments})
        connection = connect(home)
        try:
            return [
                (sql, [str(row[3]) for row in connection.execute(f"explain query plan {sql}", parameters)])
                for sql, parameters in heard
            ]
        finally:
            connection.close()

    return planned


def _overheard(method: Callable[..., Any], heard: list[Statement]) -> Callable[..., Any]:
    def overhear(self: Any, sql: str, parameters: Any = None) -> Any:
        heard.append((sql, parameters))
        return method(self, sql, parameters)

    return overhear


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({}, "graph_nodes_by_seq"),
        ({"types": "question"}, "graph_nodes_by_type"),
        ({"types": ["question", "risk"]}, "graph_nodes_by_type"),
        ({"status": "open"}, "status ("),
        ({"tags_any": ["auth", "legal"]}, "PRIMARY KEY (branch_id=? AND doc=? AND tag=?"),
        ({"tags_all": ["auth", "legal"]}, "PRIMARY KEY (branch_id=? AND doc=? AND tag=?"),
        ({"types": "question", "status": "open", "tags_all": "auth"}, "PRIMARY KEY (branch_id=? AND doc=? AND tag=?"),
    ],
    ids=str,
)
@pytest.mark.parametrize("branch", ["main", "what-if"])
def test_nodes_are_found_and_ordered_by_the_index_of_their_filter(
    plan: Plan, branch: str, filters: dict[str, Any], index: str
) -> None:
    asked = plan("branchmind_graph_query", {"branch": branch, **filters})
    searches = [steps for sql, steps in asked if "order by" in sql and "from graph_" in sql]
    assert searches
    for steps in searches:
        assert steps[0].startswith("SEARCH ")
        assert index in steps[0]
        assert not [step for step in steps if "TEMP B-TREE" in step]


@pytest.mark.parametrize("branch", ["main", "what-if"])
def test_nodes_asked_for_by_id_are_found_by_their_key(plan: Plan, branch: str) -> None:
    asked = plan("branchmind_graph_query", {"branch": branch, "ids": ["n0", "n1"]})
    searches = [steps for sql, steps in asked if "v.key in" in sql]
    assert searches
    for steps in searches:
        assert "USING INDEX graph_versions_by_key (branch_id=? AND doc=? AND key=?" in steps[0]


def test_edges_between_nodes_are_found_by_the_nodes(plan: Plan) -> None:
    asked = plan("branchmind_graph_query", {"branch": "main"})
    (steps,) = [steps for sql, steps in asked if "v.from_id in" in sql]
    assert re.match(r"SEARCH v USING INDEX graph_edges_by_(from|to) ", steps[0])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("branchmind_show", {"doc": "notes"}),
        ("branchmind_log", {}),
        ("branchmind_diff", {"from": "main", "to": "deeper"}),
        ("branchmind_merge", {"from": "deeper", "into": "main"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_entries_are_read_in_the_order_of_their_document(plan: Plan, tool: str, arguments: dict[str, Any]) -> None:
    asked = plan(tool, arguments)
    pages = [steps for sql, steps in asked if "from doc_entries" in sql and "order by seq" in sql]
    assert pages
    for steps in pages:
        assert steps[0].startswith(
            "SEARCH doc_entries USING INDEX doc_entries_by_document (branch_id=? AND doc=? AND seq"
        )
        actor = ["SEARCH origins USING PRIMARY KEY (origin_id=?)"]
        assert [step for step in steps[1:] if "CORRELATED" not in step] in ([], actor)


CALLS: dict[str, dict[str, Any]] = {
    "branchmind_init": {},
    "branchmind_status": {},
    "branchmind_branch_create": {"name": "another"},
    "branchmind_checkout": {"ref": "what-if"},
    "branchmind_branch_rename": {"old": "what-if", "new": "renamed"},
    "branchmind_branch_delete": {"name": "deeper"},
    "branchmind_notes_commit": {"content": "more"},
    "branchmind_show": {"doc": "notes"},
    "branchmind_diff": {"from": "main", "to": "what-if"},
    "branchmind_merge": {"from": "what-if", "into": "main"},
    "branchmind_commit": {"artifact": "more", "message": "again"},
    "branchmind_log": {},
    "branchmind_docs_list": {},
    "branchmind_tag_create": {"name": "end"},
    "branchmind_tag_delete": {"name": "begin"},
    "branchmind_reflog": {"ref": "what-if"},
    "branchmind_reset": {"ref": "what-if", "to": "begin"},
    "branchmind_graph_apply": {"ops": [EDGE, {"op": "node_delete", "id": "n1"}]},
    "branchmind_graph_query": {"branch": "deeper", "ids": ["n0", "n1"]},
    "branchmind_graph_validate": {"branch": "deeper"},
    "branchmind_graph_diff": {"from": "main", "to": "what-if"},
    "branchmind_graph_merge": {"from": "what-if", "into": "main"},
    "branchmind_graph_conflicts": {"into": "main"},
}


@pytest.mark.parametrize("tool", CALLS)
def test_no_statement_reads_a_table_from_end_to_end(plan: Plan, tool: str) -> None:
    asked = plan(tool, CALLS[tool])
    assert asked
    scans = [
        (sql, step)
        for sql, steps in asked
        for step in steps
        if (found := re.match(r"SCAN (\w+)", step)) and found[1] not in SMALL
    ]
    assert not scans


@pytest.mark.parametrize("tool", ["branchmind_graph_conflict_show", "branchmind_graph_conflict_resolve"])
def test_a_conflict_is_found_by_its_id(plan: Plan, shop: Store, tool: str) -> None:
    (conflict,) = shop.call("branchmind_graph_conflicts", {**WORKSPACE, "into": "main"})["conflicts"]
    resolution = {"resolution": "use_from"} if tool.endswith("resolve") else {}
    asked = plan(tool, {"conflict_id": conflict["conflict_id"], **resolution})
    found = [steps for sql, steps in asked if "where c.conflict_id = " in sql]
    assert found
    assert "(conflict_id=?)" in found[0][0]
    assert not [step for _, steps in asked for step in steps if step.startswith("SCAN")]


def test_pending_work_is_found_by_its_keys_without_reading_the_whole_workspace(plan: Plan, shop: Store) -> None:
    for number in range(2):
        shop.call("tasks_create", {**WORKSPACE, "kind": "task", "title": f"Ship {number}"})
    steps = plan("tasks_edit", {"target": "TASK-001", "depends_on": ["TASK-002"]})
    [waits] = [told for sql, told in steps if "recursive waiting" in sql]
    assert [step for step in waits if "workspace_norm=?)" in step] == []
    assert [step for step in waits if step.startswith("SCAN") and step != "SCAN waiting"] == []
