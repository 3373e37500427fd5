# fmt: off
# ruff: noqa
"""Arguments and answers of every tool, for type checkers and editors; `make docs` writes it."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

class CapsuleStoreAnswer(TypedDict):
    id: str
    fetch_key: FetchKey
    version: int
    previous_version: NotRequired[int]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    fetch_key: NotRequired[Mapping[str, Any] | None]

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

class StoredCapsuleAnswer(TypedDict):
    id: str
    fetch_key: FetchKey
    version: int
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class CapsuleDeleteAnswer(TypedDict):
    deleted: bool
    id: str
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class SkippedRow(TypedDict):
    id: str
    code: str

class Finding(TypedDict):
    kind: str
    path: str
    line: int
    column: int

class CapsuleLatestAnswer(TypedDict):
    item: FetchedCapsule | None
    elsewhere: NotRequired[list[CapsuleElsewhere]]

class CapsuleElsewhere(TypedDict):
    workspace: str
    id: str
    name: NotRequired[str]
    updated_at: int

class CapsuleListAnswer(TypedDict):
    items: list[CapsuleSummary]
    pagination: Page
    sort: Literal['updated_at_desc']
    hint: NotRequired[str]

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
    hint: NotRequired[str]

class CapsuleSearchAnswer(TypedDict):
    items: list[CapsuleHit]
    pagination: Page
    sort: Literal['relevance']
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]
    hint: NotRequired[str]

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
    fetch: NotRequired[FetchCall]
    at: int

class FetchCall(TypedDict):
    tool: str
    arguments: dict[str, Any]

class CapsuleAppendAnswer(TypedDict):
    id: str
    section_hit: str
    replaced: bool
    version: int
    fetch_key: NotRequired[FetchKey]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class CapsuleComposeItems(TypedDict):
    id: NotRequired[str | None]
    workspace: NotRequired[str | None]
    name: NotRequired[str | None]
    fetch_key: NotRequired[Mapping[str, Any] | None]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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

class StoredCapsule(TypedDict):
    id: str
    fetch_key: FetchKey
    version: int

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class CapsuleBulkDeleteAnswer(TypedDict):
    deleted: int
    message: str
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class CapsuleBulkUpdateAnswer(TypedDict):
    updated: int
    message: str
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactStoreAnswer(TypedDict):
    id: str
    workspace: str
    name: str | None
    kind: str
    version: int
    data_chars: int
    text_chars: int | None
    expires_at: int | None
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactListAnswer(TypedDict):
    items: list[ArtifactItem]
    pagination: UncountedPage
    hint: NotRequired[str]

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
    count: int
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

class ArtifactDeleteAnswer(TypedDict):
    deleted: bool
    id: str
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactKey(TypedDict):
    moss_artifact: NotRequired[str]
    moss_workspace: NotRequired[str]
    moss_id: NotRequired[str]

class ArtifactTouchAnswer(TypedDict):
    id: str
    ttl_seconds: int
    expires_at: int
    version: int
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactComposeItems(TypedDict):
    id: NotRequired[str | None]
    workspace: NotRequired[str | None]
    name: NotRequired[str | None]
    fetch_key: NotRequired[Mapping[str, Any] | None]

class ArtifactComposeStoreAs(TypedDict):
    workspace: NotRequired[str | None]
    name: str | None
    kind: str | None
    run_id: NotRequired[str | None]
    phase: NotRequired[str | None]
    role: NotRequired[str | None]
    ttl_seconds: NotRequired[int | None]
    mode: NotRequired[Literal['error', 'replace'] | None]

class ArtifactComposeAnswer(TypedDict):
    bundle_text: str
    bundle_chars: NotRequired[int]
    parts: NotRequired[list[ArtifactPart]]
    parts_count: int
    stored: NotRequired[StoredArtifact]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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

class ArtifactBulkDeleteAnswer(TypedDict):
    deleted: int
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactBulkUpdateAnswer(TypedDict):
    updated: int
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class ArtifactPurgeAnswer(TypedDict):
    purged: int
    message: str
    erased: bool
    complete: NotRequired[bool]
    scope: NotRequired[str]
    dry_run: NotRequired[bool]
    ids: NotRequired[list[str]]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    conflicts: NotRequired[OpenConflicts]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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

class OpenConflicts(TypedDict):
    open: int
    first: NotRequired[FirstConflict]

class FirstConflict(TypedDict):
    conflict_id: str
    key: str | EdgeKey

EdgeKey = TypedDict("EdgeKey", {"from": str, "rel": str, "to": str})

class BranchmindBranchCreateAnswer(TypedDict):
    workspace: str
    branch: Branch
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class Branch(TypedDict):
    name: str
    base_branch: str | None
    base_seq: int | None

class BranchmindBranchListAnswer(TypedDict):
    workspace: str
    branches: list[Branch]
    hint: NotRequired[str]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class BranchmindCheckoutAnswer(TypedDict):
    workspace: str
    previous: str
    current: str
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindBranchRenameAnswer(TypedDict):
    workspace: str
    previous: str
    current: str
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindBranchDeleteAnswer(TypedDict):
    workspace: str
    name: str
    deleted: bool
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindNotesCommitAnswer(TypedDict):
    entry: Entry
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    omitted: NotRequired[dict[str, int]]

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
    omitted: NotRequired[dict[str, int]]

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

BranchmindDiffAnswer = TypedDict("BranchmindDiffAnswer", {"from": str, "to": str, "doc": str, "entries": list[Entry], "pagination": CursorPage, "truncated": bool, "omitted": NotRequired[dict[str, int]]})

class BranchmindDocsListAnswer(TypedDict):
    workspace: str
    ref: str
    docs: list[Document]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Document(TypedDict):
    doc: str
    entries: int
    last_seq: int | None

class BranchmindCommitAnswer(TypedDict):
    workspace: str
    branch: str
    docs: list[str]
    commits: list[NewCommit]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    omitted: NotRequired[dict[str, int]]

class Commit(TypedDict):
    seq: int
    ts: str
    ts_ms: int
    message: str
    content: str
    meta: NotRequired[dict[str, Any]]

class BranchmindTagCreateAnswer(TypedDict):
    workspace: str
    tag: Tag
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    omitted: NotRequired[dict[str, int]]

class BranchmindTagDeleteAnswer(TypedDict):
    workspace: str
    name: str
    deleted: bool
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindReflogAnswer(TypedDict):
    workspace: str
    ref: str
    entries: list[Move]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

BranchmindGraphApplyOps = TypedDict("BranchmindGraphApplyOps", {"op": Literal['node_upsert', 'node_delete', 'edge_upsert', 'edge_delete'] | None, "id": NotRequired[str | None], "type": NotRequired[str | None], "title": NotRequired[str | None], "text": NotRequired[str | None], "status": NotRequired[str | None], "tags": NotRequired[list[str] | None], "meta": NotRequired[Mapping[str, Any] | None], "from": NotRequired[str | None], "rel": NotRequired[str | None], "to": NotRequired[str | None]})

class BranchmindGraphApplyAnswer(TypedDict):
    branch: str
    doc: str
    applied: Applied
    last_seq: int
    last_ts_ms: int
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    omitted: NotRequired[dict[str, int]]

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
    omitted: NotRequired[dict[str, int]]

class GraphStats(TypedDict):
    nodes: int
    edges: int

class DanglingEdge(TypedDict):
    code: str
    edge: EdgeKey
    missing: list[str]
    message: str

BranchmindGraphDiffAnswer = TypedDict("BranchmindGraphDiffAnswer", {"from": str, "to": str, "doc": str, "changes": list[Change], "pagination": CursorPage, "truncated": bool, "omitted": NotRequired[dict[str, int]]})

class Change(TypedDict):
    kind: Literal['node', 'edge']
    id: NotRequired[str]
    key: NotRequired[EdgeKey]
    to: Node | Edge

class BranchmindGraphHistoryAnswer(TypedDict):
    id: str
    versions: list[NodeVersion]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class NodeVersion(TypedDict):
    seq: int
    ts_ms: int
    status: NotRequired[str]
    title: NotRequired[str]
    text: NotRequired[str]
    deleted: bool
    changed: list[str]

BranchmindMergeAnswer = TypedDict("BranchmindMergeAnswer", {"from": str, "into": str, "doc": str, "merged": int, "skipped": int, "pagination": CursorPage, "next": NotRequired[NextCall], "workspace": NotRequired[str], "created_workspace": NotRequired[bool], "similar_workspace": NotRequired[str]})

BranchmindGraphMergeAnswer = TypedDict("BranchmindGraphMergeAnswer", {"from": str, "into": str, "doc": str, "merged": int, "skipped": int, "conflicts_created": int, "conflict_ids": list[str], "pagination": CursorPage, "workspace": NotRequired[str], "created_workspace": NotRequired[bool], "similar_workspace": NotRequired[str]})

BranchmindMergeBackAnswer = TypedDict("BranchmindMergeBackAnswer", {"from": str, "into": str, "notes": Merged, "trace": Merged, "graph": MergedGraph, "conflicts": list[ConflictSides], "workspace": NotRequired[str], "created_workspace": NotRequired[bool], "similar_workspace": NotRequired[str]})

class Merged(TypedDict):
    merged: int
    skipped: int

class MergedGraph(TypedDict):
    merged: int
    skipped: int
    conflicts_created: int

ConflictSides = TypedDict("ConflictSides", {"conflict_id": str, "key": str | EdgeKey, "base": State | None, "from": State, "into": State})

State = TypedDict("State", {"id": NotRequired[str], "type": NotRequired[str], "title": NotRequired[str], "text": NotRequired[str], "status": NotRequired[str], "tags": NotRequired[list[str]], "meta": NotRequired[dict[str, Any]], "deleted": NotRequired[bool], "last_seq": NotRequired[int], "last_ts_ms": NotRequired[int], "from": NotRequired[str], "rel": NotRequired[str], "to": NotRequired[str]})

class BranchmindGraphConflictsAnswer(TypedDict):
    into: str
    doc: str
    conflicts: list[Conflict]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Conflict(TypedDict):
    conflict_id: str
    kind: Literal['node', 'edge']
    key: str | EdgeKey
    status: Literal['open', 'resolved']
    created_at_ms: int

class BranchmindGraphConflictShowAnswer(TypedDict):
    conflict: WholeConflict
    truncated: bool
    omitted: NotRequired[dict[str, int]]

WholeConflict = TypedDict("WholeConflict", {"conflict_id": str, "kind": Literal['node', 'edge'], "key": str | EdgeKey, "status": Literal['open', 'resolved'], "created_at_ms": int, "from_branch": str, "into_branch": str, "doc": str, "resolution": NotRequired[Literal['use_from', 'use_into', 'use_content', 'superseded']], "resolved_at_ms": NotRequired[int], "base": State | None, "from": State, "into": State})

class BranchmindGraphConflictResolveAnswer(TypedDict):
    conflict_id: str
    status: Literal['resolved']
    applied: bool
    outcome: str
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class WrittenCardAnswer(TypedDict):
    branch: str
    trace_doc: str
    graph_doc: str
    card_id: str
    inserted: bool
    graph_applied: CardApplied
    meta_keys: NotRequired[list[str]]
    last_seq: NotRequired[int]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class CardApplied(TypedDict):
    nodes_upserted: int
    edges_upserted: int

class BranchmindThinkLinkAnswer(TypedDict):
    branch: str
    graph_doc: str
    edge: Edge
    applied: Applied
    last_seq: int
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindThinkSetStatusAnswer(TypedDict):
    branch: str
    graph_doc: str
    status: str
    updated: list[str]
    unchanged: list[str]
    last_seq: NotRequired[int]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindThinkPinAnswer(TypedDict):
    branch: str
    graph_doc: str
    pinned: bool
    updated: list[str]
    unchanged: list[str]
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindThinkSubgoalOpenAnswer(TypedDict):
    branch: str
    graph_doc: str
    subgoal_id: str
    question_id: str
    child_trace_doc: str
    child_graph_doc: str
    inserted: bool
    last_seq: int
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindThinkSubgoalCloseAnswer(TypedDict):
    branch: str
    graph_doc: str
    subgoal_id: str
    status: Literal['closed']
    return_card_id: NotRequired[str]
    applied: Applied
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindThinkNominalMergeAnswer(TypedDict):
    branch: str
    graph_doc: str
    groups: list[SameCards]
    applied: Applied
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class SameCards(TypedDict):
    canonical: str
    merged: list[str]
    similarity: float

class BranchmindThinkTemplateAnswer(TypedDict):
    type: str
    supported_types: list[str]
    template: CardTemplate
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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
    omitted: NotRequired[dict[str, int]]

class Playbook(TypedDict):
    goal: str
    steps: list[str]

class BranchmindThinkContextAnswer(TypedDict):
    branch: str
    graph_doc: str
    stats: CardStats
    cards: list[Node]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class CardStats(TypedDict):
    cards: int
    by_type: dict[str, int]

class BranchmindThinkQueryAnswer(TypedDict):
    branch: str
    graph_doc: str
    cards: list[Node]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class BranchmindThinkPinsAnswer(TypedDict):
    branch: str
    graph_doc: str
    pins: list[Node]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class BranchmindThinkFrontierAnswer(TypedDict):
    branch: str
    graph_doc: str
    candidates: list[Candidate]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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
    omitted: NotRequired[dict[str, int]]

class BranchmindThinkPackAnswer(TypedDict):
    branch: str
    graph_doc: str
    stats: CardStats
    cards: list[PackedCard]
    candidates: list[PackedCandidate]
    conflicts: NotRequired[OpenConflicts]
    next: NextCall | None
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class PackedCard(TypedDict):
    id: str
    type: str
    title: NotRequired[str]
    text: NotRequired[str]
    status: NotRequired[str]
    tags: NotRequired[list[str]]
    meta: NotRequired[dict[str, Any]]
    last_seq: int
    links: NotRequired[dict[str, list[str]]]
    superseded_by: NotRequired[str]

class PackedCandidate(TypedDict):
    id: str
    type: NotRequired[str]
    title: NotRequired[str]
    status: NotRequired[str]
    last_seq: NotRequired[int]
    pinned: bool
    blocked_by: list[str]
    why: str

class BranchmindThinkWatchAnswer(TypedDict):
    branch: str
    graph_doc: str
    trace_doc: str
    candidates: list[Candidate]
    trace: Entries
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Entries(TypedDict):
    entries: list[Entry]
    pagination: CursorPage

class BranchmindContextPackAnswer(TypedDict):
    branch: str
    docs: Documents
    notes: PackedEntries
    trace: PackedEntries
    cards: list[PackedCard]
    stats: CardStats
    capsules: NotRequired[list[PackedCapsule]]
    artifacts: NotRequired[list[PackedArtifact]]
    conflicts: NotRequired[OpenConflicts]
    next: NextCall | None
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Documents(TypedDict):
    notes: str
    trace: str
    graph: str

class PackedEntries(TypedDict):
    entries: list[PackedEntry]
    pagination: PackedPage

class PackedEntry(TypedDict):
    seq: int
    ts: str
    branch: NotRequired[str]
    kind: Literal['note', 'event']
    title: NotRequired[str]
    format: NotRequired[str]
    meta: NotRequired[dict[str, Any]]
    content: str
    source_event_id: NotRequired[str]
    by: NotRequired[str]

class PackedPage(TypedDict):
    next_cursor: NotRequired[int]
    has_more: bool
    limit: int
    count: int

class PackedCapsule(TypedDict):
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
    version: int
    fetch_key: FetchKey
    capsule_text: str

class PackedArtifact(TypedDict):
    id: str
    workspace: str
    name: NotRequired[str]
    kind: str
    data: dict[str, Any]
    version: int
    run_id: str
    phase: NotRequired[str]
    role: NotRequired[str]
    tags: list[str]
    data_chars: int
    text_chars: NotRequired[int]
    ttl_seconds: NotRequired[int]
    expires_at: NotRequired[int]
    created_at: int
    updated_at: int

class BranchmindTraceStepAnswer(TypedDict):
    branch: str
    doc: str
    entry: Entry
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindTraceSequentialStepAnswer(TypedDict):
    branch: str
    doc: str
    entry: Entry
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class BranchmindTraceHydrateAnswer(TypedDict):
    branch: str
    doc: str
    entries: list[Entry]
    pagination: CursorPage
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class BranchmindTraceValidateAnswer(TypedDict):
    branch: str
    doc: str
    ok: bool
    checked: int
    errors: list[Misstep]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksCreateSteps(TypedDict):
    title: str | None
    success_criteria: NotRequired[str | list[str] | None]
    tests: NotRequired[str | list[str] | None]
    blockers: NotRequired[str | list[str] | None]

class TasksCreateAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    steps: list[NewStep]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    hint: NotRequired[str]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class TaskItem(TypedDict):
    id: str
    kind: Literal['plan', 'task']
    title: str
    status: Literal['TODO', 'ACTIVE', 'DONE']
    parent: NotRequired[str]
    tags: list[str]
    revision: int

class TasksEditAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksCompleteAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    warning: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksDeleteAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    deleted: bool
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksFocusAnswer(TypedDict):
    workspace: str
    previous: str | None
    focus: str | None
    title: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksDecomposeSteps(TypedDict):
    title: str | None
    success_criteria: NotRequired[str | list[str] | None]
    tests: NotRequired[str | list[str] | None]
    blockers: NotRequired[str | list[str] | None]

class TasksDecomposeAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    steps: list[NewStep]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksDefineAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NewStep
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksNoteAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksVerifyCheckpoints(TypedDict):
    criteria: NotRequired[bool | None]
    tests: NotRequired[bool | None]
    security: NotRequired[bool | None]
    perf: NotRequired[bool | None]
    docs: NotRequired[bool | None]

class TasksVerifyAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NewStep
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksDoneCheckpoints(TypedDict):
    criteria: NotRequired[bool | None]
    tests: NotRequired[bool | None]
    security: NotRequired[bool | None]
    perf: NotRequired[bool | None]
    docs: NotRequired[bool | None]

class TasksDoneAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NewStep
    warning: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksReopenAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksBlockAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NewStep
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksEvidenceAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class TasksRadarAnswer(TypedDict):
    workspace: str
    target: Target
    chosen: Literal['target', 'focus', 'only_open', 'last_worked_on']
    focus: str | None
    reasoning_ref: NotRequired[ReasoningRef]
    radar: Radar
    steps: list[Step]
    conflicts: NotRequired[OpenConflicts]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

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
    hint: NotRequired[str]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class TasksHandoffAnswer(TypedDict):
    workspace: str
    target: Target
    radar: Radar
    handoff: Handoff
    capsule: NotRequired[StoredCapsule]
    conflicts: NotRequired[OpenConflicts]
    next: NextCall | None
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Handoff(TypedDict):
    done: list[str]
    remaining: list[str]
    risks: list[str]
    open: NotRequired[list[str]]
    decisions: NotRequired[list[str]]
    notes: NotRequired[list[str]]

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
    omitted: NotRequired[dict[str, int]]

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
    hint: NotRequired[str]
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class ReadyTask(TypedDict):
    id: str
    title: str
    priority: Literal['low', 'normal', 'high']
    step: NotRequired[NewStep]
    why: str

class TasksClaimAnswer(TypedDict):
    workspace: str
    id: str
    kind: Literal['plan', 'task']
    title: str
    revision: int
    event: TaskEvent
    step: NotRequired[NewStep]
    agent: str
    lease_until_ms: int | None
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class RetrieveRecordsAnswer(TypedDict):
    records: list[Record]
    pagination: PageIfCounted
    total_count: NotRequired[int]
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]
    hint: NotRequired[str]

class Record(TypedDict):
    id: str
    type: str
    workspace: str
    properties: dict[str, Any]
    created_at: str
    updated_at: str
    superseded: NotRequired[bool]
    fetch: NotRequired[FetchCall]
    at: NotRequired[int]

class PageIfCounted(TypedDict):
    limit: int
    offset: int
    has_more: bool
    total: NotRequired[int]
    count: int
    next_offset: NotRequired[int]

class RetrieveEntitiesAnswer(TypedDict):
    entities: list[Entity]
    pagination: PageThatEnds
    hint: NotRequired[str]

class Entity(TypedDict):
    entity_id: str
    entity_type: str
    workspace: str
    snapshot: NotRequired[dict[str, Any]]
    provenance: NotRequired[dict[str, FieldSource]]
    observation_count: int
    references: NotRequired[list[Relation]]
    referenced_by: NotRequired[list[Relation]]

class FieldSource(TypedDict):
    payload_submission_id: str
    source_record_id: str
    observed_at: str
    agent_id: str | None
    source_refs: list[str]
    extractor_version: str | None
    unmapped: NotRequired[dict[str, Any]]

class Relation(TypedDict):
    field: str
    entity_id: str
    entity_type: str
    title: str

class PageThatEnds(TypedDict):
    limit: int
    offset: int
    has_more: bool
    total: int
    count: int
    next_offset: NotRequired[int]

class ListTimelineEventsAnswer(TypedDict):
    events: list[TimelineEvent]
    pagination: PageThatEnds
    hint: NotRequired[str]

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
    truncated: bool
    omitted: NotRequired[dict[str, int]]

class Capability(TypedDict):
    capability_id: str
    entity_type: str
    identity: list[str]
    fields: dict[str, CapabilityField]
    example: dict[str, Any]

class CapabilityField(TypedDict):
    type: str
    required: bool
    enum: NotRequired[list[str]]
    set: NotRequired[bool]

class MossSearchAnswer(TypedDict):
    items: list[Hit]
    pagination: Page
    sort: Literal['relevance']
    degraded: NotRequired[bool]
    relaxed: NotRequired[bool]
    pending: NotRequired[int]
    hint: NotRequired[str]

class Hit(TypedDict):
    type: Literal['capsule', 'artifact', 'note', 'node', 'task', 'record']
    id: str
    workspace: str
    title: str
    kind: NotRequired[str]
    status: NotRequired[str]
    superseded_by: NotRequired[str]
    version: NotRequired[int]
    fetch: NotRequired[FetchCall]
    at: int
    snippet: str
    score: float

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class MossRenameAnswer(TypedDict):
    id: str
    version: int
    fetch_key: RenamedKey
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    workspace: NotRequired[str]
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

class Removed(TypedDict):
    rows: int
    versions: int
    vectors: int

class MossFreshnessAnswer(TypedDict):
    items: list[FreshnessItem]
    pagination: Page
    hint: NotRequired[str]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    created_workspace: NotRequired[bool]
    similar_workspace: NotRequired[str]

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
    hint: NotRequired[str]

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
    best: NotRequired[DescribedTool]
    total: int

class Tool(TypedDict):
    name: str
    summary: NotRequired[str]
    listed: NotRequired[bool]
    description: NotRequired[str]
    inputSchema: NotRequired[dict[str, Any]]

class DescribedTool(TypedDict):
    name: str
    description: str
    inputSchema: dict[str, Any]

class Tools:
    """Every tool as a method."""

    def capsule_store(self, *, capsule_text: str, workspace: str | None = 'default', name: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, mode: Literal['error', 'replace'] | None = 'error', expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleStoreAnswer:
        """Save a hand-over that another session loads by name; for one section `capsule_append`, for JSON `artifact_store`."""

    def capsule_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_text: bool | None = True, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None, fetch_key: Mapping[str, Any] | None = None) -> FetchedCapsule:
        """Load one capsule with its text, by name or id, also an earlier `version`; if unknown, use `moss_search`."""

    def capsule_fetch_many(self, *, items: list[CapsuleFetchManyItems], include_text: bool | None = True, include_deleted: bool | None = False) -> CapsuleFetchManyAnswer:
        """Load up to 50 capsules in one call, in the order asked for."""

    def capsule_update(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, capsule_text: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, local: bool | None = None, expected_version: int | None = None, allow_thin: bool | None = False, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsuleAnswer:
        """Change text or metadata of a capsule; to go back to an old text use `moss_revert`."""

    def capsule_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> CapsuleDeleteAnswer:
        """Delete a capsule so that `capsule_restore` can bring it back; to leave no trace use `moss_erase`."""

    def capsule_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: CapsuleRestoreFilters | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> CapsuleRestoreAnswer:
        """Bring back a deleted capsule, or all that match `filters`; an overwritten text comes back with `moss_revert`."""

    def capsule_latest(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_text: bool | None = False, include_deleted: bool | None = False) -> CapsuleLatestAnswer:
        """Resume with the most recently changed capsule of a workspace; `include_text` adds its text."""

    def capsule_list(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 20, offset: int | None = 0) -> CapsuleListAnswer:
        """List one workspace's capsules without text, newest change first; at most 100 a page."""

    def capsule_inventory(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 100, offset: int | None = 0) -> CapsuleInventoryAnswer:
        """List the capsules of all workspaces without text, newest change first; at most 500 a page."""

    def capsule_search(self, *, query: str, workspace: str | None = None, tag: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'keyword', limit: int | None = 20, offset: int | None = 0) -> CapsuleSearchAnswer:
        """Find capsules by their words, best match first, each with a snippet."""

    def capsule_append(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, section: str, content: str, mode: Literal['append', 'replace'] | None = 'append', expected_version: int | None = None, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleAppendAnswer:
        """Add to one section of a capsule, or replace its content, and leave the rest as it is."""

    def capsule_compose(self, *, items: list[CapsuleComposeItems], sections: list[str] | None = None, format: Literal['markdown', 'json'] | None = 'markdown', store_as: CapsuleComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleComposeAnswer:
        """Join 1 to 50 capsules, or only some of their `sections`, into one text; all or nothing."""

    def capsule_export(self, *, path: str | None = None, workspace: str | None = None, include_deleted: bool | None = False) -> CapsuleExportAnswer:
        """Write capsules to a JSONL file as a backup, which `capsule_import` reads."""

    def capsule_import(self, *, path: str, mode: Literal['error', 'replace', 'rename'] | None = 'error', idempotency_key: str | None = None) -> CapsuleImportAnswer:
        """Read capsules from a JSONL file, all in one transaction."""

    def capsule_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsulePurgeAnswer:
        """Remove capsules that were deleted before, for good: store, versions, index and disk; for others `moss_erase`."""

    def capsule_bulk_delete(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsuleBulkDeleteAnswer:
        """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""

    def capsule_bulk_update(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleBulkUpdateAnswer:
        """Set phase, role or tags of every active capsule that matches all of the given filters."""

    def artifact_store(self, *, kind: str, data: Mapping[str, Any], workspace: str | None = 'default', name: str | None = None, text: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tags: list[str] | None = None, ttl_seconds: int | None = None, expected_version: int | None = None, mode: Literal['error', 'replace'] | None = 'error', validate: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactStoreAnswer:
        """Save typed JSON for code, with optional text, version check and time to live; for prose use `capsule_store`."""

    def artifact_list(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, order_by: Literal['updated_at', 'created_at'] | None = 'updated_at', limit: int | None = 50, offset: int | None = 0) -> ArtifactListAnswer:
        """List artifacts with their data, newest first, in all workspaces unless one is given; at most 100 a page."""

    def artifact_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None, fetch_key: Mapping[str, Any] | None = None) -> FetchedArtifact:
        """Load one artifact with data and text, by name or id, also an earlier `version`."""

    def artifact_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactDeleteAnswer:
        """Delete one artifact so that `artifact_restore` can bring it back; its name is free again."""

    def artifact_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: ArtifactRestoreFilters | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactRestoreAnswer:
        """Bring back a deleted artifact, or all that match `filters`; overwritten data come back with `moss_revert`."""

    def artifact_touch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, ttl_seconds: int, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactTouchAnswer:
        """Set the seconds that an artifact lives from now; content and version stay. An expired one is not found."""

    def artifact_compose(self, *, items: list[ArtifactComposeItems], format: Literal['markdown', 'json'] | None = 'markdown', store_as: ArtifactComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactComposeAnswer:
        """Bundle the texts of 1 to 100 artifacts for an LLM, each under a header; all or nothing."""

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
        """Check a workspace without its contents: checkout, last task event, last entry, open conflicts."""

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
        """Write a note, the usual way: to the notes of a plan, task or branch (default: of the checkout)."""

    def branchmind_show(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, doc_kind: Literal['notes', 'trace'] | None = 'trace', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindShowAnswer:
        """Page through one document (`doc`, or of `doc_kind`), oldest first; `next_cursor` goes further back."""

    def branchmind_export(self, *, workspace: str | None = None, target: str, notes_limit: int | None = 20, trace_limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindExportAnswer:
        """Read the last notes and trace entries of one plan or task, without cards; it makes no file."""

    def branchmind_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindDiffAnswer:
        """Show the entries that branch `to` shows and branch `from` does not; reverse them for the other direction."""

    def branchmind_docs_list(self, *, workspace: str | None = None, ref: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindDocsListAnswer:
        """List the documents that a branch shows, with their number of entries and their last seq."""

    def branchmind_commit(self, *, workspace: str | None = None, artifact: str, message: str, docs: str | list[str] | None = 'notes', meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindCommitAnswer:
        """Write a plain text (`artifact`) with a message as a commit, to be tagged or reset to, in one or more `docs`."""

    def branchmind_log(self, *, workspace: str | None = None, ref: str | None = None, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindLogAnswer:
        """List notes as commits with message and seq, newest first."""

    def branchmind_tag_create(self, *, workspace: str | None = None, name: str, from_: str | int | None = None, force: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindTagCreateAnswer:
        """Name a commit, so that reset and other tags can mean it: `from` is its seq or a tag, default the head."""

    def branchmind_tag_list(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindTagListAnswer:
        """List the tags of a workspace by name."""

    def branchmind_tag_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindTagDeleteAnswer:
        """Delete a tag; the commit that it names stays."""

    def branchmind_reflog(self, *, workspace: str | None = None, ref: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindReflogAnswer:
        """List how a branch's head moved, commits and resets, newest first; it leads back to what a reset hid."""

    def branchmind_reset(self, *, workspace: str | None = None, to: str | int, ref: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindResetAnswer:
        """Move the head of a branch's notes to one of its commits (seq or tag); the reflog leads back to later ones."""

    def branchmind_graph_apply(self, *, workspace: str | None = None, ops: list[BranchmindGraphApplyOps], target: str | None = None, branch: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindGraphApplyAnswer:
        """Upsert or delete nodes and edges of a graph, all or none; an upsert replaces the whole node."""

    def branchmind_graph_query(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, include_edges: bool | None = True, edges_limit: int | None = 200, include_deleted: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphQueryAnswer:
        """Find nodes of any type with the edges between them, last changed first; filters combine with and."""

    def branchmind_graph_validate(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, max_errors: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphValidateAnswer:
        """Check that every edge of a branch's graph ends in existing nodes."""

    def branchmind_graph_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphDiffAnswer:
        """Show the nodes and edges of branch `to` that differ from branch `from`, deleted ones too, newest first."""

    def branchmind_graph_history(self, *, workspace: str | None = None, id: str, target: str | None = None, branch: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphHistoryAnswer:
        """Show the older versions of one card or node, newest first, as the branch sees it."""

    def branchmind_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeAnswer:
        """Copy only the notes of one document that `into` lacks, each once; a whole branch: `branchmind_merge_back`."""

    def branchmind_graph_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindGraphMergeAnswer:
        """Merge only one graph of a branch into its base; a key that both changed differently becomes a conflict."""

    def branchmind_merge_back(self, *, workspace: str | None = None, from_: str, into: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeBackAnswer:
        """Merge a whole branch into its base in one call: notes, traces, graphs; repeating adds nothing."""

    def branchmind_graph_conflicts(self, *, workspace: str | None = None, into: str, doc: str | None = 'graph', status: Literal['open', 'resolved'] | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictsAnswer:
        """List the conflicts of merges into a branch, newest first."""

    def branchmind_graph_conflict_show(self, *, workspace: str | None = None, conflict_id: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictShowAnswer:
        """Show one conflict: its `base` and the states of both sides, `from` and `into`."""

    def branchmind_graph_conflict_resolve(self, *, workspace: str | None = None, conflict_id: str, resolution: Literal['use_from', 'use_into', 'use_content'], content: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindGraphConflictResolveAnswer:
        """Settle one conflict; `applied: false` means that the destination stays as it is."""

    def branchmind_think_card(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a card of any type, with its links, to trace and graph; the same card again changes nothing."""

    def branchmind_think_add_hypothesis(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a hypothesis card: a claim that might be true."""

    def branchmind_think_add_question(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a question card: something that is not known yet."""

    def branchmind_think_add_test(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a test card: a way to show a hypothesis wrong."""

    def branchmind_think_add_note(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a note that cards can link to; a plain one is `branchmind_notes_commit`."""

    def branchmind_think_add_decision(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a decision card: the choice and its reasons."""

    def branchmind_think_add_evidence(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write an evidence card: an observation, and the cards that it supports or rejects."""

    def branchmind_think_add_frame(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a frame card: the problem, and the criterion of done."""

    def branchmind_think_add_update(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write an update card: a change of what was known before."""

    def branchmind_think_link(self, *, workspace: str | None = None, from_: str, rel: str, to: str, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkLinkAnswer:
        """Link two existing cards; an open card that blocks another keeps it from being next."""

    def branchmind_think_set_status(self, *, workspace: str | None = None, ids: str | list[str], status: str, reason: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSetStatusAnswer:
        """Change the status of one or more cards, with the `reason`; all or none."""

    def branchmind_think_pin(self, *, workspace: str | None = None, ids: str | list[str], pinned: bool | None = True, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkPinAnswer:
        """Pin cards so that they come first, or unpin them; the cards themselves do not change."""

    def branchmind_think_subgoal_open(self, *, workspace: str | None = None, question_id: str, title: str | None = None, text: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalOpenAnswer:
        """Open a subgoal of a question, with a trace and a graph of its own."""

    def branchmind_think_subgoal_close(self, *, workspace: str | None = None, subgoal_id: str, return_card: Mapping[str, Any] | str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalCloseAnswer:
        """Close a subgoal, with a card that states its result; the question above stays open."""

    def branchmind_think_nominal_merge(self, *, workspace: str | None = None, candidate_ids: str | list[str] | None = None, dry_run: bool | None = False, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkNominalMergeAnswer:
        """Merge cards that say the same into the oldest of them: the others get status `merged` and an edge `dedup`."""

    def branchmind_think_template(self, *, workspace: str | None = None, type: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkTemplateAnswer:
        """Show a template of a card to fill in: frame, hypothesis, question, test, evidence, decision, note, update."""

    def branchmind_think_playbook(self, *, workspace: str | None = None, name: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkPlaybookAnswer:
        """Show the steps of a thinking method: default, debug, bisect, experiment, criteria_matrix, contradiction."""

    def branchmind_think_context(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 30, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindThinkContextAnswer:
        """List the last changed cards, whole, and count them by type; without advice."""

    def branchmind_think_query(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkQueryAnswer:
        """Find cards by id, type, status, tags or text, last changed first; filters combine with and."""

    def branchmind_think_pins(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPinsAnswer:
        """List the pinned cards, last changed first."""

    def branchmind_think_frontier(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkFrontierAnswer:
        """List all open questions, hypotheses and tests, best first; a card that a decision settled is not open."""

    def branchmind_think_next(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkNextAnswer:
        """Show only the one card to continue with; null if nothing is open."""

    def branchmind_think_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 10, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPackAnswer:
        """Resume thinking: the last cards with their links, what is open, the next call; no notes, no trace."""

    def branchmind_think_watch(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, trace_doc: str | None = None, limit: int | None = 10, trace_limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkWatchAnswer:
        """Follow the thinking of others: what is open, and the last trace entries."""

    def branchmind_context_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, notes_doc: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, notes_limit: int | None = 20, trace_limit: int | None = 50, limit_cards: int | None = 30, include: list[Literal['capsules', 'artifacts']] | None = None, run_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindContextPackAnswer:
        """Resume work in one call: the last notes, trace and cards of a task or branch, and the next call."""

    def branchmind_trace_step(self, *, workspace: str | None = None, step: str, message: str | None = None, mode: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceStepAnswer:
        """Log a step of work in the trace: what was done and what came of it."""

    def branchmind_trace_sequential_step(self, *, workspace: str | None = None, thought: str, thought_number: int, total_thoughts: int, next_thought_needed: bool, is_revision: bool | None = None, revises_thought: int | None = None, branch_from_thought: int | None = None, branch_id: str | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceSequentialStepAnswer:
        """Log one of a series of numbered thoughts in the trace; it may revise an earlier one or branch off it."""

    def branchmind_trace_hydrate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceHydrateAnswer:
        """Read only the trace: its last entries, oldest first; `next_cursor` leads to older ones."""

    def branchmind_trace_validate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceValidateAnswer:
        """Check the steps of a trace: numbers count up without gaps or repeats, revisions point to an earlier thought."""

    def branchmind_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindPurgeAnswer:
        """Permanently remove rows that no branch shows any more: notes that resets hid, deleted nodes and edges of graphs."""

    def tasks_create(self, *, workspace: str | None = None, kind: Literal['plan', 'task'], title: str, parent: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = 'normal', tags: list[str] | None = None, steps: list[TasksCreateSteps] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksCreateAnswer:
        """Create a plan, or a task (of a plan, with `parent`), optionally with its steps."""

    def tasks_list(self, *, workspace: str | None = None, kind: Literal['plan', 'task'] | None = None, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 50, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksListAnswer:
        """List plans and tasks, oldest first, by kind, status, plan and tag; those to start now: `tasks_ready`."""

    def tasks_edit(self, *, workspace: str | None = None, target: str, title: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = None, tags: list[str] | None = None, depends_on: str | list[str] | None = None, contract: Mapping[str, Any] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEditAnswer:
        """Change a plan or task as a whole (one step: `tasks_define`); other fields stay. An empty list clears."""

    def tasks_complete(self, *, workspace: str | None = None, target: str, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = 'DONE', agent: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksCompleteAnswer:
        """Finish a plan or task (one step: `tasks_done`), or set it to TODO or ACTIVE. DONE needs all inside done."""

    def tasks_delete(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDeleteAnswer:
        """Delete a step with those below it, a task, or a plan with its tasks; the trace keeps what happened."""

    def tasks_focus(self, *, workspace: str | None = None, action: Literal['get', 'set', 'clear'] | None = None, target: str | None = None, idempotency_key: str | None = None) -> TasksFocusAnswer:
        """Get, set or clear the plan or task that the workspace works on; radar and hand-over use it by default."""

    def tasks_decompose(self, *, workspace: str | None = None, target: str, steps: list[TasksDecomposeSteps], parent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDecomposeAnswer:
        """Add steps to a plan or task, or below one of its steps; all or none."""

    def tasks_define(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, title: str | None = None, success_criteria: str | list[str] | None = None, tests: str | list[str] | None = None, blockers: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDefineAnswer:
        """Change one step (the whole task: `tasks_edit`); changed criteria or tests must be confirmed again."""

    def tasks_note(self, *, workspace: str | None = None, target: str, note: str, step_id: str | None = None, path: str | None = None, agent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksNoteAnswer:
        """Write a progress note on a plan, task or step; notes on no task: `branchmind_notes_commit`."""

    def tasks_verify(self, *, workspace: str | None = None, target: str, checkpoints: TasksVerifyCheckpoints, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksVerifyAnswer:
        """Confirm checkpoints of a step without closing it; `tasks_done` confirms and closes in one call."""

    def tasks_done(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, checkpoints: TasksDoneCheckpoints | None = None, agent: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDoneAnswer:
        """Close a step of a task; confirm in `checkpoints` what it defines. The whole task: `tasks_complete`."""

    def tasks_reopen(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksReopenAnswer:
        """Open a closed step again, to be confirmed anew, or a DONE plan or task, which becomes ACTIVE."""

    def tasks_block(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, blocked: bool | None = True, reason: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksBlockAnswer:
        """Block a step with the reason, or unblock it."""

    def tasks_evidence(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, links: str | list[str] | None = None, checks: str | list[str] | None = None, texts: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEvidenceAnswer:
        """Attach evidence to a plan, task or step: links, checks that were run, small texts."""

    def tasks_radar(self, *, workspace: str | None = None, target: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksRadarAnswer:
        """Say what to do now in planned work and the one next call (all details: `tasks_show`)."""

    def tasks_delta(self, *, workspace: str | None = None, since: str | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksDeltaAnswer:
        """List what happened to plans and tasks, oldest first; go on with `since` = the last event's id."""

    def tasks_handoff(self, *, workspace: str | None = None, target: str | None = None, as_capsule: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksHandoffAnswer:
        """Sum up planned work for another session: done, remaining, risks, findings, notes; yourself: `tasks_radar`."""

    def tasks_show(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksShowAnswer:
        """Show every detail of a plan, task or step: criteria, tests, notes, evidence, agents; next: `tasks_radar`."""

    def tasks_ready(self, *, workspace: str | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 20, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksReadyAnswer:
        """List the tasks that can be started now and nobody works on, the more urgent and then the older first."""

    def tasks_claim(self, *, workspace: str | None = None, agent: str, target: str | None = None, step_id: str | None = None, path: str | None = None, lease_s: int | None = 1800, release: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksClaimAnswer:
        """Reserve a task or a step for yourself, so that no other agent takes it; without `target` the first ready one."""

    def submit_payload(self, *, capability_id: str, body: Mapping[str, Any], provenance: SubmitPayloadProvenance | None = None, client_request_id: str | None = None, workspace: str | None = 'default', allow_secrets: bool | None = None, idempotency_key: str | None = None) -> SubmitPayloadAnswer:
        """Record a fact with its source: feature unit, release, decision, session, validation, component."""

    def retrieve_records(self, *, type: str | None = None, properties: Mapping[str, Any] | None = None, search: list[str] | str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 100, offset: int | None = 0, ids: list[str] | None = None, include_total_count: bool | None = False, workspace: str | None = None) -> RetrieveRecordsAnswer:
        """Find payloads as submitted, outdated ones too, by type, property, words, meaning; now: `retrieve_entities`."""

    def retrieve_entities(self, *, entity_type: str | None = None, properties: Mapping[str, Any] | None = None, limit: int | None = 100, offset: int | None = 0, include_snapshots: bool | None = True, include_provenance: bool | None = False, relations: bool | None = False, as_of: str | None = None, entity_id: str | None = None, workspace: str | None = None) -> RetrieveEntitiesAnswer:
        """List what is true now (or at `as_of`) of feature units, releases, decisions …, each once, newest first."""

    def list_timeline_events(self, *, event_type: str | None = None, after_date: str | None = None, before_date: str | None = None, source_record_id: str | None = None, entity_id: str | None = None, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, workspace: str | None = None) -> ListTimelineEventsAnswer:
        """List dated events of records (created, recorded, released …), newest first; bounds are inclusive."""

    def record_capabilities(self, *, capability_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> RecordCapabilitiesAnswer:
        """Show what `submit_payload` takes: each capability with its fields, their values and an example body."""

    def moss_search(self, *, query: str, types: list[Literal['capsule', 'artifact', 'note', 'node', 'task', 'record']] | None = None, workspace: str | None = None, run_id: str | None = None, after: str | None = None, before: str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 20, offset: int | None = 0) -> MossSearchAnswer:
        """Find anything stored ("what did we decide in May") by words and meaning; send a hit's `fetch` to load it."""

    def moss_history(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0, fetch_key: Mapping[str, Any] | None = None) -> MossHistoryAnswer:
        """List the versions of a capsule or artifact, newest first: when, how, what changed; `moss_revert` goes back."""

    def moss_revert(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int, expected_version: int | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossRevertAnswer:
        """Undo changes: make an old version of a capsule or artifact the present one; for deleted ones use restore."""

    def moss_rename(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, new_name: str | None = None, new_workspace: str | None = None, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossRenameAnswer:
        """Give a capsule or artifact another name, or move it to another workspace; a taken name is refused."""

    def moss_erase(self, *, type: Literal['capsule', 'artifact', 'record', 'note', 'trace', 'node', 'task'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int | None = None, branch: str | None = None, doc: str | None = None, seq: int | None = None, target: str | None = None, step_id: str | None = None, dry_run: bool | None = False, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossEraseAnswer:
        """Remove something for good (a secret, personal data): row, versions, copies, index and bytes; no way back."""

    def moss_freshness(self, *, workspace: str | None = None, id: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0, fetch_key: Mapping[str, Any] | None = None) -> MossFreshnessAnswer:
        """Tell which capsules, decisions and evidence are stale: whether files they name changed since they were saved."""

    def moss_confirm(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossConfirmAnswer:
        """Confirm that a capsule is still valid at the present commit, the new base of its freshness; makes no version."""

    def moss_places(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None) -> MossPlacesAnswer:
        """List the files that a capsule names, and which of them changed or are missing since it was saved."""

    def moss_workspaces(self, *, limit: int | None = 50, offset: int | None = 0) -> MossWorkspacesAnswer:
        """List the workspaces (projects) with counts and last change, newest first; at most 500 a page."""

    def moss_recent(self, *, limit: int | None = 50) -> MossRecentAnswer:
        """List the workspaces that changed last with the families of their content, without counts; at most 500."""

    def moss_workspace_rename(self, *, name: str, new_name: str, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossWorkspaceRenameAnswer:
        """Give a workspace another name, with everything in it of every family: all of it or nothing."""

    def moss_workspace_delete(self, *, name: str, dry_run: bool | None = True, idempotency_key: str | None = None) -> MossWorkspaceDeleteAnswer:
        """Delete a workspace with everything in it of every family; a dry run, the default, only counts its content."""

    def moss_activity(self, *, workspace: str | None = None, days: int | None = 63) -> MossActivityAnswer:
        """Count the rows of each family, and the changes on each of the last days, at most 366."""

    def moss_changes(self, *, after: int | None = None, limit: int | None = 100) -> MossChangesAnswer:
        """List the changes after a known one, oldest first; without `after` return only the number of the last one."""

    def moss_log(self, *, by: str | None = None, since: str | None = None, tool: str | None = None, workspace: str | None = None, limit: int | None = 50, offset: int | None = 0) -> MossLogAnswer:
        """List who changed what and when, newest first."""

    def moss_tools(self, *, query: str | None = None, names: list[str] | None = None) -> MossToolsAnswer:
        """Find tools by a question or by name; `best` comes with its schema; `moss_call` calls unlisted ones."""

    def moss_call(self, *, tool: str, arguments: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Call any tool, also an unlisted one, and get its answer; `moss_tools` shows its arguments."""

class AsyncTools:
    """Every tool as a method to be awaited."""

    async def capsule_store(self, *, capsule_text: str, workspace: str | None = 'default', name: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, mode: Literal['error', 'replace'] | None = 'error', expected_version: int | None = None, allow_thin: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleStoreAnswer:
        """Save a hand-over that another session loads by name; for one section `capsule_append`, for JSON `artifact_store`."""

    async def capsule_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_text: bool | None = True, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None, fetch_key: Mapping[str, Any] | None = None) -> FetchedCapsule:
        """Load one capsule with its text, by name or id, also an earlier `version`; if unknown, use `moss_search`."""

    async def capsule_fetch_many(self, *, items: list[CapsuleFetchManyItems], include_text: bool | None = True, include_deleted: bool | None = False) -> CapsuleFetchManyAnswer:
        """Load up to 50 capsules in one call, in the order asked for."""

    async def capsule_update(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, capsule_text: str | None = None, title: str | None = None, tags: list[str] | None = None, source: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, local: bool | None = None, expected_version: int | None = None, allow_thin: bool | None = False, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> StoredCapsuleAnswer:
        """Change text or metadata of a capsule; to go back to an old text use `moss_revert`."""

    async def capsule_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> CapsuleDeleteAnswer:
        """Delete a capsule so that `capsule_restore` can bring it back; to leave no trace use `moss_erase`."""

    async def capsule_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: CapsuleRestoreFilters | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> CapsuleRestoreAnswer:
        """Bring back a deleted capsule, or all that match `filters`; an overwritten text comes back with `moss_revert`."""

    async def capsule_latest(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_text: bool | None = False, include_deleted: bool | None = False) -> CapsuleLatestAnswer:
        """Resume with the most recently changed capsule of a workspace; `include_text` adds its text."""

    async def capsule_list(self, *, workspace: str | None = 'default', run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 20, offset: int | None = 0) -> CapsuleListAnswer:
        """List one workspace's capsules without text, newest change first; at most 100 a page."""

    async def capsule_inventory(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, limit: int | None = 100, offset: int | None = 0) -> CapsuleInventoryAnswer:
        """List the capsules of all workspaces without text, newest change first; at most 500 a page."""

    async def capsule_search(self, *, query: str, workspace: str | None = None, tag: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, include_deleted: bool | None = False, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'keyword', limit: int | None = 20, offset: int | None = 0) -> CapsuleSearchAnswer:
        """Find capsules by their words, best match first, each with a snippet."""

    async def capsule_append(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, section: str, content: str, mode: Literal['append', 'replace'] | None = 'append', expected_version: int | None = None, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleAppendAnswer:
        """Add to one section of a capsule, or replace its content, and leave the rest as it is."""

    async def capsule_compose(self, *, items: list[CapsuleComposeItems], sections: list[str] | None = None, format: Literal['markdown', 'json'] | None = 'markdown', store_as: CapsuleComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleComposeAnswer:
        """Join 1 to 50 capsules, or only some of their `sections`, into one text; all or nothing."""

    async def capsule_export(self, *, path: str | None = None, workspace: str | None = None, include_deleted: bool | None = False) -> CapsuleExportAnswer:
        """Write capsules to a JSONL file as a backup, which `capsule_import` reads."""

    async def capsule_import(self, *, path: str, mode: Literal['error', 'replace', 'rename'] | None = 'error', idempotency_key: str | None = None) -> CapsuleImportAnswer:
        """Read capsules from a JSONL file, all in one transaction."""

    async def capsule_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsulePurgeAnswer:
        """Remove capsules that were deleted before, for good: store, versions, index and disk; for others `moss_erase`."""

    async def capsule_bulk_delete(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> CapsuleBulkDeleteAnswer:
        """Soft-delete every active capsule that matches all of the given filters; at least one is needed."""

    async def capsule_bulk_update(self, *, workspace: str | None = None, tag: str | None = None, name_prefix: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, set_phase: str | None = None, set_role: str | None = None, set_tags: list[str] | None = None, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> CapsuleBulkUpdateAnswer:
        """Set phase, role or tags of every active capsule that matches all of the given filters."""

    async def artifact_store(self, *, kind: str, data: Mapping[str, Any], workspace: str | None = 'default', name: str | None = None, text: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tags: list[str] | None = None, ttl_seconds: int | None = None, expected_version: int | None = None, mode: Literal['error', 'replace'] | None = 'error', validate: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactStoreAnswer:
        """Save typed JSON for code, with optional text, version check and time to live; for prose use `capsule_store`."""

    async def artifact_list(self, *, workspace: str | None = None, kind: str | None = None, run_id: str | None = None, phase: str | None = None, role: str | None = None, tag: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, order_by: Literal['updated_at', 'created_at'] | None = 'updated_at', limit: int | None = 50, offset: int | None = 0) -> ArtifactListAnswer:
        """List artifacts with their data, newest first, in all workspaces unless one is given; at most 100 a page."""

    async def artifact_fetch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, include_expired: bool | None = False, include_deleted: bool | None = False, version: int | None = None, as_of: int | str | None = None, fetch_key: Mapping[str, Any] | None = None) -> FetchedArtifact:
        """Load one artifact with data and text, by name or id, also an earlier `version`."""

    async def artifact_delete(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactDeleteAnswer:
        """Delete one artifact so that `artifact_restore` can bring it back; its name is free again."""

    async def artifact_restore(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, filters: ArtifactRestoreFilters | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactRestoreAnswer:
        """Bring back a deleted artifact, or all that match `filters`; overwritten data come back with `moss_revert`."""

    async def artifact_touch(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, ttl_seconds: int, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> ArtifactTouchAnswer:
        """Set the seconds that an artifact lives from now; content and version stay. An expired one is not found."""

    async def artifact_compose(self, *, items: list[ArtifactComposeItems], format: Literal['markdown', 'json'] | None = 'markdown', store_as: ArtifactComposeStoreAs | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> ArtifactComposeAnswer:
        """Bundle the texts of 1 to 100 artifacts for an LLM, each under a header; all or nothing."""

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
        """Check a workspace without its contents: checkout, last task event, last entry, open conflicts."""

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
        """Write a note, the usual way: to the notes of a plan, task or branch (default: of the checkout)."""

    async def branchmind_show(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, doc_kind: Literal['notes', 'trace'] | None = 'trace', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindShowAnswer:
        """Page through one document (`doc`, or of `doc_kind`), oldest first; `next_cursor` goes further back."""

    async def branchmind_export(self, *, workspace: str | None = None, target: str, notes_limit: int | None = 20, trace_limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindExportAnswer:
        """Read the last notes and trace entries of one plan or task, without cards; it makes no file."""

    async def branchmind_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindDiffAnswer:
        """Show the entries that branch `to` shows and branch `from` does not; reverse them for the other direction."""

    async def branchmind_docs_list(self, *, workspace: str | None = None, ref: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindDocsListAnswer:
        """List the documents that a branch shows, with their number of entries and their last seq."""

    async def branchmind_commit(self, *, workspace: str | None = None, artifact: str, message: str, docs: str | list[str] | None = 'notes', meta: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindCommitAnswer:
        """Write a plain text (`artifact`) with a message as a commit, to be tagged or reset to, in one or more `docs`."""

    async def branchmind_log(self, *, workspace: str | None = None, ref: str | None = None, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindLogAnswer:
        """List notes as commits with message and seq, newest first."""

    async def branchmind_tag_create(self, *, workspace: str | None = None, name: str, from_: str | int | None = None, force: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindTagCreateAnswer:
        """Name a commit, so that reset and other tags can mean it: `from` is its seq or a tag, default the head."""

    async def branchmind_tag_list(self, *, workspace: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindTagListAnswer:
        """List the tags of a workspace by name."""

    async def branchmind_tag_delete(self, *, workspace: str | None = None, name: str, idempotency_key: str | None = None) -> BranchmindTagDeleteAnswer:
        """Delete a tag; the commit that it names stays."""

    async def branchmind_reflog(self, *, workspace: str | None = None, ref: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindReflogAnswer:
        """List how a branch's head moved, commits and resets, newest first; it leads back to what a reset hid."""

    async def branchmind_reset(self, *, workspace: str | None = None, to: str | int, ref: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindResetAnswer:
        """Move the head of a branch's notes to one of its commits (seq or tag); the reflog leads back to later ones."""

    async def branchmind_graph_apply(self, *, workspace: str | None = None, ops: list[BranchmindGraphApplyOps], target: str | None = None, branch: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> BranchmindGraphApplyAnswer:
        """Upsert or delete nodes and edges of a graph, all or none; an upsert replaces the whole node."""

    async def branchmind_graph_query(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, include_edges: bool | None = True, edges_limit: int | None = 200, include_deleted: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphQueryAnswer:
        """Find nodes of any type with the edges between them, last changed first; filters combine with and."""

    async def branchmind_graph_validate(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, doc: str | None = None, max_errors: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphValidateAnswer:
        """Check that every edge of a branch's graph ends in existing nodes."""

    async def branchmind_graph_diff(self, *, workspace: str | None = None, from_: str, to: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphDiffAnswer:
        """Show the nodes and edges of branch `to` that differ from branch `from`, deleted ones too, newest first."""

    async def branchmind_graph_history(self, *, workspace: str | None = None, id: str, target: str | None = None, branch: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindGraphHistoryAnswer:
        """Show the older versions of one card or node, newest first, as the branch sees it."""

    async def branchmind_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'notes', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeAnswer:
        """Copy only the notes of one document that `into` lacks, each once; a whole branch: `branchmind_merge_back`."""

    async def branchmind_graph_merge(self, *, workspace: str | None = None, from_: str, into: str, doc: str | None = 'graph', cursor: int | None = None, limit: int | None = 200, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindGraphMergeAnswer:
        """Merge only one graph of a branch into its base; a key that both changed differently becomes a conflict."""

    async def branchmind_merge_back(self, *, workspace: str | None = None, from_: str, into: str | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindMergeBackAnswer:
        """Merge a whole branch into its base in one call: notes, traces, graphs; repeating adds nothing."""

    async def branchmind_graph_conflicts(self, *, workspace: str | None = None, into: str, doc: str | None = 'graph', status: Literal['open', 'resolved'] | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictsAnswer:
        """List the conflicts of merges into a branch, newest first."""

    async def branchmind_graph_conflict_show(self, *, workspace: str | None = None, conflict_id: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindGraphConflictShowAnswer:
        """Show one conflict: its `base` and the states of both sides, `from` and `into`."""

    async def branchmind_graph_conflict_resolve(self, *, workspace: str | None = None, conflict_id: str, resolution: Literal['use_from', 'use_into', 'use_content'], content: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> BranchmindGraphConflictResolveAnswer:
        """Settle one conflict; `applied: false` means that the destination stays as it is."""

    async def branchmind_think_card(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a card of any type, with its links, to trace and graph; the same card again changes nothing."""

    async def branchmind_think_add_hypothesis(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a hypothesis card: a claim that might be true."""

    async def branchmind_think_add_question(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a question card: something that is not known yet."""

    async def branchmind_think_add_test(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a test card: a way to show a hypothesis wrong."""

    async def branchmind_think_add_note(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a note that cards can link to; a plain one is `branchmind_notes_commit`."""

    async def branchmind_think_add_decision(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a decision card: the choice and its reasons."""

    async def branchmind_think_add_evidence(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write an evidence card: an observation, and the cards that it supports or rejects."""

    async def branchmind_think_add_frame(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write a frame card: the problem, and the criterion of done."""

    async def branchmind_think_add_update(self, *, workspace: str | None = None, card: Mapping[str, Any] | str, target: str | None = None, branch: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, answers: str | list[str] | None = None, rejects: str | list[str] | None = None, supersedes: str | list[str] | None = None, tests: str | list[str] | None = None, allow_secrets: bool | None = None, ref: str | None = None, idempotency_key: str | None = None) -> WrittenCardAnswer:
        """Write an update card: a change of what was known before."""

    async def branchmind_think_link(self, *, workspace: str | None = None, from_: str, rel: str, to: str, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkLinkAnswer:
        """Link two existing cards; an open card that blocks another keeps it from being next."""

    async def branchmind_think_set_status(self, *, workspace: str | None = None, ids: str | list[str], status: str, reason: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSetStatusAnswer:
        """Change the status of one or more cards, with the `reason`; all or none."""

    async def branchmind_think_pin(self, *, workspace: str | None = None, ids: str | list[str], pinned: bool | None = True, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkPinAnswer:
        """Pin cards so that they come first, or unpin them; the cards themselves do not change."""

    async def branchmind_think_subgoal_open(self, *, workspace: str | None = None, question_id: str, title: str | None = None, text: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalOpenAnswer:
        """Open a subgoal of a question, with a trace and a graph of its own."""

    async def branchmind_think_subgoal_close(self, *, workspace: str | None = None, subgoal_id: str, return_card: Mapping[str, Any] | str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkSubgoalCloseAnswer:
        """Close a subgoal, with a card that states its result; the question above stays open."""

    async def branchmind_think_nominal_merge(self, *, workspace: str | None = None, candidate_ids: str | list[str] | None = None, dry_run: bool | None = False, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindThinkNominalMergeAnswer:
        """Merge cards that say the same into the oldest of them: the others get status `merged` and an edge `dedup`."""

    async def branchmind_think_template(self, *, workspace: str | None = None, type: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkTemplateAnswer:
        """Show a template of a card to fill in: frame, hypothesis, question, test, evidence, decision, note, update."""

    async def branchmind_think_playbook(self, *, workspace: str | None = None, name: str, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> BranchmindThinkPlaybookAnswer:
        """Show the steps of a thinking method: default, debug, bisect, experiment, criteria_matrix, contradiction."""

    async def branchmind_think_context(self, *, workspace: str | None = None, target: str | None = None, branch: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 30, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, ref: str | None = None) -> BranchmindThinkContextAnswer:
        """List the last changed cards, whole, and count them by type; without advice."""

    async def branchmind_think_query(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, ids: str | list[str] | None = None, types: str | list[str] | None = None, status: str | None = None, tags_any: str | list[str] | None = None, tags_all: str | list[str] | None = None, text: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkQueryAnswer:
        """Find cards by id, type, status, tags or text, last changed first; filters combine with and."""

    async def branchmind_think_pins(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPinsAnswer:
        """List the pinned cards, last changed first."""

    async def branchmind_think_frontier(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkFrontierAnswer:
        """List all open questions, hypotheses and tests, best first; a card that a decision settled is not open."""

    async def branchmind_think_next(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkNextAnswer:
        """Show only the one card to continue with; null if nothing is open."""

    async def branchmind_think_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, limit_cards: int | None = 10, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkPackAnswer:
        """Resume thinking: the last cards with their links, what is open, the next call; no notes, no trace."""

    async def branchmind_think_watch(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, graph_doc: str | None = None, trace_doc: str | None = None, limit: int | None = 10, trace_limit: int | None = 20, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindThinkWatchAnswer:
        """Follow the thinking of others: what is open, and the last trace entries."""

    async def branchmind_context_pack(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, notes_doc: str | None = None, trace_doc: str | None = None, graph_doc: str | None = None, notes_limit: int | None = 20, trace_limit: int | None = 50, limit_cards: int | None = 30, include: list[Literal['capsules', 'artifacts']] | None = None, run_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindContextPackAnswer:
        """Resume work in one call: the last notes, trace and cards of a task or branch, and the next call."""

    async def branchmind_trace_step(self, *, workspace: str | None = None, step: str, message: str | None = None, mode: str | None = None, supports: str | list[str] | None = None, blocks: str | list[str] | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceStepAnswer:
        """Log a step of work in the trace: what was done and what came of it."""

    async def branchmind_trace_sequential_step(self, *, workspace: str | None = None, thought: str, thought_number: int, total_thoughts: int, next_thought_needed: bool, is_revision: bool | None = None, revises_thought: int | None = None, branch_from_thought: int | None = None, branch_id: str | None = None, meta: Mapping[str, Any] | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, allow_secrets: bool | None = None, branch: str | None = None, idempotency_key: str | None = None) -> BranchmindTraceSequentialStepAnswer:
        """Log one of a series of numbered thoughts in the trace; it may revise an earlier one or branch off it."""

    async def branchmind_trace_hydrate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, cursor: int | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceHydrateAnswer:
        """Read only the trace: its last entries, oldest first; `next_cursor` leads to older ones."""

    async def branchmind_trace_validate(self, *, workspace: str | None = None, target: str | None = None, ref: str | None = None, doc: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, branch: str | None = None) -> BranchmindTraceValidateAnswer:
        """Check the steps of a trace: numbers count up without gaps or repeats, revisions point to an earlier thought."""

    async def branchmind_purge(self, *, workspace: str | None = None, older_than_days: int | None = None, dry_run: bool | None = False, idempotency_key: str | None = None) -> BranchmindPurgeAnswer:
        """Permanently remove rows that no branch shows any more: notes that resets hid, deleted nodes and edges of graphs."""

    async def tasks_create(self, *, workspace: str | None = None, kind: Literal['plan', 'task'], title: str, parent: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = 'normal', tags: list[str] | None = None, steps: list[TasksCreateSteps] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksCreateAnswer:
        """Create a plan, or a task (of a plan, with `parent`), optionally with its steps."""

    async def tasks_list(self, *, workspace: str | None = None, kind: Literal['plan', 'task'] | None = None, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 50, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksListAnswer:
        """List plans and tasks, oldest first, by kind, status, plan and tag; those to start now: `tasks_ready`."""

    async def tasks_edit(self, *, workspace: str | None = None, target: str, title: str | None = None, description: str | None = None, priority: Literal['low', 'normal', 'high'] | None = None, tags: list[str] | None = None, depends_on: str | list[str] | None = None, contract: Mapping[str, Any] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEditAnswer:
        """Change a plan or task as a whole (one step: `tasks_define`); other fields stay. An empty list clears."""

    async def tasks_complete(self, *, workspace: str | None = None, target: str, status: Literal['TODO', 'ACTIVE', 'DONE'] | None = 'DONE', agent: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksCompleteAnswer:
        """Finish a plan or task (one step: `tasks_done`), or set it to TODO or ACTIVE. DONE needs all inside done."""

    async def tasks_delete(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDeleteAnswer:
        """Delete a step with those below it, a task, or a plan with its tasks; the trace keeps what happened."""

    async def tasks_focus(self, *, workspace: str | None = None, action: Literal['get', 'set', 'clear'] | None = None, target: str | None = None, idempotency_key: str | None = None) -> TasksFocusAnswer:
        """Get, set or clear the plan or task that the workspace works on; radar and hand-over use it by default."""

    async def tasks_decompose(self, *, workspace: str | None = None, target: str, steps: list[TasksDecomposeSteps], parent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDecomposeAnswer:
        """Add steps to a plan or task, or below one of its steps; all or none."""

    async def tasks_define(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, title: str | None = None, success_criteria: str | list[str] | None = None, tests: str | list[str] | None = None, blockers: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksDefineAnswer:
        """Change one step (the whole task: `tasks_edit`); changed criteria or tests must be confirmed again."""

    async def tasks_note(self, *, workspace: str | None = None, target: str, note: str, step_id: str | None = None, path: str | None = None, agent: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksNoteAnswer:
        """Write a progress note on a plan, task or step; notes on no task: `branchmind_notes_commit`."""

    async def tasks_verify(self, *, workspace: str | None = None, target: str, checkpoints: TasksVerifyCheckpoints, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksVerifyAnswer:
        """Confirm checkpoints of a step without closing it; `tasks_done` confirms and closes in one call."""

    async def tasks_done(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, checkpoints: TasksDoneCheckpoints | None = None, agent: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksDoneAnswer:
        """Close a step of a task; confirm in `checkpoints` what it defines. The whole task: `tasks_complete`."""

    async def tasks_reopen(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, expected_revision: int | None = None, idempotency_key: str | None = None) -> TasksReopenAnswer:
        """Open a closed step again, to be confirmed anew, or a DONE plan or task, which becomes ACTIVE."""

    async def tasks_block(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, blocked: bool | None = True, reason: str | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksBlockAnswer:
        """Block a step with the reason, or unblock it."""

    async def tasks_evidence(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, links: str | list[str] | None = None, checks: str | list[str] | None = None, texts: str | list[str] | None = None, expected_revision: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksEvidenceAnswer:
        """Attach evidence to a plan, task or step: links, checks that were run, small texts."""

    async def tasks_radar(self, *, workspace: str | None = None, target: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksRadarAnswer:
        """Say what to do now in planned work and the one next call (all details: `tasks_show`)."""

    async def tasks_delta(self, *, workspace: str | None = None, since: str | None = None, limit: int | None = 50, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksDeltaAnswer:
        """List what happened to plans and tasks, oldest first; go on with `since` = the last event's id."""

    async def tasks_handoff(self, *, workspace: str | None = None, target: str | None = None, as_capsule: bool | None = False, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksHandoffAnswer:
        """Sum up planned work for another session: done, remaining, risks, findings, notes; yourself: `tasks_radar`."""

    async def tasks_show(self, *, workspace: str | None = None, target: str, step_id: str | None = None, path: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksShowAnswer:
        """Show every detail of a plan, task or step: criteria, tests, notes, evidence, agents; next: `tasks_radar`."""

    async def tasks_ready(self, *, workspace: str | None = None, parent: str | None = None, tag: str | None = None, limit: int | None = 20, offset: int | None = 0, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> TasksReadyAnswer:
        """List the tasks that can be started now and nobody works on, the more urgent and then the older first."""

    async def tasks_claim(self, *, workspace: str | None = None, agent: str, target: str | None = None, step_id: str | None = None, path: str | None = None, lease_s: int | None = 1800, release: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> TasksClaimAnswer:
        """Reserve a task or a step for yourself, so that no other agent takes it; without `target` the first ready one."""

    async def submit_payload(self, *, capability_id: str, body: Mapping[str, Any], provenance: SubmitPayloadProvenance | None = None, client_request_id: str | None = None, workspace: str | None = 'default', allow_secrets: bool | None = None, idempotency_key: str | None = None) -> SubmitPayloadAnswer:
        """Record a fact with its source: feature unit, release, decision, session, validation, component."""

    async def retrieve_records(self, *, type: str | None = None, properties: Mapping[str, Any] | None = None, search: list[str] | str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 100, offset: int | None = 0, ids: list[str] | None = None, include_total_count: bool | None = False, workspace: str | None = None) -> RetrieveRecordsAnswer:
        """Find payloads as submitted, outdated ones too, by type, property, words, meaning; now: `retrieve_entities`."""

    async def retrieve_entities(self, *, entity_type: str | None = None, properties: Mapping[str, Any] | None = None, limit: int | None = 100, offset: int | None = 0, include_snapshots: bool | None = True, include_provenance: bool | None = False, relations: bool | None = False, as_of: str | None = None, entity_id: str | None = None, workspace: str | None = None) -> RetrieveEntitiesAnswer:
        """List what is true now (or at `as_of`) of feature units, releases, decisions …, each once, newest first."""

    async def list_timeline_events(self, *, event_type: str | None = None, after_date: str | None = None, before_date: str | None = None, source_record_id: str | None = None, entity_id: str | None = None, entity_type: str | None = None, limit: int | None = 100, offset: int | None = 0, workspace: str | None = None) -> ListTimelineEventsAnswer:
        """List dated events of records (created, recorded, released …), newest first; bounds are inclusive."""

    async def record_capabilities(self, *, capability_id: str | None = None, max_chars: int | None = None, max_bytes: int | None = None, max_lines: int | None = None) -> RecordCapabilitiesAnswer:
        """Show what `submit_payload` takes: each capability with its fields, their values and an example body."""

    async def moss_search(self, *, query: str, types: list[Literal['capsule', 'artifact', 'note', 'node', 'task', 'record']] | None = None, workspace: str | None = None, run_id: str | None = None, after: str | None = None, before: str | None = None, search_mode: Literal['keyword', 'semantic', 'both'] | None = 'both', limit: int | None = 20, offset: int | None = 0) -> MossSearchAnswer:
        """Find anything stored ("what did we decide in May") by words and meaning; send a hit's `fetch` to load it."""

    async def moss_history(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0, fetch_key: Mapping[str, Any] | None = None) -> MossHistoryAnswer:
        """List the versions of a capsule or artifact, newest first: when, how, what changed; `moss_revert` goes back."""

    async def moss_revert(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int, expected_version: int | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossRevertAnswer:
        """Undo changes: make an old version of a capsule or artifact the present one; for deleted ones use restore."""

    async def moss_rename(self, *, type: Literal['capsule', 'artifact'], id: str | None = None, workspace: str | None = None, name: str | None = None, new_name: str | None = None, new_workspace: str | None = None, fetch_key: Mapping[str, Any] | None = None, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossRenameAnswer:
        """Give a capsule or artifact another name, or move it to another workspace; a taken name is refused."""

    async def moss_erase(self, *, type: Literal['capsule', 'artifact', 'record', 'note', 'trace', 'node', 'task'], id: str | None = None, workspace: str | None = None, name: str | None = None, version: int | None = None, branch: str | None = None, doc: str | None = None, seq: int | None = None, target: str | None = None, step_id: str | None = None, dry_run: bool | None = False, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossEraseAnswer:
        """Remove something for good (a secret, personal data): row, versions, copies, index and bytes; no way back."""

    async def moss_freshness(self, *, workspace: str | None = None, id: str | None = None, name: str | None = None, limit: int | None = 20, offset: int | None = 0, fetch_key: Mapping[str, Any] | None = None) -> MossFreshnessAnswer:
        """Tell which capsules, decisions and evidence are stale: whether files they name changed since they were saved."""

    async def moss_confirm(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> MossConfirmAnswer:
        """Confirm that a capsule is still valid at the present commit, the new base of its freshness; makes no version."""

    async def moss_places(self, *, id: str | None = None, workspace: str | None = None, name: str | None = None, fetch_key: Mapping[str, Any] | None = None) -> MossPlacesAnswer:
        """List the files that a capsule names, and which of them changed or are missing since it was saved."""

    async def moss_workspaces(self, *, limit: int | None = 50, offset: int | None = 0) -> MossWorkspacesAnswer:
        """List the workspaces (projects) with counts and last change, newest first; at most 500 a page."""

    async def moss_recent(self, *, limit: int | None = 50) -> MossRecentAnswer:
        """List the workspaces that changed last with the families of their content, without counts; at most 500."""

    async def moss_workspace_rename(self, *, name: str, new_name: str, dry_run: bool | None = False, allow_secrets: bool | None = None, idempotency_key: str | None = None) -> MossWorkspaceRenameAnswer:
        """Give a workspace another name, with everything in it of every family: all of it or nothing."""

    async def moss_workspace_delete(self, *, name: str, dry_run: bool | None = True, idempotency_key: str | None = None) -> MossWorkspaceDeleteAnswer:
        """Delete a workspace with everything in it of every family; a dry run, the default, only counts its content."""

    async def moss_activity(self, *, workspace: str | None = None, days: int | None = 63) -> MossActivityAnswer:
        """Count the rows of each family, and the changes on each of the last days, at most 366."""

    async def moss_changes(self, *, after: int | None = None, limit: int | None = 100) -> MossChangesAnswer:
        """List the changes after a known one, oldest first; without `after` return only the number of the last one."""

    async def moss_log(self, *, by: str | None = None, since: str | None = None, tool: str | None = None, workspace: str | None = None, limit: int | None = 50, offset: int | None = 0) -> MossLogAnswer:
        """List who changed what and when, newest first."""

    async def moss_tools(self, *, query: str | None = None, names: list[str] | None = None) -> MossToolsAnswer:
        """Find tools by a question or by name; `best` comes with its schema; `moss_call` calls unlisted ones."""

    async def moss_call(self, *, tool: str, arguments: Mapping[str, Any] | None = None, idempotency_key: str | None = None) -> dict[str, Any]:
        """Call any tool, also an unlisted one, and get its answer; `moss_tools` shows its arguments."""
