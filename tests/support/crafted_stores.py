"""Stores whose rows or schema were changed at random without Moss, and calls of every family on them.

`python -m support.crafted_stores FOLDER FIRST COUNT` tries the seeds from FIRST on and prints a line for each failure;
a call that does not come back ends the process with a traceback.
"""

from __future__ import annotations

import faulthandler
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import apsw

from moss_memory import MossError
from moss_memory.mcp.protocol import Request, tool_answer
from moss_memory.storage.sqlite.dump import SELECT_TABLES
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.rows_check import faults
from moss_memory.store import Store
from support.store_truth import capsule, open_at

DEADLINE_S = 10.0
"""A longer call fails; one on a sound store takes milliseconds."""
HANGS_S = 60.0
SHOP = {"workspace": "shop"}
UNIT = "neotoma:store_feature_unit:v1"
HERE = {**SHOP, "target": "TASK-001"}
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"

NUMBERS = (0, 1, -1, 2, 7, 2**31, 2**38, 2**53, 2**58, 2**62, 2**63 - 1, -(2**63), 253402300800, -62135596801)
VALUES: tuple[Any, ...] = (
    *NUMBERS,
    None, "", "x", "null", "[]", "{}", "[1]", '{"a": 1}', '[["a"]]', "not json", "[" * 500, "0", "1e999", "-1",
    "\0", "a\0b", " Not  Normal ", "\u0130", "\ud7ff", "x" * 20_000, 0.5, 1e308, float("inf"), b"", b"\xff\xfe",
    b"bytes", "PLAN-001", "TASK-001", "main", "what-if", "s:0", "STEP-1",
)  # fmt: skip
FOREIGN = (
    f"create trigger evil after insert on events begin {ENDLESS}; end",
    "create trigger evil before update on capsules begin select raise(rollback, 'no'); end",
    f"create view evil as {ENDLESS}",
    f"drop view note_rows; create view note_rows as {ENDLESS}",
    "drop view search_source; create view search_source as select 1 as doc, 2 as title, 3 as body, 4 as filter",
    "drop trigger capsules_indexed",
    "drop table capsule_tags",
    f"drop table branches; create view branches as {ENDLESS}",
    "alter table tasks add column more integer generated always as (row_id / 0) virtual",
    "create table evil (x)",
    "pragma user_version = 3",
    "pragma user_version = -1",
    "pragma application_id = 7",
    "insert into search_index (search_index) values ('delete-all')",
    "update search_index_data set block = randomblob(200)",
    "update search_index_docsize set sz = x''",
    "delete from search_index_config",
    "delete from numbers",
    "update sqlite_sequence set seq = 9223372036854775807",
    "pragma writable_schema = on; update sqlite_schema set sql = 'create table x (' where name = 'steps'",
    "pragma writable_schema = on; update sqlite_schema set rootpage = 3 where name = 'steps'",
    "pragma writable_schema = on; update sqlite_schema set name = 'other' where name = 'tasks_by_id'",
)
CYCLES = (
    "update branches set base_id = branch_id, base_seq = 100",
    "update branches set base_id = (select max(branch_id) from branches), base_seq = 100",
    "update branches set base_seq = 9, base_id = (select max(branch_id) from branches b where b.name <> branches.name)",
    "update steps set parent_step = step_id",
    "update steps set parent_step = (select max(s.step_id) from steps s where s.step_id <> steps.step_id)",
    "update tasks set parent_id = id",
    "update tasks set parent_id = (select max(t.id) from tasks t where t.id <> tasks.id)",
    "update tasks set parent_id = 'PLAN-001'",
    "insert or ignore into task_dependencies select workspace_norm, id, id, 0 from tasks",
    "insert or ignore into task_dependencies select a.workspace_norm, a.id, b.id, 0 from tasks a, tasks b",
    "update graph_versions set to_id = from_id, rel = 'supersedes' where from_id is not null",
    "update graph_versions set rel = 'supersedes', from_id = to_id, to_id = from_id where seq % 2 = 0",
    "update graph_versions set next_seq = seq",
    "update resets set reach_json = '[[1, 0, 9223372036854775807]]', new_seq = seq, own_after = 0",
    "update entities set snapshot_json = json_set(snapshot_json, '$.parent', entity_id)",
    "update records set entity_row = row_id + 1",
    "update versions set version = 1, subject = row_id",
)


