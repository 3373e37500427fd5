"""`moss import FOLDER`: an export is restored exactly, added to other rows by the mode; hand-written files work."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Clock, open_test_store, outcome
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.transfer import folder_import
from moss_memory.transfer.families import records as record
from moss_memory.transfer.reasoning_task_import import TABLES_BY_NAME
from support import direct_store
from support.direct_store import dump
from support.moved_store import FIRST_LAYOUT, check_moves, export_first_layout, questions, rows_of
from support.store_truth import refusal

UNIT = {"capability_id": "neotoma:store_feature_unit:v1"}
TIMES = dict.fromkeys(("created_at", "updated_at"), "2026-01-01T00:00:00Z")
FEATURE = {"id": "FU-1", "status": "planning", "description": "t", **TIMES}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "home"), clock)


@pytest.fixture
def other(tmp_path: Path, clock: Clock) -> Store:
    return open_test_store(str(tmp_path / "other"), clock)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def put(store: Store, name: str | None = "auth", text: str = FULL, **more: object) -> str:
    arguments = {"capsule_text": text, "allow_thin": True, **({} if name is None else {"name": name}), **more}
    return str(store.call("capsule_store", arguments)["id"])


def submit(store: Store, **body: Any) -> Any:
    return store.call("submit_payload", {**UNIT, "body": {**FEATURE, **body}})


def fill(store: Store) -> None:
    """Store some rows of each family."""
    put(store, "auth", workspace="Shop")
    store.call("artifact_store", {"kind": "k", "name": "plan", "data": {"a": 1}, "workspace": "Shop"})
    store.call("tasks_create", {"workspace": "Shop", "kind": "task", "title": "T", "steps": [{"title": "s"}]})
    store.call("branchmind_notes_commit", {"workspace": "Shop", "content": "a note"})
    submit(store)


def write(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def refused(store: Store, folder: Path, code: str, mode: str = "error") -> Any:
    """Return the error of an import, asserting that the store does not change."""
    before = dump(store.config.home)
    error = refusal(store.import_folder, str(folder), mode=mode)
    assert error.code == code, error
    assert dump(store.config.home) == before
    return error


# A store that has something already


def test_a_collision_fails_the_whole_import_and_every_one_is_named(store: Store, out: Path) -> None:
    fill(store)
    store.export_folder(str(out))
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "other"})
    store.call("artifact_store", {"kind": "k", "name": "plan", "data": {}, "workspace": "shop", "mode": "replace"})
    store.call("branchmind_notes_commit", {"workspace": "shop", "content": "another"})
    error = refused(store, out, "CONFLICT")
    found = {(one["code"], one["file"].rpartition("/")[2]) for one in error.details["errors"]}
    assert found == {
        ("WORKSPACE_COLLISION", "reasoning, tasks"),
        ("ID_COLLISION", "auth.md"),
        ("ID_COLLISION", "plan.json"),
    }


@pytest.mark.parametrize("mode", ["error", "replace"])
def test_equal_content_is_no_collision_and_no_version(store: Store, out: Path, mode: str) -> None:
    fill(store)
    store.export_folder(str(out))
    before = rows_of(store.config.home)
    told = store.import_folder(str(out), mode=mode)
    assert (told["imported"]["capsules"], told["unchanged"]) == ((0, 3) if mode == "error" else (1, 1))
    assert rows_of(store.config.home) == before
    export_first_layout(out.parent / "old")
    store.import_folder(str(out.parent / "old"), mode="replace")
    before = rows_of(store.config.home)
    assert store.import_folder(str(out.parent / "old"))["imported"]["capsules"] == 0
    assert rows_of(store.config.home) == before


@pytest.mark.sqlite("the kept rows have the generated columns of SQLite, such as search_filter")
def test_the_first_layout_is_imported_with_every_row(other: Store, tmp_path: Path) -> None:
    export_first_layout(tmp_path / "old")
    told = other.import_folder(str(tmp_path / "old"))
    assert (told["skipped"], told["errors"], told["changed"]) == (0, [], [])
    other.close()
    kept = json.loads((Path(__file__).parent / "layout_1_rows.json").read_text())
    found = {name: rows for name, rows in json.loads(json.dumps(rows_of(other.config.home))).items() if name in kept}
    for name, rows in kept.items():
        for row in found[name] if rows else []:
            assert set(row[len(rows[0]) :]) <= {None}, f"{name}: rows of that time have no origin"
            del row[len(rows[0]) :]
    assert {name: sorted(map(str, rows)) for name, rows in found.items()} == {
        name: sorted(map(str, rows)) for name, rows in kept.items()
    }
    check_moves(other, tmp_path)


def test_names_collide_with_names_of_others(store: Store, other: Store, out: Path) -> None:
    put(store)
    put(other, text="another text")
    store.export_folder(str(out))
    error = refused(other, out, "CONFLICT")
    assert [one["code"] for one in error.details["errors"]] == ["NAME_COLLISION"]
    other.import_folder(str(out), mode="rename")
    assert {item["name"] for item in other.call("capsule_list", {})["items"]} == {"auth", "auth-1"}


def test_replace_overwrites_rows_and_swaps_workspaces_whole(store: Store, clock: Clock, out: Path) -> None:
    fill(store)
    store.export_folder(str(out))
    clock.advance(100)
    store.call("capsule_update", {"workspace": "shop", "name": "auth", "title": "later"})
    store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": "later"})
    store.call("branchmind_notes_commit", {"workspace": "shop", "content": "later"})
    store.call("branchmind_notes_commit", {"workspace": "untouched", "content": "stays"})
    told = store.import_folder(str(out), mode="replace")
    assert told["imported"]["capsules"] == 1
    assert store.call("capsule_fetch", {"workspace": "shop", "name": "auth"})["title"] == "auth"
    assert [task["id"] for task in store.call("tasks_list", {"workspace": "shop"})["items"]] == ["TASK-001"]
    assert [note["content"] for note in notes(store, "shop")] == ["a note"]
    assert [note["content"] for note in notes(store, "untouched")] == ["stays"]
    assert store.call("moss_search", {"query": "later", "search_mode": "keyword"})["items"] == []


def notes(store: Store, workspace: str) -> Any:
    return store.call("branchmind_show", {"workspace": workspace, "doc_kind": "notes"})["entries"]


def test_rename_keeps_both_and_gives_the_workspace_a_number(store: Store, out: Path, tmp_path: Path) -> None:
    fill(store)
    store.export_folder(str(out))
    told = store.import_folder(str(out), mode="rename")
    assert told["renamed"] == [{"workspace": "Shop", "now": "Shop-1"}]
    assert store.import_folder(str(out), mode="rename")["renamed"] == [{"workspace": "Shop", "now": "Shop-2"}]
    for workspace in ("shop", "shop-1", "shop-2"):
        assert [note["content"] for note in notes(store, workspace)] == ["a note"]
        delta = store.call("tasks_delta", {"workspace": workspace})["events"]
        assert [event["type"] for event in delta] == ["task_created"]
        radar = store.call("tasks_radar", {"workspace": workspace, "target": "TASK-001"})
        assert radar["steps"][0]["title"] == "s"
        store.call("tasks_note", {"workspace": workspace, "target": "TASK-001", "note": "goes on"})
    events = {store.call("tasks_delta", {"workspace": one})["events"][0]["event_id"] for one in ("shop", "shop-1")}
    assert len(events) == 2
    assert {item["name"] for item in store.call("capsule_list", {"workspace": "shop"})["items"]} == {
        "auth", "auth-1", "auth-2",
    }  # fmt: skip
    assert len(store.call("artifact_list", {"workspace": "shop"})["items"]) == 3
    check_moves(store, tmp_path)


def test_merges_and_conflicts_continue_from_their_state(store: Store, other: Store, out: Path) -> None:
    where = {"workspace": "w"}
    conflict(store, where)
    store.export_folder(str(out))
    other.call("branchmind_notes_commit", {"workspace": "in use", "content": "numbers are taken"})
    other.import_folder(str(out))
    assert other.call("branchmind_graph_merge", {**where, "from": "side", "into": "main"})["conflicts_created"] == 0
    assert other.call("branchmind_merge", {**where, "from": "side", "into": "main"})["merged"] == 0
    [open_one] = other.call("branchmind_graph_conflicts", {**where, "into": "main"})["conflicts"]
    resolve = {**where, "conflict_id": open_one["conflict_id"], "resolution": "use_from"}
    other.call("branchmind_graph_conflict_resolve", resolve)
    shown = other.call("branchmind_graph_query", {**where, "ids": ["n"]})["nodes"]
    assert [one["title"] for one in shown] == ["theirs"]


def test_records_are_added_to_existing_ones(store: Store, other: Store, clock: Clock, out: Path) -> None:
    submit(store, status="planning", dependencies=["a"])
    clock.advance(10)
    submit(other, status="completed", dependencies=["b"])
    store.export_folder(str(out))
    other.import_folder(str(out))
    [entity] = other.call("retrieve_entities", {})["entities"]
    assert entity["snapshot"]["status"] == "completed"
    assert sorted(entity["snapshot"]["dependencies"]) == ["a", "b"]
    assert len(other.call("retrieve_records", {})["records"]) == 2
    assert len(other.call("list_timeline_events", {})["events"]) == 2
    before = rows_of(other.config.home)
    other.import_folder(str(out))
    assert rows_of(other.config.home) == before


def test_a_submission_with_other_content_is_settled_by_the_mode(store: Store, out: Path) -> None:
    submit(store)
    store.export_folder(str(out))
    [path] = out.glob("records/*/*.json")
    record_file = json.loads(path.read_text())
    record_file["observations"][0]["agent_id"] = "somebody else"
    path.write_text(json.dumps(record_file))
    assert refused(store, out, "CONFLICT").details["errors"][0]["code"] == "SUBMISSION_COLLISION"
    store.import_folder(str(out), mode="rename")
    assert store.call("retrieve_entities", {})["entities"][0]["observation_count"] == 2
    store.import_folder(str(out), mode="replace")
    assert store.call("retrieve_entities", {})["entities"][0]["observation_count"] == 2


def test_events_keep_their_numbers_and_the_next_ones_come_after(store: Store, other: Store, out: Path) -> None:
    for title in ("a", "b", "c"):
        store.call("tasks_create", {"workspace": "w", "kind": "plan", "title": title})
    store.export_folder(str(out))
    other.import_folder(str(out))
    for title in ("d", "e", "f"):
        other.call("tasks_create", {"workspace": "w", "kind": "plan", "title": title})
    told = other.call("tasks_delta", {"workspace": "w"})["events"]
    assert [one["payload"]["title"] for one in told] == ["a", "b", "c", "d", "e", "f"]


def test_order_within_a_second_stays_and_the_next_change_comes_after(store: Store, other: Store, out: Path) -> None:
    for name in "abc":
        put(store, name)
    for _ in range(3):
        store.call("capsule_update", {"name": "a", "title": "moved to the top"})
    store.export_folder(str(out))
    other.import_folder(str(out))
    put(other, "later")
    listed = [item["name"] for item in other.call("capsule_list", {})["items"]]
    assert listed == ["later", "a", "c", "b"]


# Written by hand


def test_markdown_files_without_a_manifest_come_in_as_capsules(other: Store, out: Path) -> None:
    write(out, "ideas.md", "just an idea\r\n")
    write(out, "shop/auth.md", "---\ntitle: Sign in\ntags: [auth, keys]\nphase: 'build'\n---\nthe text")
    write(out, "shop/deep/er.md", "\ufeff# Deep\n")
    write(out, "shop/listed.md", "---\ntags:\n  - one\n  - two words\nname: Another name\nworkspace: Elsewhere\n---\n")
    write(out, "shop/rule.md", "---\nno front matter\n---\ntext")
    write(out, "shop/open.md", "---\ntitle: never closed\n")
    write(out, ".git/hidden.md", "not mine")
    write(out, "notes.txt", "not mine")
    write(out, "tasks.jsonl", "not mine")
    told = other.import_folder(str(out))
    assert told["imported"]["capsules"] == 6
    assert told["ignored"] == ["tasks.jsonl"]
    items = {(item["workspace"], item["name"]): item for item in other.call("capsule_inventory", {})["items"]}
    texts = {key: other.call("capsule_fetch", {"id": item["id"]})["capsule_text"] for key, item in items.items()}
    assert texts == {
        ("default", "ideas"): "just an idea\r\n",
        ("shop", "auth"): "the text",
        ("shop", "deep/er"): "# Deep\n",
        ("Elsewhere", "Another name"): "",
        ("shop", "rule"): "---\nno front matter\n---\ntext",
        ("shop", "open"): "---\ntitle: never closed\n",
    }
    auth = items["shop", "auth"]
    assert (auth["title"], auth["tags"], auth["phase"]) == ("Sign in", ["auth", "keys"], "build")
    assert items["Elsewhere", "Another name"]["tags"] == ["one", "two words"]
    assert items["shop", "rule"]["title"] == "rule"


def test_a_changed_file_is_imported_unchanged_and_named(store: Store, other: Store, out: Path, clock: Clock) -> None:
    capsule = put(store)
    put(store, "as it was")
    store.export_folder(str(out))
    path = out / "capsules" / "default" / "auth.md"
    path.write_text(path.read_text().replace('name: "auth"', 'name: "sign-in"') + "\nmore words here\n")
    write(out, "capsules/new/by-hand.md", "hello")
    told = other.import_folder(str(out))
    assert told["changed"] == sorted([str(path.relative_to(out)), "capsules/new/by-hand.md"])
    found = other.call("capsule_fetch", {"id": capsule})
    assert (found["name"], found["capsule_text"]) == ("sign-in", FULL + "\nmore words here\n")
    assert found["capsule_chars"] == len(found["capsule_text"])
    assert other.call("capsule_fetch", {"workspace": "new", "name": "by-hand"})["capsule_text"] == "hello"


def test_a_copied_file_with_another_id_is_another_capsule(store: Store, other: Store, out: Path) -> None:
    capsule = put(store)
    store.export_folder(str(out))
    path = out / "capsules" / "default" / "auth.md"
    text = path.read_text().replace(capsule, "copy").replace('"auth"', '"copied"')
    write(out, "capsules/default/copied.md", text)
    other.import_folder(str(out))
    assert {item["name"] for item in other.call("capsule_list", {})["items"]} == {"auth", "copied"}


def test_copied_files_with_the_same_number_are_both_imported(other: Store, out: Path) -> None:
    """A file of the first layout has its number in its front matter, so a copy by hand has the same."""
    for name in ("auth", "copied"):
        write(out, f"w/{name}.md", "---\nrow_id: 7\n---\ntext")
    other.import_folder(str(out))
    assert {item["name"] for item in other.call("capsule_list", {"workspace": "w"})["items"]} == {"auth", "copied"}


BAD_FILES = {
    "not utf-8": b"\xff\xfe",
    "blank name": b'---\nname: " "\n---\nx',
    "control": b'---\nname: "a\\u0007b"\n---\nx',
    "no string": b"---\nname: 5\n---\nx",
    "tags": b"---\ntags: {}\n---\nx",
    "time": b'---\ncreated_at: "yesterday"\n---\nx',
    "number": b"---\nrow_id: -1\n---\nx",
    "nul": b"a\0b",
    "surrogate": b'---\ntitle: "\\ud800"\n---\nx',
    "long": b"---\nworkspace: " + b"w" * 300 + b"\n---\nx",
}


@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_file_that_cannot_be_a_capsule_is_skipped_and_reported(other: Store, out: Path, bad: str) -> None:
    write(out, "w/good.md", "fine")
    write(out, "w/bad.md", BAD_FILES[bad])
    told = other.import_folder(str(out))
    assert told["imported"]["capsules"] == 1
    assert told["skipped"] == 1
    [problem] = told["errors"]
    assert (problem["file"], problem["code"]) == ("w/bad.md", "INVALID_RECORD")


def test_an_unknown_field_is_reported(other: Store, out: Path) -> None:
    write(out, "w/a.md", "---\ntitel: x\nlayout: post\n---\ntext")
    [problem] = other.import_folder(str(out))["errors"]
    assert problem["code"] == "UNKNOWN_FIELD"
    assert "titel, layout" in problem["message"]


def test_a_folder_with_nothing_in_it_is_refused(other: Store, out: Path) -> None:
    out.mkdir()
    refused(other, out, "INVALID_REQUEST")
    refused(other, out / "none", "NOT_FOUND")


# Damaged exports


def damage(out: Path, name: str, change: Callable[[Any], Any]) -> None:
    """Change the lines of an exported file."""
    lines = [json.loads(line) for line in (out / name).read_text().splitlines()]
    changed = change(lines)
    kept = lines if changed is None else changed
    (out / name).write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in kept))


@pytest.mark.parametrize(
    "name", ["artifacts.jsonl", "reasoning.jsonl", "tasks.jsonl", "records.jsonl", "manifest.json"]
)
@pytest.mark.parametrize("harm", ["gone", "cut", "list", "bytes"])
def test_a_named_file_of_the_first_layout_that_is_gone_or_no_json_refuses_the_whole_import(
    other: Store, out: Path, name: str, harm: str
) -> None:
    export_first_layout(out)
    if harm == "gone":
        (out / name).unlink()
        if name == "manifest.json":
            return  # then the Markdown files are capsules, which other tests show
    elif harm == "cut":
        (out / name).write_bytes((out / name).read_bytes()[:-20])
    elif harm == "list":
        write(out, name, "[1]\n")
    else:
        write(out, name, b"\xff\xfe{}")
    error = refused(other, out, "INVALID_REQUEST")
    assert name.partition(".")[0] in error.message


def test_a_named_capsule_that_is_gone_refuses_the_whole_import(store: Store, other: Store, out: Path) -> None:
    put(store)
    put(store, "b")
    store.export_folder(str(out))
    (out / "capsules" / "default" / "b.md").unlink()
    assert "is gone" in refused(other, out, "INVALID_REQUEST").message


def test_an_export_of_a_newer_moss_is_refused(store: Store, other: Store, out: Path) -> None:
    store.export_folder(str(out))
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    assert "upgrade" in refused(other, out, "INVALID_REQUEST").message


VALUES: list[Any] = [None, -1, 2**70, 1.5, True, "", "x", "\ud800", "a\0", [], {}, [None], {"a": None}, 2**62, "main"]


def fill_every_table(store: Store) -> None:
    """Store one or two rows in each table that moves."""
    fill(store)
    where = {"workspace": "shop"}
    for title, more in (("first", {}), ("second", {"depends_on": ["TASK-001"]})):
        store.call("tasks_create", {**where, "kind": "task", "title": title})
        store.call(
            "tasks_edit", {**where, "target": "TASK-002" if title == "first" else "TASK-003", "tags": ["t"], **more}
        )
    store.call("tasks_evidence", {**where, "target": "TASK-001", "texts": ["seen"]})
    store.call("tasks_claim", {**where, "agent": "a", "target": "TASK-002"})
    store.call("tasks_note", {**where, "target": "TASK-001", "note": "n"})
    store.call("branchmind_think_card", {**where, "card": {"id": "c", "type": "note", "title": "t", "tags": ["x"]}})
    store.call("branchmind_think_pin", {**where, "ids": "c"})
    store.call("branchmind_notes_commit", {**where, "content": "another"})
    store.call("branchmind_tag_create", {**where, "name": "here"})
    store.call("branchmind_reset", {**where, "to": "here"})
    conflict(store, where)


def conflict(store: Store, where: dict[str, str]) -> None:
    """Store a node that two branches have changed, in conflict, and one that was merged."""

    def node(branch: str, text: str, id: str = "n") -> None:
        op = {"op": "node_upsert", "id": id, "type": "claim", "title": text}
        store.call("branchmind_graph_apply", {**where, "branch": branch, "ops": [op]})

    store.call("branchmind_init", where)
    node("main", "base")
    store.call("branchmind_branch_create", {**where, "name": "side"})
    node("side", "theirs")
    node("side", "theirs alone", id="m")
    node("main", "ours")
    store.call("branchmind_notes_commit", {**where, "branch": "side", "content": "merged once"})
    store.call("branchmind_merge", {**where, "from": "side", "into": "main"})
    assert store.call("branchmind_graph_merge", {**where, "from": "side", "into": "main"})["conflicts_created"] == 1


def first_lines(lines: list[str]) -> dict[str, int]:
    """Return the number of the first line of each table."""
    found: dict[str, int] = {}
    for at, line in enumerate(lines):
        found.setdefault(json.loads(line).get("table", "artifacts"), at)
    return found


def odd_lines(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Generate the lines with one odd value in one of them, for every field of the first line of every table."""
    for at in first_lines(lines).values():
        line = json.loads(lines[at])
        for place, key in enumerate([*line, "unheard_of"]):
            value = VALUES[(at + place) % len(VALUES)]
            changed = json.dumps({**line, key: value})
            yield f"{line.get('table')}.{key}: {value!r}", [*lines[:at], changed, *lines[at + 1 :]]


