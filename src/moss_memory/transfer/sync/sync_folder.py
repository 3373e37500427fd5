"""`moss sync`: read folder and store, decide, change the store in one transaction, then write the files."""

from __future__ import annotations

import json
import os

from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.files.safe_directory import SafeDirectory
from moss_memory.storage.files.sandbox import real_path
from moss_memory.storage.transaction_context import committing
from moss_memory.transfer.export_layout import digest
from moss_memory.transfer.families.artifacts import ARTIFACTS
from moss_memory.transfer.families.capsules import CAPSULES

from .capsule_artifact_sync import NamedSync
from .folder_scan import FolderScan
from .reasoning_task_sync import WorkSync
from .record_sync import RecordSync
from .sync_run import SyncRun
from .sync_state import GONE, SyncStateTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine, ReadTransaction, Transaction

PRIVATE = ".moss-sync"
"""The folder in a synced folder with its id and unfinished files; git ignores it."""
_MARKER = f"{PRIVATE}/folder.json"
_IGNORE = f"{PRIVATE}/.gitignore"
_SETTLE = ("", "ours", "theirs")
ATTRIBUTES = ".gitattributes"
_ATTRIBUTES = b"""\
/capsules/** -text
/artifacts/** -text
/records/** -text
/erased/** -text
/reasoning/** -text -merge
/tasks/** -text -merge
"""
"""Git changes no line ends, and never merges reasoning and tasks line by line: they are taken as a whole."""


class Plan:
    """The decisions of a sync, made while the store was only read."""

    def __init__(self, run: SyncRun, parts: list[Any], scan: FolderScan) -> None:
        self.run = run
        self.parts = parts
        self.scan = scan
        self.is_applied = False

    def is_needed(self) -> bool:
        return self.run.changes_anything() or any(part.is_needed() for part in self.parts)

    def count(self, tx: ReadTransaction) -> None:
        for part in self.parts:
            part.count(tx)


