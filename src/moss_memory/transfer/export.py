"""Export of the whole store to a folder of plain files, byte for byte reproducible."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.storage.files.sandbox import large_warning
from moss_memory.transfer.families.artifacts import TABLE as ARTIFACT
from moss_memory.transfer.families.capsules import TABLE as CAPSULE
from moss_memory.transfer.families.capsules import TEXT

from . import front_matter, history_export
from .export_layout import ARTIFACTS, MANIFEST, Manifest, capsule_path, digest
from .families import reasoning
from .families import records as record
from .families import tasks as task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.storage.files.safe_directory import SafeDirectory

    from .export_schema import Line

_PROGRESS_EVERY = 200


def export_folder(tx: ReadTransaction, tree: SafeDirectory, *, with_history: bool = False) -> dict[str, Any]:
    """Write the whole store into a folder; return the counts and the number of changed files.

    Files of the last export without a row in the store are removed; nothing else in the folder is touched. Until the
    end the manifest marks the export as incomplete.
    """
    tree.claim()
    return Export(tx, tree, with_history=with_history).run()


class Export:
    """One export: first it determines the files, then it writes the changed ones."""

    def __init__(self, tx: ReadTransaction, tree: SafeDirectory, *, with_history: bool) -> None:
        self._tx = tx
        self._tree = tree
        self._with_history = with_history
        self._old = _old_manifest(tree)
        self._tables = dict(self._line_files())
        self._new = self._manifest()
        self._is_marked = False
        self._written = 0
        self._largest = ("", 0)

    def run(self) -> dict[str, Any]:
        """Update the folder to the content of the store."""
        self._refuse_foreign_files()
        removed = sorted(self._old.files.keys() - self._new.files.keys())
        for name, content in self._files():
            self._largest = max(self._largest, (name, len(content)), key=lambda one: one[1])
            if self._tree.read(name) != content:
                self._mark_incomplete()
                self._tree.write(name, content)
                self._written += 1
        for name in removed:
            self._mark_incomplete()
            self._tree.remove(name)
        self._finish()
        answer = {
            "folder": self._tree.path,
            "counts": self._new.counts,
            "files": len(self._new.files),
            "written": self._written,
            "removed": len(removed),
        }
        warning = large_warning(*self._largest, self._tx.config.import_max_bytes)
        return {**answer, "warning": warning} if warning else answer

    def _mark_incomplete(self) -> None:
        """Write a manifest of all old and new files, marked as incomplete, before the first change."""
        if not self._is_marked:
            self._is_marked = True
            files = {**self._old.files, **self._new.files}
            self._tree.write(MANIFEST, Manifest(self._new.counts, files, complete=False).encode())
            self._tree.sync()

    def _finish(self) -> None:
        self._tree.sync()
        if self._tree.write(MANIFEST, self._new.encode()):
            self._tree.sync()

    def _refuse_foreign_files(self) -> None:
        """Refuse to overwrite a file that is not from an export."""
        for name in sorted(self._new.files.keys() - self._old.files.keys()):
            if self._tree.is_there(name):
                raise invalid_request(
                    f"{name} is there already and no export of Moss wrote it; move it away or choose another folder"
                )

    def _manifest(self) -> Manifest:
        counts = {"capsules": 0}
        files = {}
        for name, content in self._capsules():
            counts["capsules"] += 1
            files[name] = digest(content)
        for name, (content, count) in self._tables.items():
            counts[name.partition(".")[0]] = count
            files[name] = digest(content)
        return Manifest(counts, files)

    def _files(self) -> Iterator[tuple[str, bytes]]:
        total = len(self._new.files)
        for done, (name, content) in enumerate(self._capsules()):
            self._tx.check_cancelled()
            if done % _PROGRESS_EVERY == 0:
                self._tx.progress(done, total)
            yield name, content
        for name, (content, _) in self._tables.items():
            yield name, content
        self._tx.progress(total, total)

    def _capsules(self) -> Iterator[tuple[str, bytes]]:
        for values in CAPSULE.rows(self._tx):
            yield capsule_path(values), front_matter.encode(CAPSULE.line(values, TEXT), values[TEXT])

    def _line_files(self) -> Iterator[tuple[str, tuple[bytes, int]]]:
        yield ARTIFACTS, _lines(ARTIFACT.line(values) for values in ARTIFACT.rows(self._tx))
        yield reasoning.FILE, _lines(self._workspace_lines((reasoning.NUMBERS, reasoning.ORIGINS), reasoning.TABLES))
        yield task.FILE, _lines(self._workspace_lines((), task.TABLES))
        yield record.FILE, _lines(self._records())
        if self._with_history:
            yield history_export.FILE, _lines(history_export.lines(self._tx))

    def _workspace_lines(self, whole: tuple[Any, ...], tables: tuple[Any, ...]) -> Iterator[Line]:
        """Yield the lines of a family that is exported by workspace: counters first, then each workspace."""
        named = reasoning.exported_origins(with_history=self._with_history)
        for table in whole:
            for values in table.rows(self._tx, named if table is reasoning.ORIGINS else ""):
                yield {"table": table.name, **table.line(values)}
        for workspace in workspaces(self._tx):
            for table in tables:
                for values in table.rows(self._tx, table.workspace_condition, workspace=workspace):
                    yield {"table": table.name, **table.line(values)}

    def _records(self) -> Iterator[Line]:
        for table in record.TABLES:
            for values in table.rows(self._tx):
                line = table.line(values)
                record.add_properties(self._tx, table.name, values, line)
                yield {"table": table.name, **line}


def workspaces(tx: ReadTransaction) -> list[str]:
    """Return the workspaces with reasoning or tasks, in order."""
    found = set()
    for table in (*reasoning.TABLES, *task.TABLES):
        if table.workspace:
            where = f" where {table.only}" if table.only else ""
            found |= {
                workspace for (workspace,) in tx.stream(f"select distinct {table.workspace} from {table.name}{where}")
            }
    return sorted(found)


def _old_manifest(tree: SafeDirectory) -> Manifest:
    content = tree.read(MANIFEST)
    return Manifest({}, {}) if content is None else Manifest.read(content)


def _lines(lines: Iterable[Line]) -> tuple[bytes, int]:
    encoded = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines]
    return "".join(encoded).encode(), len(encoded)
