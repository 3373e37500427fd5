"""The calls that answers propose in `next` and `recovery`, adapted to the tools of the caller."""

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
    """Return the answer with `change` applied to every call that it proposes."""
    for path in _paths_in(shape):
        answer = _replace(answer, path, change)
    return answer


@functools.cache
def _paths_in(shape: Shape) -> tuple[tuple[str, ...], ...]:
    """Return the paths of the proposed calls in answers of a shape."""
    found: list[tuple[str, ...]] = []
    for name, field in shape.fields.items():
        if field.kind == "object":
            found += [(name,)] if field.of is NEXT_CALL else [(name, *rest) for rest in _paths_in(field.of)]
    return tuple(found)


def _replace(value: Any, path: tuple[str, ...], change: Callable[[Proposal], Proposal | None]) -> Any:
    if value is None or path[0] not in value or value[path[0]] is None:
        return value
    part = value[path[0]]
    return {**value, path[0]: _replace(part, path[1:], change) if path[1:] else change(part)}
