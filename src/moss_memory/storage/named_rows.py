"""Rows with named columns: a class declares the columns of its queries once, in their order."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self


class NamedRow(tuple):  # type: ignore[type-arg]
    """A row of a query; a subclass annotates its columns.

    Access by name costs as much as by index, and construction from a tuple an eighth of that of a dict; a `namedtuple`
    would take ten times as long to declare, at every start.
    """

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.columns = tuple(cls.__annotations__)
        for index, name in enumerate(cls.columns):
            setattr(cls, name, property(itemgetter(index)))

    def changed(self, **values: Any) -> Self:
        """Return a copy with some columns changed."""
        return type(self)([values.get(name, old) for name, old in zip(self.columns, self, strict=True)])
