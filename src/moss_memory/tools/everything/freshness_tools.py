"""`moss_freshness`: which capsules and cards name files that have changed since they were saved."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.arguments import Id, Limit, Name, Offset, Workspace
from moss_memory.registry.cli_traits import Cli, string, switch
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    HINT,
    PAGINATION,
    ResponseSchema,
    TableColumn,
    choice,
    list_of,
    object_of,
    text,
)
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.storage.origin import find_origin
from moss_memory.storage.queries import load_queries
from moss_memory.tools.capsule.capsule_code_state import (
    FRESHNESS,
    SAVED_IN,
    describe_freshness,
    saved_code_state,
    show_code,
)
from moss_memory.tools.capsule.capsule_rows import capsules
from moss_memory.tools.capsule.capsule_rows import sql as capsule_sql

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.code_state.freshness import Freshness
    from moss_memory.code_state.work_tree import CodeState
    from moss_memory.storage.engine import ReadTransaction, Transaction

sql = load_queries(__file__)

MOST_COMPARED = 5_000
"""The maximum number of capsules, and of cards, that are compared: the last changed ones."""
_ITEM = ResponseSchema(
    "FreshnessItem",
    {
        "type": choice(("capsule", "card"), "its type"),
        "id": text("its id"),
        "name": text("name of a capsule", optional=True),
        "title": text("title", optional=True),
        "workspace": text("namespace, as it was written"),
        "saved_in": object_of(SAVED_IN, "where in the code; null if unknown", nullable=True),
        "freshness": object_of(FRESHNESS, "whether its files have changed"),
    },
    table=(
        TableColumn("state"),
        TableColumn("type", drop_rank=3),
        TableColumn("name", min_width=8),
        TableColumn("workspace", min_width=8, drop_rank=2),
        TableColumn("found", "", min_width=20, max_width=0),
    ),
    row=lambda item: {
        **item,
        "state": item["freshness"]["state"],
        "name": item.get("name") or item.get("title") or item["id"],
        "found": describe_freshness(item["freshness"]).partition(item["freshness"]["state"])[2].lstrip(",: "),
    },
)


@operation(
    idempotent=True,
    slow=True,
    answers={"items": list_of(_ITEM, "the worst first", shown="answer"), "pagination": PAGINATION, **HINT},
    cli=Cli(
        options={
            "check": switch("exit with 1 if something is drifted or orphaned"),
            "confirm": string("confirm that this capsule, NAME or WORKSPACE/NAME, is still correct"),
        },
        runs="commands.freshness_command.freshness",
    ),
    example="moss freshness --workspace shop",
    words=(
        "stale, outdated, still true, still valid, out of date, did the code change since, drift, obsolete notes,"
        " which memories refer to deleted files, check against the code, up to date, is it still correct, do my "
        "notes still fit the code, has the code changed since, outdated capsules, which notes are stale, files "
        "changed since, do the decisions still hold, is this decision outdated, can I trust this capsule"
    ),
)
def moss_freshness(
    tx: ReadTransaction,
    *,
    workspace: Workspace | None = None,
    id: Id | None = None,
    name: Name | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Tell which capsules, decisions and evidence are stale: whether files they name changed since they were saved.

    Worst first: orphaned (all files gone), drifted, unknown (with why), fresh.
    """
    page = Page(limit, offset, maximum=100)
    candidates = _last_changed(tx, workspace) if id is None and name is None else _addressed(tx, id, workspace, name)
    tree = tx.call.caller.work_tree()
    present = None if tree is None else tree.state()
    ranked = sorted(zip(_compare(tx, candidates), candidates, strict=True), key=lambda pair: _rank(*pair))
    items = [
        {**item, "saved_in": None if saved is None else show_code(saved, present), "freshness": result.to_response()}
        for result, (item, saved, _, _) in ranked[page.offset : page.end]
    ]
    return {"items": items, "pagination": page.answer(returned=len(items), total=len(ranked))}


