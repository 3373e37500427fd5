"""The families of tools: their modules, and their tables in the search index. A new family is added here."""

from __future__ import annotations

import sys

from moss_memory.errors import descriptor_limit_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ToolGroup:
    """One family: the prefix of its tools, tools without that prefix, and its modules."""

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
        """The families that a tool with a `type` works on: it is disabled if all of them are."""

    def has(self, tool: str) -> bool:
        """Return True if a tool of this name belongs to this family."""
        return tool.startswith(self.prefix + "_") or tool in self.tools


class SearchSource:
    """A table of a family, or a view, that is in the search index."""

    __slots__ = (
        "alive", "body", "code", "family", "half_score", "has_runs", "module", "name", "show", "table", "title",
    )  # fmt: skip

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
        show: str,
        alive: str = "",
        half_score: str = "",
        has_runs: bool = False,
    ) -> None:
        self.name = name
        self.family = family
        self.table = table
        self.title = title
        """The column whose words have the higher weight."""
        self.body = body
        self.code = code
        """The low four bits of its documents' numbers in the search index."""
        self.module = module
        self.show = show
        """The function of that module that returns its hits by row number."""
        self.alive = alive
        """A condition for rows to be found, beside not being deleted; `:moss_now` is the time."""
        self.half_score = half_score
        """A condition for rows that get half of their score."""
        self.has_runs = has_runs
        """True if its rows have a `run_id` to filter by."""


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
                "moss_memory.tools.artifact.artifact_compose",
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
                "moss_memory.tools.reasoning.notes.history_tools",
                "moss_memory.tools.reasoning.graph.graph_tools",
                "moss_memory.tools.reasoning.graph.node_history",
                "moss_memory.tools.reasoning.branches.merge_tools",
                "moss_memory.tools.reasoning.graph.conflict_tools",
                "moss_memory.tools.reasoning.cards.card_create",
                "moss_memory.tools.reasoning.cards.card_edit",
                "moss_memory.tools.reasoning.cards.template_tools",
                "moss_memory.tools.reasoning.cards.card_lists",
                "moss_memory.tools.reasoning.cards.pack_tools",
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
                "moss_memory.tools.task.status_tools",
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
                "moss_memory.tools.everything.freshness_tools",
                "moss_memory.tools.everything.workspace_tools",
                "moss_memory.tools.everything.workspace_admin",
                "moss_memory.tools.everything.activity_tools",
                "moss_memory.tools.everything.event_log",
                "moss_memory.tools.everything.discovery_tools",
            ),
            serves={
                **dict.fromkeys(("moss_history", "moss_revert", "moss_rename"), ("capsule", "artifact")),
                "moss_freshness": ("capsule", "reasoning"),
                **dict.fromkeys(
                    ("moss_workspaces", "moss_erase", "moss_log"),
                    ("capsule", "artifact", "reasoning", "task", "record"),
                ),
            },
        ),
    )
}
"""By the name in `toolsets` and `disabled_types`; the unnamed one has the tools over several families."""

_IS_ORIGINAL_NOTE = (
    "not exists (select 1 from doc_entries c join doc_entries o on o.seq = case when c.source_event_id like 'merge:%'"
    # The digits at the end of `merge:<branch>:<seq>` are the number of the original.
    " then cast(substr(c.source_event_id, length(rtrim(c.source_event_id, '0123456789')) + 1) as bigint) end"
    " where c.seq = note_rows.row_id and o.hidden = 0)"
)
"""A note that a merge copied is found once: the copy only if no branch shows the original."""

_IS_FOUND_NODE = (
    "not exists (select 1 from graph_versions v where v.seq = node_rows.row_id and ("
    # The graphs of a plan and of dependents repeat the node of a task.
    "(v.key >= 'task:' and v.key < 'task;' and v.doc <> substr(v.key, 6) || '-graph') or"
    " exists (select 1 from graph_merges m join branches b on b.branch_id = m.from_id"
    " join graph_versions c on c.branch_id = b.base_id and c.doc = m.doc and c.key = m.key"
    " join graph_versions n on n.branch_id = c.branch_id and n.doc = c.doc and n.key = c.key"
    " where m.from_id = v.branch_id and m.doc = v.doc and m.key = v.key and m.from_seq = v.seq and c.seq > v.seq"
    " and c.state = v.state and n.next_seq = 9223372036854775807 and n.deleted = 0)))"
)
"""A task is found once, and a node that a merge copied once: as the base of its branch has it."""

_IS_REPLACED = (
    "exists (select 1 from graph_versions v where v.seq = node_rows.row_id and v.status in ('superseded', 'merged'))"
)

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
            show="capsule_documents",
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
            show="artifact_documents",
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
            show="note_hits",
            alive=_IS_ORIGINAL_NOTE,
        ),
        SearchSource(
            "node",
            family="reasoning",
            table="node_rows",
            title="search_title",
            body="text",
            code=3,
            module="moss_memory.tools.reasoning.reasoning_hits",
            show="node_hits",
            alive=_IS_FOUND_NODE,
            half_score=_IS_REPLACED,
        ),
        SearchSource(
            "record",
            family="record",
            table="records",
            title="title",
            body="search_text",
            code=4,
            module="moss_memory.tools.record.record_hits",
            show="record_documents",
        ),
    )
}
"""The sources of the search index, by the `type` of their hits."""


SEARCH_TYPES = ("capsule", "artifact", "note", "node", "task", "record")
"""The types of hits: the sources, and the tasks and steps among the nodes."""

GROUP_OF_TYPE = {
    **{source.name: source.family for source in SEARCH_SOURCES.values()},
    "trace": "reasoning",
    "task": "task",
    "capsules": "capsule",
    "artifacts": "artifact",
}
"""The family of each value that a `type`, `types` or `include` argument takes."""

FAMILY_NEEDED_BY = {("tasks_handoff", "as_capsule"): "capsule"}
"""The family that an argument of a tool needs besides its own."""

FAMILY_ARGUMENTS = ("type", "types", "include")
"""Arguments whose values name families, in tools over several families."""


def import_module(name: str) -> Any:
    """Import a module and return it; raise an error with the advice if the process has no descriptor left."""
    try:
        __import__(name)  # waits if another thread is still importing it
    except OSError as error:
        raise descriptor_limit_error(error) or error from error
    return sys.modules[name]
