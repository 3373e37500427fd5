"""A kind of argument is declared once: a type for the type checker, a JSON Schema for the decoder."""

from __future__ import annotations

from types import GenericAlias
from typing import Any as AnyType

import pytest

from moss_memory.registry.argument_types import Annotated, Any, Literal, schema_of

annotated: AnyType = Annotated
literal: AnyType = Literal
A_OR_B: AnyType = literal["a", "b"]


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (dict[str, AnyType], {"type": "object"}),
        (list, {"type": "array"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[dict[str, AnyType]], {"type": "array", "items": {"type": "object"}}),
        (int | str, {"type": ["integer", "string"]}),
        (str | list[str], {"type": ["string", "array"], "items": {"type": "string"}}),
        (A_OR_B, {"type": "string", "enum": ["a", "b"]}),
        (literal["a"], {"type": "string", "enum": ["a"]}),
        (GenericAlias(list, (A_OR_B,)), {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        (Any, {}),
        ({"type": "null"}, {"type": "null"}),
    ],
)
def test_a_type_is_a_schema(kind: AnyType, schema: dict[str, AnyType]) -> None:
    assert schema_of(kind) == schema


def test_a_text_describes_and_a_dict_adds_keywords_in_their_order() -> None:
    schema = annotated[int, {"minimum": 1}, "as it was in this version", {"unlisted": True}]
    assert list(schema.items()) == [
        ("type", "integer"), ("minimum", 1), ("description", "as it was in this version"), ("unlisted", True),
    ]  # fmt: skip


def test_a_schema_made_from_another_leaves_that_unchanged() -> None:
    texts = annotated[str | list[str], {}]
    assert annotated[texts, "one or more"]["description"] == "one or more"
    assert "description" not in texts
