"""Response schemas of reasoning tools: entries, commits, branches, nodes, edges, conflicts, cards."""

from __future__ import annotations

from moss_memory.registry.responses import (
    LONG,
    ResponseSchema,
    TableColumn,
    choice,
    flag,
    free,
    integer,
    list_of,
    map_of,
    moment_ms,
    object_of,
    one_of,
    text,
    texts,
    time_text,
)

from .graph.graph_keys import EDGE_KEY, ENDS, KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.registry.responses import ResponseRow

WORKSPACE = {"workspace": text("project namespace, as it was given")}
DOCUMENT_REF = {"branch": text("branch"), "doc": text("document")}
CARD_REF = {"branch": text("branch"), "graph_doc": text("document of its graph")}
LAST_SEQ = integer("number of the last version written")

_SEQ = TableColumn("seq")
_WRITTEN = TableColumn("ts_ms", "written", drop_rank=6)
_TYPE = TableColumn("type", drop_rank=5)
_STATUS = TableColumn("status", min_width=6, drop_rank=3)
_KIND = TableColumn("kind", min_width=6, drop_rank=3)
_GONE = TableColumn("deleted", unless=False)

WHEN = {
    "ts": time_text("when it was written", shown="never"),
    "ts_ms": moment_ms("the same in milliseconds", label="written"),
}

CURSOR_PAGE = ResponseSchema(
    "CursorPage",
    {
        "cursor": integer("the cursor of this page", nullable=True),
        "next_cursor": integer("the cursor of the next page; absent on the last", optional=True),
        "has_more": flag("true if rows follow"),
        "limit": integer("most rows of a page"),
        "count": integer("rows on this page"),
    },
)
PAGINATION = {"pagination": object_of(CURSOR_PAGE, "the position of this page", shown="page")}

ENTRY = ResponseSchema(
    "Entry",
    {
        "seq": integer("its number, unique in the store"),
        **WHEN,
        "branch": text("branch on which it was written"),
        "doc": text("document"),
        "kind": choice(("note", "event"), "event if a change of a task wrote it"),
        "title": text("short title", optional=True),
        "format": text("the format of its text", optional=True),
        "meta": free("free-form JSON", optional=True),
        "content": text("its text", shown="whole"),
        "source_event_id": text("the task event or the merged entry that it comes from", optional=True),
        "by": text("the author of an entry of a trace, if known", optional=True),
    },
    table=(
        _SEQ,
        _WRITTEN,
        TableColumn("branch", min_width=6, drop_rank=8),
        TableColumn("kind", drop_rank=4, unless="note"),
        TableColumn("title", min_width=8, drop_rank=5),
        TableColumn("content", min_width=16, max_width=LONG),
    ),
)
ENTRIES = {"entries": list_of(ENTRY, "the entries, oldest first", shown="answer"), **PAGINATION}
_LOG = ResponseSchema("Entries", ENTRIES)
LAST_ENTRIES = object_of(_LOG, "the last entries, oldest first", shown="apart")
"""The last entries of a document as part of a response."""

