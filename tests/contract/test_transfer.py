"""`capsule_export`, `capsule_import` and `capsule_purge`."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from support.direct_store import rows
from support.promises import holds

if TYPE_CHECKING:
    from contract.doors import Door
    from moss_memory.errors import MossError


def record(id: str, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": id, "workspace_raw": "W", "name_raw": name, "title": name, "capsule_text": FULL, "tags": [],
        "created_at": 100, "updated_at": 200, "deleted_at": None, **fields,
    }  # fmt: skip


def problems(error: MossError) -> list[tuple[int, str]]:
    assert error.details is not None
    return [(problem["line"], problem["code"]) for problem in error.details["errors"]]


@holds("2 §6.10: an export answers path, count, time and bytes")
def test_an_export_returns_its_path_count_time_and_bytes(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    answer = call("capsule_export", path="backup.jsonl")
    assert answer["path"] == os.path.join(call.home, "exports", "backup.jsonl")
    assert answer["count"] == 1
    assert isinstance(answer["exported_at"], int)
    assert answer["bytes"] == os.path.getsize(answer["path"])
    assert "warning" not in answer


@holds("decisions §0: every file is private under any umask")
def test_an_export_file_is_private_whatever_the_umask(call: Door) -> None:
    old = os.umask(0)
    try:
        answer = call("capsule_export", path="backup.jsonl")
    finally:
        os.umask(old)
    assert os.stat(answer["path"]).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(answer["path"])).st_mode & 0o777 == 0o700


@holds("1 §6.9: the file is JSONL with a header")
def test_an_export_has_a_header_and_one_record_per_line(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL, tags=["x"])
    answer = call("capsule_export", path="backup.jsonl")
    with open(answer["path"], encoding="utf-8") as file:
        header, line = map(json.loads, file.read().splitlines())
    assert header == {"_moss_export": True, "schema_version": "1.0", "exported_at": answer["exported_at"]}
    assert set(line) >= {
        "id", "workspace_raw", "workspace_norm", "name_raw", "name_norm", "title", "capsule_text", "capsule_chars",
        "tokens_estimate", "tags", "source", "run_id", "phase", "role", "created_at", "updated_at", "deleted_at",
    }  # fmt: skip
    assert (line["tags"], line["deleted_at"]) == (["x"], None)


@holds("decisions §1: the default file is named after workspace and time and overwrites nothing")
@pytest.mark.parametrize(("workspace", "stem"), [(None, "all"), ("Shop", "Shop"), ("../a/b", None), ("...", None)])
def test_a_default_file_is_named_after_workspace_and_time(call: Door, workspace: str | None, stem: str | None) -> None:
    answer = call("capsule_export", workspace=workspace)
    folder, name = os.path.split(answer["path"])
    assert folder == os.path.join(call.home, "exports")
    assert ".." not in name
    assert re.fullmatch((stem or r"[^/]+") + r"-\d{4}-\d\d-\d\dT\d{6}\S*\.jsonl", name)


@holds("decisions §1: the default file is named after workspace and time and overwrites nothing")
def test_a_default_file_never_overwrites_another(call: Door) -> None:
    paths = {call("capsule_export")["path"] for _ in range(5)}
    assert len(paths) == 5
    assert all(map(os.path.exists, paths))


@holds("2 §6.10: an export can be of one workspace and can include deleted ones")
def test_an_export_can_be_of_one_workspace(call: Door) -> None:
    call("capsule_store", name="a", workspace="One", capsule_text=FULL)
    call("capsule_store", name="b", workspace="two", capsule_text=FULL)
    answer = call("capsule_export", workspace=" ONE")
    assert [line["name_raw"] for line in call.read_export(answer["path"])] == ["a"]
    assert call("capsule_export")["count"] == 2


@holds("2 §6.10: an export can be of one workspace and can include deleted ones")
def test_an_export_leaves_deleted_capsules_out_unless_asked(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    assert call("capsule_export")["count"] == 0
    [line] = call.read_export(call("capsule_export", include_deleted=True)["path"])
    assert isinstance(line["deleted_at"], int)


@holds("2 §8.1: files live directly in an allowed folder and end in .jsonl")
@pytest.mark.parametrize("tool", ["capsule_export", "capsule_import"])
@pytest.mark.parametrize(
    "path",
    ["", " ", "a.json", "a", ".jsonl", "../a.jsonl", "exports/../a.jsonl", "/etc/a.jsonl", "sub/a.jsonl",
     "a\n.jsonl", "a.jsonl/", "/dev/null", "~/a.jsonl", "./a.jsonl"],
)  # fmt: skip
def test_a_path_outside_the_exports_folder_is_refused(call: Door, tool: str, path: str) -> None:
    call.refuses("INVALID_REQUEST", tool, path=path)


@holds("2 §6.11: an import needs a path to a file that is there")
def test_an_import_of_a_missing_file_is_refused(call: Door) -> None:
    call("capsule_export", path="other.jsonl")
    call.refuses("NOT_FOUND", "capsule_import", path="missing.jsonl")


@holds("2 §6.11: an import needs a path to a file that is there")
def test_an_import_needs_a_path(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "capsule_import")


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_an_import_accepts_three_modes(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "capsule_import", path=call.write_export(), mode="skip")


@holds("decisions §1: export and import give back every column of every row, in order")
def test_an_import_into_an_empty_store_restores_the_exported_capsules(call: Door) -> None:
    call("capsule_store", name="a", workspace="W", capsule_text=FULL, tags=["z", "a"], source="s", run_id="r")
    call("capsule_store", capsule_text="thin", allow_thin=True)
    call("capsule_store", name="gone", capsule_text=FULL)
    call("capsule_delete", name="gone")
    before = call("capsule_inventory", include_deleted=True)
    call("capsule_export", path="all.jsonl", include_deleted=True)
    call("capsule_bulk_delete", workspace="w")
    for item in before["items"]:
        if "deleted_at" not in item and item["workspace"] != "W":
            call("capsule_delete", id=item["id"])
    call("capsule_purge")
    assert call("capsule_import", path="all.jsonl") == {"imported": 3, "skipped": 0, "errors": []}
    assert call("capsule_inventory", include_deleted=True) == before


@holds("1 §6.9: header and blank lines are skipped")
def test_header_and_blank_lines_are_ignored(call: Door) -> None:
    header = {"_moss_export": True, "schema_version": "1.0"}
    path = call.write_export(header, "", record("A"), "   ", header, record("B"), "\t")
    assert call("capsule_import", path=path) == {"imported": 2, "skipped": 0, "errors": []}


@holds("1 §6.9: header and blank lines are skipped")
def test_crlf_and_a_byte_order_mark_do_not_matter(call: Door) -> None:
    path = call.write_export("\ufeff" + json.dumps(record("A", "a")), record("B", "b"), end="\r\n")
    assert call("capsule_import", path=path)["imported"] == 2
    assert call.names("capsule_list", workspace="w") == ["b", "a"]


@holds("2 §6.11: normal forms and measures are computed anew")
def test_normal_forms_and_sizes_are_recomputed(call: Door) -> None:
    path = call.write_export(
        record("A", "  My  Name ", workspace_norm="evil", name_norm="evil", capsule_chars=1, tokens_estimate=1)
    )
    call("capsule_import", path=path)
    fetched = call("capsule_fetch", workspace="w", name="my name")
    assert (fetched["workspace_norm"], fetched["name_norm"]) == ("w", "my name")
    assert fetched["capsule_chars"] == len(FULL)
    assert fetched["tokens_estimate"] > 1


@holds("1 §6.10: times are restored as given; a deleted capsule stays deleted")
def test_times_are_restored_as_given(call: Door) -> None:
    call("capsule_import", path=call.write_export(record("A", "a", deleted_at=300)))
    fetched = call("capsule_fetch", id="A", include_deleted=True)
    assert (fetched["created_at"], fetched["updated_at"], fetched["deleted_at"]) == (100, 200, 300)


@holds("1 §6.10: times are restored as given; a deleted capsule stays deleted")
def test_a_deleted_record_stays_deleted_and_takes_no_name(call: Door) -> None:
    call("capsule_store", workspace="w", name="a", capsule_text=FULL)
    call("capsule_import", path=call.write_export(record("A", "a", deleted_at=300)))
    call.refuses("NOT_FOUND", "capsule_fetch", id="A")


@holds("1 §6.10: texts are restored as they are, empty or oversized")
def test_an_empty_and_an_oversized_text_are_restored_as_they_are(call: Door) -> None:
    call("capsule_import", path=call.write_export(record("A", capsule_text=""), record("B", capsule_text="x" * 12_001)))
    assert call("capsule_fetch", id="A")["capsule_text"] == ""
    assert call("capsule_fetch", id="B")["capsule_chars"] == 12_001


@holds("decisions §1: run_id, phase and role are trimmed, blank means none")
def test_labels_of_a_record_are_found_by_their_filters(call: Door) -> None:
    call("capsule_import", path=call.write_export(record("A", "a", run_id=" r1 ", phase="p ", role=" ")))
    assert call.names("capsule_list", workspace="w", run_id="r1", phase="p") == ["a"]
    assert "role" not in call("capsule_fetch", id="A")


@holds("decisions §1: a bad record is skipped and reported")
@pytest.mark.parametrize(
    "bad",
    [
        {"workspace_raw": "w"},
        {"id": "A"},
        {"id": None, "workspace_raw": "w"},
        {"id": "A", "workspace_raw": None},
        {"id": "", "workspace_raw": "w"},
        {"id": 7, "workspace_raw": "w"},
        {"id": "A", "workspace_raw": ["w"]},
        {"id": "A", "workspace_raw": "  "},
        {"id": "A", "workspace_raw": "w", "name_raw": "a\nb"},
        {"id": "A", "workspace_raw": "w", "name_raw": "x" * 257},
        {"id": "A", "workspace_raw": "w", "name_raw": ""},
        {"id": "A", "workspace_raw": "w", "capsule_text": 5},
        {"id": "A", "workspace_raw": "w", "capsule_text": "nul\x00"},
        {"id": "A", "workspace_raw": "w", "tags": "auth"},
        {"id": "A", "workspace_raw": "w", "tags": ["a", 1]},
        {"id": "A", "workspace_raw": "w", "created_at": "yesterday"},
        {"id": "A", "workspace_raw": "w", "updated_at": True},
        {"id": "A", "workspace_raw": "w", "deleted_at": -1},
        {"id": "A", "workspace_raw": "w", "created_at": 2**70},
        '{"id": "A", "workspace_raw": "w", "title": "\\ud800"}',
        "[1]",
        '"text"',
        "17",
        "null",
        "[" * 60 + "]" * 60,
    ],
    ids=lambda bad: str(bad)[:40],
)  # fmt: skip
def test_a_bad_record_is_skipped_and_reported_by_its_line(call: Door, bad: Any) -> None:
    path = call.write_export({"_moss_export": True}, "", bad, record("GOOD", "good"))
    answer = call("capsule_import", path=path)
    assert (answer["imported"], answer["skipped"]) == (1, 1)
    [problem] = answer["errors"]
    assert (problem["line"], problem["code"]) == (3, "INVALID_RECORD")
    assert problem["message"]
    assert call.names("capsule_inventory", include_deleted=True) == ["good"]


@holds("decisions §1: a line that is not JSON fails the whole import and is not shown")
@pytest.mark.parametrize(
    "line",
    ["not json SECRET", "{", '{"id": "SECRET"', "{'id': 'SECRET'}", "[" * 100_000, '{"SECRET": NaN}', "Infinity"],
    ids=lambda line: line[:20],
)
def test_a_line_that_is_not_json_fails_the_whole_import_without_showing_it(call: Door, line: str) -> None:
    path = call.write_export(record("A", "a"), line, record("B", "b"))
    error = call.refuses("INVALID_REQUEST", "capsule_import", path=path)
    assert error.details is not None
    assert 2 in next(value for value in error.details.values() if isinstance(value, list))
    assert "SECRET" not in str(error.payload())


@holds("decisions §1: a line that is not JSON fails the whole import and is not shown")
def test_a_line_that_is_not_utf8_fails_the_whole_import(call: Door) -> None:
    path = call.write_export(record("A", "a"))
    with open(os.path.join(call.home, "exports", path), "ab") as file:
        file.write(b'{"id": "\xff"}\n')
    call.refuses("INVALID_REQUEST", "capsule_import", path=path)


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_error_mode_refuses_a_taken_id_and_a_taken_name_all_at_once(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="Auth", capsule_text=FULL)
    path = call.write_export(record("FREE", "free"), "", record("X", "AUTH"), record(stored["id"], "other"))
    error = call.refuses("CONFLICT", "capsule_import", path=path)
    assert error.status == 409
    assert problems(error) == [(3, "NAME_COLLISION"), (4, "ID_COLLISION")]
    assert error.details is not None
    assert (error.details["errors"][0]["id"], error.details["errors"][0]["name"]) == ("X", "AUTH")


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_error_mode_is_the_default(call: Door) -> None:
    call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    path = call.write_export(record("X", "auth"))
    assert problems(call.refuses("CONFLICT", "capsule_import", path=path, mode="error")) == [(1, "NAME_COLLISION")]
    call.refuses("CONFLICT", "capsule_import", path=path)


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_a_deleted_capsules_id_is_taken_too(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    call("capsule_delete", id=stored["id"])
    path = call.write_export(record(stored["id"], "auth"))
    assert problems(call.refuses("CONFLICT", "capsule_import", path=path)) == [(1, "ID_COLLISION")]


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
@pytest.mark.parametrize(("second", "code"), [(("A", "other"), "ID_COLLISION"), (("B", " NAME"), "NAME_COLLISION")])
def test_two_lines_of_one_file_that_collide_are_a_collision(call: Door, second: tuple[str, str], code: str) -> None:
    path = call.write_export(record("A", "name"), record(*second))
    assert problems(call.refuses("CONFLICT", "capsule_import", path=path)) == [(2, code)]


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_every_colliding_line_is_reported(call: Door) -> None:
    call("capsule_store", workspace="w", name="taken", capsule_text=FULL)
    path = call.write_export(record("A", "taken"), record("A", "free"))
    error = call.refuses("CONFLICT", "capsule_import", path=path)
    assert problems(error) == [(1, "NAME_COLLISION"), (2, "ID_COLLISION")]


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_replace_by_id_overwrites_in_place(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="old", capsule_text=FULL, source="s")
    path = call.write_export(record(stored["id"], "New", capsule_text="replaced", title="T"))
    assert call("capsule_import", path=path, mode="replace") == {"imported": 1, "skipped": 0, "errors": []}
    fetched = call("capsule_fetch", workspace="w", name="new")
    assert (fetched["id"], fetched["capsule_text"], fetched["title"]) == (stored["id"], "replaced", "T")
    assert "source" not in fetched
    call.refuses("NOT_FOUND", "capsule_fetch", workspace="w", name="old")


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_replace_by_name_keeps_the_existing_id_and_restores_the_times(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    call("capsule_import", path=call.write_export(record("X", "AUTH", capsule_text="replaced")), mode="replace")
    fetched = call("capsule_fetch", workspace="w", name="auth")
    assert (fetched["id"], fetched["capsule_text"]) == (stored["id"], "replaced")
    assert (fetched["created_at"], fetched["updated_at"]) == (100, 200)
    call.refuses("NOT_FOUND", "capsule_fetch", id="X", include_deleted=True)


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_replace_inserts_lines_without_collision(call: Door) -> None:
    call("capsule_import", path=call.write_export(record("X", "auth")), mode="replace")
    assert call("capsule_fetch", workspace="w", name="auth")["id"] == "X"


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_replace_revives_a_deleted_capsule_of_that_id(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    call("capsule_delete", id=stored["id"])
    call("capsule_import", path=call.write_export(record(stored["id"], "auth")), mode="replace")
    assert call("capsule_fetch", workspace="w", name="auth")["id"] == stored["id"]


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_an_ambiguous_replace_fails_the_whole_import(call: Door) -> None:
    one = call("capsule_store", workspace="w", name="one", capsule_text=FULL)
    call("capsule_store", workspace="w", name="two", capsule_text=FULL)
    path = call.write_export(record("FREE", "free"), record(one["id"], "two"))
    error = call.refuses("CONFLICT", "capsule_import", path=path, mode="replace")
    assert problems(error) == [(2, "AMBIGUOUS_COLLISION")]


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_the_later_of_two_lines_that_replace_each_other_is_kept(call: Door) -> None:
    path = call.write_export(record("A", "a", capsule_text="first"), record("B", "a", capsule_text="second"))
    call("capsule_import", path=path, mode="replace")
    fetched = call("capsule_fetch", workspace="w", name="a")
    assert (fetched["id"], fetched["capsule_text"]) == ("A", "second")
    assert call.names("capsule_inventory", include_deleted=True) == ["a"]


@holds("1 §6.10: replace overwrites by id or by name, keeps the id, refuses the ambiguous")
def test_a_line_that_collides_with_two_others_of_its_file_is_ambiguous(call: Door) -> None:
    path = call.write_export(record("A", "a"), record("B", "b"), record("A", "b"))
    error = call.refuses("CONFLICT", "capsule_import", path=path, mode="replace")
    assert problems(error) == [(3, "AMBIGUOUS_COLLISION")]


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_a_collision_is_reported_with_its_line_and_reason(call: Door) -> None:
    call("capsule_store", workspace="w", name="a", capsule_text=FULL)
    error = call.refuses("CONFLICT", "capsule_import", path=call.write_export(record("X", "A")))
    assert error.details is not None
    [problem] = error.details["errors"]
    assert set(problem) == {"line", "id", "name", "code", "message"}
    assert problem["message"]


@holds("1 §6.10: rename adds a number and gives new ids")
def test_rename_adds_the_first_free_number_and_keeps_the_spelling(call: Door) -> None:
    call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    call("capsule_store", workspace="w", name="auth-1", capsule_text=FULL)
    path = call.write_export(record("X", "Auth"), record("Y", "AUTH"))
    assert call("capsule_import", path=path, mode="rename")["imported"] == 2
    assert call("capsule_fetch", id="X")["name"] == "Auth-2"
    assert call("capsule_fetch", id="Y")["name"] == "AUTH-3"


@holds("1 §6.10: error mode, the default, imports nothing on a collision and names every colliding line")
def test_all_errors_are_counted_and_at_most_1000_are_listed(call: Door) -> None:
    wrong = call.write_export(*[{"name_raw": f"n{number}"} for number in range(1100)])
    answer = call("capsule_import", path=wrong)
    assert (answer["imported"], answer["skipped"], len(answer["errors"])) == (0, 1100, 1000)
    lines = [record(f"i{number}", capsule_text="x") for number in range(1100)]
    given = call.write_export(*lines)
    assert call("capsule_import", path=given)["imported"] == 1100
    error = call.refuses("CONFLICT", "capsule_import", path=given)
    assert error.details is not None
    assert [one["line"] for one in error.details["errors"]] == list(range(1, 1001))
    assert error.details["errors_total"] == 1100
    assert "1100 lines" in error.message


@holds("1 §6.10: rename adds a number and gives new ids")
def test_rename_gives_a_new_id_on_an_id_collision(call: Door) -> None:
    stored = call("capsule_store", workspace="w", name="auth", capsule_text=FULL)
    path = call.write_export(record(stored["id"], "other"), record(stored["id"], "auth"))
    call("capsule_import", path=path, mode="rename")
    assert set(call.names("capsule_list", workspace="w")) == {"auth", "auth-1", "other"}
    assert len({item["id"] for item in call("capsule_list", workspace="w")["items"]}) == 3
    assert call("capsule_fetch", id=stored["id"])["name"] == "auth"


@holds("1 §6.10: rename adds a number and gives new ids")
def test_rename_shortens_a_name_that_would_pass_256_characters(call: Door) -> None:
    name = "N" * 256
    call("capsule_store", workspace="w", name=name, capsule_text=FULL)
    call("capsule_import", path=call.write_export(record("X", name)), mode="rename")
    assert call("capsule_fetch", id="X")["name"] == "N" * 254 + "-1"


@holds("1 §6.10: rename adds a number and gives new ids")
def test_rename_keeps_names_without_collision(call: Door) -> None:
    call("capsule_import", path=call.write_export(record("X", "Auth"), record("Y")), mode="rename")
    assert call("capsule_fetch", id="X")["name"] == "Auth"


@holds("2 §6.12: purge removes deleted capsules for good")
def test_a_purge_removes_deleted_capsules_for_good(call: Door) -> None:
    stored = call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_store", name="b", capsule_text=FULL)
    call("capsule_delete", name="a")
    answer = call("capsule_purge")
    assert answer["purged"] == 1
    assert answer["message"] == "Permanently deleted 1 capsule"
    assert answer["erased"] is True
    call.refuses("NOT_FOUND", "capsule_fetch", id=stored["id"], include_deleted=True)
    call.refuses("NOT_FOUND", "capsule_restore", id=stored["id"])
    assert call.names("capsule_inventory", include_deleted=True) == ["b"]


@holds("2 §6.12: purge removes deleted capsules for good")
def test_a_purge_can_be_of_one_workspace(call: Door) -> None:
    for workspace in ("One", "two"):
        call("capsule_store", name="a", workspace=workspace, capsule_text=FULL)
        call("capsule_delete", name="a", workspace=workspace)
    assert call("capsule_purge", workspace="ONE")["purged"] == 1
    assert [item["workspace"] for item in call("capsule_inventory", include_deleted=True)["items"]] == ["two"]


@holds("decisions §1: older_than_days counts from the deletion; 0 means all; negative is invalid")
def test_a_purge_can_keep_recent_deletions(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL)
    call("capsule_delete", name="a")
    assert call("capsule_purge", older_than_days=1)["purged"] == 0
    assert call("capsule_purge", older_than_days=0)["purged"] == 1


@holds("2 §6.12: purge removes deleted capsules for good")
def test_a_purge_without_deleted_rows_reports_zero(call: Door) -> None:
    answer = call("capsule_purge")
    assert (answer["purged"], answer["message"]) == (0, "Permanently deleted 0 capsules")


@holds("decisions §1: older_than_days counts from the deletion; 0 means all; negative is invalid")
def test_a_purge_of_negative_days_is_refused(call: Door) -> None:
    call.refuses("INVALID_REQUEST", "capsule_purge", older_than_days=-1)


@holds("decisions §0: one event for each mutation, none for reads and failures, never a text")
def test_events_of_a_purged_capsule_are_kept_without_its_text(call: Door) -> None:
    call("capsule_store", name="a", capsule_text=FULL + "a secret word")
    call("capsule_delete", name="a")
    call("capsule_purge")
    assert "secret" not in str(rows(call.home, "select * from events"))
    assert len(rows(call.home, "select * from events")) == 3
