"""Long texts and large JSON values in parts, so that rendering time is bounded."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from .page_context import PageRequest, parse_number
from .templating import pretty

PART_CHARS = 20_000
"""Approximate size of a part of rendered text."""

PLAIN_CHARS = 100_000
"""Approximate size of a part of plain text, which is cheaper to show."""

TREE_VALUES = 2_000
"""Maximum number of values in a JSON tree."""

TREE_TEXT_CHARS = 4_000
"""Maximum size of a text in a JSON tree."""

TREE_DEPTH = 24
"""Maximum depth of a JSON tree; deeper values are shown on one line."""

ITEMS = 200
"""Maximum number of items of a list in a JSON tree."""

_BACK_CHARS = 2_000
"""A part ends at a line break among its last characters, if there is one."""


class Part:
    """One part of a text, its number and the number of all parts, counted from 1."""

    __slots__ = ("chars", "count", "number", "text")

    def __init__(self, text: str, wanted: int, most: int = PART_CHARS) -> None:
        self.chars = len(text)
        self.count = max(-(-len(text) // most), 1)
        self.number = min(max(wanted, 1), self.count)
        self.text = text[_end(text, self.number - 1, most) : _end(text, self.number, most)]


def _end(text: str, number: int, most: int) -> int:
    end = number * most
    if not 0 < end < len(text):
        return min(end, len(text))
    line = text.rfind("\n", end - _BACK_CHARS, end)
    return end if line < 0 else line + 1


def requested_part(request: PageRequest) -> int:
    return parse_number(request.query.get("part")) or 1


@dataclass(slots=True)
class JsonNode:
    """A JSON value in a tree: `count` is the number of values in it, `nodes` are the visible ones."""

    name: str | int
    kind: str
    text: str = ""
    count: int = 0
    nodes: list[JsonNode] = field(default_factory=list)


class JsonTree:
    """The visible beginning of a JSON value, and whether it is complete."""

    def __init__(self, value: Any) -> None:
        self.is_whole = True
        self._free_values = TREE_VALUES
        self.root = self._node("", value, 0)

    def _node(self, name: str | int, value: Any, depth: int) -> JsonNode:
        self._free_values -= 1
        label = self._cut(name) if isinstance(name, str) else name
        if isinstance(value, str):
            return JsonNode(label, "text", self._cut(value))
        if not isinstance(value, (dict, list)):
            return JsonNode(label, "mark" if value is None else "value", json.dumps(value))
        if depth > TREE_DEPTH:
            return JsonNode(label, "flat", self._cut(json.dumps(value, ensure_ascii=False)))
        node = JsonNode(label, "object" if isinstance(value, dict) else "array", count=len(value))
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        most = len(value) if isinstance(value, dict) else ITEMS
        for key, part in itertools.islice(parts, most):
            if self._free_values <= 0:
                break
            node.nodes.append(self._node(key, part, depth + 1))
        self.is_whole = self.is_whole and len(node.nodes) == len(value)
        return node

    def _cut(self, text: str) -> str:
        if len(text) <= TREE_TEXT_CHARS:
            return text
        self.is_whole = False
        return text[: TREE_TEXT_CHARS - 1] + "…"


def value_view(request: PageRequest, value: Any) -> dict[str, Any]:
    if "whole" in request.query:
        return {"plain": Part(pretty(value), requested_part(request), PLAIN_CHARS)}
    return {"tree": JsonTree(value)}
