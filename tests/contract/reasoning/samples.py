"""A workspace with data for every reasoning and task tool, and valid arguments for each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.reasoning.reasoning_tools import ReasoningTools, edge, node
from support.direct_store import DirectStore

if TYPE_CHECKING:
    from contract.doors import Door

WORKSPACE = "default"
_NEEDED: dict[str, Any] = {
    "workspace": WORKSPACE, "content": "x", "ops": [node("n")], "from": "b", "into": "main", "to": "main",
    "ref": "main", "old": "spare", "new": "renamed", "artifact": "x", "message": "m", "target": "TASK-001", "card": "x",
    "step": "x", "thought": "x", "thought_number": 1, "total_thoughts": 1, "next_thought_needed": False,
    "title": "x", "note": "x", "steps": [{"title": "x"}], "checkpoints": {"criteria": True}, "status": "open",
    "question_id": "Q", "subgoal_id": "S", "ids": ["Q"], "id": "n",
}  # fmt: skip
_PARTICULAR: dict[str, dict[str, Any]] = {
    "branchmind_branch_create": {"name": "made"},
    "branchmind_branch_delete": {"name": "spare"},
    "branchmind_tag_create": {"name": "made"},
    "branchmind_tag_delete": {"name": "t"},
    "branchmind_reset": {"to": 1},
    "branchmind_graph_conflict_resolve": {"resolution": "use_from"},
    "branchmind_think_template": {"type": "note"},
    "branchmind_think_playbook": {"name": "default"},
    "branchmind_think_link": {"from": "Q", "rel": "r", "to": "S"},
    "tasks_create": {"kind": "task"},
    "tasks_edit": {"title": "x"},
    "tasks_complete": {"status": "ACTIVE"},
    "tasks_define": {"path": "s:0", "title": "x"},
    "tasks_verify": {"path": "s:0"},
    "tasks_done": {"path": "s:0", "checkpoints": {"criteria": True, "tests": True}},
    "tasks_reopen": {"path": "s:1"},
    "tasks_block": {"path": "s:0"},
    "tasks_evidence": {"texts": ["x"]},
    "tasks_claim": {"target": "TASK-001", "agent": "me"},
    "tasks_radar": {"target": "TASK-001"},
    "tasks_handoff": {"target": "TASK-001"},
}


def sample_arguments(tool: str, required: tuple[str, ...], ids: dict[str, str]) -> dict[str, Any]:
    """Return valid arguments of a tool for the workspace that `furnish` created."""
    known = {**_NEEDED, "conflict_id": ids["conflict"]}
    return {name: known[name] for name in required if name in known} | _PARTICULAR.get(tool, {})


def furnish(door: Door) -> str:
    """Create branches, notes, a graph, a tag, a conflict, cards and a task; return the id of the conflict."""
    room = ReasoningTools(door, WORKSPACE)
    room.note("first")
    room.apply(node("n", title="base"), node("m"), edge("n", "r", "m"))
    for name in ("b", "spare"):
        room.branch(name)
    room.note("second", branch="b")
    room("tag_create", name="t")
    for branch in ("b", "main"):
        room.apply(node("n", title=branch), branch=branch)
    conflict_id: str = room("graph_merge", from_="b", into="main")["conflict_ids"][0]
    room("think_card", card={"id": "Q", "type": "question", "title": "why"})
    room("think_card", card={"id": "S", "type": "question", "title": "how", "tags": ["subgoal"]})
    door("tasks_create", workspace=WORKSPACE, kind="task", title="T", steps=[{"title": "s"}, {"title": "done"}])
    confirmed = {"criteria": True, "tests": True}
    door("tasks_done", workspace=WORKSPACE, target="TASK-001", path="s:1", checkpoints=confirmed)
    return conflict_id


def is_furnished(direct: DirectStore) -> bool:
    """Return whether all rows of `furnish` still exist and at most a limited number was added."""
    [(furnished,)] = direct.rows(
        "select (select count(*) from branches where workspace_norm = '"
        + WORKSPACE
        + "' and name in ('main', 'b', 'spare')) = 3"
        " and (select count(*) from branches) < 40 and (select count(*) from doc_entries) < 150"
        " and (select count(*) from graph_versions) < 300 and (select count(*) from tasks) between 1 and 40"
        " and (select count(*) from steps) between 2 and 40 and (select count(*) from tags) between 1 and 40"
        " and exists (select 1 from graph_conflicts where resolution is null)"
        " and exists (select 1 from tasks where id = 'TASK-001' and workspace_norm = '" + WORKSPACE + "')",
    )
    return bool(furnished)
