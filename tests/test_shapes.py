"""Shapes of answers: schemas, checks and columns derived from any declaration."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from moss_memory.cli.render.table import table_of
from moss_memory.mcp.output_schema import output_schema
from moss_memory.registry.responses import (
    Field,
    ResponseSchema,
    TableColumn,
    anything,
    choice,
    flag,
    free,
    integer,
    list_of,
    map_of,
    moment,
    needs_id_column,
    number,
    object_of,
    one_of,
    text,
    texts,
)
from support.declared import deviations

POINT = ResponseSchema("Point", {"x": integer("across"), "y": integer("down")})
TREE = ResponseSchema("Tree", {"name": text("what it is called")})
TREE.fields["below"] = list_of(TREE, "what grows on it", optional=True)

KINDS: list[tuple[Field, list[Any], list[Any]]] = [
    (text("a"), ["", "x"], [1, None, []]),
    (text("a", nullable=True), ["x", None], [1]),
    (integer("a"), [0, -1], [0.5, "1", True]),
    (number("a"), [0, 0.5], ["1", True]),
    (flag("a"), [True, False], [0, None]),
    (moment("a", nullable=True), [1, None], ["now"]),
    (choice(("a", "b"), "a"), ["a"], ["c", None]),
    (choice(("a", "b"), "a", nullable=True), ["a", None], ["c"]),
    (texts("a"), [[], ["x"]], ["x", [1]]),
    (list_of(POINT, "a"), [[], [{"x": 1, "y": 2}]], [[{"x": 1}], [{"x": 1, "y": 2, "z": 3}]]),
    (object_of(POINT, "a", nullable=True), [None, {"x": 1, "y": 2}], [{}, {"x": None, "y": 1}]),
    (map_of(integer("b"), "a"), [{}, {"any": 1}], [{"any": "1"}, []]),
    (map_of(object_of(POINT, "b"), "a"), [{"p": {"x": 1, "y": 2}}], [{"p": {}}]),
    (free("a"), [{}, {"any": {"thing": [1, None]}}], [[], "x"]),
    (anything("a"), [None, 1, "x", [], {}], []),
    (one_of((text("b"), object_of(POINT, "b")), "a"), ["x", {"x": 1, "y": 2}], [1, {}, None]),
    (
        object_of(TREE, "a"),
        [{"name": "oak", "below": [{"name": "twig", "below": []}]}],
        [{"name": "oak", "below": [{}]}],
    ),
]


@pytest.mark.parametrize(("field", "good", "bad"), KINDS, ids=[field.kind for field, _, _ in KINDS])
def test_the_output_schema_and_the_check_of_the_tests_agree(field: Field, good: list[Any], bad: list[Any]) -> None:
    shape = ResponseSchema("", {"value": field})
    schema = output_schema(shape)
    jsonschema.Draft202012Validator.check_schema(schema)
    for value, expected in [*((value, True) for value in good), *((value, False) for value in bad)]:
        answer = {"value": value}
        assert jsonschema.Draft202012Validator(schema).is_valid(answer) is expected, value
        assert (not list(deviations(answer, shape, {}))) is expected, value


def test_only_optional_fields_may_be_missing() -> None:
    shape = ResponseSchema(
        "", {"a": text("always"), "b": text("sometimes", optional=True), "c": text("now rarely").or_absent()}
    )
    schema = output_schema(shape)
    for answer, expected in (({"a": "x"}, True), ({"a": "x", "b": "y", "c": "z"}, True), ({"b": "y"}, False),
                             ({"a": "x", "d": "new"}, False)):  # fmt: skip
        assert jsonschema.Draft202012Validator(schema).is_valid(answer) is expected, answer
        assert (not list(deviations(answer, shape, {}))) is expected, answer


def test_a_shape_without_a_field_is_without_its_column() -> None:
    shape = ResponseSchema("S", {"a": text("a"), "b": text("b")}, table=(TableColumn("a"), TableColumn("b")))
    less = shape.without("b")
    assert (list(less.fields), [column.key for column in less.table]) == (["a"], ["a"])


def test_a_column_without_information_is_left_out() -> None:
    tags, ids = TableColumn("tags", unless=[]), TableColumn("id", when=needs_id_column)
    assert not tags.is_shown([{"tags": []}, {"name": "no tags at all"}])
    assert tags.is_shown([{"tags": []}, {"tags": ["x"]}])
    assert not ids.is_shown([{"id": "1", "name": "a"}])
    assert ids.is_shown([{"id": "1", "name": "a"}, {"id": "2", "name": None}])
    assert not TableColumn("other").is_shown([{"id": "1"}])


def test_a_shape_without_columns_shows_all_fields_of_its_rows() -> None:
    answer = {"points": [{"x": 1, "y": 22}, {"x": 333, "y": 4}]}
    shown = table_of(answer, ResponseSchema("", {"points": list_of(POINT, "where", shown="answer")}))
    assert shown.splitlines() == ["  x   y", "  1  22", "333   4"]
