"""The fields of the answers of built-in commands."""

from __future__ import annotations

from moss_memory.registry.responses import (
    BAD_FILE,
    FINDINGS,
    ResponseSchema,
    TableColumn,
    file_path,
    flag,
    integer,
    list_of,
    moment,
    object_of,
    text,
    texts,
)

_SYNC_CONFLICT = ResponseSchema(
    "SyncConflict",
    {
        "type": text("capsule, artifact, or workspace for reasoning and tasks"),
        "address": text("its workspace and name"),
        "file": text("its file"),
    },
    table=(TableColumn("type"), TableColumn("address", min_width=12), TableColumn("file", min_width=16, max_width=0)),
)
_SYNC_SKIPPED = ResponseSchema(
    "SyncSkipped",
    {"file": text("file"), "why": text("the reason")},
    table=(TableColumn("file", min_width=16), TableColumn("why", min_width=20, max_width=0)),
)
_GIT = ResponseSchema(
    "SyncedRepository",
    {
        "committed": flag("whether a commit was made"),
        "pulled": flag("whether changes were pulled from the remote"),
        "pushed": flag("whether commits were pushed to it"),
    },
)

SYNCED = {
    "folder": file_path("the folder"),
    "taken": integer("files that were imported into the store"),
    "written": integer("files that were written"),
    "deleted": integer("items that were deleted on the other side"),
    "restored": integer("deleted items that were restored because their file had changed"),
    "erased": integer("items that were purged or erased on one side, and now on the other"),
    "conflicts": list_of(_SYNC_CONFLICT, "items that both sides had changed"),
    "skipped": list_of(_SYNC_SKIPPED, "skipped files"),
    "dry_run": flag("whether nothing was changed", shown="if_true"),
    "git": object_of(_GIT, "the commits, pulls and pushes", optional=True, shown="opened"),
    **FINDINGS,
}

FAILED = BAD_FILE.with_fields(
    {"code": text("the error code")},
    table=(
        TableColumn("file", min_width=16, max_width=0),
        TableColumn("code", drop_rank=3),
        TableColumn("message", min_width=20, max_width=0),
    ),
)

SKIPPED = ResponseSchema(
    "LeftOut",
    {"file": text("file"), "item": text("item"), "reason": text("the reason")},
    table=(
        TableColumn("file", min_width=12),
        TableColumn("item", min_width=12),
        TableColumn("reason", min_width=20, max_width=0),
    ),
)

MOVED_TABLE = ResponseSchema(
    "MovedTable",
    {
        "table": text("table"),
        "rows": integer("its rows"),
        "sha256": text("a hash of all of them in order, the same on both sides", optional=True),
    },
    table=(TableColumn("table", min_width=12), TableColumn("rows"), TableColumn("sha256", drop_rank=1, max_width=0)),
)

CONNECTED = ResponseSchema(
    "ConnectedClient",
    {
        "client": text("client"),
        "found": flag("whether the client seems to be installed"),
        "scope": text("user or project"),
        "connected": text("how it reaches Moss: stdio, http, no, or unknown if its file cannot be read"),
        "file": file_path("the client's file"),
        "answers": text("with `check`: whether Moss answered", optional=True),
        "server": text("the name and version of the server that answered", optional=True),
        "tools": integer("number of tools that it lists", optional=True),
        "problem": text("the problem, if there is one", optional=True),
    },
    table=(
        TableColumn("client"),
        TableColumn("found", drop_rank=3),
        TableColumn("scope", drop_rank=4),
        TableColumn("connected"),
        TableColumn("answers", drop_rank=2),
        TableColumn("file", min_width=16, drop_rank=1, max_width=0),
        TableColumn("problem", min_width=20, max_width=0),
    ),
)

HOOKS = ResponseSchema(
    "ClientHooks",
    {
        "file": file_path("the file with the client's hooks"),
        "changed": flag("whether the file changed"),
        "events": texts("the events at which the client runs Moss"),
    },
)

UNMAPPED = ResponseSchema(
    "UnmappedFields",
    {"file": file_path("the file"), "fields": texts("their names")},
    table=(TableColumn("file", min_width=16, max_width=0), TableColumn("fields", min_width=16)),
)


NAMED_TOKEN = ResponseSchema(
    "NamedToken",
    {
        "name": text("its name"),
        "created_at": moment("when it was made"),
        "last_used_at": moment("the hour of its last use; null if it was never used", nullable=True),
        "expires_at": moment("when it expires; null if never", nullable=True),
        "expired": flag("whether it has expired", shown="if_true"),
        "read_only": flag("whether it may only read"),
    },
    table=(
        TableColumn("name", min_width=8), TableColumn("created_at", "made"), TableColumn("last_used_at", "last used"),
        TableColumn("expires_at", "expires"), TableColumn("read_only", "read-only"), TableColumn("expired"),
    ),
)  # fmt: skip
