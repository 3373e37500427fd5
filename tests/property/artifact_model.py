"""A plain-Python model of artifacts."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

from property.model import clean, norm
from property.refused import DAY, RefusedError
from property.version_list import begin, go_on, in_version, versions_of

SWEEP_EVERY = 300
SWEEP_MOST = 100
LABELS = ("run_id", "phase", "role")
CONTENT = ("kind", "data", "text", "tags", *LABELS)
"""The fields that a version of an artifact consists of."""


class ArtifactModel:
    """Active, expired and deleted artifacts, in the order of creation; `seq` is the order of changes."""

    def __init__(self, now: int) -> None:
        self.rows: list[dict[str, Any]] = []
        self.now = now
        self.seq = 0
        self.swept_at: int | None = None

    def expired(self, row: dict[str, Any]) -> bool:
        return row["expires"] is not None and row["expires"] <= self.now

    def changed(self, row: dict[str, Any]) -> None:
        self.seq += 1
        row["seq"] = self.seq
        row["updated"] = max(row["updated"], self.now)

    def owner(self, workspace: str, name: str) -> dict[str, Any] | None:
        """Return the row that holds a name, expired or not, but not a deleted one."""
        wanted = (norm(workspace), norm(name))
        named = [row for row in self.rows if row["deleted"] is None and row["name"] is not None]
        return next((row for row in named if (norm(row["workspace"]), norm(row["name"])) == wanted), None)

    def find(self, address: dict[str, str], *, deleted: bool = False, expired: bool = False) -> dict[str, Any]:
        seen = [
            row
            for row in self.rows
            if (deleted or row["deleted"] is None) and (expired or not self.expired(row)) and self._is(row, address)
        ]
        if not seen:
            raise RefusedError("NOT_FOUND")
        # The active one, otherwise the one that was deleted last.
        return max(seen, key=lambda row: (row["deleted"] is None, row["deleted"] or 0, row["seq"]))

    @staticmethod
    def _is(row: dict[str, Any], address: dict[str, str]) -> bool:
        if "id" in address:
            return bool(row["id"] == address["id"])
        wanted = (norm(address.get("workspace", "default")), norm(address["name"]))
        return row["name"] is not None and (norm(row["workspace"]), norm(row["name"])) == wanted

    def life(self, ttl: int | None) -> dict[str, Any]:
        return {"ttl": ttl, "expires": None if ttl is None else self.now + ttl}

    def store(self, workspace: str, name: str | None, content: dict[str, Any], **how: Any) -> dict[str, Any]:
        """Return the created or changed row; the `id` of a new one is None."""
        fields = {
            "kind": content["kind"],
            "data": content["data"],
            "text": content.get("text"),
            "tags": clean(content.get("tags", [])),
            **{label: (content.get(label) or "").strip() or None for label in LABELS},
            **self.life(content.get("ttl_seconds")),
        }
        expected = how.get("expected_version")
        owner = None if name is None else self.owner(workspace, name)
        if expected is not None:
            self._check_version(name, owner, expected)
        elif owner is not None and self.expired(owner):
            self._delete(owner)
            owner = None
        elif owner is not None and how["mode"] == "error":
            raise RefusedError("NAME_ALREADY_EXISTS")
        if owner is None:
            owner = {"id": None, "workspace": workspace, "name": name, "created": self.now,
                     "updated": self.now, "deleted": None}  # fmt: skip
            begin(owner, self.now, how.get("tool", "artifact_store"))
            self.rows.append(owner)
        else:
            go_on(owner, CONTENT, self.now, how.get("tool", "artifact_store"))
        owner.update(fields)
        self.changed(owner)
        self.sweep()
        return owner

    def _check_version(self, name: str | None, owner: dict[str, Any] | None, expected: int) -> None:
        if name is None:
            raise RefusedError("INVALID_REQUEST")
        if owner is None or self.expired(owner):
            raise RefusedError("NOT_FOUND")
        if owner["version"] != expected:
            raise RefusedError("VERSION_MISMATCH")

    def _delete(self, row: dict[str, Any]) -> None:
        row["deleted"] = self.now
        self.changed(row)

    def delete(self, address: dict[str, str]) -> dict[str, Any]:
        row = self.find(address)
        self._delete(row)
        self.sweep()
        return row

    def touch(self, address: dict[str, str], ttl: int) -> dict[str, Any]:
        row = self.find(address)
        row.update(self.life(ttl))
        self.changed(row)
        self.sweep()
        return row

    def revert(self, address: dict[str, str], version: int) -> tuple[dict[str, Any], bool]:
        row = self.find(address)
        old = in_version(row, version)
        content = {key: old[key] for key in CONTENT}
        if _exactly(content) == _exactly({key: row[key] for key in CONTENT}):
            return row, False
        go_on(row, CONTENT, self.now, "moss_revert")
        row.update(content)
        self.changed(row)
        return row, True

    def rename(self, address: dict[str, str], name: str | None, workspace: str | None) -> dict[str, Any]:
        if name is None and workspace is None:
            raise RefusedError("INVALID_REQUEST")
        row = self.find(address)
        new = {"name": name or row["name"], "workspace": workspace or row["workspace"]}
        self._make_way(row, new["workspace"], new["name"])
        row.update(new)
        self.changed(row)
        return row

    def _make_way(self, row: dict[str, Any], workspace: str, name: str | None) -> None:
        """Free a name that an expired row holds; refuse one that an active row holds."""
        owner = None if name is None else self.owner(workspace, name)
        if owner is not None and owner is not row:
            if not self.expired(owner):
                raise RefusedError("NAME_ALREADY_EXISTS")
            self._delete(owner)

    def restore(self, address: dict[str, str]) -> tuple[dict[str, Any], bool]:
        gone = [
            row for row in self.rows if row["deleted"] is not None and not self.expired(row) and self._is(row, address)
        ]
        if not gone:
            self.find(address)
            raise RefusedError("CONFLICT")
        row = max(gone, key=lambda one: (one["deleted"], one["seq"]))
        self._make_way(row, row["workspace"], row["name"])
        row["deleted"] = None
        self.changed(row)
        return row, True

    def restore_all(self, filters: dict[str, str]) -> tuple[int, list[str]]:
        """Return the number of restored rows and the ids of those whose name is taken."""
        gone = [row for row in self.matching(filters, deleted=True) if row["deleted"] is not None]
        back: list[dict[str, Any]] = []
        skipped = []
        for row in sorted(gone, key=lambda one: (one["deleted"], one["seq"]), reverse=True):
            names = [(norm(one["workspace"]), norm(one["name"])) for one in back if one["name"] is not None]
            try:
                if row["name"] is not None and (norm(row["workspace"]), norm(row["name"])) in names:
                    raise RefusedError("NAME_ALREADY_EXISTS")
                self._make_way(row, row["workspace"], row["name"])
            except RefusedError:
                skipped.append(row["id"])
            else:
                back.append(row)
        for _, together in groupby(reversed(back), key=lambda one: (one["deleted"], one["seq"])):
            rows = list(together)
            for row in rows:
                row["deleted"] = None
                self.changed(row)
            for row in rows:
                row["seq"] = self.seq  # rows of one sweep are restored in any order
        return len(back), skipped

    def sweep(self) -> None:
        """Sweep at most every five minutes; a clock that stepped back before the last sweep counts as a long time."""
        if self.swept_at is not None and 0 <= self.now - self.swept_at < SWEEP_EVERY:
            return
        self.swept_at = self.now
        gone = [row for row in self.rows if row["deleted"] is None and self.expired(row)][:SWEEP_MOST]
        for row in gone:
            self._delete(row)
        for row in gone:
            row["seq"] = self.seq  # the order of a batch is unspecified

    def matching(
        self, filters: dict[str, str], *, deleted: bool = False, expired: bool = False, by: str = "updated"
    ) -> list[dict[str, Any]]:
        """Return the rows that match every filter, newest first."""
        found = [
            row
            for row in self.rows
            if (deleted or row["deleted"] is None)
            and (expired or not self.expired(row))
            and all(self._fits(row, name, value) for name, value in filters.items())
        ]
        place = {id(row): number for number, row in enumerate(self.rows)}
        if by == "created":
            return sorted(found, key=lambda row: (row["created"], place[id(row)]), reverse=True)
        return sorted(found, key=lambda row: (row["updated"], row["seq"]), reverse=True)

    @staticmethod
    def _fits(row: dict[str, Any], name: str, value: str) -> bool:
        if name == "workspace":
            return norm(row["workspace"]) == norm(value)
        if name == "tag":
            return value.strip() in row["tags"]
        return bool(row[name] == value.strip())

    def bulk(self, filters: dict[str, str], changes: dict[str, Any]) -> int:
        hit = self.matching(filters)[::-1]
        for row in hit:
            row.update(changes)
            self.changed(row)
        self.sweep()
        return len(hit)

    def purge(self, filters: dict[str, str], older_than_days: int | None) -> int:
        gone = [
            row
            for row in self.matching(filters, deleted=True, expired=True)
            if row["deleted"] is not None
            and (older_than_days is None or row["deleted"] <= self.now - older_than_days * DAY)
        ]
        self.rows = [row for row in self.rows if not any(row is other for other in gone)]
        return len(gone)

    def bundle(self, items: list[dict[str, str]]) -> tuple[str, list[str]]:
        """Return the composed text and the ids of its sources."""
        rows = [self.find(address) for address in items]
        if any(row["text"] is None for row in rows):
            raise RefusedError("COMPOSE_MISSING_TEXT")
        parts = []
        for row in rows:
            role = f": {row['role']}" if row["role"] else ""
            heading = " ".join(f"{row['kind']}{role} ({row['name'] or row['id']})".split())
            parts.append(f"## {heading}\n\n{row['text']}\n\n---")
        return "\n\n".join(parts), [row["id"] for row in rows]


def _exactly(content: dict[str, Any]) -> str:
    """Return content as text that distinguishes 1 from 1.0 and the order of keys."""
    return json.dumps(content)


def listed_versions(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an artifact's versions as `moss_history` lists them, without the changed fields."""
    sizes = [(one, shown(one)) for one in versions_of(row)]
    return [
        {
            "version": one["version"],
            "at": one["at"],
            "tool": one["tool"],
            "chars": seen["data_chars"] + (seen["text_chars"] or 0),
        }
        for one, seen in sizes
    ]


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return an artifact as fetch returns it."""
    return {
        "id": row["id"],
        "workspace": row["workspace"],
        "workspace_norm": norm(row["workspace"]),
        "name": row["name"],
        "name_norm": None if row["name"] is None else norm(row["name"]),
        **{key: row[key] for key in ("kind", "data", "text", *LABELS, "tags", "version")},
        "data_chars": len(json.dumps(row["data"], ensure_ascii=False, separators=(",", ":"))),
        "text_chars": None if row["text"] is None else len(row["text"]),
        "ttl_seconds": row["ttl"],
        "expires_at": row["expires"],
        "created_at": row["created"],
        "updated_at": row["updated"],
        "deleted_at": row["deleted"],
    }
