"""`moss adopt`: rows of other memories are imported once, can be found, and their sources are never written to."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contract.doors import open_test_store
from moss_memory import MossError
from moss_memory.cli.commands.help import command_help, find_any
from moss_memory.config import default_config
from moss_memory.store import Store
from moss_memory.transfer.importers.item_importer import split_text
from moss_memory.transfer.importers.items import parse_time
from moss_memory.transfer.importers.native_memory import native_memory_folder
from moss_memory.transfer.importers.source_import import _find_reader, import_source
from moss_memory.transfer.importers.source_names import SOURCES
from support.thorough import first_of

WRITTEN = Path(__file__).parent / "sources"
KEEPER = """
create table sessions (id text primary key, name text, created_at text);
create table context_items (id text primary key, session_id text, key text, value text, category text, priority text,
  channel text, created_at text, updated_at text);
create table context_relationships (id text primary key, session_id text, from_key text, to_key text,
  relationship_type text, created_at text);
create table journal_entries (id text primary key, session_id text, entry text, mood text, tags text, created_at text);
insert into sessions values ('s1', 'checkout', '2026-05-01 10:00:00'), ('s2', 'later', '2026-05-02 10:00:00');
insert into context_items values
  ('1', 's1', 'retry_policy', 'A failed payment is tried three times.', 'decision', 'high', 'main',
   '2026-05-01 10:00:00', '2026-05-01 11:00:00'),
  ('2', 's1', 'next_step', 'Write the replay job.', 'task', 'normal', 'main', '2026-05-01 10:00:01', null),
  ('3', 's2', 'next_step', 'Tell the bank.', 'task', 'normal', 'main', '2026-05-02 10:00:01', null);
insert into context_relationships values ('r', 's1', 'next_step', 'retry_policy', 'depends_on', '2026-05-01 10:00:02'),
  ('q', 's1', 'next_step', 'gone', 'references', '2026-05-01 10:00:02');
insert into journal_entries values ('j', 's1', 'The sandbox drops every tenth call.', null, '["bank"]',
  '2026-05-01 12:00:00');
