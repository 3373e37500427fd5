"""LangGraph's store on Moss: items under namespaces, found by key, filter and meaning."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import islice
from time import time
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    validate_op_namespace,
)

from .artifact_kv import ArtifactKV, ContextManaged
from .langgraph_filters import matches_namespace, matches_value
from .langgraph_vectors import pack, rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.embeddings import Embeddings
    from langgraph.store.base import Op, Result

    from moss_memory.store import Store

    from .artifact_kv import StoredRow

    Vectors = dict[tuple[str, str], list[float]]

_KIND = "langgraph-item"
_TEXT_MAX_CHARS = 12_000
_TTL_MAX_S = 100_000_000_000
"""The maximum time to live; an item with a longer one never expires."""
_QUESTION, _TEXT = "question", "text"


class MossStore(ContextManaged, BaseStore):
    """A LangGraph store whose items are artifacts of Moss.

    A value has at most 50,000 characters of JSON with its namespace and key; the first 12,000 characters of its strings
    are searched by words and vectors. With an `index` its `embed` computes the vectors instead, which count among the
    characters. Times are whole seconds, a time to live at least one. Every operation is a transaction; a batch is not.
    In a batch the reads run first, then the last put of each key.
    """

    __slots__ = ("_artifacts", "_embeddings", "_fields", "ttl_config")
    supports_ttl = True

    def __init__(
        self,
        *,
        store: Store | None = None,
        home: str | None = None,
        workspace: str = "langgraph",
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        allow_secrets: bool = False,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._embeddings: Embeddings | None = ensure_embeddings(index["embed"]) if index else None
        self._fields = index.get("fields") if index else None
        self._artifacts = ArtifactKV(_KIND, store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        if refresh_ttl is None:
            refresh_ttl = self.ttl_config is None or self.ttl_config.get("refresh_on_read", True)
        op = GetOp(namespace, str(key), refresh_ttl)
        validate_op_namespace(op)
        return self._get(op)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        operations = _validate(ops)
        vectors: Vectors = {}
        if self._embeddings is not None:
            questions, texts = self._to_embed(operations)
            vectors |= {(_QUESTION, question): self._embeddings.embed_query(question) for question in questions}
            vectors |= _by_text(texts, self._embeddings.embed_documents(texts) if texts else [])
        return self._run(operations, vectors)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Return the results of a batch without blocking the event loop."""
        operations = _validate(ops)
        vectors: Vectors = {}
        if self._embeddings is not None:
            questions, texts = self._to_embed(operations)
            vectors |= {(_QUESTION, question): await self._embeddings.aembed_query(question) for question in questions}
            vectors |= _by_text(texts, await self._embeddings.aembed_documents(texts) if texts else [])
        return await asyncio.to_thread(self._run, operations, vectors)

    def close(self) -> None:
        self._artifacts.close()

    def _run(self, ops: list[Op], vectors: Vectors) -> list[Result]:
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op, vectors))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        for put in puts.values():
            self._put(put, vectors)
        return results

    def _get(self, op: GetOp) -> Item | None:
        row = self._artifacts.get((*op.namespace, op.key))
        if row is None:
            return None
        if op.refresh_ttl and row["ttl_seconds"]:
            self._refresh([row])
        return Item(**_item_fields(row))

    def _put(self, op: PutOp, vectors: Vectors) -> None:
        key = (*op.namespace, op.key)
        if op.value is None:
            self._artifacts.delete(key)
            return
        data: dict[str, Any] = {"namespace": list(op.namespace), "key": op.key, "value": op.value}
        packed_vectors = [pack(vectors[_TEXT, text]) for text in self._embedded_texts(op)]
        if packed_vectors:
            data["vectors"] = packed_vectors
        ttl = None
        if op.ttl is not None and op.ttl * 60 < _TTL_MAX_S:
            data["ttl_minutes"] = op.ttl
            ttl = _seconds(op.ttl)
        self._artifacts.put(key, data, text=_text_of(op) or None, ttl_seconds=ttl)

    def _search(self, op: SearchOp, vectors: Vectors) -> list[SearchItem]:
        """Return matches, newest first; with a query best first, followed by others without a score."""
        matching = (row for row in self._artifacts.newest_first() if _matches(row, op))
        end = op.offset + op.limit
        scores: dict[str, float] = {}
        if op.query:
            rows_by_id = {row["id"]: row for row in matching}
            query_vector = vectors.get((_QUESTION, op.query))
            hits = self._artifacts.search(op.query) if query_vector is None else rank(query_vector, rows_by_id.values())
            scores = dict(islice((hit for hit in hits if hit[0] in rows_by_id), end))
            rows = [
                *(rows_by_id[row_id] for row_id in scores),
                *(row for row_id, row in rows_by_id.items() if row_id not in scores),
            ]
            rows = rows[op.offset : end]
        else:
            rows = list(islice(matching, op.offset, end))
        if op.refresh_ttl:
            self._refresh(rows)
        return [SearchItem(**_item_fields(row), score=scores.get(row["id"])) for row in rows]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        namespaces = {tuple(row["data"]["namespace"]) for row in self._artifacts.newest_first()}
        conditions = op.match_conditions or ()
        namespaces = {
            namespace
            for namespace in namespaces
            if all(matches_namespace(condition, namespace) for condition in conditions)
        }
        if op.max_depth is not None:
            namespaces = {namespace[: op.max_depth] for namespace in namespaces}
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _refresh(self, rows: list[StoredRow]) -> None:
        for row in rows:
            if row["ttl_seconds"]:
                data = row["data"]
                minutes = data.get("ttl_minutes")
                seconds = row["ttl_seconds"] if minutes is None else _seconds(minutes)
                self._artifacts.touch((*data["namespace"], data["key"]), seconds)

    def _to_embed(self, ops: list[Op]) -> tuple[list[str], list[str]]:
        """Return the queries and texts that need a vector, each once."""
        questions = [op.query for op in ops if isinstance(op, SearchOp) and op.query]
        texts = [text for op in ops if isinstance(op, PutOp) for text in self._embedded_texts(op)]
        return list(dict.fromkeys(questions)), list(dict.fromkeys(texts))

    def _embedded_texts(self, op: PutOp) -> list[str]:
        if self._embeddings is None or op.index is False or op.value is None:
            return []
        return _texts_at(op.value, op.index or self._fields or ["$"])


