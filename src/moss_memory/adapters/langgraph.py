"""LangGraph's store on Moss: items under namespaces, found by key, filter and meaning."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from .kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from langgraph.store.base import MatchCondition, Op, Result

    from moss_memory.store import Store

_KIND = "langgraph-item"
_TEXT_MAX_CHARS = 12_000
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda one, other: float(one) > float(other),
    "$gte": lambda one, other: float(one) >= float(other),
    "$lt": lambda one, other: float(one) < float(other),
    "$lte": lambda one, other: float(one) <= float(other),
    "$eq": lambda one, other: one == other,
    "$ne": lambda one, other: one != other,
}


class MossStore(BaseStore):
    """A LangGraph store whose items are artifacts of Moss.

    A value has at most 50,000 characters of JSON with its namespace and key; its strings are searched by words and
    meaning, of which the first 12,000 characters count. Times are whole seconds, a time to live at least one. Every
    operation is a transaction; a batch is not. Of a batch the reads come first, then the last put of each key.
    """

    __slots__ = ("_kept", "ttl_config")
    supports_ttl = True

    def __init__(
        self,
        *,
        store: Store | None = None,
        home: str | None = None,
        workspace: str = "langgraph",
        ttl: TTLConfig | None = None,
        allow_secrets: bool = False,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._kept = Kept(_KIND, store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The result of every operation, in their order."""
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same without keeping the event loop waiting."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Lets go of the store, if it was opened here."""
        self._kept.close()

    def _get(self, op: GetOp) -> Item | None:
        row = self._kept.get([*op.namespace, op.key])
        if row is None:
            return None
        self._refresh([row], refresh=op.refresh_ttl)
        return Item(**_told(row))

    def _put(self, op: PutOp) -> None:
        key = [*op.namespace, op.key]
        if op.value is None:
            self._kept.delete(key)
            return
        data = {"namespace": list(op.namespace), "key": op.key, "value": op.value}
        ttl = None if op.ttl is None else max(1, round(op.ttl * 60))
        self._kept.put(key, data, text=_text_of(op) or None, ttl_seconds=ttl)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        rows = [row for row in self._kept.newest_first() if _matches(row, op)]
        scores: dict[str, float] = {}
        if op.query:
            scores = dict(self._kept.found(op.query))
            rows = sorted([row for row in rows if row["id"] in scores], key=lambda row: -scores[row["id"]])
        rows = rows[op.offset : op.offset + op.limit]
        self._refresh(rows, refresh=op.refresh_ttl)
        return [SearchItem(**_told(row), score=scores.get(row["id"])) for row in rows]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {tuple(row["data"]["namespace"]) for row in self._kept.newest_first()}
        found = {one for one in found if all(_fits(condition, one) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            found = {one[: op.max_depth] for one in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _refresh(self, rows: list[dict[str, Any]], *, refresh: bool) -> None:
        for row in rows:
            if refresh and row.get("ttl_seconds"):
                data = row["data"]
                self._kept.touch([*data["namespace"], data["key"]], row["ttl_seconds"])


def _told(row: dict[str, Any]) -> dict[str, Any]:
    data = row["data"]
    times = {name: datetime.fromtimestamp(row[name], UTC) for name in ("created_at", "updated_at")}
    return {"namespace": tuple(data["namespace"]), "key": data["key"], "value": data["value"], **times}


def _text_of(op: PutOp) -> str:
    """What of a value is searched: all of its texts, or those that the caller names."""
    if op.index is False or op.value is None:
        return ""
    if op.index is None:
        texts = list(_strings(op.value))
    else:
        texts = [text for path in op.index for text in get_text_at_path(op.value, tokenize_path(path))]
    return "\n".join(texts)[:_TEXT_MAX_CHARS].strip()


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _matches(row: dict[str, Any], op: SearchOp) -> bool:
    namespace = tuple(row["data"]["namespace"])
    if namespace[: len(op.namespace_prefix)] != tuple(op.namespace_prefix):
        return False
    value = row["data"]["value"]
    return all(_is_like(value.get(key), wanted) for key, wanted in (op.filter or {}).items())


def _is_like(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it: equal, compared by operators, or so in each of its parts."""
    if isinstance(wanted, dict):
        if any(key.startswith("$") for key in wanted):
            return all(_compare(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, dict) and all(_is_like(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_length = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same_length and all(_is_like(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator not in _COMPARED:
        raise ValueError(f"Unsupported operator: {operator}")
    return bool(_COMPARED[operator](value, other))


def _fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))
