"""Background indexing under continuous calls."""

from __future__ import annotations

import threading
from typing import Any

from moss_memory.mcp import background_index
from moss_memory.mcp.background_index import BackgroundIndexer
from support.timeouts import TIMEOUT_S


class _Texts:
    """A fake store with unindexed texts; an interrupted step does nothing."""

    def __init__(self, pending: int) -> None:
        self.pending = pending
        self.is_done = threading.Event()

    def index(self, *, most: int, wait: bool, cancelled: Any) -> dict[str, int]:
        done = 0 if cancelled() else min(most, self.pending)
        self.pending -= done
        if not self.pending:
            self.is_done.set()
        return {"indexed": done, "pending": self.pending}


def _calls_until_done(indexing: BackgroundIndexer, texts: _Texts) -> bool:
    """Send calls without an idle pause until the texts are indexed, and return whether they are."""
    deadline = threading.Event()
    timer = threading.Timer(TIMEOUT_S, deadline.set)
    timer.start()
    while not deadline.is_set() and not texts.is_done.wait(background_index.IDLE_S / 20):
        indexing.note_call()
    timer.cancel()
    return texts.is_done.is_set()


def test_texts_are_indexed_although_calls_arrive_continuously(monkeypatch: Any) -> None:
    monkeypatch.setattr(background_index, "BUSY_S", 0.05)
    texts = _Texts(3 * background_index.STEP)
    indexing = BackgroundIndexer(lambda: texts)  # type: ignore[arg-type, return-value]
    indexing.begin({})
    assert _calls_until_done(indexing, texts)
    assert indexing.stop(TIMEOUT_S)
