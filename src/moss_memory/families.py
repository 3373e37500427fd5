"""The families of tools: where each lives, how it is stored and how it is found. A new room adds its line here."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Family:
    """One family: its tools' prefix, the modules of its room, its table and its place in the search index."""

    __slots__ = ("alive", "code", "modules", "name", "prefix", "search_module", "table")

    def __init__(
        self,
        name: str,
        *,
        prefix: str,
        modules: tuple[str, ...],
        table: str = "",
        code: int = -1,
        alive: str = "",
        search_module: str = "",
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.modules = modules
        self.table = table
        self.code = code
        """The low four bits of its documents' numbers in the search index; -1 when it is not searched."""
        self.alive = alive
        """What a row must meet, beside not being deleted, to be found; `:moss_now` is the time."""
        self.search_module = search_module
        """The module whose `documents` shows its hits."""


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "capsule",
            prefix="capsule",
            modules=(
                "moss_memory.capsule.operations",
                "moss_memory.capsule.browsing",
                "moss_memory.capsule.composing",
                "moss_memory.capsule.transfer",
                "moss_memory.capsule.bulk",
            ),
            table="capsules",
            code=0,
            search_module="moss_memory.capsule.search",
        ),
        Family(
            "artifact",
            prefix="artifact",
            modules=("moss_memory.artifact.operations", "moss_memory.artifact.bulk", "moss_memory.artifact.schemas"),
            table="artifacts",
            code=1,
            alive="(expires_at is null or expires_at > :moss_now)",
            search_module="moss_memory.artifact.search",
        ),
        Family("", prefix="moss", modules=("moss_memory.search.operations",)),
    )
}
"""By the name that `toolsets` and `disabled_types` use; the one without a name is always on."""

SEARCHED = tuple(family for family in FAMILIES.values() if family.code >= 0)
"""The families whose rows are in the search index."""


def module(name: str) -> Any:
    """A module by its full name, imported when it is first needed."""
    __import__(name)  # also when it is there: another thread may still be importing it, and this waits for it
    return sys.modules[name]
