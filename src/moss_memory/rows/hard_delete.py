"""Hard deletion of one row with all that belongs to it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from moss_memory.storage.engine import Transaction

    RowVersion = tuple[str, int]
    """A table and the number of a row in it."""

ERASED = "[erased]"
"""Replaces an erased text in a row that stays."""


class HardDelete:
    """A planned deletion with its counts; `execute` runs it."""

    __slots__ = ("execute", "owners", "removed", "row_versions", "texts")

    def __init__(
        self,
        execute: Callable[[Transaction], None],
        *,
        rows: int = 0,
        versions: int = 0,
        vectors: int = 0,
        texts: Iterable[str | None] = (),
        row_versions: Iterable[RowVersion] = (),
        owners: Iterable[str] = (),
    ) -> None:
        self.execute = execute
        self.removed = {"rows": rows, "versions": versions, "vectors": vectors}
        self.texts = list(dict.fromkeys(text for text in texts if text and text != ERASED))
        """The deleted texts: other rows that contain one of them quote it."""
        self.row_versions = set(row_versions)
        """The rows that contain these texts."""
        self.owners = set(owners)
        """The plans and tasks whose hand-overs may quote them."""

    def combined_with(self, others: list[HardDelete]) -> HardDelete:
        """Return one deletion made of this one and the others."""

        def execute(tx: Transaction) -> None:
            for deletion in (self, *others):
                deletion.execute(tx)

        sums = {name: sum(deletion.removed[name] for deletion in (self, *others)) for name in self.removed}
        return HardDelete(
            execute,
            **sums,
            texts=[text for deletion in (self, *others) for text in deletion.texts],
            row_versions=[version for deletion in (self, *others) for version in deletion.row_versions],
            owners=[owner for deletion in (self, *others) for owner in deletion.owners],
        )
