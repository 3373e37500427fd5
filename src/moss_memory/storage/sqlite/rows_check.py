"""Check that every value has the type of its column: SQLite accepts any value in any column."""

from __future__ import annotations

import time

import apsw

from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_name
from moss_memory.storage import consistency

from .dump import SELECT_TABLES
from .repair.encoding_check import rows_with_invalid_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.storage.consistency import Fault

STEPS = 20_000
"""Steps of SQLite's machine between two checks of the clock."""
_LAST_TIME = 1 << 53
_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The first and the last microsecond of the years 1 to 9999, the range of Python's dates."""
_LAST_DAY = _LAST_US // 86_400_000_000
_DURATIONS = ("lease_s", "ttl_seconds")
"""Columns of seconds: a time is computed from them."""
_STATE_FIELDS = 14
"""Fields of a version of a node or an edge that a conflict stores."""
_JSON = {
    **dict.fromkeys(("data_json", "meta_json", "contract_json", "checkpoints_json", "snapshot_json"), "object"),
    **dict.fromkeys(("sources_json", "body_json", "answer_json", "unmapped_json", "payload"), "object"),
    **dict.fromkeys(("tags_json", "success_criteria_json", "tests_json", "blockers_json", "sets_json"), "texts"),
    **dict.fromkeys(("base_json", "theirs_json", "ours_json"), "state"),
    "source_refs_json": "array",
    "reach_json": "ranges",
}
_JSON_FAULTS = {
    "object": "json_type({0}) <> 'object'",
    "array": "json_type({0}) <> 'array'",
    "texts": "json_type({0}) <> 'array' or exists (select 1 from json_each({0}) as part where part.type <> 'text')",
    "state": f"json_type({{0}}) <> 'array' or json_array_length({{0}}) <> {_STATE_FIELDS}",
    "ranges": "json_type({0}) <> 'array' or exists (select 1 from json_each({0}) as part where part.type <> 'array'"
    " or json_array_length(part.value) <> 3 or exists (select 1 from json_each(part.value) as one"
    " where one.type <> 'integer'))",
}
"""SQL conditions for a JSON text of another type than its column."""
_FLAGS = ("done", "blocked", "hidden", "deleted", "canonical", "pinned", "erased", "rebuilt")
_TIMES = ("_at", "_ms", "_us")
_CHOICES = {
    ("tasks", "kind"): ("plan", "task"),
    ("task_numbers", "kind"): ("plan", "task", "step"),
    ("tasks", "status"): ("TODO", "ACTIVE", "DONE"),
    ("tasks", "priority"): ("low", "normal", "high"),
    ("doc_entries", "written_as"): ("note", "step", "card", "event"),
    ("documents", "shape"): ("log", "graph"),
    ("versions", "family"): ("capsule", "artifact"),
}
_NUMBERS_IN_USE = (
    "select 'seq', coalesce(max(seq), 0) from doc_entries union all select 'seq', coalesce(max(seq), 0) from"
    " graph_versions union all select 'seq', coalesce(max(seq), 0) from resets union all select 'branch',"
    " coalesce(max(branch_id), 0) from branches"
)
_CONTRADICTIONS = (
    (
        "entities",
        "sources_json",
        "names a submission that is not there",
        (
            "select e.entity_id from entities e, json_each(e.sources_json) s where json_valid(e.sources_json) and"
            " not exists (select 1 from observations o where o.submission_id = s.value)"
        ),
    ),
    (
        "task_numbers",
        "last",
        "is below a number that is in use",
        (
            "select t.id from tasks t left join task_numbers n on n.workspace_norm = t.workspace_norm"
            " and n.kind = t.kind where cast(substr(t.id, 6) as integer) > coalesce(n.last, 0)"
        ),
    ),
    (
        "task_numbers",
        "last",
        "is below a number that is in use",
        (
            "select s.step_id from steps s left join task_numbers n on n.workspace_norm = s.workspace_norm"
            " and n.kind = 'step' where cast(substr(s.step_id, 6) as integer) > coalesce(n.last, 0)"
        ),
    ),
    (
        "versions",
        "kind",
        "lacks a field that every artifact has",
        "select row_id from versions where family = 'artifact' and erased = 0 and (kind is null or data_json is null)",
    ),
    (
        "versions",
        "text",
        "lacks a field that every capsule has",
        "select row_id from versions where family = 'capsule' and erased = 0 and text is null",
    ),
)
"""Table, column, fault, and the statement that finds a faulty row."""


def faults(connection: apsw.Connection, *, references: bool = True, limit_s: float | None = None) -> list[Fault]:
    """List the first fault of each kind in each table; the faults so far if the time limit is reached.

    A dangling reference breaks only the calls that need it: `references` includes those, too.
    """
    first_faults: list[Fault] = []
    deadline = None if limit_s is None else time.monotonic() + limit_s
    if deadline is not None:
        connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        for entry in _find_faults(connection, references):
            first_faults.append(entry)
    except apsw.InterruptError:
        return first_faults
    finally:
        connection.set_progress_handler(None, STEPS)
    return first_faults