"""


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with open_test_store(str(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def keeper(tmp_path: Path) -> Path:
    path = tmp_path / "context.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(KEEPER)
    connection.close()
    return path


def state(folder: Path) -> dict[str, str]:
    """Return a hash of the contents of every file below a folder."""
    files = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def everything(store: Store) -> dict[str, int]:
    counts = store.call("moss_search", {"query": "NOT zzzz", "limit": 1})
    tasks = store.call("tasks_list", {"workspace": "shop"})["pagination"]["total"]
    return {"found": counts["pagination"]["total"], "tasks": tasks}


TAKEN = {
    "server-memory": ("memory.jsonl", {"nodes": 3, "edges": 2}),
    "basic-memory": ("notes", {"capsules": 2, "nodes": 2, "edges": 2}),
    "beads": ("issues.jsonl", {"plans": 2, "tasks": 3}),
    "task-master": ("tasks.json", {"plans": 1, "tasks": 2}),
    "markdown": ("notes", {"capsules": 2}),
}


def test_the_command_line_names_every_source() -> None:
    command = find_any("adopt")
    assert command is not None
    shown = " ".join(command_help(command).split())
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "adopt.md").read_text(encoding="utf-8")
    assert [name for name in SOURCES if f"{name}," not in shown or f"`{name}`" not in page] == []


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_a_function_that_reads_it(source: str) -> None:
    assert callable(_find_reader(source))


@pytest.mark.parametrize(
    ("source", "closed", "left"),
    [("beads", "task", {}), ("basic-memory", "reasoning", {"capsules": 2}), ("basic-memory", "capsule", {"nodes": 2})],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_rows_of_a_disabled_family_are_skipped_and_named(
    tmp_path: Path, source: str, closed: str, left: dict[str, int], dry_run: bool
) -> None:
    name, taken = TAKEN[source]
    with Store(default_config(str(tmp_path / "home")).replace(disabled_types=[closed])) as store:
        report = store.adopt(source, str(WRITTEN / name), workspace="shop", dry_run=dry_run)
    assert report["taken"].items() >= left.items()
    skipped = [item for item in report["skipped"] if item["reason"] == f"the settings have switched off {closed}"]
    assert skipped
    assert sum(report["taken"].values()) + len(skipped) == sum(taken.values())


@pytest.mark.parametrize("source", TAKEN)
def test_a_source_is_imported_once_and_never_written_to(store: Store, source: str) -> None:
    name, taken = TAKEN[source]
    before = state(WRITTEN)
    tried = store.adopt(source, str(WRITTEN / name), workspace="shop", dry_run=True)
    assert (tried["taken"], tried["dry_run"]) == (taken, True)
    assert everything(store) == {"found": 0, "tasks": 0}
    assert store.adopt(source, str(WRITTEN / name), workspace="shop")["taken"] == taken
    held = everything(store)
    again = store.adopt(source, str(WRITTEN / name), workspace="shop")
    assert (again["taken"], again["already_there"]) == ({}, sum(taken.values()))
    assert everything(store) == held
    assert state(WRITTEN) == before


PRESENT = {
    "basic-memory": ("basic-memory", {"capsules": 2, "nodes": 2, "edges": 2}),
    "server-memory": ("server-memory.jsonl", {"nodes": 2, "edges": 1}),
    "memory-keeper": ("memory-keeper.sql", {"nodes": 2, "edges": 1, "notes": 1}),
    "beads": ("beads.jsonl", {"capsules": 1, "plans": 2, "tasks": 2}),
}


@pytest.fixture(params=PRESENT)
def present(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, dict[str, int]]:
    """Return a source written by the present release, its path, and its contents."""
    name, taken = PRESENT[request.param]
    path = WRITTEN / "written" / name
    if path.suffix == ".sql":
        with sqlite3.connect(tmp_path / "context.db") as connection:
            connection.executescript(path.read_text())
        connection.close()
        path = tmp_path / "context.db"
    return request.param, path, taken


def test_sources_of_the_present_releases_are_imported_and_found(
    store: Store, present: tuple[str, Path, dict[str, int]]
) -> None:
    source, path, taken = present
    report = store.adopt(source, str(path), workspace="shop")
    assert report["taken"] == taken
    assert [one["item"] for one in report["skipped"]] == (
        ["supersedes [[Old retry rules]]"] if source == "basic-memory" else []
    )
    found = store.call("moss_search", {"query": "what happens to a failed payment?", "workspace": "shop"})["items"]
    assert "payment" in json.dumps(found[0]).lower()
    assert store.adopt(source, str(path), workspace="shop")["taken"] == {}


def test_links_in_a_note_become_relations_between_nodes(store: Store) -> None:
    store.adopt("basic-memory", str(WRITTEN / "written" / "basic-memory"), workspace="shop")
    graph = store.call("branchmind_graph_query", {"workspace": "shop"})
    assert {(edge["from"], edge["rel"], edge["to"]) for edge in graph["edges"]} == {
        ("shop/checkout/retry-policy", "part_of", "shop/checkout/checkout-service"),
        ("shop/checkout/checkout-service", "links_to", "shop/checkout/retry-policy"),
    }
    assert {node["id"] for node in graph["nodes"]} == {end for edge in graph["edges"] for end in (edge["from"],)}


def test_a_link_in_a_sentence_or_in_code_is_not_a_relation(store: Store, tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text(
        "- uses [[B]] (every night)\n- it needs [[C]] and more\n\n```\n- runs [[D]]\n```\n[[C|that]], [[C]]\n"
    )
    for name in "BCD":
        (tmp_path / f"{name}.md").write_text("text\n")
    assert store.adopt("basic-memory", str(tmp_path), workspace="shop")["skipped"] == []
    graph = store.call("branchmind_graph_query", {"workspace": "shop"})
    assert {(edge["from"], edge["rel"], edge["to"]) for edge in graph["edges"]} == {
        ("A", "uses", "B"), ("A", "links_to", "C"),
    }  # fmt: skip
    assert {node["id"] for node in graph["nodes"]} == {"A", "B", "C"}


DIES = """
import os, signal, sys
from moss_memory.transfer.importers.item_importer import ItemImporter
from moss_memory.store import open_store
home, source, path, most = sys.argv[1:]
counted, left = ItemImporter._count, int(most)
def count(self, kind):
    global left
    counted(self, kind)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
