"""Credentials: every tool refuses to store text in the form of a credential."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, StoreDoor, open_test_store
from contract.everything import call_about_code, call_everything, call_unlisted, prepare
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.tools.record.spool_import import import_spool
from support.promises import holds

if TYPE_CHECKING:
    from pathlib import Path

    from contract.doors import Clock, Door
    from moss_memory.store import Store

SECRET = "AK" + "IA" + "Q3EGRB7ZVX2MHT5N"
"""Text in the form of an AWS access key, split so that secret scanners do not report this file."""

SUBSTITUTE = SECRET
"""The text that `value_of` inserts."""
HELD = FULL.replace("## Decisions\n", f"## Decisions\nüber den Schlüssel {SECRET}\n")
WRITING = [operation for operation in catalog.every_operation() if operation.mutates and not operation.proxy]
STORING = [operation.name for operation in WRITING if operation.scan_secrets]


def written_to_disk(home: str, text: str = SECRET) -> list[str]:
    """Return the files of a home folder that contain a text, ignoring case: names are stored in lower case."""
    found = []
    for folder, _, names in os.walk(home):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                if text.lower().encode() in file.read().lower():
                    found.append(name)
    return found


def value_of(schema: dict[str, Any]) -> Any:
    """Return a value that matches a schema, with the secret in every text."""
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        parts = schema.get("properties")
        return {"free": [SUBSTITUTE]} if parts is None else {name: value_of(part) for name, part in parts.items()}
    plain = {"string": SUBSTITUTE, "integer": max(1, schema.get("minimum", 1)), "number": 1, "boolean": True}
    return [value_of(schema["items"])] if kind == "array" else plain[kind]


@holds("general: credentials are not stored, and no answer contains their value")
def test_a_credential_is_refused_with_its_kind_and_path(call: Door) -> None:
    call("capsule_store", capsule_text=FULL, name="there")
    error = call.refuses("SECRET_FOUND", "capsule_store", capsule_text=HELD, name="auth")
    line = HELD[: HELD.index(SECRET)].count("\n") + 1
    assert error.status == 422
    assert error.details == {
        "findings": [{"kind": "aws-access-key", "path": "capsule_text", "line": line, "column": 20}]
    }
    assert SECRET not in json.dumps(error.payload())
    assert written_to_disk(call.home) == []


@holds("general: credentials are not stored, and no answer contains their value")
def test_the_refusal_of_a_credential_contains_no_text_of_the_caller(call: Door) -> None:
    error = call.refuses("SECRET_FOUND", "capsule_store", capsule_text=HELD, name="auth", tags=["a"])
    assert error.recovery is None
    assert "allow_secrets" in error.message
    assert "details.findings" in error.message
    assert "Schlüssel" not in json.dumps(error.payload(), ensure_ascii=False)


@holds("general: credentials are not stored, and no answer contains their value")
def test_a_text_above_its_limit_is_refused_before_it_is_scanned(door: Door) -> None:
    long = f"{SECRET} " + "a" * 210_000
    door.refuses("CAPSULE_TOO_LARGE", "capsule_store", capsule_text=long)
    door.refuses("DATA_TOO_LARGE", "artifact_store", kind="note", data={"a": long})
    door.refuses("TEXT_TOO_LARGE", "artifact_store", kind="note", data={}, text=long)
    error = door.refuses("TEXT_TOO_LARGE", "tasks_create", workspace="shop", kind="task", title="T", description=long)
    assert error.details == {"max_chars": 200_000, "actual_chars": len(long), "path": "description"}
    door.refuses("TEXT_TOO_LARGE", "branchmind_notes_commit", workspace="shop", content=long)


@holds("general: credentials are not stored, and no answer contains their value")
def test_idempotency_keys_are_scanned_too(store: Store) -> None:
    for tool, arguments in (("capsule_store", {"capsule_text": FULL}), ("capsule_delete", {"name": "auth"})):
        with pytest.raises(MossError) as caught:
            store.call(tool, arguments, idempotency_key=f"key {SECRET}")
        assert caught.value.code == "SECRET_FOUND"
        assert caught.value.details == {
            "findings": [{"kind": "aws-access-key", "path": "idempotency_key", "line": 1, "column": 5}]
        }


@holds("general: credentials are not stored, and no answer contains their value")
@pytest.mark.parametrize("tool", STORING)
def test_every_storing_tool_refuses_a_credential_in_every_argument(store: Store, tool: str) -> None:
    operation = catalog.find(tool)
    assert operation is not None
    arguments = {name: value_of(schema) for name, schema in operation.parameters.items()}
    arguments |= {name: False for name in ("allow_secrets", "dry_run") if name in arguments}
    for address in (arguments, *(one for one in arguments.get("items", ()) if isinstance(one, dict))):
        address.pop("fetch_key", None)  # it excludes other addresses
    with pytest.raises(MossError) as caught:
        store.call(tool, arguments)
    assert caught.value.code == "SECRET_FOUND", caught.value.payload()
    told = json.dumps(caught.value.payload())
    assert SECRET not in told
    assert {one["kind"] for one in caught.value.details["findings"]} == {"aws-access-key"}  # type: ignore[index]
    assert not os.path.exists(os.path.join(store.config.home, "moss.db")), "it waited for the store"


class Substituting(StoreDoor):
    """A door that first repeats each call of a writing but not storing tool with the secret in each field."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.tried: set[tuple[str, str]] = set()

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        operation = catalog.find(tool)
        assert operation is not None
        done = None
        if operation.mutates and not operation.scan_secrets and not operation.proxy:
            for name, schema in operation.parameters.items():
                done = self._try(operation.name, name, schema, arguments) or done
        try:
            return super().__call__(tool, **arguments)
        except MossError:
            if done is None:
                raise
            return done  # the call with the secret already had this effect

    def _try(self, tool: str, name: str, schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any] | None:
        value = value_of(schema)
        if SUBSTITUTE not in json.dumps(value):
            return None
        self.tried.add((tool, name))
        try:
            return self.store.call(tool, {**arguments, name: value})
        except MossError:
            return None


