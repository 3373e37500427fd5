"""Helpers of the record tests: the documented capabilities, samples, and readers of records."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contract.doors import Door
    from moss_memory.errors import MossError

TYPES = (
    "feature_unit", "release", "agent_decision", "agent_session", "validation_result", "codebase_entity",
    "architectural_decision",
)  # fmt: skip
FIELDS: dict[str, dict[str, str]] = {
    "feature_unit": {
        "id": "string!", "description": "string!", "status": "string!", "dependencies": "array<string>",
        "risk_level": "string", "created_at": "time!", "updated_at": "time!",
    },
    "release": {
        "id": "string!", "version": "string!", "feature_units": "array<string>", "status": "string!",
        "acceptance_criteria": "array<string>", "date": "time", "notes": "string", "created_at": "time!",
        "updated_at": "time!",
    },
    "agent_decision": {
        "decision": "string!", "rationale": "string!", "context": "string", "timestamp": "time!",
        "related_entities": "array<string>",
    },
    "agent_session": {
        "session_id": "string!", "actions": "array<object>", "checkpoints": "array<object>", "outcomes": "string",
        "started_at": "time!", "ended_at": "time",
    },
    "validation_result": {
        "validation_type": "string!", "status": "string!", "details": "object", "timestamp": "time!",
        "related_entity_id": "string",
    },
    "codebase_entity": {
        "name": "string!", "type": "string!", "description": "string", "location": "string",
        "dependencies": "array<string>", "created_at": "time!", "updated_at": "time!",
    },
    "architectural_decision": {
        "decision": "string!", "rationale": "string!", "impact": "string", "alternatives": "array<string>",
        "timestamp": "time!", "related_entities": "array<string>",
    },
}  # fmt: skip
"""The documented fields of each type; `!` marks required fields."""
ENUMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("feature_unit", "status"): ("planning", "in_progress", "completed", "deployed", "deferred", "cancelled"),
    ("feature_unit", "risk_level"): ("low", "medium", "high"),
    ("release", "status"): ("planning", "in_progress", "completed", "deployed"),
    ("validation_result", "status"): ("passed", "failed", "skipped"),
    ("codebase_entity", "type"): ("subsystem", "component", "pattern"),
}
IDENTITY: dict[str, tuple[str, ...]] = {
    "feature_unit": ("id",),
    "release": ("id",),
    "agent_decision": ("decision", "timestamp"),
    "agent_session": ("session_id",),
    "validation_result": ("validation_type", "related_entity_id", "timestamp"),
    "codebase_entity": ("name", "type"),
    "architectural_decision": ("decision", "timestamp"),
}
SETS = ("dependencies", "feature_units", "acceptance_criteria", "alternatives", "related_entities")
EVENT_OF = {
    "created_at": "created",
    "updated_at": "updated",
    "started_at": "started",
    "ended_at": "ended",
    "timestamp": "recorded",
    "date": "released",
}
SAMPLES: dict[str, dict[str, Any]] = {
    "feature_unit": {
        "id": "FU-100", "description": "Sign tokens with a key that rotates", "status": "in_progress",
        "dependencies": ["FU-090"], "risk_level": "medium", "created_at": "2025-11-03T09:00:00Z",
        "updated_at": "2025-11-04T10:30:00Z",
    },
    "release": {
        "id": "v1.4.0", "version": "1.4.0", "feature_units": ["FU-100", "FU-101"], "status": "planning",
        "acceptance_criteria": ["no one is logged out"], "date": "2025-11-20T08:00:00Z",
        "notes": "Rotation comes with it", "created_at": "2025-11-05T08:00:00Z",
        "updated_at": "2025-11-06T08:00:00Z",
    },
    "agent_decision": {
        "decision": "Rotate the key every week", "rationale": "A leaked key must age quickly",
        "context": "review of the login service", "timestamp": "2025-11-07T12:00:00Z",
        "related_entities": ["FU-100"],
    },
    "agent_session": {
        "session_id": "session-7", "actions": [{"tool": "edit", "file": "keys.py"}], "checkpoints": [{"step": 1}],
        "outcomes": "success", "started_at": "2025-11-08T09:00:00Z", "ended_at": "2025-11-08T11:15:00Z",
    },
    "validation_result": {
        "validation_type": "test", "status": "passed", "details": {"suite": "login", "count": 41, "slow": [1.5, True]},
        "timestamp": "2025-11-09T07:45:00Z", "related_entity_id": "FU-100",
    },
    "codebase_entity": {
        "name": "Key ring", "type": "component", "description": "Holds the signing keys", "location": "src/keys.py",
        "dependencies": ["Clock"], "created_at": "2025-11-10T06:00:00Z", "updated_at": "2025-11-11T06:00:00Z",
    },
    "architectural_decision": {
        "decision": "Keep keys in one file", "rationale": "Backups stay simple", "impact": "One lock for all writers",
        "alternatives": ["a key server", "one file a key"], "timestamp": "2025-11-12T05:00:00Z",
        "related_entities": ["Key ring"],
    },
}  # fmt: skip
"""A body of each type with all of its fields."""
EARLY, LATE = {"extracted_at": "2025-12-01T00:00:00Z"}, {"extracted_at": "2025-12-02T00:00:00Z"}


def capability_of(kind: str) -> str:
    return f"neotoma:store_{kind}:v1"


def required_of(kind: str) -> list[str]:
    return [name for name, form in FIELDS[kind].items() if form.endswith("!")]


def times_of(kind: str) -> list[str]:
    return [name for name, form in FIELDS[kind].items() if form.startswith("time")]


def fields_of(*forms: str) -> list[tuple[str, str]]:
    """Return every field with one of these forms, required or not, as pairs of type and field."""
    return [(kind, name) for kind in TYPES for name, form in FIELDS[kind].items() if form.rstrip("!") in forms]


def without(kind: str, *names: str) -> dict[str, Any]:
    """Return the sample of a type without some of its fields."""
    return {name: value for name, value in SAMPLES[kind].items() if name not in names}


def other_value(kind: str, name: str) -> Any:
    """Return a valid value of a field that differs from its sample."""
    if (kind, name) in ENUMS:
        return next(value for value in ENUMS[kind, name] if value != SAMPLES[kind][name])
    values = {"string": "other", "time": "2020-01-01", "array<string>": ["z"], "array<object>": [{"z": 1}]}
    return values.get(FIELDS[kind][name].rstrip("!"), {"z": 1})


class Archive:
    """The four record tools of one interface; a submission is a sample with changes."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.home = door.home

    def submit(self, kind: str, /, **said: Any) -> dict[str, Any]:
        """Submit the sample of a type, or `body`, with changed fields, and return the answer."""
        return self.door("submit_payload", **sent(kind, said))

    def refuses(self, kind: str, /, *, code: str = "VALIDATION_ERROR", **said: Any) -> MossError:
        """Return the error of a submission; assert that the store is unchanged."""
        return self.door.refuses(code, "submit_payload", **sent(kind, said))

    def refuses_at(self, path: str, kind: str, /, **said: Any) -> MossError:
        """Return the error of a submission; assert that it names this path."""
        error = self.refuses(kind, **said)
        assert (error.details or {}).get("path") == path, error.payload()
        assert path in error.message
        return error

    def records(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.door("retrieve_records", **asked)["records"]
        return found

    def ids(self, **asked: Any) -> list[str]:
        """Return the ids of the records that match a query, in order."""
        return [record["id"] for record in self.records(**asked)]

    def words(self, *terms: str, **asked: Any) -> list[str]:
        """Return the ids of the records that match these words, in order."""
        return self.ids(search=list(terms), search_mode="keyword", **asked)

    def entities(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.door("retrieve_entities", **asked)["entities"]
        return found

    def entity(self, **asked: Any) -> dict[str, Any]:
        """Return the only entity that matches a query."""
        [found] = self.entities(**asked)
        return found

    def snapshot(self, **asked: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.entity(**asked)["snapshot"]
        return found

    def events(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.door("list_timeline_events", **asked)["events"]
        return found

    def add_capability(self, file: str, content: Any) -> None:
        """Write a file to the folder of the user's capabilities."""
        folder = os.path.join(self.home, "capabilities")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.path.join(folder, file), "wb") as opened:
            opened.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def sent(kind: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a submission; names that are no arguments are fields of its body."""
    arguments: dict[str, Any] = {"capability_id": said.pop("capability_id", capability_of(kind))}
    body = said.pop("body", SAMPLES.get(kind))
    for name in ("provenance", "client_request_id", "workspace"):
        if name in said:
            arguments[name] = said.pop(name)
    arguments["body"] = {**body, **said} if said else body
    return arguments


def without_nulls(body: dict[str, Any]) -> dict[str, Any]:
    """Return the snapshot of a single body: its fields without nulls."""
    return {name: value for name, value in body.items() if value is not None}
