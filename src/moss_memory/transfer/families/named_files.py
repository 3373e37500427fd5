"""The files of capsules and of artifacts: one for each row, at a path made from its workspace and name."""

from __future__ import annotations

from moss_memory.transfer.export_layout import DELETED
from moss_memory.transfer.file_names import encode_id, encode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.rows.versions import Versioned
    from moss_memory.storage.engine import ReadTransaction
    from moss_memory.transfer.export_schema import Line, Table, Values

ALIASES = {"workspace": "workspace_raw", "name": "name_raw"}
"""The columns of keys in files."""


class NamedFiles:
    """The files of one family."""

    folder: str
    suffix: str
    table: Table
    versioned: Versioned
    local: tuple[str, ...]
    """Columns that belong to a store: its export has them in another file."""
    computed: tuple[str, ...]
    """Columns that are computed again from the file."""
    required: tuple[str, ...]
    """Keys that a file has even if they are null."""

    def path(self, values: Values) -> str:
        name = encode_id(values["id"]) if values["name_norm"] is None else encode_name(values["name_norm"])
        return f"{self.folder}/{encode_name(values['workspace_norm'])}/{name}{self.suffix}"

    def deleted_path(self, values: Values) -> str:
        """Return the path of a deleted row: several of them may have had the same name."""
        return f"{DELETED}/{self.folder}/{encode_name(values['workspace_norm'])}/{encode_id(values['id'])}{self.suffix}"

    def add_code_state(self, tx: ReadTransaction, values: Values) -> Values:
        """Return a row with the code state that its file contains, if files of the family contain any."""
        return values

    def encode(self, values: Values, known_as: str | None = None) -> bytes:
        """Return the file of a row; `known_as` is its id in a folder, if that differs from the one here."""
        raise NotImplementedError

    def decode(self, content: str, *, workspace: str, name: str | None) -> Values:
        """Return the row of a file; workspace and name are from its path."""
        raise NotImplementedError

    def fields(self, values: Values, known_as: str | None) -> Line:
        """Return the fields of a row's file; keys without a value are left out unless they are required."""
        line = self.table.line(values, *self.local, *self.computed)
        fields = {key.removesuffix("_raw"): value for key, value in line.items()}
        if known_as is not None:
            fields["id"] = known_as
        return {key: value for key, value in fields.items() if key in self.required or value not in (None, [])}
