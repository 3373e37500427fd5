"""Handlers for prompts/*, resources/* and completion/complete."""

from __future__ import annotations

from moss_memory.errors import MossError

from . import completion, prompts, resources
from .messages import INTERNAL_ERROR, INVALID_PARAMS, encode, failure
from .protocol import log_bug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.store import Store

    from .protocol import StoreRequest
    from .resources import CallContext
    from .tool_list import ToolList

NOT_FOUND = -32002
"""Error code for a missing resource in versions with a handshake; the stateless version uses INVALID_PARAMS."""

_CLIENT_ERRORS = ("INVALID_REQUEST", "AMBIGUOUS_ADDRESSING", "VALIDATION_ERROR", "NOT_FOUND", "READ_ONLY")
_CACHEABLE = '"ttlMs":60000,"cacheScope":"private"'
_NOT_CACHEABLE = '"ttlMs":0,"cacheScope":"private"'


def handle(store_request: StoreRequest, store: Callable[[], Store]) -> bytes:
    """Return the response to a request, success or failure."""
    request = store_request.request
    try:
        opened = store()
        fields, caching = _HANDLERS[request.method](
            opened, make_caller(opened, store_request.tools), store_request.tools, request.params
        )
    except MossError as error:
        if error.code not in _CLIENT_ERRORS:
            if error.code == "INTERNAL":
                log_bug(error.__cause__ or error)
            return failure(request.id, INTERNAL_ERROR, error.message, error.payload())
        absent = error.code == "NOT_FOUND" and request.method == "resources/read" and not request.stateless
        return failure(request.id, NOT_FOUND if absent else INVALID_PARAMS, error.message, error.payload())
    except Exception as bug:
        log_bug(bug)
        return failure(request.id, INTERNAL_ERROR, "unexpected error in Moss; see its log on stderr")
    return request.answer(f"{fields},{caching}" if request.stateless and caching else fields)


def make_caller(store: Store, tools: ToolList) -> CallContext:
    """Return a function that calls tools with the connection's default workspace."""
    return lambda tool, **arguments: store.call(tool, arguments, workspace=tools.workspace or None)


def _list_prompts(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"prompts":{prompts.to_json(tools)}', _CACHEABLE


def _get_prompt(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    limit = store.config.capsule_max_chars
    return prompts.get(call, tools, params.get("name"), params.get("arguments"), capsule_max_chars=limit), ""


def _list_resources(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    page, cursor = resources.list_page(call, tools, params.get("cursor"))
    return f'"resources":{page}' + (f',"nextCursor":{encode(cursor)}' if cursor else ""), _NOT_CACHEABLE


def _list_templates(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"resourceTemplates":{resources.templates(tools)}', _CACHEABLE


def _read_resource(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"contents":{resources.read_resource(call, tools, params.get("uri"))}', _NOT_CACHEABLE


def _complete(store: Store, call: CallContext, tools: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return completion.complete(call, tools, params), ""


_HANDLERS = {
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "completion/complete": _complete,
}
