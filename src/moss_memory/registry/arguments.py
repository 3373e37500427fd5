"""The types of arguments that tools take.

To the type checker each name is a plain type; at run time it is the JSON Schema that decodes the argument and that
every interface shows. `argument_types` replaces `typing`, which would add 6 ms to the 41 of `moss fetch`; dataclasses
would add 13 and msgspec 35.
"""

from __future__ import annotations

from moss_memory.registry.argument_types import Annotated, Any, Literal

Id = Annotated[str, "ULID; instead of workspace + name"]
Workspace = Annotated[str, "namespace"]
Name = Annotated[str, "handle, unique in the workspace"]
NamePrefix = Annotated[str, "names beginning with this"]
Title = Annotated[str, "display title"]
Tag = Annotated[str, "exact tag"]
Tags = Annotated[list[str], "at most 50 tags"]
SourceName = Annotated[str, "who wrote it, e.g. codex"]
RunId = Annotated[str, "workflow run"]
Phase = Annotated[str, "workflow phase"]
Role = Annotated[str, "agent role"]
IncludeDeleted = Annotated[bool, "also soft-deleted ones"]
IncludeText = Annotated[bool, "with the full text"]
Limit = Annotated[int, "most rows"]
Offset = Annotated[int, "rows to skip"]
FilePath = Annotated[str, "a .jsonl file in an allowed folder"]
Query = Annotated[str, 'words, or operators: "phrase", pre*, AND OR NOT']
Days = Annotated[int, "0 means all"]
Version = Annotated[int, {"minimum": 1}, "as it was in this version"]
ExpectedVersion = Annotated[int, "change only this version"]
AsOf = Annotated[int | str, "as it was then: seconds, or ISO 8601"]
Ref = Annotated[
    dict[str, Any],
    {
        "properties": {
            "id": {"type": "string"},
            "workspace": {"type": "string"},
            "name": {"type": "string"},
            "fetch_key": {"type": "object", "unlisted": True},
        },
        "additionalProperties": False,
    },
]
StoreMode = Annotated[Literal["error", "replace"], "when the name is taken"]
ImportMode = Annotated[Literal["error", "replace", "rename"], "on a collision"]
SearchMode = Annotated[Literal["keyword", "semantic", "both"], "by words, by meaning"]
