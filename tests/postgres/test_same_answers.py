"""The same calls, in any order, get the same answers from both engines and leave the same rows."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from contract.doors import FULL, START_MS, Clock, outcome
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.storage.call import CallContext
from moss_memory.store import Store
from support.postgres import databases
from support.thorough import complete_or

CHANGES_PER_EVENT = 1 << 24
ONLY_THERE = ("erasures", "upkeep")
"""Internal tables of one engine."""
AT_RANDOM = ("payload_submission_id", "submission_id", "last_submission", "sources_json", "answer_json")
"""Columns with random values."""
ONLY_A_SERVER = ("scope", "database")
"""Fields about the extent of an erasure."""
NUMBERED = {
    "record_properties.row_id": "records", "records.entity_row": "entities", "observations.entity_row": "entities",
    "observations.record_row": "records", "timeline_events.entity_row": "entities",
    "timeline_events.record_row": "records", "steps.task_row": "tasks", "task_evidence.task_row": "tasks",
    "task_claims.task_row": "tasks",
}  # fmt: skip
"""Columns that refer to the number of another table's row."""

Calls = st.SearchStrategy[tuple[str, dict[str, Any]]]

workspaces = st.sampled_from(["w", "W ", "other"])
names = st.sampled_from(["a", "B", "ä b"])
words = st.sampled_from(["plain words", "Grüße aus Köln", "alpha beta", "'; --", "x" * 300, "日本語"])
ids = st.integers(1, 12).map(lambda number: f"{number:026d}")
numbers = st.integers(0, 4)
tags = st.lists(st.sampled_from(["x", "Y", "ü"]), max_size=2)
targets = st.sampled_from(["TASK-001", "TASK-002", "PLAN-001"])
paths = st.sampled_from(["s:0", "s:1", "s:0.s:0"])
nodes = st.sampled_from(["n1", "n2", "n3"])


def of(tool: str, given: dict[str, st.SearchStrategy[Any]], also: dict[str, st.SearchStrategy[Any]]) -> Calls:
    """Generate calls of a tool, with its required arguments and any of the optional ones."""
    return st.tuples(st.just(tool), st.fixed_dictionaries(given, optional=also))


