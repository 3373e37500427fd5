"""The context of an agent: instructions, open work, tools, and each capsule with its cost and its use."""

from __future__ import annotations

import json
import time
from typing import Any

from starlette.responses import Response

from moss_memory.cli.commands.prime import prime_text
from moss_memory.code_state.work_tree import repository_name
from moss_memory.connect.clients import CLIENTS
from moss_memory.errors import MossError
from moss_memory.mcp import prompts
from moss_memory.mcp.instructions import instructions
from moss_memory.mcp.repository_context import read_session_summary
from moss_memory.mcp.tool_list import ToolList, tool_list_of
from moss_memory.rows.load_counts import actors_of_loads
from moss_memory.rows.token_estimate import tokens_about
from moss_memory.tools.capsule.capsule_browse import MOST_SHOWN, capsules_by_load, find_near_duplicates, token_counts
from moss_memory.tools.everything.freshness_tools import stale_capsules

from .capsule_pages import load_deleted_capsule
from .page_context import PageContext, PageRequest
from .page_frame import workspace_in_view

_ACTORS = 4
_OLD_DAYS = 60
_DAY_S = 86_400
_WAIT_S = 0.3
"""The time that a page waits for near-duplicates before it is shown without them."""
_FIRST_CLIENT = "claude-code"
MARKS = {
    "never": "never loaded",
    "old": f"not touched for {_OLD_DAYS} days",
    "stale": "drifted",
    "double": "near-duplicate",
}
"""The possible faults of a capsule, each with the title of its filter."""


def show_agent_context(context: PageContext, request: PageRequest) -> Response:
    key = request.query.get("client", _FIRST_CLIENT)
    client = CLIENTS.get(key) or CLIENTS[_FIRST_CLIENT]
    workspace = request.query.get("workspace", "")
    arguments = {"workspace": workspace, "client": client.key}
    loaded = workspace_in_view(context, request, "capsule")
    tools = tool_list_of(context.store.config, client.default_toolsets(http=False), workspace or None)
    items, is_pending = _capsules(context, request, workspace)
    counts = {mark: sum(mark in item["marks"] for item in items) for mark in MARKS}
    chosen_mark = request.query.get("mark", "")
    matching = [item for item in items if chosen_mark in item["marks"]] if chosen_mark in MARKS else items
    page_items, pagination = request.slice(matching)
    tokens = context.store.read(token_counts, what="sizes of capsules", capsules=[item["id"] for item in page_items])
    actors = context.store.read(actors_of_loads, what="actors of loads", capsules=[item["id"] for item in page_items])
    for item in page_items:
        item["tokens"] = tokens.get(item["id"], 0)
        item["actors"] = actors.get(item["id"], [])[:_ACTORS]
    return context.page(
        request,
        "agent.html",
        clients=CLIENTS,
        client=client,
        given=context.cached(request, "given", arguments, lambda: _startup_texts(context, tools, loaded, arguments)),
        tools=context.cached(request, "tools", arguments, lambda: _tools(tools)),
        items=page_items,
        largest=max((item["tokens"] for item in page_items), default=1) or 1,
        marks=MARKS,
        counts=counts,
        is_pending=is_pending,
        wanted=chosen_mark if chosen_mark in MARKS else "",
        most=MOST_SHOWN if len(items) >= MOST_SHOWN else 0,
        gone=load_deleted_capsule(context, request, "archived"),
        pagination=pagination,
    )


def _startup_texts(
    context: PageContext, tools: ToolList, workspace: str, arguments: dict[str, str]
) -> list[dict[str, Any]]:
    """Return the texts that a client sends to an agent, with their costs; `workspace` is the one to load."""
    repository = "" if context.store.work_tree() is None else repository_name()
    texts = (
        ("instructions", "Instructions", instructions(tools, read_session_summary(lambda: context.store, repository))),
        ("prime", "moss prime", prime_text(context.store, arguments["workspace"], arguments["client"])),
        ("load", "load", _load_text(context, tools, workspace)),
    )
    return [{"name": name, "title": title, "text": text, "tokens": tokens_about(text)} for name, title, text in texts]


