"""`markdown` and `basic-memory`: folders of Markdown files, the second with observations and relations in them."""

from __future__ import annotations

import os
import re

from moss_memory.errors import MossError
from moss_memory.transfer.front_matter import parse_markdown

from .items import SourceFile, capsule, edge, node, to_single_line, to_text
from .source_files import markdown_files, new_source_file, read_source_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_RELATION = re.compile(
    r"[ \t]*[-*+][ \t]+(?!\[)([^\[\]]{1,100}?)[ \t]*\[\[([^\[\]]{1,300})\]\][ \t]*(?:\([^()]*\))?[ \t]*$"
)
_LINK = re.compile(r"\[\[([^\[\]]{1,300})\]\]")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_LINKED = "links_to"
_OBSERVED = re.compile(r"^[ \t]*[-*][ \t]+\[[^\[\]\n]{2,60}\][^\n]*", re.MULTILINE)
"""An observation such as `- [decision] Retry three times #payments`."""
_HASHTAG = re.compile(r"(?<![\w#/&])#([\w][\w/-]{0,60})")


def read_markdown(path: str) -> Iterator[SourceFile]:
    """Yield every file, with its text as a capsule."""
    for file, note in _notes(path):
        if note is not None:
            _add_capsule(file, *note)
        yield file


def read_basic_memory(path: str) -> Iterator[SourceFile]:
    """Yield every file, with its note as a capsule, and as a node with edges if it has relations."""
    keys: dict[str, str] = {}
    files = []
    notes = []
    for file, parsed in _notes(path):
        files.append(file)
        if parsed is None:
            continue
        fields = parsed[0]
        key = _key(file, fields)
        stem = os.path.splitext(file.name)[0]
        for alias in (key, stem, os.path.basename(stem), to_text(fields.get("title"))):
            keys.setdefault(to_single_line(alias).lower(), key)
        notes.append((file, _add_capsule(file, *parsed)))
    entries = [(file, note, _relations(file, note, keys)) for file, note in notes if note is not None]
    related = {end for _, note, edges in entries if edges for end in (note["key"], *(edge[1] for edge in edges))}
    for file, note, edges in entries:
        if note["key"] in related:
            fields = {"type": note["type"], "title": note["title"], "tags": note["tags"], "capsule": note["name"]}
            file.items.append(node(note["key"], **fields))
        file.items += [edge(note["key"], relation, target) for relation, target in edges]
    yield from files


def _notes(path: str) -> Iterator[tuple[SourceFile, tuple[dict[str, Any], str, int] | None]]:
    """Yield each file with its front matter, its text and its time; with None if it cannot be read."""
    for file_path in markdown_files(path):
        file = new_source_file(file_path, path)
        try:
            yield file, (*parse_markdown(read_source_text(file_path)), int(os.stat(file_path).st_mtime))
        except (MossError, OSError) as error:
            if file_path == path:
                raise
            file.skip(file.name, error.message if isinstance(error, MossError) else str(error.strerror))
            yield file, None


def _add_capsule(file: SourceFile, fields: dict[str, Any], text: str, changed_at: int) -> dict[str, Any] | None:
    """Return the file as a capsule with title, tags and times; None if it is empty."""
    if not text.strip():
        file.skip(file.name, "holds no text")
        return None
    heading = _HEADING.search(text)
    title = to_text(fields.get("title")) or (heading[1] if heading else "") or os.path.basename(file.name)
    tags = fields.get("tags")
    tags = [tag.lstrip("#") for tag in tags.split(",")] if isinstance(tags, str) else tags
    observed = [tag for line in _OBSERVED.findall(text) for tag in _HASHTAG.findall(line)]
    tags = [*(tags if isinstance(tags, list) else []), *observed]
    key = _key(file, fields)
    updated = fields.get("updated") or fields.get("modified") or fields.get("date") or changed_at
    created = fields.get("created") or fields.get("created_at") or updated
    item = capsule(key, text.strip("\n") + "\n", name=key, title=title, tags=tags, created=created, updated=updated)
    item["type"] = to_text(fields.get("type")) or "note"
    file.items.append(item)
    return item


def _key(file: SourceFile, fields: dict[str, Any]) -> str:
    return to_single_line(to_text(fields.get("permalink"))) or os.path.splitext(file.name)[0].replace(os.sep, "/")


def _relations(file: SourceFile, note: dict[str, Any], keys: dict[str, str]) -> list[tuple[str, str]]:
    """Return the relations of a note to notes of the folder; report links that lead out of it."""
    edges = []
    for relation, named_target in dict.fromkeys(_written_relations(note["text"])):
        target = keys.get(named_target.partition("|")[0].strip().lower())
        if target is None:
            file.skip(f"{relation} [[{named_target}]]", "leads to a note that is not in the folder")
        else:
            edges.append((relation, target))
    return list(dict.fromkeys(edges))


def _written_relations(text: str) -> Iterator[tuple[str, str]]:
    """Yield `- part_of [[Other]]` lines as relations and every other link as `links_to`, except in code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if fence or mark:
            continue
        if relation := _RELATION.match(line.rstrip("\r")):
            yield to_single_line(relation[1]), to_single_line(relation[2])
        else:
            yield from ((_LINKED, to_single_line(link)) for link in _LINK.findall(line))
