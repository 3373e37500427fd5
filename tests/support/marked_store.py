"""A store with many rows of equal names, in which each text of a row contains a unique word."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from contract.doors import FULL
from contract.records.archive import SAMPLES, capability_of
from support.direct_store import DirectStore

if TYPE_CHECKING:
    import random

    from contract.doors import StoreDoor

BOOKKEEPING = {"numbers", "erasures", "remembered", "activity", "documents", "task_numbers", "upkeep", "store_facts"}
"""Tables without user content: counters, and pending work."""
LETTERS = "bcdfghjklmnpqrstvwxz"


class Thing:
    """A row that can be erased: its arguments, and its words."""

    def __init__(self, word: str, **erased_by: Any) -> None:
        self.words = {word}
        self.erased_by = erased_by

    def __repr__(self) -> str:
        return f"{self.erased_by} {sorted(self.words)}"


class Marked:
    """Build such a store at random."""

    def __init__(self, door: StoreDoor, chance: random.Random) -> None:
        self.door = door
        self.chance = chance
        self.things: list[Thing] = []
        self._nodes: dict[tuple[str, str, str, str], Thing] = {}
        self._tasks: dict[tuple[str, str], Thing] = {}

    def word(self) -> str:
        """Return a new word that shares neither its beginning nor its end with another."""
        return "".join(self.chance.choices(LETTERS, k=14))

    def thing(self, word: str, **erased_by: Any) -> Thing:
        self.things.append(Thing(word, **erased_by))
        return self.things[-1]

    def build(self, workspace: str) -> None:
        """Fill a workspace."""
        here = {"workspace": workspace}
        self.named(workspace)
        self.record(workspace)
        self.door("branchmind_init", **here)
        for _ in range(2):
            self.note(workspace, "main", self.chance.choice(["notes", "design"]))
        for one in ("H1", "H10", "Q1"):
            self.card(workspace, "main", "graph", one)
        self.door("branchmind_think_link", **here, **{"from": "H10", "rel": "needs", "to": "H1"})
        self.door("branchmind_think_pin", **here, ids="H1")
        self.subgoals(workspace)
        self.door("branchmind_branch_create", **here, name="try")
        self.door("branchmind_branch_create", **here, name="above", **{"from": "try"})
        self.tasks(workspace)
        self.diverge(workspace)
        for doc in ("notes", "trace", "TASK-001-trace"):
            self.door("branchmind_merge", **here, **{"from": "task/TASK-001", "into": "main"}, doc=doc)
        for target in ("PLAN-001", "TASK-001", "TASK-002"):
            for _ in range(self.chance.randint(0, 2)):
                self.door("tasks_handoff", **here, target=target, as_capsule=True)
        self.delete_some(workspace)

    def named(self, workspace: str) -> None:
        """Store capsules and artifacts of one name, some of them deleted."""
        for _ in range(2):
            word = self.word()
            text = {"capsule_text": FULL + word, "title": f"{word} title", "tags": [f"{word}tag"], "role": word}
            stored = self.door("capsule_store", workspace=workspace, name="same", **text, mode="replace")
            self.door("capsule_update", id=stored["id"], title=f"{word} again")
            self.thing(word, type="capsule", id=stored["id"])
            self.door("capsule_delete", id=stored["id"])
            word = self.word()
            data = {"kind": word, "data": {"key": word}, "text": f"{word} text", "tags": [word]}
            made = self.door("artifact_store", workspace=workspace, name="same", **data, mode="replace")
            self.door("artifact_store", workspace=workspace, name="same", **data, mode="replace")
            self.thing(word, type="artifact", id=made["id"])
            self.door("artifact_delete", id=made["id"])
        for thing in self.things[-2:]:
            self.door(f"{thing.erased_by['type']}_restore", id=thing.erased_by["id"])

    def record(self, workspace: str) -> None:
        """Store two records of one entity."""
        for _ in range(2):
            word = self.word()
            body = {**SAMPLES["release"], "version": word, "acceptance_criteria": [f"{word} criterion"]}
            capability = capability_of("release")
            provenance = {"agent_id": word}
            told = self.door(
                "submit_payload", capability_id=capability, body=body, workspace=workspace, provenance=provenance
            )
            self.thing(word, type="record", id=told["payload_id"])

    def note(self, workspace: str, branch: str, doc: str) -> Thing:
        word = self.word()
        said = {"content": f"{word} content", "title": f"{word} title", "format": word, "meta": {"key": word}}
        entry = self.door("branchmind_notes_commit", workspace=workspace, branch=branch, doc=doc, **said)["entry"]
        return self.thing(word, type="note", workspace=workspace, seq=entry["seq"])

    def node(self, workspace: str, root: str, doc: str, id: str) -> Thing:
        """Store a node with one id in a graph, on all branches that share a base."""
        key = workspace, root, doc, id
        if key not in self._nodes:
            where = {"workspace": workspace, "branch": root, "doc": doc, "id": id}
            self._nodes[key] = self.thing(self.word(), type="node", **where)
        return self._nodes[key]

    def card(self, workspace: str, branch: str, doc: str, id: str, target: str | None = None) -> Thing:
        root = branch if branch.startswith(("task/", "plan/")) else "main"
        thing = self.node(workspace, root, doc, id)
        [word] = sorted(thing.words)[:1]
        kind = "question" if id.startswith("Q") else "hypothesis"
        card: dict[str, Any] = {
            "id": id,
            "type": kind,
            "title": f"{word} title",
            "text": f"{word} text",
            "tags": [f"{word}tag"],
        }
        card |= {"meta": {"key": word}, "status": f"{word}status"}
        place = {"branch": branch} if target is None else {"target": target}
        if target is not None and not branch.startswith("task/"):
            place["branch"] = branch
        self.door("branchmind_think_card", workspace=workspace, card=card, **place)
        return thing

    def subgoals(self, workspace: str) -> None:
        """Store a subgoal without its own title, and one below it."""
        below = "Q1"
        for _ in range(2):
            below = self.door("branchmind_think_subgoal_open", workspace=workspace, question_id=below)["subgoal_id"]

    def diverge(self, workspace: str) -> None:
        """Change one node and its edges differently on two branches; merge them into conflicts."""
        here, both = {"workspace": workspace}, {"from": "try", "into": "main"}
        thing = self.node(workspace, "main", "graph", "H1")
        for branch in ("try", "main"):
            word = self.word()
            thing.words.add(word)
            node = {"op": "node_upsert", "id": "H1", "type": word, "title": f"{word} title", "status": word}
            why = self.word()
            edge = {"op": "edge_upsert", "from": "H1", "rel": why, "to": "H10", "meta": {"why": why}}
            for end in ("H1", "H10"):  # an edge goes with either of its ends
                self.node(workspace, "main", "graph", end).words.add(why)
            self.door("branchmind_graph_apply", **here, branch=branch, ops=[node, edge])
        self.door("branchmind_graph_merge", **here, **both)
        if self.chance.random() < 0.5:
            self.door("branchmind_graph_apply", **here, ops=[{"op": "node_delete", "id": "H1"}])
        self.note(workspace, "try", "notes")
        self.door("branchmind_merge", **here, **both)
        self.door("branchmind_merge", **here, **both, doc="trace")
        other = self.node(workspace, "main", "other", "H1")
        [word] = other.words
        node = {"op": "node_upsert", "id": "H1", "type": "idea", "title": f"{word} title"}
        self.door("branchmind_graph_apply", **here, doc="other", ops=[node])

    def tasks(self, workspace: str) -> None:
        """Store a plan and two tasks with every field set."""
        here = {"workspace": workspace}
        word = self.word()
        self.door("tasks_create", **here, kind="plan", title=f"{word} title", description=f"{word} description")
        self.door("tasks_edit", **here, target="PLAN-001", contract={"key": word}, title=f"{word} other title")
        self._tasks[workspace, "PLAN-001"] = self.thing(word, type="task", **here, target="PLAN-001")
        for number in (1, 2):
            self.task(workspace, f"TASK-00{number}")
        self.door("tasks_edit", **here, target="TASK-002", depends_on=["TASK-001"])

    def task(self, workspace: str, target: str) -> None:
        here = {"workspace": workspace}
        word = self.word()
        steps = [self.step() for _ in range(2)]
        said = {"title": f"{word} title", "description": word, "tags": [word], "parent": "PLAN-001"}
        made = self.door("tasks_create", **here, kind="task", **said, steps=[step for _, step in steps])
        assert made["id"] == target
        whole = self.thing(word, type="task", **here, target=target)
        self._tasks[workspace, target] = whole
        for (own, _), step in zip(steps, made["steps"], strict=True):
            at = {**here, "target": target, "step_id": step["step_id"]}
            self.door("tasks_note", **at, note=f"{own} note")
            self.door("tasks_evidence", **at, checks=[f"{own} evidence"], links=[f"src/{own}.py"])
            self.door("tasks_block", **at, reason=f"{own} reason")
            self.door("tasks_claim", **at, agent=f"{own} agent")
            self.thing(own, type="task", **at)
            whole.words.add(own)
        note = self.word()
        self.door("tasks_note", **here, target=target, note=f"{note} see src/{note}.py", agent=f"{word} agent")
        entries = self.door("branchmind_show", **here, target=target, doc_kind="notes")["entries"]
        self.thing(note, type="note", **here, seq=entries[-1]["seq"])
        whole.words |= {note, *self.card(workspace, f"task/{target}", f"{target}-graph", "H1", target).words}
        decided = self.node(workspace, f"task/{target}", f"{target}-graph", "D1")
        [own] = decided.words
        self.door("branchmind_think_add_decision", **here, target=target, card={"id": "D1", "title": f"{own} title"})
        whole.words |= {own, *self.card(workspace, "main", f"{target}-graph", "H1", target).words}

    def step(self) -> tuple[str, dict[str, Any]]:
        word = self.word()
        texts = {name: [f"{word} {name}"] for name in ("success_criteria", "tests", "blockers")}
        return word, {"title": f"{word} title", **texts}

    def delete_some(self, workspace: str) -> None:
        """Delete a step or a task at random."""
        here = {"workspace": workspace}
        if self.chance.random() < 0.5:
            steps = self.door("tasks_radar", **here, target="TASK-001")["steps"]
            self.door("tasks_delete", **here, target="TASK-001", step_id=steps[0]["step_id"])
        if self.chance.random() < 0.3:
            self.door("tasks_delete", **here, target="TASK-002")


def erase_exactly(door: StoreDoor, thing: Thing, others: set[str], *, named: tuple[str, ...] = ()) -> dict[str, Any]:
    """Erase a row; assert that none of its words is left, and that every row of others is unchanged."""
    before = rows_of(door)
    assert all(any(word in row for row in before) for word in thing.words), f"{thing} was never whole"
    tried = door("moss_erase", **thing.erased_by, dry_run=True)
    assert rows_of(door) == before, "it was only tried"
    answer = door("moss_erase", **thing.erased_by)
    assert answer["complete"]
    assert (answer["removed"], answer["copies"]) == (tried["removed"], tried["copies"])
    assert tuple(answer["copies"]) == named, thing
    after = rows_of(door)
    if not named:
        left = {word: places for word in sorted(thing.words) if (places := _places(door, word))}
        assert left == {}, f"{thing} is left"
    kept = Counter({row: count for row, count in before.items() if not any(word in row for word in thing.words)})
    lost = [row for row in (kept - after) if any(word in row for word in others - thing.words)]
    assert [row.partition(" ")[0] for row in lost] == [], f"{thing} took others along: {lost}"
    with DirectStore(door.home) as direct:
        assert direct.problems() == []
    return answer


def rows_of(door: StoreDoor) -> Counter[str]:
    """Return every row of every table with user content, as JSON, without the revisions of tasks."""
    with DirectStore(door.home) as direct:
        dumped = direct.dump()
        columns, _ = direct.read(lambda tx: direct.engine.columns(tx, "tasks"))
    counted = columns.index("revision")
    dumped["tasks"] = [(*row[:counted], *row[counted + 1 :]) for row in dumped.get("tasks", ())]
    return Counter(
        f"{table} {json.dumps(row, ensure_ascii=False, default=repr)}"
        for table, rows in dumped.items()
        if table not in BOOKKEEPING
        for row in rows
    )


def _places(door: StoreDoor, word: str) -> list[str]:
    """Return the places of a word: files, tables, or search results."""
    found = door("moss_search", query=f"{word}*", search_mode="keyword")["items"]
    door.store.close()
    with DirectStore(door.home) as direct:
        # The index leaves out the beginning that a word shares with the one before it.
        return [*direct.places_of(word[2:]), *(f"search: {one}" for one in found)]
