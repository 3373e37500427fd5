"""Artifacts in export files: one JSON file each."""

from __future__ import annotations

from moss_memory.rows.names import NAME_MAX_CHARS, normalize_label, normalize_name, normalize_workspace
from moss_memory.tools.artifact.artifact_rows import versioned
from moss_memory.tools.artifact.artifact_tools import normalize_kind
from moss_memory.transfer.export_schema import (
    InvalidRow,
    Table,
    counter,
    json_column,
    json_file,
    json_object,
    number,
    tags_column,
    text,
    whole,
)

from .named_files import ALIASES, NamedFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.transfer.export_schema import Line, Values

_LABELS = ("run_id", "phase", "role")
TABLE = Table(
    "artifacts",
    text("id"),
    text("workspace_raw"),
    text("workspace_norm", optional=True),
    text("name_raw", optional=True),
    text("name_norm", optional=True),
    text("kind"),
    json_column("data_json", dict),
    text("text", optional=True),
    text("run_id", optional=True),
    text("phase", optional=True),
    text("role", optional=True),
    tags_column(),
    counter("version", default=1),
    whole("ttl_seconds", optional=True),
    whole("expires_at", optional=True),
    whole("created_at", optional=True),
    whole("updated_at", optional=True),
    whole("deleted_at", optional=True),
    whole("data_chars", optional=True),
    whole("text_chars", optional=True),
    number("row_id", "artifacts", optional=True),
    whole("change_seq", optional=True),
    whole("version_at", default=0),
    text("version_tool", default="artifact_store"),
    text("version_origin", optional=True),
    key=("workspace_norm", "id"),
)


class ArtifactFiles(NamedFiles):
    """JSON files."""

    folder, suffix = "artifacts", ".json"
    table, versioned = TABLE, versioned
    local = (
        "updated_at", "deleted_at", "row_id", "change_seq", "version", "version_at", "version_tool", "version_origin",
    )  # fmt: skip
    computed = ("workspace_norm", "name_norm", "data_chars", "text_chars")
    required = ("id", "workspace", "name", "kind", "created_at")

    def encode(self, values: Values, known_as: str | None = None) -> bytes:
        return json_file(self.fields(values, known_as))

    def decode(self, content: str, *, workspace: str, name: str | None, local: Values | None = None) -> Values:
        """Return the artifact of a file; `local` has its columns that belong to the exported store."""
        line = {key: value for key, value in json_object(content).items() if key not in self.local} | (local or {})
        # A given id is checked; without one the importer chooses it, so any valid id will do here.
        return {**artifact_row({"workspace": workspace, "name": name, "id": "new", **line}), "id": line.get("id")}


ARTIFACTS = ArtifactFiles()


def artifact_row(line: Line) -> Values:
    """Return the artifact of a line; normal forms and sizes are computed again."""
    values = TABLE.read({ALIASES.get(key, key): value for key, value in line.items()})
    if not values["id"].strip() or len(values["id"]) > NAME_MAX_CHARS:
        raise InvalidRow(f"id is blank or longer than {NAME_MAX_CHARS} characters")
    normalize_kind(values["kind"])
    text, name = values["text"], values["name_raw"]
    return {
        **values,
        **{key: normalize_label(values[key], what=key) for key in _LABELS},
        "workspace_norm": normalize_workspace(values["workspace_raw"], what="workspace_raw"),
        "name_norm": None if name is None else normalize_name(name, what="name_raw"),
        "data_chars": len(values["data_json"]),
        "text_chars": None if text is None else len(text),
    }
