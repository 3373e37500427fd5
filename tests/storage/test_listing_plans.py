"""A page of capsules is read from an index in its order with any single filter, however large the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw
import pytest

from contract.doors import FULL
from moss_memory.storage.sqlite.file_kind import APPLICATION_ID
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.schema_migrations import migrations_after
from moss_memory.storage.sqlite.transaction import SqliteTransaction
from moss_memory.tools.capsule import capsule_lists
from storage.database import connect

if TYPE_CHECKING:
    from pathlib import Path

    from moss_memory.store import Store

LABELS = {"run_id": "r1", "phase": "design", "role": "builder"}


def fill(store: Store) -> None:
    for number in range(12):
        store.call(
            "capsule_store",
            {
                "workspace": f"w{number % 2}", "name": f"n{number}", "capsule_text": FULL,
                "tags": ["all", f"t{number % 3}"], "run_id": f"r{number % 2}", "phase": "design", "role": "builder",
            },
        )  # fmt: skip


def overheard(
    store: Store, tool: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, Any]]:
    """Return the statements of a call that select capsules or artifacts, with their parameters."""
    heard: list[tuple[str, Any]] = []

    def listened_to(execute: Any) -> Any:
        def statement(self: SqliteTransaction, sql: str, parameters: Any = None) -> Any:
            heard.append((sql, parameters))
            return execute(self, sql, parameters)

        return statement

    for name in ("rows", "row", "value"):
        monkeypatch.setattr(SqliteTransaction, name, listened_to(getattr(SqliteTransaction, name)))
    store.call(tool, arguments)
    monkeypatch.undo()
    return [one for one in heard if " from capsule" in one[0] or " from artifacts" in one[0]]


def plans(store: Store, home: Path, tool: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the plan of each such statement, as one text."""
    heard = overheard(store, tool, arguments, monkeypatch)
    connection = connect(home)
    try:
        return [
            "; ".join(row[3] for row in connection.execute(f"explain query plan {sql}", parameters))
            for sql, parameters in heard
        ]
    finally:
        connection.close()


