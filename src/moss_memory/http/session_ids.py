"""Session ids: each contains its session and is signed, so that every process of the same store accepts it."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from moss_memory.mcp.protocol import HANDSHAKE_VERSIONS

_FORMAT = 1
_TIME_BYTES = 5
_TOKEN_BYTES = 8
_RANDOM_BYTES = 10
_HEAD_BYTES = 2 + _TIME_BYTES + _TOKEN_BYTES + _RANDOM_BYTES
_MAC_BYTES = 16
_CLIENT_BYTES = 60
_LONGEST = 2 * (_HEAD_BYTES + _CLIENT_BYTES + _MAC_BYTES)


@dataclass(slots=True)
class SessionInfo:
    """The content of a session id."""

    version: str
    client: str
    """The client's name from the handshake."""
    token: str
    """The beginning of the hash of the token that opened the session."""
    opened_s: int


def sign_session_id(key: bytes, version: str, client: str, token: str, now_s: float) -> str:
    """Return the id of a new session; `token` is the hash of the token that opens it."""
    name = client.encode("utf-8", "replace")[:_CLIENT_BYTES].decode("utf-8", "ignore").encode()
    content = b"".join((
        bytes((_FORMAT, HANDSHAKE_VERSIONS.index(version))),
        int(now_s).to_bytes(_TIME_BYTES, "big"),
        bytes.fromhex(token)[:_TOKEN_BYTES],
        secrets.token_bytes(_RANDOM_BYTES),
        name,
    ))  # fmt: skip
    return (content + _mac(key, content)).hex()


def read_session_id(keys: tuple[bytes, ...], id: str) -> SessionInfo | None:
    """Return the content of an id that one of these keys has signed, None for any other text."""
    signed = _bytes_of(id)
    content, mac = signed[:-_MAC_BYTES], signed[-_MAC_BYTES:]
    if not content or not any(hmac.compare_digest(_mac(key, content), mac) for key in keys):
        return None
    rest = content[2:]
    opened_s = int.from_bytes(rest[:_TIME_BYTES], "big")
    token = rest[_TIME_BYTES : _TIME_BYTES + _TOKEN_BYTES].hex()
    client = content[_HEAD_BYTES:].decode("utf-8", "replace")
    return SessionInfo(HANDSHAKE_VERSIONS[content[1]], client, token, opened_s)


def is_session_id(id: str) -> bool:
    return bool(_bytes_of(id))


def _bytes_of(id: str) -> bytes:
    """Return the bytes of a text with the form of an id, none for any other text."""
    if not 2 * (_HEAD_BYTES + _MAC_BYTES) <= len(id) <= _LONGEST:
        return b""
    try:
        signed = bytes.fromhex(id)
    except ValueError:
        return b""
    return signed if signed.hex() == id and signed[0] == _FORMAT and signed[1] < len(HANDSHAKE_VERSIONS) else b""


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")[:_MAC_BYTES]
