"""The pages on the real server: sign-in by link, an edit, and live updates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.config import load_config
from moss_memory.store import Store
from support.browser import Tab
from support.http_server import HttpServer

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

SERVE = "import sys\nfrom moss_memory.cli.main import main\nsys.exit(main())\n"


def test_a_person_signs_in_edits_and_sees_entries_of_an_agent(browser: Browser, home: Path) -> None:
    with Store(load_config(str(home), cwd=str(home.parent))) as agent:
        agent.call("capsule_store", {"name": "before", "capsule_text": FULL})
        with HttpServer(home, code=SERVE) as server:
            tab = Tab(browser, server.origin, server.origin)
            _visit(tab, server.said, agent)
            tab.close()
    assert tab.troubles == []


def _visit(tab: Tab, said: str, agent: Store) -> None:
    link = re.search(r"http://\S+/sign-in/\S+", said)
    assert link is not None
    page = tab.page
    page.goto(link[0])
    assert page.locator("link[rel=icon]").evaluate("async (one) => (await fetch(one.href)).status") == 200
    page.get_by_role("button").click()
    page.get_by_role("link", name="before").first.click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Title").fill("after")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Changed.")
    assert agent.call("capsule_fetch", {"name": "before"})["title"] == "after"
    page.get_by_role("link", name="Capsules").first.click()
    agent.call("capsule_store", {"name": "by an agent", "capsule_text": FULL})
    expect(page.get_by_role("link", name="by an agent")).to_be_visible()


def test_behind_a_proxy_clients_are_asked_to_use_tls(home: Path) -> None:
    options = ("--behind-proxy", "--allowed-host", "moss.example.org")
    with HttpServer(home, *options, code=SERVE) as server:
        host = ("Host", "moss.example.org")
        link = (
            server.ask("POST", "/sign-in", [host, *server.authorized])
            .text.strip()
            .removeprefix("https://moss.example.org")
        )
        signed_in = server.ask("POST", link, [host, ("Origin", "https://moss.example.org")])
        cookie = ("Cookie", signed_in.headers["set-cookie"].partition(";")[0])
        shown = server.ask("GET", signed_in.headers["location"] + "connect", [host, cookie]).text
    assert "https://moss.example.org/mcp" in shown
    assert "http://moss.example.org" not in shown
