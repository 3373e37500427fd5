"""Compare answers with the declarations of their tools: no undeclared field, no missing one, every type correct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moss_memory.registry import catalog
from moss_memory.registry.budget import may_be_left_out
from moss_memory.registry.responses import OMITTED, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from moss_memory.registry.responses import Field, ResponseSchema

V1_NAMES = {"fetch_key": "task_link"}
_TYPES: dict[str, Any] = {
    "text": str, "time": str, "path": str, "highlighted": str, "choice": str, "integer": int, "moment": int,
    "moment_ms": int, "number": (int, float), "flag": bool, "list": list, "object": dict, "map": dict, "free": dict,
    "any": object,
}  # fmt: skip


def check_answer(tool: str, answer: dict[str, Any]) -> None:
    """Assert that an answer has the declared form."""
    operation = catalog.find(tool)
    assert operation is not None, tool
    names = V1_NAMES if operation.alias_of else {}
    found = list(deviations(answer, operation.answers, names, shortened=bool(answer.get("truncated"))))
    assert not found, f"{tool} answers what it does not declare: {'; '.join(found[:5])}"


def deviations(
    answer: dict[str, Any], shape: ResponseSchema, names: dict[str, str], at: str = "", *, shortened: bool = False
) -> Iterator[str]:
    """Return the differences between an object and its shape; `names` maps renamed fields.

    Inside a `shortened` answer texts and times may be missing.
    """
    declared = {names.get(key, key): field for key, field in shape.fields.items()}
    for key, value in answer.items():
        if key not in declared and not shape.is_open:
            yield f"{at}{key} is not declared"
        elif key in declared:
            yield from _wrong(value, declared[key], names, f"{at}{key}", shortened)
    for key, field in declared.items():
        if key not in answer and not field.optional and not (at and shortened and may_be_left_out(key, field.kind)):
            yield f"{at}{key} is missing"


def _wrong(value: Any, field: Field, names: dict[str, str], at: str, shortened: bool = False) -> Iterator[str]:
    if value is None:
        if not field.nullable and field.kind != "any":
            yield f"{at} is null"
    elif field.kind == "either":
        if all(list(_wrong(value, one, names, at, shortened)) for one in field.of):
            yield f"{at} is none of its types: {value!r:.80}"
    elif not isinstance(value, _TYPES[field.kind]) or (isinstance(value, bool) and field.kind not in ("flag", "any")):
        yield f"{at} is no {field.kind}: {value!r:.80}"
    elif field.kind == "choice" and value not in field.values:
        yield f"{at} is none of {', '.join(field.values)}: {value!r:.80}"
    else:
        yield from _wrong_inside(value, field, names, at, shortened)


def _wrong_inside(value: Any, field: Field, names: dict[str, str], at: str, shortened: bool) -> Iterator[str]:
    if field.kind == "list":
        for index, item in enumerate(value):
            yield from _wrong(item, field.of, names, f"{at}[{index}]", shortened)
    elif field.kind == "map":
        for key, item in value.items():
            yield from _wrong(item, field.of, names, f"{at}.{key}", shortened)
    elif field.kind == "object":
        yield from deviations(value, field.of, names, f"{at}.", shortened=shortened)


def told(answer: dict[str, Any], shape: ResponseSchema, name: str) -> Iterator[str]:
    """Return the declared parts in an answer: `Name.field`, and whether it is null, absent or a word.

    What belongs to no named shape is told of the tool, `name`; what several tools share is told once for all.
    """
    for key, field in shape.fields.items():
        owner = _owner(shape, name, key)
        if key in answer:
            yield from _told(answer[key], field, f"{owner}.{key}")
        elif field.optional:
            yield f"{owner}.{key} left out"


def _owner(shape: ResponseSchema, name: str, key: str) -> str:
    """Return the name under which a field is reported; fields shared by many tools have one common name."""
    shared = {**WRITTEN, "omitted": OMITTED}
    return "Shared" if shape.fields[key] is shared.get(key) else shape.name or name


def _told(value: Any, field: Field, at: str) -> Iterator[str]:
    yield f"{at} null" if value is None else at
    if value is None:
        return
    if field.kind == "object":
        yield from told(value, field.of, at)
    elif field.kind in ("list", "map"):
        for item in value if field.kind == "list" else value.values():
            yield from _told(item, field.of, f"{at}[]")
    elif field.kind == "either":
        for number, one in enumerate(field.of):
            if not list(_wrong(value, one, {}, "")):
                yield from _told(value, one, f"{at} {number}")
    elif field.kind == "choice":
        yield f"{field.meaning!r} = {value}"


def tellable(shape: ResponseSchema, name: str, known: set[str] | None = None) -> Iterator[str]:
    """Return every part of a declaration that `told` can return."""
    known = set() if known is None else known
    owner = shape.name or name
    if owner in known:
        return
    known.add(owner)
    for key, field in shape.fields.items():
        at = f"{_owner(shape, name, key)}.{key}"
        if field.optional:
            yield f"{at} left out"
        yield from _tellable(field, at, known)


def _tellable(field: Field, at: str, known: set[str]) -> Iterator[str]:
    yield at
    if field.nullable:
        yield f"{at} null"
    if field.kind == "object":
        yield from tellable(field.of, at, known)
    elif field.kind in ("list", "map"):
        yield from _tellable(field.of, f"{at}[]", known)
    elif field.kind == "either":
        for number, one in enumerate(field.of):
            yield from _tellable(one, f"{at} {number}", known)
    elif field.kind == "choice":
        yield from (f"{field.meaning!r} = {value}" for value in field.values)
