"""`server-memory`: one file of JSON lines with entities, their observations, and relations."""

from __future__ import annotations

from .items import SourceFile, edge, node, to_text
from .source_files import find_file, json_lines, new_source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def read_server_memory(path: str) -> Iterator[SourceFile]:
    """Yield the whole graph: an entity is a node with its observations as text, a relation is an edge."""
    found = find_file(path, "memory.jsonl", "memory.json")
    file = new_source_file(found, path)
    for number, line in json_lines(found):
        name = to_text(line.get("name"))
        ends = [to_text(line.get(end)).strip() for end in ("from", "relationType", "to")]
        if line.get("type") == "entity" and name.strip():
            observations = line.get("observations")
            texts = [to_text(one) for one in observations] if isinstance(observations, list) else []
            text = "\n".join([f"- {one}" for one in texts if one.strip()])
            file.items.append(node(name, type=to_text(line.get("entityType")) or "entity", title=name, text=text))
        elif line.get("type") == "relation" and all(ends):
            file.items.append(edge(*ends))
        else:
            file.skip(f"line {number}", "is neither an entity with a name nor a relation with both ends")
    yield file
