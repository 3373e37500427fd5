"""Stores of the original Moss, made by the DDL of the two capsule documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from support.store_truth import capsule

V1_0 = """
CREATE TABLE IF NOT EXISTS capsules (
  id              TEXT PRIMARY KEY,
  workspace_raw   TEXT NOT NULL,
  workspace_norm  TEXT NOT NULL,
  name_raw        TEXT,
  name_norm       TEXT,
  title           TEXT,
  capsule_text    TEXT NOT NULL,
  capsule_chars   INTEGER NOT NULL,
  tokens_estimate INTEGER NOT NULL,
  tags_json       TEXT,
  source          TEXT,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER
);
CREATE INDEX IF NOT EXISTS idx_capsules_workspace_updated
ON capsules(workspace_norm, updated_at DESC)
WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS idx_capsules_workspace_name_norm
ON capsules(workspace_norm, name_norm)
WHERE name_norm IS NOT NULL AND deleted_at IS NULL;
"""
LATER = (
    V1_0.replace("  created_at ", "  run_id TEXT,\n  phase TEXT,\n  role TEXT,\n  created_at ")
    + """
CREATE INDEX IF NOT EXISTS idx_capsules_run_id_phase_role
ON capsules(run_id, phase, role)
WHERE run_id IS NOT NULL AND deleted_at IS NULL;
"""
)
SEARCHED = (
    LATER
    + """
CREATE VIRTUAL TABLE IF NOT EXISTS capsules_fts USING fts5(
  title, capsule_text, content='capsules', content_rowid='rowid'
);
CREATE TRIGGER IF NOT EXISTS capsules_ai AFTER INSERT ON capsules BEGIN
  INSERT INTO capsules_fts(rowid, title, capsule_text) VALUES (new.rowid, new.title, new.capsule_text);
END;
CREATE TRIGGER IF NOT EXISTS capsules_ad AFTER DELETE ON capsules BEGIN
  INSERT INTO capsules_fts(capsules_fts, rowid, title, capsule_text)
  VALUES ('delete', old.rowid, old.title, old.capsule_text);
END;
CREATE TRIGGER IF NOT EXISTS capsules_au AFTER UPDATE ON capsules BEGIN
  INSERT INTO capsules_fts(capsules_fts, rowid, title, capsule_text)
  VALUES ('delete', old.rowid, old.title, old.capsule_text);
  INSERT INTO capsules_fts(rowid, title, capsule_text) VALUES (new.rowid, new.title, new.capsule_text);
END;
"""
)
KINDS = {
    "v1.0": (V1_0, 0),
    "v1.0 numbered": (V1_0, 1),
    "later": (LATER, 0),
    "first": (LATER, 1),
    "second": (SEARCHED, 2),
}
"""The original schemas, each with its `user_version`."""


def old_norm(raw: str) -> str:
    """Normalize a name as the documents specify, without Unicode normalization."""
    return " ".join(raw.strip().lower().split())


def row(number: int, **more: Any) -> dict[str, Any]:
    """Return one capsule of the original."""
    text = more.get("capsule_text", capsule(f"word{number}"))
    name = more.get("name_raw", f"Name {number}")
    where = more.get("workspace_raw", "Start Up")
    return {
        "id": f"01ARZ3NDEKTSV4RRFFQ69G{number:04d}",
        "workspace_raw": where,
        "workspace_norm": old_norm(where),
        "name_raw": name,
        "name_norm": None if name is None else old_norm(name),
        "title": f"Title {number}",
        "capsule_text": text,
        "capsule_chars": 7,
        "tokens_estimate": 7,
        "tags_json": '["a","b c"]' if number % 2 else None,
        "source": "codex",
        "created_at": 1_737_000_000 + number,
        "updated_at": 1_737_100_000 + number,
        "deleted_at": None,
        **more,
    }


def write_original(home: Path, rows: list[dict[str, Any]], kind: str = "second", *, journal: str = "wal") -> Path:
    """Write a `moss.db` of the original with these rows, closed cleanly."""
    home.mkdir(mode=0o700, exist_ok=True)
    path = home / "moss.db"
    schema, version = KINDS[kind]
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma journal_mode = {journal}").fetchall()
    for _ in connection.execute(schema):
        pass
    present = {name for (name,) in connection.execute("select name from pragma_table_info('capsules')")}
    for one in rows:
        values = {column: value for column, value in one.items() if column in present}
        places = ", ".join(f":{column}" for column in values)
        connection.execute(f"insert into capsules ({', '.join(values)}) values ({places})", values)
    connection.execute(f"pragma user_version = {version}")
    connection.close()
    return path


def read_original(path: Path) -> list[tuple[Any, ...]]:
    """Return every row of an original store, or of a copy of one."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return connection.execute("select * from capsules order by id").fetchall()
    finally:
        connection.close()
