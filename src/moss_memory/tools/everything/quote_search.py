"""What else in the store holds a text that is taken out for good: it is somebody's own, so it is named, not changed."""

from __future__ import annotations

import json
import re

from moss_memory.rows.values import norm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.rows.hard_delete import HardDelete, RowVersion
    from moss_memory.storage.engine import ReadTransaction, Row

_LEAST_CHARS = 6
"""A shorter text is said by too many to be a quote."""
_MOST_CHARS = 100
"""A longer text is quoted by whatever holds its beginning."""
_AT_ONCE = 40
"""At most this many texts are looked for by one statement."""
_NAMED_MAX = 100
_WORD = re.compile(r"\w+")


class _Source:
    """A table that may hold quotes: how its rows are read, and how one is named."""

    __slots__ = ("address", "columns", "rest", "row", "table")

    def __init__(self, table: str, *columns: str, row: str, address: str, rest: str) -> None:
        self.table = table
        self.columns = columns
        """The columns with texts; JSON in those whose names end so."""
        self.row = row
        """What tells rows apart."""
        self.address = address
        """The SQL of what names a row."""
        self.rest = rest
        """The tables and the condition that a row is in the workspace."""


def _named(family: str) -> str:
    """Return the SQL of the address of a row that may have a name, as `t`."""
    named = "t.workspace_raw || '/' || t.name_raw"
    return f"'{family} ' || case when t.name_raw is null or t.deleted_at is not null then t.id else {named} end"


def _version_of(family: str, table: str) -> _Source:
    return _Source(
        "versions", "v.title", "v.text", "v.data_json", row="v.row_id",
        address=f"{_named(family)} || ' version ' || cast(v.version as text)",
        rest=f"versions v join {table} t on t.row_id = v.subject and v.family = '{family}'"
        " where t.workspace_norm = :workspace",
    )  # fmt: skip


_SOURCES = (
    _Source("capsules", "t.title", "t.capsule_text", row="t.row_id", address=_named("capsule"),
            rest="capsules t where t.workspace_norm = :workspace"),
    _version_of("capsule", "capsules"),
    _Source("artifacts", "t.text", "t.data_json", row="t.row_id", address=_named("artifact"),
            rest="artifacts t where t.workspace_norm = :workspace"),
    _version_of("artifact", "artifacts"),
    _Source("doc_entries", "e.title", "e.content", "e.meta_json", row="e.seq",
            address="case when e.doc = 'trace' or e.doc like '%-trace' then 'trace ' else 'note ' end"
            " || e.workspace_norm || ' ' || cast(e.seq as text)",
            rest="branches b join doc_entries e on e.branch_id = b.branch_id"
            " where b.workspace_norm = :workspace and e.written_as <> 'event'"),
    _Source("graph_versions", "g.title", "g.text", "g.meta_json", row="g.seq",
            address="'node ' || g.workspace_norm || '/' || g.doc || '/' || g.key",
            rest="branches b join graph_versions g on g.branch_id = b.branch_id where b.workspace_norm = :workspace"
            " and not (g.key >= 'task:' and g.key < 'task;') and not (g.key >= 'step:' and g.key < 'step;')"),
    _Source("tasks", "t.title", "t.description", "t.contract_json", row="t.row_id",
            address="'task ' || t.workspace_norm || '/' || t.id", rest="tasks t where t.workspace_norm = :workspace"),
    _Source("steps", "s.title", "s.success_criteria_json", "s.tests_json", "s.blockers_json", "s.block_reason",
            row="s.row_id", address="'task ' || t.workspace_norm || '/' || t.id || ' ' || s.step_id",
            rest="tasks t join steps s on s.task_row = t.row_id where t.workspace_norm = :workspace"),
    _Source("task_evidence", "e.content", row="e.row_id", address="'task ' || t.workspace_norm || '/' || t.id",
            rest="tasks t join task_evidence e on e.task_row = t.row_id where t.workspace_norm = :workspace"),
    _Source("records", "r.body_json", row="r.row_id", address="'record ' || r.payload_id",
            rest="records r where r.workspace_norm = :workspace"),
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
    """Return the addresses of what holds a text that is erased, without the rows that go or are `rewritten`.

    The capsules whose ids are `named` are among them. With `in_part` the beginning of a long text is enough.
    """
    quoted = _Quoted(erasure.texts, _MOST_CHARS if in_part else None)
    found = dict.fromkeys(_addresses(tx, named))
    for source in _SOURCES:
        for number, address, texts in quoted.rows(tx, source, norm(workspace)):
            place = source.table, number
            said = rewritten.get(place, texts)
            if place not in erasure.places and quoted.is_in(said):
                found[address] = None
    listed = sorted(found)
    more = len(listed) - _NAMED_MAX
    return listed if more <= 0 else [*listed[:_NAMED_MAX], f"and {more} more in the store"]


def _addresses(tx: ReadTransaction, ids: list[str]) -> Iterator[str]:
    for one in ids:
        yield tx.value(f"select {_named('capsule')} from capsules t where t.id = :id", {"id": one})


class _Quoted:
    """Texts that are looked for: where the words may be is asked of the engine, the rest is compared here."""

    def __init__(self, texts: list[str], most: int | None) -> None:
        wanted = {line for text in texts if len(line := _one_line(text)) >= _LEAST_CHARS and _WORD.search(line)}
        self._patterns = [_pattern(line, most) for line in sorted(wanted)]
        words = {max(_WORD.findall(line[:most]) or [""], key=len) for line in wanted}
        self._words = sorted(words - {""})

    def rows(self, tx: ReadTransaction, source: _Source, workspace: str) -> Iterator[tuple[int, str, list[Any]]]:
        """Yield the rows of a source that hold a word of a text: number, address and texts."""
        for start in range(0, len(self._words), _AT_ONCE):
            words = self._words[start : start + _AT_ONCE]
            likes = " or ".join(
                f"{column} like :word{number} escape '!'" for number in range(len(words)) for column in source.columns
            )
            values = {f"word{number}": f"%{word.replace('_', '!_')}%" for number, word in enumerate(words)}
            columns = ", ".join([source.row, source.address, *source.columns])
            statement = f"select {columns} from {source.rest} and ({likes}) order by 1"
            for number, address, *texts in tx.stream(statement, {**values, "workspace": workspace}):
                yield number, address, self._texts(source, texts)

    def _texts(self, source: _Source, row: list[Any]) -> list[Any]:
        return [
            _strings(text) if column.endswith("_json") and text else text
            for column, text in zip(source.columns, row, strict=True)
        ]

    def is_in(self, texts: Row | list[Any]) -> bool:
        """Say whether one of these texts holds one that is looked for."""
        return any(pattern.search(_one_line(text)) for text in texts if text for pattern in self._patterns)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pattern(line: str, most: int | None) -> re.Pattern[str]:
    """Return what finds a text, or so many characters of it, as words of its own."""
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
        for one in value.values() if isinstance(value, dict) else value:
            yield from _all_strings(one)
