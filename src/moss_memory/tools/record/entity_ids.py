"""Ids derived from content, which are equal in every store."""

from __future__ import annotations

import json
import os

from moss_memory.rows.times import exact_instant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .capabilities import Capability

_NAMESPACE = bytes.fromhex("8f1d2c64b8a14d0f9a4ce0f7c5b3a921")
"""The namespace of payload ids, which are UUIDs of version 5."""
VALUE_MAX_CHARS = 200


def canonical(value: Any) -> str:
    """Return canonical JSON: keys sorted, no whitespace, whole numbers without a fraction."""
    return json.dumps(_integral_floats_to_int(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _integral_floats_to_int(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _integral_floats_to_int(part) for name, part in value.items()}
    return [_integral_floats_to_int(part) for part in value] if isinstance(value, list) else value


def canonical_hash(value: Any) -> str:
    import hashlib  # only records need it

    return hashlib.sha256(canonical(value).encode()).hexdigest()


def content_id(capability_id: str, body: dict[str, Any], source_refs: list[str], extractor: str | None) -> str:
    """Return the hash that identifies a record's content; agent and time are not part of it."""
    return canonical_hash([capability_id, body, sorted(source_refs), extractor])


def payload_id(workspace_norm: str, content: str) -> str:
    """Return a record's id: a UUID (version 5) of its workspace and its content."""
    import hashlib

    name = json.dumps([workspace_norm, content]).encode()
    raw = bytearray(hashlib.sha1(_NAMESPACE + name, usedforsecurity=False).digest()[:16])
    raw[6] = raw[6] & 0x0F | 0x50
    raw[8] = raw[8] & 0x3F | 0x80
    return _format_uuid(bytes(raw))


def submission_id(now_ms: int) -> str:
    """Return a new UUID (version 7), ordered by time."""
    raw = bytearray(now_ms.to_bytes(6, "big") + os.urandom(10))
    raw[6] = raw[6] & 0x0F | 0x70
    raw[8] = raw[8] & 0x3F | 0x80
    return _format_uuid(bytes(raw))


def _format_uuid(raw: bytes) -> str:
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def entity_id(capability: Capability, body: dict[str, Any]) -> str:
    """Return the id of a payload's entity from its identity fields; a missing field differs from an empty one."""
    parts = [_identity_part(body.get(name), capability.fields[name]["type"]) for name in capability.identity]
    return f"ent_{canonical_hash([capability.entity_type, parts])[:32]}"


def event_id(entity: str, field: str, at: str) -> str:
    """Return the id of an event, equal for all records that report it."""
    return f"evt_{canonical_hash([entity, field, exact_instant(at, what='time')])[:32]}"


def property_value(value: Any, kind: str) -> str:
    """Return a scalar in the form that property filters compare: times as instants, long values as hashes."""
    if kind == "time" and isinstance(value, str):
        value = ["t", exact_instant(value, what="time")]
    text = canonical(value)
    return text if len(text) <= VALUE_MAX_CHARS else f"#{canonical_hash(value)}"


def _identity_part(value: Any, kind: str) -> Any:
    """Return one part of an identity: text in normal form, time as an instant, None if it is missing."""
    if value is None:
        return None
    if kind == "time":
        return ["t", exact_instant(value, what="time")]
    return ["s", _normal_form(value)] if isinstance(value, str) else ["v", value]


def _normal_form(text: str) -> str:
    """Return the normal form of names without their limits: NFC, stripped, lower case, single spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    import unicodedata

    lowered = unicodedata.normalize("NFC", text).strip().lower()
    return unicodedata.normalize("NFC", " ".join(lowered.split()))
