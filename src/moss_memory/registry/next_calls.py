"""The calls that answers propose, `next` and `recovery`: each caller gets those that it can make."""

from __future__ import annotations

import functools

from .responses import NEXT_CALL, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Proposal = dict[str, Any]


def filter_next_calls(
    answer: dict[str, Any], shape: Shape, change: Callable[[Proposal], Proposal | None]
) -> dict[str, Any]:
    """The answer with every call that it proposes changed; one that cannot be made is null."""
    for path in _places_of(shape):
        answer = _changed(answer, path, change)
    return answer


@functools.cache
def _places_of(shape: Shape) -> tuple[tuple[str, ...], ...]:
    """Where in answers of a shape calls are proposed."""
    found: list[tuple[str, ...]] = []
    for name, field in shape.fields.items():
        if field.kind == "object":
            found += [(name,)] if field.of is NEXT_CALL else [(name, *rest) for rest in _places_of(field.of)]
    return tuple(found)


def _changed(value: Any, path: tuple[str, ...], change: Callable[[Proposal], Proposal | None]) -> Any:
    if value is None or path[0] not in value or value[path[0]] is None:
        return value
    part = value[path[0]]
    return {**value, path[0]: _changed(part, path[1:], change) if path[1:] else change(part)}
