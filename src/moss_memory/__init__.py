"""Moss: a local-first, MCP-first memory for AI coding agents and the people and programs around them."""

from __future__ import annotations

from .errors import MossError
from .version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .async_store import AsyncStore, open_async_store
    from .store import Store, open_store

__all__ = ["AsyncStore", "MossError", "Store", "__version__", "open_async_store", "open_store"]

_MODULES = {"AsyncStore": "async_store", "Store": "store", "open_async_store": "async_store", "open_store": "store"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # A server answers its first message without the store; importing it here would cost a fifth of a start.
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from moss_memory.registry.tool_groups import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
