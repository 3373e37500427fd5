"""Reduced and complete forms of expensive tests: `make test` runs the reduced ones, `pytest --thorough` all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

MARKER = "thorough"
CONTRACT = Path(__file__).resolve().parent.parent / "contract"
REACHING_ENGINE_SQL = frozenset(
    (
        "test_activity",  # add_activity, delete_activity
        "test_answers",  # every tool once
        "test_artifact_lifetime",  # sweep
        "test_artifact_listing",  # order and filters of JSON columns
        "test_artifact_searching",  # the index of words
        "test_browsing",  # order, normalized names
        "test_events",  # last_change
        "test_exact_erasing",  # rows and postings that are erased
        "test_history",  # versions of rows
        "test_loads",  # its table and trigger
        "test_map_rows",  # its statements
        "test_reasoning_graph",  # recursive statements
        "test_reasoning_notes",  # take_numbers
        "test_reasoning_searching",  # the index of words
        "test_record_entities",  # locks of entities
        "test_record_retrieving",  # JSON properties, the index of words
        "test_searching",  # the index of words, bm25
        "test_sending_again",  # delete_expired_answers, stored_answer
        "test_task_graph",  # reaches, waits
        "test_task_sharing",  # locks of claims
        "test_taking_out",  # rows and postings that are erased
        "test_transfer",  # import in one transaction
        "test_whole_workspaces",  # locks of workspaces
    )
)
"""The modules of contract tests that `make test` runs on PostgreSQL too, each with the SQL that it reaches."""
MOVING = CONTRACT.parent / "moving"
ALIKE_ON_POSTGRES = frozenset(("test_migrating", "test_hostile_folder"))
"""The modules of `tests/moving` that `make test` runs on SQLite alone: they check files and targets, not the source."""
QUICK_EXAMPLES = 15
QUICK_STEPS = 20
_state = {"thorough": False}


def set_thorough(value: bool) -> None:
    """Set the form before test modules are imported."""
    _state["thorough"] = value


def is_thorough() -> bool:
    """Return whether the complete form was requested."""
    return _state["thorough"]


def first_of(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Return parameters of which only the first run without `--thorough`; a tuple is one set of arguments."""
    given = list(values)
    marked = [one if isinstance(one, tuple) else (one,) for one in given[count:]]
    return [*given[:count], *(pytest.param(*one, marks=pytest.mark.thorough) for one in marked)]


def complete_or(complete: int, reduced: int) -> int:
    """Return the size of a trial: the complete one with `--thorough`, else the reduced one."""
    return complete if is_thorough() else reduced


def pairs(names: Collection[str], values: Sequence[Any], *, start: int = 0, least: int = 1) -> list[tuple[str, Any]]:
    """Return names with values: all pairs with `--thorough`, else each value once, in turn from a start.

    A name gets at least that many values.
    """
    if is_thorough():
        return [(name, value) for name in names for value in values]
    repeated = list(names)
    count = max(len(values), least * len(repeated)) if repeated else 0
    return [(repeated[at % len(repeated)], values[(start + at) % len(values)]) for at in range(count)]


def machine_settings(examples: int, steps: int = 30) -> settings:
    """Return the settings of a state machine; without `--thorough` at most 15 examples of 20 steps."""
    if not is_thorough():
        examples, steps = min(examples, QUICK_EXAMPLES), min(steps, QUICK_STEPS)
    return settings(max_examples=examples, stateful_step_count=steps)
