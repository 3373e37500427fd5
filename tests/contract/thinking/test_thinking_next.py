"""The proposed next call: valid as it is, and it makes progress or its refusal lists the missing fields."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from contract.reasoning.reasoning_tools import edge, node, packed
from contract.tasks.task_tools import check_call
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools

Graph = list[dict[str, Any]]


def card(id: str, type: str, **fields: Any) -> dict[str, Any]:
    return node(id, type, **{"title": f"Title of {id}", "status": "open", **fields})


ASKED = card("q", "question")
SUPPOSED = [ASKED, card("h", "hypothesis"), edge("h", "supports", "q")]
TESTED = [*SUPPOSED, card("t", "test"), edge("t", "tests", "h")]
SEEN = [*TESTED, card("e", "evidence"), edge("e", "supports", "t")]
GRAPHS: dict[str, Graph] = {
    "nothing": [],
    "a note": [card("n", "note")],
    "a question": [ASKED],
    "two questions": [ASKED, card("p", "question")],
    "a hypothesis": SUPPOSED,
    "a hypothesis alone": [card("h", "hypothesis")],
    "a rejected hypothesis": [ASKED, card("h", "hypothesis", status="rejected"), edge("h", "answers", "q")],
    "a confirmed hypothesis": [ASKED, card("h", "hypothesis", status="confirmed"), edge("h", "answers", "q")],
    "a test": TESTED,
    "a test alone": [card("t", "test")],
    "evidence on a test": SEEN,
    "evidence on a test alone": [card("t", "test"), card("e", "evidence"), edge("e", "confirms", "t")],
    "evidence on a question": [ASKED, card("e", "evidence"), edge("e", "supports", "q")],
    "evidence that was rejected": [card("t", "test"), card("e", "evidence", status="rejected"), edge("e", "s", "t")],
    "a blocked question": [ASKED, card("h", "hypothesis"), edge("h", "blocks", "q")],
    "a note that blocks": [ASKED, card("n", "note"), edge("n", "blocks", "q")],
    "a circle of blocks": [ASKED, card("p", "question"), edge("q", "blocks", "p"), edge("p", "blocks", "q")],
    "a circle of links": [
        card("h", "hypothesis"), card("g", "hypothesis"), edge("h", "supports", "g"), edge("g", "supports", "h"),
    ],
    "a decision that was superseded": [
        *SEEN, card("d", "decision", status="superseded"), edge("d", "answers", "q"),
    ],
    "everything settled": [*SEEN, card("d", "decision"), edge("d", "answers", "q"), edge("d", "supports", "h"),
                           edge("d", "supports", "t")],
    "a card without a title": [node("q", "question")],
}  # fmt: skip


def next_of(desk: TaskTools, **where: Any) -> dict[str, Any]:
    """Assert that both packs propose the same next call, and return it."""
    found: dict[str, Any] = desk.room("think_pack", **where)["next"]
    assert found == desk.room("context_pack", **where)["next"]
    check_call(found)
    return found


@holds("decisions §10: next always leads on")
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("place", [{}, {"ref": "b", "graph_doc": "g-graph", "trace_doc": "g-trace"}], ids=["", "named"])
def test_following_next_changes_the_state_until_a_field_must_be_filled_in(
    timed: TaskTools, graph: str, place: dict[str, str]
) -> None:
    timed.room("init")
    timed.room.branch("b")
    where = {"branch": place.get("ref", "main"), "doc": place.get("graph_doc", "graph")}
    if GRAPHS[graph] or place:
        timed.room.apply(*(GRAPHS[graph] or [node("x", "thing")]), **where)
    if place:
        timed.room.note("begun", branch="b", doc="g-trace")
    pack = {**place} if place else {}
    seen: list[Any] = []
    for _ in range(20):
        found = timed.room("context_pack", **pack)["next"]
        check_call(found)
        assert found not in seen, f"{graph}: {found} came again after {seen}"
        seen.append(found)
        if "(fill in: " in str(found["arguments"].get("card")):
            error = timed.door.refuses("INVALID_REQUEST", found["tool"], **found["arguments"])
            assert "(fill in: " in error.message
            return
        timed.door(found["tool"], **found["arguments"])
    raise AssertionError(f"{graph}: next does not end: {seen}")


@holds("decisions §10: next always leads on")
def test_evidence_for_a_test_leads_to_setting_its_status(desk: TaskTools) -> None:
    desk.room("think_add_test", card={"id": "t", "title": "Turn the cache off"})
    first = next_of(desk)
    assert (first["tool"], first["arguments"]["supports"]) == ("branchmind_think_add_evidence", ["t"])
    desk.door(first["tool"], **first["arguments"])
    second = next_of(desk)
    assert second["tool"] == "branchmind_think_set_status"
    assert (second["arguments"]["ids"], second["arguments"]["status"]) == (["t"], "closed")
    assert second["arguments"]["reason"]
    desk.door(second["tool"], **second["arguments"])
    assert desk.room.nodes()["t"]["status"] == "closed"
    assert next_of(desk)["tool"] == "branchmind_think_add_question"


@holds("decisions §10: next always leads on")
def test_a_decision_is_proposed_with_its_text_to_fill_in(desk: TaskTools) -> None:
    desk.room.apply(*SEEN)
    desk.room("think_set_status", ids="t", status="closed")
    found = next_of(desk)
    assert found["tool"] == "branchmind_think_add_decision"
    assert (found["arguments"]["supports"], found["arguments"]["answers"]) == (["h"], ["q"])
    error = desk.door.refuses("INVALID_REQUEST", found["tool"], **found["arguments"])
    assert (error.details or {})["path"] == "card.text"
    told = {**found["arguments"]["card"], "text": "The cache is the cause."}
    desk.door(found["tool"], **{**found["arguments"], "card": told})
    assert desk.room.nodes()["q"]["status"] == "resolved"
    assert desk.room("think_frontier")["candidates"] == []


@holds("decisions §10: next always leads on")
def test_for_a_blocked_card_next_addresses_its_blocker(desk: TaskTools) -> None:
    desk.room.apply(ASKED, card("h", "hypothesis"), edge("h", "blocks", "q"))
    desk.room("think_pin", ids="q")
    assert next_of(desk)["arguments"]["tests"] == ["h"]
    desk.room.apply(card("n", "note"), edge("n", "blocks", "h"))
    found = next_of(desk)
    assert (found["tool"], found["arguments"]["ids"]) == ("branchmind_think_set_status", ["n"])
    desk.door(found["tool"], **found["arguments"])
    assert next_of(desk)["arguments"]["tests"] == ["h"]


@holds("decisions §10: next always leads on")
def test_a_cycle_of_blocks_is_broken(desk: TaskTools) -> None:
    desk.room.apply(*GRAPHS["a circle of blocks"])
    found = next_of(desk)
    assert found["tool"] == "branchmind_think_set_status"
    desk.door(found["tool"], **found["arguments"])
    assert next_of(desk)["tool"] == "branchmind_think_add_hypothesis"


@holds("decisions §10: next always leads on")
def test_a_long_chain_of_links_is_followed_within_bounds(timed: TaskTools) -> None:
    ids = [f"h{number}" for number in range(2000)]
    timed.room.apply(*(card(one, "hypothesis") for one in ids))
    timed.room.apply(*(edge(one, "supports", other) for one, other in pairwise(ids)))
    timed.room("think_pin", ids=ids[-1])
    first = next_of(timed)
    timed.door(first["tool"], **first["arguments"])
    assert next_of(timed) != first


@holds("decisions §10: next always leads on")
def test_if_everything_is_settled_next_asks_for_a_question(desk: TaskTools) -> None:
    desk.room.apply(*GRAPHS["everything settled"])
    found = next_of(desk)
    assert found["tool"] == "branchmind_think_add_question"
    desk.door.refuses("INVALID_REQUEST", found["tool"], **found["arguments"])


@holds("decisions §10: packs show a card once, with its links, and no null")
def test_a_pack_shows_every_card_once_with_its_links(desk: TaskTools) -> None:
    for one, kind in (("q", "question"), ("h", "hypothesis")):
        desk.room("think_card", card={"id": one, "type": kind, "title": one, "text": f"only once: {one}"})
    desk.room("think_add_test", card={"id": "t", "text": "only once: t", "tests": "h", "blocks": ["q"]}, supports="q")
    for tool in ("think_pack", "context_pack"):
        answer = {**desk.room(tool), "next": None}
        for one in ("q", "h", "t"):
            assert str(answer).count(f"only once: {one}") == 1, tool
        links = {one["id"]: one.get("links") for one in answer["cards"]}
        assert links == {"t": {"supports": ["q"], "blocks": ["q"], "tests": ["h"]}, "h": None, "q": None}
    pack = desk.room("think_pack")
    frontier = desk.room("think_frontier")["candidates"]
    assert pack["candidates"] == [
        {name: one[name] for name in ("id", "pinned", "blocked_by", "why")} for one in frontier
    ]
    alone = desk.room("think_pack", limit_cards=1)
    assert [one.get("title") for one in alone["candidates"]] == ["h", None, "q"]


@holds("decisions §10: packs show a card once, with its links, and no null")
def test_a_pack_marks_superseded_decisions(desk: TaskTools) -> None:
    for one in ("first", "second", "third"):
        before = {"second": "first", "third": "second"}.get(one)
        desk.room("think_add_decision", card={"id": one, "title": one, **({"supersedes": before} if before else {})})
    for tool in ("think_pack", "context_pack"):
        found = {one["id"]: (one["status"], one.get("superseded_by")) for one in desk.room(tool)["cards"]}
        assert found == {
            "first": ("superseded", "second"), "second": ("superseded", "third"), "third": ("open", None),
        }  # fmt: skip


@holds("decisions §10: packs show a card once, with its links, and no null")
def test_a_pack_contains_no_null_and_no_internal_numbers(desk: TaskTools) -> None:
    desk.room.note("on main")
    desk.room.branch("b")
    desk.room.note("on b", branch="b")
    desk.room("merge_back", from_="b")
    desk.room("think_card", card={"id": "q", "type": "question", "title": "T"})
    desk.room("trace_step", step="looked")
    desk.door("artifact_store", kind="k", workspace="Shop", run_id="r", data={"n": 1})
    desk.door("capsule_store", capsule_text="short", workspace="Shop", run_id="r", allow_thin=True)
    for tool, asked in (("think_pack", {}), ("context_pack", {"include": ["capsules", "artifacts"]})):
        answer = desk.room(tool, **asked)
        assert nulls(answer) == [], tool
        assert "merge:" not in str(answer)
        assert "ts_ms" not in str(answer)
        assert answer["cards"] == packed(desk.room("think_context")["cards"])


def nulls(value: Any, path: str = "") -> list[str]:
    """Return the paths of all null values."""
    if isinstance(value, dict):
        return [found for name, part in value.items() for found in nulls(part, f"{path}.{name}")]
    if isinstance(value, list):
        return [found for number, part in enumerate(value) for found in nulls(part, f"{path}[{number}]")]
    return [path] if value is None else []
