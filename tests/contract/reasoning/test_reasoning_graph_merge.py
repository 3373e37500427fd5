"""`branchmind_graph_merge` and conflicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, edge, every_page, gone, newest_first, node, state
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock


def merge(room: ReasoningTools, from_: str = "b", into: str = "main", **asked: Any) -> tuple[int, int, int]:
    """Merge all pages and return the merged, skipped and newly conflicting keys."""
    pages = every_page(room, "graph_merge", from_=from_, into=into, **asked)
    for page in pages:
        met = len(page.get("conflict_ids") or [])
        assert page["pagination"]["count"] == page["merged"] + page["skipped"] + met
        assert page["conflicts_created"] <= met
    total = [sum(page[name] for page in pages) for name in ("merged", "skipped", "conflicts_created")]
    return total[0], total[1], total[2]


def versions(room: ReasoningTools, branch: str) -> dict[Any, int]:
    """Return the number of the current version of every key of a small graph."""
    found = {key: one["last_seq"] for key, one in room.nodes(branch, include_deleted=True).items()}
    return {**found, **{key: one["last_seq"] for key, one in room.edges(branch, include_deleted=True).items()}}


def title(room: ReasoningTools, branch: str = "main", id: str = "n") -> str | None:
    """Return the title of a node, None if it does not exist."""
    found: str | None = room.nodes(branch).get(id, {}).get("title")
    return found


def apart(
    room: ReasoningTools, base: str | None = "base", theirs: str | None = "theirs", ours: str | None = "ours"
) -> str:
    """Change node n differently on branch b and on main, merge, and return the id of the conflict."""
    room("init")
    if base is not None:
        room.apply(node("n", title=base), branch="main")
    room.branch("b", "main")
    for branch, said in (("b", theirs), ("main", ours)):
        room.apply(gone("n") if said is None else node("n", title=said), branch=branch)
    answer = room("graph_merge", from_="b", into="main")
    assert (answer["merged"], answer["skipped"], answer["conflicts_created"]) == (0, 0, 1)
    [conflict_id] = answer["conflict_ids"]
    assert isinstance(conflict_id, str)
    return conflict_id


@holds("4 graph_merge: keys changed on from come into its base")
def test_a_merge_returns_its_counts_and_the_page(room: ReasoningTools) -> None:
    room.apply(node("n"))
    room.branch("b")
    room.apply(node("n", title="changed"), branch="b")
    answer = room("graph_merge", from_="b", into="main")
    assert not answer.pop("conflict_ids", None)
    assert answer == {
        "workspace": "Shop", "from": "b", "into": "main", "doc": "graph", "merged": 1, "skipped": 0,
        "conflicts_created": 0, "pagination": {"cursor": None, "has_more": False, "limit": 200, "count": 1},
    }  # fmt: skip


@holds("4 graph_merge: keys changed on from come into its base")
def test_changes_on_a_branch_are_merged_into_its_base(room: ReasoningTools) -> None:
    room.apply(*(node(name) for name in ("kept", "changed", "dropped", "end")), edge("kept", "r", "end"))
    room.branch("b")
    room.apply(
        node("changed", "idea", title="T", text="X", status="s", tags=["t"], meta={"m": 1}), gone("dropped"),
        node("new"), edge("new", "r", "kept", meta={"m": 2}), gone("kept", "r", "end"), branch="b",
    )  # fmt: skip
    assert merge(room) == (5, 0, 0)
    for branch in ("main", "b"):
        assert sorted(room.nodes(branch)) == ["changed", "end", "kept", "new"]
    assert {key: state(found) for key, found in room.nodes("main").items()} == {
        key: state(found) for key, found in room.nodes("b").items()
    }
    assert {key: state(found) for key, found in room.edges("main").items()} == {
        key: state(found) for key, found in room.edges("b").items()
    }


@holds("4 graph_merge: keys changed on from come into its base")
def test_only_changes_on_the_branch_are_merged(room: ReasoningTools) -> None:
    room.apply(node("a"), node("n"))
    room.branch("b")
    room.apply(node("a", title="main's own"), node("m"), branch="main")
    room.apply(node("n", title="changed"), branch="b")
    before = versions(room, "main")
    assert merge(room) == (1, 0, 0)
    after = versions(room, "main")
    assert {key for key in after if after[key] != before.get(key)} == {"n"}


@holds("4 graph_merge: only into the base")
def test_a_branch_is_merged_into_its_base_only(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.branch("sibling")
    room.branch("child", "b")
    room.apply(node("n"), branch="child")
    for from_, into in (("child", "main"), ("b", "sibling"), ("main", "b"), ("b", "b"), ("main", "main")):
        room.refuses("INVALID_REQUEST", "graph_merge", from_=from_, into=into)
    room.misses("graph_merge", from_="typo", into="main")
    room.misses("graph_merge", from_="b", into="typo")
    assert merge(room, "child", "b") == (1, 0, 0)
    assert merge(room, "b", "main") == (1, 0, 0)
    assert list(room.nodes("main")) == ["n"]


@holds("decisions §3: merging twice adds nothing and creates no conflict")
def test_merging_a_graph_twice_adds_nothing(room: ReasoningTools) -> None:
    room.apply(node("n"), node("x"), edge("n", "r", "x"))
    room.branch("b")
    room.apply(node("n", title="changed"), gone("x"), node("new"), branch="b")
    assert merge(room) == (4, 0, 0)
    before = versions(room, "main")
    assert merge(room) == (0, 4, 0)
    assert versions(room, "main") == before
    assert room.conflicts() == []


@holds("decisions §3: equality in diff and merge ignores bookkeeping")
def test_merged_states_are_equal_on_both_branches(room: ReasoningTools) -> None:
    room.apply(node("n"))
    room.branch("b")
    room.apply(node("n", title="changed"), node("new", tags=["t"]), edge("n", "r", "new"), branch="b")
    merge(room)
    for from_, to in (("main", "b"), ("b", "main")):
        assert room("graph_diff", from_=from_, to=to)["changes"] == []


@holds("4 graph_merge: a different change on both sides is a conflict and is not applied")
def test_the_same_change_on_both_sides_is_no_conflict(room: ReasoningTools) -> None:
    room.apply(node("n"), node("x"))
    room.branch("b")
    for branch in ("b", "main"):
        room.apply(node("n", title="same", tags=["A", "b"]), gone("x"), node("new"), branch=branch)
    before = versions(room, "main")
    assert merge(room) == (0, 3, 0)
    assert versions(room, "main") == before


@holds("4 graph_merge: a different change on both sides is a conflict and is not applied")
def test_a_change_and_back_is_no_change(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    room.apply(node("n", title="else"), node("n", title="base"), node("new"), gone("new"), branch="b")
    room.apply(node("n", title="ours"), branch="main")
    assert merge(room) == (0, 2, 0)
    assert title(room) == "ours"


@holds("4 graph_merge: a different change on both sides is a conflict and is not applied")
def test_a_key_changed_differently_on_both_sides_is_a_conflict_and_not_applied(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"), node("free"))
    room.branch("b")
    room.apply(node("n", title="theirs"), node("free", title="changed"), branch="b")
    room.apply(node("n", title="ours"), branch="main")
    answer = room("graph_merge", from_="b", into="main")
    assert (answer["merged"], answer["skipped"], answer["conflicts_created"]) == (1, 0, 1)
    assert len(answer["conflict_ids"]) == 1
    assert (title(room), title(room, id="free")) == ("ours", "changed")
    assert title(room, "b") == "theirs"


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
def test_a_conflict_is_listed_and_shown_with_its_three_sides(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    answer = room("graph_conflicts", into="main")
    assert set(answer) == {"into", "doc", "conflicts", "pagination", "truncated"}
    assert (answer["into"], answer["doc"], answer["truncated"]) == ("main", "graph", False)
    [listed] = answer["conflicts"]
    assert listed == {
        "conflict_id": conflict_id, "kind": "node", "key": "n", "status": "open",
        "created_at_ms": listed["created_at_ms"],
    }  # fmt: skip
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 1}
    shown = room.conflict(conflict_id)
    assert {name: shown[name] for name in listed} == listed
    assert (shown["from_branch"], shown["into_branch"], shown["doc"]) == ("b", "main", "graph")
    for side, said in (("base", "base"), ("from", "theirs"), ("into", "ours")):
        assert (shown[side]["id"], shown[side]["title"]) == ("n", said)
    assert "resolved_at_ms" not in shown


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
def test_a_conflict_about_an_edge_has_the_edge_as_its_key(room: ReasoningTools) -> None:
    room.apply(node("x"), node("y"), edge("x", "r", "y"))
    room.branch("b")
    room.apply(edge("x", "r", "y", meta={"m": "theirs"}), branch="b")
    room.apply(gone("x", "r", "y"), branch="main")
    assert merge(room) == (0, 0, 1)
    [listed] = room.conflicts()
    assert (listed["kind"], listed["key"]) == ("edge", {"from": "x", "rel": "r", "to": "y"})
    shown = room.conflict(listed["conflict_id"])
    assert shown["from"]["meta"] == {"m": "theirs"}
    assert shown["into"]["deleted"] is True
    assert "meta" not in shown["base"]


@holds("4 graph_merge: a different change on both sides is a conflict and is not applied")
@pytest.mark.parametrize(
    ("base", "theirs", "ours"),
    [("base", None, "ours"), ("base", "theirs", None), (None, "theirs", "ours"), ("base", "theirs", "ours")],
)
def test_changes_deletions_and_additions_can_conflict(
    room: ReasoningTools, base: str | None, theirs: str | None, ours: str | None
) -> None:
    shown = room.conflict(apart(room, base, theirs, ours))
    assert title(room) == ours
    for side, said in (("from", theirs), ("into", ours)):
        assert shown[side]["deleted"] is (said is None)
        assert said is None or shown[side]["title"] == said
    assert (shown["base"] is None) == (base is None)


@holds("decisions §3: finding a conflict again finds the same one")
def test_a_conflict_found_again_keeps_its_id(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    for _ in range(2):
        answer = room("graph_merge", from_="b", into="main")
        assert (answer["merged"], answer["skipped"], answer["conflicts_created"]) == (0, 0, 0)
        assert answer["conflict_ids"] == [conflict_id]
    assert [row["conflict_id"] for row in room.conflicts()] == [conflict_id]


@holds("4 graph_merge: dry_run discovers without writing")
def test_a_dry_run_predicts_merges_and_conflicts_and_writes_nothing(room: ReasoningTools) -> None:
    room.apply(node("n"))
    room.branch("b")
    room.apply(node("n", title="theirs"), node("new"), node("same"), branch="b")
    room.apply(node("n", title="ours"), node("same"), branch="main")
    before = dump(room.door.home)
    tried = room("graph_merge", from_="b", into="main", dry_run=True)
    assert dump(room.door.home) == before
    assert (tried["merged"], tried["skipped"], len(tried["conflict_ids"])) == (1, 1, 1)
    done = room("graph_merge", from_="b", into="main")
    assert done["conflict_ids"] == tried["conflict_ids"]
    assert {**done, "conflicts_created": 0} == {**tried, "conflicts_created": 0}


@holds("shapes: after a merge the last merged version is the base")
def test_a_key_that_changes_again_after_a_merge_is_merged_again(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    for said in ("one", "two", "three"):
        room.apply(node("n", title=said), branch="b")
        assert merge(room) == (1, 0, 0)
        assert title(room) == said
    room.apply(gone("n"), branch="b")
    assert merge(room) == (1, 0, 0)
    room.apply(node("n", title="back"), branch="b")
    assert merge(room) == (1, 0, 0)
    assert title(room) == "back"
    assert room.conflicts() == []


@holds("shapes: after a merge the last merged version is the base")
def test_changes_of_the_base_after_a_merge_are_not_overwritten(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    room.apply(node("n", title="merged"), branch="b")
    merge(room)
    room.apply(node("n", title="ours"), branch="main")
    assert merge(room) == (0, 1, 0)
    assert title(room) == "ours"
    room.apply(node("n", title="theirs"), branch="b")
    assert merge(room) == (0, 0, 1)
    shown = room.conflict(room.conflicts()[0]["conflict_id"])
    assert [shown[side]["title"] for side in ("base", "from", "into")] == ["merged", "theirs", "ours"]


@holds("shapes: after a merge the last merged version is the base")
def test_the_same_change_on_both_sides_is_the_base_of_later_merges(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    for branch in ("b", "main"):
        room.apply(node("n", title="same"), branch=branch)
    merge(room)
    room.apply(node("n", title="further"), branch="b")
    assert merge(room) == (1, 0, 0)
    assert title(room) == "further"


@holds("decisions §3: merging twice adds nothing and creates no conflict")
def test_an_equal_state_at_a_merge_is_no_conflict_after_a_change_on_one_side(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    for branch in ("b", "main"):
        room.apply(node("n", title="same"), branch=branch)
    assert merge(room) == (0, 1, 0)
    room.apply(node("n", title="ours"), branch="main")
    assert merge(room) == (0, 1, 0)
    assert (title(room), room.conflicts()) == ("ours", [])


@holds("4 graph_conflict_resolve: use_from writes their state, use_into keeps ours")
def test_use_from_writes_their_state_as_a_new_version(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    before = room.nodes()["n"]["last_seq"]
    answer = room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_from")
    outcome = {"outcome": "main has the state of b"}
    assert answer == {"workspace": "Shop", "conflict_id": conflict_id, "status": "resolved", "applied": True, **outcome}
    assert title(room) == "theirs"
    assert room.nodes()["n"]["last_seq"] > before
    shown = room.conflict(conflict_id)
    assert shown["status"] == "resolved"
    assert isinstance(shown["resolved_at_ms"], int)


@holds("4 graph_conflict_resolve: use_from writes their state, use_into keeps ours")
def test_use_into_keeps_our_state(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    before = versions(room, "main")
    answer = room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_into")
    outcome = {"outcome": "main has its own state"}
    assert answer == {
        "workspace": "Shop",
        "conflict_id": conflict_id,
        "status": "resolved",
        "applied": False,
        **outcome,
    }
    assert (title(room), versions(room, "main")) == ("ours", before)
    assert room.conflict(conflict_id)["status"] == "resolved"


@holds("4 graph_conflict_resolve: use_from writes their state, use_into keeps ours")
@pytest.mark.parametrize(("theirs", "ours"), [(None, "ours"), ("theirs", None)])
def test_a_deletion_can_win_or_lose(room: ReasoningTools, theirs: str | None, ours: str | None) -> None:
    room("graph_conflict_resolve", conflict_id=apart(room, "base", theirs, ours), resolution="use_from")
    assert title(room) == theirs


@holds("4 graph_conflict_resolve: use_from writes their state, use_into keeps ours")
@pytest.mark.parametrize("resolution", ["use_from", "use_into"])
def test_a_resolved_conflict_is_not_created_again(room: ReasoningTools, resolution: str) -> None:
    room("graph_conflict_resolve", conflict_id=apart(room), resolution=resolution)
    before = versions(room, "main")
    assert merge(room) == (0, 1, 0)
    assert versions(room, "main") == before
    assert room.conflicts(status="open") == []


@holds("shapes: after a merge the last merged version is the base")
def test_an_accepted_state_is_the_base_of_later_merges(room: ReasoningTools) -> None:
    room("graph_conflict_resolve", conflict_id=apart(room), resolution="use_from")
    room.apply(node("n", title="further"), branch="b")
    assert merge(room) == (1, 0, 0)
    assert title(room) == "further"


@holds("shapes: after a merge the last merged version is the base")
def test_a_rejected_state_conflicts_again_when_it_changes(room: ReasoningTools) -> None:
    first = apart(room)
    room("graph_conflict_resolve", conflict_id=first, resolution="use_into")
    room.apply(node("n", title="further"), branch="b")
    answer = room("graph_merge", from_="b", into="main")
    assert answer["conflicts_created"] == 1
    assert answer["conflict_ids"] != [first]
    assert title(room) == "ours"


@holds("decisions §3: resolving again the same way is a no-op, differently a conflict")
def test_repeating_a_resolution_changes_nothing(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_from")
    shown, before = room.conflict(conflict_id), versions(room, "main")
    answer = room("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_from")
    assert (answer["conflict_id"], answer["status"]) == (conflict_id, "resolved")
    assert (room.conflict(conflict_id), versions(room, "main")) == (shown, before)


@holds("decisions §3: resolving again the same way is a no-op, differently a conflict")
@pytest.mark.parametrize(("first", "second"), [("use_from", "use_into"), ("use_into", "use_from")])
def test_a_conflict_resolved_another_way_is_a_conflict(room: ReasoningTools, first: str, second: str) -> None:
    conflict_id = apart(room)
    room("graph_conflict_resolve", conflict_id=conflict_id, resolution=first)
    room.refuses("CONFLICT", "graph_conflict_resolve", conflict_id=conflict_id, resolution=second)


@holds("decisions §3: resolving again the same way is a no-op, differently a conflict")
def test_an_unknown_conflict_is_not_found_and_an_unknown_resolution_refused(room: ReasoningTools) -> None:
    conflict_id = apart(room)
    room.another("Other")("init")
    for where, unknown in ((room, "CONFLICT-0123456789abcdef"), (room, "typo"), (room.another("Other"), conflict_id)):
        where.misses("graph_conflict_show", conflict_id=unknown)
        where.misses("graph_conflict_resolve", conflict_id=unknown, resolution="use_from")
    room.refuses("INVALID_REQUEST", "graph_conflict_resolve", conflict_id=conflict_id, resolution="use_both")
    room.refuses("INVALID_REQUEST", "graph_conflict_resolve", conflict_id=conflict_id)


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
def test_conflicts_are_listed_by_status_or_all(room: ReasoningTools) -> None:
    room.apply(node("n"), node("o"))
    room.branch("b")
    for branch in ("b", "main"):
        room.apply(node("n", title=branch), node("o", title=branch), branch=branch)
    first, second = room("graph_merge", from_="b", into="main")["conflict_ids"]
    room("graph_conflict_resolve", conflict_id=first, resolution="use_into")
    assert [row["conflict_id"] for row in room.conflicts(status="open")] == [second]
    assert [row["conflict_id"] for row in room.conflicts(status="resolved")] == [first]
    assert {row["conflict_id"]: row["status"] for row in room.conflicts()} == {first: "resolved", second: "open"}
    room.refuses("INVALID_REQUEST", "graph_conflicts", into="main", status="closed")


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
def test_conflicts_are_listed_by_destination_and_document(room: ReasoningTools) -> None:
    apart(room)
    room.branch("other", "main")
    assert room.conflicts("other") == []
    room.apply(node("n"), doc="ideas", branch="main")
    assert room.conflicts(doc="ideas") == []
    room.misses("graph_conflicts", into="typo")
    room.misses("graph_conflicts", into="main", doc="typo")


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_pages_of_conflicts_show_each_once_newest_first(room: ReasoningTools, limit: int) -> None:
    room("init")
    room.branch("b")
    for number in range(5):
        for branch in ("b", "main"):
            room.apply(node(f"n{number}", title=branch), branch=branch)
        merge(room)
    rows = newest_first(room, "graph_conflicts", "conflicts", into="main", limit=limit)
    assert [row["key"] for row in rows] == ["n4", "n3", "n2", "n1", "n0"]
    assert room("graph_conflicts", into="main", limit=5000)["pagination"]["limit"] == 200


@holds("4 graph_merge: large merges go on with the next cursor")
@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_a_large_graph_merge_is_paged(room: ReasoningTools, limit: int) -> None:
    room.apply(node("n"))
    room.branch("b")
    room.apply(*(node(str(number)) for number in range(5)), node("n", title="theirs"), node("same"), branch="b")
    room.apply(node("n", title="ours"), node("same"), branch="main")
    assert merge(room, limit=limit) == (5, 1, 1)
    assert sorted(room.nodes("main")) == ["0", "1", "2", "3", "4", "n", "same"]
    assert merge(room, limit=limit) == (0, 6, 0)
    assert len(room.conflicts()) == 1


@holds("4 graph_merge: large merges go on with the next cursor")
def test_a_merge_page_has_200_keys_by_default_and_at_most_1000(room: ReasoningTools) -> None:
    room.branch("b")
    assert room("graph_merge", from_="b", into="main")["pagination"]["limit"] == 200
    assert room("graph_merge", from_="b", into="main", limit=99_999)["pagination"]["limit"] == 1000
    room.refuses("INVALID_REQUEST", "graph_merge", from_="b", into="main", limit=0)
    room.refuses("INVALID_REQUEST", "graph_merge", from_="b", into="main", cursor=-1)


@holds("4 graph_merge: keys changed on from come into its base")
def test_a_graph_merge_covers_one_document_graph_by_default(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.apply(node("n"), branch="b")
    room.apply(node("idea"), branch="b", doc="ideas")
    assert merge(room) == (1, 0, 0)
    room.misses("graph_query", doc="ideas")
    assert merge(room, doc="ideas") == (1, 0, 0)
    assert list(room.nodes(doc="ideas")) == ["idea"]
    room.misses("graph_merge", from_="b", into="main", doc="typo")


@holds("decisions §3: finding a conflict again finds the same one")
def test_a_newer_conflict_replaces_the_older_one(room: ReasoningTools) -> None:
    older = apart(room)
    room.apply(node("n", title="theirs again"), branch="b")
    answer = room("graph_merge", from_="b", into="main")
    assert answer["conflicts_created"] == 1
    [newer] = answer["conflict_ids"]
    assert newer != older
    assert [row["conflict_id"] for row in room.conflicts(status="open")] == [newer]
    assert room.conflict(older)["status"] == "resolved"
    room.refuses("CONFLICT", "graph_conflict_resolve", conflict_id=older, resolution="use_from")
    room("graph_conflict_resolve", conflict_id=newer, resolution="use_from")
    assert title(room) == "theirs again"


@holds("decisions §3: finding a conflict again finds the same one")
def test_a_recurring_conflict_is_open_again(room: ReasoningTools) -> None:
    apart(room)
    room.apply(node("n", title="theirs again"), branch="b")
    room("graph_merge", from_="b", into="main")
    room.apply(node("n", title="theirs"), branch="b")
    answer = room("graph_merge", from_="b", into="main")
    assert len(answer["conflict_ids"]) == 1
    [listed] = room.conflicts(status="open")
    assert [listed["conflict_id"]] == answer["conflict_ids"]
    assert room.conflict(listed["conflict_id"])["from"]["title"] == "theirs"
    room("graph_conflict_resolve", conflict_id=listed["conflict_id"], resolution="use_from")
    assert title(room) == "theirs"


@holds("decisions §3: finding a conflict again finds the same one")
def test_a_conflict_after_equal_states_is_reported_even_if_it_was_resolved_before(room: ReasoningTools) -> None:
    room("graph_conflict_resolve", conflict_id=apart(room), resolution="use_into")
    room.apply(node("n", title="base"), branch="b")
    [second] = room("graph_merge", from_="b", into="main")["conflict_ids"]
    room("graph_conflict_resolve", conflict_id=second, resolution="use_from")
    assert title(room) == title(room, "b") == "base"
    room.apply(node("n", title="theirs"), branch="b")
    room.apply(node("n", title="ours"), branch="main")
    assert len(room("graph_merge", from_="b", into="main")["conflict_ids"]) == 1
    assert len(room.conflicts(status="open")) == 1


@holds("4 graph_merge: keys changed on from come into its base")
def test_a_deleted_node_is_merged_with_its_edges(room: ReasoningTools) -> None:
    room.apply(node("a"), node("n"), edge("a", "r", "n"))
    room.branch("b")
    room.apply(gone("n"), branch="b")
    merge(room)
    assert room.edges("main") == {}
    assert room("graph_validate", branch="main")["ok"] is True


@holds("4 graph_merge: keys changed on from come into its base")
def test_a_branch_taken_before_a_graph_merge_does_not_see_it(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    room.branch("before", "main")
    room.apply(node("n", title="changed"), branch="b")
    merge(room)
    assert title(room, "before") == "base"
    assert title(room) == "changed"


@holds("4 graph_merge: a different change on both sides is a conflict and is not applied")
def test_two_conflicting_branches_give_two_conflicts_with_the_base(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    for name in ("b", "c"):
        room.branch(name, "main")
        room.apply(node("n", title=name), branch=name)
    assert merge(room, "b") == (1, 0, 0)
    assert merge(room, "c") == (0, 0, 1)
    shown = room.conflict(room.conflicts()[0]["conflict_id"])
    assert [shown[side]["title"] for side in ("base", "from", "into")] == ["base", "c", "b"]


@holds("4 graph_conflicts: lists conflicts of a destination, by status or all")
def test_a_conflict_has_the_times_of_its_detection_and_resolution(timed: ReasoningTools, clock: Clock) -> None:
    conflict_id = apart(timed)
    found_at = clock.ms
    clock.advance(60)
    merge(timed)
    timed("graph_conflict_resolve", conflict_id=conflict_id, resolution="use_into")
    shown = timed.conflict(conflict_id)
    assert (shown["created_at_ms"], shown["resolved_at_ms"]) == (found_at, clock.ms)
