"""Texts of the doctor about a PostgreSQL server."""

from __future__ import annotations

from moss_memory.rows.names import pluralize

from .doctor_home import size
from .doctor_report import FAIL, OK, WARN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TODO = {
    "STORAGE_BUSY": "start the server or make its host reachable; `moss config` shows the URL in effect",
    "STORAGE_READONLY": "correct the problem that the server reports; `moss config` shows the URL in effect",
    "INVALID_REQUEST": "correct the URL; `moss config` shows it",
    "STORAGE_FULL": "free some space on the server",
}
"""Suggestions if a server could not be checked."""


def _server(
    state: str,
    *,
    version: str,
    at: str,
    database: str,
    standby: bool,
    timeline: int | None,
    encrypted: bool,
    verified: bool,
    size_bytes: int,
) -> tuple[str, ...]:
    role = "a standby" if standby else f"the primary, timeline {timeline}"
    connection = "encrypted and verified" if verified else "encrypted, not verified" if encrypted else "not encrypted"
    message = (
        f"PostgreSQL {version} at {at}, {role}; database {database}, {size(size_bytes)}; the connection is {connection}"
    )
    if state == "sound":
        return OK, message
    return WARN, message, "remove `sslmode` from the URL, so that the server must prove its identity"


def _host(_: str, *, at: str, role: str) -> tuple[str, ...]:
    if role == "gone":
        return WARN, f"{at} cannot be reached", "start it; until then it cannot replace the primary"
    return OK, f"{at} is {'the primary' if role == 'primary' else 'a standby'}"


def _durability(
    _: str, *, unsafe: list[str], commit: str, standbys: int, waited_for: int | None, waits: bool, names: str
) -> tuple[str, ...]:
    if unsafe:
        verb = "is" if len(unsafe) == 1 else "are"
        lost = f"{' and '.join(unsafe)} {verb} off: a crash of the server can lose acknowledged writes"
        return FAIL, lost, f"set {', '.join(unsafe)} to on, on the server"
    crash = f"acknowledged writes survive a crash of the server (synchronous_commit {commit})"
    if not standbys and not names:
        return OK, f"{crash}; there is no standby, so they do not survive the loss of its machine"
    if waited_for is None:
        message = f"{crash}; {pluralize(standbys, 'standby server')}, whose details this user may not read"
        return OK, message, "`grant pg_monitor` to this user, and `moss doctor` shows the synchronous ones"
    standby_servers = f"{pluralize(standbys, 'standby server')}, {waited_for} synchronous"
    if waits and waited_for:
        return OK, f"{crash} and the loss of its machine: {standby_servers} ({names})"
    if waits:
        return WARN, f"{standby_servers}: writes wait until a standby of {names} is connected", "start the standbys"
    lost = f"{crash}; {standby_servers}, so the loss of its machine can lose the last ones"
    return WARN, lost, "set synchronous_standby_names and synchronous_commit on the server"


def _connections(state: str, *, used: int, limit: int) -> tuple[str, ...]:
    message = f"{used} of {limit} connections of the server are in use"
    return (OK, message) if state == "sound" else (WARN, message, "raise max_connections, or put a pooler in between")


WORDS: dict[str, Callable[..., tuple[str, ...]]] = {
    "server": _server,
    "host": _host,
    "durability": _durability,
    "connections": _connections,
}
