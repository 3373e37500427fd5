"""Names, labels and tags with their limits and normal forms, and small functions on words."""

from __future__ import annotations

import json
import math
from functools import lru_cache

from moss_memory.errors import invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOCAL = "local"
"""The tag of capsules and artifacts that are never written to a synced folder."""
NAME_MAX_CHARS = 256
LABEL_MAX_CHARS = 256
TAGS_MAX = 50
TAG_MAX_CHARS = 100
DEFAULT_WORKSPACE = "default"
_LAST_CHARACTER = "\U0010ffff"


def normalize_name(name: str, *, what: str = "name") -> str:
    """Return the normal form of a name: NFC, stripped, lower case, single spaces.

    Raise `INVALID_REQUEST` if it is blank, too long or has a control character.
    """
    return _normalize(name, what)


def normalize_workspace(workspace: str, *, what: str = "workspace") -> str:
    return _normalize(workspace, what)


@lru_cache(maxsize=1024)
def _normalize(raw: str, what: str) -> str:
    # Cached: calls repeat the same names, and two normalizations take a tenth of a fetch.
    if len(raw) > NAME_MAX_CHARS:
        raise invalid_request(f"`{what}` has {len(raw)} characters; at most {NAME_MAX_CHARS} are allowed", path=what)
    if raw.isascii():
        composed = raw
    else:
        import unicodedata  # only names beyond ASCII need it

        composed = unicodedata.normalize("NFC", raw)
    if not composed.isprintable() and has_control(composed):
        raise invalid_request(
            f"`{what}` contains a control character; remove tabs, line breaks and the like", path=what
        )
    normal = " ".join(composed.strip().lower().split())
    if not normal.isascii():
        normal = unicodedata.normalize("NFC", normal)  # a lower-case letter may compose even if its capital does not
    if not normal:
        raise invalid_request(f"`{what}` is blank; give it at least one visible character", path=what)
    return normal


def has_control(text: str) -> bool:
    """Return True if a text has a C0 or C1 control character, including tabs and line breaks."""
    return any(character < " " or "\x7f" <= character <= "\x9f" for character in text)


def prefix_range(prefix: str) -> tuple[str, str]:
    """Return the half-open range of normalized names that begin with the prefix."""
    begin = prefix.rstrip(_LAST_CHARACTER)
    if not begin:
        return prefix, _LAST_CHARACTER * (NAME_MAX_CHARS + 1)
    following = ord(begin[-1]) + 1
    return prefix, begin[:-1] + chr(0xE000 if following == 0xD800 else following)


def normalize_label(raw: str | None, *, what: str) -> str | None:
    """Return a trimmed `run_id`, `phase`, `role` or `source`; None if blank."""
    if raw is None:
        return None
    trimmed = raw.strip()
    if len(trimmed) > LABEL_MAX_CHARS:
        raise invalid_request(
            f"`{what}` has {len(trimmed)} characters; at most {LABEL_MAX_CHARS} are allowed", path=what
        )
    return trimmed or None


def normalize_tags(raw: list[str] | None, *, what: str = "tags") -> list[str]:
    """Return the tags trimmed and without duplicates, in their order; refuse blank ones."""
    if not raw:
        return []
    unique_tags: dict[str, None] = {}
    for index, tag in enumerate(raw):
        trimmed = tag.strip()
        if not trimmed:
            raise invalid_request(f"`{what}[{index}]` is blank; leave it out", path=f"{what}[{index}]")
        if len(trimmed) > TAG_MAX_CHARS:
            raise invalid_request(
                f"`{what}[{index}]` is longer than {TAG_MAX_CHARS} characters", path=f"{what}[{index}]"
            )
        unique_tags[trimmed] = None
    if len(unique_tags) > TAGS_MAX:
        raise invalid_request(f"`{what}` has {len(unique_tags)} entries; at most {TAGS_MAX} are allowed", path=what)
    return list(unique_tags)


def tags_json(raw: list[str] | None, *, what: str = "tags") -> str | None:
    """Return the cleaned tags as stored JSON; None if there are none."""
    tags = normalize_tags(raw, what=what)
    return json.dumps(tags, ensure_ascii=False) if tags else None


def estimate_tokens(text: str) -> int:
    """Return the stored `tokens_estimate` of a capsule: 1.3 a word, rounded up.

    It is part of the format; `token_estimate.tokens_about` is more exact and is shown on pages.
    """
    return math.ceil(len(text.split()) * 1.3)


def pluralize(count: int, noun: str) -> str:
    """Return a number with its noun: `1 capsule`, `3 capsules`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def fetch_key(noun: str, row: dict[str, Any]) -> dict[str, str]:
    """Return the reference to a row by which another session finds it: its name and workspace, or its id."""
    if row["name_raw"] is None:
        return {"moss_id": row["id"]}
    return {f"moss_{noun}": row["name_raw"], "moss_workspace": row["workspace_raw"]}


def reference(noun: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with which an answer names a row: its `fetch_key`, and its workspace if that lacks it."""
    key = fetch_key(noun, row)
    return {"fetch_key": key} if "moss_workspace" in key else {"fetch_key": key, "workspace": row["workspace_raw"]}


def is_local(tags: str | None) -> bool:
    """Return True if stored tags exclude a row from synced folders and exports."""
    return tags is not None and f'"{LOCAL}"' in tags and LOCAL in json.loads(tags)
