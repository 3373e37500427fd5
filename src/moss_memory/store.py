"""The public API: find the tool, decode the arguments, run the tool in a transaction with its event, commit.

Methods that are no tools, such as `adopt` and `export_folder`, are in `maintenance.py`; `typed.pyi` lists the tools.
"""

from __future__ import annotations

import sys
import time

from moss_memory.registry.fetch_keys import to_v1_answer
from moss_memory.registry.next_calls import filter_next_calls
from moss_memory.storage.call import WRITE_TIMEOUT_S, CallContext, Caller, clean_actor, new_id, wall_clock_ms
from moss_memory.storage.engine import ErrorTranslation, open_engine, translate_error

from .config import Config, load_config
from .errors import MossError
from .log import DEBUG, INFO, log
from .maintenance import Maintenance
from .registry import catalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState, WorkTree
    from moss_memory.registry.operation import Operation
    from moss_memory.rows.load_counts import LoadCounts
    from moss_memory.storage.engine import Transaction
    from moss_memory.storage.idempotency import IdempotentCall

    from .typed import Tools
else:
    Tools = object

DEFAULT_ACTOR = "python"
_ABOUT_WORKSPACES = frozenset({"NOT_FOUND", "INVALID_REQUEST"})
"""Codes of errors that may come from a mistyped workspace."""


