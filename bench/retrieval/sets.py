"""The test sets: texts, questions, and the texts that answer each question.

Long texts are the documentation of this project, of Python and of the installed packages. Each question about them
has a phrase, and every part of a text with this phrase is an answer. A question is left out if no text contains its
phrase.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOTES = ROOT / "tests" / "retrieval"
PART_CHARS = 11_000
_TWICE = ("specialnames", "compound")
"""Topics of Python that repeat other topics."""


@dataclass(frozen=True)
class TestSet:
    """Texts by title, and questions with the titles of their answers."""

    __test__ = False
    name: str
    texts: dict[str, str]
    questions: list[tuple[str, set[str]]]


def all_sets() -> list[TestSet]:
    long = dict(_long_texts())
    return [
        notes("notes in other words", "questions"),
        TestSet("long documents", long, _by_phrase(long, "long_questions")),
        notes("notes by exact words", "keywords"),
        TestSet("long documents by exact words", long, _by_phrase(long, "exact_queries")),
        sessions(),
    ]


def notes(name: str, kind: str) -> TestSet:
    """Short notes with titles that name their subjects."""
    texts = list(_lines(NOTES / "notes.jsonl"))
    titles = {note["name"]: note["title"] for note in texts}
    questions = [(row["question"], {titles[row["answer"]]}) for row in _lines(NOTES / f"{kind}.jsonl")]
    return TestSet(name, {note["title"]: note["text"] for note in texts}, questions)


def sessions() -> TestSet:
    """Notes of sixty sessions of one project; a title is a date."""
    parts = re.split(r"(?m)^(\d{4}-\d\d-\d\d)\n", (HERE / "sessions.txt").read_text(encoding="utf-8"))
    texts = {f"Session {date}": text for date, text in zip(parts[1::2], parts[2::2], strict=True)}
    questions = [(row["question"], {f"Session {row['answer']}"}) for row in _lines(HERE / "session_questions.jsonl")]
    return TestSet("dated notes of many sessions", texts, questions)


def _by_phrase(texts: dict[str, str], kind: str) -> list[tuple[str, set[str]]]:
    plain = {title: _plain(text) for title, text in texts.items()}
    questions = []
    for row in _lines(HERE / f"{kind}.jsonl"):
        answers = {title for title, text in plain.items() if _plain(row["phrase"]) in text}
        if answers:
            questions.append((row["question"], answers))
    return questions


def _long_texts() -> Iterator[tuple[str, str]]:
    for title, text in _documents():
        parts = list(_parts(text))
        for number, part in enumerate(parts, start=1):
            yield (title if len(parts) == 1 else f"{title}, part {number}"), part


def _documents() -> Iterator[tuple[str, str]]:
    """Yield the documentation of Python, of the installed packages and of this project."""
    from pydoc_data.topics import topics

    for name, text in sorted(topics.items()):
        if name not in _TWICE:
            yield f"Python: {name}", text
    packages = {package.metadata["Name"]: package for package in importlib.metadata.distributions()}
    for name in sorted(packages, key=str.lower):
        metadata: Any = packages[name].metadata
        text = str(metadata.get_payload() or metadata.get("Description") or "")
        if name != "moss-memory" and text.strip():
            yield f"Package {name}", text
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        yield os.fspath(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def _parts(text: str) -> Iterator[str]:
    """Split a text into parts of the size of a capsule, if possible between paragraphs."""
    while len(text) > PART_CHARS:
        cut = text.rfind("\n\n", PART_CHARS // 2, PART_CHARS)
        cut = cut if cut > 0 else text.rfind("\n", PART_CHARS // 2, PART_CHARS)
        cut = cut if cut > 0 else PART_CHARS
        yield text[:cut]
        text = text[cut:].lstrip("\n")
    if text.strip():
        yield text


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
