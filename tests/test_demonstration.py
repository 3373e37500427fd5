"""The demonstration looks like a real project: several agents, unique texts, a conflict, old and stale hand-overs."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.config import load_config
from moss_memory.demo import fill, seed
from moss_memory.demo.project_repository import REPOSITORY, make_repository
from moss_memory.rows.load_counts import loads_by_actor
from moss_memory.rows.near_duplicates import near_duplicates, sketch
from moss_memory.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDED = "invoice-archive"
TEXTS = ("capsule_text", "content", "step", "text", "title", "description", "note", "reason", "decision", "rationale")
"""The fields that people write."""
SHORT = 25
"""A title of a task may also be the title of its card; longer texts must be unique."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return the demonstration, opened from inside its repository."""
    folder = tmp_path_factory.mktemp("demo")
    states = make_repository(str(folder / REPOSITORY))
    before = Path.cwd()
    os.chdir(folder / REPOSITORY)
    with Store(
        load_config(str(folder / "home"), cwd=str(folder)), records_work_tree=False, compares_work_tree=True
    ) as store:
        fill(store, states)
        yield store
    os.chdir(before)


def calls() -> list[dict[str, Any]]:
    with open(seed._STORY, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def texts_of(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from texts_of(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part, name)
    elif isinstance(value, str) and name in TEXTS:
        yield value


def test_texts_are_unique() -> None:
    counted = Counter(text for call in calls() for text in texts_of(call["arguments"]) if len(text) > SHORT)
    versions = {"Partial refunds of any line, from the admin page", "Refunds: partial amounts and retries"}
    twice = {text for text, count in counted.items() if count > 1 and text not in versions}
    assert {text for text in twice if "\n" in text or text.endswith(".")} == set()
    appended = [call["arguments"]["content"] for call in calls() if call["tool"] == "capsule_append"]
    assert len(appended) == len(set(appended))


def test_no_capsule_is_nearly_another(shown: Store) -> None:
    capsules = shown.call("capsule_inventory", {"limit": 100})["items"]
    texts = {item["id"]: shown.call("capsule_fetch", {"id": item["id"]})["capsule_text"] for item in capsules}
    assert near_duplicates((key, sketch(text)) for key, text in texts.items()) == {}


def test_several_agents_work_in_every_week(shown: Store) -> None:
    events = shown.call("moss_log", {"limit": 500})["events"]
    assert {"claude-code", "codex", "cursor"} == {event["by"] for event in events}
    oldest = min(call["hours_ago"] for call in calls()), max(call["hours_ago"] for call in calls())
    weeks = {int(call["hours_ago"] // 168) for call in calls()}
    assert oldest[1] > 60 * 24
    assert weeks == set(range(9))


def test_there_is_an_open_conflict_and_loads_by_several_agents(shown: Store) -> None:
    assert shown.call("branchmind_status", {"workspace": "atlas-checkout"})["conflicts"]["open"] >= 1
    capsule = shown.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})["id"]
    loads = shown.read(loads_by_actor, what="test", capsule=capsule)
    assert {one["actor"] for one in loads} == {"claude-code", "codex", "cursor"}


def test_one_project_ended_weeks_ago(shown: Store) -> None:
    tasks = shown.call("tasks_list", {"workspace": ENDED})["items"]
    assert len(tasks) >= 2
    assert {task["status"] for task in tasks} == {"DONE"}
    newest = min(call["hours_ago"] for call in calls() if call["arguments"].get("workspace") == ENDED)
    assert newest > 30 * 24


def test_the_repository_is_one_of_git(shown: Store) -> None:
    tree = shown.work_tree()
    assert tree is not None
    state = tree.state()
    assert state is not None
    assert (state.repository, state.branch) == (REPOSITORY, "main")


def test_some_capsules_have_drifted(shown: Store) -> None:
    assert shutil.which("git"), "tests need git"
    found = shown.call("moss_freshness", {"limit": 100})["items"]
    states = {item["name"]: item["freshness"]["state"] for item in found if item["type"] == "capsule"}
    assert states["scanner-notes"] == "orphaned"
    assert {name for name, state in states.items() if state == "drifted"} == {"logging", "move", "refund-form"}
    assert states["refunds"] == "fresh"
