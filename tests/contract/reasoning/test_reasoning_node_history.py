"""`branchmind_graph_history`: the versions of a node that are visible on a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import compact, edge, gone, newest_first, node
from support.promises import holds

if TYPE_CHECKING:
    from contract.reasoning.reasoning_tools import ReasoningTools


def history(room: ReasoningTools, id: str = "n", **where: Any) -> list[dict[str, Any]]:
    return newest_first(room, "graph_history", "versions", id=id, **where)


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_a_history_lists_the_versions_of_a_node_newest_first(room: ReasoningTools) -> None:
    room.apply(node("n", "question", title="Who?", status="open", tags=["a"]), node("other"))
    room.apply(node("n", "question", title="Who?", text="more", status="open", tags=["a"]))
    room("think_set_status", ids="n", status="closed", reason="found")
    room.apply(gone("n"))
    room.apply(node("n", "note", title="back", meta={"m": 1}))
    answer = room("graph_history", id="n")
    assert set(answer) == {"id", "versions", "pagination", "truncated"}
    assert (answer["id"], answer["truncated"]) == ("n", False)
    assert answer["pagination"] == {"cursor": None, "has_more": False, "limit": 20, "count": 5}
    found = answer["versions"]
    seqs = [version["seq"] for version in found]
    assert seqs == sorted(seqs, reverse=True)
    assert all(isinstance(version["ts_ms"], int) for version in found)
    told = [{name: part for name, part in version.items() if name not in ("seq", "ts_ms")} for version in found]
    said = {"status": "closed", "title": "Who?", "text": "more", "deleted": False}
    assert told == [
        {"title": "back", "deleted": False, "changed": ["type", "status", "title", "text", "tags", "meta", "deleted"]},
        {"deleted": True, "changed": ["deleted"]},
        {**said, "changed": ["status"]},
        {**said, "status": "open", "changed": ["text"]},
        {"status": "open", "title": "Who?", "deleted": False, "changed": ["type", "status", "title", "tags"]},
    ]


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_a_history_lists_the_versions_visible_on_the_branch(room: ReasoningTools) -> None:
    room.apply(node("n", title="base"))
    room.branch("b")
    room.apply(node("n", title="main later"))
    room.apply(node("n", title="on b"), branch="b")
    room.branch("c", "b")
    room.apply(node("n", title="b later"), branch="b")
    assert [one["title"] for one in history(room)] == ["main later", "base"]
    for spelled in ({"branch": "b"}, {"ref": "b"}):
        assert [one["title"] for one in history(room, **spelled)] == ["b later", "on b", "base"]
    assert [one["title"] for one in history(room, branch="c")] == ["on b", "base"]
    room("checkout", ref="c")
    assert [one["title"] for one in history(room)] == ["on b", "base"]


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_a_history_is_paged_with_the_changes_on_every_page(room: ReasoningTools) -> None:
    for number in range(25):
        room.apply(node("n", title=f"{number}", status="open"))
    whole = history(room, limit=200)
    assert [one["title"] for one in whole] == [f"{number}" for number in range(24, -1, -1)]
    assert [one["changed"] for one in whole[:-1]] == [["title"]] * 24
    for limit in (1, 3, 24, 25):
        assert history(room, limit=limit) == whole
    assert room("graph_history", id="n")["pagination"]["count"] == 20
    room.refuses("INVALID_REQUEST", "graph_history", id="n", limit=0)


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_a_history_keeps_its_budget_and_paging_reaches_every_version(room: ReasoningTools) -> None:
    for number in range(12):
        room.apply(node("n", title=f"{number}", text=f"{number} " + "long " * 400))
    for most in (500, 1000, 3000):
        first = room("graph_history", id="n", max_chars=most)
        assert len(compact(first)) <= most
        assert first["truncated"] is True
        assert [one["seq"] for one in history(room, max_chars=most)] == [one["seq"] for one in history(room)]


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_the_history_of_a_targets_node_and_of_a_named_document(room: ReasoningTools) -> None:
    room.door("tasks_create", workspace="Shop", kind="task", title="A")
    room("think_card", target="TASK-001", card={"id": "n", "title": "of the task"})
    room.apply(node("n", title="in g"), doc="g")
    assert [one["title"] for one in history(room, target="TASK-001")] == ["of the task"]
    assert [one["title"] for one in history(room, doc="g")] == ["in g"]
    assert history(room, "task:TASK-001", target="TASK-001")
    room.refuses("INVALID_REQUEST", "graph_history", id="n", target="TASK-001", branch="main")


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_an_unknown_node_has_no_history(room: ReasoningTools) -> None:
    room.apply(node("question-1"), node("x"), edge("question-1", "r", "x"))
    for missing in ("question-2", "question-1|r|x", ""):
        error = room.misses("graph_history", id=missing)
        assert error.details is not None
        assert "question-1" in error.details["nearest"]
    room.misses("graph_history", id="x", branch="typo")
    room.misses("graph_history", id="x", doc="never written")


@holds("decisions §10: branchmind_graph_history shows the versions of a node as the branch sees it, newest first")
def test_an_erased_node_keeps_no_text_in_its_history(room: ReasoningTools) -> None:
    room.apply(node("n", "question", title="a secret", status="open"))
    room.apply(node("n", "question", title="a secret", text="told", status="closed"))
    room.door("moss_erase", type="node", workspace="Shop", id="n")
    found = history(room)
    assert all(one["deleted"] for one in found)
    assert "secret" not in str(found)
    assert "told" not in str(found)
