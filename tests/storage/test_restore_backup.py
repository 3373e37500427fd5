"""`moss restore-backup`: the backup is checked, the present store is kept, and neither is ever lost."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import Any

import apsw
import pytest

from moss_memory.store import Store
from storage.database import connect
from support.cli_typist import Cli
from support.deadly_disk import DEADLY
from support.mcp_pipe import PipeClient, call
from support.original_store import row, write_original
from support.python_process import start
from support.store_truth import capsule, check_truth, open_at
from support.thorough import complete_or, first_of


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MOSS_HOME", str(home))
    monkeypatch.chdir(home.parent)
    return Cli(str(home), {**os.environ, "MOSS_HOME": str(home)})


@pytest.fixture
def backup(home: Path, cli: Cli) -> Path:
    """Return a backup with the capsule `old`; the store has `new` too by then."""
    with open_at(home) as store:
        put(store, "old")
    path = home.parent / "backup.db"
    assert cli("backup", str(path)).code == 0
    with open_at(home) as store:
        put(store, "new")
    return path


def put(store: Store, name: str) -> None:
    store.call("capsule_store", {"capsule_text": capsule(), "name": name})


def names(home: Path) -> list[str]:
    with open_at(home) as store:
        return sorted(item["name"] for item in store.call("capsule_list", {})["items"])


def kept(home: Path) -> list[Path]:
    return sorted(path for path in home.glob("moss.db.before-*") if not path.name.endswith(("-wal", "-shm")))


def names_in(database: Path) -> list[str]:
    connection = apsw.Connection(str(database))
    try:
        return sorted(name for (name,) in connection.execute("select name_raw from capsules"))
    finally:
        connection.close()


def test_the_restored_store_equals_the_backup_and_the_old_one_is_kept(home: Path, cli: Cli, backup: Path) -> None:
    answer = cli("restore-backup", str(backup)).json
    assert names(home) == ["old"]
    assert answer == {"restored": str(backup), "home": str(home), "kept": str(kept(home)[0])}
    assert names_in(kept(home)[0]) == ["new", "old"]
    assert stat.S_IMODE(kept(home)[0].stat().st_mode) == 0o600
    check_truth(home)
    assert not [name for name in os.listdir(home) if ".part" in name]
    with open_at(home) as store:
        put(store, "after")
    assert names(home) == ["after", "old"]


def test_credentials_in_a_backup_are_reported_without_their_values(home: Path, cli: Cli, backup: Path) -> None:
    key = "AKIA" + "Z5KQ7R2M4T6W8Y3B"
    with open_at(home) as store:
        text = f"{capsule()}the key is {key}\n"
        number = store.call("capsule_store", {"name": "secret", "capsule_text": text, "allow_secrets": True})["id"]
    path = home.parent / "with a key.db"
    cli("backup", str(path))
    assert "findings" not in cli("restore-backup", str(backup)).json
    done = cli("restore-backup", str(path))
    place = f"capsules/default/{number}.capsule_text"
    assert done.json["findings"] == [{"kind": "aws-access-key", "path": place, "line": text.count("\n"), "column": 12}]
    assert key not in done.out + done.err
    assert names(home) == ["new", "old", "secret"]


def test_the_kept_store_can_be_restored_in_turn(home: Path, cli: Cli, backup: Path) -> None:
    cli("restore-backup", str(backup))
    cli("restore-backup", str(kept(home)[0]))
    assert names(home) == ["new", "old"]
    assert len(kept(home)) == 2


def test_a_running_server_uses_the_restored_store(home: Path, cli: Cli, backup: Path) -> None:
    with PipeClient(str(home), cwd=str(home.parent)) as client:

        def ask(tool: str, **arguments: Any) -> Any:
            client.send(call(tool, arguments))
            return client.receive()["result"]["structuredContent"]

        assert ask("capsule_list")["pagination"]["total"] == 2
        ask("capsule_store", name="by the server", capsule_text=capsule())
        assert cli("restore-backup", str(backup)).code == 0
        assert [item["name"] for item in ask("capsule_list")["items"]] == ["old"]
        ask("capsule_store", name="later", capsule_text=capsule())
        client.hang_up()
    assert names(home) == ["later", "old"]
    assert names_in(kept(home)[0]) == ["by the server", "new", "old"]
    check_truth(home)


def test_a_restored_backup_that_is_only_in_the_log_is_not_taken_for_an_older_log(
    home: Path, cli: Cli, backup: Path, tmp_path: Path
) -> None:
    """Restore as after a power cut: the database has more events than the backup, whose pages are in the log."""
    after = tmp_path / "after"
    with open_at(home) as store:
        for number in range(5):
            store.call("capsule_store", {"name": f"n{number}", "capsule_text": capsule()})
        connection = connect(home)
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        connection.close()
        cli("restore-backup", str(backup))
        after.mkdir(mode=0o700)
        for path in home.glob("moss.db*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, after)
    assert names(after) == ["old"]
    for place in (home, after):
        with open_at(place) as store:
            store.call("capsule_store", {"name": "later", "capsule_text": capsule()})
        assert not (place / "moss.db-restored").exists()
        assert names(place) == ["later", "old"]
        check_truth(place)


def test_a_search_by_meaning_never_finds_rows_of_the_replaced_store(home: Path, cli: Cli) -> None:
    with open_at(home) as store:
        store.call("capsule_store", {"name": "cats", "capsule_text": capsule("cats purr and climb")})
        store.index()
        cli("backup", str(home.parent / "b.db"))
        store.call("capsule_store", {"name": "ships", "capsule_text": capsule("ships sail over the sea")})
        store.index()
        asked = {"query": "vessels on the ocean", "search_mode": "semantic", "types": ["capsule"]}
        assert store.call("moss_search", asked)["items"][0]["title"] == "ships"
        cli("restore-backup", str(home.parent / "b.db"))
        store.call("capsule_store", {"name": "trains", "capsule_text": capsule("trains run on rails")})
        store.index()
        found = [item["title"] for item in store.call("moss_search", asked)["items"]]
        assert set(found) <= {"cats", "trains"}
        asked["query"] = "railway"
        assert store.call("moss_search", asked)["items"][0]["title"] == "trains"


def test_a_backup_is_restored_if_there_is_no_store(home: Path, cli: Cli, backup: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    answer = cli("--home", str(other), "restore-backup", str(backup)).json
    assert "kept" not in answer
    assert names(other) == ["old"]
    assert stat.S_IMODE((other / "moss.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("harm", ["rotted", "cut", "letter", "magic", "empty"])
def test_a_damaged_store_is_kept_as_it_is_and_the_backup_takes_its_place(
    home: Path, cli: Cli, backup: Path, harm: str
) -> None:
    database = home / "moss.db"
    content = bytearray(database.read_bytes())
    if harm == "rotted":
        for at in range(8192, len(content), 4096):
            content[at : at + 64] = b"\xee" * 64
    elif harm == "cut":
        del content[5000:]
    elif harm == "letter":
        content[:] = b"dear store, " * 500
    elif harm == "magic":
        content[:16] = b"\xee" * 16
    else:
        content.clear()
    database.write_bytes(content)
    assert cli("restore-backup", str(backup)).code == 0
    assert names(home) == ["old"]
    check_truth(home)
    if harm == "rotted":
        # Made page by page through SQLite: its header counts one more change, all else is the same.
        assert kept(home)[0].read_bytes()[100:] == content[100:]
    elif harm != "empty":
        assert kept(home)[0].read_bytes() == content


def test_a_log_without_its_store_is_kept_and_not_read_into_the_backup(home: Path, cli: Cli, backup: Path) -> None:
    (home / "moss.db").unlink()
    (home / "moss.db-wal").write_bytes(b"a log of something else")
    assert cli("restore-backup", str(backup)).code == 0
    assert names(home) == ["old"]
    assert [path.read_bytes() for path in home.glob("moss.db.before-*-wal")] == [b"a log of something else"]


@pytest.mark.parametrize(
    "harm", ["rotted", "cut", "letter", "empty", "missing", "folder", "newer", "schema", "foreign"]
)
def test_an_invalid_backup_changes_nothing(home: Path, cli: Cli, backup: Path, harm: str) -> None:
    content = bytearray(backup.read_bytes())
    if harm == "rotted":
        for at in range(4096 * 3, len(content), 4096):
            content[at : at + 64] = b"\xee" * 64
    elif harm == "cut":
        del content[5000:]
    elif harm == "letter":
        content[:] = b"dear store, " * 500
    elif harm == "empty":
        content.clear()
    backup.write_bytes(content)
    if harm in ("newer", "schema", "foreign"):
        connection = apsw.Connection(str(backup))
        statement = {
            "newer": "pragma user_version = 9999",
            "schema": "drop table task_evidence",
            "foreign": "pragma application_id = 7",
        }[harm]
        connection.execute(statement)
        connection.close()
    elif harm in ("missing", "folder"):
        backup.unlink()
        if harm == "folder":
            backup.mkdir()
    before = (home / "moss.db").read_bytes()
    outcome = cli("restore-backup", str(backup))
    expected = {
        "rotted": "STORAGE_CORRUPT",
        "cut": "STORAGE_CORRUPT",
        "letter": "NOT_A_STORE",
        "empty": "NOT_A_STORE",
        "missing": "NOT_FOUND",
        "folder": "INVALID_REQUEST",
        "newer": "STORAGE_READONLY",
        "schema": "STORAGE_CORRUPT",
        "foreign": "NOT_A_STORE",
    }
    assert outcome.code == 1
    assert outcome.err.startswith(f"[{expected[harm]}]"), outcome.err
    assert ("moss backup" in outcome.err) == (expected[harm] in ("NOT_A_STORE", "INVALID_REQUEST")), outcome.err
    assert "MOSS_HOME" not in outcome.err, "the store in the home is not what is wrong"
    assert (home / "moss.db").read_bytes() == before
    assert names(home) == ["new", "old"]
    assert not kept(home)
    assert not [name for name in os.listdir(home) if ".part" in name]


def test_the_store_itself_and_another_programs_database_are_refused(home: Path, cli: Cli, backup: Path) -> None:
    assert "[INVALID_REQUEST]" in cli("restore-backup", str(home / "moss.db")).err
    (home / "moss.db").unlink()
    foreign = apsw.Connection(str(home / "moss.db"))
    foreign.execute("create table recipes (x)")
    foreign.close()
    before = (home / "moss.db").read_bytes()
    assert "[NOT_A_STORE]" in cli("restore-backup", str(backup)).err
    assert (home / "moss.db").read_bytes() == before


def test_a_copy_of_an_original_store_is_restored_as_a_store_of_moss(home: Path, cli: Cli, tmp_path: Path) -> None:
    original = write_original(tmp_path / "elsewhere", [row(1)])
    with open_at(home) as store:
        put(store, "new")
    assert cli("restore-backup", str(original)).code == 0
    with open_at(home) as store:
        assert store.call("capsule_fetch", {"id": row(1)["id"]})["name"] == "Name 1"
    check_truth(home)


def test_a_backup_with_pages_of_another_size_is_restored(home: Path, cli: Cli, backup: Path) -> None:
    connection = apsw.Connection(str(backup))
    connection.execute("pragma journal_mode = delete").fetchall()
    connection.execute("pragma page_size = 8192")
    connection.execute("vacuum")
    connection.close()
    assert cli("restore-backup", str(backup)).code == 0
    assert names(home) == ["old"]
    check_truth(home)


RESTORED = (
    DEADLY
    + """
