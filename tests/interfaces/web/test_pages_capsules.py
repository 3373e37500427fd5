"""The page frame, the overview and the capsule pages in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from contract.doors import FULL
from support.browser import Tab
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from moss_memory.store import Store

SHOP = "atlas-checkout"


def stored(store: Store, name: str, text: str = FULL) -> str:
    """Store a capsule and return its id."""
    return str(store.call("capsule_store", {"workspace": SHOP, "name": name, "capsule_text": text})["id"])


def test_the_overview_describes_moss_and_counts_the_entries(tab: Tab, store: Store) -> None:
    page = tab.open("/overview")
    expect(page.locator(".lead")).to_contain_text("hand-overs, decisions and findings")
    counts = store.call("moss_activity", {})["counts"]
    assert [int(text) for text in page.locator(".num").all_inner_texts()] == list(counts.values())
    assert page.locator("svg.chart rect").count() > 100
    page.get_by_role("link", name="Refunds: partial amounts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Refunds: partial amounts and retries")


def test_an_open_question_leads_to_its_text_and_to_its_place_in_the_graph(tab: Tab) -> None:
    page = tab.open("/overview")
    page.get_by_role("link", name="Why are some refunds paid twice?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Why are some refunds paid twice?")
    page.get_by_role("link", name="Show it in the graph").click()
    expect(page.locator(".g-node.chosen")).to_have_attribute(
        "aria-label", "question, open: Why are some refunds paid twice?"
    )


def test_a_selected_workspace_filters_the_page(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.get_by_label("Workspace").select_option("platform")
    page.wait_for_url("**/capsules?workspace=platform")
    places = page.locator(".row-main .faint").all_inner_texts()
    assert places
    assert all(place.startswith("platform / ") for place in places)


def test_a_capsule_is_rendered_as_markdown_with_its_sections_checked(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.get_by_role("link", name="Gift cards").click()
    expect(page.locator(".prose h2")).to_have_count(4)
    assert page.locator(".check .missing").all_inner_texts() == [
        "!\nKey locations\nis missing",
        "!\nOpen questions\nis missing",
    ]
    page.locator(".check a", has_text="Decisions").click()
    expect(page.locator("#s-decisions")).to_be_in_viewport()


def test_the_slash_key_goes_to_the_search(tab: Tab) -> None:
    page = tab.open()
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    assert page.locator("#q").input_value() == ""


def test_an_edited_capsule_is_stored_and_an_incomplete_one_is_refused_with_its_text_kept(
    tab: Tab, store: Store
) -> None:
    capsule = stored(store, "edited")
    page = tab.open(f"/capsules/{capsule}/edit")
    page.get_by_label("Text").fill("## Objective\n\nonly this")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Missing: Current status")
    assert page.get_by_label("Text").input_value() == "## Objective\n\nonly this"
    page.get_by_label("Text").fill(FULL + "\nand **more**")
    page.get_by_label("Tags").fill("one, two")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Changed.")
    fetched = store.call("capsule_fetch", {"id": capsule})
    assert (fetched["capsule_text"], fetched["tags"]) == (FULL + "\nand **more**", ["one", "two"])


def test_a_deleted_capsule_can_be_brought_back(tab: Tab, store: Store) -> None:
    capsule = stored(store, "taken back")
    page = tab.open(f"/capsules/{capsule}")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("Deleted taken back.")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("status")).to_have_text("Brought back.")
    assert "deleted_at" not in store.call("capsule_fetch", {"id": capsule})


def test_a_change_is_compared_line_by_line_and_reverted(tab: Tab, store: Store) -> None:
    capsule = stored(store, "taken back by version")
    store.call("capsule_append", {"id": capsule, "section": "Decisions", "content": "a hasty one"})
    page = tab.open(f"/capsules/{capsule}")
    page.get_by_role("link", name="Compare").click()
    added = page.locator(".line.added .text").all_inner_texts()
    assert "a hasty one" in added
    assert page.locator(".line.removed").count() == 0
    page.get_by_role("button", name="Go back to version 1").click()
    expect(page.get_by_role("status")).to_contain_text("The old version is the present one")
    assert store.call("capsule_fetch", {"id": capsule})["capsule_text"] == FULL
    page.locator(".history a").nth(1).click()
    expect(page.locator(".notice.warn")).to_contain_text("Version 2, not the present one (3)")
    expect(page.locator(".prose")).to_contain_text("a hasty one")


def test_a_capsule_is_renamed_and_a_taken_name_is_refused(tab: Tab, store: Store) -> None:
    capsule = stored(store, "old name")
    page = tab.open(f"/capsules/{capsule}")
    page.locator("summary", has_text="Rename").click()
    page.get_by_label("Name").fill("new name")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("status")).to_have_text("Renamed.")
    assert store.call("capsule_fetch", {"workspace": SHOP, "name": "new name"})["id"] == capsule
    page.locator("summary", has_text="Rename").click()
    page.get_by_label("Name").fill("refunds")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("alert")).to_contain_text('A capsule named "refunds" already exists')
    assert page.get_by_label("Name").input_value() == "refunds"
    expect(page.get_by_role("heading", level=1)).to_have_text("new name")


def test_an_edit_that_looks_like_a_secret_is_refused_until_confirmed(tab: Tab, store: Store) -> None:
    capsule = stored(store, "secretive")
    page = tab.open(f"/capsules/{capsule}/edit")
    key = "AKIA" + "Q3EGJ7KX2MPLT5WV"
    page.get_by_label("Text").fill(f"{FULL}\n{key}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert key not in page.get_by_role("alert").inner_text()
    page.get_by_label("Store it although").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Changed.")


def test_an_edit_over_a_concurrent_change_is_refused(tab: Tab, store: Store) -> None:
    capsule = stored(store, "contended")
    page = tab.open(f"/capsules/{capsule}/edit")
    store.call("capsule_update", {"id": capsule, "title": "theirs"})
    page.get_by_label("Title").fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert store.call("capsule_fetch", {"id": capsule})["title"] == "theirs"


def test_a_confirmed_edit_overwrites_a_concurrent_change(tab: Tab, store: Store) -> None:
    key = stored(store, "meant")
    page = tab.open(f"/capsules/{key}/edit")
    page.get_by_label("Title").fill("Mine")
    store.call("capsule_update", {"id": key, "title": "Theirs"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("it is at version 2 now")
    page.get_by_label("Save it over version 2").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine")
    assert store.call("capsule_fetch", {"id": key, "version": 2})["title"] == "Theirs"


def test_an_edit_of_a_capsule_deleted_meanwhile_keeps_its_text(tab: Tab, store: Store) -> None:
    key = stored(store, "deleted meanwhile")
    page = tab.open(f"/capsules/{key}/edit")
    page.get_by_label("Text").fill(FULL + "mine")
    store.call("capsule_delete", {"id": key})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("it was deleted")
    expect(page.get_by_label("Text")).to_have_value(FULL + "mine")


def test_unedited_tags_stay_unchanged(tab: Tab, store: Store) -> None:
    key = stored(store, "with commas")
    store.call("capsule_update", {"id": key, "tags": ["a, b", "c"]})
    page = tab.open(f"/capsules/{key}/edit")
    page.get_by_label("Title").fill("Another")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Another")
    assert store.call("capsule_fetch", {"id": key})["tags"] == ["a, b", "c"]


def test_a_capsule_that_an_agent_stores_appears_on_an_open_page(tab: Tab, store: Store) -> None:
    page = tab.open("/capsules")
    stored(store, "appears")
    expect(page.get_by_role("link", name="appears")).to_be_visible()


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""A script that simulates a hidden tab, because tabs of an automated browser are always visible."""


