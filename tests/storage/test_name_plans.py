"""An unknown name is searched elsewhere by an index, so that a large store refuses as fast as a small one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL
from moss_memory.errors import MossError
from moss_memory.storage.sqlite.transaction import SqliteTransaction
from storage.database import connect

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("capsule_fetch", {"workspace": "w0", "name": "name 1"}),
        ("artifact_fetch", {"workspace": "w0", "name": "name 1"}),
        ("capsule_latest", {"workspace": "none"}),
    ],
)
def test_no_statement_of_a_name_that_is_not_found_reads_a_whole_table(
    store: Store, home: Path, tool: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        named = {"workspace": f"w{number % 3}", "name": f"name {number}"}
        store.call("capsule_store", {**named, "capsule_text": FULL})
        store.call("artifact_store", {**named, "kind": "k", "data": {}})
    heard: list[tuple[str, Any]] = []
    rows = SqliteTransaction.rows

    def overhear(self: SqliteTransaction, sql: str, parameters: Any = None) -> Any:
        heard.append((sql, parameters))
        return rows(self, sql, parameters)

    monkeypatch.setattr(SqliteTransaction, "rows", overhear)
    with suppress(MossError):
        store.call(tool, arguments)
    connection = connect(home)
    try:
        steps = [
            row[3] for sql, parameters in heard for row in connection.execute(f"explain query plan {sql}", parameters)
        ]
    finally:
        connection.close()
    assert any("SEARCH" in step for step in steps)
    for step in steps:
        in_order = "_by_change" in step  # as many as are wanted, newest first
        assert in_order or not step.startswith(("SCAN capsules", "SCAN artifacts")), steps
