"""Which paths import and export may open, and which they refuse without touching them."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from support.python_process import run
from support.store_truth import capsule, contents, open_at, refusal

RECORD = json.dumps({"id": "from a file", "workspace_raw": "w", "capsule_text": "imported"}) + "\n"
SECRET = json.dumps({"id": "secret", "workspace_raw": "w", "capsule_text": "from outside"}) + "\n"


class Place:
    """A home with one capsule, its exports folder, and a file outside that may be neither read nor written."""

    def __init__(self, home: Path, tmp_path: Path) -> None:
        self.home = home
        self.exports = home / "exports"
        self.outside = tmp_path.resolve() / "outside"
        self.exports.mkdir(parents=True, mode=0o700)
        self.outside.mkdir()
        self.secret = self.outside / "secret.jsonl"
        self.secret.write_text(SECRET)
        self.good = self.exports / "good.jsonl"
        self.good.write_text(RECORD)


@pytest.fixture
def place(home: Path, tmp_path: Path, store: Store) -> Place:
    made = Place(home, tmp_path)
    store.call("capsule_store", {"capsule_text": capsule(), "name": "a"})
    return made


def tree(folder: Path) -> dict[str, object]:
    """Return every file below the folder except the database, with its content or its link target."""
    found: dict[str, object] = {}
    for where, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(where, name)
            mode = path.lstat().st_mode
            if name.startswith("moss."):
                continue
            if stat.S_ISLNK(mode):
                found[str(path)] = os.readlink(path)
            elif stat.S_ISREG(mode):
                found[str(path)] = (path.read_bytes(), path.lstat().st_nlink)
            else:
                found[str(path)] = stat.S_IFMT(mode)
    return found


def assert_refused(store: Store, place: Place, tool: str, path: str, code: str = "INVALID_REQUEST") -> MossError:
    """Assert that a call is refused with that code, and that neither the store nor any file changes."""
    files, rows = tree(place.home.parent), contents(place.home)
    error = refusal(lambda: store.call(tool, {"path": path}))
    assert error.code == code, error
    assert tree(place.home.parent) == files
    assert contents(place.home) == rows
    return error


BAD_PATHS: dict[str, Callable[[Place], str]] = {
    "traversal": lambda place: f"{place.exports}/../../outside/secret.jsonl",
    "traversal that comes back": lambda place: f"{place.exports}/../exports/good.jsonl",
    "relative traversal": lambda place: "../outside/secret.jsonl",
    "outside": lambda place: str(place.secret),
    "sibling with the same prefix": lambda place: f"{place.exports}-evil/secret.jsonl",
    "subfolder": lambda place: f"{place.exports}/sub/good.jsonl",
    "home itself": lambda place: f"{place.home}/good.jsonl",
    "NUL": lambda place: f"{place.exports}/a\0.jsonl",
    "newline": lambda place: f"{place.exports}/a\n.jsonl",
    "escape": lambda place: "a\x1b[2J.jsonl",
    "C1 control": lambda place: "a\x85.jsonl",
    "wrong extension": lambda place: f"{place.exports}/good.json",
    "no extension": lambda place: "good",
    "upper-case extension": lambda place: "good.JSONL",
    "extension only": lambda place: ".jsonl",
    "extension only in the folder": lambda place: f"{place.exports}/.jsonl",
    "extension as a folder": lambda place: f"{place.exports}/good.jsonl/",
    "extension before a trailing space": lambda place: "good.jsonl ",
    "blank": lambda place: "   ",
    "empty": lambda place: "",
    "name of 300 characters": lambda place: "x" * 294 + ".jsonl",
    "path of 5000 characters": lambda place: f"{place.exports}/{'x/' * 2500}a.jsonl",
    "an unknown user's home": lambda place: "~nobody-has-this-name/x.jsonl",
    "home of the user": lambda place: "~/x.jsonl",
    "the database": lambda place: str(place.home / "moss.db"),
    "the log": lambda place: str(place.home / "moss.db-wal"),
    "a device": lambda place: "/dev/null",
    "a lone surrogate": lambda place: "a\ud800.jsonl",
    "url": lambda place: f"file://{place.good}",
    "traversal of another system": lambda place: "..\\outside\\secret.jsonl",
    "the same after a name": lambda place: "x\\..\\secret.jsonl",
    "the same in a folder": lambda place: f"{place.exports}/..\\secret.jsonl",
    "the same at the end": lambda place: f"{place.exports}\\../secret.jsonl",
    "a share of another machine": lambda place: "\\\\host\\share\\secret.jsonl",
}


@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
@pytest.mark.parametrize("kind", BAD_PATHS)
def test_a_path_that_leads_out_is_refused(store: Store, place: Place, tool: str, kind: str) -> None:
    (place.exports / "sub").mkdir()
    (place.exports / "sub" / "good.jsonl").write_text(RECORD)
    (place.exports / "good.json").write_text(RECORD)
    evil = Path(f"{place.exports}-evil")
    evil.mkdir()
    (evil / "secret.jsonl").write_text(SECRET)
    assert_refused(store, place, tool, BAD_PATHS[kind](place))


def link_to_secret(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to(place.secret)


def link_to_good(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to(place.good)


def dangling_link(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to(place.outside / "new.jsonl")


def link_to_itself(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to(place.exports / "x.jsonl")


def hard_link(place: Place) -> None:
    os.link(place.secret, place.exports / "x.jsonl")


def hard_link_to_the_database(place: Place) -> None:
    os.link(place.home / "moss.db", place.exports / "x.jsonl")


def hard_link_to_the_log(place: Place) -> None:
    os.link(place.home / "moss.db-wal", place.exports / "x.jsonl")


def link_to_the_database(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to(place.home / "moss.db")


def fifo(place: Place) -> None:
    os.mkfifo(place.exports / "x.jsonl")


def unix_socket(place: Place) -> None:
    import socket

    here = os.getcwd()
    os.chdir(place.exports)  # a socket's address is shorter than most temporary paths
    try:
        socket.socket(socket.AF_UNIX).bind("x.jsonl")
    finally:
        os.chdir(here)


def folder(place: Place) -> None:
    (place.exports / "x.jsonl").mkdir()


def link_to_a_device(place: Place) -> None:
    (place.exports / "x.jsonl").symlink_to("/dev/zero")


SPECIAL = [
    link_to_secret, link_to_good, dangling_link, link_to_itself, hard_link, hard_link_to_the_database,
    hard_link_to_the_log, link_to_the_database, fifo, unix_socket, folder, link_to_a_device,
]  # fmt: skip


@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("make", SPECIAL, ids=lambda make: str(make.__name__))
def test_an_entry_that_is_not_a_plain_file_is_refused(
    home: Path, place: Place, tool: str, make: Callable[[Place], None], unsafe: bool
) -> None:
    make(place)
    with open_at(home, allow_unsafe_paths=unsafe) as store:
        assert_refused(store, place, tool, "x.jsonl")
        assert_refused(store, place, tool, str(place.exports / "x.jsonl"))


def test_a_device_node_is_refused(store: Store, place: Place) -> None:
    try:
        os.mknod(place.exports / "x.jsonl", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        (place.exports / "x.jsonl").symlink_to("/dev/zero")  # only root makes devices
    for tool in ("capsule_import", "capsule_export"):
        assert_refused(store, place, tool, "x.jsonl")


@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
def test_an_exports_folder_that_is_a_link_is_refused(store: Store, place: Place, tool: str) -> None:
    place.good.unlink()
    place.exports.rmdir()
    place.exports.symlink_to(place.outside)
    assert_refused(store, place, tool, "secret.jsonl")
    assert_refused(store, place, tool, str(place.exports / "secret.jsonl"))
    files = tree(place.home.parent)
    assert refusal(lambda: store.call("capsule_export", {})).code == "INVALID_REQUEST"
    assert tree(place.home.parent) == files


@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_a_parent_that_is_a_link_is_refused(home: Path, place: Place, tool: str, unsafe: bool) -> None:
    (place.home.parent / "link").symlink_to(place.outside)
    with open_at(home, allow_unsafe_paths=unsafe) as store:
        assert_refused(store, place, tool, str(place.home.parent / "link" / "secret.jsonl"))


@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("below", ["exports", "exports/deeper/still"])
def test_a_link_further_up_does_not_lead_out(home: Path, place: Place, tool: str, unsafe: bool, below: str) -> None:
    (place.home.parent / "link").symlink_to(place.outside)
    (place.outside / below).mkdir(parents=True)
    (place.outside / below / "secret.jsonl").write_text(SECRET)
    with open_at(home, allow_unsafe_paths=unsafe) as store:
        assert_refused(store, place, tool, str(place.home.parent / "link" / below / "secret.jsonl"))


ALLOWED_WHEN_UNSAFE = (
    "outside", "sibling with the same prefix", "subfolder", "home itself", "home of the user", "url",
    "an unknown user's home",
)  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in BAD_PATHS if kind not in ALLOWED_WHEN_UNSAFE])
@pytest.mark.parametrize("tool", ["capsule_import", "capsule_export"])
def test_unsafe_paths_still_refuse_traversal_extension_and_controls(
    home: Path, place: Place, tool: str, kind: str
) -> None:
    with open_at(home, allow_unsafe_paths=True) as store:
        assert_refused(store, place, tool, BAD_PATHS[kind](place))


def test_unsafe_paths_allow_any_real_folder(home: Path, place: Place) -> None:
    with open_at(home, allow_unsafe_paths=True) as store:
        written = store.call("capsule_export", {"path": str(place.outside / "x.jsonl")})
        assert written["path"] == str(place.outside / "x.jsonl")
        (place.outside / "in.jsonl").write_text(RECORD)
        assert store.call("capsule_import", {"path": str(place.outside / "in.jsonl")})["imported"] == 1
    assert place.secret.read_text() == SECRET


@pytest.mark.parametrize("path", ["missing.jsonl", "exports/missing.jsonl", "{exports}/missing.jsonl"])
def test_a_missing_file_is_not_found(store: Store, place: Place, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.home)
    assert_refused(store, place, "capsule_import", path.format(exports=place.exports), "NOT_FOUND")


def test_an_import_without_an_exports_folder_is_not_found_and_makes_none(store: Store, home: Path) -> None:
    assert refusal(lambda: store.call("capsule_import", {"path": "x.jsonl"})).code == "NOT_FOUND"
    assert not (home / "exports").exists()


@pytest.mark.parametrize("path", ["good.jsonl", "exports/good.jsonl", "./exports/good.jsonl", "{exports}/good.jsonl",
                                  "{exports}//good.jsonl", "{exports}/./good.jsonl"])  # fmt: skip
def test_every_spelling_of_a_file_in_exports_works(
    store: Store, place: Place, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.home)
    spelled = path.format(exports=place.exports)
    assert store.call("capsule_import", {"path": spelled})["imported"] == 1
    written = store.call("capsule_export", {"path": spelled})
    assert Path(written["path"]) == place.good
    assert written["bytes"] == place.good.stat().st_size
    assert json.loads(place.good.read_text().splitlines()[0])["_moss_export"] is True


def test_a_tilde_means_the_users_home(store: Store, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place.home.parent))
    path = "~/home/exports/new.jsonl"
    assert store.call("capsule_export", {"path": path})["path"] == str(place.exports / "new.jsonl")
    assert store.call("capsule_import", {"path": path, "mode": "rename"})["imported"] == 1


def test_a_home_behind_a_link_works(home: Path, place: Place, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(home)
    with open_at(tmp_path / "alias") as store:
        assert store.call("capsule_fetch", {"name": "a"})["name"] == "a"
        assert store.call("capsule_import", {"path": "good.jsonl"})["imported"] == 1
        written = store.call("capsule_export", {"path": str(tmp_path / "alias" / "exports" / "new.jsonl")})
        assert Path(written["path"]) == place.exports / "new.jsonl"


def test_a_bare_name_lives_in_exports_whatever_the_current_folder(
    store: Store, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.outside)
    assert_refused(store, place, "capsule_import", "secret.jsonl", "NOT_FOUND")
    written = store.call("capsule_export", {"path": "secret.jsonl"})
    assert Path(written["path"]) == place.exports / "secret.jsonl"
    assert place.secret.read_text() == SECRET


def test_a_current_folder_that_is_gone_is_a_typed_error(
    store: Store, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for tool in ("capsule_import", "capsule_export"):
        assert refusal(store.call, tool, {"path": "sub/x.jsonl"}).code == "INVALID_REQUEST"


def configured(home: Path, *allowed: object) -> Store:
    """Return a store whose configuration file allows those folders."""
    (home / "config.json").write_text(json.dumps({"allowed_paths": [str(entry) for entry in allowed]}))
    return Store(load_config(home=str(home), cwd="/"))


def test_an_allowed_folder_works_and_only_it(home: Path, place: Place) -> None:
    allowed = place.home.parent / "allowed"
    (allowed / "sub").mkdir(parents=True)
    before = stat.S_IMODE(allowed.stat().st_mode)
    with configured(home, allowed) as store:
        written = store.call("capsule_export", {"path": str(allowed / "x.jsonl")})
        assert Path(written["path"]) == allowed / "x.jsonl"
        assert stat.S_IMODE((allowed / "x.jsonl").stat().st_mode) == 0o600
        assert store.call("capsule_import", {"path": str(allowed / "x.jsonl"), "mode": "rename"})["imported"] == 1
        for tool in ("capsule_import", "capsule_export"):
            assert_refused(store, place, tool, str(allowed / "sub" / "x.jsonl"))
            assert_refused(store, place, tool, str(allowed) + "-evil/x.jsonl")
            assert_refused(store, place, tool, str(place.secret))
    assert stat.S_IMODE(allowed.stat().st_mode) == before


def test_an_allowed_entry_that_is_a_link_is_ignored_with_a_warning(home: Path, place: Place) -> None:
    link = place.home.parent / "allowed"
    link.symlink_to(place.outside)
    with configured(home, link) as store:
        assert any("symbolic link" in warning for warning in store.config.warnings)
        for tool in ("capsule_import", "capsule_export"):
            assert_refused(store, place, tool, str(link / "secret.jsonl"))
            assert_refused(store, place, tool, str(place.secret))


def test_an_allowed_folder_replaced_by_a_link_later_is_refused(home: Path, place: Place) -> None:
    allowed = place.home.parent / "allowed"
    allowed.mkdir()
    with configured(home, allowed) as store:
        allowed.rmdir()
        allowed.symlink_to(place.outside)
        for tool in ("capsule_import", "capsule_export"):
            assert_refused(store, place, tool, str(allowed / "secret.jsonl"))


def test_a_relative_allowed_entry_is_ignored_with_a_warning(
    home: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.home.parent)
    with configured(home, "outside", ".", "./outside") as store:
        assert len(store.config.warnings) == 3
        for tool in ("capsule_import", "capsule_export"):
            assert_refused(store, place, tool, "outside/secret.jsonl")


def test_a_missing_allowed_folder_is_made_private_by_an_export(home: Path, place: Place) -> None:
    missing = place.home.parent / "missing"
    with configured(home, missing) as store:
        assert_refused(store, place, "capsule_import", str(missing / "x.jsonl"), "NOT_FOUND")
        store.call("capsule_export", {"path": str(missing / "x.jsonl")})
    assert stat.S_IMODE(missing.stat().st_mode) == 0o700


def test_missing_folders_above_an_allowed_one_are_made_private_too(home: Path, place: Place) -> None:
    missing = place.home.parent / "a" / "b" / "c"
    with configured(home, missing) as store:
        written = store.call("capsule_export", {"path": str(missing / "x.jsonl")})
    assert Path(written["path"]) == missing / "x.jsonl"
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (missing, *missing.parents[:2])] == [0o700] * 3


def test_an_allowed_folder_whose_parent_is_a_link_works_by_either_name(home: Path, place: Place) -> None:
    (place.home.parent / "link").symlink_to(place.outside)
    allowed = place.home.parent / "link" / "deep"
    (place.outside / "deep").mkdir()
    with configured(home, allowed) as store:
        for spelled in (allowed / "x.jsonl", place.outside / "deep" / "x.jsonl"):
            written = store.call("capsule_export", {"path": str(spelled)})
            assert Path(written["path"]) == place.outside / "deep" / "x.jsonl"


HOLDS_THE_DATABASE = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
try:
    # SQLite's shared lock covers these 510 bytes as long as a connection in WAL mode is open.
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    print("free")
except OSError:
    print("locked")
"""


