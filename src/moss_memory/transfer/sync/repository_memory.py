"""Memory in a repository: its configuration names the folder and the workspace."""

from __future__ import annotations

import json
import os

from moss_memory.rows.names import normalize_workspace
from moss_memory.storage.files.json_files import read_object
from moss_memory.storage.files.private_files import make_private_folder, write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = ".moss/memory"


def keep_memory_in_repository(root: str, workspace: str) -> dict[str, Any]:
    """Set `sync_folder` and `workspace` in a repository's configuration; other settings in it stay.

    Return the file, the folder and the workspace; `changed` is False if the file said so already.
    """
    normalize_workspace(workspace)
    path = os.path.join(root, ".moss", "config.json")
    present = read_object(path, what="settings") if os.path.lexists(path) else {}
    wanted = {**present, "workspace": present.get("workspace") or workspace, "sync_folder": FOLDER}
    if wanted != present:
        make_private_folder(os.path.dirname(path))
        write_private(path, (json.dumps(wanted, ensure_ascii=False, indent=2) + "\n").encode())
    folder = os.path.join(root, FOLDER)
    return {"file": path, "folder": folder, "workspace": wanted["workspace"], "changed": wanted != present}