@operation(
    mutates=True,
    idempotent=True,
    visible=False,
    answers={
        "id": text("ULID"),
        "workspace": text("namespace, as it was written"),
        "name": text("handle, as it was written", optional=True),
        "saved_in": object_of(SAVED_IN, "the commit at which it holds"),
    },
    cli=Cli(sentence="Confirmed {it} at commit {commit}."),
    example="moss confirm shop/auth",
)
def moss_confirm(
    tx: Transaction, *, id: Id | None = None, workspace: Workspace | None = None, name: Name | None = None
) -> dict[str, Any]:
    """Confirm that a capsule is still valid at the present commit, the new base of its freshness; makes no version."""
    code = tx.call.caller.origin().code
    if code is None or not code.commit:
        raise invalid_request("no commit is known here; confirm a capsule inside of its repository")
    row = capsules.find(tx, Address(id, workspace, name))
    saved = saved_code_state(tx, row)
    if saved is not None and not saved.is_same_repository(code):
        raise MossError(
            "CONFLICT",
            f"it was saved in the repository {saved.repository!r}, and this is {code.repository!r}; confirm it there",
            recovery=next_call("capsule_fetch", {"id": row["id"]}, "shows the capsule and where it was saved"),
        )
    tx.run(capsule_sql["confirm"], {"id": row["id"], "origin": tx.origin_key()})
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    name_field = {} if row["name_raw"] is None else {"name": row["name_raw"]}
    return {"id": row["id"], "workspace": row["workspace_raw"], **name_field, "saved_in": code.to_response()}


_NAMED_FILE = ResponseSchema(
    "Place",
    {"path": text("the file"), "state": choice(("fresh", "changed", "missing"), "since the capsule was saved")},
    table=(TableColumn("state"), TableColumn("path", min_width=20, max_width=0)),
)


@operation(
    idempotent=True,
    visible=False,
    answers={
        "id": text("ULID"),
        "name": text("handle, as it was written", optional=True),
        "places": list_of(_NAMED_FILE, "the files that it names", shown="answer"),
        "freshness": object_of(FRESHNESS, "all in all"),
    },
    example="moss places shop/auth",
)
def moss_places(
    tx: ReadTransaction, *, id: Id | None = None, workspace: Workspace | None = None, name: Name | None = None
) -> dict[str, Any]:
    """List the files that a capsule names, and which of them changed or are missing since it was saved."""
    from moss_memory.code_state import freshness

    row = capsules.find(tx, Address(id, workspace, name), include_deleted=True)
    saved, tree = saved_code_state(tx, row), tx.call.caller.work_tree()
    if saved is None or tree is None:
        comparison = _without_comparison(tx, saved)
    else:
        comparison = freshness.compare_files(tree, saved, row["capsule_text"])
    kinds = (("missing", comparison.missing), ("changed", comparison.changed), ("fresh", comparison.kept))
    files = [{"path": path, "state": state} for state, paths in kinds for path in paths]
    name_field = {} if row["name_raw"] is None else {"name": row["name_raw"]}
    return {"id": row["id"], **name_field, "places": files, "freshness": comparison.to_response()}


if TYPE_CHECKING:
    Candidate = tuple[dict[str, Any], CodeState | None, str, int]
    """The fields of an item, its saved commit, its text, and the number of its last change."""


def _addressed(tx: ReadTransaction, id: str | None, workspace: str | None, name: str | None) -> list[Candidate]:
    """Return the capsule or card at an address."""
    if id is not None and name is None and workspace is None and "reasoning" not in tx.config.disabled_types:
        cards = _cards(tx, "and v.key = :key", {"key": id})
        if cards:
            return cards
    row = capsules.find(tx, Address(id, workspace, name))
    return [_capsule(row, saved_code_state(tx, row))]


