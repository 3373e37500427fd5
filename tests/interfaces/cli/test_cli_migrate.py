"""`moss record migrate`: spooled files become verified records, and nothing outside of the folder is read."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.cli.terminal import on_terminal
from moss_memory import open_store
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.tools.record.spool import capability_of, submit_or_spool, write_spool_file

if TYPE_CHECKING:
    from support.cli_typist import Cli

FOLDER = os.path.join(".cursor", "memory")


def unit(id: str) -> dict[str, Any]:
    return {"id": id, "description": "Rotate", "status": "planning", "created_at": "2025-11-01",
            "updated_at": "2025-11-01"}  # fmt: skip


@pytest.fixture
def kept(cli: Cli) -> Cli:
    """Write two units and a release to files, as if the store had been unavailable."""
    release = {**unit("R1"), "version": "1"}
    del release["description"]
    for collection, body in (("feature_units", unit("FU-1")), ("feature_units", unit("FU-2")), ("releases", release)):
        write_spool_file(capability_of(cli.home, collection), collection, body)
    return cli


def write(collection: str, name: str, text: str) -> str:
    os.makedirs(os.path.join(FOLDER, collection), exist_ok=True)
    path = os.path.join(FOLDER, collection, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def ids(cli: Cli, *words: str) -> set[str]:
    return {record["properties"]["id"] for record in cli("record", "find", *words).json["records"]}


def test_spooled_files_become_verified_records(kept: Cli) -> None:
    report = kept("record", "migrate", FOLDER, "-w", "shop").json
    assert report == {"files": 3, "migrated": 3, "already_there": 0, "failed": [], "verified": 3, "dry_run": False}
    assert ids(kept, "-w", "shop") == {"FU-1", "FU-2", "R1"}
    assert ids(kept, "-w", "default") == set()
    again = kept("record", "migrate", FOLDER, "-w", "shop").json
    assert (again["migrated"], again["already_there"], again["verified"]) == (0, 3, 3)
    assert os.path.exists(os.path.join(FOLDER, "feature_units", "FU-1.json"))


def test_a_spooled_file_does_not_undo_a_later_submission(kept: Cli) -> None:
    for name, seen_s in (("FU-1.json", 1_700_000_000), ("FU-2.json", 4_000_000_000)):
        os.utime(os.path.join(FOLDER, "feature_units", name), (seen_s, seen_s))
    for name in ("FU-1", "FU-2"):
        body = json.dumps({**unit(name), "description": "newer"})
        kept("record", "submit", "neotoma:store_feature_unit:v1", "--body", body)
    assert kept("record", "migrate", FOLDER).json["verified"] == 3
    found = kept("record", "entities", "--entity-type", "feature_unit").json["entities"]
    said = {entity["snapshot"]["id"]: entity["snapshot"]["description"] for entity in found}
    assert said["FU-1"] == "newer"
    assert said["FU-2"] == unit("FU-2")["description"]  # a time in the future counts as now


def test_a_dry_run_checks_the_files_and_writes_nothing(kept: Cli) -> None:
    write("feature_units", "bad.json", "{}")
    outcome = kept("record", "migrate", FOLDER, "--dry-run")
    report = json.loads(outcome.out)
    assert outcome.code == 1
    assert (report["files"], report["migrated"], report["verified"], report["dry_run"]) == (4, 3, 0, True)
    assert [os.path.basename(one["file"]) for one in report["failed"]] == ["bad.json"]
    assert ids(kept) == set()


def test_a_dry_run_counts_existing_records(kept: Cli) -> None:
    assert kept("record", "migrate", FOLDER).code == 0
    write("feature_units", "FU-3.json", json.dumps(unit("FU-3")))
    report = kept("record", "migrate", FOLDER, "--dry-run").json
    assert (report["migrated"], report["already_there"], report["verified"]) == (1, 3, 0)
    assert ids(kept, "--properties", "id=FU-3") == set()


def test_failed_files_are_named_with_the_reason_and_the_others_continue(kept: Cli) -> None:
    for name, text in (("no-json.json", "nope"), ("odd.json", '{"id": "x", "statsu": 1}'), ("list.json", "[]")):
        write("feature_units", name, text)
    outcome = kept("record", "migrate", FOLDER)
    report = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (1, "")
    assert (report["files"], report["migrated"], report["verified"]) == (6, 3, 3)
    failed = {os.path.basename(one["file"]): one for one in report["failed"]}
    assert set(failed) == {"no-json.json", "odd.json", "list.json"}
    assert "body.statsu is no field of feature_unit" in failed["odd.json"]["message"]
    assert all(one["code"] and one["message"] for one in report["failed"])
    table = kept("record", "migrate", FOLDER, "--table")
    assert table.code == 1
    assert "already_there  3\n" in table.out
    assert "\nfailed:\nfile " in table.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "moss: 'nowhere' does not exist; DIR is the folder of record files, .cursor/memory\n"),
        (["file"], "moss: 'file' is not a folder; "),
        (["loose"], "moss: 'loose' is not a folder; "),
        ([""], "moss: '' does not exist; "),
        (["."], "moss: '.' contains no record files; did you mean ./.cursor/memory?\n"),
        ([".cursor"], "moss: '.cursor' contains no record files; did you mean .cursor/memory?\n"),
        ([], "moss: --dir is needed by `moss record migrate`"),
        ([FOLDER, "more"], "moss: unexpected word 'more' after"),
    ],
)
def test_an_invalid_folder_is_a_usage_error(kept: Cli, words: list[str], says: str) -> None:
    with open("file", "w", encoding="utf-8"):
        pass
    os.symlink("nowhere", "loose")
    outcome = kept("record", "migrate", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(says)
    assert not os.path.exists(kept.home)


def test_an_invalid_workspace_is_refused_before_any_file(kept: Cli) -> None:
    for words in ([], ["--dry-run"]):
        outcome = kept("record", "migrate", FOLDER, "-w", " ", *words)
        assert outcome.code == 1
        assert outcome.err.startswith("[INVALID_REQUEST] --workspace is blank")


@pytest.mark.parametrize("linked", ["file", "collection"])
def test_links_that_lead_out_of_the_folder_are_refused_and_nothing_is_read(
    kept: Cli, tmp_path: Path, linked: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "FU-9.json").write_text(json.dumps(unit("FU-9")))
    if linked == "file":
        os.symlink(outside / "FU-9.json", os.path.join(FOLDER, "feature_units", "FU-9.json"))
    else:
        os.symlink(outside, os.path.join(FOLDER, "agent_sessions"))
    for words in ([], ["--dry-run"]):
        outcome = kept("record", "migrate", FOLDER, *words)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith(
            "[INVALID_REQUEST] nothing was migrated, because links lead out of .cursor/memory"
        )
        assert "FU-9.json; put the files themselves there, or remove the links" in outcome.err
    assert ids(kept) == set()


def test_a_folder_with_the_same_name_prefix_is_outside_too(kept: Cli) -> None:
    os.makedirs(f"{FOLDER}-other")
    with open(os.path.join(f"{FOLDER}-other", "FU-9.json"), "w", encoding="utf-8") as file:
        json.dump(unit("FU-9"), file)
    os.symlink("../../memory-other/FU-9.json", os.path.join(FOLDER, "feature_units", "FU-9.json"))
    assert kept("record", "migrate", FOLDER).code == 1
    assert ids(kept) == set()


def test_links_within_the_folder_and_a_linked_folder_are_followed(kept: Cli) -> None:
    os.symlink("FU-1.json", os.path.join(FOLDER, "feature_units", "same.json"))
    os.symlink(FOLDER, "memory")
    report = kept("record", "migrate", "memory").json
    assert (report["files"], report["migrated"], report["already_there"]) == (4, 3, 1)


def test_folders_that_are_not_collections_are_skipped_with_a_warning(kept: Cli) -> None:
    write("features", "x.json", "{}")
    outcome = kept("record", "migrate", FOLDER)
    assert outcome.code == 0
    assert outcome.err.startswith(f"moss: warning: {FOLDER}/features is not a collection and is skipped; known: ")
    assert json.loads(outcome.out)["files"] == 3
    os.mkdir("empty")
    nothing = kept("record", "migrate", "empty")
    assert nothing.code == 0
    assert nothing.err.startswith("moss: warning: empty contains no record files")
    assert json.loads(nothing.out)["files"] == 0


def test_progress_is_shown_on_a_terminal_only(kept: Cli) -> None:
    code, shown = on_terminal(kept, "record", "migrate", FOLDER)
    assert code == 0
    assert "migrate: 3 of 3" in shown
    assert "verified       3\n" in shown
    assert kept("record", "migrate", FOLDER).err == ""


def test_ctrl_c_reports_the_migrated_files_and_how_to_continue(kept: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Store.call
    submitted: list[Any] = []

    def pressed(store: Store, tool: str, arguments: dict[str, Any], **options: Any) -> Any:
        if tool == "submit_payload":
            if submitted:
                raise KeyboardInterrupt
            submitted.append(arguments)
        return call(store, tool, arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "call", pressed)
        outcome = kept("record", "migrate", FOLDER)
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "[CANCELLED] interrupted after 1 file, which stays migrated; run it again for the others\n"
    again = kept("record", "migrate", FOLDER).json
    assert (again["migrated"], again["already_there"]) == (2, 1)


def test_a_record_stored_with_a_difference_is_a_failure(kept: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Store.call

    def changed(store: Store, tool: str, arguments: dict[str, Any], **options: Any) -> Any:
        answer = call(store, tool, arguments, **options)
        for record in answer.get("records", ()):
            if record["properties"]["id"] == "FU-2":
                record["properties"]["status"] = "deployed"
        return answer

    monkeypatch.setattr(Store, "call", changed)
    outcome = kept("record", "migrate", FOLDER)
    report = json.loads(outcome.out)
    assert outcome.code == 1
    assert (report["migrated"], report["verified"]) == (2, 2)
    assert [os.path.basename(one["file"]) for one in report["failed"]] == ["FU-2.json"]


def test_records_spooled_while_the_store_is_unavailable_are_migrated_later(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise MossError("DB_INSERT_FAILED", "away")

    with open_store(cli.home) as store, monkeypatch.context() as patched:
        patched.setattr(Store, "call", away)
        assert submit_or_spool(store, "feature_units", unit("FU-7")) == {"kept": f"{FOLDER}/feature_units/FU-7.json"}
    assert cli("record", "migrate", FOLDER).json["verified"] == 1
    assert ids(cli, "--properties", "id=FU-7") == {"FU-7"}


def test_a_broken_record_is_refused_with_and_without_a_store(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = {**unit("FU-7"), "status": "done"}
    for home in (cli.home, str(tmp_path / "file")):
        with open_store(home) as store, pytest.raises(MossError) as refused:
            submit_or_spool(store, "feature_units", broken)
        assert refused.value.code == "VALIDATION_ERROR"
        assert (refused.value.details or {})["path"] == "body.status"
    assert not os.path.exists(FOLDER)


@pytest.fixture
def away(tmp_path: Path) -> Store:
    """Open an unavailable store, whose home is below a file."""
    (tmp_path / "file").touch()
    return open_store(str(tmp_path / "file" / "home"))


@pytest.mark.parametrize("text", ["\U0001f600" * 190_000, '"' * 95_000, "\n" * 95_000])
def test_every_spooled_record_can_be_migrated(cli: Cli, away: Store, text: str) -> None:
    body = {**unit("FU-9"), "description": text}
    assert submit_or_spool(away, "feature_units", body) == {"kept": os.path.join(FOLDER, "feature_units", "FU-9.json")}
    assert cli("record", "migrate", FOLDER).json["verified"] == 1


def test_deeply_nested_spooled_details_can_be_migrated(cli: Cli, away: Store) -> None:
    details: Any = [1] * 90_000  # indented, these are more than a file may have
    for _ in range(60):
        details = {"a": details}
    body = {"validation_type": "test", "status": "passed", "timestamp": "2025-11-01", "details": details}
    submit_or_spool(away, "validation_results", body)
    assert cli("record", "migrate", FOLDER).json["verified"] == 1


def test_an_invalid_record_is_not_spooled(cli: Cli, away: Store) -> None:
    wrong: list[dict[str, Any]] = [{"description": "x" * 200_000}, {"status": "lost"}, {"dependencies": {"a"}}]
    for body in ({**unit("FU-9"), **one} for one in wrong):
        with pytest.raises(MossError) as caught:
            submit_or_spool(away, "feature_units", body)
        assert caught.value.code == "VALIDATION_ERROR"
    with pytest.raises(MossError) as caught:
        submit_or_spool(away, "feature_unit", unit("FU-9"))
    assert caught.value.code == "VALIDATION_ERROR"
    assert not os.path.exists(FOLDER)


def test_threads_can_spool_the_same_record(cli: Cli) -> None:
    capability = capability_of(cli.home, "feature_units")
    with ThreadPoolExecutor(8) as threads:
        paths = set(threads.map(lambda _: write_spool_file(capability, "feature_units", unit("FU-9")), range(50)))
    assert len(paths) == 50, "one file each"
    assert {os.path.basename(path) for path in paths} == set(os.listdir(os.path.join(FOLDER, "feature_units")))
    assert os.path.join(FOLDER, "feature_units", "FU-9.json") in paths


def test_every_submission_is_spooled_with_its_workspace_and_provenance(cli: Cli, away: Store) -> None:
    provenance = {"source_refs": ["PR-7"], "agent_id": "codex", "extracted_at": "2025-12-31T10:00:00Z"}
    for status in ("planning", "in_progress", "in_progress"):
        body = {**unit("FU-9"), "status": status}
        kept = submit_or_spool(away, "feature_units", body, provenance=provenance, workspace="shop")["kept"]
        assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert sorted(os.listdir(os.path.join(FOLDER, "feature_units"))) == ["FU-9.json", "FU-9~2.json", "FU-9~3.json"]
    for again in (False, True):
        report = cli("record", "migrate", FOLDER).json
        assert (report["files"], report["failed"], report["migrated"]) == (3, [], 0 if again else 2)
    [entity] = cli("record", "entities", "-w", "shop", "--include-provenance").json["entities"]
    assert entity["observation_count"] == 3
    source = entity["provenance"]["status"]
    assert (source["agent_id"], source["source_refs"], source["observed_at"]) == (
        "codex", ["PR-7"], "2025-12-31T10:00:00Z",
    )  # fmt: skip


def from_elsewhere(**more: Any) -> dict[str, Any]:
    """Return a unit in the format of another program."""
    there = {key: value for key, value in unit("FU-9").items() if key not in ("id", "status")}
    return {"key": "FU-9", "status": "todo", **there, **more}


def test_a_map_renames_fields_translates_words_and_adds_constants(cli: Cli) -> None:
    body = from_elsewhere()
    del body["description"]
    write("feature_units", "a.json", json.dumps(body))
    parts = {
        "rename": {"key": "id"},
        "values": {"status": {"todo": "planning"}},
        "constants": {"description": "none", "status": "completed"},
    }
    Path("map.json").write_text(json.dumps({"feature_units": parts}))
    assert cli("record", "migrate", FOLDER).code == 1
    report = cli("record", "migrate", FOLDER, "--map", "map.json").json
    assert (report["migrated"], report["failed"]) == (1, [])
    [record] = cli("record", "find").json["records"]
    assert record["properties"] == {**unit("FU-9"), "description": "none"}
    again = cli("record", "migrate", FOLDER, "--map", "map.json").json
    assert (again["migrated"], again["already_there"]) == (0, 1)


def test_lenient_accepts_arrays_and_envelopes_and_keeps_unknown_fields(cli: Cli) -> None:
    envelope = {"body": {**unit("FU-3"), "owner": "ada"}, "provenance": {"agent_id": "bot", "trace": 7}}
    write("feature_units", "many.json", json.dumps([unit("FU-1"), {**unit("FU-2"), "points": 3}, envelope]))
    assert cli("record", "migrate", FOLDER).code == 1
    report = cli("record", "migrate", FOLDER, "--lenient").json
    assert (report["migrated"], report["failed"], report["files"]) == (3, [], 1)
    assert [one["fields"] for one in report["unmapped"]] == [["points"], ["owner", "trace"]]
    assert ids(cli) == {"FU-1", "FU-2", "FU-3"}
    entities = cli("record", "entities", "--include-provenance").json["entities"]
    sources = {one["snapshot"]["id"]: one["provenance"]["id"] for one in entities}
    assert "unmapped" not in sources["FU-1"]
    assert sources["FU-2"]["unmapped"] == {"points": 3}
    assert sources["FU-3"]["unmapped"] == {"owner": "ada", "trace": 7}
    assert [one["source_refs"] for one in sources.values()] == [[], [], []]
    assert sources["FU-3"]["agent_id"] == "bot"
    assert cli("record", "migrate", FOLDER, "--lenient").json["already_there"] == 3
    assert [one["observation_count"] for one in cli("record", "entities").json["entities"]] == [1, 1, 1]


@pytest.mark.parametrize("dry", [["--dry-run"], []])
@pytest.mark.parametrize(
    ("provenance", "says"),
    [
        ({"source_refs": 5}, "provenance.source_refs"),
        ({"source_refs": ["a", 5]}, "provenance.source_refs[1]"),
        ({"extracted_at": "yesterday"}, "provenance.extracted_at"),
        ({"agent_id": {}}, "provenance.agent_id"),
    ],
)
def test_an_invalid_provenance_is_named_and_the_rest_continues(
    cli: Cli, provenance: dict[str, Any], says: str, dry: list[str]
) -> None:
    write("feature_units", "a.json", json.dumps({"body": unit("FU-1"), "provenance": provenance}))
    write("feature_units", "b.json", json.dumps([unit("FU-2"), {"body": unit("FU-3"), "provenance": provenance}]))
    write("feature_units", "c.json", json.dumps(unit("FU-4")))
    report = json.loads(cli("record", "migrate", FOLDER, "--lenient", *dry).out)
    alone, among = report["failed"]
    assert report["migrated"] == 1
    assert (alone["code"], among["code"]) == ("VALIDATION_ERROR", "VALIDATION_ERROR")
    assert alone["message"].startswith(f"`{says}`")
    assert among["message"].startswith(f"entry 1 of the array: `{says}`")


def test_a_provenance_of_nulls_is_ignored(cli: Cli) -> None:
    nulls = dict.fromkeys(("source_refs", "extracted_at", "extractor_version", "agent_id"))
    path = write("feature_units", "a.json", json.dumps({"body": unit("FU-1"), "provenance": nulls}))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert cli("record", "migrate", FOLDER, "--lenient").json["migrated"] == 1
    assert cli("record", "migrate", FOLDER, "--lenient").json["already_there"] == 1
    [entity] = cli("record", "entities", "--include-provenance").json["entities"]
    assert entity["provenance"]["id"]["observed_at"] == "2023-11-14T22:13:20Z"


def test_unmapped_fields_are_exported_and_imported(cli: Cli, tmp_path: Path) -> None:
    write("feature_units", "a.json", json.dumps({**unit("FU-2"), "points": 3}))
    cli("record", "migrate", FOLDER, "--lenient")
    cli("export", "--all", str(tmp_path / "out"))
    other = ["--home", str(tmp_path / "other")]
    cli("import", str(tmp_path / "out"), *other)
    [entity] = cli("record", "entities", "--include-provenance", *other).json["entities"]
    assert entity["provenance"]["id"]["unmapped"] == {"points": 3}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "is not a valid map"),
        ('{"units": {}}', "names no collection with 'units'"),
        ('{"releases": {"move": {}}}', "must be an object of rename, values, constants"),
        ('{"releases": {"rename": {"a": 1}}}', "must say the name of each field"),
        ('{"releases": {"values": {"status": "x"}}}', "which word becomes which"),
    ],
)
def test_an_invalid_map_is_refused_before_any_file(kept: Cli, text: str, says: str) -> None:
    Path("map.json").write_text(text)
    refused = kept("record", "migrate", FOLDER, "--map", "map.json")
    assert refused.code == 1
    assert says in refused.err
    assert ids(kept) == set()
