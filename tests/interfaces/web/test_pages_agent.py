"""Pages about capsule use: the exact text that agents get, and load counts, age, drift and duplicates of capsules."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.cli.main import run
from moss_memory.code_state.work_tree import repository_name
from moss_memory.config import load_config
from moss_memory.mcp.server_context import ServerContext
from moss_memory.mcp.stdio import StdioConnection
from moss_memory.rows.load_counts import loads_by_actor
from moss_memory.rows.near_duplicates import near_duplicates, similarity, sketch
from moss_memory.storage.call import wall_clock_ms
from moss_memory.store import Store
from moss_memory.tools.capsule.capsule_browse import find_near_duplicates
from moss_memory.web import agent_page
from support.browser import Tab
from support.pages_server import PagesServer
from support.repositories import Repository
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from moss_memory.storage.engine import ReadTransaction

DAY_MS = 86_400_000
WORDS = ("the", "inbox", "keeps", "every", "event", "by", "its", "id", "before", "a", "handler", "sees", "it", "first")
FENCE = re.compile(r"(BEGIN|END) [0-9a-f]{16}")


def long_text(about: str) -> str:
    """Return a capsule text that shares few words with others."""
    told = " ".join(f"{word}-{about}" for word in WORDS * 4)
    return FULL + f"\n\n## Notes\n\n{told}\n"


@pytest.fixture
def used(tmp_path: Path) -> Iterator[Store]:
    """Return a store with a loaded, an unused, an old and a duplicated capsule."""
    config = load_config(str(tmp_path / "home"), cwd=str(tmp_path))
    clock = [wall_clock_ms() - 100 * DAY_MS]
    with Store(config, counts_loads=True, clock_ms=lambda: clock[0]) as store:
        save(store, "old", long_text("old"))
        clock[0] = wall_clock_ms() - DAY_MS
        save(store, "first", long_text("same"))
        save(store, "second", long_text("same") + "\nand one more line\n")
        save(store, "loaded", long_text("loaded"))
        store.call("capsule_fetch", {"workspace": "shop", "name": "loaded"}, actor="claude-code")
        store.call("capsule_fetch", {"workspace": "shop", "name": "loaded"}, actor="codex")
        store.save_loads()
        yield store


def save(store: Store, name: str, text: str) -> None:
    store.call("capsule_store", {"workspace": "shop", "name": name, "title": f"The {name} one", "capsule_text": text})


@pytest.fixture
def agent(used: Store, browser: Browser) -> Iterator[Tab]:
    """Open a tab on the pages of the store."""
    with PagesServer(used) as server:
        opened = Tab(browser, server.origin, server.address)
        yield opened
        opened.close()
        assert opened.troubles == []


def row(tab: Tab, name: str) -> Any:
    return tab.page.locator(".loads .row", has=tab.page.locator("a.row-title", has_text=f"The {name} one"))


def test_capsules_are_sorted_by_last_load_and_show_their_problems(agent: Tab) -> None:
    page = agent.open("/agent?workspace=shop")
    titles = page.locator(".loads a.row-title").all_inner_texts()
    assert titles == ["The loaded one", "The second one", "The first one", "The old one"]
    expect(row(agent, "loaded").locator(".row-side")).to_contain_text("2 loads")
    expect(row(agent, "loaded")).to_contain_text("loaded by claude-code (1), codex (1)")
    assert row(agent, "loaded").locator(".mini").count() == 0
    assert row(agent, "old").locator(".mini").all_inner_texts() == ["never loaded", "not touched for 60 days"]
    assert row(agent, "first").locator(".mini").all_inner_texts() == ["never loaded"]
    expect(page.locator(".mini.warned")).to_have_text(["near-duplicate of The first one"])


def test_a_filter_shows_only_its_capsules(agent: Tab) -> None:
    page = agent.open("/agent?workspace=shop")
    page.get_by_role("button", name="not touched for 60 days").click()
    expect(page.locator(".loads a.row-title")).to_have_text(["The old one"])
    page.get_by_role("button", name="near-duplicate").click()
    expect(page.locator(".loads a.row-title")).to_have_text(["The second one"])


def test_a_click_archives_a_capsule_and_another_brings_it_back(agent: Tab, used: Store) -> None:
    page = agent.open("/agent?workspace=shop&mark=old")
    page.get_by_role("button", name="Archive The old one").click()
    expect(page.get_by_role("status")).to_contain_text("Archived The old one.")
    expect(page.locator(".loads .row")).to_have_count(0)
    assert "mark=old" in page.url
    names = [item["name"] for item in used.call("capsule_inventory", {})["items"]]
    assert names == ["loaded", "second", "first"]
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The old one")


def test_pages_do_not_count_as_loads(agent: Tab, used: Store) -> None:
    capsule = used.call("capsule_fetch", {"workspace": "shop", "name": "old", "include_text": False})["id"]
    agent.open(f"/capsules/{capsule}")
    used.save_loads()
    agent.open("/agent?workspace=shop&mark=never")
    expect(row(agent, "old")).to_have_count(1)


def test_the_page_shows_the_exact_texts_that_an_agent_gets(
    agent: Tab, used: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    page = agent.open("/agent?workspace=shop&client=cursor")
    assert run(["--home", used.config.home, "prime", "--workspace", "shop", "--client", "cursor"]) == 0
    printed = capfd.readouterr().out.strip()
    shown = page.locator("#prime pre").text_content() or ""
    assert FENCE.sub("", shown) == FENCE.sub("", printed)
    assert "The loaded one" in shown
    assert page.locator("#instructions pre").text_content() == initialized(used, ["core"])["instructions"]
    assert "loaded-loaded" not in (page.locator("#load pre").text_content() or "")
    assert "inbox-loaded" in (page.locator("#load pre").text_content() or "")


def initialized(store: Store, toolsets: list[str], then: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the server's answer to `initialize` in the workspace `shop`; call a tool afterwards if one is given."""
    context = ServerContext(store.config.home, toolsets)
    tools = context.tools_for("shop", None)
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as answers, os.fdopen(writing, "wb") as sink:
        server = StdioConnection(
            lambda: tools, context.store, sink.fileno(), lambda: context.session_summary(repository_name())
        )
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "cursor", "version": "1"}}
        server._handle_line(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode())
        found: dict[str, Any] = json.loads(answers.readline())["result"]
        if then is not None:
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": then}
            server._handle_line(json.dumps(call).encode())
            assert "error" not in json.loads(answers.readline())
    context.close()
    return found


