"""A drifted hand-over is marked on the command line, at the start of a session and in the prompt `load`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from support.http_server import HttpServer
from support.mcp_pipe import PipeClient
from support.repositories import CLEAN, Repository

TEXT = f"{FULL}\n\nTokens live in `src/auth/session.py:42`, see src/db.py."
STALE = "auth: 2 commits since, 1 of its 2 files changed: src/auth/session.py"

pytestmark = pytest.mark.sqlite(reason="interfaces, not engines")


class Shop:
    """A repository and a home for commands."""

    def __init__(self, place: Path) -> None:
        self.repository = Repository(place / "shop")
        self.repository.commit({"src/auth/session.py": "1\n", "src/db.py": "2\n"})
        self.home = str(place / "home")

    def moss(self, *words: str, stdin: str = "", code: int = 0, cwd: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "moss_memory", *words],
            env={**CLEAN, "MOSS_HOME": self.home}, cwd=cwd or self.repository.folder, check=False, text=True,
            capture_output=True, input=stdin,
        )  # fmt: skip
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout

    def drift(self) -> None:
        self.repository.commit({"src/auth/session.py": "other\n"})
        self.repository.commit({"README.md": "x\n"})


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.moss("store", "shop/auth", stdin=TEXT)
    return made


def stale_lines(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("- stale:")]


def test_prime_reports_a_drifted_latest_hand_over_in_one_line(shop: Shop) -> None:
    assert stale_lines(shop.moss("prime")) == []
    shop.drift()
    assert stale_lines(shop.moss("prime")) == [f'- stale: "{STALE}"']
    assert stale_lines(shop.moss("prime", cwd="/")) == []
    shop.moss("freshness", "--confirm", "shop/auth")
    assert stale_lines(shop.moss("prime")) == []


def test_prime_reports_drift_if_several_workspaces_are_open(shop: Shop) -> None:
    shop.moss("store", "first/other", stdin=FULL)
    shop.moss("rename", "shop/auth", "second/auth")
    shop.drift()
    out = shop.moss("prime")
    assert '- workspace "first"' in out
    assert stale_lines(out) == [f'- stale: "{STALE}"']


def loaded(shop: Shop, **arguments: Any) -> str:
    with PipeClient(shop.home, cwd=str(shop.repository.folder)) as client:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test"}}
        client.ask("initialize", about)
        messages = client.ask("prompts/get", {"name": "load", "arguments": {"workspace": "shop", **arguments}})
    return str(messages["result"]["messages"][1]["content"]["resource"]["text"])


def test_the_prompt_reports_drift_inside_the_fence(shop: Shop) -> None:
    assert "stale:" not in loaded(shop)
    shop.drift()
    for arguments in ({}, {"name": "auth"}):
        first, head, stale, *_, last = loaded(shop, **arguments).split("\n")
        assert (first.split()[0], last.split()[0]) == ("BEGIN", "END")
        assert head.startswith('capsule "auth", workspace "shop", version 1')
        assert stale == f'stale: "{STALE}"; read these files before you rely on it'


def test_a_check_fails_until_the_capsule_is_confirmed(shop: Shop) -> None:
    shop.moss("freshness", "--workspace", "shop", "--check")
    shop.drift()
    shop.moss("freshness", "--workspace", "shop", "--check", code=1)
    shop.moss("freshness", "--check", "--table", code=1)
    shop.moss("freshness", "--check", "--offset", "5", code=1)
    shop.moss("freshness", "--workspace", "shop")
    shop.moss("freshness", "--confirm", "shop/nobody", code=1)
    told = json.loads(shop.moss("freshness", "--confirm", "shop/auth"))
    assert told["saved_in"]["commit"] == shop.repository.head
    shop.moss("freshness", "--workspace", "shop", "--check")
    versions = json.loads(shop.moss("versions", "shop/auth"))["versions"]
    assert [version["version"] for version in versions] == [1]
    changes = json.loads(shop.moss("changes", "--after", "0"))["changes"]
    assert [change["tool"] for change in changes] == ["capsule_store", "moss_confirm"]
    shop.repository.git("commit", "--amend", "-q", "-m", "another")
    answer = json.loads(shop.moss("freshness", "--workspace", "shop", "--check"))
    assert answer["items"][0]["freshness"]["why"].startswith("the commit is no longer in the history of its branch")


SERVE = "import sys\nfrom moss_memory.cli.main import main\nsys.exit(main())\n"


def test_pages_show_a_badge_and_the_state_of_each_file(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.home = str(Path(shop.repository.folder) / "home")  # a server runs in the folder of its home here
    shop.moss("store", "shop/auth", stdin=TEXT)
    shop.drift()
    with HttpServer(Path(shop.home), code=SERVE) as server:
        cookie = server.sign_in()
        listed = server.ask("GET", f"{server.base}/capsules", cookie).text
        assert '<span class="mini stale">drifted</span>' in listed
        key = re.search(r"/capsules/([0-9A-Z]{26})", listed)
        assert key is not None
        shown = server.ask("GET", f"{server.base}/capsules/{key[1]}", cookie).text
    assert "2 commits since" in shown
    assert re.search(r"<code>src/auth/session\.py</code> changed", shown)
    assert re.search(r"<code>src/db\.py</code> fresh", shown)
