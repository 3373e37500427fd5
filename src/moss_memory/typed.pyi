# fmt: off
# ruff: noqa
"""What every tool takes and answers, for type checkers and editors; `make docs` writes it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

class StoredCapsule(TypedDict):
    id: str
    fetch_key: FetchKey
    version: int

class FetchKey(TypedDict):
    moss_capsule: NotRequired[str]
    moss_workspace: NotRequired[str]
    moss_id: NotRequired[str]

class FetchedCapsule(TypedDict):
    id: str
    workspace: str
    workspace_norm: str
    name: NotRequired[str]
    name_norm: NotRequired[str]
    title: NotRequired[str]
    capsule_chars: int
    tokens_estimate: int
    tags: list[str]
    source: NotRequired[str]
    run_id: NotRequired[str]
    phase: NotRequired[str]
    role: NotRequired[str]
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]
    version: int
    fetch_key: FetchKey
    capsule_text: str
    current_version: NotRequired[int]
    saved_in: NotRequired[SavedIn]
    freshness: NotRequired[Freshness]
    next: NotRequired[NextCall]

class SavedIn(TypedDict):
    repository: str
    repository_id: NotRequired[str]
    branch: NotRequired[str]
    commit: NotRequired[str]

class Freshness(TypedDict):
    state: Literal['orphaned', 'drifted', 'unknown', 'fresh']
    commits: int | None
    changed: list[str]
    missing: list[str]
    why: NotRequired[str]

class NextCall(TypedDict):
    tool: str
    arguments: dict[str, Any]
    reason: str

class CapsuleFetchManyItems(TypedDict):
    id: NotRequired[str | None]
    workspace: NotRequired[str | None]
    name: NotRequired[str | None]

class CapsuleFetchManyAnswer(TypedDict):
    items: list[Capsule]
    errors: list[MissingCapsule]

class Capsule(TypedDict):
    id: str
    workspace: str
    workspace_norm: str
    name: NotRequired[str]
    name_norm: NotRequired[str]
    title: NotRequired[str]
    capsule_chars: int
    tokens_estimate: int
    tags: list[str]
    source: NotRequired[str]
    run_id: NotRequired[str]
    phase: NotRequired[str]
    role: NotRequired[str]
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]
    version: int
    fetch_key: FetchKey
    capsule_text: str

class MissingCapsule(TypedDict):
    ref: Reference
    code: str
    message: str

class Reference(TypedDict):
    id: NotRequired[str]
    workspace: NotRequired[str]
    name: NotRequired[str]

class CapsuleDeleteAnswer(TypedDict):
    deleted: bool
    id: str

class CapsuleRestoreFilters(TypedDict):
    workspace: NotRequired[str | None]
    tag: NotRequired[str | None]
    name_prefix: NotRequired[str | None]
    run_id: NotRequired[str | None]
    phase: NotRequired[str | None]
    role: NotRequired[str | None]
    deleted_after: NotRequired[int | None]

class CapsuleRestoreAnswer(TypedDict):
    restored: NotRequired[bool]
    id: NotRequired[str]
    fetch_key: NotRequired[FetchKey]
    restored_count: NotRequired[int]
    skipped: NotRequired[list[SkippedRow]]
    findings: NotRequired[list[Finding]]

class SkippedRow(TypedDict):
    id: str
    code: str

class Finding(TypedDict):
    kind: str
    path: str
    line: int
    column: int

class CapsuleLatestAnswer(TypedDict):
    item: LatestCapsule | None
    elsewhere: NotRequired[list[CapsuleElsewhere]]

class LatestCapsule(TypedDict):
    id: str
    workspace: str
    workspace_norm: str
    name: NotRequired[str]
    name_norm: NotRequired[str]
    title: NotRequired[str]
    capsule_chars: int
    tokens_estimate: int
    tags: list[str]
    source: NotRequired[str]
    run_id: NotRequired[str]
    phase: NotRequired[str]
    role: NotRequired[str]
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]
    version: int
    fetch_key: FetchKey
    capsule_text: str
    saved_in: NotRequired[SavedIn]
    freshness: NotRequired[Freshness]
    next: NotRequired[NextCall]

class CapsuleElsewhere(TypedDict):
    workspace: str
    id: str
    name: NotRequired[str]
    updated_at: int

class CapsuleListAnswer(TypedDict):
    items: list[CapsuleSummary]
    pagination: Page
    sort: Literal['updated_at_desc']

class CapsuleSummary(TypedDict):
    id: str
    workspace: str
    workspace_norm: str
    name: NotRequired[str]
    name_norm: NotRequired[str]
    title: NotRequired[str]
    capsule_chars: int
    tokens_estimate: int
    tags: list[str]
    source: NotRequired[str]
    run_id: NotRequired[str]
    phase: NotRequired[str]
    role: NotRequired[str]
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]
    version: int
    fetch_key: FetchKey

class Page(TypedDict):
    limit: int
    offset: int
    has_more: bool
    total: int

class CapsuleInventoryAnswer(TypedDict):
    items: list[CapsuleSummary]
    pagination: Page
    sort: Literal['updated_at_desc']

class CapsuleSearchAnswer(TypedDict):
    items: list[CapsuleHit]
    pagination: Page
    sort: Literal['relevance']
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]

class CapsuleHit(TypedDict):
    id: str
    workspace: str
    workspace_norm: str
    name: NotRequired[str]
    name_norm: NotRequired[str]
    title: NotRequired[str]
    capsule_chars: int
    tokens_estimate: int
    tags: list[str]
    source: NotRequired[str]
    run_id: NotRequired[str]
    phase: NotRequired[str]
    role: NotRequired[str]
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]
    version: int
    fetch_key: FetchKey
    snippet: str
    score: float

class CapsuleAppendAnswer(TypedDict):
    id: str
    section_hit: str
    replaced: bool
    version: int
    fetch_key: NotRequired[FetchKey]

class CapsuleComposeItems(TypedDict):
    id: NotRequired[str | None]
    workspace: NotRequired[str | None]
    name: NotRequired[str | None]

class CapsuleComposeStoreAs(TypedDict):
    name: str | None
    workspace: NotRequired[str | None]
    title: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    source: NotRequired[str | None]
    run_id: NotRequired[str | None]
    phase: NotRequired[str | None]
    role: NotRequired[str | None]
    mode: NotRequired[Literal['error', 'replace'] | None]
    expected_version: NotRequired[int | None]
    allow_thin: NotRequired[bool | None]

class CapsuleComposeAnswer(TypedDict):
    bundle_text: str
    parts: NotRequired[list[CapsulePart]]
    bundle_chars: int
    parts_count: int
    missing: NotRequired[list[UnusedCapsule]]
    stored: NotRequired[StoredCapsule]

class CapsulePart(TypedDict):
    id: str
    workspace: str
    name: NotRequired[str]
    version: int
    display_name: str
    text: str
    chars: int

class UnusedCapsule(TypedDict):
    id: str
    workspace: str
    name: NotRequired[str]
    version: int
    display_name: str

class CapsuleExportAnswer(TypedDict):
    path: str
    count: int
    exported_at: int
    bytes: int
    warning: NotRequired[str]

class CapsuleImportAnswer(TypedDict):
    imported: int
    skipped: int
    errors: list[ImportProblem]
    findings: NotRequired[list[Finding]]

class ImportProblem(TypedDict):
    line: int
    id: NotRequired[str]
    name: NotRequired[str]
    code: str
    message: str

class CapsulePurgeAnswer(TypedDict):
    purged: int
    message: str
    erased: bool
    complete: NotRequired[bool]
    scope: NotRequired[str]
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class CapsuleBulkDeleteAnswer(TypedDict):
    deleted: int
    message: str
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class CapsuleBulkUpdateAnswer(TypedDict):
    updated: int
    message: str
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class ArtifactStoreAnswer(TypedDict):
    id: str
    workspace: str
    name: str | None
    kind: str
    version: int
    data_chars: int
    text_chars: int | None
    expires_at: int | None

class ArtifactListAnswer(TypedDict):
    items: list[ArtifactItem]
    pagination: UncountedPage

class ArtifactItem(TypedDict):
    id: str
    workspace: str
    name: str | None
    kind: str
    data: dict[str, Any]
    version: int
    run_id: str | None
    phase: str | None
    role: str | None
    tags: list[str]
    data_chars: int
    text_chars: int | None
    ttl_seconds: int | None
    expires_at: int | None
    created_at: int
    updated_at: int
    deleted_at: NotRequired[int]

class UncountedPage(TypedDict):
    limit: int
    offset: int
    has_more: bool
    count: NotRequired[int]
    next_offset: NotRequired[int]

class FetchedArtifact(TypedDict):
    id: str
    workspace: str
    name: str | None
    kind: str
    data: dict[str, Any]
    version: int
    run_id: str | None
    phase: str | None
    role: str | None
    tags: list[str]
    data_chars: int
    text_chars: int | None
    ttl_seconds: int | None
    expires_at: int | None
    created_at: int
    updated_at: int
    deleted_at: int | None
    workspace_norm: str
    name_norm: str | None
    text: str | None
    current_version: NotRequired[int]

class ArtifactComposeItems(TypedDict):
    id: NotRequired[str | None]
    workspace: NotRequired[str | None]
    name: NotRequired[str | None]

class ArtifactComposeStoreAs(TypedDict):
    workspace: NotRequired[str | None]
    name: str | None
    kind: str | None
    mode: NotRequired[Literal['error', 'replace'] | None]

class ArtifactComposeAnswer(TypedDict):
    bundle_text: str
    bundle_chars: NotRequired[int]
    parts: NotRequired[list[ArtifactPart]]
    parts_count: int
    stored: NotRequired[StoredArtifact]

class ArtifactPart(TypedDict):
    id: str
    name: str | None
    data: dict[str, Any]
    text: str

class StoredArtifact(TypedDict):
    id: str
    workspace: str
    name: str
    kind: str
    version: int

class ArtifactDeleteAnswer(TypedDict):
    deleted: bool
    id: str

class ArtifactRestoreFilters(TypedDict):
    workspace: NotRequired[str | None]
    kind: NotRequired[str | None]
    run_id: NotRequired[str | None]
    phase: NotRequired[str | None]
    role: NotRequired[str | None]
    tag: NotRequired[str | None]
    deleted_after: NotRequired[int | None]

class ArtifactRestoreAnswer(TypedDict):
    restored: NotRequired[bool]
    id: NotRequired[str]
    fetch_key: NotRequired[ArtifactKey]
    restored_count: NotRequired[int]
    skipped: NotRequired[list[SkippedRow]]
    findings: NotRequired[list[Finding]]

class ArtifactKey(TypedDict):
    moss_artifact: NotRequired[str]
    moss_workspace: NotRequired[str]
    moss_id: NotRequired[str]

class ArtifactTouchAnswer(TypedDict):
    id: str
    ttl_seconds: int
    expires_at: int
    version: int

class ArtifactBulkDeleteAnswer(TypedDict):
    deleted: int
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class ArtifactBulkUpdateAnswer(TypedDict):
    updated: int
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class ArtifactPurgeAnswer(TypedDict):
    purged: int
    message: str
    erased: bool
    complete: NotRequired[bool]
    scope: NotRequired[str]
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class ArtifactKindsAnswer(TypedDict):
    kinds: list[ArtifactKind]
    problems: NotRequired[list[BadFile]]

class ArtifactKind(TypedDict):
    kind: str
    source: Literal['built-in', 'user']
    needs_text: bool
    schema: dict[str, Any]

class BadFile(TypedDict):
    file: str
    message: str

class BranchmindInitAnswer(TypedDict):
    workspace: str
    storage_dir: str
    schema_version: int
    checkout: str
    defaults: Defaults

class Defaults(TypedDict):
    branch: str
    docs: dict[str, str]

class BranchmindStatusAnswer(TypedDict):
    workspace: str
    schema_version: int
    workspace_exists: bool
    checkout: str | None
    defaults: Defaults
    last_event: LastEvent | None
    last_doc_entry: LastEntry | None
    truncated: bool

class LastEvent(TypedDict):
    event_id: str
    ts: str
    ts_ms: int

class LastEntry(TypedDict):
    seq: int
    ts: str
    ts_ms: int
    branch: str
    doc: str
    kind: Literal['note', 'event']
    by: NotRequired[str]

class BranchmindBranchCreateAnswer(TypedDict):
    workspace: str
    branch: Branch

class Branch(TypedDict):
    name: str
    base_branch: str | None
    base_seq: int | None

class BranchmindBranchListAnswer(TypedDict):
    workspace: str
    branches: list[Branch]
    truncated: bool

class BranchmindCheckoutAnswer(TypedDict):
    workspace: str
    previous: str
    current: str

class BranchmindBranchRenameAnswer(TypedDict):
    workspace: str
    previous: str
    current: str

class BranchmindBranchDeleteAnswer(TypedDict):
    workspace: str
    name: str
    deleted: bool

class BranchmindNotesCommitAnswer(TypedDict):
    entry: Entry

class Entry(TypedDict):
    seq: int
    ts: str
    ts_ms: int
    branch: str
    doc: str
    kind: Literal['note', 'event']
    title: NotRequired[str]
    format: NotRequired[str]
    meta: NotRequired[dict[str, Any]]
    content: str
    source_event_id: NotRequired[str]
    by: NotRequired[str]

class BranchmindShowAnswer(TypedDict):
    branch: str
    doc: str
    entries: list[Entry]
    pagination: CursorPage
    truncated: bool

class CursorPage(TypedDict):
    cursor: int | None
    next_cursor: NotRequired[int]
    has_more: bool
    limit: int
    count: int

class BranchmindExportAnswer(TypedDict):
    target: NotRequired[Target]
    reasoning_ref: ReasoningRef
    notes: Slice
    trace: Slice
    truncated: bool

class Target(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    title: str
    status: Literal['TODO', 'ACTIVE', 'DONE']
    parent: NotRequired[str]
    tags: NotRequired[list[str]]
    revision: NotRequired[int]
    priority: NotRequired[Literal['low', 'normal', 'high']]
    description: NotRequired[str]
    contract: NotRequired[dict[str, Any]]
    depends_on: NotRequired[list[str]]

class ReasoningRef(TypedDict):
    branch: str
    notes_doc: str
    graph_doc: str
    trace_doc: str

class Slice(TypedDict):
    branch: NotRequired[str]
    doc: NotRequired[str]
    entries: list[Entry]
    pagination: CursorPage
    truncated: NotRequired[bool]

BranchmindDiffAnswer = TypedDict("BranchmindDiffAnswer", {"from": str, "to": str, "doc": str, "entries": list[Entry], "pagination": CursorPage, "truncated": bool})

class BranchmindCommitAnswer(TypedDict):
    workspace: str
    branch: str
    docs: list[str]
    commits: list[NewCommit]

class NewCommit(TypedDict):
    seq: int
    ts: str
    ts_ms: int
    branch: str
    doc: str
    message: str

class BranchmindLogAnswer(TypedDict):
    workspace: str
    ref: str
    doc: str
    head_seq: int | None
    commits: list[Commit]
    pagination: CursorPage
    truncated: bool

class Commit(TypedDict):
    seq: int
    ts: str
    ts_ms: int
    message: str
    content: str
    meta: NotRequired[dict[str, Any]]

class BranchmindDocsListAnswer(TypedDict):
    workspace: str
    ref: str
    docs: list[Document]
    truncated: bool

class Document(TypedDict):
    doc: str
    entries: int
    last_seq: int | None

class BranchmindTagCreateAnswer(TypedDict):
    workspace: str
    tag: Tag

class Tag(TypedDict):
    name: str
    branch: str
    doc: str
    seq: int
    created_at_ms: int

class BranchmindTagListAnswer(TypedDict):
    workspace: str
    tags: list[Tag]
    truncated: bool

class BranchmindTagDeleteAnswer(TypedDict):
    workspace: str
    name: str
    deleted: bool

class BranchmindReflogAnswer(TypedDict):
    workspace: str
    ref: str
    entries: list[Move]
    pagination: CursorPage
    truncated: bool

class Move(TypedDict):
    ts: str
    ts_ms: int
    doc: str
    old_seq: int | None
    new_seq: int
    message: str

class BranchmindResetAnswer(TypedDict):
    workspace: str
    ref: str
    doc: str
    old_seq: int
    new_seq: int

BranchmindGraphApplyOps = TypedDict("BranchmindGraphApplyOps", {"op": Literal['node_upsert', 'node_delete', 'edge_upsert', 'edge_delete'] | None, "id": NotRequired[str | None], "type": NotRequired[str | None], "title": NotRequired[str | None], "text": NotRequired[str | None], "status": NotRequired[str | None], "tags": NotRequired[list[str] | None], "meta": NotRequired[Mapping[str, Any] | None], "from": NotRequired[str | None], "rel": NotRequired[str | None], "to": NotRequired[str | None]})

class BranchmindGraphApplyAnswer(TypedDict):
    branch: str
    doc: str
    applied: Applied
    last_seq: int
    last_ts_ms: int

class Applied(TypedDict):
    nodes_upserted: int
    nodes_deleted: int
    edges_upserted: int
    edges_deleted: int

class BranchmindGraphQueryAnswer(TypedDict):
    branch: str
    doc: str
    nodes: list[Node]
    edges: list[Edge]
    pagination: CursorPage
    truncated: bool

class Node(TypedDict):
    id: str
    type: str
    title: NotRequired[str]
    text: NotRequired[str]
    status: NotRequired[str]
    tags: list[str]
    meta: NotRequired[dict[str, Any]]
    deleted: bool
    last_seq: int
    last_ts_ms: int

Edge = TypedDict("Edge", {"from": str, "rel": str, "to": str, "meta": NotRequired[dict[str, Any]], "deleted": bool, "last_seq": int, "last_ts_ms": int})

class BranchmindGraphValidateAnswer(TypedDict):
    branch: str
    doc: str
    ok: bool
    stats: GraphStats
    errors: list[DanglingEdge]
    truncated: bool

class GraphStats(TypedDict):
    nodes: int
    edges: int

class DanglingEdge(TypedDict):
    code: str
    edge: EdgeKey
    missing: list[str]
    message: str

EdgeKey = TypedDict("EdgeKey", {"from": str, "rel": str, "to": str})

BranchmindGraphDiffAnswer = TypedDict("BranchmindGraphDiffAnswer", {"from": str, "to": str, "doc": str, "changes": list[Change], "pagination": CursorPage, "truncated": bool})

class Change(TypedDict):
    kind: Literal['node', 'edge']
    id: NotRequired[str]
    key: NotRequired[EdgeKey]
    to: Node | Edge

BranchmindMergeAnswer = TypedDict("BranchmindMergeAnswer", {"from": str, "into": str, "doc": str, "merged": int, "skipped": int, "pagination": CursorPage})

BranchmindGraphMergeAnswer = TypedDict("BranchmindGraphMergeAnswer", {"from": str, "into": str, "doc": str, "merged": int, "skipped": int, "conflicts_created": int, "conflict_ids": list[str], "pagination": CursorPage})

class BranchmindGraphConflictsAnswer(TypedDict):
    into: str
    doc: str
    conflicts: list[Conflict]
    pagination: CursorPage
    truncated: bool

class Conflict(TypedDict):
    conflict_id: str
    kind: Literal['node', 'edge']
    key: str | EdgeKey
    status: Literal['open', 'resolved']
    created_at_ms: int

class BranchmindGraphConflictShowAnswer(TypedDict):
    conflict: WholeConflict
    truncated: bool

WholeConflict = TypedDict("WholeConflict", {"conflict_id": str, "kind": Literal['node', 'edge'], "key": str | EdgeKey, "status": Literal['open', 'resolved'], "created_at_ms": int, "from": str, "into": str, "doc": str, "resolution": NotRequired[Literal['use_from', 'use_into', 'superseded']], "resolved_at_ms": NotRequired[int], "base": State | None, "theirs": State, "ours": State})

State = TypedDict("State", {"id": NotRequired[str], "type": NotRequired[str], "title": NotRequired[str], "text": NotRequired[str], "status": NotRequired[str], "tags": NotRequired[list[str]], "meta": NotRequired[dict[str, Any]], "deleted": NotRequired[bool], "last_seq": NotRequired[int], "last_ts_ms": NotRequired[int], "from": NotRequired[str], "rel": NotRequired[str], "to": NotRequired[str]})

class BranchmindGraphConflictResolveAnswer(TypedDict):
    conflict_id: str
    status: Literal['resolved']
    applied: bool

class WrittenCard(TypedDict):
    branch: str
    trace_doc: str
    graph_doc: str
    card_id: str
    inserted: bool
    graph_applied: CardApplied
    last_seq: NotRequired[int]

class CardApplied(TypedDict):
    nodes_upserted: int
    edges_upserted: int

class BranchmindThinkLinkAnswer(TypedDict):
    branch: str
    graph_doc: str
    edge: Edge
    applied: Applied
    last_seq: int

class BranchmindThinkSetStatusAnswer(TypedDict):
    branch: str
    graph_doc: str
    status: str
    updated: list[str]
    unchanged: list[str]
    last_seq: NotRequired[int]

class BranchmindThinkPinAnswer(TypedDict):
    branch: str
    graph_doc: str
    pinned: bool
    updated: list[str]
    unchanged: list[str]

class BranchmindThinkSubgoalOpenAnswer(TypedDict):
    branch: str
    graph_doc: str
    subgoal_id: str
    question_id: str
    child_trace_doc: str
    child_graph_doc: str
    inserted: bool
    last_seq: int

class BranchmindThinkSubgoalCloseAnswer(TypedDict):
    branch: str
    graph_doc: str
    subgoal_id: str
    status: Literal['closed']
    return_card_id: NotRequired[str]
    applied: Applied

class BranchmindThinkNominalMergeAnswer(TypedDict):
    branch: str
    graph_doc: str
    groups: list[SameCards]
    applied: Applied

class SameCards(TypedDict):
    canonical: str
    merged: list[str]
    similarity: float

class BranchmindThinkTemplateAnswer(TypedDict):
    type: str
    supported_types: list[str]
    template: CardTemplate
    truncated: bool

class CardTemplate(TypedDict):
    id: str
    type: str
    title: str
    text: str
    status: str
    tags: list[str]
    meta: dict[str, Any]

class BranchmindThinkPlaybookAnswer(TypedDict):
    name: str
    template: Playbook
    truncated: bool

class Playbook(TypedDict):
    goal: str
    steps: list[str]

class BranchmindThinkContextAnswer(TypedDict):
    branch: str
    graph_doc: str
    stats: CardStats
    cards: list[Node]
    truncated: bool

class CardStats(TypedDict):
    cards: int
    by_type: dict[str, int]

class BranchmindThinkQueryAnswer(TypedDict):
    branch: str
    graph_doc: str
    cards: list[Node]
    pagination: CursorPage
    truncated: bool

class BranchmindThinkPinsAnswer(TypedDict):
    branch: str
    graph_doc: str
    pins: list[Node]
    pagination: CursorPage
    truncated: bool

class BranchmindThinkFrontierAnswer(TypedDict):
    branch: str
    graph_doc: str
    candidates: list[Candidate]
    truncated: bool

class Candidate(TypedDict):
    id: str
    type: str
    title: str
    status: str
    last_seq: int
    pinned: bool
    blocked_by: list[str]
    why: str

class BranchmindThinkNextAnswer(TypedDict):
    branch: str
    graph_doc: str
    candidate: Candidate | None
    truncated: bool

class BranchmindThinkPackAnswer(TypedDict):
    branch: str
    graph_doc: str
    stats: CardStats
    cards: list[Node]
    candidates: list[Candidate]
    next: NextCall | None
    truncated: bool

class BranchmindThinkWatchAnswer(TypedDict):
    branch: str
    graph_doc: str
    trace_doc: str
    candidates: list[Candidate]
    trace: Entries
    truncated: bool

class Entries(TypedDict):
    entries: list[Entry]
    pagination: CursorPage

class BranchmindContextPackAnswer(TypedDict):
    branch: str
    docs: Documents
    notes: Entries
    trace: Entries
    cards: list[Node]
    stats: CardStats
    capsules: NotRequired[list[Capsule]]
    artifacts: NotRequired[list[ArtifactItem]]
    next: NextCall | None
    truncated: bool

class Documents(TypedDict):
    notes: str
    trace: str
    graph: str

class BranchmindTraceStepAnswer(TypedDict):
    branch: str
    doc: str
    entry: Entry

class BranchmindTraceSequentialStepAnswer(TypedDict):
    branch: str
    doc: str
    entry: Entry

class BranchmindTraceHydrateAnswer(TypedDict):
    branch: str
    doc: str
    entries: list[Entry]
    pagination: CursorPage
    truncated: bool

class BranchmindTraceValidateAnswer(TypedDict):
    branch: str
    doc: str
    ok: bool
    checked: int
    errors: list[Misstep]
    truncated: bool

class Misstep(TypedDict):
    code: str
    seq: int
    message: str

class BranchmindPurgeAnswer(TypedDict):
    purged: int
    message: str
    erased: bool
    complete: NotRequired[bool]
    scope: NotRequired[str]
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]

class TasksCreateSteps(TypedDict):
    title: str | None
    success_criteria: NotRequired[str | list[str] | None]
    tests: NotRequired[str | list[str] | None]
    blockers: NotRequired[str | list[str] | None]

class TasksCreateAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    steps: list[NewStep]

class TaskEvent(TypedDict):
    event_id: str
    ts: str
    ts_ms: int
    type: str
    target: str
    path: NotRequired[str]
    payload: dict[str, Any]
    by: NotRequired[str]

class NewStep(TypedDict):
    step_id: str
    path: str
    title: str

class TasksListAnswer(TypedDict):
    items: list[TaskItem]
    pagination: Page
    truncated: bool

class TaskItem(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    title: str
    status: Literal['TODO', 'ACTIVE', 'DONE']
    parent: NotRequired[str]
    tags: list[str]
    revision: int

class TasksEditAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent

class TasksCompleteAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent

class TasksDeleteAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]
    deleted: bool

class StepAddress(TypedDict):
    step_id: str
    path: str

class TasksFocusAnswer(TypedDict):
    workspace: str
    previous: str | None
    focus: str | None

class TasksDecomposeSteps(TypedDict):
    title: str | None
    success_criteria: NotRequired[str | list[str] | None]
    tests: NotRequired[str | list[str] | None]
    blockers: NotRequired[str | list[str] | None]

class TasksDecomposeAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]
    steps: list[NewStep]

class TasksDefineAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: StepAddress

class TasksNoteAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]

class TasksVerifyCheckpoints(TypedDict):
    criteria: NotRequired[bool | None]
    tests: NotRequired[bool | None]
    security: NotRequired[bool | None]
    perf: NotRequired[bool | None]
    docs: NotRequired[bool | None]

class TasksVerifyAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: StepAddress

class TasksDoneCheckpoints(TypedDict):
    criteria: NotRequired[bool | None]
    tests: NotRequired[bool | None]
    security: NotRequired[bool | None]
    perf: NotRequired[bool | None]
    docs: NotRequired[bool | None]

class TasksDoneAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: StepAddress

class TasksReopenAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]

class TasksBlockAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: StepAddress

class TasksEvidenceAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]

class TasksRadarAnswer(TypedDict):
    workspace: str
    target: Target
    chosen: Literal['target', 'focus', 'only_open', 'last_worked_on']
    focus: str | None
    reasoning_ref: NotRequired[ReasoningRef]
    radar: Radar
    steps: list[Step]
    truncated: bool

class Radar(TypedDict):
    now: str
    why: str
    verify: list[str]
    next: NextCall | None
    blockers: list[str]

class Step(TypedDict):
    step_id: str
    path: str
    title: str
    done: bool
    blocked: bool
    checkpoints: Checkpoints

class Checkpoints(TypedDict):
    criteria: NotRequired[bool]
    tests: NotRequired[bool]
    security: NotRequired[bool]
    perf: NotRequired[bool]
    docs: NotRequired[bool]

class TasksDeltaAnswer(TypedDict):
    events: list[TaskEvent]
    has_more: bool
    truncated: bool

class TasksHandoffAnswer(TypedDict):
    workspace: str
    target: Target
    radar: Radar
    handoff: Handoff
    capsule: NotRequired[StoredCapsule]
    next: NextCall | None
    truncated: bool

class Handoff(TypedDict):
    done: list[str]
    remaining: list[str]
    risks: list[str]

class TasksShowAnswer(TypedDict):
    workspace: str
    target: str
    kind: Literal['plan', 'task']
    title: str
    description: NotRequired[str]
    status: Literal['TODO', 'ACTIVE', 'DONE']
    priority: Literal['low', 'normal', 'high']
    tags: list[str]
    contract: NotRequired[dict[str, Any]]
    depends_on: list[str]
    parent: NotRequired[str]
    revision: int
    evidence: list[str]
    notes: list[str]
    agent: NotRequired[str]
    lease_until_ms: NotRequired[int]
    steps: list[ShownStep]
    tasks: NotRequired[list[TaskOfPlan]]
    truncated: bool

class ShownStep(TypedDict):
    step_id: str
    path: str
    title: str
    status: Literal['open', 'done', 'blocked']
    criteria: list[str]
    tests: list[str]
    blockers: list[str]
    confirmed: Confirmed
    evidence: list[str]
    notes: list[str]
    agent: NotRequired[str]
    lease_until_ms: NotRequired[int]
    steps: list[Any]

class Confirmed(TypedDict):
    criteria: bool
    tests: bool
    security: bool
    perf: bool
    docs: bool

class TaskOfPlan(TypedDict):
    id: str
    title: str
    status: Literal['TODO', 'ACTIVE', 'DONE']
    steps_done: int
    steps_total: int

class TasksReadyAnswer(TypedDict):
    tasks: list[ReadyTask]
    pagination: Page
    truncated: bool

class ReadyTask(TypedDict):
    id: str
    title: str
    priority: Literal['low', 'normal', 'high']
    step: NotRequired[NewStep]
    why: str

class TasksClaimAnswer(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    revision: int
    event: TaskEvent
    step: NotRequired[StepAddress]
    agent: str
    lease_until_ms: int | None

class SubmitPayloadProvenance(TypedDict):
    source_refs: NotRequired[list[str] | None]
    extracted_at: NotRequired[str | None]
    extractor_version: NotRequired[str | None]
    agent_id: NotRequired[str | None]
    unmapped: NotRequired[Mapping[str, Any] | None]

class SubmitPayloadAnswer(TypedDict):
    payload_id: str
    payload_content_id: str
    payload_submission_id: str
    created: bool
    message: str
    entity_id: str
    workspace: str

class RetrieveRecordsAnswer(TypedDict):
    records: list[Record]
    pagination: PageIfCounted
    total_count: NotRequired[int]
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]

class Record(TypedDict):
    id: str
    type: str
    workspace: str
    properties: dict[str, Any]
    created_at: str
    updated_at: str

class PageIfCounted(TypedDict):
    limit: int
    offset: int
    has_more: bool
    total: NotRequired[int]
    count: NotRequired[int]
    next_offset: NotRequired[int]

class RetrieveEntitiesAnswer(TypedDict):
    entities: list[Entity]
    pagination: PageThatEnds

class Entity(TypedDict):
    entity_id: str
    entity_type: str
    workspace: str
    snapshot: NotRequired[dict[str, Any]]
    provenance: NotRequired[dict[str, FieldSource]]
    observation_count: int

class FieldSource(TypedDict):
    payload_submission_id: str
    source_record_id: str
    observed_at: str
    agent_id: str | None
    source_refs: list[str]
    extractor_version: str | None
    unmapped: NotRequired[dict[str, Any]]

class PageThatEnds(TypedDict):
    limit: int
    offset: int
    has_more: bool
    total: int
    count: NotRequired[int]
    next_offset: NotRequired[int]

class ListTimelineEventsAnswer(TypedDict):
    events: list[TimelineEvent]
    pagination: PageThatEnds

class TimelineEvent(TypedDict):
    event_id: str
    event_type: str
    event_timestamp: str
    source_record_id: str
    entity_ids: list[str]
    workspace: str

class RecordCapabilitiesAnswer(TypedDict):
    capabilities: list[Capability]
    problems: NotRequired[list[BadFile]]

class Capability(TypedDict):
    capability_id: str
    entity_type: str
    source: Literal['built-in', 'user']
    fields: dict[str, CapabilityField]
    identity: list[str]
    title: str

class CapabilityField(TypedDict):
    type: str
    required: NotRequired[bool]
    enum: NotRequired[list[str]]
    set: NotRequired[bool]
    search: NotRequired[bool]
    event: NotRequired[str]

class MossSearchAnswer(TypedDict):
    items: list[Hit]
    pagination: Page
    sort: Literal['relevance']
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]

class Hit(TypedDict):
    type: Literal['capsule', 'artifact', 'note', 'node', 'record']
    id: str
    workspace: str
    address: Address
    title: str
    kind: NotRequired[str]
    version: NotRequired[int]
    updated_at: int
    snippet: str
    score: float

class Address(TypedDict):
    id: NotRequired[str]
    workspace: NotRequired[str]
    name: NotRequired[str]
    branch: NotRequired[str]
    doc: NotRequired[str]
    cursor: NotRequired[int]
    limit: NotRequired[int]
    ids: NotRequired[list[str]]

class MossHistoryAnswer(TypedDict):
    type: Literal['capsule', 'artifact']
    id: str
    workspace: str
    name: NotRequired[str]
    current: int
    versions: list[Version]
    pagination: Page

class Version(TypedDict):
    version: int
    at: int
    tool: str
    by: NotRequired[str]
    source: NotRequired[str]
    chars: int
    change: str
    erased: NotRequired[bool]

class MossRevertAnswer(TypedDict):
    id: str
    version: int
    reverted_to: int
    changed: bool
    findings: NotRequired[list[Finding]]

class MossRenameAnswer(TypedDict):
    id: str
    version: int
    fetch_key: RenamedKey

class RenamedKey(TypedDict):
    moss_capsule: NotRequired[str]
    moss_artifact: NotRequired[str]
    moss_workspace: NotRequired[str]
    moss_id: NotRequired[str]

class MossEraseAnswer(TypedDict):
    type: Literal['capsule', 'artifact', 'record', 'note', 'trace', 'node', 'task']
    removed: Removed
    dry_run: bool
    complete: bool
    scope: NotRequired[str]
    copies: list[str]

class Removed(TypedDict):
    rows: int
    versions: int
    vectors: int

class MossFreshnessAnswer(TypedDict):
    items: list[FreshnessItem]
    pagination: Page

class FreshnessItem(TypedDict):
    type: Literal['capsule', 'card']
    id: str
    name: NotRequired[str]
    title: NotRequired[str]
    workspace: str
    saved_in: SavedIn | None
    freshness: Freshness

class MossConfirmAnswer(TypedDict):
    id: str
    workspace: str
    name: NotRequired[str]
    saved_in: SavedIn

class MossPlacesAnswer(TypedDict):
    id: str
    name: NotRequired[str]
    places: list[Place]
    freshness: Freshness

class Place(TypedDict):
    path: str
    state: Literal['fresh', 'changed', 'missing']

class MossWorkspacesAnswer(TypedDict):
    workspaces: list[WorkspaceFigures]
    pagination: Page

class WorkspaceFigures(TypedDict):
    workspace: str
    capsules: int
    artifacts: int
    tasks: int
    records: int
    notes: int
    updated_at: int

class MossRecentAnswer(TypedDict):
    workspaces: list[RecentWorkspace]
    total: int

class RecentWorkspace(TypedDict):
    workspace: str
    holds: list[str]
    day: str
    ts_ms: NotRequired[int]

class MossWorkspaceRenameAnswer(TypedDict):
    workspace: str
    was: str
    holds: HeldByWorkspace
    dry_run: bool
    message: str
    warning: NotRequired[str]

class HeldByWorkspace(TypedDict):
    capsules: int
    artifacts: int
    tasks: int
    notes: int
    nodes: int
    records: int
    deleted: int

class MossWorkspaceDeleteAnswer(TypedDict):
    workspace: str
    holds: HeldByWorkspace
    dry_run: bool
    message: str
    erased: bool
    scope: NotRequired[str]

class MossActivityAnswer(TypedDict):
    counts: dict[str, int]
    days: list[Day]
    last: NotRequired[LastChange]
    seq: int

class Day(TypedDict):
    day: str
    capsule: NotRequired[int]
    artifact: NotRequired[int]
    reasoning: NotRequired[int]
    task: NotRequired[int]
    record: NotRequired[int]

class LastChange(TypedDict):
    workspace: str
    ts_ms: int

class MossChangesAnswer(TypedDict):
    seq: int
    changes: list[Change]
    has_more: bool

class MossLogAnswer(TypedDict):
    events: list[LoggedEvent]
    pagination: Page

class LoggedEvent(TypedDict):
    at: int
    by: str | None
    tool: str
    workspace: str | None
    address: str | None
    repository: NotRequired[str]
    commit: NotRequired[str]

class MossToolsAnswer(TypedDict):
    tools: list[Tool]
    total: int

class Tool(TypedDict):
    name: str
    description: str
    inputSchema: dict[str, Any]

class Tools:
    """Every tool as a method."""

    def capsule_store(self, *, capsule_text: str, workspace: str | None = 'default', name: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, mode: Literal['error', 'replace'] | None = 'error', expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsule:
        """Save a capsule: a distilled hand-over that another session can load by name."""

    def capsule_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_text: bool | None = True, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None) -> FetchedCapsule:
        """Load one capsule by id, or by workspace and name, with its full text; also as it was in an earlier version."""

    def capsule_fetch_many(self, *, items: list[CapsuleFetchManyItems], include_text: bool | None = True, include_deleted: bool | None = False) -> CapsuleFetchManyAnswer:
        """Load up to 50 capsules in one call, in the order asked for."""

    def capsule_update(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, capsule_text: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsule:
        """Change a capsule's text or metadata; its id, workspace and name stay."""

    def capsule_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> CapsuleDeleteAnswer:
        """Soft-delete a capsule: it leaves lists and search, its name is free again, `capsule_restore` brings it back."""

    def capsule_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: CapsuleRestoreFilters | None = None, idempotency_key: str | None = None) -> CapsuleRestoreAnswer:
        """Bring a soft-deleted capsule back under its name, or all that match `filters`; refused when the name is taken."""

    def capsule_latest(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_text: bool | None = False, include_deleted: bool | None = False) -> CapsuleLatestAnswer:
        """Return the most recently changed capsule of a workspace, as a summary unless `include_text`."""

    def capsule_list(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 20, offset: int | None = 0) -> CapsuleListAnswer:
        """List one workspace's capsules, newest change first, without their text; at most 100 a page."""

    def capsule_inventory(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 100, offset: int | None = 0) -> CapsuleInventoryAnswer:
        """List the capsules of all workspaces, newest change first, without their text; at most 500 a page."""

    def capsule_search(self, *, query: str, workspace: str | None = None, tag: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'keyword', limit: int | None = 20, offset: int | None = 0) -> CapsuleSearchAnswer:
        """Find capsules by their words, best match first, each with a snippet."""

    def capsule_append(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, section: str, content: str, expected_version: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleAppendAnswer:
        """Append content to one section of a capsule without rewriting the rest."""

    def capsule_compose(self, *, items: list[CapsuleComposeItems], sections: list[str] | None = None, format: Literal['markdown', 'json'] | None = 'markdown', store_as: CapsuleComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleComposeAnswer:
        """Assemble 1 to 50 capsules into one bundle; all or nothing."""

    def capsule_export(self, *, path: str | None = None, workspace: str | None = None, include_deleted: bool | None = False) -> CapsuleExportAnswer:
        """Write capsules to a JSONL file, the backup that `capsule_import` reads."""

    def capsule_import(self, *, path: str, mode: Literal['error', 'replace', 'rename'] | None = 'error', idempotency_key: str | None = None) -> CapsuleImportAnswer:
        """Read capsules from a JSONL file, all in one transaction."""

    def capsule_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsulePurgeAnswer:
        """Remove soft-deleted capsules for good, with their versions: from the store, the search index and the disk."""

    def capsule_bulk_delete(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsuleBulkDeleteAnswer:
        """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""

    def capsule_bulk_update(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleBulkUpdateAnswer:
        """Set phase, role or tags of every active capsule that matches all of the given filters."""

    def artifact_store(self, *, kind: str, data: Mapping[str, Any], workspace: str | None = 'default', name: str | None = None, text: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tags: list[str] | None = None, ttl_seconds: int | None = None, expected_version: int | None = None, mode: Literal['error', 'replace'] | None = 'error', validate: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactStoreAnswer:
        """Save typed JSON state for code, with an optional text view, name, version check and time to live."""

    def artifact_list(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, order_by: Literal['updated_at', 'created_at'] | None = 'updated_at', limit: int | None = 50, offset: int | None = 0) -> ArtifactListAnswer:
        """List artifacts with their data, newest first, in all workspaces unless one is given; at most 100 a page."""

    def artifact_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None) -> FetchedArtifact:
        """Load one artifact with its data and text, by id, or by workspace and name; also an earlier version of it."""

    def artifact_compose(self, *, items: list[ArtifactComposeItems], format: Literal['markdown', 'json'] | None = 'markdown', store_as: ArtifactComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactComposeAnswer:
        """Bundle the texts of 1 to 50 artifacts for an LLM, each under a header; all or nothing."""

    def artifact_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> ArtifactDeleteAnswer:
        """Soft-delete one artifact: its name is free again, fetch and list can still show it."""

    def artifact_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: ArtifactRestoreFilters | None = None, idempotency_key: str | None = None) -> ArtifactRestoreAnswer:
        """Bring a soft-deleted artifact back under its name, or all that match `filters`; a taken name is refused."""

    def artifact_touch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, ttl_seconds: int, idempotency_key: str | None = None) -> ArtifactTouchAnswer:
        """Let an artifact live so many seconds from now; content and version stay. An expired one is not found."""

    def artifact_bulk_delete(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> ArtifactBulkDeleteAnswer:
        """Soft-delete every artifact that matches all of the given filters; at least one is needed."""

    def artifact_bulk_update(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, set_ttl_seconds: int | None = 0, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactBulkUpdateAnswer:
        """Set phase, role, tags or time to live of every artifact that matches all of the given filters."""

    def artifact_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> ArtifactPurgeAnswer:
        """Remove soft-deleted artifacts for good, with their versions: from the store, the search index and the disk."""

    def artifact_kinds(self) -> ArtifactKindsAnswer:
        """List the kinds that have a JSON Schema: the built-in ones and the files in the home's kinds folder."""

    def branchmind_init(self, *, workspace: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindInitAnswer:
        """Begin reasoning in a workspace: makes branch `main` and checks it out, unless that was done before."""

    def branchmind_status(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindStatusAnswer:
        """Show what a workspace has: its checkout, its last task event and its last entry."""

    def branchmind_branch_create(self, *, workspace: str | None = None, name: str, from_: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindBranchCreateAnswer:
        """Branch off a snapshot of another branch (`from`, default the checkout) without copying anything."""

    def branchmind_branch_list(self, *, workspace: str | None = None, limit: int | None = 200, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindBranchListAnswer:
        """List the branches of a workspace with their bases, those of plans and tasks too, by name."""

    def branchmind_checkout(self, *, workspace: str | None = None, ref: str, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindCheckoutAnswer:
        """Make a branch the one that calls without a branch use; tasks are not affected."""

    def branchmind_branch_rename(self, *, workspace: str | None = None, old: str, new: str, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindBranchRenameAnswer:
        """Rename a branch; documents, bases, tags and the checkout follow."""

    def branchmind_branch_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindBranchDeleteAnswer:
        """Delete a branch with its entries, graph and tags, for good; refused while anything depends on it."""

    def branchmind_notes_commit(self, *, workspace: str | None = None, content: str, target: str | None = None, branch: str | None = None, doc: str | None = None, title: str | None = None, format: str | None = None, meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindNotesCommitAnswer:
        """Append a note to the notes of a target, or to a document of a branch (default: the notes of the checkout)."""

    def branchmind_show(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, doc_kind: Literal['notes', 'trace'] | None = 'trace', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindShowAnswer:
        """Read the last entries of a document (`doc`, or of `doc_kind`), oldest first; `next_cursor` goes further back."""

    def branchmind_export(self, *, workspace: str | None = None, target: str, notes_limit: int | None = 20, trace_limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindExportAnswer:
        """Show a plan or task at a glance: what it is, where its reasoning lives, its last notes and trace entries."""

    def branchmind_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindDiffAnswer:
        """Show the entries that branch `to` shows and branch `from` does not; reverse them for the other direction."""

    def branchmind_commit(self, *, workspace: str | None = None, artifact: str, message: str, docs: str | list[str] | None = 'notes', meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindCommitAnswer:
        """Append a note with a message to one or more documents (`docs`) of the checkout, all or none."""

    def branchmind_log(self, *, workspace: str | None = None, ref: str | None = None, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindLogAnswer:
        """List the notes of a document as commits, newest first."""

    def branchmind_docs_list(self, *, workspace: str | None = None, ref: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindDocsListAnswer:
        """List the documents that a branch shows, with their number of entries and their last seq."""

    def branchmind_tag_create(self, *, workspace: str | None = None, name: str, from_: str | int | None = None, force: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindTagCreateAnswer:
        """Name a commit, so that reset and other tags can mean it: `from` is its seq or a tag, default the head."""

    def branchmind_tag_list(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindTagListAnswer:
        """List the tags of a workspace by name."""

    def branchmind_tag_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindTagDeleteAnswer:
        """Delete a tag; what it pointed to stays."""

    def branchmind_reflog(self, *, workspace: str | None = None, ref: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindReflogAnswer:
        """List how a branch's head moved, commits and resets, newest first; it leads back to what a reset hid."""

    def branchmind_reset(self, *, workspace: str | None = None, to: str | int, ref: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindResetAnswer:
        """Move the head of a branch's notes to one of its commits (seq or tag); the reflog leads back to later ones."""

    def branchmind_graph_apply(self, *, workspace: str | None = None, ops: list[BranchmindGraphApplyOps], target: str | None = None, branch: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindGraphApplyAnswer:
        """Upsert or delete nodes and edges of a graph, all or none; an upsert replaces the whole node."""

    def branchmind_graph_query(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, include_edges: bool | None = True, edges_limit: int | None = 200, include_deleted: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphQueryAnswer:
        """Find nodes of a branch's graph, last changed first, with the edges between them; filters combine with and."""

    def branchmind_graph_validate(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, max_errors: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphValidateAnswer:
        """Check that every edge of a branch's graph ends in nodes that are there."""

    def branchmind_graph_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphDiffAnswer:
        """Show the nodes and edges of branch `to` that differ from branch `from`, deleted ones too, newest first."""

    def branchmind_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeAnswer:
        """Copy the notes that `from` shows and `into` does not, each only once; with `has_more` go on at `next_cursor`."""

    def branchmind_graph_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindGraphMergeAnswer:
        """Merge a branch's graph back into its base, three ways; what both changed differently becomes a conflict."""

    def branchmind_graph_conflicts(self, *, workspace: str | None = None, into: str, doc: str | None = 'graph', status: Literal['open', 'resolved'] | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictsAnswer:
        """List the conflicts of merges into a branch, newest first."""

    def branchmind_graph_conflict_show(self, *, workspace: str | None = None, conflict_id: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictShowAnswer:
        """Show a conflict: what both started from (`base`), the merged branch's state (`theirs`), the destination's."""

    def branchmind_graph_conflict_resolve(self, *, workspace: str | None = None, conflict_id: str, resolution: Literal['use_from', 'use_into'], idempotency_key: str | None = None) -> BranchmindGraphConflictResolveAnswer:
        """Settle a conflict: `use_from` writes the merged branch's state into the destination, `use_into` keeps it."""

    def branchmind_think_card(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a thinking card to trace and graph at once; the same card again changes nothing."""

    def branchmind_think_add_hypothesis(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a hypothesis card: what might be true."""

    def branchmind_think_add_question(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a question card: what is not known yet."""

    def branchmind_think_add_test(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a test card: how a hypothesis can be shown wrong."""

    def branchmind_think_add_note(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a note card: something worth keeping."""

    def branchmind_think_add_decision(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a decision card: what was chosen and why."""

    def branchmind_think_add_evidence(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write an evidence card: what was seen, and what it supports or blocks."""

    def branchmind_think_add_frame(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a frame card: what the problem is and what done means."""

    def branchmind_think_add_update(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write an update card: what changed in what was known."""

    def branchmind_think_link(self, *, workspace: str | None = None, from_: str, rel: str, to: str, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkLinkAnswer:
        """Link two cards, e.g. supports or blocks; an open card that blocks another keeps it from being next."""

    def branchmind_think_set_status(self, *, workspace: str | None = None, ids: str | list[str], status: str, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSetStatusAnswer:
        """Set the status of one or more cards, all or none; the rest of them stays."""

    def branchmind_think_pin(self, *, workspace: str | None = None, ids: str | list[str], pinned: bool | None = True, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkPinAnswer:
        """Pin cards so that they come first, or unpin them; the cards themselves do not change."""

    def branchmind_think_subgoal_open(self, *, workspace: str | None = None, question_id: str, title: str | None = None, text: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalOpenAnswer:
        """Open a subgoal of a question, with a trace and a graph of its own."""

    def branchmind_think_subgoal_close(self, *, workspace: str | None = None, subgoal_id: str, return_card: Mapping[str, Any] | str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalCloseAnswer:
        """Close a subgoal, with a card that says what came out of it; the question above stays open."""

    def branchmind_think_nominal_merge(self, *, workspace: str | None = None, candidate_ids: str | list[str] | None = None, dry_run: bool | None = False, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkNominalMergeAnswer:
        """Fold cards that say the same into the oldest of them: the others get status `merged` and an edge `dedup`."""

    def branchmind_think_template(self, *, workspace: str | None = None, type: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkTemplateAnswer:
        """Show a card of a type to be filled in: frame, hypothesis, question, test, evidence, decision, note, update."""

    def branchmind_think_playbook(self, *, workspace: str | None = None, name: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkPlaybookAnswer:
        """Show the steps of a way to think: default, debug, bisect, experiment, criteria_matrix, contradiction."""

    def branchmind_think_context(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 30, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindThinkContextAnswer:
        """Show the last changed cards of a branch, and how many there are of each type."""

    def branchmind_think_query(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkQueryAnswer:
        """Find cards, last changed first; filters combine with and."""

    def branchmind_think_pins(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPinsAnswer:
        """List the pinned cards, last changed first."""

    def branchmind_think_frontier(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkFrontierAnswer:
        """List the open questions, hypotheses and tests to go on with, best first, each with the reason."""

    def branchmind_think_next(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkNextAnswer:
        """Show the one card to go on with, or null when nothing is open."""

    def branchmind_think_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 10, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPackAnswer:
        """Show in one small answer the last cards, how many there are, what to go on with, and the next call."""

    def branchmind_think_watch(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, trace_doc: str | None = None, limit: int | None = 10, trace_limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkWatchAnswer:
        """Show what is open and what happened last: the frontier and the end of the trace."""

    def branchmind_context_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, notes_doc: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, notes_limit: int | None = 20, trace_limit: int | None = 50, limit_cards: int | None = 30, include: list[Literal['capsules', 'artifacts']] | None = None, run_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindContextPackAnswer:
        """Resume work in one call: last notes, trace and cards of a target or branch, and the next call to make."""

    def branchmind_trace_step(self, *, workspace: str | None = None, step: str, message: str | None = None, mode: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceStepAnswer:
        """Append a step to a trace: what was done and what came of it."""

    def branchmind_trace_sequential_step(self, *, workspace: str | None = None, thought: str, thought_number: int, total_thoughts: int, next_thought_needed: bool, is_revision: bool | None = None, revises_thought: int | None = None, branch_from_thought: int | None = None, branch_id: str | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceSequentialStepAnswer:
        """Append a numbered thought to a trace; it may revise an earlier one or branch off it."""

    def branchmind_trace_hydrate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceHydrateAnswer:
        """Read the last entries of a trace, oldest first; `next_cursor` leads to older ones."""

    def branchmind_trace_validate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceValidateAnswer:
        """Check the steps of a trace: numbers count up without gaps or repeats, revisions point to an earlier thought."""

    def branchmind_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindPurgeAnswer:
        """Remove what no branch shows any more for good: notes that resets hid, deleted nodes and edges of graphs."""

    def tasks_create(self, *, workspace: str | None = None, kind: Literal['plan', 'task'], title: str, parent: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = 'normal', tags: list[str] | None = None, steps: list[TasksCreateSteps] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksCreateAnswer:
        """Create a plan, or a task (of a plan, with `parent`), optionally with its steps. Its reasoning gets a branch."""

    def tasks_list(self, *, workspace: str | None = None, kind: Literal['plan', 'task'] | None = None, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 50, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksListAnswer:
        """List plans and tasks, oldest first, by kind, status, plan and tag."""

    def tasks_edit(self, *, workspace: str | None = None, target: str, title: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = None, tags: list[str] | None = None, depends_on: str | list[str] | None = None, contract: Mapping[str, Any] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEditAnswer:
        """Change a plan or task; what is not given stays. An empty list clears tags or dependencies."""

    def tasks_complete(self, *, workspace: str | None = None, target: str, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = 'DONE', expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksCompleteAnswer:
        """Set the status of a plan or task. DONE needs every step done, and of a plan every task DONE."""

    def tasks_delete(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDeleteAnswer:
        """Delete a step with those below it, a task, or a plan with its tasks; the trace keeps what happened."""

    def tasks_focus(self, *, workspace: str | None = None, action: Literal['get', 'set', 'clear'] | None = None, target: str | None = None, idempotency_key: str | None = None) -> TasksFocusAnswer:
        """Get, set or clear the plan or task that the workspace works on; radar and hand-over use it by default."""

    def tasks_decompose(self, *, workspace: str | None = None, target: str, steps: list[TasksDecomposeSteps], parent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDecomposeAnswer:
        """Add steps to a plan or task, or below one of its steps; all or none."""

    def tasks_define(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, title: str | None = None, success_criteria: str | list[str] | None = None, tests: str | list[str] | None = None, blockers: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDefineAnswer:
        """Change one step; changed criteria or tests must be confirmed again. An empty list clears."""

    def tasks_note(self, *, workspace: str | None = None, target: str, note: str, step_id: str | None = None, path: str | None = None, agent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksNoteAnswer:
        """Write a progress note about a plan, task or step; it also stands in the notes of the target."""

    def tasks_verify(self, *, workspace: str | None = None, target: str, checkpoints: TasksVerifyCheckpoints, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksVerifyAnswer:
        """Confirm checkpoints of a step (criteria, tests, security, perf, docs); criteria and tests open the gate."""

    def tasks_done(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, checkpoints: TasksDoneCheckpoints | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDoneAnswer:
        """Close a step whose criteria and tests are confirmed, before or in this call."""

    def tasks_reopen(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksReopenAnswer:
        """Open a closed step again, to be confirmed anew, or a DONE plan or task, which becomes ACTIVE."""

    def tasks_block(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, blocked: bool | None = True, reason: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksBlockAnswer:
        """Block a step with the reason, or unblock it."""

    def tasks_evidence(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, links: str | list[str] | None = None, checks: str | list[str] | None = None, texts: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEvidenceAnswer:
        """Attach evidence to a plan, task or step: links, checks that were run, small texts."""

    def tasks_radar(self, *, workspace: str | None = None, target: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksRadarAnswer:
        """Show on one screen where a plan or task stands and the one next call to make."""

    def tasks_delta(self, *, workspace: str | None = None, since: str | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksDeltaAnswer:
        """List the task events after one of them, oldest first; go on with `since` = the last event's id."""

    def tasks_handoff(self, *, workspace: str | None = None, target: str | None = None, as_capsule: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksHandoffAnswer:
        """Sum up a plan or task (default as in `tasks_radar`) for whoever goes on: done, remaining, risks and next call."""

    def tasks_show(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksShowAnswer:
        """Show a plan or task, or one of its steps, whole: steps, criteria, tests, blockers, notes, evidence, agents."""

    def tasks_ready(self, *, workspace: str | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 20, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksReadyAnswer:
        """List the tasks that can be started now, the more urgent and then the older first; `tasks_claim` takes one."""

    def tasks_claim(self, *, workspace: str | None = None, agent: str, target: str | None = None, step_id: str | None = None, path: str | None = None, lease_s: int | None = 1800, release: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksClaimAnswer:
        """Take a task or a step, so that no other agent does; without `target` the first that is ready."""

    def submit_payload(self, *, capability_id: str, body: Mapping[str, Any], provenance: SubmitPayloadProvenance | None = None, client_request_id: str | None = None, workspace: str | None = 'default', allow_secrets: bool | None = None, idempotency_key: str | None = None) -> SubmitPayloadAnswer:
        """Record a payload about an entity, checked by its capability; equal content is kept once, every source counts."""

    def retrieve_records(self, *, type: str | None = None, properties: Mapping[str, Any] | None = None, search: list[str] | str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 100, offset: int | None = 0, ids: list[str] | None = None, include_total_count: bool | None = False, workspace: str | None = None) -> RetrieveRecordsAnswer:
        """Find records by type, property, id, words and meaning: best match first, else newest first."""

    def retrieve_entities(self, *, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, include_snapshots: bool | None = True, include_provenance: bool | None = False, as_of: str | None = None, entity_id: str | None = None, workspace: str | None = None) -> RetrieveEntitiesAnswer:
        """List entities with what is known of them, now or at a time (`as_of`), newest first."""

    def list_timeline_events(self, *, event_type: str | None = None, after_date: str | None = None, before_date: str | None = None, source_record_id: str | None = None, entity_id: str | None = None, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, workspace: str | None = None) -> ListTimelineEventsAnswer:
        """List what happened when, newest first, by type, time, record and entity; bounds are inclusive."""

    def record_capabilities(self) -> RecordCapabilitiesAnswer:
        """List what may be submitted: every capability with its fields, and files that cannot be used."""

    def moss_search(self, *, query: str, types: list[Literal['capsule', 'artifact', 'note', 'node', 'record']] | None = None, workspace: str | None = None, run_id: str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 20, offset: int | None = 0) -> MossSearchAnswer:
        """Search everything in Moss by words and meaning, best first: type, address, title, snippet and score of each hit."""

    def moss_history(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0) -> MossHistoryAnswer:
        """List the versions of a capsule or artifact, newest first: when each was written, how, and what it changed."""

    def moss_revert(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int, expected_version: int | None = None, idempotency_key: str | None = None) -> MossRevertAnswer:
        """Make an old version of a capsule or artifact the present one, as a new version; names and time to live stay."""

    def moss_rename(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, new_name: str | None = None, new_workspace: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossRenameAnswer:
        """Give a capsule or artifact another name, or move it to another workspace; a taken name is refused."""

    def moss_erase(self, *, type: Literal['capsule', 'artifact', 'record', 'note', 'trace', 'node', 'task'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int | None = None, branch: str | None = None, doc: str | None = None, seq: int | None = None, target: str | None = None, step_id: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> MossEraseAnswer:
        """Take something out for good, deleted or not: row, versions, copies, search and every byte on the disk."""

    def moss_freshness(self, *, workspace: str | None = None, id: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0) -> MossFreshnessAnswer:
        """Tell which capsules, decisions and evidence are stale: whether files they name changed since they were saved."""

    def moss_confirm(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> MossConfirmAnswer:
        """Say that a capsule still holds at the present commit; it makes no version, and its freshness counts from here."""

    def moss_places(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None) -> MossPlacesAnswer:
        """List the files that a capsule names, and which of them changed or are missing since it was saved."""

    def moss_workspaces(self, *, limit: int | None = 50, offset: int | None = 0) -> MossWorkspacesAnswer:
        """List the workspaces with what is in them and when they last changed, newest change first; at most 500 a page."""

    def moss_recent(self, *, limit: int | None = 50) -> MossRecentAnswer:
        """List the workspaces that changed last and what they hold, without counting it; at most 500."""

    def moss_workspace_rename(self, *, name: str, new_name: str, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossWorkspaceRenameAnswer:
        """Give a workspace another name, with everything in it of every family: all of it or nothing."""

    def moss_workspace_delete(self, *, name: str, dry_run: bool | None = True, idempotency_key: str | None = None) -> MossWorkspaceDeleteAnswer:
        """Delete a workspace with everything in it of every family; a dry run, which says what would go, comes first."""

    def moss_activity(self, *, workspace: str | None = None, days: int | None = 63) -> MossActivityAnswer:
        """Count what there is of each family and what changed on each of the last days, at most 366."""

    def moss_changes(self, *, after: int | None = None, limit: int | None = 100) -> MossChangesAnswer:
        """List what changed after a change that is known, oldest first, or only tell the number of the last one."""

    def moss_log(self, *, by: str | None = None, since: str | None = None, tool: str | None = None, workspace: str | None = None, limit: int | None = 50, offset: int | None = 0) -> MossLogAnswer:
        """List who changed what and when, newest first."""

    def moss_tools(self, *, query: str | None = None, names: list[str] | None = None) -> MossToolsAnswer:
        """Find tools that are not in your list, by a question or by name, with their schema; `moss_call` calls them."""

    def moss_call(self, *, tool: str, arguments: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Call any tool, also one that is not in your list, and get its answer; `moss_tools` shows what it takes."""

class AsyncTools:
    """Every tool as a method to be awaited."""

    async def capsule_store(self, *, capsule_text: str, workspace: str | None = 'default', name: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, mode: Literal['error', 'replace'] | None = 'error', expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsule:
        """Save a capsule: a distilled hand-over that another session can load by name."""

    async def capsule_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_text: bool | None = True, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None) -> FetchedCapsule:
        """Load one capsule by id, or by workspace and name, with its full text; also as it was in an earlier version."""

    async def capsule_fetch_many(self, *, items: list[CapsuleFetchManyItems], include_text: bool | None = True, include_deleted: bool | None = False) -> CapsuleFetchManyAnswer:
        """Load up to 50 capsules in one call, in the order asked for."""

    async def capsule_update(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, capsule_text: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsule:
        """Change a capsule's text or metadata; its id, workspace and name stay."""

    async def capsule_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> CapsuleDeleteAnswer:
        """Soft-delete a capsule: it leaves lists and search, its name is free again, `capsule_restore` brings it back."""

    async def capsule_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: CapsuleRestoreFilters | None = None, idempotency_key: str | None = None) -> CapsuleRestoreAnswer:
        """Bring a soft-deleted capsule back under its name, or all that match `filters`; refused when the name is taken."""

    async def capsule_latest(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_text: bool | None = False, include_deleted: bool | None = False) -> CapsuleLatestAnswer:
        """Return the most recently changed capsule of a workspace, as a summary unless `include_text`."""

    async def capsule_list(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 20, offset: int | None = 0) -> CapsuleListAnswer:
        """List one workspace's capsules, newest change first, without their text; at most 100 a page."""

    async def capsule_inventory(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 100, offset: int | None = 0) -> CapsuleInventoryAnswer:
        """List the capsules of all workspaces, newest change first, without their text; at most 500 a page."""

    async def capsule_search(self, *, query: str, workspace: str | None = None, tag: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'keyword', limit: int | None = 20, offset: int | None = 0) -> CapsuleSearchAnswer:
        """Find capsules by their words, best match first, each with a snippet."""

    async def capsule_append(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, section: str, content: str, expected_version: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleAppendAnswer:
        """Append content to one section of a capsule without rewriting the rest."""

    async def capsule_compose(self, *, items: list[CapsuleComposeItems], sections: list[str] | None = None, format: Literal['markdown', 'json'] | None = 'markdown', store_as: CapsuleComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleComposeAnswer:
        """Assemble 1 to 50 capsules into one bundle; all or nothing."""

    async def capsule_export(self, *, path: str | None = None, workspace: str | None = None, include_deleted: bool | None = False) -> CapsuleExportAnswer:
        """Write capsules to a JSONL file, the backup that `capsule_import` reads."""

    async def capsule_import(self, *, path: str, mode: Literal['error', 'replace', 'rename'] | None = 'error', idempotency_key: str | None = None) -> CapsuleImportAnswer:
        """Read capsules from a JSONL file, all in one transaction."""

    async def capsule_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsulePurgeAnswer:
        """Remove soft-deleted capsules for good, with their versions: from the store, the search index and the disk."""

    async def capsule_bulk_delete(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsuleBulkDeleteAnswer:
        """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""

    async def capsule_bulk_update(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleBulkUpdateAnswer:
        """Set phase, role or tags of every active capsule that matches all of the given filters."""

    async def artifact_store(self, *, kind: str, data: Mapping[str, Any], workspace: str | None = 'default', name: str | None = None, text: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tags: list[str] | None = None, ttl_seconds: int | None = None, expected_version: int | None = None, mode: Literal['error', 'replace'] | None = 'error', validate: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactStoreAnswer:
        """Save typed JSON state for code, with an optional text view, name, version check and time to live."""

    async def artifact_list(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, order_by: Literal['updated_at', 'created_at'] | None = 'updated_at', limit: int | None = 50, offset: int | None = 0) -> ArtifactListAnswer:
        """List artifacts with their data, newest first, in all workspaces unless one is given; at most 100 a page."""

    async def artifact_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None) -> FetchedArtifact:
        """Load one artifact with its data and text, by id, or by workspace and name; also an earlier version of it."""

    async def artifact_compose(self, *, items: list[ArtifactComposeItems], format: Literal['markdown', 'json'] | None = 'markdown', store_as: ArtifactComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactComposeAnswer:
        """Bundle the texts of 1 to 50 artifacts for an LLM, each under a header; all or nothing."""

    async def artifact_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> ArtifactDeleteAnswer:
        """Soft-delete one artifact: its name is free again, fetch and list can still show it."""

    async def artifact_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: ArtifactRestoreFilters | None = None, idempotency_key: str | None = None) -> ArtifactRestoreAnswer:
        """Bring a soft-deleted artifact back under its name, or all that match `filters`; a taken name is refused."""

    async def artifact_touch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, ttl_seconds: int, idempotency_key: str | None = None) -> ArtifactTouchAnswer:
        """Let an artifact live so many seconds from now; content and version stay. An expired one is not found."""

    async def artifact_bulk_delete(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> ArtifactBulkDeleteAnswer:
        """Soft-delete every artifact that matches all of the given filters; at least one is needed."""

    async def artifact_bulk_update(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, set_ttl_seconds: int | None = 0, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactBulkUpdateAnswer:
        """Set phase, role, tags or time to live of every artifact that matches all of the given filters."""

    async def artifact_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> ArtifactPurgeAnswer:
        """Remove soft-deleted artifacts for good, with their versions: from the store, the search index and the disk."""

    async def artifact_kinds(self) -> ArtifactKindsAnswer:
        """List the kinds that have a JSON Schema: the built-in ones and the files in the home's kinds folder."""

    async def branchmind_init(self, *, workspace: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindInitAnswer:
        """Begin reasoning in a workspace: makes branch `main` and checks it out, unless that was done before."""

    async def branchmind_status(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindStatusAnswer:
        """Show what a workspace has: its checkout, its last task event and its last entry."""

    async def branchmind_branch_create(self, *, workspace: str | None = None, name: str, from_: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindBranchCreateAnswer:
        """Branch off a snapshot of another branch (`from`, default the checkout) without copying anything."""

    async def branchmind_branch_list(self, *, workspace: str | None = None, limit: int | None = 200, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindBranchListAnswer:
        """List the branches of a workspace with their bases, those of plans and tasks too, by name."""

    async def branchmind_checkout(self, *, workspace: str | None = None, ref: str, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindCheckoutAnswer:
        """Make a branch the one that calls without a branch use; tasks are not affected."""

    async def branchmind_branch_rename(self, *, workspace: str | None = None, old: str, new: str, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindBranchRenameAnswer:
        """Rename a branch; documents, bases, tags and the checkout follow."""

    async def branchmind_branch_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindBranchDeleteAnswer:
        """Delete a branch with its entries, graph and tags, for good; refused while anything depends on it."""

    async def branchmind_notes_commit(self, *, workspace: str | None = None, content: str, target: str | None = None, branch: str | None = None, doc: str | None = None, title: str | None = None, format: str | None = None, meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindNotesCommitAnswer:
        """Append a note to the notes of a target, or to a document of a branch (default: the notes of the checkout)."""

    async def branchmind_show(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, doc_kind: Literal['notes', 'trace'] | None = 'trace', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindShowAnswer:
        """Read the last entries of a document (`doc`, or of `doc_kind`), oldest first; `next_cursor` goes further back."""

    async def branchmind_export(self, *, workspace: str | None = None, target: str, notes_limit: int | None = 20, trace_limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindExportAnswer:
        """Show a plan or task at a glance: what it is, where its reasoning lives, its last notes and trace entries."""

    async def branchmind_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindDiffAnswer:
        """Show the entries that branch `to` shows and branch `from` does not; reverse them for the other direction."""

    async def branchmind_commit(self, *, workspace: str | None = None, artifact: str, message: str, docs: str | list[str] | None = 'notes', meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindCommitAnswer:
        """Append a note with a message to one or more documents (`docs`) of the checkout, all or none."""

    async def branchmind_log(self, *, workspace: str | None = None, ref: str | None = None, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindLogAnswer:
        """List the notes of a document as commits, newest first."""

    async def branchmind_docs_list(self, *, workspace: str | None = None, ref: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindDocsListAnswer:
        """List the documents that a branch shows, with their number of entries and their last seq."""

    async def branchmind_tag_create(self, *, workspace: str | None = None, name: str, from_: str | int | None = None, force: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindTagCreateAnswer:
        """Name a commit, so that reset and other tags can mean it: `from` is its seq or a tag, default the head."""

    async def branchmind_tag_list(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindTagListAnswer:
        """List the tags of a workspace by name."""

    async def branchmind_tag_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindTagDeleteAnswer:
        """Delete a tag; what it pointed to stays."""

    async def branchmind_reflog(self, *, workspace: str | None = None, ref: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindReflogAnswer:
        """List how a branch's head moved, commits and resets, newest first; it leads back to what a reset hid."""

    async def branchmind_reset(self, *, workspace: str | None = None, to: str | int, ref: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindResetAnswer:
        """Move the head of a branch's notes to one of its commits (seq or tag); the reflog leads back to later ones."""

    async def branchmind_graph_apply(self, *, workspace: str | None = None, ops: list[BranchmindGraphApplyOps], target: str | None = None, branch: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindGraphApplyAnswer:
        """Upsert or delete nodes and edges of a graph, all or none; an upsert replaces the whole node."""

    async def branchmind_graph_query(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, include_edges: bool | None = True, edges_limit: int | None = 200, include_deleted: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphQueryAnswer:
        """Find nodes of a branch's graph, last changed first, with the edges between them; filters combine with and."""

    async def branchmind_graph_validate(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, max_errors: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphValidateAnswer:
        """Check that every edge of a branch's graph ends in nodes that are there."""

    async def branchmind_graph_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphDiffAnswer:
        """Show the nodes and edges of branch `to` that differ from branch `from`, deleted ones too, newest first."""

    async def branchmind_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeAnswer:
        """Copy the notes that `from` shows and `into` does not, each only once; with `has_more` go on at `next_cursor`."""

    async def branchmind_graph_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindGraphMergeAnswer:
        """Merge a branch's graph back into its base, three ways; what both changed differently becomes a conflict."""

    async def branchmind_graph_conflicts(self, *, workspace: str | None = None, into: str, doc: str | None = 'graph', status: Literal['open', 'resolved'] | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictsAnswer:
        """List the conflicts of merges into a branch, newest first."""

    async def branchmind_graph_conflict_show(self, *, workspace: str | None = None, conflict_id: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictShowAnswer:
        """Show a conflict: what both started from (`base`), the merged branch's state (`theirs`), the destination's."""

    async def branchmind_graph_conflict_resolve(self, *, workspace: str | None = None, conflict_id: str, resolution: Literal['use_from', 'use_into'], idempotency_key: str | None = None) -> BranchmindGraphConflictResolveAnswer:
        """Settle a conflict: `use_from` writes the merged branch's state into the destination, `use_into` keeps it."""

    async def branchmind_think_card(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a thinking card to trace and graph at once; the same card again changes nothing."""

    async def branchmind_think_add_hypothesis(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a hypothesis card: what might be true."""

    async def branchmind_think_add_question(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a question card: what is not known yet."""

    async def branchmind_think_add_test(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a test card: how a hypothesis can be shown wrong."""

    async def branchmind_think_add_note(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a note card: something worth keeping."""

    async def branchmind_think_add_decision(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a decision card: what was chosen and why."""

    async def branchmind_think_add_evidence(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write an evidence card: what was seen, and what it supports or blocks."""

    async def branchmind_think_add_frame(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write a frame card: what the problem is and what done means."""

    async def branchmind_think_add_update(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCard:
        """Write an update card: what changed in what was known."""

    async def branchmind_think_link(self, *, workspace: str | None = None, from_: str, rel: str, to: str, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkLinkAnswer:
        """Link two cards, e.g. supports or blocks; an open card that blocks another keeps it from being next."""

    async def branchmind_think_set_status(self, *, workspace: str | None = None, ids: str | list[str], status: str, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSetStatusAnswer:
        """Set the status of one or more cards, all or none; the rest of them stays."""

    async def branchmind_think_pin(self, *, workspace: str | None = None, ids: str | list[str], pinned: bool | None = True, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkPinAnswer:
        """Pin cards so that they come first, or unpin them; the cards themselves do not change."""

    async def branchmind_think_subgoal_open(self, *, workspace: str | None = None, question_id: str, title: str | None = None, text: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalOpenAnswer:
        """Open a subgoal of a question, with a trace and a graph of its own."""

    async def branchmind_think_subgoal_close(self, *, workspace: str | None = None, subgoal_id: str, return_card: Mapping[str, Any] | str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalCloseAnswer:
        """Close a subgoal, with a card that says what came out of it; the question above stays open."""

    async def branchmind_think_nominal_merge(self, *, workspace: str | None = None, candidate_ids: str | list[str] | None = None, dry_run: bool | None = False, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkNominalMergeAnswer:
        """Fold cards that say the same into the oldest of them: the others get status `merged` and an edge `dedup`."""

    async def branchmind_think_template(self, *, workspace: str | None = None, type: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkTemplateAnswer:
        """Show a card of a type to be filled in: frame, hypothesis, question, test, evidence, decision, note, update."""

    async def branchmind_think_playbook(self, *, workspace: str | None = None, name: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkPlaybookAnswer:
        """Show the steps of a way to think: default, debug, bisect, experiment, criteria_matrix, contradiction."""

    async def branchmind_think_context(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 30, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindThinkContextAnswer:
        """Show the last changed cards of a branch, and how many there are of each type."""

    async def branchmind_think_query(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkQueryAnswer:
        """Find cards, last changed first; filters combine with and."""

    async def branchmind_think_pins(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPinsAnswer:
        """List the pinned cards, last changed first."""

    async def branchmind_think_frontier(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkFrontierAnswer:
        """List the open questions, hypotheses and tests to go on with, best first, each with the reason."""

    async def branchmind_think_next(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkNextAnswer:
        """Show the one card to go on with, or null when nothing is open."""

    async def branchmind_think_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 10, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPackAnswer:
        """Show in one small answer the last cards, how many there are, what to go on with, and the next call."""

    async def branchmind_think_watch(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, trace_doc: str | None = None, limit: int | None = 10, trace_limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkWatchAnswer:
        """Show what is open and what happened last: the frontier and the end of the trace."""

    async def branchmind_context_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, notes_doc: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, notes_limit: int | None = 20, trace_limit: int | None = 50, limit_cards: int | None = 30, include: list[Literal['capsules', 'artifacts']] | None = None, run_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindContextPackAnswer:
        """Resume work in one call: last notes, trace and cards of a target or branch, and the next call to make."""

    async def branchmind_trace_step(self, *, workspace: str | None = None, step: str, message: str | None = None, mode: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceStepAnswer:
        """Append a step to a trace: what was done and what came of it."""

    async def branchmind_trace_sequential_step(self, *, workspace: str | None = None, thought: str, thought_number: int, total_thoughts: int, next_thought_needed: bool, is_revision: bool | None = None, revises_thought: int | None = None, branch_from_thought: int | None = None, branch_id: str | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceSequentialStepAnswer:
        """Append a numbered thought to a trace; it may revise an earlier one or branch off it."""

    async def branchmind_trace_hydrate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceHydrateAnswer:
        """Read the last entries of a trace, oldest first; `next_cursor` leads to older ones."""

    async def branchmind_trace_validate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceValidateAnswer:
        """Check the steps of a trace: numbers count up without gaps or repeats, revisions point to an earlier thought."""

    async def branchmind_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindPurgeAnswer:
        """Remove what no branch shows any more for good: notes that resets hid, deleted nodes and edges of graphs."""

    async def tasks_create(self, *, workspace: str | None = None, kind: Literal['plan', 'task'], title: str, parent: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = 'normal', tags: list[str] | None = None, steps: list[TasksCreateSteps] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksCreateAnswer:
        """Create a plan, or a task (of a plan, with `parent`), optionally with its steps. Its reasoning gets a branch."""

    async def tasks_list(self, *, workspace: str | None = None, kind: Literal['plan', 'task'] | None = None, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 50, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksListAnswer:
        """List plans and tasks, oldest first, by kind, status, plan and tag."""

    async def tasks_edit(self, *, workspace: str | None = None, target: str, title: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = None, tags: list[str] | None = None, depends_on: str | list[str] | None = None, contract: Mapping[str, Any] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEditAnswer:
        """Change a plan or task; what is not given stays. An empty list clears tags or dependencies."""

    async def tasks_complete(self, *, workspace: str | None = None, target: str, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = 'DONE', expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksCompleteAnswer:
        """Set the status of a plan or task. DONE needs every step done, and of a plan every task DONE."""

    async def tasks_delete(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDeleteAnswer:
        """Delete a step with those below it, a task, or a plan with its tasks; the trace keeps what happened."""

    async def tasks_focus(self, *, workspace: str | None = None, action: Literal['get', 'set', 'clear'] | None = None, target: str | None = None, idempotency_key: str | None = None) -> TasksFocusAnswer:
        """Get, set or clear the plan or task that the workspace works on; radar and hand-over use it by default."""

    async def tasks_decompose(self, *, workspace: str | None = None, target: str, steps: list[TasksDecomposeSteps], parent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDecomposeAnswer:
        """Add steps to a plan or task, or below one of its steps; all or none."""

    async def tasks_define(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, title: str | None = None, success_criteria: str | list[str] | None = None, tests: str | list[str] | None = None, blockers: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDefineAnswer:
        """Change one step; changed criteria or tests must be confirmed again. An empty list clears."""

    async def tasks_note(self, *, workspace: str | None = None, target: str, note: str, step_id: str | None = None, path: str | None = None, agent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksNoteAnswer:
        """Write a progress note about a plan, task or step; it also stands in the notes of the target."""

    async def tasks_verify(self, *, workspace: str | None = None, target: str, checkpoints: TasksVerifyCheckpoints, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksVerifyAnswer:
        """Confirm checkpoints of a step (criteria, tests, security, perf, docs); criteria and tests open the gate."""

    async def tasks_done(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, checkpoints: TasksDoneCheckpoints | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDoneAnswer:
        """Close a step whose criteria and tests are confirmed, before or in this call."""

    async def tasks_reopen(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksReopenAnswer:
        """Open a closed step again, to be confirmed anew, or a DONE plan or task, which becomes ACTIVE."""

    async def tasks_block(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, blocked: bool | None = True, reason: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksBlockAnswer:
        """Block a step with the reason, or unblock it."""

    async def tasks_evidence(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, links: str | list[str] | None = None, checks: str | list[str] | None = None, texts: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEvidenceAnswer:
        """Attach evidence to a plan, task or step: links, checks that were run, small texts."""

    async def tasks_radar(self, *, workspace: str | None = None, target: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksRadarAnswer:
        """Show on one screen where a plan or task stands and the one next call to make."""

    async def tasks_delta(self, *, workspace: str | None = None, since: str | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksDeltaAnswer:
        """List the task events after one of them, oldest first; go on with `since` = the last event's id."""

    async def tasks_handoff(self, *, workspace: str | None = None, target: str | None = None, as_capsule: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksHandoffAnswer:
        """Sum up a plan or task (default as in `tasks_radar`) for whoever goes on: done, remaining, risks and next call."""

    async def tasks_show(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksShowAnswer:
        """Show a plan or task, or one of its steps, whole: steps, criteria, tests, blockers, notes, evidence, agents."""

    async def tasks_ready(self, *, workspace: str | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 20, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksReadyAnswer:
        """List the tasks that can be started now, the more urgent and then the older first; `tasks_claim` takes one."""

    async def tasks_claim(self, *, workspace: str | None = None, agent: str, target: str | None = None, step_id: str | None = None, path: str | None = None, lease_s: int | None = 1800, release: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksClaimAnswer:
        """Take a task or a step, so that no other agent does; without `target` the first that is ready."""

    async def submit_payload(self, *, capability_id: str, body: Mapping[str, Any], provenance: SubmitPayloadProvenance | None = None, client_request_id: str | None = None, workspace: str | None = 'default', allow_secrets: bool | None = None, idempotency_key: str | None = None) -> SubmitPayloadAnswer:
        """Record a payload about an entity, checked by its capability; equal content is kept once, every source counts."""

    async def retrieve_records(self, *, type: str | None = None, properties: Mapping[str, Any] | None = None, search: list[str] | str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 100, offset: int | None = 0, ids: list[str] | None = None, include_total_count: bool | None = False, workspace: str | None = None) -> RetrieveRecordsAnswer:
        """Find records by type, property, id, words and meaning: best match first, else newest first."""

    async def retrieve_entities(self, *, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, include_snapshots: bool | None = True, include_provenance: bool | None = False, as_of: str | None = None, entity_id: str | None = None, workspace: str | None = None) -> RetrieveEntitiesAnswer:
        """List entities with what is known of them, now or at a time (`as_of`), newest first."""

    async def list_timeline_events(self, *, event_type: str | None = None, after_date: str | None = None, before_date: str | None = None, source_record_id: str | None = None, entity_id: str | None = None, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, workspace: str | None = None) -> ListTimelineEventsAnswer:
        """List what happened when, newest first, by type, time, record and entity; bounds are inclusive."""

    async def record_capabilities(self) -> RecordCapabilitiesAnswer:
        """List what may be submitted: every capability with its fields, and files that cannot be used."""

    async def moss_search(self, *, query: str, types: list[Literal['capsule', 'artifact', 'note', 'node', 'record']] | None = None, workspace: str | None = None, run_id: str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 20, offset: int | None = 0) -> MossSearchAnswer:
        """Search everything in Moss by words and meaning, best first: type, address, title, snippet and score of each hit."""

    async def moss_history(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0) -> MossHistoryAnswer:
        """List the versions of a capsule or artifact, newest first: when each was written, how, and what it changed."""

    async def moss_revert(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int, expected_version: int | None = None, idempotency_key: str | None = None) -> MossRevertAnswer:
        """Make an old version of a capsule or artifact the present one, as a new version; names and time to live stay."""

    async def moss_rename(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, new_name: str | None = None, new_workspace: str | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossRenameAnswer:
        """Give a capsule or artifact another name, or move it to another workspace; a taken name is refused."""

    async def moss_erase(self, *, type: Literal['capsule', 'artifact', 'record', 'note', 'trace', 'node', 'task'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int | None = None, branch: str | None = None, doc: str | None = None, seq: int | None = None, target: str | None = None, step_id: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> MossEraseAnswer:
        """Take something out for good, deleted or not: row, versions, copies, search and every byte on the disk."""

    async def moss_freshness(self, *, workspace: str | None = None, id: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0) -> MossFreshnessAnswer:
        """Tell which capsules, decisions and evidence are stale: whether files they name changed since they were saved."""

    async def moss_confirm(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, idempotency_key: str | None = None) -> MossConfirmAnswer:
        """Say that a capsule still holds at the present commit; it makes no version, and its freshness counts from here."""

    async def moss_places(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None) -> MossPlacesAnswer:
        """List the files that a capsule names, and which of them changed or are missing since it was saved."""

    async def moss_workspaces(self, *, limit: int | None = 50, offset: int | None = 0) -> MossWorkspacesAnswer:
        """List the workspaces with what is in them and when they last changed, newest change first; at most 500 a page."""

    async def moss_recent(self, *, limit: int | None = 50) -> MossRecentAnswer:
        """List the workspaces that changed last and what they hold, without counting it; at most 500."""

    async def moss_workspace_rename(self, *, name: str, new_name: str, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossWorkspaceRenameAnswer:
        """Give a workspace another name, with everything in it of every family: all of it or nothing."""

    async def moss_workspace_delete(self, *, name: str, dry_run: bool | None = True, idempotency_key: str | None = None) -> MossWorkspaceDeleteAnswer:
        """Delete a workspace with everything in it of every family; a dry run, which says what would go, comes first."""

    async def moss_activity(self, *, workspace: str | None = None, days: int | None = 63) -> MossActivityAnswer:
        """Count what there is of each family and what changed on each of the last days, at most 366."""

    async def moss_changes(self, *, after: int | None = None, limit: int | None = 100) -> MossChangesAnswer:
        """List what changed after a change that is known, oldest first, or only tell the number of the last one."""

    async def moss_log(self, *, by: str | None = None, since: str | None = None, tool: str | None = None, workspace: str | None = None, limit: int | None = 50, offset: int | None = 0) -> MossLogAnswer:
        """List who changed what and when, newest first."""

    async def moss_tools(self, *, query: str | None = None, names: list[str] | None = None) -> MossToolsAnswer:
        """Find tools that are not in your list, by a question or by name, with their schema; `moss_call` calls them."""

    async def moss_call(self, *, tool: str, arguments: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Call any tool, also one that is not in your list, and get its answer; `moss_tools` shows what it takes."""