def _find_faults(connection: apsw.Connection, references: bool) -> Iterator[Fault]:
    tables: list[Any] = connection.execute(SELECT_TABLES).fetchall()
    for (table,) in tables:
        yield from _find_invalid_values(connection, table)
    yield from _find_invalid_sequences(connection)

    def rows(sql: str) -> Iterator[tuple[Any, ...]]:
        return iter(connection.execute(sql).fetchall())

    try:
        yield from _find_wrong_counters(connection)
        yield from consistency.breaking(rows)
        if references:
            yield from consistency.dangling(rows)
            yield from _find_contradictions(connection)
            yield from _find_wrong_names(connection)
    except UnicodeDecodeError:
        for invalid in rows_with_invalid_text(connection):
            yield consistency.fault(invalid["table"], invalid.get("row"), invalid.get("column", ""), "is not UTF-8")


def _find_invalid_values(connection: apsw.Connection, table: str) -> Iterator[Fault]:
    """Yield the first row of a table with an invalid value."""
    info: list[Any] = connection.execute(
        'select name, lower(type), "notnull", pk from pragma_table_xinfo(?) where hidden = 0', (table,)
    ).fetchall()
    wrong = {name: _condition(table, name, kind, bool(needed)) for name, kind, needed, _ in info}
    key = next((name for name, _, _, position in info if position == 1), "rowid")
    cases = " ".join([f"when {condition} then '{name}'" for name, condition in wrong.items()])
    statement = f"select cast({key} as blob), case {cases} end from {table} where {' or '.join(wrong.values())} limit 1"
    rows: list[Any] = connection.execute(statement).fetchall()
    for row, column in rows:
        yield consistency.fault(table, row, column, "has a value that the column does not allow")


def _condition(table: str, name: str, kind: str, needed: bool) -> str:
    """Return the SQL condition for an invalid value in a column."""
    parts = [f"typeof({name}) <> '{kind}'"]
    if kind == "integer":
        parts.append(_range(name))
    elif name in _JSON:
        parts.append(f"case when json_valid({name}) then {_JSON_FAULTS[_JSON[name]].format(name)} else true end")
    elif (table, name) in _CHOICES:
        parts.append(f"{name} not in {_CHOICES[table, name]}")
    wrong = " or ".join(parts)
    return f"({name} is null or {wrong})" if needed else f"({name} is not null and ({wrong}))"


def _range(name: str) -> str:
    if name in _FLAGS:
        return f"{name} not in (0, 1)"
    if name == "next_seq":
        return f"({name} < 0 or {name} > {consistency.LAST_NUMBER} and {name} <> {2**63 - 1})"
    if name.endswith("_us"):
        return f"({name} < {_FIRST_US} or {name} > {_LAST_US})"
    if name.endswith(_TIMES) or name == "at":
        return f"({name} < 0 or {name} > {_LAST_TIME})"
    if name.endswith("change_seq") or name == "tagged_seq":
        return f"({name} < 0 or {name} > {consistency.LAST_CHANGE})"
    if name == "day":
        return f"({name} < 0 or {name} > {_LAST_DAY})"
    if name in _DURATIONS:
        return f"({name} < 0 or {name} > {_LAST_TIME})"
    if name == "doc":
        return f"({name} < 0 or {name} > {consistency.LAST_NUMBER * 16})"
    return f"({name} < 0 or {name} > {consistency.LAST_NUMBER})"


def _find_contradictions(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield the first row of each kind whose columns contradict each other or other tables."""
    for table, column, problem, statement in _CONTRADICTIONS:
        rows: list[Any] = connection.execute(f"{statement} limit 1").fetchall()
        for (row,) in rows:
            yield consistency.fault(table, row, column, problem)


def _find_wrong_names(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield the first name of each table whose normal form is wrong."""
    for table in ("capsules", "artifacts"):
        rows: Any = connection.execute(f"select id, workspace_raw, workspace_norm, name_raw, name_norm from {table}")
        for row, *names in rows:
            column = _not_normal(*names)
            if column:
                yield consistency.fault(table, row, column, "is not the normal form of the name that was given")
                break


def _not_normal(workspace: Any, workspace_norm: Any, name: Any, name_norm: Any) -> str:
    for column, raw, norm in (("workspace_norm", workspace, workspace_norm), ("name_norm", name, name_norm)):
        try:
            if (raw is None) != (norm is None) or (raw is not None and normalize_name(raw) != norm):
                return column
        except (MossError, TypeError, AttributeError):
            return column
    return ""


def _find_wrong_counters(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield each counter that is missing or below a number in use."""
    rows: Any = connection.execute("select series, last from numbers where series in ('seq', 'branch')")
    last_by_series: dict[Any, Any] = dict(rows)
    for series in ("seq", "branch"):
        if series not in last_by_series:
            yield consistency.fault("numbers", series, "series", "is missing")
    for series, most in connection.execute(_NUMBERS_IN_USE):
        so_far = last_by_series.get(series)
        if isinstance(so_far, int) and isinstance(most, int) and most > so_far:
            yield consistency.fault("numbers", series, "last", f"is below {most}, which is in use")


def _find_invalid_sequences(connection: apsw.Connection) -> Iterator[Fault]:
    """Yield each of SQLite's own counters that is not a number or near its limit."""
    statement = (
        "select cast(name as blob) from sqlite_sequence where typeof(name) <> 'text' or typeof(seq) <> 'integer'"
        f" or seq < 0 or seq > {consistency.LAST_NUMBER} limit 1"
    )
    rows: list[Any] = connection.execute(statement).fetchall()
    for (name,) in rows:
        yield consistency.fault("sqlite_sequence", name, "seq", "has a value that the column does not allow")
