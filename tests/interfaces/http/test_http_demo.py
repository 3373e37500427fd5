"""`moss serve --demo` with and without a terminal."""

from __future__ import annotations

import http.client
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from moss_memory.connect.moss_command import stdio_connect_commands
from moss_memory.http.http_clients import connect_commands
from support.http_server import HttpServer
from support.python_process import environment
from support.timeouts import TIMEOUT_S

MOSS = "import sys; from moss_memory.cli.main import main; sys.exit(main())"
DEMO = [sys.executable, "-c", MOSS, "serve", "--demo"]


def test_without_a_terminal_the_demo_answers_once_and_exits(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--port", "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(TMPDIR=str(tmp_path), MOSS_HOME=str(tmp_path / "own")),
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"Pages at http://127\.0\.0\.1:\d+ answer: .*Moss", done.stdout)
    assert "Your own store is served by: " in done.stdout
    assert str(tmp_path) not in done.stdout, "the output names the folder, or a port or token"
    assert os.listdir(tmp_path) == [], "files remain, or a store was created for the user"


def test_only_the_demonstration_switches_to_another_port(server: HttpServer, tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--port", str(server.port)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(TMPDIR=str(tmp_path)),
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"Pages at http://127\.0\.0\.1:(\d+) ", done.stdout)
    assert found is not None
    assert int(found[1]) > server.port


class Terminal:
    """A demonstration that runs in a pseudo terminal."""

    def __init__(self, folder: Path, **variables: str) -> None:
        ours, theirs = pty.openpty()
        self._fd = ours
        self.process = subprocess.Popen(
            [*DEMO, "--port", "0"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(TMPDIR=str(folder), **variables),
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def until(self, pattern: str, times: int = 1) -> list[str]:
        """Read until a pattern was shown the given number of times."""
        while len(found := re.findall(pattern, self.shown)) < times:
            assert select.select([self._fd], [], [], TIMEOUT_S)[0], self.shown
            try:
                part = os.read(self._fd, 65_536)
            except OSError:
                part = b""
            assert part, f"the terminal was closed: {self.shown}"
            self.shown += part.decode()
        return found

    def type(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def hang_up(self) -> None:
        """Close the terminal, so that the process can neither read nor write."""
        os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(TIMEOUT_S)
        if self._fd >= 0:
            os.close(self._fd)


def test_at_a_terminal_the_demo_keeps_running_and_enter_prints_a_new_link(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    try:
        terminal.until("Your own store is served by: ")
        assert "/mcp" not in terminal.shown, "an address for agents is shown"
        assert str(tmp_path) not in terminal.shown
        first = terminal.until(r"/sign-in/\S+")
        terminal.type(b"\n")
        links = terminal.until(r"/sign-in/\S+", times=2)
        assert links[0] == first[0]
        assert links[1] != links[0]
        terminal.process.terminate()
        assert terminal.process.wait(TIMEOUT_S) == 0
    finally:
        terminal.close()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("moment", ["Filling a temporary store", "Your own store is served by: "])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_terminal_is_closed(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    terminal = Terminal(tmp_path)
    try:
        terminal.until(moment)
        terminal.process.send_signal(number)
        if number == signal.SIGHUP:
            terminal.hang_up()
        terminal.process.wait(TIMEOUT_S)
    finally:
        terminal.close()
    assert os.listdir(tmp_path) == []


BANNER = "Demonstration, thrown away when the server stops"


class Visitor:
    """A client of a demonstration, which signs in by a link and reads pages."""

    def __init__(self, link: str, folder: Path) -> None:
        self.folder = folder
        self.origin = f"http://{urlsplit(link).netloc}"
        self.way_in = self.ask("GET", urlsplit(link).path)[1]
        status, _, headers = self.ask("POST", urlsplit(link).path, {"Origin": self.origin})
        assert status == 303
        self.base = headers["location"].rstrip("/")
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: str = ""
    ) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection(urlsplit(self.origin).netloc, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, body or None, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}
        finally:
            connection.close()

    def page(self, path: str) -> tuple[int, str]:
        return self.ask("GET", self.base + path, {"Cookie": self.cookie})[:2]


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Start a demonstration whose user has a home of their own."""
    folder = tmp_path_factory.mktemp("demonstration")
    (folder / "tmp").mkdir()
    terminal = Terminal(folder / "tmp", MOSS_HOME=str(folder / "own"))
    try:
        terminal.until("Your own store is served by: ")
        yield Visitor(terminal.until(r"http://127\S+/sign-in/\S+")[0], folder)
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/capsules", 200), ("/artifacts", 200), ("/tasks", 200), ("/reasoning", 200), ("/records", 200),
     ("/search?q=refund", 200), ("/health", 200), ("/health/report", 200), ("/connect", 200), ("/nowhere", 404),
     ("/capsules/nothing", 404)],
)  # fmt: skip
def test_every_page_marks_the_demo_as_temporary_and_none_names_its_folder(
    visitor: Visitor, path: str, status: int
) -> None:
    found, page = visitor.page(path)
    assert (found, BANNER in page) == (status, True)
    (home,) = os.listdir(visitor.folder / "tmp")
    assert home not in page


@pytest.mark.parametrize("path", ["/", "/sign-in", "/nowhere"])
def test_visitors_without_a_session_are_informed_too(visitor: Visitor, path: str) -> None:
    assert BANNER in visitor.ask("GET", path, {"Accept": "text/html"})[1]
    assert BANNER in visitor.way_in


def test_the_connect_page_describes_the_users_own_server(visitor: Visitor) -> None:
    page = unescape(visitor.page("/connect")[1])
    lines = re.findall(r'data-copy="(.*?)">', visitor.page("/connect")[1])
    own = str(visitor.folder / "own")
    wanted = [
        line for _, line in [*stdio_connect_commands(), *connect_commands("http://127.0.0.1:8314", f"{own}/token")]
    ]
    assert [unescape(line) for line in lines] == wanted
    assert urlsplit(visitor.origin).netloc not in "".join(lines)
    assert f"{own}/token" in page
    assert not os.path.exists(own), "reading pages created a store"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}, {"Accept": "text/html"}])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_the_demo_refuses_agents(visitor: Visitor, method: str, headers: dict[str, str]) -> None:
    (home,) = os.listdir(visitor.folder / "tmp")
    token = (visitor.folder / "tmp" / home / "token").read_text().strip()
    known = {"Authorization": f"Bearer {token}", **headers, "Content-Type": "application/json"}
    body = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
    status, text, _ = visitor.ask(method, "/mcp?toolsets=core", known, body)
    assert (status, "moss serve" in text) == (403, True)
    assert home not in text
