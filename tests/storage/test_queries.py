"""Named statements: read from a file, filled at their placeholders, and overridden by an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from moss_memory.storage.queries import load_overrides, load_queries
from moss_memory.storage.sqlite.connections import open_empty

ROOM = """-- Statements of a room.

-- name: listed
-- Newest first.
select id, '{}' as nothing from things {where}
order by id desc limit :limit;

-- name: counted
select count(*) from things
"""
OWN = """-- name: listed
select id, '{}' as nothing from things tablesample system (100) {where} order by id desc limit :limit
"""


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    """Make a folder with one family, one statement of which the engine `fake` overrides."""
    (tmp_path / "shed").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "shed" / "queries.sql").write_text(ROOM)
    (tmp_path / "shed" / "queries.fake.sql").write_text(OWN)
    return tmp_path


def test_statements_are_read_by_name_without_their_comments(rooms: Path) -> None:
    queries = load_queries(str(rooms / "shed" / "rows.py"))
    assert list(queries) == ["listed", "counted"]
    assert queries["counted"] == "select count(*) from things"
    assert queries["counted"].key == "shed.counted"


def test_a_placeholder_is_filled_with_sql_and_other_braces_stay(rooms: Path) -> None:
    listed = load_queries(str(rooms / "shed" / "rows.py"))["listed"].filled(where="where size > :size")
    assert listed == "select id, '{}' as nothing from things where size > :size\norder by id desc limit :limit"
    assert listed.key == "shed.listed"


def test_an_engine_overrides_a_statement_with_the_same_placeholders(rooms: Path) -> None:
    queries = load_queries(str(rooms / "shed" / "rows.py"))
    own = load_overrides("fake", str(rooms))
    assert list(own) == ["shed.listed"]
    said = queries["listed"].filled(where="where size > :size").for_engine(own)
    assert said == (
        "select id, '{}' as nothing from things tablesample system (100) where size > :size"
        " order by id desc limit :limit"
    )
    assert queries["counted"].for_engine(own) == queries["counted"]


def test_an_override_of_an_unknown_statement_is_refused(rooms: Path) -> None:
    (rooms / "shed" / "queries.fake.sql").write_text(OWN + "\n-- name: cuonted\nselect 1\n")
    with pytest.raises(ValueError, match=r"queries\.fake\.sql overrides .* cuonted"):
        load_overrides("fake", str(rooms))


def test_an_engine_without_a_statement_file_has_no_overrides() -> None:
    assert load_overrides("sqlite") == {}


def test_greatest_returns_the_largest_value_and_ignores_null() -> None:
    connection = open_empty()
    assert connection.execute("select greatest(1, 3, 2), greatest(null, 2), greatest(null, null)").fetchone() == (
        3, 2, None,
    )  # fmt: skip


def test_a_list_can_be_bound_and_no_other_compound_value() -> None:
    connection = open_empty()
    found = connection.execute("select value from json_each(:ids)", {"ids": ["a", "\u00fc", 3]}).fetchall()
    assert found == [("a",), ("\u00fc",), (3,)]
    with pytest.raises(TypeError, match="a set cannot be bound"):
        connection.execute("select :it", {"it": {1}})
