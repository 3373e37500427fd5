"""Export of the whole store to a folder of plain files, byte for byte reproducible."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.rows.names import is_local
from moss_memory.storage.files.sandbox import large_warning

from . import history_files
from .export_layout import MANIFEST, NUMBERS, Manifest, digest, record_path
from .families import reasoning
from .families import tasks as task
from .families.artifacts import ARTIFACTS
from .families.capsules import CAPSULES
from .families.record_files import records_in
from .reasoning_task_files import FOLDERS, WorkspaceFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.storage.files.safe_directory import SafeDirectory

    from .export_schema import Line

_PROGRESS_EVERY = 200


class FolderExport:
    """One export: first it determines the files, then it writes the changed ones.

    Files of the last export without a row in the store are removed; nothing else in the folder is touched. Until the
    end the manifest marks the export as incomplete.
    """

    def __init__(self, tx: ReadTransaction, tree: SafeDirectory, *, with_history: bool, with_local: bool) -> None:
        self._tx = tx
        self._tree = tree
        self._with_history = with_history
        content = tree.read(MANIFEST)
        self._old_manifest = Manifest({}, {}) if content is None else Manifest.read(content)
        self._with_local = with_local
        self._left_local = 0
        self._counts: dict[str, int] = {}
        self._numbers: list[Line] = []
        self._tables: dict[str, bytes] = {}
        self._new_manifest = self._manifest()
        self._is_marked = False
        self._written = 0
        self._largest = ("", 0)

    def run(self) -> dict[str, Any]:
        """Write the whole store into the folder; return the counts and the number of changed files."""
        self._refuse_foreign_files()
        removed = sorted(self._old_manifest.files.keys() - self._new_manifest.files.keys())
        for name, content in self._files():
            self._largest = max(self._largest, (name, len(content)), key=lambda file: file[1])
            if self._tree.read(name) != content:
                self._mark_incomplete()
                self._tree.write(name, content)
                self._written += 1
        for name in removed:
            self._mark_incomplete()
            self._tree.remove(name)
        self._tree.sync()
        if self._tree.write(MANIFEST, self._new_manifest.encode()):
            self._tree.sync()
        answer = {
            "folder": self._tree.path,
            "counts": self._new_manifest.counts,
            "files": len(self._new_manifest.files),
            "written": self._written,
            "removed": len(removed),
        }
        warning = large_warning(*self._largest, self._tx.config.import_max_bytes)
        if self._left_local:
            answer["left_local"] = self._left_local
        return {**answer, "warning": warning} if warning else answer

    def _mark_incomplete(self) -> None:
        """Write a manifest of all old and new files, marked as incomplete, before the first change."""
        if not self._is_marked:
            self._is_marked = True
            files = {**self._old_manifest.files, **self._new_manifest.files}
            self._tree.write(MANIFEST, Manifest(self._new_manifest.counts, files, complete=False).encode())
            self._tree.sync()

    def _refuse_foreign_files(self) -> None:
        """Refuse to overwrite a file that is not from an export, unless a sync wrote the same."""
        for name in sorted(self._new_manifest.files.keys() - self._old_manifest.files.keys()):
            if self._tree.is_there(name) and digest(self._tree.read(name) or b"") != self._new_manifest.files[name]:
                raise invalid_request(
                    f"{name} is there already and no export of Moss wrote it; move it away or choose another folder"
                )

    def _manifest(self) -> Manifest:
        files = {}
        for name, content in self._named_files(self._counts, self._numbers):
            self._tx.check_cancelled()
            files[name] = digest(content)
        self._tables[NUMBERS] = _lines(self._numbers)
        if self._with_history:
            lines = list(history_files.lines(self._tx))
            self._tables[history_files.FILE] = _lines(lines)
            self._counts["history"] = len(lines)
        files |= {name: digest(content) for name, content in self._tables.items()}
        return Manifest(self._counts, files)

    def _files(self) -> Iterator[tuple[str, bytes]]:
        total = len(self._new_manifest.files)
        for count, (name, content) in enumerate(self._named_files({}, [])):
            self._tx.check_cancelled()
            if count % _PROGRESS_EVERY == 0:
                self._tx.progress(count, total)
            yield name, content
        yield from self._tables.items()
        self._tx.progress(total, total)

    def _named_files(self, counts: dict[str, int], numbers: list[Line]) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of every file of a row; count them, and collect the columns of the store."""
        counts |= dict.fromkeys(("capsules", "artifacts", "reasoning", "tasks", "records"), 0)
        self._left_local = 0
        for family in (CAPSULES, ARTIFACTS):
            for values in family.table.rows(self._tx):
                if is_local(values["tags_json"]) and not self._with_local:
                    self._left_local += 1
                    continue
                counts[family.folder] += 1
                path = (family.path if values["deleted_at"] is None else family.deleted_path)(values)
                numbers.append({"file": path, **{name: values[name] for name in family.local}})
                yield path, family.encode(family.add_code_state(self._tx, values))
        for record in records_in(self._tx):
            counts["records"] += 1
            path = record_path(record.id, record.values["workspace_norm"])
            numbers.append({"file": path, **record.numbers()})
            yield path, record.encode()
        for workspace in workspaces(self._tx):
            work = WorkspaceFiles.of(self._tx, workspace, complete=True)
            for folder in FOLDERS:
                counts[folder] += work.count(folder)
            numbers.append(work.numbers())
            yield from work.files().items()
        condition = reasoning.exported_origins(with_history=self._with_history)
        numbers += [
            {"origin": reasoning.ORIGINS.line(values)} for values in reasoning.ORIGINS.rows(self._tx, condition)
        ]
        last_numbers = {values["series"]: values["last"] for values in reasoning.NUMBERS.rows(self._tx)}
        numbers.append({"last": last_numbers})


def workspaces(tx: ReadTransaction) -> list[str]:
    """Return the workspaces with reasoning or tasks, in order."""
    names = set()
    for table in (*reasoning.TABLES, *task.TABLES):
        if table.workspace:
            condition = f" where {table.only}" if table.only else ""
            names |= {
                workspace
                for (workspace,) in tx.stream(f"select distinct {table.workspace} from {table.name}{condition}")
            }
    return sorted(names)


def _lines(lines: Iterable[Line]) -> bytes:
    return "".join([json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines]).encode()
