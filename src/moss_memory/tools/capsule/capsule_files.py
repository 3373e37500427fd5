"""Export, import and purge of capsules."""

from __future__ import annotations

import json
import os
import time

from moss_memory.registry.arguments import Days, FilePath, ImportMode, IncludeDeleted, Workspace
from moss_memory.registry.cli_traits import Cli, switch
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    FINDINGS,
    ResponseSchema,
    TableColumn,
    file_path,
    integer,
    list_of,
    moment,
    text,
)
from moss_memory.rows.bulk_changes import PURGE_OPTIONS, PURGED, DryRun, is_not_dry_run, purge_deleted
from moss_memory.rows.list_filters import filters_from
from moss_memory.storage.files.sandbox import ExportFile, ImportFile, large_warning, refuse_large
from moss_memory.storage.origin import find_origin

from .capsule_rows import EXPORTED_COLUMNS, versioned
from .import_lines import MOST_ERRORS, LineImporter, check_lines, parse_lines, refuse_collisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction


FORMAT_VERSION = "1.0"
_BATCH_LINES = 200
_PROBLEM = ResponseSchema(
    "ImportProblem",
    {
        "line": integer("its number in the file"),
        "id": text("its id, if it has one", optional=True),
        "name": text("its name, if it has one", optional=True),
        "code": text("code of the error"),
        "message": text("the same in a sentence"),
    },
    table=(
        TableColumn("line"),
        TableColumn("name", min_width=8, drop_rank=3),
        TableColumn("code"),
        TableColumn("message", min_width=20, max_width=0),
    ),
)


