"""File names and manifest of an exported folder."""

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
    """Return a name as part of a path: ASCII letters, digits and `-`, at most 60 characters."""
    import unicodedata  # only an export needs it

    plain = unicodedata.normalize("NFKD", name or "").encode("ascii", "ignore").decode()
    return re.sub("[^A-Za-z0-9]+", "-", plain).strip("-")[:SLUG_MAX_CHARS].strip("-") or otherwise


def capsule_path(row: Values) -> str:
    """Return the path of a capsule: the folder is its workspace, and paths are unique for any ids."""
    number = str(row["id"])
    if _ULID.fullmatch(number) is None:
        number = f"{slug(number, 'id')}-{digest(number.encode())[:12]}"
    return f"{CAPSULES}/{slug(row['workspace_norm'], 'workspace')}/{slug(row['name_raw'], 'unnamed')}-{number}.md"


def digest(content: bytes) -> str:
    """Return the hash by which the manifest detects a changed file."""
    import hashlib

    return hashlib.sha256(content).hexdigest()


class Manifest:
    """The content of an export: counts, and files with their hashes."""

    def __init__(self, counts: dict[str, int], files: dict[str, str], *, complete: bool = True) -> None:
        self.counts = counts
        self.files = files
        self.complete = complete

    def encode(self) -> bytes:
        """Return the file's content; an export in progress is marked as incomplete."""
        state = {} if self.complete else {"complete": False}
        manifest = {"format": FORMAT, **state, "counts": self.counts, "files": dict(sorted(self.files.items()))}
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
        if manifest["format"] > FORMAT:
            raise invalid_request(
                f"{MANIFEST} has format {manifest['format']}, this Moss knows {FORMAT}; upgrade moss-memory"
            )
        for name, hashed in files.items():
            if _OURS.fullmatch(name) is None or not isinstance(hashed, str):
                raise invalid_request(
                    f"{MANIFEST} names {name[:100]!r}, which no export writes; nothing was read or removed"
                )
        return cls(manifest.get("counts") or {}, files, complete=manifest.get("complete") is not False)
