"""Snapshots of entities: observations reduced in order, each field with its source."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from moss_memory.storage.engine import Row

    from .capabilities import Capability


class Snapshot:
    """The fields of an entity, each with the submission that set it."""

    __slots__ = ("count", "fields", "sources")

    def __init__(self, fields: dict[str, Any] | None = None, sources: dict[str, str] | None = None) -> None:
        self.fields = fields or {}
        self.sources = sources or {}
        self.count = 0

    def add(self, body: dict[str, Any], submission_id: str, sets: set[str]) -> None:
        """Add one observation: the last value wins, sets are united, null clears, absent fields stay."""
        self.count += 1
        for name, value in body.items():
            if value is None:
                self.fields.pop(name, None)
                self.sources.pop(name, None)
                continue
            if name in sets:
                stored_items = self.fields.get(name, [])
                stored_strings = {item for item in stored_items if isinstance(item, str)}
                value = [*stored_items, *(item for item in dict.fromkeys(value) if item not in stored_strings)]
            self.fields[name] = value
            self.sources[name] = submission_id


def sets_of(capability: Capability) -> list[str]:
    return [name for name, field in capability.fields.items() if field.get("set")]


def reduce_observations(observations: Iterable[Row]) -> Snapshot:
    """Return the snapshot of observations in their order, each a body, its set fields and its submission."""
    snapshot = Snapshot()
    for body_json, sets_json, submission_id in observations:
        snapshot.add(json.loads(body_json), submission_id, set(json.loads(sets_json)))
    return snapshot
