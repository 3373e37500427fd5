"""A real HTTP server in a separate process, and requests whose headers are all set by the test."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from support.python_process import environment
from support.timeouts import TIMEOUT_S, wait_until

SERVE = """\
import sys
from support import http_pages
sys.modules["moss_memory.web.app"] = http_pages
from moss_memory.cli.main import main
sys.exit(main())
"""
"""Code of a process that runs `moss serve` with pages of the tests."""

FAKES = """\
import sys
from support import http_pages, mcp_fakes
sys.modules["moss_memory.web.app"] = http_pages
from moss_memory.http import server

class FakeServerContext(server.ServerContext):
    made = mcp_fakes.FakeStore()
    def tools(self): return mcp_fakes.FakeToolList()
    def store(self): return self.made

server.ServerContext = FakeServerContext
from moss_memory.cli.main import main
sys.exit(main())
"""
"""Code of a process that serves the tests' own tools."""

UNHURRIED = (
    "from moss_memory.http import server\n"
    f"server.FINISH_S, server.EXIT_AFTER_SIGNAL_S, server.STOP_WORKERS_S = {TIMEOUT_S / 2}, {TIMEOUT_S}, {TIMEOUT_S}\n"
)
"""Code to prepend to a server's: it raises the shutdown timeout, so that a busy machine cancels no call."""

Headers = Iterable[tuple[str, str]]


class Answer:
    """A response: status, headers in lower case, and the body."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


MEASURED_S = 10
"""The shutdown timeout of a server whose times are measured."""


class HttpServer:
    """A `moss serve` process on a free port."""

    def __init__(self, home: Path, *options: str, code: str = UNHURRIED + SERVE, url: str = "", port: int = 0) -> None:
        self.home = home
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", "--port", str(port), "--home", str(home), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**environment(), **({"MOSS_URL": url} if url else {})},
            cwd=home.parent,
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline().decode()
        while "Cursor" not in said:
            more = self.process.stdout.readline().decode()
            assert more, f"the server ended: {self.stderr()}"
            said += more
        self.said = said
        self.port = _port_of(self.process.pid)
        self.address = f"http://127.0.0.1:{self.port}"
        self.host = f"127.0.0.1:{self.port}"
        self.origin = f"http://{self.host}"
        self.token = (home / "token").read_text().strip()
        self.base = ""
        self.cookie = ""
        self.session = ""

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None and "COVERAGE_PROCESS_CONFIG" in os.environ:
            self.process.terminate()  # a killed process saves no data of `make coverage`
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(MEASURED_S)
        if self.process.poll() is None:
            self.process.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process.wait(TIMEOUT_S)
        self._errors.close()

    def stderr(self) -> str:
        """Return the server's stderr until now."""
        return os.pread(self._errors.fileno(), 1_000_000, 0).decode()

    def logged(self, words: str) -> None:
        """Wait until the log contains these words."""
        wait_until(lambda: words in self.stderr(), f"{words!r} is not in the log")

    def ask(self, method: str, path: str, headers: Headers = (), body: bytes | str = b"") -> Answer:
        """Return the response to a request with exactly these headers; Host and the length are added if missing."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            self.send(connection, method, path, headers, body)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        headers: Headers = (),
        body: bytes | str = b"",
    ) -> None:
        content = body.encode() if isinstance(body, str) else body
        given = {name.lower() for name, _ in headers}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if "host" not in given:
            connection.putheader("Host", self.host)
        if content and not given & {"content-length", "transfer-encoding"}:
            connection.putheader("Content-Length", str(len(content)))
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(content or None)

    @property
    def authorized(self) -> list[tuple[str, str]]:
        """Return the headers that a program sends with its messages."""
        return [
            ("Authorization", f"Bearer {self.token}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ]

    def open(self, version: str = "2025-11-25", path: str = "/mcp") -> list[tuple[str, str]]:
        """Open a new session and return its header."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = self.ask("POST", path, self.authorized, json.dumps(message))
        assert answer.status == 200, answer.text
        return [("Mcp-Session-Id", answer.headers["mcp-session-id"])]

    @property
    def in_session(self) -> list[tuple[str, str]]:
        """Return the headers that a program sends with its messages after initialization."""
        if not self.session:
            self.session = self.open()[0][1]
        return [*self.authorized, ("Mcp-Session-Id", self.session)]

    def post(self, message: Any, *headers: tuple[str, str]) -> Answer:
        """Return the response to a message in a session shared by all such messages."""
        return self.ask("POST", "/mcp", [*self.in_session, *headers], json.dumps(message))

    def link(self) -> str:
        """Return the path of a new login link, requested with the token."""
        answer = self.ask("POST", "/sign-in", self.authorized)
        assert answer.status == 200
        return answer.text.strip().removeprefix(self.origin)

    def sign_in(self) -> list[tuple[str, str]]:
        """Sign a browser in and return the header that it sends from then on."""
        answer = self.ask("POST", self.link(), [("Origin", self.origin)])
        assert answer.status == 303, answer.text
        self.base = answer.headers["location"].rstrip("/")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return [("Cookie", self.cookie)]

    def end(self) -> int:
        """End the server as a service manager does, and return its exit code."""
        self.process.terminate()
        return self.process.wait(TIMEOUT_S)


def _port_of(pid: int) -> int:
    """Return the port on which a process listens."""
    sockets = {os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
    with open("/proc/net/tcp", encoding="ascii") as file:
        lines = [line.split() for line in file.read().splitlines()[1:]]
    return next(int(line[1][-4:], 16) for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets)
