"""The search index of tools, built on the first query of a process."""

from __future__ import annotations

import functools
import json
import math

from moss_memory.registry import catalog
from moss_memory.registry.responses import PreserializedDict
from moss_memory.search.tokens import STOP_WORDS, stems_of, words_in

from .tool_descriptions import describe_tool, with_default_workspace, without_disabled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.registry.operation import Operation

_NAME, _FIRST_WORDS, _WORDS, _SUMMARY, _REST = 3.0, 3.6, 3.0, 1.5, 0.3
"""The weights of a word in the name, in the first everyday phrase and the others, in the summary, and in the rest."""
_GENERAL_WORDS = frozenset(
    """
    another anything ask every everything get give go keep let look make more need new now old one other please put say
    see set several show something start take tell thing together two use want work
    """.split()  # noqa: SIM905
)
"""Words of many questions, which tell little about the tool although few tools have them."""
_GENERAL = 0.3
_SYNONYMS = (
    "delete remove drop discard",
    "edit change update modify alter correct",
    "load fetch open retrieve",
    "search find locate",
    "save store persist",
    "list enumerate browse",
    "finish complete done",
    "merge combine join integrate",
)
"""Verbs that mean the same in a question; each counts as the first of its line."""
_OBJECTS = {
    "capsule": "capsule handover",
    "artifact": "artifact json",
    "branch": "branch fork",
    "note": "note journal diary",
    "card": "card hypothesis hypotheses question decision evidence",
    "task": "task ticket todo plan backlog",
    "step": "step",
    "graph": "graph node edge",
    "conflict": "conflict",
    "record": "fact",
    "workspace": "workspace project",
}
"""The objects of tools, each with the words for it."""
_SAME_OBJECT, _OTHER_OBJECT = 1.5, 0.6
"""The factors of tools for the object that a question names, and of tools for other objects."""
_QUESTION_WORDS = frozenset({"how", "what", "when", "where", "which", "who", "whose", "why"})
_PAST_VERBS = frozenset({"did", "had", "has", "have", "was", "were"})
_PRESENT_VERBS = frozenset({"do", "does"})
"""A question with one of these is about the present, also with `have`: "which … do we have"."""
_EXISTENCE_WORDS = frozenset({"exist", "have", "there"})
_PAST = 10.0
"""The score of `moss_search` for a question about the past."""
_PHRASE_WORDS = 5
"""The maximum number of words of a phrase that counts as a whole."""
_CORE = 1.05
"""The factor of tools in `core`: if two tools match alike, the more usual one is first."""


def search_tools(question: str) -> list[str]:
    """Return the names of the tools that share words or phrases with a question, best first."""
    scores: dict[str, float] = {}
    index = _index()
    stems = _stems(f"{question} list" if _asks_for_a_list(question) else question)
    phrases = [tuple(stems[at : at + size]) for size in range(2, _PHRASE_WORDS + 1) for at in range(len(stems))]
    telling = [(stem,) for stem in stems if stem not in _stop_stems()]
    for term in dict.fromkeys([*telling, *phrases]):
        factor = _GENERAL if term[0] in _general_stems() and len(term) == 1 else 1.0
        for name, weight in index.get(term, ()):
            scores[name] = scores.get(name, 0.0) + weight * factor
    if _asks_about_the_past(question):
        scores["moss_search"] = scores.get("moss_search", 0.0) + _PAST
    asked = {word for stem in stems for word in _object_stems().get(stem, ())}
    if asked:
        scores = {name: score * _object_factor(name, asked) for name, score in scores.items()}
    return sorted(scores, key=scores.__getitem__, reverse=True)


def _asks_about_the_past(question: str) -> bool:
    """Return True if a question is about what was stored and not about what to do, as "why did we …"."""
    first, *rest = words_in(question) or [""]
    if not _PRESENT_VERBS.isdisjoint(rest):
        return False
    return first in _PAST_VERBS or (first in _QUESTION_WORDS and not _PAST_VERBS.isdisjoint(rest))


