"""Completion of a command line: `moss __complete WORDS…` prints the candidates of the last word.

Each candidate is a line `VALUE<TAB>DESCRIPTION`. A line `files` or `folders`, without a tab, asks the shell for paths.
The store is read, never created, and an error prints nothing: a shell that completes cannot show it.
"""

from __future__ import annotations

from moss_memory.cli.args.argument_names import FILES, STORED
from moss_memory.cli.args.built_in_commands import BUILT_IN
from moss_memory.cli.args.command import Command, find_command
from moss_memory.cli.args.command_names import command_names
from moss_memory.cli.args.positional import ADDRESSED, ITEMS, SCOPE
from moss_memory.cli.render.cli_words import to_cli_words
from moss_memory.cli.render.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from moss_memory.cli.args.option import Option
    from moss_memory.store import Store

_WORKSPACES, _CAPSULES, _ARTIFACTS, _TASKS, _BRANCHES = "workspaces", "capsules", "artifacts", "tasks", "branches"
_TASKS_AND_BRANCHES = "tasks and branches"
_FILES, _FOLDERS = "files", "folders"
_LIMIT = 200


def complete(words: list[str]) -> int:
    """Print the candidates of the last word, one a line."""
    try:
        lines = list(dict.fromkeys(_complete([_unquote(word) for word in words] or [""])))
    except Exception:
        return 0
    if lines:
        show("\n".join(lines))
    return 0


def _unquote(word: str) -> str:
    """Return a word of the command line without its quotes; the last one may have an open quote."""
    if word[:1] in ("'", '"'):
        quote = word[0]
        return word[1:-1] if len(word) > 1 and word.endswith(quote) else word[1:]
    return word.replace("\\", "")


def _complete(words: list[str]) -> Iterator[str]:
    *previous_words, current = words
    previous_words = [word for word in previous_words if word != "="]  # bash splits --mode=re into three words
    flag, equals, value = current.partition("=")
    prefix = ""
    if current == "=":
        current = ""
    elif equals and flag.startswith("--"):
        previous_words, current, prefix = [*previous_words, flag], value, f"{flag}="
    if previous_words[-1:] == ["--home"]:
        yield _FOLDERS
        return
    words = previous_words[2:] if previous_words[:1] == ["--home"] else previous_words
    if not words:
        yield from _begin_with(current, [*_first_words(), "--help", "--version", "--home"])
        return
    if len(words) == 1:
        group = f"{words[0]} "
        yield from _begin_with(
            current, [name.removeprefix(group) for name in command_names() if name.startswith(group)]
        )
    command = _find(words)
    if command is not None:
        for line in _Completer(command, previous_words, current).lines():
            yield line if line == _FILES else prefix + line


def _first_words() -> list[str]:
    return [name.partition(" ")[0] for name in command_names()]


def _find(words: list[str]) -> Command | None:
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in BUILT_IN:
            return Command(BUILT_IN[name], name)
    match = find_command(words)
    return None if match is None else match[0]


def _begin_with(current: str, values: Iterable[str]) -> Iterator[str]:
    return (f"{value}\t" for value in values if value.startswith(current))


