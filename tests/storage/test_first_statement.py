"""A writer waits for others, and delays them, from its first statement on: earlier checks of a call take no lock."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, open_test_store
from moss_memory.store import Store
from storage.test_busy import lock_held_elsewhere
from support.direct_store import DirectStore
from support.python_process import finish
from support.store_truth import capsule, events, open_at, refusal
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from moss_memory.storage.engine import Transaction

BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("CAPSULE_TOO_THIN", "capsule_store", {"capsule_text": "thin"}),
    ("CAPSULE_TOO_LARGE", "capsule_store", {"capsule_text": capsule("x" * 20_000)}),
    ("INVALID_REQUEST", "capsule_store", {"capsule_text": capsule(), "workspace": " "}),
    ("CAPSULE_TOO_THIN", "capsule_update", {"name": "a", "capsule_text": "thin"}),
    ("NOT_FOUND", "capsule_import", {"path": "missing.jsonl"}),
    ("INVALID_REQUEST", "capsule_import", {"path": "broken.jsonl"}),
    ("INVALID_REQUEST", "artifact_store", {"kind": "step-result", "data": {"x": 1}, "validate": True}),
    ("DATA_TOO_LARGE", "artifact_store", {"kind": "k", "data": {"x": "y" * 60_000}}),
    ("VALIDATION_ERROR", "submit_payload", {"capability_id": "neotoma:store_release:v1", "body": {"id": 1}}),
    ("INVALID_REQUEST", "branchmind_notes_commit", {"workspace": "w", "content": " "}),
]


@pytest.mark.parametrize(("code", "tool", "arguments"), BAD)
def test_a_bad_call_is_refused_while_others_write_without_waiting_for_them(
    store: Store, home: Path, code: str, tool: str, arguments: dict[str, Any]
) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": capsule()})
    (home / "exports").mkdir(mode=0o700)
    (home / "exports" / "broken.jsonl").write_text("{")
    with lock_held_elsewhere(home):
        assert refusal(lambda: store.call(tool, arguments, wait=False)).code == code


@pytest.mark.parametrize(("code", "tool", "arguments"), BAD)
def test_a_call_that_is_refused_for_its_arguments_makes_no_store(
    home: Path, code: str, tool: str, arguments: dict[str, Any]
) -> None:
    with open_at(home) as store:
        assert refusal(lambda: store.call(tool, arguments)).code in (code, "NOT_FOUND")
    assert not home.exists()


def test_an_import_with_only_wrong_lines_does_not_wait_for_writers(store: Store, home: Path) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": capsule()})
    (home / "exports").mkdir(mode=0o700)
    (home / "exports" / "wrong.jsonl").write_text('{"id": 1}\n' * 3)
    with lock_held_elsewhere(home):
        answer = store.call("capsule_import", {"path": "wrong.jsonl"}, wait=False)
    assert (answer["imported"], answer["skipped"]) == (0, 3)


def test_a_change_is_dated_when_it_is_made_not_when_it_was_asked_for(home: Path) -> None:
    clock = Clock()
    with open_test_store(str(home), clock) as store:
        store.call("capsule_store", {"name": "before", "capsule_text": capsule()})
        answers: list[dict[str, Any]] = []
        with lock_held_elsewhere(home) as holder:
            asked = threading.Event()

            def cancelled() -> bool:
                asked.set()
                return False

            call = {"name": "late", "capsule_text": capsule()}
            waiting = threading.Thread(
                target=lambda: answers.append(store.call("capsule_store", call, cancelled=cancelled))
            )
            waiting.start()
            assert asked.wait(TIMEOUT_S)
            clock.advance(100)
            finish(holder, "\n")
            waiting.join()
        late = store.call("capsule_fetch", {"name": "late"})
    assert late["created_at"] == late["updated_at"] == clock.seconds


def test_a_write_that_waits_for_another_thread_can_be_cancelled(store: Store, home: Path) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": capsule()})
    engine: Any = store._engine
    with engine.new_hold() as hold:
        hold.acquire(1.0)
        error = refusal(lambda: store.call("capsule_store", {"capsule_text": capsule()}, cancelled=lambda: True))
    assert error.code == "CANCELLED"
    assert len(events(home)) == 1
    # With patience: the thread that kept its place passes through the lock once more before it ends.
    store.call("capsule_store", {"capsule_text": capsule()})


def test_yielding_the_lock_before_the_first_statement_does_nothing(store: Store, home: Path) -> None:
    store.call("capsule_store", {"name": "a", "capsule_text": capsule()})
    with lock_held_elsewhere(home):
        DirectStore(home).write(_yield_lock)
    assert len(events(home)) == 1


def _yield_lock(tx: Transaction) -> None:
    assert tx.yield_lock()
