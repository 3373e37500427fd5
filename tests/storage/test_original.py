"""A store of the original Moss is converted when it is first opened; every row moves, and a copy of the file stays."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from moss_memory.storage.schema_version import SCHEMA_VERSION
from storage.database import connect
from support.deadly_disk import DEADLY
from support.mcp_pipe import PipeClient, call
from support.original_store import KINDS, read_original, row, write_original
from support.python_process import environment, run, start
from support.store_truth import capsule, check_truth, open_at, refusal
from support.thorough import complete_or, first_of
from support.timeouts import TIMEOUT_S

ROWS = [
    row(1),
    row(2, name_raw=None, title=None),
    row(3, deleted_at=1_737_200_000),
    row(4, workspace_raw="other", name_raw="Name 1", run_id="r", phase="p", role="x"),
    row(5, capsule_text="thin\r\nand with CRLF"),
    row(6, name_raw="Name 3"),
]
OPENINGS = {"read": ("capsule_list", {}), "write": ("capsule_store", {"capsule_text": capsule(), "name": "new"})}


def copies(home: Path) -> list[Path]:
    return sorted(home.glob("moss.db.v1-*"))


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_row_keeps_its_values(home: Path, kind: str, journal: str, opening: str) -> None:
    write_original(home, ROWS, kind, journal=journal)
    with open_at(home) as store:
        store.call(*OPENINGS[opening])
        for old in ROWS:
            found = store.call("capsule_fetch", {"id": old["id"], "include_deleted": True})
            kept = ("id", "title", "capsule_text", "source", "created_at", "updated_at", "deleted_at")
            assert {key: found.get(key) for key in kept} == {key: old[key] for key in kept}
            assert (found["workspace"], found.get("name")) == (old["workspace_raw"], old["name_raw"])
            assert found["tags"] == json.loads(old["tags_json"] or "[]")
            assert found["capsule_chars"] == len(old["capsule_text"])
            if kind in ("later", "first", "second"):
                assert found.get("run_id") == old.get("run_id")
        assert store.call("capsule_fetch", {"workspace": "start up", "name": "name 1"})["id"] == ROWS[0]["id"]
        assert store.call("capsule_search", {"query": "word4"})["items"][0]["id"] == ROWS[3]["id"]
        listed = [item["id"] for item in store.call("capsule_inventory", {})["items"]]
        assert [one for one in listed if one.startswith("01ARZ3NDEKTSV4RRFFQ69G")] == [
            ROWS[number]["id"] for number in (5, 4, 3, 1, 0)
        ]
    check_truth(home)
    connection = connect(home)
    assert connection.pragma("user_version") == SCHEMA_VERSION
    names = {name for (name,) in connection.execute("select name from sqlite_schema")}
    assert not [name for name in names if "fts" in name or "original" in name or name.startswith("idx_")]
    connection.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_private_and_complete_copy_of_the_original_file_stays(home: Path, kind: str) -> None:
    path = write_original(home, ROWS, kind)
    path.chmod(0o644)
    before = read_original(path)
    with open_at(home) as store:
        store.call("capsule_list", {})
    [copy] = copies(home)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert read_original(copy) == before
    connection = apsw.Connection(str(copy))
    assert connection.pragma("integrity_check") == "ok"
    assert connection.pragma("user_version") == KINDS[kind][1]
    connection.close()


def test_rows_in_the_log_of_the_original_are_moved_too(home: Path) -> None:
    path = write_original(home, [row(1)])
    unclosed = apsw.Connection(str(path))
    values = row(2)
    unclosed.execute(
        "insert into capsules (id, workspace_raw, workspace_norm, capsule_text, capsule_chars, tokens_estimate, "
        "created_at, updated_at) values (:id, :workspace_raw, :workspace_norm, :capsule_text, 1, 1, 1, 1)",
        {key: values[key] for key in ("id", "workspace_raw", "workspace_norm", "capsule_text")},
    )
    assert (home / "moss.db-wal").stat().st_size > 0
    with open_at(home) as store:
        assert store.call("capsule_inventory", {})["pagination"]["total"] == 2
    unclosed.close()
    assert len(read_original(copies(home)[0])) == 2


def test_the_conversion_is_reported_once_on_stderr(home: Path) -> None:
    write_original(home, ROWS)
    script = (
        "import sys; from support.store_truth import open_at\n"
        "with open_at(sys.argv[1]) as store: store.call('capsule_list', {})"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", script, str(home)], check=True, capture_output=True, text=True, env=environment()
        ).stderr
        for _ in range(2)
    ]
    assert said[0].count("\n") == 1
    assert "6 capsules moved in" in said[0]
    assert copies(home)[0].name in said[0]
    assert said[1] == ""
    assert len(copies(home)) == 1


def test_names_that_become_equal_get_suffixes_and_the_newer_one_keeps_its_own(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        row(1, name_raw="Cafe\u0301"),
        row(2, name_raw="Caf\u00e9"),
        row(3, name_raw="caf\u00e9-1"),
        row(4, name_raw="Cafe\u0301 ", deleted_at=5),
    ]
    write_original(home, rows)
    with open_at(home) as store:
        found = {
            item["id"]: item["name"] for item in store.call("capsule_inventory", {"include_deleted": True})["items"]
        }
        named = store.call("capsule_fetch", {"workspace": "start up", "name": "CAFÉ"})
    assert found == {
        rows[0]["id"]: "Cafe\u0301-2",
        rows[1]["id"]: "Caf\u00e9",
        rows[2]["id"]: "caf\u00e9-1",
        rows[3]["id"]: "Cafe\u0301 ",
    }
    assert named["id"] == rows[1]["id"]
    assert "is now 'Cafe\u0301-2'" in capsys.readouterr().err
    check_truth(home)


def test_invalid_names_become_the_nearest_valid_ones_and_no_row_is_lost(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        row(1, name_raw="two\twords"),
        row(2, name_raw="n" * 300),
        row(3, name_raw=" "),
        row(4, workspace_raw="\x1b[31m"),
        row(5, workspace_raw=""),
        row(6, tags_json="no json"),
        row(7, tags_json='[" a ","a",3,""]'),
        row(8, capsule_text=b"\xff\xfe caf\xc3\xa9 \0"),
        row(9, created_at="soon", updated_at=-5),
    ]
    write_original(home, rows)
    with open_at(home) as store:
        items = {item["id"][-1]: item for item in store.call("capsule_inventory", {})["items"]}
        text = store.call("capsule_fetch", {"id": rows[7]["id"]})["capsule_text"]
        for item in items.values():
            store.call("capsule_update", {"id": item["id"], "title": "still to be changed"})
    assert items["1"]["name"] == "two words"
    assert items["2"]["name"] == "n" * 256
    assert "name" not in items["3"]
    assert items["4"]["workspace"] == "[31m"
    assert items["5"]["workspace"] == "default"
    assert (items["6"]["tags"], items["7"]["tags"]) == ([], ["a"])
    assert text == "\ufffd\ufffd café \ufffd"
    assert (items["9"]["created_at"], items["9"]["updated_at"]) == (0, 0)
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "U+FFFD" in said
    assert "' ' cannot be a name here; the capsule has none now" in said
    assert "'' cannot be a name here; it is now 'default'" in said


def test_an_original_without_a_capsule_is_converted_too(home: Path) -> None:
    write_original(home, [])
    with open_at(home) as store:
        assert store.call("capsule_list", {})["items"] == []
        store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    assert len(copies(home)) == 1


@pytest.mark.parametrize("opening", OPENINGS)
def test_a_damaged_original_is_reported_as_corrupt_and_not_changed(home: Path, opening: str) -> None:
    path = write_original(home, [row(number) for number in range(60)], journal="delete")
    content = bytearray(path.read_bytes())
    for start_at in range(8 * 4096, len(content), 4096):
        content[start_at : start_at + 64] = b"\xee" * 64
    path.write_bytes(content)
    with open_at(home) as store:
        assert refusal(lambda: store.call(*OPENINGS[opening])).code == "STORAGE_CORRUPT"
    assert path.read_bytes() == content
    assert not copies(home)


def test_a_full_disk_leaves_the_original_as_it_is_and_no_copy(home: Path) -> None:
    path = write_original(home, ROWS, journal="delete")
    before = path.read_bytes()
    run(
        """
