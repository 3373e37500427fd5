"""Edits of JSON with comments: one value changes, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.connect import jsonc
from moss_memory.connect.parse_error import ConfigParseError

PATH = ("mcpServers", "moss")
ENTRY = {"command": "moss", "args": ["mcp", "--toolsets", "core"], "env": {"A": "[ b ]"}}

space = st.sampled_from(
    ["", " ", "\n", "\n  ", "\t", "\r\n    ", " // a comment, {\n", "/* one */", " /* two\n lines ] */ "]
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 10**20), st.text(max_size=6), st.just("// no comment"))


@st.composite
def written(draw: st.DrawFn, depth: int = 0) -> tuple[str, Any]:
    """Draw a value and a text of it with space and comments anywhere."""
    kinds = ["scalar", "object", "list"] if depth < 3 else ["scalar"]
    kind = draw(st.sampled_from(kinds)) if depth else "object"
    if kind == "scalar":
        value = draw(scalars)
        return json.dumps(value, ensure_ascii=draw(st.booleans())), value
    parts, made = [], []
    for key in draw(st.lists(st.sampled_from(["mcpServers", "a", "b", "moss", "}"]), max_size=3, unique=True)):
        text, value = draw(written(depth + 1))
        label = f"{json.dumps(key)}{draw(space)}:{draw(space)}" if kind == "object" else ""
        parts.append(f"{draw(space)}{label}{text}{draw(space)}")
        made.append((key, value))
    inside = ",".join(parts)
    if not parts:
        inside = draw(space)
    elif draw(st.booleans()):
        inside += "," + draw(space)
    if kind == "object":
        return "{" + inside + "}", dict(made)
    return "[" + inside + "]", [value for _, value in made]


@st.composite
def files(draw: st.DrawFn) -> tuple[str, Any]:
    """Draw a whole file."""
    text, value = draw(written())
    return draw(space) + text + draw(space), value


def holds_objects(value: Any) -> bool:
    return isinstance(value.get("mcpServers", {}), dict)


def is_kept(part: str, whole: str) -> bool:
    """Return whether the characters of the part, space aside, are a subsequence of the whole."""
    rest = iter(whole)
    return all(sign in rest for sign in part if not sign.isspace())


@given(files())
def test_a_written_value_is_read_back(file: tuple[str, Any]) -> None:
    text, value = file
    assert jsonc.parse(text) == value


@given(files())
def test_a_put_changes_one_value_and_keeps_every_other_byte(file: tuple[str, Any]) -> None:
    text, value = file
    if not holds_objects(value):
        with pytest.raises(ConfigParseError, match="mcpServers is not a JSON object"):
            jsonc.set_value(text, PATH, ENTRY)
        return
    changed = jsonc.set_value(text, PATH, ENTRY)
    wanted = {**value, "mcpServers": {**value.get("mcpServers", {}), "moss": ENTRY}}
    assert jsonc.parse(changed) == wanted
    assert list(jsonc.parse(changed)) == list(wanted)
    assert jsonc.set_value(changed, PATH, ENTRY) == changed
    if "moss" not in value.get("mcpServers", {}):
        assert is_kept(text, changed)


@given(files())
def test_a_removal_takes_one_value_and_keeps_every_other_byte(file: tuple[str, Any]) -> None:
    text, value = file
    if not holds_objects(value) or "moss" not in value.get("mcpServers", {}):
        assert jsonc.remove_value(text, PATH) == text
        return
    changed = jsonc.remove_value(text, PATH)
    del value["mcpServers"]["moss"]
    assert jsonc.parse(changed) == value
    assert is_kept(changed, text)


@given(files())
def test_adding_and_removing_a_value_beside_others_restores_the_file(file: tuple[str, Any]) -> None:
    text, value = file
    servers = value.get("mcpServers")
    if isinstance(servers, dict) and servers and "moss" not in servers:
        assert jsonc.remove_value(jsonc.set_value(text, PATH, ENTRY), PATH) == text


@given(files(), st.integers(0, 3))
def test_a_list_gains_and_loses_one_item(file: tuple[str, Any], more: int) -> None:
    text, value = file
    items = [*range(more)]
    text = jsonc.set_value(text, ("list",), items)
    longer = jsonc.set_value(text, ("list", len(items)), {"x": 1})
    assert jsonc.parse(longer) == {**value, "list": [*items, {"x": 1}]}
    assert jsonc.parse(jsonc.remove_value(longer, ("list", len(items)))) == {**value, "list": items}


@given(st.text(st.sampled_from('{}[]":,/*\\\n 1atrue'), max_size=30))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    line = 1
    try:
        jsonc.parse(text)
    except ConfigParseError as problem:
        line = problem.line
    assert 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is missing"),
        ('{\n  "a": tru\n}', 2, "this is no JSON value"),
        ('{\n  "a": "x\n}', 2, "a string does not end on its line"),
        ('{"a": 1\n/* never', 2, "a comment has no end"),
        ('{"a": 1}\n}', 2, "unexpected text after the end of the JSON"),
        ('{"a"\n1}', 2, "a colon is missing"),
        ('{a: 1}', 1, "a key in quotes or } is missing"),
        ('{"a": ', 1, "a value is missing"),
        ('{"a": "\\q"}', 1, "a string contains an escape that JSON does not define"),
        ("[" * 200, 1, "it is nested more than 100 levels deep"),
        ('{"a": ' + "1" * 5000 + "}", 1, "a number is too long"),
    ],
)  # fmt: skip
def test_invalid_json_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ConfigParseError) as refused:
        jsonc.set_value(text, PATH, ENTRY)
    assert (refused.value.line, refused.value.problem) == (line, problem)


def test_the_new_entry_is_indented_like_its_neighbours() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"other": {"command": "x"} // mine\r\n\t}\r\n}\r\n'
    assert jsonc.set_value(text, PATH, {"command": "moss", "args": ["mcp"]}) == (
        '{\r\n\t"mcpServers": {\r\n\t\t"other": {"command": "x"}, // mine\r\n\t\t"moss": {\r\n\t\t\t"command": "moss",'
        '\r\n\t\t\t"args": ["mcp"]\r\n\t\t}\r\n\t}\r\n}\r\n'
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"mcpServers": {"a": 1, // one\n "moss": 1, "b": 2}}', {"a": 1, "b": 2}),
        ('{"mcpServers": {"a": 1, // one\n "moss": 1}}', {"a": 1}),
        ('{"mcpServers": { // none\n "moss": 1, "b": 2}}', {"b": 2}),
        ('{"mcpServers": { // none\n "moss": 1}}', {}),
    ],
)
def test_removing_a_value_after_a_comment_keeps_the_following_ones(text: str, left: dict[str, int]) -> None:
    changed = jsonc.remove_value(text, PATH)
    assert jsonc.parse(changed) == {"mcpServers": left}
    assert text.partition("//")[2].partition("\n")[0] in changed


def test_the_last_of_two_equal_keys_is_changed() -> None:
    text = '{"a": 1, "a": 2}'
    changed = jsonc.set_value(text, ("a",), 3)
    assert changed == '{"a": 1, "a": 3}'
    assert jsonc.find_value(changed, ("a",)) == 3
