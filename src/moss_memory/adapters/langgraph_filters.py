"""Filters on values and namespaces, with the semantics of LangGraph's own stores."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.store.base import MatchCondition

_SAME: dict[str, Callable[[Any, Any], bool]] = {"$eq": operator.eq, "$ne": operator.ne}
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches_value(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Return True if a value matches a filter on each key; `a.b` means `b` in `a` unless that key exists."""
    return all(_matches_part(_at(value, key), part) for key, part in wanted.items())


def matches_namespace(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Return True if a namespace has the prefix or suffix of a condition; `*` matches one label."""
    path = condition.path
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


def _at(value: dict[str, Any], key: str) -> Any:
    if key in value or "." not in key:
        return value.get(key)
    first, _, rest = key.partition(".")
    inner = value.get(first)
    return _at(inner, rest) if isinstance(inner, dict) else None


def _matches_part(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        if any(key.startswith("$") for key in wanted):
            return all(_compare(value, sign, other) for sign, other in wanted.items())
        return isinstance(value, dict) and all(_matches_part(value.get(key), part) for key, part in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_length = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return same_length and all(_matches_part(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, sign: str, other: Any) -> bool:
    if sign in _SAME:
        return bool(_SAME[sign](value, other))
    if sign not in _ORDERED:
        raise ValueError(f"Unsupported operator: {sign}")
    try:
        return _ORDERED[sign](float(value), float(other))
    except (TypeError, ValueError, OverflowError):
        return isinstance(value, str) and isinstance(other, str) and _ORDERED[sign](value, other)