COMMIT = ResponseSchema(
    "Commit",
    {
        "seq": integer("its number, unique in the store"),
        **WHEN,
        "message": text("its message, in a line"),
        "content": text("its text", shown="whole"),
        "meta": free("free-form JSON", optional=True),
    },
    table=(_SEQ, _WRITTEN, TableColumn("message", min_width=16), TableColumn("content", min_width=12, max_width=LONG)),
)
NEW_COMMIT = ResponseSchema(
    "NewCommit",
    {
        "seq": integer("its number, unique in the store"),
        **WHEN,
        **DOCUMENT_REF,
        "message": text("its message, in a line"),
    },
    table=(_SEQ, _WRITTEN, TableColumn("branch", min_width=6), TableColumn("doc", min_width=6), TableColumn("message")),
)
DOCUMENT = ResponseSchema(
    "Document",
    {
        "doc": text("its name"),
        "entries": integer("number of entries or versions that the branch shows"),
        "last_seq": integer("number of the last of them", nullable=True),
    },
    table=(TableColumn("doc", min_width=12), TableColumn("entries"), TableColumn("last_seq", "last")),
)
TAG = ResponseSchema(
    "Tag",
    {
        "name": text("its name"),
        **DOCUMENT_REF,
        "seq": integer("number of the commit that it names"),
        "created_at_ms": moment_ms("when it was created or moved"),
    },
    table=(
        TableColumn("name", min_width=12),
        _SEQ,
        TableColumn("branch", min_width=6),
        TableColumn("doc", min_width=6),
        TableColumn("created_at_ms", "tagged", drop_rank=7),
    ),
)
MOVE = ResponseSchema(
    "Move",
    {
        **WHEN,
        "doc": text("document"),
        "old_seq": integer("the head before", nullable=True),
        "new_seq": integer("the head after"),
        "message": text("the commit's message, or the target of the reset"),
    },
    table=(
        _WRITTEN,
        TableColumn("doc", min_width=6, drop_rank=4),
        TableColumn("old_seq", "from"),
        TableColumn("new_seq", "to"),
        TableColumn("message", min_width=16),
    ),
)
BRANCH_ROW = ResponseSchema(
    "Branch",
    {
        "name": text("its name"),
        "base_branch": text("the branch of the snapshot that it is based on", nullable=True),
        "base_seq": integer("the last number of that snapshot", nullable=True),
    },
    table=(
        TableColumn("name", min_width=12),
        TableColumn("base_branch", "base", min_width=8),
        TableColumn("base_seq", "at"),
    ),
)
DEFAULTS = object_of(
    ResponseSchema(
        "Defaults",
        {"branch": text("the first branch"), "docs": map_of(text("document"), "documents by their purpose")},
    ),
    "the branch and documents of calls that name none",
    shown="never",
)
_NODE_FIELDS = {
    "id": text("its id"),
    "type": text("its type, such as question"),
    "title": text("short title", optional=True),
    "text": text("details", optional=True),
    "status": text("such as open", optional=True),
    "tags": texts("tags, in lower case"),
}
_VERSION = {
    "meta": free("free-form JSON", optional=True),
    "deleted": flag("true if this version deletes it"),
    "last_seq": integer("number of this version"),
    "last_ts_ms": moment_ms("when it was written", shown="never"),
}


def _node_row(node: ResponseRow) -> ResponseRow:
    """Return a node as a table row, with its text as title if it has none."""
    return node if "title" in node or "text" not in node else {**node, "title": node["text"]}


NODE = ResponseSchema(
    "Node",
    {**_NODE_FIELDS, **_VERSION},
    table=(
        TableColumn("id", min_width=8),
        _TYPE,
        _STATUS,
        TableColumn("title", min_width=16),
        TableColumn("tags", min_width=8, drop_rank=8, unless=[]),
        _GONE,
    ),
    row=_node_row,
)
EDGE = ResponseSchema(
    "Edge",
    {**ENDS, **_VERSION},
    table=(TableColumn("from", min_width=8), TableColumn("rel", min_width=6), TableColumn("to", min_width=8), _GONE),
)


def _change_row(change: ResponseRow) -> ResponseRow:
    """Return a change as a table row: its key and the new state."""
    state = change["to"]
    happened = "deleted" if state.get("deleted") else "added" if change.get("added") else "changed"
    fields = {"key": change.get("key", change.get("id")), "change": happened}
    return {**{key: state.get(key) for key in ("type", "status", "title")}, "kind": change["kind"], **fields}


