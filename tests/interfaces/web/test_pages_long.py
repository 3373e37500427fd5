"""Page layout with very long names, right-to-left text and unlinked cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from moss_memory.web.search_page import strip_markdown
from support.browser import Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, ViewportSize

    from moss_memory.store import Store
    from support.pages_server import PagesServer

PHONE: ViewportSize = {"width": 390, "height": 844}
ENDLESS = "Nospaceswhatsoever" * 10
ARABIC = "دع الدعم يسترد جزءًا من الطلب"


def edges(found: Locator) -> tuple[float, float]:
    """Return the left and right edge of an element on the screen."""
    box = found.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


def test_very_long_names_fit_a_phone(browser: Browser, server: PagesServer, store: Store) -> None:
    place = {"workspace": "endless"}
    text = {"title": ENDLESS, "capsule_text": ENDLESS, "allow_thin": True, "tags": ["t" * 60], "source": "s" * 80}
    capsule = store.call("capsule_store", {**place, "name": "n" * 200, **text})["id"]
    artifact = {"kind": "k" * 60, "name": "a" * 180, "run_id": "r" * 120, "data": {"key" * 30: ENDLESS}}
    kept = store.call("artifact_store", {**place, **artifact})["id"]
    store.call("branchmind_think_card", {**place, "card": {"type": "question", "title": ENDLESS, "text": ENDLESS}})
    task = {"kind": "task", "title": ENDLESS, "steps": [{"title": ENDLESS}]}
    store.call("tasks_create", {**place, **task})
    tab = Tab(browser, server.origin, server.address, viewport=PHONE)
    for path in ("/", "/overview", "/capsules", f"/capsules/{capsule}", "/artifacts", f"/artifacts/{kept}", "/tasks",
                 "/tasks/TASK-001", "/reasoning", f"/search?q={ENDLESS}&mode=keyword"):  # fmt: skip
        page = tab.open(path + ("&" if "?" in path else "?") + "workspace=endless")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        for chip in page.locator(".chip").all():
            assert chip.inner_text().count("t") <= 60
    tab.close()
    assert tab.troubles == []


def test_the_tags_of_a_capsule_are_beside_its_facts_on_a_phone(
    browser: Browser, server: PagesServer, store: Store
) -> None:
    capsule = store.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})["id"]
    tab = Tab(browser, server.origin, server.address, viewport=PHONE)
    page = tab.open(f"/capsules/{capsule}")
    assert edges(page.locator(".facts .chip").first)[0] >= edges(page.locator("h1"))[0] - 1
    tab.close()


def test_right_to_left_text_is_shown_right_to_left(tab: Tab, store: Store) -> None:
    text = f"## Objective\n\n{ARABIC}.\n\n- {ARABIC}\n\nAnd this from the left."
    capsule = {"workspace": "rtl", "name": "مبالغ", "capsule_text": text, "allow_thin": True}
    page = tab.open(f"/capsules/{store.call('capsule_store', capsule)['id']}")
    directions = [
        (one.evaluate("one => one.tagName"), one.evaluate("one => getComputedStyle(one).direction"))
        for one in page.locator(".prose > *").all()
    ]
    assert directions == [("H2", "ltr"), ("P", "rtl"), ("UL", "rtl"), ("P", "ltr")]


def test_unlinked_cards_are_placed_in_visible_rows(tab: Tab, store: Store) -> None:
    for number in range(40):
        card = {"type": "question", "title": f"card {number}", "text": "t"}
        store.call("branchmind_think_card", {"workspace": "unlinked", "card": card})
    page = tab.open("/reasoning?workspace=unlinked")
    left, right = edges(page.locator(".canvas"))
    cards = [edges(card) for card in page.locator(".g-node").all()]
    assert len(cards) == 40
    assert min(start for start, _ in cards) >= left
    assert max(end for _, end in cards) <= right


@pytest.mark.parametrize(
    ("snippet", "shown"),
    [
        ("...|---|:--|\n| <b>Key</b> | done | `a.py` |\n| Form", "... <b>Key</b> · done · a.py · Form"),
        ("## Objective\n\nOne **part**\n\n- a\n- b\n1. c", "Objective · One part · a · b · c"),
        (
            "to the test\n\n## Key locations\n\n- `a.py`\n\n## Open questions\n- b",
            "to the test · Key locations · a.py · Open questions · b",
        ),
        ("a | b - c", "a · b - c"),
        ("# &lt;script&gt;\nplain", "&lt;script&gt; · plain"),
    ],
)
def test_a_snippet_is_shown_without_markdown_markup(snippet: str, shown: str) -> None:
    assert " ".join(strip_markdown(snippet).split()) == shown