from moss_memory.cli.commands.restore_backup_command import restore_backup
restore_backup(sys.argv[2], sys.argv[3])
print("whole", flush=True)
"""
)


@pytest.mark.parametrize("harm", first_of(["none", "open", "cut"]))
def test_a_restore_killed_at_any_step_leaves_the_old_store_or_the_new_one(
    home: Path, cli: Cli, backup: Path, tmp_path: Path, harm: str
) -> None:
    steps, killed, came_in = 0, 0, set()
    database = (home / "moss.db").read_bytes()
    while True:
        place = tmp_path / f"home {steps}"
        place.mkdir()
        content = database[:5000] if harm == "cut" else database
        (place / "moss.db").write_bytes(content)
        running = open_at(place) if harm == "open" else None
        if running is not None:
            put(running, "running")
        old = ["new", "old", *(["running"] if running else [])]
        process = start(RESTORED, steps, place, backup)
        output, _ = process.communicate(timeout=60)
        if running is not None:
            assert sorted(i["name"] for i in running.call("capsule_list", {})["items"]) in (["old"], old)
            running.close()
        if harm == "cut":
            is_new = (place / "moss.db").read_bytes() != content
            assert not is_new or names(place) == ["old"]
            assert not is_new or kept(place)[0].read_bytes() == content
        else:
            found = names(place)
            assert found in (["old"], old)
            is_new = found == ["old"]
            assert not is_new or names_in(kept(place)[0]) == old
            check_truth(place)
        came_in.add(is_new)
        if output:
            assert output == "whole\n"
            break
        killed += 1
        steps += complete_or(1, 2) if steps < 8 else complete_or(11, 22)
    assert killed > complete_or(8, 4)
    assert came_in == {True, False}
