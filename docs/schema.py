"""Write the schema that results from all migrations, for comparison with each opened store: `make docs`."""

from __future__ import annotations

from pathlib import Path

from moss_memory.storage.sqlite.connections import open_empty
from moss_memory.storage.sqlite.schema_check import KNOWN, schema_text

if __name__ == "__main__":
    Path(KNOWN).write_bytes(schema_text(open_empty()).encode())
