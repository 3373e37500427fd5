"""The families of tools: where each lives, and what of it the search finds. A new room adds its lines here."""

from __future__ import annotations

import sys

from moss_memory.errors import descriptor_limit_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ToolGroup:
    """One family: its tools' prefix, or their names where they share none, and the modules of its room."""

    __slots__ = ("modules", "name", "prefix", "serves", "tools")

    def __init__(
        self,
        name: str,
        *,
        prefix: str,
        modules: tuple[str, ...],
        tools: tuple[str, ...] = (),
        serves: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.modules = modules
        self.tools = tools
        self.serves = serves or {}
        """The families that those tools work for which take a `type`: they come and go with them."""

    def has(self, tool: str) -> bool:
        """Whether a tool of this name would be of this family."""
        return tool.startswith(self.prefix + "_") or tool in self.tools


class SearchSource:
    """What the search finds of a family: rows of one table, or of one view with the same columns."""

    __slots__ = ("alive", "body", "code", "family", "has_runs", "module", "name", "show", "table", "title")

    def __init__(
        self,
        name: str,
        *,
        family: str,
        table: str,
        title: str,
        body: str,
        code: int,
        module: str,
        show: str = "documents",
        alive: str = "",
        has_runs: bool = False,
    ) -> None:
        self.name = name
        self.family = family
        self.table = table
        self.title = title
        """The column of that table whose words weigh more."""
        self.body = body
        self.code = code
        """The low four bits of its documents' numbers in the search index."""
        self.module = module
        self.show = show
        """The function of that module that shows its hits by row number."""
        self.alive = alive
        """What a row must meet, beside not being deleted, to be found; `:moss_now` is the time."""
        self.has_runs = has_runs
        """Whether its rows belong to workflow runs, so that a `run_id` can choose among them."""


TOOL_GROUPS = {
    family.name: family
    for family in (
        ToolGroup(
            "capsule",
            prefix="capsule",
            modules=(
                "moss_memory.tools.capsule.capsule_tools",
                "moss_memory.tools.capsule.capsule_lists",
                "moss_memory.tools.capsule.capsule_compose",
                "moss_memory.tools.capsule.capsule_files",
                "moss_memory.tools.capsule.capsule_bulk",
            ),
        ),
        ToolGroup(
            "artifact",
            prefix="artifact",
            modules=(
                "moss_memory.tools.artifact.artifact_tools",
                "moss_memory.tools.artifact.artifact_bulk",
                "moss_memory.tools.artifact.artifact_kinds",
            ),
        ),
        ToolGroup(
            "reasoning",
            prefix="branchmind",
            modules=(
                "moss_memory.tools.reasoning.branches.branch_tools",
                "moss_memory.tools.reasoning.notes.note_tools",
                "moss_memory.tools.reasoning.notes.log_tools",
                "moss_memory.tools.reasoning.graph.graph_tools",
                "moss_memory.tools.reasoning.branches.merge_tools",
                "moss_memory.tools.reasoning.graph.conflict_tools",
                "moss_memory.tools.reasoning.cards.card_create",
                "moss_memory.tools.reasoning.cards.card_edit",
                "moss_memory.tools.reasoning.cards.playbooks",
                "moss_memory.tools.reasoning.cards.card_lists",
                "moss_memory.tools.reasoning.cards.packs",
                "moss_memory.tools.reasoning.notes.trace_tools",
                "moss_memory.tools.reasoning.reasoning_purge",
            ),
        ),
        ToolGroup(
            "task",
            prefix="tasks",
            modules=(
                "moss_memory.tools.task.task_tools",
                "moss_memory.tools.task.step_tools",
                "moss_memory.tools.task.radar",
                "moss_memory.tools.task.task_show",
                "moss_memory.tools.task.claim_tools",
            ),
        ),
        ToolGroup(
            "record",
            prefix="record",
            tools=("submit_payload", "retrieve_records", "retrieve_entities", "list_timeline_events"),
            modules=("moss_memory.tools.record.record_tools",),
        ),
        ToolGroup(
            "",
            prefix="moss",
            modules=(
                "moss_memory.tools.everything.search_tool",
                "moss_memory.tools.everything.version_tools",
                "moss_memory.tools.everything.erase_tool",
                "moss_memory.tools.everything.workspace_tools",
                "moss_memory.tools.everything.recent_workspaces",
                "moss_memory.tools.everything.workspace_admin",
                "moss_memory.tools.everything.activity_tools",
                "moss_memory.tools.everything.discovery_tools",
            ),
            serves={
                **dict.fromkeys(("moss_history", "moss_revert", "moss_rename"), ("capsule", "artifact")),
                **dict.fromkeys(
                    ("moss_workspaces", "moss_erase"), ("capsule", "artifact", "reasoning", "task", "record")
                ),
            },
        ),
    )
}
"""By the name that `toolsets` and `disabled_types` use; the one without a name serves others or is always on."""

SEARCH_SOURCES = {
    source.name: source
    for source in (
        SearchSource(
            "capsule",
            family="capsule",
            table="capsules",
            title="search_title",
            body="capsule_text",
            code=0,
            module="moss_memory.tools.capsule.capsule_hits",
            has_runs=True,
        ),
        SearchSource(
            "artifact",
            family="artifact",
            table="artifacts",
            title="name_raw",
            body="text",
            code=1,
            module="moss_memory.tools.artifact.artifact_hits",
            alive="(expires_at is null or expires_at > :moss_now)",
            has_runs=True,
        ),
        SearchSource(
            "note",
            family="reasoning",
            table="note_rows",
            title="title",
            body="content",
            code=2,
            module="moss_memory.tools.reasoning.reasoning_hits",
            show="notes",
        ),
        SearchSource(
            "node",
            family="reasoning",
            table="node_rows",
            title="search_title",
            body="text",
            code=3,
            module="moss_memory.tools.reasoning.reasoning_hits",
            show="nodes",
        ),
        SearchSource(
            "record",
            family="record",
            table="records",
            title="title",
            body="search_text",
            code=4,
            module="moss_memory.tools.record.record_hits",
        ),
    )
}
"""What the search index holds, by the name that a hit's `type` shows."""


GROUP_OF_TYPE = {
    **{source.name: source.family for source in SEARCH_SOURCES.values()},
    "trace": "reasoning",
    "task": "task",
    "capsules": "capsule",
    "artifacts": "artifact",
}
"""The family of what an argument can name: a `type` of what there is, or what a pack is to include."""

NEEDS = {("tasks_handoff", "as_capsule"): "capsule"}
"""Arguments that reach into another family, and which."""

CHOOSES = ("type", "types", "include")
"""Arguments, of tools over several families, whose values name families."""


def module(name: str) -> Any:
    """A module by its full name, imported when it is first needed."""
    try:
        __import__(name)  # also when it is there: another thread may still be importing it, and this waits for it
    except OSError as error:
        raise descriptor_limit_error(error) or error from error
    return sys.modules[name]
