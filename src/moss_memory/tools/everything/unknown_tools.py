"""The refusal of an unknown tool: the tool that does it, by its name in other servers, by spelling or by its words."""

from __future__ import annotations

from moss_memory.errors import MossError, backticked, find_alike, invalid_request, next_call, words_of_name
from moss_memory.registry import catalog
from moss_memory.registry.corrected_calls import corrected_call
from moss_memory.registry.foreign_tools import translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.registry.operation import Operation


def unknown_tool(tool: str, arguments: Any, is_available: Callable[[str], bool]) -> MossError:
    """Return the refusal of a tool that does not exist or is not available, with the best next call."""
    shown = tool[:100]
    problem = f"there is no tool {shown!r}"
    foreign = translate(shown, arguments)
    if foreign is not None and is_available(foreign[0]):
        error = invalid_request(f"{problem}; `{foreign[0]}` does it", nearest=foreign[0])
        missing = [name for name in _operation(foreign[0]).required if name not in foreign[1]]
        hint = f"; add {backticked(missing)}" if missing else ""
        error.recovery = next_call(*foreign, f"does what {shown} does elsewhere{hint}")
        return error
    available = [operation.name for operation in catalog.operations() if is_available(operation.name)]
    like = _spelled_alike(shown, available) or _alike_by_words(shown, available)
    if not available:
        return invalid_request(f"{problem}; every tool is disabled by the configuration")
    if like is None:
        error = invalid_request(f"{problem}; `moss_tools` finds one by what you want to do")
        question = " ".join(words_of_name(shown))
        if question and is_available("moss_tools"):
            error.recovery = next_call("moss_tools", {"query": question}, "finds a tool by words")
        return error
    error = invalid_request(f"{problem}; the nearest is `{like}`", nearest=like)
    if isinstance(arguments, dict):
        error.recovery = corrected_call(_operation(like), arguments, "is the same call with the nearest name")
    if error.recovery is None and is_available("moss_tools"):
        error.recovery = next_call("moss_tools", {"names": [like]}, "shows the nearest one")
    return error


def _spelled_alike(tool: str, names: list[str]) -> str | None:
    """Return the tool that is spelled alike, word by word: `tasks_finish` is no misspelled `tasks_list`."""
    like = find_alike(tool, names)
    words, like_words = words_of_name(tool), words_of_name(like or "")
    alike = len(words) != len(like_words) or all(
        find_alike(word, [like_word]) for word, like_word in zip(words, like_words, strict=True)
    )
    return like if alike else None


def _alike_by_words(tool: str, names: list[str]) -> str | None:
    """Return the tool that shares a whole word with this name and matches its words best; None if none does."""
    from .tool_ranking import search_tools

    words = words_of_name(tool)
    matches = search_tools(" ".join(words))
    return next((name for name in matches if name in names and not set(words).isdisjoint(words_of_name(name))), None)


def _operation(tool: str) -> Operation:
    operation = catalog.find(tool)
    assert operation is not None, tool
    return operation
