"""The version of the schema, the same on every engine."""

from __future__ import annotations

SCHEMA_VERSION = 21
"""The newest version of the schema; a test compares it with the highest number of a migration."""
