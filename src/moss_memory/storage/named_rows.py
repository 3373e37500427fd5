"""Rows with names: a class declares the columns of its queries once, in their order, and reads each by its name."""

from __future__ import annotations

from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self


class NamedRow(tuple):  # type: ignore[type-arg]
    """A row as a query gives it. A subclass annotates its columns.

    Read by name it costs what an index costs, and making it of a tuple an eighth of what a dict does; a
    `namedtuple` would take ten times as long to declare, at every start.
    """

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.columns = tuple(cls.__annotations__)
        for place, name in enumerate(cls.columns):
            setattr(cls, name, property(itemgetter(place)))

    def changed(self, **values: Any) -> Self:
        """The same row with other values in some of its columns."""
        return type(self)([values.get(name, old) for name, old in zip(self.columns, self, strict=True)])
