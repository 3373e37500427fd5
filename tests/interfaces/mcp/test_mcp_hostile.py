"""Broken and hostile lines: every readable id is answered exactly once, and the server goes on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.mcp_fakes import CODE
from support.mcp_pipe import PipeClient, call, request
from support.thorough import complete_or

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(st.characters(), max_size=8)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
METHODS = st.sampled_from(["ping", "tools/list", "tools/call", "initialize", "server/discover", "nothing"])
META = st.fixed_dictionaries(
    {}, optional={"io.modelcontextprotocol/protocolVersion": st.just("2026-07-28") | VALUES, "progressToken": VALUES}
)
PARAMS = VALUES | st.fixed_dictionaries(
    {},
    optional={"name": st.sampled_from(["echo", "note", "crash"]) | VALUES, "arguments": VALUES, "_meta": META | VALUES},
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers(-(2**70), 2**70) | st.text(st.characters(), max_size=5) | VALUES,
        "method": METHODS | VALUES,
        "params": PARAMS,
        "result": VALUES,
    },
)
LINES = st.one_of(MESSAGES, st.lists(MESSAGES | VALUES, max_size=4), VALUES, st.binary(max_size=40))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PipeClient]:
    with PipeClient(str(tmp_path_factory.mktemp("home")), code=CODE) as made:
        yield made


def expected_ids(message: Any) -> list[Any]:
    """Return the ids of the expected answers to one message; None for an unreadable id."""
    if not isinstance(message, dict):
        return [None]
    answers_a_request = message.get("method") is None and ("result" in message or "error" in message)
    if answers_a_request or ("id" not in message and isinstance(message.get("method"), str)):
        return []
    key = message.get("id")
    return [key if type(key) in (str, int) else None]


def expected(line: Any) -> Counter[str]:
    if isinstance(line, bytes):
        return expected_of_bytes(line)
    keys = (
        [key for part in line for key in expected_ids(part)] if isinstance(line, list) and line else expected_ids(line)
    )
    return Counter(json.dumps(key) for key in keys)


def expected_of_bytes(line: bytes) -> Counter[str]:
    parts = line.split(b"\n")
    return sum((_of_one(part) for part in parts), Counter())


def _of_one(line: bytes) -> Counter[str]:
    if not line or line.isspace():
        return Counter()
    try:
        return expected(json.loads(line.decode()))
    except ValueError:
        return Counter(["null"])


@settings(
    max_examples=complete_or(400, 100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(LINES, min_size=1, max_size=6))
@example([{"jsonrpc": "2.0", "id": "\ud800", "method": "tools/call", "params": {"name": "\ud800"}}])
@example([[]])
def test_every_readable_id_is_answered_exactly_once(client: PipeClient, lines: list[Any]) -> None:
    client.write(*(line if isinstance(line, bytes) else json.dumps(line) for line in lines))
    client.send(request("ping", id="the end of this example"))
    found: Counter[str] = Counter()
    while True:
        message = client.receive()
        if isinstance(message, dict) and message.get("id") == "the end of this example":
            break
        for answer in message if isinstance(message, list) else [message]:
            assert ("result" in answer) != ("error" in answer)
            found[json.dumps(answer["id"])] += 1
    assert found == sum((expected(line) for line in lines), Counter())


@settings(max_examples=complete_or(200, 50), deadline=None)
@given(VALUES)
def test_arguments_of_any_kind_are_a_result_or_a_typed_error(client: PipeClient, arguments: Any) -> None:
    message = call("echo", id=1)
    message["params"]["arguments"] = arguments
    client.send(message)
    found = client.receive()["result"]
    if found["isError"]:
        assert found["structuredContent"]["error"]["code"] == "INVALID_REQUEST"
    else:
        assert found["structuredContent"].keys() == {"text"}
