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
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(expected in ("*", label) for label, expected in zip(labels, path, strict=True))


def _at(value: dict[str, Any], key: str) -> Any:
    if key in value or "." not in key:
        return value.get(key)
    name, _, inner_key = key.partition(".")
    inner = value.get(name)
    return _at(inner, inner_key) if isinstance(inner, dict) else None


def _matches_part(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        if any(key.startswith("$") for key in expected):
            return all(_compare(value, sign, operand) for sign, operand in expected.items())
        return isinstance(value, dict) and all(_matches_part(value.get(key), part) for key, part in expected.items())
    if isinstance(expected, (list, tuple)):
        same_length = isinstance(value, (list, tuple)) and len(value) == len(expected)
        return same_length and all(_matches_part(item, part) for item, part in zip(value, expected, strict=True))
    return bool(value == expected)


def _compare(value: Any, sign: str, operand: Any) -> bool:
    if sign in _SAME:
        return bool(_SAME[sign](value, operand))
    if sign not in _ORDERED:
        raise ValueError(f"Unsupported operator: {sign}")
    try:
        return _ORDERED[sign](float(value), float(operand))
    except (TypeError, ValueError, OverflowError):
        return isinstance(value, str) and isinstance(operand, str) and _ORDERED[sign](value, operand)