def test_a_load_over_stdio_is_counted_for_the_client(used: Store) -> None:
    capsule = used.call("capsule_fetch", {"workspace": "shop", "name": "old", "include_text": False})["id"]
    initialized(used, ["core"], then={"name": "capsule_fetch", "arguments": {"id": capsule}})
    loads = used.read(loads_by_actor, what="test", capsule=capsule)
    assert [(one["actor"], one["loads"]) for one in loads] == [("cursor", 1)]


def test_the_list_of_tools_depends_on_the_client(agent: Tab) -> None:
    page = agent.open("/agent?workspace=shop")
    many = page.locator("#tools tbody tr").count()
    page.get_by_label("Client").select_option("cursor")
    page.wait_for_url("**client=cursor**")
    few = page.locator("#tools tbody tr").count()
    assert (many > 50, few <= 18) == (True, True)
    expect(page.locator(".figure", has_text=f"{few} tools")).to_be_visible()


def test_a_capsule_whose_files_changed_is_marked_also_after_a_commit(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path / "shop")
    repository.commit({"src/db.py": "1\n", "src/kept.py": "2\n"})
    monkeypatch.chdir(repository.folder)
    with Store(load_config(str(tmp_path / "home"), cwd=str(repository.folder))) as store:
        save(store, "drifting", long_text("a") + "\nSee src/db.py.\n")
        save(store, "steady", long_text("b") + "\nSee src/kept.py.\n")
        with PagesServer(store) as server:
            tab = Tab(browser, server.origin, server.address)
            tab.open("/agent")
            expect(tab.page.get_by_role("button", name="drifted")).to_contain_text("0")
            repository.commit({"src/db.py": "other\n"})
            tab.open("/agent?mark=stale")
            expect(tab.page.locator(".loads a.row-title")).to_have_text(["The drifting one"])
            tab.open("/capsules")
            expect(tab.page.locator(".row", has=tab.page.locator(".stale"))).to_contain_text(["The drifting one"])
            tab.close()
            assert tab.troubles == []


def test_a_page_shows_results_that_are_computed_later(agent: Tab, used: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_page, "_WAIT_S", 0.0)
    begin = threading.Event()

    def find_later(tx: ReadTransaction, **values: Any) -> dict[str, str]:
        begin.wait(TIMEOUT_S)
        return find_near_duplicates(tx, **values)

    monkeypatch.setattr(agent_page, "find_near_duplicates", find_later)
    page = agent.open("/agent?workspace=shop")
    expect(page.locator("[data-pending]")).to_be_visible()
    expect(page.locator(".mini.warned")).to_have_count(0)
    begin.set()
    expect(page.locator(".mini.warned")).to_have_text(["near-duplicate of The first one"])
    expect(page.locator("[data-pending]")).to_have_count(0)


def test_the_page_works_without_javascript_and_a_read_only_server_archives_nothing(
    used: Store, browser: Browser
) -> None:
    with PagesServer(used, read_only=True) as server:
        tab = Tab(browser, server.origin, server.address, java_script_enabled=False)
        page = tab.open("/agent?workspace=shop")
        expect(page.locator(".loads .row")).to_have_count(4)
        assert page.get_by_role("button", name="Archive").count() == 0
        tab.close()


def test_texts_that_share_most_of_their_words_are_near_duplicates() -> None:
    texts = {name: long_text(name) for name in ("a", "b", "c")}
    texts["a again"] = texts["a"].replace("inbox-a", "outbox-a", 1)
    texts["chinese"] = "处理每个事件一次 然后写入账本。" * 3 + "第一个版本的说明在这里。"
    texts["chinese again"] = texts["chinese"] + "完"
    found = near_duplicates((name, sketch(text)) for name, text in texts.items())
    assert found == {"a again": "a", "chinese again": "chinese"}
    assert similarity(sketch(""), sketch("")) == 1.0
    assert similarity(sketch("one two three four"), sketch("five six seven eight")) == 0.0
