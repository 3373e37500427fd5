"""Tools that resume work: the last cards, notes and steps and the next call, within a budget."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import NEXT, ResponseSchema, list_of, object_of, text
from moss_memory.registry.tool_groups import GROUP_OF_TYPE
from moss_memory.rows.names import normalize_label
from moss_memory.tools.capsule.saved_in import CODE_FIELDS
from moss_memory.tools.reasoning.branches.document_refs import NOTES, DocumentRef, find_document
from moss_memory.tools.reasoning.graph.graph_tools import nodes_of
from moss_memory.tools.reasoning.graph.open_conflicts import OPEN_CONFLICTS, only_counted, open_conflicts
from moss_memory.tools.reasoning.notes.note_tools import page_fields, tail
from moss_memory.tools.reasoning.reasoning_arguments import (
    BRANCH,
    Branch,
    CursorPage,
    GraphDoc,
    NotesDoc,
    PageLimit,
    RequiredWorkspace,
    Target,
    TraceDoc,
)
from moss_memory.tools.reasoning.reasoning_responses import CANDIDATE, CARD_REF, LAST_ENTRIES, STATS

from .card_lists import card_filter, count_cards
from .card_model import CardDocuments, find_card_documents
from .frontier import find_candidates
from .next_step import next_call_for
from .pack_rows import (
    PACKED_ARTIFACTS,
    PACKED_CANDIDATES,
    PACKED_CAPSULES,
    PACKED_CARDS,
    PACKED_LOG,
    packed_candidates,
    packed_cards,
    packed_log,
    without_nulls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any, Literal

    from moss_memory.registry.budget import Budget
    from moss_memory.storage.engine import ReadTransaction
else:
    from moss_memory.registry.argument_types import Annotated, Literal

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
    doc = documents.graph.doc
    nodes = nodes_of(tx, view, doc, card_filter(), CursorPage(None, limit_cards))
    found = find_candidates(tx, view, doc, limit=CANDIDATES)
    stats = count_cards(tx, view, doc)
    next_call = next_call_for(tx, view, documents, found, stats["by_type"])
    conflicts = open_conflicts(tx, workspace)

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept)
        candidates = packed_candidates(parts["candidates"], parts["cards"])
        fields = {**documents.to_dict(), "stats": stats, "cards": parts["cards"], "candidates": candidates}
        return {**fields, **_conflicts(parts, conflicts), "next": next_call, "truncated": False}

    rows = [*_label("conflicts", [conflicts]), *_label("candidates", found)]
    rows += _label("cards", packed_cards(tx, view, doc, nodes))
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        **CARD_REF,
        "trace_doc": text("document of its trace"),
        "candidates": list_of(CANDIDATE, "the cards to go on with, best first"),
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
    steps = tail(tx, documents.trace, page)
    found = find_candidates(tx, documents.graph.graph(tx), documents.graph.doc, limit=min(limit, 200))

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept)
        trace = page_fields(page, steps, parts["trace"])
        fields = {**documents.to_dict(), "trace_doc": documents.trace.doc, "candidates": parts["candidates"]}
        return {**fields, "trace": trace, "truncated": False}

    rows = [*_label("candidates", found), *_label("trace", steps)]
    return budget.fit(rows, build, least=0)


@operation(
    idempotent=True,
    aliases=BRANCH,
    has_budget=True,
    answers={
        "branch": text("branch"),
        "docs": object_of(_DOCS, "where they are"),
        "notes": PACKED_LOG,
        "trace": PACKED_LOG,
        "cards": PACKED_CARDS,
        "stats": STATS,
        "capsules": PACKED_CAPSULES,
        "artifacts": PACKED_ARTIFACTS,
        **OPEN_CONFLICTS,
        "next": NEXT,
    },
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
    pack = _Pack(tx, documents, notes, notes_limit, trace_limit, limit_cards)
    next_call = _next_call(tx, documents, target, pack)
    extra, truncated = _load_extras(tx, workspace, include or [], run_id)
    conflicts = open_conflicts(tx, workspace)

    def build(kept: list[Any]) -> dict[str, Any]:
        parts = _group_by_part(kept)
        extras = {name: parts[name] for name in extra}
        return {
            **pack.to_dict(parts),
            **extras,
            **_conflicts(parts, conflicts),
            "next": next_call,
            "truncated": truncated,
        }

    rows = [*_label("conflicts", [conflicts]), *(row for name, found in extra.items() for row in _label(name, found))]
    rows += pack.rows()
    return budget.fit(rows, build, least=0)


class _Pack:
    """The last notes, trace entries and cards of a pair of documents."""

    def __init__(
        self,
        tx: ReadTransaction,
        documents: CardDocuments,
        notes: DocumentRef,
        notes_limit: int,
        trace_limit: int,
        limit_cards: int,
    ) -> None:
        self._place = documents
        self._notes_doc = notes.doc
        self._pages = {"notes": CursorPage(None, notes_limit), "trace": CursorPage(None, trace_limit)}
        self._logs = {
            "notes": tail(tx, notes, self._pages["notes"]),
            # The cards themselves are among the rows.
            "trace": tail(tx, documents.trace, self._pages["trace"], query="entries_without_cards_before"),
        }
        self.view = documents.graph.graph(tx)
        doc = documents.graph.doc
        nodes = nodes_of(tx, self.view, doc, card_filter(), CursorPage(None, limit_cards))
        self._cards = packed_cards(tx, self.view, doc, nodes)
        self.candidates = find_candidates(tx, self.view, doc, limit=1)
        self.stats = count_cards(tx, self.view, doc)

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, newest first."""
        labelled = [row for name, rows in (*self._logs.items(), ("cards", self._cards)) for row in _label(name, rows)]
        return sorted(labelled, key=lambda one: -int(one["row"].get("seq") or one["row"]["last_seq"]))

    def to_dict(self, parts: dict[str, list[Any]]) -> dict[str, Any]:
        """Return the response with the rows that fit the budget."""
        docs = {"notes": self._notes_doc, "trace": self._place.trace.doc, "graph": self._place.graph.doc}
        branch = self._place.graph.branch.name
        logs = {name: packed_log(self._pages[name], rows, parts[name], branch) for name, rows in self._logs.items()}
        # If no row fits, leave out the counts by type to save space for the next call.
        stats = self.stats if any(parts.values()) else {**self.stats, "by_type": {}}
        return {"branch": branch, "docs": docs, **logs, "cards": parts["cards"], "stats": stats}