texts = words.map(lambda word: FULL + f"\n## Notes\n{word}\n")
named = {"workspace": workspaces, "name": names}
unit = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["FU-1", "FU-2"]),
        "title": words,
        "status": st.sampled_from(["planned", "completed"]),
        "created_at": st.just("2025-11-01T10:00:00Z"),
    }
)
CAPSULES = [
    of("capsule_store", {"capsule_text": texts}, {**named, "title": words, "tags": tags, "mode": st.just("replace")}),
    of("capsule_update", named, {"title": words, "tags": tags, "capsule_text": texts, "expected_version": numbers}),
    of("capsule_append", {**named, "section": st.just("Decisions"), "content": words}, {}),
    of("capsule_delete", {"id": ids}, {}),
    of("capsule_restore", named, {}),
    of("capsule_fetch", named, {"version": numbers, "include_deleted": st.booleans()}),
    of("capsule_list", {}, {"workspace": workspaces, "tag": st.just("x"), "limit": st.just(3)}),
    of("capsule_bulk_update", {"workspace": workspaces, "set_phase": words}, {"dry_run": st.booleans()}),
    of("capsule_bulk_delete", {"tag": st.just("x")}, {}),
    of("capsule_purge", {}, {"workspace": workspaces, "older_than_days": st.just(0)}),
    of("moss_history", {"type": st.just("capsule"), **named}, {}),
    of("moss_revert", {"type": st.just("capsule"), **named, "version": numbers}, {}),
    of("moss_rename", {"type": st.just("capsule"), **named, "new_name": names}, {"new_workspace": workspaces}),
    of("moss_erase", {"type": st.just("capsule"), "id": ids}, {}),
]
ARTIFACTS = [
    of(
        "artifact_store",
        {
            "kind": st.just("k"),
            "data": st.dictionaries(
                names, st.one_of(numbers, words, st.floats(allow_nan=False, allow_infinity=False)), max_size=2
            ),
        },
        {
            **named,
            "text": words,
            "ttl_seconds": st.integers(1, 3),
            "mode": st.just("replace"),
            "expected_version": numbers,
        },
    ),
    of("artifact_fetch", named, {}),
    of("artifact_list", {}, {"workspace": workspaces, "kind": st.just("k")}),
    of("artifact_touch", {**named, "ttl_seconds": st.integers(1, 3)}, {}),
    of("artifact_delete", named, {}),
    of("artifact_bulk_delete", {"workspace": workspaces}, {}),
]
REASONING = [
    of(
        "branchmind_notes_commit",
        {"workspace": workspaces, "content": words},
        {"title": words, "branch": st.just("side")},
    ),
    of("branchmind_branch_create", {"workspace": workspaces, "name": st.just("side")}, {}),
    of("branchmind_show", {"workspace": workspaces}, {"branch": st.just("side")}),
    of("branchmind_merge", {"workspace": workspaces, "from": st.just("side"), "into": st.just("main")}, {}),
    of(
        "branchmind_graph_apply",
        {
            "workspace": workspaces,
            "ops": st.lists(
                st.fixed_dictionaries(
                    {"op": st.just("node_upsert"), "id": nodes, "type": st.just("idea"), "title": words}
                ),
                min_size=1,
                max_size=2,
            ),
        },
        {"branch": st.just("side")},
    ),
    of("branchmind_graph_query", {"workspace": workspaces}, {"limit": st.just(3)}),
    of("branchmind_think_card", {"workspace": workspaces, "card": words}, {}),
    of("branchmind_think_next", {"workspace": workspaces}, {}),
    of("branchmind_log", {"workspace": workspaces}, {}),
]
TASKS = [
    of(
        "tasks_create",
        {"workspace": workspaces, "kind": st.sampled_from(["task", "plan"]), "title": words},
        {"priority": st.just("high")},
    ),
    of(
        "tasks_decompose",
        {
            "workspace": workspaces,
            "target": targets,
            "steps": st.lists(st.fixed_dictionaries({"title": words}), min_size=1, max_size=2),
        },
        {},
    ),
    of(
        "tasks_done",
        {"workspace": workspaces, "target": targets, "path": paths},
        {"checkpoints": st.just({"criteria": True, "tests": True})},
    ),
    of("tasks_note", {"workspace": workspaces, "target": targets, "note": words}, {"path": paths}),
    of("tasks_claim", {"workspace": workspaces, "agent": names}, {"target": targets}),
    of("tasks_radar", {"workspace": workspaces}, {"target": targets}),
    of("tasks_list", {"workspace": workspaces}, {}),
    of("tasks_delta", {"workspace": workspaces}, {}),
    of("tasks_delete", {"workspace": workspaces, "target": targets}, {}),
]
RECORDS = [
    of(
        "submit_payload",
        {"capability_id": st.just("neotoma:store_feature_unit:v1"), "body": unit},
        {"workspace": workspaces, "client_request_id": names},
    ),
    of("retrieve_records", {}, {"type": st.just("feature_unit")}),
    of("retrieve_entities", {}, {"workspace": workspaces}),
    of("list_timeline_events", {}, {}),
]
found = st.sampled_from(
    ["plain", "words beta", '"alpha beta"', "alph*", "words NOT plain", "日本", "köln", "(", "NOT x"]
)
SEARCHES = [
    of("capsule_search", {"query": found}, {"workspace": workspaces, "limit": st.just(2), "tag": st.just("x")}),
    of("moss_search", {"query": found, "search_mode": st.just("keyword")}, {"workspace": workspaces}),
    of("retrieve_records", {"search": st.lists(found, min_size=1, max_size=2), "search_mode": st.just("keyword")}, {}),
]
ACROSS = [of("moss_workspaces", {}, {}), of("moss_activity", {}, {"days": st.just(3)})]
WAIT = st.tuples(st.just(""), st.fixed_dictionaries({"seconds": st.integers(0, 2)}))
sequences = st.lists(
    st.one_of(*CAPSULES, *ARTIFACTS, *REASONING, *TASKS, *RECORDS, *SEARCHES, *ACROSS, WAIT), min_size=8, max_size=40
)


