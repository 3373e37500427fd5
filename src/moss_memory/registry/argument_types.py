"""`Annotated` and `Literal` at run time: they return the JSON Schema of an argument, and import nothing.

`Limit = Annotated[int, "most rows"]` is `int` to a type checker, which sees the names of `typing`, and
`{"type": "integer", "description": "most rows"}` to the decoder. A text is the description, a dict contains further
keywords of the schema; it is empty if the type says everything.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typing

    Schema = dict[str, typing.Any]

_NAMES = {str: "string", int: "integer", bool: "boolean", float: "number", dict: "object", list: "array"}


class _Any:
    """A value of any type."""


class _Literal:
    """A choice of texts."""

    __slots__ = ("choices",)

    def __init__(self, choices: tuple[str, ...]) -> None:
        self.choices = list(choices)

    def __class_getitem__(cls, choices: str | tuple[str, ...]) -> _Literal:
        return cls(choices if isinstance(choices, tuple) else (choices,))


class _Annotated:
    """The schema of a type with its description."""

    def __class_getitem__(cls, parts: tuple[typing.Any, ...]) -> Schema:
        kind, *additions = parts
        schema = schema_of(kind)
        for part in additions:
            schema |= {"description": part} if isinstance(part, str) else part
        return schema


def schema_of(kind: typing.Any) -> Schema:
    """Return the JSON Schema of a type; a dict is a schema already."""
    if isinstance(kind, dict):
        return dict(kind)
    if isinstance(kind, _Literal):
        return {"type": "string", "enum": kind.choices}
    if kind is _Any:
        return {}
    name = _NAMES.get(getattr(kind, "__origin__", kind))
    if name is None:  # a union
        schemas = [schema_of(member) for member in kind.__args__]
        merged = {"type": [schema["type"] for schema in schemas]}
        for schema in schemas:
            merged |= {key: value for key, value in schema.items() if key != "type"}
        return merged
    inner = getattr(kind, "__args__", ())
    return {"type": name, "items": schema_of(inner[0])} if name == "array" and inner else {"type": name}


if TYPE_CHECKING:
    from typing import Annotated, Any, Literal
else:
    Annotated, Any, Literal = _Annotated, _Any, _Literal

__all__ = ["Annotated", "Any", "Literal", "schema_of"]
