"""Export and import of the whole store as a folder. Not listed to agents."""

from __future__ import annotations

from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.arguments import ImportMode
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    FINDINGS,
    ResponseSchema,
    TableColumn,
    file_path,
    integer,
    list_of,
    object_of,
    text,
    texts,
)
from moss_memory.storage.files.safe_directory import SafeDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

Folder = Annotated[str, "any folder that you may use"]
WithHistory = Annotated[bool, "earlier versions too"]
WithLocal = Annotated[bool, "capsules and artifacts with the tag `local` too"]

_COUNTS = {
    "capsules": integer("capsules"),
    "artifacts": integer("artifacts"),
    "reasoning": integer("lines of reasoning"),
    "tasks": integer("lines of plans, tasks and their events"),
    "records": integer("records; from the first layout, lines of them"),
    "history": integer("earlier versions", optional=True),
}
_PROBLEM = ResponseSchema(
    "FolderProblem",
    {
        "file": text("its path in the folder"),
        "line": integer("its number in the file", optional=True),
        "id": text("its id, if it has one", optional=True),
        "name": text("its name, if it has one", optional=True),
        "code": text("the kind of fault"),
        "message": text("the same in a sentence"),
    },
    table=(
        TableColumn("file", min_width=16, max_width=0),
        TableColumn("line", drop_rank=2),
        TableColumn("code", drop_rank=3),
        TableColumn("message", min_width=20, max_width=0),
    ),
)
_RENAMED = ResponseSchema("RenamedWorkspace", {"workspace": text("as it was"), "now": text("as it is called here")})


@operation(
    slow=True,
    visible=False,
    answers={
        "folder": file_path("the folder"),
        "counts": object_of(ResponseSchema("ExportedCounts", _COUNTS), "number exported, by kind", shown="opened"),
        "files": integer("files beside the manifest"),
        "written": integer("files that are new or changed"),
        "removed": integer("files that the last export wrote and that are gone"),
        "left_local": integer("capsules and artifacts with the tag `local`, which are not in it", optional=True),
        "warning": text("a sentence if a file is too large to be imported as it is", optional=True),
    },
    example="moss export --all ~/notes/moss",
)
def export_folder(
    tx: ReadTransaction, *, folder: Folder, with_history: WithHistory = False, with_local: WithLocal = False
) -> dict[str, Any]:
    """Write everything that the store holds into a folder, as plain files; the same store gives the same folder.

    A capsule is a Markdown file, an artifact or a record a JSON file, as `moss sync` writes them. Only what changed is
    written. Capsules and artifacts with the tag `local` are left out and counted.
    """
    from .export import FolderExport

    tree = SafeDirectory(folder, home=tx.config.home, create=True)
    try:
        tree.claim()
        return FolderExport(tx, tree, with_history=with_history, with_local=with_local).run()
    finally:
        tree.close()


_LOST = ResponseSchema(
    "LostRow",
    {
        "table": text("its table"),
        "row": text("its key, if known", optional=True),
        "column": text("the column that is not valid text", optional=True),
        "message": text("the reason"),
    },
    table=(
        TableColumn("table"),
        TableColumn("row", drop_rank=2),
        TableColumn("column", drop_rank=3),
        TableColumn("message", min_width=20, max_width=0),
    ),
)
SALVAGED = export_folder.answers.with_fields(
    {
        "unreadable": integer("rows, tables and texts that could not be read"),
        "lost": list_of(_LOST, "the first hundred of them; unreadable.jsonl in the folder has all"),
    }
)
"""Answer of salvage."""


@operation(
    mutates=True,
    destructive=True,
    slow=True,
    visible=False,
    answers={
        "folder": file_path("the folder"),
        "imported": object_of(ResponseSchema("ImportedCounts", _COUNTS), "number imported, by kind", shown="opened"),
        "unchanged": integer("capsules, artifacts and workspaces that were there already and are equal"),
        "skipped": integer("files and lines that were not imported"),
        "errors": list_of(_PROBLEM, "the faults of skipped files and the parts left out of others, at most 1,000"),
        "changed": texts("files that differ from the manifest or are missing in it"),
        "renamed": list_of(_RENAMED, "workspaces whose reasoning and tasks have another name here", optional=True),
        "ignored": texts("files that mean nothing without a manifest, and links to folders", optional=True),
        **FINDINGS,
    },
    example="moss import ~/notes/moss --mode rename",
)
def import_folder(tx: Transaction, *, folder: Folder, mode: ImportMode = "error") -> dict[str, Any]:
    """Import an exported folder, or a folder of Markdown files, in one transaction.

    On a collision: `error` imports nothing, `replace` overwrites, `rename` adds a number.
    """
    from .folder_import import FolderImport, ParsedFolder

    tree = SafeDirectory(folder, home=tx.config.home)
    try:
        parsed = ParsedFolder(tree, tx.config)
        parsed.read(tx)
        return FolderImport(tx, parsed, mode).run()
    finally:
        tree.close()
