"""Empty pages: each suggests a next step at first use, behind filters and after a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from support.browser import Tab
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from moss_memory.store import Store


@pytest.fixture
def first_use(browser: Browser, empty_store: Store) -> Iterator[Tab]:
    """Open a tab on the pages of an empty store."""
    with PagesServer(empty_store) as server:
        opened = Tab(browser, server.origin, server.address)
        yield opened
        opened.close()
        assert opened.troubles == []


def test_an_empty_store_shows_the_first_steps(first_use: Tab) -> None:
    page = first_use.open()
    expect(page.locator(".lead").first).to_contain_text("Nothing is stored yet")
    steps = page.locator(".steps-first h2").all_inner_texts()
    assert steps == ["Connect an agent", "Let it save its work", "Go on where it ended"]
    assert page.locator(".chart").count() == 0
    page.get_by_role("link", name="Connect an agent").click()
    expect(page.get_by_role("heading", name="Claude Code").first).to_be_visible()


def test_the_first_entry_replaces_the_first_steps(first_use: Tab, empty_store: Store) -> None:
    page = first_use.open("/overview")
    empty_store.call("artifact_store", {"kind": "freeform", "name": "first", "data": {"a": 1}})
    expect(page.locator(".chart")).to_be_visible()
    expect(page.locator(".steps-first")).to_have_count(0)


def test_every_empty_family_describes_its_entries_and_links_to_the_connect_page(first_use: Tab) -> None:
    for path in ("/capsules", "/artifacts", "/tasks", "/reasoning", "/reasoning/log", "/records", "/records/timeline"):
        empty = first_use.open(path).locator(".empty")
        expect(empty.get_by_role("link", name="Connect an agent")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/capsules?tag=nowhere", "All capsules"),
        ("/artifacts?kind=none", "All artifacts"),
        ("/records?as_of=2020-01-01", "All records"),
        ("/records/timeline?after_date=2100-01-01", "All events"),
        ("/capsules?offset=900", "All capsules"),
    ],
)
def test_filters_without_matches_are_cleared_by_a_click(tab: Tab, path: str, leads_to: str) -> None:
    page = tab.open(path)
    page.get_by_role("link", name=leads_to).click()
    expect(page.locator(".empty")).to_have_count(0)
    expect(page.locator(".card").first).to_be_visible()


def test_a_search_without_hits_offers_a_wider_search(tab: Tab) -> None:
    page = tab.open("/search?mode=keyword&type=note&workspace=platform&q=idempotency")
    offered = page.locator(".empty a").all_inner_texts()
    assert offered == ["By meaning too", "In all families", "In all workspaces"]
    page.get_by_role("link", name="In all workspaces").click()
    page.get_by_role("link", name="In all families").click()
    expect(page.locator(".hits")).to_be_visible()
