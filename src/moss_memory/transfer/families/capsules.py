"""How capsules go to files and come back: each is a Markdown file, its columns stand above its text."""

from __future__ import annotations

from moss_memory.tools.capsule.capsule_rows import versioned as versioned
from moss_memory.tools.capsule.import_lines import row_of
from moss_memory.transfer.export_schema import Table, number, tags_column, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.transfer.export_schema import Line, Values

TEXT = "capsule_text"
_ALSO = {"workspace": "workspace_raw", "name": "name_raw"}
"""What people write for some of the columns."""
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
    text(TEXT),
    key=("workspace_norm", "id"),
)

_AS_IT_WAS = ("row_id", "change_seq", "version_at", "version_tool")
"""What only a file that Moss wrote says of a capsule."""
_KEYS = {column.key for column in TABLE.columns.values()}


def row_from(line: Line, text: str, *, workspace: str, name: str) -> tuple[Values, list[str]]:
    """The capsule of a Markdown file, and which of its fields mean nothing; workspace and name are its path's.

    Normal forms and measures are computed anew. Without an id it is a new capsule, without a title its name is that.
    """
    record: dict[str, Any] = {_ALSO.get(key, key): value for key, value in line.items()}
    unknown = [key for key in line if _ALSO.get(key, key) not in _KEYS]
    if not line.keys() & {"name", "name_raw"}:
        record["name_raw"] = name
    if record.get("workspace_raw") is None:
        record["workspace_raw"] = workspace
    if "title" not in record:
        record["title"] = record["name_raw"]
    row = row_of({"id": "new", **record, TEXT: text})
    numbers = {key: TABLE.columns[key].take(record) for key in _AS_IT_WAS}
    return {**row, **numbers, "id": record.get("id")}, unknown
