"""Upgrade a store of the original Moss: convert its table to the first schema, then migrate to the newest."""

from __future__ import annotations

import json
import os
import sys

import apsw

from moss_memory.errors import MossError
from moss_memory.rows.names import DEFAULT_WORKSPACE, NAME_MAX_CHARS, estimate_tokens, normalize_name, pluralize
from moss_memory.storage.call import CHANGES_PER_CALL, new_id, wall_clock_ms
from moss_memory.storage.sqlite.backup import backup_file, remove
from moss_memory.storage.sqlite.schema_migrations import migrations_after, run_migrations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LABEL = "v1"
_OLD = "capsules_of_the_original"
_LABELS = ("title", "source", "run_id", "phase", "role")
_LAST_TIME = 2**53 - 1
_NOTES_MAX = 20


def upgrade_v1(connection: apsw.Connection, path: str) -> None:
    """Back up the database, migrate it to the newest schema in one transaction, and report it on stderr.

    The caller holds the write lock. After a kill the store is either the original's or Moss's; the backup stays beside
    it.
    """
    connection.execute("pragma synchronous = full")
    connection.execute("begin immediate")
    backup = ""
    try:
        backup = backup_file(path, _LABEL)
        moved = LegacyUpgrade(connection)
        moved.run()
        run_migrations(connection, 1)
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        if backup:
            remove(backup)  # else every attempt of a client that retries would leave one more
        raise
    _report(
        f"{path} was a store of the original Moss: {pluralize(moved.count, 'capsule')} moved in; the file as it was "
        f"is kept as {os.path.basename(backup)}"
    )
    for line in moved.notes[:_NOTES_MAX]:
        _report(line)
    if len(moved.notes) > _NOTES_MAX:
        _report(f"and so for {len(moved.notes) - _NOTES_MAX} more")


def _report(message: str) -> None:
    if sys.stderr is not None:
        shown = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in message)
        sys.stderr.write(f"moss: {shown}\n")
        sys.stderr.flush()


