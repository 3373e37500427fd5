"""A plain-Python model of capsules."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

from property.refused import DAY as DAY
from property.refused import RefusedError as RefusedError
from property.version_list import begin, go_on, in_version, versions_of

LABELS = ("source", "run_id", "phase", "role")
CONTENT = ("text", "title", "tags", *LABELS)
"""The fields that a version of a capsule consists of."""


def norm(raw: str) -> str:
    return " ".join(unicodedata.normalize("NFC", raw).strip().lower().split())


def clean(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tag.strip() for tag in tags))


class Model:
    """Active and deleted capsules, in no particular order; `seq` is the order of changes."""

    def __init__(self) -> None:
        self.capsules: list[dict[str, Any]] = []
        self.now = 0
        self.seq = 0

    def next_seq(self) -> int:
        self.seq += 1
        return self.seq

    def by_id(self, id: str) -> dict[str, Any] | None:
        return next((capsule for capsule in self.capsules if capsule["id"] == id), None)

    def owner(self, workspace: str, name: str | None) -> dict[str, Any] | None:
        """Return the active capsule of a name."""
        if name is None:
            return None
        return next(
            (
                capsule
                for capsule in self.capsules
                if capsule["deleted"] is None
                and capsule["name"] is not None
                and (norm(capsule["workspace"]), norm(capsule["name"])) == (norm(workspace), norm(name))
            ),
            None,
        )

    def active(self, address: dict[str, str]) -> dict[str, Any]:
        if "id" in address:
            found = self.by_id(address["id"])
            found = found if found and found["deleted"] is None else None
        else:
            found = self.owner(address.get("workspace", "default"), address["name"])
        if found is None:
            raise RefusedError("NOT_FOUND")
        return found

    def change(self, capsule: dict[str, Any], tool: str, **values: Any) -> None:
        """Write the next version of a capsule."""
        go_on(capsule, CONTENT, self.now, tool)
        capsule.update(values)
        self.touch(capsule)

    def touch(self, capsule: dict[str, Any]) -> None:
        capsule["updated"] = max(capsule["updated"], self.now)
        capsule["seq"] = self.next_seq()

    def store(self, mode: str, workspace: str, name: str | None, text: str, fields: dict[str, Any]) -> dict[str, Any]:
        content = {
            "text": text,
            "title": fields.get("title") or name,
            "tags": clean(fields.get("tags", [])),
            **{key: (fields.get(key) or "").strip() or None for key in LABELS},
        }
        taken = self.owner(workspace, name)
        if taken is None:
            capsule = {"id": None, "workspace": workspace, "name": name, "created": self.now, "updated": self.now,
                       "deleted": None, "seq": self.next_seq(), **content}  # fmt: skip
            begin(capsule, self.now, "capsule_store")
            self.capsules.append(capsule)
            return capsule
        if mode == "error":
            raise RefusedError("NAME_ALREADY_EXISTS")
        self.change(taken, "capsule_store", **content)
        return taken

    def update(self, address: dict[str, str], changes: dict[str, Any], expected: int | None) -> dict[str, Any]:
        if not changes:
            raise RefusedError("INVALID_REQUEST")
        capsule = self.active(address)
        if expected not in (None, capsule["version"]):
            raise RefusedError("VERSION_MISMATCH")
        self.change(capsule, "capsule_update")
        for key, value in changes.items():
            if key == "tags":
                capsule["tags"] = clean(value)
            elif key == "capsule_text":
                capsule["text"] = value
            elif key == "title":
                capsule["title"] = value or None
            else:
                capsule[key] = value.strip() or None
        return capsule

    def append(self, address: dict[str, str], word: str) -> dict[str, Any]:
        capsule = self.active(address)
        self.change(capsule, "capsule_append", text=capsule["text"] + f"\n\n{word}")
        return capsule

    def rename(self, address: dict[str, str], name: str | None, workspace: str | None) -> dict[str, Any]:
        if name is None and workspace is None:
            raise RefusedError("INVALID_REQUEST")
        capsule = self.active(address)
        new = {"name": name or capsule["name"], "workspace": workspace or capsule["workspace"]}
        if self.owner(new["workspace"], new["name"]) not in (None, capsule):
            raise RefusedError("NAME_ALREADY_EXISTS")
        if capsule["title"] is not None and capsule["title"] == capsule["name"]:
            new["title"] = new["name"]
        self.change(capsule, "moss_rename", **new)
        return capsule

    def revert(self, address: dict[str, str], version: int) -> tuple[dict[str, Any], bool]:
        capsule = self.active(address)
        old = in_version(capsule, version)
        content = {key: old[key] for key in CONTENT}
        if content == {key: capsule[key] for key in CONTENT}:
            return capsule, False
        self.change(capsule, "moss_revert", **content)
        return capsule, True

    def delete(self, address: dict[str, str]) -> None:
        capsule = self.active(address)
        capsule["deleted"] = self.now
        self.touch(capsule)

    def deleted(self, address: dict[str, str]) -> dict[str, Any] | None:
        """Return the deleted capsule at an address, of several the last deleted one."""
        gone = [capsule for capsule in self.capsules if capsule["deleted"] is not None]
        if "id" in address:
            gone = [capsule for capsule in gone if capsule["id"] == address["id"]]
        else:
            wanted = (norm(address.get("workspace", "default")), norm(address["name"]))
            named = [capsule for capsule in gone if capsule["name"] is not None]
            gone = [one for one in named if (norm(one["workspace"]), norm(one["name"])) == wanted]
        return max(gone, key=lambda capsule: (capsule["deleted"], capsule["seq"]), default=None)

    def restore(self, address: dict[str, str]) -> tuple[dict[str, Any], bool]:
        capsule = self.deleted(address)
        if capsule is None:
            self.active(address)
            raise RefusedError("CONFLICT")
        if self.owner(capsule["workspace"], capsule["name"]):
            raise RefusedError("NAME_ALREADY_EXISTS")
        self._bring_back(capsule)
        return capsule, True

    def _bring_back(self, capsule: dict[str, Any]) -> None:
        capsule["deleted"] = None
        self.touch(capsule)

    def restore_all(self, filters: dict[str, str], deleted_after: int | None) -> tuple[int, list[str]]:
        """Return the number of restored capsules and the ids of those whose name is taken, last deleted first."""
        gone = [
            capsule
            for capsule in self.matching(filters, include_deleted=True)
            if capsule["deleted"] is not None and (deleted_after is None or capsule["deleted"] >= deleted_after)
        ]
        back: list[dict[str, Any]] = []
        skipped = []
        for capsule in sorted(gone, key=lambda one: (one["deleted"], one["seq"]), reverse=True):
            names = [(norm(one["workspace"]), norm(one["name"])) for one in back if one["name"] is not None]
            named = capsule["name"] is not None
            if named and (
                self.owner(capsule["workspace"], capsule["name"])
                or (norm(capsule["workspace"]), norm(capsule["name"])) in names
            ):
                skipped.append(capsule["id"])
            else:
                back.append(capsule)
        for capsule in reversed(back):
            self._bring_back(capsule)
        return len(back), skipped

    def any_of(self, address: dict[str, str]) -> dict[str, Any]:
        """Return the active capsule at an address, otherwise the last deleted one."""
        try:
            return self.active(address)
        except RefusedError:
            found = self.deleted(address)
            if found is None:
                raise
            return found

    def matching(self, filters: dict[str, str], *, include_deleted: bool = False) -> list[dict[str, Any]]:
        """Return the capsules that match every filter, newest change first."""
        found = [
            capsule
            for capsule in self.capsules
            if (include_deleted or capsule["deleted"] is None)
            and all(self._fits(capsule, name, value) for name, value in filters.items())
        ]
        return sorted(found, key=lambda capsule: (capsule["updated"], capsule["seq"]), reverse=True)

    @staticmethod
    def _fits(capsule: dict[str, Any], name: str, value: str) -> bool:
        if name == "workspace":
            return norm(capsule["workspace"]) == norm(value)
        if name == "tag":
            return value.strip() in capsule["tags"]
        if name == "name_prefix":
            return capsule["name"] is not None and norm(capsule["name"]).startswith(norm(value))
        return bool(capsule[name] == value.strip())

    def bulk(self, filters: dict[str, str], changes: dict[str, Any]) -> int:
        hit = self.matching(filters)[::-1]
        for capsule in hit:
            if "deleted" in changes:
                capsule.update(changes)
                self.touch(capsule)
            else:
                self.change(capsule, "capsule_bulk_update", **changes)
        return len(hit)

    def purge(self, filters: dict[str, str], older_than_days: int | None) -> int:
        gone = [
            capsule
            for capsule in self.matching(filters, include_deleted=True)
            if capsule["deleted"] is not None
            and (older_than_days is None or capsule["deleted"] <= self.now - older_than_days * DAY)
        ]
        self.capsules = [capsule for capsule in self.capsules if capsule not in gone]
        return len(gone)

    def export(self, filters: dict[str, str], *, include_deleted: bool) -> list[dict[str, Any]]:
        return [dict(capsule) for capsule in self.matching(filters, include_deleted=include_deleted)[::-1]]

    def take_in(self, records: list[dict[str, Any]], mode: str) -> list[dict[str, Any]]:
        """Import all records or none; return the resulting rows, the `id` of a new one is None."""
        before = [dict(capsule) for capsule in self.capsules]
        became = []
        for record in records:
            twin = self.by_id(record["id"])
            owner = None if record["deleted"] is not None else self.owner(record["workspace"], record["name"])
            if (twin or owner) and (mode == "error" or (mode == "replace" and twin and owner and twin is not owner)):
                self.capsules = before
                raise RefusedError("CONFLICT")
            row = {**record, "seq": self.next_seq()}
            target = twin or owner
            if target is not None and mode == "replace":
                go_on(target, CONTENT, self.now, "capsule_import")
                own = ("id", "version", "at", "tool", "old")
                target.update({**row, **{key: target[key] for key in own}})
                became.append(target)
                continue
            if twin:
                row["id"] = None
            number = 0
            while owner:
                number += 1
                row["name"] = record["name"].rstrip()[: 256 - len(f"-{number}")] + f"-{number}"
                owner = self.owner(row["workspace"], row["name"])
            begin(row, self.now, "capsule_import", record["version"])
            self.capsules.append(row)
            became.append(row)
        return became


def shown(capsule: dict[str, Any], *, text: bool = False) -> dict[str, Any]:
    """Return a capsule as fetch and the lists return it."""
    item: dict[str, Any] = {
        "id": capsule["id"],
        "workspace": capsule["workspace"],
        "workspace_norm": norm(capsule["workspace"]),
        "capsule_chars": len(capsule["text"]),
        "tokens_estimate": math.ceil(len(capsule["text"].split()) * 1.3),
        "tags": capsule["tags"],
        "created_at": capsule["created"],
        "updated_at": capsule["updated"],
        "version": capsule["version"],
        "fetch_key": {"moss_id": capsule["id"]},
    }
    if capsule["name"] is not None:
        item["name"] = capsule["name"]
        item["name_norm"] = norm(capsule["name"])
        item["fetch_key"] = {"moss_capsule": capsule["name"], "moss_workspace": capsule["workspace"]}
    for key in ("title", *LABELS):
        if capsule[key] is not None:
            item[key] = capsule[key]
    if capsule["deleted"] is not None:
        item["deleted_at"] = capsule["deleted"]
    if text:
        item["capsule_text"] = capsule["text"]
    return item


def listed_versions(capsule: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a capsule's versions as `moss_history` lists them, without the changed fields."""
    return [
        {
            "version": one["version"],
            "at": one["at"],
            "tool": one["tool"],
            **({} if one["source"] is None else {"source": one["source"]}),
            "chars": len(one["text"]),
        }
        for one in versions_of(capsule)
    ]
