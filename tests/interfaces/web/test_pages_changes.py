"""The home page: changes since the last visit or in a period, their authors, and reverting them."""

from __future__ import annotations

import re
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from contract.doors import FULL
from moss_memory.config import load_config
from moss_memory.storage.call import wall_clock_ms
from moss_memory.store import Store
from moss_memory.tools.everything.period_changes import changes_in_period
from moss_memory.web.change_details import summarize
from moss_memory.web.changes_page import group_by_subject, next_visit, period_of
from support.pages_server import PagesServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.browser import Tab

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a store that two agents and a person changed, twenty days ago and today."""
    home = str(tmp_path_factory.mktemp("changed") / "home")
    clock = {"ms": wall_clock_ms() - 20 * DAY_MS}
    with Store(load_config(home, cwd=home), clock_ms=lambda: clock["ms"]) as opened:
        place = {"workspace": "Shop", "source": "codex"}
        for name in ("kept", "dropped", "same"):
            text = FULL + f"\nthe {name} timeout is thirty seconds long"
            opened.call("capsule_store", {**place, "name": name, "title": f"The {name} one", "capsule_text": text},
                        actor="codex")  # fmt: skip
        opened.call("tasks_create", {"workspace": "Shop", "kind": "task", "title": "Old task"}, actor="codex")
        clock["ms"] = wall_clock_ms() - 60_000
        found = {"workspace": "Shop", "name": "kept"}
        text = FULL + "\nthe kept timeout is ninety seconds long"
        opened.call("capsule_update", {**found, "capsule_text": text, "tags": ["slow"]}, actor="claude-code")
        opened.call("capsule_delete", {"workspace": "Shop", "name": "dropped"}, actor="claude-code")
        opened.call("tasks_complete", {"workspace": "Shop", "target": "TASK-001"}, actor="browser")
        opened.call(
            "artifact_store", {"workspace": "lab", "kind": "k", "name": "made", "data": {"a": 1}}, actor="codex"
        )
        card = {"workspace": "lab", "card": {"type": "question", "title": "Is it fast?", "text": "We do not know."}}
        opened.call("branchmind_init", {"workspace": "lab"})
        opened.call("branchmind_think_card", card, actor="codex")
        opened.call("branchmind_notes_commit", {"workspace": "lab", "content": "It is slow."}, actor="codex")
        yield opened


def test_one_sentence_summarizes_the_changes_by_author(tab: Tab) -> None:
    lead = tab.open("/?since=week").locator(".lead").inner_text()
    assert lead.startswith("codex, claude-code and you ")
    for deed in ("changed 1 capsule", "deleted 1 capsule", "finished 1 task", "stored 1 artifact", "wrote 1 note"):
        assert deed in lead


def test_the_overview_summarizes_the_last_seven_days(tab: Tab) -> None:
    page = tab.open("/?since=week")
    sentence = page.locator(".lead").inner_text()
    found = re.findall(r"(\d+) (capsule|task|card|note|artifact)", sentence)
    page = tab.open("/overview")
    assert page.locator(".week").inner_text() == f"In the last 7 days: {sentence}"
    figures = page.locator(".figure").all_inner_texts()
    changes = [int(re.findall(r"(\d+) changes? in 7 days", figure)[0]) for figure in figures]
    assert found == [("1", "capsule"), ("1", "capsule"), ("1", "task"), ("1", "card"), ("1", "note"), ("1", "artifact")]
    assert changes == [2, 1, 2, 1, 0], "capsules, artifacts, cards and notes, tasks, records"


def test_the_overview_names_the_author_of_the_last_change(tab: Tab) -> None:
    page = tab.open("/overview?workspace=Shop")
    row = page.get_by_role("region", name="Latest hand-overs").locator(".row", has_text="The kept one")
    expect(row.locator(".row-side")).to_contain_text("claude-code")


def test_the_last_seven_days_begin_at_midnight_of_the_browser() -> None:
    now = int(datetime(2026, 3, 9, 20, tzinfo=UTC).timestamp())
    week = period_of({"since": "week"}, ZoneInfo("Asia/Tokyo"), now, None)
    assert week["from_ms"] == int(datetime(2026, 3, 3, 15, tzinfo=UTC).timestamp() * 1000)


def test_changes_are_grouped_by_workspace_and_entry(tab: Tab) -> None:
    page = tab.open("/?since=week")
    assert page.locator(".changed-place > h2").all_inner_texts() == ["lab", "Shop"]
    kept = page.locator(".thing", has_text="The kept one")
    assert kept.locator(".line del").all_inner_texts() == ["thirty"]
    assert kept.locator(".line ins").all_inner_texts() == ["ninety"]
    expect(kept.locator(".field-changes")).to_contain_text("slow")
    expect(kept.locator(".thing-who")).to_contain_text("claude-code")
    expect(page.locator(".thing", has_text="Old task")).to_contain_text("done")
    expect(page.locator(".thing", has_text="Is it fast?")).to_be_visible()
    expect(page.locator(".thing", has_text="The same one")).to_have_count(0)
    page.get_by_role("link", name="Is it fast?").click()
    page.wait_for_url("**/reasoning/node?*")
    expect(page.locator(".prose")).to_contain_text("We do not know.")


def test_a_change_and_a_deletion_are_reverted(tab: Tab, store: Store) -> None:
    page = tab.open("/?since=week")
    page.locator(".thing", has_text="The dropped one").get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("status")).to_have_text("Brought back.")
    page = tab.open("/?since=week")
    page.locator(".thing", has_text="The kept one").get_by_role("button", name="Take back").click()
    expect(page.get_by_role("status")).to_contain_text("The old version")
    assert "thirty" in store.call("capsule_fetch", {"workspace": "Shop", "name": "kept"})["capsule_text"]


def test_a_revert_over_a_newer_change_is_refused(tab: Tab, store: Store) -> None:
    store.call("capsule_update", {"workspace": "Shop", "name": "same", "title": "Seen"})
    page = tab.open("/?since=week")
    page.evaluate("document.getElementById('page').removeAttribute('hx-get')")
    store.call("capsule_update", {"workspace": "Shop", "name": "same", "title": "Newer"})
    form = page.locator(".thing form[action$=revert]").first
    version = form.locator("[name=version]").get_attribute("value")
    expected = str(int(store.call("capsule_fetch", {"workspace": "Shop", "name": "same"})["version"]) - 1)
    key = store.call("capsule_fetch", {"workspace": "Shop", "name": "same"})["id"]
    sent: dict[str, str | float | bool] = {
        "version": version or "1",
        "expected": expected,
        "form_token": "a-token-of-the-form",
    }
    address = page.url.split("?")[0] + f"capsules/{key}/revert"
    assert page.request.post(address, form=sent).status == 409
    assert store.call("capsule_fetch", {"workspace": "Shop", "name": "same"})["title"] == "Newer"


def test_a_past_day_shows_its_own_changes(tab: Tab) -> None:
    day = (datetime.now(UTC) - timedelta(days=20)).date()
    around = f"from={day - timedelta(days=1)}&to={day + timedelta(days=1)}"
    page = tab.open(f"/?{around}")
    expect(page.locator(".lead")).to_contain_text("codex stored 3 capsules and added 1 task")
    page = tab.open("/?from=2001-01-01&to=2001-01-02")
    expect(page.locator(".lead")).to_contain_text("Nothing has changed on 1 Jan 2001 to 2 Jan 2001")


def test_a_workspace_filters_the_changes(tab: Tab) -> None:
    page = tab.open("/?since=week&workspace=lab")
    assert page.locator(".changed-place > h2").all_inner_texts() == ["lab"]


def test_a_second_visit_shows_only_new_changes(tab: Tab, store: Store) -> None:
    page = tab.open("/")
    expect(page.locator(".chip[aria-pressed=true]")).to_have_text("Last 7 days")
    cookies = [one for one in page.context.cookies() if one["name"] == "moss_seen"]
    assert [(one["httpOnly"], one["sameSite"]) for one in cookies] == [(True, "Strict")]
    ended = wall_clock_ms() // 1000 - 7200
    page.context.add_cookies([{"name": "moss_seen", "value": f"0.{ended}", "url": tab.origin}])
    page = tab.open("/")
    expect(page.locator(".chip[aria-pressed=true]")).to_have_text("Since your last visit")
    expect(page.locator(".lead")).to_contain_text("You were last here 2 hours ago")


@pytest.mark.parametrize(
    ("cookie", "previous", "then"),
    [
        ("", None, "0.100000"),
        ("0.99000", None, "0.100000"),
        ("0.90000", 90_000, "90000.100000"),
        ("80000.99999", 80_000, "80000.100000"),
        ("x.y", None, "0.100000"),
        ("1.2.3", None, "0.100000"),
        ("1.999999", None, "0.100000"),
        ("9" * 5_000 + ".1", None, "0.100000"),
    ],
)
def test_a_visit_ends_after_half_an_hour(cookie: str, previous: int | None, then: str) -> None:
    assert next_visit(cookie, 100_000) == (previous, then)


def test_days_follow_the_time_zone_of_the_browser() -> None:
    tokyo = period_of({"from": "2026-03-02"}, ZoneInfo("Asia/Tokyo"), 0, None)
    assert tokyo["from_ms"] == int(datetime(2026, 3, 1, 15, tzinfo=UTC).timestamp() * 1000)
    assert tokyo["to_ms"] - tokyo["from_ms"] == DAY_MS


def test_the_first_change_of_a_period_is_found_wherever_it_begins(store: Store) -> None:
    every = store.read(changes_in_period, what="changes", from_ms=0, to_ms=None, workspace=None)["events"]
    for event in every:
        later = store.read(changes_in_period, what="changes", from_ms=event["ts_ms"], to_ms=None, workspace=None)
        assert later["events"] == [one for one in every if one["ts_ms"] >= event["ts_ms"]]
        earlier = store.read(changes_in_period, what="changes", from_ms=0, to_ms=event["ts_ms"], workspace=None)
        assert earlier["events"] == [one for one in every if one["ts_ms"] < event["ts_ms"]]


def test_an_empty_period_has_no_sentence() -> None:
    assert summarize(group_by_subject([])) == ""


def test_the_home_page_works_without_scripts_and_read_only(store: Store) -> None:
    with PagesServer(store, read_only=True) as server:
        answer = urllib.request.urlopen(server.address + "/?since=week")  # noqa: S310 - of this test
        page = answer.read().decode()
    assert "The kept one" in page
    assert page.count('method="post"') == page.count('action="/0123456789abcdef/sign-out"') == 1
