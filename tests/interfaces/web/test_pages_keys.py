"""Keyboard shortcuts, server state, browser time zones, and the details on each page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from contract.doors import FULL
from interfaces.web.hostile import PAYLOADS
from moss_memory.search.embedding_queue import count_unembedded
from moss_memory.store import Store
from moss_memory.tools.everything.period_changes import changes_by_quarter, changes_in_period
from moss_memory.web.artifact_pages import summary_of
from moss_memory.web.templating import credit, format_size, plain_steps
from support.browser import Tab
from support.http_server import HttpServer
from support.pages_server import PagesServer
from support.thorough import complete_or
from support.timeouts import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

SHOP = "atlas-checkout"
SERVE = "import sys\nfrom moss_memory.cli.main import main\nsys.exit(main())\n"


def test_j_and_k_walk_through_rows_and_enter_opens_one(tab: Tab) -> None:
    page = tab.open("/capsules")
    rows = page.locator("main a.row")
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(rows.nth(0)).to_be_focused()
    title = rows.nth(0).locator(".row-title").inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


@pytest.mark.parametrize(
    "path", ["/?since=week", "/tasks", "/records", "/records/timeline", "/workspaces", "/artifacts"]
)
def test_j_reaches_the_rows_of_every_list(tab: Tab, path: str) -> None:
    page = tab.open(path)
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('main a')")


def test_typing_in_a_field_triggers_no_shortcut(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.keyboard.press("/")
    page.keyboard.type("jk?")
    expect(page.locator("#q")).to_have_value("jk?")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_question_mark_lists_the_keys(tab: Tab) -> None:
    page = tab.open("/capsules")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("the next row")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize(
    ("typed", "found", "opened"),
    [
        ("sessions liv", "Where sessions live", "/capsules/"),
        ("reconcil", "Reconciliation job", "/tasks/TASK-004"),
        ("refunds paid twice", "Why are some refunds paid twice?", "/reasoning/node"),
        ("atlas-check", "atlas-checkout", "/?workspace=atlas-checkout"),
        ("timel", "Timeline", "/records/timeline"),
    ],
)
def test_the_palette_opens_everything_with_a_name(tab: Tab, typed: str, found: str, opened: str) -> None:
    page = tab.open("/connect")
    page.keyboard.press("Control+k")
    with page.expect_response(lambda answer: answer.url.endswith(f"/palette?q={quote(typed)}")):
        page.get_by_role("combobox", name="Jump to").fill(typed)
    option = page.locator("dialog").get_by_role("option").filter(has_text=found).first
    expect(option).to_be_visible()
    while option.get_attribute("aria-selected") != "true":
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(re.escape(tab.origin) + r"/\w+" + re.escape(opened)))


def test_the_palette_without_a_hit_searches_the_texts(tab: Tab) -> None:
    page = tab.open("/connect")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Jump to").fill("zzzz nothing")
    expect(page.locator("dialog").get_by_text("Nothing has this name")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r".*/search\?q=zzzz"))


def test_the_palette_handles_unusual_input(tab: Tab, subtests: pytest.Subtests) -> None:
    page = tab.open("/connect")
    for payload in [*PAYLOADS[:: complete_or(1, 4)], '"', "*", "AND", "a" * 5000, "\x00", "()"]:
        with subtests.test(payload=payload[:40]):
            answer = page.request.get(f"{page.url.removesuffix('/connect')}/palette?q={quote(payload)}")
            assert answer.status == 200
            assert isinstance(answer.json()["items"], list)


def test_the_palette_shows_stored_names_as_text(tab: Tab, store: Store) -> None:
    title = "<img src=x onerror=alert(1)> zebrafish"
    store.call("capsule_store", {"name": "palette", "title": title, "capsule_text": FULL})
    page = tab.open("/connect")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Jump to").fill("zebrafish")
    expect(page.locator("dialog").get_by_role("option").first).to_contain_text(title)
    assert page.locator("dialog img").count() == 0


def test_health_shows_the_size_pending_work_and_the_time_of_the_check(tab: Tab, store: Store) -> None:
    store.call("capsule_store", {"name": "waits", "capsule_text": FULL})
    waiting = store.read(count_unembedded, what="test")
    page = tab.open("/health")
    state = page.locator("#state")
    expect(state).to_contain_text(re.compile(r"\d (kB|MB)"))
    expect(state).to_contain_text(f"{waiting:,} texts not prepared" if waiting else "every text is prepared")
    expect(state.locator("time")).to_have_attribute("title", re.compile("UTC"))


def test_a_server_with_open_pages_prepares_texts_in_the_background(browser: Browser, home: Path) -> None:
    with HttpServer(home, code=SERVE) as server:
        from moss_memory.config import load_config

        with Store(load_config(str(home), cwd=str(home.parent))) as agent:
            for number in range(6):
                agent.call("capsule_store", {"name": f"c{number}", "capsule_text": FULL})
            tab = Tab(browser, server.origin, server.origin)
            tab.page.goto(server.origin + server.link())
            tab.page.get_by_role("button").click()
            expect(tab.page.locator("#content")).to_be_visible()
            wait_until(lambda: agent.read(count_unembedded, what="test") == 0, "texts are still not prepared")
            base = re.search(r"/[0-9a-f]{32}", tab.page.url)
            assert base is not None
            tab.page.goto(f"{server.origin}{base[0]}/health")
            expect(tab.page.locator("#state")).to_contain_text("every text is prepared")
            tab.close()


def test_the_days_of_the_chart_follow_the_time_zone_of_the_browser(
    browser: Browser, server: PagesServer, store: Store
) -> None:
    shown = {}
    for zone in ("Pacific/Kiritimati", "UTC", "Pacific/Pago_Pago"):
        tab = Tab(browser, server.origin, server.address, timezone_id=zone)
        tab.open("/overview")  # sets the cookie with the time zone
        page = tab.open("/overview")
        titles = [one.text_content() or "" for one in page.locator(".bar title").all()]
        assert titles
        assert not any("UTC" in title for title in titles)
        shown[zone] = sum(int(title.rpartition(" ")[0].rpartition(" ")[2]) for title in titles)
        bar = page.locator(".chart a").last
        day = re.search(r"from=([0-9-]+)", bar.get_attribute("href") or "")
        assert day is not None
        assert titles[-1].startswith(day[1])
        tab.close()
    assert len(set(shown.values())) <= 2, "only the first day of the nine weeks may differ"
    counted = store.read(changes_by_quarter, what="test", from_ms=0, workspace="", most=10**6)
    every = store.read(changes_in_period, what="test", from_ms=0, to_ms=None, workspace=None)
    assert counted is not None
    assert not every["has_more"]
    assert sum(count for _, _, count in counted) == sum(event["address"] is not None for event in every["events"])
    assert store.read(changes_by_quarter, what="test", from_ms=0, workspace=SHOP, most=1) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s:0 Read", "step 1 Read"),
        ("until 2026-11-18T21:36:45.287Z", "until 18 Nov 2026, 21:36 UTC"),
        ("at 2026-99-18T21:36:45Z", "at 2026-99-18T21:36:45Z"),
        ("do s:1.s:2 now", "do step 2.3 now"),
        ("words:1", "words:1"),
        ("s:x", "s:x"),
    ],
)
def test_steps_are_counted_from_one(text: str, shown: str) -> None:
    assert plain_steps(text) == shown


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2_340_000_000, "2.3 GB")]
)
def test_a_size_has_a_unit(size: int, shown: str) -> None:
    assert format_size(size) == shown


def test_a_task_shows_its_dates_and_next_step_in_plain_words(tab: Tab) -> None:
    page = tab.open(f"/tasks/TASK-003?workspace={SHOP}")
    expect(page.locator(".facts")).to_contain_text("added")
    expect(page.locator(".rail")).to_contain_text("What is next")
    assert "s:1" not in page.locator("main").inner_text()
    page = tab.open(f"/tasks/PLAN-001?workspace={SHOP}")
    expect(page.locator(".facts")).to_contain_text("in work")
    page = tab.open("/tasks")
    assert page.locator(".ticket time").count() == page.locator(".ticket").count()


def test_an_artifact_shows_its_state_and_summary_and_can_be_copied(tab: Tab) -> None:
    page = tab.open("/artifacts")
    expect(page.locator(".lead")).to_contain_text("pieces of typed JSON")
    row = page.locator(".row", has=page.locator(".warned", has_text="concerns")).first
    row.click()
    expect(page.locator("main .lead")).to_contain_text("concerns")
    copied = json.loads(page.get_by_role("button", name="Copy the data").get_attribute("data-copy") or "")
    assert copied["verdict"] == "concerns"


def test_the_summary_starts_with_sentences_and_has_no_ids() -> None:
    data = {"x_id": "hidden", "files": [{"path": "a.py"}, {"path": "b.py"}], "n": 2, "summary": "All well", "e": []}
    assert summary_of({"data": data}) == "All well · files: a.py and 1 more · n 2"
    assert summary_of({"data": {"deep": [[1]], "map": {"a": 1}}}) == "1 deep · 1 map"
    assert len(summary_of({"data": {"summary": "x" * 1000}})) <= 160


def test_an_edit_is_previewed_and_not_saved(tab: Tab, store: Store) -> None:
    made = store.call("capsule_store", {"name": "previewed", "capsule_text": FULL})
    page = tab.open(f"/capsules/{made['id']}/edit")
    page.get_by_label("Text").fill("## Fresh heading\n\n<script>alert(1)</script> text")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_label("Preview").get_by_role("heading")).to_have_text("Fresh heading")
    expect(page.get_by_label("Preview")).to_contain_text("<script>alert(1)</script>")
    expect(page.get_by_label("Text")).to_have_value(re.compile("Fresh heading"))
    assert store.call("capsule_fetch", {"name": "previewed"})["version"] == 1


def conflict(store: Store, workspace: str) -> str:
    """Change one node on both branches and return the id of the conflict."""
    place = {"workspace": workspace}
    node = {"op": "node_upsert", "id": "n", "type": "question", "title": "First"}
    store.call("branchmind_init", place)
    store.call("branchmind_graph_apply", {**place, "branch": "main", "ops": [node]}, actor="codex")
    store.call("branchmind_branch_create", {**place, "name": "try"})
    for branch, actor in (("main", "codex"), ("try", "claude-code")):
        ops = [{**node, "title": f"Of {branch}"}]
        store.call("branchmind_graph_apply", {**place, "branch": branch, "ops": ops}, actor=actor)
    return str(store.call("branchmind_merge_back", {**place, "from": "try"})["conflicts"][0]["conflict_id"])


def test_a_conflict_shows_authors_and_times_and_accepts_a_third_text(tab: Tab, store: Store) -> None:
    key = conflict(store, "third")
    page = tab.open(f"/reasoning/conflicts/{key}?workspace=third")
    expect(page.locator(".sides")).to_contain_text("by codex")
    expect(page.locator(".sides")).to_contain_text("by claude-code")
    page.get_by_text("Neither: write a third text").click()
    page.get_by_label("Title").fill("Of both")
    page.get_by_role("button", name="Write it").click()
    expect(page.locator(".lead")).to_contain_text("a third text was written")
    page.get_by_role("link", name="See it now").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Of both")


def test_a_resolved_conflict_names_the_chosen_side(tab: Tab, store: Store) -> None:
    key = conflict(store, "settled")
    page = tab.open(f"/reasoning/conflicts/{key}?workspace=settled")
    page.get_by_role("button", name="Take this one").click()
    expect(page.locator(".lead")).to_contain_text("the state of try was taken")
    expect(page.get_by_role("region", name="try")).to_contain_text("it holds")


def test_notes_show_authors_and_a_search_but_no_numbers(tab: Tab, store: Store) -> None:
    store.call("branchmind_init", {"workspace": "noted"})
    store.call("branchmind_notes_commit", {"workspace": "noted", "content": "a platypus"}, actor="codex")
    page = tab.open("/reasoning/log?workspace=noted")
    expect(page.locator(".entry").first).to_contain_text("codex")
    assert not re.search(r"#\d", page.locator(".log").inner_text())
    page.get_by_label("Search the notes").fill("platypus")
    page.keyboard.press("Enter")
    expect(page.locator(".hits .row")).to_have_count(1)


def test_records_show_times_and_an_entity_names_each_source_once(tab: Tab) -> None:
    page = tab.open("/records")
    assert page.locator(".row time").count() == page.locator(".row").count()
    page.get_by_role("link", name="double payments").first.click()
    table = page.locator(".fields-table")
    expect(table).to_contain_text("same as above")
    assert not re.search(r"\d\dT\d\d:", table.inner_text())
    copy = page.get_by_role("button", name="Copy the id")
    assert (copy.get_attribute("data-copy") or "").startswith("ent_")
    page = tab.open("/records/timeline")
    expect(page.locator(".log")).to_contain_text("passed")


@pytest.mark.parametrize(
    ("actor", "source", "shown"),
    [
        ("codex", "codex", "codex"), ("codex", "claude", "codex, source claude"), ("codex", None, "codex"),
        ("", "claude", "claude"), ("cli", "Ada", "Ada"), ("cli", None, "cli"), ("browser", "you", "you"),
        ("browser", "claude", "you, source claude"), ("", None, ""),
    ],
)  # fmt: skip
def test_a_version_is_credited_to_its_author(actor: str, source: str | None, shown: str) -> None:
    assert credit(actor, source) == shown


def test_open_work_shows_its_place_and_age(tab: Tab) -> None:
    page = tab.open(f"/overview?workspace={SHOP}")
    rows = page.get_by_role("region", name="Still open").locator(".row")
    assert rows.count() > 0
    assert rows.locator("time").count() == rows.count()
    expect(rows.first).to_contain_text(SHOP)


def test_open_work_shows_the_number_of_hidden_entries(browser: Browser, empty_store: Store) -> None:
    for number in range(6):
        place = {"workspace": f"project {number}"}
        empty_store.call("branchmind_init", place)
        card = {"type": "question", "title": f"Question {number}?", "status": "open"}
        empty_store.call("branchmind_think_card", {**place, "card": card})
        for _ in range(2):
            empty_store.call("tasks_create", {**place, "kind": "task", "title": f"Task {number}"})
    with PagesServer(empty_store) as server:
        tab = Tab(browser, server.origin, server.address)
        region = tab.open("/overview").get_by_role("region", name="Still open")
        shown = region.locator(".row").all_inner_texts()
        assert [row.split()[0] for row in shown] == ["question"] * 4 + ["task"] * 4
        expect(region).to_contain_text("Questions are those of the 4 workspaces that changed last.")
        region.get_by_role("link", name="8 more open tasks").click()
        expect(tab.page.locator(".ticket")).to_have_count(12)
        region = tab.open("/overview?workspace=project+0").get_by_role("region", name="Still open")
        expect(region.locator(".row")).to_have_count(3)
        expect(region.locator("p")).to_have_count(0)
        tab.close()
    assert tab.troubles == []
