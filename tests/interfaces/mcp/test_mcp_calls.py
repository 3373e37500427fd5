from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from moss_memory.errors import MossError, is_busy
from moss_memory.mcp import scheduler as calls_module
from moss_memory.mcp.protocol import Request, ToolCall
from moss_memory.mcp.scheduler import CallScheduler, ProgressNotifier
from moss_memory.mcp.tool_list import ToolList
from support.mcp_fakes import TOOLS, FakeStore
from support.timeouts import TIMEOUT_S


class Bench:
    """A call scheduler over a fake store, and its answers."""

    def __init__(self) -> None:
        self.store = FakeStore()
        store: Any = self.store
        self.sent: list[Any] = []
        self.calls = CallScheduler(lambda: store, lambda message: self.sent.append(json.loads(message)))
        self.answers: dict[Any, Any] = {}
        self.order: list[Any] = []
        self.answered = threading.Condition()

    def take(self, key: Any, tool: str, progress_token: str | None = None, **arguments: Any) -> None:
        call = ToolCall(Request(key, json.dumps(key), "tools/call", {}), ToolList(), TOOLS[tool], arguments)
        call.progress_token = progress_token

        def reply(answer: bytes | None) -> None:
            with self.answered:
                self.order.append(key)
                self.answers[key] = None if answer is None else json.loads(answer)["result"]["structuredContent"]
                self.answered.notify_all()

        self.calls.submit(call, reply)

    def wait_for(self, *keys: Any) -> None:
        with self.answered:
            assert self.answered.wait_for(lambda: set(keys) <= self.answers.keys(), TIMEOUT_S)

    def hold_the_worker(self) -> None:
        self.take("long", "haul")
        assert self.store.started.wait(TIMEOUT_S)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.store.gate.set()
    assert made.calls.stop(TIMEOUT_S)


def test_a_short_call_is_answered_at_once(bench: Bench) -> None:
    bench.take(1, "echo", text="hi")
    assert bench.answers == {1: {"text": "hi"}}


def test_a_session_of_short_calls_starts_no_thread(bench: Bench) -> None:
    before = threading.active_count()
    bench.take(1, "note", text="a")
    bench.take(2, "recall")
    assert threading.active_count() == before


def test_a_long_call_does_not_block_the_loop(bench: Bench) -> None:
    bench.hold_the_worker()
    assert bench.answers == {}
    bench.store.gate.set()
    bench.wait_for("long")
    assert bench.answers["long"] == {"kept": 1}


def test_a_search_of_a_large_store_blocks_neither_the_loop_nor_writes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.store.large = True
    bench.take(1, "seek")
    assert bench.store.started.wait(TIMEOUT_S)
    assert bench.answers == {}
    monkeypatch.setattr(calls_module, "OVERTAKE_AFTER_S", 0.0)
    bench.take(2, "note", text="later")
    bench.calls.run_due()
    assert bench.answers == {2: {"kept": 1}}
    bench.store.gate.set()
    bench.wait_for(1)


def test_a_search_of_a_small_store_is_answered_at_once(bench: Bench) -> None:
    bench.store.gate.set()
    bench.take(1, "seek")
    assert bench.answers == {1: {"notes": []}}


def test_a_write_sent_after_a_long_call_runs_after_it(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "note", text="later")
    assert 2 not in bench.answers
    bench.store.gate.set()
    bench.wait_for(2)
    assert bench.store.notes == ["hauled", "later"]


def test_a_read_sees_the_writes_sent_before_it_and_none_sent_after(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "recall")
    bench.take(3, "note", text="later")
    bench.store.gate.set()
    bench.wait_for(2, 3)
    assert bench.answers[2] == {"notes": ["hauled"]}


def test_a_read_overtakes_a_running_call(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "OVERTAKE_AFTER_S", 0.0)
    bench.hold_the_worker()
    bench.take(2, "recall")
    assert bench.calls.wait_s() == 0.0
    bench.calls.run_due()
    assert bench.answers == {2: {"notes": []}}
    assert bench.calls.wait_s() is None


def test_a_read_does_not_overtake_too_early(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "recall")
    wait_s = bench.calls.wait_s()
    assert wait_s is not None
    assert 0 < wait_s <= 0.3
    bench.calls.run_due()
    assert bench.answers == {}


def test_a_long_call_and_a_write_never_overtake(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "OVERTAKE_AFTER_S", 0.0)
    bench.hold_the_worker()
    bench.take(2, "note", text="later")
    bench.take(3, "haul")
    bench.calls.run_due()
    assert bench.answers == {}
    assert bench.calls.wait_s() is None