def _load_text(context: PageContext, tools: ToolList, workspace: str) -> str:
    try:
        max_chars = context.store.config.capsule_max_chars
        filled = prompts.get(context.call, tools, "load", {"workspace": workspace}, capsule_max_chars=max_chars)
    except MossError:  # the tools of capsules are disabled, or nothing can be read
        return ""
    messages = json.loads(f"{{{filled}}}")["messages"]
    contents = [message["content"] for message in messages]
    return "\n\n".join(content.get("text") or content["resource"]["text"] for content in contents)


def _tools(tools: ToolList) -> dict[str, Any]:
    """Return the listed tools with the cost of each, the most expensive first."""
    listed = []
    for tool in json.loads(tools.listing()):
        sent_fields = {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}
        text = json.dumps(sent_fields, ensure_ascii=False, separators=(",", ":"))
        summary = tool.get("description", "").partition("\n")[0]
        listed.append({"name": tool["name"], "summary": summary, "tokens": tokens_about(text), "chars": len(text)})
    listed.sort(key=lambda tool: -tool["tokens"])
    tokens, chars = (sum(tool[measure] for tool in listed) for measure in ("tokens", "chars"))
    return {"items": listed, "tokens": tokens, "chars": chars}


def _capsules(context: PageContext, request: PageRequest, workspace: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the capsules of a workspace by their last load, each with its marks; True if marks are missing."""
    if "capsule" in context.store.config.disabled_types:
        return [], False
    items = context.store.read(capsules_by_load, what="loads of capsules", workspace=workspace or None)
    stale = _stale_files(context, request, items, workspace)
    doubles, _ = context.background.get(
        f"near-duplicates {workspace!r}",
        context.last_change(request),
        lambda: context.store.read(
            find_near_duplicates, what="near-duplicates", workspace=workspace or None, known=context.sketches
        ),
        wait_s=_WAIT_S,
    )
    is_pending = stale is None or doubles is None
    stale, doubles = stale or {}, doubles or {}
    titles = {item["id"]: item["title"] or item["name_raw"] or item["id"] for item in items}
    cutoff_s = time.time() - _OLD_DAYS * _DAY_S
    for item in items:
        double_id = doubles.get(item["id"])
        is_old = max(item["updated_at"], item["loaded_at"]) < cutoff_s
        marks = {"never": not item["loads"], "old": is_old, "stale": item["id"] in stale, "double": double_id in titles}
        item["marks"] = [mark for mark, holds in marks.items() if holds]
        item["double"] = {"id": double_id, "title": titles[double_id]} if double_id in titles else None
        item["stale"] = stale.get(item["id"], "")
    return items, is_pending


def _stale_files(
    context: PageContext, request: PageRequest, items: list[dict[str, Any]], workspace: str
) -> dict[str, str] | None:
    """Return the capsules whose files changed, if the server runs in their repository; None while it compares them."""
    tree = context.store.work_tree()
    code_state = None if tree is None else tree.state()
    if code_state is None:
        return {}
    stale, _ = context.background.get(
        f"files {workspace!r} {code_state.commit}",
        context.last_change(request),
        lambda: context.store.read(stale_capsules, what="files of capsules", ids=[item["id"] for item in items]),
        wait_s=_WAIT_S,
    )
    return stale  # type: ignore[no-any-return]


def archive_capsule(context: PageContext, request: PageRequest) -> Response:
    """Delete a capsule so that it can be restored, and return to the list."""
    key = request.form.get("id", "")
    context.call("capsule_delete", id=key)
    filters = {name: request.form[name] for name in ("workspace", "client", "mark") if request.form.get(name)}
    return context.redirect("/agent", notice="archived", id=key, **filters)
