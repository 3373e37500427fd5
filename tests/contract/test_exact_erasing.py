"""Erasing is exact: nothing of the erased thing is left anywhere, and nothing of another thing is touched."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from support.marked_store import Marked, erase_exactly

if TYPE_CHECKING:
    from contract.doors import StoreDoor


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_erased_among_things_of_the_same_names_goes_alone_and_whole(door: StoreDoor, seed: int) -> None:
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
