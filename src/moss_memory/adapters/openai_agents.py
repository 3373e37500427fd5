"""The OpenAI Agents SDK's sessions on Moss: what was said in a conversation, in its order."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from agents.memory.session import SessionABC
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from .artifact_kv import ArtifactKV, hashed

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from moss_memory.store import Store

_KIND = "agents-item"


class MossSession(SessionABC):
    """The items of one session, kept in Moss; several processes may add to it at once.

    An item has at most about 49,000 characters of JSON (`DATA_TOO_LARGE`); what looks like a credential is refused
    (`SECRET_FOUND`) unless `allow_secrets`.
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
        self._run = hashed(session_id)
        self._kept = ArtifactKV(_KIND, store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first; with a limit the latest so many."""
        most = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._items, None if most is None or most < 0 else most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items after those that are there."""
        await asyncio.to_thread(self._add, [dict(cast("dict[str, Any]", item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item away and returns it; of several that pop at once each gets another."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Takes every item away."""
        await asyncio.to_thread(self._kept.delete_all, run_id=self._run)

    def close(self) -> None:
        """Lets go of the store, if the session opened it."""
        self._kept.close()

    def _items(self, most: int | None) -> list[TResponseInputItem]:
        rows = list(islice(self._kept.newest_first(run_id=self._run), most))
        return [cast("TResponseInputItem", row["data"]["item"]) for row in reversed(rows)]

    def _add(self, items: list[dict[str, Any]]) -> None:
        for item in items:
            self._kept.add({"session": self.session_id, "item": item}, run_id=self._run)

    def _pop(self) -> TResponseInputItem | None:
        while True:
            row = next(self._kept.newest_first(run_id=self._run), None)
            if row is None:
                return None
            if self._kept.delete_id(row["id"]):
                return cast("TResponseInputItem", row["data"]["item"])
