"""A typed function becomes a tool with a name, a schema and a strict decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.registry.decode import MAX_DEPTH
from moss_memory.registry.operation import Operation, operation
from moss_memory.registry.responses import integer, texts
from moss_memory.registry.responses import text as text_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from moss_memory.registry.budget import Budget

    Count = int
    Free = dict[str, Any]
    Point = dict[str, Any]
else:
    Count = {"type": "integer", "description": "how many"}
    Free = {"type": "object"}
    Point = {
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
        "additionalProperties": False,
    }


@operation(
    mutates=True, answers={"text": text_field("what was given"), "count": integer("how many")}, example="moss demo"
)
def demo_tool(
    tx: object,
    *,
    text: str,
    count: Count = 5,
    points: list[Point] | None = None,
    free: Free | None = None,
    on: bool = False,
) -> dict[str, Any]:
    """Does something.

    And says more.
    """
    return {"text": text, "count": count}


@operation(has_budget=True, answers={"rows": texts("what fits")}, example="moss demo")
def bounded_tool(tx: object, *, text: str, budget: Budget) -> dict[str, Any]:
    """Does something small."""
    return budget.fit([text], lambda kept: {"rows": kept, "truncated": False})


def decode(**arguments: Any) -> dict[str, Any]:
    return demo_tool.decode(arguments)


def refused(**arguments: Any) -> MossError:
    with pytest.raises(MossError) as caught:
        decode(**arguments)
    assert caught.value.code == "INVALID_REQUEST"
    return caught.value


def test_a_function_gives_its_tool_name_summary_and_description() -> None:
    tool = as_operation(demo_tool)
    assert tool.name == "demo_tool"
    assert tool.summary == "Does something."
    assert tool.description == "Does something.\n\nAnd says more."
    assert (tool.required, tool.mutates, tool.example) == (("text",), True, "moss demo")


def test_the_schema_is_closed_and_shows_types_defaults_and_descriptions() -> None:
    schema = as_operation(demo_tool).schema()
    assert (schema["type"], schema["additionalProperties"], schema["required"]) == ("object", False, ["text"])
    assert schema["properties"]["text"] == {"type": "string"}
    assert schema["properties"]["count"] == {"type": "integer", "description": "how many", "default": 5}
    assert schema["properties"]["points"]["items"] == Point
    assert "default" not in schema["properties"]["free"]


def as_operation(tool: Callable[..., Any] | Operation) -> Operation:
    assert isinstance(tool, Operation)
    return tool


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"text": 5}, "text"),
        ({"text": "a", "count": "5"}, "count"),
        ({"text": "a", "count": True}, "count"),
        ({"text": "a", "count": 1.5}, "count"),
        ({"text": "a", "count": float("nan")}, "count"),
        ({"text": "a", "count": float("inf")}, "count"),
        ({"text": "a", "count": 2**63}, "count"),
        ({"text": "a", "count": -(2**63) - 1}, "count"),
        ({"text": "a", "on": 1}, "on"),
        ({"text": "a", "points": {}}, "points"),
        ({"text": "a", "points": [{"x": 1}, 7]}, "points[1]"),
        ({"text": "a", "points": [{"x": 1}, {"x": "1"}]}, "points[1].x"),
        ({"text": "a", "points": [{}]}, "points[0].x"),
        ({"text": "a", "free": []}, "free"),
        ({"text": "a", "free": {"a": [1, float("nan")]}}, "free.a[1]"),
        ({"text": "a", "free": {"a": 2**64}}, "free.a"),
        ({"text": "a", "free": {"a": "\0"}}, "free.a"),
        ({"text": "a", "free": {"a": b"x"}}, "free.a"),
        ({"text": "a\0"}, "text"),
        ({"text": "\ud800"}, "text"),
        ({}, "text"),
        ({"text": None}, "text"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(arguments: dict[str, Any], path: str) -> None:
    error = refused(**arguments)
    assert error.details is not None
    assert error.details["path"] == path
    assert path in error.message


def test_an_unknown_argument_is_refused_naming_the_nearest() -> None:
    error = refused(text="a", cuont=1)
    assert error.details is not None
    assert error.details["argument"] == "cuont"
    assert error.details["nearest"] == "count"
    inner = refused(text="a", points=[{"x": 1, "y": 2}])
    assert inner.details is not None
    assert inner.details["path"] == "points[0].y"


def test_null_means_absent_for_an_optional_argument() -> None:
    assert decode(text="a", count=None, points=None) == {"text": "a"}


def test_a_whole_float_is_an_integer_as_json_schema_says() -> None:
    assert decode(text="a", count=5.0)["count"] == 5


def test_nesting_is_allowed_to_64_levels_and_no_deeper() -> None:
    def nested(levels: int) -> dict[str, Any]:
        value: Any = "leaf"
        for _ in range(levels):
            value = {"a": value}
        assert isinstance(value, dict)
        return value

    assert decode(text="a", free=nested(MAX_DEPTH))
    refused(text="a", free=nested(MAX_DEPTH + 1))
    refused(text="a", free=nested(900))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.sampled_from("ab\u00e9"), max_size=3), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(value=st.dictionaries(st.sampled_from(["a", "b"]), JSON))
def test_any_json_object_passes_a_free_form_argument_unchanged(value: dict[str, Any]) -> None:
    assert decode(text="a", free=value)["free"] == value


def test_every_tool_has_a_promise_an_example_and_a_valid_schema(subtests: pytest.Subtests) -> None:
    for tool in catalog.operations():
        with subtests.test(tool=tool.name):
            check_tool(tool)


def check_tool(tool: Operation) -> None:
    from jsonschema import Draft202012Validator

    assert 10 < len(tool.summary) <= 120
    assert tool.summary[-1] in ".:"
    assert tool.example.startswith("moss ")
    schema = tool.schema()
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "'null'" not in str(schema.get("properties"))
    assert catalog.find(tool.name) is tool
    for name, default in tool.defaults.items():
        if default is not None and not tool.parameters[name].get("nullable"):
            assert tool.decode({**samples(tool), name: default})[name] == default


def samples(tool: Operation) -> dict[str, Any]:
    of_type = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
    schemas = {name: tool.parameters[name] for name in tool.required}
    kinds = {name: schema["type"] for name, schema in schemas.items()}
    first = {name: kind if isinstance(kind, str) else kind[0] for name, kind in kinds.items()}
    return {name: schema["enum"][0] if "enum" in schema else of_type[first[name]] for name, schema in schemas.items()}


def test_only_tools_that_change_the_store_or_write_a_file_are_marked_destructive() -> None:
    for tool in catalog.operations():
        assert tool.mutates or not tool.destructive or tool.name == "capsule_export", tool.name


def test_the_catalog_names_every_tool_of_the_documents_once() -> None:
    names = [tool.name for tool in catalog.operations()]
    assert len(names) == len(set(names))
    assert {
        "capsule_store", "capsule_fetch", "capsule_fetch_many", "capsule_update", "capsule_delete", "capsule_latest",
        "capsule_list", "capsule_inventory", "capsule_search", "capsule_export", "capsule_import", "capsule_purge",
        "capsule_bulk_delete", "capsule_bulk_update", "capsule_compose", "capsule_append", "capsule_restore",
        "moss_search",
    } <= set(names)  # fmt: skip


def test_a_tool_belongs_to_the_toolset_of_its_prefix() -> None:
    assert catalog.toolset_of("capsule_store") == "capsule"
    assert catalog.toolset_of("moss_search") == ""
    for tool in catalog.operations():
        assert catalog.toolset_of(tool.name) in (*catalog.TOOLSETS, "")


@pytest.mark.parametrize("order", [("ref", "branch"), ("branch", "ref")])
def test_two_spellings_of_one_argument_are_refused_by_both_names(order: tuple[str, str]) -> None:
    tool = catalog.find("branchmind_show")
    assert tool is not None
    with pytest.raises(MossError, match=f" `{order[1]}` and `{order[0]}` mean the same") as caught:
        tool.decode({"workspace": "w", **dict.fromkeys(order, "main")})
    assert caught.value.details == {"path": order[1]}


def test_a_bounded_tool_takes_the_three_limits_and_its_body_one_budget() -> None:
    properties = bounded_tool.schema()["properties"]
    assert list(properties) == ["text", "max_chars", "max_bytes", "max_lines"]
    assert bounded_tool.required == ("text",)
    decoded = bounded_tool.decode({"text": "x" * 1000, "max_chars": 500})
    assert list(decoded) == ["text", "budget"]
    answer = bounded_tool.body(None, **decoded)
    assert answer["truncated"]
    assert len(answer["rows"][0]) < 500
    assert bounded_tool.body(None, **bounded_tool.decode({"text": "x" * 1000}))["rows"] == ["x" * 1000]


@pytest.mark.parametrize(("limit", "least"), [("max_chars", 500), ("max_bytes", 500), ("max_lines", 10)])
def test_a_budget_below_the_least_is_refused(limit: str, least: int) -> None:
    with pytest.raises(MossError) as caught:
        bounded_tool.decode({"text": "a", limit: least - 1})
    assert (caught.value.code, caught.value.details) == ("INVALID_REQUEST", {"path": limit})
    assert "budget" in bounded_tool.decode({"text": "a", limit: least})
