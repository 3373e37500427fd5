"""`moss token`: makes, lists and revokes the named tokens of a store."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.rows.times import duration_s
from moss_memory.storage import server_tables
from moss_memory.store import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_S = 100 * 366 * 86_400


def add(home: str | None, *, name: str, read_only: bool = False, expires: str | None = None) -> dict[str, Any]:
    """Make a token and return it with its name; only its hash is stored."""
    server_tables.check_name(name)
    lifetime_s = None if expires is None else _seconds(expires)
    token = server_tables.new_token()
    sha256 = server_tables.hash_of(token.encode())
    with open_store(home, actor="cli") as store:
        row = store.write(
            server_tables.add_token,
            what="token_add",
            name=name,
            sha256=sha256,
            read_only=read_only,
            lifetime_s=lifetime_s,
        )
    return {"name": name, "token": token, **row}


def list_all(home: str | None) -> dict[str, Any]:
    """Return all tokens without their hashes."""
    with open_store(home, actor="cli") as store:
        return {"tokens": store.read(server_tables.list_tokens, what="token_list")}


def revoke(home: str | None, *, name: str) -> dict[str, Any]:
    """Delete a token; servers refuse it within two seconds."""
    with open_store(home, actor="cli") as store:
        return store.write(server_tables.revoke_token, what="token_revoke", name=name)


def _seconds(text: str) -> int:
    """Return the seconds of a duration such as `90d`."""
    seconds = duration_s(text) or 0
    if not 0 < seconds <= _LONGEST_S:
        raise invalid_request("`expires` is a duration such as 30m, 12h, 90d or 4w, at most 100 years", path="expires")
    return seconds
