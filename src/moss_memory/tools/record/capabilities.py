"""The registry of capabilities, the schemas of payloads: seven built-in files and those of the user."""

from __future__ import annotations

import os

from moss_memory.errors import MossError, find_alike, invalid_request
from moss_memory.registry.decode import PLACEHOLDER, is_placeholder
from moss_memory.rows.times import instant_us
from moss_memory.storage.files.json_files import json_files, read_object, shown_path

from .entity_ids import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BODY_MAX_CHARS = 1_000_000
FIELD_TYPES = ("string", "text", "time", "number", "boolean", "object", "array<string>", "array<object>")
_FIELD_KEYS = {"type", "required", "enum", "set", "search", "event", "ref"}
_FILE_KEYS = {"capability_id", "entity_type", "fields", "identity", "title"}
_BUILT_IN = os.path.join(os.path.dirname(__file__), "capabilities")
_NAME_MAX_CHARS = 128
_MESSAGE_CHARS = 300
_PROBLEMS_SHOWN = 10
_ERRORS_SHOWN = 20
_ERRORS_NAMED = 5
"""The maximum number of violations in a message; the details have all."""


class Capability:
    """The schema of one kind of payload, and the identity of its entity."""

    __slots__ = ("capability_id", "entity_type", "fields", "identity", "source", "title")

    def __init__(self, raw: dict[str, Any], source: str) -> None:
        self.capability_id: str = raw["capability_id"]
        self.entity_type: str = raw["entity_type"]
        self.fields: dict[str, dict[str, Any]] = raw["fields"]
        self.identity: list[str] = raw["identity"]
        self.title: str = raw["title"]
        self.source = source

    def check(self, body: dict[str, Any]) -> None:
        """Refuse a body that the capability does not allow, with all its violations and their paths."""
        errors = self.errors_in(body)
        if errors:
            raise combine(errors)

    def errors_in(self, body: dict[str, Any]) -> list[MossError]:
        """Return every violation of the capability by a body, each with its path."""
        if len(canonical(body)) > BODY_MAX_CHARS:
            return [invalid_request(f"`body` has more than {BODY_MAX_CHARS} characters of JSON; split it", path="body")]
        unknown = [name for name in body if name not in self.fields]
        errors = [
            unknown_field(f"body.{name[:100]}", name, self.entity_type, list(self.fields))
            for name in unknown[:_ERRORS_SHOWN]
        ]
        for name, field in self.fields.items():
            path = f"body.{name}"
            if body.get(name) is None:
                if field.get("required"):
                    errors.append(invalid_request(f"{path} is required by {self.capability_id}; add it", path=path))
                continue
            try:
                _check_value(body[name], field, path)
            except MossError as error:
                errors.append(error)
        return errors

    def complete(self, body: dict[str, Any], errors: list[MossError]) -> dict[str, Any]:
        """Return a body without unknown fields, with a placeholder for each field that is missing or invalid."""
        wrong = {str((error.details or {}).get("path")) for error in errors}
        completed = {name: value for name, value in body.items() if name in self.fields}
        for name in body:
            like = find_alike(name, self.fields) if name not in self.fields else None
            if like is not None and like not in completed:
                completed[like] = body[name]
                wrong.discard(f"body.{like}")
        for name, field in self.fields.items():
            if any(path == f"body.{name}" or path.startswith(f"body.{name}[") for path in wrong):
                completed[name] = f"{PLACEHOLDER} {_expected(field)})"
        return completed

    def example(self) -> dict[str, Any]:
        """Return a small valid body: the required fields."""
        required = {name: field for name, field in self.fields.items() if field.get("required")}
        chosen = required or {name: self.fields[name] for name in self.identity}
        return {name: _example(name, field) for name, field in chosen.items()}

    def to_response(self) -> dict[str, Any]:
        names = {"capability_id": self.capability_id, "entity_type": self.entity_type, "identity": self.identity}
        fields = {
            name: {
                "type": field["type"],
                "required": bool(field.get("required")),
                **{key: field[key] for key in ("enum", "set") if field.get(key)},
            }
            for name, field in self.fields.items()
        }
        return {**names, "fields": fields, "example": self.example()}


def unknown_field(path: str, name: str, entity_type: str, known: list[str]) -> MossError:
    """Return the error for a field that a type of entity does not have, with the nearest one."""
    like = find_alike(name, known)
    hint, details = ("", {}) if like is None else (f"; the nearest is {like!r}", {"nearest": like})
    return invalid_request(
        f"{path} is no field of {entity_type}{hint} (known: {', '.join(known)})", path=path, **details
    )


