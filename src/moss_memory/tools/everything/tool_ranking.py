"""The search index of tools, built on the first query of a process."""

from __future__ import annotations

import functools
import json
import math

from moss_memory.registry import catalog
from moss_memory.registry.responses import PreserializedDict
from moss_memory.search.tokens import words_in

from .tool_descriptions import describe_tool, with_default_workspace, without_disabled
from .tool_vocabulary import (
    asks_about_the_past,
    asks_for_a_list,
    asks_to_read,
    concepts,
    general_stems,
    object_stems,
    stems_in,
    stop_stems,
    synonyms,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.registry.operation import Operation

_NAME_WEIGHT, _FIRST_WORDS_WEIGHT, _WORDS_WEIGHT, _SUMMARY_WEIGHT, _REST_WEIGHT = 3.0, 3.6, 3.0, 1.5, 0.3
"""The weights of a word in the name, in the first everyday phrase and the others, in the summary, and in the rest."""
_PAIR_FACTOR = 0.5
"""The factor of two words that the name, an everyday phrase or the summary has together."""
_PAIR_DISTANCE = 3
"""The maximum distance of the words of a pair, stop words not counted."""
_GENERAL_FACTOR = 0.3
"""The factor of general words."""
_SYNONYM_FACTOR = 0.6
"""The factor of a tool that has only a synonym of a word."""
_SAME_OBJECT, _OTHER_OBJECT = 1.5, 0.6
"""The factors of tools for the object that a question names, and of tools for other objects."""
_SAME_INTENT, _OTHER_INTENT = 1.2, 0.8
"""The factors of tools that read, if a question asks for something stored, or that write, if it asks to write."""
_PAST = 10.0
"""The score of `moss_search` for a question about the past."""
_PHRASE_WORDS = 5
"""The maximum number of words of a phrase that counts as a whole."""
_CORE_FACTOR = 1.05
"""The factor of tools in `core`: if two tools match alike, the more usual one is first."""


def search_tools(question: str) -> list[str]:
    """Return the names of the tools that share words, pairs of words or phrases with a question, best first."""
    scores: dict[str, float] = {}
    index = _index()
    words = words_in(question)
    about_the_past = asks_about_the_past(words)
    stems = stems_in([*words, "list"] if not about_the_past and asks_for_a_list(words) else words)
    for term in dict.fromkeys([*_without_stop_stems(stems), *_pairs(stems), *_phrases(stems)]):
        for name, weight in index.get(term, ()):
            scores[name] = scores.get(name, 0.0) + weight
    if about_the_past:
        scores["moss_search"] = scores.get("moss_search", 0.0) + _PAST
    question_objects = frozenset([word for stem in stems for word in object_stems().get(stem, ())])
    factors = _factors(question_objects, asks_to_read(words, stems))
    scores = {name: score * factors[name] for name, score in scores.items()}
    return sorted(scores, key=scores.__getitem__, reverse=True)


@functools.lru_cache(maxsize=256)
def _factors(question_objects: frozenset[str], reads: bool | None) -> dict[str, float]:
    """Return the factor of each tool for a question about these objects that asks to read, to write or neither."""
    factors = {}
    for operation in catalog.operations():
        factor, objects = 1.0, _objects_of(operation.name)
        if question_objects and objects:
            factor *= _SAME_OBJECT if objects & question_objects else _OTHER_OBJECT
        if reads is not None:
            factor *= _SAME_INTENT if operation.only_reads == reads else _OTHER_INTENT
        factors[operation.name] = factor
    return factors


def _without_stop_stems(stems: list[str]) -> list[str]:
    stop = stop_stems()
    return [stem for stem in stems if stem not in stop]


def _pairs(stems: list[str]) -> list[str]:
    """Return the pairs of neighbouring words, in any order, synonyms as one."""
    concept_of = concepts()
    words = [concept_of.get(stem, stem) for stem in _without_stop_stems(stems)]
    return [
        f"{word}+{neighbour}" if word < neighbour else f"{neighbour}+{word}"
        for index, word in enumerate(words)
        for neighbour in words[index + 1 : index + 1 + _PAIR_DISTANCE]
        if word != neighbour
    ]


def _phrases(stems: list[str]) -> list[str]:
    """Return the parts of a question that may be a phrase."""
    count = len(stems)
    return [
        " ".join(stems[start : start + size])
        for start in range(count - 1)
        for size in range(2, min(_PHRASE_WORDS, count - start) + 1)
    ]


@functools.cache
def _objects_of(tool: str) -> frozenset[str]:
    """Return the objects that a tool works on, by its name and family; empty if it works on any."""
    family = catalog.toolsets_of(tool)
    if not family or ("task" in family and len(family) > 1):
        return frozenset()
    objects = {word for stem in _stems(tool) for word in object_stems().get(stem, ())}
    if "reasoning" not in family:
        objects.update(family)
    elif not objects:
        objects.add("card" if "_think_" in tool else "note")
    if "task" in family and tool not in ("tasks_create", "tasks_edit", "tasks_complete", "tasks_claim"):
        objects.add("step")
    return frozenset(objects)


@functools.cache
def visible_tools() -> list[str]:
    """Return every visible tool, in listing order."""
    return list(_descriptions())


@functools.cache
def summary_of(name: str) -> str:
    """Return the first sentence of a tool's description, up to its first semicolon."""
    return str(_descriptions()[name]["description"]).partition(". ")[0].partition(";")[0].rstrip(".")


@functools.lru_cache(maxsize=1_000)
def serialize_description(name: str, workspace: str, disabled: catalog.DisabledTools | None) -> PreserializedDict:
    """Return the description of a tool with its JSON, with a default workspace if any, without disabled tools."""
    tool = _descriptions()[name]
    tool = with_default_workspace(tool, workspace) if workspace else tool
    tool = without_disabled(tool, disabled) if disabled else tool
    return PreserializedDict(tool, json.dumps(tool, ensure_ascii=False, separators=(",", ":")))


@functools.cache
def _descriptions() -> dict[str, dict[str, Any]]:
    return {operation.name: describe_tool(operation) for operation in catalog.operations()}


@functools.cache
def _index() -> dict[str, list[tuple[str, float]]]:
    """Return the tools of each stem, pair and everyday phrase with their weights, higher for rare ones."""
    weights_by_term: dict[str, dict[str, float]] = {}
    tools = catalog.operations()
    for operation in tools:
        usual = _CORE_FACTOR if operation.name in catalog.CORE else 1.0
        for term, weight in _terms(operation):
            weights = weights_by_term.setdefault(term, {})
            weights[operation.name] = max(weight * usual, weights.get(operation.name, 0.0))
    index = {term: _weigh(weights, len(tools)) for term, weights in weights_by_term.items()}
    for stem, synonym_stems in synonyms().items():
        alike: dict[str, float] = {}
        for synonym in (stem, *synonym_stems):
            for name, weight in weights_by_term.get(synonym, {}).items():
                alike[name] = max(weight, alike.get(name, 0.0))
        weighed = {name: weight * _SYNONYM_FACTOR for name, weight in _weigh(alike, len(tools)).items()}
        for name, weight in index.get(stem, {}).items():
            weighed[name] = max(weight, weighed[name])
        index[stem] = weighed
    for stem in general_stems() & index.keys():
        index[stem] = {name: weight * _GENERAL_FACTOR for name, weight in index[stem].items()}
    return {term: list(weights.items()) for term, weights in index.items()}


def _weigh(weights: dict[str, float], tools: int) -> dict[str, float]:
    """Return the weights of a term's tools, multiplied by the rarity of the term."""
    rarity = math.log(1 + tools / max(len(weights), 1))
    return {name: weight * rarity for name, weight in weights.items()}


def _terms(operation: Operation) -> Iterator[tuple[str, float]]:
    """Yield the stems, pairs and phrases of a tool with their weights."""
    other_texts = [operation.description, *operation.parameters]
    other_texts += [str(schema.get("description", "")) for schema in operation.parameters.values()]
    family = catalog.toolset_of(operation.name)
    phrases = [
        (phrase, _WORDS_WEIGHT if index else _FIRST_WORDS_WEIGHT)
        for index, phrase in enumerate(operation.words.split(","))
    ]
    texts = [(f"{operation.name} {family}", _NAME_WEIGHT), (operation.summary, _SUMMARY_WEIGHT), *phrases]
    for text, weight in [*texts, (" ".join(other_texts), _REST_WEIGHT)]:
        yield from ((stem, weight) for stem in _without_stop_stems(_stems(text)))
    for text, weight in texts:
        yield from ((pair, weight * _PAIR_FACTOR) for pair in _pairs(_stems(text)))
    for text, _ in phrases:
        stems = _stems(text)
        if 1 < len(stems) <= _PHRASE_WORDS:
            yield " ".join(stems), _WORDS_WEIGHT


def _stems(text: str) -> list[str]:
    return stems_in(words_in(text.replace("_", " ")))
