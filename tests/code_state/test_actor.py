"""Every change records its author, through every interface."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from contract.doors import FULL
from moss_memory import open_store
from moss_memory.storage.call import clean_actor
from support.http_server import HttpServer
from support.mcp_pipe import PipeClient, call, request
from support.repositories import CLEAN, Repository

REAL_PAGES = "import sys; from moss_memory.cli.main import main; sys.exit(main())"


def authors(home: str) -> list[str]:
    with open_store(home) as store:
        found = store.call("moss_history", {"type": "capsule", "name": "auth"})["versions"]
    return [version["by"] for version in reversed(found)]


def change(home: str, title: str, actor: str = "") -> None:
    with open_store(home, actor=actor) as store:
        store.call("capsule_update", {"name": "auth", "title": title})


def test_names_are_joined_cleaned_and_bounded() -> None:
    assert clean_actor("anna", "claude-code") == "anna · claude-code"
    assert clean_actor("a\x00\x1b[31m\nb") == "a[31mb"
    assert clean_actor(None, " ") == ""
    assert len(clean_actor("x" * 5_000)) == 100


@pytest.mark.sqlite(reason="interfaces, not engines")
def test_clients_people_in_the_browser_the_command_line_and_python_are_named(tmp_path: Path) -> None:
    shop = Repository(tmp_path / "shop")
    commit = shop.commit({"a.py": "1"})
    home = tmp_path / "home"
    home.mkdir()
    with PipeClient(str(home), cwd=str(shop.folder)) as client:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claude-code"}}
        client.ask("initialize", about)
        stored = client.ask(
            "tools/call", {"name": "capsule_store", "arguments": {"name": "auth", "capsule_text": FULL}}
        )
    key = stored["result"]["structuredContent"]["id"]
    with HttpServer(home, code=REAL_PAGES) as server:
        update = {"name": "capsule_update", "arguments": {"id": key, "title": "http"}}
        sent = {"repository": "shop", "branch": "b", "commit": commit, "origin": "https://a:b@example.org/shop"}
        answer = server.post(request("tools/call", {**update, "_meta": {"code_state": sent}}))
        assert not answer.json["result"]["isError"], answer.text
        bad = server.post(request("tools/call", {**update, "_meta": {"code_state": {"commit": 1}}}))
        assert bad.json["result"]["structuredContent"]["error"]["code"] == "INVALID_REQUEST"
        fetched = server.post(call("capsule_fetch", {"id": key})).json["result"]["structuredContent"]
        assert fetched["saved_in"] == {"repository": "shop", "branch": "b", "commit": commit}
        cookie = server.sign_in()
        page = server.ask("GET", f"{server.base}/capsules/{key}/edit", cookie).text
        assert "form_token" in page, page[:2000]
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))
        form = urlencode({**hidden, "title": "browser", "capsule_text": FULL})
        headers = [*cookie, ("Origin", server.origin), ("Content-Type", "application/x-www-form-urlencoded")]
        assert server.ask("POST", f"{server.base}/capsules/{key}/edit", headers, form).status == 303
    subprocess.run(
        [sys.executable, "-m", "moss_memory", "update", "auth", "--title", "cli"],
        env={**CLEAN, "MOSS_HOME": str(home)}, cwd=shop.folder, check=True, capture_output=True,
    )  # fmt: skip
    change(str(home), "python")
    change(str(home), "nightly", "nightly\njob")
    assert authors(str(home)) == ["claude-code", "owner · test", "browser", "cli", "python", "nightlyjob"]


def test_events_of_tasks_entries_and_changes_name_their_author(home: str) -> None:
    with open_store(home, actor="anna") as store:
        store.call("tasks_create", {"workspace": "w", "kind": "task", "title": "t", "steps": [{"title": "s"}]})
        store.call("branchmind_notes_commit", {"workspace": "w", "content": "n"})
        events = store.call("tasks_delta", {"workspace": "w"})["events"]
        changes = store.call("moss_changes", {"after": 0})["changes"]
        entries: list[Any] = store.call("branchmind_show", {"workspace": "w", "target": "TASK-001"})["entries"]
        assert {one["by"] for one in (*events, *changes, *entries)} == {"anna"}
        assert entries
        json.dumps(entries)


def test_clients_that_share_a_store_are_named_for_each_call(home: str) -> None:
    with open_store(home) as store:
        store.call("capsule_store", {"name": "auth", "capsule_text": FULL}, actor="anna")
        for number, actor in enumerate(("anna", "ben", "ben", "", "anna", None)):
            store.call("capsule_update", {"name": "auth", "title": str(number)}, actor=actor)
    assert authors(home) == ["anna", "anna", "ben", "ben", "python", "anna", "python"]
