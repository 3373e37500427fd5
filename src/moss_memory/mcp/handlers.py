"""Runs what is no tool call and still asks the store: prompts, resources, completions."""

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
"""What the handshake era says of an address at which nothing is; the stateless one calls it a bad argument."""

_MISTAKES = ("INVALID_REQUEST", "AMBIGUOUS_ADDRESSING", "VALIDATION_ERROR", "NOT_FOUND", "READ_ONLY")
_STAYS = '"ttlMs":60000,"cacheScope":"private"'
_CHANGES = '"ttlMs":0,"cacheScope":"private"'


def handle(store_request: StoreRequest, store: Callable[[], Store]) -> bytes:
    """The answer to an errand, its failure included."""
    request = store_request.request
    try:
        opened = store()
        fields, kept = _HANDLERS[request.method](
            opened, calling(opened, store_request.offer), store_request.offer, request.params
        )
    except MossError as error:
        if error.code not in _MISTAKES:
            if error.code == "INTERNAL":
                log_bug(error.__cause__ or error)
            return failure(request.id, INTERNAL_ERROR, error.message, error.payload())
        absent = error.code == "NOT_FOUND" and request.method == "resources/read" and not request.stateless
        return failure(request.id, NOT_FOUND if absent else INVALID_PARAMS, error.message, error.payload())
    except Exception as bug:
        log_bug(bug)
        return failure(request.id, INTERNAL_ERROR, "Moss failed in a way it should not; its log on stderr says how")
    return request.answer(f"{fields},{kept}" if request.stateless and kept else fields)


def calling(store: Store, offer: ToolList) -> CallContext:
    """How tools are called for a connection: with its default workspace."""
    return lambda tool, **arguments: store.call(tool, arguments, workspace=offer.workspace or None)


def _list_prompts(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"prompts":{prompts.listed(offer)}', _STAYS


def _get_prompt(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    limit = store.config.capsule_max_chars
    return prompts.get(call, offer, params.get("name"), params.get("arguments"), capsule_max_chars=limit), ""


def _list_resources(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    shown, cursor = resources.listed(call, offer, params.get("cursor"))
    return f'"resources":{shown}' + (f',"nextCursor":{encode(cursor)}' if cursor else ""), _CHANGES


def _list_templates(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"resourceTemplates":{resources.templates(offer)}', _STAYS


def _read_resource(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return f'"contents":{resources.read(call, offer, params.get("uri"))}', _CHANGES


def _complete(store: Store, call: CallContext, offer: ToolList, params: dict[str, Any]) -> tuple[str, str]:
    return completion.complete(call, offer, params), ""


_HANDLERS = {
    "prompts/list": _list_prompts,
    "prompts/get": _get_prompt,
    "resources/list": _list_resources,
    "resources/templates/list": _list_templates,
    "resources/read": _read_resource,
    "completion/complete": _complete,
}
