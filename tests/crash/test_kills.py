"""A hundred writers are killed in the middle of their work: what they acknowledged is there, and nothing half-done."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from support.killed_worker import STEPS, WORK, Plan, state_of
from support.killing import kill_in_the_middle, some_of
from support.store_truth import check_truth, open_at

KILLS = 100
BATCHES = 4


def check_exports(home: Path) -> None:
    """A file under its final name is whole; what is not whole has another name."""
    for path in (home / "exports").iterdir():
        if path.name.endswith(".jsonl") and not path.name.startswith("import-"):
            content = path.read_text()
            assert content.endswith("\n"), f"{path.name} is not whole"
            lines = [json.loads(line) for line in content.splitlines()]
            assert lines[0]["_moss_export"] is True
            assert all("capsule_text" in line for line in lines[1:])


@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_killed_writer_loses_nothing_it_acknowledged_and_leaves_nothing_half_done(home: Path, batch: int) -> None:
    chance = random.Random(batch)  # noqa: S311
    unfinished = 0
    for number in range(KILLS // BATCHES):
        plan = Plan(home, 1000 * batch + number)
        acknowledged = kill_in_the_middle(WORK, home, plan.steps, some_of(STEPS // 2, chance)).count(b"a")
        found = state_of(home, plan.workspace)
        expected = plan.states[acknowledged : acknowledged + 2]
        assert found in expected, (acknowledged, plan.steps[acknowledged - 1 : acknowledged + 1])
        unfinished += acknowledged < STEPS
        check_exports(home)
        if number % 8 == 0:
            check_truth(home)
    assert unfinished >= KILLS // BATCHES * 0.8, "the writers were not killed in the middle"
    check_truth(home)
    with open_at(home) as store:
        assert store.call("capsule_inventory", {})["pagination"]["total"] > 0
