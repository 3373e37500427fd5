"""Search for rows that quote an erased text; they are listed in the answer, not changed."""

from __future__ import annotations

import json
import re

from moss_memory.rows.names import normalize_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.rows.hard_delete import HardDelete, RowVersion
    from moss_memory.storage.engine import ReadTransaction, Row

_MIN_CHARS = 6
"""Shorter texts are too common to be quotes."""
_MAX_CHARS = 100
"""The length of the beginning by which a longer text is searched."""
_BATCH_WORDS = 40
"""The maximum number of words in one statement."""
_ADDRESSES_MAX = 100
_WORD = re.compile(r"\w+")


class _Source:
    """A table that may have quotes, and the SQL to read and address its rows."""

    __slots__ = ("address", "columns", "from_clause", "row", "table")

    def __init__(self, table: str, *columns: str, row: str, address: str, from_clause: str) -> None:
        self.table = table
        self.columns = columns
        """The columns with texts; names ending in `_json` have JSON."""
        self.row = row
        """The column with the row's number."""
        self.address = address
        """The SQL of a row's address."""
        self.from_clause = from_clause
        """The from clause, with the condition on the workspace."""


def _sql_address(family: str) -> str:
    """Return the SQL of the address of a row that may have a name, as `t`."""
    full_name = "t.workspace_raw || '/' || t.name_raw"
    return f"'{family} ' || case when t.name_raw is null or t.deleted_at is not null then t.id else {full_name} end"


def _versions_source(family: str, table: str) -> _Source:
    return _Source(
        "versions", "v.title", "v.text", "v.data_json", row="v.row_id",
        address=f"{_sql_address(family)} || ' version ' || cast(v.version as text)",
        from_clause=f"versions v join {table} t on t.row_id = v.subject and v.family = '{family}'"
        " where t.workspace_norm = :workspace",
    )  # fmt: skip


_SOURCES = (
    _Source("capsules", "t.title", "t.capsule_text", row="t.row_id", address=_sql_address("capsule"),
            from_clause="capsules t where t.workspace_norm = :workspace"),
    _versions_source("capsule", "capsules"),
    _Source("artifacts", "t.text", "t.data_json", row="t.row_id", address=_sql_address("artifact"),
            from_clause="artifacts t where t.workspace_norm = :workspace"),
    _versions_source("artifact", "artifacts"),
    _Source("doc_entries", "e.title", "e.content", "e.meta_json", row="e.seq",
            address="case when e.doc = 'trace' or e.doc like '%-trace' then 'trace ' else 'note ' end"
            " || e.workspace_norm || ' ' || cast(e.seq as text)",
            from_clause="branches b join doc_entries e on e.branch_id = b.branch_id"
            " where b.workspace_norm = :workspace and e.written_as <> 'event'"),
    _Source("graph_versions", "g.title", "g.text", "g.meta_json", row="g.seq",
            address="'node ' || g.workspace_norm || '/' || g.doc || '/' || g.key",
            from_clause="branches b join graph_versions g on g.branch_id = b.branch_id"
            " where b.workspace_norm = :workspace"
            " and not (g.key >= 'task:' and g.key < 'task;') and not (g.key >= 'step:' and g.key < 'step;')"),
    _Source("tasks", "t.title", "t.description", "t.contract_json", row="t.row_id",
            address="'task ' || t.workspace_norm || '/' || t.id",
            from_clause="tasks t where t.workspace_norm = :workspace"),
    _Source("steps", "s.title", "s.success_criteria_json", "s.tests_json", "s.blockers_json", "s.block_reason",
            row="s.row_id", address="'task ' || t.workspace_norm || '/' || t.id || ' ' || s.step_id",
            from_clause="tasks t join steps s on s.task_row = t.row_id where t.workspace_norm = :workspace"),
    _Source("task_evidence", "e.content", row="e.row_id", address="'task ' || t.workspace_norm || '/' || t.id",
            from_clause="tasks t join task_evidence e on e.task_row = t.row_id where t.workspace_norm = :workspace"),
    _Source("records", "r.body_json", row="r.row_id", address="'record ' || r.payload_id",
            from_clause="records r where r.workspace_norm = :workspace"),
)  # fmt: skip


def quotes_of(
    tx: ReadTransaction,
    workspace: str,
    erasure: HardDelete,
    *,
    rewritten: dict[RowVersion, tuple[str | None, str]],
    named: list[str],
    in_part: bool,
) -> list[str]:
    """Return the addresses of rows that contain an erased text, without rows that are deleted or `rewritten`.

    Include the capsules with the ids in `named`. With `in_part` the beginning of a long text counts as a quote.
    """
    quoted = _QuoteMatcher(erasure.texts, _MAX_CHARS if in_part else None)
    statement = f"select {_sql_address('capsule')} from capsules t where t.id = :id"
    addresses = {tx.value(statement, {"id": capsule_id}) for capsule_id in named}
    for source in _SOURCES:
        for number, address, texts in quoted.rows(tx, source, normalize_workspace(workspace)):
            row_version = source.table, number
            if row_version not in erasure.row_versions and quoted.is_in(rewritten.get(row_version, texts)):
                addresses.add(address)
    listed = sorted(addresses)
    omitted = len(listed) - _ADDRESSES_MAX
    return listed if omitted <= 0 else [*listed[:_ADDRESSES_MAX], f"and {omitted} more in the store"]


class _QuoteMatcher:
    """The erased texts: SQL preselects rows by one word of each, patterns compare the rest."""

    def __init__(self, texts: list[str], most: int | None) -> None:
        lines = {line for text in texts if len(line := _one_line(text)) >= _MIN_CHARS and _WORD.search(line)}
        self._patterns = [_pattern(line, most) for line in sorted(lines)]
        words = {max(_WORD.findall(line[:most]) or [""], key=len) for line in lines}
        self._words = sorted(words - {""})

    def rows(self, tx: ReadTransaction, source: _Source, workspace: str) -> Iterator[tuple[int, str, list[Any]]]:
        """Yield number, address and texts of the rows of a source that contain a word of a text."""
        for start in range(0, len(self._words), _BATCH_WORDS):
            words = self._words[start : start + _BATCH_WORDS]
            likes = " or ".join(
                f"{column} like :word{number} escape '!'" for number in range(len(words)) for column in source.columns
            )
            values = {f"word{number}": f"%{word.replace('_', '!_')}%" for number, word in enumerate(words)}
            columns = ", ".join([source.row, source.address, *source.columns])
            statement = f"select {columns} from {source.from_clause} and ({likes}) order by 1"
            for number, address, *texts in tx.stream(statement, {**values, "workspace": workspace}):
                pairs = zip(source.columns, texts, strict=True)
                yield (
                    number,
                    address,
                    [_strings(text) if name.endswith("_json") and text else text for name, text in pairs],
                )

    def is_in(self, texts: Row | list[Any]) -> bool:
        return any(pattern.search(_one_line(text)) for text in texts if text for pattern in self._patterns)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pattern(line: str, most: int | None) -> re.Pattern[str]:
    """Return a pattern for a text, or its first `most` characters, at word boundaries."""
    part = line[:most]
    before = r"(?<!\w)" if _WORD.match(part) else ""
    after = r"(?!\w)" if part == line and _WORD.match(part[-1]) else ""
    return re.compile(before + re.escape(part) + after)


def _strings(text: str) -> str:
    """Return the strings in a JSON text."""
    try:
        return " ".join(_all_strings(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _all_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _all_strings(item)