class FolderSync:
    """One sync of one folder."""

    def __init__(
        self,
        engine: Engine,
        call: CallContext,
        folder: str,
        workspaces: list[str] | None,
        *,
        settle: str,
        dry_run: bool,
        timeout_s: float,
    ) -> None:
        if settle not in _SETTLE:
            raise invalid_request("`settle` must be ours or theirs", path="settle")
        self._engine = engine
        self._call = call
        self._folder = folder
        self._scope = None if not workspaces else {normalize_workspace(workspace) for workspace in workspaces}
        self._settle = settle
        self._dry_run = dry_run
        self._timeout_s = timeout_s

    def run(self) -> dict[str, Any]:
        config = self._call.config
        if not self._folder.strip():
            raise invalid_request("give a folder, or set sync_folder in the configuration", path="folder")
        folder = real_path(self._folder, config.home)
        if self._dry_run and not os.path.lexists(folder):
            import tempfile  # a dry run makes no folder

            with tempfile.TemporaryDirectory(prefix="moss-sync-") as empty:
                self._folder = os.path.realpath(empty)
                return {**self.run(), "folder": folder}
        tree = SafeDirectory(self._folder, home=config.home, create=not self._dry_run, temporary=PRIVATE)
        try:
            tree.claim()
            if tree.path == config.home:
                raise invalid_request("the home folder has the store itself; sync a folder beside it", path="folder")
            states = SyncStateTable(identity_of(tree.path), self._marker(tree))
            scan = FolderScan(tree, config.import_max_bytes, self._scope)
            scan.load(self._read(states.load), self._call.check_cancelled)
            mark = self._engine.change_token()
            plan = self._read(lambda tx: self._decide(tx, scan, states))
            run = plan.run
            if self._dry_run:
                self._read(plan.count)
            elif plan.is_needed():
                run = self._write(lambda tx: self._apply(tx, plan, mark, states))
                self._change_files(tree, run)
                if run.states_after_write:
                    self._write(lambda tx: _save(tx, states, run), event=False)
            return {"folder": tree.path, **run.to_response()}
        finally:
            tree.close()

    def _decide(self, tx: ReadTransaction, scan: FolderScan, states: SyncStateTable) -> Plan:
        """Compare folder and store; the store is only read."""
        closed = tuple(self._call.config.disabled_types)
        run = SyncRun(scan, scope=self._scope, settle=self._settle, dry_run=self._dry_run)
        last_states = states.load(tx)
        families = [family for family in (CAPSULES, ARTIFACTS) if family.versioned.family not in closed]
        parts: list[Any] = [NamedSync(run, family, last_states) for family in families]
        if "record" not in closed:
            parts.append(RecordSync(run, last_states))
        if not {"reasoning", "task"} & set(closed):
            parts.append(WorkSync(run, last_states))
        for part in parts:
            part.decide(tx)
        return Plan(run, parts, scan)

    def _apply(self, tx: Transaction, plan: Plan, mark: object, states: SyncStateTable) -> SyncRun:
        """Change the store; decide again if it was changed since it was read."""
        tx.begin()
        if plan.is_applied or mark is None or self._engine.change_token() != mark:
            plan = self._decide(tx, plan.scan, states)
        plan.is_applied = True  # a transaction that is run again has to decide again
        for part in plan.parts:
            part.apply(tx)
        states.save(tx, plan.run.states)
        if not any(plan.run.counts.values()):
            tx.skip_event()
        return plan.run

    def _read(self, body: Callable[[ReadTransaction], Any]) -> Any:
        with committing(self._engine.read_transaction(snapshot=True, call=self._call)) as tx:
            return body(tx)

    def _write(self, body: Callable[[Transaction], Any], *, event: bool = True) -> Any:
        def run(tx: Transaction) -> Any:
            result = body(tx)
            if not event:
                tx.skip_event()
            tx.append_event("sync")
            return result

        return self._engine.write(run, timeout_s=self._timeout_s, call=self._call)

    def _marker(self, tree: SafeDirectory) -> str:
        """Return the id of the folder; a copy at another path, or on another machine, gets a new one."""
        place = {"place": identity_of(tree.path)}
        try:
            marker: Any = json.loads(tree.read(_MARKER, max_bytes=10_000) or b"{}")
            if isinstance(marker, dict) and marker.get("place") == place["place"] and isinstance(marker.get("id"), str):
                return str(marker["id"])
        except (ValueError, RecursionError):
            pass  # a broken file is replaced
        folder_id = os.urandom(16).hex()
        if not self._dry_run:
            tree.write(_IGNORE, b"*\n")
            tree.write(_MARKER, (json.dumps({"id": folder_id, **place}) + "\n").encode())
        return folder_id

    def _change_files(self, tree: SafeDirectory, run: SyncRun) -> None:
        """Write and remove files; one that changed since it was read is left for the next sync."""
        for path, (content, present) in run.writes.items():
            if present == "*" or _hash_at(tree, path, run) in (present, digest(content)):
                tree.write(path, content)
        for path, hashed in run.removals.items():
            if _hash_at(tree, path, run) == hashed:
                tree.remove(path)
        if in_repository(tree.path) and not tree.is_there(ATTRIBUTES):
            tree.write(ATTRIBUTES, _ATTRIBUTES)
        tree.sync()


def _save(tx: Transaction, states: SyncStateTable, run: SyncRun) -> None:
    tx.begin()
    states.save(tx, run.states_after_write)


def _hash_at(tree: SafeDirectory, path: str, run: SyncRun) -> str:
    try:
        content = tree.read(path)
    except MossError as error:
        run.skipped[path] = error.message
        return "*"
    return GONE if content is None else digest(content)


def identity_of(path: str) -> str:
    """Return machine and path of a folder."""
    return f"{os.uname().nodename}:{path}:{os.stat(path).st_ino}" if os.path.exists(path) else path


def in_repository(path: str) -> bool:
    """Return True if a folder is in a git work tree."""
    while True:
        if os.path.lexists(os.path.join(path, ".git")):
            return True
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
