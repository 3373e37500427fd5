"""Artifacts, timeline, connect: counts of the whole store, one row per observation, connected clients."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from moss_memory.cli.commands.doctor import examine
from moss_memory.http.token_registry import Access
from moss_memory.web import health_page
from support.browser import Tab
from support.pages_server import PagesServer
from support.timeouts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, FloatRect, Locator

    from moss_memory.store import Store

SECRET = "a-secret-that-no-page-may-show"  # noqa: S105
OBSERVED = "2026-03-01T10:00:00Z"
LATER = "2026-03-09T10:00:00Z"


@pytest.fixture
def own(browser: Browser, empty_store: Store) -> Iterator[Tab]:
    """Open a tab on the pages of an empty store, which the test fills."""
    with PagesServer(empty_store) as server:
        tab = Tab(browser, server.origin, server.address)
        yield tab
        tab.close()
        assert tab.troubles == []


def keep(store: Store, kind: str, name: str, **more: Any) -> None:
    store.call("artifact_store", {"workspace": "lab", "kind": kind, "name": name, "data": {"a": 1}, **more})


def observe(store: Store, status: str, updated_at: str) -> None:
    body = {"id": "refunds", "status": status, "created_at": OBSERVED, "updated_at": updated_at, "dependencies": []}
    submitted = {"capability_id": "neotoma:store_feature_unit:v1", "body": {**body, "description": f"is {status}"}}
    store.call("submit_payload", {**submitted, "workspace": "lab"})


def test_kinds_of_artifacts_are_counted_over_the_whole_store(own: Tab, empty_store: Store) -> None:
    for number in range(4):
        keep(empty_store, "plan", f"p{number}", run_id="first")
    keep(empty_store, "plan", "elsewhere", workspace="other")
    for number in range(32):
        keep(empty_store, "finding", f"f{number}", run_id="second")
    page = own.open("/artifacts")
    chips = page.locator(".filters").first
    expect(chips.get_by_role("link", name="finding 32", exact=True)).to_be_visible()
    expect(chips.get_by_role("link", name="plan 5", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="second 32", exact=True)).to_be_visible()
    chips.get_by_role("link", name="plan 5").click()
    expect(page.locator("main .row")).to_have_count(5)
    expect(page.locator(".lead")).to_contain_text("5 of kind plan")
    page = own.open("/artifacts?workspace=lab")
    expect(page.locator(".filters").first.get_by_role("link", name="plan 4", exact=True)).to_be_visible()


def test_an_expired_artifact_is_in_no_count(own: Tab, empty_store: Store) -> None:
    keep(empty_store, "plan", "stays")
    keep(empty_store, "plan", "goes", ttl_seconds=1)
    keep(empty_store, "draft", "goes too", ttl_seconds=1)
    own.open("/artifacts")
    wait_until(lambda: len(empty_store.call("artifact_list", {"workspace": "lab"})["items"]) == 1, "it did not expire")
    keep(empty_store, "note", "a change")
    page = own.open("/artifacts")
    expect(page.get_by_role("link", name="plan 1", exact=True)).to_be_visible()
    expect(page.locator(".filters").first).not_to_contain_text("draft")


def test_one_observation_is_one_row_of_the_timeline(own: Tab, empty_store: Store) -> None:
    observe(empty_store, "planning", OBSERVED)
    page = own.open("/records/timeline")
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".entry")).to_contain_text("feature unit created and updated")
    expect(page.locator(".entry")).to_contain_text("planning")


def test_each_row_of_the_timeline_shows_its_observation(own: Tab, empty_store: Store) -> None:
    observe(empty_store, "planning", OBSERVED)
    observe(empty_store, "completed", LATER)
    page = own.open("/records/timeline")
    rows = page.locator(".entry")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("completed")
    expect(rows.last).to_contain_text("planning")
    expect(rows.last).not_to_contain_text("completed")


def test_kinds_of_events_are_counted_over_the_whole_store(own: Tab, empty_store: Store) -> None:
    observe(empty_store, "planning", OBSERVED)
    for day in range(1, 29):
        observe(empty_store, "in_progress", f"2026-04-{day:02}T10:00:00Z")
        observe(empty_store, "completed", f"2026-05-{day:02}T10:00:00Z")
    page = own.open("/records/timeline")
    expect(page.get_by_role("link", name="feature unit created 1", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="feature unit updated 57", exact=True)).to_be_visible()


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home folder with Cursor connected over HTTP, Gemini without Moss, and a broken Windsurf file."""
    person = tmp_path / "person"
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(person))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    server = {"url": "http://127.0.0.1:8314/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}}
    started = {"command": "moss", "args": ["mcp"], "env": {"KEY": SECRET}}
    files = {
        ".cursor/mcp.json": json.dumps({"mcpServers": {"moss": server}}),
        ".gemini/settings.json": json.dumps({"mcpServers": {"moss": started, "other": {"env": {"KEY": SECRET}}}}),
        ".codeium/windsurf/mcp_config.json": f'{{"mcpServers": {{"{SECRET}": ',
    }
    for name, text in files.items():
        path = person / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return person


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in folder.rglob("*") if one.is_file()}


