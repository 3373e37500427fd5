"""Stores that erase in slices as small as can be, and whose ids and times are the same each time.

Processes that are killed import this alone: what the tests themselves need takes longer to load than they live.
"""

from __future__ import annotations

import itertools
from typing import Any

from moss_memory.config import load_config
from moss_memory.rows import bulk_changes
from moss_memory.storage import transaction
from moss_memory.storage.sqlite import secure_delete
from moss_memory.store import Store
from moss_memory.tools.reasoning import reasoning_purge

NOW_MS = 1_900_000_000_000


def in_small_slices(patch: Any) -> None:
    """Makes every slice as small as it can be, by anything that has `setattr`."""
    patch.setattr(secure_delete, "SLICE_S", 1e-9)
    patch.setattr(secure_delete, "_MERGE_PAGES", 1)
    patch.setattr(secure_delete, "_READ_PAGES", 8)
    patch.setattr(transaction, "SLICE_S", -1.0)
    for module in (bulk_changes, reasoning_purge):
        patch.setattr(module, "_BATCH_ROWS", 3)


def repeatable(home: str) -> Store:
    """A store in which ids and times are the same each time, so that what two calls leave can be compared."""
    number = itertools.count()
    config = load_config(home, cwd="/")
    return Store(config, clock_ms=lambda: NOW_MS, id_source=lambda now_ms: f"{next(number):026}")
