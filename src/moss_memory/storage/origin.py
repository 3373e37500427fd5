"""The origin of a change: its actor, and the commit and the repository in which it was made.

Origins have a table of their own. The key of a row is a hash of its content, so an event stays small, and a row that is
copied to another store keeps its key there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.code_state.work_tree import CodeState

    from .engine import ReadTransaction, Transaction

COLUMNS = ("origin_id", "actor", "repository", "repository_id", "branch", "commit_id")
INSERT = (
    f"insert into origins ({', '.join(COLUMNS)}) values (:{', :'.join(COLUMNS)}) on conflict (origin_id) do nothing"
)
INSERT_REPOSITORY = (
    "insert into workspace_repositories (workspace, repository_id, repository) values (:workspace, :repository_id,"
    " :repository) on conflict (workspace, repository_id, repository) do nothing"
)
_SELECT = f"select {', '.join(COLUMNS)} from origins where origin_id = :origin_id"
_MAX_CACHED = 1000


class Origin:
    """The actor and the code state of a change; `key` is the hash of both."""

    __slots__ = ("code", "key", "repository", "row")

    def __init__(self, actor: str, code: CodeState | None) -> None:
        from _blake2 import blake2b  # hashlib would load OpenSSL

        self.code = code
        parts = (actor, *_columns_of(code))
        content = "\0".join([part or "" for part in parts])
        self.key = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        self.row: dict[str, Any] = dict(zip(COLUMNS, (self.key, *parts), strict=True))
        self.repository: dict[str, str] | None = None
        """The columns of its repository in `workspace_repositories`; None if the code state is unknown."""
        if code is not None:
            self.repository = {"repository_id": code.repository_id, "repository": code.repository}

    @property
    def actor(self) -> str:
        actor: str = self.row["actor"]
        return actor


def _columns_of(code: CodeState | None) -> tuple[str | None, ...]:
    if code is None:
        return (None, None, None, None)
    return code.repository or None, code.repository_id or None, code.branch or None, code.commit or None


def origin_of_row(row: dict[str, Any]) -> Origin:
    """Return the origin with the columns of a row, whose key is computed again."""
    from moss_memory.code_state.work_tree import CodeState

    name, key, branch, commit = [row.get(column) or "" for column in COLUMNS[2:]]
    code = CodeState(name, key, branch, commit) if name or key or branch or commit else None
    return Origin(row["actor"], code)


_cache: dict[str, Origin] = {}
"""Origins by key; the content of a key never changes."""


def find_origin(tx: ReadTransaction, key: str | None) -> Origin | None:
    """Return the origin with this key, None if there is none."""
    if key is None:
        return None
    origin = _cache.get(key)
    if origin is None:
        row = tx.row(_SELECT, {"origin_id": key})
        if row is None:
            return None
        origin = origin_of_row(dict(zip(COLUMNS, row, strict=True)))
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[key] = origin
    return origin


def actors_of(tx: ReadTransaction, keys: set[str]) -> dict[str, str]:
    """Return the actor of each origin among these keys."""
    origins = {key: find_origin(tx, key) for key in sorted(keys)}
    return {key: origin.actor for key, origin in origins.items() if origin is not None}


def note_repositories(tx: Transaction, workspace: str, keys: set[str]) -> None:
    """Remember the repositories of these origins as those from which a workspace, in its normal form, was written."""
    for key in sorted(keys):
        origin = find_origin(tx, key)
        if origin is not None and origin.repository is not None:
            tx.queue(INSERT_REPOSITORY, {"workspace": workspace, **origin.repository})


def workspaces_written_from(tx: ReadTransaction, ids: set[str]) -> list[str]:
    """Return the normal forms of the workspaces that a repository, known by any of these ids, wrote to."""
    workspaces = set()
    for key in ids:
        rows = tx.rows(
            "select distinct workspace from workspace_repositories where repository_id = :repository_id",
            {"repository_id": key},
        )
        workspaces.update([workspace for (workspace,) in rows])
    return sorted(workspaces)


def repositories_of(tx: ReadTransaction, workspace: str) -> list[dict[str, str]]:
    """Return name and id of every repository from which a workspace, in its normal form, was written."""
    rows = tx.rows(
        "select repository, repository_id from workspace_repositories where workspace = :workspace order by 1, 2",
        {"workspace": workspace},
    )
    return [{"repository": name, "repository_id": key} for name, key in rows]
