"""Capsules in export files: each is a Markdown file with its columns as front matter."""

from __future__ import annotations

from moss_memory.tools.capsule.capsule_code_state import saved_code_state
from moss_memory.tools.capsule.capsule_rows import versioned
from moss_memory.tools.capsule.import_lines import row_from_record
from moss_memory.transfer import front_matter
from moss_memory.transfer.export_schema import Table, number, tags_column, text, whole

from .named_files import ALIASES, NamedFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.transfer.export_schema import Line, Values

TEXT = "capsule_text"
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

_ORIGINS = ("version_origin", "confirmed_origin")
_EXPORTED_ONLY = ("row_id", "change_seq", "version_at", "version_tool", *_ORIGINS)
"""Columns that are only in files written by Moss."""
CODE = "code"
"""The code state at which a capsule was saved or confirmed."""
_SAVED_IN = "saved_in"
_KEYS = {_SAVED_IN, *[column.key for column in TABLE.columns.values()]}


class CapsuleFiles(NamedFiles):
    """Markdown files with front matter."""

    folder, suffix = "capsules", ".md"
    table, versioned = TABLE, versioned
    local = ("updated_at", "deleted_at", "row_id", "change_seq", "version", "version_at", "version_tool", *_ORIGINS)
    computed = ("workspace_norm", "name_norm", "capsule_chars", "tokens_estimate", TEXT)
    required = ("id", "workspace", "name", "title", "created_at")

    def add_code_state(self, tx: ReadTransaction, values: Values) -> Values:
        return {**values, CODE: saved_code_state(tx, values)}

    def encode(self, values: Values, known_as: str | None = None) -> bytes:
        fields, code = self.fields(values, known_as), values[CODE]
        if code is not None:
            fields[_SAVED_IN] = code.in_file()
        return front_matter.encode_markdown(fields, values[TEXT])

    def decode(self, content: str, *, workspace: str, name: str | None) -> Values:
        line, text = front_matter.parse_markdown(content)
        line = {key: value for key, value in line.items() if key not in self.local}
        return capsule_row(line, text, workspace=workspace, name=name)[0]


CAPSULES = CapsuleFiles()


def capsule_row(line: Line, text: str, *, workspace: str, name: str | None) -> tuple[Values, list[str]]:
    """Return the capsule of a Markdown file and its unknown fields; workspace and name are from its path.

    Normal forms and sizes are computed again. Without an id it is a new capsule, without a title its name is the title.
    """
    record: dict[str, Any] = {ALIASES.get(key, key): value for key, value in line.items()}
    unknown = [key for key in record if key not in _KEYS]
    if not line.keys() & {"name", "name_raw"}:
        record["name_raw"] = name
    if record.get("workspace_raw") is None:
        record["workspace_raw"] = workspace
    if "title" not in record:
        record["title"] = record["name_raw"]
    # A given id is checked; without one the importer chooses it, so any valid id will do here.
    row = row_from_record({"id": "new", **record, TEXT: text})
    numbers = {key: TABLE.columns[key].read_value(record) for key in _EXPORTED_ONLY}
    return {**row, **numbers, "id": record.get("id")}, unknown
