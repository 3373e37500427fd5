"""No promise without a test, no test of the contract without a promise."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from contract.requirements import requirements

TESTS = Path(__file__).resolve().parent.parent
OUTSIDE = {"test_requirements.py"}


def names_of_tests_in(*folders: str) -> list[str]:
    paths = [path for folder in folders for path in (TESTS / folder).glob("test_*.py") if path.name not in OUTSIDE]
    return [
        node.name
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def named() -> list[str]:
    return [name for tests in requirements().values() for name in tests]


def test_every_promise_has_a_test() -> None:
    assert [promise for promise, tests in requirements().items() if not tests] == []


def test_every_named_test_exists() -> None:
    assert sorted(set(named()) - set(names_of_tests_in("contract", "capsule"))) == []


def test_every_test_of_the_contract_serves_a_promise() -> None:
    assert sorted(set(names_of_tests_in("contract", "capsule")) - set(named())) == []


def test_no_test_is_named_twice() -> None:
    assert [name for name, count in Counter(named()).items() if count > 1] == []
    assert [name for name, count in Counter(names_of_tests_in("contract", "capsule")).items() if count > 1] == []
