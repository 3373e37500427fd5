"""Check that a moved store has equal rows and gives equal answers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from contract.doors import Clock, open_test_store, outcome
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.direct_store import dump

LEFT_BEHIND = ("upkeep", "erasures", "activity", "workspace_repositories")
"""Housekeeping tables, which each store fills by itself."""


FIRST_LAYOUT = Path(__file__).parents[1] / "moving" / "layout_1"
"""An export in the first version of the layout."""


def export_first_layout(out: Path) -> None:
    """Write an export of the first layout into a folder."""
    shutil.copytree(FIRST_LAYOUT, out)


def files_of(folder: str | Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def rows_of(home: str) -> dict[str, list[Any]]:
    """Return every row that moves, by table; of the log of mutations only the columns that tools show."""
    found = {name: sorted(rows, key=repr) for name, rows in dump(home).items() if name not in LEFT_BEHIND}
    found["events"] = [row for row in found.get("events", []) if row[6] is not None]
    return {name: rows for name, rows in found.items() if rows}


def check_moves(store: Store, folder: Path, *, with_history: bool = True) -> None:
    """Assert that an export, imported into an empty store, restores every row, every answer and every byte.

    Without history every row but the earlier versions.
    """
    now = Clock(store._clock_ms())
    first, second, home = folder / "first", folder / "second", str(folder / "moved")
    store.export_folder(str(first), with_history=with_history)
    with open_test_store(home, now) as moved:
        told = moved.import_folder(str(first))
        assert (told["skipped"], told["errors"], told["changed"]) == (0, [], [])
        moved.export_folder(str(second), with_history=with_history)
        assert files_of(second) == files_of(first)
        store.close()
        moved.close()
        there = rows_of(store.config.home)
        assert rows_of(home) == (
            there if with_history else {name: rows for name, rows in there.items() if name != "versions"}
        )
        for tool, arguments in questions(home):
            assert answer(moved, tool, arguments) == answer(store, tool, arguments), (tool, arguments)
        again = moved.export_folder(str(second), with_history=with_history)
        assert (again["written"], again["removed"]) == (0, 0)


def answer(store: Store, tool: str, arguments: dict[str, Any]) -> Any:
    """Return a tool's answer, or the error that it raises."""
    said = outcome(store, tool, arguments)
    return said.payload() if isinstance(said, MossError) else said


def questions(home: str) -> list[tuple[str, dict[str, Any]]]:
    """Return calls of reading tools: lists, radars, graphs, timelines, records, in total and by workspace."""
    found: list[tuple[str, dict[str, Any]]] = [
        ("capsule_inventory", {"include_deleted": True, "limit": 500}),
        ("artifact_list", {"include_deleted": True, "include_expired": True, "limit": 100}),
        ("artifact_list", {"order_by": "created_at"}),
        ("retrieve_records", {}),
        ("retrieve_entities", {}),
        ("list_timeline_events", {}),
    ]
    rows = rows_of(home)
    for workspace, *_ in rows.get("workspaces", []):
        where = {"workspace": workspace}
        found += [
            (tool, where)
            for tool in (
                "capsule_list", "tasks_list", "tasks_delta", "branchmind_status", "branchmind_branch_list",
                "branchmind_show", "branchmind_log", "branchmind_reflog", "branchmind_docs_list",
                "branchmind_graph_query", "branchmind_graph_conflicts", "branchmind_think_frontier", "tasks_radar",
            )
        ]  # fmt: skip
        found += [
            ("branchmind_graph_query", {**where, "branch": row[2], "include_deleted": True, "limit": 200})
            for row in rows.get("branches", [])
            if row[1] == workspace
        ]
        found += [("tasks_radar", {**where, "target": row[2]}) for row in rows.get("tasks", []) if row[1] == workspace]
    return found
