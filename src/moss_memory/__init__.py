"""Moss: a local-first, MCP-first memory for AI coding agents and the people and programs around them."""

from __future__ import annotations

from .errors import MossError
from .version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .store import Store, open_store

__all__ = ["MossError", "Store", "__version__", "open_store"]


def __getattr__(name: str) -> object:
    # A server answers its first message without the store; importing it here would cost a fifth of a start.
    if name in ("Store", "open_store"):
        from . import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
