"""Artifact data is returned unchanged: nesting, Unicode, numbers and the order of keys."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.samples import no_artifacts as no_artifacts
from artifact.samples import put
from contract.doors import Clock, StoreDoor, open_test_store
from support.thorough import complete_or

if TYPE_CHECKING:
    from contract.doors import Door

EXACT = 2**53
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=25,
)
DATA = st.dictionaries(TEXT, JSON, max_size=6)
TELLING: dict[str, dict[str, Any]] = {
    "keys in their order": {"b": 1, "a": {"z": 1, "y": 2}, "10": 3, "9": 4, "": 5, "B": 6},
    "numbers": {
        "exact": [EXACT, -EXACT, EXACT - 1, 2**63 - 1, -(2**63), 0],
        "floats": [0.1, 1e-9, 1e300, 5e-324, -1.5, 1.7976931348623157e308, 0.30000000000000004, 1e16],
    },
    "text": {"\u00fcber \U0001f600": "\u2028\u2029\ufeff\u200d\u202e\x7f\x1b\t\r\n\"\\/", "\uffff": "e\u0301"},
    "things that look like others": {"a": "null", "b": "1", "c": "true", "d": "[1]", "e": "{}", "f": "1e5", "g": " "},
    "emptiness": {"a": None, "b": [], "c": {}, "d": "", "e": False, "f": [[]], "g": [{}], "h": [None]},
    "keys that mean something elsewhere": {"__proto__": 1, "id": 3, "error": {"code": "x"}, "$ref": "#"},
}  # fmt: skip


def nested(levels: int) -> dict[str, Any]:
    value: Any = 1
    for level in range(levels - 1):
        value = [value] if level % 2 else {"deeper": value}
    return {"deep": value}


def exactly(value: Any) -> str:
    """Return a form that is equal only for values of the same type, sign, digits and order."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def shown_everywhere(call: Door, id: str) -> list[Any]:
    [item] = call("artifact_list")["items"]
    [part] = call("artifact_compose", items=[{"id": id}], format="json")["parts"]
    return [call("artifact_fetch", id=id)["data"], item["data"], part["data"]]


@pytest.mark.parametrize("data", TELLING.values(), ids=TELLING)
def test_data_is_returned_unchanged(call: Door, data: dict[str, Any]) -> None:
    stored = put(call, data=data, text="t")
    for shown in shown_everywhere(call, stored):
        assert exactly(shown) == exactly(data)


def test_data_of_maximum_depth_is_returned_unchanged(call: Door) -> None:
    stored = put(call, data=nested(60), text="t")
    for shown in shown_everywhere(call, stored):
        assert shown == nested(60)


@settings(max_examples=complete_or(150, 30))
@given(data=DATA)
def test_any_data_is_unchanged_after_storing_fetching_and_storing_again(
    data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_test_store(str(tmp_path_factory.getbasetemp() / "fidelity"), Clock()) as store:
        door = StoreDoor(store)
        answer = door("artifact_store", name="a", kind="k", data=data, mode="replace")
        once = door("artifact_fetch", name="a")
        assert exactly(once["data"]) == exactly(data)
        assert answer["data_chars"] == len(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
        door("artifact_store", name="a", kind="k", data=once["data"], expected_version=answer["version"])
        assert exactly(door("artifact_fetch", name="a")["data"]) == exactly(data)


@settings(max_examples=complete_or(60, 20))
@given(text=TEXT | st.just(""))
def test_any_text_is_returned_unchanged(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with open_test_store(str(tmp_path_factory.getbasetemp() / "fidelity"), Clock()) as store:
        answer = StoreDoor(store)("artifact_store", name="t", kind="k", data={}, text=text, mode="replace")
        assert answer["text_chars"] == len(text)
        assert store.call("artifact_fetch", {"name": "t"})["text"] == text


def test_minus_zero_keeps_its_sign(door: StoreDoor) -> None:
    fetched = door("artifact_fetch", id=put(door, data={"zero": -0.0}))
    assert math.copysign(1, fetched["data"]["zero"]) == -1


@pytest.mark.parametrize(
    "bad",
    [
        {"a": float("nan")}, {"a": [float("inf")]}, {"a": {"b": -float("inf")}}, {"a": 2**63}, {"a": [-(2**63) - 1]},
        {"a": "\0"}, {"\0": 1}, {"a": "\ud800"}, {"\udfff": 1}, nested(65), {"a": 10**400},
    ],
)  # fmt: skip
def test_data_without_a_json_form_is_refused(door: StoreDoor, bad: dict[str, Any]) -> None:
    door.refuses("INVALID_REQUEST", "artifact_store", kind="k", data=bad)


@pytest.mark.parametrize(
    "bad",
    [
        {1: "a"}, {None: "a"}, {True: "a"}, {1.5: "a"}, {(1, 2): "a"}, {b"a": "a"}, {"a": {2: "b"}},
        {"a": [{(): 1}]}, {1: "one", "1": "other"}, {"a": (1, 2)}, {"a": {1, 2}}, {"a": b"bytes"}, {"a": 1j},
        {"a": object()},
    ],
)  # fmt: skip
def test_python_values_without_a_json_form_are_refused(door: StoreDoor, bad: dict[Any, Any]) -> None:
    door.refuses("INVALID_REQUEST", "artifact_store", kind="k", data=bad)


@pytest.mark.parametrize("value", [float("nan"), "\0", "\ud800", 2**63, nested(70)])
def test_a_refusal_of_data_does_not_repeat_a_huge_key(door: StoreDoor, value: Any) -> None:
    for data in ({"k" * 30_000: value}, {"a": {"k" * 30_000: [value]}}):
        error = door.refuses("INVALID_REQUEST", "artifact_store", kind="k", data=data)
        assert len(json.dumps(error.payload())) < 10_000
