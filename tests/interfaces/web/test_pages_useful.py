"""Everyday use of the pages: authors, search targets, time zones, and a notice if the server stops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.web.markdown import MarkdownDocument
from moss_memory.web.search_page import strip_markdown
from support.browser import Tab
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from moss_memory.store import Store

SHOP = "atlas-checkout"
GRAPH = f"/reasoning?workspace={SHOP}"
CLIPPED = """() => {
  const frame = document.querySelector(".canvas").getBoundingClientRect();
  const beside = (box) => box.left < frame.left - 1 || box.right > frame.right + 1;
  const outside = (box) => beside(box) || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  const boxes = [...document.querySelectorAll(".g-node")].map((node) => node.getBoundingClientRect());
  return boxes.filter(outside).length;
}"""
SMALLEST_TITLE = """() => {
  const world = document.querySelector(".canvas svg > g").getCTM();
  const titles = [...document.querySelectorAll(".g-node text.title")];
  return Math.min(...titles.map((one) => one.getAttribute("font-size") * world.a));
}"""

SCROLLED = """() => new Promise((done) => {
  const look = () => (scrollY > 0 ? done() : requestAnimationFrame(look));
  look();
})"""


def stored(store: Store, name: str, **more: object) -> str:
    """Store a capsule and return its id."""
    return str(store.call("capsule_store", {"workspace": SHOP, "name": name, "capsule_text": FULL, **more})["id"])


def test_an_edit_is_credited_to_its_reader_and_not_to_the_last_agent(tab: Tab, store: Store) -> None:
    key = stored(store, "by an agent", source="claude-code")
    page = tab.open(f"/capsules/{key}/edit")
    assert page.get_by_label("Written by").input_value() == "you"
    page.get_by_label("Title").fill("Edited")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".facts")).to_contain_text("by you")
    assert store.call("capsule_fetch", {"id": key})["source"] == "you"


def test_a_message_of_a_form_is_shown_once(tab: Tab, store: Store) -> None:
    key = stored(store, "shown once")
    page = tab.open(f"/capsules/{key}?notice=changed")
    expect(page.get_by_role("status")).to_have_text("Changed.")
    page.reload()
    expect(page.get_by_role("status")).to_have_count(0)


def test_a_deleted_capsule_is_named(tab: Tab, store: Store) -> None:
    key = stored(store, "with a title", title="A title to remember")
    page = tab.open(f"/capsules/{key}")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("Deleted A title to remember.")


def test_actions_are_beside_the_title_above_the_fold(browser: Browser, server: PagesServer, store: Store) -> None:
    capsule = store.call("capsule_fetch", {"workspace": SHOP, "name": "refunds"})["id"]
    tab = Tab(browser, server.origin, server.address, viewport={"width": 1280, "height": 600})
    page = tab.open(f"/capsules/{capsule}")
    for name in ("Edit", "Compare"):
        expect(page.get_by_role("link", name=name)).to_be_in_viewport()
    page.locator("summary", has_text="Rename").click()
    expect(page.get_by_label("Name")).to_be_in_viewport()
    tab.close()
    assert tab.troubles == []


def test_a_refused_secret_is_explained_without_the_words_of_the_tools(tab: Tab, store: Store) -> None:
    page = tab.open(f"/capsules/{stored(store, 'explained')}/edit")
    page.get_by_label("Text").fill(f"{FULL}\nAKIA" + "Q3EGJ7KX2MPLT5WV")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("looks like a credential (aws-access-key)")
    assert "allow_secrets" not in page.content().partition("<form")[0] + page.get_by_role("alert").inner_text()


def test_titles_contain_workspace_tag_and_branch(tab: Tab) -> None:
    tab.open(f"/capsules?workspace={SHOP}&tag=payments")
    assert tab.page.title() == f"Capsules tagged payments · {SHOP} · Moss"
    tab.open(f"{GRAPH}&branch=main")
    assert tab.page.title() == f"Reasoning on main · {SHOP} · Moss"


def test_anchors_are_made_of_the_words_of_a_heading() -> None:
    made = MarkdownDocument("# Next steps\n\n# Next steps\n\n# <b>!\n\n# \u00dcber \u65e5\u672c")
    assert [anchor for anchor, _ in made.headings] == [
        "s-next-steps",
        "s-next-steps.2",
        "s-b",
        "s-\u00fcber-\u65e5\u672c",
    ]
    assert all(f'id="{anchor}"' in made.html for anchor, _ in made.headings)


@pytest.mark.parametrize(
    ("snippet", "shown"),
    [("one two ##...", "one two..."), ("one\n\n## ", "one"), ("## Head\n\ntext", "Head · text"), ("a # b", "a # b")],
)
def test_a_snippet_has_no_empty_heading(snippet: str, shown: str) -> None:
    assert strip_markdown(snippet) == shown


def test_a_search_opens_the_task_itself_and_shows_it_once(tab: Tab) -> None:
    page = tab.open("/search?mode=keyword&q=reconciliation+job")
    found = page.locator(".hits .row", has_text="Reconciliation job").filter(has=page.locator(".dot.task"))
    expect(found).to_have_count(1)
    found.click()
    expect(page.locator(".crumbs")).to_contain_text("TASK-004")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reconciliation job")


def test_a_search_opens_the_step_note_or_node_itself(tab: Tab, store: Store) -> None:
    step = store.call("tasks_show", {"workspace": SHOP, "target": "TASK-003"})["steps"][0]
    page = tab.open(f"/search?mode=keyword&type=task&workspace={SHOP}&q=%22{step['title'].replace(' ', '+')}%22")
    page.locator(".hits .row").first.click()
    page.wait_for_url(f"**/tasks/TASK-003?*#{step['step_id']}")
    page = tab.open("/search?mode=keyword&type=note&q=sums+floats")
    page.locator(".hits .row").first.click()
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry")).to_contain_text("sums floats")
    page = tab.open("/search?mode=keyword&type=node&q=refunds+paid+twice")
    page.get_by_role("link", name="Why are some refunds paid twice?").first.click()
    page.wait_for_url("**/reasoning/node?*")


def test_a_node_is_read_in_full_with_its_author_its_links_and_its_history(tab: Tab, store: Store) -> None:
    node = {"op": "node_upsert", "id": "long", "type": "evidence", "title": "Long evidence", "status": "open"}
    long = "first " + "word " * 400 + "last"
    place = {"workspace": "nodes", "branch": "main"}
    ops = [{**node, "text": "short"}, {"op": "node_upsert", "id": "q", "type": "question", "title": "The question"}]
    ops.append({"op": "edge_upsert", "from": "long", "rel": "answers", "to": "q"})
    store.call("branchmind_init", {"workspace": "nodes"})
    store.call("branchmind_graph_apply", {**place, "ops": ops}, actor="codex")
    store.call("branchmind_graph_apply", {**place, "ops": [{**node, "text": long, "status": "done"}]}, actor="browser")
    page = tab.open("/reasoning/node?workspace=nodes&branch=main&id=long")
    expect(page.locator(".prose")).to_contain_text(long.strip())
    expect(page.locator(".facts")).to_contain_text("by you")
    assert page.locator(".history li").all_inner_texts()[0].startswith("open → done, text changed")
    expect(page.locator(".history")).to_contain_text("codex")
    page.get_by_role("link", name="The question").click()
    expect(page.locator(".rail")).to_contain_text("Long evidence answers this")


def test_a_node_of_the_graph_opens_beside_it(tab: Tab) -> None:
    page = tab.open(GRAPH)
    page.locator(".g-node", has_text="Why are some refunds").click()
    drawer = page.locator(".drawer")
    expect(drawer.locator("h1")).to_have_text("Why are some refunds paid twice?")
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_be_hidden()
    page.locator(".change").first.click()
    drawer.get_by_role("link", name="Open as a page").click()
    page.wait_for_url("**/reasoning/node?*")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_graph_fits_and_never_traps_scrolling(browser: Browser, server: PagesServer, width: int) -> None:
    tab = Tab(browser, server.origin, server.address, viewport={"width": width, "height": 600})
    for path in (GRAPH, f"{GRAPH}&branch=try-idempotency&compare=main"):
        page = tab.open(path)
        assert page.evaluate(CLIPPED) == 0
        assert page.evaluate(SMALLEST_TITLE) >= 7
        page.locator(".canvas").hover(position={"x": 5, "y": 5})
        before = page.locator(".canvas svg > g").get_attribute("transform")
        page.mouse.wheel(0, 200)
        page.evaluate(SCROLLED)
        assert page.locator(".canvas svg > g").get_attribute("transform") == before
        page.keyboard.down("Control")
        page.mouse.wheel(0, -200)
        page.keyboard.up("Control")
        expect(page.locator(".canvas svg > g")).not_to_have_attribute("transform", str(before))
    tab.close()
    assert tab.troubles == []


def test_two_fingers_zoom_the_graph(browser: Browser, server: PagesServer) -> None:
    tab = Tab(browser, server.origin, server.address, viewport={"width": 390, "height": 844}, has_touch=True)
    page = tab.open(GRAPH)
    page.locator(".canvas").scroll_into_view_if_needed()
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.locator(".canvas svg > g").get_attribute("transform")
    session = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 20), ("touchMove", 40), ("touchMove", 90), ("touchEnd", 0)):
        points = [{"x": x - apart, "y": y}, {"x": x + apart, "y": y}] if apart else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(page.locator(".canvas svg > g")).not_to_have_attribute("transform", str(before))
    tab.close()
    assert tab.troubles == []


def test_a_stopped_server_is_reported_with_its_time_and_its_return_too(browser: Browser, store: Store) -> None:
    with PagesServer(store) as server:
        tab = Tab(browser, server.origin, server.address)
        page = tab.open("/capsules")
        expect(page.locator("#stopped")).to_be_hidden()
    expect(page.locator("#stopped")).to_be_visible()
    expect(page.locator("#stopped")).to_contain_text(re.compile(r"since \d+ \w+ \d{4}, \d\d:\d\d\."))
    tab.close()


def test_times_follow_the_time_zone_of_the_browser_with_utc_in_the_tooltip(
    browser: Browser, server: PagesServer, store: Store
) -> None:
    store.call("branchmind_notes_commit", {"workspace": "zones", "content": "noted"})
    tab = Tab(browser, server.origin, server.address, timezone_id="Asia/Tokyo")
    page = tab.open("/reasoning/log?workspace=zones")
    noted = page.locator(".entry time")
    utc = noted.get_attribute("title") or ""
    hour = int(utc.split(", ")[1][:2])
    expect(noted).to_have_text(f"{(hour + 9) % 24:02}{utc.split(', ')[1][2:5]}")
    assert utc.endswith(" UTC")
    page.reload()
    day = page.evaluate("new Date().toLocaleDateString('en-GB', {day: 'numeric', month: 'short', year: 'numeric'})")
    expect(page.locator(".log-day h2")).to_have_text(day)
    tab.close()
    assert tab.troubles == []


@pytest.mark.parametrize("zone", ["../../etc/passwd", "Nowhere/At/All", "%00", "Europe", "x" * 5000])
def test_a_time_zone_that_does_not_exist_is_utc(browser: Browser, server: PagesServer, zone: str) -> None:
    tab = Tab(browser, server.origin, server.address, java_script_enabled=False)
    tab.page.context.add_cookies([{"name": "moss_zone", "value": zone[:4000], "url": server.origin}])
    tab.open("/records/timeline")
    tab.close()


def test_changing_the_workspace_keeps_query_and_filters(tab: Tab) -> None:
    page = tab.open("/search?mode=keyword&type=capsule&q=refund")
    page.locator("#workspace").select_option(SHOP)
    page.wait_for_url(re.compile(rf"/search\?.*workspace={SHOP}"))
    assert "q=refund" in page.url
    assert "type=capsule" in page.url
    page = tab.open("/capsules?workspace=platform")
    page.locator(".row").first.click()
    page.wait_for_url("**/capsules/*?workspace=platform")


def test_every_workspace_has_its_own_page(tab: Tab, store: Store) -> None:
    for number in range(110):
        place = {"workspace": f"many {number:03}", "name": "one", "capsule_text": FULL}
        store.call("capsule_store", place)
    page = tab.open("/workspaces?name=many+")
    expect(page.locator(".pages")).to_contain_text("of 110")
    page = tab.open("/workspaces?name=many+000")
    page.get_by_role("link", name="Capsules").last.click()
    page.wait_for_url("**/capsules?workspace=many+000")
    expect(page.locator("main .row")).to_have_count(1)


@pytest.mark.sqlite("the check reads the settings again, which name the database of another test")
def test_health_shows_its_time_and_is_checked_again_after_a_change(tab: Tab, store: Store) -> None:
    page = tab.open("/health/report")
    expect(page.locator(".lead")).to_contain_text("Checked at")
    stored(store, "after the check")
    count = store.call("moss_activity", {})["counts"]["capsule"]
    page = tab.open("/health")
    expect(page.locator(".checks")).to_contain_text(f"{count} active capsules")


def test_only_the_content_is_printed(tab: Tab, store: Store) -> None:
    capsule = store.call("capsule_fetch", {"workspace": SHOP, "name": "refunds"})["id"]
    page = tab.open(f"/capsules/{capsule}")
    page.emulate_media(media="print")
    for hidden in (".side", "header.bar", ".title-line .actions"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.locator(".prose")).to_be_visible()
