"""`branchmind_notes_commit` and `branchmind_show`."""

from __future__ import annotations

from typing import Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, every_page, node
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

THINKING = ("branchmind_think_", "branchmind_trace_", "branchmind_context_")
"""Prefixes of tools that are tested in other files."""
TOOLS = [
    tool for tool in catalog.operations() if tool.name.startswith("branchmind_") and not tool.name.startswith(THINKING)
]
REFERRING = [tool for tool in TOOLS if {"branch", "ref"} & set(tool.parameters)]
TARGETED = [tool for tool in TOOLS if "target" in tool.parameters]
NEEDED: dict[str, Any] = {
    "workspace": "Shop", "content": "x", "ops": [node("a")], "to": 1, "id": "a",
}  # fmt: skip
ODD_TEXTS = ["\r\n a \n", "é e\u0301 \U0001f331", "<b>&amp;</b>", "\u2028\x1b[2J", '"\\', "\ufeff"]


def needed(tool: Any) -> dict[str, Any]:
    """Return the required arguments of a tool, without its branch."""
    return {name: NEEDED[name] for name in tool.required if name not in ("branch", "ref", "target")}


@holds("4 notes_commit: answers the entry, without absent fields")
def test_a_note_returns_its_entry(room: ReasoningTools) -> None:
    answer = room("notes_commit", content="why", title="Choice", format="md", meta={"links": ["a", {"b": None}]})
    assert set(answer) == {"workspace", "created_workspace", "entry"}
    entry = answer["entry"]
    assert isinstance(entry.pop("seq"), int)
    assert isinstance(entry.pop("ts"), str)
    assert isinstance(entry.pop("ts_ms"), int)
    assert entry == {
        "branch": "main", "doc": "notes", "kind": "note", "title": "Choice", "format": "md",
        "meta": {"links": ["a", {"b": None}]}, "content": "why",
    }  # fmt: skip


@holds("4 notes_commit: answers the entry, without absent fields")
def test_what_a_note_does_not_have_is_left_out(room: ReasoningTools) -> None:
    entry = room("notes_commit", content="why")["entry"]
    assert set(entry) == {"seq", "ts", "ts_ms", "branch", "doc", "kind", "content"}
    assert room.entries() == [entry]


@holds("4 notes_commit: answers the entry, without absent fields")
def test_show_returns_each_entry_as_its_write_did(room: ReasoningTools) -> None:
    written = [room("notes_commit", content=text, title=text, meta={text: text})["entry"] for text in ODD_TEXTS]
    assert room.entries() == written
    assert [entry["content"] for entry in written] == ODD_TEXTS


@holds("decisions §3: one series of numbers for documents and graphs of the whole store")
def test_numbers_start_at_1_and_increase_across_workspaces_documents_and_graphs(room: ReasoningTools) -> None:
    first = room.note()
    other = room.another("Other").note()
    applied = room.apply(node("a"), node("b"))["last_seq"]
    plans = room.note(doc="plans")
    assert first == 1
    assert first < other < applied < plans
    assert applied >= other + 2


