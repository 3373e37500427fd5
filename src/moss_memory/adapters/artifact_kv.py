"""A key-value store of artifacts of one kind, with exact keys."""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Self

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.tools.artifact.artifact_rows import read_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    KeyPath = str | tuple[str, ...]
    StoredRow = dict[str, Any]

_PAGE = 100


class ContextManaged:
    """Closes itself at the end of a `with` block."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store if it was opened here."""
        raise NotImplementedError


class ArtifactKV:
    """Artifacts of one kind in one workspace, each under a key of the framework.

    Keys are any text, compared exactly; names of artifacts are not, so an artifact is named by its key's hash.
    A store opened here has no old versions; a given store follows its configuration.
    """

    def __init__(
        self, kind: str, *, store: Store | None, home: str | None, workspace: str, allow_secrets: bool
    ) -> None:
        self._kind = kind
        self._prefix = f"{kind}-"
        self._workspace = workspace
        self._allow_secrets = {"allow_secrets": True} if allow_secrets else {}
        self.is_own = store is None
        self.store = store or Store(load_config(home).replace(history_keep=1))

    def get(self, key: KeyPath) -> StoredRow | None:
        """Return the value of a key with its time to live and its time of writing; None if there is none."""
        return self.store.read(read_named, what="artifact_fetch", snapshot=False, **self._address(key))

    def put(self, key: KeyPath, data: dict[str, Any], *, new: bool = False, **more: Any) -> None:
        """Set the value of a key; with `new`, refuse an existing key."""
        options = {name: value for name, value in more.items() if value is not None}
        arguments = {**self._address(key), "kind": self._kind, "data": data, "mode": "error" if new else "replace"}
        self.store.call("artifact_store", {**arguments, **options, **self._allow_secrets})

    def add(self, data: dict[str, Any], *, run_id: str) -> None:
        arguments = {"workspace": self._workspace, "kind": self._kind, "data": data, "run_id": run_id}
        self.store.call("artifact_store", {**arguments, **self._allow_secrets})

    def delete(self, key: KeyPath) -> bool:
        """Delete a key; return False if it did not exist."""
        return self._delete(self._address(key))

    def delete_id(self, id: str) -> bool:
        """Delete an artifact by its id; of concurrent calls exactly one returns True."""
        return self._delete({"id": id})

    def _delete(self, address: dict[str, Any]) -> bool:
        try:
            self.store.call("artifact_delete", address, suggest=False)
        except MossError as error:
            if error.code == "NOT_FOUND":
                return False
            raise
        return True

    def delete_all(self, **filters: str) -> None:
        self.store.call("artifact_bulk_delete", {"workspace": self._workspace, "kind": self._kind, **filters})

    def touch(self, key: KeyPath, ttl_seconds: int) -> None:
        """Set the time to live of a key, counted from now."""
        self.store.call("artifact_touch", {**self._address(key), "ttl_seconds": ttl_seconds})

    def newest_first(self, **filters: str) -> Iterator[StoredRow]:
        """Yield every matching artifact, last written first."""
        offset = 0
        arguments = {"workspace": self._workspace, "kind": self._kind, "limit": _PAGE, **filters}
        while True:
            page = self.store.call("artifact_list", {**arguments, "offset": offset})
            yield from page["items"]
            offset += len(page["items"])
            if not page["pagination"]["has_more"]:
                return

    def search(self, query: str) -> Iterator[tuple[str, float]]:
        """Yield the ids of artifacts that match a query by words and vectors, with their scores, best first."""
        offset = 0
        arguments = {"query": query, "types": ["artifact"], "workspace": self._workspace, "limit": _PAGE}
        while True:
            page = self.store.call("moss_search", {**arguments, "offset": offset})
            yield from [(item["id"], float(item["score"])) for item in page["items"]]
            offset += len(page["items"])
            if not page["items"] or not page["pagination"]["has_more"]:
                return

    def close(self) -> None:
        if self.is_own:
            self.store.close()

    def _address(self, key: KeyPath) -> dict[str, Any]:
        return {"workspace": self._workspace, "name": self._prefix + hash_key(key)}


def hash_key(key: KeyPath) -> str:
    """Return a unique name for a key: the hash of its JSON, which distinguishes `a, b` from `a`, `b`."""
    if isinstance(key, str):
        encoded = encode_basestring_ascii(key)
    else:
        encoded = f"[{', '.join(map(encode_basestring_ascii, key))}]"
    return hashlib.sha256(encoded.encode()).hexdigest()[:48]
