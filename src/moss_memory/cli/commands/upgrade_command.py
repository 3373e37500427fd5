"""`moss upgrade`: brings the schema of the store up to date."""

from __future__ import annotations

from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def upgrade_store(home: str | None) -> dict[str, Any]:
    """Upgrade the store; it is complete or unchanged."""
    with Store(load_settings(home), actor="cli") as store:
        return store.upgrade()