@holds("4 notes_commit: the checkout and notes by default, or an explicit branch and document")
def test_a_note_is_written_to_notes_on_the_checkout_by_default(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room("checkout", ref="b")
    entry = room("notes_commit", content="x")["entry"]
    assert (entry["branch"], entry["doc"]) == ("b", "notes")
    entry = room("notes_commit", content="x", branch="main")["entry"]
    assert (entry["branch"], entry["doc"]) == ("main", "notes")
    entry = room("notes_commit", content="x", doc="plans")["entry"]
    assert (entry["branch"], entry["doc"]) == ("b", "plans")
    entry = room("notes_commit", content="x", branch="main", doc="plans")["entry"]
    assert (entry["branch"], entry["doc"]) == ("main", "plans")


@holds("shapes: branch and ref are accepted for each other, not together")
@pytest.mark.parametrize("tool", REFERRING, ids=lambda tool: tool.name)
def test_branch_and_ref_are_aliases_and_exclude_each_other(room: ReasoningTools, tool: Any) -> None:
    room.note()
    room.apply(node("a"))
    door = room.door
    for spelling in ("branch", "ref"):
        door(tool.name, **{**needed(tool), spelling: "main"})
        door.refuses("NOT_FOUND", tool.name, **{**needed(tool), spelling: "typo"})
    for other in ("main", "typo"):
        door.refuses("INVALID_REQUEST", tool.name, **{**needed(tool), "branch": "main", "ref": other})


@holds("decisions §3: unknown branch, document or target is not found with a recovery")
def test_an_unknown_branch_is_not_found_and_the_proposed_call_lists_branches(room: ReasoningTools) -> None:
    room.note()
    for tool, arguments in (
        ("notes_commit", {"content": "x"}), ("show", {}), ("log", {}), ("docs_list", {}), ("reflog", {}),
        ("reset", {"to": 1}), ("graph_apply", {"ops": [node("a")]}), ("graph_query", {}), ("graph_validate", {}),
    ):  # fmt: skip
        error = room.misses(tool, branch="Main", **arguments)
        assert "Main" in error.message
    assert list(room.branches()) == ["main"]


@holds("decisions §3: branch, document and tag names are compared exactly")
@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\x00b", "a\x7fb", "x" * 257])
def test_a_bad_branch_or_document_name_is_refused(room: ReasoningTools, name: str) -> None:
    room("init")
    for tool, arguments in (("notes_commit", {"content": "x"}), ("graph_apply", {"ops": [node("a")]})):
        room.refuses("INVALID_REQUEST", tool, branch=name, **arguments)
        room.refuses("INVALID_REQUEST", tool, doc=name, **arguments)


@holds("decisions §3: branch, document and tag names are compared exactly")
def test_names_of_documents_are_compared_exactly_and_may_have_256_characters(room: ReasoningTools) -> None:
    names = ["Plans", "plans", " plans", "pl ans", "caf\u00e9", "cafe\u0301", "x" * 256, "a|b/c:d"]
    for number, name in enumerate(names):
        room.note(str(number), doc=name)
    for number, name in enumerate(names):
        assert room.texts(doc=name) == [str(number)]


@holds("decisions §3: notes, trace and graph always exist, other documents from their first write")
def test_notes_trace_and_graph_always_exist_and_read_as_empty(room: ReasoningTools) -> None:
    room("init")
    for doc in ("notes", "trace", "graph"):
        assert room("show", doc=doc)["entries"] == []
    for doc in ("notes", "trace"):
        assert room("log", doc=doc)["commits"] == []
    assert room("graph_query", doc="graph")["nodes"] == []


@holds("decisions §3: notes, trace and graph always exist, other documents from their first write")
def test_another_document_appears_at_its_first_write(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    for doc in ("plans", "Notes"):
        for tool in ("show", "log", "graph_query", "graph_validate"):
            room.misses(tool, doc=doc)
    room.note("x", doc="plans")
    assert room.texts(doc="plans") == ["x"]
    room.misses("show", branch="b", doc="plans")
    room.branch("c")
    assert room.texts("c", doc="plans") == ["x"]
    room.apply(node("a"), doc="ideas")
    assert list(room.nodes(doc="ideas")) == ["a"]


@holds("4 show: a bounded slice with its page")
def test_show_reads_the_trace_by_default(room: ReasoningTools) -> None:
    room.note("a note")
    room.note("a step", doc="trace")
    for arguments, doc, content in (
        ({}, "trace", "a step"), ({"doc_kind": "trace"}, "trace", "a step"), ({"doc_kind": "notes"}, "notes", "a note"),
        ({"doc": "notes"}, "notes", "a note"), ({"branch": "main"}, "trace", "a step"),
    ):  # fmt: skip
        answer = room("show", **arguments)
        assert (answer["branch"], answer["doc"]) == ("main", doc)
        assert [entry["content"] for entry in answer["entries"]] == [content]
    room.refuses("INVALID_REQUEST", "show", doc_kind="graph")


@holds("4 show: a bounded slice with its page")
def test_show_returns_the_document_its_entries_and_the_page(room: ReasoningTools) -> None:
    seq = room.note()
    answer = room("show", doc="notes")
    assert set(answer) == {"branch", "doc", "entries", "pagination", "truncated"}
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 1}
    assert answer["truncated"] is False
    assert [entry["seq"] for entry in answer["entries"]] == [seq]


@holds("4 show: tail pagination by seq")
def test_show_returns_the_newest_page_oldest_first_and_the_cursor_goes_back(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(7)]
    first = room("show", doc="notes", limit=3)
    assert [entry["seq"] for entry in first["entries"]] == seqs[4:]
    assert first["pagination"] == {"cursor": None, "next_cursor": seqs[4], "has_more": True, "limit": 3, "count": 3}
    second = room("show", doc="notes", limit=3, cursor=seqs[4])
    assert [entry["seq"] for entry in second["entries"]] == seqs[1:4]
    assert second["pagination"]["next_cursor"] == seqs[1]
    third = room("show", doc="notes", limit=3, cursor=seqs[1])
    assert [entry["seq"] for entry in third["entries"]] == seqs[:1]
    assert third["pagination"] == {"cursor": seqs[1], "has_more": False, "limit": 3, "count": 1}


@holds("4 show: tail pagination by seq")
def test_a_cursor_before_the_first_entry_shows_nothing(room: ReasoningTools) -> None:
    seq = room.note()
    for cursor in (0, seq):
        answer = room("show", doc="notes", cursor=cursor)
        assert answer["entries"] == []
        assert answer["pagination"] == {"cursor": cursor, "has_more": False, "limit": 50, "count": 0}
    assert room("show", doc="notes", cursor=2**62)["pagination"]["count"] == 1


@holds("4 show: tail pagination by seq")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
def test_pages_of_a_document_show_every_entry_exactly_once(room: ReasoningTools, limit: int) -> None:
    seqs = []
    for number in range(8):
        seqs.append(room.note(str(number)))
        room.note("between", doc="plans")
    room.branch("b")
    seqs += [room.note("own", branch="b") for _ in range(3)]
    pages = every_page(room, "show", branch="b", doc="notes", limit=limit)
    found = [[entry["seq"] for entry in page["entries"]] for page in pages]
    assert [seq for page in reversed(found) for seq in page] == seqs
    assert all(page["pagination"]["count"] == len(page["entries"]) for page in pages)


@holds("decisions §3: a cut or a cursor never gains rows later")
def test_new_entries_do_not_change_an_older_page(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(4)]
    cursor = room("show", doc="notes", limit=2)["pagination"]["next_cursor"]
    before = room("show", doc="notes", limit=2, cursor=cursor)
    room.note("late")
    room.note("late", doc="trace")
    assert room("show", doc="notes", limit=2, cursor=cursor) == before
    assert [entry["seq"] for entry in before["entries"]] == seqs[:2]


@holds("decisions §0: limits are clamped above and refused below, in lists with a cursor too")
def test_show_returns_50_entries_by_default_and_at_most_200(room: ReasoningTools) -> None:
    seqs = [room.note(str(number)) for number in range(201)]
    assert [entry["seq"] for entry in room("show", doc="notes")["entries"]] == seqs[-50:]
    answer = room("show", doc="notes", limit=100_000)
    assert [entry["seq"] for entry in answer["entries"]] == seqs[1:]
    assert answer["pagination"] == {
        "cursor": None, "next_cursor": seqs[1], "has_more": True, "limit": 200, "count": 200,
    }  # fmt: skip


@holds("decisions §0: limits are clamped above and refused below, in lists with a cursor too")
def test_a_limit_below_one_and_a_negative_cursor_are_refused(room: ReasoningTools) -> None:
    room.note()
    lists: dict[str, dict[str, Any]] = {
        "show": {}, "log": {}, "reflog": {}, "graph_query": {}, "graph_conflicts": {"into": "main"},
        "diff": {"from_": "main", "to": "main"}, "graph_diff": {"from_": "main", "to": "main"},
        "merge": {"from_": "main", "into": "main"},
    }  # fmt: skip
    for tool, arguments in lists.items():
        for limit in (0, -1):
            room.refuses("INVALID_REQUEST", tool, **arguments, limit=limit)
        room.refuses("INVALID_REQUEST", tool, **arguments, cursor=-1)
    room.refuses("INVALID_REQUEST", "branch_list", limit=0)


@holds("4 notes_commit: answers the entry, without absent fields")
def test_the_size_of_a_note_is_limited(room: ReasoningTools) -> None:
    room.refuses("INVALID_REQUEST", "notes_commit", content="")
    room.refuses("TEXT_TOO_LARGE", "notes_commit", content="x" * 200_001)
    room.refuses("INVALID_REQUEST", "notes_commit", content="x", title="x" * 10_001)
    room.refuses("TEXT_TOO_LARGE", "notes_commit", content="x", meta={"m": "x" * 199_993})
    room.refuses("INVALID_REQUEST", "notes_commit", content="x", meta=["no object"])
    entry = room("notes_commit", content="é" * 200_000, title="é" * 10_000, meta={"m": "x" * 199_992})["entry"]
    assert len(entry["content"]) == 200_000
    assert len(entry["title"]) == 10_000
    assert len(entry["meta"]["m"]) == 199_992


@holds("decisions §3: unknown branch, document or target is not found with a recovery")
@pytest.mark.parametrize("tool", TARGETED, ids=lambda tool: tool.name)
def test_an_unknown_target_is_not_found_with_a_proposed_call(room: ReasoningTools, tool: Any) -> None:
    room("init")
    for target in ("TASK-001", "PLAN-999", "TASK-1000"):
        room.misses(tool.name.removeprefix("branchmind_"), **{**needed(tool), "target": target})


@holds("decisions §3: a target beside a branch, a ref or a document is invalid")
@pytest.mark.parametrize("tool", TARGETED, ids=lambda tool: tool.name)
def test_a_target_beside_a_branch_a_ref_or_a_document_is_refused(room: ReasoningTools, tool: Any) -> None:
    room("init")
    overrides = {"branch", "ref", "doc", "graph_doc", "trace_doc", "notes_doc"} & set(tool.parameters)
    assert overrides or tool.name == "branchmind_export"
    for name in overrides:
        value = "main" if name in ("branch", "ref") else "notes"
        room.door.refuses("INVALID_REQUEST", tool.name, **{**needed(tool), "target": "TASK-001", name: value})


@holds("4 notes_commit: answers the entry, without absent fields")
def test_a_refused_note_writes_nothing(room: ReasoningTools) -> None:
    room("init")
    before = dump(room.door.home)
    for arguments in ({"content": 5}, {"content": "x", "meta": {"a": 2**63}}, {"content": "x", "tilte": "y"}):
        room.refuses("INVALID_REQUEST", "notes_commit", **arguments)
    assert dump(room.door.home) == before
