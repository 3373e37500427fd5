"""`moss connect`: connects a client to this store or disconnects it; without a client, lists all of them."""

from __future__ import annotations

import shlex

from moss_memory.cli.render.output import say, warn
from moss_memory.config import load_config
from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.files.demonstration import refuse_demonstration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.connect.clients import Client
    from moss_memory.connect.config_edit import ConfigEdit
    from moss_memory.connect.config_location import ConfigLocation
    from moss_memory.connect.hooks import Hooks

_HIDDEN = "<the token>"


def connect(
    home: str | None,
    *,
    client: str | None = None,
    scope: str | None = None,
    http: bool = False,
    url: str | None = None,
    toolsets: Sequence[str] | None = None,
    hooks: bool = False,
    remove: bool = False,
    dry_run: bool = False,
    check: bool = False,
) -> dict[str, Any] | int:
    from moss_memory.connect.config_location import ConfigLocation, choose_scope, find_client, make_entry

    if client is None:
        _refuse_without_client(http=http, url=url, toolsets=toolsets, hooks=hooks, remove=remove, dry_run=dry_run)
        return list_clients(scope=scope, check=check)
    target = find_client(client)
    if check:
        return _with_failures(_client_rows(target, scope, check=True))
    location = ConfigLocation(target, choose_scope(target, scope))
    # Read the hooks before anything is written: their file may be invalid.
    named_hooks = _hooks_of(location) if hooks else None
    if remove:
        return _disconnect(location, named_hooks, dry_run=dry_run)
    run = named_hooks.with_hooks(home) if named_hooks else ""
    store_home = load_config(home).home
    refuse_demonstration(store_home)
    entry, token = make_entry(
        location, home=home, store_home=store_home, toolsets=toolsets, url=url, http=http, dry_run=dry_run
    )
    report = _apply(location, location.with_entry(entry), token, connects=True, dry_run=dry_run)
    _suggest_init(home)
    if named_hooks and named_hooks.shares_file and not dry_run:
        named_hooks = named_hooks.reload()
        run = named_hooks.with_hooks(home)
    return _add_hooks(report, named_hooks, run, connects=True) if named_hooks else report


def _suggest_init(home: str | None) -> None:
    """Report that the current repository has no workspace."""
    from moss_memory.code_state.work_tree import work_tree_of

    if work_tree_of() is not None and not load_config(home).workspace:
        say("moss: this repository has no workspace yet; `moss init` creates one")


def _refuse_without_client(**options: Any) -> None:
    from moss_memory.connect.clients import CLIENTS

    for name, value in options.items():
        if value:
            raise invalid_request(f"`{name}` needs a client: {', '.join(CLIENTS)}", path="client")


def _hooks_of(location: ConfigLocation) -> Hooks:
    from moss_memory.connect.hooks import Hooks

    return Hooks(location.client, location.scope)


def _disconnect(location: ConfigLocation, named_hooks: Hooks | None, *, dry_run: bool) -> dict[str, Any] | int:
    """Remove the hooks if `--hooks` was given, else everything of Moss."""
    hooks = named_hooks or (_hooks_of(location) if location.client.hooks else None)
    hooks_text = hooks.restore_text() if hooks else ""
    removed = False
    if hooks and hooks.shares_file and not named_hooks and not dry_run:
        # The hooks came last into the file, so they go first: then the rest is as connecting left it.
        removed = _write(hooks, hooks_text, connects=False)
        location, hooks = location.reload(), hooks.reload()
        hooks_text = hooks.file.text
    if not named_hooks:
        report = _apply(location, location.restore_text(), "", connects=False, dry_run=dry_run)
    else:
        report = 0 if dry_run else _report(location, "", changed=False, expects_entry=location.entry is not None)
    if removed and isinstance(report, dict):
        return {**report, "hooks": {"file": location.path, "changed": True, "events": []}}
    return (
        _add_hooks(report, hooks, hooks_text, connects=False) if hooks and (named_hooks or hooks.commands) else report
    )


def _add_hooks(report: dict[str, Any] | int, hooks: Hooks, text: str | None, *, connects: bool) -> dict[str, Any] | int:
    """Add the change of the hooks to the report of the entry: written, or shown in a dry run."""
    if isinstance(report, int):
        return _show_difference(hooks, text, "")
    changed = _write(hooks, text, connects=connects)
    return {**report, "hooks": {"file": hooks.path, "changed": changed, "events": list(hooks.reload().commands)}}


def _write(change: ConfigEdit, text: str | None, *, connects: bool) -> bool:
    """Write a file or delete it; return True if it changed. Keep a copy of a file that connecting changes."""
    from moss_memory.connect.replaced_entries import delete_change

    if text == change.file.text:
        return False
    if connects:
        change.save_replaced(text or "")
    if text is None:
        change.file.delete()
    else:
        backup = change.backup_path()
        change.file.write(text, keep=not backup)
        change.file.backup = backup or change.file.backup
    if not connects:
        delete_change(change.undo_key)
    return True


