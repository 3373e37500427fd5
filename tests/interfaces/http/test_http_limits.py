"""Resource limits of the server: idle connections, slow senders and large bodies never block its owner."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from interfaces.http.test_http_server import made_certificate
from moss_memory.http.browser_cookie import BrowserKey
from moss_memory.http.connection_limits import MAX_OF_ADDRESS, ConnectionLimits, quiet_accept_errors
from moss_memory.http.sign_in import SignIn
from support.http_server import FAKES, SERVE, UNHURRIED, Answer, HttpServer
from support.mcp_pipe import call, request
from support.measured import waited_s
from support.timeouts import TIMEOUT_S, wait_until

FEW_DESCRIPTORS = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
SMALL_BUDGET = "from moss_memory.http import request_body\nrequest_body.BUDGET = request_body.BodyBudget(1_000_000)\n"
ANSWERED_S = 1.0
PING = json.dumps(request("ping"))


@pytest.fixture(scope="module")
def limited_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """Start a server that may open 256 files, connections included."""
    with HttpServer(tmp_path_factory.mktemp("limited_server") / "home", code=FEW_DESCRIPTORS + SERVE) as made:
        yield made


@contextmanager
def idle(server: HttpServer, count: int, begun: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open connections that send incomplete requests."""
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S))
            if begun:
                one.sendall(begun)
            opened.append(one)
        yield opened


def took_s(ask: Callable[[], Answer]) -> float:
    answers: list[Answer] = []
    waited = waited_s(lambda: answers.append(ask()))
    assert answers[0].status == 200
    return waited


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: "])
def test_the_owner_is_answered_while_idle_connections_arrive(limited_server: HttpServer, begun: bytes) -> None:
    limited_server.post(request("ping"))
    with idle(limited_server, 400, begun):
        assert took_s(lambda: limited_server.post(request("ping"))) < ANSWERED_S
        assert (
            took_s(lambda: limited_server.ask("GET", f"{limited_server.base}/", limited_server.sign_in())) < ANSWERED_S
        )
    assert "Traceback" not in limited_server.stderr()


def test_the_oldest_of_too_many_idle_connections_are_closed(limited_server: HttpServer) -> None:
    with idle(limited_server, 200) as opened:
        assert opened[0].recv(1) == b""
        opened[-1].sendall(f"GET / HTTP/1.1\r\nHost: {limited_server.host}\r\n\r\n".encode())
        assert opened[-1].recv(15) == b"HTTP/1.1 200 OK"


def test_an_authenticated_connection_stays_open(limited_server: HttpServer) -> None:
    kept = http.client.HTTPConnection("127.0.0.1", limited_server.port, timeout=TIMEOUT_S)
    limited_server.send(kept, "POST", "/mcp", limited_server.in_session, PING)
    assert Answer(kept.getresponse()).status == 200
    used = kept.sock
    with idle(limited_server, 400):
        limited_server.send(kept, "POST", "/mcp", limited_server.in_session, PING)
        assert Answer(kept.getresponse()).status == 200
    assert kept.sock is used
    kept.close()


def test_connections_without_a_handshake_count_too(tmp_path: Path) -> None:
    certificate, key = made_certificate(tmp_path)
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with HttpServer(tmp_path / "home", *options, code=FEW_DESCRIPTORS + SERVE) as server, idle(server, 400) as opened:
        assert opened[0].recv(1) == b""
        trusting = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=TIMEOUT_S, context=trusting)

        def ask() -> Answer:
            server.send(connection, "GET", "/")
            return Answer(connection.getresponse())

        assert took_s(ask) < ANSWERED_S
        assert took_s(ask) < ANSWERED_S
        connection.close()
        assert "Traceback" not in server.stderr()
        assert server.end() == 0


class Peer:
    """A fake connection."""

    def __init__(self, peer: str, *, busy: bool = False) -> None:
        self.peer = peer
        self.busy = busy
        self.is_open = True

    def is_idle(self) -> bool:
        return not self.busy

    def drop(self) -> None:
        self.is_open = False


def added(limits: ConnectionLimits, peer: str, count: int) -> list[Peer]:
    made = [Peer(peer) for _ in range(count)]
    for one in made:
        limits.add(one)
    return made


def test_remote_peers_have_few_connections_and_local_ones_the_maximum() -> None:
    limits = ConnectionLimits(most=300, most_unauthenticated=200)
    ours = added(limits, "127.0.0.1", 100)
    theirs = added(limits, "192.0.2.1", MAX_OF_ADDRESS + 10)
    assert [one.is_open for one in theirs] == [False] * 10 + [True] * MAX_OF_ADDRESS
    assert all(one.is_open for one in ours)


