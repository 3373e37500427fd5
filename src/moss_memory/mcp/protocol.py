"""MCP without I/O: a message becomes an answer, a tool call to run, or None.

A connection may mix protocol versions. A request whose `_meta` names a protocol version is of the stateless version
(2026-07-28); every other request is of a version with a handshake, also before `initialize`.
"""

from __future__ import annotations

import json

from moss_memory.errors import MossError, descriptor_limit_error, not_json
from moss_memory.log import write_notice
from moss_memory.registry.next_calls import filter_next_calls
from moss_memory.registry.responses import PreserializedDict
from moss_memory.version import __version__

from . import messages
from .instructions import instructions
from .messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_ID,
    UNSUPPORTED_VERSION,
    InvalidMessage,
    encode,
    failure,
    success,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from moss_memory.code_state.work_tree import CodeState
    from moss_memory.registry.operation import Operation

    from .repository_context import SessionSummary
    from .tool_list import ToolList

    Outcome: TypeAlias = "bytes | ToolCall | StoreRequest | SubscribeRequest | ListenRequest | Cancellation | None"


HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CODE_KEY = "code_state"
"""The key of `_meta` with the code state of a client whose server does not run in its repository."""
LIST_TTL_MS = 60_000
STORE_METHODS = (
    "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
    "completion/complete",
)  # fmt: skip
"""Requests that are not tool calls but read the store."""

SERVER_INFO = {"name": "moss", "title": "Moss", "version": __version__}
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": False},
    "prompts": {"listChanged": False},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
}

_STATELESS_FIELDS = f'"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{encode(SERVER_INFO)}}}'
_CACHE_FIELDS = f'"ttlMs":{LIST_TTL_MS},"cacheScope":"private"'


class ToolCall:
    """A tool call with its response format and its cancellation flag."""

    __slots__ = (
        "actor", "arguments", "as_sent", "cancelled", "code", "id", "idempotency_key", "key", "operation", "outcome",
        "progress_token", "stateless", "tool", "tools",
    )  # fmt: skip

    def __init__(self, request: Request, tools: ToolList, operation: Operation, arguments: dict[str, Any]) -> None:
        self.key = request.key
        self.id = request.id
        self.stateless = request.stateless
        self.tools = tools
        self.operation = operation
        self.tool = operation.name
        self.arguments = arguments
        self.progress_token: str | int | None = None
        self.idempotency_key: Any = None  # as it was sent
        self.actor = ""
        """The actor: the client, and over HTTP its token."""
        self.code: CodeState | None = None
        """The code state that the client has sent."""
        self.cancelled = False
        self.outcome = "ok"
        """`ok`, or the code of the error."""
        self.as_sent: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        """Adapts an answer to a client with a partial list."""
        if tools.is_partial:
            self.as_sent = lambda result: filter_next_calls(result, operation.answers, tools.rewrite_for_client)


class StoreRequest:
    """A request that is not a tool call but reads the store; `handlers.py` runs it."""

    __slots__ = ("request", "tools")

    def __init__(self, request: Request, tools: ToolList) -> None:
        self.request = request
        self.tools = tools


class SubscribeRequest:
    """A request of a protocol version with a handshake, to subscribe to a resource or to unsubscribe."""

    __slots__ = ("request", "tools", "uri", "wanted")

    def __init__(self, request: Request, tools: ToolList, uri: str, *, wanted: bool) -> None:
        self.request = request
        self.tools = tools
        self.uri = uri
        self.wanted = wanted


class ListenRequest:
    """A request of the stateless protocol version to open a stream of change notifications."""

    __slots__ = ("lists", "request", "tools", "uris")

    def __init__(self, request: Request, tools: ToolList, uris: list[str], *, lists: bool) -> None:
        self.request = request
        self.tools = tools
        self.uris = uris
        self.lists = lists


class Cancellation:
    """A client's cancellation of the request with this id."""

    __slots__ = ("key",)

    def __init__(self, key: object) -> None:
        self.key = key


class Request:
    """A request with a valid envelope."""

    __slots__ = ("id", "key", "method", "params", "stateless")

    def __init__(self, key: object, id: str, method: str, params: dict[str, Any]) -> None:
        self.key = key
        self.id = id
        self.method = method
        self.params = params
        self.stateless = False

    def answer(self, fields: str, *, meta: dict[str, object] | None = None) -> bytes:
        """Return a success response with these fields and, in the stateless version, its own fields with `meta`."""
        if self.stateless:
            stateless_fields = _STATELESS_FIELDS if meta is None else f"{_STATELESS_FIELDS[:-1]},{encode(meta)[1:]}"
            fields = f"{fields},{stateless_fields}" if fields else stateless_fields
        return success(self.id, f"{{{fields}}}")


