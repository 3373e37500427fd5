"""The version of the schema, which counts on every engine alike."""

from __future__ import annotations

SCHEMA_VERSION = 16
"""The newest change to the schema; a test holds it equal to the highest number among the migrations."""
