"""What is known of an entity: its observations folded in order, each field with the one it came from."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import Row

    from .capabilities import Capability


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
                there = {item for item in known if isinstance(item, str)}
                value = [*known, *(item for item in dict.fromkeys(value) if item not in there)]
            self.fields[name] = value
            self.sources[name] = submission_id


def sets_of(capability: Capability) -> list[str]:
    """The fields of a capability that are sets."""
    return [name for name, field in capability.fields.items() if field.get("set")]


def reduce_observations(observations: Iterable[Row]) -> Snapshot:
    """The snapshot of observations in their order: (body, fields that are sets, submission) each."""
    snapshot = Snapshot()
    for body_json, sets_json, submission_id in observations:
        snapshot.add(json.loads(body_json), submission_id, set(json.loads(sets_json)))
    return snapshot
