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


def _did_you_mean(found: list[str]) -> str:
    *others, last = found or [""]
    return f"; did you mean {', '.join(others) + ' or ' if others else ''}{last}?" if found else ""


def _translate(word: str, names: list[str]) -> list[str]:
    """Return the commands for another word: the name of a tool, a synonym, or a verb without its group."""
    if "_" in word:
        from .command_names import words_of

        return [name for name in names if name == words_of(word)]
    family, _, verb = word.rpartition(" ")
    rows = [row for row in SYNONYMS if verb in row]
    candidates = [f"{family} {other}".strip() for row in rows for other in row]
    found = [name for name in candidates if name in names][:1]
    grouped = [] if family else [name for name in names if name.endswith(f" {word}")]
    return [*found, *(name for name in grouped if not name.startswith(("capsule ", "artifact ")) or not found)]


def unknown_option(word: str, command: Command) -> UsageError:
    """Return the refusal of an option, with the command that has it or the most similar option."""
    shown = word.partition("=")[0]
    known = [option.flag for option in command.options.values()]
    longer = [flag for flag in known if flag == f"{shown}s" or flag.endswith(f"-{shown[2:]}")]
    elsewhere = "" if longer else _command_with(shown[2:].replace("-", "_"), command)
    hint = f"; `moss {elsewhere}` has it" if elsewhere else _did_you_mean(longer) or suggest_word(shown, known)
    return UsageError(f"unknown option {shown}{hint}")


def _command_with(argument: str, command: Command) -> str:
    """Return the command of the same family that takes an argument, empty if none does."""
    from moss_memory.registry import catalog

    from .command_names import group_of, words_of

    own = command.operation
    family, _, verb = own.name.partition("_")
    found = []
    for other in catalog.operations():
        related = other.name.endswith("_" + verb) if other.mutates else not own.mutates
        if related and family in ("moss", other.name.partition("_")[0]) and argument in other.parameters:
            found.append(other.name)
    found.sort(key=lambda name: (not name.endswith("_" + verb), group_of(name) != group_of(own.name)))
    return f"{words_of(found[0])} --{argument.replace('_', '-')}" if found else ""


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
