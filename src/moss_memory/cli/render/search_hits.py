"""Search hits for people: address, description, snippet."""

from __future__ import annotations

from .cell import cell_of, cells, line_of, wrap_text
from .style import HIT, HIT_END

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.responses import ResponseSchema

_INDENT = 2


def hits_of(hits: list[dict[str, Any]], schema: ResponseSchema, width: int) -> str:
    """Return every hit with the name by which it is fetched, uncut, and its whole snippet."""
    rows = hits if schema.row is None else [schema.row(hit) for hit in hits]
    return "\n\n".join("\n".join(_lines(row, schema, width)) for row in rows)


def _lines(hit: dict[str, Any], schema: ResponseSchema, width: int) -> list[str]:
    head, details = _describe_named(hit) if hit.get("name") else _describe_nameless(hit)
    details += [hit["status"]] if hit.get("status") else []
    details.append(cell_of(schema.fields["at"], hit.get("at")).text)
    description = line_of(", ".join(details))
    first = f"{HIT}{line_of(head)}{HIT_END}"
    if not width or cells(line_of(head)) + 2 + cells(description) <= width:
        lines = [f"{first}  {description}"]
    else:
        lines = [first, *_indent(description, width)]
    snippet = cell_of(schema.fields["snippet"], hit.get("snippet")).text
    return [*lines, *(_indent(snippet, width) if snippet not in ("", "-") else [])]


def _describe_named(hit: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the address of a capsule or artifact, and its description."""
    title = hit.get("title")
    details = [title] if title and title != hit["name"] else []
    kind = hit.get("kind")
    details += [f"{hit['type']} {kind}" if kind else hit["type"]] if "type" in hit else []
    return f"{hit['workspace']}/{hit['name']}", details


def _describe_nameless(hit: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the title of any other hit, and its type and location."""
    kind = hit.get("kind") or hit.get("type") or "capsule"
    details = [f"{kind} {hit['id']}"]
    details += [f"on {hit['branch']}"] if hit.get("branch") else []
    return hit.get("title") or str(hit["id"]), [*details, f"in {hit['workspace']}"]


def _indent(text: str, width: int) -> list[str]:
    first, *other_lines = wrap_text(text, width, indent=_INDENT)
    return [" " * _INDENT + first, *other_lines]
