"""One thing that is taken out of the store for good: what goes with it, and how."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .storage.engine import Transaction

ERASED = "[erased]"
"""What stands in the place of a text that was erased and whose place stays."""


class Erasure:
    """What would be removed, counted before anything is; `carry_out` removes it."""

    __slots__ = ("carry_out", "removed")

    def __init__(
        self, carry_out: Callable[[Transaction], None], *, rows: int = 0, versions: int = 0, vectors: int = 0
    ) -> None:
        self.carry_out = carry_out
        self.removed = {"rows": rows, "versions": versions, "vectors": vectors}

    def and_also(self, others: list[Erasure]) -> Erasure:
        """This one and all of the others as one."""

        def carry_out(tx: Transaction) -> None:
            for one in (self, *others):
                one.carry_out(tx)

        sums = {name: sum(one.removed[name] for one in (self, *others)) for name in self.removed}
        return Erasure(carry_out, **sums)
