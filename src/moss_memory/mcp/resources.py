"""MCP resources: addresses such as `moss://capsule/shop/auth`, their lists, and reading one."""

from __future__ import annotations

from urllib.parse import quote, unquote

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.invisible import escape_json, escape_text

from .messages import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tool_list import ToolList

    CallContext = Callable[..., dict[str, Any]]
    Rows = tuple[list[dict[str, Any]], int, bool]
    """Rows of a page, number of rows fetched, True if more follow."""

SCHEME = "moss://"
PAGE = 100
MARKDOWN, JSON = "text/markdown", "application/json"


class ResourceKind:
    """A kind of resource: the tool that reads it, and the variables of its address."""

    __slots__ = ("description", "fields", "mime", "name", "tool")

    def __init__(self, name: str, tool: str, fields: tuple[str, str], mime: str, description: str) -> None:
        self.name = name
        self.tool = tool
        self.fields = fields
        self.mime = mime
        self.description = description

    @property
    def template(self) -> str:
        """Return the RFC 6570 template of its addresses."""
        return f"{SCHEME}{self.name}/{{{self.fields[0]}}}/{{{self.fields[1]}}}"

    def uri(self, workspace: str, name: str) -> str:
        return f"{SCHEME}{self.name}/{quote(workspace, safe='')}/{quote(name, safe='')}"


_ALL = (
    ResourceKind("capsule", "capsule_fetch", ("workspace", "name"), MARKDOWN, "a hand-over, as it was stored"),
    ResourceKind("artifact", "artifact_fetch", ("workspace", "name"), JSON, "typed JSON with its version and lifetime"),
    ResourceKind("task", "tasks_show", ("workspace", "target"), JSON, "a plan or task, whole"),
    ResourceKind("record", "retrieve_records", ("workspace", "id"), JSON, "a fact with its source"),
    ResourceKind(
        "graph", "branchmind_graph_query", ("workspace", "branch"), JSON, "the graph of a branch of reasoning"
    ),
)
KINDS = {kind.name: kind for kind in _ALL}
"""Kinds by the first segment of their address."""


def enabled(tools: ToolList) -> list[ResourceKind]:
    return [kind for kind in _ALL if tools.find(kind.tool) is not None]


def templates(tools: ToolList) -> str:
    rows = [
        {"uriTemplate": kind.template, "name": kind.name, "description": kind.description, "mimeType": kind.mime}
        for kind in enabled(tools)
    ]
    return encode(rows)


def parse_uri(uri: Any) -> tuple[ResourceKind, str, str]:
    """Parse an address into kind, workspace and name."""
    if not isinstance(uri, str) or not uri.startswith(SCHEME):
        raise invalid_request(f"`uri` must be an address of Moss, such as {SCHEME}capsule/shop/auth", path="uri")
    parts = uri[len(SCHEME) :].split("/")
    if len(parts) != 3 or parts[0] not in KINDS or not all(parts):
        forms = ", ".join(kind.template for kind in _ALL)
        raise invalid_request(f"`uri` must be one of {forms}", path="uri")
    return KINDS[parts[0]], unquote(parts[1]), unquote(parts[2])


def read_resource(call: CallContext, tools: ToolList, uri: Any) -> str:
    """Return the content of a resource for `resources/read`, with invisible characters as escapes."""
    kind, workspace, name = parse_uri(uri)
    if tools.find(kind.tool) is None:
        raise MossError("NOT_FOUND", f"nothing is at {uri}; the configuration disables {kind.name}s")
    text = _text(call, kind, workspace, name)
    text = escape_text(text) if kind.mime == MARKDOWN else escape_json(text)
    return encode([{"uri": uri, "mimeType": kind.mime, "text": text}])


def _text(call: CallContext, kind: ResourceKind, workspace: str, name: str) -> str:
    if kind.name == "capsule":
        text: str = call(kind.tool, workspace=workspace, name=name)["capsule_text"]
        return text
    if kind.name == "record":
        records = call(kind.tool, workspace=workspace, ids=[name])["records"]
        if not records:
            raise MossError("NOT_FOUND", f"there is no record {name!r} in {workspace!r}")
        return encode(records[0])
    arguments: dict[str, Any] = {"workspace": workspace, kind.fields[1]: name}
    if kind.name == "graph":
        arguments |= {"limit": 200, "max_chars": 1_000_000}
    return encode(call(kind.tool, **arguments))


