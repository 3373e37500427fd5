"""Every test of the contract names at least one promise."""

from __future__ import annotations

import ast
from pathlib import Path

from support.of_every import of_every

TESTS = Path(__file__).resolve().parent.parent
MODULES = [
    path for folder in ("contract", "capsule") for path in (TESTS / folder).rglob("test_*.py") if path != Path(__file__)
]


@of_every(MODULES)
def test_every_test_of_the_contract_names_a_promise(path: Path) -> None:
    tests = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    without = [test.name for test in tests if not any(map(is_promise, test.decorator_list))]
    assert without == []


def is_promise(decorator: ast.expr) -> bool:
    """Return whether a decorator is `@holds("place: promise", …)` with at least one promise."""
    return (
        isinstance(decorator, ast.Call)
        and ast.unparse(decorator.func) == "holds"
        and len(decorator.args) > 0
        and all(": " in ast.literal_eval(promise) for promise in decorator.args)
    )