CHANGE = ResponseSchema(
    "Change",
    {
        "kind": choice(("node", "edge"), "the kind of its key"),
        "id": text("a node's id", optional=True),
        "key": object_of(EDGE_KEY, "an edge's ends", optional=True),
        "to": one_of((object_of(NODE, "a node"), object_of(EDGE, "an edge")), "its state on the branch `to`"),
    },
    table=(
        TableColumn("change"),
        _KIND,
        TableColumn("key", min_width=12),
        _TYPE,
        _STATUS,
        TableColumn("title", min_width=16, drop_rank=9),
    ),
    row=_change_row,
)
DANGLING = ResponseSchema(
    "DanglingEdge",
    {
        "code": text("EDGE_ENDPOINT_MISSING"),
        "edge": object_of(EDGE_KEY, "the edge"),
        "missing": texts("ids that no node has"),
        "message": text("the same in a sentence"),
    },
    table=(TableColumn("code"), TableColumn("edge", min_width=12), TableColumn("message", min_width=20, max_width=0)),
)
CONFLICT = ResponseSchema(
    "Conflict",
    {
        "conflict_id": text("a hash of the conflicting states"),
        "kind": choice(("node", "edge"), "the kind of its key"),
        "key": KEY,
        "status": choice(("open", "resolved"), "open until it is resolved"),
        "created_at_ms": moment_ms("when it was found"),
    },
    table=(
        TableColumn("conflict_id"),
        _KIND,
        TableColumn("key", min_width=12),
        _STATUS,
        TableColumn("created_at_ms", "found", drop_rank=7),
    ),
)
_STATE = ResponseSchema("State", {name: field.or_absent() for name, field in {**NODE.fields, **EDGE.fields}.items()})
_SIDES = {
    "base": object_of(_STATE, "the common ancestor; null if there is none", nullable=True, shown="side"),
    "from": object_of(_STATE, "the state on the merged branch", shown="side"),
    "into": object_of(_STATE, "the state on the destination branch", shown="side"),
}
BOTH_SIDES = ResponseSchema(
    "ConflictSides",
    {"conflict_id": CONFLICT.fields["conflict_id"], "key": KEY, **_SIDES},
    table=(TableColumn("conflict_id"), TableColumn("key", min_width=12)),
)
WHOLE_CONFLICT = ResponseSchema(
    "WholeConflict",
    {
        **CONFLICT.fields,
        "from_branch": text("the merged branch"),
        "into_branch": text("the destination branch"),
        "doc": text("document"),
        "resolution": choice(
            ("use_from", "use_into", "use_content", "superseded"), "how it was settled", optional=True
        ),
        "resolved_at_ms": moment_ms("when it was resolved", optional=True),
        **_SIDES,
    },
)
"""A conflict with both sides; a side is empty if it exceeds the budget."""
APPLIED = ResponseSchema(
    "Applied",
    {
        "nodes_upserted": integer("nodes written"),
        "nodes_deleted": integer("nodes deleted"),
        "edges_upserted": integer("edges written"),
        "edges_deleted": integer("edges deleted"),
    },
)
WRITTEN_CARD = ResponseSchema(
    "WrittenCard",
    {
        "branch": text("branch"),
        "trace_doc": text("document of its trace"),
        "graph_doc": text("document of its graph"),
        "card_id": text("the card's id"),
        "inserted": flag("false if the same card already existed"),
        "graph_applied": object_of(
            APPLIED.without("nodes_deleted", "edges_deleted", name="CardApplied"), "in the graph"
        ),
        "meta_keys": texts("keys of `card` that are no fields of a card and went to its `meta`", optional=True),
        "last_seq": LAST_SEQ.or_absent(),
    },
)
CANDIDATE = ResponseSchema(
    "Candidate",
    {
        "id": text("the card's id"),
        "type": text("question, hypothesis or test"),
        "title": text("its title, or the beginning of its text"),
        "status": text("open"),
        "last_seq": integer("number of its last version"),
        "pinned": flag("true if it is pinned"),
        "blocked_by": texts("open cards that block it"),
        "why": text("the reason for its rank"),
    },
    table=(
        TableColumn("id", min_width=8),
        _TYPE,
        _STATUS,
        TableColumn("title", min_width=16),
        TableColumn("blocked_by", "blocked by", min_width=6, drop_rank=8),
        TableColumn("why", min_width=12, drop_rank=9),
    ),
)
STATS = object_of(
    ResponseSchema(
        "CardStats",
        {
            "cards": integer("the number of cards"),
            "by_type": map_of(integer("number of cards"), "the number of each type; empty if the budget is tight"),
        },
    ),
    "the number of cards",
)
