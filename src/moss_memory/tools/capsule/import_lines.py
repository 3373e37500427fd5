"""Import of the lines of an export file: validation and collisions."""

from __future__ import annotations

import json

from moss_memory.code_state.repository_files import is_object_id
from moss_memory.code_state.work_tree import CodeState, clean_name
from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.decode import check_unicode
from moss_memory.rows.names import (
    NAME_MAX_CHARS,
    estimate_tokens,
    normalize_label,
    normalize_name,
    normalize_workspace,
    pluralize,
    tags_json,
)
from moss_memory.storage.origin import Origin, note_repositories

from .capsule_rows import versioned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.rows.versions import Versioned
    from moss_memory.storage.engine import Row, Transaction

    Where = dict[str, Any]
    """The position of a record: the number of its line, and its file if there are several."""
    ImportLine = tuple[Where, dict[str, Any]]
    """The position of a record, and the columns of its row."""

_LABELS = ("source", "run_id", "phase", "role")
_TIMES = ("created_at", "updated_at", "deleted_at")
_MAX_NUMBER = 2**53
_COMPARED = ("workspace_raw", "name_raw", "deleted_at", "ttl_seconds", "expires_at")
"""The columns that are compared beside the content."""
_NAME = ("workspace_norm", "name_norm")
MOST_ERRORS = 1000
"""The maximum number of errors in an answer or a refusal; all of them are counted."""


def parse_lines(tx: Transaction, content: bytes) -> list[tuple[int, Any]]:
    """Return the JSON of every line with its number, without headers and blank lines; refuse all if one is invalid."""
    parsed: list[tuple[int, Any]] = []
    broken: list[int] = []
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if number % 1000 == 0:
            tx.check_cancelled()
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if not (isinstance(value, dict) and "_moss_export" in value):
            parsed.append((number, value))
    if broken:
        some = ", ".join(map(str, broken[:10])) + (" …" if len(broken) > 10 else "")
        raise invalid_request(f"these lines are not JSON: {some}; nothing was imported", lines=broken[:1000])
    return parsed


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class InvalidRecordError(Exception):
    """Raised for a record that cannot become a row."""


def check_lines(tx: Transaction, records: list[tuple[int, Any]]) -> tuple[list[ImportLine], list[dict[str, Any]]]:
    """Return the rows of valid lines and the errors of the others, without reading the store."""
    valid: list[ImportLine] = []
    wrong: list[dict[str, Any]] = []
    for count, (number, record) in enumerate(records, 1):
        if count % 1000 == 0:
            tx.check_cancelled()
        try:
            valid.append(({"line": number}, row_from_record(record)))
        except (InvalidRecordError, MossError) as error:
            wrong.append(invalid_record({"line": number}, record, error))
    return valid, wrong


def invalid_record(where: Where, record: Any, error: Exception) -> dict[str, Any]:
    """Return the entry of `errors` for a record that cannot become a row."""
    return problem(where, record, "INVALID_RECORD", str(getattr(error, "message", error)))


