"""`branchmind_graph_apply`, `_query`, `_validate` and `_diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import ReasoningTools, edge, every_page, gone, newest_first, node, state
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

FULL_NODE = node("h", "hypothesis", title="T", text="X", status="open", tags=["a"], meta={"m": [1, None, {"n": 2}]})


def ids(room: ReasoningTools, **asked: Any) -> list[str]:
    return list(room.nodes(**asked))


def changes(room: ReasoningTools, from_: str, to: str, **asked: Any) -> list[Any]:
    """Return the node ids and edge keys of a diff, newest first."""
    rows = newest_first(room, "graph_diff", "changes", from_=from_, to=to, **asked)
    return [row["id"] if row["kind"] == "node" else tuple(row["key"].values()) for row in rows]


@holds("4 graph_apply: answers the four counts and the last version")
def test_applying_returns_counts_and_the_last_version(room: ReasoningTools) -> None:
    room("init")
    answer = room.apply(node("a"), node("b"), edge("a", "to", "b"), edge("b", "to", "a"), gone("a", "to", "b"))
    assert set(answer) == {"workspace", "branch", "doc", "applied", "last_seq", "last_ts_ms"}
    assert (answer["branch"], answer["doc"]) == ("main", "graph")
    counts = {"nodes_upserted": 2, "nodes_deleted": 0, "edges_upserted": 2, "edges_deleted": 1}
    assert answer["applied"] == counts
    assert max(found["last_seq"] for found in room.edges(include_deleted=True).values()) == answer["last_seq"]
    assert isinstance(answer["last_ts_ms"], int)


@holds("4 graph model: the fields of nodes and edges")
def test_a_node_is_returned_unchanged(room: ReasoningTools) -> None:
    answer = room.apply(FULL_NODE)
    [found] = room("graph_query")["nodes"]
    assert found == {
        "id": "h", "type": "hypothesis", "title": "T", "text": "X", "status": "open", "tags": ["a"],
        "meta": {"m": [1, None, {"n": 2}]}, "deleted": False, "last_seq": answer["last_seq"],
        "last_ts_ms": answer["last_ts_ms"],
    }  # fmt: skip


@holds("4 graph model: the fields of nodes and edges")
def test_what_a_node_does_not_have_is_left_out(room: ReasoningTools) -> None:
    room.apply(node("a", "note"))
    assert state(room.nodes()["a"]) == {"id": "a", "type": "note", "tags": [], "deleted": False}


@holds("4 graph model: the fields of nodes and edges")
def test_an_edge_is_returned_unchanged(room: ReasoningTools) -> None:
    answer = room.apply(node("a"), node("b"), edge("a", "supports", "b", meta={"w": 1}))
    [found] = room("graph_query")["edges"]
    assert found == {
        "from": "a", "rel": "supports", "to": "b", "meta": {"w": 1}, "deleted": False,
        "last_seq": answer["last_seq"], "last_ts_ms": answer["last_ts_ms"],
    }  # fmt: skip


@holds("4 graph_apply: answers the four counts and the last version")
def test_a_graph_is_written_on_the_checkout_or_the_given_branch(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    assert room.apply(node("m"), branch="main", doc="ideas")["doc"] == "ideas"
    room("checkout", ref="b")
    assert room.apply(node("b"))["branch"] == "b"
    assert ids(room) == ["b"]
    assert ids(room, branch="main") == []
    assert ids(room, branch="main", doc="ideas") == ["m"]


@holds("shapes: an upsert replaces the whole node")
def test_an_upsert_replaces_the_whole_node(room: ReasoningTools) -> None:
    room.apply(FULL_NODE)
    room.apply(node("h", "question"))
    assert state(room.nodes()["h"]) == {"id": "h", "type": "question", "tags": [], "deleted": False}


@holds("4 graph model: the fields of nodes and edges")
def test_an_edge_is_identified_by_both_ends_and_rel(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b", meta={"v": 1}), edge("a", "s", "b"), edge("b", "r", "a"))
    room.apply(edge("a", "r", "b", meta={"v": 2}))
    found = room.edges()
    assert set(found) == {("a", "r", "b"), ("a", "s", "b"), ("b", "r", "a")}
    assert found["a", "r", "b"]["meta"] == {"v": 2}
    room.apply(edge("a", "r", "b"))
    assert "meta" not in room.edges()["a", "r", "b"]


@holds("4 graph_apply: each operation creates a new version")
def test_every_operation_creates_a_version_with_a_higher_number(room: ReasoningTools) -> None:
    first = room.apply(node("a"))["last_seq"]
    second = room.apply(node("a"))["last_seq"]
    assert second > first
    assert room.nodes()["a"]["last_seq"] == second
    third = room.apply(node("b"), node("c"))["last_seq"]
    assert second < room.nodes()["b"]["last_seq"] < room.nodes()["c"]["last_seq"] == third


@holds("4 graph_apply: each operation creates a new version")
def test_operations_see_the_effects_of_earlier_ones(room: ReasoningTools) -> None:
    answer = room.apply(node("a"), edge("a", "r", "a"), gone("a"), node("a", title="again"))
    assert answer["applied"] == {"nodes_upserted": 2, "nodes_deleted": 1, "edges_upserted": 1, "edges_deleted": 1}
    assert state(room.nodes()["a"]) == {"id": "a", "type": "note", "title": "again", "tags": [], "deleted": False}
    assert room.edges() == {}


@holds("decisions §3: node_delete tombstones its edges too; deleting a missing node is NOT_FOUND")
def test_deleting_a_node_leaves_a_tombstone_and_deletes_its_edges(room: ReasoningTools) -> None:
    room.apply(*(node(name) for name in "abc"), edge("a", "r", "b"), edge("b", "r", "a"), edge("b", "r", "c"))
    answer = room.apply(gone("a"))
    assert answer["applied"] == {"nodes_upserted": 0, "nodes_deleted": 1, "edges_upserted": 0, "edges_deleted": 2}
    assert sorted(room.nodes()) == ["b", "c"]
    assert list(room.edges()) == [("b", "r", "c")]
    assert room.nodes(include_deleted=True)["a"]["deleted"] is True
    buried = {key for key, found in room.edges(include_deleted=True).items() if found["deleted"]}
    assert buried == {("a", "r", "b"), ("b", "r", "a")}
    room.apply(node("a"))
    assert list(room.edges()) == [("b", "r", "c")]


@holds("decisions §3: node_delete tombstones its edges too; deleting a missing node is NOT_FOUND")
def test_deleting_a_missing_node_or_edge_is_not_found_and_nothing_is_applied(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"))
    room.apply(gone("b"))
    for op in (gone("typo"), gone("b"), gone("a", "r", "b"), gone("a", "s", "b"), gone("b", "r", "a")):
        room.misses("graph_apply", ops=[node("new"), op])
    room.misses("graph_apply", ops=[gone("a"), gone("a")])
    assert ids(room) == ["a"]


@holds("shapes: empty ops are invalid; edges may dangle")
def test_edges_may_have_missing_ends(room: ReasoningTools) -> None:
    room.apply(edge("x", "r", "y"))
    room.apply(gone("x", "r", "y"))


@holds("decisions §3: node_delete tombstones its edges too; deleting a missing node is NOT_FOUND")
def test_a_deletion_on_a_branch_does_not_change_its_base(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"))
    room.branch("b")
    answer = room.apply(gone("a"), branch="b")
    assert answer["applied"]["edges_deleted"] == 1
    assert ids(room, branch="b") == ["b"]
    assert sorted(ids(room)) == ["a", "b"]
    assert len(room.edges()) == 1


BAD_OPS: list[Any] = [
    {"op": "node_upsert", "id": "a"}, {"op": "node_upsert", "type": "t"}, {"op": "node_delete"}, {"op": "upsert"},
    {"id": "a", "type": "t"}, {"op": "edge_upsert", "from": "a", "rel": "r"}, {"op": "edge_delete", "rel": "r"},
    {"op": "edge_upsert", "from": "a", "to": "b"}, {"op": 5}, "node_delete", 5, None, [],
    node("a", titel="x"), node("a", tags="x"), node("a", tags=[5]), node("a", tags=["x", " "]), node("a", meta=[]),
    node("a", title=5), node("a", deleted=True), edge("a", "r", "b", weight=1), edge("a", "r", "b", meta="x"),
    {"op": "node_delete", "id": "a", "type": "t"}, {"op": "node_delete", "id": "a", "rel": "r"},
    {**node("a"), "from": "x"}, {**gone("a", "r", "b"), "meta": {}},
]  # fmt: skip


@holds("4 graph_apply: atomic")
@pytest.mark.parametrize("op", BAD_OPS, ids=str)
def test_a_bad_operation_is_refused_with_its_path_and_nothing_is_applied(room: ReasoningTools, op: Any) -> None:
    room.apply(node("a"), edge("a", "r", "b"))
    error = room.refuses("INVALID_REQUEST", "graph_apply", ops=[node("new"), op])
    assert "ops[1]" in error.message


@holds("shapes: empty ops are invalid; edges may dangle")
def test_a_batch_has_at_least_one_operation_and_at_most_ten_thousand(room: ReasoningTools) -> None:
    room("init")
    room.refuses("INVALID_REQUEST", "graph_apply", ops=[])
    room.refuses("INVALID_REQUEST", "graph_apply")
    room.refuses("INVALID_REQUEST", "graph_apply", ops=[node("a")] * 10_001)
    answer = room.apply(*[node(str(number % 1000)) for number in range(10_000)])
    assert answer["applied"]["nodes_upserted"] == 10_000


BAD_IDS = ["", " ", "a|b", "|", "a\nb", "a\x00", "a\x7f", "x" * 257, "task:TASK-001", "step:1", "task:", "step:"]


@holds("4 type discipline: keys are strictly validated, task: and step: reserved")
@pytest.mark.parametrize("id", BAD_IDS)
def test_a_bad_or_reserved_id_is_refused_in_every_position(room: ReasoningTools, id: str) -> None:
    room.apply(node("a"))
    for op in (
        node(id), gone(id), edge(id, "r", "a"), edge("a", "r", id), gone(id, "r", "a"), gone("a", "r", id)
    ):  # fmt: skip
        assert "ops[0]" in room.refuses("INVALID_REQUEST", "graph_apply", ops=[op]).message


@holds("4 type discipline: keys are strictly validated, task: and step: reserved")
@pytest.mark.parametrize("word", ["", " ", "a|b", "a\nb", "a\x9f", "x" * 129])
def test_a_bad_type_or_rel_is_refused(room: ReasoningTools, word: str) -> None:
    room.apply(node("a"))
    for op in (node("a", word), edge("a", word, "a"), gone("a", word, "a")):
        assert "ops[0]" in room.refuses("INVALID_REQUEST", "graph_apply", ops=[op]).message


@holds("4 type discipline: keys are strictly validated, task: and step: reserved")
def test_ids_types_and_rels_are_stored_unchanged(room: ReasoningTools) -> None:
    names = ["x" * 256, "A", "a", "caf\u00e9", "cafe\u0301", "CARD-1", "a b:c", "tasks:1", "\U0001f331" * 256]
    room.apply(*(node(name, "Ty pe" + "x" * 123) for name in names), edge("A", "Rel!" + "x" * 124, "a"))
    assert sorted(room.nodes()) == sorted(names)
    assert room.nodes()["A"]["type"] == "Ty pe" + "x" * 123
    assert list(room.edges()) == [("A", "Rel!" + "x" * 124, "a")]


@holds("4 type discipline: tags are lower-cased, deduplicated and sorted")
def test_tags_of_nodes_are_lower_case_unique_and_sorted(room: ReasoningTools) -> None:
    room.apply(node("a", tags=["Zeta", " alpha ", "zeta", "ÄPFEL", "Alpha"]))
    assert room.nodes()["a"]["tags"] == ["alpha", "zeta", "äpfel"]


@holds("4 graph_query: nodes, edges and the page, newest first")
def test_a_query_returns_nodes_edges_and_the_page(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"))
    answer = room("graph_query")
    assert set(answer) == {"branch", "doc", "nodes", "edges", "pagination", "truncated"}
    assert (answer["branch"], answer["doc"], answer["truncated"]) == ("main", "graph", False)
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 2}


@holds("4 graph_query: nodes, edges and the page, newest first")
def test_nodes_are_listed_newest_first_and_only_in_their_latest_version(room: ReasoningTools) -> None:
    room.apply(*(node(name, title="old") for name in "abcd"))
    room.apply(node("b", title="new"))
    assert ids(room) == ["b", "d", "c", "a"]
    assert room.nodes()["b"]["title"] == "new"
    for limit in (1, 2, 3):
        assert [list_of["id"] for list_of in newest_first(room, "graph_query", "nodes", limit=limit)] == list("bdca")
    cursor = room.nodes()["b"]["last_seq"]
    assert [found["id"] for found in room("graph_query", cursor=cursor)["nodes"]] == ["d", "c", "a"]


@holds("decisions §3: the latest version per key is fixed before filters and cursor apply")
def test_filters_match_the_latest_version_only(room: ReasoningTools) -> None:
    was: dict[str, Any] = {"type": "old", "title": "old", "status": "old", "tags": ["old"]}
    room.apply(node("a", **was), node("b", **was), node("c", **was))
    last = room.nodes()["c"]["last_seq"]
    room.apply(node("a", "new", title="new", status="new", tags=["new"]), gone("b"))
    for asked in ({"types": "old"}, {"text": "old"}, {"status": "old"}, {"tags_any": "old"}, {"tags_all": ["old"]}):
        assert ids(room, **asked) == ["c"], asked
        assert [found["id"] for found in room("graph_query", cursor=last + 1, **asked)["nodes"]] == ["c"]
        assert room("graph_query", cursor=last, **asked)["nodes"] == [], asked


@holds("shapes: filters are a string or a list, text a literal substring in any case")
def test_a_query_narrows_by_every_filter_alone_and_together(room: ReasoningTools) -> None:
    room.apply(
        node("a", "question", title="Why slow?", status="open", tags=["db", "perf"]),
        node("b", "question", text="Who asked why", status="closed", tags=["perf"]),
        node("c", "test", title="Measure", text="100% of_it", status="open", tags=["db"]),
    )
    for asked, expected in (
        ({"ids": "a"}, "a"), ({"ids": ["a", "c", "typo"]}, "ac"), ({"ids": "A"}, ""),
        ({"types": "question"}, "ab"), ({"types": ["question", "test"]}, "abc"), ({"types": "Question"}, ""),
        ({"status": "open"}, "ac"), ({"status": "Open"}, ""), ({"tags_any": ["db", "x"]}, "ac"),
        ({"tags_any": "PERF"}, "ab"), ({"tags_all": ["perf", "db"]}, "a"), ({"tags_all": ["db", "x"]}, ""),
        ({"text": "WHY"}, "ab"), ({"text": "y s"}, "a"), ({"text": "100%"}, "c"), ({"text": "%"}, "c"),
        ({"text": "_"}, "c"), ({"text": "f_i"}, "c"), ({"text": "a_k"}, ""), ({"text": "*"}, ""), ({"text": "?"}, "a"),
        ({"types": "question", "status": "open"}, "a"), ({"ids": ["a", "b"], "tags_any": "db", "text": "slow"}, "a"),
        ({"status": "open", "tags_all": "db", "types": "test", "text": "measure", "ids": "c"}, "c"),
        ({"types": "test", "status": "closed"}, ""),
    ):  # fmt: skip
        assert sorted(ids(room, **asked)) == list(expected), asked


@holds("shapes: filters are a string or a list, text a literal substring in any case")
def test_text_is_found_in_any_case_of_any_script(room: ReasoningTools) -> None:
    room.apply(node("a", title="ÄPFEL und Öl"), node("b", text="straße ΣΊΣΥΦΟΣ"))
    for text, expected in (("äpfel", ["a"]), ("ÖL", ["a"]), ("STRA", ["b"]), ("σίσυ", ["b"]), ("apfel", [])):
        assert ids(room, text=text) == expected, text


@holds("4 graph_query: nodes, edges and the page, newest first")
@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_pages_of_a_filtered_query_show_every_node_once(room: ReasoningTools, limit: int) -> None:
    for number in range(6):
        room.apply(node(f"n{number}", "odd" if number % 2 else "even", tags=["t"]))
    room.branch("b")
    room.apply(node("n1", "odd"), node("n7", "odd", tags=["t"]), gone("n3"), branch="b")
    for asked, expected in (
        ({}, ["n7", "n1", "n5", "n4", "n2", "n0"]), ({"types": "odd"}, ["n7", "n1", "n5"]),
        ({"tags_any": "t"}, ["n7", "n5", "n4", "n2", "n0"]),
    ):  # fmt: skip
        pages = every_page(room, "graph_query", branch="b", limit=limit, **asked)
        assert [found["id"] for page in pages for found in page["nodes"]] == expected
        assert all(page["pagination"]["count"] == len(page["nodes"]) for page in pages)


@holds("4 graph_query: nodes, edges and the page, newest first")
def test_a_query_shows_50_nodes_by_default_and_at_most_200(room: ReasoningTools) -> None:
    room.apply(*(node(str(number)) for number in range(201)))
    assert room("graph_query")["pagination"]["count"] == 50
    answer = room("graph_query", limit=100_000)
    assert (answer["pagination"]["limit"], answer["pagination"]["count"]) == (200, 200)


@holds("4 graph_query: edges between the returned nodes, bounded by edges_limit")
def test_a_query_shows_edges_between_the_shown_nodes(room: ReasoningTools) -> None:
    room.apply(*(node(name, "x" if name == "c" else "y") for name in "abc"))
    room.apply(edge("a", "r", "b"), edge("b", "r", "c"), edge("a", "r", "out"))
    assert sorted(room.edges()) == [("a", "r", "b"), ("b", "r", "c")]
    assert sorted(room.edges(types="y")) == [("a", "r", "b")]
    assert sorted(room.edges(ids=["b", "c"])) == [("b", "r", "c")]
    answer = room("graph_query", limit=2)
    assert [(found["from"], found["to"]) for found in answer["edges"]] == [("b", "c")]


@holds("4 graph_query: edges between the returned nodes, bounded by edges_limit")
def test_edges_can_be_left_out_and_are_bounded(room: ReasoningTools) -> None:
    room.apply(node("a"), *(edge("a", f"r{number}", "a") for number in range(201)))
    assert room("graph_query", include_edges=False)["edges"] == []
    newest = [f"r{number}" for number in range(200, 197, -1)]
    assert [found["rel"] for found in room("graph_query", edges_limit=3)["edges"]] == newest
    assert len(room("graph_query")["edges"]) == 200
    assert len(room("graph_query", edges_limit=100_000)["edges"]) == 201
    room.refuses("INVALID_REQUEST", "graph_query", edges_limit=0)


@holds("decisions §3: queries return live nodes unless include_deleted")
def test_deleted_nodes_and_edges_are_shown_on_request_only(room: ReasoningTools) -> None:
    room.apply(node("a", title="x", tags=["t"]), node("b"), edge("a", "r", "b"), edge("b", "r", "b"))
    room.apply(gone("a"))
    assert ids(room) == ["b"]
    assert list(room.edges()) == [("b", "r", "b")]
    found = room.nodes(include_deleted=True)
    assert {key: one["deleted"] for key, one in found.items()} == {"a": True, "b": False}
    assert room.edges(include_deleted=True)["a", "r", "b"]["deleted"] is True


@holds("4 graph_validate: every end of an edge is a live node of the same view")
def test_a_good_graph_is_valid(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"), edge("b", "r", "a"), edge("a", "s", "a"))
    room.apply(gone("a", "s", "a"))
    answer = room("graph_validate")
    assert not answer.pop("truncated", False)
    assert answer == {"branch": "main", "doc": "graph", "ok": True, "stats": {"nodes": 2, "edges": 2}, "errors": []}


@holds("4 graph_validate: every end of an edge is a live node of the same view")
def test_an_edge_without_a_live_node_at_each_end_is_an_error(room: ReasoningTools) -> None:
    room.apply(node("a"), edge("a", "r", "x"), edge("y", "r", "z"), edge("a", "r", "a"))
    answer = room("graph_validate")
    assert answer["ok"] is False
    assert answer["stats"] == {"nodes": 1, "edges": 3}
    told = {tuple(error["edge"].values()): error for error in answer["errors"]}
    assert {key: error["missing"] for key, error in told.items()} == {
        ("a", "r", "x"): ["x"], ("y", "r", "z"): ["y", "z"],
    }  # fmt: skip
    assert all(error["code"] == "EDGE_ENDPOINT_MISSING" and error["message"] for error in answer["errors"])


@holds("4 graph_validate: every end of an edge is a live node of the same view")
def test_validation_covers_the_given_branch(room: ReasoningTools) -> None:
    room.apply(edge("a", "r", "b"))
    room.branch("b")
    room.apply(node("a"), node("b"), branch="b")
    assert room("graph_validate", branch="b")["ok"] is True
    assert room("graph_validate", branch="main")["ok"] is False
    room.apply(gone("a"), branch="b")
    answer = room("graph_validate", branch="b")
    assert (answer["ok"], answer["stats"]) == (True, {"nodes": 1, "edges": 0})


@holds("4 graph_validate: errors are bounded by max_errors")
def test_50_errors_are_shown_by_default(room: ReasoningTools) -> None:
    room.apply(*(edge(f"n{number}", "r", "x") for number in range(60)))
    answer = room("graph_validate")
    assert (len(answer["errors"]), answer["truncated"], answer["ok"]) == (50, True, False)
    answer = room("graph_validate", max_errors=1)
    assert (len(answer["errors"]), answer["truncated"], answer["stats"]["edges"]) == (1, True, 60)
    answer = room("graph_validate", max_errors=100)
    assert (len(answer["errors"]), answer.get("truncated", False)) == (60, False)
    assert room("graph_validate", max_errors=1) == room("graph_validate", max_errors=1)
    room.refuses("INVALID_REQUEST", "graph_validate", max_errors=0)


@holds("4 graph_diff: states of to that differ from from, newest first")
def test_a_graph_diff_returns_states_of_the_second_branch(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"))
    room.branch("b")
    room.apply(node("a", title="changed"), edge("a", "r", "b", meta={"m": 1}), node("c"), branch="b")
    answer = room("graph_diff", from_="main", to="b")
    assert set(answer) == {"from", "to", "doc", "changes", "pagination", "truncated"}
    assert (answer["from"], answer["to"], answer["doc"], answer["truncated"]) == ("main", "b", "graph", False)
    nodes, edges = room.nodes("b"), room.edges("b")
    assert answer["changes"] == [
        {"kind": "node", "id": "c", "to": nodes["c"]},
        {"kind": "edge", "key": {"from": "a", "rel": "r", "to": "b"}, "to": edges["a", "r", "b"]},
        {"kind": "node", "id": "a", "to": nodes["a"]},
    ]
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 50, "count": 3}


@holds("4 graph_diff: a deletion is a tombstone")
def test_a_deletion_is_shown_as_a_tombstone(room: ReasoningTools) -> None:
    room.apply(node("a"), node("b"), edge("a", "r", "b"))
    room.branch("b")
    room.apply(gone("a"), branch="b")
    rows = newest_first(room, "graph_diff", "changes", from_="main", to="b")
    assert sorted(row["kind"] for row in rows) == ["edge", "node"]
    assert all(row["to"]["deleted"] is True for row in rows)
    assert changes(room, "b", "main") == [("a", "r", "b"), "a"]


@holds("4 graph_diff: states of to that differ from from, newest first")
def test_a_node_on_the_first_branch_only_is_no_change(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.apply(node("a"), branch="b")
    assert changes(room, "b", "main") == []


@holds("decisions §3: equality in diff and merge ignores bookkeeping")
def test_equal_states_with_different_versions_are_no_change(room: ReasoningTools) -> None:
    room.apply(node("a", title="x", tags=["t", "u"], meta={"k": 1, "l": 2}), node("b"))
    room.branch("b")
    room.apply(node("a", title="x", tags=["U", "t"], meta={"l": 2, "k": 1}), branch="b")
    room.apply(node("b", title="changed"), node("b"), branch="b")
    room.apply(node("new"), gone("new"), branch="b")
    assert changes(room, "main", "b") == changes(room, "b", "main") == []
    room.apply(gone("b"), branch="b")
    room.apply(gone("b"), branch="main")
    assert changes(room, "main", "b") == []


@holds("4 graph_diff: states of to that differ from from, newest first")
@pytest.mark.parametrize(
    "changed",
    [{"type": "t"}, {"title": "x"}, {"text": "x"}, {"status": "x"}, {"tags": ["x"]}, {"meta": {"m": 1}}],
    ids=str,
)
def test_every_field_of_a_node_makes_a_difference(room: ReasoningTools, changed: dict[str, Any]) -> None:
    room.apply(node("a"))
    room.branch("b")
    room.apply(node("a", **changed), branch="b")
    assert changes(room, "main", "b") == changes(room, "b", "main") == ["a"]


@holds("4 graph_diff: states of to that differ from from, newest first")
@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_pages_of_a_graph_diff_show_every_change_once_newest_first(room: ReasoningTools, limit: int) -> None:
    room.apply(*(node(str(number)) for number in range(6)))
    room.branch("b")
    room.apply(*(node(str(number), title="x") for number in (4, 1, 3)), gone("5"), edge("0", "r", "0"), branch="b")
    assert changes(room, "main", "b", limit=limit) == [("0", "r", "0"), "5", "3", "1", "4"]
    assert room("graph_diff", from_="main", to="b", limit=5000)["pagination"]["limit"] == 200


@holds("4 graph_diff: states of to that differ from from, newest first")
def test_a_graph_diff_covers_one_document_and_requires_known_branches(room: ReasoningTools) -> None:
    room("init")
    room.branch("b")
    room.apply(node("a"), doc="ideas", branch="b")
    assert changes(room, "main", "b") == []
    assert changes(room, "main", "b", doc="ideas") == ["a"]
    assert changes(room, "b", "main", doc="ideas") == []
    room.misses("graph_diff", from_="main", to="b", doc="typo")
    room.misses("graph_diff", from_="typo", to="b")
    room.misses("graph_diff", from_="main", to="typo")


@holds("4 graph_apply: answers the four counts and the last version")
def test_versions_have_the_time_of_their_write(timed: ReasoningTools, clock: Clock) -> None:
    timed.apply(node("a"))
    clock.advance(5)
    answer = timed.apply(node("b"))
    assert answer["last_ts_ms"] == timed.nodes()["b"]["last_ts_ms"] == clock.ms
    assert timed.nodes()["a"]["last_ts_ms"] == clock.ms - 5000
