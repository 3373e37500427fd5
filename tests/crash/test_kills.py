"""A hundred writers are killed during their work: acknowledged writes are stored, and no write is half-done."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.killed_worker import killed_unfinished
from support.store_truth import check_truth, open_at
from support.thorough import first_of

KILLS = 100
BATCHES = 10


@pytest.mark.parametrize("batch", first_of(range(BATCHES)))
def test_a_killed_writer_loses_no_acknowledged_write_and_leaves_none_half_done(home: Path, batch: int) -> None:
    chance = random.Random(batch)  # noqa: S311
    unfinished = 0
    for number in range(KILLS // BATCHES):
        unfinished += killed_unfinished(home, 1000 * batch + number, chance)
        if number % 8 == 0:
            check_truth(home)
    assert unfinished >= KILLS // BATCHES * 0.8, "the writers were not killed in the middle"
    check_truth(home)
    with open_at(home) as store:
        assert store.call("capsule_inventory", {})["pagination"]["total"] > 0
