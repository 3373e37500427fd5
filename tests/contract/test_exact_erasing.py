"""Exact erasing: the erased thing is removed everywhere, and nothing else changes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from support.marked_store import Marked, erase_exactly
from support.promises import holds
from support.thorough import first_of

if TYPE_CHECKING:
    from contract.doors import StoreDoor


@holds("decisions §6: moss_erase changes no other row; hand-overs written by Moss lose only their quotations")
@pytest.mark.parametrize("seed", first_of(range(8)))
def test_erasing_one_of_several_things_of_one_name_is_complete_and_changes_no_other(door: StoreDoor, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    store = Marked(door, chance)
    for workspace in ("shop", "other"):
        store.build(workspace)
    everything = {word for thing in store.things for word in thing.words}
    gone: set[str] = set()
    for thing in chance.sample(store.things, len(store.things)):
        if not thing.words & gone:
            erase_exactly(door, thing, everything - gone)
            gone |= thing.words
    assert len(gone) > len(everything) // 2
