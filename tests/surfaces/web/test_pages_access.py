"""Everybody can use the pages: axe-core finds nothing serious in either scheme, and a phone shows them whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from support.browser import Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from moss_memory.store import Store
    from support.pages_server import PagesServer

SHOP = "workspace=atlas-checkout"
SERIOUS = ("serious", "critical")
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {**EVERYTHING, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
"""What differs between the schemes."""


def every_page(store: Store) -> list[str]:
    """One page of each kind."""
    capsule = store.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})["id"]
    artifact = store.call("artifact_list", {"kind": "verifier-output"})["items"][0]["id"]
    entity = store.call("retrieve_entities", {"entity_type": "feature_unit"})["entities"][0]
    conflict = store.call("branchmind_graph_conflicts", {"workspace": "atlas-checkout", "into": "main"})["conflicts"][0]
    return [
        "/", "/capsules", f"/capsules/{capsule}", f"/capsules/{capsule}/edit", f"/capsules/{capsule}/history",
        "/artifacts", f"/artifacts/{artifact}", "/tasks", f"/tasks/TASK-003?{SHOP}", f"/tasks/PLAN-001?{SHOP}",
        f"/reasoning?{SHOP}&branch=try-idempotency&compare=main", f"/reasoning/log?{SHOP}",
        f"/reasoning/conflicts/{conflict['conflict_id']}?{SHOP}", "/records", "/records/timeline",
        f"/records/entities/{entity['entity_id']}?workspace={entity['workspace']}",
        "/search?mode=keyword&q=refund", "/health/report", "/connect",
    ]  # fmt: skip


def serious(found: dict[str, Any]) -> list[str]:
    """What axe-core finds that keeps people out, and where."""
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def test_axe_finds_nothing_serious_in_either_scheme(browser: Browser, server: PagesServer, store: Store) -> None:
    tab = Tab(browser, server.origin, server.address, bypass_csp=True, reduced_motion="reduce")
    axe = Axe()
    for path in every_page(store):
        page = tab.open(path)
        page.emulate_media(color_scheme="light")
        assert serious(axe.run(page, options=EVERYTHING).response) == [], f"{path}, light"
        page.emulate_media(color_scheme="dark")
        assert serious(axe.run(page, options=COLOURS).response) == [], f"{path}, dark"
    tab.close()


def test_a_phone_shows_every_page_without_scrolling_sideways(
    browser: Browser, server: PagesServer, store: Store
) -> None:
    tab = Tab(browser, server.origin, server.address, viewport={"width": 390, "height": 844})
    for path in every_page(store):
        page = tab.open(path)
        beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert beyond <= 0, path
    tab.close()
    assert tab.troubles == []


def test_every_control_has_a_name_and_the_keyboard_reaches_the_content(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