class Side:
    """A store on one engine, with its own clock and ids, which advance as the other's do."""

    def __init__(self, open_engine: Callable[[str], Any], home: str) -> None:
        self.clock = Clock(START_MS)
        count = itertools.count(1)
        self.store = Store(default_config(home), clock_ms=self.clock, id_source=lambda now_ms: f"{next(count):026d}")
        self.store._engine = open_engine(home)

    def answer(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return the answer to a call, or its error."""
        found = outcome(self.store, tool, arguments)
        if tool == "moss_activity" and isinstance(found, dict):
            found.pop("seq")  # which has gaps where calls were refused
        return found.payload() if isinstance(found, MossError) else _alike(found)

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the stored rows, with numbers that count from one."""
        call = CallContext(
            operation="test", config=self.store.config, clock_ms=self.clock, new_id=str, cancelled=None, progress=None
        )
        engine = self.store._engine
        tx = engine.read_transaction(snapshot=True, call=call)
        try:
            tables = {}
            for name in engine.tables(tx):
                columns, key = engine.columns(tx, name)
                wanted = sorted(columns)
                select = f"select {', '.join(wanted)} from {name} order by {', '.join(key)}"
                tables[name] = [dict(zip(wanted, row, strict=True)) for row in tx.rows(select)]
        finally:
            tx.rollback()
            tx.release()
        return {
            name: _counted(name, found, tables) for name, found in tables.items() if name not in ONLY_THERE and found
        }


def _alike(value: Any) -> Any:
    if isinstance(value, dict):
        shown = {key: one for key, one in value.items() if (key, one) != ONLY_A_SERVER}
        return {key: "?" if key in AT_RANDOM else _alike(one) for key, one in shown.items()}
    if isinstance(value, float):
        return round(value, 6)
    return [_alike(one) for one in value] if isinstance(value, list) else value


def _counted(table: str, rows: list[dict[str, Any]], tables: dict[str, list[dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """Return the rows of a table with places for numbers, because a failed call may leave a gap on a server."""
    events = {row["seq"]: place for place, row in enumerate(tables["events"])}
    places = {name: {row.get("row_id"): place for place, row in enumerate(found)} for name, found in tables.items()}
    places["versions.capsule"], places["versions.artifact"] = places.get("capsules", {}), places.get("artifacts", {})

    def shown(column: str, row: dict[str, Any]) -> Any:
        value = row[column]
        if column in AT_RANDOM:
            return "?"
        if value is not None and column == "change_seq" and table in ("capsules", "artifacts"):
            return events.get(value // CHANGES_PER_EVENT), value % CHANGES_PER_EVENT
        if (table, column) == ("events", "seq"):
            return events[value]
        if (table, column) == ("versions", "subject"):
            return places[f"versions.{row['family']}"].get(value)
        counted = NUMBERED.get(f"{table}.{column}", table if column == "row_id" else "")
        return places[counted].get(value) if counted else value

    return sorted([tuple([shown(column, row) for column in row]) for row in rows], key=repr)


@settings(max_examples=complete_or(40, 12), phases=list(Phase)[:3])
@given(sequences)
def test_both_engines_give_the_same_answers_and_store_the_same_rows(calls: list[tuple[str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Side(databases().in_folder, str(Path(folder, "here")))
        there = Side(databases().engine_of, str(Path(folder, "there")))
        try:
            for tool, arguments in calls:
                if tool:
                    assert there.answer(tool, arguments) == here.answer(tool, arguments), tool
                else:
                    here.clock.advance(arguments["seconds"])
                    there.clock.advance(arguments["seconds"])
            assert there.rows() == here.rows()
        finally:
            here.store.close()
            there.store.close()
            databases().take_back()
