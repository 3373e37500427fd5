"""`moss_erase`: erased text remains in no answer and in no file of the home folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, StoreDoor
from contract.records.archive import SAMPLES, capability_of
from moss_memory.errors import MossError
from support.direct_store import DirectStore
from support.promises import holds

if TYPE_CHECKING:
    from pathlib import Path

HERE = {"workspace": "shop"}
CONFIRMED = {"criteria": True, "tests": True}


def files_with(door: StoreDoor, word: str) -> list[str]:
    """Close the store and return the places of a word: files of the home folder, and database tables."""
    door.store.close()
    with DirectStore(door.home) as direct:
        return direct.places_of(word)


def erased(door: StoreDoor, *words: str, **what: Any) -> dict[str, Any]:
    """Erase something; assert that its words were in the files before and are not afterwards."""
    for word in words:
        assert files_with(door, word), f"{word} was never there"
    before = door("moss_erase", **what, dry_run=True)
    assert (before["dry_run"], before["complete"]) == (True, False)
    answer = door("moss_erase", **what)
    assert answer["removed"] == before["removed"]
    assert (answer["type"], answer["dry_run"], answer["complete"]) == (what["type"], False, True)
    for word in words:
        assert files_with(door, word) == [], f"{word} is left"
        assert door("moss_search", query=word, search_mode="keyword")["items"] == []
    with DirectStore(door.home) as direct:
        assert direct.problems() == []
    return answer


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
@pytest.mark.parametrize("deleted", [False, True])
def test_a_capsule_is_erased_with_its_versions_deleted_or_not(door: StoreDoor, deleted: bool) -> None:
    door("capsule_store", name="auth", capsule_text=FULL + "zebraone")
    door("capsule_store", name="auth", capsule_text=FULL + "zebratwo", title="zebratitle", mode="replace")
    if deleted:
        door("capsule_delete", name="auth")
    answer = erased(door, "zebraone", "zebratwo", "zebratitle", type="capsule", name="auth")
    assert answer["removed"] == {"rows": 1, "versions": 1, "vectors": 0}
    door.refuses("NOT_FOUND", "moss_erase", type="capsule", name="auth")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_an_artifact_is_erased_with_its_versions(door: StoreDoor) -> None:
    door("artifact_store", name="plan", kind="k", data={"key": "zebraone"}, text="zebratext")
    door("artifact_store", name="plan", kind="k", data={"key": "zebratwo"}, mode="replace")
    answer = erased(door, "zebraone", "zebratwo", "zebratext", type="artifact", name="plan")
    assert answer["removed"]["versions"] == 1


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_an_erased_single_version_is_listed_but_cannot_be_read(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text=FULL + "zebraone", title="zebratitle")
    door("capsule_store", name="auth", capsule_text=FULL + "kept", mode="replace")
    erased(door, "zebraone", "zebratitle", type="capsule", name="auth", version=1)
    listed = door("moss_history", type="capsule", name="auth")["versions"]
    assert [(one["version"], one.get("erased", False)) for one in listed] == [(2, False), (1, True)]
    door.refuses("NOT_FOUND", "capsule_fetch", name="auth", version=1)
    door.refuses("NOT_FOUND", "moss_revert", type="capsule", name="auth", version=1)
    assert "kept" in door("capsule_fetch", name="auth")["capsule_text"]


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_the_current_version_cannot_be_erased_alone(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text=FULL)
    assert "alone" in door.refuses("INVALID_REQUEST", "moss_erase", type="capsule", name="auth", version=1).message
    door.refuses("NOT_FOUND", "moss_erase", type="capsule", name="auth", version=2)


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_note_keeps_its_number_and_erases_merged_copies(door: StoreDoor) -> None:
    door("branchmind_notes_commit", **HERE, content="first")
    door("branchmind_branch_create", **HERE, name="try")
    note = {"content": "zebranote", "title": "zebratitle", "meta": {"key": "zebrameta"}, "branch": "try"}
    seq = door("branchmind_notes_commit", **HERE, **note)["entry"]["seq"]
    door("branchmind_merge", **HERE, **{"from": "try", "into": "main"})
    answer = erased(door, "zebranote", "zebratitle", "zebrameta", type="note", **HERE, seq=seq, branch="try")
    assert answer["removed"]["rows"] == 2
    for branch, texts in (("main", ["first", "[erased]"]), ("try", ["first", "[erased]"])):
        entries = door("branchmind_show", **HERE, ref=branch, doc_kind="notes")["entries"]
        assert [entry["content"] for entry in entries] == texts
    door("moss_erase", type="note", **HERE, seq=seq)
    door.refuses("NOT_FOUND", "moss_erase", type="note", **HERE, seq=999)
    door.refuses("NOT_FOUND", "moss_erase", type="trace", **HERE, seq=seq)
    door.refuses("INVALID_REQUEST", "moss_erase", type="note", **HERE)


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_copy_of_a_merge_also_erases_the_original(door: StoreDoor) -> None:
    door("branchmind_branch_create", **HERE, name="try")
    door("branchmind_notes_commit", **HERE, content="zebranote", branch="try")
    door("branchmind_merge", **HERE, **{"from": "try", "into": "main"})
    [copy] = door("branchmind_show", **HERE, ref="main", doc_kind="notes")["entries"]
    answer = erased(door, "zebranote", type="note", **HERE, seq=copy["seq"], branch="main")
    assert answer["removed"]["rows"] == 2
    [original] = door("branchmind_show", **HERE, ref="try", doc_kind="notes")["entries"]
    assert original["content"] == "[erased]"


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_trace_entry_of_a_task_erases_its_event(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="task", title="zebratitle", steps=[{"title": "code"}])
    [told] = [entry["seq"] for entry in door("branchmind_show", **HERE, target="TASK-001")["entries"]]
    assert "zebratitle" in str(door("tasks_delta", **HERE))
    door("moss_erase", type="trace", **HERE, seq=told)
    assert "zebratitle" not in str(door("tasks_delta", **HERE))
    [entry] = door("branchmind_show", **HERE, target="TASK-001")["entries"]
    assert (entry["seq"], entry["content"]) == (told, "[erased]")
    assert door("tasks_show", **HERE, target="TASK-001")["title"] == "zebratitle", "the task itself was not erased"


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_node_is_erased_on_every_branch_with_its_conflicts_and_the_card_in_the_trace(door: StoreDoor) -> None:
    card = {"id": "Q", "type": "question", "title": "zebratitle", "text": "zebratext", "tags": ["zebratag"]}
    door("branchmind_think_card", **HERE, card=card)
    door("branchmind_branch_create", **HERE, name="try")
    for branch, title in (("try", "zebratheirs"), ("main", "zebraours")):
        ops = [{"op": "node_upsert", "id": "Q", "type": "question", "title": title}]
        door("branchmind_graph_apply", **HERE, branch=branch, ops=ops)
    merged = door("branchmind_graph_merge", **HERE, **{"from": "try", "into": "main"})
    assert merged["conflicts_created"] == 1
    words = ("zebratitle", "zebratext", "zebratag", "zebratheirs", "zebraours")
    answer = erased(door, *words, type="node", **HERE, id="Q")
    assert answer["removed"]["versions"] == 3
    for branch in ("main", "try"):
        assert door("branchmind_graph_query", **HERE, branch=branch)["nodes"] == []
    assert door("branchmind_graph_conflicts", **HERE, into="main")["conflicts"] == []
    door.refuses("NOT_FOUND", "moss_erase", type="node", **HERE, id="other")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_node_erases_its_edges_and_their_contents(door: StoreDoor) -> None:
    nodes = [{"op": "node_upsert", "id": name, "type": "idea"} for name in ("Q", "R", "S")]
    first = {"op": "edge_upsert", "from": "Q", "rel": "needs", "to": "R", "meta": {"why": "zebrawhy"}}
    second = {"op": "edge_upsert", "from": "S", "rel": "needs", "to": "Q", "meta": {"why": "zebraother"}}
    door("branchmind_graph_apply", **HERE, ops=[*nodes, first])
    door("branchmind_branch_create", **HERE, name="try")
    for branch, why in (("try", "zebratheirs"), ("main", "zebraours")):
        changed = {**first, "meta": {"why": why}}
        door("branchmind_graph_apply", **HERE, branch=branch, ops=[changed, *([second] if branch == "try" else [])])
    assert door("branchmind_graph_merge", **HERE, **{"from": "try", "into": "main"})["conflicts_created"] == 1
    erased(door, "zebrawhy", "zebraother", "zebratheirs", "zebraours", type="node", **HERE, id="Q")
    for branch in ("main", "try"):
        shown = door("branchmind_graph_query", **HERE, branch=branch)
        assert ([node["id"] for node in shown["nodes"]], shown["edges"]) == (["S", "R"], [])
        assert door("branchmind_graph_validate", **HERE, branch=branch)["ok"]
    assert door("branchmind_graph_conflicts", **HERE, into="main")["conflicts"] == []


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_an_erased_thought_is_no_error_of_its_trace(door: StoreDoor) -> None:
    door("branchmind_trace_step", **HERE, step="a step")
    seqs = []
    for number in (1, 2, 3, 4):
        thought = {"thought": "zebra", "thoughtNumber": number, "totalThoughts": 4, "nextThoughtNeeded": number < 4}
        more = {"isRevision": True, "revisesThought": 2} if number == 4 else {}
        seqs.append(door("branchmind_trace_sequential_step", **HERE, **thought, **more)["entry"]["seq"])
    door("moss_erase", type="trace", **HERE, seq=seqs[1])
    checked = door("branchmind_trace_validate", **HERE)
    assert (checked["ok"], checked["checked"], checked["errors"]) == (True, 5, [])
    thought = {"thought": "too far", "thoughtNumber": 9, "totalThoughts": 9, "nextThoughtNeeded": False}
    door("branchmind_trace_sequential_step", **HERE, **thought)
    assert [error["code"] for error in door("branchmind_trace_validate", **HERE)["errors"]] == ["GAP"]


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_task_erases_merged_copies_from_its_branch(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="task", title="the task", steps=[{"title": "code"}, {"title": "other"}])
    door("tasks_note", **HERE, target="TASK-001", note="zebranote")
    door("tasks_note", **HERE, target="TASK-001", path="s:0", note="zebrastep")
    door("branchmind_merge", **HERE, **{"from": "task/TASK-001", "into": "main"})
    door("branchmind_merge", **HERE, **{"from": "task/TASK-001", "into": "main"}, doc="TASK-001-trace")
    erased(door, "zebrastep", type="task", **HERE, target="TASK-001", step_id="STEP-001")
    notes = door("branchmind_show", **HERE, ref="main", doc_kind="notes")["entries"]
    assert [note["content"] for note in notes] == ["zebranote", "[erased]"]
    erased(door, "zebranote", type="task", **HERE, target="TASK-001")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_task_erases_its_generated_hand_over(door: StoreDoor) -> None:
    for number in (1, 2):
        door("tasks_create", **HERE, kind="task", title="zebratitle", steps=[{"title": "zebrastep"}])
        door("tasks_handoff", **HERE, target=f"TASK-00{number}", as_capsule=True)
    door("capsule_update", **HERE, name="TASK-002-handoff", source="me")
    door("capsule_delete", **HERE, name="TASK-001-handoff")
    door("tasks_handoff", **HERE, target="TASK-001", as_capsule=True)
    door("moss_erase", type="task", **HERE, target="TASK-001", step_id="STEP-001")
    assert door.names("capsule_inventory", include_deleted=True) == ["TASK-002-handoff"], "what another wrote stays"
    door("moss_erase", type="capsule", **HERE, name="TASK-002-handoff")
    door("moss_erase", type="task", **HERE, target="TASK-002")
    door("tasks_handoff", **HERE, target="TASK-001", as_capsule=True)
    erased(door, "zebratitle", type="task", **HERE, target="TASK-001")


@holds("decisions §6: moss_erase changes no other row; hand-overs written by Moss lose only their quotations")
def test_generated_hand_overs_of_other_tasks_lose_only_the_erased_title(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="plan", title="zebraplan")
    for title in ("zebratitle", "own title"):
        door("tasks_create", **HERE, kind="task", title=title, parent="PLAN-001", steps=[{"title": "step of it"}])
    door("tasks_edit", **HERE, target="TASK-002", depends_on=["TASK-001"])
    for target in ("PLAN-001", "TASK-002", "PLAN-001"):
        door("tasks_handoff", **HERE, target=target, as_capsule=True)
    erased(door, "zebratitle", type="task", **HERE, target="TASK-001")
    for target, kept in (("PLAN-001", "own title (TASK-002, TODO)"), ("TASK-002", "Part of PLAN-001: zebraplan")):
        text = door("capsule_fetch", **HERE, name=f"{target}-handoff")["capsule_text"]
        assert kept in text
        assert "[erased]" in text
    erased(door, "zebraplan", type="task", **HERE, target="PLAN-001")


@holds("decisions §6: moss_erase changes no other row; hand-overs written by Moss lose only their quotations")
def test_generated_hand_overs_lose_only_the_erased_note_and_card(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="task", title="own title", steps=[{"title": "a step"}])
    door("tasks_note", **HERE, target="TASK-001", note="zebranote in src/zebraplace.py\n" + "and more " * 60)
    door(
        "branchmind_think_add_decision", **HERE, target="TASK-001", card={"id": "D", "title": "zebracard", "text": "x"}
    )
    for _ in range(2):
        door("tasks_handoff", **HERE, target="TASK-001", as_capsule=True)
    [note] = door("branchmind_show", **HERE, target="TASK-001", doc_kind="notes")["entries"]
    erased(door, "zebranote", "zebraplace", type="note", **HERE, seq=note["seq"])
    erased(door, "zebracard", type="node", **HERE, id="D", doc="TASK-001-graph")
    shown = door("capsule_fetch", **HERE, name="TASK-001-handoff")
    assert "own title (TASK-001)" in shown["capsule_text"]
    assert shown["capsule_chars"] == len(shown["capsule_text"])


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_texts_written_by_users_are_reported_and_not_changed(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="task", title="zebratitle", steps=[{"title": "zebrastep"}])
    door("tasks_create", **HERE, kind="task", title="after zebratitle")
    door("tasks_handoff", **HERE, target="TASK-001", as_capsule=True)
    door("capsule_append", **HERE, name="TASK-001-handoff", section="Decisions", content="a person's own words")
    door("capsule_store", **HERE, name="mine", capsule_text=FULL + "as zebratitle says")
    door("capsule_store", **HERE, name="others", capsule_text=FULL + "zebratitles and zebra")
    door("capsule_store", workspace="elsewhere", name="mine", capsule_text=FULL + "zebratitle")
    note = door("branchmind_notes_commit", **HERE, content="see\nzebrastep")["entry"]["seq"]
    door("artifact_store", **HERE, name="plan", kind="k", data={"why": ["zebratitle"]})
    node = {"op": "node_upsert", "id": "Q", "type": "question", "text": "is zebratitle true?"}
    door("branchmind_graph_apply", **HERE, ops=[node])
    named = [
        "artifact shop/plan", "capsule shop/TASK-001-handoff", "capsule shop/mine", "node shop/graph/Q",
        f"note shop {note}", "task shop/TASK-002",
    ]  # fmt: skip
    tried = door("moss_erase", type="task", **HERE, target="TASK-001", dry_run=True)
    assert tried["copies"] == named
    before = door("capsule_fetch", **HERE, name="TASK-001-handoff")
    assert door("moss_erase", type="task", **HERE, target="TASK-001")["copies"] == named
    assert door("capsule_fetch", **HERE, name="TASK-001-handoff") == before
    with pytest.raises(MossError):
        door("capsule_fetch", **HERE, name="TASK-001-handoff", version=9)
    assert "zebratitle" not in door("capsule_fetch", **HERE, name="TASK-001-handoff", version=1)["capsule_text"]


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_task_erases_its_agents_and_idempotency_keys(door: StoreDoor) -> None:
    door.once("zebrakey", "tasks_create", **HERE, kind="task", title="a title", steps=[{"title": "a step"}])
    door("tasks_claim", **HERE, target="TASK-001", agent="zebraagent")
    assert files_with(door, "zebrakey") == [], "no text of a key is ever kept"
    again = door.once("zebrakey", "tasks_create", **HERE, kind="task", title="a title", steps=[{"title": "a step"}])
    assert again["id"] == "TASK-001"
    erased(door, "zebraagent", type="task", **HERE, target="TASK-001")
    assert door("tasks_claim", **HERE, target="TASK-001", agent="another")["agent"] == "another"


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_node_is_erased_on_branches_that_inherit_it_with_its_own_type_and_status(door: StoreDoor) -> None:
    node = {"op": "node_upsert", "id": "Q", "type": "zebratype", "status": "zebrastatus", "title": "zebratitle"}
    door("branchmind_graph_apply", **HERE, ops=[node])
    for name, base in (("try", "main"), ("above", "try")):
        door("branchmind_branch_create", **HERE, name=name, **{"from": base})
    erased(door, "zebratype", "zebrastatus", "zebratitle", type="node", **HERE, id="Q")
    for branch in ("main", "try", "above"):
        assert door("branchmind_graph_query", **HERE, branch=branch)["nodes"] == []
        [gone] = door("branchmind_graph_query", **HERE, branch=branch, include_deleted=True)["nodes"]
        assert (gone["id"], gone["type"], gone["deleted"]) == ("Q", "erased", True)


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_subgoal_titled_after_an_erased_question_gets_the_id_as_title(door: StoreDoor) -> None:
    door("branchmind_think_card", **HERE, card={"id": "Q", "type": "question", "title": "zebratitle"})
    first = door("branchmind_think_subgoal_open", **HERE, question_id="Q")["subgoal_id"]
    second = door("branchmind_think_subgoal_open", **HERE, question_id=first)["subgoal_id"]
    erased(door, "zebratitle", type="node", **HERE, id="Q")
    shown = door("branchmind_graph_query", **HERE)["nodes"]
    assert {one["id"]: one["title"] for one in shown} == {first: "Subgoal of Q", second: f"Subgoal of {first}"}
    found = door("moss_search", query="subgoal", search_mode="keyword")["items"]
    assert len(found) == 2


@holds("decisions §6: moss_erase changes no other row; hand-overs written by Moss lose only their quotations")
def test_a_card_of_the_same_id_in_another_graph_keeps_its_trace(door: StoreDoor) -> None:
    for number in (1, 2):
        door("tasks_create", **HERE, kind="task", title="a task")
        card = {"id": "H1", "type": "hypothesis", "title": f"says {'zebra' if number == 1 else 'other'}"}
        door("branchmind_think_card", **HERE, target=f"TASK-00{number}", card=card)
    door("moss_erase", type="node", **HERE, id="H1", doc="TASK-001-graph")
    told = [door("branchmind_show", **HERE, target=f"TASK-00{number}")["entries"][-1] for number in (1, 2)]
    assert [entry["content"] for entry in told] == ["[erased]", "says other"]


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_deleted_step_is_erased_alone_or_with_its_task(door: StoreDoor) -> None:
    steps = [{"title": "zebrafirst"}, {"title": "zebrasecond"}, {"title": "stays"}]
    door("tasks_create", **HERE, kind="task", title="a task", steps=steps)
    for number in (1, 2):
        door("tasks_note", **HERE, target="TASK-001", step_id=f"STEP-00{number}", note=f"zebranote{number}")
        door("tasks_delete", **HERE, target="TASK-001", step_id=f"STEP-00{number}")
    erased(door, "zebrafirst", "zebranote1", type="task", **HERE, target="TASK-001", step_id="STEP-001")
    erased(door, "zebrasecond", "zebranote2", "stays", type="task", **HERE, target="TASK-001")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_deleted_task_is_erased_from_rows_that_mention_it(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="plan", title="the plan")
    steps = [{"title": "zebrastep", "success_criteria": "zebracriteria"}]
    door("tasks_create", **HERE, kind="task", title="zebratitle", parent="PLAN-001", steps=steps)
    door("tasks_note", **HERE, target="TASK-001", note="zebranote")
    door("branchmind_merge", **HERE, **{"from": "task/TASK-001", "into": "main"})
    door("tasks_delete", **HERE, target="TASK-001")
    door.refuses("NOT_FOUND", "moss_erase", type="task", **HERE, target="TASK-001", step_id="STEP-009")
    erased(door, "zebrastep", type="task", **HERE, target="TASK-001", step_id="STEP-001")
    erased(door, "zebratitle", "zebranote", type="task", **HERE, target="TASK-001")
    told = [event["type"] for event in door("tasks_delta", **HERE)["events"] if event["target"] == "TASK-001"]
    assert told == ["task_created", "note_added", "task_deleted"]
    door.refuses("NOT_FOUND", "moss_erase", type="task", **HERE, target="TASK-002")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_an_erased_task_keeps_its_position_without_contents(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="plan", title="the plan")
    steps = [{"title": "zebrastep", "success_criteria": "zebracriteria", "tests": "zebratests"}, {"title": "other"}]
    task = {"title": "zebratitle", "description": "zebradescription", "tags": ["zebratag"], "parent": "PLAN-001"}
    door("tasks_create", **HERE, kind="task", **task, steps=steps)
    door("tasks_note", **HERE, target="TASK-001", note="zebranote")
    door("tasks_evidence", **HERE, target="TASK-001", checks=["zebraevidence"])
    door("tasks_done", **HERE, target="TASK-001", path="s:1", checkpoints=CONFIRMED)
    words = ("step", "criteria", "tests", "title", "description", "tag", "note", "evidence")
    erased(door, *(f"zebra{word}" for word in words), type="task", **HERE, target="TASK-001")
    shown = door("tasks_show", **HERE, target="TASK-001")
    assert (shown["title"], shown["status"]) == ("[erased]", "ACTIVE")
    assert [(step["title"], step["status"]) for step in shown["steps"]] == [("[erased]", "open"), ("[erased]", "done")]
    nodes = door("branchmind_graph_query", **HERE, branch="plan/PLAN-001", doc="PLAN-001-graph")["nodes"]
    assert {node["id"]: node["title"] for node in nodes}["task:TASK-001"] == "[erased]"
    assert door("tasks_radar", **HERE, target="PLAN-001")["target"]["title"] == "the plan"


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_step_is_erased_with_its_notes_and_evidence_only(door: StoreDoor) -> None:
    steps = [{"title": "zebrastep", "success_criteria": "zebracriteria"}, {"title": "stays"}]
    door("tasks_create", **HERE, kind="task", title="the task", steps=steps)
    door("tasks_note", **HERE, target="TASK-001", path="s:0", note="zebranote")
    door("tasks_note", **HERE, target="TASK-001", path="s:1", note="also stays")
    words = ("zebrastep", "zebracriteria", "zebranote")
    erased(door, *words, type="task", **HERE, target="TASK-001", step_id="STEP-001")
    shown = door("tasks_show", **HERE, target="TASK-001")
    assert [step["title"] for step in shown["steps"]] == ["[erased]", "stays"]
    assert [step["notes"] for step in shown["steps"]] == [["[erased]"], ["also stays"]]
    assert shown["notes"] == []
    door.refuses("NOT_FOUND", "moss_erase", type="task", **HERE, target="TASK-001", step_id="STEP-009")


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_a_step_whose_id_has_an_erased_id_as_prefix_keeps_its_events(door: StoreDoor) -> None:
    door("tasks_create", **HERE, kind="task", title="the task")
    for count in (99, 100, *[200] * 4, 1):
        steps = [{"title": "zebrastep" if count == 100 else "stays"} for _ in range(count)]
        door("tasks_decompose", **HERE, target="TASK-001", steps=steps)
    last = door("tasks_delta", **HERE, limit=1000)["events"][-1]
    assert last["payload"] == {"steps": ["STEP-1000"]}
    door("moss_erase", type="task", **HERE, target="TASK-001", step_id="STEP-100")
    assert last in door("tasks_delta", **HERE, limit=1000)["events"]


@holds("decisions §6: moss_erase leaves no byte of a row in rows, versions, search, events and copies of merges")
def test_erasing_a_record_erases_its_observations_and_recomputes_the_entity(door: StoreDoor) -> None:
    capability, body = capability_of("release"), SAMPLES["release"]
    operation = {"capability_id": capability}
    fields = next(one for one in door("record_capabilities")["capabilities"] if one["capability_id"] == capability)
    free = next(
        name
        for name, field in fields["fields"].items()
        if field["type"] == "string" and name not in str(fields["identity"]) and not field.get("event")
    )
    first = door("submit_payload", **operation, body={**body, free: "keptword"})
    second = door("submit_payload", **operation, body={**body, free: "zebrasecret"})
    assert first["entity_id"] == second["entity_id"]
    answer = erased(door, "zebrasecret", type="record", id=second["payload_id"])
    assert answer["removed"]["rows"] == 2
    [entity] = door("retrieve_entities")["entities"]
    assert entity["snapshot"][free] == "keptword"
    assert entity["observation_count"] == 1
    erased(door, "keptword", type="record", id=first["payload_id"])
    assert door("retrieve_entities")["entities"] == []
    door.refuses("NOT_FOUND", "moss_erase", type="record", id=first["payload_id"])


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_an_address_of_another_type_is_refused(door: StoreDoor) -> None:
    door("capsule_store", name="auth", capsule_text=FULL)
    for what in ({"seq": 1}, {"target": "TASK-001"}, {"branch": "main"}):
        door.refuses("INVALID_REQUEST", "moss_erase", type="capsule", name="auth", **what)
    door.refuses("INVALID_REQUEST", "moss_erase", type="node", workspace="w", name="auth")
    door.refuses("INVALID_REQUEST", "moss_erase", type="note", seq=1)
    door.refuses("AMBIGUOUS_ADDRESSING", "moss_erase", type="capsule", id="x", name="auth")


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_rows_missing_on_the_given_branch_are_not_erased(door: StoreDoor) -> None:
    for name in ("tried", "other"):
        door("branchmind_branch_create", workspace="w", name=name)
    note = door("branchmind_notes_commit", workspace="w", branch="tried", content="only here")["entry"]["seq"]
    node = {"op": "node_upsert", "id": "Q", "type": "question", "title": "only here"}
    door("branchmind_graph_apply", workspace="w", branch="tried", ops=[node])
    for what in ({"type": "note", "seq": note}, {"type": "node", "id": "Q"}):
        door.refuses("NOT_FOUND", "moss_erase", workspace="w", branch="other", **what)
    door("branchmind_branch_create", workspace="w", name="above", **{"from": "tried"})
    for what in ({"type": "note", "seq": note}, {"type": "node", "id": "Q"}):
        door("moss_erase", workspace="w", branch="above", dry_run=True, **what)
        door("moss_erase", workspace="w", branch="tried", **what)


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_a_note_in_any_document_is_erased_by_its_number(door: StoreDoor) -> None:
    seq = door("branchmind_notes_commit", workspace="w", doc="design", content="a secret")["entry"]["seq"]
    door.refuses("NOT_FOUND", "moss_erase", type="note", workspace="w", doc="notes", seq=seq)
    door("moss_erase", type="note", workspace="w", seq=seq)
    shown = door("branchmind_show", workspace="w", doc="design")["entries"]
    assert [entry["content"] for entry in shown] == ["[erased]"]
    thought = door("branchmind_trace_step", workspace="w", step="think")["entry"]["seq"]
    door.refuses("NOT_FOUND", "moss_erase", type="note", workspace="w", seq=thought)


@holds("decisions §6: moss_erase refuses the present version alone and unknown ids, and names the copies")
def test_copies_in_the_home_folder_are_reported(door: StoreDoor, tmp_path: Path) -> None:
    door("capsule_store", name="auth", capsule_text=FULL + "zebraone")
    export = door("capsule_export")["path"]
    answer = door("moss_erase", type="capsule", name="auth")
    assert answer["copies"] == [export]
    assert files_with(door, "zebraone") == [export]
