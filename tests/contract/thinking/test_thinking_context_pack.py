"""`branchmind_context_pack`: notes, trace, cards, and included capsules and artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.doors import FULL
from contract.reasoning.reasoning_tools import node, packed
from contract.tasks.task_tools import check_call
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

KEYS = {"branch", "docs", "notes", "trace", "cards", "stats", "next", "truncated"}


def page_of(desk: TaskTools, **asked: Any) -> dict[str, Any]:
    """Return a document as `show` returns it, without its place, its second time and its cards."""
    shown = desk.room("show", **asked)
    own = [entry for entry in shown["entries"] if entry.get("format") != "think_card"]
    entries = [{name: entry[name] for name in entry if name not in ("branch", "doc", "ts_ms")} for entry in own]
    return {"entries": entries, "pagination": {"has_more": False, "limit": asked["limit"], "count": len(entries)}}


def store(desk: TaskTools, name: str, run_id: str | None, workspace: str = "Shop") -> None:
    desk.door("capsule_store", capsule_text=FULL, name=name, workspace=workspace, run_id=run_id)


def keep(desk: TaskTools, name: str, run_id: str | None, workspace: str = "Shop") -> None:
    desk.door("artifact_store", kind="result", name=name, workspace=workspace, run_id=run_id, data={"n": name})


def names(answer: dict[str, Any], part: str) -> list[str]:
    return [one["name"] for one in answer[part]]


@holds("4 context_pack: notes, trace and cards in one answer")
def test_a_pack_contains_notes_trace_cards_and_the_next_call_of_a_branch(desk: TaskTools) -> None:
    desk.room.note("a note")
    desk.room("trace_step", step="a step")
    desk.room("think_card", card={"id": "q1", "type": "question", "title": "T"})
    answer = desk.room("context_pack")
    assert set(answer) == KEYS
    assert (answer["branch"], answer["truncated"]) == ("main", False)
    assert answer["docs"] == {"notes": "notes", "trace": "trace", "graph": "graph"}
    for part in ("notes", "trace"):
        shown = page_of(desk, doc=part, limit={"notes": 20, "trace": 50}[part])
        assert {name: answer[part][name] for name in shown} == shown
    assert answer["cards"] == packed(desk.room("think_context")["cards"])
    assert answer["stats"]["cards"] == 1
    check_call(answer["next"])
    assert answer["next"]["tool"] == "branchmind_think_add_hypothesis"


@holds("4 context_pack: notes, trace and cards in one answer")
def test_a_pack_of_a_target_contains_its_documents_and_the_next_call_of_its_radar(desk: TaskTools) -> None:
    desk.task("A", "a")
    desk("note", target="TASK-001", note="n")
    desk.room("think_card", target="TASK-001", card={"id": "q1", "type": "question", "title": "T"})
    answer = desk.room("context_pack", target="TASK-001")
    assert answer["branch"] == "task/TASK-001"
    assert answer["docs"] == {"notes": "notes", "trace": "TASK-001-trace", "graph": "TASK-001-graph"}
    assert [entry["content"] for entry in answer["notes"]["entries"]] == ["n"]
    assert [entry["seq"] for entry in answer["trace"]["entries"]] == [
        entry["seq"] for entry in desk.trace("TASK-001") if entry.get("format") != "think_card"
    ]
    assert [card["id"] for card in answer["cards"]] == ["q1"]
    assert answer["next"] == desk.radar("TASK-001")["radar"]["next"]
    for place in ({"ref": "main"}, {"branch": "main"}, {"notes_doc": "n"}, {"trace_doc": "t"}, {"graph_doc": "g"}):
        desk.room.refuses("INVALID_REQUEST", "context_pack", target="TASK-001", **place)


@holds("4 context_pack: notes, trace and cards in one answer")
def test_a_pack_reads_the_given_branch_and_documents(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.branch("b")
    desk.room.note("mine", branch="b", doc="my notes")
    desk.room("think_card", card="mine", branch="b", trace_doc="my trace", graph_doc="my graph")
    docs = {"notes_doc": "my notes", "trace_doc": "my trace", "graph_doc": "my graph"}
    for spelled in ({"ref": "b"}, {"branch": "b"}):
        answer = desk.room("context_pack", **spelled, **docs)
        assert answer["branch"] == "b"
        assert answer["docs"] == {"notes": "my notes", "trace": "my trace", "graph": "my graph"}
        sizes = [len(answer["notes"]["entries"]), len(answer["trace"]["entries"]), len(answer["cards"])]
        assert sizes == [1, 0, 1]
    desk.room("checkout", ref="b")
    assert desk.room("context_pack")["branch"] == "b"
    for name in docs:
        desk.room.misses("context_pack", **{name: "never written"})
    desk.room.misses("context_pack", ref="typo")
    desk.room.refuses("INVALID_REQUEST", "context_pack", ref="b", branch="b")


@holds("4 context_pack: notes_limit 20, trace_limit 50, limit_cards 30")
def test_the_limits_of_a_pack_are_twenty_fifty_and_thirty(timed: TaskTools) -> None:
    for number in range(25):
        timed.room.note(f"{number}")
    for number in range(55):
        timed.room.note(f"{number}", doc="trace")
    timed.room.apply(*(node(f"c{number}", "note") for number in range(35)))
    answer = timed.room("context_pack")
    sizes = [len(answer["notes"]["entries"]), len(answer["trace"]["entries"]), len(answer["cards"])]
    assert sizes == [20, 50, 30]
    assert answer["stats"]["cards"] == 35
    assert [entry["content"] for entry in answer["notes"]["entries"]] == [f"{number}" for number in range(5, 25)]
    small = timed.room("context_pack", notes_limit=1, trace_limit=2, limit_cards=3)
    sizes = [len(small["notes"]["entries"]), len(small["trace"]["entries"]), len(small["cards"])]
    assert sizes == [1, 2, 3]
    assert small["notes"]["pagination"]["has_more"] is True
    for name in ("notes_limit", "trace_limit", "limit_cards"):
        timed.room.refuses("INVALID_REQUEST", "context_pack", **{name: 0})


@holds("shapes context_pack: include shows capsules and artifacts; without run_id those of the latest capsule's run")
def test_capsules_and_artifacts_are_included_only_on_request(desk: TaskTools) -> None:
    desk.room("init")
    store(desk, "old", "r1")
    store(desk, "new", "r2")
    for name, run_id in (("a1", "r1"), ("a2", "r2"), ("b2", "r2"), ("none", None)):
        keep(desk, name, run_id)
    assert set(desk.room("context_pack")) == KEYS
    assert set(desk.room("context_pack", include=[])) == KEYS
    capsules = desk.room("context_pack", include=["capsules"])
    assert set(capsules) == KEYS | {"capsules"}
    assert names(capsules, "capsules") == ["new"]
    artifacts = desk.room("context_pack", include=["artifacts"])
    assert set(artifacts) == KEYS | {"artifacts"}
    assert sorted(names(artifacts, "artifacts")) == ["a2", "b2"]
    both = desk.room("context_pack", include=["artifacts", "capsules"])
    assert set(both) == KEYS | {"capsules", "artifacts"}
    assert sorted(names(desk.room("context_pack", include=["artifacts"], run_id="r1"), "artifacts")) == ["a1"]
    desk.room.refuses("INVALID_REQUEST", "context_pack", include=["capsule"])
    desk.room.refuses("INVALID_REQUEST", "context_pack", include="capsules and artifacts")


@holds("shapes context_pack: include shows capsules and artifacts; without run_id those of the latest capsule's run")
def test_without_a_run_the_artifacts_of_the_latest_capsules_run_are_included(desk: TaskTools) -> None:
    desk.room("init")
    keep(desk, "a1", "r1")
    keep(desk, "none", None)
    assert desk.room("context_pack", include=["capsules", "artifacts"])["capsules"] == []
    assert desk.room("context_pack", include=["artifacts"])["artifacts"] == []
    store(desk, "with a run", "r1")
    assert names(desk.room("context_pack", include=["artifacts"]), "artifacts") == ["a1"]
    assert names(desk.room("context_pack", include=["artifacts"], run_id=" "), "artifacts") == ["a1"]
    store(desk, "without a run", None)
    for blank in (None, "", " "):
        assert desk.room("context_pack", include=["artifacts"], run_id=blank)["artifacts"] == []
    assert names(desk.room("context_pack", include=["artifacts"], run_id=" r1 "), "artifacts") == ["a1"]


@holds("shapes context_pack: include shows capsules and artifacts; without run_id those of the latest capsule's run")
def test_a_pack_that_omits_artifacts_of_a_run_is_marked_as_truncated(desk: TaskTools) -> None:
    desk.room("init")
    for number in range(20):
        keep(desk, f"a{number}", "r1")
    answer = desk.room("context_pack", include=["artifacts"], run_id="r1")
    assert (len(answer["artifacts"]), answer["truncated"]) == (20, False)
    keep(desk, "a20", "r1")
    answer = desk.room("context_pack", include=["artifacts"], run_id="r1")
    assert names(answer, "artifacts") == [f"a{number}" for number in range(20, 0, -1)]
    assert answer["truncated"] is True
    assert desk.room("context_pack", include=["capsules"], run_id="r1")["truncated"] is False


@holds("shapes context_pack: include shows capsules and artifacts; without run_id those of the latest capsule's run")
def test_deleted_capsules_and_artifacts_are_not_included(desk: TaskTools) -> None:
    desk.room("init")
    store(desk, "one", "r1")
    store(desk, "two", "r2")
    keep(desk, "a1", "r1")
    keep(desk, "b1", "r1")
    desk.door("capsule_delete", name="two", workspace="Shop")
    desk.door("artifact_delete", name="b1", workspace="Shop")
    answer = desk.room("context_pack", include=["capsules", "artifacts"])
    assert (names(answer, "capsules"), names(answer, "artifacts")) == (["one"], ["a1"])


@holds("4 workspace scoping: every tool requires a workspace, and shows no other one")
def test_a_pack_contains_nothing_of_another_workspace(desk: TaskTools) -> None:
    desk.room("init")
    desk.another("Other").room.note("elsewhere")
    store(desk, "ours", "r1")
    store(desk, "theirs", "r1", workspace="Other")
    keep(desk, "our result", "r1")
    keep(desk, "their result", "r1", workspace="Other")
    answer = desk.room("context_pack", include=["capsules", "artifacts"])
    assert names(answer, "capsules") == ["ours"]
    assert answer["notes"]["entries"] == []
    assert names(answer, "artifacts") == ["our result"]