def fill(home: Path) -> None:
    """Make a store with rows in every table."""
    with open_at(home) as store:
        call = store.call
        for name in ("one", "two", "three"):
            labels = {"title": name, "tags": ["a", name], "run_id": "r1", "phase": "p", "role": "w", "source": "s"}
            call("capsule_store", {"name": name, "capsule_text": capsule(name), **labels})
            call("artifact_store", {"name": name, "kind": "freeform", "data": {"n": 1}, "text": name, "tags": ["a"]})
        for title in ("new", "newer"):
            call("capsule_update", {"name": "one", "title": title})
            data = {"name": "one", "kind": "freeform", "data": {"t": title}, "mode": "replace", "ttl_seconds": 10**6}
            call("artifact_store", data, idempotency_key=title)
        call("capsule_delete", {"name": "three"})
        call("artifact_delete", {"name": "three"})
        _reason(store)
        _plan(store)
        for number in range(3):
            body = {"id": f"FU-{number}", "description": "Rotate the keys", "status": "planning"}
            times = {"created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-01"}
            provenance = {"agent_id": "ada", "source_refs": ["a.md"], "unmapped": {"points": 3}}
            for status in ("planning", "completed"):
                given = {**body, **times, "status": status}
                call("submit_payload", {"capability_id": UNIT, "body": given, "provenance": provenance})


def _reason(store: Store) -> None:
    call = store.call
    for content in ("first", "second", "third"):
        call("branchmind_notes_commit", {**SHOP, "content": content, "title": content, "meta": {"a": 1}})
    call("branchmind_tag_create", {**SHOP, "name": "t"})
    nodes = [{"op": "node_upsert", "id": f"q{n}", "type": "question", "title": "Q", "tags": ["x"]} for n in range(4)]
    edges = [{"op": "edge_upsert", "from": f"q{n}", "rel": "asks", "to": f"q{n + 1}"} for n in range(3)]
    call("branchmind_graph_apply", {**SHOP, "ops": [*nodes, *edges]})
    call("branchmind_branch_create", {**SHOP, "name": "what-if"})
    call("branchmind_notes_commit", {**SHOP, "content": "there", "branch": "what-if"})
    call("branchmind_branch_create", {**SHOP, "name": "deeper", "from": "what-if"})
    call("branchmind_notes_commit", {**SHOP, "content": "deep", "branch": "deeper"})
    for branch in ("main", "what-if"):
        changed = {"op": "node_upsert", "id": "q1", "type": "question", "title": branch}
        call("branchmind_graph_apply", {**SHOP, "ops": [changed], "branch": branch})
    call("branchmind_graph_merge", {**SHOP, "from": "what-if", "into": "main"})
    call("branchmind_merge", {**SHOP, "from": "what-if", "into": "main"})
    call("branchmind_notes_commit", {**SHOP, "content": "fourth"})
    call("branchmind_reset", {**SHOP, "to": "t"})
    question = call("branchmind_think_add_question", {**SHOP, "card": {"id": "why", "title": "Why?"}})["card_id"]
    call("branchmind_think_add_hypothesis", {**SHOP, "card": {"id": "h", "title": "Cache"}, "supports": [question]})
    call("branchmind_think_pin", {**SHOP, "ids": [question]})
    call("branchmind_trace_step", {**SHOP, "step": "look", "message": "seen"})


def _plan(store: Store) -> None:
    call = store.call
    call("tasks_create", {**SHOP, "kind": "plan", "title": "Plan"})
    call("tasks_edit", {**SHOP, "target": "PLAN-001", "contract": {"by": "May"}, "tags": ["x"]})
    steps = [{"title": "first", "success_criteria": ["it works"], "tests": ["pytest"], "blockers": ["keys"]}]
    call("tasks_create", {**SHOP, "kind": "task", "title": "Task", "parent": "PLAN-001", "steps": steps})
    call("tasks_create", {**SHOP, "kind": "task", "title": "Other", "steps": [{"title": "a"}, {"title": "b"}]})
    call("tasks_edit", {**SHOP, "target": "TASK-002", "depends_on": ["TASK-001"]})
    call("tasks_decompose", {**HERE, "steps": [{"title": "second"}]})
    call("tasks_decompose", {**HERE, "steps": [{"title": "below"}], "parent": "s:1"})
    call("tasks_claim", {**HERE, "path": "s:0", "agent": "ada"})
    call("tasks_verify", {**HERE, "path": "s:0", "checkpoints": {"criteria": True}})
    call("tasks_note", {**HERE, "path": "s:0", "note": "so far"})
    call("tasks_evidence", {**HERE, "checks": ["pytest: 12 passed"], "path": "s:0"})
    call("tasks_focus", {**SHOP, "target": "TASK-001"})


READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("capsule_list", {"include_deleted": True}),
    ("capsule_inventory", {"tag": "a"}),
    ("capsule_latest", {"include_text": True}),
    ("capsule_fetch", {"name": "one"}),
    ("capsule_fetch", {"name": "one", "version": 1}),
    ("capsule_fetch", {"name": "nowhere"}),
    ("capsule_fetch_many", {"items": [{"name": "one"}, {"name": "two"}]}),
    ("capsule_search", {"query": "decisions"}),
    ("capsule_compose", {"items": [{"name": "one"}, {"name": "two"}]}),
    ("artifact_list", {"include_deleted": True}),
    ("artifact_fetch", {"name": "one"}),
    ("artifact_fetch", {"name": "one", "version": 1}),
    ("artifact_compose", {"items": [{"name": "two"}]}),
    ("moss_history", {"type": "capsule", "name": "one"}),
    ("moss_history", {"type": "artifact", "name": "one"}),
    ("moss_search", {"query": "rotate keys first cache", "search_mode": "keyword"}),
    ("moss_workspaces", {}),
    ("moss_activity", {}),
    ("moss_changes", {"after": 0, "limit": 1000}),
    ("moss_recent", {}),
    ("moss_erase", {"type": "capsule", "name": "one", "dry_run": True}),
    ("moss_erase", {"type": "node", **SHOP, "id": "q1", "dry_run": True}),
    ("moss_erase", {"type": "task", **HERE, "dry_run": True}),
    ("branchmind_status", SHOP),
    ("branchmind_branch_list", SHOP),
    ("branchmind_docs_list", SHOP),
    ("branchmind_tag_list", SHOP),
    ("branchmind_log", SHOP),
    ("branchmind_reflog", SHOP),
    ("branchmind_show", {**SHOP, "doc": "notes"}),
    ("branchmind_show", {**SHOP, "doc": "notes", "branch": "deeper"}),
    ("branchmind_show", {**HERE, "doc_kind": "trace"}),
    ("branchmind_diff", {**SHOP, "from": "main", "to": "deeper"}),
    ("branchmind_export", HERE),
    ("branchmind_graph_query", SHOP),
    ("branchmind_graph_query", {**SHOP, "branch": "deeper", "tags": ["x"]}),
    ("branchmind_graph_validate", SHOP),
    ("branchmind_graph_diff", {**SHOP, "from": "main", "to": "what-if"}),
    ("branchmind_graph_conflicts", {**SHOP, "into": "main"}),
    ("branchmind_context_pack", {**SHOP, "include": ["capsules", "artifacts"], "run_id": "r1"}),
    *[(f"branchmind_think_{name}", SHOP) for name in ("context", "query", "frontier", "next", "pack", "watch", "pins")],
    ("branchmind_think_context", HERE),
    ("branchmind_trace_hydrate", SHOP),
    ("branchmind_trace_validate", SHOP),
    ("tasks_list", SHOP),
    ("tasks_show", HERE),
    ("tasks_show", {**SHOP, "target": "PLAN-001"}),
    ("tasks_ready", SHOP),
    ("tasks_radar", SHOP),
    ("tasks_radar", {**SHOP, "target": "PLAN-001"}),
    ("tasks_delta", SHOP),
    ("tasks_handoff", HERE),
    ("tasks_focus", SHOP),
    ("retrieve_records", {"include_total_count": True}),
    ("retrieve_records", {"search": ["keys"], "search_mode": "keyword"}),
    ("retrieve_entities", {"include_provenance": True}),
    ("list_timeline_events", {}),
    ("record_capabilities", {}),
)
WRITES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("capsule_store", {"name": "two", "capsule_text": capsule("new"), "mode": "replace"}),
    ("capsule_store", {"capsule_text": capsule("more")}),
    ("capsule_append", {"name": "one", "section": "Decisions", "content": "- one more"}),
    ("capsule_bulk_update", {"run_id": "r1", "set_phase": "done"}),
    ("capsule_restore", {"name": "three"}),
    ("artifact_store", {"name": "two", "kind": "freeform", "data": {}, "mode": "replace"}),
    ("artifact_touch", {"name": "one", "ttl_seconds": 60}),
    ("artifact_bulk_update", {"workspace": "default", "set_phase": "done"}),
    ("artifact_restore", {"name": "three"}),
    ("moss_revert", {"type": "capsule", "name": "one", "version": 1}),
    ("moss_revert", {"type": "artifact", "name": "one", "version": 1}),
    ("moss_rename", {"type": "capsule", "name": "two", "new_name": "renamed"}),
    ("branchmind_notes_commit", {**SHOP, "content": "more"}),
    ("branchmind_branch_create", {**SHOP, "name": "newer", "from": "deeper"}),
    ("branchmind_checkout", {**SHOP, "ref": "what-if"}),
    ("branchmind_checkout", {**SHOP, "ref": "main"}),
    ("branchmind_graph_apply", {**SHOP, "ops": [{"op": "node_upsert", "id": "q1", "type": "question", "title": "n"}]}),
    ("branchmind_graph_apply", {**SHOP, "ops": [{"op": "node_delete", "id": "q2"}]}),
    ("branchmind_graph_merge", {**SHOP, "from": "what-if", "into": "main"}),
    ("branchmind_merge", {**SHOP, "from": "what-if", "into": "main"}),
    ("branchmind_tag_create", {**SHOP, "name": "t2"}),
    ("branchmind_reset", {**SHOP, "to": "t"}),
    ("branchmind_branch_delete", {**SHOP, "name": "deeper"}),
    ("branchmind_think_card", {**SHOP, "card": {"id": "c9", "title": "It is", "type": "hypothesis"}}),
    ("branchmind_think_set_status", {**SHOP, "ids": ["why"], "status": "closed"}),
    ("branchmind_think_nominal_merge", SHOP),
    ("branchmind_trace_step", {**SHOP, "step": "look", "message": "seen"}),
    ("tasks_create", {**SHOP, "kind": "task", "title": "New", "parent": "PLAN-001", "steps": [{"title": "s"}]}),
    ("tasks_edit", {**SHOP, "target": "TASK-002", "depends_on": ["TASK-001"], "title": "again"}),
    ("tasks_decompose", {**HERE, "steps": [{"title": "third"}]}),
    ("tasks_define", {**HERE, "path": "s:0", "title": "first of all"}),
    ("tasks_note", {**HERE, "path": "s:0", "note": "so far", "agent": "ada"}),
    ("tasks_claim", {**SHOP, "agent": "bob"}),
    ("tasks_done", {**HERE, "path": "s:0", "checkpoints": {"criteria": True, "tests": True}}),
    ("tasks_reopen", {**HERE, "path": "s:0"}),
    ("tasks_handoff", {**HERE, "as_capsule": True}),
    ("tasks_complete", {**SHOP, "target": "TASK-002", "status": "ACTIVE"}),
    ("tasks_delete", {**HERE, "path": "s:1"}),
    ("submit_payload", {"capability_id": UNIT, "body": {"id": "FU-1", "description": "d", "status": "completed",
                        "created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-03"}}),
    ("moss_erase", {"type": "capsule", "name": "one"}),
    ("moss_erase", {"type": "node", **SHOP, "id": "q1"}),
    ("moss_erase", {"type": "task", **SHOP, "target": "TASK-002"}),
    ("moss_workspace_rename", {"name": "shop", "new_name": "market"}),
    ("moss_workspace_delete", {"name": "market", "dry_run": False}),
    ("capsule_purge", {}),
)  # fmt: skip


