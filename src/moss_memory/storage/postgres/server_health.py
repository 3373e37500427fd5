"""Health checks of a server: identity and encryption, standbys, durability of commits, free connections."""

from __future__ import annotations

import psycopg

from moss_memory.storage.health import DAMAGED, PENDING, SOUND, CheckResult

from .connection_options import is_local, resolve_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .connections import Connection

_LOOK_S = "3"
"""The connection timeout of each of several hosts."""
_SERVER = (
    "select current_setting('server_version'), pg_is_in_recovery(), pg_database_size(current_database()),"
    " case when pg_is_in_recovery() then null"
    " else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end"
)
_STANDBYS = (
    "select count(*), count(*) filter (where sync_state in ('sync', 'quorum')), count(sync_state)"
    " from pg_stat_replication"
)
_SETTINGS = (
    "select current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),"
    " current_setting('synchronous_standby_names')"
)
_CONNECTIONS = (
    "select count(*) filter (where backend_type = 'client backend'), current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int"
    " - coalesce(current_setting('reserved_connections', true), '0')::int"
    " from pg_stat_activity"
)
_WAITS_FOR_STANDBY = ("on", "remote_write", "remote_apply")
"""The values of synchronous_commit with which a commit waits for synchronous standbys."""


def server(connection: Connection, url: str) -> Iterator[CheckResult]:
    """Check the server of the connection and its encryption."""
    version, standby, size_bytes, timeline = _row(connection, _SERVER)
    info = connection.info
    options = resolve_options(url)
    encrypted = bool(connection.pgconn.ssl_in_use)
    verified = encrypted and str(options.get("sslmode", "")).startswith("verify-")
    yield CheckResult(
        "server",
        SOUND if verified or is_local(options) else PENDING,
        version=version,
        at=_host_and_port(info.host, info.port),
        database=info.dbname,
        standby=bool(standby),
        timeline=timeline,
        encrypted=encrypted,
        verified=verified,
        size_bytes=size_bytes,
    )


def durability(connection: Connection, _: str) -> Iterator[CheckResult]:
    """Check that an acknowledged write survives a crash of the server, and the loss of its machine."""
    fsync, pages, commit, names = _row(connection, _SETTINGS)
    standbys, waited_for, known_standbys = _row(connection, _STANDBYS)
    unsafe = [name for name, value in (("fsync", fsync), ("full_page_writes", pages)) if value == "off"]
    if commit == "off":
        unsafe.append("synchronous_commit")
    waits = bool(names) and commit in _WAITS_FOR_STANDBY
    poor = not unsafe and (standbys or names) and known_standbys == standbys and not (waits and waited_for)
    yield CheckResult(
        "durability",
        DAMAGED if unsafe else PENDING if poor else SOUND,
        unsafe=unsafe,
        commit=commit,
        standbys=standbys,
        waited_for=waited_for if known_standbys == standbys else None,
        waits=waits,
        names=names,
    )


def connections(connection: Connection, _: str) -> Iterator[CheckResult]:
    """Check the number of connections in use against the limit of the server."""
    used, limit = _row(connection, _CONNECTIONS)
    yield CheckResult("connections", PENDING if used * 10 > limit * 9 else SOUND, used=used, limit=limit)


def hosts(_: Connection, url: str) -> Iterator[CheckResult]:
    """Check the role of each host if the URL names several: primary, standby, or gone."""
    options = resolve_options(url)
    host_ports = _hosts(options)
    for host, port in host_ports if len(host_ports) > 1 else ():
        state, role = _find_role({**options, "host": host, "port": port, "target_session_attrs": "any"})
        yield CheckResult("host", state, at=_host_and_port(host, port), role=role)


def _hosts(options: dict[str, Any]) -> list[tuple[str, str]]:
    host_names = str(options.get("host") or "").split(",")
    ports = str(options.get("port") or "5432").split(",")
    return [(host, ports[index] if len(ports) > 1 else ports[0]) for index, host in enumerate(host_names)]


def _find_role(options: dict[str, Any]) -> tuple[str, str]:
    options.pop("hostaddr", None)
    try:
        with psycopg.connect(**{**options, "connect_timeout": _LOOK_S}, autocommit=True) as connection:
            row = connection.execute("select pg_is_in_recovery()").fetchone()
    except psycopg.Error:
        return PENDING, "gone"
    return SOUND, "standby" if row is not None and row[0] else "primary"


def _host_and_port(host: str, port: int | str) -> str:
    return host if host.startswith("/") else f"{host}:{port}"


def _row(connection: Connection, sql: str) -> tuple[Any, ...]:
    row = connection.execute(sql).fetchone()
    assert row is not None, "the statement always gives one"
    return row
