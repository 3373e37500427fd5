"""Answers match the declared schemas: every declared field occurs, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import Clock, McpDoor, McpServer, StoreDoor, open_test_store
from contract.everything import call_about_code, call_everything, call_unlisted, prepare
from moss_memory.registry import catalog
from moss_memory.registry.responses import ResponseSchema, inner_schemas
from support.declared import tellable, told
from support.promises import holds

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
"""Declared fields that other files test: semantic search (tests/semantic); tags of a template; erased versions
(test_history.py); an interrupted purge (storage/test_erasing.py); erasing on a server (postgres/test_erased.py);
old changes (test_workspaces.py); changes without a stored origin; events outside of a work tree (test_event_log.py)."""
CLOSED = {
    "tasks_radar.reasoning_ref left out",
    "branchmind_export.target left out",
    "Hit.fetch left out",
    "CapsuleHit.fetch left out",
    *(f"Day.{family} left out" for family in ("capsule", "artifact", "reasoning", "task", "record")),
}
"""Fields that are absent if a family is closed (test_closed_families.py) or a tool is disabled (test_hits.py)."""
UNLISTED = (
    "artifact_purge", "branchmind_purge", "moss_activity", "moss_changes", "moss_recent",
)  # fmt: skip


class RecordingDoor(StoreDoor):
    """A door that records which declared fields occurred in answers."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.answered: set[str] = set()
        self.called: set[str] = set()

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = super().__call__(tool, **arguments)
        operation = catalog.find(tool)
        assert operation is not None
        self.called.add(tool)
        self.answered.update(told(answer, operation.answers, tool))
        return answer


@holds("general: answers contain exactly the declared fields, through every interface")
def test_every_declared_field_occurs_in_an_answer(home: str, clock: Clock) -> None:
    prepare(home)
    with open_test_store(home, clock, records_work_tree=True) as store:
        door = RecordingDoor(store)
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
    never = "\n".join(sorted(declared - door.answered - ELSEWHERE - CLOSED))
    assert never == "", f"declared and never answered:\n{never}"


@holds("general: answers contain exactly the declared fields, through every interface")
def test_the_official_client_accepts_every_answer_by_its_output_schema(home: str) -> None:
    prepare(home, output_schemas=True)
    server = McpServer(home)
    try:
        listed = {tool.name: tool.output_schema for tool in server.tools()}
        assert [name for name, schema in listed.items() if not schema or schema["type"] != "object"] == []
        call_everything(McpDoor(server))  # the client raises if an answer does not match its schema
    finally:
        server.close()


@holds("general: answers contain exactly the declared fields, through every interface")
def test_without_the_setting_no_output_schema_is_listed(mcp_server: McpServer) -> None:
    assert {tool.output_schema is None for tool in mcp_server.tools()} == {True}


@holds("general: answers contain exactly the declared fields, through every interface")
def test_an_error_needs_no_field_of_the_output_schema(home: str) -> None:
    prepare(home, output_schemas=True)
    server = McpServer(home)
    try:
        McpDoor(server).refuses("NOT_FOUND", "capsule_fetch", name="nobody")
    finally:
        server.close()


def schemas() -> dict[str, list[ResponseSchema]]:
    """Return every schema of every answer by its name."""
    found: dict[str, list[ResponseSchema]] = {}
    waiting = [operation.answers for operation in catalog.operations()]
    while waiting:
        schema = waiting.pop()
        if all(schema is not known for known in found.setdefault(schema.name, [])):
            found[schema.name].append(schema)
            waiting += inner_schemas(schema)
    return found


@holds("general: answers contain exactly the declared fields, through every interface")
def test_every_shape_inside_an_answer_has_a_unique_name() -> None:
    answers = [operation.answers for operation in catalog.operations()]
    named = schemas()
    needs_id_column = named.pop("")
    assert [list(schema.fields) for schema in needs_id_column if all(schema is not one for one in answers)] == []
    assert [name for name, sharing in named.items() if len(sharing) > 1] == []


@holds("general: answers contain exactly the declared fields, through every interface")
@pytest.mark.parametrize(
    "schema", [schema for sharing in schemas().values() for schema in sharing], ids=lambda it: it.name
)
def test_a_shape_documents_its_fields_and_has_its_table_columns(schema: ResponseSchema) -> None:
    assert [key for key, field in schema.fields.items() if not field.meaning] == []
    computed = schema.row is not None or schema.name == "TimelineEvent"
    assert computed or {column.key for column in schema.table} <= schema.fields.keys()
