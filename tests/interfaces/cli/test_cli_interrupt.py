"""Ctrl-C ends a command with `[CANCELLED]` and leaves no partial change."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.commands.signals import InterruptHandler
from moss_memory.store import Store
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.cli_typist import Cli

DECISION = '{"decision": "Wait", "rationale": "Writers take turns", "timestamp": "2026-02-04"}'


@pytest.fixture(autouse=True)
def _default_interrupts() -> Iterator[None]:
    """Restore the default SIGINT handler, because background jobs inherit an ignored SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_write_that_waits_for_the_lock_is_cancelled(
    cli: Cli, auth: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = threading.Event()
    ask = InterruptHandler.ask

    def watched(interrupt_handler: InterruptHandler) -> bool:
        waits.set()
        return ask(interrupt_handler)

    def press() -> None:
        waits.wait(timeout=TIMEOUT_S)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    with monkeypatch.context() as patched, open(os.path.join(cli.home, "moss.lock"), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        patched.setattr(InterruptHandler, "ask", watched)
        presser.start()
        outcome = cli("update", "--name", "auth", "--title", "New")
        presser.join()
    assert outcome.code == 130
    assert outcome.out == ""
    assert outcome.err.startswith("[CANCELLED] ")
    assert cli("fetch", "--name", "auth").json["title"] == "auth"


def test_an_interrupt_after_the_commit_does_not_hide_the_answer(
    cli: Cli, auth: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Store.call

    def interrupted(store: Store, *arguments: Any, **options: Any) -> Any:
        answer = call(store, *arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return answer

    monkeypatch.setattr(Store, "call", interrupted)
    assert cli("update", "--name", "auth", "--title", "New").json["id"] == auth["id"]
    assert cli("fetch", "--name", "auth").code == 130


def test_reading_stdin_can_be_interrupted(cli: Cli) -> None:
    terminal, follower = os.openpty()
    process = cli.start("store", "--name", "x", stdin=follower)
    assert process.stderr is not None
    assert b"Ctrl-D" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT_S)
    os.close(follower)
    os.close(terminal)
    assert process.returncode == 130
    assert err.startswith(b"[CANCELLED] ")
    assert not os.path.exists(os.path.join(cli.home, "moss.db"))


def test_a_long_write_is_cancelled_at_its_next_step(
    cli: Cli, auth: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("export", "--path", "a.jsonl").json["count"] == 1
    monkeypatch.setattr(InterruptHandler, "ask", lambda _: True)
    outcome = cli("import", "a.jsonl", "--mode", "rename")
    assert outcome.code == 130
    assert outcome.err.startswith("[CANCELLED] ")
    assert cli("inventory").json["pagination"]["total"] == 1


def test_the_signal_handler_of_the_host_is_restored_after_a_write(cli: Cli, auth: dict[str, Any]) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert cli("update", "--name", "auth", "--title", "New").code == 0
    assert signal.getsignal(signal.SIGINT) is before


def test_a_store_that_stays_busy_is_reported(cli: Cli, auth: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moss_memory.store.WRITE_TIMEOUT_S", 0.05)
    with open(os.path.join(cli.home, "moss.lock"), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        outcome = cli("update", "--name", "auth", "--title", "New")
    assert outcome.code == 1
    assert outcome.err.startswith("[STORAGE_BUSY] other processes kept the store busy for 0.05 s")


def test_a_submission_waits_for_the_lock_like_every_write(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ("record", "submit", "neotoma:store_agent_decision:v1", DECISION)
    cli(*submit).json  # noqa: B018
    with open(os.path.join(cli.home, "moss.lock"), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        def freed_while_it_waits(_: InterruptHandler) -> bool:
            fcntl.flock(held, fcntl.LOCK_UN)
            return False

        monkeypatch.setattr(InterruptHandler, "ask", freed_while_it_waits)
        assert cli(*submit).json["created"] is False


def test_a_store_that_stays_busy_for_a_submission_has_its_own_code(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = ("record", "submit", "neotoma:store_agent_decision:v1", DECISION)
    cli(*submit).json  # noqa: B018
    monkeypatch.setattr("moss_memory.store.WRITE_TIMEOUT_S", 0.05)
    with open(os.path.join(cli.home, "moss.lock"), "rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        outcome = cli(*submit)
    assert outcome.code == 1
    assert outcome.err.startswith("[DB_INSERT_FAILED] other processes kept the store busy for 0.05 s")
