"""A real browser: the system's Chromium, installed if possible, and a tab that records errors."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from support.debian import installed
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Response

NAMES = ("chromium", "chromium-browser", "google-chrome")
ALLOWED = ("Failed to load resource",)
"""Console messages about error responses, which some tests request."""
_SHARED: dict[str, BrowserContext] = {}
"""The contexts of the running browser that tabs share, by their options."""


def find_browser() -> str | None:
    """Return the path of the system's browser."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def chromium() -> str:
    """Return the browser to test with; without one, skip the test, or fail if CI is set."""
    found = installed("chromium", find_browser)
    if found:
        return found
    reason = "there is no Chromium and it cannot be installed: run `apt-get install chromium`"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Chromium:
    """The browser, started by the first test that needs it, and stopped after the last one.

    While it runs, so does an event loop in this thread, and no other test could begin one.
    """

    def __init__(self) -> None:
        self._stack: ExitStack | None = None
        self._browser: Browser | None = None

    def running(self) -> Browser:
        """Return the running browser, starting it if necessary."""
        from playwright.sync_api import expect, sync_playwright

        if self._browser is None:
            path = chromium()
            expect.set_options(timeout=TIMEOUT_S * 1000)
            self._stack = ExitStack()
            playwright = self._stack.enter_context(sync_playwright())
            self._browser = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-gpu", "--process-per-site"]
            )
            self._stack.callback(self._browser.close)
        return self._browser

    def stop(self) -> None:
        """Stop the browser if it runs."""
        if self._stack is not None:
            self._stack.close()
        self._stack = self._browser = None
        _SHARED.clear()


def _new_context(browser: Browser, _: str, options: dict[str, Any]) -> BrowserContext:
    return browser.new_context(**options)


def _shared_context(browser: Browser, address: str, options: dict[str, Any]) -> BrowserContext:
    """Return the context of all tabs with these options, and keep a page open in it.

    The page keeps the renderer process running. To start one for each tab takes as long as two pages: 0.67 s of CPU for
    a blank page in a context of its own, 0.30 s for a page with content in a shared one.
    """
    key = repr(options)
    if key not in _SHARED:
        _SHARED[key] = browser.new_context(**options)
        _SHARED[key].new_page().goto(f"{address}/static/icon.svg")
    return _SHARED[key]


class Tab:
    """A tab on a server's pages that records dialogs, errors, policy violations and requests to other hosts."""

    def __init__(self, browser: Browser, origin: str, address: str, **options: Any) -> None:
        """Open a tab; the tabs of pages without a sign-in share a context for each set of options."""
        self._is_shared = address != origin
        make = _shared_context if self._is_shared else _new_context
        self._context = make(browser, address, options)
        self._address = address
        self.origin = origin
        self.troubles: list[str] = []
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(TIMEOUT_S * 1000)
        self.page.on("dialog", self._dialog)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(ALLOWED):
            self.troubles.append(f"console: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.origin + "/", "data:")):
            self.troubles.append(f"request: {url}")

    def open(self, path: str = "/", *, status: int = 200) -> Page:
        """Open a page, asserting the status of its response."""
        response: Response | None = self.page.goto(self._address + path)
        assert response is not None
        assert response.status == status, f"{path}: {response.status}"
        return self.page

    def close(self) -> None:
        """Close the tab and forget its cookies and permissions."""
        if not self._is_shared:
            self._context.close()
            return
        self.page.close()
        self._context.clear_cookies()
        self._context.clear_permissions()
