"""What tools declare to answer is what they answer: all of it, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, McpDoor, McpServer, StoreDoor, open_test_store
from contract.everything import call_about_code, call_everything, call_unlisted, prepare
from moss_memory.registry import catalog
from moss_memory.registry.responses import ResponseSchema, inner_shapes
from support.declared import tellable, told

if TYPE_CHECKING:
    from moss_memory.store import Store

ELSEWHERE = {f"{tool}.{remark}" for tool in ("capsule_search", "moss_search", "retrieve_records")
             for remark in ("degraded", "pending")} | {
                 "CardTemplate.tags[]", "Version.erased", "capsule_purge.complete", "artifact_purge.complete",
                 "branchmind_purge.complete", "branchmind_purge.ids[]", "RecentWorkspace.ts_ms left out",
                 "TaskEvent.by left out", "Version.by left out", "Change.by left out", "LoggedEvent.by null",
                 "LoggedEvent.commit left out", "LoggedEvent.repository left out",
} | {
    f"{tool}.scope{on_a_server}" for tool in ("capsule_purge", "artifact_purge", "branchmind_purge", "moss_erase")
    for on_a_server in ("", " left out")
}  # fmt: skip
"""What tests/semantic make searches say of themselves; the tags of a template, which are to be filled in; what was
erased, which test_history.py makes by hand; a purge that was interrupted, as in storage/test_erasing.py; how far
something is gone where a server keeps it, as in postgres/test_erased.py; what changed long ago, in
test_workspaces.py; who changed something before origins were stored; and events outside of a work tree, in
test_event_log.py."""
CLOSED = {
    "tasks_radar.reasoning_ref left out",
    "branchmind_export.target left out",
    "Hit.fetch left out",
    "CapsuleHit.fetch left out",
    *(f"Day.{family} left out" for family in ("capsule", "artifact", "reasoning", "task", "record")),
}
"""What is left out where a family is closed, which test_closed_families.py looks at, or a tool, as in test_hits.py."""
UNLISTED = (
    "artifact_purge", "branchmind_purge", "moss_activity", "moss_changes", "moss_recent",
)  # fmt: skip


class Listener(StoreDoor):
    """A door that remembers what of its declarations every answer held."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.heard: set[str] = set()
        self.called: set[str] = set()

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = super().__call__(tool, **arguments)
        operation = catalog.find(tool)
        assert operation is not None
        self.called.add(tool)
        self.heard.update(told(answer, operation.answers, tool))
        return answer


def test_everything_declared_is_answered(home: str, clock: Clock) -> None:
    prepare(home)
    with open_test_store(home, clock, records_work_tree=True) as store:
        door = Listener(store)
        call_everything(door)
        call_unlisted(door)
        call_about_code(door)
    names = [operation.name for operation in catalog.operations()] + list(UNLISTED)
    known: set[str] = set()
    declared: set[str] = set()
    for name in names:
        operation = catalog.find(name)
        assert operation is not None
        declared.update(tellable(operation.answers, name, known))
    assert sorted(set(names) - door.called) == []
    never = "\n".join(sorted(declared - door.heard - ELSEWHERE - CLOSED))
    assert never == "", f"declared and never answered:\n{never}"


def test_the_official_client_finds_every_answer_to_be_of_its_output_schema(home: str) -> None:
    prepare(home, output_schemas=True)
    server = McpServer(home)
    try:
        listed = {tool.name: tool.output_schema for tool in server.tools()}
        assert [name for name, schema in listed.items() if not schema or schema["type"] != "object"] == []
        call_everything(McpDoor(server))  # the client raises where an answer is not of its schema
    finally:
        server.close()


def test_without_the_setting_no_output_schema_is_listed(mcp_server: McpServer) -> None:
    assert {tool.output_schema is None for tool in mcp_server.tools()} == {True}


def test_an_error_is_no_answer_and_needs_none_of_its_fields(home: str) -> None:
    prepare(home, output_schemas=True)
    server = McpServer(home)
    try:
        McpDoor(server).refuses("NOT_FOUND", "capsule_fetch", name="nobody")
    finally:
        server.close()


def shapes() -> dict[str, list[ResponseSchema]]:
    """Every shape of every answer by its name."""
    found: dict[str, list[ResponseSchema]] = {}
    waiting = [operation.answers for operation in catalog.operations()]
    while waiting:
        shape = waiting.pop()
        if all(shape is not known for known in found.setdefault(shape.name, [])):
            found[shape.name].append(shape)
            waiting += inner_shapes(shape)
    return found


def test_every_shape_inside_an_answer_has_a_name_of_its_own() -> None:
    answers = [operation.answers for operation in catalog.operations()]
    named = shapes()
    needs_id_column = named.pop("")
    assert [list(shape.fields) for shape in needs_id_column if all(shape is not one for one in answers)] == []
    assert [name for name, sharing in named.items() if len(sharing) > 1] == []


@pytest.mark.parametrize("shape", [shape for sharing in shapes().values() for shape in sharing], ids=lambda it: it.name)
def test_a_shape_says_what_its_fields_mean_and_shows_only_what_it_has(shape: ResponseSchema) -> None:
    assert [key for key, field in shape.fields.items() if not field.meaning] == []
    computed = shape.row is not None or shape.name == "TimelineEvent"
    assert computed or {column.key for column in shape.table} <= shape.fields.keys()
