"""Capsules in export files: each is a Markdown file with its columns as front matter."""

from __future__ import annotations

from moss_memory.tools.capsule.capsule_rows import versioned as versioned
from moss_memory.tools.capsule.import_lines import row_of
from moss_memory.tools.capsule.saved_in import code_of
from moss_memory.transfer import front_matter
from moss_memory.transfer.export_schema import Table, number, tags_column, text, thing_fields, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.transfer.export_schema import Line, Values

TEXT = "capsule_text"
_ALIASES = {"workspace": "workspace_raw", "name": "name_raw"}
"""Other spellings of some columns."""
TABLE = Table(
    "capsules",
    text("id"),
    text("workspace_raw"),
    text("workspace_norm"),
    text("name_raw", optional=True),
    text("name_norm", optional=True),
    text("title", optional=True),
    tags_column(),
    text("source", optional=True),
    text("run_id", optional=True),
    text("phase", optional=True),
    text("role", optional=True),
    whole("created_at"),
    whole("updated_at"),
    whole("deleted_at", optional=True),
    whole("capsule_chars"),
    whole("tokens_estimate"),
    number("row_id", "capsules", optional=True),
    whole("change_seq", optional=True),
    whole("version", default=1),
    whole("version_at", default=0),
    text("version_tool", default="capsule_store"),
    text("version_origin", optional=True),
    text("confirmed_origin", optional=True),
    text(TEXT),
    key=("workspace_norm", "id"),
)

FOLDER, SUFFIX = "capsules", ".md"
_ORIGINS = ("version_origin", "confirmed_origin")
LOCAL = ("updated_at", "deleted_at", "row_id", "change_seq", "version", "version_at", "version_tool", *_ORIGINS)
"""Columns that belong to a store; a file of a capsule does not contain them."""
_DERIVED = ("workspace_norm", "name_norm", "capsule_chars", "tokens_estimate")
_ALWAYS = ("id", "workspace", "name", "title", "created_at")
_EXPORTED_ONLY = ("row_id", "change_seq", "version_at", "version_tool", *_ORIGINS)
"""Columns that are only in files written by Moss."""
CODE = "code"
"""The code state at which a capsule was saved or confirmed."""
_SAVED_IN = "saved_in"
_KEYS = {_SAVED_IN, *[column.key for column in TABLE.columns.values()]}


def completed(tx: ReadTransaction, values: Values) -> Values:
    """Return a row with everything that its file has."""
    return {**values, CODE: code_of(tx, values)}


def encode(values: Values, known_as: str | None = None) -> bytes:
    """Return the file of a completed row; `known_as` is its id in a folder, if that differs from the one here."""
    fields = thing_fields(TABLE, values, (*LOCAL, *_DERIVED, TEXT), _ALWAYS, known_as)
    code = values[CODE]
    return front_matter.encode(fields if code is None else {**fields, _SAVED_IN: code.in_file()}, values[TEXT])


def decode(content: str, *, workspace: str, name: str | None) -> Values:
    """Return the capsule of a file; workspace and name are from its path."""
    line, text = front_matter.read(content)
    line = {key: value for key, value in line.items() if key not in LOCAL}
    row, _ = row_from(line, text, workspace=workspace, name=name)
    return row


def row_from(line: Line, text: str, *, workspace: str, name: str | None) -> tuple[Values, list[str]]:
    """Return the capsule of a Markdown file and its unknown fields; workspace and name are from its path.

    Normal forms and sizes are computed again. Without an id it is a new capsule, without a title its name is the title.
    """
    record: dict[str, Any] = {_ALIASES.get(key, key): value for key, value in line.items()}
    unknown = [key for key in record if key not in _KEYS]
    if not line.keys() & {"name", "name_raw"}:
        record["name_raw"] = name
    if record.get("workspace_raw") is None:
        record["workspace_raw"] = workspace
    if "title" not in record:
        record["title"] = record["name_raw"]
    row = row_of({"id": "new", **record, TEXT: text})
    numbers = {key: TABLE.columns[key].read_value(record) for key in _EXPORTED_ONLY}
    return {**row, **numbers, "id": record.get("id")}, unknown
