"""Browser sessions: they survive a restart, and another server on the machine cannot use them."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.config import load_config
from moss_memory.store import Store
from moss_memory.web import app
from support.browser import Tab
from support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

SERVE = "import sys\nfrom moss_memory.cli.main import main\nsys.exit(main())\n"
HIDDEN = "the text that nobody else reads"


@pytest.fixture
def home(home: Path) -> Path:
    """Return a home with one capsule."""
    with Store(load_config(str(home), cwd=str(home.parent))) as store:
        text = FULL.replace("## ", f"{HIDDEN}\n\n## ", 1)
        store.call("capsule_store", {"name": "mine", "title": "My capsule", "capsule_text": text})
    return home


def sign_in(page: Page, server: HttpServer) -> None:
    page.goto(server.origin + server.link())
    page.get_by_role("button", name="Open the pages").click()
    expect(page.locator("#content")).to_be_visible()
    page.wait_for_load_state()


def test_links_the_root_and_forms_survive_a_restart(browser: Browser, home: Path) -> None:
    with HttpServer(home, code=SERVE) as server:
        tab = Tab(browser, server.origin, server.origin)
        page = tab.page
        sign_in(page, server)
        page.get_by_role("link", name="My capsule").first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("My capsule")
        place, port = page.url, server.port
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("Title").fill("My new title")
        server.end()
    with HttpServer(home, code=SERVE, port=port) as again:
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("My new title")
        page.goto(place)
        expect(page.get_by_role("heading", level=1)).to_have_text("My new title")
        page.goto(again.origin + "/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Changes")
        page.goto(again.origin + "/capsules?sort=name")
        page.wait_for_url(re.compile(r".*/[0-9a-f]{32}/capsules\?sort=name"))
        page.goto(again.origin + "/" + "0" * 32 + "/workspaces")
        expect(page.get_by_role("heading", level=1)).to_have_text("Workspaces")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(re.compile(r".*/[0-9a-f]{32}/$"))  # the script of the sign-in page redirects there
        expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")
        page.goto(place)
        expect(page.get_by_role("heading", level=1)).to_have_text("You are not signed in")
    tab.close()
    assert tab.troubles == []


def test_the_requested_page_opens_after_the_sign_in(browser: Browser, home: Path) -> None:
    with HttpServer(home, code=SERVE) as server:
        for scripts, start in product((True, False), ("", "/" + "0" * 32)):
            tab = Tab(browser, server.origin, server.origin, java_script_enabled=scripts)
            page = tab.page
            response = page.goto(f"{server.origin}{start}/search?q=caf%C3%A9+%2B&mode=keyword")
            assert response is not None
            assert response.status == 404
            sign_in(page, server)
            page.wait_for_url(re.compile(r".*/[0-9a-f]{32}/search\?q=caf%C3%A9\+%2B&mode=keyword"))
            tab.close()
            assert tab.troubles == [], (scripts, start)


def test_the_requested_page_cannot_redirect_to_another_server(home: Path) -> None:
    paths = ("//evil.example/x", "/\\evil.example", "/x?" + "y" * 5000, "/%0d%0aSet-Cookie:%20a=b", "/sign-out")
    with HttpServer(home, code=SERVE) as server:
        for path in paths:
            refused = server.ask("GET", path, [("Accept", "text/html")])
            given = refused.headers["set-cookie"]
            assert "evil" not in given, path
            cookie = [("Cookie", given.partition(";")[0]), ("Origin", server.origin)]
            signed = server.ask("POST", server.link(), cookie)
            assert signed.status == 303, path
            assert re.match(r"/[0-9a-f]{32}/", signed.headers["location"]), path
            assert signed.headers["set-cookie"].startswith("moss="), path


class CookieRecorder:
    """A server on another port of the host, which records the cookies it receives."""

    def __init__(self) -> None:
        self.cookies: set[str] = set()
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                recorder.cookies.update(filter(None, re.split(r";\s*", self.headers.get("Cookie") or "")))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>recorder</title>")

            do_POST = do_GET  # noqa: N815 - the name that the library calls

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> CookieRecorder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def signed_in(browser: Browser, home: Path) -> Iterator[tuple[HttpServer, BrowserContext, Page]]:
    with HttpServer(home, code=SERVE) as server:
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{server.origin}/capsules")  # the page to remember
        sign_in(page, server)
        page.goto(f"{server.origin}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Changes")
        yield server, context, page
        context.close()


PLACES = ("/", "/sign-in", "/sign-in/x", "/capsules", "/" + "0" * 32 + "/", "/mcp", "/sign-in/open.js")


def test_a_server_on_another_port_cannot_use_the_cookies_it_receives(
    signed_in: tuple[HttpServer, BrowserContext, Page],
) -> None:
    server, context, page = signed_in
    base = re.search(r"/[0-9a-f]{32}", page.url)
    assert base is not None
    stolen = next(one for one in context.cookies() if one["name"] == "moss")
    with CookieRecorder() as recorder:
        for place in PLACES:
            page.goto(recorder.origin + place)
            page.evaluate("place => fetch(place, {method: 'POST', credentials: 'include'})", place)
        stored = page.evaluate("Object.entries(localStorage)")
    assert stored == [], "storage is separate for each port"
    assert {one.partition("=")[0] for one in recorder.cookies} == {"moss_zone", "moss_seen", "moss_asked"}
    replayed = [("Cookie", "; ".join(recorder.cookies)), ("Accept", "text/html")]
    trusted = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "navigate"), ("Origin", server.origin)]
    for place in (*PLACES, base[0] + "/", base[0] + "/capsules"):
        answer = server.ask("GET", place, [*replayed, *trusted])
        assert answer.status in (200, 401, 404, 405, 406, 410)
        assert "My capsule" not in answer.text
        assert HIDDEN not in answer.text
        assert base[0] not in answer.text + str(answer.headers)
    # The session cookie gives access to no path that can be guessed.
    for place in PLACES:
        answer = server.ask("GET", place, [("Cookie", f"moss={stolen['value']}"), ("Accept", "text/html"), *trusted])
        assert "My capsule" not in answer.text
        assert base[0] not in answer.text + str(answer.headers)


def test_a_form_needs_the_token_of_the_page_beside_the_cookie(
    signed_in: tuple[HttpServer, BrowserContext, Page],
) -> None:
    server, context, page = signed_in
    base = page.url.rstrip("/").removeprefix(server.origin)
    cookie = next(one for one in context.cookies() if one["name"] == "moss")
    headers = [("Cookie", f"moss={cookie['value']}"), ("Content-Type", "application/x-www-form-urlencoded")]
    own = ("Origin", server.origin)
    assert server.ask("POST", f"{base}/sign-out", headers, "form_token=x").status == 403
    assert server.ask("POST", f"{base}/sign-out", [*headers, own], "form_token=x").status == 403
    assert server.ask("POST", f"{base}/sign-out", [*headers, own], "form_token=").status == 403
    assert server.ask("GET", f"{base}/sign-out", headers).status == 404
    assert server.ask("GET", f"{base}/", headers).status == 200


FORMS = list(app.FORMS)
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def test_every_form_needs_cookie_token_and_this_origin(home: Path) -> None:
    assert len(FORMS) > 8
    with HttpServer(home, code=SERVE) as server:
        cookie = server.sign_in()
        own = ("Origin", server.origin)
        page = server.ask("GET", f"{server.base}/capsules", [*cookie, ("Accept", "text/html")])
        key = re.search(r"/capsules/([0-9A-Z]{26})", page.text)
        assert key is not None
        shown = server.ask("GET", f"{server.base}/capsules/{key[1]}", [*cookie, ("Accept", "text/html")])
        found = re.search(r'name="form_token" value="([^"]+)"', shown.text)
        assert found is not None
        body = f"form_token={found[1]}&version=1&id={key[1]}"
        for form in FORMS:
            path = server.base + form.replace("{id}", key[1])
            for origin in (f"http://127.0.0.1:{server.port + 1}", "http://evil.example", "null", server.origin + ".x"):
                assert server.ask("POST", path, [*cookie, FORM, ("Origin", origin)], body).status == 403, form
            for site in ("cross-site", "same-site"):
                sent = [*cookie, FORM, own, ("Sec-Fetch-Site", site)]
                assert server.ask("POST", path, sent, body).status == 403, form
            for wrong in ("version=1", body.replace(found[1], "x" * len(found[1]))):
                assert server.ask("POST", path, [*cookie, FORM, own], wrong).status == 403, form
            assert server.ask("POST", path, [FORM, own], body).status == 401, form
        with Store(load_config(str(home), cwd=str(home.parent))) as store:
            assert store.call("capsule_fetch", {"id": key[1]})["version"] == 1
            assert store.call("moss_changes", {})["seq"] == 1
        deleted = server.ask("POST", f"{server.base}/capsules/{key[1]}/delete", [*cookie, FORM, own], body)
        assert deleted.status == 303, "the same request from this origin is accepted"


def test_a_page_of_another_port_cannot_send_a_form_of_a_signed_in_browser(
    signed_in: tuple[HttpServer, BrowserContext, Page],
) -> None:
    _, context, page = signed_in
    page.get_by_role("link", name="My capsule").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("My capsule")
    token = page.locator("input[name=form_token]").first.get_attribute("value")
    target = page.url.partition("?")[0] + "/delete"
    attack = context.new_page()
    with CookieRecorder() as recorder:
        attack.goto(recorder.origin)
        with attack.expect_response(
            target
        ) as answered:  # the origin of another port is refused even with a valid form token
            attack.evaluate(
                "([target, token]) => { const form = document.createElement('form'); form.method = 'post';"
                " form.action = target; const field = document.createElement('input'); field.name = 'form_token';"
                " field.value = token; form.append(field); document.body.append(form); form.submit(); }",
                [target, token],
            )
        assert answered.value.status == 403
        attack.wait_for_url(target)
        attack.goto(recorder.origin)
        with pytest.raises(PlaywrightError):
            attack.evaluate("(target) => fetch(target, { credentials: 'include' }).then((one) => one.text())", target)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("My capsule")


def test_a_browser_that_requested_a_malformed_page_stays_on_this_server(browser: Browser, home: Path) -> None:
    with HttpServer(home, code=SERVE) as server:
        for path in ("/%2f%2fevil.example", "/%5cevil.example", "/@evil.example", "/;//evil.example/?x=//y"):
            tab = Tab(browser, server.origin, server.origin)
            tab.page.goto(server.origin + path)
            tab.page.goto(server.origin + server.link())
            tab.page.get_by_role("button", name="Open the pages").click()
            tab.page.wait_for_url(re.compile(r".*/[0-9a-f]{32}/.*"))
            assert tab.page.url.startswith(server.origin + "/"), path
            tab.page.goto(server.origin + path)  # the script of the root page redirects a signed-in browser
            tab.page.wait_for_url(re.compile(r".*/[0-9a-f]{32}/.*"))
            assert tab.page.url.startswith(server.origin + "/"), path
            tab.close()
            assert tab.troubles == [], path