@pytest.mark.parametrize("name", ["artifacts.jsonl", "reasoning.jsonl", "tasks.jsonl", "records.jsonl"])
def test_no_line_of_the_first_layout_causes_an_internal_error(tmp_path: Path, out: Path, name: str) -> None:
    """Each field of a line of each table gets an odd value: the import succeeds and can be read, or is refused."""
    export_first_layout(out)
    check_odd(tmp_path, out, name, odd_lines((out / name).read_text().splitlines()))


def test_no_content_of_a_file_causes_an_internal_error(store: Store, tmp_path: Path, out: Path) -> None:
    """Try the same for the first line, or the object, of every file except the capsules."""
    fill_every_table(store)
    store.export_folder(str(out), with_history=True)
    for path in sorted(out.rglob("*.json*")):
        if path.name != "manifest.json":
            content = path.read_text()
            lines = content.splitlines() if path.suffix == ".jsonl" else [json.dumps(json.loads(content))]
            check_odd(tmp_path, out, str(path.relative_to(out)), odd_lines(lines))
            path.write_text(content)


def check_odd(tmp_path: Path, out: Path, name: str, odd: Iterator[tuple[str, list[str]]]) -> None:
    """Import each variant of a file, asserting that none is INTERNAL and that imported rows can be read."""
    came_in = 0
    for what, changed in odd:
        (out / name).write_text("\n".join(changed) + "\n")
        home = tmp_path / f"{name.replace('/', ' ')} {came_in}"
        home.mkdir(mode=0o700, exist_ok=True)
        with open_test_store(str(home), Clock()) as other:
            said = outcome_of(other.import_folder, str(out))
            assert said in ("", "INVALID_REQUEST", "CONFLICT"), (name, what)
            if not said:
                came_in += 1
                for tool, arguments in questions(other.config.home):
                    answered = outcome(other, tool, arguments)
                    assert getattr(answered, "code", "") != "INTERNAL", (name, what, tool)
        if not said:
            shutil.rmtree(home)  # the next variant uses its database


