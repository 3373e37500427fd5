"""`moss doctor` examines every store, even a broken one, and `moss config` shows the effective settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.cli.commands import doctor_home
from moss_memory.search.embedding import embedder
from moss_memory.storage.schema_version import SCHEMA_VERSION
from moss_memory.storage.sqlite.engine import SqliteEngine
from storage.database import connect
from support.python_process import without_root_powers
from support.store_truth import modes
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli


def findings(cli: Cli, *words: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Return the exit code and the checks by name; assert that every failed check has a remedy."""
    outcome = cli("doctor", *words)
    report = json.loads(outcome.out)
    named: dict[str, list[dict[str, str]]] = {}
    for check in report["checks"]:
        named.setdefault(check["name"], []).append(check)
        assert check["status"] in ("ok", "warn", "fail")
        assert check["status"] == "ok" or check["todo"]
    assert report["healthy"] is (outcome.code == 0)
    return outcome.code, named


def write(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


@pytest.mark.usefixtures("auth")
def test_a_sound_store_is_healthy_and_shows_its_versions(cli: Cli) -> None:
    code, found = findings(cli)
    assert code == 0
    assert {check["status"] for checks in found.values() for check in checks} == {"ok"}
    assert found["engine"][0]["message"].startswith("SQLite 3.")
    assert found["store"][0]["message"].endswith(f"(this Moss supports {SCHEMA_VERSION}), 1 active capsule")
    assert set(found) >= {
        "settings",
        "free space",
        "modes",
        "store",
        "integrity",
        "search index",
        "erasures",
        "meaning",
    }


def test_a_missing_store_is_reported_and_not_created(cli: Cli) -> None:
    code, found = findings(cli)
    assert code == 0
    assert "no store" in found["store"][0]["message"]
    assert not os.path.exists(cli.home)


def test_a_file_that_is_not_a_database_is_a_failure(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    path = os.path.join(cli.home, "moss.db")
    write(path, b"this is no database" * 1000)
    os.chmod(path, 0o600)
    code, found = findings(cli)
    assert code == 1
    assert found["store"][0]["status"] == "fail"


@pytest.mark.usefixtures("auth")
def test_a_damaged_page_is_found(cli: Cli) -> None:
    path = os.path.join(cli.home, "moss.db")
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for page in range(3, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 64)
    code, _ = findings(cli)
    assert code == 1


@pytest.mark.usefixtures("auth")
def test_an_index_that_disagrees_with_the_texts_is_found_and_rebuilt(cli: Cli) -> None:
    database = connect(cli.home)
    database.execute("insert into search_index (search_index) values ('delete-all')")
    database.close()
    code, found = findings(cli)
    assert code == 1
    assert found["search index"][0]["status"] == "fail"
    assert "moss doctor --fix" in found["search index"][0]["todo"]
    code, found = findings(cli, "--fix")
    assert code == 0
    assert "built again" in found["search index"][0]["message"]
    assert findings(cli)[0] == 0


@pytest.mark.usefixtures("auth")
def test_a_newer_store_is_reported_and_stays_unchanged(cli: Cli) -> None:
    database = connect(cli.home)
    database.execute("pragma user_version = 999")
    database.close()
    code, found = findings(cli)
    assert code == 1
    assert "999" in found["store"][0]["message"]


@pytest.mark.usefixtures("auth")
def test_a_store_that_cannot_be_written_is_examined_without_waiting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(SqliteEngine, "write_transaction", refuse)
    code, found = findings(cli)
    assert code == 0
    assert found["integrity"][0]["status"] == "ok"
    assert found["search index"][0]["status"] == "ok"


@pytest.mark.usefixtures("auth")
@pytest.mark.parametrize("words", [(), ("--fix",)])
def test_permissive_file_modes_are_reported_with_a_command_and_stay_unchanged(cli: Cli, words: tuple[str, ...]) -> None:
    cli("export", "--path", "a.jsonl").json  # noqa: B018
    write(os.path.join(cli.home, "config.json"), b"{}")
    opened = {"": 0o755, "moss.db": 0o644, "moss.lock": 0o664, "exports": 0o777, "config.json": 0o644}
    for name, mode in opened.items():
        os.chmod(os.path.join(cli.home, name), mode)
    code, found = findings(cli, *words)
    assert code == 1
    assert {name: modes(cli.home)[name or "."] for name in opened} == opened
    told = {check["todo"]: check["status"] for check in found["modes"]}
    assert told == {
        f"chmod 700 {cli.home}": "warn",
        f"chmod 600 {cli.home}/moss.db": "fail",
        f"chmod 600 {cli.home}/moss.lock": "fail",
        f"chmod 700 {cli.home}/exports": "fail",
        f"chmod 600 {cli.home}/config.json": "warn",
    }
    for todo in told:
        subprocess.run(todo.split(), check=True)
    assert [check["status"] for check in findings(cli)[1]["modes"]] == ["ok"]


@pytest.mark.parametrize(("mode", "status"), [(0o755, "warn"), (0o1777, "warn"), (0o770, "fail")])
def test_a_home_writable_by_others_is_not_healthy(cli: Cli, mode: int, status: str) -> None:
    os.mkdir(cli.home)
    os.chmod(cli.home, mode)
    code, found = findings(cli)
    assert found["modes"][0]["status"] == status
    assert code == (status == "fail")


def test_unreadable_settings_are_a_failure_and_the_rest_is_checked(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    write(os.path.join(cli.home, "config.json"), b"{")
    code, found = findings(cli)
    assert code == 1
    assert found["settings"][0]["status"] == "fail"
    assert "free space" in found


def test_unknown_names_in_the_settings_are_reported(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    settings = {"toolsets": ["capsule", "capsul"], "disabled_tools": ["capsule_stor", "moss.purge"], "colour": 1}
    path = os.path.join(cli.home, "config.json")
    write(path, json.dumps(settings).encode())
    os.chmod(path, 0o600)
    code, found = findings(cli)
    messages = " ".join(check["message"] for check in found["settings"])
    assert code == 0
    assert {check["status"] for check in found["settings"]} == {"warn"}
    assert "'capsul'" in messages
    assert "'capsule_stor'" in messages
    assert "'moss.purge'" not in messages
    assert "'colour'" in messages


def test_a_full_disk_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_home, "TOO_LITTLE_BYTES", 2**62)
    monkeypatch.setattr(doctor_home, "ENOUGH_BYTES", 2**62)
    code, found = findings(cli)
    assert code == 1
    assert found["free space"][0]["status"] == "fail"


@pytest.mark.parametrize(("free", "said"), [(83_100_000_000, "83.1 GB free"), (999_999_999, "999 MB free")])
def test_free_space_has_a_readable_unit(free: int, said: str) -> None:
    assert f"{doctor_home.size(free)} free" == said


def powerless(cli: Cli, *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    """Run `moss doctor` without root powers and return its exit code and its checks by name."""
    line = [*without_root_powers(), sys.executable, "-m", "moss_memory", "doctor", *words]
    done = subprocess.run(line, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.stderr == b""
    report = json.loads(done.stdout)
    assert report["healthy"] is (done.returncode == 0)
    return done.returncode, {check["name"]: check for check in report["checks"]}


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o600])
@pytest.mark.usefixtures("auth")
def test_a_home_that_cannot_be_read_is_not_healthy(cli: Cli, mode: int) -> None:
    os.chmod(cli.home, mode)
    code, found = powerless(cli)
    os.chmod(cli.home, 0o700)
    assert code == 1
    assert found["home"]["status"] == "fail"
    assert f"chmod 700 {cli.home}" in found["home"]["todo"]
    assert "not checked" in found["store"]["message"]


@pytest.mark.parametrize("below", ["home", "a/b/home"])
def test_a_home_that_cannot_be_created_is_not_healthy(cli: Cli, tmp_path: Path, below: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    code, found = powerless(cli, "--home", str(closed / below))
    assert code == 1
    assert found["home"]["status"] == "fail"
    assert str(closed) in found["home"]["message"]


def test_a_home_below_a_file_is_not_healthy(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, found = findings(cli, "--home", str(tmp_path / "file" / "home"))
    assert code == 1
    assert found["home"][0]["message"] == f"{tmp_path / 'file'} is not a folder"


def test_a_home_without_a_store_that_cannot_be_written_is_not_healthy(cli: Cli) -> None:
    os.mkdir(cli.home, 0o500)
    assert powerless(cli)[1]["home"]["status"] == "fail"


@pytest.mark.usefixtures("auth")
def test_a_read_only_home_is_reported_and_its_store_is_examined(cli: Cli) -> None:
    os.chmod(cli.home, 0o500)
    code, found = powerless(cli)
    os.chmod(cli.home, 0o700)
    assert code == 0
    assert found["home"]["status"] == "warn"
    assert found["integrity"]["status"] == "ok"


def test_a_home_on_a_network_is_reported(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_home, "_file_system", lambda _: "nfs4")
    assert findings(cli)[1]["file system"][0]["status"] == "warn"


def test_a_purge_whose_bytes_remain_is_reported(cli: Cli, auth: dict[str, Any]) -> None:
    database = connect(cli.home)
    database.execute("insert into erasures default values")
    database.close()
    assert findings(cli)[1]["erasures"][0]["status"] == "warn"
    assert findings(cli, "--fix")[1]["erasures"][0]["status"] == "ok"


@pytest.mark.usefixtures("auth")
def test_the_table_has_a_line_for_every_check(cli: Cli) -> None:
    lines = cli("doctor", "--table").out.splitlines()
    assert lines[-1].startswith("healthy: ")
    assert all(line.startswith("ok ") for line in lines[:-2])


def test_config_shows_every_value_and_its_source(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    path = os.path.join(cli.home, "config.json")
    write(path, b'{"capsule_max_chars": 500}')
    os.mkdir(".moss")
    write(".moss/config.json", b'{"disabled_tools": ["capsule_purge"], "allow_unsafe_paths": true}')
    outcome = cli("config")
    shown = json.loads(outcome.out)
    assert shown["home"] == cli.home
    assert shown["home_source"] == "MOSS_HOME"
    assert shown["settings"]["capsule_max_chars"] == {"value": 500, "source": path}
    assert shown["settings"]["disabled_tools"]["source"] == os.path.abspath(".moss/config.json")
    assert shown["settings"]["import_max_bytes"] == {"value": 25_000_000, "source": "default"}
    assert "allow_unsafe_paths" in shown["warnings"][0]
    table = cli("config", "--table")
    assert ["capsule_max_chars", "500", path] in [line.split() for line in table.out.splitlines()]


def test_every_command_prints_warnings_of_the_settings_once(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    write(os.path.join(cli.home, "config.json"), b'{"colour": "green"}')
    for words in (["list"], ["config"]):
        err = cli(*words).err
        assert err.startswith("moss: warning: ")
        assert err.count("colour") == 1


def test_settings_that_cannot_be_read_stop_a_command(cli: Cli) -> None:
    os.mkdir(cli.home, 0o700)
    write(os.path.join(cli.home, "config.json"), b"[]")
    outcome = cli("list")
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] ")


GOOD = {
    "capability_id": "own:tea:v1",
    "entity_type": "tea",
    "fields": {"name": {"type": "string"}},
    "identity": ["name"],
    "title": "name",
}


def own_files(cli: Cli, files: dict[str, str]) -> None:
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(cli.home, name)), mode=0o700, exist_ok=True)
        write(os.path.join(cli.home, name), text.encode())


@pytest.mark.usefixtures("auth")
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("capabilities", "{}", "it lacks capability_id, entity_type, fields, identity, title"),
        ("capabilities", "nope", "it cannot be read as JSON"),
        ("capabilities", json.dumps({**GOOD, "identity": ["nose"]}), "'nose' in identity or title is no field"),
        ("capabilities", json.dumps({**GOOD, "capability_id": "neotoma:store_release:v1"}), "is already there"),
        ("kinds", "[]", "it does not hold a JSON Schema object"),
    ],
)
def test_an_invalid_custom_file_is_named_with_a_remedy_and_the_others_work(
    cli: Cli, name: str, text: str, says: str
) -> None:
    own_files(cli, {f"{name}/bad.json": text, "capabilities/tea.json": json.dumps(GOOD)})
    code, found = findings(cli)
    assert code == 0
    (bad,) = found[name]
    assert bad["status"] == "warn"
    assert os.path.join(cli.home, name, "bad.json") in bad["message"]
    assert says in bad["message"]
    assert bad["todo"].startswith(f"correct the file or move it out of {name}/; `moss ")
    assert cli("record", "submit", "own:tea:v1", '{"name": "green"}').json["created"] is True


@pytest.mark.usefixtures("auth")
def test_valid_custom_files_are_counted_and_their_absence_is_not_mentioned(cli: Cli) -> None:
    assert not {"capabilities", "kinds"} & set(findings(cli)[1])
    own_files(cli, {"capabilities/tea.json": json.dumps(GOOD), "kinds/a.json": "{}", "kinds/b.json": "{}"})
    _, found = findings(cli)
    assert [one["status"] for one in (*found["capabilities"], *found["kinds"])] == ["ok", "ok"]
    assert found["capabilities"][0]["message"].startswith("1 file of yours in ")
    assert found["kinds"][0]["message"].startswith("2 files of yours in ")


def test_semantic_search_is_reported_with_its_pending_texts(cli: Cli, auth: dict[str, Any]) -> None:
    assert "1 text to prepare with `moss index`" in findings(cli)[1]["meaning"][0]["message"]
    cli("index")
    assert "every text is prepared" in findings(cli)[1]["meaning"][0]["message"]


@pytest.mark.usefixtures("auth")
def test_a_missing_model_is_reported_and_a_damaged_one_is_a_warning(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder.unload_models()
    monkeypatch.setattr(embedder, "_SHA256", "0" * 64)
    _, damaged = findings(cli)
    assert damaged["meaning"][0]["status"] == "warn"
    assert "is not the model" in damaged["meaning"][0]["message"]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    _, missing = findings(cli)
    assert missing["meaning"][0]["status"] == "ok"
    assert "[semantic]" in missing["meaning"][0]["message"]


@pytest.mark.usefixtures("auth")
def test_apparent_credentials_are_found_in_the_store_and_not_shown(cli: Cli) -> None:
    assert "secrets" not in findings(cli)[1]
    assert [check["status"] for check in findings(cli, "--secrets")[1]["secrets"]] == ["ok"]
    key = "AK" + "IA" + "Q3EGRB7ZVX2MHT5N"
    cli("store", "--name", "held", "--allow-thin", "--allow-secrets", "--capsule-text", f"a\nb {key}").json  # noqa: B018
    outcome = cli("doctor", "--secrets")
    code, found = findings(cli, "--secrets")
    assert code == 0
    assert [check["status"] for check in found["secrets"]] == ["warn"]
    assert "line 2, column 3, looks like a credential (aws-access-key)" in found["secrets"][0]["message"]
    assert key not in outcome.out + outcome.err
    command = found["secrets"][0]["todo"].split("`")[1]
    assert cli(*command.split()[1:]).code == 0
    assert [check["status"] for check in findings(cli, "--secrets")[1]["secrets"]] == ["ok"]


@pytest.mark.parametrize(
    ("above", "marker", "program"),
    [
        ("Dropbox (Work)", "", "Dropbox"),
        ("files", ".dropbox", "Dropbox"),
        ("files", ".dropbox.cache/", "Dropbox"),
        ("Library/Mobile Documents/com~apple~CloudDocs", "", "iCloud Drive"),
        ("OneDrive - Contoso", "", "OneDrive"),
        ("Google Drive", "", "Google Drive"),
        ("files", ".stfolder/", "Syncthing"),
        ("files", ".stignore", "Syncthing"),
        ("files", ".sync/", "Resilio Sync"),
        ("files", ".dropbox/", None),
        ("files", "dropbox", None),
    ],
)
def test_a_home_in_a_synced_folder_is_a_warning(tmp_path: Path, above: str, marker: str, program: str | None) -> None:
    folder = tmp_path / above
    (folder / "deep" / "home").mkdir(parents=True)
    if marker.endswith("/"):
        (folder / marker).mkdir()
    elif marker:
        (folder / marker).touch()
    found = doctor_home.synced_folder(str(folder / "deep" / "home"))
    assert found == (None if program is None else (str(folder), program))


@pytest.mark.usefixtures("auth")
def test_the_doctor_names_a_remedy_for_a_synced_folder(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_home, "synced_folder", lambda _: ("/sync", "Syncthing"))
    code, found = findings(cli)
    assert code == 0, "it is a warning"
    assert "Syncthing" in found["synced folder"][0]["message"]
    assert "moss sync" in found["synced folder"][0]["todo"]
