"""Stores with any content: calls end in time with an answer or a typed error, and `doctor` names the fault."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from contract import everything
from contract.doors import StoreDoor
from moss_memory import MossError
from moss_memory.cli.commands.doctor import examine
from moss_memory.mcp.protocol import Request, tool_answer
from storage.database import connect
from support.cli_typist import Cli
from support.crafted_stores import HERE, SHOP, fill, found_in
from support.store_truth import capsule, open_at, refusal
from support.thorough import complete_or
from support.timeouts import TIMEOUT_S

LARGEST = 2**63 - 1
SEEDS = complete_or(30, 8)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crafted") / "home"
    fill(home)
    return home


@pytest.fixture
def filled(template: Path, home: Path) -> Path:
    shutil.copytree(template, home)
    return home


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MOSS_HOME", str(home))
    return Cli(str(home), {**os.environ, "MOSS_HOME": str(home)})


def change(home: Path, sql: str) -> None:
    connection = connect(home)
    connection.execute(sql)
    connection.close()


def outcome(home: Path, tool: str, arguments: dict[str, Any]) -> str:
    with open_at(home) as store:
        try:
            store.call(tool, arguments)
        except MossError as error:
            return error.code
    return "answered"


COUNTERS = {
    "events.seq": f"update events set seq = {LARGEST} where seq = (select max(seq) from events)",
    "capsules.change_seq": f"update capsules set change_seq = {LARGEST} where name_norm = 'one'",
    "capsules.version": f"update capsules set version = {LARGEST} where name_norm = 'one'",
    "numbers.last": f"update numbers set last = {LARGEST}",
    "tasks.revision": f"update tasks set revision = {LARGEST}",
    "task_numbers.last": f"update task_numbers set last = {LARGEST}",
    "sqlite_sequence.seq": f"insert into sqlite_sequence values ('vectors', {LARGEST})",
    "task_claims.lease_s": f"update task_claims set lease_s = {2**58}",
    "activity.day": f"update activity set day = {2**53} where workspace = '' and tool = 'tasks_claim'",
    "numbers.series": "update numbers set series = cast(x'fffe' as text) where series = 'seq'",
    "steps.next_index": f"update steps set next_index = {LARGEST}",
}
CHAINS = {
    "branches.base_id": "update branches set base_id = branch_id, base_seq = 100",
    "steps.parent_step": "update steps set parent_step = step_id",
    "tasks.parent_id": "update tasks set parent_id = id",
    "task_dependencies.depends_on": "insert into task_dependencies select workspace_norm, id, id, 0 from tasks",
}
VALUES = {
    "capsules.created_at": "update capsules set created_at = -1",
    "capsules.updated_at": "update capsules set updated_at = 'soon'",
    "capsules.source": "update capsules set source = x'ff00' where name_norm = 'one'",
    "capsules.tags_json": "update versions set tags_json = '{'; update capsules set tags_json = '[1]'",
    "artifacts.data_json": "update artifacts set data_json = '[]'",
    "artifacts.expires_at": "update artifacts set expires_at = 9e999",
    "tasks.status": "update tasks set status = 'LOST'",
    "tasks.contract_json": "update tasks set contract_json = 'no'",
    "steps.done": "update steps set done = 2",
    "resets.reach_json": "update resets set reach_json = '[[1]]'",
    "doc_entries.ts_ms": f"update doc_entries set ts_ms = {LARGEST}",
    "doc_entries.meta_json": "update doc_entries set meta_json = '[]'",
    "records.body_json": "update records set body_json = 'null'",
    "entities.sources_json": "update entities set sources_json = '[]'",
}
REFERENCES = {
    "documents.branch_id": "delete from branches where name = 'deeper'",
    "documents.doc": "delete from documents where doc = 'graph'",
    "branches.base_id": "update branches set base_id = 'x' where name = 'what-if'",
    "steps.task_row": "delete from tasks where id = 'TASK-002'",
    "observations.record_row": "update observations set record_row = 999",
    "capsules.name_norm": "update capsules set name_norm = 'Not  Normal' where name_norm = 'one'",
    "doc_entries.workspace_norm": "update doc_entries set workspace_norm = 'elsewhere'",
}
BREAKING = {**COUNTERS, **CHAINS, **VALUES}


@pytest.mark.parametrize("name", [*BREAKING, *REFERENCES])
def test_doctor_names_the_table_and_the_column(filled: Path, name: str) -> None:
    change(filled, {**BREAKING, **REFERENCES}[name])
    report = examine(str(filled))
    [check] = [one for one in report["checks"] if one["name"] == "rows"]
    table, _, column = name.partition(".")
    assert check["status"] == "fail"
    assert table in check["message"]
    assert column in check["message"]
    assert not report["healthy"]


@pytest.mark.parametrize("name", BREAKING)
def test_a_backup_that_would_break_the_store_is_refused(filled: Path, cli: Cli, name: str) -> None:
    change(filled, BREAKING[name])
    os.rename(filled / "moss.db", filled.parent / "crafted.db")
    with open_at(filled) as store:
        store.call("capsule_store", {"name": "here", "capsule_text": capsule()})
    done = cli("restore-backup", str(filled.parent / "crafted.db"))
    assert "[STORAGE_CORRUPT]" in done.err
    assert name.partition(".")[2] in done.err
    assert "Nothing was changed" in done.err
    with open_at(filled) as store:
        assert [one["name"] for one in store.call("capsule_list", {})["items"]] == ["here"]
    assert not [one for one in os.listdir(filled) if ".part" in one or ".before-" in one]


def test_after_the_last_possible_event_writes_fail_with_a_recovery_hint(filled: Path) -> None:
    change(filled, COUNTERS["events.seq"])
    with open_at(filled) as store:
        error = refusal(lambda: store.call("capsule_store", {"capsule_text": capsule()}))
        assert error.code == "STORAGE_CORRUPT"
        assert "events" in error.message
        assert "moss doctor" in error.message
        assert error.details is not None
        assert {"table": "events", "column": "seq"}.items() <= error.details["faults"][0].items()
        store.call("capsule_list", {})


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("activity.day", "moss_activity", {}),
        ("numbers.series", "branchmind_notes_commit", {**SHOP, "content": "more"}),
        ("task_claims.lease_s", "tasks_note", {**HERE, "path": "s:0", "note": "so far", "agent": "ada"}),
        ("documents.doc", "branchmind_graph_merge", {**SHOP, "from": "what-if", "into": "main"}),
        ("branches.base_id", "moss_erase", {**SHOP, "type": "node", "id": "q1", "dry_run": True}),
    ],
)
def test_the_error_of_a_call_names_the_damaged_row(
    filled: Path, name: str, tool: str, arguments: dict[str, Any]
) -> None:
    change(filled, {**BREAKING, **REFERENCES}[name])
    with open_at(filled) as store:
        error = refusal(lambda: store.call(tool, arguments))
    assert error.code == "STORAGE_CORRUPT"
    assert error.details is not None
    assert name.partition(".")[0] in str(error.details)


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("branchmind_show", {"doc": "notes"}),
        ("branchmind_show", {"doc": "notes", "branch": "deeper"}),
        ("branchmind_notes_commit", {"content": "more"}),
        ("branchmind_graph_query", {}),
        ("branchmind_branch_delete", {"name": "deeper"}),
    ],
)
def test_a_cycle_of_branches_is_a_typed_error(filled: Path, tool: str, more: dict[str, Any]) -> None:
    for statement in (
        "update branches set base_seq = 100, base_id = (select max(branch_id) from branches b where b.name = 'deeper')",
        "update branches set base_id = (select branch_id from branches b where b.name = 'main') where name = 'deeper'",
    ):
        change(filled, statement)
    assert outcome(filled, tool, {**SHOP, **more}) in ("STORAGE_CORRUPT", "CONFLICT", "answered")


def test_a_chain_of_as_many_bases_as_allowed_is_shown(home: Path) -> None:
    with open_at(home) as store:
        store.call("branchmind_notes_commit", {**SHOP, "content": "first"})
        before = "main"
        for number in range(32):
            store.call("branchmind_branch_create", {**SHOP, "name": f"b{number}", "from": before})
            before = f"b{number}"
        shown = store.call("branchmind_show", {**SHOP, "doc": "notes", "branch": before})
        assert [one["content"] for one in shown["entries"]] == ["first"]
        error = refusal(lambda: store.call("branchmind_branch_create", {**SHOP, "name": "more", "from": before}))
        assert error.code != "STORAGE_CORRUPT"
    assert found_in(home) == []


@pytest.mark.parametrize("statement", CHAINS.values())
@pytest.mark.parametrize("tool", ["tasks_show", "tasks_radar", "tasks_handoff", "tasks_ready", "tasks_delete"])
def test_endless_chains_do_not_hang_a_call(filled: Path, tool: str, statement: str) -> None:
    change(filled, statement)
    arguments = SHOP if tool == "tasks_ready" else HERE
    assert outcome(filled, tool, arguments) != "INTERNAL"


@pytest.mark.parametrize("statement", ["delete from search_index_config", "update search_index_data set block = x'00'"])
def test_a_damaged_index_is_named_and_built_again(filled: Path, statement: str) -> None:
    change(filled, statement)
    assert outcome(filled, "capsule_store", {"capsule_text": capsule("newest")}) == "STORAGE_CORRUPT"
    assert outcome(filled, "capsule_search", {"query": "decisions"}) in ("STORAGE_CORRUPT", "answered")
    assert not examine(str(filled))["healthy"]
    assert examine(str(filled), fix=True)["healthy"]
    assert outcome(filled, "capsule_search", {"query": "decisions"}) == "answered"


def test_bytes_in_a_column_of_texts_are_a_typed_error_for_server_and_command_line(filled: Path, cli: Cli) -> None:
    change(filled, VALUES["capsules.source"])
    with open_at(filled) as store:
        answer = store.call("capsule_fetch", {"name": "one"})
    told = json.loads(tool_answer(Request(1, "1", "tools/call", {}), answer))
    assert told["result"]["structuredContent"]["error"]["code"] == "STORAGE_CORRUPT"
    assert "[STORAGE_CORRUPT]" in cli("fetch", "one").err


def test_sound_stores_have_no_fault(filled: Path, tmp_path: Path) -> None:
    assert found_in(filled) == []
    home = tmp_path / "everything"
    everything.prepare(str(home))
    with open_at(home) as store:
        door = StoreDoor(store)
        everything.call_everything(door)
        everything.call_unlisted(door)
    assert found_in(home) == []
    assert [one["status"] for one in examine(str(home))["checks"] if one["name"] == "rows"] == ["ok"]


def test_no_random_state_of_a_file_makes_a_call_hang_or_internal(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "support.crafted_stores", str(tmp_path), "0", str(SEEDS)]
    tests = Path(__file__).parent.parent
    done = subprocess.run(words, cwd=tests, capture_output=True, text=True, timeout=4 * TIMEOUT_S, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stdout[:5000] + done.stderr[-3000:]


def test_a_header_that_claims_another_page_size_is_refused(filled: Path) -> None:
    connection = apsw.Connection(str(filled / "moss.db"))
    connection.execute("pragma journal_mode = delete").fetchall()
    connection.close()
    with open(filled / "moss.db", "r+b") as file:
        file.seek(16)
        file.write(b"\0\1")  # 65,536 bytes
    assert outcome(filled, "capsule_list", {}) == "STORAGE_CORRUPT"
    assert outcome(filled, "capsule_store", {"capsule_text": capsule()}) == "STORAGE_CORRUPT"