ItemImporter._count = count
with open_store(home) as store:
    store.adopt(source, path, workspace="shop")
"""


@pytest.mark.parametrize("after", first_of([2, 1, 3]))
def test_a_killed_import_that_is_repeated_has_no_missing_and_no_duplicate_rows(
    store: Store, present: tuple[str, Path, dict[str, int]], tmp_path: Path, after: int
) -> None:
    source, path, taken = present
    store.adopt(source, str(path), workspace="shop")
    home = str(tmp_path / "second")
    died = subprocess.run([sys.executable, "-c", DIES, home, source, str(path), str(after)], capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    with open_test_store(home) as second:
        report = second.adopt(source, str(path), workspace="shop")
        assert sum(report["taken"].values()) + report["already_there"] == sum(taken.values())
        assert everything(second) == everything(store)
        assert second.adopt(source, str(path), workspace="shop")["taken"] == {}
        assert everything(second) == everything(store)


def test_a_memory_of_server_memory_is_found_by_a_question(store: Store) -> None:
    store.adopt("server-memory", str(WRITTEN / "memory.jsonl"), workspace="shop")
    found = store.call("moss_search", {"query": "how often is a failed payment retried?"})["items"]
    assert found[0]["id"] == "checkout-service"
    graph = store.call("branchmind_graph_query", {"workspace": "shop"})
    assert {(edge["from"], edge["rel"], edge["to"]) for edge in graph["edges"]} == {
        ("Lena_Hart", "owns", "checkout-service"), ("checkout-service", "stores orders in", "Postgres 17"),
    }  # fmt: skip


def test_a_note_of_basic_memory_keeps_title_tags_time_and_relations(store: Store) -> None:
    report = store.adopt("basic-memory", str(WRITTEN / "notes"), workspace="shop")
    assert [one["item"] for one in report["skipped"]] == ["supersedes [[Old retry rules]]"]
    note = store.call("capsule_fetch", {"workspace": "shop", "name": "checkout/retry-policy"})
    assert (note["title"], note["tags"]) == ("Retry policy", ["payments", "bank", "resilience"])
    assert note["created_at"] == parse_time("2026-05-04T10:00:00+00:00")
    assert note["source"] == "basic-memory:checkout/retry-policy"
    graph = store.call("branchmind_graph_query", {"workspace": "shop"})
    assert {(edge["from"], edge["rel"], edge["to"]) for edge in graph["edges"]} == {
        ("checkout/retry-policy", "part_of", "checkout/checkout-service"),
        ("checkout/checkout-service", "uses", "checkout/retry-policy"),
    }
    found = store.call("moss_search", {"query": "what happens to a payment after three tries?"})["items"]
    assert found[0]["title"] == "Retry policy"


def test_memory_keeper_items_relations_and_journal_are_imported(store: Store, keeper: Path) -> None:
    before = state(keeper.parent)
    report = store.adopt("memory-keeper", str(keeper), workspace="shop")
    assert report["taken"] == {"nodes": 3, "edges": 1, "notes": 1}
    assert [one["item"] for one in report["skipped"]] == ["next_step references gone"]
    assert state(keeper.parent) == before | state(keeper.parent / "home")
    nodes = {one["id"]: one for one in store.call("branchmind_graph_query", {"workspace": "shop"})["nodes"]}
    policy = nodes["retry_policy"]
    assert (policy["type"], policy["tags"], policy["meta"]["priority"]) == ("decision", ["checkout", "main"], "high")
    assert policy["meta"]["created_at"] == parse_time("2026-05-01 10:00:00")
    assert nodes["next_step (later s2)"]["text"] == "Tell the bank."
    assert store.adopt("memory-keeper", str(keeper), workspace="shop")["taken"] == {}


def test_issues_become_plans_and_tasks_with_their_dependencies(store: Store) -> None:
    store.adopt("beads", str(WRITTEN / "issues.jsonl"), workspace="shop")
    items = {one["title"]: one for one in store.call("tasks_list", {"workspace": "shop"})["items"]}
    assert items["Park failed payments"]["status"] == "DONE"
    assert items["Park failed payments"]["parent"] == items["Checkout survives the bank"]["id"]
    assert items["Replay parked payments"]["status"] == "ACTIVE"
    assert "beads:shop-3" in items["Replay parked payments"]["tags"]
    shown = store.call("tasks_show", {"workspace": "shop", "target": items["Replay parked payments"]["id"]})
    assert items["Park failed payments"]["id"] in json.dumps(shown)
    assert "Nightly is enough." in json.dumps(store.call("moss_search", {"query": "nightly"}))


def test_subtasks_become_steps_and_stay_done(store: Store) -> None:
    store.adopt("task-master", str(WRITTEN / "tasks.json"), workspace="shop")
    items = {one["title"]: one for one in store.call("tasks_list", {"workspace": "shop"})["items"]}
    shown = store.call("tasks_show", {"workspace": "shop", "target": items["Replay parked payments"]["id"]})
    assert [(step["title"], step["status"]) for step in shown["steps"]] == [
        ("Read the table", "done"), ("Call the bank again", "open"),
    ]  # fmt: skip
    assert items["Park failed payments"]["status"] == "DONE"


def test_local_changes_and_deletions_are_kept(store: Store) -> None:
    store.adopt("markdown", str(WRITTEN / "notes"), workspace="shop")
    name = {"workspace": "shop", "name": "checkout/retry-policy"}
    store.call("capsule_update", {**name, "title": "Mine"})
    store.call("capsule_delete", {"workspace": "shop", "name": "checkout/checkout-service"})
    assert store.adopt("markdown", str(WRITTEN / "notes"), workspace="shop")["taken"] == {}
    assert store.call("capsule_fetch", name)["title"] == "Mine"


def test_a_taken_name_is_skipped_and_reported(store: Store) -> None:
    store.call("capsule_store", {"workspace": "shop", "name": "checkout/retry-policy", "capsule_text": "x",
                                 "allow_thin": True})  # fmt: skip
    report = store.adopt("markdown", str(WRITTEN / "notes"), workspace="shop")
    assert report["taken"] == {"capsules": 1}
    assert "another source has the name" in report["skipped"][0]["reason"]


def test_a_second_folder_with_the_same_file_name_is_named_and_imported_to_another_workspace(
    store: Store, tmp_path: Path
) -> None:
    for folder, text in (("api", "The api retries.\n"), ("web", "The web waits.\n"), ("copy", "The api retries.\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "CLAUDE.md").write_text(text)
    assert store.adopt("markdown", str(tmp_path / "api"), workspace="shop")["taken"] == {"capsules": 1}
    copied = store.adopt("markdown", str(tmp_path / "copy"), workspace="shop")
    assert (copied["already_there"], copied["skipped"]) == (1, [])
    for dry_run in (True, False):
        second = store.adopt("markdown", str(tmp_path / "web"), workspace="shop", dry_run=dry_run)
        assert (second["taken"], second["already_there"]) == ({}, 0)
        assert [(one["item"], "-w" in one["reason"]) for one in second["skipped"]] == [("CLAUDE", True)]
    assert store.adopt("markdown", str(tmp_path / "web"), workspace="web")["taken"] == {"capsules": 1}
    kept = store.call("capsule_fetch", {"workspace": "shop", "name": "CLAUDE"})
    assert kept["capsule_text"] == "The api retries.\n"


def test_a_capsule_deleted_here_does_not_hide_another_text_of_its_name(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\n")
    store.adopt("markdown", str(tmp_path), workspace="shop")
    store.call("capsule_delete", {"workspace": "shop", "name": "a"})
    assert store.adopt("markdown", str(tmp_path), workspace="shop")["already_there"] == 1
    (tmp_path / "a.md").write_text("two\n")
    assert [one["item"] for one in store.adopt("markdown", str(tmp_path), workspace="shop")["skipped"]] == ["a"]


def test_a_row_that_differs_in_two_memories_is_named(store: Store, tmp_path: Path) -> None:
    for name, said in (("one", "Retries twice"), ("two", "Never retries")):
        lines = [{"type": "entity", "name": "checkout", "entityType": "service", "observations": [said]}]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    store.adopt("server-memory", str(tmp_path / "one.jsonl"), workspace="shop")
    second = store.adopt("server-memory", str(tmp_path / "two.jsonl"), workspace="shop")
    assert ([one["item"] for one in second["skipped"]], second["already_there"]) == (["checkout"], 0)
    ops = [{"op": "node_delete", "id": "checkout"}]
    store.call("branchmind_graph_apply", {"workspace": "shop", "ops": ops})
    assert store.adopt("server-memory", str(tmp_path / "one.jsonl"), workspace="shop")["already_there"] == 1
    assert len(store.adopt("server-memory", str(tmp_path / "two.jsonl"), workspace="shop")["skipped"]) == 1


def project(tmp_path: Path, name: str, *titles: str) -> str:
    """Write a task-master project in which every other task depends on the first."""
    tasks = [{"id": place, "title": title, "status": "pending", "dependencies": [1] if place > 1 else []}
             for place, title in enumerate(titles, start=1)]  # fmt: skip
    path = tmp_path / name / "tasks.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"master": {"tasks": tasks}}))
    return str(path.parent)


def test_tasks_of_a_second_project_are_kept_apart_from_those_of_the_first(store: Store, tmp_path: Path) -> None:
    store.adopt("task-master", project(tmp_path, "api", "Retry", "Park"), workspace="shop")
    second = store.adopt("task-master", project(tmp_path, "web", "Draw", "Paint", "Show"), workspace="shop")
    assert (second["taken"], second["already_there"]) == ({}, 0)
    assert [one["item"] for one in second["skipped"]] == ["master", "master/1", "master/2", "master/3"]
    titles = {one["title"] for one in store.call("tasks_list", {"workspace": "shop"})["items"]}
    assert titles == {"master of api", "Retry", "Park"}
    assert store.adopt("task-master", str(tmp_path / "web"), workspace="web")["taken"] == {"plans": 1, "tasks": 3}


def test_new_tasks_of_the_same_project_are_imported_and_renamed_ones_named(store: Store, tmp_path: Path) -> None:
    store.adopt("task-master", project(tmp_path, "api", "Retry", "Park"), workspace="shop")
    again = store.adopt("task-master", project(tmp_path, "api", "Retry", "Park it", "Replay"), workspace="shop")
    assert (again["taken"], again["already_there"]) == ({"tasks": 1}, 2)
    assert [one["item"] for one in again["skipped"]] == ["master/2"]
    tasks = {one["title"]: one for one in store.call("tasks_list", {"workspace": "shop"})["items"]}
    assert tasks["Replay"]["parent"] == tasks["master of api"]["id"]


def test_a_duplicate_task_in_a_file_is_imported_once_and_named(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "issues.jsonl"
    path.write_text(
        "".join(json.dumps({"id": one, "title": f"{one} {place}"}) + "\n" for place, one in enumerate("aba"))
    )
    told = store.adopt("beads", str(path), workspace="shop")
    assert (told["taken"], [one["item"] for one in told["skipped"]]) == ({"plans": 1, "tasks": 2}, ["a"])
    tasks = store.call("tasks_list", {"workspace": "shop", "kind": "task"})["items"]
    assert [one["title"] for one in tasks] == ["a 0", "b 1"]
    assert store.adopt("beads", str(path), workspace="shop")["taken"] == {}


def test_the_texts_of_an_imported_task_are_found(store: Store) -> None:
    store.adopt("beads", str(WRITTEN / "written" / "beads.jsonl"), workspace="shop")
    described = next(
        line["description"]
        for line in map(json.loads, (WRITTEN / "written" / "beads.jsonl").read_text().splitlines())
        if line.get("description")
    )
    found = store.call("moss_search", {"query": f'"{described[:30]}"', "workspace": "shop"})["items"]
    assert found


def test_a_suspected_credential_is_named_and_skipped(store: Store, tmp_path: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "keys.md").write_text(f"# Keys\n\nThe key is {secret}\n")
    (tmp_path / "notes" / "plain.md").write_text("# Plain\n\nNothing to hide.\n")
    report = store.adopt("markdown", str(tmp_path / "notes"), workspace="shop")
    assert report["taken"] == {"capsules": 1}
    assert report["skipped"][0]["item"] == "keys"
    assert secret not in json.dumps(report)
    taken = store.adopt("markdown", str(tmp_path / "notes"), workspace="shop", allow_secrets=True)["taken"]
    assert taken == {"capsules": 1}


def test_a_long_note_becomes_several_capsules(store: Store, tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 200 for number in range(40))
    (tmp_path / "long.md").write_text(text)
    report = store.adopt("markdown", str(tmp_path / "long.md"), workspace="shop")
    assert report["taken"]["capsules"] == len(split_text(text, 12_000))
    assert store.adopt("markdown", str(tmp_path / "long.md"), workspace="shop")["taken"] == {}


def test_an_interrupted_import_continues_where_it_stopped(store: Store, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"n{number}.md").write_text(f"note {number}\n")

    def stop(done: int, total: int | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.adopt("markdown", str(notes), workspace="shop", progress=stop)
    assert store.adopt("markdown", str(notes), workspace="shop")["taken"] == {"capsules": 3}


def broken_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.executescript(KEEPER)
    connection.close()
    data = bytearray(path.read_bytes())
    data[4096:12288] = os.urandom(8192)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("source", "name", "content"),
    [
        ("server-memory", "memory.jsonl", b'{"type":"entity","name":"a"}\nnot json\n'),
        ("server-memory", "memory.jsonl", b"[" * 100_000),
        ("server-memory", "memory.jsonl", b'{"type":"entity","name":"\xff"}'),
        ("server-memory", "memory.jsonl", b"7\n"),
        ("beads", "issues.jsonl", b'{"id":"a","title":"b","dependencies":' + b"[" * 200 + b"]" * 200 + b"}"),
        ("task-master", "tasks.json", b"[]"),
        ("task-master", "tasks.json", b"{"),
        ("memory-keeper", "context.db", b"no database at all"),
        ("memory-keeper", "context.db", b""),
        ("markdown", "a.md", b"\xff\xfe"),
    ],
)  # fmt: skip
def test_a_hostile_source_is_refused_and_writes_nothing(
    store: Store, tmp_path: Path, source: str, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MossError) as refused:
        store.adopt(source, str(tmp_path / name), workspace="shop")
    assert refused.value.code == "INVALID_REQUEST"
    assert everything(store) == {"found": 0, "tasks": 0}


LONG = "word " * 50_000
CYCLE = [{"id": 1, "title": "a", "dependencies": [2]}, {"id": 2, "title": "b", "dependencies": [1]}]
MANY = [
    {"id": 1, "title": "a", "subtasks": [{"title": f"s{number}"} for number in range(201)]},
    {"id": 2, "title": "b"},
]


@pytest.mark.parametrize(
    ("source", "name", "content", "taken", "reason"),
    [
        ("server-memory", "memory.jsonl", [{"name": "a"}, {"name": "b", "observations": ["x\0y"]}], 1, "NUL"),
        ("server-memory", "memory.jsonl", [{"name": "a"}, {"name": "b\ud800"}], 1, "surrogate"),
        ("server-memory", "memory.jsonl", [{"name": "a"}, {"name": "task:TASK-001"}], 1, "keeps for plans"),
        ("server-memory", "memory.jsonl", [{"name": "a"}, {"name": "b", "observations": ["x" * 1_000_001]}], 2, ""),
        ("task-master", "tasks.json", CYCLE, 3, "circle"),
        ("task-master", "tasks.json", MANY, 2, "1 to 200"),
        ("task-master", "tasks.json", [{"id": 1, "title": "a", "description": LONG, "details": LONG}], 2, ""),
    ],
)  # fmt: skip
def test_refused_rows_are_named_and_the_rest_is_imported(
    store: Store, tmp_path: Path, source: str, name: str, content: list[Any], taken: int, reason: str
) -> None:
    lines = "\n".join(json.dumps({"type": "entity", "entityType": "x", **one}) for one in content)
    written = lines if source == "server-memory" else json.dumps({"master": {"tasks": content}})
    (tmp_path / name).write_text(written)
    report = store.adopt(source, str(tmp_path / name), workspace="shop")
    assert sum(report["taken"].values()) == taken
    assert [reason in one["reason"] for one in report["skipped"]] == ([True] if reason else [])
    assert json.dumps(report).encode()
    assert store.adopt(source, str(tmp_path / name), workspace="shop")["taken"] == {}


def test_files_with_odd_names_are_imported_or_named(store: Store, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    for name in (b" .md", b"a\xff.md", b"b\nc.md"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"text of " + name[:1])
    report = store.adopt("markdown", str(tmp_path), workspace="shop")
    assert (report["taken"], len(report["skipped"])) == ({"capsules": 2}, 1)
    assert "blank" in report["skipped"][0]["reason"]
    assert {one["name"] for one in store.call("capsule_list", {"workspace": "shop"})["items"]} == {"a\ufffd", "b c"}


def test_binary_data_in_a_database_is_not_imported_as_text(store: Store, keeper: Path) -> None:
    with sqlite3.connect(keeper) as connection:
        connection.execute("update context_items set value = x'00ff' where id = '1'")
    connection.close()
    report = store.adopt("memory-keeper", str(keeper), workspace="shop")
    assert ("retry_policy", "holds no text") in {(one["item"], one["reason"]) for one in report["skipped"]}


def test_text_in_a_database_that_is_not_utf_8_is_refused(store: Store, keeper: Path) -> None:
    with sqlite3.connect(keeper) as connection:
        connection.execute("update context_items set value = cast(x'ff41' as text) where id = '1'")
    connection.close()
    with pytest.raises(MossError, match="holds text that is not UTF-8"):
        store.adopt("memory-keeper", str(keeper), workspace="shop")


@pytest.mark.parametrize("source", ["markdown", "basic-memory"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"# Bad\n\none\0two\n", "b.md, line 3, holds a NUL character"),
        (b"# Bad \xff\n", "b.md, line 1, is not UTF-8"),
        (None, "b.md is no plain file"),
    ],
)
def test_a_bad_file_among_good_ones_is_named_and_the_rest_is_imported(
    store: Store, tmp_path: Path, source: str, content: bytes | None, reason: str
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "c"):
        (folder / f"{name}.md").write_bytes(b"# Good\n\n- part_of [[a]]\n")
    if content is None:
        os.mkfifo(folder / "b.md")
    else:
        (folder / "b.md").write_bytes(content)
    report = store.adopt(source, str(folder), workspace="shop")
    assert report["files"] == 3
    assert report["taken"]["capsules"] == 2
    assert [(one["file"], one["item"]) for one in report["skipped"]] == [("b.md", "b.md")]
    assert reason in report["skipped"][0]["reason"]
    assert store.adopt(source, str(folder), workspace="shop")["taken"] == {}


def test_a_refused_file_does_not_stop_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n")
    report = import_source(
        lambda **given: _refused() if given["file"] == "b.md" else {"taken": {"capsules": 1}, **NOTHING},
        "markdown",
        str(folder),
        workspace="shop",
        dry_run=False,
        allow_secrets=False,
    )
    assert report["taken"] == {"capsules": 2}
    assert report["skipped"] == [{"file": "b.md", "item": "b.md", "reason": "no"}]


NOTHING: dict[str, Any] = {"already_there": 0, "skipped": []}


def _refused() -> dict[str, Any]:
    raise MossError("DATA_TOO_LARGE", "no")


def test_a_full_disk_stops_the_import(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n")

    def full(**_: Any) -> dict[str, Any]:
        raise MossError("STORAGE_FULL", "no")

    with pytest.raises(MossError, match="STORAGE_FULL"):
        import_source(full, "markdown", str(tmp_path), workspace="shop", dry_run=False, allow_secrets=False)


def test_a_damaged_database_is_refused(store: Store, tmp_path: Path) -> None:
    broken_database(tmp_path / "context.db")
    with pytest.raises(MossError, match=r"damaged|no database"):
        store.adopt("memory-keeper", str(tmp_path / "context.db"), workspace="shop")


def test_front_matter_that_expands_exponentially_is_read_as_text(store: Store, tmp_path: Path) -> None:
    laughs = "---\na: &a [lol, lol]\nb: &b [*a, *a]\nc: [*b, *b]\n---\nhello\n"
    (tmp_path / "laughs.md").write_text(laughs)
    assert store.adopt("markdown", str(tmp_path / "laughs.md"), workspace="shop")["taken"] == {"capsules": 1}
    assert len(store.call("capsule_fetch", {"workspace": "shop", "name": "laughs"})["capsule_text"]) < 200


def test_links_are_not_followed(store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside\n")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    (notes / "folder").symlink_to(tmp_path)
    assert store.adopt("markdown", str(notes), workspace="shop") == {
        "files": 0, "taken": {}, "already_there": 0, "skipped": [], "dry_run": False,
    }  # fmt: skip
    shutil.copy(WRITTEN / "memory.jsonl", tmp_path / "real.jsonl")
    (tmp_path / "memory.jsonl").symlink_to(tmp_path / "real.jsonl")
    with pytest.raises(MossError, match="is no plain file"):
        store.adopt("server-memory", str(tmp_path / "memory.jsonl"), workspace="shop")


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_a_path_without_a_source_is_refused(store: Store, tmp_path: Path, path: str) -> None:
    for source in ("server-memory", "beads", "task-master", "memory-keeper"):
        with pytest.raises(MossError, match=r"does not exist|holds no"):
            store.adopt(source, str(tmp_path / path), workspace="shop")
    with pytest.raises(MossError, match="must be one of"):
        store.adopt("elsewhere", str(tmp_path), workspace="shop")


def test_counting_importable_rows_creates_no_store(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nThe quokka smiles.\n")
    with open_test_store(str(tmp_path / "home")) as store:
        counted = store.adopt("markdown", str(tmp_path / "notes"), dry_run=True)
        assert not (tmp_path / "home").exists()
        assert counted["taken"]
        assert store.adopt("markdown", str(tmp_path / "notes"))["taken"] == counted["taken"]


def test_the_memory_folders_of_clients_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "my.shop"
    (project / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.chdir(project / "src")
    slug = re.sub("[^A-Za-z0-9]", "-", str(project))
    for source, folder in {
        "claude-code": tmp_path / "claude" / "projects" / slug / "memory",
        "codex": tmp_path / "codex" / "memories",
    }.items():
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").write_text(f"# What {source} knows\nUse pnpm.\n")
        assert native_memory_folder(source) == str(folder)
        with open_test_store(str(tmp_path / source)) as store:
            assert store.adopt(source, str(folder))["taken"] == {"capsules": 1}
            assert store.call("capsule_search", {"query": "pnpm"})["items"]
    with pytest.raises(MossError, match="`path` is needed"):
        native_memory_folder("beads")
