"""File names and manifest of a folder: the same for sync, export and import."""

from __future__ import annotations

import hashlib
import json
import re

from moss_memory.errors import invalid_request

from .file_names import encode_id, encode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIRST_FORMAT, FORMAT = 1, 2
MANIFEST = "manifest.json"
CAPSULES = "capsules"
RECORDS = "records"
DELETED = "deleted"
"""The folder of deleted capsules and artifacts in an export."""
ARTIFACT_LINES = "artifacts.jsonl"
"""The artifacts of the first layout."""
NUMBERS = "numbers.jsonl"
"""Columns that belong to the exported store: numbers, versions, times of change."""
_OURS = {
    FIRST_FORMAT: re.compile(r"capsules/[A-Za-z0-9-]{1,60}/[A-Za-z0-9-]{1,140}\.md|[a-z]{1,20}\.jsonl"),
    FORMAT: re.compile(
        r"(?:(?:deleted/)?(?:capsules|artifacts)|records|reasoning|tasks)/[^/.][^/]{0,254}/[^/.][^/]{0,254}"
        r"\.(?:md|jsonl?)|(?:numbers|history)\.jsonl"
    ),
}


def record_path(id: str, workspace: str) -> str:
    return f"{RECORDS}/{encode_name(workspace)}/{encode_id(id)}.json"


def digest(content: bytes) -> str:
    """Return the hash by which a changed file is detected."""
    return hashlib.sha256(content).hexdigest()


class Manifest:
    """The content of an export: counts, and files with their hashes."""

    def __init__(
        self, counts: dict[str, int], files: dict[str, str], *, complete: bool = True, format: int = FORMAT
    ) -> None:
        self.counts = counts
        self.files = files
        self.complete = complete
        self.format = format

    def encode(self) -> bytes:
        """Return the file's content; an export in progress is marked as incomplete."""
        state = {} if self.complete else {"complete": False}
        manifest = {"format": self.format, **state, "counts": self.counts, "files": dict(sorted(self.files.items()))}
        return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()

    @classmethod
    def read(cls, content: bytes) -> Manifest:
        """Parse the file; refuse one that is not from Moss or from a newer version."""
        try:
            manifest: Any = json.loads(content)
        except (ValueError, RecursionError):
            raise invalid_request(f"{MANIFEST} is not JSON; put the exported one back, or export again") from None
        files = manifest.get("files") if isinstance(manifest, dict) else None
        if not isinstance(files, dict) or not isinstance(manifest.get("format"), int):
            raise invalid_request(f"{MANIFEST} was not written by Moss; it has no `format` and no `files`")
        number = manifest["format"]
        if number not in _OURS:
            raise invalid_request(f"{MANIFEST} has format {number}, this Moss knows {FORMAT}; upgrade moss-memory")
        for name, hashed in files.items():
            if _OURS[number].fullmatch(name) is None or not isinstance(hashed, str):
                raise invalid_request(
                    f"{MANIFEST} names {name[:100]!r}, which no export writes; nothing was read or removed"
                )
        return cls(manifest.get("counts") or {}, files, complete=manifest.get("complete") is not False, format=number)