class Protocol:
    """Dispatches messages to methods; the tool list is loaded by the first message about tools."""

    def __init__(
        self, tools: Callable[[], ToolList], session_summary: Callable[[], SessionSummary | None] | None = None
    ) -> None:
        self._load_tools = tools
        self._tool_list: ToolList | None = None
        self._operations: dict[str, Operation] = {}
        """The tools that were called, by name: a client calls the same few again and again."""
        self._session_summary = session_summary
        """Reads the summary at the start of a session, for its instructions."""
        self.client = ""
        """The client's name from the handshake, if the protocol serves only one."""
        self._methods = {
            "tools/call": self._call,
            "ping": _ping,
            "tools/list": self._list,
            "initialize": self._initialize,
            "server/discover": self._discover,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._subscribe,
            "subscriptions/listen": self._listen,
            **dict.fromkeys(STORE_METHODS, self._store_request),
        }

    def note_client(self, message: Any) -> None:
        """Store the client's name if the message is its handshake; only for a protocol that serves one client."""
        if isinstance(message, dict) and message.get("method") == "initialize":
            params = message.get("params")
            self.client = client_name(params.get("clientInfo")) if isinstance(params, dict) else ""

    def answer(self, message: Any) -> Outcome:
        """Return the response to a message, the call to run, or None for a notification."""
        if not isinstance(message, dict):
            return self._refuse_invalid(message)
        request = _parse_request(message)
        if not isinstance(request, Request):
            return request
        invalid = _find_invalid_envelope(message, request)
        if invalid:
            return self._refuse_envelope(request, invalid)
        try:
            return self._methods.get(request.method, _unknown_method)(request)
        except Exception as error:
            if request.method == "tools/call":
                return tool_failure(request, error)
            moss_error = _to_moss_error(error)
            return failure(request.id, INTERNAL_ERROR, moss_error.message, moss_error.payload())

    def _list(self, request: Request) -> Outcome:
        if request.params.get("cursor") is not None:
            return failure(request.id, INVALID_PARAMS, "Invalid cursor: the tools come in one page")
        tools = self._tools().listing()
        return request.answer(f'"tools":{tools},{_CACHE_FIELDS}' if request.stateless else f'"tools":{tools}')

    def _initialize(self, request: Request) -> bytes:
        version = request.params.get("protocolVersion")
        if version is not None and not isinstance(version, str):
            return failure(request.id, INVALID_PARAMS, "Invalid params: protocolVersion must be a string")
        if version not in HANDSHAKE_VERSIONS:
            version = HANDSHAKE_VERSIONS[-1]
        return success(
            request.id,
            f'{{"protocolVersion":"{version}","capabilities":{encode(CAPABILITIES)},'
            f'"serverInfo":{encode(SERVER_INFO)},"instructions":{self._instructions()}}}',
        )

    def _discover(self, request: Request) -> bytes:
        request.stateless = True
        return request.answer(
            f'"supportedVersions":["{STATELESS_VERSION}"],"capabilities":{encode(CAPABILITIES)},'
            f'"instructions":{self._instructions()},{_CACHE_FIELDS}'
        )

    def _instructions(self) -> str:
        try:
            return encode(instructions(self._tools(), self._session_summary() if self._session_summary else None))
        except MossError:
            return encode(instructions(None))  # an invalid configuration is reported by the first call

    def _store_request(self, request: Request) -> Outcome:
        return StoreRequest(request, self._tools())

    def _subscribe(self, request: Request) -> Outcome:
        uri = request.params.get("uri")
        if request.stateless:
            return _unknown_method(request)
        if not isinstance(uri, str):
            return failure(request.id, INVALID_PARAMS, "Invalid params: uri must be a string")
        return SubscribeRequest(request, self._tools(), uri, wanted=request.method == "resources/subscribe")

    def _listen(self, request: Request) -> Outcome:
        notifications = request.params.get("notifications")
        if not request.stateless:
            return _unknown_method(request)
        uris = notifications.get("resourceSubscriptions") or [] if isinstance(notifications, dict) else None
        if (
            not isinstance(uris, list)
            or not isinstance(notifications, dict)
            or not all(isinstance(uri, str) for uri in uris)
        ):
            return failure(request.id, INVALID_PARAMS, "Invalid params: notifications must say what to listen to")
        return ListenRequest(request, self._tools(), uris, lists=notifications.get("resourcesListChanged") is True)

    def _call(self, request: Request) -> Outcome:
        params = request.params
        name = params.get("name")
        if not isinstance(name, str):
            return failure(request.id, INVALID_PARAMS, "Invalid params: name must be a string")
        tools = self._tool_list or self._tools()
        operation = self._operations.get(name) or self._operation(name)
        if operation is None:
            tool_name = messages.sanitize(name[:100])
            refusal = tools.refusal(tool_name, params.get("arguments"))
            hint = refusal.message.partition("; ")[2]  # many clients show only this message to the model
            message = f"Unknown tool: {tool_name}" + (f"; {hint}" if hint else "")
            return failure(request.id, INVALID_PARAMS, message, refusal.payload())
        arguments = params.get("arguments")
        if arguments is None:
            arguments = {}
        elif not isinstance(arguments, dict):
            return _invalid_call(request, operation, f"the arguments of `{name}` must be a JSON object")
        if operation.proxy:
            operation, arguments = tools.resolve_proxy(operation, arguments)
        call = ToolCall(request, tools, operation, arguments)
        call.actor = self.client
        meta = params.get("_meta")
        if meta:
            call.actor = client_name(meta.get(CLIENT_KEY)) or call.actor
            if CODE_KEY in meta:
                from moss_memory.code_state.sent_state import parse_sent  # few clients send it

                call.code = parse_sent(meta[CODE_KEY])
            token = meta.get("progressToken")
            call.progress_token = token if type(token) is str or type(token) is int else None
            call.idempotency_key = meta.get("idempotency_key")
        return call

    def _refuse_invalid(self, message: Any) -> bytes:
        """Return the refusal of an invalid message; a tool call that is too deep fails as a tool call."""
        if not isinstance(message, InvalidMessage):
            return failure(NO_ID, INVALID_REQUEST, "Invalid request: a message is a JSON object")
        json_id = id_text(message.id)
        if json_id is None:
            return failure(NO_ID, message.code, message.message)
        if message.method == "tools/call":
            request = Request(message.id, json_id, "tools/call", {})
            request.stateless = message.stateless
            return _invalid_call(request, self._operation(message.tool), message.message)
        return failure(json_id, message.code, message.message)

    def _refuse_envelope(self, request: Request, invalid: str) -> bytes:
        if request.method == "tools/call":
            operation = self._operation(request.params.get("name"))
            return _invalid_call(request, operation, f"the request contains {invalid}; remove it")
        return failure(request.id, INVALID_PARAMS, f"Invalid params: the request contains {invalid}")

    def _tools(self) -> ToolList:
        if self._tool_list is None:
            self._tool_list = self._load_tools()
        return self._tool_list

    def _operation(self, tool: object) -> Operation | None:
        operation = self._tools().find(tool) if isinstance(tool, str) else None
        if operation is not None:
            self._operations[str(tool)] = operation
        return operation


