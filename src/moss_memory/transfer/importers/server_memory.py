"""`server-memory`: one file of JSON lines with entities, their observations, and relations."""

from __future__ import annotations

from .items import SourceFile, edge, node, text_of
from .source_files import find_file, json_lines, relative_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def read(path: str) -> Iterator[SourceFile]:
    """Yield the whole graph: an entity is a node with its observations as text, a relation is an edge."""
    found = find_file(path, "memory.jsonl", "memory.json")
    file = relative_name(found, path)
    for number, line in json_lines(found):
        _take(file, number, line)
    yield file


def _take(file: SourceFile, number: int, line: dict[str, Any]) -> None:
    if line.get("type") == "entity" and text_of(line.get("name")).strip():
        observations = line.get("observations")
        said = [text_of(one) for one in observations] if isinstance(observations, list) else []
        text = "\n".join([f"- {one}" for one in said if one.strip()])
        name = text_of(line["name"])
        file.items.append(node(name, type=text_of(line.get("entityType")) or "entity", title=name, text=text))
        return
    ends = [text_of(line.get(end)).strip() for end in ("from", "relationType", "to")]
    if line.get("type") == "relation" and all(ends):
        file.items.append(edge(*ends))
    else:
        file.skip(f"line {number}", "is neither an entity with a name nor a relation with both ends")
