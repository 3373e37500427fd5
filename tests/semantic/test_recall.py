"""Recall on the test set, as `make bench` measures it, does not decrease."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.recall import measure_recall, store_texts
from bench.retrieval.sets import NOTES, notes, sessions

from moss_memory import open_store
from moss_memory.search.query import parse_query
from moss_memory.search.tokens import STOP_WORDS, stems_of, words_in
from moss_memory.store import Store

QUESTIONS, KEYWORDS = notes("questions", "questions"), notes("keywords", "keywords")
AT_LEAST = {
    ("questions", "keyword"): 0.12,
    ("questions", "semantic"): 0.65,
    ("questions", "both"): 0.66,
    ("keywords", "keyword"): 0.98,
    ("keywords", "semantic"): 0.93,
    ("keywords", "both"): 0.98,
}
"""The measured recall (14, 67, 68, 100, 97 and 100 percent), less a tolerance for rounding on other CPUs."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    home = str(tmp_path_factory.mktemp("recall") / "home")
    store_texts(home, QUESTIONS)
    with open_store(home) as store:
        yield store


@pytest.mark.parametrize(("kind", "mode"), list(AT_LEAST))
def test_recall_at_five_does_not_decrease(store: Store, kind: str, mode: str) -> None:
    asked = QUESTIONS if kind == "questions" else KEYWORDS
    assert measure_recall(store, asked, mode).five >= AT_LEAST[kind, mode]


def test_both_finds_at_least_as_much_as_words_or_meaning_in_notes_of_many_sessions(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    store_texts(home, sessions())
    with open_store(home) as store:
        words, meaning, both = (measure_recall(store, sessions(), mode) for mode in ("keyword", "semantic", "both"))
    assert both.five >= max(words.five, meaning.five) >= 0.9
    assert both.reciprocal >= max(words.reciprocal, meaning.reciprocal)


def texts(kind: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (NOTES / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_test_set_is_large_and_its_questions_are_paraphrased() -> None:
    notes = {note["name"]: note for note in texts("notes")}
    questions = texts("questions")
    assert len(notes) >= 200
    assert len({question["question"] for question in questions}) >= 100

    def telling(text: str) -> set[str]:
        return set(stems_of(word for word in words_in(text) if word not in STOP_WORDS))

    shared = []
    for question in questions:
        note = notes[question["answer"]]
        shared.append(len(telling(question["question"]) & telling(f"{note['title']} {note['text']}")))
    assert max(shared) <= 2
    assert sum(not count for count in shared) >= 100
    assert all(parse_query(query["question"]).words for query in texts("keywords"))
