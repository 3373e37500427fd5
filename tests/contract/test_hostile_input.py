"""Every tool of the registry with hostile input: typed errors, and an unchanged store."""

from __future__ import annotations

import json
import reprlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifact.samples import forget_artifacts
from contract.doors import FULL, Clock, Door, McpDoor, McpServer, StoreDoor, open_test_store, outcome
from contract.reasoning.reasoning_tools import forget_reasoning
from contract.reasoning.samples import furnish, is_furnished, sample_arguments
from moss_memory.errors import STATUS, MossError
from moss_memory.registry import catalog
from support.direct_store import ContentWatch, Watch
from support.promises import holds
from support.thorough import is_thorough, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator


TOOLS = [operation.name for operation in catalog.operations()]


def nested(levels: int, *, mapping: bool = False) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value} if mapping else [value]
    return value


STRINGS: list[str] = [
    "", " ", "\n", "x" * 100_000, "a\0b", "\0", "\ud800", "pair \udfff half", "\ufeff", "\uffff", "\U0010ffff",
    "'; drop table capsules; --", '" or 1=1 --', "a' union select * from events --", "%s%n%x{0}{a.b}${x}", "\\", "*",
    '"', "(", "NOT", "a AND", "name:x", "^a", "NEAR(a b)", "<script>alert(1)</script>", "&amp;<b>", "\x1b[2J\x07",
    "a\x7f\x85b", "\u202egnp.exe", "e\u0301\u0301\u0301", "\u0130\u0130", "\u200b", "../../etc/passwd",
    "/etc/passwd", "/etc/x.jsonl", "~/x.jsonl", "~nobody/x.jsonl", "moss.db", "../moss.db.jsonl", "con.jsonl",
    "x" * 300 + ".jsonl", "/" + "x/" * 3000 + "a.jsonl", "a\0.jsonl", "\ud800.jsonl", ".jsonl", "a.jsonl/", "-",
    "--help", "null", "true", "[]", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "9" * 5000,
]  # fmt: skip
NUMBERS: list[Any] = [
    0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**400, 1.5, -0.0, 1e300, 2.0,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, *STRINGS, *NUMBERS,
    [], {}, [None], [[]], [{}], [0], [""], [" "], ["\0"], ["\ud800"], ["x" * 100_000], ["a"] * 10_000,
    [{"id": 5}], [{"id": "\0"}], [{"name": "\ud800"}], [{"name": "x" * 100_000}], [{"id": "a", "name": "b"}],
    [{"name": "a", "extra": 1}], [{"id": None}], [{1: 2}], {"name": "\0"}, {"name": 5}, {"name": ["a"]}, {"": ""},
    {"name": "n", "tags": ["\ud800"]}, {"name": "n", "mode": "?"}, {"\ud800": 1}, {"\0": 1}, {None: 1},
    nested(100), nested(100, mapping=True), nested(5_000), nested(5_000, mapping=True), [nested(100, mapping=True)],
    {"a": float("nan")}, {"a": [2**63]}, {"a": "\0"}, {"a": {"b": "\ud800"}}, {"k" * 50_000: float("inf")}, {(1,): 1},
    {b"a": 1}, {"a": {2: 1}}, {"a": (1,)}, {"a": "x" * 60_000}, {"a" * 100_000: 1}, {"__proto__": {}},
    {"name": "n", "kind": " "}, {"name": "n", "kind": "k", "mode": "replace"}, {"name": "n", "kind": "x" * 100_000},
    b"bytes", {"set"}, ("tuple",), object, 1j,
]  # fmt: skip
LEAST_VALUES = 6
"""The minimum number of hostile values for each argument in the reduced form."""
SENSIBLE: dict[str, Any] = {
    "capsule_text": FULL, "query": "objective", "items": [{"name": "a"}], "path": "given.jsonl", "section": "Objective",
    "content": "more", "kind": "freeform", "data": {"n": 1}, "ttl_seconds": 60, "set_ttl_seconds": None,
}  # fmt: skip


def base_arguments(tool: str, ids: dict[str, str]) -> dict[str, Any]:
    """Return valid values of the required arguments of a tool."""
    operation = catalog.find(tool)
    assert operation is not None
    if catalog.toolset_of(tool) in ("reasoning", "task"):
        return sample_arguments(tool, operation.required, ids)
    arguments = {name: SENSIBLE.get(name, sample(operation.parameters[name])) for name in operation.required}
    if "id" in operation.parameters:
        arguments["id"] = ids[catalog.toolset_of(tool) or arguments.get("type", "capsule")]
    elif "workspace" in operation.parameters and operation.destructive:
        arguments["workspace"] = "default"
    if "id" in arguments and "title" in operation.parameters:
        arguments["title"] = "T"
    if tool == "artifact_bulk_update":
        arguments["set_ttl_seconds"] = SENSIBLE["set_ttl_seconds"]
    return arguments


