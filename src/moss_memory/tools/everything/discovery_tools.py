"""`moss_tools` and `moss_call`: search and call of all tools for clients that list few."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, nearest, next_call
from moss_memory.registry import catalog
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import Column, PreserializedDict, Shape, free, integer, list_of, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import CallContext

    Question = str
    ToolNames = list[str]
    AnyTool = str
    Arguments = dict[str, Any]
else:
    Question = {"type": "string", "description": "what you want to do, in words"}
    ToolNames = {"type": "array", "items": {"type": "string"}, "description": "exact names"}
    AnyTool = {"type": "string", "description": "its name"}
    Arguments = {"type": "object", "description": "as its inputSchema says", "checked_later": True}

MOST = 8

_TOOL = Shape(
    "Tool",
    {
        "name": text("what it is called"),
        "description": text("what it does"),
        "inputSchema": free("the JSON Schema of its arguments"),
    },
    table=(Column("name"), Column("description", least=20, widest=0)),
)


@operation(
    idempotent=True,
    no_transaction=True,
    answers={
        "tools": list_of(_TOOL, "at most 8, those named first, then the best match first", shown="answer"),
        "total": integer("how many there are in all"),
    },
    example='moss tools "go back to an earlier version"',
)
def moss_tools(call: CallContext, *, query: Question | None = None, names: ToolNames | None = None) -> dict[str, Any]:
    """Find tools that are not in your list, by a question or by name, with their schema; `moss_call` calls them."""
    from .tool_index import describe, known, search_tools  # it imports every tool

    if query is not None and not query.strip():
        raise invalid_request("`query` is blank; say what you want to do, or leave it out", path="query")
    disabled = catalog.disabled_by(call.config)
    enabled = _remove_disabled(known(), disabled)
    if call.read_only:
        enabled = [name for name in enabled if _only_reads(name)]
    wanted = [_check_name(name, enabled, at) for at, name in enumerate(names or [])]
    if query is not None:
        wanted += [name for name in _remove_disabled(search_tools(query), disabled) if name in enabled]
    found = enabled if query is None and names is None else list(dict.fromkeys(wanted))
    tools = [describe(name, call.config.workspace, disabled or None) for name in found[:MOST]]
    # Serializing eight schemas again would take longer than finding them.
    json = f'{{"tools":[{",".join([tool.json for tool in tools])}],"total":{len(found)}}}'
    return PreserializedDict({"tools": tools, "total": len(found)}, json)


def _remove_disabled(names: list[str], disabled: catalog.DisabledTools) -> list[str]:
    return [name for name in names if not disabled.has(name)] if disabled else names


def _only_reads(name: str) -> bool:
    found = catalog.find(name)
    return found is not None and found.only_reads


def _check_name(name: str, known: list[str], at: int) -> str:
    if name in known:
        return name
    like = nearest(name, known)
    raise MossError(
        "NOT_FOUND",
        f"there is no tool {name[:100]!r}; the nearest is `{like}`",
        details={"path": f"names[{at}]", "nearest": like},
        recovery=None if like is None else next_call("moss_tools", {"names": [like]}, "shows the nearest one"),
    )


@operation(
    mutates=True,
    destructive=True,
    proxy=True,
    answers=Shape("", {}, is_open=True),
    example='moss call capsule_fetch --arguments \'{"name": "auth"}\'',
)
def moss_call(call: CallContext | None, *, tool: AnyTool, arguments: Arguments | None = None) -> dict[str, Any]:
    """Call any tool, also one that is not in your list, and get its answer; `moss_tools` shows what it takes."""
    return {"tool": tool, "arguments": {} if arguments is None else arguments}
