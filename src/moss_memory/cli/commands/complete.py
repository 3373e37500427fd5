"""What the completion of a shell asks for while somebody types: names, workspaces, tasks and branches of the store.

Nothing is written and no model is loaded. What cannot be known, for whatever reason, is nothing: a shell that completes
has no place for a refusal.
"""

from __future__ import annotations

from moss_memory.cli.render.output import show
from moss_memory.config import load_config
from moss_memory.errors import MossError
from moss_memory.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WORKSPACES, CAPSULES, ARTIFACTS, TASKS, BRANCHES = "workspaces", "capsules", "artifacts", "tasks", "branches"
PLACES = "places"
"""Tasks and branches: where several documents lie is told by either."""
_MOST = 200
_PLACE = ("--workspace", "-w")


def offer(words: list[str], home: str | None) -> int:
    """Prints what may stand in the place of the last word, one a line; the first says of which kind."""
    kind, *typed = [_unquoted(word) for word in words] or [""]
    current = typed[-1] if typed else ""
    try:
        config = load_config(_value_of(typed, ("--home",)) or home)
        workspace = _value_of(typed, _PLACE)
        with Store(config) as store:
            found = list(_offered(store, kind, current, workspace))
    except MossError:
        return 0
    if found:
        show("\n".join(dict.fromkeys(one for one in found if "\n" not in one)))
    return 0


def _unquoted(word: str) -> str:
    """A word as it is meant; one whose quote is still open begins with it."""
    if word[:1] in ("'", '"'):
        quote = word[0]
        return word[1:-1] if len(word) > 1 and word.endswith(quote) else word[1:]
    return word.replace("\\", "")


def _value_of(words: list[str], flags: tuple[str, ...]) -> str | None:
    """What an option was given on the line so far; bash takes `--home=x` for three words."""
    for at, word in enumerate(words[:-1]):
        flag, equals, value = word.partition("=")
        if flag in flags:
            rest = [one for one in words[at + 1 : -1] if one != "="]
            return value or (rest[0] if rest else None) if equals or rest else None
    return None


def _offered(store: Store, kind: str, current: str, workspace: str | None) -> Iterator[str]:
    if kind == WORKSPACES:
        yield from _beginning(_workspaces(store), current)
    elif kind in (CAPSULES, ARTIFACTS):
        yield from _names(store, kind, current, workspace)
    elif place := workspace or store.config.workspace:
        for one in (TASKS, BRANCHES) if kind == PLACES else (kind,):
            yield from _beginning(_work(store, one, place), current)


def _names(store: Store, kind: str, current: str, workspace: str | None) -> Iterator[str]:
    """Names in the workspace that is meant, and the workspaces in which others are, each with its slash."""
    if workspace is not None:
        yield from _beginning(_listed(store, kind, workspace, current), current)
        return
    place, slash, name = current.partition("/")
    if slash:
        yield from _beginning((f"{place}/{one}" for one in _listed(store, kind, place, name)), current)
    else:
        own = store.config.workspace or "default"
        yield from _beginning(_listed(store, kind, own, current), current)
        yield from _beginning((f"{one}/" for one in _workspaces(store, kind) if one != own), current)


def _listed(store: Store, kind: str, workspace: str, prefix: str) -> list[str]:
    asked = {"workspace": workspace, "limit": _MOST}
    if kind == ARTIFACTS:
        items = store.call("artifact_list", asked)["items"]
    else:
        items = store.call("capsule_inventory", {**asked, **({"name_prefix": prefix} if prefix else {})})["items"]
    return [item["name"] for item in items if item.get("name")]


def _workspaces(store: Store, kind: str = "") -> list[str]:
    family = kind[:-1]
    found = store.call("moss_recent", {"limit": _MOST})["workspaces"]
    return [one["workspace"] for one in found if not family or family in one["holds"]]


def _work(store: Store, kind: str, place: str) -> list[str]:
    if kind != TASKS:
        return [one["name"] for one in store.call("branchmind_branch_list", {"workspace": place})["branches"]]
    return [one["id"] for one in store.call("tasks_list", {"workspace": place, "limit": _MOST})["items"]]


def _beginning(found: Iterator[str] | list[str], current: str) -> Iterator[str]:
    """Those that begin as what was typed, in whatever case."""
    return (one for one in found if one.lower().startswith(current.lower()))
