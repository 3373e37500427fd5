"""MCP over HTTP: sessions and the stateless protocol version, JSON and streams, cancelling and ending."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.http import sessions as sessions_module
from moss_memory.http.session_ids import read_session_id, sign_session_id
from moss_memory.http.sessions import IDLE_S, Session, Sessions
from moss_memory.mcp.protocol import HANDSHAKE_VERSIONS
from support.http_server import FAKES, Answer, HttpServer
from support.mcp_pipe import call, request
from support.timeouts import TIMEOUT_S, wait_until

VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
META: dict[str, Any] = {VERSION_KEY: VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
QUICK_ALIVE = "from moss_memory.http import sse\nsse.KEEP_ALIVE_S = 0.05\n"


def structured(answer: Answer) -> Any:
    return answer.json["result"]["structuredContent"]


def without(headers: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    return [(key, value) for key, value in headers if key != name]


def events(body: str) -> list[Any]:
    """Return the messages of an event stream."""
    parts = [part for part in body.split("\n\n") if part.strip().startswith("event: message\ndata: ")]
    return [json.loads(part.partition("data: ")[2]) for part in parts]


@contextmanager
def listening(server: HttpServer, headers: list[tuple[str, str]], method: str = "GET", body: str = "") -> Iterator[Any]:
    """Open an event stream."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
    server.send(connection, method, "/mcp", headers, body)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


# Sessions


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_initialize_opens_a_session(fakes: HttpServer, version: str) -> None:
    message = request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    answer = fakes.ask("POST", "/mcp", fakes.authorized, json.dumps(message))
    assert answer.json["result"]["protocolVersion"] == version
    session = ("Mcp-Session-Id", answer.headers["mcp-session-id"])
    assert answer.headers["content-type"] == "application/json"
    told = ("Mcp-Protocol-Version", version)
    initialized = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    accepted = fakes.ask("POST", "/mcp", [*fakes.authorized, session, told], initialized)
    assert (accepted.status, accepted.body) == (202, b"")
    pinged = fakes.ask("POST", "/mcp", [*fakes.authorized, session, told], json.dumps(request("ping")))
    assert pinged.json["result"] == {}


def test_session_ids_are_unique(fakes: HttpServer) -> None:
    ids = {fakes.open()[0][1] for _ in range(5)}
    assert len(ids) == 5
    assert all(len(one) >= 32 and one.isalnum() for one in ids)