def craft(home: Path, chance: random.Random) -> list[str]:
    """Change a store at random; return the statements that succeeded."""
    connection = apsw.Connection(str(home / "moss.db"))
    add_functions(connection)
    done = []
    kind = chance.random()
    statements: list[tuple[str, tuple[Any, ...]]]
    if kind < 0.15:
        statements = [(chance.choice(FOREIGN), ())]
    elif kind < 0.35:
        statements = [(chance.choice(CYCLES), ())]
    else:
        statements = [_changed_value(connection, chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))]
    for sql, values in statements:
        try:
            for _ in connection.execute(sql, values):
                pass
            done.append(f"{sql} {[str(value)[:40] for value in values]}")
        except (apsw.Error, UnicodeDecodeError):
            continue  # a constraint or a trigger keeps that state from being made so
    connection.close()
    return done


def _changed_value(connection: apsw.Connection, chance: random.Random) -> tuple[str, tuple[Any, ...]]:
    tables = sorted(str(name) for (name,) in connection.execute(SELECT_TABLES))
    table = chance.choice(tables)
    columns = [
        (str(name), str(kind).lower())
        for name, kind in connection.execute("select name, type from pragma_table_xinfo(?) where hidden = 0", (table,))
    ]
    column, kind = chance.choice(columns)
    value = chance.choice(NUMBERS) if kind == "integer" and chance.random() < 0.6 else chance.choice(VALUES)
    marked = "cast(? as text)" if isinstance(value, bytes) and chance.random() < 0.5 else "?"
    if chance.random() < 0.5:
        return f"update or replace {table} set {column} = {marked}", (value,)
    counted: list[Any] = connection.execute(f"select count(*) from {table}").fetchall()
    place = chance.randrange(max(counted[0][0], 1))
    where = f"where {column} = (select {column} from {table} limit 1 offset {place})"
    return f"update or replace {table} set {column} = {marked} {where}", (value,)


