"""Merging back in one call, resolving a conflict with content, and reporting open conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import compact, edge, gone, node, state
from moss_memory.errors import MossError
from support.direct_store import DirectStore, dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.reasoning.reasoning_tools import ReasoningTools

NOTHING = {"merged": 0, "skipped": 0}


def part(room: ReasoningTools, base: str = "base", there: str | None = "there", here: str | None = "here") -> None:
    """Create branch b, and a node n that differs between b and main."""
    room.apply(node("n", "question", title=base, status="open"))
    room.branch("b")
    for branch, said in (("b", there), ("main", here)):
        room.apply(gone("n") if said is None else node("n", "question", title=said), branch=branch)


def conflict_of(room: ReasoningTools, **more: Any) -> str:
    part(room, **more)
    [found] = room("merge_back", from_="b")["conflicts"]
    return str(found["conflict_id"])


@holds("decisions §10: branchmind_merge_back merges notes, trace and graph into the base in one call")
def test_one_call_merges_notes_trace_and_graph_into_the_base(room: ReasoningTools) -> None:
    room.note("before")
    room.branch("b")
    room.note("a note", branch="b")
    room("trace_step", step="a step", ref="b")
    room("think_add_question", card={"id": "q", "title": "Why?"}, branch="b")
    room("think_add_decision", card={"id": "d", "title": "So", "answers": "q"}, branch="b")
    answer = room("merge_back", from_="b")
    assert answer == {
        "workspace": "Shop", "from": "b", "into": "main",
        "notes": {"merged": 1, "skipped": 0}, "trace": {"merged": 4, "skipped": 0},
        "graph": {"merged": 3, "skipped": 0, "conflicts_created": 0}, "conflicts": [],
    }  # fmt: skip
    assert room.texts() == ["before", "a note"]
    assert [entry["content"] for entry in room.entries(doc="trace")] == [
        "a step", "Why?", "So", "q: open → resolved: d answers it",
    ]  # fmt: skip
    assert {one: state(found) for one, found in room.nodes().items()} == {
        one: state(found) for one, found in room.nodes("b").items()
    }
    assert set(room.edges()) == {("d", "answers", "q")}


@holds("decisions §10: branchmind_merge_back merges notes, trace and graph into the base in one call")
def test_merging_back_again_adds_nothing(room: ReasoningTools) -> None:
    part(room)
    room.note("a note", branch="b")
    room("think_card", card="a card", branch="b")
    first = room("merge_back", from_="b", into="main")
    before = dump(room.door.home)
    again = room("merge_back", from_="b")
    after = dump(room.door.home)
    for table in ("doc_entries", "graph_versions", "graph_conflicts", "numbers"):
        assert after[table] == before[table], table
    assert again["notes"] == again["trace"] == {"merged": 0, "skipped": 1}
    assert again["graph"] == {"merged": 0, "skipped": 1, "conflicts_created": 0}
    assert again["conflicts"] == first["conflicts"]


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_a_dry_run_of_merging_back_returns_the_same_and_writes_nothing(room: ReasoningTools) -> None:
    part(room)
    room.note("a note", branch="b")
    room("trace_step", step="a step", ref="b")
    room.apply(node("new"), branch="b")
    before = dump(room.door.home)
    told = room("merge_back", from_="b", dry_run=True)
    assert dump(room.door.home) == before
    assert told == room("merge_back", from_="b")
    assert told["graph"] == {"merged": 1, "skipped": 0, "conflicts_created": 1}


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_every_document_written_on_the_branch_is_merged(room: ReasoningTools) -> None:
    room.door("tasks_create", workspace="Shop", kind="task", title="A")
    room.branch("what-if", "task/TASK-001")
    room("think_card", target="TASK-001", branch="what-if", card={"id": "q", "type": "question", "title": "Q"})
    opened = room("think_subgoal_open", question_id="q", ref="what-if", graph_doc="TASK-001-graph")
    room.note("a plan", branch="what-if", doc="plans")
    answer = room("merge_back", from_="what-if")
    assert (answer["into"], answer["notes"]["merged"], answer["graph"]["merged"]) == ("task/TASK-001", 1, 3)
    assert answer["trace"]["merged"] == 2
    assert "q" in room.nodes("task/TASK-001", doc="TASK-001-graph")
    assert room.texts("task/TASK-001", "plans") == ["a plan"]
    assert opened["subgoal_id"] in room.nodes("task/TASK-001", doc="TASK-001-graph")


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_a_key_changed_on_both_sides_is_listed_with_its_three_states(room: ReasoningTools) -> None:
    room.apply(node("x"), node("y"), edge("x", "r", "y"))
    part(room)
    room.apply(edge("x", "r", "y", meta={"by": "b"}), branch="b")
    room.apply(edge("x", "r", "y", meta={"by": "main"}))
    room.apply(node("new", title="b"), branch="b")
    room.apply(node("new", title="main"))
    answer = room("merge_back", from_="b")
    found = {compact(one["key"]): one for one in answer["conflicts"]}
    assert len(found) == answer["graph"]["conflicts_created"] == 3
    for one in found.values():
        assert set(one) == {"conflict_id", "key", "base", "from", "into"}
        shown = room.conflict(one["conflict_id"])
        assert {side: shown[side] for side in ("base", "from", "into")} == {
            side: one[side] for side in ("base", "from", "into")
        }
        assert (shown["from_branch"], shown["into_branch"]) == ("b", "main")
        assert not {"theirs", "ours"} & set(shown)
    assert [found['"n"'][side]["title"] for side in ("base", "from", "into")] == ["base", "there", "here"]
    link = found['{"from":"x","rel":"r","to":"y"}']
    assert (link["from"]["meta"], link["into"]["meta"]) == ({"by": "b"}, {"by": "main"})
    assert found['"new"']["base"] is None


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_merging_back_goes_into_the_base_only(room: ReasoningTools) -> None:
    room.branch("b")
    room.branch("c", "b")
    room.note("x", branch="c")
    error = room.refuses("INVALID_REQUEST", "merge_back", from_="c", into="main")
    assert error.recovery is not None
    assert error.recovery["arguments"] == {"workspace": "Shop", "from": "c", "into": "b"}
    assert room.door(error.recovery["tool"], **error.recovery["arguments"])["notes"]["merged"] == 1
    room.refuses("INVALID_REQUEST", "merge_back", from_="main")
    room.refuses("INVALID_REQUEST", "merge_back", from_="main", into="b")
    room.misses("merge_back", from_="typo")
    room.misses("merge_back", from_="c", into="typo")


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_merging_back_is_one_transaction(timed: ReasoningTools) -> None:
    part(timed)
    timed.note("a note", branch="b")
    timed.apply(node("new"), branch="b")
    with DirectStore(timed.door.home) as direct:
        direct.trap("fail", "insert on graph_conflicts")
    before = dump(timed.door.home)
    with pytest.raises(MossError):
        timed("merge_back", from_="b")
    assert dump(timed.door.home) == before
    with DirectStore(timed.door.home) as direct:
        direct.free("fail")
    assert timed("merge_back", from_="b")["notes"]["merged"] == 1


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_more_than_a_page_is_merged_back_in_one_call(timed: ReasoningTools) -> None:
    timed.branch("b")
    timed.apply(*(node(f"n{number}") for number in range(1500)), branch="b")
    for _ in range(3):
        timed.note("x", branch="b")
    assert timed("merge_back", from_="b")["graph"]["merged"] == 1500


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
def test_a_conflict_is_resolved_with_content(room: ReasoningTools) -> None:
    conflict_id = conflict_of(room)
    content = {"title": "both", "text": "there and here", "tags": ["B", "a"], "meta": {"m": 1}}
    answer = room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_content", content=content)
    assert (answer["status"], answer["applied"]) == ("resolved", True)
    said = {"id": "n", "type": "question", **content, "tags": ["a", "b"], "deleted": False}
    assert state(room.nodes()["n"]) == said
    shown = room.conflict(conflict_id)
    assert (shown["status"], shown["resolution"]) == ("resolved", "use_content")
    again = room("merge_back", from_="b")
    assert (again["conflicts"], again["graph"]["merged"]) == ([], 0)
    assert state(room.nodes()["n"]) == said


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
def test_the_content_of_an_edge_is_its_meta(room: ReasoningTools) -> None:
    room.apply(node("x"), node("y"), edge("x", "r", "y"))
    room.branch("b")
    for number, content in enumerate(({"w": 3}, {"meta": {"w": 4}})):
        room.apply(edge("x", "r", "y", meta={"by": f"b {number}"}), branch="b")
        room.apply(edge("x", "r", "y", meta={"by": f"main {number}"}))
        [found] = room("merge_back", from_="b")["conflicts"]
        known = {"conflict_id": found["conflict_id"], "resolution": "use_content"}
        room("graph_conflict_resolve", **known, content=content)
        assert room.edges()["x", "r", "y"]["meta"] == {"w": 3 + number}


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
def test_resolving_with_the_same_content_again_is_no_change_and_with_other_is_a_conflict(room: ReasoningTools) -> None:
    known = {"conflict_id": conflict_of(room), "resolution": "use_content"}
    room("graph_conflict_resolve", **known, content={"title": "both", "status": "open"})
    before = room.nodes()
    again = room("graph_conflict_resolve", **known, content={"status": "open", "title": "both", "text": None})
    assert (again["status"], again["applied"]) == ("resolved", False)
    assert room.nodes() == before
    for other in ({"content": {"title": "other"}}, {"resolution": "use_from"}, {"resolution": "use_into"}):
        sent = {**known, **({"content": {"title": "both", "status": "open"}} if "content" in other else {}), **other}
        room.refuses("CONFLICT", "graph_conflict_resolve", **sent)


BAD_CONTENTS: list[Any] = [
    "x", {"title": 5}, {"titel": "x"}, {"id": "m"}, {"tags": "a"}, {"meta": []}, {"type": ""}, {"status": "x" * 129},
]  # fmt: skip
BAD_RESOLUTIONS: list[dict[str, Any]] = [
    {"resolution": "use_content"}, {"resolution": "use_from", "content": {"title": "x"}},
    {"resolution": "use_into", "content": {}},
    *[{"resolution": "use_content", "content": content} for content in BAD_CONTENTS],
]  # fmt: skip


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
@pytest.mark.parametrize("wrong", BAD_RESOLUTIONS, ids=str)
def test_invalid_content_is_refused(room: ReasoningTools, wrong: dict[str, Any]) -> None:
    room.refuses("INVALID_REQUEST", "graph_conflict_resolve", conflict_id=conflict_of(room), **wrong)


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
def test_content_restores_a_node_deleted_on_one_side(room: ReasoningTools) -> None:
    known = {"conflict_id": conflict_of(room, here=None), "resolution": "use_content"}
    room("graph_conflict_resolve", **known, content={"title": "kept"})
    assert (room.nodes()["n"]["title"], room.nodes()["n"]["type"]) == ("kept", "question")


@holds("decisions §10: a conflict is resolved with content: the fields of the node, or the meta of the edge")
def test_a_resolution_without_effect_is_reported_as_resolved(room: ReasoningTools) -> None:
    answer = room("graph_conflict_resolve", conflict_id=conflict_of(room), resolution="use_into")
    assert (answer["status"], answer["applied"], answer["outcome"]) == ("resolved", False, "main has its own state")


@holds("decisions §10: open conflicts are shown in status, packs, radar and hand-over")
def test_open_conflicts_are_reported_by_every_tool_that_resumes_work(room: ReasoningTools) -> None:
    room.door("tasks_create", workspace="Shop", kind="task", title="A", steps=[{"title": "s"}])
    part(room)
    room.apply(node("m", title="b"), branch="b")
    room.apply(node("m", title="main"))
    reads: list[tuple[str, dict[str, Any]]] = [
        ("branchmind_status", {}), ("branchmind_context_pack", {}), ("branchmind_think_pack", {}),
        ("branchmind_context_pack", {"target": "TASK-001"}), ("tasks_radar", {}), ("tasks_handoff", {}),
    ]  # fmt: skip
    for tool, asked in reads:
        assert "conflicts" not in room.door(tool, workspace="Shop", **asked), tool
    found = room("merge_back", from_="b")["conflicts"]
    for tool, asked in reads:
        shown = room.door(tool, workspace="Shop", **asked)["conflicts"]
        assert shown == {"open": 2, "first": {name: found[0][name] for name in ("conflict_id", "key")}}, tool
        small = room.door(tool, workspace="Shop", **asked, max_chars=500)
        assert len(compact(small)) <= 500
        assert "conflicts" not in room.door(tool, workspace="Other", **asked) if tool.endswith("status") else True
    kept = room.door("tasks_handoff", workspace="Shop", as_capsule=True)["capsule"]["id"]
    assert found[0]["conflict_id"] in room.door("capsule_fetch", id=kept)["capsule_text"]
    for one in found:
        room("graph_conflict_resolve", conflict_id=one["conflict_id"], resolution="use_into")
    for tool, asked in reads:
        assert "conflicts" not in room.door(tool, workspace="Shop", **asked), tool


@holds("decisions §10: open conflicts are shown in status, packs, radar and hand-over")
def test_an_open_conflict_with_the_longest_names_fits_the_minimum_budget(room: ReasoningTools) -> None:
    long = ["x" * 255 + end for end in "ab"]
    room.door("tasks_create", workspace="Shop", kind="task", title="A")
    room.apply(node(long[0]), node(long[1]), edge(long[0], "r" * 128, long[1]))
    room.branch("b")
    for branch in ("b", "main"):
        room.apply(edge(long[0], "r" * 128, long[1], meta={"by": branch}), branch=branch)
    room("merge_back", from_="b")
    packs = ("branchmind_status", "branchmind_context_pack", "branchmind_think_pack")
    for tool in (*packs, "tasks_radar", "tasks_handoff"):
        for name, most in (("max_chars", 500), ("max_bytes", 500)):
            assert len(compact(room.door(tool, workspace="Shop", **{name: most}))) <= most, tool
        assert room.door(tool, workspace="Shop")["conflicts"]["first"]["key"]["from"] == long[0]


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_merging_no_new_notes_proposes_to_merge_the_whole_branch(room: ReasoningTools) -> None:
    room.note("before")
    room.branch("b")
    room("think_card", card={"id": "q", "type": "question", "title": "Why?"}, branch="b")
    assert "next" not in room("merge", from_="b", into="main", dry_run=True)
    answer = room("merge", from_="b", into="main")
    assert (answer["merged"], answer["next"]["tool"]) == (0, "branchmind_merge_back")
    assert answer["next"]["arguments"] == {"workspace": "Shop", "from": "b"}
    assert "graph" in answer["next"]["reason"]
    room("merge_back", from_="b")
    assert "q" in room.nodes()
    assert "next" not in room("merge", from_="b", into="main")


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_merging_notes_proposes_merging_back_if_it_would_find_conflicts(room: ReasoningTools) -> None:
    part(room)
    assert "conflicts" in room("merge", from_="b", into="main")["next"]["reason"]
    room("merge_back", from_="b")
    assert "next" not in room("merge", from_="b", into="main")


@holds("decisions §10: merging notes alone, if there are none, leads to the merge of the whole branch")
def test_merging_notes_proposes_nothing_in_other_cases(room: ReasoningTools) -> None:
    room.note("before")
    room.branch("b")
    room.branch("c")
    room("think_card", card="a card", branch="b")
    assert "next" not in room("merge", from_="b", into="c")
    assert "next" not in room("merge", from_="main", into="b")
    room.note("a note", branch="b")
    assert "next" not in room("merge", from_="b", into="main")
