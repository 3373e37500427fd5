"""Writers killed during a write, and disks that lose power at any moment."""

from __future__ import annotations

import random
from pathlib import Path

from soak.trial import Trial
from support.killed_worker import killed_unfinished
from support.power_cuts import check_after_cut, cut_power
from support.store_truth import check_truth

KILLS, A_HOME = 600, 25
CUTS = 1_000


def killed_writers(folder: Path) -> Trial:
    """Assert that acknowledged writes are stored and none is half-done; use a new home for every 25 writers."""
    chance = random.Random(17)  # noqa: S311
    failed = unfinished = 0
    for number in range(KILLS):
        home = folder / str(number // A_HOME)
        try:
            unfinished += killed_unfinished(home, number, chance)
            if number % A_HOME == A_HOME - 1:
                check_truth(home)
        except AssertionError as error:
            failed += 1
            print(f"killed writer {number}: {error}")
    return Trial(KILLS, failed, f"{unfinished:,} of them in the middle of their work")


def power_cuts(folder: Path) -> Trial:
    """Assert that no acknowledged write is lost in any image of the disk."""
    homes = cut_power(folder, "as the engine says", CUTS)
    failed = 0
    for home in homes:
        try:
            check_after_cut(home)
        except AssertionError as error:
            failed += 1
            print(f"power cut {home.name}: {error}")
    return Trial(len(homes), failed)
