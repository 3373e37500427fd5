"""The stateless protocol version over HTTP: headers that must repeat parts of the body.

Proxies route by the headers and the server acts by the body, so both must agree.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from moss_memory.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NO_ID,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Failure,
    failure,
)
from moss_memory.mcp.protocol import STATELESS_VERSION, VERSION_KEY, id_text

CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_NAME_FIELDS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BAD_REQUEST = (PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, HEADER_MISMATCH, UNSUPPORTED_VERSION)
_STATUS = {METHOD_NOT_FOUND: 404, **dict.fromkeys(_BAD_REQUEST, 400)}
_ENCODED = ("=?base64?", "?=")
_REMOVED_METHODS = ("initialize", "ping", "resources/subscribe", "resources/unsubscribe")
"""Methods that the stateless protocol version no longer has."""


def http_status(answer: bytes) -> int:
    return _STATUS.get(answer.code, 200) if isinstance(answer, Failure) else 200


def header_mismatch(message: dict[str, Any], headers: dict[bytes, bytes]) -> Failure | None:
    """Return the refusal of a request whose headers contradict its body; None if they agree."""
    key = message.get("id")
    key_text = id_text(key) or NO_ID
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    required_keys = (VERSION_KEY, CAPABILITIES_KEY)
    missing = [required for required in required_keys if not isinstance(meta, dict) or required not in meta]
    if missing or not isinstance(meta, dict) or not isinstance(params, dict):
        return failure(key_text, INVALID_PARAMS, f"Invalid params: _meta must hold {' and '.join(missing)}")
    if _header(headers, b"mcp-protocol-version") != meta[VERSION_KEY]:
        return failure(key_text, HEADER_MISMATCH, f"Header mismatch: MCP-Protocol-Version differs from {VERSION_KEY}")
    method = message.get("method")
    if _header(headers, b"mcp-method") != method:
        return failure(key_text, HEADER_MISMATCH, "Header mismatch: Mcp-Method is not the method of the request")
    if method in _REMOVED_METHODS:
        return failure(key_text, METHOD_NOT_FOUND, f"Method not found: {method} is not of version {STATELESS_VERSION}")
    field = _NAME_FIELDS.get(method) if isinstance(method, str) else None
    name = params.get(field) if field is not None else None
    if name is not None and _decode_header(_header(headers, b"mcp-name")) != name:
        return failure(key_text, HEADER_MISMATCH, f"Header mismatch: Mcp-Name is not the {field} of the request")
    return None


def unsupported_version(version: str) -> Failure:
    data = {"supported": [STATELESS_VERSION], "requested": version[:100]}
    return failure(NO_ID, UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def _header(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.strip(b" \t").decode("latin-1")


def _decode_header(value: str | None) -> str | None:
    """Decode a header value, plain or in base64; None if the base64 is invalid."""
    prefix, suffix = _ENCODED
    if value is None or not (value.startswith(prefix) and value.endswith(suffix)):
        return value
    payload = value[len(prefix) : -len(suffix)]
    try:
        decoded = base64.b64decode(payload, validate=True)
        return decoded.decode() if base64.b64encode(decoded).decode() == payload else None
    except (binascii.Error, UnicodeDecodeError):
        return None
