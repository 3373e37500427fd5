"""Stored text is never executed: no dialog, no policy violation, no request to another host."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from interfaces.web.hostile import PAYLOADS, WORKSPACE, node_id, write_payloads
from moss_memory.config import load_config
from moss_memory.store import Store
from support.browser import Tab
from support.pages_server import BASE, PagesServer
from support.thorough import complete_or

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

HERE = f"workspace={quote(WORKSPACE)}"
FORBIDDEN = {
    "iframe", "object", "embed", "base", "style", "img", "video", "audio", "source", "marquee", "math", "animate",
    "image",
}  # fmt: skip
ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "poster")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def hostile(home: str) -> Iterator[tuple[PagesServer, dict[str, list[str]]]]:
    """Return the address of the pages of a store filled with payloads, and the ids of its entries."""
    with Store(load_config(home, cwd=home)) as store:
        made = write_payloads(store)
        conflict = store.call("branchmind_graph_conflicts", {"workspace": WORKSPACE, "into": "main"})["conflicts"][0]
        made["conflicts"] = [conflict["conflict_id"]]
        made["branches"] = [
            one["name"] for one in store.call("branchmind_branch_list", {"workspace": WORKSPACE})["branches"]
        ]
        with PagesServer(store) as server:
            yield server, made


def lists(made: dict[str, list[str]]) -> list[str]:
    """Return the paths of the pages that list many entries."""
    branch = next(name for name in made["branches"] if name != "main" and "/" not in name)
    asked = quote("alert script onerror")
    places = [
        "/",
        f"/?{HERE}",
        f"/?{HERE}&since=week&offset=60",
        "/overview",
        f"/overview?{HERE}",
        "/reasoning",
        f"/reasoning/conflicts/{made['conflicts'][0]}?{HERE}",
        "/connect",
        "/health",
        "/workspaces",
        "/agent",
        "/map",
        f"/map?{HERE}",
        f"/agent?{HERE}&client=cursor&mark=never",
        f"/workspaces?name={quote(PAYLOADS[9])}",
    ]
    places += [
        f"/reasoning?{HERE}&branch={quote(branch)}&compare=main",
        f"/reasoning/log?{HERE}&doc={quote(WORKSPACE)}",
    ]
    places += [
        f"/{family}?{HERE}&offset={offset}" for family in ("capsules", "artifacts", "records") for offset in (0, 30)
    ]
    places += [f"/tasks?{HERE}&status=TODO&offset={offset}" for offset in (0, 30)] + [f"/tasks?{HERE}"]
    places += [f"/search?{HERE}&mode=keyword&q={asked}&offset={offset}" for offset in (0, 30)]
    places += [f"/search?mode=keyword&q={quote(payload)}" for payload in PAYLOADS[:3]]
    places += [f"/reasoning/log?{HERE}&doc=notes", f"/records/timeline?{HERE}&event_type={quote(WORKSPACE)}"]
    return [
        *places,
        f"/capsules?tag={quote(PAYLOADS[9][:100])}",
        f"/capsules?sort=name&agent={quote(PAYLOADS[9])}",
        "/tasks",
        f"/artifacts?kind={quote(PAYLOADS[9])}",
    ]


def details(made: dict[str, list[str]], number: int) -> list[str]:
    """Return the paths of the pages of one entry."""
    capsule = made["capsules"][number]
    return [
        f"/capsules/{capsule}",
        f"/capsules/{capsule}/edit",
        f"/capsules/{capsule}/history",
        f"/artifacts/{made['artifacts'][number]}",
        f"/tasks/{made['tasks'][number]}?{HERE}",
        f"/records/entities/{made['entities'][number]}?{HERE}",
        f"/reasoning/node?{HERE}&branch=main&id={quote(node_id(number))}",
    ]


def test_there_are_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) == 60


def test_a_browser_runs_loads_and_reports_nothing(
    browser: Browser, hostile: tuple[PagesServer, dict[str, list[str]]]
) -> None:
    server, made = hostile
    tab = Tab(browser, server.origin, server.address)
    for path in [*lists(made), *details(made, -1)]:
        answer = tab.page.goto(server.address + path)
        assert answer is not None
        assert answer.status in (200, 400, 404), path
        assert tab.page.locator("#page > .side").count() == 1, path
        assert tab.page.evaluate("document.querySelectorAll('[onerror],[onload],[style],iframe,img').length") == 0, path
    tab.open(f"/reasoning?{HERE}")
    assert tab.page.locator(".g-node").count() > len(PAYLOADS)
    tab.close()
    assert tab.troubles == []


def test_the_palette_and_the_map_show_names_as_text(
    browser: Browser, hostile: tuple[PagesServer, dict[str, list[str]]]
) -> None:
    server, _ = hostile
    tab = Tab(browser, server.origin, server.address)
    page = tab.open(f"/map?{HERE}")
    page.wait_for_selector('#map-canvas[data-state="ready"]')
    stage = page.locator("#map-canvas").bounding_box()
    assert stage is not None
    named = 0
    for step in range(200):  # move the pointer until it is over a dot
        across, down = step % 20 / 20, step // 20 / 10
        page.mouse.move(stage["x"] + stage["width"] * across, stage["y"] + stage["height"] * down)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        named += page.locator("#map-name").is_visible()
        if named == complete_or(200, 5):
            break
    assert named, "no dot was named"
    page.keyboard.press("Control+k")
    for query in ("alert", "script onerror", WORKSPACE):
        with page.expect_response(lambda answer: "/palette?q=" in answer.url):
            page.locator(".palette input").fill(query)
        page.wait_for_selector(".palette li a")
        assert page.locator(".palette ul *:not(li, a, span)").count() == 0
        links = page.locator(".palette li a").evaluate_all("links => links.map((one) => one.getAttribute('href'))")
        assert all(link.startswith(BASE + "/") for link in links)
    tab.close()
    assert tab.troubles == []


class Reader(HTMLParser):
    """Parser that collects the elements and attributes of a page that only a payload can have added."""

    def __init__(self) -> None:
        super().__init__()
        self.odd: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in FORBIDDEN:
            self.odd.append(f"<{tag}>")
        if tag == "script" and given.get("type") != "application/json" and not _own(given.get("src")):
            self.odd.append(f"<script> {given}")
        if tag == "meta" and "http-equiv" in given:
            self.odd.append("<meta http-equiv>")
        for name, value in attrs:
            if name.startswith(("on", "data-hx")) or name == "style" or "hx-on" in name:
                self.odd.append(f"<{tag} {name}>")
            if name.startswith("hx-get") and not _own(value):
                self.odd.append(f"<{tag} {name}={value}>")
            if name in ADDRESSES and not _harmless(tag, value or ""):
                self.odd.append(f"<{tag} {name}={value}>")


def _own(address: str | None) -> bool:
    return (address or "").startswith(BASE + "/")


def _harmless(tag: str, address: str) -> bool:
    """Return whether an address belongs to the pages, or is a web address in a link."""
    return _own(address) or address.startswith(("?", "#")) or (tag == "a" and address.startswith("http://evil.example"))


def test_no_detail_page_has_a_foreign_element_or_attribute(
    hostile: tuple[PagesServer, dict[str, list[str]]],
) -> None:
    server, made = hostile
    for number, payload in enumerate(PAYLOADS):
        for path in details(made, number):
            with urllib.request.urlopen(server.address + path) as answer:  # noqa: S310 - of this test
                reader = Reader()
                reader.feed(answer.read().decode())
            assert reader.odd == [], f"{path}: {payload}"


def test_no_list_page_has_a_foreign_element_or_attribute(
    hostile: tuple[PagesServer, dict[str, list[str]]],
) -> None:
    server, _ = hostile
    paths = [
        "/",
        "/overview",
        f"/?{HERE}&since=week",
        f"/agent?{HERE}",
        f"/map?{HERE}",
        f"/artifacts?{HERE}",
        "/connect",
    ]
    paths += [f"/records/timeline?{HERE}", f"/records/timeline?{HERE}&offset=50"]
    for payload in PAYLOADS:
        given = quote(payload)
        paths += [f"/agent?client={given}&mark={given}&workspace={given}", f"/map?workspace={given}"]
        paths += [f"/?since={given}&from={given}&to={given}", f"/artifacts?kind={given}&run_id={given}"]
        paths += [f"/capsules/{quote(payload, safe='')}", f"/search?mode=keyword&q=%28{given}"]
    for path in paths:
        reader = Reader()
        reader.feed(read(server.address + path))
        assert reader.odd == [], path


def read(address: str) -> str:
    """Return the text of a page, including error pages."""
    try:
        with urllib.request.urlopen(address) as answer:  # noqa: S310 - of this test
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return str(error.read().decode())


def test_the_settings_of_a_client_are_shown_as_text(
    browser: Browser,
    hostile: tuple[PagesServer, dict[str, list[str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, _ = hostile
    monkeypatch.setenv("HOME", str(tmp_path))
    started = {"command": "moss", "args": ["mcp"], "env": {"MOSS_HOME": f"/tmp/{PAYLOADS[7]}"}}  # noqa: S108 - a name
    addressed = {"url": f"http://{PAYLOADS[9]}:80/mcp"}
    for name, entry in ((".gemini/settings.json", started), (".cursor/mcp.json", addressed)):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(json.dumps({"mcpServers": {"moss": entry}}), encoding="utf-8")
    tab = Tab(browser, server.origin, server.address)
    states = tab.open("/connect").locator(".client-state")
    expect(states.filter(has_text="another store")).to_contain_text(PAYLOADS[7])
    expect(states.filter(has_text="another server")).to_have_count(1)
    reader = Reader()
    reader.feed(tab.page.content())
    assert reader.odd == []
    tab.close()
    assert tab.troubles == []