def test_an_authenticated_connection_is_closed_only_if_there_is_no_other() -> None:
    limits = ConnectionLimits(most=4, most_unauthenticated=2)
    authenticated = added(limits, "127.0.0.1", 2)
    for one in authenticated:
        limits.mark_authenticated(one)
    strangers = added(limits, "127.0.0.1", 4)
    assert [one.is_open for one in (*authenticated, *strangers)] == [True, True, False, False, True, True]
    for one in strangers[2:]:
        limits.mark_authenticated(one)
    authenticated[0].busy = True
    (last,) = added(limits, "127.0.0.1", 1)
    assert [one.is_open for one in (*authenticated, *strangers[2:], last)] == [True, False, True, True, True]


def test_a_new_connection_is_closed_if_all_others_are_busy() -> None:
    limits = ConnectionLimits(most=2, most_unauthenticated=1)
    busy = [Peer("127.0.0.1", busy=True) for _ in range(2)]
    for one in busy:
        limits.add(one)
        limits.mark_authenticated(one)
    (last,) = added(limits, "127.0.0.1", 1)
    assert [one.is_open for one in (*busy, last)] == [True, True, False]


def test_failures_to_accept_are_logged_once_a_minute_without_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    now = 1000.0
    others: list[Any] = []
    loop = type("Loop", (), {"default_exception_handler": staticmethod(others.append)})
    handle = quiet_accept_errors(lambda: now)
    failed = {"message": "socket.accept() out of system resource", "exception": OSError(24, "Too many open files")}
    for later in (0, 30, 31, 1):
        now += later
        handle(loop, failed)
    said = capfd.readouterr().err
    assert said.count("Too many open files") == 2
    assert "Traceback" not in said
    handle(loop, {"message": "something else", "exception": ValueError()})
    assert len(others) == 1


def half_sent(server: HttpServer, size: int) -> http.client.HTTPConnection:
    """Send a request with a body of this size that announces one byte more."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
    headers = [*server.authorized, ("Content-Length", str(size + 1))]
    server.send(connection, "POST", "/mcp", headers, b" " * size)
    return connection


def test_bodies_share_one_memory_budget(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", code=SMALL_BUDGET + SERVE) as server:
        large = json.dumps({**request("ping"), "params": {"x": "x" * 600_000}})
        waiting = half_sent(server, 600_000)

        def refused() -> bool:
            answer = server.ask("POST", "/mcp", server.in_session, large)
            if answer.status == 503:
                assert answer.headers["retry-after"] == "1"
                assert answer.headers["connection"] == "close"
                assert "in a second" in answer.text
            return answer.status == 503

        wait_until(refused, "the second body is not refused")
        assert server.post(request("ping")).status == 200
        waiting.close()
        wait_until(lambda: not refused(), "the budget is not released")
        for _ in range(5):
            assert server.ask("POST", "/mcp", server.in_session, large).status == 200


def test_a_stalled_body_times_out(tmp_path: Path) -> None:
    stall = "from moss_memory.http import request_body\nrequest_body.STALL_S = 0.1\n"
    with HttpServer(tmp_path / "home", code=stall + SERVE) as server:
        answer = Answer(half_sent(server, 100_000).getresponse())
        assert (answer.status, answer.headers["connection"]) == (408, "close")


def test_a_token_after_the_body_is_ignored(server: HttpServer) -> None:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n"
    )
    body = f"{len(PING):x}\r\n{PING}\r\n0\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_S) as opened:
        opened.sendall((head + body).encode())
        assert opened.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize("cookies", ["moss=other; {}", "{}; moss=other", "a=b; moss=; {}; moss=x"])
def test_a_cookie_of_the_same_name_from_another_port_does_not_sign_out(server: HttpServer, cookies: str) -> None:
    server.sign_in()
    answer = server.ask("GET", f"{server.base}/", [("Cookie", cookies.format(server.cookie))])
    assert answer.status == 200


def test_the_valid_one_of_two_cookies_is_used() -> None:
    sign_in = SignIn(BrowserKey("x" * 43), secure=False)
    made = str(sign_in.consume(sign_in.new_link_code())).partition(";")[0]
    assert sign_in.session(f"moss=x; {made}".encode()) is not None
    assert sign_in.session(b"moss=x; moss=y") is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_changes_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with HttpServer(tmp_path / "home", code=UNHURRIED + FAKES) as server:
        gate = tmp_path / "gate"
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
        server.send(connection, "POST", "/mcp", server.in_session, json.dumps(call("haul", {"gate": str(gate)})))
        server.post(call("started"))
        for _ in range(3):
            server.process.send_signal(number)
        gate.touch()
        assert Answer(connection.getresponse()).json["result"]["structuredContent"] == {"kept": 1}
        connection.close()
        while server.process.poll() is None:
            server.process.send_signal(number)  # some of them while the store closes
        assert server.process.returncode == 0
        assert "Traceback" not in server.stderr()
