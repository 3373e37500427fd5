"""`make pictures`: screenshots of the demonstration into docs/images/, in both schemes and on a phone.

With Inter and JetBrains Mono installed (`apt-get install fonts-inter fonts-jetbrains-mono`) they stand for the
system's fonts.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from moss_memory.config import load_config
from moss_memory.demo import fill
from moss_memory.store import Store
from support.browser import find_browser
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"
SHOP = "workspace=atlas-checkout"
WIDE, PHONE = (1360, 900), (390, 844)
ALIAS = (
    '<match target="pattern"><test name="family"><string>{name}</string></test>'
    '<edit name="family" mode="prepend" binding="strong"><string>{font}</string></edit></match>'
)
STANDS_FOR = {"Inter": ("system-ui", "sans", "sans-serif", "DejaVu Sans", ""), "JetBrains Mono": ("ui-monospace",)}
FONTS = (
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
    + "".join(ALIAS.format(name=name, font=font) for font, names in STANDS_FOR.items() for name in names)
    + '<include ignore_missing="yes">/etc/fonts/fonts.conf</include></fontconfig>'
)


def pictures(store: Store) -> list[tuple[str, str, str, tuple[int, int]]]:
    """Return the name of each picture, its page, its scheme and the size of its window."""
    capsule = store.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})["id"]
    graph = f"/reasoning?{SHOP}&branch=try-idempotency&compare=main"
    return [
        ("changes-light", "/?since=week", "light", WIDE),
        ("overview-light", "/overview", "light", WIDE),
        ("overview-dark", "/overview", "dark", WIDE),
        ("overview-phone", "/overview", "light", PHONE),
        ("capsule-light", f"/capsules/{capsule}", "light", WIDE),
        ("map-light", "/map", "light", WIDE),
        ("agent-light", f"/agent?{SHOP}", "light", WIDE),
        ("capsule-phone", f"/capsules/{capsule}", "dark", PHONE),
        ("reasoning-dark", graph, "dark", WIDE),
        ("tasks-light", f"/tasks?{SHOP}", "light", WIDE),
        ("search-dark", "/search?mode=keyword&q=idempotency+key", "dark", WIDE),
    ]


def take(browser: Browser, server: PagesServer, store: Store) -> None:
    """Take every picture."""
    IMAGES.mkdir(exist_ok=True)
    for name, path, scheme, (width, height) in pictures(store):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            device_scale_factor=1.5 if width == PHONE[0] else 1,  # few bytes: every one is in the history for good
        )
        page = context.new_page()
        page.goto(f"{server.address}/health/report")  # so that the frame says how the store is
        page.goto(server.address + path)
        page.evaluate("document.fonts.ready")
        if path == "/map":
            page.wait_for_selector('#map-canvas[data-state="ready"]')
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.screenshot(path=IMAGES / f"{name}.png")
        context.close()
        print(f"docs/images/{name}.png")


def main() -> int:
    """Fill a temporary store, serve it, and take the pictures."""
    found = find_browser()
    if found is None:
        print("there is no Chromium: apt-get install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="moss-pictures-") as folder:
        fonts = os.path.join(folder, "fonts.conf")
        Path(fonts).write_text(FONTS, encoding="utf-8")
        environment: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": fonts}
        home = os.path.join(folder, "home")
        with (
            Store(load_config(home, cwd=folder)) as store,
            PagesServer(store) as server,
            sync_playwright() as playwright,
        ):
            fill(store)
            store.index()  # the map is placed by meaning
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], env=environment)
            take(browser, server, store)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
