"""`moss connect`: connects a client to this store or disconnects it; without a client, lists all of them."""

from __future__ import annotations

import shlex

from moss_memory.cli.render.output import say, warn
from moss_memory.config import load_config
from moss_memory.demo.demo_home import refuse_demonstration
from moss_memory.errors import MossError, invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from moss_memory.connect.clients import Client
    from moss_memory.connect.config_edit import ConfigEdit
    from moss_memory.connect.connect import ConfigLocation
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
    """Connect a client, disconnect it, or list the clients."""
    from moss_memory.connect.connect import ConfigLocation, client_of, default_scope, wanted_entry

    if client is None:
        _refuse_without_client(http=http, url=url, toolsets=toolsets, hooks=hooks, remove=remove, dry_run=dry_run)
        return overview(scope=scope, check=check)
    meant = client_of(client)
    if check:
        rows = _rows(meant, scope, check=True)
        return {"clients": rows, **_failure(rows)}
    place = ConfigLocation(meant, default_scope(meant, scope))
    asked = _hooks_of(place) if hooks else None  # before anything is written: the file of the hooks may be unreadable
    if remove:
        return _disconnect(place, asked, dry_run=dry_run)
    run = asked.with_hooks(home) if asked else ""
    store_home = load_config(home).home
    refuse_demonstration(store_home)
    wanted, token = wanted_entry(
        place, home=home, store_home=store_home, toolsets=toolsets, url=url, http=http, dry_run=dry_run
    )
    told = _apply(place, place.with_entry(wanted), token, connects=True, dry_run=dry_run)
    return _with_hooks(told, asked, run, connects=True) if asked else told


def _refuse_without_client(**options: Any) -> None:
    from moss_memory.connect.clients import CLIENTS

    for name, value in options.items():
        if value:
            raise invalid_request(f"`{name}` needs a client: {', '.join(CLIENTS)}", path="client")


def _hooks_of(place: ConfigLocation) -> Hooks:
    from moss_memory.connect.hooks import Hooks

    return Hooks(place.client, place.scope)


def _disconnect(place: ConfigLocation, asked: Hooks | None, *, dry_run: bool) -> dict[str, Any] | int:
    """Remove the hooks if `--hooks` was given, else everything of Moss."""
    hooks = asked or (_hooks_of(place) if place.client.hooks else None)
    left = hooks.without() if hooks else ""
    if not asked:
        told = _apply(place, place.without(), "", connects=False, dry_run=dry_run)
    else:
        told = 0 if dry_run else _report(place, "", changed=False, wanted=place.entry is not None)
    return _with_hooks(told, hooks, left, connects=False) if hooks and (asked or hooks.commands) else told


def _with_hooks(told: dict[str, Any] | int, hooks: Hooks, text: str | None, *, connects: bool) -> dict[str, Any] | int:
    """Add the change of the hooks to the report of the entry: written, or shown in a dry run."""
    if isinstance(told, int):
        return _show_difference(hooks, text, "")
    changed = _write(hooks, text, connects=connects)
    there = type(hooks)(hooks.client, hooks.scope).commands
    return {**told, "hooks": {"file": hooks.path, "changed": changed, "events": list(there)}}


def _write(change: ConfigEdit, text: str | None, *, connects: bool) -> bool:
    """Write a file or delete it; return True if it changed. Keep a copy of a file that connecting changes."""
    from moss_memory.connect.replaced_entries import forget

    if text == change.file.text:
        return False
    if connects:
        change.remember(text or "")
    if text is None:
        change.file.delete()
    else:
        kept = change.backup_path()
        change.file.write(text, keep=not kept)
        change.file.backup = kept or change.file.backup
    if not connects:
        forget(change.file.real)
    return True


