"""Branches: snapshots without copies, checkout, renaming and deleting."""

from __future__ import annotations

from typing import Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, edge, gone, newest_first, node, state
from support.direct_store import dump
from support.promises import holds


def disagree(room: ReasoningTools, branch: str = "b") -> str:
    """Create an open conflict between a branch and main, and return its id."""
    room.apply(node("n", title="base"), branch="main")
    room.branch(branch, "main")
    room.apply(node("n", title="theirs"), branch=branch)
    room.apply(node("n", title="ours"), branch="main")
    [conflict_id] = room("graph_merge", from_=branch, into="main")["conflict_ids"]
    assert isinstance(conflict_id, str)
    return conflict_id


@holds("4 branching: a branch records base_branch and base_seq")
def test_a_new_branch_answers_its_base_and_the_cut(room: ReasoningTools) -> None:
    room("init")
    assert room("branch_create", name="b") == {
        "workspace": "Shop", "branch": {"name": "b", "base_branch": "main", "base_seq": 0},
    }  # fmt: skip
    assert room.branches()["b"] == {"name": "b", "base_branch": "main", "base_seq": 0}


@holds("4 branching: a branch records base_branch and base_seq")
def test_the_cut_is_the_last_number_of_the_whole_store(room: ReasoningTools) -> None:
    room.note()
    last = room.apply(node("a"))["last_seq"]
    assert room.branch("b")["base_seq"] == last
    last = room.another("Other").note()
    assert room.branch("c")["base_seq"] == last
    assert room.note() > last


