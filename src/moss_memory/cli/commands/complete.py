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
    *before, current = words
    before = [word for word in before if word != "="]  # bash splits --mode=re into three words
    flag, equals, value = current.partition("=")
    prefix = ""
    if current == "=":
        current = ""
    elif equals and flag.startswith("--"):
        before, current, prefix = [*before, flag], value, f"{flag}="
    if before[-1:] == ["--home"]:
        yield _FOLDERS
        return
    words = before[2:] if before[:1] == ["--home"] else before
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
        for line in _Completer(command, before, current).lines():
            yield line if line == _FILES else prefix + line


def _first_words() -> list[str]:
    return [name.partition(" ")[0] for name in command_names()]


def _find(words: list[str]) -> Command | None:
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in BUILT_IN:
            return Command(BUILT_IN[name], name)
    found = find_command(words)
    return None if found is None else found[0]


def _begin_with(current: str, values: Iterable[str]) -> Iterator[str]:
    return (f"{value}\t" for value in values if value.startswith(current))


class _Completer:
    """The candidates of one word after a command."""

    def __init__(self, command: Command, before: list[str], current: str) -> None:
        self._command = command
        self._options = list(command.options.values())
        self._before = before
        self._current = current

    def lines(self) -> Iterator[str]:
        """Yield candidates for the value of the last option, or for a positional argument and an option."""
        previous = self._before[-1]
        last = next((one for one in self._options if one.takes_value and previous in (one.flag, one.short)), None)
        kind = self._positional_kind() if last is None else self._kind_of(last)
        stored = self._stored(kind) if kind and not self._current.startswith("-") else []
        if stored:
            yield from (f"{value}\t" for value in stored)
        elif last is None:
            positionals = [one for one in self._options if one.name in (*self._command.slots, self._command.positional)]
            yield from self._values(positionals)
            yield from self._flags()
        else:
            yield from self._values([last])

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
                found = list(_values_of(store, kind, self._current, self._given("--workspace", "-w")))
        except MossError:
            return []
        begin = self._current.lower()
        return [one for one in found if one.lower().startswith(begin) and "\n" not in one and "\t" not in one]

    def _given(self, *flags: str) -> str | None:
        """Return the value that the command line gives to an option, None if it gives none."""
        for word, following in zip(self._before, [*self._before[1:], None], strict=True):
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
            yield from (one["id"] for one in listed["items"])
        if kind != _TASKS:
            yield from (one["name"] for one in store.call("branchmind_branch_list", {"workspace": chosen})["branches"])


def _names(store: Store, kind: str, current: str, workspace: str | None) -> Iterator[str]:
    """Yield the names in a workspace; if none is given, also the other workspaces, each with a slash."""
    workspace_name, slash, name = current.partition("/")
    if workspace is not None:
        yield from _list_names(store, kind, workspace, current)
    elif slash:
        yield from (f"{workspace_name}/{one}" for one in _list_names(store, kind, workspace_name, name))
    else:
        own = store.config.workspace or "default"
        yield from _list_names(store, kind, own, current)
        yield from (f"{one}/" for one in _workspaces(store, family=kind[:-1]) if one != own)


def _list_names(store: Store, kind: str, workspace: str, prefix: str) -> list[str]:
    arguments = {"workspace": workspace, "limit": _LIMIT}
    if kind == _ARTIFACTS:
        items = store.call("artifact_list", arguments)["items"]
    else:
        items = store.call("capsule_inventory", {**arguments, **({"name_prefix": prefix} if prefix else {})})["items"]
    return [item["name"] for item in items if item.get("name")]


def _workspaces(store: Store, family: str = "") -> list[str]:
    found = store.call("moss_recent", {"limit": _LIMIT})["workspaces"]
    return [one["workspace"] for one in found if not family or family in one["holds"]]
