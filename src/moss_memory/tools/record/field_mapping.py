"""Conversion of bodies to a capability: renamed fields, translated values, added constants."""

from __future__ import annotations

from moss_memory.errors import invalid_request

from .spool import COLLECTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .capabilities import Capability

PARTS = ("rename", "values", "constants")
PROVENANCE = ("source_refs", "extracted_at", "extractor_version", "agent_id")
"""The fields of a file's provenance that are accepted; others are stored as unmapped."""


class Mapping:
    """The content of a file for `moss record migrate --map`, by collection."""

    def __init__(self, raw: dict[str, Any]) -> None:
        for collection, parts in raw.items():
            if collection not in COLLECTIONS:
                known_names = ", ".join(COLLECTIONS)
                raise invalid_request(f"the map names no collection with {collection!r} (known: {known_names})")
            if not isinstance(parts, dict) or set(parts) - set(PARTS):
                raise invalid_request(f"the map of {collection} must be an object of {', '.join(PARTS)}")
            for part, members in parts.items():
                where = f"{part} of {collection} in the map"
                if not isinstance(members, dict):
                    raise invalid_request(f"{where} must be an object")
                if part == "rename" and not all(isinstance(name, str) for name in members.values()):
                    raise invalid_request(f"{where} must say the name of each field")
                if part == "values" and not all(isinstance(words, dict) for words in members.values()):
                    raise invalid_request(f"{where} must say for each field which word becomes which")
        self._raw = raw

    def apply(self, collection: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with fields renamed, values translated, and constants for absent fields."""
        parts = self._raw.get(collection, {})
        names, words = parts.get("rename", {}), parts.get("values", {})
        mapped: dict[str, Any] = {}
        for name, value in body.items():
            known_as = names.get(name, name)
            if known_as in mapped:
                raise ValueError(f"{name[:100]} and another field are both to be {known_as[:100]}; rename one of them")
            mapped[known_as] = _translate(value, words.get(known_as, {}))
        return {**parts.get("constants", {}), **mapped}


def _translate(value: Any, words: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_translate(item, words) for item in value]
    return words.get(value, value) if isinstance(value, str) else value


def unpack(found: Any) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Return each body of a file with its provenance and further fields: one, an array, or `{body, provenance}`."""
    entries = found if isinstance(found, list) else [found]
    result = []
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise ValueError(f"entry {index} of the array is no object")
        provenance: Any = {}
        if isinstance(entry.get("body"), dict) and not set(entry) - {"body", "provenance"}:
            entry, provenance = entry["body"], entry.get("provenance") or {}
        if not isinstance(provenance, dict):
            raise ValueError(f"the provenance of entry {index} is no object")
        accepted = {name: value for name, value in provenance.items() if name in PROVENANCE}
        result.append((entry, accepted, {name: value for name, value in provenance.items() if name not in accepted}))
    return result


def split_workspace(found: Any) -> tuple[Any, str | None]:
    """Return the content of a file without the workspace beside its body, and that workspace or None."""
    if not (isinstance(found, dict) and isinstance(found.get("body"), dict) and "workspace" in found):
        return found, None
    if not isinstance(found["workspace"], str):
        raise ValueError("the workspace next to the body is not a text")
    return {name: value for name, value in found.items() if name != "workspace"}, found["workspace"]


def split_fields(capability: Capability, body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a body that a capability has, and the others."""
    known_fields = {name: value for name, value in body.items() if name in capability.fields}
    return known_fields, {name: value for name, value in body.items() if name not in known_fields}
