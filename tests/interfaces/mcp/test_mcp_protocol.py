from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.errors import MossError
from moss_memory.mcp import messages
from moss_memory.mcp.instructions import instructions
from moss_memory.mcp.protocol import (
    CAPABILITIES,
    HANDSHAKE_VERSIONS,
    Cancellation,
    Protocol,
    ToolCall,
    tool_answer,
    tool_failure,
)
from moss_memory.mcp.tool_list import ToolList
from moss_memory.version import __version__
from support.mcp_fakes import FakeToolList

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
STATELESS = {VERSION_KEY: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def outcome(message: Any) -> Any:
    """Return the outcome of the protocol for a message sent as JSON."""
    return of_line(json.dumps(message).encode())


def of_line(line: bytes) -> Any:
    tool_list: Any = FakeToolList()
    return Protocol(lambda: tool_list).answer(messages.parse_line(line))


def answer(message: Any) -> Any:
    return json.loads(outcome(message))


def ask(method: Any, params: Any = None, id: Any = 1) -> Any:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return answer(message if params is None else {**message, "params": params})


def result(method: str, params: Any = None) -> Any:
    return ask(method, params)["result"]


def error_code(message: Any) -> Any:
    return answer(message)["error"]["code"]


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_initialize_echoes_a_supported_version(version: str) -> None:
    assert result("initialize", {"protocolVersion": version})["protocolVersion"] == version


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": "1999-01-01"}, {"protocolVersion": "2026-07-28"}])
def test_initialize_offers_the_newest_handshake_version_otherwise(params: Any) -> None:
    assert result("initialize", params)["protocolVersion"] == "2025-11-25"


def test_initialize_with_a_version_that_is_no_string_is_refused() -> None:
    assert ask("initialize", {"protocolVersion": 3})["error"]["code"] == -32602


def test_initialize_returns_the_server_info_and_instructions() -> None:
    found = result("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}})
    assert found["serverInfo"] == {"name": "moss", "title": "Moss", "version": __version__}
    assert found["capabilities"] == CAPABILITIES
    assert found["instructions"] == instructions(FakeToolList())
    assert "resultType" not in found


def test_initialize_stays_a_handshake_in_a_stateless_envelope() -> None:
    found = result("initialize", {"protocolVersion": "2025-06-18", "_meta": {VERSION_KEY: "2025-06-18"}})
    assert found["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize(("toolsets", "most_chars"), [((), 1_500), (("core",), 1_700), (("artifact",), 1_700)])
def test_the_instructions_are_short_and_name_the_six_sections(toolsets: tuple[str, ...], most_chars: int) -> None:
    said = instructions(ToolList(toolsets=toolsets))
    assert len(said) <= most_chars
    for section in ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions"):
        assert section in said
    assert "recovery" in said


def test_the_instructions_name_no_disabled_tool() -> None:
    said = instructions(ToolList(disabled_types=["task", "capsule"], disabled_tools=["submit_payload"]))
    assert "tasks_" not in said
    assert "capsule" not in said
    assert "submit_payload" not in said
    assert "branchmind_notes_commit" in said


def test_the_instructions_show_how_to_call_unlisted_tools() -> None:
    said = instructions(ToolList(toolsets=["task"]))
    assert "moss_call capsule_latest with" in said
    assert "moss_call tasks_radar" not in said
    assert "moss_tools finds them" in said
    assert "moss_call" not in instructions(ToolList())


def test_a_broken_configuration_still_gives_instructions() -> None:
    def broken() -> ToolList:
        raise MossError("INVALID_REQUEST", "config.json: it is not valid JSON")

    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    outcome = Protocol(broken).answer(request)
    assert isinstance(outcome, bytes)
    assert json.loads(outcome)["result"]["instructions"] == instructions(None)


def test_discover_names_the_stateless_version() -> None:
    found = result("server/discover", {"_meta": STATELESS})
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["capabilities"] == CAPABILITIES
    assert found["resultType"] == "complete"
    assert found["_meta"][SERVER_KEY]["name"] == "moss"
    assert found["ttlMs"] >= 0
    assert found["cacheScope"] in ("private", "public")


def test_discover_answers_without_an_envelope() -> None:
    assert result("server/discover")["resultType"] == "complete"


@pytest.mark.parametrize("version", ["1999-01-01", "2025-11-25", "", "\ud800"])
def test_a_stateless_request_of_another_version_is_refused_naming_the_supported_ones(version: str) -> None:
    error = ask("tools/list", {"_meta": {VERSION_KEY: version}})["error"]
    assert error["code"] == -32022
    assert error["data"]["supported"] == ["2026-07-28"]
    assert error["data"]["requested"] == messages.sanitize(version)


@pytest.mark.parametrize("meta", [5, "x", [], {VERSION_KEY: 5}, {VERSION_KEY: None}])
def test_a_malformed_envelope_is_refused(meta: Any) -> None:
    assert ask("tools/list", {"_meta": meta})["error"]["code"] == -32602


def test_ping_answers_an_empty_object_in_the_handshake_era() -> None:
    assert ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_ping_answers_a_complete_result_in_the_stateless_era() -> None:
    found = result("ping", {"_meta": STATELESS})
    assert found["resultType"] == "complete"
    assert found["_meta"][SERVER_KEY]["version"] == __version__


def test_tools_are_listed_in_both_eras() -> None:
    assert result("tools/list") == {"tools": [{"name": "echo"}]}
    stateless = result("tools/list", {"_meta": STATELESS})
    assert stateless["tools"] == [{"name": "echo"}]
    assert stateless["resultType"] == "complete"
    assert stateless["ttlMs"] >= 0
    assert stateless["cacheScope"] == "private"


def test_an_unknown_tool_cursor_is_refused() -> None:
    assert ask("tools/list", {"cursor": "x"})["error"]["code"] == -32602
    assert "tools" in result("tools/list", {"cursor": None})


@pytest.mark.parametrize(
    "method",
    [
        "sampling/createMessage",
        "roots/list",
        "logging/setLevel",
        "subscriptions/listen",
        "nothing",
        "",
        "notifications/initialized",
        "\ud800",
    ],
)
def test_a_method_that_is_not_offered_is_not_found(method: str) -> None:
    assert ask(method)["error"]["code"] == -32601


def test_a_tool_call_is_parsed() -> None:
    made = outcome(_call({"name": "echo", "arguments": {"text": "hi"}, "_meta": {"progressToken": "p"}}))
    assert isinstance(made, ToolCall)
    assert (made.tool, made.arguments, made.key, made.progress_token) == ("echo", {"text": "hi"}, 1, "p")
    assert not made.stateless


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
def test_a_progress_token_of_another_type_is_ignored(token: Any) -> None:
    assert outcome(_call({"name": "echo", "_meta": {"progressToken": token}})).progress_token is None


@pytest.mark.parametrize("params", [{"name": "echo"}, {"name": "echo", "arguments": None}])
def test_arguments_may_be_left_out(params: Any) -> None:
    assert outcome(_call(params)).arguments == {}


def test_a_result_is_structured_and_repeated_as_text() -> None:
    made = outcome(_call({"name": "echo"}))
    found = json.loads(tool_answer(made, {"text": "grün\n"}))["result"]
    assert found["structuredContent"] == {"text": "grün\n"}
    assert found["content"] == [{"type": "text", "text": '{"text":"grün\\n"}'}]
    assert found["isError"] is False
    assert "resultType" not in found


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_the_text_of_a_result_is_its_json(value: Any) -> None:
    text = messages.encode(value)
    assert json.loads(messages.quote_json(text.encode())) == text
    assert json.loads(json.loads(messages.quote_json(messages.visible(text)))) == value
    assert json.loads(text) == value


def test_a_stateless_result_is_complete_and_stamped() -> None:
    made = outcome(_call({"name": "echo", "_meta": STATELESS}))
    found = json.loads(tool_answer(made, {}))["result"]
    assert found["resultType"] == "complete"
    assert found["_meta"][SERVER_KEY]["name"] == "moss"


def test_a_bug_hides_its_cause_from_the_caller_and_logs_it(capsys: pytest.CaptureFixture[str]) -> None:
    made = outcome(_call({"name": "echo"}))
    found = json.loads(tool_failure(made, RuntimeError("the secret cause")))["result"]
    assert found["isError"] is True
    assert found["structuredContent"]["error"]["code"] == "INTERNAL"
    assert "secret" not in json.dumps(found)
    assert "the secret cause" in capsys.readouterr().err


def test_a_lone_surrogate_in_an_error_is_escaped() -> None:
    made = outcome(_call({"name": "echo"}))
    sent = tool_failure(made, MossError("NOT_FOUND", "no \ud800"))
    assert json.loads(sent.decode("utf-8"))["result"]["structuredContent"]["error"]["message"] == "no \ud800"


@pytest.mark.parametrize("name", ["nothing", "", "x\ud800", "a" * 10_000])
def test_an_unknown_tool_is_refused_naming_the_nearest(name: str) -> None:
    error = answer(_call({"name": name}))["error"]
    assert error["code"] == -32602
    assert error["message"].startswith("Unknown tool: ")
    assert len(error["message"]) < 200
    assert error["data"]["error"]["code"] == "INVALID_REQUEST"
    assert error["data"]["error"]["details"]["nearest"] == "echo"


@pytest.mark.parametrize("params", [None, {}, {"name": 5}, {"name": None}, {"arguments": {}}])
def test_a_call_without_a_tool_name_is_refused(params: Any) -> None:
    assert answer(_call(params))["error"]["code"] == -32602


@pytest.mark.parametrize("arguments", [[], "x", 5, True])
def test_arguments_that_are_no_object_are_a_tool_error(arguments: Any) -> None:
    assert _tool_error(_call({"name": "echo", "arguments": arguments})) == "INVALID_REQUEST"


def test_a_broken_configuration_is_a_tool_error() -> None:
    assert _tool_error(_call({"name": "unconfigured"})) == "INVALID_REQUEST"


def test_a_bug_in_finding_a_tool_is_answered() -> None:
    assert _tool_error(_call({"name": "broken"})) == "INTERNAL"


def test_a_bug_in_listing_is_answered() -> None:
    def no_offer() -> Any:
        raise RuntimeError("the secret cause")

    made = Protocol(no_offer).answer({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert isinstance(made, bytes)
    assert json.loads(made)["error"]["code"] == -32603
    assert b"secret" not in made


@pytest.mark.parametrize("id", ["a", "", "grün", "\ud800", 0, -1, 2**53, 2**70])
def test_an_id_is_returned_unchanged(id: Any) -> None:
    assert ask("ping", id=id)["id"] == id


@pytest.mark.parametrize("id", [None, True, 1.0, 1.5, [], {}, [1]])
def test_an_id_of_another_type_is_refused_without_it(id: Any) -> None:
    refused = ask("ping", id=id)
    assert refused["id"] is None
    assert refused["error"]["code"] == -32600


def test_an_id_of_thousands_of_digits_is_refused_without_it() -> None:
    refused = json.loads(of_line(b'{"jsonrpc":"2.0","method":"ping","id":' + b"9" * 5_000 + b"}"))
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("version", [None, "1.0", 2.0, ""])
def test_another_json_rpc_is_refused_with_the_id(version: Any) -> None:
    refused = answer({"jsonrpc": version, "id": 7, "method": "ping"})
    assert (refused["id"], refused["error"]["code"]) == (7, -32600)
    refused = answer({"id": 7, "method": "ping"})
    assert (refused["id"], refused["error"]["code"]) == (7, -32600)


@pytest.mark.parametrize("method", [None, 5, [], {}])
def test_a_method_that_is_no_string_is_refused_with_the_id(method: Any) -> None:
    refused = answer({"jsonrpc": "2.0", "id": 7, "method": method})
    assert (refused["id"], refused["error"]["code"]) == (7, -32600)


@pytest.mark.parametrize("params", [[], "x", 5, True])
@pytest.mark.parametrize("method", ["ping", "tools/list", "tools/call", "initialize"])
def test_params_of_another_type_are_refused(method: str, params: Any) -> None:
    assert ask(method, params)["error"]["code"] == -32602


def test_params_may_be_null() -> None:
    assert answer({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None})["result"] == {}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "nothing"},
        {"jsonrpc": "2.0", "method": "ping"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "note"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": None}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]},
        {"method": "ping"},
    ],
)
def test_a_notification_is_never_answered(message: Any) -> None:
    assert outcome(message) is None


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
        {"jsonrpc": "2.0", "id": None, "error": {}},
        {"jsonrpc": "2.0", "result": {}},
    ],
)
def test_a_response_from_the_client_is_ignored(message: Any) -> None:
    assert outcome(message) is None


@pytest.mark.parametrize("key", [1, "a"])
def test_a_cancellation_names_its_request(key: Any) -> None:
    made = outcome({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": key}})
    assert isinstance(made, Cancellation)
    assert made.key == key


@pytest.mark.parametrize("message", [1, "x", None, True, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "method": 1}])
def test_an_invalid_message_is_refused_without_an_id(message: Any) -> None:
    refused = answer(message)
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize("line", [b"x", b"{", b'{"id":1', b"\xff\xfe", b'{"id":1,"a":"\x00"}', b"[1,", b"{}{}", b"nul"])
def test_invalid_json_is_a_parse_error(line: bytes) -> None:
    refused = json.loads(of_line(line))
    assert (refused["id"], refused["error"]["code"]) == (None, -32700)


ODDITIES = ['"\\ud800"', '"\\u0000"', "NaN", "Infinity", "-Infinity", "1e999", "18446744073709551616", "9" * 5_000]


@pytest.mark.parametrize("odd", [*ODDITIES, '{"\\udc00":1}', '["\\u0000"]'])
def test_invalid_values_outside_of_arguments_are_refused_with_the_id(odd: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"x":{odd}}}}}'
    refused = json.loads(of_line(line.encode()))
    assert (refused["id"], refused["error"]["code"]) == (9, -32602)
    line = f'{{"jsonrpc":"2.0","id":9,"method":"ping","x":{odd}}}'
    refused = json.loads(of_line(line.encode()))
    assert (refused["id"], refused["error"]["code"]) == (9, -32602)