def _apply(
    location: ConfigLocation, text: str | None, token: str, *, connects: bool, dry_run: bool
) -> dict[str, Any] | int:
    """Show the change of a file, or make it: by the client's own command if it has one, else by Moss."""
    from moss_memory.connect.client_cli import can_use_client_cli, cli_commands, run_client_commands
    from moss_memory.connect.replaced_entries import delete_change

    changed = text is None or text != location.file.text
    entry = location.find_in(text or "")
    lines = []
    if changed and can_use_client_cli(location.client, location.scope, entry):
        lines = cli_commands(location.client, entry, was_there=location.entry is not None)
    if dry_run:
        for line in lines:
            say(f"moss: would run: {shlex.join(line)}")
        return _show_difference(location, text, token)
    if not lines:
        _write(location, text, connects=connects)
    elif connects:
        location.save_replaced(text or "")
        run_client_commands(lines)
    else:
        run_client_commands(lines)
        delete_change(location.undo_key)
    return _report(location, token, changed=changed, expects_entry=entry is not None, is_back=not connects)


def _show_difference(location: ConfigEdit, text: str | None, token: str) -> int:
    from moss_memory.cli.render.unified_diff import diff_lines, show_difference

    new_text = text or ""
    if token:
        new_text = new_text.replace(token, _HIDDEN)
    old_text = location.file.text.replace(token, _HIDDEN) if token else location.file.text
    lines = diff_lines(location.path, location.path, [("", old_text, new_text)])
    if lines:
        show_difference(lines)
    else:
        say(f"moss: {location.path} would not change")
    return 0


def _report(
    location: ConfigLocation, token: str, *, changed: bool, expects_entry: bool, is_back: bool = False
) -> dict[str, Any]:
    """Return the report of a change, from the file as it is now."""
    current = location.reload()
    server_entry = current.server_entry()
    if (current.entry is not None) != expects_entry:
        raise MossError("CONFLICT", f"another program changed {location.path} at the same time; run this again")
    answer: dict[str, Any] = {
        "client": location.client.key,
        "scope": location.scope,
        "file": location.path,
        "changed": changed,
        "connected": server_entry.transport if server_entry else "no",
    }
    if location.file.backup:
        answer["backup"] = location.file.backup
    if token and current.file.others_may_read():
        warn(f"other users can read {location.path}, which now contains the token; chmod 600 {location.path}")
    if changed and is_back and server_entry:
        answer["next"] = "the entry `moss` from before is restored; `--remove` again removes it"
    elif changed and server_entry:
        answer["next"] = f"restart {location.client.name}, then `moss connect {location.client.key} --check`"
    return answer


def list_clients(*, scope: str | None = None, check: bool = False) -> dict[str, Any]:
    """Return every client: installed or not, connected or not, and with `check` the result of a handshake."""
    from moss_memory.connect.clients import CLIENTS

    return _with_failures([row for client in CLIENTS.values() for row in _client_rows(client, scope, check=check)])


def _with_failures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows, and the clients whose handshake failed if there are any."""
    failed = [row["client"] for row in rows if row.get("answers") == "no"]
    return {"clients": rows, "failed": failed} if failed else {"clients": rows}


def _client_rows(client: Client, scope: str | None, *, check: bool) -> list[dict[str, Any]]:
    """Return the row of the user's file, and that of the project's file if it has an entry for Moss."""
    from moss_memory.connect.clients import PROJECT, USER

    rows: list[dict[str, Any]] = []
    for file_scope in client.scopes():
        # The home folder may be a project too.
        is_other = file_scope != PROJECT or client.file(file_scope) != client.file(USER)
        if scope == file_scope or (scope is None and is_other):
            row = _client_row(client, file_scope, check=check)
            if file_scope != PROJECT or scope == PROJECT or row["connected"] != "no":
                rows.append(row)
    return rows


def _client_row(client: Client, scope: str, *, check: bool) -> dict[str, Any]:
    from moss_memory.connect.config_location import ConfigLocation

    row: dict[str, Any] = {
        "client": client.key,
        "found": client.is_here(),
        "scope": scope,
        "connected": "no",
        "file": client.file(scope),
    }
    try:
        server_entry = ConfigLocation(client, scope).server_entry()
    except MossError as error:
        return {**row, "connected": "unknown", "problem": error.message}
    if server_entry is None:
        return row
    row["connected"] = server_entry.transport
    if check:
        from moss_memory.connect.handshake import HandshakeError, check_server

        try:
            server, tools = check_server(server_entry, scope)
            row |= {"answers": "yes", "server": server, "tools": tools}
        except HandshakeError as problem:
            row |= {"answers": "no", "problem": str(problem)}
    return row
