"""`server-memory`: one file of JSON lines with entities, their observations, and relations."""

from __future__ import annotations

from .items import SourceFile, edge, node, to_text
from .source_files import find_file, json_lines, new_source_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def read_server_memory(path: str) -> Iterator[SourceFile]:
    """Yield the whole graph: an entity is a node with its observations as text, a relation is an edge."""
    memory_path = find_file(path, "memory.jsonl", "memory.json")
    file = new_source_file(memory_path, path)
    for number, line in json_lines(memory_path):
        name = to_text(line.get("name"))
        ends = [to_text(line.get(end)).strip() for end in ("from", "relationType", "to")]
        if line.get("type") == "entity" and name.strip():
            observations = line.get("observations")
            texts = [to_text(observation) for observation in observations] if isinstance(observations, list) else []
            text = "\n".join([f"- {observation}" for observation in texts if observation.strip()])
            file.items.append(node(name, type=to_text(line.get("entityType")) or "entity", title=name, text=text))
        elif line.get("type") == "relation" and all(ends):
            file.items.append(edge(*ends))
        else:
            file.skip(f"line {number}", "is neither an entity with a name nor a relation with both ends")
    yield file
