"""Completion of arguments of prompts and resource templates: workspaces, names, branches, tags."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request

from .messages import encode
from .prompts import enabled as enabled_prompts
from .resources import KINDS, enabled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .resources import CallContext
    from .tool_list import ToolList

MAX_VALUES = 100
"""Maximum number of values in an answer, as in the protocol."""


def complete(call: CallContext, tools: ToolList, params: dict[str, Any]) -> str:
    """Return the result fields of `completion/complete`."""
    kind_name, names = _resolve_ref(tools, params.get("ref"))
    argument = params.get("argument")
    name = argument.get("name") if isinstance(argument, dict) else None
    typed = argument.get("value") if isinstance(argument, dict) else None
    if not isinstance(name, str) or not isinstance(typed, str):
        raise invalid_request("`argument` must have a name and a value, both strings", path="argument")
    if name not in names:
        raise invalid_request(f"`argument.name` must be one of {', '.join(names)}", path="argument.name")
    context = params.get("context")
    chosen = context.get("arguments") if isinstance(context, dict) else None
    workspace = chosen.get("workspace") if isinstance(chosen, dict) else None
    workspace = workspace if isinstance(workspace, str) and workspace else tools.workspace
    prefix, typed = _split_tags(typed) if name == "tags" else ("", typed)
    try:
        values = _list_values(call, kind_name, name, workspace)
    except MossError as error:
        if error.code not in ("INVALID_REQUEST", "NOT_FOUND", "VALIDATION_ERROR"):
            raise
        values = []  # an unknown workspace has no values
    matches = [prefix + value for value in dict.fromkeys(values) if value.lower().startswith(typed.lower())]
    result = {"values": matches[:MAX_VALUES], "total": len(matches), "hasMore": len(matches) > MAX_VALUES}
    return f'"completion":{encode(result)}'


def _resolve_ref(tools: ToolList, ref: Any) -> tuple[str, list[str]]:
    """Return the kind of the completed names and the arguments of the prompt or template."""
    kind = ref.get("type") if isinstance(ref, dict) else None
    if kind == "ref/prompt":
        for prompt in enabled_prompts(tools):
            if prompt.name == ref.get("name"):
                return "capsule", [name for name, _ in prompt.arguments]
    elif kind == "ref/resource":
        for resource_kind in enabled(tools):
            if resource_kind.template == ref.get("uri"):
                return resource_kind.name, list(resource_kind.fields)
    raise invalid_request("`ref` names no prompt and no template of an address", path="ref")


def _list_values(call: CallContext, kind_name: str, name: str, workspace: str) -> list[str]:
    if name == "workspace":
        return [row["workspace"] for row in call("moss_workspaces", limit=MAX_VALUES)["workspaces"]]
    if name == "tags":
        return _tags(call, workspace)
    if name == "branch":
        return [row["name"] for row in call("branchmind_branch_list", workspace=workspace)["branches"]]
    if name == "target":
        return [row["id"] for row in call("tasks_list", workspace=workspace, limit=MAX_VALUES)["items"]]
    if name == "id":
        return [row["id"] for row in call("retrieve_records", workspace=workspace, limit=MAX_VALUES)["records"]]
    tool = "artifact_list" if kind_name == KINDS["artifact"].name else "capsule_inventory"
    items = call(tool, limit=MAX_VALUES, **_workspace_filter(workspace))["items"]
    return [row["name"] for row in items if row.get("name")]


def _tags(call: CallContext, workspace: str) -> list[str]:
    """Return the tags of the most recently changed capsules, most used first."""
    counts: dict[str, int] = {}
    for row in call("capsule_inventory", limit=MAX_VALUES, **_workspace_filter(workspace))["items"]:
        for tag in row.get("tags") or ():
            counts[tag] = counts.get(tag, 0) + 1
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _workspace_filter(workspace: str) -> dict[str, str]:
    return {"workspace": workspace} if workspace else {}


def _split_tags(typed: str) -> tuple[str, str]:
    """Split a list of tags into the complete part and the tag being typed."""
    head, comma, last_part = typed.rpartition(",")
    tag = last_part.lstrip()
    return head + comma + last_part[: len(last_part) - len(tag)], tag
