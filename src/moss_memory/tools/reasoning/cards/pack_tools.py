"""Tools that resume work: the last cards, notes and steps and the next call, within a budget."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated, Literal
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import NEXT, ResponseSchema, list_of, object_of, text
from moss_memory.registry.tool_groups import GROUP_OF_TYPE
from moss_memory.rows.names import normalize_label
from moss_memory.tools.capsule.capsule_code_state import CODE_FIELDS
from moss_memory.tools.reasoning.branches.document_refs import NOTES, find_document
from moss_memory.tools.reasoning.cursor_pages import CursorPage
from moss_memory.tools.reasoning.graph.node_queries import find_nodes
from moss_memory.tools.reasoning.graph.open_conflicts import OPEN_CONFLICTS, count_only, open_conflicts
from moss_memory.tools.reasoning.notes.entries import entries_page, last_entries
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    Branch,
    GraphDoc,
    NotesDoc,
    PageLimit,
    RequiredWorkspace,
    Target,
    TraceDoc,
)
from moss_memory.tools.reasoning.reasoning_responses import CANDIDATE, CARD_REF, LAST_ENTRIES, STATS

from .card_lists import card_filter, count_cards
from .card_model import find_card_documents
from .frontier import find_candidates
from .next_step import next_call_for
from .pack_rows import (
    PACKED_ARTIFACTS,
    PACKED_CANDIDATES,
    PACKED_CAPSULES,
    PACKED_CARDS,
    PACKED_LOG,
    pack_candidates,
    pack_cards,
    pack_log,
    without_nulls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction

Include = Annotated[list[Literal["capsules", "artifacts"]], "also the latest capsule, and the artifacts of the run"]
RunOfWork = Annotated[str, "default: the latest capsule's"]

CANDIDATES = 5
ARTIFACTS_MAX = 20

_DOCS = ResponseSchema("Documents", {name: text("document") for name in ("notes", "trace", "graph")})


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **CARD_REF,
        "stats": STATS,
        "cards": PACKED_CARDS,
        "candidates": PACKED_CANDIDATES,
        **OPEN_CONFLICTS,
        "next": NEXT,
    },
    example="moss think pack -w shop --max-chars 2000",
    words=(
        "small summary of the thinking, compact, cards and next step, summary of our thinking, resume thinking, "
        "state of the reasoning in short, summary of the cards, continue thinking, compact view of the reasoning"
    ),
)
def branchmind_think_pack(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    limit_cards: PageLimit = 10,
    budget: Budget,
) -> dict[str, Any]:
    """Resume thinking: the last cards with their links, what is open, the next call; no notes, no trace."""
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc)
    view = documents.graph.graph(tx)
    nodes = find_nodes(tx, view, card_filter(), CursorPage(None, limit_cards))
    open_cards = find_candidates(tx, view, limit=CANDIDATES)
    stats = count_cards(tx, view)
    next_call = next_call_for(tx, view, documents, open_cards, stats["by_type"])
    conflicts = open_conflicts(tx, workspace)

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept_rows)
        candidates = pack_candidates(parts["candidates"], parts["cards"])
        fields = {**documents.to_dict(), "stats": stats, "cards": parts["cards"], "candidates": candidates}
        return {**fields, **_conflicts_field(parts, conflicts), "next": next_call, "truncated": False}

    rows = [*_label_rows("conflicts", [conflicts]), *_label_rows("candidates", open_cards)]
    rows += _label_rows("cards", pack_cards(tx, view, nodes))
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **CARD_REF,
        "trace_doc": text("document of its trace"),
        "candidates": list_of(CANDIDATE, "the cards to continue with, best first"),
        "trace": LAST_ENTRIES,
    },
    example="moss think watch -w shop",
    words=(
        "monitor, watch the reasoning, what is happening, follow another agent, watch another agent, what are "
        "others thinking, what is the other agent doing, see the thinking live, observe a sub-agent, follow along"
    ),
)
def branchmind_think_watch(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    graph_doc: GraphDoc | None = None,
    trace_doc: TraceDoc | None = None,
    limit: PageLimit = 10,
    trace_limit: PageLimit = 20,
    budget: Budget,
) -> dict[str, Any]:
    """Follow the thinking of others: what is open, and the last trace entries."""
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc, trace_doc=trace_doc)
    page = CursorPage(None, trace_limit)
    steps = last_entries(tx, documents.trace, page)
    open_cards = find_candidates(tx, documents.graph.graph(tx), limit=min(limit, 200))

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept_rows)
        trace = entries_page(page, steps, parts["trace"])
        fields = {**documents.to_dict(), "trace_doc": documents.trace.doc, "candidates": parts["candidates"]}
        return {**fields, "trace": trace, "truncated": False}

    rows = [*_label_rows("candidates", open_cards), *_label_rows("trace", steps)]
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        "branch": text("branch"),
        "docs": object_of(_DOCS, "the documents of the pack"),
        "notes": PACKED_LOG,
        "trace": PACKED_LOG,
        "cards": PACKED_CARDS,
        "stats": STATS,
        "capsules": PACKED_CAPSULES,
        "artifacts": PACKED_ARTIFACTS,
        **OPEN_CONFLICTS,
        "next": NEXT,
    },
    cli=Cli("think context-pack"),
    example="moss think context-pack --target TASK-001 -w shop",
    words=(
        "resume, continue a branch or task, catch up, get context, onboarding, everything about a task, notes and"
        " cards together, background, brief me, get up to speed, summarize the context, all about a branch, "
        "refresh my memory, restore context of a task, bring me up to date on a task, load the context of a task,"
        " resume a task, continue a task, give me the context, what do I need to know, notes and cards of a "
        "branch, get started on an existing task, overview of a branch"
    ),
)
def branchmind_context_pack(
    tx: ReadTransaction,
    *,
    workspace: RequiredWorkspace,
    target: Target | None = None,
    ref: Branch | None = None,
    notes_doc: NotesDoc | None = None,
    trace_doc: TraceDoc | None = None,
    graph_doc: GraphDoc | None = None,
    notes_limit: PageLimit = 20,
    trace_limit: PageLimit = 50,
    limit_cards: PageLimit = 30,
    include: Include | None = None,
    run_id: RunOfWork | None = None,
    budget: Budget,
) -> dict[str, Any]:
    """Resume work in one call: the last notes, trace and cards of a task or branch, and the next call."""
    if target is not None and notes_doc is not None:
        raise invalid_request("`target` already says where; leave `notes_doc` out", path="notes_doc")
    documents = find_card_documents(tx, workspace, target=target, branch=ref, graph_doc=graph_doc, trace_doc=trace_doc)
    notes = find_document(tx, workspace, target=target, branch=ref, doc=notes_doc, kind=NOTES)
    pages = {"notes": CursorPage(None, notes_limit), "trace": CursorPage(None, trace_limit)}
    logs = {
        "notes": last_entries(tx, notes, pages["notes"]),
        # The cards themselves are among the rows.
        "trace": last_entries(tx, documents.trace, pages["trace"], query="entries_without_cards_before"),
    }
    view = documents.graph.graph(tx)
    cards = pack_cards(tx, view, find_nodes(tx, view, card_filter(), CursorPage(None, limit_cards)))
    stats = count_cards(tx, view)
    if target is None or "task" in tx.config.disabled_types:
        next_call = next_call_for(tx, view, documents, find_candidates(tx, view, limit=1), stats["by_type"])
    else:
        next_call = _next_call_of_task(tx, workspace, target)
    extras, truncated = _load_extras(tx, workspace, include or [], run_id)
    conflicts = open_conflicts(tx, workspace)
    branch = documents.graph.branch.name
    docs = {"notes": notes.doc, "trace": documents.trace.doc, "graph": documents.graph.doc}

    def build(kept_rows: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept_rows)
        packed = {name: pack_log(pages[name], rows, parts[name], branch) for name, rows in logs.items()}
        # If no row fits, leave out the counts by type to save space for the next call.
        counted = stats if kept_rows else {**stats, "by_type": {}}
        fields = {"branch": branch, "docs": docs, **packed, "cards": parts["cards"], "stats": counted}
        optional = {**{name: parts[name] for name in extras}, **_conflicts_field(parts, conflicts)}
        return {**fields, **optional, "next": next_call, "truncated": truncated}

    newest = [row for name, part_rows in {**logs, "cards": cards}.items() for row in _label_rows(name, part_rows)]
    newest.sort(key=lambda labelled: -int(labelled["row"].get("seq") or labelled["row"]["last_seq"]))
    first = [row for name, part_rows in extras.items() for row in _label_rows(name, part_rows)]
    return budget.fit([*_label_rows("conflicts", [conflicts]), *first, *newest], build, least=0)


def _label_rows(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"part": name, "row": row} for row in rows]


def _group_by_part(labelled_rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {
        name: [] for name in ("artifacts", "candidates", "capsules", "cards", "conflicts", "notes", "trace")
    }
    for labelled in labelled_rows:
        parts[labelled["part"]].append(labelled["row"])
    return parts


def _conflicts_field(parts: dict[str, list[Any]], conflicts: dict[str, Any]) -> dict[str, Any]:
    """Return the open conflicts if their row fits, else their number."""
    return parts["conflicts"][0] if parts["conflicts"] else count_only(conflicts)


def _next_call_of_task(tx: ReadTransaction, workspace: str, target: str) -> dict[str, Any]:
    from moss_memory.tools.task.model.task_rows import find_task
    from moss_memory.tools.task.model.task_status import TaskStatus

    return TaskStatus(tx, workspace, find_task(tx, workspace, target)).next()


def _load_extras(
    tx: ReadTransaction, workspace: str, include: Include, run_id: str | None
) -> tuple[dict[str, list[dict[str, Any]]], bool]:
    """Return the latest capsule, the last artifacts of the run, and true if the run has more artifacts."""
    extras: dict[str, list[dict[str, Any]]] = {}
    disabled = tx.config.disabled_types
    include = [name for name in include if GROUP_OF_TYPE[name] not in disabled]
    if not include:
        return extras, False
    from moss_memory.tools.artifact.artifact_tools import artifact_list
    from moss_memory.tools.capsule.capsule_lists import capsule_latest

    latest = {} if "capsule" in disabled else capsule_latest.body(tx, workspace=workspace, include_text=True)
    capsule = latest.get("item")
    truncated = False
    if "capsules" in include:
        capsule_fields = {key: value for key, value in (capsule or {}).items() if key not in CODE_FIELDS}
        extras["capsules"] = [without_nulls(capsule_fields)] if capsule_fields else []
    if "artifacts" in include:
        run = normalize_label(run_id, what="run_id") or (capsule or {}).get("run_id")
        extras["artifacts"] = []
        if run:
            page = artifact_list.body(tx, run_id=run, workspace=workspace, limit=ARTIFACTS_MAX)
            extras["artifacts"] = [without_nulls(item) for item in page["items"]]
            truncated = page["pagination"]["has_more"]
    return extras, truncated