def tool_answer(call: ToolCall | Request, result: dict[str, Any], *, is_error: bool = False) -> bytes:
    """Return the response to a tool call: the result as structured content, and the same JSON as text.

    A program decodes exactly the stored text. A model reads the text without decoding it and sees invisible characters
    as escapes.
    """
    if isinstance(call, ToolCall) and call.as_sent is not None:
        result = call.as_sent(result)
    try:
        text = messages.visible(result.json if isinstance(result, PreserializedDict) else encode(result))
    except TypeError:
        return tool_failure(call, not_json())
    except ValueError:
        if "Infinity" not in json.dumps(result):  # a database cannot contain NaN: that would be a bug in Moss
            raise
        return tool_failure(call, not_json())
    ending = f'"isError":{"true" if is_error else "false"}{"," + _STATELESS_FIELDS if call.stateless else ""}}}}}'
    head = f'{{"jsonrpc":"2.0","id":{call.id},"result":{{"content":[{{"type":"text","text":'
    return b"".join((head.encode(), messages.quote_json(text), b'}],"structuredContent":', text, b",", ending.encode()))


def tool_failure(call: ToolCall | Request, error: BaseException) -> bytes:
    """Return the response to a failed tool call; an error other than `MossError` is logged and hidden."""
    moss_error = _to_moss_error(error)
    recovery = moss_error.recovery
    if isinstance(call, ToolCall):
        call.outcome = moss_error.code
        if recovery is not None:
            moss_error.recovery = call.tools.rewrite_for_client(recovery)
    return tool_answer(call, moss_error.payload(), is_error=True)


