"""Moss: a local-first, MCP-first memory for AI coding agents and the people and programs that work with them."""

from __future__ import annotations

from .errors import MossError
from .store import Store, open_store
from .version import __version__

__all__ = ["MossError", "Store", "__version__", "open_store"]
