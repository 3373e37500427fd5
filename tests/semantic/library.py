"""Capsules for search by meaning, and a fake embedding model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.doors import Door
from moss_memory.search.embedding import embedder
from support.direct_store import rows

LOGIN = "Browser sessions end after twelve hours, and then the password must be typed again."
BACKUP = "Every Sunday the newest dump is restored into a scratch cluster and its rows are counted."
GARDEN = "The tomatoes on the balcony want water twice a day in July."
TEXTS = {"login": LOGIN, "backup": BACKUP, "garden": GARDEN}
QUESTIONS = {
    "login": "how long do people stay signed in?",
    "backup": "how do we know that a database can be recovered?",
    "garden": "vegetables in summer heat",
}
"""By capsule name; a question shares no significant word with its capsule."""


def put(call: Door, name: str, text: str, **more: Any) -> str:
    """Store a capsule without the sections of a hand-over and return its id."""
    return str(call("capsule_store", name=name, capsule_text=text, allow_thin=True, **more)["id"])


def put_all(call: Door) -> None:
    for name, text in TEXTS.items():
        put(call, name, text)


def names(call: Door, query: str, tool: str = "capsule_search", **arguments: Any) -> list[str]:
    """Return the titles of one page of hits."""
    arguments = {"search_mode": "semantic", **arguments}
    return [item["title"] for item in call(tool, query=query, **arguments)["items"]]


def docs_with_vectors(home: str) -> list[int]:
    return [doc for (doc,) in rows(home, "select doc from vectors order by doc")]


def waiting_docs(home: str) -> list[int]:
    return [doc for (doc,) in rows(home, "select doc from unembedded order by doc")]


class FakeModel:
    """A model whose vectors depend only on the text; it lists the embedded texts and can call `during`."""

    dimensions = 8
    floor = -1.0

    def __init__(self, name: str = "fake", during: Callable[[str], object] = lambda text: None) -> None:
        self.name = name
        self.asked: list[str] = []
        self._during = during

    def question(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        self._during(text)
        found = np.random.default_rng(zlib.crc32(f"{self.name} {text}".encode())).standard_normal(8)
        return np.asarray(found / np.linalg.norm(found), dtype=np.float32)

    def encode_chunks(self, title: str, text: str) -> tuple[list[int], NDArray[np.float32]]:
        return [0], self.question(f"{title}\n{text}")[None]


@contextmanager
def model_of(model: FakeModel) -> Iterator[FakeModel]:
    """Replace the embedding model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedder, "_load", lambda folder: model)
        yield model