import sys
import apsw
from support.store_truth import open_at, refusal

class FullDisk(apsw.VFS):
    def __init__(self):
        super().__init__("full", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return FullFile(name, flags)

class FullFile(apsw.VFSFile):
    left = 3
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        FullFile.left -= 1
        if FullFile.left < 0:
            raise apsw.FullError("no space")
        super().xWrite(data, offset)

disk = FullDisk()
for _ in range(3):
    with open_at(sys.argv[1]) as store:
        assert refusal(lambda: store.call("capsule_list", {})).code == "STORAGE_FULL"
""",
        home,
    )
    assert path.read_bytes() == before
    assert not copies(home)
    with open_at(home) as store:
        assert store.call("capsule_inventory", {})["pagination"]["total"] == 5


OPENED = (
    DEADLY
    + """
from support.store_truth import open_at
store = open_at(sys.argv[2])
store.call("capsule_list", {})
store.close()
print("whole", flush=True)
"""
)


@pytest.mark.parametrize("journal", first_of(["wal", "delete"]))
def test_a_conversion_killed_at_any_step_leaves_the_original_or_a_whole_store(tmp_path: Path, journal: str) -> None:
    steps, killed = 0, 0
    while True:
        home = tmp_path / str(steps)
        path = write_original(home, ROWS, journal=journal)
        before = read_original(path)
        process = start(OPENED, steps, home)
        output, _ = process.communicate(timeout=TIMEOUT_S)
        for copy in copies(home):
            if not copy.name.endswith((".part", ".part-journal")):
                assert read_original(copy) == before
        with open_at(home) as store:
            found = store.call("capsule_inventory", {"include_deleted": True})
            assert {item["id"] for item in found["items"]} == {one["id"] for one in ROWS}
            store.call("capsule_store", {"capsule_text": capsule(), "name": "after"})
        check_truth(home)
        assert not [copy for copy in copies(home) if ".part" in copy.name and output]
        if output:
            assert output == "whole\n"
            break
        killed += 1
        steps += complete_or(1, 3) if steps < 12 else complete_or(7, 21)
    assert killed > complete_or(12, 4)


@pytest.mark.parametrize("change", ["table", "column", "view", "version", "application", "missing column"])
def test_a_database_similar_to_an_original_is_refused_and_not_changed(home: Path, change: str) -> None:
    path = write_original(home, ROWS, journal="delete")
    connection = apsw.Connection(str(path))
    connection.execute(
        {
            "table": "create table notes (x)",
            "column": "alter table capsules add column mood text",
            "view": "create view v as select id from capsules",
            "version": "pragma user_version = 3",
            "application": "pragma application_id = 7",
            "missing column": "alter table capsules rename column source to origin",
        }[change]
    )
    connection.close()
    before = path.read_bytes()
    for tool, arguments in OPENINGS.values():
        with open_at(home) as store:
            error = refusal(lambda: store.call(tool, arguments))  # noqa: B023
        assert (error.code, error.status) == ("NOT_A_STORE", 500)
    assert path.read_bytes() == before
    assert not copies(home)


def test_a_server_over_stdio_reports_the_conversion_on_stderr_and_serves(home: Path, tmp_path: Path) -> None:
    write_original(home, ROWS)
    with PipeClient(str(home), cwd=str(tmp_path)) as client:
        client.send(call("capsule_inventory"))
        answer: Any = client.receive()
        assert answer["result"]["structuredContent"]["pagination"]["total"] == 5
        client.hang_up()
