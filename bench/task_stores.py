"""Stores full of work to measure with: tasks of one plan, with steps, cards and trace entries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from moss_memory import open_store
from moss_memory.storage.sqlite.engine import DATABASE
from moss_memory.store import Store
from moss_memory.tools.reasoning.cards.card_model import CARD_TYPES

from .measure import cached, read_once
from .reasoning_tables import NOTE_CHARS, WORKSPACE, Tables, tables_of
from .texts import Author

PLAN = "PLAN-001"
STEPS = 5
CARDS = 10
NOTES = 20
ENTRIES = 100
"""What a task has; the event that made it and its cards are among the entries of its trace."""


def work_of(tasks: int) -> str:
    """The home of a store with so many tasks of one plan, each with its steps, cards and trace."""
    return _ready(f"work-{tasks}", tasks, gathered=False)


def gathered_work_of(tasks: int) -> str:
    """The same with all the cards in one graph and all the entries in one trace, those of `main`."""
    return _ready(f"gathered-work-{tasks}", tasks, gathered=True)


def ready_work_of(tasks: int) -> str:
    """The home of a store with so many tasks that can be started, and nothing else."""
    home = cached(f"ready-work-{tasks}", lambda folder: _build_ready(folder, tasks))
    read_once(os.path.join(home, DATABASE))
    return home


def task_id(number: int) -> str:
    """The id of a task, counted from 0."""
    return f"TASK-{number + 1:03d}"


def step_of(author: Author) -> dict[str, str]:
    """A step with something to confirm."""
    return {"title": author.prose(40), "success_criteria": author.prose(60), "tests": author.prose(40)}


def _ready(kind: str, tasks: int, *, gathered: bool) -> str:
    home = cached(kind, lambda folder: _build(folder, tasks, gathered=gathered))
    read_once(os.path.join(home, DATABASE))
    return home


def _build(home: str, tasks: int, *, gathered: bool) -> None:
    """Everybody works at once: what is written about the tasks is written in turn, so that no task's lies together."""
    author = Author(seed=31)
    with open_store(home) as store:
        store.call("tasks_create", {"workspace": WORKSPACE, "kind": "plan", "title": author.prose(40)})
        _hurry(store)
        for number in range(tasks):
            steps = [step_of(author) for _ in range(STEPS)]
            call = {"workspace": WORKSPACE, "kind": "task", "parent": PLAN, "title": author.prose(40), "steps": steps}
            assert store.call("tasks_create", call)["id"] == task_id(number), "reads name a task by its number"
        for place in range(CARDS):
            for number in range(tasks):
                where = {} if gathered else {"target": task_id(number)}
                store.call("branchmind_think_card", {"workspace": WORKSPACE, **where, **_card(author, number, place)})
    with tables_of(home) as tables:
        _fill_documents(tables, author, [task_id(number) for number in range(tasks)], gathered=gathered)


def _build_ready(home: str, tasks: int) -> None:
    author = Author(seed=34)
    with open_store(home) as store:
        store.call("tasks_create", {"workspace": WORKSPACE, "kind": "plan", "title": author.prose(40)})
        _hurry(store)
        for _ in range(tasks):
            call = {"workspace": WORKSPACE, "kind": "task", "title": author.prose(40), "steps": [step_of(author)]}
            store.call("tasks_create", call)


def _hurry(store: Store) -> None:
    """Lets a store that is only being filled go on without waiting for the disk."""
    store._engine._writer.execute("pragma synchronous = off")  # type: ignore[attr-defined]


def _fill_documents(tables: Tables, author: Author, ids: list[str], *, gathered: bool) -> None:
    branches = [tables.branch("main" if gathered else f"task/{name}") for name in ids]
    traces = ["trace" if gathered else f"{name}-trace" for name in ids]
    there = CARDS if gathered else CARDS + 1
    for _ in range(NOTES):
        tables.add_entries([(branch, "notes") for branch in branches], _texts(author), written_as="note")
    for _ in range(ENTRIES - there):
        tables.add_entries(list(zip(branches, traces, strict=True)), _texts(author), written_as="step")


def _texts(author: Author) -> Iterator[str]:
    while True:
        yield author.prose(NOTE_CHARS)


def _card(author: Author, number: int, place: int) -> dict[str, Any]:
    """Cards of all types, half of them open; every third blocks the one before it, the others support it."""
    card = {
        "id": f"card-{number}-{place}",
        "type": CARD_TYPES[place % len(CARD_TYPES)],
        "title": author.prose(40),
        "text": author.prose(NOTE_CHARS),
        "status": "open" if (number + place) % 2 else "settled",
        "tags": ["auth"],
    }
    link = "supports" if place % 3 else "blocks"
    return {"card": card, link: [f"card-{number}-{place - 1}"]} if place else {"card": card}
