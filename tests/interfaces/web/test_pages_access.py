"""Accessibility of the pages: no serious axe-core violation in either color scheme, and no overflow on a phone."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]

from support.browser import Tab
from support.thorough import is_thorough

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

    from moss_memory.store import Store
    from support.pages_server import PagesServer

SHOP = "workspace=atlas-checkout"
SERIOUS = """async (options) => {
  const found = await axe.run(document, { resultTypes: ["violations"], ...options });
  const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  return bad.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`));
}"""
"""A script that returns the serious axe-core violations and their elements."""
SCHEMES: dict[Literal["light", "dark"], dict[str, Any]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
"""All axe-core rules run in one color scheme; only the color rules run in the other."""
FEWER = """() => {
  for (const list of document.querySelectorAll("main ul, main ol, main .list, main section, main .log")) {
    const seen = {};
    for (const one of [...list.children]) {
      const kind = `${one.tagName} ${one.className}`;
      seen[kind] = (seen[kind] || 0) + 1;
      if (seen[kind] > 6) one.remove();
    }
  }
}"""
"""A script that keeps six rows of each kind, because equal rows give equal results and axe-core is slow."""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""A script that waits until the page has handled its new size."""
WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}

LAID_OUT = """() => {
  const page = document.documentElement, main = document.querySelector("main");
  const edge = (element) => element.getBoundingClientRect().right;
  const inner = edge(main) - parseFloat(getComputedStyle(main).paddingRight);
  const below = page.scrollHeight - Math.max(page.clientHeight, main.getBoundingClientRect().bottom + scrollY);
  return [page.scrollWidth - page.clientWidth, edge(document.querySelector(".search")), inner, Math.floor(below)];
}"""


PAGES = 25


def every_page(store: Store) -> list[str]:
    """Return the address of one page of each kind."""
    capsule = store.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})["id"]
    artifact = store.call("artifact_list", {"kind": "verifier-output"})["items"][0]["id"]
    entity = store.call("retrieve_entities", {"entity_type": "feature_unit"})["entities"][0]
    conflict = store.call("branchmind_graph_conflicts", {"workspace": "atlas-checkout", "into": "main"})["conflicts"][0]
    return [
        "/", "/overview", f"/?since=week&{SHOP}", "/capsules",
        f"/capsules/{capsule}", f"/capsules/{capsule}/edit", f"/capsules/{capsule}/history",
        "/artifacts", f"/artifacts/{artifact}", "/tasks", f"/tasks/TASK-003?{SHOP}", f"/tasks/PLAN-001?{SHOP}",
        f"/reasoning?{SHOP}&branch=try-idempotency&compare=main", f"/reasoning/log?{SHOP}",
        f"/reasoning/conflicts/{conflict['conflict_id']}?{SHOP}", "/records", "/records/timeline",
        f"/records/entities/{entity['entity_id']}?workspace={entity['workspace']}",
        "/search?mode=keyword&q=refund", "/health/report", "/connect", "/workspaces", f"/agent?{SHOP}", "/map",
        f"/reasoning/node?{SHOP}&branch=main&id=H1",
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(PAGES))
def test_axe_finds_nothing_serious_in_either_scheme_at_either_width(
    browser: Browser, server: PagesServer, store: Store, number: int
) -> None:
    tab = Tab(browser, server.origin, server.address, bypass_csp=True, reduced_motion="reduce")
    path = every_page(store)[number]
    page = tab.open(path)
    page.evaluate(AXE_SCRIPT)
    page.evaluate(FEWER)
    found: list[str] = []
    combinations = list(itertools.product((WIDE, PHONE), SCHEMES))
    if not is_thorough():  # alternate the scheme of each width from page to page
        combinations = combinations[1:3] if number % 2 else combinations[::3]
    for width, scheme in combinations:
        page.set_viewport_size(width)
        page.emulate_media(color_scheme=scheme)
        page.evaluate(DRAWN)
        serious = page.evaluate(SERIOUS, SCHEMES[scheme])
        found += [f"{path}, {scheme}, {width['width']}: {one}" for one in serious]
    tab.close()
    assert found == []


def test_every_page_is_checked_by_axe(store: Store) -> None:
    assert len(every_page(store)) == PAGES


def test_a_phone_shows_every_page_without_scrolling_sideways(
    browser: Browser, server: PagesServer, store: Store
) -> None:
    tab = Tab(browser, server.origin, server.address, viewport=PHONE)
    for path in every_page(store):
        page = tab.open(path)
        beyond, search, content, below = page.evaluate(LAID_OUT)
        assert beyond <= 0, path
        assert search <= content, f"{path}: the search box is wider than the page's content"
        assert below <= 0, f"{path}: nothing stands in the last {below} pixels"
    tab.close()
    assert tab.troubles == []


@pytest.mark.parametrize("width", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_search_stays_in_view_and_the_newest_day_is_shown(
    browser: Browser, server: PagesServer, width: ViewportSize
) -> None:
    tab = Tab(browser, server.origin, server.address, viewport=width)
    page = tab.open("/overview")
    newest = page.locator("rect.bar").last.bounding_box()
    assert newest is not None
    assert 0 < newest["x"] < width["width"] - newest["width"]
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    search = page.locator(".search").bounding_box()
    assert search is not None
    assert search["y"] >= 0
    tab.close()
    assert tab.troubles == []


def test_every_control_has_a_name_and_the_keyboard_reaches_the_content(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
