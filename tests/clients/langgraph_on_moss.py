"""A pytest plugin that replaces LangGraph's own stores by MossStore in LangGraph's tests, each in a new folder.

`setup` and the sweepers are what its stores on SQLite have beside the interface. Moss needs neither: a store is made
when it is first written, and what has expired is never answered.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import langgraph.store.memory
import langgraph.store.sqlite
import langgraph.store.sqlite.aio

from moss_memory.adapters.langgraph import MossStore


class InMemory(MossStore):
    """Replacement for InMemoryStore."""

    def __init__(self, *, index: Any = None, **options: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="moss-langgraph-")
        fields = (index or {}).get("text_fields") or (index or {}).get("fields")
        given: Any = {"dims": index["dims"], "embed": index["embed"], "fields": fields} if index else None
        super().__init__(home=self._folder.name, index=given, **options)
        self.index_config = index
        self._gone: set[str] = set()

    def sweep_ttl(self) -> int:
        """Return the number of rows that have expired since the previous call."""
        listed = self._artifacts.store.call("artifact_list", {"limit": 100, "include_expired": True})["items"]
        alive = self._artifacts.store.call("artifact_list", {"limit": 100})["items"]
        gone = {one["id"] for one in listed} - {one["id"] for one in alive} - self._gone
        self._gone |= gone
        return len(gone)


class OnSqlite(InMemory):
    """Replacement for SqliteStore."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, _: str, **options: Any) -> Iterator[OnSqlite]:
        store = cls(**options)
        yield store
        store.close()

    def setup(self) -> None:
        """Do nothing; a Moss store needs no preparation."""

    start_ttl_sweeper = stop_ttl_sweeper = setup


class OnSqliteAsync(InMemory):
    """Replacement for AsyncSqliteStore."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, _: str, **options: Any) -> AsyncIterator[OnSqliteAsync]:
        store = cls(**options)
        yield store
        store.close()

    async def setup(self) -> None:
        """Do nothing; a Moss store needs no preparation."""

    start_ttl_sweeper = stop_ttl_sweeper = setup

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        """Return the number of expired rows."""
        return await asyncio.to_thread(super().sweep_ttl)


for module, name, instead in (
    (langgraph.store.memory, "InMemoryStore", InMemory),
    (langgraph.store.sqlite, "SqliteStore", OnSqlite),
    (langgraph.store.sqlite, "AsyncSqliteStore", OnSqliteAsync),
    (langgraph.store.sqlite.aio, "AsyncSqliteStore", OnSqliteAsync),
):
    setattr(module, name, instead)