def test_a_failed_handshake_opens_no_session(fakes: HttpServer) -> None:
    message = request("initialize", {"protocolVersion": 3})
    answer = fakes.ask("POST", "/mcp", fakes.authorized, json.dumps(message))
    assert answer.status == 400
    assert "mcp-session-id" not in answer.headers
    assert answer.json["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_request_without_its_session_is_refused(fakes: HttpServer, method: str) -> None:
    body = json.dumps(request("ping")) if method == "POST" else ""
    assert fakes.ask(method, "/mcp", fakes.authorized, body).status == 400
    unknown = [*fakes.authorized, ("Mcp-Session-Id", "0" * 32)]
    assert fakes.ask(method, "/mcp", unknown, body).status == 404


def test_initialize_in_a_session_that_has_ended_is_not_found(fakes: HttpServer) -> None:
    unknown = [*fakes.authorized, ("Mcp-Session-Id", "0" * 32)]
    assert fakes.ask("POST", "/mcp", unknown, json.dumps(request("initialize"))).status == 404


@pytest.mark.parametrize("version", ["1999-01-01", "x", "2025-06-1"])
def test_an_unknown_protocol_version_is_refused(fakes: HttpServer, version: str) -> None:
    told = ("Mcp-Protocol-Version", version)
    assert fakes.post(request("ping"), told).status == 400
    assert fakes.ask("GET", "/mcp", [*fakes.in_session, told]).status == 400
    refused = fakes.post(
        request("tools/list", {"_meta": {**META, VERSION_KEY: version}}), told, ("Mcp-Method", "tools/list")
    )
    assert refused.json["error"]["code"] == -32022
    assert refused.json["error"]["data"] == {"supported": [VERSION], "requested": version}


def test_a_session_that_was_ended_is_gone(fakes: HttpServer) -> None:
    session = fakes.open()
    headers = [*fakes.authorized, *session]
    assert fakes.ask("DELETE", "/mcp", headers).status == 200
    assert fakes.ask("DELETE", "/mcp", headers).status == 404
    assert fakes.ask("POST", "/mcp", headers, json.dumps(request("ping"))).status == 404


def test_new_sessions_end_no_other_session(own_fakes: HttpServer) -> None:
    opened = [own_fakes.open() for _ in range(150)]
    ping = json.dumps(request("ping"))
    asked = [own_fakes.ask("POST", "/mcp", [*own_fakes.authorized, *one], ping).status for one in opened]
    assert asked == [200] * len(opened)


class Journal:
    """A fake of the stored part of sessions."""

    def __init__(self) -> None:
        self.noted: dict[str, tuple[int, bool]] = {}

    def keys(self, token: str) -> tuple[bytes, ...]:
        return (b"key",)

    def read(self, id: str) -> tuple[int, bool] | None:
        return self.noted.get(id)

    def note(self, id: str, seen_s: float, *, ended: bool = False) -> None:
        self.noted[id] = int(seen_s), ended


TOKEN = "ab" * 32


class Process:
    """The sessions of one process with a fake clock."""

    def __init__(self, journal: Journal, now: list[float]) -> None:
        self.sessions = Sessions(journal, clock_s=lambda: now[0])  # type: ignore[arg-type]

    def open(self) -> Session:
        return asyncio.run(self.sessions.open("2025-11-25", "tester", TOKEN))

    def find(self, id: str, token: str = TOKEN) -> Session | None:
        return asyncio.run(self.sessions.find(id, token))


def test_a_session_idle_for_a_day_ends() -> None:
    now = [1_000_000.0]
    process = Process(Journal(), now)
    session = process.open()
    now[0] += IDLE_S
    assert process.find(session.id) is session
    now[0] += IDLE_S + 1
    assert process.find(session.id) is None
    assert sessions_module.IDLE_S == 24 * 3600


def test_another_process_accepts_a_session_until_it_expires_or_ends() -> None:
    now, journal = [1_000_000.0], Journal()
    first, second = Process(journal, now), Process(journal, now)
    session = first.open()
    for _ in range(3):
        now[0] += IDLE_S - 60
        assert first.find(session.id) is session
        wait_until(lambda: journal.noted.get(session.id) == (int(now[0]), False), "the use is not stored")
    found = second.find(session.id)
    assert found is not None
    assert (found.version, found.client) == ("2025-11-25", "tester")
    assert second.find(session.id, "cd" * 32) is None, "a session is valid only for its own token"
    asyncio.run(first.sessions.end(session))
    assert first.find(session.id) is None
    assert Process(journal, now).find(session.id) is None
    now[0] += IDLE_S + 2 * 3600
    other = first.open()
    now[0] += IDLE_S + 1
    assert Process(journal, now).find(other.id) is None


def test_evicted_sessions_stay_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_IN_MEMORY", 3)
    process = Process(Journal(), [1_000_000.0])
    opened = [process.open() for _ in range(10)]
    assert len(process.sessions.all()) == 3
    assert all(process.find(session.id) is not None for session in opened)


@pytest.mark.parametrize("client", ["", "x", "\u00e4" * 200, "\U0001f600" * 40, "a\ud800b"])
def test_a_session_id_cannot_be_forged(client: str) -> None:
    made = sign_session_id(b"key", "2025-06-18", client, TOKEN, 5.5)
    found = read_session_id((b"other", b"key"), made)
    assert found is not None
    assert (found.version, found.opened_s) == ("2025-06-18", 5)
    assert TOKEN.startswith(found.token)
    assert made.isalnum()
    assert made.isascii()
    assert read_session_id((b"other",), made) is None
    for at in range(0, len(made), 7):
        changed = made[:at] + ("0" if made[at] != "0" else "1") + made[at + 1 :]
        assert read_session_id((b"key",), changed) is None
    for text in ("", "x", made[:-2], made + "00", made.upper() + "A", " " + made[1:], made[:-1] + "\u0661"):
        assert read_session_id((b"key",), text) is None


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json, text/event-stream", 200),
        ("application/json", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        ("text/event-stream", 406),
        ("text/html", 406),
    ],
)
def test_the_accept_header_is_respected(fakes: HttpServer, accept: str, status: int) -> None:
    headers = [*without(fakes.in_session, "Accept"), ("Accept", accept)]
    assert fakes.ask("POST", "/mcp", headers, json.dumps(request("ping"))).status == status