def _asks_for_a_list(question: str) -> bool:
    """Return True if a question asks what there is, as "which … do we have"."""
    words = words_in(question)
    if _asks_about_the_past(question) or not words:
        return False
    return words[0] in ("what", "which") and not _EXISTENCE_WORDS.isdisjoint(words)


def _object_factor(tool: str, asked: set[str]) -> float:
    objects = _objects_of(tool)
    if not objects:
        return 1.0
    return _SAME_OBJECT if objects & asked else _OTHER_OBJECT


@functools.cache
def _objects_of(tool: str) -> frozenset[str]:
    """Return the objects that a tool works on, by its name and family; empty if it works on any."""
    family = catalog.toolsets_of(tool)
    if not family or ("task" in family and len(family) > 1):
        return frozenset()
    found = {word for stem in _stems(tool) for word in _object_stems().get(stem, ())}
    if "reasoning" not in family:
        found.update(family)
    elif not found:
        found.add("card" if "_think_" in tool else "note")
    if "task" in family and tool not in ("tasks_create", "tasks_edit", "tasks_complete", "tasks_claim"):
        found.add("step")
    return frozenset(found)


@functools.cache
def known() -> list[str]:
    """Return every visible tool, in listing order."""
    return list(_descriptions())


@functools.cache
def summary_of(name: str) -> str:
    """Return the first sentence of a tool's description, without what follows a semicolon."""
    return str(_descriptions()[name]["description"]).partition(". ")[0].partition(";")[0].rstrip(".")


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
def _index() -> dict[tuple[str, ...], list[tuple[str, float]]]:
    """Return the tools of each stem and of each everyday phrase with their weights, higher for rare ones."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    tools = catalog.operations()
    for operation in tools:
        usual = _CORE if operation.name in catalog.CORE else 1.0
        for term, weight in _terms(operation):
            weights = found.setdefault(term, {})
            weights[operation.name] = max(weight * usual, weights.get(operation.name, 0.0))
    return {
        term: [(name, weight * math.log(1 + len(tools) / len(weights))) for name, weight in weights.items()]
        for term, weights in found.items()
    }


def _terms(operation: Operation) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield the stems and phrases of a tool with their weights."""
    rest = [operation.description, *operation.parameters]
    rest += [str(schema.get("description", "")) for schema in operation.parameters.values()]
    family = catalog.toolset_of(operation.name)
    texts = [(f"{operation.name} {family}", _NAME), (operation.summary, _SUMMARY), (" ".join(rest), _REST)]
    for at, phrase in enumerate(operation.words.split(",")):
        texts.append((phrase, _FIRST_WORDS if at == 0 else _WORDS))
        stems = tuple(_stems(phrase))
        if 1 < len(stems) <= _PHRASE_WORDS:
            yield stems, _WORDS
    for text, weight in texts:
        for stem in _stems(text):
            if stem not in _stop_stems():
                yield (stem,), weight


def _stems(text: str) -> list[str]:
    plain = text.replace("_", " ").replace("hand-over", "handover")
    return [_synonyms().get(stem, stem) for stem in stems_of(words_in(plain))]


@functools.cache
def _synonyms() -> dict[str, str]:
    return {stem: stems[0] for line in _SYNONYMS for stems in [stems_of(line.split())] for stem in stems}


@functools.cache
def _object_stems() -> dict[str, tuple[str, ...]]:
    """Return the objects that a stem is a word for."""
    found: dict[str, tuple[str, ...]] = {}
    for name, words in _OBJECTS.items():
        for stem in stems_of(words.split()):
            found[stem] = (*found.get(stem, ()), name)
    return found


@functools.cache
def _stop_stems() -> frozenset[str]:
    return frozenset(stems_of(STOP_WORDS))


@functools.cache
def _general_stems() -> frozenset[str]:
    return frozenset(stems_of(_GENERAL_WORDS))