@holds("4 branch_create: from the checkout by default; bootstraps main")
def test_a_branch_starts_at_the_checkout_by_default(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room("checkout", ref="b")
    assert room.branch("c")["base_branch"] == "b"
    assert room.branch("d", from_="main")["base_branch"] == "main"
    assert room("status")["checkout"] == "b"


@holds("4 branch_create: from the checkout by default; bootstraps main")
def test_a_branch_in_an_empty_workspace_starts_at_a_new_main(room: ReasoningTools) -> None:
    assert room.branch("b") == {"name": "b", "base_branch": "main", "base_seq": 0}
    assert list(room.branches()) == ["b", "main"]
    assert room("status")["checkout"] == "main"


@holds("4 branch_create: from the checkout by default; bootstraps main")
def test_a_branch_of_an_unknown_branch_is_not_found(room: ReasoningTools) -> None:
    room("init")
    room.misses("branch_create", name="b", from_="typo")


@holds("4 base snapshot: entries of the base up to base_seq, plus the branch's own, without copies")
def test_a_derived_branch_shows_the_snapshot_and_its_own_entries_in_order(room: ReasoningTools) -> None:
    before = [room.note("first"), room.note("second")]
    room.branch("b")
    room.note("later", branch="main")
    own = [room.note("own", branch="b")]
    room.note("still later", branch="main")
    own += [room.note("own too", branch="b")]
    assert room.seqs("b") == before + own
    assert room.texts("main") == ["first", "second", "later", "still later"]


@holds("4 base snapshot: entries of the base up to base_seq, plus the branch's own, without copies")
def test_an_inherited_entry_names_the_branch_of_its_write(room: ReasoningTools) -> None:
    room.note("first")
    room.branch("b")
    room.note("own", branch="b")
    assert [entry["branch"] for entry in room.entries("b")] == ["main", "b"]
    assert room.entries("b")[0] == room.entries("main")[0]


@holds("4 base snapshot: entries of the base up to base_seq, plus the branch's own, without copies")
def test_branching_copies_nothing(room: ReasoningTools) -> None:
    for number in range(5):
        room.note(str(number))
        room.apply(node(str(number)))
    before = dump(room.door.home)
    room.branch("b")
    after = dump(room.door.home)
    assert {table for table in after if after[table] != before.get(table)} <= {"branches", "events", "numbers"}


@holds("4 base snapshot: entries of the base up to base_seq, plus the branch's own, without copies")
def test_the_snapshot_holds_for_every_document_and_the_graph(room: ReasoningTools) -> None:
    room.note("plan", doc="plans")
    room.note("step", doc="trace")
    room.apply(node("a", title="old"), node("x"), edge("a", "to", "x"))
    room.branch("b")
    room.note("later", doc="plans")
    room.note("later", doc="trace")
    room.apply(node("a", title="new"), node("c"), gone("x"))
    assert room.texts("b", "plans") == ["plan"]
    assert room.texts("b", "trace") == ["step"]
    assert {key: found.get("title") for key, found in room.nodes("b").items()} == {"a": "old", "x": None}
    assert list(room.edges("b")) == [("a", "to", "x")]


@holds("decisions §3: base chains up to 32 deep, the cut-off is the minimum along the chain")
def test_the_cut_is_the_lowest_along_the_chain(room: ReasoningTools) -> None:
    room.note("main before a")
    room.branch("a", "main")
    room.note("main after a", branch="main")
    room.apply(node("late"), branch="main")
    room.note("a before b", branch="a")
    room.branch("b", "a")
    room.note("a after b", branch="a")
    room.note("main after b", branch="main")
    room.note("own", branch="b")
    assert room.texts("b") == ["main before a", "a before b", "own"]
    assert room.texts("a") == ["main before a", "a before b", "a after b"]
    assert room.nodes("b") == {}


@holds("decisions §3: base chains up to 32 deep, the cut-off is the minimum along the chain")
def test_a_chain_of_32_bases_is_read_and_a_longer_one_refused(room: ReasoningTools) -> None:
    room.note("main")
    room.apply(node("main"))
    base = "main"
    for number in range(1, 33):
        room.branch(str(number), base)
        base = str(number)
        room.note(base, branch=base)
        room.apply(node(base), branch=base)
    expected = ["main", *map(str, range(1, 33))]
    assert room.texts("32") == expected
    assert list(room.nodes("32")) == expected[::-1]
    room.refuses("INVALID_REQUEST", "branch_create", name="33", from_="32")


@holds("4 branch_create: from the checkout by default; bootstraps main")
def test_a_taken_name_is_a_conflict(room: ReasoningTools) -> None:
    room.branch("b")
    for name in ("b", "main"):
        room.refuses("CONFLICT", "branch_create", name=name)


@holds("decisions §3: branch, document and tag names are compared exactly")
def test_names_of_branches_are_compared_exactly(room: ReasoningTools) -> None:
    names = ["Main", "b", "B", " b", "caf\u00e9", "cafe\u0301", "x" * 256, "feature/a|b", "task/x", "TASK-001", "plan/"]
    for name in names:
        room.branch(name)
    for number, name in enumerate(names):
        room.note(str(number), branch=name)
    for number, name in enumerate(names):
        assert room.texts(name) == [str(number)]
    assert sorted(room.branches()) == sorted([*names, "main"])


@holds("decisions §3: branch, document and tag names are compared exactly")
@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x7fb", "x" * 257])
def test_a_bad_name_of_a_branch_is_refused(room: ReasoningTools, name: str) -> None:
    room("init")
    room.refuses("INVALID_REQUEST", "branch_create", name=name)
    room.refuses("INVALID_REQUEST", "branch_rename", old="main", new=name)


@holds("4 branching: canonical branches of plans and tasks have no base and are listed")
@pytest.mark.parametrize("name", ["task/TASK-001", "plan/PLAN-001", "task/TASK-1000"])
def test_names_of_canonical_branches_are_reserved_for_tasks_and_plans(room: ReasoningTools, name: str) -> None:
    room.branch("b")
    room.refuses("INVALID_REQUEST", "branch_create", name=name)
    room.refuses("INVALID_REQUEST", "branch_rename", old="b", new=name)


@holds("shapes: branch_list shows name, base_branch and base_seq, and reports a cut by the limit")
def test_branches_are_listed_by_name(room: ReasoningTools) -> None:
    for name in ("z", "a", "m"):
        room.branch(name)
    answer = room("branch_list")
    assert answer["workspace"] == "Shop"
    assert [row["name"] for row in answer["branches"]] == ["a", "m", "main", "z"]
    assert all(set(row) == {"name", "base_branch", "base_seq"} for row in answer["branches"])
    assert not answer.get("truncated")


@holds("shapes: branch_list shows name, base_branch and base_seq, and reports a cut by the limit")
def test_a_branch_list_cut_by_its_limit_reports_it(room: ReasoningTools) -> None:
    for name in ("a", "b", "c"):
        room.branch(name)
    answer = room("branch_list", limit=3)
    assert [row["name"] for row in answer["branches"]] == ["a", "b", "c"]
    assert answer["truncated"] is True
    assert not room("branch_list", limit=4).get("truncated")


@holds("shapes: branch_list shows name, base_branch and base_seq, and reports a cut by the limit")
def test_200_branches_are_listed_by_default(timed: ReasoningTools) -> None:
    for number in range(200):
        timed.branch(f"b{number:03}")
    answer = timed("branch_list")
    assert (len(answer["branches"]), answer["truncated"]) == (200, True)
    answer = timed("branch_list", limit=100_000)
    assert (len(answer["branches"]), answer.get("truncated", False)) == (201, False)


@holds("4 checkout: sets the branch that calls mean by default")
def test_a_checkout_returns_the_previous_and_the_current_branch(room: ReasoningTools) -> None:
    room.branch("b")
    assert room("checkout", ref="b") == {"workspace": "Shop", "previous": "main", "current": "b"}
    assert room("checkout", ref="b") == {"workspace": "Shop", "previous": "b", "current": "b"}
    assert room("checkout", ref="main")["previous"] == "b"


@holds("4 checkout: sets the branch that calls mean by default")
def test_a_checkout_of_an_unknown_branch_is_not_found_and_changes_nothing(room: ReasoningTools) -> None:
    room("init")
    room.misses("checkout", ref="typo")
    assert room("status")["checkout"] == "main"


@holds("4 checkout: sets the branch that calls mean by default")
def test_every_default_follows_the_checkout(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room("checkout", ref="b")
    seq = room.note("note")
    room("commit", artifact="commit", message="m")
    room.apply(node("a"))
    assert room.texts("b") == ["note", "commit"]
    assert room.texts("main") == []
    assert room("show")["branch"] == "b"
    assert room("log")["ref"] == "b"
    assert room("docs_list")["ref"] == "b"
    assert room("reflog")["ref"] == "b"
    assert room("graph_query")["branch"] == "b"
    assert room("graph_validate")["branch"] == "b"
    assert room("tag_create", name="t")["tag"]["branch"] == "b"
    assert room("reset", to=seq)["ref"] == "b"
    assert room.nodes("main") == {}


@holds("4 branch_rename: documents, refs, tags, checkout and conflicts follow")
def test_a_renamed_branch_keeps_its_documents_graph_tags_and_checkout(room: ReasoningTools) -> None:
    room.note("first")
    room.branch("b")
    room("checkout", ref="b")
    seq = room.note("own")
    room.apply(node("a"))
    room("tag_create", name="t", from_=seq)
    room.branch("child")
    graph = room.nodes("b")
    assert room("branch_rename", old="b", new="c") == {"workspace": "Shop", "previous": "b", "current": "c"}
    assert [(entry["branch"], entry["content"]) for entry in room.entries("c")] == [("main", "first"), ("c", "own")]
    assert room.nodes("c") == graph
    assert room.tags()["t"]["branch"] == "c"
    assert room("status")["checkout"] == "c"
    assert room("status")["last_doc_entry"]["branch"] == "c"
    assert room.branches()["child"]["base_branch"] == "c"
    assert [entry["branch"] for entry in room.entries("child")] == ["main", "c"]
    assert [row["new_seq"] for row in newest_first(room, "reflog", "entries", ref="c")] == [seq]
    room.misses("show", branch="b", doc="notes")


@holds("4 branch_rename: documents, refs, tags, checkout and conflicts follow")
def test_a_renamed_branch_keeps_its_conflicts(room: ReasoningTools) -> None:
    conflict_id = disagree(room)
    room("branch_rename", old="b", new="c")
    room("branch_rename", old="main", new="trunk")
    found = room.conflict(conflict_id)
    assert (found["from_branch"], found["into_branch"], found["status"]) == ("c", "trunk", "open")
    assert [row["conflict_id"] for row in room.conflicts("trunk")] == [conflict_id]
    again = room("graph_merge", from_="c", into="trunk")
    assert (again["conflicts_created"], again["conflict_ids"]) == (0, [conflict_id])


@holds("4 branch_rename: documents, refs, tags, checkout and conflicts follow")
def test_the_old_name_of_a_renamed_branch_is_free_and_empty(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.note("old", branch="b")
    room.apply(node("old"), branch="b")
    room("branch_rename", old="b", new="c")
    room.branch("b", "main")
    assert (room.texts("b"), room.nodes("b")) == ([], {})
    assert room.texts("c") == ["old"]


@holds("decisions §3: renaming onto an existing name is a conflict")
def test_renaming_an_unknown_branch_is_not_found_and_a_taken_name_is_a_conflict(room: ReasoningTools) -> None:
    room.branch("b")
    room.misses("branch_rename", old="typo", new="c")
    room.refuses("CONFLICT", "branch_rename", old="b", new="main")
    room.refuses("CONFLICT", "branch_rename", old="b", new="b")


@holds("4 branch_rename: documents, refs, tags, checkout and conflicts follow")
def test_a_branch_can_be_renamed_in_letter_case_only(room: ReasoningTools) -> None:
    room.branch("b")
    assert room("branch_rename", old="b", new="B")["current"] == "B"


@holds("4 branch_delete: deletes the branch, its rows and its tags")
def test_deleting_a_branch_deletes_everything_on_it(room: ReasoningTools) -> None:
    kept = room.note("kept")
    room.branch("b")
    seq = room.note("own", branch="b")
    room.apply(node("a"), edge("a", "to", "a"), branch="b")
    room("tag_create", name="own", from_=seq)
    room("tag_create", name="kept", from_=kept)
    room("reset", ref="b", to=kept)
    assert room("branch_delete", name="b") == {"workspace": "Shop", "name": "b", "deleted": True}
    assert list(room.branches()) == ["main"]
    assert list(room.tags()) == ["kept"]
    room.misses("show", branch="b", doc="notes")
    room.misses("tag_create", name="t", from_=seq)
    room.misses("branch_delete", name="b")
    assert room.texts("main") == ["kept"]
    room.branch("b")
    assert (room.texts("b"), room.nodes("b")) == (["kept"], {})
    assert newest_first(room, "reflog", "entries", ref="b") == []
    assert not any(str(found).count("'own'") for table, found in dump(room.door.home).items() if table != "events")


@holds("decisions §3: one series of numbers for documents and graphs of the whole store")
def test_a_number_is_never_used_again(room: ReasoningTools) -> None:
    room.branch("b")
    room.note(branch="b")
    last = room.apply(node("a"), branch="b")["last_seq"]
    room("branch_delete", name="b")
    assert room.note() > last


@holds("decisions §3: branch_delete is refused with the reason while something needs the branch")
@pytest.mark.parametrize(
    ("name", "reason"), [("main", "main"), ("b", "check"), ("base", "base"), ("apart", "conflict")]
)
def test_a_branch_in_use_is_not_deleted_and_the_error_gives_the_reason(
    room: ReasoningTools, name: str, reason: str
) -> None:
    disagree(room, "apart")
    for made in ("b", "base"):
        room.branch(made, "main")
    room.branch("child", "base")
    room("checkout", ref="b")
    assert reason in room.refuses("CONFLICT", "branch_delete", name=name).message.lower()


@holds("decisions §3: branch_delete is refused with the reason while something needs the branch")
def test_a_branch_can_be_deleted_once_it_is_unused(room: ReasoningTools) -> None:
    conflict_id = disagree(room, "apart")
    room.branch("b", "main")
    room.branch("child", "b")
    room("checkout", ref="b")
    for name in ("b", "apart"):
        room.refuses("CONFLICT", "branch_delete", name=name)
    room("checkout", ref="main")
    room("branch_delete", name="child")
    room("branch_delete", name="b")
    room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_into")
    room("branch_delete", name="apart")
    room.misses("graph_conflict_show", conflict_id=conflict_id)
    assert room.conflicts() == []
    assert list(room.branches()) == ["main"]


@holds("decisions §3: branch_delete is refused with the reason while something needs the branch")
def test_deleting_the_checkout_proposes_a_call_that_works_without_main(room: ReasoningTools) -> None:
    room.branch("b")
    for first in ("main", "trunk"):
        room("checkout", ref="b")
        error = room.refuses("CONFLICT", "branch_delete", name="b")
        assert error.recovery is not None
        room.door(error.recovery["tool"], **error.recovery["arguments"])
        if first == "main":
            room("branch_rename", old="main", new="trunk")


@holds("decisions §3: branch_delete is refused with the reason while something needs the branch")
def test_the_destination_of_an_open_conflict_is_not_deleted(room: ReasoningTools) -> None:
    room.branch("middle")
    room.apply(node("n"), branch="middle")
    room.branch("leaf", "middle")
    room.apply(node("n", title="theirs"), branch="leaf")
    room.apply(node("n", title="ours"), branch="middle")
    room("graph_merge", from_="leaf", into="middle")
    room.refuses("CONFLICT", "branch_delete", name="middle")


@holds("4 branch_delete: deletes the branch, its rows and its tags")
def test_merged_entries_remain_when_their_branch_is_deleted(room: ReasoningTools) -> None:
    room.branch("b")
    room.note("merged", branch="b")
    room.apply(node("a", title="merged"), branch="b")
    room("merge", from_="b", into="main")
    room("graph_merge", from_="b", into="main")
    room("branch_delete", name="b")
    assert room.texts("main") == ["merged"]
    assert state(room.nodes("main")["a"]) == {
        "id": "a", "type": "note", "title": "merged", "tags": [], "deleted": False,
    }  # fmt: skip


@holds("4 branch_delete: deletes the branch, its rows and its tags")
def test_deleting_a_branch_keeps_tags_of_inherited_notes_on_the_base(room: ReasoningTools) -> None:
    seq = room.note("inherited")
    room.branch("b")
    room("tag_create", name="t", from_=seq)
    room("branch_delete", name="b")
    tag: dict[str, Any] = room.tags()["t"]
    assert (tag["branch"], tag["seq"]) == ("main", seq)
