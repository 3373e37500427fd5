"""The refusal of an unknown tool: the tool that does it, by its name in other servers, by spelling or by its words."""

from __future__ import annotations

from moss_memory.errors import MossError, find_alike, invalid_request, next_call, words_of_name
from moss_memory.registry import catalog
from moss_memory.registry.foreign_tools import translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def unknown_tool(tool: str, arguments: Any, is_available: Callable[[str], bool]) -> MossError:
    """Return the refusal of a tool that does not exist or is not available, with the best next call."""
    shown = tool[:100]
    said = f"there is no tool {shown!r}"
    foreign = translate(shown, arguments)
    if foreign is not None and is_available(foreign[0]):
        error = invalid_request(f"{said}; `{foreign[0]}` does it", nearest=foreign[0])
        error.recovery = next_call(*foreign, f"does what {shown} does elsewhere")
        return error
    known = [operation.name for operation in catalog.operations() if is_available(operation.name)]
    like = find_alike(shown, known) or _alike_by_words(shown, known)
    if not known:
        return invalid_request(f"{said}; every tool is disabled by the configuration")
    if like is None:
        error = invalid_request(f"{said}; `moss_tools` finds one by what you want to do")
        question = " ".join(words_of_name(shown))
        if question and is_available("moss_tools"):
            error.recovery = next_call("moss_tools", {"query": question}, "finds a tool by words")
        return error
    error = invalid_request(f"{said}; the nearest is `{like}`", nearest=like)
    if _fits(like, arguments):
        error.recovery = next_call(like, arguments, "is the same call with the nearest name")
    elif is_available("moss_tools"):
        error.recovery = next_call("moss_tools", {"names": [like]}, "shows the nearest one")
    return error


def _alike_by_words(tool: str, known: list[str]) -> str | None:
    """Return the tool that shares a whole word with this name and matches its words best; None if none does."""
    from .tool_index import search_tools

    words = set(words_of_name(tool))
    return next(
        (name for name in search_tools(" ".join(words)) if name in known and words & set(words_of_name(name))), None
    )


def _fits(tool: str, arguments: Any) -> bool:
    """Return True if a tool takes these arguments."""
    operation = catalog.find(tool)
    try:
        return operation is not None and isinstance(arguments, dict) and bool(operation.decode(dict(arguments)))
    except MossError:
        return False
