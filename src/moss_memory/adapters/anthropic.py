"""Anthropic's memory tool on Moss: files below /memories that are artifacts, and nothing on the disk but the store."""

from __future__ import annotations

import asyncio
import posixpath
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from moss_memory.errors import MossError

from .artifact_kv import ArtifactKV, ContextManaged

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from moss_memory.store import Store

_KIND = "memory-file"
_ROOT = "/memories"
_LINE_WIDTH = 6
_MOST_LINES = 999_999
_FOLDER_BYTES = 4096


def _in_thread(method: Callable[..., str]) -> Callable[..., Coroutine[Any, Any, str]]:
    """Return a method of the asynchronous tool that runs a method of its files in a thread."""

    async def run(tool: AsyncMossMemoryTool, *command: Any) -> str:
        return await asyncio.to_thread(method, tool._files, *command)

    return run


class MemoryFiles(ContextManaged):
    """A tree of text files in Moss; paths are relative to /memories, and the empty path is /memories itself.

    A file has at most about 50,000 characters of JSON; more, or a text with secrets, is a `ToolError`.
    """

    def __init__(
        self,
        *,
        store: Store | None = None,
        home: str | None = None,
        workspace: str = "memories",
        allow_secrets: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._artifacts = ArtifactKV(_KIND, store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the numbered lines of a file, or the content of a folder, two levels deep."""
        path = _relative_path(command.path)
        file = self._require_entry(path, command.path)
        if "content" not in file:
            return self._listing(path, command.path)
        lines = file["content"].split("\n")
        if len(lines) > _MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        start = 0
        if command.view_range and len(command.view_range) == 2:
            start = max(1, command.view_range[0]) - 1
            end = len(lines) if command.view_range[1] == -1 else command.view_range[1]
            lines = lines[start:end]
        return f"Here's the content of {command.path} with line numbers:\n" + _number_lines(lines, start + 1)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        path = _relative_path(command.path)
        self._make_folders(posixpath.dirname(path))
        if self._entry(path) is not None:
            raise ToolError(f"File {command.path} already exists")
        self._write(path, command.file_text, shown=command.path, new=True)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        path = _relative_path(command.path)
        content = self._content(path, command.path)
        count = content.count(command.old_str)
        if count == 0:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if count > 1:
            lines = ", ".join(map(str, _lines_with(content, command.old_str)))
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: "
                f"{lines}. Please ensure it is unique"
            )
        line = content[: content.find(command.old_str)].count("\n")
        new_content = content.replace(command.old_str, command.new_str)
        self._write(path, new_content, shown=command.path)
        first_line = max(0, line - 2)
        snippet = _number_lines(new_content.split("\n")[first_line : line + 3], first_line + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + snippet
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        path = _relative_path(command.path)
        lines = self._content(path, command.path).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        new_content = "\n".join(lines)
        self._write(path, new_content if new_content.endswith("\n") else new_content + "\n", shown=command.path)
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        path = _relative_path(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        if self._entry(path) is None:
            raise ToolError(f"The path {command.path} does not exist")
        for entry_path in (*self._entries_below(path), path):
            self._artifacts.delete(entry_path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        source, target = _relative_path(command.old_path), _relative_path(command.new_path)
        if not source:
            raise ToolError("Cannot rename the /memories directory itself")
        if self._entry(target) is not None:
            raise ToolError(f"The destination {command.new_path} already exists")
        self._make_folders(posixpath.dirname(target))
        if self._entry(source) is None:
            raise ToolError(f"The path {command.old_path} does not exist")
        if target.startswith(f"{source}/"):
            raise ToolError(f"The path {command.new_path} is inside of {command.old_path}")
        for path, data in {source: self._entry(source), **self._entries_below(source)}.items():
            self._artifacts.put(target + path[len(source) :], {**(data or {}), "path": target + path[len(source) :]})
            self._artifacts.delete(path)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        self._artifacts.delete_all()
        return "All memory cleared"

    def close(self) -> None:
        self._artifacts.close()

    def _entry(self, path: str) -> dict[str, Any] | None:
        """Return the entry at a path: a file has a `content`, a folder does not."""
        if not path:
            return {"path": ""}
        row = self._artifacts.get(path)
        return None if row is None else dict(row["data"])

    def _require_entry(self, path: str, shown: str) -> dict[str, Any]:
        entry = self._entry(path)
        if entry is None:
            raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")
        return entry

    def _content(self, path: str, shown: str) -> str:
        entry = self._require_entry(path, shown)
        if "content" not in entry:
            raise ToolError(f"The path {shown} is not a file.")
        return str(entry["content"])

    def _entries_below(self, path: str) -> dict[str, dict[str, Any]]:
        """Return everything in a folder, by path."""
        rows = {row["data"]["path"]: row["data"] for row in self._artifacts.newest_first()}
        return {entry_path: data for entry_path, data in rows.items() if not path or entry_path.startswith(f"{path}/")}

    def _make_folders(self, path: str) -> None:
        parts = path.split("/") if path else []
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            entry = self._entry(folder)
            if entry is None:
                self._artifacts.put(folder, {"path": folder})
            elif "content" in entry:
                raise ToolError(f"The path {_ROOT}/{folder} is not a directory")

    def _write(self, path: str, content: str, *, shown: str, new: bool = False) -> None:
        try:
            self._artifacts.put(path, {"path": path, "content": content}, new=new)
        except MossError as error:
            if error.code == "NAME_ALREADY_EXISTS":
                raise ToolError(f"File {shown} already exists") from None
            raise ToolError(f"{shown} was not written: {error.message}") from None

    def _listing(self, path: str, shown: str) -> str:
        entries = self._entries_below(path)
        start = len(path) + 1 if path else 0
        lines = [f"{_size(_FOLDER_BYTES)}\t{shown}"]
        for entry_path in sorted(entries, key=lambda entry_path: entry_path.split("/")):
            parts = entry_path[start:].split("/")
            if len(parts) <= 2 and not any(part.startswith(".") for part in parts):
                content = entries[entry_path].get("content")
                size = _FOLDER_BYTES if content is None else len(content.encode())
                lines.append(f"{_size(size)}\t{shown}/{entry_path[start:]}{'/' if content is None else ''}")
        header = f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:"
        return "\n".join([header, *lines])


class MossMemoryTool(MemoryFiles, BetaAbstractMemoryTool):
    """Claude's memory tool with its files in Moss."""


class AsyncMossMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for asynchronous clients; the store is used in a thread."""

    def __init__(
        self,
        *,
        store: Store | None = None,
        home: str | None = None,
        workspace: str = "memories",
        allow_secrets: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._files = MossMemoryTool(store=store, home=home, workspace=workspace, allow_secrets=allow_secrets)

    view = _in_thread(MemoryFiles.view)
    create = _in_thread(MemoryFiles.create)
    str_replace = _in_thread(MemoryFiles.str_replace)
    insert = _in_thread(MemoryFiles.insert)
    delete = _in_thread(MemoryFiles.delete)
    rename = _in_thread(MemoryFiles.rename)
    clear_all_memory = _in_thread(MemoryFiles.clear_all_memory)

    def close(self) -> None:
        self._files.close()


def _relative_path(path: str) -> str:
    """Return a path relative to /memories, without dots; refuse one outside of it."""
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with {_ROOT}, got: {path}")
    inner = posixpath.normpath(path[len(_ROOT) :].lstrip("/") or ".")
    if inner == ".." or inner.startswith(("../", "/")) or "\0" in inner:
        raise ToolError(f"Path {path} would escape {_ROOT} directory")
    return "" if inner == "." else inner


def _number_lines(lines: list[str], first: int) -> str:
    return "\n".join([f"{number:>{_LINE_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)])


def _lines_with(content: str, part: str) -> list[int]:
    """Return the lines at which a text begins, overlapping matches included."""
    line_numbers, offset = [], content.find(part)
    while offset >= 0:
        line_numbers.append(content[:offset].count("\n") + 1)
        offset = content.find(part, offset + 1)
    return line_numbers


def _size(count: int) -> str:
    if count == 0:
        return "0B"
    power = min((count.bit_length() - 1) // 10, 3)
    size = count / 1024**power
    return f"{int(size) if size == int(size) else format(size, '.1f')}{'BKMG'[power]}"
