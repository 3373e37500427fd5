"""The families of tools: where each lives, and what of it the search finds. A new room adds its lines here."""

from __future__ import annotations

import sys

from .errors import short_of_descriptors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Family:
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


class Source:
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


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "capsule",
            prefix="capsule",
            modules=(
                "moss_memory.capsule.operations",
                "moss_memory.capsule.browsing",
                "moss_memory.capsule.composing",
                "moss_memory.capsule.transfer",
                "moss_memory.capsule.bulk",
            ),
        ),
        Family(
            "artifact",
            prefix="artifact",
            modules=("moss_memory.artifact.operations", "moss_memory.artifact.bulk", "moss_memory.artifact.schemas"),
        ),
        Family(
            "reasoning",
            prefix="branchmind",
            modules=(
                "moss_memory.reasoning.branches",
                "moss_memory.reasoning.documents",
                "moss_memory.reasoning.history",
                "moss_memory.reasoning.graph",
                "moss_memory.reasoning.merge",
                "moss_memory.reasoning.conflicts",
                "moss_memory.reasoning.card_tools",
                "moss_memory.reasoning.thinking",
                "moss_memory.reasoning.templates",
                "moss_memory.reasoning.browsing",
                "moss_memory.reasoning.packs",
                "moss_memory.reasoning.trace",
                "moss_memory.reasoning.purging",
            ),
        ),
        Family(
            "task",
            prefix="tasks",
            modules=(
                "moss_memory.task.operations",
                "moss_memory.task.steps",
                "moss_memory.task.radar",
                "moss_memory.task.showing",
                "moss_memory.task.claims",
            ),
        ),
        Family(
            "record",
            prefix="record",
            tools=("submit_payload", "retrieve_records", "retrieve_entities", "list_timeline_events"),
            modules=("moss_memory.record.operations",),
        ),
        Family(
            "",
            prefix="moss",
            modules=(
                "moss_memory.search.operations",
                "moss_memory.history.operations",
                "moss_memory.history.erasing",
                "moss_memory.workspace.operations",
                "moss_memory.workspace.recent",
                "moss_memory.workspace.changing",
                "moss_memory.activity.operations",
                "moss_memory.toolbox.operations",
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

SOURCES = {
    source.name: source
    for source in (
        Source(
            "capsule",
            family="capsule",
            table="capsules",
            title="search_title",
            body="capsule_text",
            code=0,
            module="moss_memory.capsule.search",
            has_runs=True,
        ),
        Source(
            "artifact",
            family="artifact",
            table="artifacts",
            title="name_raw",
            body="text",
            code=1,
            module="moss_memory.artifact.search",
            alive="(expires_at is null or expires_at > :moss_now)",
            has_runs=True,
        ),
        Source(
            "note",
            family="reasoning",
            table="note_rows",
            title="title",
            body="content",
            code=2,
            module="moss_memory.reasoning.search",
            show="notes",
        ),
        Source(
            "node",
            family="reasoning",
            table="node_rows",
            title="search_title",
            body="text",
            code=3,
            module="moss_memory.reasoning.search",
            show="nodes",
        ),
        Source(
            "record",
            family="record",
            table="records",
            title="title",
            body="search_text",
            code=4,
            module="moss_memory.record.search",
        ),
    )
}
"""What the search index holds, by the name that a hit's `type` shows."""


FAMILY_OF = {
    **{source.name: source.family for source in SOURCES.values()},
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
        raise short_of_descriptors(error) or error from error
    return sys.modules[name]
