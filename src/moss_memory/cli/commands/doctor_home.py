"""Checks of the doctor around the database: home folder, modes, owners, free space, file system."""

from __future__ import annotations

import os
import stat

from .doctor_report import FAIL, OK, WARN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .doctor_report import Report

ENOUGH_BYTES = 200_000_000
TOO_LITTLE_BYTES = 10_000_000
_NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "fuse.sshfs",
    "9p",
    "afs",
    "ceph",
    "glusterfs",
    "drvfs",
)

_SYNC_PROGRAMS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    # Name, prefixes of the folder's name, marker files and marker folders. A folder `.dropbox` is no marker: it has the
    # settings of Dropbox and is in the home folder of its users.
    ("Dropbox", ("Dropbox",), (".dropbox",), (".dropbox.cache",)),
    ("iCloud Drive", ("com~apple~CloudDocs", "Mobile Documents", "iCloud Drive"), (".icloud",), (".icloud",)),
    ("OneDrive", ("OneDrive",), (), ()),
    ("Google Drive", ("Google Drive", "GoogleDrive"), (), (".tmp.drivedownload",)),
    ("Syncthing", (), (".stfolder", ".stignore"), (".stfolder",)),
    ("Resilio Sync", (), (), (".sync",)),
)


def check_location(report: Report, home: str, *, exists: bool) -> bool:
    """Check the folder, the free space and the file system; return True if the store can be checked."""
    usable = _check_folder(report, home, exists=exists)
    folder = _nearest(home, os.path.isdir)
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    status = OK if free >= ENOUGH_BYTES else WARN if free >= TOO_LITTLE_BYTES else FAIL
    todo = "" if status == OK else "free some space; a full disk refuses every write"
    report.add("free space", status, f"{size(free)} free for {home}", todo)
    kind = _file_system(folder)
    if kind in _NETWORK_FILE_SYSTEMS:
        report.add(
            "file system", WARN, f"{home} is on {kind}, whose locks and shared memory are not reliable",
            "set MOSS_HOME to a folder on a local disk",
        )  # fmt: skip
    synced = synced_folder(home)
    if synced is not None:
        report.add(
            "synced folder", WARN,
            f"{home} is inside {synced[0]}, which {synced[1]} syncs; it may change the database while it is in use",
            "set MOSS_HOME to a folder outside of it, and share memories between machines with `moss sync` "
            "(docs/how-to/two-machines.md)",
        )  # fmt: skip
    return usable


def synced_folder(home: str) -> tuple[str, str] | None:
    """Return the synced folder at or above the home and the program that syncs it, None if there is none."""
    folder = os.path.realpath(home)
    while True:
        name = os.path.basename(folder)
        for program, names, files, folders in _SYNC_PROGRAMS:
            if (
                name.startswith(names)
                or any(os.path.isfile(os.path.join(folder, marker)) for marker in files)
                or any(os.path.isdir(os.path.join(folder, marker)) for marker in folders)
            ):
                return folder, program
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)


def _nearest(path: str, accepts: Callable[[str], bool]) -> str:
    """Return the path or its nearest parent that is accepted, else the root."""
    while not accepts(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _check_folder(report: Report, home: str, *, exists: bool) -> bool:
    """Report problems of the home folder; return True if it can be used or created."""
    existing = _nearest(home, os.path.lexists)
    if not os.path.isdir(existing):
        report.add("home", FAIL, f"{existing} is not a folder", "set MOSS_HOME to a folder")
        return False
    if existing != home:
        if not os.access(existing, os.W_OK | os.X_OK):
            problem = f"{home} cannot be created, because {existing} cannot be written"
            report.add("home", FAIL, problem, "set MOSS_HOME to a folder of yours, or make this one")
            return False
        return True
    if not os.access(home, os.R_OK | os.X_OK):
        report.add("home", FAIL, f"{home} cannot be read", f"become its owner, then chmod 700 {home}")
        return False
    if not os.access(home, os.W_OK):
        if not exists:
            report.add("home", FAIL, f"{home} cannot be written, so no store can be created in it", f"chmod 700 {home}")
            return False
        report.add("home", WARN, f"{home} cannot be written; reads still work", "check its owner and mode")
    return True


def size(count: int) -> str:
    """Return a number of bytes with a unit."""
    return f"{count / 1e9:.1f} GB" if count >= 1_000_000_000 else f"{count // 1_000_000} MB"


def check_files(report: Report, home: str, files: Iterable[str]) -> None:
    """Check that only the owner can read the folder and the store's files; suggest a chmod if not.

    Nothing is changed here: the folder may belong to another user or be open on purpose.
    """
    good = True
    private = {"": 0o700, **dict.fromkeys(files, 0o600), "exports": 0o700, "config.json": 0o600, "token": 0o600}
    for name, expected_mode in private.items():
        path = os.path.join(home, name) if name else home
        try:
            status = os.lstat(path)
        except OSError:
            continue
        problem = _access_problem(status)
        if problem:
            good = False
            _report_problem(report, path, problem, status, expected_mode)
    if good and os.path.isdir(home):
        report.add("modes", OK, "only the owner can read the store and its files")


def _access_problem(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link"
    if status.st_uid != os.geteuid():
        return f"belongs to another user (uid {status.st_uid})"
    if status.st_mode & 0o077:
        verb = "enter" if stat.S_ISDIR(status.st_mode) else "read"
        return f"has mode {stat.S_IMODE(status.st_mode):04o}, so others may {verb} it"
    return ""


def _report_problem(report: Report, path: str, problem: str, status: os.stat_result, expected_mode: int) -> None:
    mode = status.st_mode
    open_to_others = problem.startswith("has mode")
    # Others who only list a folder cannot read its files, and with the sticky bit they cannot replace any.
    harmless = not mode & 0o022 or mode & 0o1000 if stat.S_ISDIR(mode) else os.path.basename(path) == "config.json"
    todo = f"chmod {expected_mode:o} {path}" if open_to_others else "replace it with a file or folder of your own"
    report.add("modes", FAIL if open_to_others and not harmless else WARN, f"{path} {problem}", todo)


def _file_system(folder: str) -> str:
    """Return the type of the file system of a folder, empty if it is unknown."""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            entries = [line.split() for line in mounts]
    except OSError:
        return ""
    best, kind = "", ""
    for entry in entries:
        point = entry[1].replace("\\040", " ")
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, entry[2]
    return kind