class LineImporter:
    """Imports capsules, or rows of another family with names, and resolves collisions by a mode."""

    def __init__(
        self, tx: Transaction, mode: str, *, versioned: Versioned = versioned, statements: dict[str, str] | None = None
    ) -> None:
        self._tx = tx
        self._mode = mode
        self._versioned = versioned
        self._noun = versioned.family
        self._sql = statements or versioned.sql
        self.imported = 0
        self.unchanged = 0
        """The number of rows that were not written, because the store has equal ones."""
        self._seen_keys: set[Any] = set()
        self.collisions: list[dict[str, Any]] = []
        self._origins: set[str] = set()
        """The keys of the stored origins."""
        self._refused_ids: set[str] = set()
        self._refused_names: set[tuple[str, str]] = set()

    def add(self, lines: list[ImportLine]) -> None:
        """Import rows in one statement if none collides, which takes half the time, else one by one.

        The search index is flushed after each statement, not after each row.
        """
        self._tx.begin()
        if self._mode == "replace":
            line_count = len(lines)
            lines = self._without_equal(lines)
            self.imported += line_count - len(lines)  # an equal row counts, and stays as it is
        now = self._tx.now
        written_from: dict[str, set[str]] = {}
        for _, row in lines:
            self._tx.check_cancelled()
            code = row.pop("code", None)
            if not row.get("version_at"):
                # Imported by the caller, at the commit that its file names.
                origin = Origin(self._tx.actor, code)
                if origin.key not in self._origins:
                    self._origins.add(self._tx.store_origin(origin))
                row |= {"version_at": now, "version_tool": self._tx.tool, "version_origin": origin.key}
            written_from.setdefault(row["workspace_norm"], set()).add(row["version_origin"])
            row["created_at"] = now if row["created_at"] is None else row["created_at"]
            row["updated_at"] = row["created_at"] if row["updated_at"] is None else row["updated_at"]
        if not lines:
            return
        for workspace, origins in written_from.items():
            note_repositories(self._tx, workspace, origins)
        if not self.collisions and self._insert_all([row for _, row in lines]):
            self.imported += len(lines)
            return
        for where, row in lines:
            self._import_one(where, row)

    def _without_equal(self, lines: list[ImportLine]) -> list[ImportLine]:
        """Return the lines of which the store has no equal row under the same id or name.

        A line after another one for the same row stays.
        """
        first = [row for _, row in lines if self._is_first(row)]
        if not first:
            return lines
        compared = [name for name in (*self._versioned.columns, *_COMPARED) if name in first[0]]
        by_id = self._find_stored(("id",), compared, [row for row in first if row["id"] is not None])
        named_rows = [row for row in first if row["name_norm"] is not None and (row["id"],) not in by_id]
        by_name = self._find_stored(_NAME, compared, named_rows, " and deleted_at is null")
        equal = {
            id(row)
            for row in first
            if (by_id.get((row["id"],)) or by_name.get(_key(row, _NAME))) == _key(row, compared)
        }
        return [line for line in lines if id(line[1]) not in equal]

    def _is_first(self, row: dict[str, Any]) -> bool:
        """Return True if no earlier line was for this id or name."""
        keys = {row["id"], (row["workspace_norm"], row["name_norm"] or row["id"])}
        if keys & self._seen_keys:
            return False
        self._seen_keys |= keys
        return True

    def _find_stored(
        self, key: tuple[str, ...], columns: list[str], rows: list[dict[str, Any]], where: str = ""
    ) -> dict[Row, Row]:
        """Return these columns of the stored rows that have a key of a given row, by key."""
        if not rows:
            return {}
        key_values = {name: list({row[name] for row in rows}) for name in key}
        same = " and ".join([self._tx.sql_in(name, name) for name in key])
        sql = f"select {', '.join((*key, *columns))} from {self._versioned.rows.table} where {same}{where}"
        return {row[: len(key)]: row[len(key) :] for row in self._tx.rows(sql, key_values)}

    def _insert_all(self, rows: list[dict[str, Any]]) -> bool:
        ids = {f"id_{index}": row["id"] for index, row in enumerate(rows)}
        if self._mode == "replace":
            if len(set(ids.values())) < len(ids):
                return False  # the first of two with one id becomes a version
            self._versioned.archive_and_trim(self._tx, f"where id in (:{', :'.join(ids)})", ids)
        last = self._tx.next_change(len(rows))
        for seq, row in enumerate(rows, last - len(rows) + 1):
            row["change_seq"] = seq
        return self._tx.insert_all(self._sql["restore_over" if self._mode == "replace" else "insert"], rows)

    def _import_one(self, where: Where, row: dict[str, Any]) -> None:
        has_id = row["id"] in self._refused_ids or self._tx.row(self._sql["id_taken"], row) is not None
        name_owner = self._name_owner(row)
        if not has_id and name_owner is None:
            self._insert(row)
        elif self._mode == "error":
            self._refused_ids.add(row["id"])
            if row["name_norm"] is not None and row["deleted_at"] is None:
                self._refused_names.add((row["workspace_norm"], row["name_norm"]))
            if has_id:
                message = f"another {self._noun} has this id already"
                self.collisions.append(problem(where, row, "ID_COLLISION", message))
            else:
                message = f"an active {self._noun} has this name already"
                self.collisions.append(problem(where, row, "NAME_COLLISION", message))
        elif self._mode == "rename":
            self._rename(row, new_id=has_id, name_taken=name_owner is not None)
        elif has_id and name_owner not in (None, row["id"]):
            message = f"the id belongs to one {self._noun} and the name to another"
            self.collisions.append(problem(where, row, "AMBIGUOUS_COLLISION", message))
        else:
            target = row["id"] if has_id else name_owner
            self._versioned.archive_and_write(self._tx, {**row, "id": target}, self._sql["overwrite"])
            self.imported += 1

    def _name_owner(self, row: dict[str, Any]) -> str | None:
        """Return the id of the active row with the record's name, or None; a deleted record has no name."""
        if row["name_norm"] is None or row["deleted_at"] is not None:
            return None
        if (row["workspace_norm"], row["name_norm"]) in self._refused_names:
            return ""
        owner: str | None = self._tx.value(self._sql["name_taken"], row)
        return owner

    def _insert(self, row: dict[str, Any]) -> None:
        self._tx.run(self._sql["insert"], {**row, "change_seq": self._tx.next_change()})
        self.imported += 1

    def _rename(self, row: dict[str, Any], *, new_id: bool, name_taken: bool) -> None:
        if new_id:
            row["id"] = self._tx.new_id()
        base, number = row["name_raw"], 0
        while name_taken:
            number += 1
            suffix = f"-{number}"
            row["name_raw"] = base.rstrip()[: NAME_MAX_CHARS - len(suffix)] + suffix
            row["name_norm"] = normalize_name(row["name_raw"])
            name_taken = self._name_owner(row) is not None
        self._insert(row)