class _Completer:
    """The candidates of one word after a command."""

    def __init__(self, command: Command, previous_words: list[str], current: str) -> None:
        self._command = command
        self._options = list(command.options.values())
        self._previous_words = previous_words
        self._current = current

    def lines(self) -> Iterator[str]:
        """Yield candidates for the value of the last option, or for a positional argument and an option."""
        previous = self._previous_words[-1]
        last_option = next(
            (option for option in self._options if option.takes_value and previous in (option.flag, option.short)), None
        )
        kind = self._positional_kind() if last_option is None else self._kind_of(last_option)
        stored = self._stored(kind) if kind and not self._current.startswith("-") else []
        if stored:
            yield from (f"{value}\t" for value in stored)
        elif last_option is None:
            positionals = [
                option for option in self._options if option.name in (*self._command.slots, self._command.positional)
            ]
            yield from self._values(positionals)
            yield from self._flags()
        else:
            yield from self._values([last_option])

    def _values(self, options: list[Option]) -> Iterator[str]:
        for option in options:
            yield from _begin_with(self._current, _first_words() if option.name == "command" else option.choices)
        # The `path` of a step is the position of the step in its task, not a file.
        if "target" not in self._command.slots and any(option.name in FILES for option in options):
            yield _FILES

    def _flags(self) -> Iterator[str]:
        for option in self._options:
            for flag in (option.flag, option.negated_flag, option.short):
                if flag and flag.startswith(self._current):
                    yield f"{flag}\t{to_cli_words(option.description, self._command.operation)}"

    def _kind_of(self, option: Option) -> str:
        """Return the kind of row that an option names, empty if none."""
        if option.name == "name" and self._command.words.startswith("workspace "):
            return _WORKSPACES
        if option.name == "name" and self._command.positional == ADDRESSED:
            return self._addressed_kind()
        return STORED.get(option.argument or option.name, "")

    def _positional_kind(self) -> str:
        """Return the kind of row that positional arguments name, empty if none."""
        command = self._command
        if command.positional in (ADDRESSED, ITEMS):
            return self._addressed_kind()
        if command.positional == SCOPE:
            return _TASKS_AND_BRANCHES if "target" in command.options else _BRANCHES
        kinds = [self._kind_of(option) for option in self._options if option.name in command.slots]
        return next((kind for kind in kinds if kind), "")

    def _addressed_kind(self) -> str:
        return _ARTIFACTS if self._command.words.startswith("artifact ") else _CAPSULES

    def _stored(self, kind: str) -> list[str]:
        """Return stored values that begin with the current word, in any case; empty if the store refuses."""
        from moss_memory.config import load_config
        from moss_memory.errors import MossError
        from moss_memory.store import Store

        try:
            config = load_config(self._given("--home"))
            with Store(config, actor="cli") as store:
                values = list(_values_of(store, kind, self._current, self._given("--workspace", "-w")))
        except MossError:
            return []
        begin = self._current.lower()
        return [
            value for value in values if value.lower().startswith(begin) and "\n" not in value and "\t" not in value
        ]

    def _given(self, *flags: str) -> str | None:
        """Return the value that the command line gives to an option, None if it gives none."""
        for word, following in zip(self._previous_words, [*self._previous_words[1:], None], strict=True):
            flag, equals, value = word.partition("=")
            if flag in flags:
                return value if equals else following
        return None


def _values_of(store: Store, kind: str, current: str, workspace: str | None) -> Iterator[str]:
    if kind == _WORKSPACES:
        yield from _workspaces(store)
    elif kind in (_CAPSULES, _ARTIFACTS):
        yield from _names(store, kind, current, workspace)
    elif chosen := workspace or store.config.workspace:
        if kind != _BRANCHES:
            listed = store.call("tasks_list", {"workspace": chosen, "limit": _LIMIT})
            yield from (row["id"] for row in listed["items"])
        if kind != _TASKS:
            yield from (row["name"] for row in store.call("branchmind_branch_list", {"workspace": chosen})["branches"])


def _names(store: Store, kind: str, current: str, workspace: str | None) -> Iterator[str]:
    """Yield the names in a workspace; if none is given, also the other workspaces, each with a slash."""
    workspace_name, slash, name = current.partition("/")
    if workspace is not None:
        yield from _list_names(store, kind, workspace, current)
    elif slash:
        yield from (f"{workspace_name}/{stored_name}" for stored_name in _list_names(store, kind, workspace_name, name))
    else:
        own_workspace = store.config.workspace or "default"
        yield from _list_names(store, kind, own_workspace, current)
        yield from (f"{other}/" for other in _workspaces(store, family=kind[:-1]) if other != own_workspace)


def _list_names(store: Store, kind: str, workspace: str, prefix: str) -> list[str]:
    arguments = {"workspace": workspace, "limit": _LIMIT}
    if kind == _ARTIFACTS:
        items = store.call("artifact_list", arguments)["items"]
    else:
        items = store.call("capsule_inventory", {**arguments, **({"name_prefix": prefix} if prefix else {})})["items"]
    return [item["name"] for item in items if item.get("name")]


def _workspaces(store: Store, family: str = "") -> list[str]:
    rows = store.call("moss_recent", {"limit": _LIMIT})["workspaces"]
    return [row["workspace"] for row in rows if not family or family in row["holds"]]