def list_page(call: CallContext, tools: ToolList, cursor: Any) -> tuple[str, str | None]:
    """Return a page of resources, each kind newest first, and the cursor of the next page.

    Plans, tasks and branches belong to a workspace, so they are listed only if the connection has one.
    """
    rows, following = _page(call, tools, cursor)
    return encode(rows), following


def addresses(call: CallContext, tools: ToolList) -> list[str]:
    """Return the addresses on the first page of the list."""
    return [row["uri"] for row in _page(call, tools, None)[0]]


def _page(call: CallContext, tools: ToolList, cursor: Any) -> tuple[list[dict[str, Any]], str | None]:
    kinds = [kind.name for kind in enabled(tools) if kind.name in _LISTS]
    if not tools.workspace:
        kinds = [name for name in kinds if name in ("capsule", "artifact")]
    kind_index, offset = _parse_cursor(cursor, kinds)
    page_rows: list[dict[str, Any]] = []
    while kind_index < len(kinds) and len(page_rows) < PAGE:
        rows, fetched_count, has_more = _LISTS[kinds[kind_index]](call, tools.workspace, PAGE - len(page_rows), offset)
        page_rows += rows
        kind_index, offset = (kind_index, offset + fetched_count) if has_more else (kind_index + 1, 0)
    return page_rows, f"{kinds[kind_index]}.{offset}" if kind_index < len(kinds) else None


def _parse_cursor(cursor: Any, kinds: list[str]) -> tuple[int, int]:
    if cursor is None:
        return 0, 0
    name, _, offset = cursor.partition(".") if isinstance(cursor, str) else ("", "", "")
    if name not in kinds or not (offset.isascii() and offset.isdigit() and len(offset) < 16):
        raise invalid_request("`cursor` must come from an earlier page", path="cursor")
    return kinds.index(name), int(offset)


def _capsules(call: CallContext, workspace: str, limit: int, offset: int) -> Rows:
    filters = {"workspace": workspace} if workspace else {}
    return _named_rows("capsule", call("capsule_inventory", limit=limit, offset=offset, **filters))


def _artifacts(call: CallContext, workspace: str, limit: int, offset: int) -> Rows:
    filters = {"workspace": workspace} if workspace else {}
    return _named_rows("artifact", call("artifact_list", limit=limit, offset=offset, **filters))


def _named_rows(kind: str, page: dict[str, Any]) -> Rows:
    """Return the rows of a page that have a name; the rest can be fetched only by id."""
    items = page["items"]
    rows = [
        _row(KINDS[kind], row["workspace"], row["name"], title=row.get("title") or row.get("kind"))
        for row in items
        if row.get("name")
    ]
    return rows, len(items), page["pagination"]["has_more"]


def _tasks(call: CallContext, workspace: str, limit: int, offset: int) -> Rows:
    page = call("tasks_list", workspace=workspace, limit=limit, offset=offset)
    rows = [_row(KINDS["task"], workspace, row["id"], title=row["title"]) for row in page["items"]]
    return rows, len(rows), page["pagination"]["has_more"]


def _branches(call: CallContext, workspace: str, limit: int, offset: int) -> Rows:
    names = [row["name"] for row in call("branchmind_branch_list", workspace=workspace)["branches"]]
    rows = [_row(KINDS["graph"], workspace, name) for name in names[offset : offset + limit]]
    return rows, len(rows), len(names) > offset + limit


_LISTS: dict[str, Callable[[CallContext, str, int, int], Rows]] = {
    "capsule": _capsules,
    "artifact": _artifacts,
    "task": _tasks,
    "graph": _branches,
}


def _row(kind: ResourceKind, workspace: str, name: str, *, title: str | None = None) -> dict[str, Any]:
    label = escape_text(f"{workspace}/{name}")
    resource = {"uri": kind.uri(workspace, name), "name": label, "mimeType": kind.mime}
    return {**resource, "title": escape_text(" ".join(title.split()))} if title else resource
