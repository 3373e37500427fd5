"""`moss connect` keeps owner, mode, attributes and links of a client's file, and earlier copies."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from moss_memory.connect import jsonc
from moss_memory.connect.clients import CLIENTS, USER

if TYPE_CHECKING:
    from support.cli_typist import Cli

TEXT = '{\n  "mcpServers": {\n    "a": {"command": "a"}\n  }\n}\n'
OTHER_UID, OTHER_GID = 54321, 54322


class Attributes:
    """Extended attributes in memory, by inode, for a file system that has none."""

    def __init__(self) -> None:
        self.kept: dict[tuple[int, int], dict[str, bytes]] = {}

    def _of(self, file: Any) -> dict[str, bytes]:
        status = os.stat(file)
        return self.kept.setdefault((status.st_dev, status.st_ino), {})

    def listxattr(self, file: Any) -> list[str]:
        return list(self._of(file))

    def getxattr(self, file: Any, name: str) -> bytes:
        if name not in self._of(file):
            raise OSError(errno.ENODATA, "no such attribute")
        return self._of(file)[name]

    def setxattr(self, file: Any, name: str, value: bytes) -> None:
        self._of(file)[name] = value

    def removexattr(self, file: Any, name: str) -> None:
        del self._of(file)[name]


@pytest.fixture
def path(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Write Cursor's file with another server to a file system with extended attributes."""
    monkeypatch.setenv("PATH", "/nowhere")
    file = Path(CLIENTS["cursor"].file(USER))
    file.parent.mkdir()
    file.write_text(TEXT)
    try:
        os.setxattr(file, "user.probe", b"1")
        os.removexattr(file, "user.probe")
    except (OSError, AttributeError):
        fake = Attributes()
        for name in ("listxattr", "getxattr", "setxattr", "removexattr"):
            monkeypatch.setattr(os, name, getattr(fake, name), raising=False)
    return file


def attributes(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


def is_connected(path: Path) -> bool:
    return jsonc.find_value(path.read_text(), ("mcpServers", "moss")) is not None


def names_beside(path: Path) -> set[str]:
    return set(os.listdir(path.parent)) - {path.name}


def test_extended_attributes_and_mode_stay(cli: Cli, path: Path) -> None:
    os.setxattr(path, "user.colour", b"green")
    path.chmod(0o640)
    cli("connect", "cursor")
    assert is_connected(path)
    assert attributes(path)["user.colour"] == b"green"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    cli("connect", "cursor", "--remove")
    assert (path.read_text(), attributes(path)["user.colour"]) == (TEXT, b"green")


def test_an_attribute_that_cannot_be_copied_stays_on_the_file(
    cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.setxattr(path, "user.colour", b"green")

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not allowed")

    monkeypatch.setattr(os, "setxattr", refused)
    cli("connect", "cursor")
    assert is_connected(path)
    assert attributes(path)["user.colour"] == b"green"


def test_owner_and_group_stay_on_file_and_copy(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    chown = os.fchown

    def recorded(fd: int, uid: int, gid: int) -> None:
        given.append((uid, gid))
        chown(fd, uid, gid)

    monkeypatch.setattr(os, "fchown", recorded)
    if os.geteuid() == 0:
        os.chown(path, OTHER_UID, OTHER_GID)
    owner = (path.stat().st_uid, path.stat().st_gid)
    backup = Path(cli("connect", "cursor").json["backup"])
    for one in (path, backup):
        assert (one.stat().st_uid, one.stat().st_gid) == owner
    assert given == [owner, owner], "copy and file must have the same owner"


def test_an_owner_that_cannot_be_restored_stays(cli: Cli, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not allowed")

    inode = path.stat().st_ino
    monkeypatch.setattr(os, "fchown", refused)
    cli("connect", "cursor")
    assert is_connected(path)
    assert path.stat().st_ino == inode


def test_a_hard_link_stays_one_file(cli: Cli, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "dotfiles.json"
    os.link(path, other)
    cli("connect", "cursor")
    assert is_connected(other)
    assert os.path.samefile(path, other)
    cli("connect", "cursor", "--remove")
    assert other.read_text() == TEXT
    assert os.path.samefile(path, other)
    assert names_beside(path) == {"mcp.json.before-moss"}


@pytest.mark.parametrize("room", [0, 10])
def test_a_hard_link_is_unchanged_if_the_disk_is_full(
    cli: Cli, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    os.link(path, tmp_path / "dotfiles.json")
    inode, write = path.stat().st_ino, os.write
    failed: list[int] = []

    def full(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino != inode or failed:
            return write(fd, data)
        if len(data) <= room or room == 0:
            failed.append(fd)
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[: len(data) - room])

    monkeypatch.setattr(os, "write", full)
    refused = cli("connect", "cursor")
    assert failed
    assert (refused.code, "cannot be written" in refused.err) == (1, True)
    assert path.read_text() == TEXT
    assert names_beside(path) == {"mcp.json.before-moss"}


def test_if_the_old_text_cannot_be_restored_its_copy_is_named(
    cli: Cli, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(path, tmp_path / "dotfiles.json")
    inode, write = path.stat().st_ino, os.write

    def full(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino == inode:
            raise OSError(errno.EIO, "Input/output error")
        return write(fd, data)

    monkeypatch.setattr(os, "write", full)
    refused = cli("connect", "cursor")
    (copy,) = [path.parent / name for name in names_beside(path) if name.endswith(".tmp")]
    assert str(copy) in refused.err
    assert copy.read_text() == TEXT


def test_a_copy_made_by_the_user_is_never_overwritten(cli: Cli, path: Path) -> None:
    own = path.with_name("mcp.json.before-moss")
    own.write_text("mine\n")
    told = cli("connect", "cursor").json
    assert own.read_text() == "mine\n"
    assert told["backup"] == str(path.with_name("mcp.json.before-moss-2"))
    assert Path(told["backup"]).read_text() == TEXT
    cli("connect", "cursor", "--remove")
    assert (path.read_text(), own.read_text()) == (TEXT, "mine\n")


def test_later_connections_keep_the_first_copy(cli: Cli, path: Path) -> None:
    first = Path(cli("connect", "cursor").json["backup"])
    path.write_text(jsonc.set_value(path.read_text(), ("mcpServers", "b"), {"command": "b"}))
    second = cli("connect", "cursor", "--toolsets", "task").json["backup"]
    assert first.read_text() == TEXT
    assert second == f"{first}-2"
    cli("connect", "cursor", "--toolsets", "capsule")
    assert first.read_text() == TEXT


def test_the_same_text_is_copied_once(cli: Cli, path: Path) -> None:
    for _ in range(3):
        assert cli("connect", "cursor").json["backup"] == f"{path}.before-moss"
        cli("connect", "cursor", "--remove")
    assert names_beside(path) == {"mcp.json.before-moss"}
