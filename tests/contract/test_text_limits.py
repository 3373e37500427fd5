"""Text limits: every stored text has a limit, which is checked first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL, Door
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.registry import catalog
from moss_memory.store import Store
from support.measured import cpu_s
from support.promises import holds

MOST = 200_000
OWN_LIMITS = {
    ("capsule_store", "capsule_text"), ("capsule_update", "capsule_text"), ("capsule_append", "content"),
    ("artifact_store", "data"), ("artifact_store", "text"),
}  # fmt: skip
"""Arguments with their own limit and error code, which other files test."""
KEY = "fetch_key"
"""An address whose format test_addressing.py tests."""


def fitting(schema: dict[str, Any]) -> Any:
    """Return a small valid value."""
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: fitting(properties[name]) for name in schema.get("required", ())}
    return {"string": "x", "integer": 1, "boolean": False, "array": []}[kind]


def too_large(schema: dict[str, Any]) -> list[Any]:
    """Return values of every accepted form, each with one character too many."""
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    found: list[Any] = []
    if "string" in kinds and "enum" not in schema:
        found.append("x" * (MOST + 1))
    if "array" in kinds:
        items = schema.get("items", {"type": "string"})
        found += [[fitting(items), one] for one in too_large(items)]
    if "object" in kinds and "properties" in schema:
        small = fitting(schema)
        found += [{**small, name: one} for name, part in schema["properties"].items()
                  if name != KEY for one in too_large(part)]  # fmt: skip
    elif "object" in kinds:
        found += [{"field": {"deeper": ["x" * MOST]}}, {"numbers": [1] * (MOST // 2)}, {"x" * MOST: 1}]
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a store that no test writes to."""
    home = tmp_path_factory.mktemp("limits") / "home"
    with Store(load_config(str(home), cwd=str(home.parent))) as opened:
        yield opened


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_every_text_argument_of_every_writing_tool_has_a_limit(store: Store, subtests: pytest.Subtests) -> None:
    tools = [one for one in catalog.operations() if one.mutates and not one.proxy]
    assert all(one.visible for one in tools)
    tried = 0
    for tool in tools:
        needed = {name: fitting(tool.parameters[name]) for name in tool.required}
        for name, schema in tool.parameters.items():
            if (tool.name, name) in OWN_LIMITS or name == KEY:
                continue
            for value in too_large(schema):
                tried += 1
                with subtests.test(tool=tool.name, argument=name), pytest.raises(MossError) as refused:
                    store.call(tool.name, {**needed, name: value})
                error = refused.value
                assert error.code == ("VALIDATION_ERROR" if tool.name == "submit_payload" else "TEXT_TOO_LARGE")
                assert error.details is not None
                assert error.details["max_chars"] == MOST
                assert MOST < error.details["actual_chars"] < MOST + 1000
                assert error.details["path"].partition("[")[0] == name
                assert "text_max_chars" in error.message
    assert tried > 300
    assert not Path(store.config.home).exists()


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_the_list_of_arguments_with_their_own_limit_is_complete() -> None:
    marked = {
        (tool.name, name)
        for tool in catalog.operations()
        for name, schema in tool.parameters.items()
        if schema.get("own_limit")
    }
    assert marked == OWN_LIMITS


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_a_text_of_exactly_the_configured_limit_is_stored(call: Door) -> None:
    text = "é" * MOST
    entry = call("branchmind_notes_commit", workspace="w", content=text)["entry"]
    assert entry["content"] == text
    error = call.refuses("TEXT_TOO_LARGE", "branchmind_notes_commit", workspace="w", content=text + "é")
    assert error.status == 413
    assert error.details == {"max_chars": MOST, "actual_chars": MOST + 1, "path": "content"}


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_each_of_many_nodes_may_be_large(call: Door) -> None:
    ops = [{"op": "node_upsert", "id": f"n{number}", "type": "note", "text": "x" * 150_000} for number in range(3)]
    assert call("branchmind_graph_apply", workspace="w", ops=ops)["applied"]["nodes_upserted"] == 3
    ops[1]["text"] = "x" * MOST
    error = call.refuses("TEXT_TOO_LARGE", "branchmind_graph_apply", workspace="w", ops=ops)
    assert error.details is not None
    assert error.details["path"] == "ops[1]"


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_the_text_limit_is_configurable(tmp_path: Path) -> None:
    config = load_config(str(tmp_path / "home"), cwd=str(tmp_path))
    assert config.text_max_chars == MOST
    with Store(config.replace(text_max_chars=10)) as small:
        place = {"workspace": "w"}
        assert small.call("branchmind_notes_commit", {**place, "content": "x" * 10})["entry"]
        refusals: list[tuple[str, dict[str, Any]]] = [
            ("branchmind_notes_commit", {"content": "x" * 11}),
            ("branchmind_think_card", {"card": {"type": "note", "text": "x"}}),
            ("tasks_create", {"title": "t", "kind": "task", "description": "x" * 11}),
        ]
        for tool, arguments in refusals:
            with pytest.raises(MossError) as refused:
                small.call(tool, {**place, **arguments})
            assert refused.value.code == "TEXT_TOO_LARGE"
        small.call("capsule_store", {"capsule_text": FULL})  # this argument has its own limit


@holds("general: every stored text has a limit, text_max_chars, checked before everything else")
def test_a_text_that_is_too_large_is_refused_before_it_is_scanned(tmp_path: Path) -> None:
    long = "user=" * 1_000_000 + " password="
    with Store(load_config(str(tmp_path / "home"), cwd=str(tmp_path))) as opened:

        def store_it() -> None:
            with pytest.raises(MossError) as refused:
                opened.call("branchmind_notes_commit", {"workspace": "w", "content": long})
            assert refused.value.code == "TEXT_TOO_LARGE"

        assert cpu_s(store_it) < 1
