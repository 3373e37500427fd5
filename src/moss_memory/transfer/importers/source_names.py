"""The names of the sources that Moss itself can import; the command line reads them without the importers."""

from __future__ import annotations

SOURCES = (
    "server-memory", "basic-memory", "memory-keeper", "beads", "task-master", "markdown", "claude-code", "codex"
)  # fmt: skip