class LegacyUpgrade:
    """The conversion of the original's table to the first schema of this Moss."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.count = 0
        self.notes: list[str] = []
        """The changes that were necessary: names that are equal only in this Moss, invalid UTF-8."""

    def run(self) -> None:
        """Create and fill the first schema; remove the old one."""
        execute = self._connection.execute
        for (trigger,) in list(execute("select name from sqlite_schema where type = 'trigger'")):
            quoted = trigger.replace('"', '""')
            execute(f'drop trigger "{quoted}"')
        execute("drop table if exists capsules_fts")
        execute(f"alter table capsules rename to {_OLD}")
        for _ in execute(migrations_after(0)[0][1]):
            pass
        now_ms = wall_clock_ms()
        execute(
            "insert into events (seq, event_id, tool, ts_ms) values (1, :event_id, 'capsule_import', :ts_ms)",
            {"event_id": new_id(now_ms), "ts_ms": now_ms},
        )
        names = self._names()
        for row in self._rows(("id", "capsule_text", "tags_json", *_LABELS)):
            self._convert_row(row, names)
        execute(f"drop table {_OLD}")

    def _rows(self, texts: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Yield every row, oldest change first; texts as bytes, because they may be invalid UTF-8."""
        present = {name for (name,) in self._connection.execute(f"select name from pragma_table_info('{_OLD}')")}
        columns = {name: f"cast({name} as blob)" if name in present else "null" for name in texts}
        columns |= {name: f"cast({name} as integer)" for name in ("created_at", "updated_at", "deleted_at")}
        columns["row_id"] = "rowid"
        order = "order by cast(updated_at as integer), rowid"
        for row in self._connection.execute(f"select {', '.join(columns.values())} from {_OLD} {order}"):
            yield dict(zip(columns, row, strict=True))

    def _names(self) -> dict[int, tuple[str, str | None]]:
        """Return valid workspace and name of every row; of two that are equal here, the newer keeps its name."""
        valid_names: dict[int, tuple[str, str | None, bool]] = {}
        for row in self._rows(("workspace_raw", "name_raw")):
            workspace = self._valid_name(row["workspace_raw"], DEFAULT_WORKSPACE)
            name = None if row["name_raw"] is None else self._valid_name(row["name_raw"], "") or None
            valid_names[row["row_id"]] = (workspace, name, row["deleted_at"] is None)
        taken_names = {
            (normalize_name(workspace), normalize_name(name))
            for workspace, name, active in valid_names.values()
            if active and name is not None
        }
        assigned: set[tuple[str, str]] = set()
        names: dict[int, tuple[str, str | None]] = {}
        for row_id, (workspace, name, active) in reversed(valid_names.items()):
            if active and name is not None:
                if (normalize_name(workspace), normalize_name(name)) in assigned:
                    name = self._unique_name(workspace, name, taken_names)
                assigned.add((normalize_name(workspace), normalize_name(name)))
            names[row_id] = (workspace, name)
        return names

    def _unique_name(self, workspace: str, name: str, taken_names: set[tuple[str, str]]) -> str:
        """Return the name with the first number that makes it unique."""
        number = 0
        while True:
            number += 1
            suffix = f"-{number}"
            numbered_name = name.rstrip()[: NAME_MAX_CHARS - len(suffix)] + suffix
            if (normalize_name(workspace), normalize_name(numbered_name)) not in taken_names:
                taken_names.add((normalize_name(workspace), normalize_name(numbered_name)))
                self.notes.append(
                    f"workspace {workspace!r} has a newer capsule {name!r}; the older one is now {numbered_name!r}"
                )
                return numbered_name

    def _valid_name(self, value: bytes | None, otherwise: str) -> str:
        """Return the name if it is valid, else the nearest valid one, else `otherwise`."""
        raw = _decode(value)
        try:
            normalize_name(raw)
        except MossError:
            printable = "".join(character if character.isprintable() else " " for character in raw)
            name = " ".join(printable.split())[:NAME_MAX_CHARS].rstrip() or otherwise
            outcome = f"it is now {name[:80]!r}" if name else "the capsule has none now"
            self.notes.append(f"{raw[:80]!r} cannot be a name here; {outcome}")
            return name
        return raw

    def _convert_row(self, row: dict[str, Any], names: dict[int, tuple[str, str | None]]) -> None:
        self.count += 1
        workspace, name = names[row["row_id"]]
        text = self._text(row)
        values = {
            "row_id": row["row_id"] if row["row_id"] > 0 else None,
            "id": _decode(row["id"]).strip() or new_id(wall_clock_ms()),
            "workspace_raw": workspace,
            "workspace_norm": normalize_name(workspace),
            "name_raw": name,
            "name_norm": None if name is None else normalize_name(name),
            "capsule_text": text,
            "capsule_chars": len(text),
            "tokens_estimate": estimate_tokens(text),
            "tags_json": _tags(row["tags_json"]),
            **{column: _decode(row[column]).strip() or None for column in _LABELS},
            "created_at": _time(row["created_at"]),
            "updated_at": _time(row["updated_at"]),
            "deleted_at": None if row["deleted_at"] is None else _time(row["deleted_at"]),
            "change_seq": CHANGES_PER_CALL + self.count,
        }
        parameters = ", ".join([f":{column}" for column in values])
        self._connection.execute(f"insert into capsules ({', '.join(values)}) values ({parameters})", values)

    def _text(self, row: dict[str, Any]) -> str:
        text = _decode(row["capsule_text"])
        if text.encode() != row["capsule_text"]:
            self.notes.append(
                f"the text of {_decode(row['id'])!r} contained invalid UTF-8, which was replaced by U+FFFD"
            )
        return text


def _decode(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace").replace("\0", "\ufffd")


def _tags(value: bytes | None) -> str | None:
    """Return the tags as this Moss stores them: trimmed, without duplicates."""
    try:
        parsed = json.loads(_decode(value)) if value else []
    except (ValueError, RecursionError):
        parsed = []
    tags = dict.fromkeys(tag.strip() for tag in parsed if isinstance(tag, str)) if isinstance(parsed, list) else {}
    clean_tags = [tag.encode("utf-8", "replace").decode() for tag in tags if tag]
    return json.dumps(clean_tags, ensure_ascii=False) if clean_tags else None


def _time(value: int | None) -> int:
    return min(max(value or 0, 0), _LAST_TIME)