@operation(
    slow=True,
    destructive=True,
    answers={
        "path": file_path("the file"),
        "count": integer("capsules in it"),
        "exported_at": moment("time of the export"),
        "bytes": integer("its size"),
        "warning": text("if it is too large to be imported as it is", optional=True),
    },
    cli=Cli(
        descriptions={"path": "a .jsonl file in an allowed folder; - is stdout"},
        options={
            "all": switch("all data, as plain files in the folder PATH"),
            "salvage": switch("all readable data of a damaged store, in the folder PATH"),
            "with_history": switch("with --all, earlier versions too"),
        },
        runs="commands.export_import.export",
    ),
    example="moss export --path backup.jsonl",
    words=(
        "back up, backup, save to a file, download, jsonl, copy to another machine, make a backup, archive, "
        "export, dump to disk, export capsules to a file, copy capsules to another computer, take my memory with "
        "me, write capsules to disk, share capsules as a file, backup of the capsules"
    ),
)
def capsule_export(
    tx: Transaction,
    *,
    path: FilePath | None = None,
    workspace: Workspace | None = None,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """Write capsules to a JSONL file as a backup, which `capsule_import` reads.

    Without a path it is a new file in the exports folder. The file appears whole or not at all.
    """
    file = ExportFile(tx.config, path, default_stem=_default_stem(workspace, tx.now))
    try:
        count = write_lines(tx, write=file.write, workspace=workspace, include_deleted=include_deleted)
        file.finish()
    except BaseException:
        file.abort()
        raise
    answer = {"path": file.path, "count": count, "exported_at": tx.now, "bytes": file.size_bytes}
    warning = large_warning("the file", file.size_bytes, tx.config.import_max_bytes)
    return {**answer, "warning": warning} if warning else answer


@operation(
    mutates=True,
    slow=True,
    answers={
        "imported": integer("capsules that were imported"),
        "skipped": integer("records that were not imported"),
        "errors": list_of(_PROBLEM, "the reasons for those, at most 1,000"),
        **FINDINGS,
    },
    cli=Cli(
        descriptions={
            "path": "a .jsonl file in an allowed folder, or a folder: one that `moss export --all` wrote, or of "
            "Markdown files"
        },
        options={"max_bytes": {"type": "integer", "description": "accept a file up to this size"}},
        runs="commands.export_import.import_",
    ),
    example="moss import --path backup.jsonl --mode rename",
    words=(
        "read a backup, load from a file, jsonl, restore a backup, bring in, import, upload, migrate from a file,"
        " ingest, import capsules, load a backup file, restore capsules from a backup, read an exported file, "
        "bring capsules from another computer, move capsules from another machine"
    ),
)
def capsule_import(tx: Transaction, *, path: FilePath, mode: ImportMode = "error") -> dict[str, Any]:
    """Read capsules from a JSONL file, all in one transaction.

    On a collision of id or active name: `error` imports nothing, `replace` overwrites, `rename` adds a number.
    """
    from moss_memory.secrets.scanner import findings_fields, findings_in

    file = ImportFile(tx.config, path)
    try:
        refuse_large(file.path, file.size_bytes, tx.config.import_max_bytes)
        content = file.read()
    finally:
        file.close()
    # The write lock is not taken yet: check everything that needs no store before the first statement.
    lines, wrong = check_lines(tx, parse_lines(tx, content))
    findings = findings_in(content.decode("utf-8", "replace"), os.path.basename(file.path), tx.check_cancelled)
    importer = LineImporter(tx, mode)
    for start in range(0, len(lines), _BATCH_LINES):
        importer.add(lines[start : start + _BATCH_LINES])
        tx.progress(start, len(lines))
    tx.check_cancelled()
    refuse_collisions(importer.collisions, mode)
    tx.progress(len(lines), len(lines))
    answer = {"imported": importer.imported, "skipped": len(wrong), "errors": wrong[:MOST_ERRORS]}
    return {**answer, **findings_fields(findings)}


@operation(
    mutates=True,
    cross_workspace=True,
    destructive=True,
    slow=True,
    writes_if=is_not_dry_run,
    answers=PURGED,
    cli=Cli(options=PURGE_OPTIONS, asks=True, runs="commands.purge_command.run_purge", sentence="{message}."),
    example="moss purge --older-than 7d",
    words=(
        "empty the trash, free disk space, permanently delete, clean up deleted, garbage, reclaim space, remove "
        "trashed, clean the store, purge deleted capsules, empty the recycle bin, remove deleted capsules for "
        "good, delete old trash, shrink the database, deleted more than 30 days ago"
    ),
)
def capsule_purge(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    older_than_days: Days | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Remove capsules that were deleted before, for good: store, versions, index and disk; for others `moss_erase`."""
    return purge_deleted(tx, versioned, filters_from(tx, workspace=workspace), older_than_days, dry_run=dry_run)


def write_lines(
    tx: ReadTransaction, *, write: Callable[[bytes], None], workspace: str | None, include_deleted: bool
) -> int:
    """Pass the lines of an export to `write`, oldest change first, and return the number of capsules.

    An import numbers the changes in this order, so that lists keep theirs.
    """
    filters = filters_from(tx, workspace=workspace)
    where = filters.where(*([] if include_deleted else ["deleted_at is null"]))
    total = tx.value(f"select count(*) from capsules {where}", filters.parameters)
    write(_to_line({"_moss_export": True, "schema_version": FORMAT_VERSION, "exported_at": tx.now}))
    count = 0
    columns = ", ".join([*EXPORTED_COLUMNS, "coalesce(confirmed_origin, version_origin)"])
    sql = f"select {columns} from capsules {where} order by updated_at, change_seq"
    for row in tx.stream(sql, filters.parameters):
        tx.check_cancelled()
        record = dict(zip(EXPORTED_COLUMNS, row[:-1], strict=True))
        origin = find_origin(tx, row[-1])
        if origin is not None and origin.code is not None:
            record["saved_in"] = origin.code.in_file()
        tags_json = record.pop("tags_json")
        record["tags"] = json.loads(tags_json) if tags_json else []
        write(_to_line(record))
        count += 1
        if count % _BATCH_LINES == 0:
            tx.progress(count, total)
    tx.check_cancelled()
    tx.progress(count, total)
    return count


def _to_line(record: dict[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _default_stem(workspace: str | None, now: int) -> str:
    """Return `<workspace or all>-<time>` with only characters that are safe in a file name."""
    stem = "all" if workspace is None else workspace
    safe = "".join([character if character.isalnum() or character in "-_." else "-" for character in stem])
    safe = safe.replace("..", "").strip(".-")[:60].encode()[:120].decode(errors="ignore") or "workspace"
    return f"{safe}-{time.strftime('%Y-%m-%dT%H%M%S', time.gmtime(now))}"
