"""An exception at any step of a call leaves no lock, no transaction and no file open, and never half a write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.interrupts import STORM, step_through
from support.python_process import run
from support.quick_stores import make_stores
from support.store_truth import capsule, open_at
from support.thorough import first_of

pytestmark = pytest.mark.sqlite("the write lock is a file beside the store")


@pytest.fixture(autouse=True)
def quick_stores() -> Iterator[None]:
    """Make stores without syncs, because thousands of writes need not wait for the disk."""
    make_stores(quickly=True)
    yield
    make_stores(quickly=False)


@pytest.mark.parametrize(
    ("what", "stride", "least"),
    first_of(
        [
            ("store", 1, 500),
            ("read", 1, 100),
            ("search", 1, 100),
            ("import", 1, 500),
            ("wait", 1, 500),
            ("purge", 29, 50),
        ]
    ),
)
def test_an_interrupt_at_any_line_leaves_nothing_behind(home: Path, what: str, stride: int, least: int) -> None:
    assert step_through(home, what, stride=stride) > least, "the lines are not seen"


@pytest.mark.parametrize(("what", "least"), first_of([("store", 500), ("read", 100), ("wait", 500)]))
def test_an_interrupt_at_any_opcode_of_the_lock_and_the_engine_leaves_nothing_behind(
    home: Path, what: str, least: int
) -> None:
    assert step_through(home, what, opcodes=True) > least, "the opcodes are not seen"


@pytest.mark.unmeasured
def test_signals_at_random_times_leave_nothing_behind(home: Path) -> None:
    outcomes = json.loads(run(STORM, home, 300, 7))
    assert outcomes["interrupted"] > 50, outcomes


def test_a_clock_that_fails_does_not_keep_the_lock(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow() -> Any:
        raise OverflowError("timestamp out of range")

    with open_at(home) as store, open_at(home) as other:
        arguments = {"capsule_text": capsule()}
        store.call("capsule_store", arguments)
        with monkeypatch.context() as patched:
            patched.setattr("moss_memory.storage.sqlite.lock.time.time", overflow)
            with pytest.raises(Exception, match="capsule_store"):
                store.call("capsule_store", arguments)
        with open_at(home, clock_ms=overflow) as broken, pytest.raises(Exception, match="capsule_store"):
            broken.call("capsule_store", arguments)
        with open_at(home, clock_ms=lambda: 10**13) as late:
            late.call("capsule_store", arguments, wait=False)
        for one in (other, store):
            one.call("capsule_store", arguments, wait=False)