def sample(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    return {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}[schema["type"]]


@pytest.fixture
def hostile(home: str) -> Iterator[Attack]:
    """Return an `Attack` on a filled store."""
    with open_test_store(home, Clock()) as store:
        yield Attack(StoreDoor(store))


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    """Return an `Attack` on a filled store that calls without effects share."""
    with open_test_store(str(tmp_path_factory.mktemp("refusing") / "home"), Clock()) as store:
        yield Attack(StoreDoor(store))


def fill(door: Door) -> dict[str, str]:
    """Store rows of every family and return their ids."""
    return {**fill_capsules_and_artifacts(door), "conflict": furnish(door)}


def fill_capsules_and_artifacts(door: Door) -> dict[str, str]:
    """Store capsules and artifacts, export a file to import, and return their ids."""
    ids = {
        "capsule": door("capsule_store", name="a", capsule_text=FULL, tags=["t"], mode="replace")["id"],
        "artifact": door("artifact_store", name="a", kind="k", data={}, text="t", tags=["t"], mode="replace")["id"],
    }
    door("capsule_store", name="gone", capsule_text=FULL, mode="replace")
    door("capsule_delete", name="gone")
    door.write_export({"id": "X", "workspace_raw": "w", "name_raw": "x"})
    return ids


FAMILIES = ("capsule", "artifact")
HAS_FEW_ROWS = (
    "(select count(*) from {0}) <= 40"
    " and exists (select 1 from {0} where workspace_norm = 'default' and deleted_at is null)"
)
"""SQL condition: a table is not empty and not too large."""


class Attack:
    def __init__(self, door: StoreDoor) -> None:
        self.door = door
        self.ids = fill(door)
        self.watch = Watch(door.home)

    def __call__(self, tool: Any, arguments: Any) -> None:
        shown = f"{reprlib.repr(tool)}({reprlib.repr(arguments)})"
        try:
            answer = outcome(self.door.store, tool, arguments)
        except Exception as error:
            pytest.fail(f"{shown} raised {error!r:.500}")
        changed = self.watch.saw_a_commit()
        if isinstance(answer, MossError):
            assert not changed, f"{shown} failed and changed the store"
            check_error(answer, shown)
            return
        json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
        if changed:
            self.tidy()

    def refuses(self, tool: str, arguments: Any, *, naming: str | None = None) -> None:
        """Make a call that must be refused before the store is read, and assert the form of its error."""
        shown = f"{tool}({reprlib.repr(arguments)})"
        answer = outcome(self.door.store, tool, arguments)
        assert isinstance(answer, MossError), f"{shown} was served"
        assert answer.code in ("INVALID_REQUEST", "VALIDATION_ERROR"), shown
        assert naming is None or naming in answer.message, f"{shown}: {answer.message}"
        check_error(answer, shown)
        assert not self.watch.saw_a_commit(), f"{shown} failed and changed the store"

    def tidy(self) -> None:
        """Refill the store if rows are missing, and empty it first if it has too many."""
        [(fits,)] = self.watch.direct.rows(f"select {' and '.join(HAS_FEW_ROWS.format(f'{one}s') for one in FAMILIES)}")
        if not fits:
            for family in FAMILIES:
                self.door(f"{family}_bulk_delete", workspace="default")
                self.door(f"{family}_purge")
            self.ids.update(fill_capsules_and_artifacts(self.door))
        if not is_furnished(self.watch.direct):
            forget_reasoning(self.door.home)
            self.ids["conflict"] = furnish(self.door)
        self.watch.saw_a_commit()


def check_error(error: MossError, shown: str) -> None:
    assert error.code in STATUS, shown
    assert error.code != "INTERNAL", shown
    payload = error.payload()
    encoded = json.dumps(payload, allow_nan=False, ensure_ascii=False).encode()
    assert len(encoded) < 10_000, f"{shown}: the error repeats its input"
    inner = payload["error"]
    assert set(inner) <= {"code", "message", "status", "retryable", "details", "recovery"}, shown
    assert inner["status"] == STATUS[error.code], shown
    assert inner["message"], shown
    if error.recovery is not None:
        assert set(error.recovery) == {"tool", "arguments", "reason"}, shown
        tool = catalog.find(error.recovery["tool"])
        assert tool is not None, shown
        assert set(error.recovery["arguments"]) <= set(tool.parameters), shown


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
@pytest.mark.parametrize("tool", TOOLS)
def test_any_value_for_any_argument_is_served_or_refused_with_a_documented_code(tool: str, hostile: Attack) -> None:
    operation = catalog.find(tool)
    assert operation is not None
    if catalog.toolset_of(tool) in ("reasoning", "task"):
        hostile.door(tool, **base_arguments(tool, hostile.ids))  # the arguments are valid until one is replaced
        hostile.tidy()
    for name, value in pairs(operation.parameters, VALUES, start=TOOLS.index(tool), least=LEAST_VALUES):
        hostile(tool, {**base_arguments(tool, hostile.ids), name: value})
        if is_thorough():
            hostile(tool, {name: value})


WRONG: dict[str, list[Any]] = {
    "string": [1, True, 1.5, [], {}], "integer": ["1", True, 1.5, [], {}, float("nan")],
    "boolean": ["true", 1, 0, [], {}], "array": ["a", 1, True, {}, 1.5], "object": ["a", 1, True, [], 1.5],
    "number": ["1", True, [], {}],
}  # fmt: skip


def wrong_for(schema: dict[str, Any]) -> list[Any]:
    """Return values of all types that an argument does not accept."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return [value for value in WRONG[kinds[0]] if all(repr(value) in map(repr, WRONG[kind]) for kind in kinds)]


@holds("decisions §0: wrong types are refused with the path of the bad value")
def test_a_value_of_a_wrong_type_is_refused_by_path(refusing: Attack, subtests: pytest.Subtests) -> None:
    for tool in TOOLS:
        operation = catalog.find(tool)
        assert operation is not None
        wrong = [(name, value) for name, schema in operation.parameters.items() for value in wrong_for(schema)]
        with subtests.test(tool=tool):
            for name, value in wrong:
                refusing.refuses(tool, {**base_arguments(tool, refusing.ids), name: value}, naming=name)


UNKNOWN = ["", "x", "__class__", "\0", "\ud800", "a b", "x" * 100_000, "Workspace", "workspace ", 5, None]


@holds("decisions §0: unknown arguments are refused, naming the nearest known one")
def test_an_unknown_argument_is_always_refused(refusing: Attack, subtests: pytest.Subtests) -> None:
    for tool in TOOLS:
        with subtests.test(tool=tool):
            for name in UNKNOWN:
                arguments: dict[Any, Any] = {**base_arguments(tool, refusing.ids), name: "default"}
                refusing.refuses(tool, arguments)


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
def test_a_missing_or_null_required_argument_is_refused_by_name(refusing: Attack, subtests: pytest.Subtests) -> None:
    for tool in TOOLS:
        operation = catalog.find(tool)
        assert operation is not None
        base = base_arguments(tool, refusing.ids)
        with subtests.test(tool=tool):
            for name in operation.required:
                refusing.refuses(tool, {key: base[key] for key in base if key != name}, naming=name)
                refusing.refuses(tool, {**base, name: None}, naming=name)


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
def test_arguments_other_than_an_object_are_refused(refusing: Attack, subtests: pytest.Subtests) -> None:
    for tool in TOOLS:
        with subtests.test(tool=tool):
            for arguments in ([], "x", 5, [["id", "x"]], True):
                refusing.refuses(tool, arguments)


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
def test_an_unknown_tool_is_refused_with_the_nearest(hostile: Attack) -> None:
    tools = ["", "capsule", "capsule_", "capsule_stor", "moss.", "moss.append", "Operation", "__init__", "moss"]
    for tool in [*tools, "capsule_filters", "\0", "\ud800", "x" * 100_000, "capsule_store; drop table", "moss_"]:
        hostile(tool, {})
    with pytest.raises(MossError, match="capsule_store"):
        hostile.door.store.call("capsule_stor", {})


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
@given(data=st.data())
def test_any_mixture_of_hostile_values_is_served_or_refused(data: st.DataObject, tmp_path_factory: Any) -> None:
    with open_test_store(str(tmp_path_factory.mktemp("mixture"))) as store:
        attack = Attack(StoreDoor(store))
        for _ in range(10):
            tool = data.draw(st.sampled_from(TOOLS))
            operation = catalog.find(tool)
            assert operation is not None
            chosen = data.draw(
                st.dictionaries(st.sampled_from(sorted(operation.parameters)), st.sampled_from(VALUES), max_size=4)
                if operation.parameters
                else st.just({})
            )
            attack(tool, {**base_arguments(tool, attack.ids), **chosen})


OVER_THE_WIRE: list[Any] = [
    True, -1, 2**63 - 1, 1.5, "", "x" * 100_000, "a\0b", "'; drop table capsules; --", "\x1b[2J\u202e<b>", "../a.jsonl",
    [], {}, [{"id": 5}], [{"name": "a", "extra": 1}], {"k" * 9_000: 2**63}, {"a": "\0"}, nested(40),
    nested(40, mapping=True), nested(200),
]  # fmt: skip


@holds("decisions §0: any input is served or refused with a documented code, and a refusal changes nothing")
@pytest.mark.parametrize("tool", TOOLS)
def test_hostile_values_get_one_typed_answer_over_mcp(tool: str, mcp_server: McpServer) -> None:
    mcp_server.forget()
    forget_artifacts(mcp_server.home)
    forget_reasoning(mcp_server.home)
    door = McpDoor(mcp_server)
    ids = fill(door)
    watch = ContentWatch(door.home)
    operation = catalog.find(tool)
    assert operation is not None
    number = TOOLS.index(tool)
    values = OVER_THE_WIRE if is_thorough() else OVER_THE_WIRE[number % 3 :: 3]
    for name, value in pairs(operation.parameters, values, start=number):
        try:
            door(tool, **{**base_arguments(tool, ids), name: value})
        except MossError as error:
            check_error(error, f"{tool} {name}={reprlib.repr(value)}")
            assert not watch.saw_a_change(), f"{tool} {name}={reprlib.repr(value)} failed and changed the store"
        watch.saw_a_change()
    watch.close()
    forget_artifacts(mcp_server.home)
    forget_reasoning(mcp_server.home)
