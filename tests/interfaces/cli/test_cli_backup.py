"""`moss backup`: a consistent copy of the store in one private file, which overwrites nothing."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory import open_store
from moss_memory.storage.sqlite import backup
from storage.database import connect
from support.python_process import without_root_powers
from support.timeouts import TIMEOUT_S

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli_typist import Cli


def test_a_backup_is_the_whole_store_and_can_be_restored(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    cli("store", "--name", "gone", "--allow-thin", "--capsule-text", "x").json  # noqa: B018
    cli("delete", "gone").json  # noqa: B018
    before = cli("inventory", "--include-deleted").json
    copy = tmp_path / "copy.db"
    answer = cli("backup", str(copy)).json
    assert answer == {"path": str(copy), "bytes": copy.stat().st_size}
    cli("bulk-delete", "--workspace", "default").json  # noqa: B018
    for name in os.listdir(cli.home):
        if name.startswith("moss.db"):
            os.unlink(os.path.join(cli.home, name))
    shutil.copy(copy, os.path.join(cli.home, "moss.db"))
    assert cli("inventory", "--include-deleted").json == before
    assert cli("search", "refresh tokens").json["items"][0]["id"] == auth["id"]
    assert cli("store", "--name", "new", "--allow-thin", "--capsule-text", "y").code == 0
    assert cli("doctor").code == 0


def test_a_backup_is_private_and_one_file_whatever_the_umask(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cli("backup", str(tmp_path / "copy.db")).json  # noqa: B018
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]


def test_a_backup_contains_the_latest_writes_of_others(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    with open_store(cli.home) as other:
        other.call("capsule_store", {"name": "fresh", "capsule_text": "x", "allow_thin": True})
        cli("backup", str(tmp_path / "copy.db")).json  # noqa: B018
        other.call("capsule_store", {"name": "later", "capsule_text": "x", "allow_thin": True})
    copy = connect(tmp_path, "copy.db")
    names = [name for (name,) in copy.execute("select name_norm from capsules order by name_norm")]
    copy.close()
    assert names == ["auth", "fresh"]


def test_a_read_only_store_is_backed_up(cli: Cli, auth: dict[str, Any], tmp_path: Path) -> None:
    os.chmod(cli.home, 0o500)
    line = [*without_root_powers(), sys.executable, "-m", "moss_memory", "backup", str(tmp_path / "copy.db")]
    done = subprocess.run(line, env=cli.environment, capture_output=True, timeout=TIMEOUT_S, check=False)
    os.chmod(cli.home, 0o700)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy.db").stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("there.db", "is there already"),
        (".", "is there already"),
        ("link.db", "is there already"),
        ("no/such/folder.db", "cannot be made: No such file"),
        ("home/moss.db-wal", "belongs to the store itself"),
        ("home/../home/moss.db-journal", "belongs to the store itself"),
    ],
)
def test_a_backup_overwrites_nothing(cli: Cli, auth: dict[str, Any], tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "there.db").write_bytes(b"mine")
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere.db")
    before = sorted(tmp_path.rglob("*"))
    outcome = cli("backup", os.path.join(tmp_path, name))
    assert outcome.code == 1
    assert outcome.err.startswith("[INVALID_REQUEST] ")
    assert says in outcome.err
    assert (tmp_path / "there.db").read_bytes() == b"mine"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_backup_of_a_missing_store_is_refused(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("backup", str(tmp_path / "copy.db"))
    assert outcome.err.startswith("[NOT_FOUND] there is no store")
    assert not (tmp_path / "copy.db").exists()
    assert not os.path.exists(cli.home)


def test_a_backup_on_a_full_disk_leaves_no_file(
    cli: Cli, auth: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(backup, "make_durable", full)
    outcome = cli("backup", str(tmp_path / "copy.db"))
    assert outcome.err == f"[STORAGE_FULL] no space is left for {tmp_path / 'copy.db'}; nothing was kept of it\n"
    assert not (tmp_path / "copy.db").exists()
