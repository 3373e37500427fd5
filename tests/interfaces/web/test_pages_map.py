"""The map: labels, links, replay, export and the placement of similar entries near each other."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from moss_memory.web import map_layout
from moss_memory.web.background import BackgroundCache
from moss_memory.web.map_layout import place_dots
from support.browser import Tab
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from moss_memory.store import Store
    from support.pages_server import PagesServer

READY = '#map-canvas[data-state="ready"]'
AT = """(number) => fetch(`${document.body.dataset.base}/map/data`).then((answer) => answer.json()).then((found) => {
  const canvas = document.getElementById("map-canvas"), box = canvas.getBoundingClientRect();
  const [scale, x, y] = canvas.dataset.view.split(" ").map(Number), dot = found.dots[number];
  return { x: box.left + x + dot[0] * scale, y: box.top + y + dot[1] * scale, title: dot[7], path: dot[8] };
})"""
"""A script that returns the screen position, the title and the page of a dot."""
SMOOTH = """async () => {
  const button = document.querySelector('[data-zoom="in"]'), began = performance.now();
  for (let step = 0; step < 10; step += 1) {
    button.click();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  return (performance.now() - began) / 10;
}"""
"""A script that returns the milliseconds between a click and the second frame after it."""


def opened(tab: Tab, path: str = "/map") -> Page:
    page = tab.open(path)
    expect(page.locator(READY)).to_be_visible()
    page.wait_for_function("() => document.getElementById('map-canvas').dataset.view")
    return page


def test_every_entry_is_a_dot_and_the_page_explains_the_placement(tab: Tab, store: Store) -> None:
    page = opened(tab)
    counts = store.call("moss_activity", {})["counts"]
    found = page.evaluate("(path) => fetch(path).then((answer) => answer.json())", f"{tab_base(page)}/map/data")
    families = [dot[2] for dot in found["dots"]]
    assert families.count(0) == counts["capsule"]
    assert min(families.count(number) for number in (1, 2, 3)) > 5
    expect(page.locator("#map-status")).to_contain_text(f"{len(families)} dots, placed by")
    assert page.locator("#map-canvas").get_attribute("data-shown") == str(len(families))


def tab_base(page: Page) -> str:
    return str(page.evaluate("document.body.dataset.base"))


def test_a_dot_shows_its_title_under_the_pointer_and_opens_on_click(tab: Tab) -> None:
    page = opened(tab)
    page.locator("#map-canvas").scroll_into_view_if_needed()
    dot = page.evaluate(AT, 0)
    page.mouse.move(dot["x"], dot["y"])
    expect(page.locator("#map-name")).to_be_visible()
    name = page.locator("#map-name").inner_text()
    page.mouse.click(dot["x"], dot["y"])
    page.wait_for_url(lambda url: "/map" not in url)
    assert page.get_by_role("heading", level=1).inner_text().casefold() in name.casefold()


def test_the_slider_replays_the_weeks(tab: Tab) -> None:
    page = opened(tab)
    canvas, slider = page.locator("#map-canvas"), page.get_by_label("Week")
    every = int(canvas.get_attribute("data-shown") or 0)
    assert slider.input_value() == slider.get_attribute("max")
    slider.fill("0")
    expect(canvas).not_to_have_attribute("data-shown", str(every))
    assert 0 < int(canvas.get_attribute("data-shown") or 0) < every
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#map-date")).to_have_text("now", timeout=TIMEOUT_S * 1000)
    expect(canvas).to_have_attribute("data-shown", str(every))


def test_the_picture_has_titles_only_on_request(tab: Tab, tmp_path: Path) -> None:
    page = opened(tab)
    page.evaluate(
        "() => { window.written = []; const own = CanvasRenderingContext2D.prototype.fillText;"
        " CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {"
        " if (this.canvas.id !== 'map-canvas') window.written.push(text); own.call(this, text, ...more); } }"
    )
    for ticked in (False, True):
        page.get_by_label("with titles").set_checked(ticked)
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save as PNG").click()
        saving.value.save_as(tmp_path / "map.png")
        assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
        assert bool(page.evaluate("window.written.length")) is ticked
    assert "atlas-checkout" in page.evaluate("window.written")


def test_the_wheel_scrolls_the_page_and_zooms_only_with_ctrl(tab: Tab) -> None:
    page = opened(tab)
    box = page.locator("#map-canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    view = page.locator("#map-canvas").get_attribute("data-view")
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => scrollY > 0")
    assert page.locator("#map-canvas").get_attribute("data-view") == view
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(page.locator("#map-canvas")).not_to_have_attribute("data-view", str(view))
    page.get_by_role("button", name="Fit").click()
    expect(page.locator("#map-canvas")).to_have_attribute("data-view", str(view))


def scattered(tab: Tab, count: int, workspaces: int) -> Page:
    """Return the page of a map with scattered dots."""
    chance = random.Random(3)  # noqa: S311 - places of dots
    many = [
        [chance.random(), chance.random(), n % 4, n % workspaces, n % 9, 1_700_000_000, 1_700_000_000, "<b>t</b>", "/"]
        for n in range(count)
    ]
    data = {
        "ready": True, "placed_by": "meaning", "dots": many, "families": ["capsule", "reasoning", "task", "record"],
        "workspaces": [f"the workspace {number}" for number in range(workspaces)],
    }  # fmt: skip
    tab.page.route("**/map/data", lambda route: route.fulfill(body=json.dumps(data), content_type="application/json"))
    return opened(tab)


@pytest.mark.parametrize(("width", "least"), [(1280, 20), (390, 8)])
def test_labels_do_not_overlap_and_stay_inside(browser: Browser, server: PagesServer, width: int, least: int) -> None:
    tab = Tab(browser, server.origin, server.address, viewport={"width": width, "height": 844})
    page = scattered(tab, 400, 30)
    box = page.locator("#map-canvas").bounding_box()
    assert box is not None
    labels = json.loads(page.locator("#map-canvas").get_attribute("data-labels") or "")
    assert len(labels) >= least
    for number, (x, y, half) in enumerate(labels):
        assert half - 1 <= x <= box["width"] - half + 1
        assert 10 <= y <= box["height"]
        for other_x, other_y, other_half in labels[:number]:
            assert abs(x - other_x) >= half + other_half - 2 or abs(y - other_y) >= 15
    tab.close()
    assert tab.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_workspace_has_a_tint_of_its_own(browser: Browser, server: PagesServer, scheme: Any) -> None:
    tab = Tab(browser, server.origin, server.address, color_scheme=scheme)
    tab.page.add_init_script(
        "window.fills = new Set(); const own = CanvasRenderingContext2D.prototype.fill;"
        " CanvasRenderingContext2D.prototype.fill = function (...given) {"
        " if (given[1] === 'nonzero') window.fills.add(this.fillStyle); own.apply(this, given); }"
    )
    page = scattered(tab, 60, 6)
    fills = page.evaluate("[...window.fills]")
    assert len(fills) == 6
    lightness = [sum(int(fill[at : at + 2], 16) for at in (1, 3, 5)) / 765 for fill in fills]
    assert all(light > 0.88 if scheme == "light" else light < 0.25 for light in lightness)
    tab.close()
    assert tab.troubles == []


def test_ten_thousand_dots_are_drawn_smoothly(tab: Tab) -> None:
    page = scattered(tab, 10_000, 30)
    expect(page.locator("#map-status")).to_contain_text("10,000 dots")

    assert page.evaluate(SMOOTH) < 400  # a frame takes about 15 ms on an idle machine


def test_without_javascript_the_entries_are_a_list(browser: Browser, server: PagesServer) -> None:
    tab = Tab(browser, server.origin, server.address, java_script_enabled=False)
    page = tab.open("/map?workspace=platform")
    expect(page.locator("#map")).to_be_hidden()
    expect(page.get_by_text("The map needs JavaScript.")).to_be_visible()
    titles = page.locator(".map-list .row-title").all_inner_texts()
    assert {"Small, dull deploys", "Migrations first"} <= set(titles)
    page.get_by_role("link", name="Small, dull deploys").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Small, dull deploys")
    tab.close()


def dot(number: int, workspace: str = "w", tag: str = "") -> dict[str, Any]:
    return {"doc": number * 16, "family": "capsule", "workspace": workspace, "tag": tag}


def vector(group: int, chance: random.Random) -> bytes:
    numbers = [90 if at % 5 == group else 0 for at in range(40)]
    return bytes(4) + bytes((number + chance.randrange(-20, 21)) % 256 for number in numbers)


def test_similar_entries_are_placed_near_each_other() -> None:
    pytest.importorskip("numpy")
    chance = random.Random(5)  # noqa: S311 - vectors
    dots = [dot(number) for number in range(100)]
    vectors = {one["doc"]: vector(number % 5, chance) for number, one in enumerate(dots)}
    positions, placed_by = place_dots(dots, vectors)
    assert placed_by == "meaning"
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in positions)
    for number in range(len(dots)):
        others = sorted((math.dist(positions[number], positions[at]), at) for at in range(len(dots)) if at != number)
        assert sum(at % 5 == number % 5 for _, at in others[:5]) >= 4
    assert place_dots(dots, vectors)[0] == positions


def test_a_dot_without_a_vector_is_placed_in_its_workspace() -> None:
    pytest.importorskip("numpy")
    chance = random.Random(6)  # noqa: S311 - vectors
    dots = [dot(number, "left" if number < 20 else "right") for number in range(41)]
    vectors = {one["doc"]: vector(number // 20, chance) for number, one in enumerate(dots[:40])}
    vectors[0] = b"damaged"
    positions, _ = place_dots(dots, vectors)
    middles = [[sum(one[axis] for one in part) / 20 for axis in (0, 1)] for part in (positions[:20], positions[20:40])]
    assert math.dist(positions[40], middles[1]) < math.dist(positions[40], middles[0])


def test_without_vectors_or_numpy_dots_are_grouped_by_workspace_and_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_layout, "find_spec", lambda name: None)
    dots = [dot(number, f"w{number % 3}", f"t{number % 2}") for number in range(90)]
    positions, placed_by = place_dots(dots, {one["doc"]: bytes(44) for one in dots})
    assert placed_by == "workspace"
    assert len(set(positions)) == 90
    middles = [[sum(positions[at][axis] for at in range(w, 90, 3)) / 30 for axis in (0, 1)] for w in range(3)]
    for number, position in enumerate(positions):
        assert min(range(3), key=lambda w: math.dist(position, middles[w])) == number % 3
    assert place_dots([], {}) == ([], "workspace")


def test_a_result_is_computed_once_and_again_after_a_change() -> None:
    background, counted = BackgroundCache(), []

    def compute() -> int:
        counted.append(1)
        return len(counted)

    assert background.get("key", 1, compute, wait_s=TIMEOUT_S) == (1, True)
    assert background.get("key", 1, compute) == (1, True)
    found = (1, False)
    while found != (2, True):
        found = background.get("key", 2, compute, wait_s=0.01)
    assert len(counted) == 2