def test_the_connect_page_lists_connected_clients_and_shows_no_secret(own: Tab, clients: Path) -> None:
    before = contents(clients)
    page = own.open("/connect")
    row = page.locator(".lines").first.locator(".row")
    expect(row.filter(has_text="Cursor")).to_contain_text("connected to another server, http://127.0.0.1:8314")
    expect(row.filter(has_text="Gemini CLI")).to_contain_text("connected to another store, ~/.moss")
    expect(row.filter(has_text="Windsurf")).to_contain_text("file cannot be read")
    expect(row.filter(has_text="Zed")).to_contain_text("not found here")
    expect(page.locator("main")).to_contain_text("No client is connected to this store")
    assert SECRET not in page.content()
    assert contents(clients) == before


@pytest.mark.parametrize("named", ["env", "--home", "--home="])
def test_the_connect_page_counts_only_connections_to_this_store_and_server(
    own: Tab, empty_store: Store, clients: Path, named: str
) -> None:
    home = empty_store.config.home
    words = {"env": [], "--home": ["--home", home], "--home=": [f"--home={home}"]}[named]
    started = {"command": "moss", "args": ["mcp", *words], "env": {"MOSS_HOME": home} if named == "env" else {}}
    server = {"url": own.origin.replace("127.0.0.1", "me:secret@localhost") + "/mcp"}
    (clients / ".gemini/settings.json").write_text(json.dumps({"mcpServers": {"moss": started}}))
    (clients / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"moss": server}}))
    page = own.open("/connect")
    row = page.locator(".lines").first.locator(".row")
    expect(row.filter(has_text="Gemini CLI").locator(".client-state")).to_have_text("✓connected")
    expect(row.filter(has_text="Cursor").locator(".client-state")).to_have_text("✓connected over HTTP")
    expect(page.locator("main")).to_contain_text("2 clients are connected to this store")
    assert "me:secret" not in page.content()


def test_the_connect_page_shows_the_owners_clients_to_the_owner_alone(
    empty_store: Store, clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_page, "page_access", lambda: Access("a member of the team", "0" * 64))
    with PagesServer(empty_store) as server, urllib.request.urlopen(f"{server.address}/connect") as answer:  # noqa: S310
        shown = answer.read().decode()
    assert "Windsurf" in shown
    for state in ("connected to another", "cannot be read", "not found here", "is connected"):
        assert state not in shown