def _validate(ops: Iterable[Op]) -> list[Op]:
    operations = list(ops)
    for op in operations:
        validate_op_namespace(op)
    return operations


def _by_text(texts: list[str], vectors: list[list[float]]) -> Vectors:
    return {(_TEXT, text): vector for text, vector in zip(texts, vectors, strict=True)}


def _item_fields(row: StoredRow) -> dict[str, Any]:
    data = row["data"]
    created_s, updated_s = row["created_at"], row["updated_at"]
    created = datetime.fromtimestamp(created_s, UTC)
    return {
        "namespace": tuple(data["namespace"]),
        "key": data["key"],
        "value": data["value"],
        "created_at": created,
        "updated_at": created if updated_s == created_s else datetime.fromtimestamp(updated_s, UTC),
    }


def _seconds(minutes: float) -> int:
    """Return a time to live that ends in the whole second nearest to the requested time."""
    now = time()
    return max(1, round(now + minutes * 60) - int(now))


def _text_of(op: PutOp) -> str:
    """Return the searched text of a value: all of its strings, or those at the given paths."""
    if op.index is False or op.value is None:
        return ""
    texts = list(_strings(op.value)) if op.index is None else _texts_at(op.value, op.index)
    return "\n".join(texts)[:_TEXT_MAX_CHARS].strip()


def _texts_at(value: Any, paths: list[str]) -> list[str]:
    return [text for path in paths for text in get_text_at_path(value, path)]


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _matches(row: StoredRow, op: SearchOp) -> bool:
    namespace = tuple(row["data"]["namespace"])
    if namespace[: len(op.namespace_prefix)] != tuple(op.namespace_prefix):
        return False
    return not op.filter or matches_value(row["data"]["value"], op.filter)
