"""`moss_search`: one search over every family."""

from __future__ import annotations

from ..arguments import Limit, Offset, Query, RunId, Workspace
from ..errors import invalid
from ..families import FAMILIES, SEARCHED, module
from ..operation import operation
from ..values import Page, label, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..storage.engine import ReadTransaction
    from .hits import Hit

    SearchTypes = list[Literal["capsule", "artifact"]]
else:
    SearchTypes = {
        "type": "array",
        "items": {"type": "string", "enum": ["capsule", "artifact"]},
        "description": "families to search; all by default",
    }


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

    families = _families(types, tx.config.disabled_types)
    page = Page(limit, offset, maximum=100)
    run = label(run_id, what="run_id")
    hits = tx.search(
        parse(query),
        families=families,
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


def _families(types: SearchTypes | None, disabled: list[str]) -> tuple[str, ...]:
    """The families to search: those asked for, or all, without those that the configuration switched off."""
    known = [family.name for family in SEARCHED if family.name not in disabled]
    if types is not None and not types:
        raise invalid(f"types is empty; name at least one of {', '.join(known)} or leave it out", path="types")
    chosen = tuple(name for name in known if types is None or name in types)
    if not chosen:
        raise invalid("every type asked for is disabled by the configuration", path="types")
    return chosen


def _documents(tx: ReadTransaction, family: str, hits: list[Hit]) -> dict[int, dict[str, Any]]:
    show = module(FAMILIES[family].search_module).documents
    found: dict[int, dict[str, Any]] = show(tx, [hit.row_id for hit in hits if hit.family == family])
    return found