def combine(errors: list[MossError]) -> MossError:
    """Return several violations as one error, with the details of the first and a list of all."""
    listed = [{"path": (error.details or {}).get("path", "body"), "message": error.message} for error in errors]
    message = "; ".join(error.message for error in errors[:_ERRORS_NAMED])
    suffix = f"; and {len(errors) - _ERRORS_NAMED} more" if len(errors) > _ERRORS_NAMED else ""
    return invalid_request(message + suffix, **{**(errors[0].details or {}), "errors": listed})


def _expected(field: dict[str, Any]) -> str:
    if "enum" in field:
        return f"one of {', '.join(field['enum'])}"
    kinds = {"time": "an ISO 8601 time", "array<string>": "a list of strings", "array<object>": "a list of objects"}
    return kinds.get(field["type"], f"a {field['type']}")


def _example(name: str, field: dict[str, Any]) -> Any:
    if "enum" in field:
        return field["enum"][0]
    values = {"time": "2026-01-31T09:00:00Z", "number": 1, "boolean": True, "object": {}, "array<object>": [{}]}
    text = f"the {name.replace('_', ' ')}"
    return values.get(field["type"], [text] if field["type"] == "array<string>" else text)


class Registry:
    """All capabilities by id, and the files that are invalid."""

    __slots__ = ("capabilities", "problems")

    def __init__(self) -> None:
        self.capabilities: dict[str, Capability] = {}
        self.problems: list[dict[str, str]] = []

    def find(self, capability_id: str) -> Capability:
        """Return a capability by its id, or by a type of entity that only one has; refuse an unknown one."""
        capability = self.capabilities.get(capability_id)
        if capability is not None:
            return capability
        typed = self.of_type(capability_id)
        if len(typed) == 1:
            return typed[0]
        known_ids = sorted(self.capabilities)
        names = {candidate.entity_type: candidate.capability_id for candidate in self.capabilities.values()}
        alike = find_alike(capability_id, [*self.capabilities, *names])
        like = None if alike is None else names.get(alike, alike)
        suggestion = f"did you mean {like}? " if like else ""
        broken = "".join(
            f"; {problem['file']} cannot be used: {problem['message']}" for problem in self.problems[:_PROBLEMS_SHOWN]
        )
        raise MossError(
            "UNKNOWN_CAPABILITY",
            f"there is no capability {capability_id[:100]!r}; {suggestion}known: {', '.join(known_ids)}{broken}",
            details={
                "known": known_ids,
                **({"nearest": like} if like else {}),
                **({"problems": self.problems[:_PROBLEMS_SHOWN]} if self.problems else {}),
            },
        )

    def of_type(self, entity_type: str) -> list[Capability]:
        return [capability for capability in self.capabilities.values() if capability.entity_type == entity_type]


_loaded: dict[str, tuple[list[tuple[str, int, int, int]], Registry]] = {}
"""The registry of each home, with the files of the user that it was read from."""


def registry_of(home: str) -> Registry:
    """Return the registry of a store; read it again if its files changed."""
    folder = os.path.join(home, "capabilities")
    files = _list_files(folder)
    known_files, loaded = _loaded.get(home, (None, None))
    if loaded is not None and known_files == files:
        return loaded
    registry = Registry()
    _load(registry, _BUILT_IN, "built-in")
    _load(registry, folder, "user")
    _loaded[home] = (files, registry)
    return registry


def _list_files(folder: str) -> list[tuple[str, int, int, int]]:
    """Return the files of a folder with their times and sizes."""
    file_states = []
    for name in json_files(folder):
        file = os.path.join(folder, name)
        try:
            status = os.stat(file)
        except OSError:
            continue
        # Also ctime: chmod and `cp -p` do not change mtime.
        file_states.append((file, status.st_mtime_ns, status.st_ctime_ns, status.st_size))
    return file_states


def _load(registry: Registry, folder: str, source: str) -> None:
    for name in json_files(folder):
        path = os.path.join(folder, name)
        try:
            raw = read_object(path, what="capability")
            _check_file(raw)
            if raw["capability_id"] in registry.capabilities:
                raise ValueError(f"{raw['capability_id']!r} is already there; use another capability_id")
        except (ValueError, MossError) as error:
            message = str(getattr(error, "message", error))[:_MESSAGE_CHARS]
            registry.problems.append({"file": shown_path(path), "message": message})
            continue
        registry.capabilities[raw["capability_id"]] = Capability(raw, source)