@pytest.mark.parametrize("odd", [*ODDITIES, '{"\\udc00":1}', '["\\u0000"]'])
@pytest.mark.parametrize("place", ['"_meta":{"x":%s}', '"x":%s', '"arguments":{},"_meta":{"x":%s}'])
def test_invalid_values_beside_the_arguments_are_a_tool_error_with_the_id(place: str, odd: str) -> None:
    params = f'{{"name":"echo",{place % odd}}}'
    found = json.loads(of_line(f'{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{params}}}'.encode()))
    assert found["id"] == 9
    assert found["result"]["structuredContent"]["error"]["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize("odd", ODDITIES)
def test_invalid_values_in_arguments_are_passed_to_the_store(odd: str) -> None:
    line = f'{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{odd}}}}}}}'
    made = of_line(line.encode())
    assert isinstance(made, ToolCall)
    assert messages.find_invalid(made.arguments)


@pytest.mark.parametrize("levels", [65, 500, 5_000, 200_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_call_nested_too_deeply_is_a_tool_error_with_its_id(levels: int, opening: str) -> None:
    nested = opening * levels + "1" + ("]" if opening == "[" else "}") * levels
    line = (
        '{"method":"tools/call","params":{"name":"echo","id":5,"arguments":{"text":'
        + nested
        + '}},"jsonrpc":"2.0","id":"the \\"id\\""}'
    )
    found = json.loads(of_line(line.encode()))
    assert found["id"] == 'the "id"'
    assert found["result"]["structuredContent"]["error"]["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize("levels", [100, 5_000])
def test_another_request_nested_too_deeply_is_refused_with_its_id(levels: int) -> None:
    nested = "[" * levels + "]" * levels
    refused = json.loads(of_line(f'{{"jsonrpc":"2.0","id":4,"method":"ping","params":{{"x":{nested}}}}}'.encode()))
    assert (refused["id"], refused["error"]["code"]) == (4, -32600)


def test_an_argument_nested_64_levels_is_not_too_deep() -> None:
    nested = "[" * 64 + "]" * 64
    line = f'{{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{{"name":"echo","arguments":{{"x":{nested}}}}}}}'
    assert isinstance(of_line(line.encode()), ToolCall)


def test_braces_in_a_text_do_not_count_as_nesting() -> None:
    made = outcome(_call({"name": "echo", "arguments": {"text": "{[" * 500}}))
    assert isinstance(made, ToolCall)


def test_deep_nesting_without_a_readable_id_is_refused_without_it() -> None:
    for line in ("[" * 100_000, '{"id":[' + "[" * 100_000, '{"id":{"id":1},"a":' + "[" * 100_000):
        refused = json.loads(of_line(line.encode()))
        assert refused["id"] is None
        assert refused["error"]["code"] in (-32600, -32700)


def _call(params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", **({} if params is None else {"params": params})}


def _tool_error(message: Any) -> Any:
    found = answer(message)["result"]
    assert found["isError"] is True
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    return found["structuredContent"]["error"]["code"]
