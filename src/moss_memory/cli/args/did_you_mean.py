"""Suggestions for unknown commands, options and words; imported only after a mistake."""

from __future__ import annotations

from .option import flag_of
from .usage_error import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .command import Command

ALIKE = 0.7
"""Minimal similarity of two words for a suggestion."""

SYNONYMS = (
    ("fetch", "show", "log", "query", "get", "load", "cat", "read", "view"),
    ("store", "add", "create", "commit", "submit", "save", "put", "new", "write"),
    ("delete", "tag-delete", "rm", "remove", "del"),
    ("restore", "undelete"),
    ("search", "query", "find", "grep"),
    ("list", "docs", "query", "log", "find", "ls"),
    ("update", "edit", "set"),
    ("checkout", "switch", "use", "co"),
    ("rename", "mv", "move"),
    ("revert", "undo", "rollback", "back"),
    ("versions", "revisions", "changes"),
    ("diff", "compare"),
    ("conflict-resolve", "resolve"),
    ("tag-create", "tag"),
    ("tag-list", "tags"),
    ("board", "kanban", "overview"),
    ("where", "status", "info", "whoami"),
    ("draw", "plot", "picture", "svg", "render"),
)
"""Synonyms; the first of a row that is a verb here is suggested."""


_PROBABLE = ("name", "entity_type", "workspace")
"""Arguments that a positional word is probably for, if a command takes options only."""


def suggest_word(word: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the most similar known word, empty if none is similar."""
    import difflib  # imported only after a mistake

    names = list(known)
    return _did_you_mean(_translate(word, names) or difflib.get_close_matches(word, names, n=1, cutoff=ALIKE))


def _did_you_mean(names: list[str]) -> str:
    *others, last = names or [""]
    return f"; did you mean {', '.join(others) + ' or ' if others else ''}{last}?" if names else ""


def _translate(word: str, names: list[str]) -> list[str]:
    """Return the commands for another word: the name of a tool, a synonym, or a verb without its group."""
    if "_" in word:
        from .command_names import words_of

        return [name for name in names if name == words_of(word)]
    family, _, verb = word.rpartition(" ")
    rows = [row for row in SYNONYMS if verb in row]
    candidates = [f"{family} {synonym}".strip() for row in rows for synonym in row]
    matches = [name for name in candidates if name in names][:1]
    grouped = [] if family else [name for name in names if name.endswith(f" {word}")]
    return [*matches, *(name for name in grouped if not name.startswith(("capsule ", "artifact ")) or not matches)]


def unknown_option(word: str, command: Command) -> UsageError:
    """Return the refusal of an option, with the command that has it or the most similar option."""
    option_name = word.partition("=")[0]
    flags = [option.flag for option in command.options.values()]
    longer = [flag for flag in flags if flag == f"{option_name}s" or flag.endswith(f"-{option_name[2:]}")]
    elsewhere = "" if longer else _command_with(option_name[2:].replace("-", "_"), command)
    hint = f"; `moss {elsewhere}` has it" if elsewhere else _did_you_mean(longer) or suggest_word(option_name, flags)
    return UsageError(f"unknown option {option_name}{hint}")


def _command_with(argument: str, command: Command) -> str:
    """Return the command of the same family that takes an argument, empty if none does."""
    from moss_memory.registry import catalog

    from .command_names import group_of, words_of

    operation = command.operation
    family, _, verb = operation.name.partition("_")
    names = []
    for candidate in catalog.operations():
        related = candidate.name.endswith("_" + verb) if candidate.mutates else not operation.mutates
        if related and family in ("moss", candidate.name.partition("_")[0]) and argument in candidate.parameters:
            names.append(candidate.name)
    names.sort(key=lambda name: (not name.endswith("_" + verb), group_of(name) != group_of(operation.name)))
    return f"{words_of(names[0])} --{argument.replace('_', '-')}" if names else ""


def unexpected_word(word: str, command: Command, *, after: str = "") -> UsageError:
    """Return the refusal of a positional word, with the option that it probably belongs to."""
    import os

    parameters = command.operation.parameters
    looks_like_a_file = "." in word or "/" in word or os.path.isfile(word)
    if command.slots:
        hint = "quote a text of several words" if command.text else ""
    elif command.text and looks_like_a_file:
        hint = f"did you mean --file {word}?"
    else:
        probable = next((flag for flag in _PROBABLE if flag in parameters), "")
        hint = f"did you mean {flag_of(probable)} {word}?" if probable else "this command takes options only"
        hint = "" if after else hint
    position = f" after {after!r}" if after else ""
    return UsageError(f"unexpected word {word!r}{position}" + (f"; {hint}" if hint else ""))