def _to_moss_error(error: BaseException) -> MossError:
    if not isinstance(error, MossError):
        limit_error = descriptor_limit_error(error)
        if limit_error is not None:
            return limit_error
        log_bug(error)
        return MossError("INTERNAL", "unexpected error in Moss; see its log on stderr")
    if error.code == "INTERNAL":
        log_bug(error.__cause__ or error)
    for note in getattr(error, "__notes__", ()):
        write_notice(note)  # it names the host or the role of a database, which is private
    return error


class ExceptionLog:
    """Verbosity of logged bugs: stdio logs the exception's text, a server with many clients only its type."""

    includes_message = True


def log_bug(error: BaseException) -> None:
    """Log a bug in Moss to stderr, which clients store as the server's log."""
    import traceback  # only a bug needs it

    if ExceptionLog.includes_message:
        write_notice("a bug:\n" + "".join(traceback.format_exception(error)))
    else:  # it may be text of the store
        write_notice(f"a bug: {type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}")


def _invalid_call(request: Request, operation: Operation | None, message: str) -> bytes:
    """Return the refusal of a tool call that cannot be decoded, with the error codes of the tool's family."""
    error = MossError("INVALID_REQUEST", message)
    if operation is not None and operation.translate_error is not None:
        error = operation.translate_error(error)
    return tool_failure(request, error)


def progress(token: str | int, done: int, total: int | None) -> bytes:
    params: dict[str, object] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    return messages.notification("notifications/progress", params)


def _parse_request(message: dict[str, Any]) -> Request | Outcome:
    """Return the request in a message, the refusal of a malformed one, or the outcome of a notification."""
    method = message.get("method")
    if "id" not in message:
        if isinstance(method, str):
            return _parse_notification(method, message.get("params"))
        if method is None and ("result" in message or "error" in message):
            return None
        return failure(NO_ID, INVALID_REQUEST, "Invalid request: method must be a string")
    key = message["id"]
    if method is None and ("result" in message or "error" in message):
        return None
    json_id = id_text(key)
    if json_id is None:
        return failure(NO_ID, INVALID_REQUEST, "Invalid request: id must be a string or an integer")
    if message.get("jsonrpc") != "2.0":
        return failure(json_id, INVALID_REQUEST, 'Invalid request: jsonrpc must be "2.0"')
    if not isinstance(method, str):
        return failure(json_id, INVALID_REQUEST, "Invalid request: method must be a string")
    params = message.get("params")
    if params is None:
        return Request(key, json_id, method, {})
    if not isinstance(params, dict):
        return failure(json_id, INVALID_PARAMS, "Invalid params: params must be an object")
    request = Request(key, json_id, method, params)
    meta = params.get("_meta")
    return request if meta is None else _mark_stateless(request, meta)


def id_text(id: object) -> str | None:
    """Return an id as ASCII JSON, so that any string is echoed exactly; None if it cannot be echoed."""
    if type(id) is int and id is not messages.TOO_MANY_DIGITS:
        return str(id)
    return json.dumps(id) if type(id) is str else None


def _mark_stateless(request: Request, meta: Any) -> Request | bytes:
    """Return the request, marked stateless if its `_meta` names a protocol version."""
    if not isinstance(meta, dict):
        return failure(request.id, INVALID_PARAMS, "Invalid params: _meta must be an object")
    if VERSION_KEY not in meta or request.method == "initialize":
        return request
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        return failure(request.id, INVALID_PARAMS, f"Invalid params: {VERSION_KEY} must be a string")
    if version != STATELESS_VERSION:
        data = {"supported": [STATELESS_VERSION], "requested": messages.sanitize(version)}
        return failure(request.id, UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    request.stateless = True
    return request


def client_name(info: Any) -> str:
    """Return the name in a client's description of itself, empty if there is none."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def _parse_notification(method: str, params: Any) -> Cancellation | None:
    if method == "notifications/cancelled" and isinstance(params, dict):
        key = params.get("requestId")
        if id_text(key) is not None:
            return Cancellation(key)
    return None


def _find_invalid_envelope(message: dict[str, Any], request: Request) -> str | None:
    """Return a description of the first invalid value outside a tool's arguments, which the store checks itself."""
    if len(message) - ("params" in message) > 3:
        invalid = messages.find_invalid([part for name, part in message.items() if name not in ("id", "params")])
        if invalid:
            return invalid
    params = request.params
    if request.method != "tools/call":
        return messages.find_invalid(params) if params else None
    if len(params) - ("arguments" in params) > 1:
        return messages.find_invalid([part for name, part in params.items() if name not in ("arguments", "name")])
    return None


def _unknown_method(request: Request) -> bytes:
    return failure(request.id, METHOD_NOT_FOUND, f"Method not found: {messages.sanitize(request.method[:100])}")


def _ping(request: Request) -> bytes:
    return request.answer("")
