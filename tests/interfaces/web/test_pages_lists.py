"""Sorting and filtering of lists, one board for all workspaces, and versions compared word by word."""

from __future__ import annotations

import random
import re
import urllib.request
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.config import load_config
from moss_memory.storage.call import wall_clock_ms
from moss_memory.store import Store
from moss_memory.web.word_diff import changed_fields, word_difference
from support.measured import cpu_s
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.browser import Tab

SHOP = "atlas-checkout"
MOST_CPU_S = 1.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a store with capsules of two agents, of several sizes and ages, and tasks in two workspaces."""
    home = str(tmp_path_factory.mktemp("listed") / "home")
    clock = {"ms": wall_clock_ms() - 90 * 86_400_000}
    with Store(load_config(home, cwd=home), clock_ms=lambda: clock["ms"]) as opened:
        for number, (name, agent) in enumerate((("b-old", "codex"), ("c-mid", "claude-code"), ("a-new", "codex"))):
            text = FULL + "more " * (50 * (3 - number) if name != "c-mid" else 500)
            place = {"workspace": f"w{number % 2}", "name": name, "capsule_text": text, "source": agent}
            opened.call("capsule_store", {**place, "tags": ["all", name]})
            clock["ms"] += 0 if name == "a-new" else 45 * 86_400_000 - 1000
        for number in range(2):
            task = {"workspace": f"w{number}", "kind": "task", "title": f"Task of w{number}", "tags": [f"t{number}"]}
            opened.call("tasks_create", task)
        opened.call("tasks_create", {"workspace": "w1", "kind": "plan", "title": "A plan"})
        yield opened


def titles(tab: Tab, path: str) -> list[str]:
    return [one.split("\n")[0] for one in tab.open(path).locator("main .row .row-title").all_inner_texts()]


def test_capsules_are_sorted_by_change_size_and_name(tab: Tab) -> None:
    assert titles(tab, "/capsules") == ["a-new", "c-mid", "b-old"]
    assert titles(tab, "/capsules?sort=size") == ["c-mid", "b-old", "a-new"]
    assert titles(tab, "/capsules?sort=name") == ["a-new", "b-old", "c-mid"]
    page = tab.page
    page.get_by_label("Sort by").select_option("size")
    page.wait_for_url("**sort=size**")
    expect(page.locator("main .row .row-title").first).to_have_text("c-mid")


def test_capsules_are_filtered_by_agent_tag_and_age(tab: Tab) -> None:
    assert titles(tab, "/capsules?agent=codex") == ["a-new", "b-old"]
    assert titles(tab, "/capsules?agent=codex&age=old") == ["b-old"]
    assert titles(tab, "/capsules?age=day") == ["a-new"]
    assert titles(tab, "/capsules?tag=all&workspace=w1") == ["c-mid"]
    page = tab.open("/capsules")
    assert page.locator("#agent option").all_inner_texts() == ["any", "codex (2)", "claude-code (1)"]
    expect(page.locator(".chip", has_text="all")).to_have_text(re.compile(r"all\s+3"))
    page.get_by_label("Agent").select_option("claude-code")
    page.wait_for_url("**agent=claude-code**")
    expect(page.locator("main .row")).to_have_count(1)


def test_tags_are_counted_over_all_pages_of_a_list(tab: Tab, store: Store) -> None:
    for number in range(40):
        store.call("capsule_store", {"workspace": "many", "name": f"n{number}", "capsule_text": FULL, "tags": ["wide"]})
    page = tab.open("/capsules?workspace=many")
    expect(page.locator(".chip", has_text="wide")).to_have_text(re.compile(r"wide\s+40"))
    expect(page.locator("main .row")).to_have_count(30)


def test_one_board_has_the_tasks_of_all_workspaces(tab: Tab) -> None:
    page = tab.open("/tasks")
    assert page.locator(".board .row-title").all_inner_texts() == ["Task of w1", "Task of w0"]
    expect(page.locator(".plan")).to_contain_text("w1 / PLAN-001")
    page.locator(".ticket", has_text="Task of w0").click()
    page.wait_for_url("**/tasks/TASK-001?workspace=w0")
    assert tab.open("/tasks?tag=t1").locator(".board .row-title").all_inner_texts() == ["Task of w1"]
    assert tab.open("/tasks?workspace=w0").locator(".board .row-title").all_inner_texts() == ["Task of w0"]


def test_two_versions_are_compared_word_by_word_with_title_and_tags(tab: Tab, store: Store) -> None:
    place = {"workspace": "compared", "name": "words", "title": "Before", "tags": ["one"]}
    key = store.call("capsule_store", {**place, "capsule_text": FULL + "\nthe timeout is thirty seconds long"})["id"]
    changed = FULL + "\nthe timeout is ninety seconds long"
    store.call("capsule_update", {"id": key, "capsule_text": changed, "title": "After", "tags": ["one", "two"]})
    store.call("capsule_update", {"id": key, "title": "Last"})
    page = tab.open(f"/capsules/{key}/history?from=1&to=2")
    assert page.locator(".line del").all_inner_texts() == ["thirty"]
    assert page.locator(".line ins").all_inner_texts() == ["ninety"]
    assert page.locator(".field-changes div").all_inner_texts() == ["title\nBefore After", "tags\none one, two"]
    page.get_by_label("From version").fill("2")
    page.get_by_label("To version").fill("3")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".field-changes")).to_have_text(re.compile("After Last"))
    expect(page.locator(".none")).to_have_text("The text is the same.")


def test_an_edit_conflict_shows_both_texts(tab: Tab, store: Store) -> None:
    place = {"workspace": "compared", "name": "contended", "capsule_text": FULL + "\nthe queue holds ten events"}
    key = store.call("capsule_store", place)["id"]
    page = tab.open(f"/capsules/{key}/edit")
    store.call("capsule_update", {"id": key, "capsule_text": FULL + "\nthe queue holds twenty events"})
    page.locator("textarea").fill(FULL + "\nthe queue holds fifty events")
    page.get_by_role("button", name="Save").click()
    theirs = page.get_by_label("Their change", exact=True)
    assert theirs.locator("ins").all_inner_texts() == ["twenty"]
    mine = page.get_by_label("Your text beside theirs", exact=True)
    assert (mine.locator(".line del").all_inner_texts(), mine.locator(".line ins").all_inner_texts()) == (
        ["twenty"],
        ["fifty"],
    )


@pytest.mark.parametrize("words", ["a b", "a b c d e f", "\u65e5 \u672c _ <b> \u202e"])
def test_word_differences_add_up_to_the_compared_lines(words: str) -> None:
    chance = random.Random(3)  # noqa: S311 - words of texts
    for _ in range(200):
        old, new = (
            "\n".join(" ".join(chance.choices(words.split(), k=4)) for _ in range(chance.randrange(4)))
            for _ in range(2)
        )
        for line in word_difference(old, new):
            assert "".join(part["text"] for part in line["parts"]) == line["text"]


def test_lines_without_common_words_are_not_highlighted() -> None:
    lines = word_difference("one two three", "four five six")
    assert [part["changed"] for line in lines for part in line["parts"]] == [False, False]


def test_long_lines_are_compared_fast() -> None:
    chance = random.Random(5)  # noqa: S311 - words of texts
    old, new = ("\n".join(" ".join(chance.choices("abcdef", k=1500)) for _ in range(100)) for _ in range(2))
    assert cpu_s(lambda: word_difference(old, new)) < MOST_CPU_S


def test_a_field_that_appears_or_is_cleared_is_a_change() -> None:
    assert changed_fields({"title": "a", "tags": []}, {"title": "a", "tags": ["x", "y"], "role": ""}) == [
        {"name": "tags", "old": "", "new": "x, y"}
    ]


def test_lists_work_without_scripts(server: PagesServer) -> None:
    for path in ("/capsules?sort=size", "/tasks", "/workspaces"):
        with urllib.request.urlopen(server.address + path) as answer:  # noqa: S310 - of this test
            page = answer.read().decode()
        assert "<noscript><button>" in page, path
