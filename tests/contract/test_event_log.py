"""`moss_log`: who changed what and when, newest first, never a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.mcp.tool_list import ToolList, tool_lines
from moss_memory.store import Store


@pytest.fixture
def filled(store: Store) -> Store:
    for number, actor in enumerate(("anna · claude-code", "anna", "annabel · x", "ben · claude-code")):
        given = {"workspace": f"W {number % 2}", "name": f"n{number}", "capsule_text": f"{FULL} private{number}"}
        store.call("capsule_store", given, actor=actor)
    store.call(
        "tasks_create", {"workspace": "w 0", "kind": "task", "title": "private title"}, actor="ben · claude-code"
    )
    return store


def logged(store: Store, **given: Any) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = store.call("moss_log", given)["events"]
    return events


def test_events_come_newest_first_with_who_and_where_and_no_text(filled: Store) -> None:
    answer = filled.call("moss_log", {})
    assert [event["tool"] for event in answer["events"]] == ["tasks_create", *["capsule_store"] * 4]
    assert answer["pagination"] == {"limit": 50, "offset": 0, "has_more": False, "total": 5}
    newest = answer["events"][0]
    assert (newest["by"], newest["workspace"]) == ("ben · claude-code", "w 0")
    assert set(newest) == {"at", "by", "tool", "workspace", "address"}, "a store outside of a work tree"
    assert "private" not in str(answer)


def test_filters_choose_among_them(filled: Store) -> None:
    assert [event["by"] for event in logged(filled, by="anna")] == ["anna", "anna · claude-code"]
    assert [event["by"] for event in logged(filled, by="annabel · x")] == ["annabel · x"]
    assert logged(filled, by="claude-code") == logged(filled, by="ann") == []
    assert {event["workspace"] for event in logged(filled, workspace=" W  1")} == {"w 1"}
    assert len(logged(filled, tool="tasks_create")) == 1
    assert len(logged(filled, since="1d")) == 5
    assert logged(filled, since="2200-01-01") == []
    assert len(logged(filled, since="2000-01-01T00:00:00Z", by="ben", tool="capsule_store")) == 1
    at = logged(filled)[-1]["at"]
    assert len(logged(filled, since=str(at))) == 5


def test_every_event_is_on_one_page(filled: Store) -> None:
    pages = [filled.call("moss_log", {"limit": 2, "offset": offset}) for offset in (0, 2, 4)]
    assert [page["pagination"]["has_more"] for page in pages] == [True, True, False]
    assert [event for page in pages for event in page["events"]] == logged(filled)


@pytest.mark.parametrize(
    "given",
    [{"since": "yesterday"}, {"since": " "}, {"by": ""}, {"tool": "\t"}, {"limit": 0}, {"offset": -1}, {"to": 1}],
)
def test_what_cannot_be_asked_is_refused(filled: Store, given: dict[str, Any]) -> None:
    with pytest.raises(MossError) as caught:
        filled.call("moss_log", given)
    assert caught.value.code == "INVALID_REQUEST"


def test_a_closed_family_is_not_in_the_log(filled: Store, home: Path) -> None:
    config = filled.config.replace(disabled_types=["task"])
    with Store(config) as other:
        assert {event["tool"] for event in logged(other)} == {"capsule_store"}


def test_the_tool_is_short_and_not_in_core() -> None:
    [line] = [line for name, line in tool_lines() if name == "moss_log"]
    assert len(line.partition(',"annotations"')[0]) <= 700
    assert not ToolList(toolsets=["core"]).lists("moss_log")
    assert ToolList().lists("moss_log")
    assert default_config("/nowhere").disabled_types == []
