"""Response schemas of the keys of graphs: a node's id, or an edge's ends."""

from __future__ import annotations

from moss_memory.registry.responses import ResponseSchema, either, object_of, text

ENDS = {"from": text("id of the node it leaves"), "rel": text("how they relate"), "to": text("id of the other node")}
EDGE_KEY = ResponseSchema("EdgeKey", ENDS, line=lambda edge: "{from} -{rel}-> {to}".format(**edge))
KEY = either((text("a node's id"), object_of(EDGE_KEY, "an edge's ends")), "a node's id, or an edge's ends")
