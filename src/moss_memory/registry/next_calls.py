"""The calls that answers propose in `next`, `recovery` and `fetch`, adapted to the tools of the caller."""

from __future__ import annotations

import functools

from .responses import FETCH_CALL, NEXT_CALL, ResponseSchema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Proposal = dict[str, Any]

_CALLS = (NEXT_CALL, FETCH_CALL)


def filter_next_calls(
    answer: dict[str, Any], schema: ResponseSchema, change: Callable[[Proposal], Proposal | None]
) -> dict[str, Any]:
    """Return the answer with `change` applied to every call that it proposes."""
    for path in _paths_in(schema):
        answer = _replace(answer, path, change)
    return answer


@functools.cache
def _paths_in(schema: ResponseSchema) -> tuple[tuple[str, ...], ...]:
    """Return the paths of the proposed calls in answers of a schema, also inside lists."""
    paths: list[tuple[str, ...]] = []
    for name, field in schema.fields.items():
        part = field.of if field.kind == "list" else field
        if part.kind == "object":
            paths += [(name,)] if part.of in _CALLS else [(name, *inner_path) for inner_path in _paths_in(part.of)]
    return tuple(paths)


def _replace(value: Any, path: tuple[str, ...], change: Callable[[Proposal], Proposal | None]) -> Any:
    if isinstance(value, list):
        return [_replace(item, path, change) for item in value]
    if value is None or path[0] not in value or value[path[0]] is None:
        return value
    part = value[path[0]]
    changed = _replace(part, path[1:], change) if path[1:] else change(part)
    if changed is None and path == ("fetch",):  # a hit whose tool is disabled is still a hit
        return {name: field for name, field in value.items() if name != "fetch"}
    return {**value, path[0]: changed}
