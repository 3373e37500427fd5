"""The paths of files that a text names, found in time linear to its length."""

from __future__ import annotations

import re

MOST_PATHS = 200
"""The maximum number of different names of a text that are looked up."""
MOST_CHARS = 1_000_000
_PATH_MAX_CHARS = 400
_QUOTED = re.compile(r"`([^`\n]{1,400})`|\"([^\"\n]{1,400})\"|'([^'\n]{1,400})'")
_WORD = re.compile(r"[\w.@+~/\-]+")
_LINE_SUFFIX = re.compile(r"(?::\d{1,9}(?:[:-]\d{1,9})?|#L\d{1,9}(?:-L?\d{1,9})?)$")
"""The line in a file, as in `session.py:42`."""


def paths_in(text: str, root: str = "") -> list[str]:
    """Return the names in a text that can be paths in a repository, each once, in their order.

    A word counts if it has a slash or a dot inside; in quotes or backticks every name does. An absolute path below
    `root` is made relative to it.
    """
    text = text[:MOST_CHARS]
    names: dict[str, None] = {}
    for match in _QUOTED.finditer(text):
        name = _clean(match[1] or match[2] or match[3], root)
        if name and "  " not in name:
            names[name] = None
        if len(names) >= MOST_PATHS:
            break
    for match in _WORD.finditer(text):
        if len(names) >= MOST_PATHS:
            break
        word = match[0]
        if ("/" in word or "." in word) and (name := _clean(word, root)):
            names[name] = None
    return list(names)


def _clean(raw: str, root: str) -> str:
    """Return a name as a path from the root of the repository; empty if it is not one."""
    name = _LINE_SUFFIX.sub("", raw.strip()).rstrip(".,;:!?")
    if root and name.startswith(root + "/"):
        name = name[len(root) + 1 :]
    while name.startswith("./"):
        name = name[2:]
    parts = name.split("/")
    if not name or len(name) > _PATH_MAX_CHARS or name.startswith("-") or not name.isprintable():
        return ""
    return "" if any(part in ("", ".", "..", ".git") for part in parts) or not any(map(str.isalnum, name)) else name
