"""The search index of tools, built on the first query of a process."""

from __future__ import annotations

import functools
import json

from moss_memory.registry import catalog
from moss_memory.registry.responses import PreserializedDict
from moss_memory.search.tokens import STOP_WORDS, stems_of, words_in

from .tool_descriptions import describe_tool, with_default_workspace, without_disabled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.operation import Operation

_NAME, _SUMMARY, _REST = 4.0, 2.0, 1.0
"""The weights of a word in the name, in the first line, and in the rest and the arguments."""


def search_tools(question: str) -> list[str]:
    """Return the names of the tools that share words with a question, best first."""
    scores: dict[str, float] = {}
    postings = _postings()
    for stem in dict.fromkeys(_stems(question)):
        for name, weight in postings.get(stem, ()):
            scores[name] = scores.get(name, 0.0) + weight
    return sorted(scores, key=scores.__getitem__, reverse=True)


@functools.cache
def known() -> list[str]:
    """Return every visible tool, in listing order."""
    return list(_descriptions())


@functools.lru_cache(maxsize=1_000)
def describe(name: str, workspace: str, disabled: catalog.DisabledTools | None) -> PreserializedDict:
    """Return the description of a tool, with a default workspace, if any, and without disabled tools."""
    tool = _descriptions()[name]
    tool = with_default_workspace(tool, workspace) if workspace else tool
    tool = without_disabled(tool, disabled) if disabled else tool
    return PreserializedDict(tool, json.dumps(tool, ensure_ascii=False, separators=(",", ":")))


@functools.cache
def _descriptions() -> dict[str, dict[str, Any]]:
    return {operation.name: describe_tool(operation) for operation in catalog.operations()}


@functools.cache
def _postings() -> dict[str, list[tuple[str, float]]]:
    """Return the posting lists: for each stem the tools with its weight, higher for rare stems."""
    found: dict[str, dict[str, float]] = {}
    for operation in catalog.operations():
        for text, weight in _texts(operation):
            for stem in _stems(text):
                weights = found.setdefault(stem, {})
                weights[operation.name] = max(weight, weights.get(operation.name, 0.0))
    return {
        stem: [(name, weight / (1.0 + 0.1 * len(weights))) for name, weight in weights.items()]
        for stem, weights in found.items()
    }


def _texts(operation: Operation) -> list[tuple[str, float]]:
    rest = [operation.description, *operation.parameters]
    rest += [str(schema.get("description", "")) for schema in operation.parameters.values()]
    family = catalog.toolset_of(operation.name)
    return [(f"{operation.name} {family}", _NAME), (operation.summary, _SUMMARY), (" ".join(rest), _REST)]


def _stems(text: str) -> list[str]:
    return stems_of([word for word in words_in(text.replace("_", " ")) if word not in STOP_WORDS])
