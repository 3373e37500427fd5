"""`markdown` and `basic-memory`: folders of Markdown files, the second with observations and relations in them."""

from __future__ import annotations

import os
import re

from ..moving.front_matter import read as read_front_matter
from .items import SourceFile, capsule, edge, node, one_line, text_of
from .reading import markdown_files, named, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_RELATION = re.compile(r"^[ \t]*[-*][ \t]+(?!\[)([^\[\]\n]{1,100}?)[ \t]*\[\[([^\[\]\n]{1,300})\]\]", re.MULTILINE)
_OBSERVED = re.compile(r"^[ \t]*[-*][ \t]+\[[^\[\]\n]{2,60}\][^\n]*", re.MULTILINE)
_HASHTAG = re.compile(r"(?<![\w#/&])#([\w][\w/-]{0,60})")


def read(path: str) -> Iterator[SourceFile]:
    """Every file is a capsule."""
    for one in markdown_files(path):
        file = named(one, path)
        _capsule(file, one)
        yield file


def read_basic_memory(path: str) -> Iterator[SourceFile]:
    """Every note is a capsule, and a node where it relates to others; what it relates to is an edge."""
    paths = markdown_files(path)
    keys: dict[str, str] = {}
    for one in paths:
        file = named(one, path)
        fields, _ = read_front_matter(read_text(one))
        key = _key(file, fields)
        stem = os.path.splitext(file.name)[0]
        for alias in (key, stem, os.path.basename(stem), text_of(fields.get("title"))):
            keys.setdefault(one_line(alias).lower(), key)
    for one in paths:
        file = named(one, path)
        note = _capsule(file, one)
        if note is not None:
            _relate(file, note, keys)
        yield file


def _capsule(file: SourceFile, path: str) -> dict[str, Any] | None:
    """The file as a capsule, with its title, tags and times; what holds no text is passed over."""
    fields, text = read_front_matter(read_text(path))
    if not text.strip():
        file.skip(file.name, "holds no text")
        return None
    status = os.stat(path)
    heading = _HEADING.search(text)
    title = text_of(fields.get("title")) or (heading[1] if heading else "") or os.path.basename(file.name)
    tags = fields.get("tags")
    tags = [part.lstrip("#") for part in tags.split(",")] if isinstance(tags, str) else tags
    tags = [*(tags if isinstance(tags, list) else []), *_observed_tags(text)]
    key = _key(file, fields)
    updated = fields.get("updated") or fields.get("modified") or fields.get("date") or int(status.st_mtime)
    created = fields.get("created") or fields.get("created_at") or updated
    made = capsule(key, text.strip("\n") + "\n", name=key, title=title, tags=tags, created=created, updated=updated)
    made["type"] = text_of(fields.get("type")) or "note"
    file.items.append(made)
    return made


def _key(file: SourceFile, fields: dict[str, Any]) -> str:
    return one_line(text_of(fields.get("permalink"))) or os.path.splitext(file.name)[0].replace(os.sep, "/")


def _observed_tags(text: str) -> list[str]:
    """The tags that stand in observations: `- [decision] Retry three times #payments`."""
    return [tag for line in _OBSERVED.findall(text) for tag in _HASHTAG.findall(line)]


def _relate(file: SourceFile, note: dict[str, Any], keys: dict[str, str]) -> None:
    relations = [(one_line(match[1]), one_line(match[2])) for match in _RELATION.finditer(note["text"])]
    if not relations:
        return
    file.items.append(
        node(note["key"], type=note["type"], title=note["title"], tags=note["tags"], capsule=note["name"])
    )
    for relation, named_target in relations:
        target = keys.get(named_target.partition("|")[0].strip().lower())
        if target is None:
            file.skip(f"{relation} [[{named_target}]]", "leads to a note that is not in the folder")
        else:
            file.items.append(edge(note["key"], relation, target))