def test_a_refused_hard_link_to_the_database_does_not_drop_its_locks(store: Store, place: Place) -> None:
    hard_link_to_the_database(place)
    assert run(HOLDS_THE_DATABASE, place.home / "moss.db") == "locked\n"
    assert refusal(lambda: store.call("capsule_import", {"path": "x.jsonl"})).code == "INVALID_REQUEST"
    assert run(HOLDS_THE_DATABASE, place.home / "moss.db") == "locked\n"


def test_a_hard_link_that_is_there_only_while_it_is_opened_is_refused(
    store: Store, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = place.exports / "x.jsonl"
    taken.write_text(RECORD)
    real_open = os.open

    def open_swapped(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if name != taken.name:
            return real_open(name, flags, mode, dir_fd=dir_fd)
        taken.unlink()
        os.link(place.secret, taken)
        fd = real_open(name, flags, mode, dir_fd=dir_fd)
        taken.unlink()
        taken.write_text(RECORD)
        return fd

    monkeypatch.setattr(os, "open", open_swapped)
    refused = refusal(lambda: store.call("capsule_import", {"path": "x.jsonl"}))
    monkeypatch.undo()
    assert refused.code == "INVALID_REQUEST"
    assert [item["name"] for item in store.call("capsule_inventory", {})["items"]] == ["a"]


def test_a_hard_link_that_is_being_taken_away_is_refused(
    store: Store, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = place.exports / "x.jsonl"
    os.link(place.secret, taken)
    real_stat, real_fstat, secret = os.stat, os.fstat, place.secret.stat()

    def one_link_less(found: os.stat_result) -> Any:
        told = {name: getattr(found, name) for name in dir(found) if name.startswith("st_")}
        return SimpleNamespace(**{**told, "st_nlink": found.st_nlink - os.path.samestat(found, secret)})

    def stat_meanwhile(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Any:
        if dir_fd is not None and path != taken.name:
            taken.unlink(missing_ok=True)  # whoever looks into the folder waits until that is done
        return one_link_less(real_stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks))

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", stat_meanwhile)
        patch.setattr(os, "fstat", lambda fd: one_link_less(real_fstat(fd)))
        refused = refusal(lambda: store.call("capsule_import", {"path": "x.jsonl"}))
    assert refused.code == "NOT_FOUND"
    assert [item["name"] for item in store.call("capsule_inventory", {})["items"]] == ["a"]
