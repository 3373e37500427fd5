"""A server process with fake tools over raw pipes: answers, their order, and shutdown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moss_memory.mcp import stdio
from support.mcp_fakes import CODE
from support.mcp_pipe import SERVE, UNHURRIED, PipeClient, call, request
from support.timeouts import TIMEOUT_S


@pytest.fixture
def client(tmp_path: Path) -> Iterator[PipeClient]:
    with PipeClient(str(tmp_path), code=UNHURRIED + CODE) as made:
        yield made


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[PipeClient]:
    """Start a server with the call timeouts of production."""
    with PipeClient(str(tmp_path), code=CODE) as made:
        yield made


def structured(message: Any) -> Any:
    return message["result"]["structuredContent"]


def test_a_call_before_initialize_is_answered(client: PipeClient) -> None:
    client.send(call("echo", {"text": "hi"}, id=5))
    assert structured(client.receive()) == {"text": "hi"}


def test_a_piped_script_gets_every_answer_in_order_and_sees_its_own_writes(client: PipeClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    client.send(
        call("note", {"text": "first"}, id=1),
        call("haul", {"gate": str(gate)}, id=2),
        call("recall", id=3),
        call("note", {"text": "last"}, id=4),
        call("recall", id=5),
    )
    answers = client.hang_up()
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4, 5]
    assert structured(answers[2]) == {"notes": ["first", "hauled"]}
    assert structured(answers[4]) == {"notes": ["first", "hauled", "last"]}


def test_the_last_line_needs_no_newline(client: PipeClient) -> None:
    assert client.process.stdin is not None
    client.process.stdin.write(json.dumps(request("ping", id=8)).encode())
    assert [answer["id"] for answer in client.hang_up()] == [8]


def test_other_requests_are_answered_during_a_long_call(client: PipeClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    client.send(call("haul", {"gate": str(gate)}, id=1), request("ping", id=2), request("tools/list", id=3))
    assert client.receive()["id"] == 2
    assert client.receive()["id"] == 3
    client.send(call("recall", id=4))
    assert structured(client.receive()) == {"notes": []}
    gate.touch()
    assert client.receive()["id"] == 1


def test_a_cancelled_call_is_not_answered_and_leaves_nothing(client: PipeClient) -> None:
    client.send(
        call("haul", id=1, _meta={"progressToken": "p"}),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        call("recall", id=2),
    )
    assert client.receive()["id"] == 2
    assert client.hang_up() == []


def test_a_cancellation_after_the_answer_changes_nothing(client: PipeClient) -> None:
    client.send(
        call("note", {"text": "a"}, id=1),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        call("recall", id=2),
    )
    assert [answer["id"] for answer in client.hang_up()] == [1, 2]


def test_requests_with_the_same_id_are_all_answered(client: PipeClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    client.send(call("haul", {"gate": str(gate)}, id=1), call("echo", id=1), request("ping", id=1))
    assert [answer["id"] for answer in client.hang_up()] == [1, 1, 1]


def test_no_progress_comes_after_the_answer(client: PipeClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    client.send(call("haul", {"gate": str(gate), "steps": 1_000}, id=1, _meta={"progressToken": 0}))
    messages = client.hang_up()
    assert [message.get("id") for message in messages] == [None] * (len(messages) - 1) + [1]
    assert messages[0]["params"] == {"progressToken": 0, "progress": 1, "total": 1_000}
    assert messages[-2]["params"]["progress"] == 1_000


def test_a_batch_is_answered_with_one_array(client: PipeClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    client.send(
        [
            request("ping", id=1),
            call("haul", {"gate": str(gate)}, id=2),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call("recall", id=3),
            7,
            {"jsonrpc": "2.0", "id": 9, "result": {}},
        ]
    )
    [answers] = client.hang_up()
    assert {answer["id"] for answer in answers} == {1, 2, 3, None}
    assert len(answers) == 4


def test_a_batch_of_notifications_is_not_answered(client: PipeClient) -> None:
    client.send([{"jsonrpc": "2.0", "method": "x"}], request("ping", id=1))
    assert [answer["id"] for answer in client.hang_up()] == [1]


def test_a_cancelled_call_is_missing_from_its_batch(client: PipeClient) -> None:
    client.send(
        [call("haul", id=1), request("ping", id=2)],
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    )
    [answers] = client.hang_up()
    assert [answer["id"] for answer in answers] == [2]


def test_an_empty_batch_is_refused(client: PipeClient) -> None:
    client.write("[]")
    refused = client.receive()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


def test_the_loop_continues_after_empty_and_invalid_lines(client: PipeClient) -> None:
    client.write("x", b"\xff\xff", "", "   \r", "{", b"\x00")
    client.send(request("ping", id=1))
    answers = client.hang_up()
    assert [answer["id"] for answer in answers] == [None, None, None, None, 1]
    assert {answer["error"]["code"] for answer in answers[:-1]} == {-32700}


def test_an_endless_line_is_refused_before_it_ends_and_the_next_one_is_read(client: PipeClient) -> None:
    assert client.process.stdin is not None
    client.process.stdin.write(b'{"jsonrpc":"2.0","id":1,"x":"' + b"a" * (8 * 1024 * 1024))
    client.process.stdin.flush()
    refused = client.receive()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    client.write(b"b" * 1_000_000)
    client.send(request("ping", id=2))
    assert client.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_a_line_of_nearly_8_mib_is_read(client: PipeClient) -> None:
    client.send(call("echo", {"text": "a" * (8 * 1024 * 1024 - 1_000)}))
    assert len(structured(client.receive())["text"]) == 8 * 1024 * 1024 - 1_000


def test_nothing_but_messages_reaches_stdout(client: PipeClient) -> None:
    client.send(call("shout", id=1), request("ping", id=2))
    assert [answer["id"] for answer in client.hang_up()] == [1, 2]
    assert sorted(client.stderr().split("\n")) == ["", "printed by a library", "written by a library"]


def test_a_bug_is_logged_on_stderr_and_the_loop_continues(client: PipeClient) -> None:
    client.send(call("crash", id=1), call("broken", id=2), request("ping", id=3))
    answers = client.hang_up()
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert structured(answers[0])["error"]["code"] == "INTERNAL"
    assert "secret" not in json.dumps(answers)
    assert client.stderr().count("RuntimeError: the secret cause") == 2


def test_a_signalled_process_exits_within_two_seconds() -> None:
    assert stdio.FINISH_S < stdio.EXIT_AFTER_EOF_S < 2
    assert stdio.STOP_S < stdio.EXIT_AFTER_SIGNAL_S < 2


def test_hanging_up_cancels_a_hanging_call(hurried: PipeClient) -> None:
    hurried.send(call("haul", id=1), call("note", {"text": "a"}, id=2), call("recall", id=3))
    answers = {answer["id"]: structured(answer) for answer in hurried.hang_up()}
    assert answers[1]["error"]["code"] == "CANCELLED"
    assert answers[2]["error"]["code"] == "CANCELLED"
    assert answers[3] == {"notes": []}
    assert hurried.stderr() == ""


def test_hanging_up_ends_the_process_although_a_call_ignores_cancellation(hurried: PipeClient) -> None:
    hurried.send(call("stuck", id=1), request("ping", id=2))
    assert hurried.receive()["id"] == 2
    assert hurried.hang_up() == []
    assert hurried.stderr() == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("tool", ["echo", "haul", "stuck"])
def test_a_signal_ends_the_process_quietly(hurried: PipeClient, number: int, tool: str) -> None:
    hurried.send(call(tool, id=1), request("ping", id=2))
    while hurried.receive()["id"] != 2:
        pass
    _ends(hurried.process, number)
    assert hurried.stderr() == ""


def test_a_signal_ends_a_process_whose_client_does_not_read(hurried: PipeClient) -> None:
    _fill_the_pipe(hurried)
    _ends(hurried.process, signal.SIGTERM)


def test_hanging_up_ends_a_process_whose_client_does_not_read(hurried: PipeClient) -> None:
    _fill_the_pipe(hurried)
    assert hurried.process.stdin is not None
    hurried.process.stdin.close()
    _ends(hurried.process)


def test_a_closed_stdout_ends_the_process_quietly(client: PipeClient) -> None:
    assert client.process.stdout is not None
    assert client.ask("ping")["result"] == {}
    client.process.stdout.close()
    client.send(request("ping"))
    _ends(client.process)
    assert client.stderr() == ""


def test_a_closed_stdout_detected_by_the_worker_ends_the_process(client: PipeClient, tmp_path: Path) -> None:
    assert client.process.stdout is not None
    gate = tmp_path / "gate"
    client.send(call("haul", {"gate": str(gate)}, id=1), request("ping", id=2))
    assert client.receive()["id"] == 2
    client.process.stdout.close()
    gate.touch()
    _ends(client.process)
    assert client.stderr() == ""


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_server_started_with_closed_descriptors_ends_quietly(tmp_path: Path, closed: str) -> None:
    line = json.dumps(request("ping"))
    found = subprocess.run(
        ["sh", "-c", f'echo "$2" | "$0" -c "$1" {closed}', sys.executable, SERVE, line],
        capture_output=True,
        env={**os.environ, "MOSS_HOME": str(tmp_path)},
        timeout=TIMEOUT_S,
    )
    assert found.returncode == 0
    assert found.stderr == b""
    assert found.stdout == (b'{"jsonrpc":"2.0","id":1,"result":{}}\n' if closed == "2>&-" else b"")


def test_a_file_can_be_piped_through(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(json.dumps(request("ping", id=number)) + "\n" for number in range(500)))
    with source.open() as stdin, target.open("w") as stdout:
        subprocess.run([sys.executable, "-c", CODE], stdin=stdin, stdout=stdout, timeout=TIMEOUT_S, check=True)
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == list(range(500))


def _fill_the_pipe(client: PipeClient) -> None:
    """Request more than a pipe buffers and read the first byte, so that the server is writing."""
    client.send(call("echo", {"text": "a" * 1_000_000}))
    assert client.process.stdout is not None
    assert os.read(client.process.stdout.fileno(), 1) == b"{"


def _ends(process: subprocess.Popen[bytes], number: int | None = None) -> None:
    if number is not None:
        process.send_signal(number)
    assert process.wait(TIMEOUT_S) == 0
