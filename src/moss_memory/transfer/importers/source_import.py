"""Import from another memory: all files are read, then each is imported in its own transaction."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.decode import check_json
from moss_memory.registry.plugins import IMPORTERS, load_plugin, plugin_names
from moss_memory.secrets.scanner import findings_in
from moss_memory.storage.files.sandbox import real_path

from .adopt_items import DryRunRollback
from .source_names import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from .items import SourceFile

_FAMILIES = {
    "capsule": "capsule", "node": "reasoning", "edge": "reasoning", "note": "reasoning", "plan": "task", "task": "task",
}  # fmt: skip
"""The family of each kind of item."""
_MIN_STORE_STATUS = 499
"""Statuses from here on concern the call or the store, not the file."""


def import_source(
    take: Callable[..., dict[str, Any]],
    source: str,
    path: str,
    *,
    workspace: str,
    dry_run: bool,
    allow_secrets: bool,
    closed: Collection[str] = (),
    progress: Callable[[int, int | None], None] | None = None,
    check: Callable[[], object] | None = None,
) -> dict[str, Any]:
    """Import a source file by file and return counts of imported, known and skipped items.

    The whole source is read before anything is written: an unreadable source raises and writes nothing; one unreadable
    file of a folder is reported and the rest is imported. Items of disabled families are skipped. `check` raises if the
    caller has cancelled.
    """
    files = list(_find_reader(source)(real_path(path)))
    report: dict[str, Any] = {"files": len(files), "taken": {}, "already_there": 0, "skipped": [], "dry_run": dry_run}
    for number, file in enumerate(files):
        file.items = _select_storable(file, closed)
        items = file.items if allow_secrets else _select_without_secrets(file, check)
        report["skipped"] += file.skipped
        if items:
            call = {"source": source, "workspace": workspace, "file": file.name, "items": items, "dry_run": dry_run}
            result = _import_file(take, call, alone=len(files) == 1)
            for kind, count in result["taken"].items():
                report["taken"][kind] = report["taken"].get(kind, 0) + count
            report["already_there"] += result["already_there"]
            report["skipped"] += result["skipped"]
        if progress is not None:
            progress(number + 1, len(files))
    return report


def _import_file(take: Callable[..., dict[str, Any]], call: dict[str, Any], *, alone: bool) -> dict[str, Any]:
    """Import one file; if there are several, report a refused one and continue."""
    try:
        return take(**call)
    except DryRunRollback as tried:
        return tried.result
    except MossError as error:
        if alone or error.status >= _MIN_STORE_STATUS or error.code == "READ_ONLY":
            raise
        skipped = {"file": call["file"], "item": call["file"], "reason": error.message}
        return {"taken": {}, "already_there": 0, "skipped": [skipped]}


def _select_storable(file: SourceFile, closed: Collection[str]) -> list[dict[str, Any]]:
    """Return the items that this store accepts; report disabled families and invalid characters."""
    accepted = []
    for item in file.items:
        try:
            check_json(item, "item")
            family = _FAMILIES.get(str(item.get("kind")))
            if family is None:
                raise invalid_request(f"its `kind` must be one of {', '.join(_FAMILIES)}")
            if family in closed:
                raise invalid_request(f"the settings have switched off {family}")
        except MossError as error:
            file.skip(item["key"].encode(errors="replace").decode(), error.message)
        else:
            accepted.append(item)
    return accepted


def _select_without_secrets(file: SourceFile, check: Callable[[], object] | None) -> list[dict[str, Any]]:
    """Return the items without secrets; report the rest without their values."""
    accepted = []
    for item in file.items:
        findings = findings_in({key: value for key, value in item.items() if key != "key"}, check=check)
        if findings:
            label = "an item" if findings_in({"key": item["key"]}) else item["key"]
            place = f"{findings[0]['kind']}, {findings[0]['path']}"
            file.skip(label, f"looks like a credential ({place}); --allow-secrets takes it")
        else:
            accepted.append(item)
    return accepted


def _find_reader(source: str) -> Callable[[str], Iterator[SourceFile]]:
    """Return the function that reads a source; only its module is imported."""
    if source == "server-memory":
        from .server_memory import read_server_memory

        return read_server_memory
    if source == "memory-keeper":
        from .memory_keeper import read_memory_keeper

        return read_memory_keeper
    if source in ("beads", "task-master"):
        from .issues import read_beads, read_task_master

        return read_beads if source == "beads" else read_task_master
    if source in ("markdown", "basic-memory", "claude-code", "codex"):
        from .markdown_folder import read_basic_memory, read_markdown

        return read_basic_memory if source == "basic-memory" else read_markdown
    reader: Callable[[str], Iterator[SourceFile]] | None = load_plugin(IMPORTERS, source)
    if reader is None:
        names = (*SOURCES, *plugin_names(IMPORTERS))
        raise invalid_request(f"`source` must be one of {', '.join(names)}", path="source")
    return reader