def test_a_write_that_finds_the_store_busy_waits_on_the_worker(bench: Bench) -> None:
    bench.take(1, "contended")
    assert bench.store.started.wait(TIMEOUT_S)
    assert bench.answers == {}
    bench.store.gate.set()
    bench.wait_for(1)
    assert bench.answers[1] == {"wait": True}


def test_a_cancelled_call_stops_and_is_not_answered(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.calls.cancel("long")
    bench.wait_for("long")
    assert bench.answers["long"] is None
    assert bench.store.notes == []


def test_a_cancelled_waiting_call_never_runs(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "note", text="unwanted")
    bench.take("2", "note", text="wanted")
    bench.calls.cancel(2)
    assert bench.answers == {2: None}
    bench.store.gate.set()
    bench.wait_for("2")
    assert bench.store.notes == ["hauled", "wanted"]


def test_cancelling_an_answered_or_unknown_call_does_nothing(bench: Bench) -> None:
    bench.calls.cancel(1)
    bench.take(1, "note", text="kept")
    bench.calls.cancel(1)
    assert bench.answers == {1: {"kept": 1}}


def test_a_bug_on_the_worker_is_answered_and_the_next_call_runs(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "crash")
    bench.take(3, "unprintable")
    bench.take(4, "note", text="after")
    bench.store.gate.set()
    bench.wait_for(4)
    assert bench.answers[2]["error"]["code"] == "INTERNAL"
    assert bench.answers[3]["error"]["code"] == "INTERNAL"


def test_a_bug_in_a_short_call_is_answered(bench: Bench) -> None:
    bench.take(1, "crash")
    bench.take(2, "unprintable")
    assert [bench.answers[key]["error"]["code"] for key in (1, 2)] == ["INTERNAL", "INTERNAL"]


def test_finishing_completes_calls_and_answers_them_in_order(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "note", text="a")
    bench.take(3, "recall")
    bench.store.gate.set()
    bench.calls.finish(TIMEOUT_S)
    assert bench.order == ["long", 2, 3]


def test_finishing_times_out_and_stopping_answers_the_remaining_calls(bench: Bench) -> None:
    bench.hold_the_worker()
    bench.take(2, "note", text="a")
    bench.calls.finish(0.01)
    assert bench.answers == {}
    assert bench.calls.stop(TIMEOUT_S)
    assert {key: answer["error"]["code"] for key, answer in bench.answers.items()} == {
        "long": "CANCELLED",
        2: "CANCELLED",
    }
    assert bench.store.notes == []


def test_finishing_lets_reads_overtake(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "OVERTAKE_AFTER_S", 0.01)
    bench.hold_the_worker()
    bench.take(2, "recall")
    bench.calls.finish(0.2)
    assert bench.answers == {2: {"notes": []}}


def test_progress_includes_the_first_and_last_step_and_rises(bench: Bench) -> None:
    bench.store.gate.set()
    bench.take(1, "haul", "p", steps=5_000)
    bench.wait_for(1)
    steps = [message["params"]["progress"] for message in bench.sent]
    assert steps[0] == 1
    assert steps[-1] == 5_000
    assert steps == sorted(set(steps))
    assert len(steps) < 50
    assert {message["method"] for message in bench.sent} == {"notifications/progress"}
    assert {(message["params"]["progressToken"], message["params"]["total"]) for message in bench.sent} == {
        ("p", 5_000)
    }


def test_no_progress_is_sent_without_a_token(bench: Bench) -> None:
    bench.store.gate.set()
    bench.take(1, "haul", steps=10)
    bench.wait_for(1)
    assert bench.sent == []


def test_progress_that_does_not_rise_or_is_unwanted_is_not_sent() -> None:
    call = ToolCall(Request(1, "1", "tools/call", {}), ToolList(), TOOLS["haul"], {})
    call.progress_token = 7
    sent: list[bytes] = []
    report = ProgressNotifier(call, sent.append)
    report(3, None)
    report(3, None)
    report(2, None)
    report.finish()
    assert [json.loads(message)["params"] for message in sent] == [{"progressToken": 7, "progress": 3}]
    call.cancelled = True
    report(9, None)
    report.finish()
    assert len(sent) == 1


def test_a_busy_store_is_recognized_in_the_details_of_record_tools() -> None:
    assert is_busy(MossError("STORAGE_BUSY", ""))
    assert is_busy(MossError("INTERNAL", "", details={"storage_code": "STORAGE_BUSY"}))
    assert not is_busy(MossError("NOT_FOUND", ""))
    assert not is_busy(ValueError())
