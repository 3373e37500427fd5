"""One thing that is taken out of the store for good: what goes with it, and how."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from moss_memory.storage.engine import Transaction

    RowVersion = tuple[str, int]
    """A table and the number of a row in it."""

ERASED = "[erased]"
"""What stands in the place of a text that was erased and whose place stays."""


class HardDelete:
    """What would be removed, counted before anything is; `execute` removes it."""

    __slots__ = ("execute", "owners", "places", "removed", "texts")

    def __init__(
        self,
        execute: Callable[[Transaction], None],
        *,
        rows: int = 0,
        versions: int = 0,
        vectors: int = 0,
        texts: Iterable[str | None] = (),
        places: Iterable[RowVersion] = (),
        owners: Iterable[str] = (),
    ) -> None:
        self.execute = execute
        self.removed = {"rows": rows, "versions": versions, "vectors": vectors}
        self.texts = list(dict.fromkeys(text for text in texts if text and text != ERASED))
        """The texts that go: whatever else holds one of them quotes it."""
        self.places = set(places)
        """The rows that hold them now."""
        self.owners = set(owners)
        """The plans and tasks whose hand-overs may quote them."""

    def combined_with(self, others: list[HardDelete]) -> HardDelete:
        """Return this one and all of the others as one."""

        def execute(tx: Transaction) -> None:
            for one in (self, *others):
                one.execute(tx)

        sums = {name: sum(one.removed[name] for one in (self, *others)) for name in self.removed}
        return HardDelete(
            execute,
            **sums,
            texts=[text for one in (self, *others) for text in one.texts],
            places=[place for one in (self, *others) for place in one.places],
            owners=[owner for one in (self, *others) for owner in one.owners],
        )
