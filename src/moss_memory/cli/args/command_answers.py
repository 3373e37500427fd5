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
    table=(TableColumn("type"), TableColumn("address", least=12), TableColumn("file", least=16, widest=0)),
)
_SYNC_SKIPPED = ResponseSchema(
    "SyncSkipped",
    {"file": text("file"), "why": text("why")},
    table=(TableColumn("file", least=16), TableColumn("why", least=20, widest=0)),
)
_GIT = ResponseSchema(
    "SyncedRepository",
    {
        "committed": flag("whether there was something to commit"),
        "pulled": flag("whether the remote was asked for changes"),
        "pushed": flag("whether the commits were sent to it"),
    },
)

SYNCED = {
    "folder": file_path("the folder"),
    "taken": integer("files that came into the store"),
    "written": integer("files that were written"),
    "deleted": integer("things that are deleted now on both sides"),
    "restored": integer("deleted things whose file had changed, which are back"),
    "erased": integer("things that were purged or erased on one side and are now on both"),
    "conflicts": list_of(_SYNC_CONFLICT, "what both sides had changed"),
    "skipped": list_of(_SYNC_SKIPPED, "files that were left alone"),
    "dry_run": flag("whether nothing was changed", shown="if_true"),
    "git": object_of(_GIT, "what git did", optional=True, shown="opened"),
    **FINDINGS,
}

FAILED = BAD_FILE.with_fields(
    {"code": text("why")},
    table=(
        TableColumn("file", least=16, widest=0),
        TableColumn("code", goes=3),
        TableColumn("message", least=20, widest=0),
    ),
)

SKIPPED = ResponseSchema(
    "LeftOut",
    {"file": text("file"), "item": text("what"), "reason": text("why")},
    table=(TableColumn("file", least=12), TableColumn("item", least=12), TableColumn("reason", least=20, widest=0)),
)

MOVED_TABLE = ResponseSchema(
    "MovedTable",
    {
        "table": text("table"),
        "rows": integer("its rows"),
        "sha256": text("a hash of all of them in order, the same on both sides", optional=True),
    },
    table=(TableColumn("table", least=12), TableColumn("rows"), TableColumn("sha256", goes=1, widest=0)),
)

CONNECTED = ResponseSchema(
    "ConnectedClient",
    {
        "client": text("client"),
        "found": flag("whether there are signs of it on this machine"),
        "scope": text("whose file"),
        "connected": text("how it reaches Moss: stdio, http, no, or unknown where its file cannot be read"),
        "file": file_path("the client's file"),
        "answers": text("whether Moss answered, when asked to check", optional=True),
        "server": text("what answered", optional=True),
        "tools": integer("how many tools it lists", optional=True),
        "problem": text("what is wrong", optional=True),
    },
    table=(
        TableColumn("client"),
        TableColumn("found", goes=3),
        TableColumn("scope", goes=4),
        TableColumn("connected"),
        TableColumn("answers", goes=2),
        TableColumn("file", least=16, goes=1, widest=0),
        TableColumn("problem", least=20, widest=0),
    ),
)

HOOKS = ResponseSchema(
    "ClientHooks",
    {
        "file": file_path("the file with the client's hooks"),
        "changed": flag("whether the file changed"),
        "events": texts("at what the client runs Moss now"),
    },
)

UNMAPPED = ResponseSchema(
    "UnmappedFields",
    {"file": file_path("the file"), "fields": texts("their names")},
    table=(TableColumn("file", least=16, widest=0), TableColumn("fields", least=16)),
)


NAMED_TOKEN = ResponseSchema(
    "NamedToken",
    {
        "name": text("its name"),
        "created_at": moment("when it was made"),
        "last_used_at": moment("the hour in which it was last used; null if never", nullable=True),
        "expires_at": moment("when it expires; null if never", nullable=True),
        "expired": flag("whether it has expired", shown="if_true"),
        "read_only": flag("whether it may only read"),
    },
    table=(
        TableColumn("name", least=8), TableColumn("created_at", "made"), TableColumn("last_used_at", "last used"),
        TableColumn("expires_at", "expires"), TableColumn("read_only", "read-only"), TableColumn("expired"),
    ),
)  # fmt: skip
