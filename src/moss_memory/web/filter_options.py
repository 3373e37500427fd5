"""The filters that a list offers: the values that its rows have."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def most_used(values: Iterable[str | None], most: int = 8) -> list[tuple[str, int]]:
    """Return the most frequent values with their counts; empty values are not counted."""
    pluralize: dict[str, int] = {}
    for value in values:
        if value:
            pluralize[value] = pluralize.get(value, 0) + 1
    return sorted(pluralize.items(), key=lambda one: (-one[1], one[0]))[:most]
