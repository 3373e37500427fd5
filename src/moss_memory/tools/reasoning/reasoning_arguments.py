"""Argument types of reasoning tools, and validation of texts and names."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.rows.names import NAME_MAX_CHARS, has_control

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    RequiredWorkspace = str
    Target = str
    Branch = str
    FromBranch = str
    IntoBranch = str
    ToBranch = str
    Doc = str
    DocKind = Literal["notes", "trace"]
    Content = str
    EntryTitle = str
    Format = str
    Meta = dict[str, Any]
    Cursor = int
    PageLimit = int
    DryRun = bool
    OneOrMore = str | list[str]
    UnlistedLink = str | list[str]
    TagName = str
    Point = str | int
    CardInput = dict[str, Any] | str
    TraceDoc = str
    GraphDoc = str
    NotesDoc = str
else:

    def _text(description):
        return {"type": "string", "description": description}

    def _number(description, minimum):
        return {"type": "integer", "minimum": minimum, "description": description}

    RequiredWorkspace = _text("project namespace")
    Target = _text("PLAN-001 or TASK-001, instead of branch and doc")
    Branch = _text("`branch` and `ref` mean the same; default: the checkout")
    FromBranch = _text("branch that is compared or merged")
    IntoBranch = _text("branch that receives")
    ToBranch = _text("branch whose state is shown")
    Doc = _text("document name")
    DocKind = {"type": "string", "enum": ["notes", "trace"], "description": "which document of a target"}
    Content = _text("text of the note")
    EntryTitle = _text("short title")
    Format = _text("e.g. markdown")
    Meta = {"type": "object", "description": "free-form JSON"}
    Cursor = _number("next_cursor of the page before", 0)
    PageLimit = _number("most rows", 1)
    DryRun = {"type": "boolean", "description": "only tell, write nothing"}
    OneOrMore = {"type": ["string", "array"], "items": {"type": "string"}}
    UnlistedLink = {**OneOrMore, "unlisted": True}  # accepted; the list of tools shows the links that suit the type
    TagName = _text("tag name")
    Point = {"type": ["string", "integer"], "description": "seq or tag name"}
    CardInput = {"type": ["object", "string"], "description": "{title, text, ...}, `key: value` lines, or plain text"}
    TraceDoc = _text("default trace")
    GraphDoc = _text("default graph")
    NotesDoc = _text("default notes")

REF = {"ref": "branch"}
"""Alias for tools with the argument `branch`."""
BRANCH = {"branch": "ref"}
"""Alias for tools with the argument `ref`."""

TITLE_MAX_CHARS = 10_000
LABEL_MAX_CHARS = 128
_LAST_SEQ = 2**63 - 1


def check_name(raw: str, *, what: str) -> str:
    """Return a branch, document or tag name unchanged; refuse an invalid length or control characters."""
    if not raw.strip():
        raise invalid_request(f"`{what}` is blank; give a name", path=what)
    if len(raw) > NAME_MAX_CHARS:
        raise invalid_request(f"`{what}` has {len(raw)} characters; at most {NAME_MAX_CHARS} are allowed", path=what)
    if has_control(raw):
        raise invalid_request(
            f"`{what}` contains a control character; remove tabs, line breaks and the like", path=what
        )
    return raw


def check_title(text: str | None, *, what: str) -> str | None:
    """Return a title; refuse a long one."""
    if text is not None and len(text) > TITLE_MAX_CHARS:
        raise invalid_request(f"`{what}` has {len(text)} characters; at most {TITLE_MAX_CHARS} are allowed", path=what)
    return text


def check_label(raw: str | None, *, what: str) -> str | None:
    """Return a short text such as a status, trimmed; None if it is blank."""
    if raw is None or not raw.strip():
        return None
    label = raw.strip()
    if len(label) > LABEL_MAX_CHARS or has_control(label):
        raise invalid_request(
            f"`{what}` needs at most {LABEL_MAX_CHARS} characters and no control characters", path=what
        )
    return label


def meta_json(meta: dict[str, Any] | None) -> str | None:
    """Return free-form JSON in its stored form; None if it is empty."""
    if not meta:
        return None
    return json.dumps(meta, ensure_ascii=False, separators=(",", ":"))


def as_list(values: str | list[str] | None) -> list[str]:
    """Return one string or a list as a list without duplicates."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else list(dict.fromkeys(values))


class CursorPage:
    """A page of rows that are numbered by seq, starting at a cursor."""

    __slots__ = ("cursor", "limit")

    def __init__(self, cursor: int | None, limit: int, *, maximum: int = 200) -> None:
        self.cursor = cursor
        self.limit = min(limit, maximum)

    def before(self) -> int:
        """Return the exclusive upper bound of the seqs of a page of the newest rows."""
        return _LAST_SEQ if self.cursor is None else self.cursor

    def answer(self, count: int, next_cursor: int | None) -> dict[str, Any]:
        """Return the pagination object; None as next cursor marks the last page."""
        more = {} if next_cursor is None else {"next_cursor": next_cursor}
        return {"cursor": self.cursor, **more, "has_more": next_cursor is not None, "limit": self.limit, "count": count}
