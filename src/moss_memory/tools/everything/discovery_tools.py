"""`moss_tools` and `moss_call`: search and call of all tools for clients that list few."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry import catalog
from moss_memory.registry.argument_types import Annotated, Any
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    PreserializedDict,
    ResponseSchema,
    TableColumn,
    flag,
    free,
    integer,
    list_of,
    object_of,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.call import CallContext

Question = Annotated[str, "what you want to do, in words"]
ToolNames = Annotated[list[str], "exact names"]
AnyTool = Annotated[str, "its name"]
Arguments = Annotated[dict[str, Any], "as its inputSchema says", {"checked_later": True}]

MOST = 8
MAX_CHARS = 4_000
"""The maximum length of the answer to a question."""

_DESCRIBED = ResponseSchema(
    "DescribedTool",
    {
        "name": text("its name"),
        "description": text("its purpose"),
        "inputSchema": free("the JSON Schema of its arguments"),
    },
    line=lambda tool: tool["name"],
)
_TOOL = ResponseSchema(
    "Tool",
    {
        "name": text("its name"),
        "summary": text("its purpose, in a line; with `query`", optional=True),
        "listed": flag("whether it is in your list of tools; with `query`", optional=True, shown="never"),
        "description": text("its purpose; with `names`", optional=True),
        "inputSchema": free("the JSON Schema of its arguments; with `names`", optional=True),
    },
    table=(TableColumn("name"), TableColumn("summary", min_width=20, max_width=0)),
    row=lambda tool: {"summary": tool.get("description"), **tool},
)


@operation(
    idempotent=True,
    no_transaction=True,
    answers={
        "tools": list_of(_TOOL, "at most 8, those named first, then the best match first", shown="answer"),
        "best": object_of(_DESCRIBED, "the best match with its schema; with `query`", optional=True, shown="never"),
        "total": integer("how many there are in all"),
    },
    example='moss tools "go back to an earlier version"',
    words=(
        "find a tool, which tool, help, what can you do, what can this server do, abilities, is there a tool for,"
        " is there a function for, list of tools, which tools are there, how do I use this, what tools exist, "
        "arguments of a tool, show the schema of a tool, what is possible here"
    ),
)
def moss_tools(call: CallContext, *, query: Question | None = None, names: ToolNames | None = None) -> dict[str, Any]:
    """Find tools by a question or by name; `best` comes with its schema; `moss_call` calls unlisted ones."""
    from .tool_ranking import search_tools, serialize_description, visible_tools  # it imports every tool

    if query is not None and not query.strip():
        raise invalid_request("`query` is blank; write a question, or leave it out", path="query")
    disabled = catalog.disabled_by(call.config)
    enabled = [name for name in visible_tools() if not disabled.has(name)] if disabled else visible_tools()
    if call.read_only:
        reading = {operation.name for operation in catalog.operations() if operation.only_reads}
        enabled = [name for name in enabled if name in reading]
    for index, name in enumerate(names or []):
        if name not in enabled:
            raise _unknown_name(name, enabled, index)
    requested = list(dict.fromkeys(names or []))
    matches = enabled if query is None and names is None else []
    if query is not None:
        matches = [name for name in search_tools(query) if name in enabled and name not in requested]

    def describe_enabled(name: str) -> PreserializedDict:
        return serialize_description(name, call.config.workspace, disabled or None)

    tools = [describe_enabled(name) for name in requested[:MOST]]
    best = describe_enabled(matches[0]) if query is not None and matches else None
    summaries = [_summarize(name, call) for name in _choose(matches, MOST - len(tools), call)]
    if not requested:
        # The answer has at most 4,000 characters: the last ones are left out.
        space = MAX_CHARS - len(_to_json([], best, len(matches)))
        while summaries and sum(len(tool.json) + 1 for tool in summaries) - 1 > space:
            summaries.pop()
    total = len(requested) + len(matches)
    answer: dict[str, Any] = {"tools": [*tools, *summaries], "total": total}
    # Serializing the schemas again would take longer than finding them.
    return PreserializedDict(
        answer if best is None else {**answer, "best": best}, _to_json([*tools, *summaries], best, total)
    )


def _to_json(tools: list[PreserializedDict], best: PreserializedDict | None, total: int) -> str:
    best_field = "" if best is None else f',"best":{best.json}'
    return f'{{"tools":[{",".join([tool.json for tool in tools])}]{best_field},"total":{total}}}'


def _choose(names: list[str], most: int, call: CallContext) -> list[str]:
    """Return the best tools; the last is one that the caller's list lacks if all others are in it."""
    chosen = names[:most]
    if call.is_listed is not None and most > 0 and all(map(call.is_listed, chosen)):
        unlisted = next((name for name in names[most:] if not call.is_listed(name)), None)
        chosen = chosen if unlisted is None else [*chosen[: most - 1], unlisted]
    return chosen


def _summarize(name: str, call: CallContext) -> PreserializedDict:
    from .tool_ranking import summary_of

    tool = {"name": name, "summary": summary_of(name), "listed": call.is_listed is None or call.is_listed(name)}
    return PreserializedDict(tool, json.dumps(tool, ensure_ascii=False, separators=(",", ":")))


def _unknown_name(name: str, enabled: list[str], index: int) -> MossError:
    from .unknown_tools import unknown_tool

    refusal = unknown_tool(name, None, enabled.__contains__)
    like = (refusal.details or {}).get("nearest")
    return MossError(
        "NOT_FOUND",
        refusal.message,
        details={"path": f"names[{index}]", **({} if like is None else {"nearest": like})},
        recovery=refusal.recovery if like is None else next_call("moss_tools", {"names": [like]}, "shows that one"),
    )


@operation(
    mutates=True,
    destructive=True,
    proxy=True,
    answers=ResponseSchema("", {}, is_open=True),
    example='moss call capsule_fetch --arguments \'{"name": "auth"}\'',
    words=(
        "call another tool, run a tool that is not listed, invoke, call a tool by name, use an unlisted tool, run"
        " another tool, execute a tool, tool is not in my list, call a hidden tool"
    ),
)
def moss_call(call: CallContext | None, *, tool: AnyTool, arguments: Arguments | None = None) -> dict[str, Any]:
    """Call any tool, also an unlisted one, and get its answer; `moss_tools` shows its arguments."""
    return {"tool": tool, "arguments": {} if arguments is None else arguments}
