"""Stores that erase in the smallest possible slices, and whose ids and times are repeatable.

Processes that are killed import this alone: what the tests themselves need takes longer to load than they live.
"""

from __future__ import annotations

import itertools
from typing import Any

from moss_memory.config import load_config
from moss_memory.rows import bulk_changes
from moss_memory.storage import call
from moss_memory.storage.sqlite import secure_delete
from moss_memory.store import Store
from moss_memory.tools.reasoning import reasoning_purge

NOW_MS = 1_900_000_000_000


def in_small_slices(patch: Any) -> None:
    """Make every slice as small as possible, through any object with `setattr`."""
    patch.setattr(secure_delete, "SLICE_S", 1e-9)
    patch.setattr(secure_delete, "_MERGE_PAGES", 1)
    patch.setattr(secure_delete, "_READ_PAGES", 8)
    patch.setattr(call, "SLICE_S", -1.0)
    for module in (bulk_changes, reasoning_purge):
        patch.setattr(module, "_BATCH_ROWS", 3)


def repeatable(home: str) -> Store:
    """Return a store with repeatable ids and times, so that the results of two calls can be compared."""
    number = itertools.count()
    config = load_config(home, cwd="/")
    return Store(config, clock_ms=lambda: NOW_MS, id_source=lambda now_ms: f"{next(number):026}")