@holds("general: credentials are not stored, and no answer contains their value")
def test_tools_that_are_not_scanned_store_no_text_of_the_caller(
    home: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every field of the registry is tried, so that a new one that stores a text cannot be forgotten."""
    monkeypatch.setitem(globals(), "SUBSTITUTE", "Zq7 a text that is nowhere else")
    prepare(home)
    with open_test_store(home, clock, records_work_tree=True) as store:
        door = Substituting(store)
        call_everything(door)
        call_unlisted(door)
        call_about_code(door)
        door("branchmind_checkout", workspace="shop", ref="main")  # a branch that every new workspace has
    fields = {
        (operation.name, name)
        for operation in WRITING
        if not operation.scan_secrets
        for name, schema in operation.parameters.items()
        if SUBSTITUTE in json.dumps(value_of(schema))
    }
    assert sorted(fields - door.tried) == []
    assert written_to_disk(home, SUBSTITUTE) == []


@holds("general: credentials are not stored, and no answer contains their value")
def test_allow_secrets_stores_a_credential(call: Door) -> None:
    call("capsule_store", capsule_text=HELD, name="auth", allow_secrets=True)
    assert SECRET in call("capsule_fetch", name="auth")["capsule_text"]


@holds("general: credentials are not stored, and no answer contains their value")
def test_the_configuration_can_allow_credentials(home: str) -> None:
    with open_test_store(home, allow_secrets=True) as store:
        store.call("capsule_store", {"capsule_text": HELD, "name": "auth"})
        store.call("artifact_store", {"kind": "note", "data": {"key": SECRET}})


@holds("general: credentials are not stored, and no answer contains their value")
def test_storing_a_bundle_with_a_credential_is_refused(door: Door) -> None:
    door("capsule_store", capsule_text=HELD, name="auth", allow_secrets=True)
    bundle: dict[str, Any] = {"items": [{"name": "auth"}], "store_as": {"name": "bundle", "allow_thin": True}}
    error = door.refuses("SECRET_FOUND", "capsule_compose", **bundle)
    assert SECRET not in json.dumps(error.payload())
    assert SECRET in door("capsule_compose", items=[{"name": "auth"}])["bundle_text"]
    door("capsule_compose", **bundle, allow_secrets=True)
    assert error.recovery is None


@holds("general: credentials are not stored, and no answer contains their value")
def test_records_refuse_a_credential_with_the_same_code(door: Door) -> None:
    body = {"id": "r-1", "name": "One", "status": "planned", "notes": SECRET}
    error = door.refuses("SECRET_FOUND", "submit_payload", capability_id="neotoma:store_release:v1", body=body)
    assert error.details == {"findings": [{"kind": "aws-access-key", "path": "body.notes", "line": 1, "column": 1}]}


@holds("general: credentials are not stored, and no answer contains their value")
def test_reading_and_removing_tools_accept_credentials(door: Door) -> None:
    door("capsule_store", capsule_text=FULL, name=SECRET, tags=[SECRET], allow_secrets=True)
    assert door("capsule_inventory", tag=SECRET)["pagination"]["total"] == 1
    assert door("capsule_search", query=SECRET)["pagination"]["total"] == 1
    assert door("capsule_bulk_delete", tag=SECRET)["deleted"] == 1


@holds("general: credentials are not stored, and no answer contains their value")
def test_a_refusal_names_at_most_twenty_findings(door: Door) -> None:
    text = "\n".join([SECRET] * 50)
    error = door.refuses("SECRET_FOUND", "capsule_store", capsule_text=text, allow_thin=True)
    assert error.details is not None
    assert len(error.details["findings"]) == 20
    assert "49 more" in error.message
    assert SECRET not in json.dumps(error.payload())


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_an_import_accepts_credentials_and_reports_them(door: Door) -> None:
    row = {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "workspace_raw": "default", "name_raw": "auth", "capsule_text": HELD}
    name = door.write_export({**row, "id": "01ARZ3NDEKTSV4RRFFQ69G5FAW", "name_raw": "b", "capsule_text": FULL}, row)
    answer = door("capsule_import", path=name)
    assert answer["imported"] == 2
    assert [(one["kind"], one["path"], one["line"]) for one in answer["findings"]] == [("aws-access-key", name, 2)]
    assert SECRET not in json.dumps(answer)
    assert SECRET in door("capsule_fetch", name="auth")["capsule_text"]


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_a_folder_import_reports_credentials(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "auth.md").write_text(f"first line\nthe key: {SECRET}\n")
    answer = store.import_folder(str(folder))
    assert answer["imported"]["capsules"] == 1
    assert answer["findings"] == [{"kind": "aws-access-key", "path": "auth.md", "line": 2, "column": 10}]


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_a_record_import_reports_credentials(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "memory" / "feature_units"
    folder.mkdir(parents=True)
    times = {"created_at": "2025-11-01", "updated_at": "2025-11-01"}
    (folder / "FU-1.json").write_text(json.dumps({"id": "FU-1", "status": "planning", "description": SECRET, **times}))
    report = import_spool(store, str(folder.parent))
    assert report["failed"] == []
    assert [(one["kind"], one["path"].endswith("FU-1.json.description")) for one in report["findings"]] == [
        ("aws-access-key", True)
    ]


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_restore_and_revert_report_credentials(door: Door) -> None:
    key = door("capsule_store", capsule_text=HELD, name="auth", allow_secrets=True)["id"]
    door("capsule_update", name="auth", capsule_text=FULL)
    found = door("moss_revert", type="capsule", name="auth", version=1)["findings"]
    assert [(one["kind"], one["path"]) for one in found] == [("aws-access-key", f"capsules/{key}.capsule_text")]
    assert "findings" not in door("moss_revert", type="capsule", name="auth", version=2)
    door("moss_revert", type="capsule", name="auth", version=1)
    door("capsule_delete", name="auth")
    assert door("capsule_restore", name="auth")["findings"] == found
    door("capsule_delete", name="auth")
    assert door("capsule_restore", filters={"deleted_after": 0})["findings"] == found


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_earlier_versions_are_scanned_too(store: Store) -> None:
    held = {"capsule_text": HELD, "name": "auth", "allow_secrets": True}
    key = store.call("capsule_store", held)["id"]
    store.call("capsule_update", {"name": "auth", "capsule_text": FULL})
    assert [one["path"] for one in store.find_credentials()] == [f"capsules/{key}/version 1.capsule_text"]


@holds("general: import, restore, revert and migrate never refuse a credential and report those they find")
def test_the_whole_store_can_be_scanned(home: str) -> None:
    with open_test_store(home, allow_secrets=True) as store:
        store.call("capsule_store", {"capsule_text": HELD, "name": SECRET})
        store.call("artifact_store", {"kind": "note", "data": {"key": SECRET}, "text": "x"})
        store.call("branchmind_init", {"workspace": "shop"})
        store.call("branchmind_notes_commit", {"workspace": "shop", "content": f"it is {SECRET}"})
        store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": "T", "description": SECRET})
        found = store.find_credentials()
    assert SECRET not in json.dumps(found)
    assert {one["kind"] for one in found} == {"aws-access-key"}
    assert {one["path"].partition("/")[0] for one in found} >= {"capsules", "artifacts", "tasks"}
