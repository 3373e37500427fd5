"""The operations of a store that are no tools: reads, writes, export, import, migration, adoption, indexing."""

from __future__ import annotations

from moss_memory.storage.call import WRITE_TIMEOUT_S
from moss_memory.storage.engine import ErrorTranslation

from .config import Config
from .errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from moss_memory.registry.operation import Operation
    from moss_memory.storage.call import CallContext
    from moss_memory.storage.engine import Engine, Result, Transaction
    from moss_memory.storage.idempotency import IdempotentCall


class Maintenance:
    """The base class of `Store` with its operations that are no tools."""

    if TYPE_CHECKING:
        config: Config
        _engine: Engine
        _read_only: bool

        def __init__(self, config: Config) -> None: ...
        def __enter__(self) -> Self: ...
        def __exit__(self, *_: object) -> None: ...

        def _context(
            self,
            operation: str,
            cancelled: Callable[[], bool] | None = None,
            progress: Callable[[int, int | None], None] | None = None,
            workspace: str | None = None,
        ) -> CallContext: ...

        def _run(
            self, operation: Operation, tool: str, arguments: dict[str, Any], call: CallContext
        ) -> dict[str, Any]: ...

        def _run_once(
            self,
            tx: Transaction,
            tool: str,
            execute: Callable[[Transaction], dict[str, Any]],
            once: IdempotentCall | None,
        ) -> dict[str, Any]: ...

        def _read(
            self,
            body: Callable[..., Any],
            values: dict[str, Any],
            call: CallContext,
            *,
            snapshot: bool,
            timeout_s: float = WRITE_TIMEOUT_S,
        ) -> Any: ...

    def exists(self) -> bool:
        """Return True if there is a store; reading does not make one."""
        return self._engine.exists()

    def connections(self) -> tuple[int, int]:
        """Return the number of connections in use and that of the calls that wait for one."""
        return self._engine.connections()

    def size_bytes(self) -> int:
        """Return the size of the store, 0 if it is not known."""
        return self._engine.size_bytes()

    def is_large(self) -> bool:
        """Return True if a search or a count over the store may take longer than 20 ms."""
        return self._engine.is_large()

    def read(
        self,
        body: Callable[..., Result],
        *,
        what: str,
        snapshot: bool = True,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        timeout_s: float = WRITE_TIMEOUT_S,
        **values: Any,
    ) -> Result:
        """Run a read that is no tool in one transaction; errors name it by `what`.

        Raise `MossError` as `call` does, after `timeout_s` if the server cannot be reached. Without a `snapshot` the
        read must be one statement.
        """
        call = self._context(what, cancelled, progress)
        with ErrorTranslation(self._engine, what):
            result: Result = self._read(body, values, call, snapshot=snapshot, timeout_s=timeout_s)
        return result

    def write(
        self,
        body: Callable[..., Result],
        *,
        what: str,
        repeatable: bool = False,
        timeout_s: float = WRITE_TIMEOUT_S,
        **values: Any,
    ) -> Result:
        """Run a write that is no tool in one transaction with its event; errors name it by `what`.

        After a lost COMMIT a `repeatable` body runs again; another one runs only if the first attempt was not
        committed, and its result must be JSON.
        """
        if self._read_only:
            raise MossError("READ_ONLY", "this store is open for reading only; nothing was changed")
        once: IdempotentCall | None = None
        if self._engine.can_lose_commits and not repeatable:
            from moss_memory.storage.idempotency import IdempotentCall, new_key

            once = IdempotentCall(new_key(), what, values, {}, is_generated=True)

        def run(tx: Transaction) -> dict[str, Any]:
            return self._run_once(tx, what, lambda tx: {"result": body(tx, **values)}, once)

        with ErrorTranslation(self._engine, what):
            result: Result = self._engine.write(run, timeout_s=timeout_s, call=self._context(what))["result"]
        return result

    def index(
        self,
        *,
        rebuild: bool = False,
        most: int | None = None,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        wait: bool = True,
    ) -> dict[str, Any]:
        """Make missing vectors for semantic search, newest first; searches do so too, for two seconds each.

        Finished work stays after an interruption. `rebuild` removes all vectors first.
        """
        if self._read_only:
            raise MossError("READ_ONLY", "this store is open for reading only; nothing is prepared")
        call = self._context("index", cancelled, progress)
        timeout_s = WRITE_TIMEOUT_S if wait else 0.0
        with ErrorTranslation(self._engine, "index"):
            indexed, pending = self._engine.index(call=call, timeout_s=timeout_s, most=most, rebuild=rebuild)
        return {"indexed": indexed, "pending": pending}

    def find_credentials(
        self,
        *,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> list[dict[str, Any]]:
        """Search the store for credentials; return the kind and the address of each, never the value."""
        from moss_memory.transfer.secret_findings import credentials_in

        with ErrorTranslation(self._engine, "doctor"):
            call = self._context("doctor", cancelled, progress)
            findings: list[dict[str, Any]] = self._read(credentials_in, {}, call, snapshot=True)
        return findings

    def export_folder(
        self,
        folder: str,
        *,
        with_history: bool = False,
        with_local: bool = False,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Write everything into a folder of plain files; equal stores give equal folders.

        Capsules and artifacts with the tag `local` are left out unless `with_local` is set.
        """
        from moss_memory.transfer.transfer_calls import export_folder

        arguments = {"folder": folder, "with_history": with_history, "with_local": with_local}
        return self._run(export_folder, "export", arguments, self._context("export", cancelled, progress))

    def salvage(self, folder: str) -> dict[str, Any]:
        """Write everything readable of a damaged store into a folder of plain files.

        The damaged files stay unchanged. Unreadable rows are listed in `unreadable.jsonl` and in the answer.
        """
        from moss_memory.transfer.salvage_export import salvage_to_folder

        with ErrorTranslation(self._engine, "salvage"):
            return salvage_to_folder(self._engine, self.config, folder, self._context("salvage"), type(self))

    def import_folder(
        self,
        folder: str,
        *,
        mode: str = "error",
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Import an exported folder, or Markdown files, all or nothing; `mode` resolves conflicts."""
        from moss_memory.transfer.transfer_calls import import_folder

        arguments = {"folder": folder, "mode": mode}
        return self._run(import_folder, "import", arguments, self._context("import", cancelled, progress))

    def sync(
        self,
        folder: str,
        *,
        workspaces: list[str] | None = None,
        dry_run: bool = False,
        settle: str = "",
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Make a folder of plain files and the store agree, both ways; the store changes in one transaction.

        `workspaces` limits it. `settle` is `ours` or `theirs`: which side wins if both changed reasoning or tasks.
        """
        from moss_memory.transfer.sync.sync_folder import FolderSync

        if self._read_only and not dry_run:
            raise MossError("READ_ONLY", "this store is open for reading only; only a dry run is possible")
        call = self._context("sync", cancelled, progress)
        with ErrorTranslation(self._engine, "sync"):
            return FolderSync(
                self._engine, call, folder, workspaces, settle=settle, dry_run=dry_run, timeout_s=WRITE_TIMEOUT_S
            ).run()

    def migrate(
        self,
        to: str,
        *,
        dry_run: bool = False,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Copy everything into a new store: every row with its number, its versions and its vectors.

        `to` is `sqlite:FOLDER` or `postgresql://…`. This store stays unchanged. An interrupted copy is continued by
        the next call.
        """
        from moss_memory.transfer.copy_store import copy_store

        call = self._context("migrate", cancelled, progress)
        with ErrorTranslation(self._engine, "migrate"):
            return copy_store(self._engine, to, call, dry_run=dry_run)

    def upgrade(self) -> dict[str, Any]:
        """Bring the schema of the store up to date; the only way in which a schema on PostgreSQL changes."""
        if self._read_only:
            raise MossError("READ_ONLY", "this store is open for reading only")
        with ErrorTranslation(self._engine, "upgrade"):
            before, after = self._engine.upgrade(call=self._context("upgrade"))
        return {"schema": after, "before": before, "upgraded": before != after}

    def adopt(
        self,
        source: str,
        path: str,
        *,
        workspace: str | None = None,
        dry_run: bool = False,
        allow_secrets: bool = False,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Import from another memory, one transaction per file, without changing it; a repeated import adds nothing."""
        from moss_memory.transfer.importers.source_import import import_source

        choices: dict[str, Any] = {
            "workspace": workspace or self.config.workspace or "default",
            "dry_run": dry_run,
            "allow_secrets": allow_secrets or self.config.allow_secrets,
            "closed": self.config.disabled_types,
            "progress": progress,
            "check": self._context("adopt", cancelled).check_cancelled,
        }
        if not dry_run or self._engine.exists():
            return import_source(self._importer(cancelled), source, path, **choices)
        import tempfile

        with (
            tempfile.TemporaryDirectory(prefix="moss-adopt-") as home,  # a dry run makes no store
            type(self)(Config(home, {**self.config.values, "url": ""}, self.config.sources, [])) as empty,
        ):
            return import_source(empty._importer(cancelled), source, path, **choices)

    def _importer(self, cancelled: Callable[[], bool] | None) -> Callable[..., dict[str, Any]]:
        """Return the function that imports the items of one file of another memory into this store."""
        from moss_memory.transfer.importers.adopt_items import adopt_items

        def take(**arguments: Any) -> dict[str, Any]:
            return self._run(adopt_items, "adopt", arguments, self._context("adopt", cancelled, workspace=""))

        return take

    def export_lines(
        self, write: Callable[[bytes], None], *, workspace: str | None = None, include_deleted: bool = False
    ) -> int:
        """Pass the lines of `capsule_export` to a function; return the number of capsules."""
        from moss_memory.tools.capsule.capsule_files import write_lines

        own: list[Exception] = []

        def put(line: bytes) -> None:
            try:
                write(line)
            except Exception as error:
                own.append(error)
                raise

        values = {"write": put, "workspace": workspace, "include_deleted": include_deleted}
        try:
            count: int = self._read(
                # The written part cannot be revoked, so the read is not retried.
                write_lines,
                values,
                self._context("export"),
                snapshot=True,
                timeout_s=0.0,
            )
        except MossError:
            raise
        except Exception as error:
            if error in own:
                raise  # the caller's, not the store's
            raise self._engine.translate(error) or error from error
        return count
