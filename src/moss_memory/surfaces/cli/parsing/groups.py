"""Which commands a family's tools are: the table of groups, and the way back from two words to a tool.

A family without a line here is a group of its own name (`artifact_store` is `moss artifact store`), and the
capsule tools also answer without theirs (`moss store`).
"""

from __future__ import annotations

PREFIXES = (
    ("branchmind_branch_", "branch"),
    ("branchmind_graph_", "graph"),
    ("branchmind_think_", "think"),
    ("branchmind_trace_", "trace"),
    ("tasks_", "task"),
)
"""Tools whose name begins so are commands of that group: `branchmind_graph_conflict_show` is `graph conflict-show`."""

NAMED = {
    "branchmind_init": "branch init",
    "branchmind_status": "branch status",
    "branchmind_checkout": "branch checkout",
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
}
"""Tools whose command is not made from their name."""

DEFAULTS = {"branchmind_show": {"doc_kind": "notes"}}
"""What a command means where its tool would mean something else: `notes show` shows the notes, not the trace."""

UNLISTED = ("record_capabilities",)
"""Tools that are commands although no agent is told of them."""

_TOOLS = {words: tool for tool, words in NAMED.items()}


def is_grouped(tool: str) -> bool:
    """Whether a command stands in one of the groups above; its required arguments are then also words."""
    return tool in NAMED or " " in tool or tool.startswith(tuple(prefix for prefix, _ in PREFIXES))


def words_of(tool: str) -> str:
    """How a tool is typed: `capsule_store` is `store`, `artifact_store` is `artifact store`."""
    if tool in NAMED:
        return NAMED[tool]
    for prefix, group in PREFIXES:
        if tool.startswith(prefix):
            return f"{group} {_hyphened(tool[len(prefix) :])}"
    family, _, verb = tool.replace("moss.", "capsule_").partition("_")
    verb = _hyphened(verb)
    if family == "moss" or (family == "capsule" and verb != "search"):
        return verb
    return f"{family} {verb}"


def long_words_of(tool: str) -> str:
    """The same with the family in front, where it may also be left out: `capsule store`."""
    words = words_of(tool)
    family = tool.partition("_")[0]
    return words if " " in words or family == "moss" else f"{family} {words}"


def tool_of(group: str, verb: str) -> str:
    """The tool that `moss GROUP VERB` means, whether or not there is one of that name."""
    verb = verb.replace("-", "_")
    named = _TOOLS.get(f"{group} {_hyphened(verb)}")
    prefix = next((prefix for prefix, name in PREFIXES if name == group), f"{group.replace('-', '_')}_")
    return named or prefix + verb


def group_of(tool: str) -> str:
    """The group under which a tool is listed; empty for those that belong to no family."""
    family = tool.partition("_")[0]
    return "" if family == "moss" else long_words_of(tool).partition(" ")[0]


def _hyphened(verb: str) -> str:
    return verb.replace("_", "-")
