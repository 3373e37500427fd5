"""Power cuts: no acknowledged write is lost, and the test detects a lost one."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.power_cuts import broken_promises, check_after_cut, cut_power
from support.thorough import complete_or, first_of

CUTS = complete_or(200, 60)


def test_no_acknowledged_write_is_lost_in_a_power_cut(tmp_path: Path) -> None:
    homes = cut_power(tmp_path, "as the engine says", CUTS)
    assert len(homes) >= CUTS
    for home in homes:
        check_after_cut(home)


@pytest.mark.parametrize("synchronous", first_of(["normal", "off"]))
def test_the_same_cuts_lose_writes_when_commits_are_not_synced(tmp_path: Path, synchronous: str) -> None:
    homes = cut_power(tmp_path, synchronous, 60)
    lost = 0
    for home in homes:
        try:
            lost += bool(broken_promises(home))
        except Exception:  # without any sync the database may be beyond reading
            lost += 1
    assert lost > 0
