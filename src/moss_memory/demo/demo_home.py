"""The temporary home of a demonstration."""

from __future__ import annotations

from moss_memory.storage.files.demonstration import PREFIX as PREFIX
from moss_memory.storage.files.demonstration import refuse_demonstration as refuse_demonstration

BANNER = "Demonstration, thrown away when the server stops"
