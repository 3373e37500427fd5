"""Sessions of the OpenAI Agents SDK: the items of a conversation, in order."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from .artifact_kv import ArtifactKV, ContextManaged, hash_key

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from moss_memory.store import Store

_KIND = "agents-item"


class MossSession(ContextManaged, SessionABC):
    """The items of one session, stored in Moss; several processes may append concurrently.

    An item has at most about 49,000 characters of JSON (`DATA_TOO_LARGE`); secrets are refused (`SECRET_FOUND`) unless
    `allow_secrets`.
    """

    def __init__(
        self,
        session_id: str,
        *,
        store: Store | None = None,
        home: str | None = None,
        workspace: str = "agents",
        session_settings: SessionSettings | None = None,
        allow_secrets: bool = False,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._run = hash_key(session_id)
        self._artifacts = ArtifactKV(_KIND, store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, oldest first; with a limit only the latest."""
        max_items = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._items, None if max_items is None or max_items < 0 else max_items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await asyncio.to_thread(self._add, [dict(cast("dict[str, Any]", item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the latest item; concurrent calls get different items."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._artifacts.delete_all, run_id=self._run)

    def close(self) -> None:
        self._artifacts.close()

    def _items(self, max_items: int | None) -> list[TResponseInputItem]:
        rows = list(islice(self._artifacts.newest_first(run_id=self._run), max_items))
        return [cast("TResponseInputItem", row["data"]["item"]) for row in reversed(rows)]

    def _add(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            self._artifacts.add({"session": self.session_id, "item": item}, run_id=self._run)

    def _pop(self) -> TResponseInputItem | None:
        while True:
            row = next(self._artifacts.newest_first(run_id=self._run), None)
            if row is None:
                return None
            if self._artifacts.delete_id(row["id"]):
                return cast("TResponseInputItem", row["data"]["item"])
