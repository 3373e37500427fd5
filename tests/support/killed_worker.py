"""A writer that is killed: its planned calls, and the expected state of its workspace after each step."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

from support.killing import kill_in_the_middle, some_of, writer_with
from support.store_truth import capsule, open_at

STEPS = 60
WORK = writer_with("tools.capsule.capsule_tools", "tools.capsule.capsule_files", "tools.capsule.capsule_bulk")

Row = tuple[str, tuple[str, ...], str | None, bool]
State = dict[str, Row]
"""For each name: the word of its text, the appended lines, its phase, and whether it is deleted."""


class Plan:
    """A seeded list of writes in one workspace, with the expected state after each."""

    def __init__(self, home: Path, worker: int) -> None:
        self.workspace = f"worker {worker}"
        self.steps: list[tuple[str, dict[str, Any]]] = []
        self.states: list[State] = [{}]
        self._random = random.Random(worker)  # noqa: S311
        self._exports = home / "exports"
        self._worker = worker
        self._exports.mkdir(parents=True, exist_ok=True, mode=0o700)
        kinds = ["store", "replace", "update", "append", "delete", "import", "phase", "bulk_delete", "export"]
        for number in range(STEPS):
            alive = [name for name, row in self.states[-1].items() if not row[3]]
            kind = self._random.choice(kinds) if len(alive) > 2 else "store"
            getattr(self, f"_{kind}")(number, self._random.choice(alive) if alive else "")

    def _add(self, tool: str, arguments: dict[str, Any], changed: State) -> None:
        self.steps.append((tool, {"workspace": self.workspace, **arguments}))
        self.states.append({**self.states[-1], **changed})

    def _text(self, number: int) -> str:
        return capsule(f"word{number} " + "the filling " * self._random.randrange(90) + "end")

    def _store(self, number: int, _: str) -> None:
        name = f"name {number}"
        self._add(
            "capsule_store",
            {"name": name, "capsule_text": self._text(number)},
            {name: (f"word{number}", (), None, False)},
        )

    def _replace(self, number: int, name: str) -> None:
        arguments = {"name": name, "capsule_text": self._text(number), "mode": "replace"}
        self._add("capsule_store", arguments, {name: (f"word{number}", (), None, False)})

    def _update(self, number: int, name: str) -> None:
        arguments = {"name": name, "capsule_text": self._text(number)}
        self._add("capsule_update", arguments, {name: (f"word{number}", (), self.states[-1][name][2], False)})

    def _append(self, number: int, name: str) -> None:
        word, lines, phase, _ = self.states[-1][name]
        arguments = {"name": name, "section": "Next actions", "content": f"- line{number}"}
        self._add("capsule_append", arguments, {name: (word, (*lines, f"line{number}"), phase, False)})

    def _delete(self, number: int, name: str) -> None:
        self._add("capsule_delete", {"name": name}, {name: (*self.states[-1][name][:3], True)})

    def _import(self, number: int, _: str) -> None:
        records, rows = [], {}
        for part in range(3):
            name = f"imported {number}.{part}"
            capsule_id = f"{self._worker}-{number}-{part}"
            records.append(
                {
                    "id": capsule_id,
                    "workspace_raw": self.workspace,
                    "name_raw": name,
                    "capsule_text": self._text(number),
                }
            )
            rows[name] = (f"word{number}", (), None, False)
        path = self._exports / f"import-{self._worker}-{number}.jsonl"
        path.write_text("\n".join(map(json.dumps, records)))
        self.steps.append(("capsule_import", {"path": path.name}))
        self.states.append({**self.states[-1], **rows})

    def _phase(self, number: int, _: str) -> None:
        rows: State = {
            name: (row[0], row[1], f"p{number}", False) for name, row in self.states[-1].items() if not row[3]
        }
        self._add("capsule_bulk_update", {"set_phase": f"p{number}"}, rows)

    def _bulk_delete(self, number: int, name: str) -> None:
        prefix = name[:6]
        rows = {
            name: (*row[:3], True) for name, row in self.states[-1].items() if name.startswith(prefix) and not row[3]
        }
        self._add("capsule_bulk_delete", {"name_prefix": prefix}, rows)

    def _export(self, number: int, _: str) -> None:
        arguments = {"path": f"export-{self._worker}.jsonl"} if number % 2 else {}
        self._add("capsule_export", arguments, {})


def state_of(home: Path, workspace: str) -> State:
    """Return the stored state of the workspace, in the form of the plan."""
    state: State = {}
    with open_at(home) as store:
        arguments = {"workspace": workspace, "include_deleted": True, "limit": 100}
        for item in store.call("capsule_list", arguments)["items"]:
            text = store.call("capsule_fetch", {"id": item["id"], "include_deleted": True})["capsule_text"]
            words = set(re.findall(r"\bword\d+\b", text))
            assert len(words) == 1, "a text is mixed from two"
            lines = tuple(re.findall(r"^- (line\d+)$", text, re.MULTILINE))
            state[item["name"]] = (words.pop(), lines, item.get("phase"), "deleted_at" in item)
    return state


def killed_unfinished(home: Path, worker: int, chance: random.Random) -> bool:
    """Kill one writer during its work and check the store; return whether it was unfinished."""
    plan = Plan(home, worker)
    acknowledged = kill_in_the_middle(WORK, home, plan.steps, some_of(STEPS // 2, chance)).count(b"a")
    found = state_of(home, plan.workspace)
    expected = plan.states[acknowledged : acknowledged + 2]
    assert found in expected, (acknowledged, plan.steps[acknowledged - 1 : acknowledged + 1])
    check_exports(home)
    return acknowledged < STEPS


def check_exports(home: Path) -> None:
    """Assert that a file under its final name is whole; partial files have other names."""
    for path in (home / "exports").iterdir():
        if path.name.endswith(".jsonl") and not path.name.startswith("import-"):
            content = path.read_text()
            assert content.endswith("\n"), f"{path.name} is not whole"
            lines = [json.loads(line) for line in content.splitlines()]
            assert lines[0]["_moss_export"] is True
            assert all("capsule_text" in line for line in lines[1:])
