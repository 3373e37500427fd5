"""Eight processes that write at once: the cost of the queue, and the longest wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from time import monotonic
from typing import Any

from moss_memory import open_store
from moss_memory.store import Store

from .measure import Line, compared_us, duration, scratch_folder
from .polled_lock import PolledLock
from .texts import Author

WRITERS = 8
WRITES = 250
ROUNDS = 3
Span = tuple[float, float, float]
"""When the lock was asked for, got and let go, by a clock that all processes share."""


@dataclass(frozen=True)
class Run:
    """What eight writers did at once."""

    spans: list[Span]
    took_s: float

    @property
    def us_a_write(self) -> float:
        return self.took_s * 1e6 / len(self.spans)

    @property
    def longest_wait_s(self) -> float:
        return max(got - asked for asked, got, _ in self.spans)

    @property
    def longest_turns_s(self) -> float:
        """The longest that eight consecutive holds took, from the first one's beginning to the last one's end."""
        spans = sorted(self.spans, key=lambda span: span[1])
        return max(last[2] - first[1] for first, last in zip(spans, spans[WRITERS - 1 :], strict=False))


class Watched:
    """A lock that remembers when it was asked for, acquired and released."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.spans: list[Span] = []

    def hold(self, before_release: Any = None) -> WatchedHold:
        return WatchedHold(self._lock.hold(before_release), self.spans)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


class WatchedHold:
    """A hold that adds its times to a list."""

    def __init__(self, hold: Any, spans: list[Span]) -> None:
        self._hold = hold
        self._spans = spans
        self._times: list[float] = []

    def acquire(self, timeout_s: float, call: Any = None) -> None:
        asked = monotonic()
        self._hold.acquire(timeout_s, call)
        self._times = [asked, monotonic()]

    def release(self) -> None:
        if self._times:
            asked, got = self._times
            self._times = []
            self._spans.append((asked, got, monotonic()))
        self._hold.release()

    def __enter__(self) -> WatchedHold:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def write(home: str, number: str, *, polled: bool) -> None:
    """Stores capsules as fast as it can once it is told to, and tells when it had the lock."""
    store = open_store(home)
    _poll(store, home, polled=polled)
    engine: Any = store._engine
    engine._lock = watched = Watched(engine._lock)
    author = Author(seed=int(number))
    texts = [author.capsule(2_000) for _ in range(20)]
    _store(store, number, texts[0])
    print("ready", flush=True)
    sys.stdin.readline()
    watched.spans.clear()
    began = monotonic()
    for count in range(WRITES):
        _store(store, f"{number}.{count}", texts[count % 20])
    print(json.dumps([began, monotonic(), watched.spans]))


def _store(store: Store, name: str, text: str) -> None:
    store.call("capsule_store", {"workspace": "bench", "name": name, "capsule_text": text})


def _poll(store: Store, home: str, *, polled: bool) -> None:
    if polled:
        store._engine._lock = PolledLock(home)  # type: ignore[attr-defined]


def _run(home: str, way: str) -> Run:
    command = [sys.executable, "-m", "bench.writers", way, home]
    pipe = subprocess.PIPE
    writers = [
        subprocess.Popen([*command, str(number)], stdin=pipe, stdout=pipe, text=True) for number in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    told = [json.loads(writer.communicate()[0]) for writer in writers]
    took_s = max(ended for _, ended, _ in told) - min(began for began, _, _ in told)
    return Run([span for *_, spans in told for span in spans], took_s)


def lines() -> list[Line]:
    """Throughput and the longest wait of eight processes, beside a lock that is polled."""
    runs: dict[str, list[Run]] = {"queued": [], "polled": []}
    with scratch_folder() as folder:
        for number in range(ROUNDS):
            for way, done in runs.items():
                done.append(_run(os.path.join(folder, f"{way}-{number}"), way))
    fair, lucky = (median(run.us_a_write for run in done) for done in runs.values())
    worst = max(runs["queued"], key=lambda run: run.longest_wait_s / run.longest_turns_s)
    waits = [max(run.longest_wait_s for run in done) * 1e6 for done in runs.values()]
    return [
        Line(
            "store by eight processes at once : the same with a lock that all poll",
            fair / lucky,
            1.25,
            note=compared_us(fair, lucky),
        ),
        Line(
            "longest wait of eight writers : longest eight consecutive holds",
            worst.longest_wait_s / worst.longest_turns_s,
            2,
            note=f"{compared_us(worst.longest_wait_s * 1e6, worst.longest_turns_s * 1e6)};"
            f" {duration(waits[1])} when all poll",
        ),
    ]


if __name__ == "__main__":
    write(sys.argv[2], sys.argv[3], polled=sys.argv[1] == "polled")