NAME_END = (
    "(brand) => { const text = new Range(); text.selectNodeContents(brand.lastChild);"
    " return text.getBoundingClientRect().right }"
)
CUT_TIMES = """() => [...document.querySelectorAll("main .row-side > *")].filter(
    (one) => one.querySelector("time") && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""
PHONES = [{"width": 390, "height": 844}, {"width": 320, "height": 640}]


@pytest.fixture(params=PHONES, ids=["390", "320"])
def phone(request: pytest.FixtureRequest, browser: Browser, server: PagesServer) -> Iterator[Tab]:
    """Open a tab on the demonstration, as wide as a phone."""
    tab = Tab(browser, server.origin, server.address, viewport=request.param)
    yield tab
    tab.close()
    assert tab.troubles == []


def box_of(found: Locator) -> FloatRect:
    box = found.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("healthy", [False, True])
def test_a_phone_can_sign_out_and_the_header_does_not_overlap(
    phone: Tab, monkeypatch: pytest.MonkeyPatch, healthy: bool
) -> None:
    monkeypatch.setattr(health_page, "examine", lambda home: {**examine(home), "healthy": healthy})
    page = phone.open("/health/report")
    expect(page.locator(".foot-places")).to_contain_text("healthy" if healthy else "not healthy")
    out = page.get_by_role("button", name="Sign out")
    expect(out).to_be_in_viewport()
    name_end = page.locator(".brand").evaluate(NAME_END)
    assert box_of(page.locator(".foot-places a").first)["x"] > name_end, "the links cover the name"
    last, button = box_of(page.locator(".foot-places a").last), box_of(out)
    assert button["x"] >= last["x"] + last["width"] - 1


def test_the_numbers_of_the_chart_stay_in_view_on_a_phone(phone: Tab) -> None:
    page = phone.open("/overview")
    page.wait_for_function("document.querySelector('.chart-scroll').scrollLeft > 0")
    for number in page.locator(".chart-axis .tick").all():
        expect(number).to_be_visible()
        assert box_of(number)["x"] > 0
    line, number = page.locator(".chart .rule").first, page.locator(".chart-axis .tick").first
    middle = box_of(number)["y"] + box_of(number)["height"] / 2
    assert abs(box_of(line)["y"] - middle) < 4, "a number is not beside its line"


def test_only_a_browser_without_scripts_shows_that_the_map_needs_them(tab: Tab) -> None:
    page = tab.open("/map")
    page.wait_for_selector('#map-canvas[data-state="ready"]')
    expect(page.locator("#map-needs")).to_be_hidden()


def test_on_a_phone_the_dot_of_a_row_is_beside_its_title(phone: Tab) -> None:
    page = phone.open("/map")
    page.wait_for_selector('#map-canvas[data-state="ready"]')  # the list moves when the map gets its height
    for row in page.locator(".map-list .row").all()[:20]:
        dot, title = box_of(row.locator(".dot")), box_of(row.locator(".row-title"))
        assert dot["x"] + dot["width"] < title["x"]
        assert title["y"] < dot["y"] + dot["height"] < title["y"] + title["height"] + 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_prints_dark_on_white_without_controls(browser: Browser, server: PagesServer, scheme: str) -> None:
    tab = Tab(browser, server.origin, server.address, color_scheme=scheme)
    for path in ("/?since=week", "/overview", "/capsules", "/artifacts", "/tasks", "/reasoning/log", "/agent", "/map"):
        page = tab.open(path)
        page.emulate_media(media="print", color_scheme="light" if scheme == "light" else "dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        ink = page.evaluate("getComputedStyle(document.querySelector('h1')).color.match(/\\d+/g).map(Number)")
        assert max(ink) < 100, path
        for control in ("main button", "main select", "main input", ".side", "header.bar"):
            shown = [one for one in page.locator(control).all() if one.is_visible()]
            assert shown == [], f"{path}: {control}"
    tab.close()
    assert tab.troubles == []


def test_a_phone_truncates_no_time_and_keeps_a_dot_beside_its_word(phone: Tab) -> None:
    for path in ("/records", "/agent?workspace=atlas-checkout", "/capsules", "/artifacts"):
        page = phone.open(path)
        cut = page.evaluate(CUT_TIMES)
        assert cut == [], path
    page = phone.open("/workspaces")
    for link in page.locator("main .link:has(.dot)").all():
        assert box_of(link)["height"] < 30, "a link is on two lines"


def test_the_state_of_the_store_reads_as_one_phrase(tab: Tab) -> None:
    page = tab.open("/health/report")
    gap = page.locator(".foot-places .store").evaluate(
        "(store) => { const next = new Range(); next.selectNodeContents(store.nextSibling);"
        " return next.getBoundingClientRect().left - store.getBoundingClientRect().right }"
    )
    assert gap < 2


def test_no_word_of_a_clients_name_is_broken(tab: Tab) -> None:
    page = tab.open("/connect")
    for name in page.locator(".connect h3").all():
        assert box_of(name)["height"] < 60


def test_time_and_author_of_a_note_are_on_one_line(tab: Tab) -> None:
    page = tab.open("/reasoning/log?workspace=atlas-checkout")
    for side in page.locator(".entry-side").all()[:20]:
        assert box_of(side)["height"] <= box_of(side.locator("xpath=..").locator(".entry-text"))["height"] + 1
        assert box_of(side.locator("time"))["height"] < 25
