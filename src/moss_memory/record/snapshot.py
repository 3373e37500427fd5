"""What is known of an entity: its observations folded in order, each field with the one it came from."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..storage.engine import Row
    from .capabilities import Registry


class Snapshot:
    """The fields of an entity, and the submission that each came from."""

    __slots__ = ("count", "fields", "sources")

    def __init__(self, fields: dict[str, Any] | None = None, sources: dict[str, str] | None = None) -> None:
        self.fields = fields or {}
        self.sources = sources or {}
        self.count = 0

    def add(self, body: dict[str, Any], submission_id: str, sets: set[str]) -> None:
        """Takes in one observation: the last word wins, sets grow, an explicit null clears, what is left out stays."""
        self.count += 1
        for name, value in body.items():
            if value is None:
                self.fields.pop(name, None)
                self.sources.pop(name, None)
                continue
            if name in sets:
                known = self.fields.get(name, [])
                value = [*known, *(item for item in dict.fromkeys(value) if item not in known)]
            self.fields[name] = value
            self.sources[name] = submission_id


def sets_of(registry: Registry, capability_id: str) -> set[str]:
    """The fields of a capability that are sets; none when it is not known any more."""
    capability = registry.capabilities.get(capability_id)
    return set() if capability is None else {name for name, field in capability.fields.items() if field.get("set")}


def fold(registry: Registry, observations: Iterable[Row]) -> Snapshot:
    """The snapshot of observations in their order: (body, capability, submission) each."""
    snapshot = Snapshot()
    for body_json, capability_id, submission_id in observations:
        snapshot.add(json.loads(body_json), submission_id, sets_of(registry, capability_id))
    return snapshot
