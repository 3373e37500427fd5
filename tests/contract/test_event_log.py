"""`moss_log`: actor, tool and time of each change, newest first, without texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.config import default_config
from moss_memory.errors import MossError
from moss_memory.mcp.tool_list import ToolList, tool_lines
from moss_memory.store import Store
from support.promises import holds


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


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
def test_events_are_listed_newest_first_with_actor_and_origin_without_text(filled: Store) -> None:
    answer = filled.call("moss_log", {})
    assert [event["tool"] for event in answer["events"]] == ["tasks_create", *["capsule_store"] * 4]
    assert answer["pagination"] == {"limit": 50, "offset": 0, "has_more": False, "total": 5}
    newest = answer["events"][0]
    assert (newest["by"], newest["workspace"]) == ("ben · claude-code", "w 0")
    assert set(newest) == {"at", "by", "tool", "workspace", "address"}, "a store outside of a work tree"
    assert "private" not in str(answer)


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
def test_events_are_filtered(filled: Store) -> None:
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


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
def test_paging_lists_every_event_once(filled: Store) -> None:
    pages = [filled.call("moss_log", {"limit": 2, "offset": offset}) for offset in (0, 2, 4)]
    assert [page["pagination"]["has_more"] for page in pages] == [True, True, False]
    assert [event for page in pages for event in page["events"]] == logged(filled)


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
@pytest.mark.parametrize(
    "given",
    [{"since": "yesterday"}, {"since": " "}, {"by": ""}, {"tool": "\t"}, {"limit": 0}, {"offset": -1}, {"to": 1}],
)
def test_invalid_log_queries_are_refused(filled: Store, given: dict[str, Any]) -> None:
    with pytest.raises(MossError) as caught:
        filled.call("moss_log", given)
    assert caught.value.code == "INVALID_REQUEST"


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
def test_events_of_a_closed_family_are_not_listed(filled: Store, home: Path) -> None:
    unit = {"id": "u", "description": "d", "status": "planning", "created_at": "2026-01-01", "updated_at": "2026-01-01"}
    filled.call("submit_payload", {"capability_id": "neotoma:store_feature_unit:v1", "body": unit})
    for family, tools in (
        ("task", {"capsule_store", "submit_payload"}),
        ("record", {"capsule_store", "tasks_create"}),  # its tools have no common prefix
    ):
        with Store(filled.config.replace(disabled_types=[family])) as other:
            assert {event["tool"] for event in logged(other)} == tools


@holds("decisions §13: moss_log lists events newest first with actor and workspace, and never texts")
def test_moss_log_has_a_short_description_and_is_not_in_core() -> None:
    [line] = [line for name, line in tool_lines() if name == "moss_log"]
    assert len(line.partition(',"annotations"')[0]) <= 700
    assert not ToolList(toolsets=["core"]).lists("moss_log")
    assert ToolList().lists("moss_log")
    assert default_config("/nowhere").disabled_types == []
