"""`tasks_handoff`: done and remaining work, risks, the radar, and a capsule that passes lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract.doors import FULL, StoreDoor, open_test_store
from contract.tasks.task_tools import TaskTools, check_call
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Clock

NASTY = [
    "# Objective", "```", "a\n## Decisions\nb", "~~~\nx", "Objective:", "**Next actions:**", "- [ ] x", "é\u2028z",
    "x" * 1000,     "\U0001f331" * 1000, "## Objective ##", "{", "<b>bold</b>",
]  # fmt: skip
"""Titles that look like parts of a capsule."""


@holds("decisions §4 handoff: done, remaining, risks, plus the radar and the next call")
def test_a_hand_over_lists_done_work_remaining_work_and_risks(desk: TaskTools) -> None:
    desk.task("A", "a", "b", "c")
    desk.close("TASK-001", "s:0")
    desk("block", target="TASK-001", path="s:1", reason="the vault")
    answer = desk("handoff", target="TASK-001")
    assert set(answer) - {"next"} == {"workspace", "target", "radar", "handoff", "truncated"}
    assert (answer["workspace"], answer["target"]["id"]) == ("Shop", "TASK-001")
    assert answer["radar"] == desk.radar("TASK-001")["radar"]
    handoff = answer["handoff"]
    assert set(handoff) == {"done", "remaining", "risks"}
    assert [("s:0" in line, "a" in line) for line in handoff["done"]] == [(True, True)]
    assert [line.split()[0] for line in handoff["remaining"]] == ["s:1", "s:2"]
    assert any("the vault" in line for line in handoff["risks"])
    assert answer["next"] == answer["radar"]["next"]
    check_call(answer["next"])


@holds("decisions §4 evidence: links, checks and small texts of a step or task")
def test_a_hand_over_contains_every_piece_of_evidence_in_full(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    link = "https://example.org/" + "x" * 500
    desk("evidence", target="TASK-001", path="s:0", links=[link], checks=[f"check {number}" for number in range(9)])
    desk("evidence", target="TASK-001", path="s:1", texts=["seen before it was done"])
    desk("evidence", target="TASK-001", texts=["y" * 5000])
    desk.close("TASK-001", "s:0")
    answer = desk("handoff", target="TASK-001")
    first, whole = answer["handoff"]["done"]
    assert link in first
    assert all(f"check {number}" in first for number in range(9))
    assert "y" * 5000 in whole
    assert "seen before it was done" in answer["handoff"]["remaining"][0]
    assert answer["truncated"] is False


@holds("decisions §4 handoff: done, remaining, risks, plus the radar and the next call")
def test_the_hand_over_of_a_plan_lists_its_tasks(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", parent="PLAN-001")
    desk.task("B", parent="PLAN-001")
    desk("complete", target="TASK-001")
    handoff = desk("handoff", target="PLAN-001")["handoff"]
    assert [line.split()[0] for line in handoff["done"]] == ["TASK-001"]
    assert [line.split()[0] for line in handoff["remaining"]] == ["TASK-002"]


@holds("decisions §4 handoff: as_capsule stores it as a capsule that passes lint, named TASK-001-handoff")
def test_a_hand_over_can_be_stored_as_a_capsule_that_passes_lint(desk: TaskTools) -> None:
    desk.task("A", "a", "b", description="Every key of the shop.")
    desk.close("TASK-001", "s:0")
    answer = desk("handoff", target="TASK-001", as_capsule=True)
    capsule = desk.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")
    assert set(answer["capsule"]) == {"id", "fetch_key", "version"}
    assert answer["capsule"]["version"] == 1
    assert desk("handoff", target="TASK-001", as_capsule=True)["capsule"]["version"] == 2
    assert answer["capsule"]["id"] == capsule["id"]
    assert answer["capsule"]["fetch_key"] == capsule["fetch_key"]
    assert answer["capsule"]["fetch_key"] == {"moss_capsule": "TASK-001-handoff", "moss_workspace": "Shop"}
    desk.door("capsule_store", capsule_text=capsule["capsule_text"], name="again")
    for part in ("TASK-001", "s:1 b", "task/TASK-001", "Every key of the shop."):
        assert part in capsule["capsule_text"]


@holds("decisions §4 handoff: done, remaining, risks, plus the radar and the next call")
def test_storing_a_hand_over_does_not_change_the_task(desk: TaskTools) -> None:
    desk.task()
    events = desk.events()
    desk("handoff", target="TASK-001", as_capsule=True)
    assert desk.events() == events
    assert desk.revision("TASK-001") == 1
    assert len(desk.trace("TASK-001")) == 1


@holds("shapes tasks handoff: repeating replaces the capsule")
def test_repeating_a_hand_over_replaces_its_capsule(desk: TaskTools) -> None:
    desk.task("A", "a")
    first = desk("handoff", target="TASK-001", as_capsule=True)["capsule"]
    desk.close("TASK-001", "s:0")
    assert desk("handoff", target="TASK-001", as_capsule=True)["capsule"] == {**first, "version": 2}
    listed = desk.door("capsule_list", workspace="Shop")["items"]
    assert [item["name"] for item in listed] == ["TASK-001-handoff"]
    assert "Done: s:0 a" in desk.door("capsule_fetch", id=first["id"])["capsule_text"]


@holds("decisions §4: a capsule of that name that Moss did not write is left alone")
def test_a_capsule_of_another_origin_is_not_overwritten(desk: TaskTools) -> None:
    desk.task()
    desk.door("capsule_store", capsule_text=FULL, name="task-001-HANDOFF", workspace="shop")
    desk.refuses("NAME_ALREADY_EXISTS", "handoff", target="TASK-001", as_capsule=True)
    assert desk("handoff", target="TASK-001")["handoff"]["done"] == []
    desk.door("capsule_delete", name="TASK-001-handoff", workspace="Shop")
    desk("handoff", target="TASK-001", as_capsule=True)


@holds("decisions §4 handoff: as_capsule stores it as a capsule that passes lint, named TASK-001-handoff")
def test_hand_overs_of_different_plans_and_workspaces_do_not_collide(desk: TaskTools) -> None:
    desk.task()
    desk.plan()
    other = desk.another("Other")
    other.task()
    ids = {
        desk("handoff", target="TASK-001", as_capsule=True)["capsule"]["id"],
        desk("handoff", target="PLAN-001", as_capsule=True)["capsule"]["id"],
        other("handoff", target="TASK-001", as_capsule=True)["capsule"]["id"],
    }
    assert len(ids) == 3
    assert desk.door("capsule_fetch", name="PLAN-001-handoff", workspace="Shop")["id"] in ids


@holds("decisions §4 handoff: as_capsule stores it as a capsule that passes lint, named TASK-001-handoff")
@pytest.mark.parametrize("title", NASTY, ids=range(len(NASTY)))
def test_the_capsule_of_a_hand_over_passes_lint_with_any_title(timed: TaskTools, title: str) -> None:
    timed.task(title, title, title, description=title)
    timed("define", target="TASK-001", path="s:1", blockers=[title])
    timed("block", target="TASK-001", path="s:1", reason=title)
    timed("handoff", target="TASK-001", as_capsule=True)
    text = timed.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")["capsule_text"]
    timed.door("capsule_store", capsule_text=text, name="again")


@holds("decisions §4 handoff: as_capsule stores it as a capsule that passes lint, named TASK-001-handoff")
def test_the_capsule_of_a_large_hand_over_stays_within_the_limit_of_capsules(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, capsule_max_chars=4000) as store:
        desk = TaskTools(StoreDoor(store))
        desk.task("A", *("x" * 900 for _ in range(150)), description="y" * 50_000)
        desk.close("TASK-001", *(f"s:{number}" for number in range(10)))
        desk("handoff", target="TASK-001", as_capsule=True)
        assert desk.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")["capsule_chars"] <= 4000
        assert len(desk("handoff", target="TASK-001")["handoff"]["remaining"]) == 140


@holds("decisions §10: hand-overs contain the findings, in the answer and in the capsule alike")
def test_findings_are_in_the_answer_and_the_capsule_of_a_hand_over(desk: TaskTools) -> None:
    desk.task("A", "a", "b")
    desk.close("TASK-001", "s:0")
    assert "nothing is backed by evidence yet" in desk("handoff", target="TASK-001")["handoff"]["risks"]
    cards = {
        "evidence": "the log shows two signers", "hypothesis": "the cache holds the old key",
        "question": "who signs at night", "test": "clear the cache and sign", "decision": "rotate on Sundays",
    }  # fmt: skip
    for kind, title in cards.items():
        desk.room(f"think_add_{kind}", target="TASK-001", card={"id": kind, "title": title})
    for note in ("the first note", "warning: the staging key is shared"):
        desk("note", target="TASK-001", note=note)
    answer = desk("handoff", target="TASK-001", as_capsule=True)
    handoff = answer["handoff"]
    assert "evidence: the log shows two signers" in handoff["done"]
    assert "nothing is backed by evidence yet" not in handoff["risks"]
    assert handoff["open"] == [
        "question question: who signs at night",
        "hypothesis hypothesis: the cache holds the old key",
        "test test: clear the cache and sign",
    ]
    assert handoff["notes"] == ["warning: the staging key is shared", "the first note"]
    assert handoff["decisions"] == ["rotate on Sundays"]
    capsule = desk.door("capsule_fetch", name="TASK-001-handoff", workspace="Shop")["capsule_text"]
    for text in (*cards.values(), "the first note", "warning: the staging key is shared"):
        assert text in capsule
    desk.room("think_set_status", target="TASK-001", ids=["question", "hypothesis", "test"], status="closed")
    assert "open" not in desk("handoff", target="TASK-001")["handoff"]
