"""Import of exported stores after random operations, into an empty store and into one in use."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from contract.doors import FULL, Clock, open_test_store
from moss_memory.store import Store
from property.test_artifact_model import ArtifactMachine
from property.test_capsule_model import CapsuleMachine
from property.test_card_machine import CardMachine
from property.test_reasoning_machine import ConflictMachine, HistoryMachine, ReasoningMachine
from property.test_record_machine import RecordMachine
from property.test_task_machine import TaskMachine
from support.moved_store import answer, check_moves, questions, rows_of
from support.thorough import machine_settings

NUMBERED = {
    "seq",
    "last_seq",
    "base_seq",
    "old_seq",
    "new_seq",
    "cursor",
    "next_cursor",
    "head_seq",
    "from_seq",
    "head",
}


def moving(machine: type[RuleBasedStateMachine], examples: int) -> Any:
    """Return the tests of a machine that finally moves its store into an empty one and into one in use."""

    class Moving(machine):  # type: ignore[misc, valid-type]
        def teardown(self) -> None:
            folder = Path(tempfile.mkdtemp(prefix="moss-moving-"))
            try:
                check_moves(self.store, folder)
                check_beside(self.store, folder)
            finally:
                shutil.rmtree(folder)
                super().teardown()

    Moving.__name__ = Moving.__qualname__ = f"Moving{machine.__name__}"
    Moving.TestCase.settings = machine_settings(examples)
    return Moving.TestCase


def check_beside(store: Store, folder: Path) -> None:
    """Assert that rows imported into a store in use are equal except for their numbers."""
    with open_test_store(str(folder / "used"), Clock(store._clock_ms())) as used:
        used.call("capsule_store", {"name": "elsewhere", "workspace": "in use", "capsule_text": FULL})
        used.call("tasks_create", {"workspace": "in use", "kind": "plan", "title": "stays"})
        used.call("branchmind_notes_commit", {"workspace": "in use", "content": "stays"})
        before = used.call("tasks_radar", {"workspace": "in use", "target": "PLAN-001"})
        offset = used.call("branchmind_log", {"workspace": "in use"})["commits"][0]["seq"]
        used.import_folder(str(folder / "first"))
        assert used.call("tasks_radar", {"workspace": "in use", "target": "PLAN-001"}) == before
        for tool, arguments in questions(store.config.home):
            if "workspace" in arguments:
                there = plain(answer(used, tool, arguments), offset)
                assert there == plain(answer(store, tool, arguments), 0), (tool, arguments)
        told = used.import_folder(str(folder / "first"), mode="rename")
        assert len(told.get("renamed", [])) == len(rows_of(str(store.config.home)).get("workspaces", []))
        used.import_folder(str(folder / "first"), mode="replace")
        check_moves(used, folder / "again")


def plain(value: Any, offset: int) -> Any:
    """Return an answer with numbers that begin at 1, and without the ids derived from numbers."""
    if isinstance(value, dict):
        return {
            key: one - offset if key in NUMBERED and isinstance(one, int) and one < 2**53 else plain(one, offset)
            for key, one in value.items()
            if key not in ("conflict_id", "source_event_id")
        }
    return [plain(one, offset) for one in value] if isinstance(value, list) else value


TestMovingArtifacts = moving(ArtifactMachine, 4)
TestMovingCapsules = moving(CapsuleMachine, 4)
TestMovingCards = moving(CardMachine, 4)
TestMovingNotesAndGraphs = moving(ReasoningMachine, 4)
TestMovingArguments = moving(ConflictMachine, 4)
TestMovingHistories = moving(HistoryMachine, 4)
TestMovingRecords = moving(RecordMachine, 4)
TestMovingTasks = moving(TaskMachine, 4)
