"""Argument types of reasoning tools, and validation of texts and names."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.rows.names import NAME_MAX_CHARS, has_control

RequiredWorkspace = Annotated[str, "project namespace"]
Target = Annotated[str, "PLAN-001 or TASK-001, instead of branch and doc"]
Branch = Annotated[str, "`branch` and `ref` mean the same; default: the checkout"]
FromBranch = Annotated[str, "the branch to compare or merge"]
IntoBranch = Annotated[str, "the destination branch"]
ToBranch = Annotated[str, "the branch whose state is shown"]
Doc = Annotated[str, "document name"]
DocKind = Annotated[Literal["notes", "trace"], "the document of a target"]
Content = Annotated[str, "text of the note"]
EntryTitle = Annotated[str, "short title"]
NoteFormat = Annotated[str, "e.g. markdown"]
Meta = Annotated[dict[str, Any], "free-form JSON"]
Cursor = Annotated[int, {"minimum": 0}, "next_cursor of the page before"]
PageLimit = Annotated[int, {"minimum": 1}, "most rows"]
ReportOnly = Annotated[bool, "only report, write nothing"]
OneOrMore = Annotated[str | list[str], {}]
UnlistedLink = Annotated[str | list[str], {"unlisted": True}]
"""Accepted, but not listed: the list of tools shows the links that suit the type."""
TagName = Annotated[str, "tag name"]
Point = Annotated[str | int, "seq or tag name"]
CardInput = Annotated[dict[str, Any] | str, "{title, text, ...}, `key: value` lines, or plain text"]
TraceDoc = Annotated[str, "default trace"]
GraphDoc = Annotated[str, "default graph"]
NotesDoc = Annotated[str, "default notes"]

REF = {"ref": "branch"}
"""Alias for tools with the argument `branch`."""
BRANCH = {"branch": "ref"}
"""Alias for tools with the argument `ref`."""

TITLE_MAX_CHARS = 10_000
LABEL_MAX_CHARS = 128


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


def check_length(text: str | None, *, what: str) -> str | None:
    """Return a title or message unchanged; refuse one that is too long."""
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
