"""The fields of the answer of `moss sync`."""

from __future__ import annotations

from moss_memory.registry.responses import (
    FINDINGS,
    ResponseSchema,
    TableColumn,
    file_path,
    flag,
    integer,
    list_of,
    object_of,
    text,
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
