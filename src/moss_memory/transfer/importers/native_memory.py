"""The folders in which clients keep memories of their own as Markdown files."""

from __future__ import annotations

import os
import re

from moss_memory.code_state.work_tree import work_tree_of
from moss_memory.errors import invalid_request

NATIVE = ("claude-code", "codex")


def native_memory_folder(source: str) -> str:
    """Return the memory folder of a client: of Claude Code for the current project, of Codex for all projects."""
    if source == "codex":
        home = os.environ.get("CODEX_HOME") or "~/.codex"
        return os.path.join(os.path.expanduser(home), "memories")
    if source == "claude-code":
        work_tree = work_tree_of()
        project = os.getcwd() if work_tree is None else work_tree.main or work_tree.folder
        home = os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
        slug = re.sub(r"[^A-Za-z0-9]", "-", project)
        return os.path.join(os.path.expanduser(home), "projects", slug, "memory")
    raise invalid_request(f"`path` is needed: the file or folder of {source}", path="path")
