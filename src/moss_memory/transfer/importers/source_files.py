"""Reading of source files, read-only, with refusal of invalid ones."""

from __future__ import annotations

import json
import os
import stat

from moss_memory.errors import invalid_request

from .items import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST_BYTES = 64 * 1024 * 1024
MOST_FILES = 100_000
_DEEPEST = 64


def read_source_text(path: str) -> str:
    """Return the text of a UTF-8 file; refuse links, devices, invalid characters and more than 64 MB."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise invalid_request(f"{path} is no plain file; links and devices are not taken", path="path")
        if status.st_size > MOST_BYTES:
            raise invalid_request(f"{path} has {status.st_size} bytes; at most {MOST_BYTES} are read", path="path")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise invalid_request(f"{path} cannot be read ({error.strerror})", path="path") from None
    nul = data.find(b"\0")
    if nul >= 0:
        raise invalid_request(f"{path}, line {_line(data, nul)}, holds a NUL character", path="path")
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise invalid_request(f"{path}, line {_line(data, error.start)}, is not UTF-8", path="path") from None


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def json_lines(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file with their lines; refuse the whole file for an invalid one."""
    for number, line in enumerate(read_source_text(path).split("\n"), start=1):
        if line.strip():
            value = parse_json(line, f"{path}, line {number},")
            if not isinstance(value, dict):
                raise invalid_request(f"{path}, line {number}, is no JSON object", path="path")
            yield number, value


def parse_json(text: str, where: str) -> Any:
    """Parse JSON; refuse invalid or too deep JSON with its position."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise invalid_request(f"{where} is no JSON", path="path") from None
    _refuse_depth(value, where)
    return value


def _refuse_depth(value: Any, where: str) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise invalid_request(f"{where} is nested more than {_DEEPEST} levels deep", path="path")


def markdown_files(folder: str) -> list[str]:
    """Return the Markdown files below a folder, by name, or the given file; hidden folders and links are skipped."""
    if os.path.isfile(folder) and not os.path.islink(folder):
        return [folder]
    if not os.path.isdir(folder):
        raise invalid_request(f"{folder} is neither a folder nor a file", path="path")
    paths: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        paths += [
            os.path.join(parent, name) for name in sorted(names) if name.lower().endswith(".md") and name[0] != "."
        ]
        if len(paths) > MOST_FILES:
            raise invalid_request(f"{folder} holds more than {MOST_FILES} files; name a folder below it", path="path")
    return [path for path in paths if not os.path.islink(path)]


def find_file(path: str, *names: str) -> str:
    """Return the file at a path: the path itself, or a file with one of these names in that folder."""
    if not os.path.isdir(path):
        if not os.path.lexists(path):
            raise invalid_request(f"{path} does not exist", path="path")
        return path
    for name in names:
        if os.path.isfile(os.path.join(path, name)):
            return os.path.join(path, name)
    raise invalid_request(f"{path} holds no {' or '.join(names)}", path="path")


def new_source_file(path: str, base: str) -> SourceFile:
    """Return an empty `SourceFile`, named by its path relative to the source; invalid UTF-8 is replaced."""
    relative_path = os.path.relpath(path, base if os.path.isdir(base) else os.path.dirname(base) or ".")
    return SourceFile(os.fsencode(relative_path).decode(errors="replace"))