@pytest.mark.parametrize("tool", ["capsule_list", "capsule_latest", "capsule_inventory"])
@pytest.mark.parametrize("label", LABELS)
def test_a_page_by_run_phase_or_role_is_read_in_its_order(
    store: Store, home: Path, tool: str, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    where = {} if tool == "capsule_inventory" else {"workspace": "w1"}
    found = plans(store, home, tool, {**where, label: LABELS[label]}, monkeypatch)
    assert found
    for plan in found:
        assert "SCAN" not in plan
        assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("asked", [{}, {"workspace": "w1"}, {"run_id": "r"}])
def test_a_page_of_artifacts_is_read_in_its_order(
    store: Store, home: Path, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.call("artifact_store", {"workspace": "w1", "name": "n1", "kind": "k", "run_id": "r", "data": {}})
    (plan,) = plans(store, home, "artifact_list", asked, monkeypatch)
    assert "USING INDEX" in plan
    assert "TEMP B-TREE" not in plan


@pytest.mark.parametrize("order_by", ["updated_at", "created_at"])
@pytest.mark.parametrize("name", ["kind", "phase", "role", "tag"])
def test_a_filter_without_matches_reads_an_index_only(
    store: Store, home: Path, name: str, order_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 200
    for number in range(many):
        data = {"number": number, "more": "x" * 3_000}  # each on a page of its own
        store.call("artifact_store", {"kind": "k", "phase": "p", "role": "r", "tags": ["t"], "data": data})
    (heard,) = overheard(store, "artifact_list", {name: "none", "order_by": order_by}, monkeypatch)
    connection = connect(home)
    connection.execute(*heard).fetchall()
    looked_at = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
    pages = sum(connection.status(kind)[0] for kind in looked_at)
    connection.close()
    assert pages < many / 2


FILTERS = {**LABELS, "workspace": "w1", "tag": "t1", "name_prefix": "n1"}
WITH_DELETED = [(tool, name) for tool in ("capsule_list", "capsule_latest") for name in ("workspace", *LABELS)]
WITH_DELETED += [("capsule_inventory", name) for name in ("", *FILTERS)]
WITH_DELETED += [("artifact_list", name) for name in ("", "workspace", "tag", *LABELS)]


@pytest.mark.parametrize(("tool", "name"), WITH_DELETED)
def test_a_page_with_deleted_capsules_does_not_read_the_whole_table(
    store: Store, home: Path, tool: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    store.call("artifact_store", {"workspace": "w1", "name": "n1", "kind": "k", "data": {}})
    store.call("capsule_delete", {"workspace": "w1", "name": "n1"})
    asked = {name: FILTERS[name]} if name else {}
    for plan in plans(store, home, tool, {**asked, "include_deleted": True}, monkeypatch):
        assert "SCAN capsules;" not in f"{plan};"
        assert "SCAN artifacts;" not in f"{plan};"


@pytest.mark.parametrize("name", ["", *FILTERS])
def test_pages_with_deleted_capsules_are_in_order_of_change(store: Store, home: Path, name: str) -> None:
    fill(store)
    for number in (1, 4, 5, 10):
        store.call("capsule_delete", {"workspace": f"w{number % 2}", "name": f"n{number}"})
    store.call("capsule_update", {"workspace": "w1", "name": "n3", "title": "changed last"})
    asked = {"include_deleted": True, "limit": 2, **({name: FILTERS[name]} if name else {})}
    pages = [store.call("capsule_inventory", {**asked, "offset": offset}) for offset in range(0, 14, 2)]
    listed = [item["id"] for page in pages for item in page["items"]]
    whole = store.call("capsule_inventory", {**asked, "limit": 100})["items"]
    connection = connect(home)
    ordered = [
        one for (one,) in connection.execute("select id from capsules order by updated_at desc, change_seq desc")
    ]
    connection.close()
    assert listed == [item["id"] for item in whole] == [one for one in ordered if one in listed]
    assert {page["pagination"]["total"] for page in pages} == {len(listed)}
    assert any("deleted_at" in item for item in whole)
    assert any("deleted_at" not in item for item in whole)


def test_a_page_by_tag_is_read_in_its_order_and_counted_without_the_capsules(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    count, page = plans(store, home, "capsule_inventory", {"tag": "t1"}, monkeypatch)
    assert page.startswith("SEARCH capsule_tags")
    assert "TEMP B-TREE" not in page
    assert count == "SEARCH capsule_tags USING PRIMARY KEY (tag=?)"


def test_names_with_a_common_prefix_are_counted_and_ordered_by_their_index(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    for plan in plans(store, home, "capsule_inventory", {"name_prefix": "n1"}, monkeypatch):
        assert "SEARCH capsules USING COVERING INDEX capsules_by_name_alone" in plan


@pytest.mark.parametrize("looked_at", [1, 5, 100])
@pytest.mark.parametrize("more", [{}, {"workspace": "w1"}, {"phase": "design"}, {"tag": "t1"}])
def test_names_with_a_common_prefix_are_listed_in_the_same_order_for_any_number(
    store: Store, monkeypatch: pytest.MonkeyPatch, looked_at: int, more: dict[str, str]
) -> None:
    fill(store)
    store.call("capsule_update", {"workspace": "w1", "name": "n1", "title": "changed last"})
    asked = [
        {"name_prefix": prefix, "limit": 2, "offset": offset, **more}
        for prefix in ("n", "n1", "x")
        for offset in (0, 1, 2, 10)
    ]
    before = [store.call("capsule_inventory", one) for one in asked]
    monkeypatch.setattr(capsule_lists, "_COMMON_PREFIX_ROWS", 0)
    monkeypatch.setattr(capsule_lists, "_NEWEST_ROWS", looked_at)
    assert [store.call("capsule_inventory", one) for one in asked] == before


def test_tags_follow_every_change_of_a_capsule(store: Store, home: Path) -> None:
    fill(store)
    store.call("capsule_update", {"workspace": "w0", "name": "n0", "tags": ["all", "new"]})
    store.call("capsule_delete", {"workspace": "w1", "name": "n1"})
    store.call("capsule_delete", {"workspace": "w0", "name": "n2"})
    store.call("capsule_restore", {"workspace": "w0", "name": "n2"})
    store.call("capsule_delete", {"workspace": "w1", "name": "n3"})
    store.call("capsule_purge", {"workspace": "w1"})
    connection = connect(home)
    kept = connection.execute("select tag, tagged_at, tagged_seq, capsule from capsule_tags order by 1, 4").fetchall()
    true = connection.execute(
        "select value, updated_at, change_seq, row_id from capsules, json_each(tags_json)"
        " where deleted_at is null order by 1, 4"
    ).fetchall()
    connection.close()
    assert kept == true
    assert len(kept) == 20


def test_a_store_of_the_previous_schema_finds_its_tags(home: Path, store: Store) -> None:
    home.mkdir(mode=0o700)
    connection = apsw.Connection(str(home / "moss.db"))
    add_functions(connection)
    connection.execute("pragma journal_mode = wal").fetchall()
    for number, sql in migrations_after(0):
        if number < 13:
            connection.execute(sql).fetchall()
    connection.execute(
        "insert into capsules (id, workspace_raw, workspace_norm, capsule_text, capsule_chars, tokens_estimate,"
        " tags_json, created_at, updated_at, deleted_at, change_seq) values"
        " ('a', 'w', 'w', 'x', 1, 1, '[\"t\"]', 1, 1, null, 1),"
        " ('b', 'w', 'w', 'x', 1, 1, '[\"t\", \"u\"]', 2, 2, null, 2),"
        " ('c', 'w', 'w', 'x', 1, 1, null, 3, 3, null, 3), ('d', 'w', 'w', 'x', 1, 1, '[\"t\"]', 4, 4, 4, 4)"
    )
    connection.execute(f"pragma application_id = {APPLICATION_ID}")
    connection.execute("pragma user_version = 12")
    connection.close()
    answer = store.call("capsule_inventory", {"tag": "t"})
    assert [item["id"] for item in answer["items"]] == ["b", "a"]
    assert answer["pagination"]["total"] == 2