def _check_file(raw: dict[str, Any]) -> None:
    """Raise ValueError if a file is not a valid capability."""
    missing = sorted(_FILE_KEYS - raw.keys())
    unknown = sorted(raw.keys() - _FILE_KEYS)
    if missing or unknown:
        raise ValueError(f"it lacks {', '.join(missing)}" if missing else f"it has unknown keys {', '.join(unknown)}")
    for name in ("capability_id", "entity_type", "title"):
        if not isinstance(raw[name], str) or not raw[name].strip() or len(raw[name]) > _NAME_MAX_CHARS:
            raise ValueError(f"{name} must be a string of 1 to {_NAME_MAX_CHARS} characters")
    if not isinstance(raw["fields"], dict) or not raw["fields"]:
        raise ValueError("fields must be an object that names at least one field")
    for name, field in raw["fields"].items():
        _check_field(name, field)
    _check_identity(raw)


def _check_identity(raw: dict[str, Any]) -> None:
    identity = raw["identity"]
    if not isinstance(identity, list) or not identity or not all(isinstance(name, str) for name in identity):
        raise ValueError("identity must be a list of field names")
    for name in (*identity, raw["title"]):
        if name not in raw["fields"]:
            raise ValueError(f"{name!r} in identity or title is no field")
    for name in identity:
        if raw["fields"][name]["type"] not in ("string", "text", "time", "number", "boolean"):
            raise ValueError(f"identity field {name!r} must be a string, text, time, number or boolean")


def _check_field(name: str, field: Any) -> None:
    if not name or len(name) > _NAME_MAX_CHARS:
        raise ValueError("the name of a field must have 1 to 128 characters")
    if not isinstance(field, dict) or field.get("type") not in FIELD_TYPES:
        raise ValueError(f"field {name!r} needs a type, one of {', '.join(FIELD_TYPES)}")
    unknown = sorted(field.keys() - _FIELD_KEYS)
    if unknown:
        raise ValueError(f"field {name!r} has unknown keys {', '.join(unknown)}")
    for flag in ("required", "set", "search", "ref"):
        if not isinstance(field.get(flag, False), bool):
            raise ValueError(f"{flag} of field {name!r} must be true or false")
    enum = field.get("enum")
    if enum is not None and not (isinstance(enum, list) and enum and all(isinstance(value, str) for value in enum)):
        raise ValueError(f"enum of field {name!r} must be a list of strings")
    if "event" in field and (field["type"] != "time" or not isinstance(field["event"], str) or not field["event"]):
        raise ValueError(f"event of field {name!r} needs the type time and a name")
    for key, phrase, types in (
        ("enum", "has an enum", ("string", "text")),
        ("set", "is a set", ("array<string>",)),
        ("ref", "refers to entities", ("string", "array<string>")),
    ):
        if field.get(key) and field["type"] not in types:
            raise ValueError(f"field {name!r} {phrase}, so its type must be {' or '.join(types)}")


def _check_value(value: Any, field: dict[str, Any], path: str) -> None:
    kind = field["type"]
    if kind.startswith("array<"):
        if not isinstance(value, list):
            raise invalid_request(f"{path} must be an array", path=path)
        inner = str if kind == "array<string>" else dict
        for index, item in enumerate(value):
            if not isinstance(item, inner):
                noun = "a string" if inner is str else "an object"
                raise invalid_request(f"{path}[{index}] must be {noun}", path=f"{path}[{index}]")
        return
    expected: dict[str, Any] = {
        "string": str, "text": str, "time": str, "number": (int, float), "boolean": bool, "object": dict,
    }  # fmt: skip
    if not isinstance(value, expected[kind]) or (kind == "number" and isinstance(value, bool)):
        article = "an" if kind in ("object", "time") else "a"
        raise invalid_request(f"{path} must be {article} {'ISO 8601 time' if kind == 'time' else kind}", path=path)
    if isinstance(value, str) and is_placeholder(value):
        raise invalid_request(f"{path} still says {value[:100]!r}; say what it is", path=path)
    if kind == "time":
        instant_us(value, what=path)
    if "enum" in field and value not in field["enum"]:
        allowed = ", ".join(field["enum"])
        raise invalid_request(
            f"{path} is {str(value)[:100]!r}; it must be one of {allowed}", path=path, allowed=field["enum"]
        )