def outcome_of(call: Callable[..., Any], *arguments: str) -> str:
    """Return the code with which a call is refused; empty if it succeeds."""
    try:
        call(*arguments)
    except MossError as error:
        return error.code
    return ""


def test_the_tried_files_cover_every_table(store: Store, out: Path) -> None:
    fill_every_table(store)
    store.export_folder(str(out))
    files = [path.stem for folder in ("reasoning", "tasks") for path in out.glob(f"{folder}/*/*")]
    assert sorted(files) == sorted([*TABLES_BY_NAME, "origins"])
    found = [table for name in (FIRST_LAYOUT).glob("*.jsonl") for table in first_lines(name.read_text().splitlines())]
    assert {*TABLES_BY_NAME, "artifacts", "numbers", *(table.name for table in record.TABLES)} <= set(found)


def steps_only(line: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return changed if line["table"] == "steps" else {}


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("reasoning.jsonl", lambda lines: [one for one in lines if one["table"] != "branches"], "names"),
        ("reasoning.jsonl", lambda lines: [*lines, lines[-1]], "the same"),
        ("reasoning.jsonl", lambda lines: [{**one, "table": "capsules"} for one in lines], "no table"),
        ("tasks.jsonl", lambda lines: [one for one in lines if one["table"] != "tasks"], "names"),
        ("tasks.jsonl", lambda lines: [{**one, "workspace_norm": "Shop"} for one in lines], "compared"),
        (
            "tasks.jsonl",
            lambda lines: [{**one, **steps_only(one, checkpoints={"a": True})} for one in lines],
            "true or false",
        ),
        (
            "records.jsonl",
            lambda lines: [{**one, **({"at_us": 2**62} if "at_us" in one else {})} for one in lines],
            "years",
        ),
        ("records.jsonl", lambda lines: lines[1:], "names none"),
        ("records.jsonl", lambda lines: [*lines, lines[0]], "stands above"),
    ],
)
def test_inconsistent_rows_refuse_the_whole_import(other: Store, out: Path, name: str, change: Any, said: str) -> None:
    export_first_layout(out)
    damage(out, name, change)
    assert said in refused(other, out, "INVALID_REQUEST").message