def _last_changed(tx: ReadTransaction, workspace: str | None) -> list[Candidate]:
    """Return the last changed capsules and cards of a workspace, or of all."""
    candidates: list[Candidate] = []
    values = {} if workspace is None else {"workspace": normalize_workspace(workspace)}
    if "capsule" not in tx.config.disabled_types:
        candidates += _capsules(tx, "and workspace_norm = :workspace" if values else "", values)
    if "reasoning" not in tx.config.disabled_types:
        candidates += _cards(tx, "and v.workspace_norm = :workspace" if values else "", values)
    return candidates


def stale_capsules(tx: ReadTransaction, *, ids: list[str]) -> dict[str, str]:
    """Return the state, `drifted` or `orphaned`, of each of these capsules whose files changed or are missing."""
    candidates = _capsules(tx, f"and {tx.sql_in('id', 'ids')}", {"ids": ids})
    states = {item["id"]: result.state for result, (item, *_) in zip(_compare(tx, candidates), candidates, strict=True)}
    return {key: state for key, state in states.items() if state in ("drifted", "orphaned")}


def _capsules(tx: ReadTransaction, condition: str, values: dict[str, Any]) -> list[Candidate]:
    """Return the last changed capsules."""
    columns = ("id", "workspace_raw", "name_raw", "title", "capsule_text", "confirmed_origin", "version_origin")
    rows = tx.stream(
        f"select {', '.join(columns)} from capsules where deleted_at is null {condition}"
        " order by updated_at desc, change_seq desc limit :most",
        {**values, "most": MOST_COMPARED},
    )
    listed = [dict(zip(columns, row, strict=True)) for row in rows]
    return [_capsule(row, saved_code_state(tx, row), -place) for place, row in enumerate(listed)]


def _capsule(row: dict[str, Any], saved: CodeState | None, change: int = 0) -> Candidate:
    item = {"type": "capsule", "id": row["id"], "name": row["name_raw"], "title": row["title"]}
    item["workspace"] = row["workspace_raw"]
    return {key: value for key, value in item.items() if value is not None}, saved, row["capsule_text"], change


def _cards(tx: ReadTransaction, condition: str, values: dict[str, Any]) -> list[Candidate]:
    """Return the valid decisions and evidence, each once even if several branches have it."""
    cards: dict[tuple[str, str], Candidate] = {}
    statement = sql["cards_about_code"].filled(condition=condition)
    for workspace, key, title, content, origin_id, seq in list(tx.stream(statement, {**values, "most": MOST_COMPARED})):
        if (workspace, key) not in cards:
            origin = find_origin(tx, origin_id)
            titled = {} if title is None else {"title": title}
            item = {"type": "card", "id": key, **titled, "workspace": workspace}
            text = f"{title or ''}\n{content or ''}"
            cards[workspace, key] = (item, None if origin is None else origin.code, text, seq)
    return list(cards.values())


def _compare(tx: ReadTransaction, candidates: list[Candidate]) -> list[Freshness]:
    from moss_memory.code_state import freshness  # only this tool and a fetch in a repository need it

    tree = tx.call.caller.work_tree()
    if tree is None:
        return [_without_comparison(tx, saved) for _, saved, _, _ in candidates]
    return freshness.freshness_of_all(tree, [(saved, text) for _, saved, text, _ in candidates], tx.check_cancelled)


def _without_comparison(tx: ReadTransaction, saved: CodeState | None) -> Freshness:
    from moss_memory.code_state import freshness

    if saved is None:
        return freshness.unknown(freshness.NO_COMMIT)
    return freshness.unknown(freshness.NO_REPOSITORY if tx.config.record_code else freshness.TURNED_OFF)


def _rank(result: Freshness, candidate: Candidate) -> tuple[Any, ...]:
    from moss_memory.code_state.freshness import STATES

    item, _, _, change = candidate
    return STATES.index(result.state), -result.changed_share, item["type"], -change, item["id"]
