"""Reading cards: `think_context`, `think_query`, `think_pack` and `think_watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import every_page, newest_first, node, packed
from contract.tasks.task_tools import check_call, needed
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


def add(desk: TaskTools, *ids: str, type: str = "note", **where: Any) -> None:
    for one in ids:
        desk.room("think_card", card={"id": one, "type": type, "title": f"Title of {one}"}, **where)


def ids(desk: TaskTools, tool: str = "think_query", **asked: Any) -> list[str]:
    return [card["id"] for card in desk.room(tool, **asked)["cards"]]


@holds("4 think_context: cards newest first, and how many of each type")
def test_a_context_contains_the_latest_cards_and_the_count_of_each_type(desk: TaskTools) -> None:
    add(desk, "a", "b", type="question")
    add(desk, "c", type="test")
    desk.room.apply(node("n", "thing"), node("d", "decision", title="by graph"))
    desk.room("think_set_status", ids="a", status="closed")
    answer = desk.room("think_context")
    assert set(answer) == {"branch", "graph_doc", "stats", "cards", "truncated"}
    assert (answer["branch"], answer["graph_doc"], answer["truncated"]) == ("main", "graph", False)
    assert answer["stats"] == {"cards": 4, "by_type": {"question": 2, "test": 1, "decision": 1}}
    assert [card["id"] for card in answer["cards"]] == ["a", "d", "c", "b"]
    seqs = [card["last_seq"] for card in answer["cards"]]
    assert seqs == sorted(seqs, reverse=True)
    assert answer["cards"][0] == desk.room.nodes()["a"]


@holds("4 think_context: cards newest first, and how many of each type")
def test_a_context_shows_thirty_cards_by_default(timed: TaskTools) -> None:
    timed.room.apply(*(node(f"n{number}", "note") for number in range(40)))
    assert len(timed.room("think_context")["cards"]) == 30
    assert timed.room("think_context")["stats"]["cards"] == 40
    assert [card["id"] for card in timed.room("think_context", limit_cards=2)["cards"]] == ["n39", "n38"]
    assert len(timed.room("think_context", limit_cards=10_000)["cards"]) == 40
    assert len(timed.room("think_pack")["cards"]) == 10
    assert len(timed.room("think_query")["cards"]) == 40
    for tool in ("think_context", "think_pack", "context_pack"):
        timed.room.refuses("INVALID_REQUEST", tool, limit_cards=0)


@holds("4 think_context: cards newest first, and how many of each type")
def test_a_context_of_an_empty_workspace_is_empty(desk: TaskTools) -> None:
    desk.room("init")
    answer = desk.room("think_context")
    assert (answer["cards"], answer["stats"]) == ([], {"cards": 0, "by_type": {}})
    desk.room.misses("think_context", branch="typo")
    desk.room.misses("think_context", graph_doc="never written")
    desk.another("Nothing").room.misses("think_context")


@holds("4 think_context: cards newest first, and how many of each type")
def test_a_deleted_card_is_absent_from_every_read(desk: TaskTools) -> None:
    add(desk, "a", "b", type="question")
    desk.room("think_pin", ids=["a", "b"])
    desk.room.apply({"op": "node_delete", "id": "a"})
    assert ids(desk) == ids(desk, "think_context") == ids(desk, "think_pack") == ["b"]
    assert desk.room("think_context")["stats"] == {"cards": 1, "by_type": {"question": 1}}
    assert [card["id"] for card in desk.room("think_pins")["pins"]] == ["b"]
    assert [card["id"] for card in desk.room("think_frontier")["candidates"]] == ["b"]
    desk.room.misses("think_set_status", ids="a", status="closed")


@holds("4 think_query: cards via graph filters")
def test_a_query_filters_cards(desk: TaskTools) -> None:
    for card in (
        {"id": "q", "type": "question", "title": "Who clears the Cache?", "tags": ["perf", "cache"]},
        {"id": "h", "type": "hypothesis", "title": "H", "text": "nobody clears 100% of the caché", "tags": ["cache"]},
        {"id": "t", "type": "test", "title": "T", "status": "closed", "tags": ["Perf"]},
    ):
        desk.room("think_card", card=card)
    desk.room.apply(node("n", "thing", title="cache", tags=["cache"]))
    assert ids(desk) == ["t", "h", "q"]
    for asked, expected in (
        ({"ids": "q"}, ["q"]), ({"ids": ["q", "t", "n", "x"]}, ["t", "q"]), ({"types": "test"}, ["t"]),
        ({"types": ["test", "question"]}, ["t", "q"]), ({"status": "closed"}, ["t"]), ({"status": "open"}, ["h", "q"]),
        ({"tags_any": ["PERF", "cache"]}, ["t", "h", "q"]), ({"tags_all": ["perf", "cache"]}, ["q"]),
        ({"text": "cache"}, ["q"]), ({"text": "CACHÉ"}, ["h"]), ({"text": "100%"}, ["h"]), ({"text": "%"}, ["h"]),
        ({"types": "test", "status": "open"}, []),
        ({"tags_any": "cache", "text": "CLEARS", "types": "question"}, ["q"]),
    ):  # fmt: skip
        assert ids(desk, **asked) == expected, asked
    wrongs: list[dict[str, Any]] = [{"types": "thing"}, {"types": []}, {"ids": []}, {"tags_any": [" "]}, {"limit": 0}]
    for wrong in [*wrongs, {"cursor": -1}]:
        desk.room.refuses("INVALID_REQUEST", "think_query", **wrong)


@holds("shapes think_query: pages, newest first")
def test_a_query_returns_pages_of_cards_newest_first(desk: TaskTools) -> None:
    add(desk, *(f"c{number}" for number in range(7)))
    answer = desk.room("think_query", limit=3)
    assert set(answer) == {"branch", "graph_doc", "cards", "pagination", "truncated"}
    assert answer["pagination"] == {
        "cursor": None, "next_cursor": answer["cards"][-1]["last_seq"], "has_more": True, "limit": 3, "count": 3,
    }  # fmt: skip
    found = newest_first(desk.room, "think_query", "cards", limit=3)
    assert [card["id"] for card in found] == [f"c{number}" for number in reversed(range(7))]
    assert found == desk.room("think_query")["cards"]
    assert desk.room("think_query", limit=10_000)["pagination"]["limit"] == 200


@holds("shapes think_query: pages, newest first")
def test_a_query_reads_the_given_branch_and_document(desk: TaskTools) -> None:
    add(desk, "base")
    desk.room.branch("b")
    add(desk, "mine", branch="b")
    add(desk, "other", graph_doc="my graph", trace_doc="my trace")
    for spelled in ({"ref": "b"}, {"branch": "b"}):
        answer = desk.room("think_query", **spelled)
        assert (answer["branch"], [card["id"] for card in answer["cards"]]) == ("b", ["mine", "base"])
    assert ids(desk, graph_doc="my graph") == ["other"]
    assert ids(desk) == ["base"]
    desk.room("checkout", ref="b")
    assert ids(desk) == ["mine", "base"]
    desk.room.refuses("INVALID_REQUEST", "think_query", ref="b", branch="b")
    desk.room.misses("think_query", ref="typo")


@holds("4 think_pack: a compact context with stats, candidates and next")
def test_a_pack_contains_a_small_context_with_candidates_and_the_next_call(desk: TaskTools) -> None:
    add(desk, "q", type="question")
    add(desk, *(f"n{number}" for number in range(12)))
    answer = desk.room("think_pack")
    assert set(answer) == {"branch", "graph_doc", "stats", "cards", "candidates", "next", "truncated"}
    assert answer["stats"] == desk.room("think_context")["stats"]
    assert answer["cards"] == packed(desk.room("think_context", limit_cards=10)["cards"])
    assert answer["candidates"] == desk.room("think_frontier", limit=5)["candidates"]
    check_call(answer["next"])
    assert ids(desk, "think_pack", limit_cards=2) == ["n11", "n10"]


@holds("4 think_pack: a compact context with stats, candidates and next")
def test_following_the_next_call_leads_from_an_empty_workspace_to_evidence(desk: TaskTools) -> None:
    desk.room("init")
    tools = []
    for _ in range(5):
        call = desk.room("think_pack")["next"]
        assert call == desk.room("context_pack")["next"]
        check_call(call)
        tools.append(call["tool"].removeprefix("branchmind_"))
        answer = desk.door(call["tool"], **call["arguments"])
        assert answer["inserted"] is True
        if tools[-1] in ("think_add_hypothesis", "think_add_test"):
            desk.room("think_pin", ids=answer["card_id"])
            desk.room("think_pin", ids=desk.room("think_pins")["pins"][-1]["id"], pinned=False)
            desk.room("think_pin", ids=answer["card_id"])
    assert tools == [
        "think_add_frame", "think_add_question", "think_add_hypothesis", "think_add_test", "think_add_evidence",
    ]  # fmt: skip


@holds("4 think_pack: a compact context with stats, candidates and next")
def test_the_next_call_for_another_branch_and_document_names_them(desk: TaskTools) -> None:
    desk.task()
    desk.room.branch("b", "task/TASK-001")
    add(desk, "q", type="question", branch="b", graph_doc="g", trace_doc="t")
    for where in ({"ref": "b", "graph_doc": "g"}, {"target": "TASK-001"}):
        call = desk.room("think_pack", **where)["next"]
        check_call(call)
        answer = desk.door(call["tool"], **call["arguments"])
        shown = desk.room("think_pack", **where)
        assert (answer["branch"], answer["graph_doc"]) == (shown["branch"], shown["graph_doc"])
        assert answer["card_id"] in [card["id"] for card in shown["cards"]]


@holds("4 think_watch: frontier and recent trace steps")
def test_a_watch_contains_the_frontier_and_the_end_of_the_trace(desk: TaskTools) -> None:
    add(desk, "q1", "q2", type="question")
    for number in range(5):
        desk.room("trace_step", step=f"step {number}")
    answer = desk.room("think_watch")
    assert set(answer) == {"branch", "graph_doc", "trace_doc", "candidates", "trace", "truncated"}
    assert (answer["branch"], answer["graph_doc"], answer["trace_doc"]) == ("main", "graph", "trace")
    assert answer["candidates"] == desk.room("think_frontier")["candidates"]
    hydrated = desk.room("trace_hydrate", limit=20)
    assert answer["trace"] == {"entries": hydrated["entries"], "pagination": hydrated["pagination"]}
    small = desk.room("think_watch", limit=1, trace_limit=2)
    assert [one["id"] for one in small["candidates"]] == ["q2"]
    assert [entry["title"] for entry in small["trace"]["entries"]] == ["step 3", "step 4"]
    assert small["trace"]["pagination"]["has_more"] is True


@holds("4 think_watch: frontier and recent trace steps")
def test_a_watch_reads_the_given_documents(desk: TaskTools) -> None:
    desk.task()
    add(desk, "q", type="question", target="TASK-001")
    answer = desk.room("think_watch", target="TASK-001")
    assert (answer["branch"], answer["graph_doc"], answer["trace_doc"]) == (
        "task/TASK-001", "TASK-001-graph", "TASK-001-trace",
    )  # fmt: skip
    assert [entry["kind"] for entry in answer["trace"]["entries"]] == ["event", "note"]
    add(desk, "r", type="question", graph_doc="g", trace_doc="t")
    answer = desk.room("think_watch", ref="main", graph_doc="g", trace_doc="t")
    assert [one["id"] for one in answer["candidates"]] == ["r"]
    assert len(answer["trace"]["entries"]) == 1
    desk.room.misses("think_watch", trace_doc="never written")
    desk.room.misses("think_watch", graph_doc="never written")


@holds("shapes think: limits have their defaults")
def test_queries_pins_and_watches_have_their_default_limits(timed: TaskTools) -> None:
    timed.room.apply(*(node(f"q{number}", "question") for number in range(12)))
    for number in range(22):
        timed.room.note(f"{number}", doc="trace")
    watch = timed.room("think_watch")
    assert (len(watch["candidates"]), len(watch["trace"]["entries"])) == (10, 20)
    assert timed.room("think_query")["pagination"]["limit"] == 50
    assert timed.room("think_pins")["pagination"]["limit"] == 50


@holds("shapes: branch and ref are accepted for each other everywhere")
def test_branch_and_ref_mean_the_same_in_every_tool_of_thinking(timed: TaskTools) -> None:
    timed.room.apply(node("a", "question", tags=["subgoal"]))
    timed.room.branch("b")
    for tool in catalog.operations():
        if not tool.name.startswith(("branchmind_think", "branchmind_trace", "branchmind_context")):
            continue
        if not {"ref", "branch"} & set(tool.parameters):
            assert tool.name in ("branchmind_think_template", "branchmind_think_playbook")
            continue
        for spelled in ("ref", "branch"):
            assert timed.door(tool.name, **needed(tool), **{spelled: "b"})["branch"] == "b", tool.name
        timed.door.refuses("INVALID_REQUEST", tool.name, **needed(tool), ref="b", branch="b")


@holds("4 think_context: cards newest first, and how many of each type")
def test_reading_cards_writes_nothing(desk: TaskTools) -> None:
    add(desk, "q", type="question")
    before = dump(desk.door.home)
    for tool, arguments in (
        ("think_template", {"type": "note"}), ("think_playbook", {"name": "debug"}), ("think_context", {}),
        ("think_query", {}), ("think_pack", {}), ("context_pack", {}), ("think_frontier", {}), ("think_next", {}),
        ("think_pins", {}), ("think_watch", {}), ("trace_hydrate", {}), ("trace_validate", {}),
        ("think_nominal_merge", {"dry_run": True}),
    ):  # fmt: skip
        desk.room(tool, **arguments)
    assert dump(desk.door.home) == before
    assert len(every_page(desk.room, "think_pins")) == 1


@holds("decisions §3: a first write bootstraps main; reads of an empty workspace are NOT_FOUND with a recovery")
def test_thinking_starts_in_a_workspace_without_branches(desk: TaskTools) -> None:
    for tool in (
        "think_query",
        "think_pack",
        "context_pack",
        "think_frontier",
        "think_next",
        "think_pins",
        "think_watch",
    ):
        desk.another(f"Without {tool}").room.misses(tool)
    desk.door("branchmind_think_template", workspace="Never seen", type="note")
    for workspace, tool, given in (
        ("A", "think_card", {"card": "t"}), ("B", "trace_step", {"step": "s"}), ("C", "think_add_frame", {"card": "t"}),
    ):  # fmt: skip
        room = desk.another(workspace).room
        assert room(tool, **given)["branch"] == "main"
        assert room("status")["checkout"] == "main"
        assert list(room.branches()) == ["main"]


@holds("4 workspace scoping: every tool requires a workspace, and shows no other one")
def test_tools_of_thinking_require_a_valid_workspace_name(desk: TaskTools) -> None:
    for tool in catalog.operations():
        if tool.name.startswith(("branchmind_think", "branchmind_trace", "branchmind_context")):
            for workspace in (None, "", " ", "a\nb", "x" * 257):
                desk.door.refuses("INVALID_REQUEST", tool.name, **needed(tool, "workspace"), workspace=workspace)
