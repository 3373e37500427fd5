"""A sync of 10,000 capsules beside reading and hashing their files."""

from __future__ import annotations

import hashlib
import os

from moss_memory import open_store

from .measure import Line, medians_us, scratch_folder
from .texts import Author

CAPSULES = 10_000
_ROUNDS = 5


def lines() -> list[Line]:
    """A sync without changes."""
    with scratch_folder() as folder, open_store(os.path.join(folder, "home")) as store:
        author, place = Author(seed=3), os.path.join(folder, "memory")
        for number in range(CAPSULES):
            text = {"capsule_text": author.capsule(2000), "allow_thin": True}
            store.call("capsule_store", {"workspace": f"w{number % 10}", "name": f"capsule {number}", **text})
        store.sync(place)

        def same() -> None:
            assert store.sync(place)["written"] == 0

        read_us, same_us = medians_us(lambda: _read_all(place), same, rounds=_ROUNDS, warm_up=1)
    note = f"{same_us / 1000:.0f} ms, reading {read_us / 1000:.0f} ms"
    what = "sync of 10,000 capsules without changes : reading and hashing the files"
    return [Line(what, same_us / read_us, 3.0, note=note)]


def _read_all(folder: str) -> None:
    for place, _, names in os.walk(os.path.join(folder, "capsules")):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                hashlib.sha256(file.read()).hexdigest()