def test_a_listener_must_accept_events(fakes: HttpServer) -> None:
    headers = [*fakes.authorized, *fakes.open()]
    assert fakes.ask("GET", "/mcp", [*without(headers, "Accept"), ("Accept", "application/json")]).status == 406


@pytest.mark.parametrize("body", ["", "x", "{", "1", '"x"', "null", "\xff"])
def test_an_invalid_http_message_is_refused(fakes: HttpServer, body: str) -> None:
    answer = fakes.ask("POST", "/mcp", fakes.in_session, body)
    assert answer.status == 400
    assert answer.json["error"]["code"] in (-32700, -32600)
    assert answer.json["id"] is None


def test_an_unknown_method_is_answered_with_an_error(fakes: HttpServer) -> None:
    assert fakes.post(request("nothing")).json["error"]["code"] == -32601


def test_a_response_of_the_client_is_accepted(fakes: HttpServer) -> None:
    assert fakes.post({"jsonrpc": "2.0", "id": 1, "result": {}}).status == 202


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_batches_are_accepted_in_one_version_only(fakes: HttpServer, version: str) -> None:
    headers = [*fakes.authorized, *fakes.open(version)]
    batch = [
        request("ping", id=1),
        call("echo", {"text": "hi"}, id=2),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}},
        5,
    ]
    answer = fakes.ask("POST", "/mcp", headers, json.dumps(batch))
    if version == "2025-03-26":
        assert [one["id"] for one in answer.json] == [1, 2, None]
        assert answer.json[1]["result"]["structuredContent"] == {"text": "hi"}
        assert fakes.ask("POST", "/mcp", headers, "[]").status == 400
        quiet = json.dumps([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert fakes.ask("POST", "/mcp", headers, quiet).status == 202
    else:
        assert answer.status == 400
        assert answer.json["error"]["code"] == -32600


# Calls


def test_progress_is_sent_as_events_before_the_answer(fakes: HttpServer, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    asked = {"gate": str(tmp_path / "gate"), "steps": 3}
    answer = fakes.post(call("haul", asked, id=7, _meta={"progressToken": "p"}))
    assert answer.headers["content-type"] == "text/event-stream"
    *told, last = events(answer.text)
    assert [one["params"]["progress"] for one in told][-1] == 3
    assert {one["params"]["progressToken"] for one in told} == {"p"}
    assert last["id"] == 7
    assert "kept" in last["result"]["structuredContent"]


def test_a_client_that_accepts_no_events_gets_json(fakes: HttpServer, tmp_path: Path) -> None:
    (tmp_path / "gate").touch()
    asked = call("haul", {"gate": str(tmp_path / "gate"), "steps": 3}, _meta={"progressToken": "p"})
    headers = [*without(fakes.in_session, "Accept"), ("Accept", "application/json")]
    answer = fakes.ask("POST", "/mcp", headers, json.dumps(asked))
    assert answer.headers["content-type"] == "application/json"
    assert "kept" in structured(answer)


def test_a_call_without_progress_is_answered_as_json(fakes: HttpServer) -> None:
    answer = fakes.post(call("echo", {"text": "hi"}, _meta={"progressToken": "p"}))
    assert answer.headers["content-type"] == "application/json"
    assert structured(answer) == {"text": "hi"}


def test_a_long_call_is_kept_alive_by_comments(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", code=QUICK_ALIVE + FAKES) as server:
        body = json.dumps(call("haul", {"gate": str(tmp_path / "gate")}))
        with listening(server, server.in_session, "POST", body) as response:
            assert response.readline() == b": still here\n"
            (tmp_path / "gate").touch()
            assert events(response.read().decode())[-1]["result"]["structuredContent"] == {"kept": 1}


def test_a_bug_is_logged_without_its_message(fakes: HttpServer) -> None:
    answer = fakes.post(call("crash"))
    assert structured(answer)["error"]["code"] == "INTERNAL"
    assert "secret" not in answer.text
    fakes.logged("a bug: RuntimeError")
    assert "RuntimeError: the secret cause" not in fakes.stderr()


def test_request_ids_of_two_clients_are_independent(own_fakes: HttpServer, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    mine, other = own_fakes.open(), own_fakes.open()
    haul = json.dumps(call("haul", {"gate": str(gate)}, id=1))
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    own_fakes.send(connection, "POST", "/mcp", [*own_fakes.authorized, *mine], haul)
    own_fakes.post(call("started"))
    cancel = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert own_fakes.ask("POST", "/mcp", [*own_fakes.authorized, *other], cancel).status == 202
    gate.touch()
    assert structured(Answer(connection.getresponse())) == {"kept": 1}
    connection.close()


def test_a_cancelled_call_leaves_nothing(own_fakes: HttpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    own_fakes.send(connection, "POST", "/mcp", own_fakes.in_session, json.dumps(call("haul", id="a")))
    own_fakes.post(call("started"))
    own_fakes.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}})
    assert structured(Answer(connection.getresponse()))["error"]["code"] == "CANCELLED"
    connection.close()
    assert structured(own_fakes.post(call("recall"))) == {"notes": []}


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_a_disconnected_client_cancels_its_call(own_fakes: HttpServer, tmp_path: Path, era: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    ended = tmp_path / "ended"
    message = call("haul", {"ended": str(ended)})
    if era == "session":
        own_fakes.send(connection, "POST", "/mcp", own_fakes.in_session, json.dumps(message))
    else:
        headers, body = modern(own_fakes, "tools/call", {"name": "haul", "arguments": {"ended": str(ended)}})
        own_fakes.send(connection, "POST", "/mcp", headers, body)
    own_fakes.post(call("started"))
    connection.close()
    wait_until(ended.exists, "the call was not cancelled")
    assert structured(own_fakes.post(call("recall"))) == {"notes": []}


def test_ending_a_session_cancels_its_calls(own_fakes: HttpServer, tmp_path: Path) -> None:
    session = own_fakes.open()
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    own_fakes.send(connection, "POST", "/mcp", [*own_fakes.authorized, *session], json.dumps(call("haul")))
    own_fakes.post(call("started"))
    own_fakes.ask("DELETE", "/mcp", [*own_fakes.authorized, *session])
    assert structured(Answer(connection.getresponse()))["error"]["code"] == "CANCELLED"
    connection.close()


# Event streams


def test_a_stream_opens_at_once_and_ends_with_its_session(fakes: HttpServer) -> None:
    headers = [*fakes.authorized, *fakes.open()]
    with listening(fakes, headers) as response:
        assert response.status == 200
        assert response.getheader("content-type") == "text/event-stream"
        assert response.readline() == b": still here\n"
        fakes.ask("DELETE", "/mcp", headers)
        assert response.read() == b"\n"


def test_the_newer_of_two_streams_of_a_session_stays(fakes: HttpServer) -> None:
    headers = [*fakes.authorized, *fakes.open()]
    with listening(fakes, headers) as first:
        first.readline()
        with listening(fakes, headers) as second:
            second.readline()
            assert first.read() == b"\n"
            fakes.ask("DELETE", "/mcp", headers)
            assert second.read() == b"\n"


def test_open_streams_do_not_delay_shutdown(own_fakes: HttpServer) -> None:
    with listening(own_fakes, [*own_fakes.authorized, *own_fakes.open()]) as response:
        response.readline()
        own_fakes.process.terminate()
        assert response.read() == b"\n"
        assert own_fakes.process.wait(TIMEOUT_S) == 0


def next_message(response: Any) -> Any:
    """Return the next message of an event stream."""
    while not (line := response.readline()).startswith(b"data: "):
        assert line, "the stream ended"
    return json.loads(line.removeprefix(b"data: "))


def test_a_session_is_notified_of_changes_on_its_stream(server: HttpServer) -> None:
    headers = [*server.authorized, *server.open()]
    uri = "moss://capsule/news/auth"
    subscribe = json.dumps(request("resources/subscribe", {"uri": uri}))
    assert server.ask("POST", "/mcp", headers, subscribe).json["result"] == {}
    with listening(server, headers) as response:
        server.post(call("capsule_store", {"workspace": "news", "name": "auth", "capsule_text": FULL}))
        assert next_message(response) == {
            "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}
        }  # fmt: skip
        server.ask("POST", "/mcp", headers, json.dumps(request("resources/list")))
        server.post(call("capsule_store", {"workspace": "news", "name": "more", "capsule_text": FULL}))
        assert next_message(response)["method"] == "notifications/resources/list_changed"
        server.ask("DELETE", "/mcp", headers)


def test_prompts_resources_and_completions_answer_over_http(server: HttpServer) -> None:
    server.post(call("capsule_store", {"workspace": "web", "name": "auth", "capsule_text": FULL}))
    assert len(server.post(request("prompts/list")).json["result"]["prompts"]) == 4
    read = request("resources/read", {"uri": "moss://capsule/web/auth"})
    assert server.post(read).json["result"]["contents"][0]["text"] == FULL
    missing = request("resources/read", {"uri": "moss://capsule/web/nothing"})
    assert server.post(missing).json["error"]["code"] == -32002
    ref = {"type": "ref/prompt", "name": "load"}
    complete = request("completion/complete", {"ref": ref, "argument": {"name": "name", "value": "au"}})
    assert "auth" in server.post(complete).json["result"]["completion"]["values"]


# The stateless protocol version


def modern(
    server: HttpServer, method: str, params: dict[str, Any] | None = None, **changed: str | None
) -> tuple[list[tuple[str, str]], str]:
    """Return the headers and the body of a stateless request, with some headers changed or omitted."""
    body = {"_meta": META, **(params or {})}
    name = (params or {}).get("name") or (params or {}).get("uri")
    told: dict[str, str | None] = {
        "Mcp-Protocol-Version": VERSION,
        "Mcp-Method": method,
        "Mcp-Name": name,
        **{key.replace("_", "-").title(): value for key, value in changed.items()},
    }
    headers = [(key, value) for key, value in told.items() if value is not None]
    return [*server.authorized, *headers], json.dumps(request(method, body))


def ask_modern(server: HttpServer, method: str, params: dict[str, Any] | None = None, **changed: str | None) -> Answer:
    headers, body = modern(server, method, params, **changed)
    return server.ask("POST", "/mcp", headers, body)


def test_a_stateless_request_needs_no_session(fakes: HttpServer) -> None:
    discovered = ask_modern(fakes, "server/discover")
    assert discovered.status == 200
    assert discovered.json["result"]["supportedVersions"] == [VERSION]
    assert "mcp-session-id" not in discovered.headers
    answer = ask_modern(fakes, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    assert structured(answer) == {"text": "hi"}
    assert answer.json["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    "changed",
    [
        {"mcp_protocol_version": "2025-11-25"},
        {"mcp_protocol_version": None},
        {"mcp_method": None},
        {"mcp_method": "tools/list"},
        {"mcp_method": "TOOLS/CALL"},
        {"mcp_name": None},
        {"mcp_name": "note"},
        {"mcp_name": "=?base64?!!?="},
        {"mcp_name": "=?base64?" + base64.b64encode(b"note").decode() + "?="},
    ],
)
def test_headers_that_contradict_the_body_are_refused(fakes: HttpServer, changed: dict[str, str | None]) -> None:
    answer = ask_modern(fakes, "tools/call", {"name": "echo", "arguments": {}}, **changed)
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32020
    assert answer.json["id"] == 1


def test_spaces_around_a_header_are_ignored(fakes: HttpServer) -> None:
    assert ask_modern(fakes, "tools/call", {"name": "echo"}, mcp_name="  echo \t").status == 200


def test_a_name_beyond_ascii_is_encoded(fakes: HttpServer) -> None:
    wrapped = "=?base64?" + base64.b64encode(b"echo").decode() + "?="
    assert ask_modern(fakes, "tools/call", {"name": "echo"}, mcp_name=wrapped).status == 200
    unknown = "=?base64?" + base64.b64encode("grün".encode()).decode() + "?="
    answer = ask_modern(fakes, "tools/call", {"name": "grün"}, mcp_name=unknown)
    assert answer.json["error"]["code"] == -32602


@pytest.mark.parametrize("missing", list(META))
def test_a_stateless_request_without_complete_metadata_is_refused(fakes: HttpServer, missing: str) -> None:
    meta = {key: value for key, value in META.items() if key != missing}
    answer = ask_modern(fakes, "tools/list", {"_meta": meta})
    assert answer.status == 400
    assert answer.json["error"]["code"] == -32602
    assert missing in answer.json["error"]["message"]


@pytest.mark.parametrize("method", ["nothing", "initialize", "ping", "resources/subscribe", "logging/setLevel"])
def test_an_unknown_stateless_method_is_404(fakes: HttpServer, method: str) -> None:
    answer = ask_modern(fakes, method)
    assert (answer.status, answer.json["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_stateless_get_and_delete_are_refused(fakes: HttpServer, method: str) -> None:
    answer = fakes.ask(method, "/mcp", [*fakes.authorized, ("Mcp-Protocol-Version", VERSION)])
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_a_stateless_notification_is_accepted(fakes: HttpServer) -> None:
    told = [*fakes.authorized, ("Mcp-Protocol-Version", VERSION)]
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert fakes.ask("POST", "/mcp", told, json.dumps(cancelled)).status == 202
    unknown = [*fakes.authorized, ("Mcp-Protocol-Version", "2099-01-01")]
    assert fakes.ask("POST", "/mcp", unknown, json.dumps(cancelled)).status == 400


@pytest.mark.parametrize("body", ["x", "1", "[]", json.dumps([request("ping")])])
def test_stateless_batches_are_refused(fakes: HttpServer, body: str) -> None:
    answer = fakes.ask("POST", "/mcp", [*fakes.authorized, ("Mcp-Protocol-Version", VERSION)], body)
    assert answer.status == 400
    assert answer.json["id"] is None


@pytest.mark.parametrize("era", ["session", "stateless"])
def test_a_call_nested_too_deeply_is_answered_by_its_id(fakes: HttpServer, era: str) -> None:
    deep = "[" * 100 + "]" * 100
    params = (
        f'{{"name": "echo", "arguments": {{"x": {deep}}}, "_meta": {json.dumps(META if era == "stateless" else {})}}}'
    )
    body = f'{{"jsonrpc": "2.0", "id": "deep", "method": "tools/call", "params": {params}}}'
    named = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")]
    answer = fakes.ask("POST", "/mcp", [*fakes.authorized, *named] if era == "stateless" else fakes.in_session, body)
    assert (answer.status, answer.json["id"]) == (200, "deep")
    assert answer.json["result"]["structuredContent"]["error"]["code"] == "INVALID_REQUEST"
    assert ("resultType" in answer.json["result"]) is (era == "stateless")


def test_a_stateless_client_listens_on_the_answer_to_its_request(server: HttpServer) -> None:
    uri = "moss://capsule/modern/auth"
    wanted = {"notifications": {"resourceSubscriptions": [uri], "resourcesListChanged": True}}
    headers, body = modern(server, "subscriptions/listen", wanted)
    tagged = {"io.modelcontextprotocol/subscriptionId": 1}
    with listening(server, headers, "POST", body) as response:
        assert response.getheader("content-type") == "text/event-stream"
        acknowledged = next_message(response)
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"] == {**wanted, "_meta": tagged}
        server.post(call("capsule_store", {"workspace": "modern", "name": "auth", "capsule_text": FULL}))
        assert next_message(response)["params"] == {"uri": uri, "_meta": tagged}
        assert next_message(response)["method"] == "notifications/resources/list_changed"


def test_a_stopping_server_answers_its_listeners(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home") as server:
        headers, body = modern(server, "subscriptions/listen", {"notifications": {}})
        with listening(server, headers, "POST", body) as response:
            assert next_message(response)["params"]["notifications"] == {}
            server.process.terminate()
            last = next_message(response)
            assert last["id"] == 1
            assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
            assert response.read() == b"\n"
        assert server.process.wait(TIMEOUT_S) == 0


def test_a_listener_that_accepts_no_events_is_refused(fakes: HttpServer) -> None:
    headers, body = modern(fakes, "subscriptions/listen", {"notifications": {}})
    plain = [*without(headers, "Accept"), ("Accept", "application/json")]
    assert fakes.ask("POST", "/mcp", plain, body).status == 400
    headers, body = modern(fakes, "subscriptions/listen", {"notifications": 5})
    assert fakes.ask("POST", "/mcp", headers, body).json["error"]["code"] == -32602


def test_a_missing_stateless_resource_is_a_bad_argument(server: HttpServer) -> None:
    answer = ask_modern(server, "resources/read", {"uri": "moss://capsule/web/nothing"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


# A default workspace


def test_the_url_may_name_a_default_workspace(server: HttpServer) -> None:
    opened = server.open(path="/mcp?workspace=shop")
    headers = [*server.authorized, *opened]
    made = json.dumps(call("branchmind_init", {}))
    assert structured(server.ask("POST", "/mcp?workspace=shop", headers, made))["workspace"] == "shop"
    listed = server.ask("POST", "/mcp?workspace=shop", headers, json.dumps(request("tools/list"))).json["result"][
        "tools"
    ]
    tool = next(one for one in listed if one["name"] == "branchmind_init")
    assert tool["inputSchema"]["properties"]["workspace"]["default"] == "shop"
    assert "error" in structured(server.ask("POST", "/mcp", headers, made))


def test_the_default_workspace_of_the_url_applies_to_erase(server: HttpServer) -> None:
    headers = [*server.authorized, *server.open(path="/mcp?workspace=erasing")]

    def ask(tool: str, **arguments: object) -> Any:
        return structured(
            server.ask("POST", "/mcp?workspace=erasing", headers, json.dumps(call(tool, dict(arguments))))
        )

    note = ask("branchmind_notes_commit", content="seen")["entry"]["seq"]
    ask("branchmind_graph_apply", ops=[{"op": "node_upsert", "id": "q", "type": "question"}])
    ask("tasks_create", kind="task", title="x")
    for what in ({"type": "note", "seq": note}, {"type": "node", "id": "q"}, {"type": "task", "target": "TASK-001"}):
        assert ask("moss_erase", **what)["removed"]["rows"] > 0


@pytest.mark.parametrize(
    "query",
    [
        "workspace=",
        "workspace=%20",
        "workspace=%00",
        "workspace=" + "x" * 300,
        "workspace=%ff",
        "workspace=a&workspace=b",
    ],
)
def test_an_invalid_default_workspace_is_refused(server: HttpServer, query: str) -> None:
    assert server.ask("POST", f"/mcp?{query}", server.in_session, json.dumps(request("tools/list"))).status == 400


def names_listed(server: HttpServer, path: str) -> set[str]:
    headers = [*server.authorized, *server.open(path=path)]
    answer = server.ask("POST", path, headers, json.dumps(request("tools/list")))
    return {tool["name"] for tool in answer.json["result"]["tools"]}


def test_the_url_may_name_the_listed_toolsets(server: HttpServer) -> None:
    everything = names_listed(server, "/mcp")
    core = names_listed(server, "/mcp?toolsets=core")
    assert "capsule_store" in core
    assert len(core) <= 18 < len(everything)
    more = names_listed(server, "/mcp?toolsets=core,record&workspace=shop")
    assert core < more < everything
    assert names_listed(server, "/mcp?toolsets=") == everything


def test_a_tool_omitted_by_the_url_still_answers(server: HttpServer) -> None:
    headers = [*server.authorized, *server.open(path="/mcp?toolsets=core")]
    body = json.dumps(call("capsule_list", {}))
    assert "items" in structured(server.ask("POST", "/mcp?toolsets=core", headers, body))


@pytest.mark.parametrize("query", ["toolsets=all", "toolsets=core,", "toolsets=%ff", "toolsets=core&toolsets=task"])
def test_a_toolset_that_does_not_exist_is_refused(server: HttpServer, query: str) -> None:
    answer = server.ask("POST", f"/mcp?{query}", server.in_session, json.dumps(request("tools/list")))
    assert answer.status == 400
    assert "toolsets" in answer.text or "UTF-8" in answer.text


def test_unknown_url_parameters_change_nothing(server: HttpServer) -> None:
    assert server.ask("POST", "/mcp?x=y", server.in_session, json.dumps(request("ping"))).status == 200


@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a_repeated_call_with_its_idempotency_key_runs_once(server: HttpServer, era: str) -> None:
    meta = {"idempotency_key": f"over http, {era}"}
    if era == "stateless":
        meta |= META
    message = call("capsule_store", {"workspace": era, "capsule_text": FULL}, _meta=meta)
    headers = [
        *server.authorized,
        ("MCP-Protocol-Version", VERSION),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "capsule_store"),
    ]

    def send(sent: Any) -> Any:
        if era == "handshake":
            return structured(server.post(sent))
        return structured(server.ask("POST", "/mcp", headers, json.dumps(sent)))

    first = send(message)
    assert send(message) == first
    other = call("capsule_store", {"workspace": era, "capsule_text": FULL, "title": "other"}, _meta=meta)
    assert send(other)["error"]["code"] == "CONFLICT"
