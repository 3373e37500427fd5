"""No promise of tasks without a test, no test of them without a promise."""

from __future__ import annotations

from collections import Counter

from contract.requirements import requirements
from contract.tasks.promises import PROMISES
from contract.test_requirements import names_of_tests_in

HELD = requirements(PROMISES)
NAMED = [name for tests in HELD.values() for name in tests]
HERE = {
    "test_every_promise_of_tasks_has_a_test",
    "test_promises_and_tests_of_tasks_name_each_other",
    "test_no_test_of_tasks_is_named_twice",
}
WRITTEN = [name for name in names_of_tests_in("contract/tasks") if name not in HERE]


def test_every_promise_of_tasks_has_a_test() -> None:
    assert [promise for promise, tests in HELD.items() if not tests] == []


def test_promises_and_tests_of_tasks_name_each_other() -> None:
    assert sorted(set(NAMED) ^ set(WRITTEN)) == []


def test_no_test_of_tasks_is_named_twice() -> None:
    assert [name for name, count in Counter(NAMED).items() if count > 1] == []
    assert [name for name, count in Counter(WRITTEN).items() if count > 1] == []