class Store(Maintenance, Tools):
    """A Moss store. Every interface uses `call`; every tool is also a method of its name."""

    def __init__(
        self,
        config: Config,
        *,
        read_only: bool = False,
        actor: str = "",
        records_work_tree: bool = True,
        compares_work_tree: bool = False,
        counts_loads: bool = False,
        clock_ms: Callable[[], int] = wall_clock_ms,
        id_source: Callable[[int], str] = new_id,
    ) -> None:
        """Prepare a store.

        With `records_work_tree` writes record the code state of the work tree that the process runs in, and reads
        compare with it. With `compares_work_tree` only reads without an actor do. With `counts_loads` the store counts
        which capsules each actor loads.
        """
        self.config = config
        self._read_only = read_only
        self._engine = open_engine(config)
        self._clock_ms = clock_ms
        self._new_id = id_source
        self._disabled = catalog.disabled_by(config)
        self._is_limited = read_only or bool(self._disabled)
        self._records_work_tree = records_work_tree and config.record_code
        self._caller = Caller(
            clean_actor(actor) or DEFAULT_ACTOR,
            records_work_tree=self._records_work_tree,
            compares_work_tree=compares_work_tree and config.record_code,
        )
        self._last_caller: tuple[str | None, Caller] = "", self._caller
        self._loads: LoadCounts | None = None
        if counts_loads and not read_only:
            from moss_memory.rows.load_counts import LoadCounts

            self._loads = LoadCounts(self._engine, self._context)

    def call(
        self,
        tool: str | Operation,
        arguments: dict[str, Any],
        *,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        wait: bool = True,
        workspace: str | None = None,
        idempotency_key: str | None = None,
        suggest: bool = True,
        is_listed: Callable[[str], bool] | None = None,
        as_sent: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        actor: str | None = None,
        code: CodeState | None = None,
        read_only: bool = False,
        is_load: bool = True,
    ) -> dict[str, Any]:
        """Run a tool in one transaction, durable on return.

        After an error nothing is changed, with two exceptions: the outcome of `STORAGE_UNKNOWN` is unknown, and a long
        purge commits in slices, which stay.

        `tool` is a name, or the tool itself if the caller has found it already. Every invalid request raises
        `MossError`. `cancelled` is polled between the steps of long calls. If `wait` is false a write that must wait
        raises `STORAGE_BUSY` at once. `workspace` replaces the default workspace of the
        configuration. A write with an `idempotency_key` is executed once: sent again within a day with the same key and
        arguments, it returns the stored answer. Reads ignore the key. If `suggest` is false a name that is not found is
        refused without a search for similar names. `is_listed` tells which tools are in the caller's list. `as_sent`
        returns an answer as the caller sends it on, whose size the call's budget limits. `actor` and `code` replace the
        store's actor and the code state of the process. A `read_only` caller is refused every write with `READ_ONLY`.
        If `is_load` is false, capsules that it reads are not counted as loaded.
        """
        operation = catalog.find(tool) if isinstance(tool, str) else tool
        if operation is None:
            raise self.unknown_tool_error(str(tool), arguments)
        if operation.proxy:
            operation, arguments = catalog.resolve_proxy(
                operation, arguments, self._find_offered, self.unknown_tool_error
            )
        caller = self._caller if actor is None and code is None else self._other_caller(actor, code)
        call = self._context(
            operation.alias_of or operation.name, cancelled, progress, workspace, suggest, is_listed, caller
        )
        call.read_only = read_only
        if is_load:
            call.loads = self._loads
        began_s = time.perf_counter()
        try:
            answer = self._run(
                operation, operation.name, arguments, call, wait=wait, key=idempotency_key, as_sent=as_sent
            )
        except MossError as error:
            log(INFO, "%s failed with %s after %.1f ms", operation.name, error.code, _elapsed_ms(began_s))
            if operation.translate_error is None:
                raise
            translated = operation.translate_error(error)
            for note in getattr(error, "__notes__", ()):
                translated.add_note(note)
            raise translated from error.__cause__
        if "logging" in sys.modules:
            log(DEBUG, "%s took %.1f ms", operation.name, _elapsed_ms(began_s))
        return answer

    def _run(
        self,
        operation: Operation,
        tool: str,
        arguments: dict[str, Any],
        call: CallContext,
        *,
        wait: bool = True,
        key: str | None = None,
        as_sent: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        values = self._decode(operation, tool, arguments, call)
        if as_sent is not None and "budget" in values:
            values["budget"].as_sent = as_sent
        changes = operation.writes(values)
        if self._is_limited or call.read_only:
            self._check_allowed(operation, tool, values, call, changes)
        writes = changes and not operation.no_transaction
        runs_once = key is not None or (writes and self._engine.can_lose_commits)
        once = self._idempotent_call(operation, key, values, arguments, call, writes) if runs_once else None
        if operation.scan_secrets or key is not None:
            _refuse_credentials(operation, arguments, values, call, changes, key if writes else None)
        timeout_s = WRITE_TIMEOUT_S if wait else 0.0
        try:
            if operation.no_transaction:
                result = operation.body(call, **values)
            elif writes:
                result = self._write(operation, values, call, timeout_s, once)
            else:
                snapshot = not operation.single_read(values)
                # Not through `_read`: most calls come here, and each function costs time.
                result = self._engine.read(operation.body, values, snapshot=snapshot, timeout_s=timeout_s, call=call)
                if operation.list_field is not None and not result[operation.list_field]:
                    self._add_workspace_hint(values, call, result)
        except MossError as error:
            with ErrorTranslation(self._engine, tool):
                self._add_recovery(operation, arguments, values, call, error)
            raise
        except Exception as error:
            raise translate_error(self._engine, tool, error) from error
        operation.add_workspace(result, values)
        if self._is_limited and self._disabled:
            result = filter_next_calls(result, operation.answers, self._unless_disabled)
        return to_v1_answer(result) if operation.alias_of else result

    def _decode(self, operation: Operation, tool: str, arguments: dict[str, Any], call: CallContext) -> dict[str, Any]:
        """Decode the arguments; refuse writes of a reader and texts above their limit before anything else is done."""
        if (self._read_only or call.read_only) and operation.always_writes:
            raise self._read_only_error(tool, call)
        try:
            values = operation.decode(arguments, call.config.workspace)
        except MossError as error:
            if isinstance(arguments, dict):
                self._add_correction(operation, tool, arguments, call, error)
            raise
        if operation.mutates and operation.visible:  # others store existing data of any size
            operation.check_sizes(values, self.config.text_max_chars)
        return values

    def _add_correction(
        self, operation: Operation, tool: str, arguments: dict[str, Any], call: CallContext, error: MossError
    ) -> None:
        """Add the corrected call to the error, and a list of workspaces if none was given."""
        from contextlib import suppress

        from .registry.corrected_calls import add_corrected_call
        from .registry.decode import is_json

        add_corrected_call(operation, arguments, error, call.config.workspace)
        corrected = arguments if error.recovery is None else error.recovery["arguments"]
        details = error.details or {}
        argument_paths = {details.get("path"), *(problem["path"] for problem in details.get("errors", ()))}
        if not call.config.workspace and operation.lacks_workspace(corrected) and "workspace" in argument_paths:
            from .tools.everything.workspace_suggestions import suggest_for_missing

            about = {"tool": tool, "arguments": corrected, "error": error}
            with ErrorTranslation(self._engine, tool):
                self._read(suggest_for_missing, about, call, snapshot=True)
        if error.recovery is None and operation.proposed_call is not None and is_json(arguments):
            with suppress(MossError), ErrorTranslation(self._engine, tool):
                error.recovery = self._read(operation.proposed_call, {"arguments": arguments}, call, snapshot=True)
        error.recovery = self._unless_disabled(error.recovery)

    def _idempotent_call(
        self,
        operation: Operation,
        key: Any,
        values: dict[str, Any],
        sent: dict[str, Any],
        call: CallContext,
        writes: bool,
    ) -> IdempotentCall | None:
        """Return the idempotency check of a call; None for a read."""
        from moss_memory.storage.idempotency import IdempotentCall, check_key, new_key

        call.key = new_key() if key is None else check_key(key)
        if not writes:
            return None
        usual = operation.defaults.get("workspace")
        placed = values if usual is None else {"workspace": usual, **values}
        return IdempotentCall(call.key, operation.alias_of or operation.name, placed, sent, is_generated=key is None)

    def _add_recovery(
        self,
        operation: Operation,
        arguments: dict[str, Any],
        values: dict[str, Any],
        call: CallContext,
        error: MossError,
    ) -> None:
        """Add the best next call to an error, unless the configuration disables its tool."""
        if error.recovery is None and operation.recovery_call is not None:
            retry_values = (
                {**values, "allow_secrets": True} if operation.scan_secrets and call.config.allow_secrets else values
            )
            error.recovery = operation.recovery_call(operation.name, retry_values, error)
        if call.suggest and error.code in _ABOUT_WORKSPACES and isinstance(values.get("workspace"), str):
            from .tools.everything.workspace_suggestions import suggest_for_unknown

            about = {"operation": operation, "arguments": arguments, "values": values, "error": error}
            self._read(suggest_for_unknown, about, call, snapshot=True)
        error.recovery = self._unless_disabled(error.recovery)

    def _add_workspace_hint(self, values: dict[str, Any], call: CallContext, result: dict[str, Any]) -> None:
        """Add the nearest workspaces to an empty list if the one that was asked for does not exist."""
        if call.suggest and "workspace" in values:
            from .tools.everything.workspace_suggestions import suggest_for_empty

            self._read(suggest_for_empty, {"values": values, "result": result}, call, snapshot=True)

    def _context(
        self,
        operation: str,
        cancelled: Callable[[], bool] | None = None,
        progress: Callable[[int, int | None], None] | None = None,
        workspace: str | None = None,
        suggest: bool = True,
        is_listed: Callable[[str], bool] | None = None,
        caller: Caller | None = None,
    ) -> CallContext:
        differs = workspace is not None and workspace != self.config.workspace
        return CallContext(
            operation=operation,
            config=self.config.replace(workspace=workspace) if differs else self.config,
            clock_ms=self._clock_ms,
            new_id=self._new_id,
            cancelled=cancelled,
            progress=progress,
            suggest=suggest,
            is_listed=is_listed,
            caller=caller or self._caller,
        )

    def _other_caller(self, actor: str | None, code: CodeState | None) -> Caller:
        last_actor, last = self._last_caller
        if code is None and actor == last_actor:
            return last  # consecutive calls mostly have the same actor
        name = clean_actor(actor) or self._caller.actor
        if code is not None and self.config.record_code:
            return Caller(name, code=code)
        if name == self._caller.actor:
            return self._caller
        caller = Caller(name, records_work_tree=self._records_work_tree)
        self._last_caller = actor, caller
        return caller

    def _check_allowed(
        self, operation: Operation, tool: str, values: dict[str, Any], call: CallContext, changes: bool
    ) -> None:
        """Refuse disabled tools, and writes if the store or its caller is read-only."""
        if self._disabled:
            self._disabled.refuse(operation, values)
        if (self._read_only or call.read_only) and (changes or not (operation.mutates or operation.idempotent)):
            raise self._read_only_error(tool, call)

    def _read_only_error(self, tool: str, call: CallContext) -> MossError:
        why = "your token is" if call.read_only else "this store is open"
        return MossError("READ_ONLY", f"`{tool}` writes, and {why} for reading only; nothing was changed")

    def unknown_tool_error(self, tool: str, arguments: Any = None) -> MossError:
        """Return the refusal of an unknown tool, with the best next call."""
        from moss_memory.tools.everything.unknown_tools import unknown_tool

        return unknown_tool(tool, arguments, lambda name: not self._disabled.has(name))

    def _find_offered(self, tool: str) -> Operation | None:
        """Return the tool of that name if it is listed and not disabled."""
        operation = catalog.find(tool)
        return operation if operation is not None and operation.visible and not self._disabled.has(tool) else None

    def _unless_disabled(self, proposal: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a proposed call, or None if the configuration disables its tool."""
        return None if proposal is None or self._disabled.has(proposal["tool"]) else proposal

    def _read(
        self,
        body: Callable[..., Any],
        values: dict[str, Any],
        call: CallContext,
        *,
        snapshot: bool,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> Any:
        return self._engine.read(body, values, snapshot=snapshot, timeout_s=timeout_s, call=call)

    def _write(
        self,
        operation: Operation,
        values: dict[str, Any],
        call: CallContext,
        timeout_s: float,
        once: IdempotentCall | None,
    ) -> dict[str, Any]:
        def run(tx: Transaction) -> dict[str, Any]:
            return self._run_once(tx, operation.alias_of or operation.name, execute, once)

        def execute(tx: Transaction) -> dict[str, Any]:
            call.created = {}
            result = operation.body(tx, **values)
            result.update(call.created)
            return result

        if self._engine.locks_workspaces:
            call.workspace = operation.write_workspace(values)
        result = self._engine.write(run, timeout_s=timeout_s, call=call)
        if once is not None and once.is_outdated(result):
            self._correct(once, result, self._engine.write_transaction(timeout_s=timeout_s, call=call))
        return result

    def _run_once(
        self,
        tx: Transaction,
        tool: str,
        execute: Callable[[Transaction], dict[str, Any]],
        once: IdempotentCall | None,
    ) -> dict[str, Any]:
        """Execute a write and add its event, or return the stored answer of an earlier attempt."""
        stored = None if once is None else once.claim_or_stored_answer(tx)
        if stored is not None:
            return stored
        result = execute(tx)
        if tx.append_event(tool) and once is not None:
            once.store_answer(tx, result)
        return result

    def _correct(self, once: IdempotentCall, result: dict[str, Any], tx: Transaction) -> None:
        """Store the answer that was known only after the commit; keep the earlier one if that fails."""
        try:
            once.replace_answer(tx, result)
            tx.commit()
        except Exception:
            tx.rollback()
        finally:
            tx.release()

    def work_tree(self) -> WorkTree | None:
        """Return the work tree that the process runs in, None if it is not the one of this store's callers."""
        return self._caller.work_tree()

    if not TYPE_CHECKING:  # type checkers read the tools' signatures in `typed.pyi`

        def __getattr__(self, tool: str) -> Callable[..., dict[str, Any]]:
            if tool.startswith("_"):
                raise AttributeError(tool)
            operation = catalog.find(tool)
            if operation is None:
                raise AttributeError(self.unknown_tool_error(tool, None).message)

            def method(**arguments: Any) -> dict[str, Any]:
                key = arguments.pop("idempotency_key", None) if operation.mutates else None
                return self.call(operation, operation.public_arguments(arguments), idempotency_key=key)

            method.__name__ = method.__qualname__ = tool
            method.__doc__ = operation.description
            return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(operation.name for operation in catalog.operations())]

    def save_loads(self) -> None:
        """Write the counted loads now, unless the store is busy."""
        if self._loads is not None:
            self._loads.save()

    def close(self) -> None:
        """Close the database; a closed store opens again at the next call."""
        self.save_loads()
        self._engine.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(
    home: str | None = None, *, config: Config | None = None, read_only: bool = False, actor: str = DEFAULT_ACTOR
) -> Store:
    """Open the store in `home`, else in `MOSS_HOME`, else in `~/.moss`; the first write creates it.

    A `read_only` store refuses every tool that writes, also exports, with `READ_ONLY`. `actor` is the author of its
    changes. The folder of a demonstration is refused with `NOT_A_STORE`.
    """
    settings = config or load_config(home)
    if "moss-demo-" in settings.home:
        from .storage.files.demonstration import refuse_demonstration

        refuse_demonstration(settings.home)
    return Store(settings, read_only=read_only, actor=actor, counts_loads=True)


def _refuse_credentials(
    operation: Operation,
    arguments: dict[str, Any],
    values: dict[str, Any],
    call: CallContext,
    changes: bool,
    key: str | None,
) -> None:
    """Refuse texts above their limit, then credentials, unless the call or the configuration allows those."""
    from moss_memory.secrets.scanner import refuse_credentials

    if values.pop("allow_secrets", False) and changes:
        call.config = call.config.replace(allow_secrets=True)
    elif operation.scan_secrets and changes:
        if operation.check_own_limits is not None:
            operation.check_own_limits(call, values)
        refuse_credentials(call.config, arguments, call.check_cancelled)
    if key is not None:
        refuse_credentials(call.config, {"idempotency_key": key})  # although only its hash is stored


def _elapsed_ms(began_s: float) -> float:
    return (time.perf_counter() - began_s) * 1000