def test_a_branch_that_is_its_own_base_is_refused_without_a_hang(store: Store, other: Store, out: Path) -> None:
    fill(store)
    store.call("branchmind_branch_create", {"workspace": "shop", "name": "side"})
    store.export_folder(str(out))

    def loop(lines: Any) -> None:
        for line in lines:
            line["base_id"], line["base_seq"] = line["branch_id"], 1

    damage(out, "reasoning/shop/branches.jsonl", loop)
    refused(other, out, "INVALID_REQUEST")


def test_a_bad_artifact_is_skipped_and_the_others_are_imported(store: Store, other: Store, out: Path) -> None:
    for name in "ab":
        store.call("artifact_store", {"kind": "k", "name": name, "data": {}})
    store.export_folder(str(out))
    path = out / "artifacts" / "default" / "a.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "data": []}))
    told = other.import_folder(str(out))
    assert (told["imported"]["artifacts"], told["skipped"]) == (1, 1)
    assert told["errors"][0]["file"] == "artifacts/default/a.json"


def test_a_link_or_a_pipe_in_the_folder_is_refused(other: Store, out: Path, tmp_path: Path) -> None:
    write(tmp_path, "secret.md", "not yours")
    write(out, "w/a.md", "fine")
    (out / "w" / "link.md").symlink_to(tmp_path / "secret.md")
    refused(other, out, "INVALID_REQUEST")
    (out / "w" / "link.md").unlink()
    os.mkfifo(out / "w" / "pipe.md")
    refused(other, out, "INVALID_REQUEST")
    (out / "w" / "pipe.md").unlink()
    os.link(tmp_path / "secret.md", out / "w" / "hard.md")
    refused(other, out, "INVALID_REQUEST")


