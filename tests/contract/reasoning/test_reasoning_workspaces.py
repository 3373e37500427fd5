"""Workspaces, `branchmind_init` and `branchmind_status`."""

from __future__ import annotations

import datetime as dt
import os
from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, node
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

TOOLS = [tool for tool in catalog.operations() if tool.name.startswith("branchmind_")]
DEFAULTS = {"branch": "main", "docs": {"notes": "notes", "graph": "graph", "trace": "trace"}}
FIRST_WRITES: dict[str, dict[str, Any]] = {
    "init": {}, "notes_commit": {"content": "x"}, "graph_apply": {"ops": [node("a")]}, "branch_create": {"name": "b"},
    "commit": {"artifact": "x", "message": "m"},
}  # fmt: skip
READS: dict[str, dict[str, Any]] = {
    "show": {}, "log": {}, "docs_list": {}, "reflog": {}, "graph_query": {}, "graph_validate": {},
    "diff": {"from_": "main", "to": "main"}, "graph_diff": {"from_": "main", "to": "main"},
    "graph_conflicts": {"into": "main"},
}  # fmt: skip
OTHERS: dict[str, dict[str, Any]] = {
    "merge": {"from_": "b", "into": "main"}, "checkout": {"ref": "b"},
    "graph_merge": {"from_": "b", "into": "main"}, "branch_rename": {"old": "b", "new": "c"},
    "branch_delete": {"name": "b"}, "reset": {"to": 1}, "tag_create": {"name": "t"}, "tag_delete": {"name": "t"},
    "export": {"target": "TASK-001"}, "graph_conflict_show": {"conflict_id": "CONFLICT-0123456789abcdef"},
    "graph_conflict_resolve": {"conflict_id": "CONFLICT-0123456789abcdef", "resolution": "use_from"},
}  # fmt: skip


@holds("4 workspace scoping: workspace is required by every tool")
def test_the_family_has_every_tool_of_its_document() -> None:
    named = {*FIRST_WRITES, *READS, *OTHERS, "status", "branch_list", "tag_list"}
    assert named <= {tool.name.removeprefix("branchmind_") for tool in TOOLS}
    assert len(named) == 28


@holds("4 workspace scoping: workspace is required by every tool")
def test_every_tool_of_the_family_requires_a_workspace(subtests: pytest.Subtests) -> None:
    for tool in TOOLS:
        with subtests.test(tool=tool.name):
            assert "workspace" in tool.required
            assert tool.schema()["properties"]["workspace"]["type"] == "string"


@holds("4 workspace scoping: workspace is required by every tool")
def test_a_call_without_a_workspace_is_refused_by_name(room: ReasoningTools) -> None:
    for arguments in ({}, {"workspace": None}):
        error = room.door.refuses("INVALID_REQUEST", "branchmind_notes_commit", content="x", **arguments)
        assert "workspace" in error.message


@holds("decisions §0: a workspace is compared normalized, never blank, long or controlling")
@pytest.mark.parametrize("workspace", ["", " ", "a\nb", "a\tb", "x" * 257])
def test_a_bad_workspace_is_refused_for_reads_and_writes(room: ReasoningTools, workspace: str) -> None:
    bad = room.another(workspace)
    for tool, arguments in {**FIRST_WRITES, **READS, "status": {}, "branch_list": {}}.items():
        bad.refuses("INVALID_REQUEST", tool, **arguments)


@holds("decisions §0: a workspace is compared normalized, never blank, long or controlling")
def test_a_workspace_is_compared_normalized_and_echoed_as_it_was_written(room: ReasoningTools) -> None:
    first = room.another("  My   Shop ")
    assert first("init")["workspace"] == "  My   Shop "
    first.note("found again")
    for spelling in ("my shop", "MY SHOP", "My\u2003Shop"):
        same = room.another(spelling)
        assert same("status")["workspace"] == spelling
        assert same("branch_list")["workspace"] == spelling
        assert same.texts() == ["found again"]


@holds("4 workspace scoping: no silent cross-project reads or writes")
def test_workspaces_are_isolated(room: ReasoningTools) -> None:
    other = room.another("Other")
    seq = room.note("mine")
    room.apply(node("a"))
    room.branch("b")
    room("checkout", ref="b")
    room("tag_create", name="t", from_=seq)
    other.note("theirs")
    assert other.texts() == ["theirs"]
    assert list(other.branches()) == ["main"]
    assert other("status")["checkout"] == "main"
    assert other.nodes() == {}
    assert other.tags() == {}
    other.misses("show", branch="b", doc="notes")
    other.misses("reset", to=seq)
    other.misses("reset", to="t")
    other.misses("tag_create", name="u", from_=seq)
    other.misses("tag_delete", name="t")
    assert room.texts("main") == ["mine"]


@holds("4 init: answers workspace, storage_dir, schema_version, checkout and defaults")
def test_init_returns_the_storage_folder_and_the_defaults(room: ReasoningTools) -> None:
    answer = room("init")
    assert set(answer) == {"workspace", "storage_dir", "schema_version", "checkout", "defaults", "created_workspace"}
    assert (answer["workspace"], answer["checkout"], answer["defaults"]) == ("Shop", "main", DEFAULTS)
    assert os.path.realpath(answer["storage_dir"]) == os.path.realpath(room.door.home)
    assert isinstance(answer["schema_version"], int)
    assert room("status")["schema_version"] == answer["schema_version"]


