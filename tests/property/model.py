"""Capsules as a plain list of dictionaries: what the documents say, with no database behind it."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

DAY = 86_400
LABELS = ("source", "run_id", "phase", "role")


class RefusedError(Exception):
    """The code with which the documents refuse a call."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def norm(raw: str) -> str:
    return " ".join(unicodedata.normalize("NFC", raw).strip().lower().split())


def clean(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tag.strip() for tag in tags))


class Model:
    """All capsules, active and deleted, in no particular order; `seq` is the order of changes."""

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
        """The active capsule of that name."""
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
            self.capsules.append(capsule)
            return capsule
        if mode == "error":
            raise RefusedError("NAME_ALREADY_EXISTS")
        taken.update(content)
        self.touch(taken)
        return taken

    def update(self, address: dict[str, str], changes: dict[str, Any]) -> None:
        if not changes:
            raise RefusedError("INVALID_REQUEST")
        capsule = self.active(address)
        for key, value in changes.items():
            if key == "tags":
                capsule["tags"] = clean(value)
            elif key == "capsule_text":
                capsule["text"] = value
            elif key == "title":
                capsule["title"] = value or None
            else:
                capsule[key] = value.strip() or None
        self.touch(capsule)

    def delete(self, address: dict[str, str]) -> None:
        capsule = self.active(address)
        capsule["deleted"] = self.now
        self.touch(capsule)

    def restore(self, id: str) -> None:
        capsule = self.by_id(id)
        if capsule is None:
            raise RefusedError("NOT_FOUND")
        if capsule["deleted"] is None:
            return
        if self.owner(capsule["workspace"], capsule["name"]):
            raise RefusedError("NAME_ALREADY_EXISTS")
        capsule["deleted"] = None
        self.touch(capsule)

    def matching(self, filters: dict[str, str], *, include_deleted: bool = False) -> list[dict[str, Any]]:
        """What fits every filter, newest change first."""
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
            capsule.update(changes)
            self.touch(capsule)
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
        """Imports records one after the other, or none; returns the rows they became (id None: a new one)."""
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
                target.update({**row, "id": target["id"]})
                became.append(target)
                continue
            if twin:
                row["id"] = None
            number = 0
            while owner:
                number += 1
                row["name"] = record["name"].rstrip()[: 256 - len(f"-{number}")] + f"-{number}"
                owner = self.owner(row["workspace"], row["name"])
            self.capsules.append(row)
            became.append(row)
        return became


def shown(capsule: dict[str, Any], *, text: bool = False) -> dict[str, Any]:
    """A capsule as fetch and the lists show it."""
    item: dict[str, Any] = {
        "id": capsule["id"],
        "workspace": capsule["workspace"],
        "workspace_norm": norm(capsule["workspace"]),
        "capsule_chars": len(capsule["text"]),
        "tokens_estimate": math.ceil(len(capsule["text"].split()) * 1.3),
        "tags": capsule["tags"],
        "created_at": capsule["created"],
        "updated_at": capsule["updated"],
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