def attempt(template: Path, folder: Path, seed: int) -> list[str]:
    """Craft one store and make every call on it; return the failures."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template, home)
    said = craft(home, chance)
    if not said:
        return []
    wrong: list[str] = []
    writes = list(WRITES)
    chance.shuffle(writes)
    store = open_at(home)
    try:
        for tool, arguments in (*READS, *writes[:20], *chance.sample(READS, 10)):
            problem = _called(store, tool, arguments)
            if problem:
                wrong.append(f"seed {seed}: {tool} {json.dumps(arguments)[:80]}: {problem} after {said}")
    finally:
        store.close()
    return wrong


def _called(store: Store, tool: str, arguments: dict[str, Any]) -> str | None:
    """Return why a call's outcome is wrong; None for a JSON answer or a typed error within the deadline."""
    faulthandler.dump_traceback_later(HANGS_S, exit=True)
    began = time.monotonic()
    try:
        shown(store.call(tool, arguments))
    except MossError as error:
        json.dumps(error.payload(), allow_nan=False).encode()
        if error.code == "INTERNAL":
            return f"INTERNAL ({error.__cause__!r})"
    except Exception as error:
        return repr(error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    took = time.monotonic() - began
    return None if took < DEADLINE_S else f"took {took:.1f} s"


def found_in(home: Path) -> list[dict[str, Any]]:
    """Return the faults in the rows of a store."""
    connection = apsw.Connection(str(home / "moss.db"))
    add_functions(connection)
    try:
        return faults(connection)
    finally:
        connection.close()


def shown(answer: dict[str, Any]) -> None:
    """Encode an answer as the server does; raise if that fails."""
    request = Request(1, "1", "tools/call", {})
    tool_answer(request, answer)


def main(folder: Path, first: int, count: int) -> int:
    """Try `count` seeds; return the number of failures."""
    template = folder / "template"
    if not template.exists():
        fill(template)
    assert not found_in(template), "a sound store is called damaged: every failure would be put down to that"
    failed = 0
    for seed in range(first, first + count):
        print(f"# {seed}", file=sys.stderr, flush=True)
        wrong = attempt(template, folder, seed)
        failed += bool(wrong)
        for line in wrong:
            print(line, flush=True)
    return failed


if __name__ == "__main__":
    os.environ.pop("MOSS_HOME", None)
    sys.exit(min(1, main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
