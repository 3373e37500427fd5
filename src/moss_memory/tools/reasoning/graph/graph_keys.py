"""Keys of nodes and edges, as they are stored and as fields of responses: a node's id, or an edge's ends."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, object_of, one_of, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDGE_SEPARATOR = "|"
"""Separates the parts of an edge's key; ids and relations must not contain it."""
ENDS = {"from": text("id of the node it leaves"), "rel": text("how they relate"), "to": text("id of the other node")}
EDGE_KEY = ResponseSchema("EdgeKey", ENDS, line=lambda edge: "{from} -{rel}-> {to}".format(**edge))
KEY = one_of((text("a node's id"), object_of(EDGE_KEY, "an edge's ends")), "a node's id, or an edge's ends")


def render_key(key: str) -> Any:
    """Return a node's id, or an edge's parts, as a field of a response."""
    if EDGE_SEPARATOR not in key:
        return key
    from_id, rel, to_id = key.split(EDGE_SEPARATOR)
    return {"from": from_id, "rel": rel, "to": to_id}
