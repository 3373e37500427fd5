"""JSON-RPC on single lines: parsing of any input, encoding of answers."""

from __future__ import annotations

import json

from moss_memory.registry.invisible import escape_json, escape_text, has_invisible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
HEADER_MISMATCH = -32020

MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 67
"""Levels of nesting in a message: 64 in one argument of a tool, below message, params and arguments."""

NO_ID = "null"
_ADDRESS_KEYS = {1: ("id", "method"), 2: ("name",)}
"""Keys by which an unparsable message is answered, by depth: of the message and of its params."""

TOO_MANY_DIGITS = 1 << 64
"""Stands for an integer that Python refuses to convert."""
_INT64 = 1 << 63

encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
"""A value as compact JSON."""

_decode = json.JSONDecoder().decode


def visible(text: str) -> bytes:
    """Return a JSON text in UTF-8 with invisible characters as escapes."""
    data = to_bytes(text)
    if data.isascii() and b"\x7f" not in data:
        return data
    return to_bytes(escape_json(text)) if has_invisible(text, data) else data


def quote_json(data: bytes) -> bytes:
    """Return a JSON text as a JSON string; it has no control characters, so this is twice as fast as `encode`."""
    return b'"%b"' % data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


class InvalidMessage:
    """A message that cannot be served, with those of its id, method and tool that could be read."""

    __slots__ = ("code", "id", "message", "method", "stateless", "tool")

    def __init__(
        self, code: int, message: str, *, id: object = None, method: object = None, tool: object = None
    ) -> None:
        self.code = code
        self.message = message
        self.id = id
        self.method = method
        self.tool = tool
        self.stateless = False
        """True if its answer needs the fields of the stateless protocol version."""


def parse_line(line: bytes) -> Any:
    """Parse a line into a message, a list of messages or an `InvalidMessage`."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return InvalidMessage(PARSE_ERROR, "Parse error: the line is not UTF-8")
    try:
        message = _decode(text)
    except RecursionError:
        return _refuse_too_deep(text)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            return InvalidMessage(PARSE_ERROR, f"Parse error: {error.msg} at column {error.colno}")
        # Python refuses to convert integers of thousands of digits; they stay readable as out of range.
        message = json.loads(text, parse_int=_any_integer)
    if line.count(b"{") + line.count(b"[") > MAX_DEPTH:
        return [_refuse_deep(part) for part in message] if isinstance(message, list) else _refuse_deep(message)
    return message


def _any_integer(digits: str) -> int:
    return int(digits) if len(digits) < 4000 else TOO_MANY_DIGITS


def _refuse_deep(message: Any) -> Any:
    if not _deeper_than(MAX_DEPTH, message):
        return message
    if not isinstance(message, dict):
        return InvalidMessage(INVALID_REQUEST, "Invalid request: a message is a JSON object")
    params = message.get("params")
    return _too_deep(message.get("id"), message.get("method"), params.get("name") if isinstance(params, dict) else None)


def _too_deep(id: object, method: object, tool: object) -> InvalidMessage:
    return InvalidMessage(
        INVALID_REQUEST, "the message is nested deeper than 64 levels", id=id, method=method, tool=tool
    )


def _deeper_than(limit: int, value: object) -> bool:
    level = [value]
    for _ in range(limit):
        below: list[object] = []
        for part in level:
            if isinstance(part, dict):
                below.extend(part.values())
            elif isinstance(part, list):
                below.extend(part)
        if not below:
            return False
        level = below
    return any(isinstance(part, (dict, list)) for part in level)


def _refuse_too_deep(text: str) -> InvalidMessage:
    """Return the refusal of a message too deep for the parser, with its top-level `id` and the tool's name."""
    import re  # only a hostile line needs it

    address: dict[str, object] = {}
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]++|\\.)*+"(\s*+:\s*+)?|[\[{]++|[\]}]++', text, re.DOTALL):
        first_char = token[0][0]
        if first_char in "[{":
            depth += len(token[0])
        elif first_char in "]}":
            depth -= len(token[0])
        elif depth in (1, 2) and token[1] is not None:
            key = token[0][1 : token[0].rindex('"')]
            if key in _ADDRESS_KEYS[depth] and text[token.end() : token.end() + 1] not in ("{", "["):
                address[key] = _scalar_at(text, token.end())
                if len(address) == 3:
                    break
    if not text.lstrip().startswith("{"):
        address.clear()
    return _too_deep(address.get("id"), address.get("method"), address.get("name"))


def _scalar_at(text: str, position: int) -> object:
    try:
        value: object = json.JSONDecoder(parse_int=_any_integer).raw_decode(text, position)[0]
    except ValueError:
        return None
    return value


def find_invalid(value: object) -> str | None:
    """Return a description of the first value that does not survive a round trip through JSON; None if all do."""
    if isinstance(value, str):
        if "\0" in value:
            return "a NUL character"
        return None if value.isascii() or sanitize(value) == value else "half of a surrogate pair"
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return None if -_INT64 <= value < _INT64 else "an integer beyond 64 bits"
    if isinstance(value, float):
        return None if value - value == 0 else "a number that is not finite"
    if isinstance(value, dict):
        return _find_first_invalid(value) or _find_first_invalid(value.values())
    return _find_first_invalid(value) if isinstance(value, list) else None


def _find_first_invalid(values: Iterable[object]) -> str | None:
    for value in values:
        description = find_invalid(value)
        if description:
            return description
    return None


def sanitize(text: str) -> str:
    """Replace halves of surrogate pairs in a text."""
    return text.encode("utf-8", "replace").decode()


def success(id: str, result: str) -> bytes:
    """Return a response with a result; both arguments are JSON."""
    return to_bytes(f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}')


class Failure(bytes):
    """A response with a JSON-RPC error, and its code."""

    code = 0


def failure(id: str, code: int, message: str, data: object = None) -> Failure:
    error: dict[str, object] = {"code": code, "message": escape_text(message)}
    if data is not None:
        error["data"] = data
    response = Failure(to_bytes(f'{{"jsonrpc":"2.0","id":{id},"error":{encode(error)}}}'))
    response.code = code
    return response


def notification(method: str, params: dict[str, object]) -> bytes:
    return to_bytes(f'{{"jsonrpc":"2.0","method":"{method}","params":{encode(params)}}}')


def to_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair is written as the JSON escape of the input.
        return text.encode("utf-8", "backslashreplace")
