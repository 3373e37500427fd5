"""A typed client: the data of an artifact has the type of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypedDict, Unpack

from moss_memory import MossError, Store

from .kinds import Kind, T


class Labels(TypedDict, total=False):
    """Optional fields of an artifact."""

    text: str | None
    run_id: str | None
    phase: str | None
    role: str | None
    tags: list[str]
    ttl_seconds: int | None


class Filters(TypedDict, total=False):
    """Filters of a list."""

    workspace: str
    run_id: str
    phase: str
    role: str
    tag: str


@dataclass(frozen=True, kw_only=True)
class Listed(Generic[T]):
    """An artifact as lists show it: with its data, without its text."""

    id: str
    workspace: str
    name: str | None
    kind: str
    data: T
    version: int
    run_id: str | None
    phase: str | None
    role: str | None
    tags: list[str]
    ttl_seconds: int | None
    expires_at: int | None


@dataclass(frozen=True, kw_only=True)
class Artifact(Listed[T]):
    """A complete artifact, as it was read."""

    text: str | None


LISTED = [field.name for field in fields(Listed)]
WHOLE = [field.name for field in fields(Artifact)]
BLANK: dict[str, Any] = {**dict.fromkeys(WHOLE), "tags": []}
KEPT = ["workspace", "name", "kind", "text", "run_id", "phase", "role", "tags", "ttl_seconds"]


class Artifacts:
    """The artifacts of a store. Threads can share one; every process opens its own store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def store(
        self, kind: Kind[T], data: T, *, workspace: str, name: str | None = None, **labels: Unpack[Labels]
    ) -> Artifact[T]:
        """Save a new artifact, checked against its schema; raise `NAME_ALREADY_EXISTS` if the name is used."""
        stored = self._store.artifact_store(
            workspace=workspace, name=name, kind=kind.name, data=data, validate=True, **labels
        )
        given = {**BLANK, **labels, **stored}
        return Artifact(**{field: given[field] for field in WHOLE if field != "data"}, data=data)

    def update(self, read: Artifact[T], data: T) -> Artifact[T]:
        """Save the next version of an artifact; raise `VERSION_MISMATCH` if it has changed since it was read.

        `artifact_store` replaces all fields, so the other fields are sent as they were read.
        """
        kept = {field: getattr(read, field) for field in KEPT}
        stored = self._store.artifact_store(**kept, data=data, expected_version=read.version, validate=True)
        return replace(read, data=data, version=stored["version"], expires_at=stored["expires_at"])

    def list(self, kind: Kind[T], **filters: Unpack[Filters]) -> list[Listed[T]]:
        """Return every artifact of a kind that matches, newest first; read all pages."""
        found: list[Listed[T]] = []
        while True:
            page = self._store.artifact_list(kind=kind.name, **filters, limit=100, offset=len(found))
            rows: list[dict[str, Any]] = [dict(item) for item in page["items"]]
            found += [Listed(**{field: row[field] for field in LISTED}) for row in rows]
            if not page["pagination"]["has_more"]:
                return found

    def fetch(self, kind: Kind[T], *, workspace: str, name: str) -> Artifact[T]:
        """Return one artifact by its name; raise `NOT_FOUND` if there is none."""
        row: dict[str, Any] = dict(self._store.artifact_fetch(workspace=workspace, name=name))
        if row["kind"] != kind.name:
            raise TypeError(f"{workspace}/{name} is a {row['kind']}, not a {kind.name}")
        return Artifact(**{field: row[field] for field in WHOLE})

    def find(self, kind: Kind[T], *, workspace: str, name: str) -> Artifact[T] | None:
        """Return one artifact by its name, or None."""
        try:
            return self.fetch(kind, workspace=workspace, name=name)
        except MossError as error:
            if error.code != "NOT_FOUND":
                raise
            return None

    def compose(self, chosen: Sequence[Listed[Any]]) -> str:
        """Return the texts of at most 50 artifacts as one Markdown text for a model."""
        bundle = self._store.artifact_compose(items=[{"id": artifact.id} for artifact in chosen])
        return str(bundle["bundle_text"])

    def delete(self, artifact: Listed[Any]) -> None:
        """Soft-delete an artifact; its name is free again."""
        self._store.artifact_delete(id=artifact.id)