def _label(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Label each row with its part of the response."""
    return [{"part": name, "row": row} for row in rows]


def _group_by_part(kept: list[dict[str, Any]]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {
        name: [] for name in ("artifacts", "candidates", "capsules", "cards", "conflicts", "notes", "trace")
    }
    for one in kept:
        parts[one["part"]].append(one["row"])
    return parts


def _conflicts(parts: dict[str, list[Any]], found: dict[str, Any]) -> dict[str, Any]:
    """Return the open conflicts if their row fits, else their number."""
    return parts["conflicts"][0] if parts["conflicts"] else only_counted(found)


def _next_call(tx: ReadTransaction, documents: CardDocuments, target: str | None, pack: _Pack) -> dict[str, Any]:
    """Return the next call of the target, else of its cards."""
    if target is None or "task" in tx.config.disabled_types:
        return next_call_for(tx, pack.view, documents, pack.candidates, pack.stats["by_type"])
    from moss_memory.tools.task.model.task_rows import find_task
    from moss_memory.tools.task.model.task_status import TaskStatus

    workspace = documents.graph.workspace
    return TaskStatus(tx, workspace, find_task(tx, workspace, target)).next()


def _load_extras(
    tx: ReadTransaction, workspace: str, include: Include, run_id: str | None
) -> tuple[dict[str, list[dict[str, Any]]], bool]:
    """Return the latest capsule, the last artifacts of the run, and true if the run has more artifacts."""
    found: dict[str, list[dict[str, Any]]] = {}
    disabled = tx.config.disabled_types
    include = [name for name in include if GROUP_OF_TYPE[name] not in disabled]
    if not include:
        return found, False
    from moss_memory.tools.artifact.artifact_tools import artifact_list
    from moss_memory.tools.capsule.capsule_lists import capsule_latest

    latest = {} if "capsule" in disabled else capsule_latest.body(tx, workspace=workspace, include_text=True)
    capsule = latest.get("item")
    truncated = False
    if "capsules" in include:
        kept = {key: value for key, value in (capsule or {}).items() if key not in CODE_FIELDS}
        found["capsules"] = [without_nulls(kept)] if kept else []
    if "artifacts" in include:
        run = normalize_label(run_id, what="run_id") or (capsule or {}).get("run_id")
        found["artifacts"] = []
        if run:
            page = artifact_list.body(tx, run_id=run, workspace=workspace, limit=ARTIFACTS_MAX)
            found["artifacts"] = [without_nulls(item) for item in page["items"]]
            truncated = page["pagination"]["has_more"]
    return found, truncated
