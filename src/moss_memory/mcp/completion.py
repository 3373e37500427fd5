"""What an argument of a prompt or an address may be: workspaces, names, branches, tags, from the store."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request

from .messages import encode
from .prompts import offered as offered_prompts
from .resources import KINDS, offered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .resources import CallContext
    from .tool_list import ToolList

MOST = 100
"""How many values are shown, as the protocol allows."""


def complete(call: CallContext, offer: ToolList, params: dict[str, Any]) -> str:
    """The values that an argument may have, as `completion/complete` shows them."""
    about, names = _about(offer, params.get("ref"))
    argument = params.get("argument")
    name = argument.get("name") if isinstance(argument, dict) else None
    typed = argument.get("value") if isinstance(argument, dict) else None
    if not isinstance(name, str) or not isinstance(typed, str):
        raise invalid_request("`argument` must have a name and a value, both strings", path="argument")
    if name not in names:
        raise invalid_request(f"`argument.name` is none of {', '.join(names)}", path="argument.name")
    context = params.get("context")
    chosen = context.get("arguments") if isinstance(context, dict) else None
    workspace = chosen.get("workspace") if isinstance(chosen, dict) else None
    place = workspace if isinstance(workspace, str) and workspace else offer.workspace
    before, typed = _last_of(typed) if name == "tags" else ("", typed)
    try:
        found = _values(call, about, name)(place)
    except MossError as error:
        if error.code not in ("INVALID_REQUEST", "NOT_FOUND", "VALIDATION_ERROR"):
            raise
        found = []  # there is no such workspace, so nothing is in it
    fitting = [before + value for value in dict.fromkeys(found) if value.lower().startswith(typed.lower())]
    shown = {"values": fitting[:MOST], "total": len(fitting), "hasMore": len(fitting) > MOST}
    return f'"completion":{encode(shown)}'


def _about(offer: ToolList, ref: Any) -> tuple[str, list[str]]:
    """Of which kind of things the names are, and which arguments there are."""
    kind = ref.get("type") if isinstance(ref, dict) else None
    if kind == "ref/prompt":
        for prompt in offered_prompts(offer):
            if prompt.name == ref.get("name"):
                return "capsule", [name for name, _ in prompt.arguments]
    elif kind == "ref/resource":
        for one in offered(offer):
            if one.template == ref.get("uri"):
                return one.name, list(one.fields)
    raise invalid_request("`ref` names no prompt and no template of an address", path="ref")


def _values(call: CallContext, about: str, name: str) -> Callable[[str], list[str]]:
    """How the values of an argument are found in a workspace."""
    if name == "workspace":
        return lambda _: _workspaces(call)
    if name == "tags":
        return lambda place: _tags(call, place)
    if name == "branch":
        return lambda place: [row["name"] for row in call("branchmind_branch_list", workspace=place)["branches"]]
    if name == "target":
        return lambda place: [row["id"] for row in call("tasks_list", workspace=place, limit=MOST)["items"]]
    if name == "id":
        return lambda place: [row["id"] for row in call("retrieve_records", workspace=place, limit=MOST)["records"]]
    tool = "artifact_list" if about == KINDS["artifact"].name else "capsule_inventory"
    return lambda place: [row["name"] for row in call(tool, limit=MOST, **_in(place))["items"] if row.get("name")]


def _workspaces(call: CallContext) -> list[str]:
    return [row["workspace"] for row in call("moss_workspaces", limit=MOST)["workspaces"]]


def _tags(call: CallContext, place: str) -> list[str]:
    """The tags of the capsules that changed last, most used first."""
    pluralize: dict[str, int] = {}
    for row in call("capsule_inventory", limit=MOST, **_in(place))["items"]:
        for tag in row.get("tags") or ():
            pluralize[tag] = pluralize.get(tag, 0) + 1
    return sorted(pluralize, key=lambda tag: (-pluralize[tag], tag))


def _in(place: str) -> dict[str, str]:
    return {"workspace": place} if place else {}


def _last_of(typed: str) -> tuple[str, str]:
    """What of a list is finished, and the tag that is being typed."""
    before, comma, last = typed.rpartition(",")
    rest = last.lstrip()
    return before + comma + last[: len(last) - len(rest)], rest
