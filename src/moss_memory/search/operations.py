"""`moss_search`: one search over every family."""

from __future__ import annotations

import sys

from ..arguments import Limit, Offset, Query, RunId, Workspace
from ..errors import invalid
from ..operation import operation
from ..values import Page, label, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..storage.engine import ReadTransaction

    SearchTypes = list[Literal["capsule"]]
else:
    SearchTypes = {
        "type": "array",
        "items": {"type": "string", "enum": ["capsule"]},
        "description": "families to search; all by default",
    }

SOURCES = {"capsule": "moss_memory.capsule.search"}
"""The module of each family whose `documents` shows its hits."""


@operation(idempotent=True, example='moss search "how do we rotate tokens" --workspace shop')
def moss_search(
    tx: ReadTransaction,
    *,
    query: Query,
    types: SearchTypes | None = None,
    workspace: Workspace | None = None,
    run_id: RunId | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Search everything in Moss by words, best match first: each hit with type, address, title, snippet and score.

    Send a hit's `address` to the fetch tool of its type. Query syntax as in capsule_search.
    """
    from .query import parse  # decoding and refusals need no tokenizer
    from .snippet import snippet

    if types is not None and not types:
        raise invalid(f"types is empty; name at least one of {', '.join(SOURCES)} or leave it out", path="types")
    page = Page(limit, offset, maximum=100)
    run = label(run_id, what="run_id")
    hits = tx.search(
        parse(query),
        families=tuple(dict.fromkeys(types or SOURCES)),
        workspace_norm=None if workspace is None else normalize(workspace, what="workspace"),
        where=[] if run is None else ["run_id = :f_run_id"],
        parameters={} if run is None else {"f_run_id": run},
        limit=page.limit,
        offset=page.offset,
    )
    items = []
    found = {family: _documents(tx, family, hits.items) for family in {hit.family for hit in hits.items}}
    for hit in hits.items:
        document = found[hit.family][hit.row_id]
        text = document.pop("text")
        items.append({"type": hit.family, **document, "snippet": snippet(text, hits.matcher), "score": hit.score})
    return {"items": items, "pagination": page.answer(returned=len(items), total=hits.total), "sort": "relevance"}


def _documents(tx: ReadTransaction, family: str, hits: list[Any]) -> dict[int, dict[str, Any]]:
    module = SOURCES[family]
    if module not in sys.modules:
        __import__(module)
    found: dict[int, dict[str, Any]] = sys.modules[module].documents(
        tx, [hit.row_id for hit in hits if hit.family == family]
    )
    return found