@pytest.mark.parametrize("is_empty", [True, False])
def test_files_without_numbers_among_exported_ones_get_numbers_of_their_own(
    store: Store, other: Store, out: Path, clock: Clock, is_empty: bool
) -> None:
    exported = folder_import._BATCH_ROWS + 20
    for number in range(exported):
        clock.advance(1)
        put(store, f"n{number}", "text")
    store.call("artifact_store", {"kind": "k", "name": "last", "data": {}})
    store.export_folder(str(out))
    for number in range(3):  # older than every other, and newer, and without a time
        for when in (1, 4_000_000_000, None):
            lines = [] if when is None else [f"created_at: {when}", f"updated_at: {when}"]
            text = "\n".join(["---", *lines, "---", "by hand"])
            (out / "capsules" / "default" / f"hand-{when}-{number}.md").write_text(text)
    if not is_empty:
        put(other, "here", "text")
    other.import_folder(str(out))
    put(other, "after", "text")
    both = "select name_raw, change_seq from capsules union all select name_raw, change_seq from artifacts"
    rows = direct_store.rows(other.config.home, f"{both} order by change_seq")
    numbers = dict(rows)
    assert len(rows) == exported + 1 + 9 + 1 + (not is_empty)
    assert len(set(numbers.values())) == len(rows), "two rows have one number"
    assert max(numbers, key=lambda name: numbers[name]) == "after"
    if is_empty:
        told = dict(direct_store.rows(store.config.home, both))
        assert {name: numbers[name] for name in told} == told, "an exported row has its number again"
    assert [name for name, _ in rows if name.startswith("n")] == [f"n{number}" for number in range(exported)]