def test_a_hidden_page_does_not_subscribe_and_updates_once_it_is_visible(tab: Tab, store: Store) -> None:
    page = tab.open("/capsules")
    with page.expect_event("requestfailed", lambda request: "/changes?" in request.url):
        page.evaluate(HIDE, True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    stored(store, "written out of view")
    page.evaluate("async (address) => (await fetch(address)).status", f"{tab.page.url}?notice=now")
    assert [url for url in asked if "notice=now" not in url] == []
    expect(page.get_by_role("link", name="written out of view")).to_have_count(0)
    page.evaluate(HIDE, False)
    expect(page.get_by_role("link", name="written out of view")).to_be_visible()


def test_a_missing_page_has_an_explanation_and_status_404(tab: Tab) -> None:
    for path in ("/capsules/01NOTHERE", "/nowhere", "/nowhere/"):
        page = tab.open(path, status=404)
        expect(page.get_by_role("heading", level=1)).to_have_text("Not there")
        expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    page = tab.open("/capsules/01NOTHERE?workspace=platform", status=404)
    page.get_by_role("link", name="All capsules").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Capsules")
    assert page.url.endswith("/capsules?workspace=platform")
    for path in ("/records/nothing", "/records/entities/ent_0"):
        page = tab.open(path, status=404)
        expect(page.get_by_role("link", name="All records")).to_be_visible()


def test_an_extra_slash_is_accepted(tab: Tab) -> None:
    expect(tab.open("/capsules/").get_by_role("heading", level=1)).to_have_text("Capsules")


def test_a_read_only_server_shows_no_form_that_changes_the_store(browser: Browser, store: Store) -> None:
    capsule = stored(store, "read only")
    with PagesServer(store, read_only=True) as server:
        tab = Tab(browser, server.origin, server.address)
        page = tab.open(f"/capsules/{capsule}")
        assert page.locator("main form[method=post]").count() == 0
        refused = page.request.post(f"{server.address}/capsules/{capsule}/delete", form={})
        assert refused.status == 405
        tab.close()
    assert "deleted_at" not in store.call("capsule_fetch", {"id": capsule})


def test_the_size_in_tokens_counts_the_characters_of_every_script(tab: Tab, store: Store) -> None:
    capsule = stored(store, "chinese", FULL + "\n\n" + "处理每个事件一次" * 35)
    page = tab.open(f"/capsules/{capsule}")
    said = page.get_by_text("tokens").inner_text()
    assert 280 <= int(said.partition("about ")[2].split()[0].replace(",", "")) <= 500