@holds("4 init: creates main if there are no branches, and checks it out if there is no checkout")
def test_init_creates_main_without_a_base_and_checks_it_out(room: ReasoningTools) -> None:
    room("init")
    assert room("branch_list")["branches"] == [{"name": "main", "base_branch": None, "base_seq": None}]
    assert room("status")["checkout"] == "main"


@holds("4 init: creates main if there are no branches, and checks it out if there is no checkout")
def test_init_again_changes_no_branch_and_no_checkout(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room("checkout", ref="b")
    room.note("x")
    before = room.branches()
    assert room("init")["checkout"] == "b"
    assert (room.branches(), room("status")["checkout"], room.texts()) == (before, "b", ["x"])


@holds("4 init: creates main if there are no branches, and checks it out if there is no checkout")
def test_init_creates_no_second_main_after_a_rename(room: ReasoningTools) -> None:
    room("init")
    room("branch_rename", old="main", new="trunk")
    assert room("init")["checkout"] == "trunk"
    assert list(room.branches()) == ["trunk"]


@holds("4 status: a snapshot of the workspace, also of one that is not there")
def test_the_status_of_an_unknown_workspace_reports_it_and_creates_nothing(room: ReasoningTools) -> None:
    room.another("Other").note("x")
    before = dump(room.door.home)
    answer = room("status")
    assert answer.pop("schema_version") == room.another("Other")("status")["schema_version"]
    assert answer == {
        "workspace": "Shop", "workspace_exists": False, "checkout": None, "defaults": DEFAULTS, "last_event": None,
        "last_doc_entry": None, "truncated": False,
    }  # fmt: skip
    assert dump(room.door.home) == before


@holds("4 status: a snapshot of the workspace, also of one that is not there")
def test_the_status_shows_the_checkout_and_the_last_entry_of_the_workspace(room: ReasoningTools) -> None:
    room.note("first")
    room.branch("b")
    room("checkout", ref="b")
    entry = room("notes_commit", content="last", doc="plans")["entry"]
    room.another("Other").note("elsewhere")
    answer = room("status")
    assert answer["workspace_exists"] is True
    assert answer["checkout"] == "b"
    assert answer["defaults"] == DEFAULTS
    shown = {name: entry[name] for name in ("seq", "ts", "ts_ms")}
    assert answer["last_doc_entry"] == {**shown, "branch": "b", "doc": "plans", "kind": "note"}


@holds("decisions §0: last_event is one of a task")
def test_the_last_event_is_one_of_a_task_and_not_of_a_note(room: ReasoningTools) -> None:
    room.note("x")
    room.apply(node("a"))
    assert room("status")["last_event"] is None


@holds("decisions §3: a first write bootstraps main; an unknown branch is refused")
@pytest.mark.parametrize("tool", FIRST_WRITES)
def test_a_first_write_creates_main_and_checks_it_out(room: ReasoningTools, tool: str) -> None:
    room(tool, **FIRST_WRITES[tool])
    assert room.branches()["main"] == {"name": "main", "base_branch": None, "base_seq": None}
    assert room("status")["checkout"] == "main"
    assert room("status")["workspace_exists"] is True


@holds("decisions §3: a first write bootstraps main; an unknown branch is refused")
def test_a_first_write_to_an_unknown_branch_creates_nothing(room: ReasoningTools) -> None:
    room.misses("notes_commit", content="x", branch="typo")
    room.another("Second").misses("graph_apply", ops=[node("a")], branch="typo")
    room.another("Third").misses("branch_create", name="b", from_="typo")


@holds("decisions §3: unknown branch, document or target is not found with a recovery")
@pytest.mark.parametrize("tool", READS)
def test_a_read_without_branches_is_not_found_and_proposes_init(room: ReasoningTools, tool: str) -> None:
    error = room.misses(tool, **READS[tool])
    assert error.recovery is not None
    assert error.recovery["tool"] == "branchmind_init"
    assert error.recovery["arguments"] == {"workspace": "Shop"}
    room(tool, **READS[tool])


@holds("decisions §3: unknown branch, document or target is not found with a recovery")
@pytest.mark.parametrize("tool", OTHERS)
def test_a_call_that_needs_a_missing_row_is_not_found_and_proposes_a_working_call(
    room: ReasoningTools, tool: str
) -> None:
    room.misses(tool, **OTHERS[tool])


@holds("decisions §3: unknown branch, document or target is not found with a recovery")
def test_a_workspace_without_branches_has_no_branch_and_no_tag(room: ReasoningTools) -> None:
    assert room("branch_list")["branches"] == []
    assert room("tag_list")["tags"] == []


@holds("4 documents: entries carry ts beside ts_ms")
def test_times_are_utc_with_milliseconds(timed: ReasoningTools, clock: Clock) -> None:
    clock.ms += 7
    entry = timed("notes_commit", content="x")["entry"]
    assert entry["ts_ms"] == clock.ms
    assert entry["ts"].endswith(".007Z")
    assert dt.datetime.fromisoformat(entry["ts"]).timestamp() * 1000 == clock.ms
    assert timed("status")["last_doc_entry"]["ts"] == entry["ts"]
