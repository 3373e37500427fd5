"""`moss_log`: who changed what and when, newest first, without stored texts."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.arguments import Limit, Offset, Workspace
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import HINT, PAGINATION, ResponseSchema, TableColumn, list_of, moment, text
from moss_memory.registry.tool_groups import TOOL_GROUPS
from moss_memory.rows.names import normalize_workspace
from moss_memory.rows.paging import Page
from moss_memory.rows.times import duration_s, instant_us

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction

ActivitySince = Annotated[str, "date, time or age (7d)"]
By = Annotated[str, "token's name"]
ToolName = Annotated[str, "name of a tool"]

_EVENT = ResponseSchema(
    "LoggedEvent",
    {
        "at": moment("when"),
        "by": text("who, null if unknown", nullable=True),
        "tool": text("which tool"),
        "workspace": text("where, in its normal form; null if nowhere", nullable=True),
        "address": text("id of the changed object; null if there were several", nullable=True),
        "repository": text("the repository in which the caller worked", optional=True),
        "commit": text("its commit at that time", optional=True),
    },
    table=(
        TableColumn("at", "when"),
        TableColumn("by", min_width=8),
        TableColumn("tool"),
        TableColumn("workspace", drop_rank=1),
        TableColumn("address", min_width=12, max_width=0),
        TableColumn("repository", drop_rank=3, unless=None),
        TableColumn("commit", drop_rank=2, unless=None),
    ),
)


@operation(
    idempotent=True,
    answers={"events": list_of(_EVENT, "newest first", shown="answer"), "pagination": PAGINATION, **HINT},
    example="moss log --by anna --since 7d",
    words=(
        "audit log, who changed this, who wrote what, changes of a person, changes by a token, when was it "
        "changed, who did what, who edited, who deleted, who wrote this, log of changes, last changes, what did a"
        " user change, changes of last week, writes of an agent, recent changes by others"
    ),
)
def moss_log(
    tx: ReadTransaction,
    *,
    by: By | None = None,
    since: ActivitySince | None = None,
    tool: ToolName | None = None,
    workspace: Workspace | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List who changed what and when, newest first."""
    page = Page(limit, offset, maximum=500)
    conditions = _conditions(tx, by, since, tool, workspace)
    values = {name: value for _, parameters in conditions for name, value in parameters.items()}
    joined = "from events e left join origins o on o.origin_id = e.origin"
    where = " and ".join([f"({condition})" for condition, _ in conditions])
    source = f"{joined} where {where}" if where else joined
    total = int(tx.value(f"select count(*) {source}", values))
    rows = tx.rows(
        "select e.ts_ms / 1000, o.actor, e.tool, e.workspace, e.address, o.repository, o.commit_id"
        f" {source} order by e.seq desc limit :limit offset :offset",
        {**values, "limit": page.limit, "offset": page.offset},
    )
    always = [name for name, field in _EVENT.fields.items() if not field.optional]
    events = []
    for row in rows:
        event = dict(zip(_EVENT.fields, row, strict=True))
        events.append({name: value for name, value in event.items() if value is not None or name in always})
    return {"events": events, "pagination": page.answer(returned=len(events), total=total)}


def _conditions(
    tx: ReadTransaction, by: str | None, since: str | None, tool: str | None, workspace: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """Return the conditions of the filters with their values."""
    conditions: list[tuple[str, dict[str, Any]]] = []
    for name, value in (("by", by), ("since", since), ("tool", tool)):
        if value is not None and not value.strip():
            raise invalid_request(f"`{name}` is blank; leave it out to see all", path=name)
    if by is not None:
        # An actor is the name of a token, ` · ` and the name of its client: a range finds every client of a token.
        begins, ends = f"{by.strip()} · ", f"{by.strip()} ·!"
        condition = "o.actor = :by or (o.actor >= :begins and o.actor < :ends)"
        conditions.append((condition, {"by": by.strip(), "begins": begins, "ends": ends}))
    if since is not None:
        conditions.append(("e.ts_ms >= :since_ms", {"since_ms": _parse_since(tx, since.strip())}))
    if tool is not None:
        conditions.append(("e.tool = :tool", {"tool": tool.strip()}))
    if workspace is not None:
        conditions.append(("e.workspace = :workspace", {"workspace": normalize_workspace(workspace)}))
    for number, family in enumerate(tx.config.disabled_types):
        conditions.extend(_without_family(family, number))
    return conditions


def _parse_since(tx: ReadTransaction, since: str) -> int:
    """Return the time in milliseconds of an age, of seconds since the epoch, or of a date or time."""
    age_s = duration_s(since)
    if age_s is not None:
        return tx.now_ms - age_s * 1000
    if since.isascii() and since.isdigit() and 8 < len(since) < 16:
        return int(since) * 1000
    return instant_us(since, what="since") // 1000


def _without_family(name: str, number: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the conditions that leave out the tools of a disabled family."""
    family = TOOL_GROUPS.get(name)
    if family is None:
        return []
    start, end = f"start_{number}", f"end_{number}"
    values = {start: f"{family.prefix}_", end: f"{family.prefix}`"}
    conditions: list[tuple[str, dict[str, Any]]] = [(f"e.tool < :{start} or e.tool >= :{end}", values)]
    for index, tool in enumerate(family.tools):
        key = f"tool_{number}_{index}"
        conditions.append((f"e.tool <> :{key}", {key: tool}))
    return conditions
