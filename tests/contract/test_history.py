"""Versions: every change creates one, each remains readable, and each can be reverted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from artifact.samples import no_artifacts as no_artifacts
from contract.doors import FULL, LABELS, START_MS, Clock, StoreDoor, open_test_store
from support.direct_store import rows, run
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door

DAY = 86_400
NOBODY = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
TYPES = ("capsule", "artifact")
WRITES: dict[str, dict[str, Any]] = {
    "capsule": {"capsule_text": FULL},
    "artifact": {"kind": "k", "data": {"n": 0}},
}


def write(call: Door, type: str, name: str = "a", **fields: Any) -> int:
    """Store or replace a capsule or artifact and return its version."""
    answer = call(f"{type}_store", name=name, mode="replace", **{**WRITES[type], **fields})
    version: int = answer["version"]
    return version


def edit(call: Door, type: str, number: int) -> int:
    """Write the next version of `a`, with its number in the content."""
    if type == "capsule":
        return write(call, type, capsule_text=FULL + f"number {number}\n", source=f"s{number}")
    return write(call, type, data={"n": number}, text=f"number {number}", phase=f"p{number}")


def seen(call: Door, type: str, **asked: Any) -> dict[str, Any]:
    """Return the content and metadata of `a`, without the fields that all versions share."""
    fetched = call(f"{type}_fetch", name="a", **asked)
    shared = ("id", "workspace", "workspace_norm", "name", "name_norm", "created_at", "updated_at", "fetch_key")
    return {key: value for key, value in fetched.items() if key not in shared}


def numbers(answer: dict[str, Any]) -> list[int]:
    return [version["version"] for version in answer["versions"]]


# -- numbers -------------------------------------------------------------------------------------------------------


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("capsule_store", {"capsule_text": FULL, "mode": "replace"}),
    ("moss.store", {"capsule_text": FULL, "mode": "replace"}),
    ("capsule_update", {"capsule_text": FULL}),
    ("capsule_update", {"title": "a"}),
    ("capsule_update", {"phase": ""}),
    ("capsule_append", {"section": "Decisions", "content": "x"}),
    ("moss_rename", {"type": "capsule", "new_name": "a"}),
]


@holds("decisions §6: every change of a capsule makes a version, also one to equal content")
@pytest.mark.parametrize(("tool", "arguments"), CHANGES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_change_of_a_capsule_creates_a_version_even_without_a_difference(
    call: Door, tool: str, arguments: dict[str, Any]
) -> None:
    assert write(call, "capsule") == 1
    for version in (2, 3):
        assert call(tool, name="a", **arguments)["version"] == version
        assert call("capsule_fetch", name="a")["version"] == version
    history = call("moss_history", type="capsule", name="a")
    assert numbers(history) == [3, 2, 1]
    assert history["current"] == 3
    assert history["versions"][0]["tool"] == tool.replace("moss.store", "capsule_store")


@holds("decisions §6: every change of a capsule makes a version, also one to equal content")
def test_a_bulk_update_creates_a_version_of_every_changed_capsule(call: Door) -> None:
    for name in ("a", "b", "c"):
        write(call, "capsule", name, run_id="r" if name < "c" else "other")
    call("capsule_bulk_update", run_id="r", set_phase="done")
    versions = {item["name"]: item["version"] for item in call("capsule_list")["items"]}
    assert versions == {"a": 2, "b": 2, "c": 1}
    old = call("capsule_fetch", name="a", version=1)
    assert "phase" not in old
    assert call("capsule_fetch", name="a")["phase"] == "done"
    assert call("moss_history", type="capsule", name="a")["versions"][0]["change"] == "phase"


@holds("decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1")
def test_an_import_over_a_capsule_creates_its_next_version(call: Door) -> None:
    edit(call, "capsule", 1)
    edit(call, "capsule", 2)
    capsule = call("capsule_fetch", name="a")
    line = {"id": capsule["id"], "workspace_raw": "default", "name_raw": "a", "capsule_text": "given", "version": 9}
    by_name = {**line, "id": "another", "capsule_text": "by name", "version": 1}
    call("capsule_import", path=call.write_export(line), mode="replace")
    call("capsule_import", path=call.write_export(by_name), mode="replace")
    history = call("moss_history", type="capsule", name="a")
    assert numbers(history) == [4, 3, 2, 1]
    assert [version["tool"] for version in history["versions"][:2]] == ["capsule_import"] * 2
    assert call("capsule_fetch", name="a", version=3)["capsule_text"] == "given"
    assert call("capsule_fetch", name="a")["capsule_text"] == "by name"
    assert seen(call, "capsule", version=2)["source"] == "s2"


@holds("decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1")
def test_every_line_of_an_import_over_one_capsule_creates_a_version(call: Door) -> None:
    write(call, "capsule")
    made = call("capsule_fetch", name="a")["id"]
    line = {"id": made, "workspace_raw": "default", "name_raw": "a"}
    twice = [{**line, "capsule_text": "first"}, {**line, "capsule_text": "second"}]
    by_name = {**line, "id": "another", "capsule_text": "third"}  # colliding rows are imported one by one
    other = {**line, "id": "new", "name_raw": "b", "capsule_text": "fourth"}
    assert call("capsule_import", path=call.write_export(*twice), mode="replace")["imported"] == 2
    assert call("capsule_import", path=call.write_export(twice[0], by_name, other), mode="replace")["imported"] == 3
    history = call("moss_history", type="capsule", name="a")
    assert numbers(history) == [5, 4, 3, 2, 1]
    texts = [call("capsule_fetch", name="a", version=version)["capsule_text"] for version in range(1, 6)]
    assert texts == [FULL, "first", "second", "first", "third"]
    assert numbers(call("moss_history", type="capsule", name="b")) == [1]


@holds("decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1")
def test_a_new_row_of_an_import_keeps_its_version_or_starts_at_one(call: Door) -> None:
    given = {"id": NOBODY, "workspace_raw": "default", "name_raw": "old", "capsule_text": "x", "version": 7}
    plain = {"id": "plain", "workspace_raw": "default", "name_raw": "new", "capsule_text": "x", "created_at": 5}
    call("capsule_import", path=call.write_export(given, plain))
    assert call("capsule_fetch", name="old")["version"] == 7
    assert call("capsule_fetch", name="new")["version"] == 1
    history = call("moss_history", type="capsule", name="old")
    assert numbers(history) == [7]
    assert history["pagination"]["total"] == 1
    assert history["versions"][0]["change"] == "imported"
    assert history["versions"][0]["at"] > 1_700_000_000, "it was written when it was imported"
    error = call.refuses("NOT_FOUND", "capsule_fetch", name="old", version=6)
    assert error.details == {"oldest": 7, "newest": 7}
    assert call("capsule_update", name="old", title="t")["version"] == 8
    assert call("capsule_fetch", name="old", version=7)["capsule_text"] == "x"


@holds("decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1")
@pytest.mark.parametrize("version", [0, -1, 1.5, "2", True, 2**60, [1]])
def test_an_imported_record_with_an_invalid_version_is_invalid(call: Door, version: Any) -> None:
    line = {"id": "x", "workspace_raw": "w", "capsule_text": "t", "version": version}
    answer = call("capsule_import", path=call.write_export(line))
    assert (answer["imported"], answer["skipped"]) == (0, 1)
    assert "version" in answer["errors"][0]["message"]


@holds("decisions §6: an import keeps the file's versions, over a row it is the next one, without one it is 1")
def test_an_export_contains_the_version_and_no_history(call: Door) -> None:
    edit(call, "capsule", 1)
    edit(call, "capsule", 2)
    (record,) = call.read_export(call("capsule_export")["path"])
    assert record["version"] == 2
    assert "number 2" in record["capsule_text"]
    assert not {"version_at", "version_tool", "versions"} & set(record)


@holds("decisions §6: delete and restore do not count; of artifacts only store and revert do")
@pytest.mark.parametrize("type", TYPES)
def test_deleting_and_restoring_create_no_version(call: Door, type: str) -> None:
    edit(call, type, 1)
    edit(call, type, 2)
    before = call("moss_history", type=type, name="a")
    row_id = before["id"]
    assert call(f"{type}_delete", name="a") == {"deleted": True, "id": row_id, "workspace": "default"}
    assert call("moss_history", type=type, name="a") == before
    restored = call(f"{type}_restore", name="a")
    assert restored == {"restored": True, "id": row_id, "fetch_key": {f"moss_{type}": "a", "moss_workspace": "default"}}
    assert call("moss_history", type=type, name="a") == before
    assert edit(call, type, 3) == 3


@holds("decisions §6: delete and restore do not count; of artifacts only store and revert do")
def test_only_store_and_revert_create_a_version_of_an_artifact(call: Door) -> None:
    edit(call, "artifact", 1)
    edit(call, "artifact", 2)
    before = call("moss_history", type="artifact", name="a")
    call("artifact_touch", name="a", ttl_seconds=500)
    call("artifact_bulk_update", phase="p2", set_phase="other", set_tags=["t"])
    assert call("moss_rename", type="artifact", name="a", new_name="b")["version"] == 2
    call("moss_rename", type="artifact", name="b", new_name="a")
    assert call("moss_history", type="artifact", name="a") == before
    assert call("artifact_fetch", name="a")["version"] == 2
    assert call("moss_revert", type="artifact", name="a", version=1)["version"] == 3
    assert edit(call, "artifact", 4) == 4
    history = call("moss_history", type="artifact", name="a")
    assert [version["tool"] for version in history["versions"]] == [
        "artifact_store", "moss_revert", "artifact_store", "artifact_store",
    ]  # fmt: skip
    assert call("artifact_fetch", name="a", version=2)["phase"] == "other", "what was there before the change"


@holds("decisions §6: every tool that shows or changes a capsule shows its version")
def test_every_tool_that_shows_a_capsule_shows_its_version(call: Door) -> None:
    edit(call, "capsule", 1)
    edit(call, "capsule", 2)
    ref = {"name": "a"}
    shown = [
        call("capsule_fetch", name="a"),
        *call("capsule_fetch_many", items=[ref])["items"],
        call("capsule_latest")["item"],
        *call("capsule_list")["items"],
        *call("capsule_inventory")["items"],
        *call("capsule_search", query="objective", search_mode="keyword")["items"],
        *call("moss_search", query="objective", search_mode="keyword", types=["capsule"])["items"],
        *call("capsule_compose", items=[ref], format="json")["parts"],
        *call("capsule_compose", items=[ref], sections=["Nowhere"])["missing"],
    ]
    assert [item["version"] for item in shown] == [2] * 9
    bundle = call("capsule_compose", items=[ref], store_as={"name": "a", "mode": "replace", "allow_thin": True})
    assert bundle["stored"]["version"] == 3
    assert call("moss_history", type="capsule", name="a")["versions"][0]["tool"] == "capsule_compose"


@holds("decisions §6: every tool that shows or changes a capsule shows its version")
def test_a_hand_over_creates_the_next_version_of_its_capsule_and_packs_show_it(door: StoreDoor) -> None:
    door("tasks_create", workspace="default", kind="task", title="t")
    for _ in range(2):
        door("tasks_handoff", workspace="default", target="TASK-001", as_capsule=True)
    assert door("moss_history", type="capsule", name="TASK-001-handoff")["versions"][0]["tool"] == "tasks_handoff"
    pack = door("branchmind_context_pack", workspace="default", include=["capsules"])
    assert [capsule["version"] for capsule in pack["capsules"]] == [2]


# -- an expected version -------------------------------------------------------------------------------------------


EXPECTING: list[tuple[str, dict[str, Any]]] = [
    ("capsule_store", {"capsule_text": FULL, "mode": "replace"}),
    ("capsule_update", {"title": "t"}),
    ("capsule_update", {"capsule_text": FULL}),
    ("capsule_append", {"section": "Decisions", "content": "x"}),
    ("moss_revert", {"type": "capsule", "version": 1}),
]


@holds("decisions §6: a wrong expected_version is refused with both versions, a missing row is NOT_FOUND")
@pytest.mark.parametrize(("tool", "arguments"), EXPECTING, ids=lambda value: value if isinstance(value, str) else "")
def test_a_change_of_an_unexpected_version_is_refused(call: Door, tool: str, arguments: dict[str, Any]) -> None:
    edit(call, "capsule", 1)
    edit(call, "capsule", 2)
    for expected in (0, 1, 3, -5, 2**40):
        error = call.refuses("VERSION_MISMATCH", tool, name="a", expected_version=expected, **arguments)
        assert error.status == 409
        assert error.details == {"expected": expected, "actual": 2}
        assert error.recovery is not None
        assert call(error.recovery["tool"], **error.recovery["arguments"])["version"] == 2
    assert call(tool, name="a", expected_version=2, **arguments)["version"] == 3


@holds("decisions §6: a wrong expected_version is refused with both versions, a missing row is NOT_FOUND")
@pytest.mark.parametrize(("tool", "arguments"), EXPECTING, ids=lambda value: value if isinstance(value, str) else "")
def test_an_expected_version_of_a_missing_row_is_not_found(call: Door, tool: str, arguments: dict[str, Any]) -> None:
    for version in (0, 1):
        call.refuses("NOT_FOUND", tool, name="a", expected_version=version, **arguments)
    write(call, "capsule")
    call("capsule_delete", name="a")
    call.refuses("NOT_FOUND", tool, name="a", expected_version=1, **arguments)


@holds("decisions §6: a wrong expected_version is refused with both versions, a missing row is NOT_FOUND")
@pytest.mark.parametrize("more", [{}, {"mode": "error"}, {"mode": "replace", "name": None}])
def test_a_store_accepts_an_expected_version_only_if_it_replaces(call: Door, more: dict[str, Any]) -> None:
    write(call, "capsule")
    arguments: dict[str, Any] = {"name": "a", "capsule_text": FULL, "expected_version": 1, **more}
    call.refuses("INVALID_REQUEST", "capsule_store", **arguments)


@holds("decisions §6: a wrong expected_version is refused with both versions, a missing row is NOT_FOUND")
def test_a_stored_bundle_accepts_an_expected_version(call: Door) -> None:
    write(call, "capsule")
    store_as = {"name": "a", "mode": "replace", "allow_thin": True}
    wrong = {**store_as, "expected_version": 2}
    call.refuses("VERSION_MISMATCH", "capsule_compose", items=[{"name": "a"}], store_as=wrong)
    right = {**store_as, "expected_version": 1}
    assert call("capsule_compose", items=[{"name": "a"}], store_as=right)["stored"]["version"] == 2


@holds("decisions §6: a wrong expected_version is refused with both versions, a missing row is NOT_FOUND")
def test_errors_of_the_text_are_reported_before_version_mismatches(call: Door) -> None:
    write(call, "capsule")
    call.refuses("CAPSULE_TOO_THIN", "capsule_store", name="a", capsule_text="x", mode="replace", expected_version=1)
    call.refuses("CAPSULE_TOO_THIN", "capsule_update", name="a", capsule_text="x", expected_version=1)


# -- the list of versions ------------------------------------------------------------------------------------------


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
@pytest.mark.parametrize("type", TYPES)
def test_the_history_lists_every_version_newest_first_with_the_present_one(call: Door, type: str) -> None:
    for number in range(1, 4):
        assert edit(call, type, number) == number
    answer = call("moss_history", type=type, name="A ")
    fetched = call(f"{type}_fetch", name="a")
    assert {key: answer[key] for key in ("type", "id", "workspace", "name", "current")} == {
        "type": type, "id": fetched["id"], "workspace": "default", "name": "a", "current": 3,
    }  # fmt: skip
    assert numbers(answer) == [3, 2, 1]
    assert answer["pagination"] == {"limit": 20, "offset": 0, "has_more": False, "total": 3}
    for version in answer["versions"]:
        old = call(f"{type}_fetch", name="a", version=version["version"])
        assert version["tool"] == f"{type}_store"
        assert version["at"] == old["updated_at"]
        sizes = ("capsule_chars",) if type == "capsule" else ("data_chars", "text_chars")
        assert version["chars"] == sum(old[size] for size in sizes)
        assert version.get("source") == old.get("source")
        assert version["change"].isprintable()
    by_id = call("moss_history", type=type, id=answer["id"])
    assert by_id == answer


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_an_unnamed_row_has_a_history_without_a_name(call: Door) -> None:
    row_id = call("capsule_store", capsule_text=FULL)["id"]
    answer = call("moss_history", type="capsule", id=row_id)
    assert "name" not in answer
    assert numbers(answer) == [1]
    artifact = call("artifact_store", kind="k", data={})["id"]
    assert "name" not in call("moss_history", type="artifact", id=artifact)


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_of_a_history_show_every_version_once(call: Door, type: str, limit: int) -> None:
    for number in range(1, 8):
        edit(call, type, number)
    whole = call("moss_history", type=type, name="a")["versions"]
    paged: list[dict[str, Any]] = []
    while True:
        answer = call("moss_history", type=type, name="a", limit=limit, offset=len(paged))
        paged += answer["versions"]
        assert answer["pagination"]["total"] == 7
        if not answer["pagination"]["has_more"]:
            break
    assert paged == whole
    assert call("moss_history", type=type, name="a", offset=7)["versions"] == []
    assert call("moss_history", type=type, name="a", limit=1000)["pagination"]["limit"] == 100


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_an_invalid_history_query_is_refused(call: Door) -> None:
    write(call, "capsule")
    row_id = call("capsule_fetch", name="a")["id"]
    call.refuses("INVALID_REQUEST", "moss_history", name="a")
    call.refuses("INVALID_REQUEST", "moss_history", type="record", name="a")
    call.refuses("INVALID_REQUEST", "moss_history", type="capsule")
    call.refuses("AMBIGUOUS_ADDRESSING", "moss_history", type="capsule", id=row_id, name="a")
    call.refuses("INVALID_REQUEST", "moss_history", type="capsule", name="a", limit=0)
    call.refuses("INVALID_REQUEST", "moss_history", type="capsule", name="a", offset=-1)
    error = call.refuses("NOT_FOUND", "moss_history", type="capsule", name="nobody")
    assert error.recovery is not None
    call.refuses("NOT_FOUND", "moss_history", type="artifact", id=row_id)


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_the_history_of_a_deleted_row_is_shown(call: Door) -> None:
    edit(call, "capsule", 1)
    edit(call, "capsule", 2)
    call("capsule_delete", name="a")
    assert numbers(call("moss_history", type="capsule", name="a")) == [2, 1]
    call.refuses("NOT_FOUND", "capsule_fetch", name="a", version=1)
    assert "number 1" in call("capsule_fetch", name="a", version=1, include_deleted=True)["capsule_text"]
    call.refuses("NOT_FOUND", "moss_revert", type="capsule", name="a", version=1)
    write(call, "capsule")
    assert numbers(call("moss_history", type="capsule", name="a")) == [1], "the active one comes first"


# -- changes of a version ------------------------------------------------------------------------------------------


def last_change(call: Door, type: str = "capsule", **address: Any) -> str:
    change: str = call("moss_history", type=type, **(address or {"name": "a"}))["versions"][0]["change"]
    return change


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_a_change_names_the_sections_and_fields_that_differ(call: Door) -> None:
    write(call, "capsule")
    assert last_change(call) == "stored"
    call("capsule_append", name="a", section="Decisions", content="- one\n- two")
    assert last_change(call) == "Decisions +2 lines"
    call("capsule_update", name="a", title="T", tags=["x"], source="me", run_id="r", phase="p", role="o")
    assert last_change(call) == "title, tags, source, run_id, phase, role"
    call("capsule_update", name="a", capsule_text=FULL.replace("Next actions of", "The next of"), title="U")
    assert last_change(call) == "Decisions -2 lines, Next actions +1 -1 line, title"
    call("capsule_update", name="a", title="U")
    assert last_change(call) == "same content"
    call("moss_rename", type="capsule", name="a", new_name="b", new_workspace="shop")
    assert last_change(call, workspace="shop", name="b") == "renamed from a, moved from default"


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
@pytest.mark.parametrize(
    ("text", "change"),
    [
        (FULL + "\n## Extra\nx\n", "Extra added"),
        (FULL.replace("## Decisions\nDecisions of the work.\n\n", ""), "Decisions removed"),
        (FULL.replace("\n\n", "\n\n\n"), "whitespace only"),
        ("first\n" + FULL, "text added"),
        ("\n\n".join(f"## {label}\n{label} of the work." for label in reversed(LABELS)), "order of sections"),
    ],
)
def test_a_change_of_the_text_is_described_by_its_sections(call: Door, text: str, change: str) -> None:
    write(call, "capsule")
    call("capsule_update", name="a", capsule_text=text, allow_thin=True)
    assert last_change(call) == change


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_a_description_of_many_or_unusual_changes_is_one_short_line(call: Door) -> None:
    odd = "".join(f"## \x1b[31m{number} {'x' * 300}\nline\n\n" for number in range(30))
    write(call, "capsule", capsule_text=odd, allow_thin=True)
    call("capsule_update", name="a", capsule_text="nothing", title="t", allow_thin=True)
    change = last_change(call)
    assert change.isprintable()
    assert len(change) < 400
    assert change.endswith("more")


@holds("decisions §6: moss_history lists versions newest first, the present one included, each with its changes")
def test_a_change_of_an_artifact_names_fields_and_never_their_values(call: Door) -> None:
    write(call, "artifact", data={"status": "secret one", "n": 1, "gone": True}, text="one\n")
    assert last_change(call, "artifact") == "stored"
    write(call, "artifact", data={"status": "secret two", "n": 1, "new": 0}, text="one\ntwo\n", kind="other")
    assert last_change(call, "artifact") == "data.status, data.new added, data.gone removed, text +1 line, kind"
    write(call, "artifact", data={"n": True, "status": "secret two", "new": 0}, text="one\ntwo\n", kind="other")
    assert last_change(call, "artifact") == "data.n"
    write(call, "artifact", data={"status": "secret two", "n": True, "new": 0}, text="one\ntwo\n", kind="other")
    assert last_change(call, "artifact") == "order of data"


# -- fetching a version --------------------------------------------------------------------------------------------


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
def test_every_version_can_be_fetched_unchanged(call: Door, type: str) -> None:
    written = []
    for number in range(1, 5):
        edit(call, type, number)
        written.append(seen(call, type))
    for number, content in enumerate(written, 1):
        assert content["version"] == number
        assert seen(call, type, version=number) == {**content, "current_version": 4}
    assert "current_version" not in call(f"{type}_fetch", name="a")


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("version", [5, 99, 2**40])
def test_a_missing_version_is_not_found_and_the_existing_ones_are_listed(call: Door, type: str, version: int) -> None:
    edit(call, type, 1)
    edit(call, type, 2)
    error = call.refuses("NOT_FOUND", f"{type}_fetch", name="a", version=version)
    assert error.details == {"oldest": 1, "newest": 2}
    assert error.recovery is not None
    assert numbers(call(error.recovery["tool"], **error.recovery["arguments"])) == [2, 1]
    for wrong in (0, -1):
        call.refuses("INVALID_REQUEST", f"{type}_fetch", name="a", version=wrong)


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("as_of", ["yesterday", "", "2025-13-01", "12345678", "20250101", 1.5, True, [1]])
def test_an_invalid_time_is_refused(call: Door, type: str, as_of: Any) -> None:
    edit(call, type, 1)
    call.refuses("INVALID_REQUEST", f"{type}_fetch", name="a", as_of=as_of)


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
def test_a_version_beside_a_time_is_refused(call: Door, type: str) -> None:
    edit(call, type, 1)
    call.refuses("INVALID_REQUEST", f"{type}_fetch", name="a", version=1, as_of=1)


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
def test_a_time_selects_the_version_current_at_that_time(door: StoreDoor, clock: Clock, type: str) -> None:
    begun = clock.seconds
    for number in range(1, 4):
        edit(door, type, number)
        clock.advance(100)
    for as_of, version in ((begun, 1), (begun + 99, 1), (begun + 100, 2), (begun + 200, 3), (begun + 10**9, 3)):
        assert seen(door, type, as_of=as_of)["version"] == version
        assert seen(door, type, as_of=as_of) == seen(door, type, version=version)
        assert seen(door, type, as_of=str(as_of)) == seen(door, type, version=version)
    error = door.refuses("NOT_FOUND", f"{type}_fetch", name="a", as_of=begun - 1)
    assert error.details == {"oldest": 1, "newest": 3}
    door.refuses("NOT_FOUND", f"{type}_fetch", name="a", as_of=-5)


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
def test_a_time_may_be_iso_8601_and_a_date_means_its_end(door: StoreDoor, clock: Clock) -> None:
    assert START_MS == 1_900_000_000_000  # 2030-03-17T17:46:40Z
    edit(door, "capsule", 1)
    clock.advance(100)
    edit(door, "capsule", 2)
    clock.advance(DAY)
    edit(door, "capsule", 3)
    for as_of, version in (
        ("2030-03-17T17:46:40Z", 1),
        ("2030-03-17T18:46:40+01:00", 1),
        ("2030-03-17 17:48:19.999", 1),
        ("2030-03-17T17:48:20Z", 2),
        ("2030-03-17", 2),
        ("2030-03-18", 3),
        ("9999-12-31", 3),
    ):
        assert seen(door, "capsule", as_of=as_of)["version"] == version, as_of
    door.refuses("NOT_FOUND", "capsule_fetch", name="a", as_of="2030-03-16")
    door.refuses("NOT_FOUND", "capsule_fetch", name="a", as_of="2030-03-17T17:46:39Z")


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
def test_of_several_versions_in_one_second_a_time_means_the_last(door: StoreDoor, clock: Clock, type: str) -> None:
    for number in range(1, 4):
        edit(door, type, number)
    clock.advance(5)
    edit(door, type, 4)
    assert seen(door, type, as_of=clock.seconds - 5)["version"] == 3


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
@pytest.mark.parametrize("type", TYPES)
def test_times_of_versions_never_fall_when_the_clock_steps_back(door: StoreDoor, clock: Clock, type: str) -> None:
    edit(door, type, 1)
    clock.advance(-1000)
    edit(door, type, 2)
    clock.advance(1500)
    edit(door, type, 3)
    times = [version["at"] for version in door("moss_history", type=type, name="a")["versions"]]
    begun = START_MS // 1000
    assert times == [begun + 500, begun, begun]
    assert seen(door, type, as_of=begun)["version"] == 2
    door.refuses("NOT_FOUND", f"{type}_fetch", name="a", as_of=begun - 1000)


@holds(
    "decisions §6: fetch takes a version or a time, not both, and lists the existing ones if there is no such version"
)
def test_versions_of_an_expired_artifact_are_shown_on_request(door: StoreDoor, clock: Clock) -> None:
    write(door, "artifact", data={"n": 1}, ttl_seconds=60)
    write(door, "artifact", data={"n": 2}, ttl_seconds=60)
    clock.advance(60)
    door.refuses("NOT_FOUND", "artifact_fetch", name="a", version=1)
    assert door("artifact_fetch", name="a", version=1, include_expired=True)["data"] == {"n": 1}
    assert numbers(door("moss_history", type="artifact", name="a")) == [2, 1]
    door.refuses("NOT_FOUND", "moss_revert", type="artifact", name="a", version=1)


@holds("decisions §6: old versions are not searched")
def test_an_old_text_is_neither_searched_nor_listed(call: Door) -> None:
    write(call, "capsule", capsule_text=FULL + "zebra")
    write(call, "capsule", capsule_text=FULL + "okapi")
    write(call, "artifact", "b", text="quagga")
    write(call, "artifact", "b", text="okapi")
    for word, count in (("zebra", 0), ("quagga", 0), ("okapi", 2)):
        assert len(call("moss_search", query=word, search_mode="keyword")["items"]) == count
    assert call("capsule_search", query="zebra", search_mode="keyword")["items"] == []
    assert len(call("capsule_inventory")["items"]) == 1


# -- reverting -----------------------------------------------------------------------------------------------------


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
@pytest.mark.parametrize("type", TYPES)
def test_a_revert_creates_the_next_version_with_the_old_content(call: Door, type: str) -> None:
    for number in range(1, 4):
        edit(call, type, number)
    first = seen(call, type, version=1)
    row_id = call(f"{type}_fetch", name="a")["id"]
    assert call("moss_revert", type=type, name="a", version=1) == {
        "id": row_id, "workspace": "default", "version": 4, "reverted_to": 1, "changed": True,
    }  # fmt: skip
    assert {**seen(call, type), "version": 1, "current_version": 3} == first
    assert numbers(call("moss_history", type=type, name="a")) == [4, 3, 2, 1]
    assert seen(call, type, version=3)["version"] == 3
    (hit,) = call("moss_search", query='"number 1"', search_mode="keyword")["items"]
    assert hit["version"] == 4


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
@pytest.mark.parametrize("type", TYPES)
def test_a_revert_to_equal_content_changes_nothing(call: Door, type: str) -> None:
    edit(call, type, 1)
    edit(call, type, 2)
    call("moss_revert", type=type, name="a", version=1)
    row_id = call(f"{type}_fetch", name="a")["id"]
    before = call(f"{type}_fetch", name="a")
    logged = rows(call.home, "select count(*) from events")
    for version in (1, 3):
        answer = call("moss_revert", type=type, name="a", version=version)
        place = {"id": row_id, "workspace": "default"}
        assert answer == {**place, "version": 3, "reverted_to": version, "changed": False}
    assert call(f"{type}_fetch", name="a") == before
    assert rows(call.home, "select count(*) from events") == logged


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
def test_a_revert_restores_metadata_but_no_names(call: Door) -> None:
    first: dict[str, Any] = {"title": "One", "tags": ["x"], "source": "s", "run_id": "r", "phase": "p", "role": "o"}
    write(call, "capsule", **first)
    write(call, "capsule", capsule_text=FULL + "two")
    call("moss_rename", type="capsule", name="a", new_name="b", new_workspace="shop")
    call("moss_revert", type="capsule", workspace="shop", name="b", version=1)
    fetched = call("capsule_fetch", workspace="shop", name="b")
    assert {key: fetched[key] for key in first} == first
    assert fetched["capsule_text"] == FULL
    assert (fetched["version"], fetched["workspace"], fetched["name"]) == (4, "shop", "b")


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
def test_a_revert_does_not_change_the_time_to_live_of_an_artifact(call: Door) -> None:
    write(call, "artifact", data={"n": 1}, ttl_seconds=1000)
    write(call, "artifact", data={"n": 2}, kind="other", ttl_seconds=5000)
    before = call("artifact_fetch", name="a")
    call("moss_revert", type="artifact", name="a", version=1)
    after = call("artifact_fetch", name="a")
    assert (after["data"], after["kind"]) == ({"n": 1}, "k")
    assert (after["ttl_seconds"], after["expires_at"]) == (5000, before["expires_at"])


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
def test_a_revert_skips_the_checks_of_new_text(door: StoreDoor, home: str, clock: Clock) -> None:
    write(door, "capsule", capsule_text="thin and long" * 20, allow_thin=True)
    write(door, "capsule")
    with open_test_store(home, clock, capsule_max_chars=50) as strict:
        assert strict.call("moss_revert", {"type": "capsule", "name": "a", "version": 1})["changed"] is True
        assert strict.call("capsule_fetch", {"name": "a"})["capsule_text"] == "thin and long" * 20


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
@pytest.mark.parametrize("type", TYPES)
def test_a_revert_to_a_missing_version_is_refused(call: Door, type: str) -> None:
    call.refuses("NOT_FOUND", "moss_revert", type=type, name="a", version=1)
    edit(call, type, 1)
    error = call.refuses("NOT_FOUND", "moss_revert", type=type, name="a", version=2)
    assert error.details == {"oldest": 1, "newest": 1}
    for wrong in (0, -1, "1", None):
        call.refuses("INVALID_REQUEST", "moss_revert", type=type, name="a", version=wrong)


@holds("decisions §6: a revert writes old content and metadata as a new version, unless it is equal")
def test_an_artifact_is_reverted_only_at_its_expected_version(call: Door) -> None:
    edit(call, "artifact", 1)
    edit(call, "artifact", 2)
    arguments = {"type": "artifact", "name": "a", "version": 1}
    error = call.refuses("VERSION_MISMATCH", "moss_revert", expected_version=1, **arguments)
    assert error.details == {"expected": 1, "actual": 2}
    assert call("moss_revert", expected_version=2, **arguments)["version"] == 3


# -- retention -----------------------------------------------------------------------------------------------------


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("keep", [1, 2, 3])
def test_the_newest_versions_are_kept_including_the_current_one(home: str, clock: Clock, type: str, keep: int) -> None:
    with open_test_store(home, clock, history_keep=keep) as store:
        door = StoreDoor(store)
        for number in range(1, 7):
            edit(door, type, number)
            assert numbers(door("moss_history", type=type, name="a")) == list(range(number, max(number - keep, 0), -1))
        error = door.refuses("NOT_FOUND", f"{type}_fetch", name="a", version=6 - keep)
        assert error.details == {"oldest": 7 - keep, "newest": 6}
        assert rows(home, "select count(*) from versions") == [(keep - 1,)]
        oldest = door("moss_history", type=type, name="a")["versions"][-1]
        assert oldest["change"] == "changed; the previous version was deleted"


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
@pytest.mark.parametrize("type", TYPES)
def test_a_hundred_versions_are_kept_by_default(door: StoreDoor, type: str) -> None:
    for number in range(1, 104):
        edit(door, type, number)
    answer = door("moss_history", type=type, name="a", limit=1)
    assert answer["pagination"]["total"] == 100
    assert seen(door, type, version=4)["version"] == 4
    door.refuses("NOT_FOUND", f"{type}_fetch", name="a", version=3)


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
@pytest.mark.parametrize("type", TYPES)
def test_an_old_superseded_version_is_removed_at_the_next_write(door: StoreDoor, clock: Clock, type: str) -> None:
    edit(door, type, 1)  # superseded at once
    edit(door, type, 2)  # superseded after 300 days
    clock.advance(300 * DAY)
    edit(door, type, 3)
    clock.advance(65 * DAY)
    edit(door, type, 4)  # 1 was superseded exactly 365 days ago
    assert numbers(door("moss_history", type=type, name="a")) == [4, 3, 2, 1]
    clock.advance(1)
    edit(door, type, 5)
    assert numbers(door("moss_history", type=type, name="a")) == [5, 4, 3, 2]
    error = door.refuses("NOT_FOUND", f"{type}_fetch", name="a", as_of=START_MS // 1000 - 1)
    assert error.details == {"oldest": 2, "newest": 5}


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
@pytest.mark.parametrize("type", TYPES)
def test_a_version_superseded_while_the_clock_was_slow_is_kept(door: StoreDoor, clock: Clock, type: str) -> None:
    edit(door, type, 1)
    clock.advance(-400 * DAY)
    edit(door, type, 2)  # a version is never superseded before it was written
    clock.advance(400 * DAY)
    edit(door, type, 3)
    assert numbers(door("moss_history", type=type, name="a")) == [3, 2, 1]


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
def test_a_bulk_update_removes_old_versions_too(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, history_keep=2, history_days=1) as store:
        door = StoreDoor(store)
        for name in ("a", "b"):
            write(door, "capsule", name, phase="p")
        for number in range(4):
            door("capsule_bulk_update", phase="p", set_role=f"r{number}")
        assert numbers(door("moss_history", type="capsule", name="b")) == [5, 4]
        clock.advance(2 * DAY)
        door("capsule_bulk_update", phase="p", set_role="last")
        assert numbers(door("moss_history", type="capsule", name="a")) == [6, 5]


@holds("decisions §6: the newest history_keep versions are kept, none superseded more than history_days ago")
def test_a_write_trims_only_its_own_row(door: StoreDoor, clock: Clock) -> None:
    for family in TYPES:
        for name in ("a", "b"):
            write(door, family, name)
            write(door, family, name)
    clock.advance(400 * DAY)
    write(door, "capsule", "a")
    assert numbers(door("moss_history", type="capsule", name="a")) == [3, 2]
    for family, name in (("capsule", "b"), ("artifact", "a"), ("artifact", "b")):
        assert numbers(door("moss_history", type=family, name=name)) == [2, 1]


# -- erased versions -----------------------------------------------------------------------------------------------


@holds("decisions §6: an erased version stays listed")
@pytest.mark.parametrize("type", TYPES)
def test_an_erased_version_is_listed_but_cannot_be_read(door: StoreDoor, type: str) -> None:
    for number in range(1, 4):
        edit(door, type, number)
    run(door.home, "update versions set erased = 1, text = null, data_json = null where version = 2")
    third, second, first = door("moss_history", type=type, name="a")["versions"]
    assert (second["change"], second["erased"]) == ("erased", True)
    assert "erased" not in first | third
    assert third["change"] == "changed; the previous version was deleted"
    assert "erased" in door.refuses("NOT_FOUND", f"{type}_fetch", name="a", version=2).message
    door.refuses("NOT_FOUND", "moss_revert", type=type, name="a", version=2)
    assert door("moss_revert", type=type, name="a", version=1)["version"] == 4


# -- disabled families --------------------------------------------------------------------------------------------


@holds("decisions §7: disabled_types closes a family in every answer")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("moss_history", {}), ("moss_revert", {"version": 1}), ("moss_rename", {"new_name": "b"})],
)
def test_a_disabled_family_has_no_history(home: str, clock: Clock, tool: str, arguments: dict[str, Any]) -> None:
    with open_test_store(home, clock, disabled_types=["artifact"]) as store:
        door = StoreDoor(store)
        for family in TYPES:
            write(door, family)
        assert (
            "disabled by the configuration"
            in door.refuses("INVALID_REQUEST", tool, type="artifact", name="a", **arguments).message
        )
        door(tool, type="capsule", name="a", **arguments)