def _apply(
    place: ConfigLocation, text: str | None, token: str, *, connects: bool, dry_run: bool
) -> dict[str, Any] | int:
    """Show the change of a file, or make it: by the client's own command if it has one, else by Moss."""
    from moss_memory.connect.client_cli import has_own_command, own_command, run_own
    from moss_memory.connect.replaced_entries import forget

    changed = text is None or text != place.file.text
    entry = place.find_in(text or "")
    lines = []
    if changed and has_own_command(place.client, place.scope, entry):
        lines = own_command(place.client, entry, was_there=place.entry is not None)
    if dry_run:
        for line in lines:
            say(f"moss: would run: {shlex.join(line)}")
        return _show_difference(place, text, token)
    if not lines:
        _write(place, text, connects=connects)
    elif connects:
        place.remember(text or "")
        run_own(lines)
    else:
        run_own(lines)
        forget(place.file.real)
    return _report(place, token, changed=changed, wanted=entry is not None, is_back=not connects)


def _show_difference(place: ConfigEdit, text: str | None, token: str) -> int:
    from moss_memory.cli.render.unified_diff import diff_lines, show_difference

    after = text or ""
    if token:
        after = after.replace(token, _HIDDEN)
    before = place.file.text.replace(token, _HIDDEN) if token else place.file.text
    found = diff_lines(place.path, place.path, [("", before, after)])
    if found:
        show_difference(found)
    else:
        say(f"moss: {place.path} would not change")
    return 0


def _report(place: ConfigLocation, token: str, *, changed: bool, wanted: bool, is_back: bool = False) -> dict[str, Any]:
    """Return the report of a change, from the file as it is now."""
    from moss_memory.connect.connect import ConfigLocation

    now = ConfigLocation(place.client, place.scope)
    meaning = now.meaning()
    if (now.entry is not None) != wanted:
        raise MossError("CONFLICT", f"{place.path} is not as it should be: another program wrote it; run this again")
    answer: dict[str, Any] = {
        "client": place.client.key,
        "scope": place.scope,
        "file": place.path,
        "changed": changed,
        "connected": meaning.transport if meaning else "no",
    }
    if place.file.backup:
        answer["backup"] = place.file.backup
    if token and now.file.others_may_read():
        warn(f"others on this machine may read {place.path}, which now holds the token; chmod 600 {place.path}")
    if changed and is_back and meaning:
        answer["next"] = "the entry `moss` that was there before is back; `--remove` once more takes it out"
    elif changed and meaning:
        answer["next"] = f"start {place.client.name} again, then `moss connect {place.client.key} --check`"
    return answer


def overview(*, scope: str | None = None, check: bool = False) -> dict[str, Any]:
    """Return every client: installed or not, connected or not, and with `check` the result of a handshake."""
    from moss_memory.connect.clients import CLIENTS

    rows = [row for client in CLIENTS.values() for row in _rows(client, scope, check=check)]
    return {"clients": rows, **_failure(rows)}


def _failure(rows: list[dict[str, Any]]) -> dict[str, Any]:
    failed = [row["client"] for row in rows if row.get("answers") == "no"]
    return {"failed": failed} if failed else {}


def _rows(client: Client, scope: str | None, *, check: bool) -> list[dict[str, Any]]:
    """Return a row for the user's file, and one for the project's if it has an entry of Moss."""
    from moss_memory.connect.clients import PROJECT, USER

    found = client.is_here()
    rows: list[dict[str, Any]] = []
    for one in client.scopes():
        is_other = one != PROJECT or client.file(one) != client.file(USER)  # the home folder may be a project too
        if scope == one or (scope is None and is_other):
            row = _row(client, one, found=found, check=check)
            if one != PROJECT or scope == PROJECT or row["connected"] != "no":
                rows.append(row)
    return rows


def _row(client: Client, scope: str, *, found: bool, check: bool) -> dict[str, Any]:
    from moss_memory.connect.connect import ConfigLocation

    row: dict[str, Any] = {
        "client": client.key,
        "found": found,
        "scope": scope,
        "connected": "no",
        "file": client.file(scope),
    }
    try:
        meaning = ConfigLocation(client, scope).meaning()
    except MossError as error:
        return {**row, "connected": "unknown", "problem": error.message}
    if meaning is None:
        return row
    row["connected"] = meaning.transport
    if check:
        from moss_memory.connect.handshake import HandshakeError, check_server

        try:
            server, tools = check_server(meaning, scope)
            row |= {"answers": "yes", "server": server, "tools": tools}
        except HandshakeError as problem:
            row |= {"answers": "no", "problem": str(problem)}
    return row