def _key(row: dict[str, Any], columns: Iterable[str]) -> Row:
    return tuple([row[name] for name in columns])


def refuse_collisions(collisions: list[dict[str, Any]], mode: str) -> None:
    """Refuse an import with collisions that its mode does not resolve."""
    if collisions:
        total = {"errors_total": len(collisions)} if len(collisions) > MOST_ERRORS else {}
        some = ", ".join(
            [f"{collision.get('file', '')} {collision.get('line', '')}".strip() for collision in collisions[:10]]
        )
        conflict = "conflicts" if len(collisions) == 1 else "conflict"
        advice = "" if mode == "replace" else ', `mode: "replace"` overwrites a row if it is the only match'
        raise MossError(
            "CONFLICT",
            f"{pluralize(len(collisions), 'line')} {conflict} with existing rows ({some}); nothing was imported. "
            f'`mode: "rename"` keeps both{advice}',
            details={"errors": collisions[:MOST_ERRORS], **total},
        )


def row_from_record(record: Any) -> dict[str, Any]:
    """Return the columns of a record; normal forms and sizes are computed, never taken from it."""
    if not isinstance(record, dict):
        raise InvalidRecordError("the line is not a JSON object")
    workspace = _text(record, "workspace_raw", required=True)
    name = _text(record, "name_raw")
    text = _text(record, "capsule_text") or ""
    key = _text(record, "id", required=True) or ""
    if not key.strip() or len(key) > NAME_MAX_CHARS:
        raise InvalidRecordError(f"id is blank or longer than {NAME_MAX_CHARS} characters")
    return {
        "id": key,
        "workspace_raw": workspace,
        "workspace_norm": normalize_workspace(workspace or "", what="workspace_raw"),
        "name_raw": name,
        "name_norm": None if name is None else normalize_name(name, what="name_raw"),
        "capsule_text": text,
        "capsule_chars": len(text),
        "tokens_estimate": estimate_tokens(text),
        "tags_json": _tags(record),
        "title": _text(record, "title"),
        **{field: normalize_label(_text(record, field), what=field) for field in _LABELS},
        **{field: _whole_number(record, field, 0, "a Unix time in whole seconds") for field in _TIMES},
        "version": _whole_number(record, "version", 1, f"a whole number from 1 to {_MAX_NUMBER - 1}") or 1,
        "code": _code_state(record),
    }


def _code_state(record: dict[str, Any]) -> CodeState | None:
    """Return the commit at which the capsule was saved, as its export has it."""
    saved = record.get("saved_in")
    if saved is None:
        return None
    fields = ("repository", "repository_id", "branch", "commit")
    if not isinstance(saved, dict) or not all(isinstance(saved.get(name, ""), str) for name in fields):
        raise InvalidRecordError("saved_in must be an object of strings")
    repository, key, branch, commit = [clean_name(saved.get(name, "")) for name in fields]
    return CodeState(repository, key, branch, commit if is_object_id(commit) else "") if repository else None


def _text(record: dict[str, Any], field: str, *, required: bool = False) -> str | None:
    value = record.get(field)
    if value is None and not required:
        return None
    if not isinstance(value, str):
        raise InvalidRecordError(f"{field} is missing" if value is None else f"{field} must be a string")
    check_unicode(value, field)
    return value


def _whole_number(record: dict[str, Any], field: str, least: int, expected: str) -> int | None:
    value = record.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < _MAX_NUMBER:
        raise InvalidRecordError(f"{field} must be {expected}")
    return value


def _tags(record: dict[str, Any]) -> str | None:
    value = record.get("tags")
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise InvalidRecordError("tags must be a list of strings")
    for tag in value:
        check_unicode(tag, "tags")
    return tags_json(value)


def problem(where: Where, record: Any, code: str, message: str) -> dict[str, Any]:
    """Return an entry of `errors`."""
    entry: dict[str, Any] = dict(where)
    if isinstance(record, dict):
        for key, field in (("id", "id"), ("name", "name_raw")):
            value = record.get(field)
            if isinstance(value, str):
                entry[key] = value.encode("utf-8", "replace").decode()[:NAME_MAX_CHARS]
    return {**entry, "code": code, "message": message}
