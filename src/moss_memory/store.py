"""The one door: find the tool, decode, open a transaction, run, write the event, commit, answer."""

from __future__ import annotations

from moss_memory.registry.next_calls import filter_next_calls
from moss_memory.rows.ids import new_id
from moss_memory.rows.times import wall_clock_ms
from moss_memory.storage.engine import CallContext, open_engine

from .config import Config, load_config
from .errors import MossError, invalid_request, nearest
from .registry import catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.registry.operation import Operation
    from moss_memory.storage.engine import Result, Transaction
    from moss_memory.storage.idempotency import IdempotentCall

    from .typed import Tools
else:
    Tools = object

WRITE_TIMEOUT_S = 60.0


class Store(Tools):
    """A Moss store. Every face goes through `call`; every tool is also a method of its name."""

    def __init__(
        self,
        config: Config,
        *,
        read_only: bool = False,
        clock_ms: Callable[[], int] = wall_clock_ms,
        id_source: Callable[[int], str] = new_id,
    ) -> None:
        self.config = config
        self._read_only = read_only
        self._engine = open_engine(config)
        self._clock_ms = clock_ms
        self._new_id = id_source
        self._closed = catalog.disabled_by(config)
        self._is_limited = read_only or bool(self._closed)

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        wait: bool = True,
        workspace: str | None = None,
        idempotency_key: str | None = None,
        advice: bool = True,
    ) -> dict[str, Any]:
        """Runs a tool in one transaction. What it wrote is durable when this returns; on an error nothing is.

        Raises `MossError` and nothing else for anything a caller can send. `cancelled` is asked between
        the steps of long calls. Without patience a write that must wait raises `STORAGE_BUSY` at once. `workspace` is
        the caller's default one, instead of the configuration's. A write with an `idempotency_key` is carried out once:
        sent again within a day, with the same key and arguments, it is answered as before. Reads ignore the key.
        Without `advice` a name that is not found is refused at once, and not looked for elsewhere: a program that asks
        whether something is there has no use for it.
        """
        operation = catalog.find(tool)
        if operation is None:
            raise unknown_tool(tool)
        if operation.proxy:
            operation, arguments = catalog.resolve_proxy(operation, arguments, self._offered, unknown_tool)
            tool = operation.name
        place = self.config.workspace if workspace is None else workspace
        if operation.translate is None:
            return self._run(operation, tool, arguments, place, cancelled, progress, wait, idempotency_key, advice)
        try:
            return self._run(operation, tool, arguments, place, cancelled, progress, wait, idempotency_key, advice)
        except MossError as error:
            raise operation.translate(error) from error.__cause__

    def _run(
        self,
        operation: Operation,
        tool: str,
        arguments: dict[str, Any],
        workspace: str,
        cancelled: Callable[[], bool] | None,
        progress: Callable[[int, int | None], None] | None,
        wait: bool,
        key: str | None = None,
        advice: bool = True,
    ) -> dict[str, Any]:
        values = self._decoded(operation, arguments, workspace)
        if self._is_limited:
            self._check_allowed(operation, tool, values)
        call = self._call(operation.alias_of or tool, cancelled, progress, advice)
        if workspace != self.config.workspace:
            call.config = self.config.replace(workspace=workspace)
        writes = not operation.no_transaction and operation.writes(values)
        once = self._once(operation, key, values, arguments, call) if writes or key is not None else None
        if operation.scan_secrets:
            _keep_credentials_out(operation, arguments, values, call)
        if key is not None and writes:
            _refuse_key_with_credential(key, call)
        try:
            if operation.no_transaction:
                result = operation.body(call, **values)
            elif writes:
                result = self._write(operation, values, call, WRITE_TIMEOUT_S if wait else 0.0, once)
            else:
                result = self._read(operation.body, values, call, snapshot=not operation.single_read(values))
        except MossError as error:
            self._advise(operation, values, call, error)
            raise
        except Exception as error:
            raise self._engine.translate(error) or internal_error(tool) from error
        if self._is_limited and self._closed:
            result = filter_next_calls(result, operation.answers, self._if_open)
        return _v1_answer(result) if operation.alias_of else result

    def _decoded(self, operation: Operation, arguments: dict[str, Any], workspace: str) -> dict[str, Any]:
        """Decode the arguments; refuse texts above their limit before anything else is done with them."""
        values = operation.decode(arguments, workspace)
        if operation.mutates and operation.visible:  # others take over what is stored elsewhere, whatever its size
            operation.check_sizes(values, self.config.text_max_chars)
        return values

    def _once(
        self, operation: Operation, key: Any, values: dict[str, Any], sent: dict[str, Any], call: CallContext
    ) -> IdempotentCall | None:
        """What makes sure that a call is carried out once; one that only reads may be repeated as it is."""
        writes = operation.writes(values) and not operation.no_transaction
        own = self._engine.generate_key() if key is None and writes else None
        if key is None and own is None:
            return None
        from moss_memory.storage.idempotency import IdempotentCall, checked_key

        call.key = own or checked_key(key)
        if not writes:
            return None
        usual = operation.defaults.get("workspace")
        placed = values if usual is None else {"workspace": usual, **values}
        return IdempotentCall(call.key, operation.alias_of or operation.name, placed, sent, is_new=own is not None)

    def _advise(self, operation: Operation, values: dict[str, Any], call: CallContext, error: MossError) -> None:
        """Gives an error the best next call, where there is one and the configuration has not switched it off."""
        if error.recovery is None and operation.recover is not None:
            given = (
                {**values, "allow_secrets": True} if operation.scan_secrets and call.config.allow_secrets else values
            )
            error.recovery = operation.recover(operation.name, given, error)
        error.recovery = self._if_open(error.recovery)

    def _call(
        self,
        operation: str,
        cancelled: Callable[[], bool] | None,
        progress: Callable[[int, int | None], None] | None,
        advice: bool = True,
    ) -> CallContext:
        return CallContext(
            operation=operation,
            config=self.config,
            clock_ms=self._clock_ms,
            new_id=self._new_id,
            cancelled=cancelled,
            progress=progress,
            advice=advice,
        )

    def _check_allowed(self, operation: Operation, tool: str, values: dict[str, Any]) -> None:
        """Refuses what the configuration has closed, and writing where the store is only read."""
        if self._closed:
            self._closed.refuse(operation, values)
        if self._read_only and (operation.writes(values) or not (operation.mutates or operation.idempotent)):
            raise MossError(
                "READ_ONLY", f"`{tool}` writes, and this store is open for reading only; nothing was changed"
            )

    def _offered(self, tool: str) -> Operation | None:
        """The tool of that name, if it is one for callers and the configuration has not switched it off."""
        found = catalog.find(tool)
        return found if found is not None and found.visible and not self._closed.has(tool) else None

    def _if_open(self, proposal: dict[str, Any] | None) -> dict[str, Any] | None:
        """A proposed call, unless the configuration has switched off the tool it would lead to."""
        return None if proposal is None or self._closed.has(proposal["tool"]) else proposal

    def _read(self, body: Callable[..., Any], values: dict[str, Any], call: CallContext, *, snapshot: bool) -> Any:
        tx = self._engine.begin_read(snapshot=snapshot, call=call)
        try:
            result = body(tx, **values)
            tx.commit()
        except BaseException:
            tx.rollback()
            raise
        finally:
            tx.release()
        return result

    def _write(
        self,
        operation: Operation,
        values: dict[str, Any],
        call: CallContext,
        timeout_s: float,
        once: IdempotentCall | None,
    ) -> dict[str, Any]:
        def carry_out(tx: Transaction) -> dict[str, Any]:
            told = None if once is None else once.begin(tx)
            if told is not None:
                return told
            result = operation.body(tx, **values)
            begun = tx.append_event(operation.alias_of or operation.name)
            if begun and once is not None:
                once.remember(tx, result)
            return result

        call.workspace = operation.place_of(values)
        result = self._engine.write(carry_out, timeout_s=timeout_s, call=call)
        if once is not None and once.is_outdated(result):
            self._correct(once, result, self._engine.begin_write(timeout_s=timeout_s, call=call))
        return result

    def _correct(self, once: IdempotentCall, result: dict[str, Any], tx: Transaction) -> None:
        """Keeps what became known only after the commit; where that cannot be, what was known before is kept."""
        try:
            once.correct(tx, result)
            tx.commit()
        except Exception:
            tx.rollback()
        finally:
            tx.release()

    def read(
        self,
        body: Callable[..., Result],
        *,
        what: str,
        snapshot: bool = True,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        **values: Any,
    ) -> Result:
        """Runs what only reads and is no tool, in one transaction; `what` is being done is told in an error.

        Raises `MossError` as `call` does. Without a `snapshot` it must be one statement.
        """
        try:
            found: Result = self._read(body, values, self._call(what, cancelled, progress), snapshot=snapshot)
        except MossError:
            raise
        except Exception as error:
            raise self._engine.translate(error) or internal_error(what) from error
        return found

    def is_large(self) -> bool:
        """Whether what `grows` with the store may keep others waiting."""
        return self._engine.is_large()

    def index(
        self,
        *,
        rebuild: bool = False,
        most: int | None = None,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        wait: bool = True,
    ) -> dict[str, Any]:
        """Prepares what is stored for search by meaning, newest first; searches do so too, two seconds at a time.

        What is done stays done when it is interrupted. `rebuild` starts again from nothing.
        """
        if self._read_only:
            raise MossError("READ_ONLY", "this store is open for reading only; nothing is prepared")
        call = self._call("index", cancelled, progress)
        timeout_s = WRITE_TIMEOUT_S if wait else 0.0
        try:
            indexed, pending = self._engine.index(call=call, timeout_s=timeout_s, most=most, rebuild=rebuild)
        except MossError:
            raise
        except Exception as error:
            raise self._engine.translate(error) or internal_error("index") from error
        return {"indexed": indexed, "pending": pending}

    def find_credentials(
        self,
        *,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> list[dict[str, Any]]:
        """Looks through all that is stored for credentials: the kind and the place of each, never the value."""
        from moss_memory.transfer.secret_findings import credentials_in

        return self.read(credentials_in, what="doctor", cancelled=cancelled, progress=progress)

    def export_folder(
        self,
        folder: str,
        *,
        with_history: bool = False,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Writes everything into a folder of plain files; the same store gives the same folder."""
        from moss_memory.transfer.transfer_calls import export_folder

        arguments = {"folder": folder, "with_history": with_history}
        return self._run(export_folder, "export", arguments, self.config.workspace, cancelled, progress, True)

    def salvage(self, folder: str) -> dict[str, Any]:
        """Writes everything that can be read of a damaged store into a folder of plain files, and lists the rest.

        The damaged files stay as they are. The rest is listed in `unreadable.jsonl`, and in the answer.
        """
        from moss_memory.transfer.salvage_export import salvage

        try:
            return salvage(self._engine, self.config, folder, self._call("salvage", None, None), Store)
        except MossError:
            raise
        except Exception as error:
            raise self._engine.translate(error) or internal_error("salvage") from error

    def import_folder(
        self,
        folder: str,
        *,
        mode: str = "error",
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Brings such a folder back, or Markdown files in, all or nothing; `mode` settles collisions."""
        from moss_memory.transfer.transfer_calls import import_folder

        arguments = {"folder": folder, "mode": mode}
        return self._run(import_folder, "import", arguments, self.config.workspace, cancelled, progress, True)

    def migrate(
        self,
        to: str,
        *,
        dry_run: bool = False,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> dict[str, Any]:
        """Moves a copy of everything into a new store: every row with its number, its versions and its vectors.

        `to` is `sqlite:FOLDER` or `postgresql://…`. This store stays as it is. What was interrupted goes on when it is
        called again.
        """
        from moss_memory.transfer.copy_store import migrate

        call = self._call("migrate", cancelled, progress)
        try:
            return migrate(self._engine, to, call, dry_run=dry_run)
        except MossError:
            raise
        except Exception as error:
            raise self._engine.translate(error) or internal_error("migrate") from error

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
        """Takes over what another memory holds, a transaction a file, without writing to it; again adds nothing."""
        from moss_memory.transfer.importers.adopt import adopt

        choices: dict[str, Any] = {
            "workspace": workspace or self.config.workspace or "default",
            "dry_run": dry_run,
            "allow_secrets": allow_secrets or self.config.allow_secrets,
            "closed": self.config.disabled_types,
            "progress": progress,
            "check": self._call("adopt", cancelled, None).check_cancelled,
        }
        if not dry_run or self._engine.exists():
            return adopt(self._taking(cancelled), source, path, **choices)
        import tempfile

        with (
            tempfile.TemporaryDirectory(prefix="moss-adopt-") as home,  # to count makes no store
            Store(Config(home, {**self.config.values, "url": ""}, self.config.sources, [])) as empty,
        ):
            return adopt(empty._taking(cancelled), source, path, **choices)

    def _taking(self, cancelled: Callable[[], bool] | None) -> Callable[..., dict[str, Any]]:
        """What takes the items of one file of another memory into this store."""
        from moss_memory.transfer.importers.adopt_call import adopt_items

        def take(**arguments: Any) -> dict[str, Any]:
            return self._run(adopt_items, "adopt", arguments, "", cancelled, None, True)

        return take

    def export_lines(
        self, write: Callable[[bytes], None], *, workspace: str | None = None, include_deleted: bool = False
    ) -> int:
        """Gives the lines that `capsule_export` writes to a function instead; how many capsules they are."""
        from moss_memory.tools.capsule.capsule_files import stream_lines

        own: list[Exception] = []

        def put(line: bytes) -> None:
            try:
                write(line)
            except Exception as error:
                own.append(error)
                raise

        values = {"write": put, "workspace": workspace, "include_deleted": include_deleted}
        try:
            count: int = self._read(stream_lines, values, self._call("export", None, None), snapshot=True)
        except MossError:
            raise
        except Exception as error:
            if error in own:
                raise  # the caller's, not the store's
            raise self._engine.translate(error) or error from error
        return count

    if not TYPE_CHECKING:  # which reads in `typed.pyi` what each tool takes and answers

        def __getattr__(self, tool: str) -> Callable[..., dict[str, Any]]:
            if tool.startswith("_"):
                raise AttributeError(tool)
            operation = catalog.find(tool)
            if operation is None:
                raise AttributeError(unknown_tool(tool).message)

            def method(**arguments: Any) -> dict[str, Any]:
                key = arguments.pop("idempotency_key", None) if operation.mutates else None
                return self.call(tool, operation.given(arguments), idempotency_key=key)

            method.__name__ = method.__qualname__ = tool
            method.__doc__ = operation.description
            return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(operation.name for operation in catalog.operations())]

    def close(self) -> None:
        """Lets go of the database; a closed store opens again at the next call."""
        self._engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(home: str | None = None, *, config: Config | None = None, read_only: bool = False) -> Store:
    """Opens the store in `home`, else in `MOSS_HOME`, else in `~/.moss`; the first write makes it.

    One that is `read_only` refuses every tool that writes, an export included: `READ_ONLY`.
    """
    return Store(config or load_config(home), read_only=read_only)


def _keep_credentials_out(
    operation: Operation, arguments: dict[str, Any], values: dict[str, Any], call: CallContext
) -> None:
    """Refuse texts above their limit, then credentials, unless the call or the configuration allows those."""
    allowed = values.pop("allow_secrets", False)
    if not operation.writes(values):
        return
    if allowed:
        call.config = call.config.replace(allow_secrets=True)
        return
    from moss_memory.secrets.scanner import refuse_credentials

    if operation.sizes is not None:
        operation.sizes(call, values)
    refuse_credentials(call.config, arguments, call.check_cancelled)


def _refuse_key_with_credential(key: str, call: CallContext) -> None:
    """Refuse an `idempotency_key` that looks like a credential, although only its hash is stored."""
    from moss_memory.secrets.scanner import refuse_credentials

    refuse_credentials(call.config, {"idempotency_key": key})


def internal_error(tool: str) -> MossError:
    """What a caller sees of a fault of Moss; its cause is chained for the log and for Python callers."""
    return MossError("INTERNAL", f"`{tool}` failed in a way it should not; please report it")


def unknown_tool(tool: str) -> MossError:
    """The refusal of a tool that does not exist, naming the nearest one that does."""
    like = nearest(tool, [operation.name for operation in catalog.operations()])
    return invalid_request(f"there is no tool {tool[:100]!r}; the nearest is `{like}`", nearest=like)


def _v1_answer(value: Any) -> Any:
    """The answer as v1.0 spelled it: `task_link` where the later tools say `fetch_key`."""
    if isinstance(value, dict):
        return {"task_link" if key == "fetch_key" else key: _v1_answer(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_v1_answer(part) for part in value]
    return value
