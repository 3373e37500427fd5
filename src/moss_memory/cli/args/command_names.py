"""The names of commands: tool to words and words to tool.

A family without an entry here is a group of its own name (`artifact_store` is `moss artifact store`); the group of the
capsule tools may be left out (`moss store`).
"""

from __future__ import annotations

from moss_memory.registry.tool_groups import TOOL_GROUPS
from moss_memory.registry.tool_modules import MODULES

PREFIXES = (
    ("branchmind_branch_", "branch"),
    ("branchmind_graph_", "graph"),
    ("branchmind_think_", "think"),
    ("branchmind_trace_", "trace"),
    ("tasks_", "task"),
)
"""Prefix of a tool's name and its group: `branchmind_graph_conflict_show` is `graph conflict-show`."""

NAMED = {
    "branchmind_init": "branch init",
    "branchmind_status": "branch status",
    "branchmind_checkout": "branch checkout",
    "branchmind_merge_back": "branch merge",
    "branchmind_notes_commit": "notes add",
    "branchmind_show": "notes show",
    "branchmind_export": "notes export",
    "branchmind_diff": "notes diff",
    "branchmind_merge": "notes merge",
    "branchmind_docs_list": "notes docs",
    "branchmind_commit": "history commit",
    "branchmind_log": "history log",
    "branchmind_reflog": "history reflog",
    "branchmind_reset": "history reset",
    "branchmind_tag_create": "history tag-create",
    "branchmind_tag_list": "history tag-list",
    "branchmind_tag_delete": "history tag-delete",
    "branchmind_context_pack": "think context-pack",
    "submit_payload": "record submit",
    "retrieve_records": "record find",
    "retrieve_entities": "record entities",
    "list_timeline_events": "record timeline",
    "moss_workspace_rename": "workspace rename",
    "moss_workspace_delete": "workspace delete",
}
"""Tools whose command is not derived from their name."""

DEFAULTS = {"branchmind_show": {"doc_kind": "notes"}, "tasks_create": {"kind": "task"}}
"""Arguments whose default in the command differs from that of the tool: `notes show` shows notes, not the trace."""

SHARED = {"versions": "moss_history", "revert": "moss_revert", "rename": "moss_rename", "erase": "moss_erase"}
"""Commands of tools that take a `type`: `moss versions` means capsules, `moss artifact versions` artifacts."""

UNLISTED = (
    "moss_activity", "moss_changes", "moss_recent", "moss_workspace_rename", "moss_workspace_delete", "moss_confirm",
    "moss_places",
)  # fmt: skip
"""Commands of tools that MCP does not list."""

INTERNAL = ("artifact_purge", "branchmind_purge")
"""Tools that are not commands: `moss purge --type` calls them."""

ALIASES = {"save": "store", "load": "fetch"}
"""Everyday words for the verbs of capsules and artifacts."""

_TOOLS = {words: tool for tool, words in NAMED.items()}


INFERRED = {"moss_revert": "version", "tasks_show": "target", "branchmind_graph_conflicts": "into"}
"""Required arguments that a command computes if they are not given: `moss revert` goes back by one version, `moss task
show` shows the task that radar chooses, `moss graph conflicts` lists those of the checkout."""


def is_grouped(tool: str) -> bool:
    """Return True if a command belongs to one of these groups; its required arguments are then positional too."""
    in_group = " " in tool and not tool.startswith(("capsule ", "artifact "))
    return tool in NAMED or in_group or tool.startswith(tuple(prefix for prefix, _ in PREFIXES))


def words_of(tool: str) -> str:
    """Return the words of a tool: `capsule_store` is `store`, `artifact_store` is `artifact store`."""
    if tool in NAMED:
        return NAMED[tool]
    if tool in SHARED.values():
        return next(verb for verb, shared in SHARED.items() if shared == tool)
    for prefix, group in PREFIXES:
        if tool.startswith(prefix):
            return f"{group} {_hyphenate(tool[len(prefix) :])}"
    family, _, verb = tool.replace("moss.", "capsule_").partition("_")
    verb = _hyphenate(verb)
    if family == "moss" or (family == "capsule" and verb != "search"):
        return verb
    return f"{family} {verb}"


def long_words_of(tool: str) -> str:
    """Return the words of a tool with its group, also if that may be left out: `capsule store`."""
    words = words_of(tool)
    family = tool.partition("_")[0]
    return words if " " in words or family == "moss" else f"{family} {words}"


def all_words_of(tool: str) -> list[str]:
    """Return every name of a tool's command, the shortest first."""
    words = words_of(tool)
    shared = [f"{family} {words}" for family in _groups_of(tool)]
    group, _, verb = long_words_of(tool).partition(" ")
    aliases = [word for word, meant in ALIASES.items() if meant == verb and group in ("capsule", "artifact")]
    others = [
        f"{prefix}{word}" for word in aliases for prefix in (("", "capsule ") if group == "capsule" else (f"{group} ",))
    ]
    return list(dict.fromkeys([words, long_words_of(tool), *shared, *others]))


def _groups_of(tool: str) -> list[str]:
    """Return the groups of a shared command; `reasoning` is no type of a row."""
    return (
        [family for family in TOOL_GROUPS[""].serves[tool] if family != "reasoning"] if tool in SHARED.values() else []
    )


def defaults_for(tool: str, words: str) -> dict[str, str]:
    """Return the default arguments of a command; the group of a shared one is its `type`."""
    if tool in SHARED.values():
        group, space, _ = words.partition(" ")
        return {"type": group if space else "capsule"}
    return DEFAULTS.get(tool, {})


def tool_alone(word: str) -> str:
    """Return the name of the tool for `moss WORD`; the tool may not exist."""
    if word in SHARED:
        return SHARED[word]
    verb = ALIASES.get(word, word).replace("-", "_")
    own = f"moss_{verb}"
    return own if own in MODULES and own not in SHARED.values() else f"capsule_{verb}"


def tool_of(group: str, verb: str) -> str:
    """Return the name of the tool for `moss GROUP VERB`; the tool may not exist."""
    if verb in SHARED and group in TOOL_GROUPS[""].serves.get(SHARED[verb], ()):
        return SHARED[verb]
    if group in ("capsule", "artifact"):
        verb = ALIASES.get(verb, verb)
    verb = verb.replace("-", "_")
    named = _TOOLS.get(f"{group} {_hyphenate(verb)}")
    prefix = next((prefix for prefix, name in PREFIXES if name == group), f"{group.replace('-', '_')}_")
    return named or prefix + verb


def group_of(tool: str) -> str:
    """Return the group under which a tool is listed, empty if it belongs to no family."""
    family = tool.partition("_")[0]
    return "" if family == "moss" else long_words_of(tool).partition(" ")[0]


def _hyphenate(verb: str) -> str:
    return verb.replace("_", "-")
