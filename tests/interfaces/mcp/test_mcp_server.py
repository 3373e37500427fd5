"""The real server over raw pipes: capsules, configuration, two protocol versions on one connection."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mcp_pipe import PipeClient, call, request
from support.timeouts import TIMEOUT_S

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
TEXT = "\n".join(
    f"## {header}\nx"
    for header in ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions")
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir(0o700)
    return made


@pytest.fixture
def client(home: Path) -> Iterator[PipeClient]:
    with PipeClient(str(home)) as made:
        yield made


def structured(message: Any) -> Any:
    return message["result"]["structuredContent"]


def code(message: Any) -> Any:
    assert message["result"]["isError"] is True
    return structured(message)["error"]["code"]


def test_initialize_and_ping_open_no_store(client: PipeClient, home: Path) -> None:
    assert client.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]["serverInfo"]["name"] == "moss"
    assert client.ask("ping")["result"] == {}
    assert client.ask("tools/list")["result"]["tools"]
    assert list(home.iterdir()) == []


def test_a_stored_capsule_is_fetched_in_both_eras(client: PipeClient) -> None:
    client.send(call("capsule_store", {"name": "auth", "capsule_text": TEXT}, id=1))
    stored = structured(client.receive())
    client.send(call("capsule_fetch", {"name": "auth"}, id=2, _meta={VERSION_KEY: "2026-07-28"}))
    found = client.receive()
    assert found["result"]["resultType"] == "complete"
    assert structured(found)["id"] == stored["id"]
    assert structured(found)["capsule_text"] == TEXT
    assert json.loads(found["result"]["content"][0]["text"]) == structured(found)


def test_v1_names_answer_with_task_link(client: PipeClient) -> None:
    client.send(call("moss.store", {"name": "auth", "capsule_text": TEXT}))
    assert structured(client.receive())["task_link"] == {"moss_capsule": "auth", "moss_workspace": "default"}


def test_a_script_sees_its_own_export_and_import(client: PipeClient, home: Path) -> None:
    path = str(home / "exports" / "a.jsonl")
    client.send(
        call("capsule_store", {"name": "auth", "capsule_text": TEXT}, id=1),
        call("capsule_export", {"path": path}, id=2, _meta={"progressToken": "out"}),
        call("capsule_delete", {"name": "auth"}, id=3),
        call("capsule_purge", {}, id=4),
        call("capsule_import", {"path": path}, id=5, _meta={"progressToken": "in"}),
        call("capsule_fetch", {"name": "auth"}, id=6),
    )
    messages = client.hang_up()
    answers = {message["id"]: structured(message) for message in messages if "id" in message}
    assert answers[2]["count"] == 1
    assert answers[6]["capsule_text"] == TEXT
    told = [message["params"] for message in messages if "method" in message]
    assert {(step["progressToken"], step["progress"]) for step in told} >= {("out", 1), ("in", 1)}


def test_a_cancelled_import_leaves_nothing_and_is_not_answered(client: PipeClient, home: Path) -> None:
    exports = home / "exports"
    exports.mkdir(0o700)
    record = {"workspace_raw": "w", "capsule_text": TEXT, "created_at": 1, "updated_at": 1}
    rows = (json.dumps({**record, "id": f"01ARZ3NDEKTSV4RRFFQ6{number:06}"}) for number in range(5_000))
    (exports / "big.jsonl").write_text("\n".join(rows))
    client.send(
        call("capsule_import", {"path": "big.jsonl"}, id=1),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        call("capsule_import", {"path": "nothing.jsonl"}, id=2),
        call("capsule_inventory", {}, id=3),
    )
    answers = {answer["id"]: structured(answer) for answer in client.hang_up()}
    assert answers.keys() == {2, 3}
    assert answers[3]["items"] == []


def test_a_store_error_explains_the_problem(client: PipeClient) -> None:
    client.send(call("capsule_fetch", {"name": "nothing"}))
    assert code(client.receive()) == "NOT_FOUND"
    client.send(call("capsule_store", {"capsule_text": "thin"}))
    assert code(client.receive()) == "CAPSULE_TOO_THIN"


@pytest.mark.parametrize(
    "name", ["capsule_\ud800", "capsule_", "capsule_\0", "moss.", "moss_", "__class__", "x" * 5_000]
)
def test_an_unknown_tool_name_is_refused(client: PipeClient, name: str) -> None:
    client.send(call(name, id=5))
    refused = client.receive()
    assert (refused["id"], refused["error"]["code"]) == (5, -32602)


@pytest.mark.parametrize(
    "value", ['"\\ud800"', '"\\u0000"', "NaN", "1e999", "99999999999999999999", "9" * 5_000, "[" * 900 + "]" * 900]
)
@pytest.mark.parametrize("argument", ["name", "limit", "items", "unheard_of"])
def test_an_argument_that_cannot_be_stored_is_refused_with_the_id(
    client: PipeClient, argument: str, value: str
) -> None:
    tool = {"name": "capsule_fetch", "limit": "capsule_list"}.get(argument, "capsule_fetch_many")
    params = f'{{"name":"{tool}","arguments":{{"{argument}":{value}}}}}'
    client.write(f'{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{params}}}')
    answer = client.receive()
    assert answer["id"] == 77
    assert code(answer) == "INVALID_REQUEST"


@pytest.mark.parametrize(
    "arguments",
    ["[]", '"x"', "7", '{"body":' + "[" * 70 + "]" * 70 + "}", '{"body":' + "[" * 9_000 + "]" * 9_000 + "}"],
)
@pytest.mark.parametrize("before", ["", '"x":NaN,'])
def test_a_record_tool_refuses_undecodable_arguments_with_its_own_codes(
    client: PipeClient, arguments: str, before: str
) -> None:
    for params in (
        f'{before}"name":"submit_payload","arguments":{arguments}',
        f'"arguments":{arguments},"name":"retrieve_records"',
    ):
        client.write(f'{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{{params}}}}}')
        answer = client.receive()
        assert answer["id"] == 77
        assert code(answer) == "VALIDATION_ERROR"


def test_the_configuration_limits_the_listed_tools(home: Path) -> None:
    disabled = ["capsule_store", "capsule_stor"]
    settings = {"disabled_tools": disabled, "toolsets": ["capsule", "cupsule"], "unheard_of": 1}
    (home / "config.json").write_text(json.dumps(settings))
    with PipeClient(str(home)) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        assert "capsule_store" not in names
        assert "capsule_fetch" in names
        for tool in ("capsule_store", "moss.store"):
            client.send(call(tool, {"capsule_text": TEXT}))
            error = client.receive()["error"]
            assert error["code"] == -32602
            assert error["message"].partition(";")[0] == f"Unknown tool: {tool}"
            assert error["data"]["error"]["details"]["nearest"]
        client.hang_up()
        warnings = client.stderr()
    assert "'cupsule'" in warnings
    assert "'capsule_stor'" in warnings
    assert "'unheard_of'" in warnings


def test_a_broken_configuration_is_reported_in_every_answer_about_tools(home: Path) -> None:
    (home / "config.json").write_text("{")
    with PipeClient(str(home)) as client:
        assert "serverInfo" in client.ask("initialize", {})["result"]
        assert "config.json" in client.ask("tools/list")["error"]["message"]
        client.send(call("capsule_list"))
        assert code(client.receive()) == "INVALID_REQUEST"


def test_toolsets_of_the_command_line_override_the_configuration(home: Path) -> None:
    (home / "config.json").write_text('{"toolsets": ["artifact"]}')
    serve = "from moss_memory.mcp.stdio import serve; serve(toolsets=['capsule'])"
    with PipeClient(str(home), code=serve) as client:
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
    assert "capsule_fetch" in names


def test_an_unknown_toolset_on_the_command_line_is_fatal(home: Path) -> None:
    serve = "import sys; from moss_memory.mcp.stdio import serve; sys.exit(serve(toolsets=['capsul']))"
    found = subprocess.run(
        [sys.executable, "-c", serve], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr.startswith("moss: unknown toolset 'capsul'; known: capsule, ")


def test_a_store_that_cannot_be_opened_is_an_error_of_the_call(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with PipeClient(str(blocked), cwd=str(tmp_path)) as client:
        client.send(call("capsule_list", id=1), request("ping", id=2))
        assert code(client.receive()).startswith("STORAGE_")
        assert client.receive()["result"] == {}


def test_a_write_waits_for_another_process_without_blocking_the_loop(client: PipeClient, home: Path) -> None:
    client.send(call("capsule_list", id=1))
    client.receive()
    with (home / "moss.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        client.send(call("capsule_store", {"name": "auth", "capsule_text": TEXT}, id=2), request("ping", id=3))
        assert client.receive()["id"] == 3
        client.send(call("capsule_list", id=4))
        assert structured(client.receive())["items"] == []
    assert client.receive()["id"] == 2


SERVE_AND_TELL = """
import sys
from moss_memory.cli.main import run
code = run(["mcp"])
print(*sorted(sys.modules), file=sys.stderr)
"""


def modules_after(home: Path, *messages: Any) -> set[str]:
    """Return the modules that a server has imported after it answered."""
    with PipeClient(str(home), code=SERVE_AND_TELL) as client:
        client.send(*messages)
        assert len(client.hang_up()) == len(messages)
        return set(client.stderr().split())


@pytest.mark.unmeasured
def test_a_session_imports_no_slow_module(home: Path) -> None:
    slow = {"asyncio", "dataclasses", "inspect", "logging", "mcp", "msgspec", "pathlib", "subprocess", "typing"}
    imported = modules_after(
        home,
        request("initialize", {"protocolVersion": "2025-06-18"}),
        request("tools/list"),
        call("capsule_store", {"name": "auth", "capsule_text": TEXT}),
        call("capsule_fetch", {"name": "auth"}),
    )
    assert imported & (slow | {"threading"}) == set()
    assert modules_after(home, call("capsule_export", {})) & slow == set()


def test_the_list_of_tools_needs_no_database_driver(home: Path) -> None:
    assert "apsw" not in modules_after(home, request("tools/list"))


def test_the_handshake_without_a_store_needs_no_database_driver(home: Path) -> None:
    hello = request("initialize", {"protocolVersion": "2025-06-18"})
    assert "apsw" not in modules_after(home, hello)
    modules_after(home, call("capsule_store", {"name": "auth", "capsule_text": TEXT}))
    assert "apsw" in modules_after(home, hello)


def test_a_session_does_not_leak_memory(client: PipeClient) -> None:
    client.send(call("capsule_store", {"name": "auth", "capsule_text": TEXT}))
    client.receive()
    fetch = json.dumps(call("capsule_fetch", {"name": "auth"}))

    def resident_after(calls: int) -> int:
        for _ in range(calls // 20):
            client.write(*[fetch] * 20)
            for _ in range(20):
                client.line()
        shown = subprocess.run(["ps", "-o", "rss=", "-p", str(client.process.pid)], capture_output=True, check=True)
        return int(shown.stdout)

    early_kb = resident_after(1_000)
    late_kb = resident_after(4_000)
    assert late_kb < 40_000
    assert late_kb - early_kb < 1_000


def test_a_client_that_never_reads_does_not_grow_the_memory_of_the_server(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "moss_memory.cli.main", "mcp", "--home", str(tmp_path / "home")]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    os.set_blocking(stdin.fileno(), False)
    call = {"name": "capsule_export", "arguments": {"path": "x" * 5000}}  # a long call, with a refusal
    sent, rest = 0, b""
    while sent < 20_000:
        message = {"jsonrpc": "2.0", "id": sent, "method": "tools/call", "params": call}
        rest = rest or json.dumps(message).encode() + b"\n"
        try:
            rest = rest[os.write(stdin.fileno(), rest) :]
        except BlockingIOError:
            if not select.select((), (stdin,), (), TIMEOUT_S / 60)[1]:
                break
            continue
        sent += not rest
    assert sent < 2_000
    os.set_blocking(stdin.fileno(), True)
    finisher = threading.Thread(target=lambda: (stdin.write(rest), stdin.close()))
    finisher.start()
    handle = [json.loads(answer)["id"] for answer in stdout]
    finisher.join()
    assert handle == list(range(sent + bool(rest)))
    assert process.wait(TIMEOUT_S) == 0
