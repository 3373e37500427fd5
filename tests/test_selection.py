"""The reduced selection of `make test` names modules that exist, and `--thorough` leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.thorough import CONTRACT, REACHING_ENGINE_SQL, first_of, is_thorough, machine_settings

ROOT = Path(__file__).resolve().parents[1]


def test_each_module_that_reaches_engine_sql_exists() -> None:
    assert {path.stem for path in CONTRACT.rglob("test_*.py")} >= REACHING_ENGINE_SQL


def test_each_statement_of_postgresql_is_named_by_a_module_that_runs_on_it() -> None:
    files = (ROOT / "src" / "moss_memory").rglob("queries.postgres.sql")
    statements = {name for path in files for name in re.findall(r"^-- name: (\w+)", path.read_text(), re.MULTILINE)}
    listed = (ROOT / "tests" / "support" / "thorough.py").read_text()
    assert [name for name in sorted(statements) if not re.search(rf"# .*\b{name}\b", listed)] == []


def test_only_the_first_parameter_runs_without_the_option() -> None:
    first, second, third = first_of([1, 2, (3, 4)])
    assert first == 1
    assert [one.values for one in (second, third)] == [(2,), (3, 4)]
    assert [[mark.name for mark in one.marks] for one in (second, third)] == [["thorough"], ["thorough"]]


def test_a_machine_runs_all_its_examples_only_with_the_option() -> None:
    given = machine_settings(60, 40)
    expected = (60, 40) if is_thorough() else (15, 20)
    assert (given.max_examples, given.stateful_step_count) == expected


SAMPLE = """
import pytest
@pytest.mark.parametrize("call", ["mcp"])
@pytest.mark.parametrize("number", range(300))
def test_one(call, number): pass
@pytest.mark.thorough
def test_two(): pass
"""


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [(["--mcp-seed=1"], 10, 60), (["-n", "2"], 10, 60), (["--door=store"], 0, 0), (["--thorough"], 301, 301)],
)
def test_the_options_choose_how_much_runs(pytester: pytest.Pytester, options: list[str], least: int, most: int) -> None:
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.makepyfile(SAMPLE)
    pytester.makeini(f"[pytest]\npythonpath = {ROOT / 'tests'}")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:langsmith_plugin", *options)
    assert least <= result.parseoutcomes().get("passed", 0) <= most
