"""What a framework keeps, as artifacts of one kind: found by any key, exactly as it was written."""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store
from moss_memory.tools.artifact.artifact_rows import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    Key = str | tuple[str, ...]
    Row = dict[str, Any]

_PAGE = 100


class ArtifactKV:
    """Artifacts of one kind in one workspace, each under a key of the framework.

    Keys are any text, told apart to the letter; Moss's own names are not, so an artifact is named by its key's hash.
    A store that is opened here keeps no old versions; a store that is given keeps what its configuration says.
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

    def get(self, key: Key) -> Row | None:
        """What is under a key, its time to live and when it was written, or none."""
        return self.store.read(kept, what="artifact_fetch", snapshot=False, **self._address(key))

    def put(self, key: Key, data: dict[str, Any], *, new: bool = False, **more: Any) -> None:
        """Keeps the data under a key, in the place of what was there; `new` refuses a key that is taken."""
        given = {name: value for name, value in more.items() if value is not None}
        arguments = {**self._address(key), "kind": self._kind, "data": data, "mode": "error" if new else "replace"}
        self.store.call("artifact_store", {**arguments, **given, **self._allow_secrets})

    def add(self, data: dict[str, Any], *, run_id: str) -> None:
        """Keeps data that has no key, after what was added before."""
        arguments = {"workspace": self._workspace, "kind": self._kind, "data": data, "run_id": run_id}
        self.store.call("artifact_store", {**arguments, **self._allow_secrets})

    def delete(self, key: Key) -> bool:
        """Takes away what is under a key; false where nothing was."""
        return self._deleted(self._address(key))

    def delete_id(self, id: str) -> bool:
        """The same for an artifact by its id; of several that try, one succeeds."""
        return self._deleted({"id": id})

    def _deleted(self, address: dict[str, Any]) -> bool:
        try:
            self.store.call("artifact_delete", address, advice=False)
        except MossError as error:
            if error.code == "NOT_FOUND":
                return False
            raise
        return True

    def delete_all(self, **filters: str) -> None:
        """Takes away everything that matches."""
        self.store.call("artifact_bulk_delete", {"workspace": self._workspace, "kind": self._kind, **filters})

    def touch(self, key: Key, ttl_seconds: int) -> None:
        """Lets what is under a key live so long from now."""
        self.store.call("artifact_touch", {**self._address(key), "ttl_seconds": ttl_seconds})

    def newest_first(self, **filters: str) -> Iterator[Row]:
        """Every artifact that matches, the last one that was written first."""
        offset = 0
        asked = {"workspace": self._workspace, "kind": self._kind, "limit": _PAGE, **filters}
        while True:
            page = self.store.call("artifact_list", {**asked, "offset": offset})
            yield from page["items"]
            offset += len(page["items"])
            if not page["pagination"]["has_more"]:
                return

    def found(self, query: str) -> Iterator[tuple[str, float]]:
        """The ids of artifacts that a query finds by words and meaning, with their scores, best first."""
        offset = 0
        asked = {"query": query, "types": ["artifact"], "workspace": self._workspace, "limit": _PAGE}
        while True:
            page = self.store.call("moss_search", {**asked, "offset": offset})
            yield from [(item["id"], float(item["score"])) for item in page["items"]]
            offset += len(page["items"])
            if not page["items"] or not page["pagination"]["has_more"]:
                return

    def close(self) -> None:
        """Lets go of the store, if it was opened here."""
        if self.is_own:
            self.store.close()

    def _address(self, key: Key) -> dict[str, Any]:
        return {"workspace": self._workspace, "name": self._prefix + hashed(key)}


def hashed(key: Key) -> str:
    """A name for any key, the same for the same key alone: of its JSON, which tells `a, b` from `a`, `b`."""
    if isinstance(key, str):
        written = encode_basestring_ascii(key)
    else:
        written = f"[{', '.join(map(encode_basestring_ascii, key))}]"
    return hashlib.sha256(written.encode()).hexdigest()[:48]
