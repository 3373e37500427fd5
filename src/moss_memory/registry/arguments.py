"""The types of arguments that tools take.

To the type checker each name is a plain type; at run time it is the JSON Schema that decodes the
argument and that every interface shows. Schemas built from types would slow down the start:
`moss fetch` takes 41 ms, to which importing `typing` adds 6, dataclasses 13 and msgspec 35.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Id = str
    Workspace = str
    Name = str
    NamePrefix = str
    Title = str
    Tag = str
    Tags = list[str]
    SourceName = str
    RunId = str
    Phase = str
    Role = str
    IncludeDeleted = bool
    IncludeText = bool
    Limit = int
    Offset = int
    FilePath = str
    Query = str
    Days = int
    Version = int
    ExpectedVersion = int
    AsOf = int | str
    Ref = dict[str, Any]
    StoreMode = Literal["error", "replace"]
    SearchMode = Literal["keyword", "semantic", "both"]
else:

    def _text(description, **more):
        return {"type": "string", "description": description, **more}

    def _flag(description):
        return {"type": "boolean", "description": description}

    Id = _text("ULID; instead of workspace + name")
    Workspace = _text("namespace")
    Name = _text("handle, unique in the workspace")
    NamePrefix = _text("names beginning with this")
    Title = _text("display title")
    Tag = _text("exact tag")
    Tags = {"type": "array", "items": {"type": "string"}, "description": "at most 50 tags"}
    SourceName = _text("who wrote it, e.g. codex")
    RunId = _text("workflow run")
    Phase = _text("workflow phase")
    Role = _text("agent role")
    IncludeDeleted = _flag("also soft-deleted ones")
    IncludeText = _flag("with the full text")
    Limit = {"type": "integer", "description": "most rows"}
    Offset = {"type": "integer", "description": "rows to skip"}
    FilePath = _text("a .jsonl file in an allowed folder")
    Query = _text('words, or operators: "phrase", pre*, AND OR NOT')
    Days = {"type": "integer", "description": "0 means all"}
    Version = {"type": "integer", "minimum": 1, "description": "as it was in this version"}
    ExpectedVersion = {"type": "integer", "description": "change only this version"}
    AsOf = {"type": ["integer", "string"], "description": "as it was then: seconds, or ISO 8601"}
    Ref = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "workspace": {"type": "string"},
            "name": {"type": "string"},
            "fetch_key": {"type": "object", "unlisted": True},
        },
        "additionalProperties": False,
    }
    StoreMode = {"type": "string", "enum": ["error", "replace"], "description": "when the name is taken"}
    SearchMode = {"type": "string", "enum": ["keyword", "semantic", "both"], "description": "by words, by meaning"}
