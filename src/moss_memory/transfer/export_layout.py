"""What lies where in an exported folder, and what its manifest says."""

from __future__ import annotations

import json
import re

from moss_memory.errors import invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .export_schema import Values

FORMAT = 1
MANIFEST = "manifest.json"
CAPSULES = "capsules"
ARTIFACTS = "artifacts.jsonl"
SLUG_MAX_CHARS = 60
_ULID = re.compile("[0-9A-Z]{26}")
_OURS = re.compile(r"capsules/[A-Za-z0-9-]{1,60}/[A-Za-z0-9-]{1,140}\.md|[a-z]{1,20}\.jsonl")


def slug(name: str | None, otherwise: str) -> str:
    """A name as part of a path: ASCII letters, digits and `-`, at most 60 of them."""
    import unicodedata  # only an export needs it

    plain = unicodedata.normalize("NFKD", name or "").encode("ascii", "ignore").decode()
    return re.sub("[^A-Za-z0-9]+", "-", plain).strip("-")[:SLUG_MAX_CHARS].strip("-") or otherwise


def capsule_path(row: Values) -> str:
    """Where a capsule lies: its workspace is the folder, and no two have the same path, whatever their ids."""
    number = str(row["id"])
    if _ULID.fullmatch(number) is None:
        number = f"{slug(number, 'id')}-{digest(number.encode())[:12]}"
    return f"{CAPSULES}/{slug(row['workspace_norm'], 'workspace')}/{slug(row['name_raw'], 'unnamed')}-{number}.md"


def digest(content: bytes) -> str:
    """The hash by which the manifest tells whether a file was changed."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


class Manifest:
    """What an export wrote: how many of each, and which files with which content."""

    def __init__(self, counts: dict[str, int], files: dict[str, str], *, complete: bool = True) -> None:
        self.counts = counts
        self.files = files
        self.complete = complete

    def written(self) -> bytes:
        """The file; an export that is under way says so, so that nobody takes it for one that is done."""
        state = {} if self.complete else {"complete": False}
        told = {"format": FORMAT, **state, "counts": self.counts, "files": dict(sorted(self.files.items()))}
        return (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode()

    @classmethod
    def read(cls, content: bytes) -> Manifest:
        """What the file says; refused when no export of Moss wrote it, or a newer one."""
        try:
            told: Any = json.loads(content)
        except (ValueError, RecursionError):
            raise invalid_request(f"{MANIFEST} is not JSON; put the exported one back, or export again") from None
        files = told.get("files") if isinstance(told, dict) else None
        if not isinstance(files, dict) or not isinstance(told.get("format"), int):
            raise invalid_request(f"{MANIFEST} is none of Moss's; it has no `format` and no `files`")
        if told["format"] > FORMAT:
            raise invalid_request(
                f"{MANIFEST} has format {told['format']}, this Moss knows {FORMAT}; upgrade moss-memory"
            )
        for name, hashed in files.items():
            if _OURS.fullmatch(name) is None or not isinstance(hashed, str):
                raise invalid_request(
                    f"{MANIFEST} names {name[:100]!r}, which no export writes; nothing was read or removed"
                )
        return cls(told.get("counts") or {}, files, complete=told.get("complete") is not False)
