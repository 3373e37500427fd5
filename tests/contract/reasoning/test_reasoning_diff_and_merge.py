"""`branchmind_diff` and `branchmind_merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, every_page, node, oldest_first
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock


def two_branches(room: ReasoningTools) -> None:
    """Create main and a derived branch, with entries of their own on both."""
    room.note("shared")
    room.branch("b")
    for number in range(3):
        room.note(f"b{number}", branch="b")
        room.note(f"main{number}", branch="main")


def diff(room: ReasoningTools, from_: str, to: str, **asked: Any) -> list[str]:
    return [entry["content"] for entry in oldest_first(room, "diff", "entries", from_=from_, to=to, **asked)]


def merge(room: ReasoningTools, from_: str, into: str, **asked: Any) -> tuple[int, int]:
    """Merge all pages and return the numbers of merged and skipped entries."""
    pages = every_page(room, "merge", from_=from_, into=into, **asked)
    for page in pages:
        assert page["pagination"]["count"] == page["merged"] + page["skipped"]
    return sum(page["merged"] for page in pages), sum(page["skipped"] for page in pages)


@holds("4 diff: entries of one view that are not in the other")
def test_a_diff_lists_entries_visible_on_one_branch_only(room: ReasoningTools) -> None:
    two_branches(room)
    assert diff(room, "main", "b") == ["b0", "b1", "b2"]
    assert diff(room, "b", "main") == ["main0", "main1", "main2"]
    assert diff(room, "b", "b") == []


@holds("4 diff: entries of one view that are not in the other")
def test_a_diff_returns_both_branches_the_document_the_entries_and_the_page(room: ReasoningTools) -> None:
    two_branches(room)
    answer = room("diff", from_="main", to="b")
    assert set(answer) == {"from", "to", "doc", "entries", "pagination", "truncated"}
    assert (answer["from"], answer["to"], answer["doc"], answer["truncated"]) == ("main", "b", "notes", False)
    assert answer["entries"] == room.entries("b")[1:]
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 3}


@holds("4 diff: cursor and limit as in show")
def test_a_diff_pages_like_show(room: ReasoningTools) -> None:
    two_branches(room)
    seqs = room.seqs("b")[1:]
    answer = room("diff", from_="main", to="b", limit=2)
    assert [entry["seq"] for entry in answer["entries"]] == seqs[1:]
    assert answer["pagination"] == {"cursor": None, "next_cursor": seqs[1], "has_more": True, "limit": 2, "count": 2}
    answer = room("diff", from_="main", to="b", limit=2, cursor=seqs[1])
    assert [entry["seq"] for entry in answer["entries"]] == seqs[:1]
    assert answer["pagination"] == {"cursor": seqs[1], "has_more": False, "limit": 2, "count": 1}
    assert room("diff", from_="main", to="b", limit=9999)["pagination"]["limit"] == 200
    for limit in (1, 2, 3, 4):
        assert diff(room, "main", "b", limit=limit) == ["b0", "b1", "b2"]


@holds("4 diff: entries of one view that are not in the other")
def test_a_diff_compares_visible_entries_of_siblings_and_grandchildren(room: ReasoningTools) -> None:
    two_branches(room)
    room.branch("sibling", "main")
    room.branch("child", "b")
    room.note("own", branch="child")
    assert diff(room, "b", "sibling") == ["main0", "main1", "main2"]
    assert diff(room, "sibling", "b") == ["b0", "b1", "b2"]
    assert diff(room, "main", "child") == ["b0", "b1", "b2", "own"]
    assert diff(room, "child", "b") == []


@holds("4 diff: entries of one view that are not in the other")
def test_a_diff_covers_one_document_notes_by_default(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.note("note", branch="b")
    room.note("plan", branch="b", doc="plans")
    assert diff(room, "main", "b") == ["note"]
    assert diff(room, "main", "b", doc="plans") == ["plan"]
    assert diff(room, "b", "main", doc="plans") == []
    assert diff(room, "main", "b", doc="trace") == []
    room.misses("diff", from_="main", to="b", doc="typo")


@holds("4 diff: entries of one view that are not in the other")
def test_a_diff_or_merge_with_an_unknown_branch_is_not_found(room: ReasoningTools) -> None:
    room("init")
    for pair in (("main", "typo"), ("typo", "main"), ("typo", "typo")):
        assert "typo" in room.misses("diff", from_=pair[0], to=pair[1]).message
        assert "typo" in room.misses("merge", from_=pair[0], into=pair[1]).message


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_a_merge_copies_notes_missing_on_the_other_branch(room: ReasoningTools) -> None:
    two_branches(room)
    before = room.entries("b")
    answer = room("merge", from_="b", into="main")
    assert answer == {
        "workspace": "Shop", "from": "b", "into": "main", "doc": "notes", "merged": 3, "skipped": 0,
        "pagination": {"cursor": None, "has_more": False, "limit": 200, "count": 3},
    }  # fmt: skip
    assert room.texts("main") == ["shared", "main0", "main1", "main2", "b0", "b1", "b2"]
    assert room.entries("b") == before


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_a_copy_has_the_content_and_the_source_of_its_original(room: ReasoningTools) -> None:
    room.branch("b")
    original = room("notes_commit", branch="b", content="c", title="t", format="f", meta={"m": [1, None]})["entry"]
    room("merge", from_="b", into="main")
    [copy] = room.entries("main")
    for name in ("content", "title", "format", "meta", "kind", "doc"):
        assert copy[name] == original[name]
    assert copy["branch"] == "main"
    assert copy["seq"] > original["seq"]
    kind, branch, seq = copy["source_event_id"].split(":")
    assert (kind, int(seq)) == ("merge", original["seq"])
    assert branch


@holds("4 merge: idempotent")
def test_merging_twice_adds_nothing(room: ReasoningTools) -> None:
    two_branches(room)
    assert merge(room, "b", "main") == (3, 0)
    before = room.entries("main")
    assert merge(room, "b", "main") == (0, 3)
    room.note("new", branch="b")
    assert merge(room, "b", "main") == (1, 3)
    assert room.entries("main")[:-1] == before
    assert room.texts("main")[-1] == "new"


@holds("decisions §3: merge keys use the branch's immutable id")
def test_renaming_both_branches_and_merging_again_adds_nothing(room: ReasoningTools) -> None:
    two_branches(room)
    merge(room, "b", "main")
    before = room.texts("main")
    room("branch_rename", old="b", new="c")
    room("branch_rename", old="main", new="trunk")
    assert merge(room, "c", "trunk") == (0, 3)
    assert room.texts("trunk") == before
    room.branch("b", "trunk")
    room.note("another b", branch="b")
    assert merge(room, "b", "trunk") == (1, 0)


@holds("4 merge: dry_run writes nothing")
def test_a_dry_run_predicts_a_merge_and_writes_nothing(room: ReasoningTools) -> None:
    two_branches(room)
    room("merge", from_="b", into="main", limit=1)
    before = dump(room.door.home)
    tried = room("merge", from_="b", into="main", dry_run=True)
    assert dump(room.door.home) == before
    assert (tried["merged"], tried["skipped"]) == (2, 1)
    assert room("merge", from_="b", into="main", dry_run=False) == tried


@holds("4 merge: large merges go on with the next cursor")
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 1000])
def test_a_large_merge_is_paged_and_keeps_the_order(room: ReasoningTools, limit: int) -> None:
    two_branches(room)
    for number in range(3, 8):
        room.note(f"b{number}", branch="b")
    assert merge(room, "b", "main", limit=limit) == (8, 0)
    assert room.texts("main")[4:] == [f"b{number}" for number in range(8)]
    assert merge(room, "b", "main", limit=limit) == (0, 8)


@holds("4 merge: idempotent")
def test_a_repeated_page_of_a_merge_adds_nothing(room: ReasoningTools) -> None:
    two_branches(room)
    first = room("merge", from_="b", into="main", limit=2)
    assert (first["merged"], first["pagination"]["has_more"]) == (2, True)
    again = room("merge", from_="b", into="main", limit=2)
    assert (again["merged"], again["skipped"]) == (0, 2)
    assert again["pagination"]["next_cursor"] == first["pagination"]["next_cursor"]
    last = room("merge", from_="b", into="main", limit=2, cursor=first["pagination"]["next_cursor"])
    assert (last["merged"], last["pagination"]["has_more"]) == (1, False)


@holds("4 merge: large merges go on with the next cursor")
def test_a_merge_page_has_200_entries_by_default_and_at_most_1000(room: ReasoningTools) -> None:
    room("init")
    assert room("merge", from_="main", into="main")["pagination"]["limit"] == 200
    assert room("merge", from_="main", into="main", limit=99_999)["pagination"]["limit"] == 1000


@holds("4 merge: idempotent")
def test_a_branch_merged_into_itself_has_nothing_to_merge(room: ReasoningTools) -> None:
    room.note()
    assert merge(room, "main", "main") == (0, 0)
    assert len(room.seqs("main")) == 1


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_notes_are_merged_in_any_direction(room: ReasoningTools) -> None:
    two_branches(room)
    room.branch("sibling", "main")
    assert merge(room, "main", "b") == (3, 0)
    assert room.texts("b") == ["shared", "b0", "b1", "b2", "main0", "main1", "main2"]
    room.note("s", branch="sibling")
    assert merge(room, "sibling", "b") == (1, 3)
    assert room.texts("b")[-1] == "s"


@holds("4 merge: idempotent")
def test_a_copy_is_not_merged_into_a_branch_that_shows_its_original(room: ReasoningTools) -> None:
    two_branches(room)
    room.branch("child", "b")
    merge(room, "b", "main")
    assert merge(room, "main", "b") == (3, 3)
    assert merge(room, "main", "child") == (3, 3)
    assert room.texts("b").count("b0") == room.texts("child").count("b0") == 1


@holds("4 merge: idempotent")
def test_a_note_merged_over_two_paths_is_copied_once(room: ReasoningTools) -> None:
    room("init")
    for name in ("a", "b"):
        room.branch(name, "main")
    room.note("travels", branch="a")
    assert merge(room, "a", "b") == (1, 0)
    assert merge(room, "b", "main") == (1, 0)
    assert merge(room, "a", "main") == (0, 1)
    assert room.texts("main") == ["travels"]
    room.branch("late", "main")
    assert merge(room, "b", "late") == (0, 1)


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_a_merge_covers_one_document_notes_by_default(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.note("note", branch="b")
    room.note("plan", branch="b", doc="plans")
    assert merge(room, "b", "main") == (1, 0)
    room.misses("show", doc="plans")
    assert merge(room, "b", "main", doc="plans") == (1, 0)
    assert room.texts("main", "plans") == ["plan"]
    assert merge(room, "main", "b", doc="plans") == (0, 1)
    room.misses("merge", from_="b", into="main", doc="typo")


@holds("4 merge: only notes are merged")
def test_a_merge_of_notes_does_not_change_the_graph(room: ReasoningTools) -> None:
    room.branch("b")
    room.apply(node("a"), branch="b")
    assert merge(room, "b", "main") == (0, 0)
    assert room.nodes("main") == {}


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_a_branch_taken_before_a_merge_does_not_see_it(room: ReasoningTools) -> None:
    two_branches(room)
    room.branch("before", "main")
    merge(room, "b", "main")
    room.branch("after", "main")
    assert room.texts("before") == ["shared", "main0", "main1", "main2"]
    assert room.texts("after") == room.texts("main")


@holds("4 merge: copies notes into the other branch and leaves from alone")
def test_copies_have_the_time_of_their_merge(timed: ReasoningTools, clock: Clock) -> None:
    timed.branch("b")
    timed.note("x", branch="b")
    clock.advance(60)
    timed("merge", from_="b", into="main")
    assert timed.entries("main")[0]["ts_ms"] == clock.ms
