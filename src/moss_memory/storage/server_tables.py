"""The tables of a server: named tokens, the key that signs session ids, and the sessions of the last day."""

from __future__ import annotations

import re

from moss_memory.errors import MossError, closest_match, invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .engine import ReadTransaction, Transaction

PREFIX = "access_"
"""The prefix of these tables. Exports and copies of a store leave them out."""
SERVER_TABLES = ("access_tokens", "access_keys", "access_sessions")
OWNER = "owner"
"""The name of the home's own token, as changes show it."""
TOKEN_PREFIX = "moss_"  # noqa: S105 - the beginning of every token, not a token
HOUR_S = 3600
SESSION_IDLE_S = 24 * HOUR_S
_NAME = r"[A-Za-z0-9._@-]{1,64}"
_COLUMNS = "name, sha256, read_only, created_at, expires_at, used_at"
_SESSION_KEY = "sessions"


def hash_of(secret: bytes) -> str:
    """Return the hash under which a secret is stored."""
    from hashlib import sha256

    return sha256(secret).hexdigest()


def new_token() -> str:
    """Return a new token with 256 random bits."""
    from secrets import token_urlsafe

    return TOKEN_PREFIX + token_urlsafe(32)


def check_name(name: str) -> None:
    """Refuse a name that a token cannot have."""
    if not re.fullmatch(_NAME, name):
        raise invalid_request(
            "`name` must be 1 to 64 letters (a to z), digits, `.`, `_`, `-` or `@`, such as anna or ci@build",
            path="name",
        )


def add_token(tx: Transaction, *, name: str, sha256: str, read_only: bool, lifetime_s: int | None) -> dict[str, Any]:
    """Store the hash of a new token; refuse a name that is taken."""
    check_name(name)
    tx.begin()
    if name.lower() == OWNER:
        raise MossError("NAME_ALREADY_EXISTS", f"{OWNER!r} is the token of the home; choose another name")
    if tx.value("select 1 from access_tokens where name = :name", {"name": name}):
        raise MossError(
            "NAME_ALREADY_EXISTS", f"there is a token named {name!r}; revoke it first, or choose another name"
        )
    expires_at = None if lifetime_s is None else tx.now + lifetime_s
    row = {
        "name": name, "sha256": sha256, "read_only": int(read_only), "created_at": tx.now, "expires_at": expires_at,
    }  # fmt: skip
    tx.run(
        "insert into access_tokens (name, sha256, read_only, created_at, expires_at)"
        " values (:name, :sha256, :read_only, :created_at, :expires_at)",
        row,
    )
    tx.set_event_subject(address=name)
    return {"name": name, "read_only": read_only, "created_at": tx.now, "expires_at": expires_at}


def list_tokens(tx: ReadTransaction) -> list[dict[str, Any]]:
    """Return all tokens by name, without their hashes."""
    rows = tx.rows(f"select {_COLUMNS} from access_tokens order by name")
    return [
        {
            "name": name,
            "created_at": created_at,
            "last_used_at": used_at,
            "expires_at": expires_at,
            "expired": expires_at is not None and expires_at <= tx.now,
            "read_only": bool(read_only),
        }
        for name, _, read_only, created_at, expires_at, used_at in rows
    ]


def revoke_token(tx: Transaction, *, name: str) -> dict[str, Any]:
    """Delete a token; refuse an unknown name."""
    if name.lower() == OWNER:
        raise invalid_request(
            f"{OWNER!r} is the token of the home; delete the file `token` in the home and start the server again",
            path="name",
        )
    tx.begin()
    if not tx.run("delete from access_tokens where name = :name", {"name": name}):
        names = [token_name for (token_name,) in tx.rows("select name from access_tokens order by name")]
        like = closest_match(name, names, cutoff=0.6)
        hint = f"; the closest is {like!r}" if like else ""
        raise MossError("NOT_FOUND", f"there is no token named {name[:100]!r}{hint}; `moss token list` names all")
    tx.set_event_subject(address=name)
    return {"name": name, "revoked": True}


def load_tokens(tx: ReadTransaction) -> tuple[int, list[tuple[Any, ...]]]:
    """Return the time of the store in seconds and every token: hash, name, read-only, expiry, hour of the last use."""
    tokens = tx.rows("select sha256, name, read_only, expires_at, used_at from access_tokens")
    return tx.now, list(tokens)


def note_use(tx: Transaction, *, sha256: str) -> None:
    """Store the hour in which a token was used."""
    tx.begin()
    tx.skip_event()
    hour = tx.now - tx.now % HOUR_S
    tx.run(
        "update access_tokens set used_at = :hour where sha256 = :sha256 and coalesce(used_at, 0) < :hour",
        {"sha256": sha256, "hour": hour},
    )


def read_session_key(tx: ReadTransaction) -> str | None:
    """Return the key that signs session ids, None if there is none yet."""
    key: str | None = tx.value("select key from access_keys where purpose = :purpose", {"purpose": _SESSION_KEY})
    return key


def make_session_key(tx: Transaction, *, key: str) -> str:
    """Store a key that signs session ids unless there is one; return the stored one."""
    tx.begin()
    tx.skip_event()
    tx.run(
        "insert into access_keys (purpose, key) values (:purpose, :key) on conflict (purpose) do nothing",
        {"purpose": _SESSION_KEY, "key": key},
    )
    return read_session_key(tx) or key


def read_session(tx: ReadTransaction, *, session: str) -> tuple[int, bool] | None:
    """Return the time at which a session was last seen, and if it has ended; None if nothing is stored of it."""
    row = tx.row("select seen_at, ended from access_sessions where session = :session", {"session": session})
    return None if row is None else (row[0], bool(row[1]))


def note_session(tx: Transaction, *, session: str, seen_at: int, ended: bool) -> None:
    """Store that a session was seen or has ended, and delete the rows of ended sessions."""
    tx.begin()
    tx.skip_event()
    tx.run("delete from access_sessions where seen_at < :over", {"over": seen_at - SESSION_IDLE_S - 2 * HOUR_S})
    tx.run(
        "insert into access_sessions (session, seen_at, ended) values (:session, :seen_at, :ended)"
        " on conflict (session) do update set seen_at = excluded.seen_at,"
        " ended = case when access_sessions.ended = 1 then 1 else excluded.ended end",
        {"session": session, "seen_at": seen_at, "ended": int(ended)},
    )
