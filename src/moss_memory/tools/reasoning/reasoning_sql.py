"""Named SQL statements of reasoning."""

from __future__ import annotations

from moss_memory.storage.queries import load_queries

sql = load_queries(__file__)
