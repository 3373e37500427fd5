"""One thing that is taken out of the store for good: what goes with it, and how."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from moss_memory.storage.engine import Transaction

    Place = tuple[str, int]
    """A table and the number of a row in it."""

ERASED = "[erased]"
"""What stands in the place of a text that was erased and whose place stays."""


class Erasure:
    """What would be removed, counted before anything is; `carry_out` removes it."""

    __slots__ = ("carry_out", "owners", "places", "removed", "texts")

    def __init__(
        self,
        carry_out: Callable[[Transaction], None],
        *,
        rows: int = 0,
        versions: int = 0,
        vectors: int = 0,
        texts: Iterable[str | None] = (),
        places: Iterable[Place] = (),
        owners: Iterable[str] = (),
    ) -> None:
        self.carry_out = carry_out
        self.removed = {"rows": rows, "versions": versions, "vectors": vectors}
        self.texts = list(dict.fromkeys(text for text in texts if text and text != ERASED))
        """The texts that go: whatever else holds one of them quotes it."""
        self.places = set(places)
        """The rows that hold them now."""
        self.owners = set(owners)
        """The plans and tasks whose hand-overs may quote them."""

    def and_also(self, others: list[Erasure]) -> Erasure:
        """Return this one and all of the others as one."""

        def carry_out(tx: Transaction) -> None:
            for one in (self, *others):
                one.carry_out(tx)

        sums = {name: sum(one.removed[name] for one in (self, *others)) for name in self.removed}
        return Erasure(
            carry_out,
            **sums,
            texts=[text for one in (self, *others) for text in one.texts],
            places=[place for one in (self, *others) for place in one.places],
            owners=[owner for one in (self, *others) for owner in one.owners],
        )
