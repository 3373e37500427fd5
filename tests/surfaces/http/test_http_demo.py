"""`moss serve --demo`: what a person sees at a terminal, and what a script sees without one."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

from support.http_server import HttpServer
from support.patience import PATIENCE_S
from support.python_process import environment

MOSS = "import sys; from moss_memory.surfaces.cli.main import main; sys.exit(main())"
DEMO = [sys.executable, "-c", MOSS, "serve", "--demo"]


def test_without_a_terminal_it_shows_that_it_answers_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--port", "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(TMPDIR=str(tmp_path), MOSS_HOME=str(tmp_path / "own")),
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"MCP at http://127\.0\.0\.1:\d+/mcp answers: \d+ capsules", done.stdout)
    assert re.search(r"Pages at http://127\.0\.0\.1:\d+ answer: .*Moss", done.stdout)
    assert "Your own store is served by: " in done.stdout
    assert os.listdir(tmp_path) == [], "it left something behind, or made a store of the user's"


def test_only_the_demonstration_moves_on_to_another_port(server: HttpServer, tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "--port", str(server.port)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(TMPDIR=str(tmp_path)),
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"MCP at http://127\.0\.0\.1:(\d+)/mcp", done.stdout)
    assert found is not None
    assert int(found[1]) > server.port


class Terminal:
    """A demonstration at a terminal, and what a person types."""

    def __init__(self, folder: Path) -> None:
        ours, theirs = pty.openpty()
        self._fd = ours
        self.process = subprocess.Popen(
            [*DEMO, "--port", "0"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(TMPDIR=str(folder)),
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def until(self, pattern: str, times: int = 1) -> list[str]:
        """Reads until a pattern was shown so often."""
        while len(found := re.findall(pattern, self.shown)) < times:
            assert select.select([self._fd], [], [], PATIENCE_S)[0], self.shown
            try:
                part = os.read(self._fd, 65_536)
            except OSError:
                part = b""
            assert part, f"the terminal was closed: {self.shown}"
            self.shown += part.decode()
        return found

    def type(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        os.close(self._fd)


def test_at_a_terminal_it_stays_and_enter_prints_a_new_link(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    try:
        terminal.until("Your own store is served by: ")
        assert "claude mcp add --transport http moss http://127.0.0.1:" in terminal.shown
        first = terminal.until(r"/sign-in/\S+")
        terminal.type(b"\n")
        links = terminal.until(r"/sign-in/\S+", times=2)
        assert links[0] == first[0]
        assert links[1] != links[0]
        terminal.process.terminate()
        assert terminal.process.wait(PATIENCE_S) == 0
    finally:
        terminal.close()
    assert os.listdir(tmp_path) == []
