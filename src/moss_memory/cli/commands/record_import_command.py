"""`moss record migrate`: imports and checks records that were written to files while the store was unavailable.

The command keeps the word `migrate`, because it is public.
"""

from __future__ import annotations

import os

from moss_memory.cli.args.usage_error import UsageError
from moss_memory.cli.render.output import progress_for, warn
from moss_memory.errors import MossError, invalid_request
from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.files.json_files import json_files, read_object, shown_path
from moss_memory.storage.files.sandbox import real_path
from moss_memory.store import Store
from moss_memory.tools.record.field_mapping import Mapping
from moss_memory.tools.record.spool import COLLECTIONS, MEMORY_FOLDER
from moss_memory.tools.record.spool_import import import_spool, spooled_files

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMAND = "record migrate"
_LINKS_SHOWN = 5


def import_folder(
    home: str | None,
    *,
    dir: str,
    workspace: str | None = None,
    dry_run: bool = False,
    map: str | None = None,
    lenient: bool = False,
) -> dict[str, Any]:
    """Import every record file below a folder; refuse the folder if a link leads out of it."""
    config = load_settings(home)
    for path in filter(None, (dir, map)):
        real_path(path, config.home)
    mapping = None if map is None else _read_mapping(os.path.expanduser(map))
    folder = os.path.expanduser(dir)
    _refuse_other_folders(folder)
    _refuse_links_outside(folder)
    if workspace is not None:
        normalize_workspace(workspace)
    workspace = workspace or config.workspace or None
    for warning in _skipped_files(folder):
        warn(warning)
    steps = _Steps()
    try:
        with Store(config, actor="cli") as store:
            return import_spool(
                store,
                folder,
                workspace=workspace,
                dry_run=dry_run,
                mapping=mapping,
                lenient=lenient,
                progress=steps,
            )
    except KeyboardInterrupt:
        raise MossError("CANCELLED", steps.interrupted(dry_run=dry_run)) from None
    finally:
        steps.clear()


def _read_mapping(path: str) -> Mapping:
    try:
        return Mapping(read_object(path, what="map"))
    except ValueError as error:
        raise invalid_request(f"{shown_path(path)} is not a valid map: {error}", path="map") from None


class _Steps:
    """Progress of the import, shown on a terminal and reported on Ctrl-C."""

    def __init__(self) -> None:
        self._done = 0
        self._progress = progress_for("migrate")

    def __call__(self, done: int, total: int) -> None:
        self._done = done
        if self._progress is not None:
            self._progress(done, total)

    def clear(self) -> None:
        if self._progress is not None:
            self._progress.clear()

    def interrupted(self, *, dry_run: bool) -> str:
        if dry_run:
            return "interrupted; nothing was changed"
        files = "file, which stays" if self._done == 1 else "files, which stay"
        return f"interrupted after {self._done} {files} migrated; run it again for the others"


def _refuse_other_folders(folder: str) -> None:
    """Refuse a path that is no folder, and a parent of the expected folder."""
    folder_name = shown_path(folder)
    if not os.path.isdir(folder):
        problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
        raise UsageError(
            f"{folder_name!r} {problem}; DIR is the folder of record files, {MEMORY_FOLDER}", command=COMMAND
        )
    for below in (MEMORY_FOLDER, os.path.basename(MEMORY_FOLDER)):
        expected = os.path.join(folder, below)
        if not _collections(folder) and _collections(expected):
            raise UsageError(
                f"{folder_name!r} contains no record files; did you mean {shown_path(expected)}?", command=COMMAND
            )


def _collections(folder: str) -> list[str]:
    return [name for name in COLLECTIONS if os.path.isdir(os.path.join(folder, name))]


def _refuse_links_outside(folder: str) -> None:
    """Refuse links that lead out of the folder: a repository could use them to import other files."""
    inside = os.path.join(os.path.realpath(folder), "")
    linked = [path for _, path in spooled_files(folder) if not os.path.realpath(path).startswith(inside)]
    if linked:
        link_paths = ", ".join(map(shown_path, linked[:_LINKS_SHOWN]))
        remainder = f" and {len(linked) - _LINKS_SHOWN} more" if len(linked) > _LINKS_SHOWN else ""
        raise invalid_request(
            f"nothing was migrated, because links lead out of {shown_path(folder)}: {link_paths}{remainder}; "
            "put the files themselves there, or remove the links",
            path="dir",
        )


def _skipped_files(folder: str) -> list[str]:
    """Return the files of the folder that are not imported, in words."""
    known_collections = f"known: {', '.join(COLLECTIONS)}"
    other_names = [name for name in sorted(os.listdir(folder)) if name not in COLLECTIONS]
    warnings = [
        f"{shown_path(os.path.join(folder, name))} is not a collection and is skipped; {known_collections}"
        for name in other_names
        if json_files(os.path.join(folder, name))
    ]
    return warnings or (
        [] if _collections(folder) else [f"{shown_path(folder)} contains no record files; {known_collections}"]
    )
