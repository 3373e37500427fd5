"""The memory interfaces of agent frameworks, and adapters of other packages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_adapter(name: str) -> Any:
    """Return the adapter that an installed package declares in the group `moss_memory.adapters`.

    Raise `INVALID_REQUEST` with the known names if no package declares it.
    """
    from moss_memory.errors import invalid_request
    from moss_memory.registry.plugins import ADAPTERS, load_plugin, plugin_names

    adapter = load_plugin(ADAPTERS, name)
    if adapter is None:
        names = ", ".join(plugin_names(ADAPTERS)) or "none"
        raise invalid_request(f"no installed package has an adapter {name[:100]!r}; known: {names}", path="name")
    return adapter
