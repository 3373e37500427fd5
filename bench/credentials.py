"""What it costs to keep credentials out: a store that is looked through, beside one that is not."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from moss_memory import open_store
from moss_memory.config import load_config
from moss_memory.store import Store

from .measure import Line, compared_us, medians_us, scratch_folder
from .texts import Author

CHARS = 12_000


def lines(rounds: int = 300) -> list[Line]:
    """Capsules of the largest size, stored in turn in two stores of which one allows everything."""
    texts = [Author(seed=seed).capsule(CHARS) for seed in range(40)]
    with scratch_folder() as folder:
        looked = open_store(os.path.join(folder, "looked"))
        allowed = Store(load_config(os.path.join(folder, "allowed"), cwd="/").replace(allow_secrets=True))
        ours, bare = medians_us(_storing(looked, texts), _storing(allowed, texts), rounds=rounds, block=5)
        looked.close()
        allowed.close()
    what = f"store of a {CHARS:,}-character capsule, looked through for credentials : not looked through"
    return [Line(what, ours / bare, 1.1, note=compared_us(ours, bare))]


def _storing(store: Store, texts: list[str]) -> Callable[[], None]:
    turn = itertools.cycle(texts)

    def put() -> None:
        store.call("capsule_store", {"workspace": "bench", "capsule_text": next(turn), "allow_thin": True})

    return put
