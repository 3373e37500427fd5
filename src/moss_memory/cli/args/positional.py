"""Positional words of a command line, and the arguments that they fill."""

from __future__ import annotations

from .argument_names import POSITIONAL, SCOPES, SEVERAL_WORDS, TEXT, WITHOUT_NAMES
from .converters import address_from, are_switches, name_from, new_names_from, scope_from
from .option import SINGULAR, flag_of, kind_of
from .usage_error import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.operation import Operation

    from .command import Command, CommandRequest
    from .command_declaration import BuiltIn

ADDRESSED, NAMED, ITEMS, SCOPE = "address", "named", "items", "scope"
"""Kinds of words that fill several arguments: an address, a new name, a list of addresses, a task or branch."""

_FILE_SUFFIXES = (".md", ".txt", ".json")
"""Suffixes of words that are probably files, not names."""

_LIST_KINDS = ("list", "titles")


def slots_of(operation: Operation | BuiltIn, *, grouped: bool) -> tuple[str, ...]:
    """Return the arguments that words fill, in order: the declared ones, or the required ones of a `grouped` command.

    Such a command has two words, as `task create` has.
    """
    if operation.cli.positional:
        return operation.cli.positional
    return tuple(name for name in operation.required if grouped and name not in ("workspace", "output"))


def fallback_positional_of(operation: Operation | BuiltIn, *, grouped: bool) -> str | None:
    """Return the argument or kind that words fill if a command has no slots, None if it takes no words."""
    parameters = operation.parameters
    if grouped:
        if any(name in parameters for name in SCOPES):
            return SCOPE
        return next((name for name in ("search", "plan") if name in parameters), None)
    items = parameters.get(ITEMS)
    if items is not None and items["items"]["type"] == "object":
        return ITEMS
    if "id" in parameters and "name" in parameters:
        return ADDRESSED
    if "workspace" in parameters and "name" in parameters:
        return NAMED
    return next((name for name in POSITIONAL if name in parameters), None)


def text_argument_of(operation: Operation | BuiltIn, *, grouped: bool) -> str | None:
    """Return the argument that is read from stdin or a file, None if there is none."""
    parameters = operation.parameters
    if not grouped:
        return next((name for name in TEXT if name in parameters), None)
    texts = [name for name in TEXT if name in operation.required]
    json_arguments = [
        name for name in operation.required if takes_json(parameters[name]) and not are_switches(parameters[name])
    ]
    return next(iter([*texts, *json_arguments]), None)


def takes_json(schema: dict[str, Any]) -> bool:
    """Return True if an argument is written as JSON."""
    return kind_of(schema) in ("object", "items")


def assign_words(command: Command, request: CommandRequest, words: list[str]) -> None:
    """Assign positional words to arguments; refuse superfluous words."""
    if command.slots:
        _fill_slots(command, request, words)
        return
    name = command.positional
    if name is None:
        raise _unexpected_word(words[0], command)
    if name == ITEMS:
        for word in words:
            command.set(request, command.options[SINGULAR], word)
        return
    if name == SCOPE:
        for word in words:
            _merge(request, scope_from(word, command.operation.parameters))
        return
    renames = name == ADDRESSED and "new_name" in command.operation.parameters
    max_words = len(words) if name in SEVERAL_WORDS else 2 if renames else 1
    if len(words) > max_words:
        raise _unexpected_word(words[max_words], command, after=words[max_words - 1])
    if name in (ADDRESSED, NAMED):
        _assign_address(command, request, words[0])
        if len(words) > 1:
            _merge(request, new_names_from(words[1]))
    else:
        _merge(request, {name: " ".join(words)})


def _assign_address(command: Command, request: CommandRequest, word: str) -> None:
    """Assign a word to the arguments that address a row, or to those that name a new one."""
    arguments = {**command.defaults, **request.arguments}
    if arguments.get("type") in WITHOUT_NAMES:
        _merge(request, {WITHOUT_NAMES[arguments["type"]]: word})
        return
    is_new = command.positional == NAMED
    if is_new and word.endswith(_FILE_SUFFIXES) and "file" not in request.cli_options:
        raise _unexpected_word(word, command)
    convert = name_from if is_new else address_from
    address = convert(word, workspace_given="workspace" in request.arguments)
    _merge(request, address)
    if "workspace" in address:
        request.ambiguous_addresses.append(request.arguments)


def _merge(request: CommandRequest, values: dict[str, str]) -> None:
    for argument in values:
        if argument in request.arguments:
            raise UsageError(f"{argument} is given twice, once as {flag_of(argument)}")
    request.arguments.update(values)


def _fill_slots(command: Command, request: CommandRequest, words: list[str]) -> None:
    """Assign words to the slots that no option filled; leave the text to stdin if words are missing."""
    empty = [name for name in command.slots if name not in request.arguments]
    if command.text in empty and (len(words) < len(empty) or "file" in request.cli_options):
        empty.remove(command.text)
    if len(words) < len(empty):
        # A default replaces omitted words, as in `task create TITLE`, unless the first word is one of its choices.
        empty = [name for name in empty if name not in command.defaults or words[0] in command.options[name].choices]
    while len(words) > len(empty):
        if not any(command.options[name].kind in _LIST_KINDS for name in empty):
            raise _unexpected_word(words[len(empty)], command, after=words[len(empty) - 1] if empty else "")
        # The remaining words go to the list: `think pin c1 c2`.
        index = next(index for index, name in enumerate(empty) if command.options[name].kind in _LIST_KINDS)
        empty.insert(index, empty[index])
    for name, word in zip(empty, words, strict=False):
        if not (name == command.text and word == "-"):
            command.set(request, command.options[name], word)


def _unexpected_word(word: str, command: Command, *, after: str = "") -> UsageError:
    from .did_you_mean import unexpected_word

    return unexpected_word(word, command, after=after)
