"""Artifacts: store with versions and a time to live, fetch, list, compose, touch, delete, restore."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.registry.arguments import (
    AsOf,
    Id,
    IncludeDeleted,
    Limit,
    Name,
    Offset,
    Phase,
    Role,
    RunId,
    StoreMode,
    Tag,
    Tags,
    Version,
    Workspace,
)
from moss_memory.registry.budget import truncate_page
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    HINT,
    PAGE_THAT_ENDS,
    ResponseSchema,
    flag,
    integer,
    list_of,
    moment,
    object_of,
    text,
)
from moss_memory.rows.list_filters import ALIVE, DELETED, filters_from, select_with_deleted
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import DEFAULT_WORKSPACE, normalize_label, normalize_name, normalize_workspace, tags_json
from moss_memory.rows.paging import Page
from moss_memory.rows.undelete import answers_of_restore, restore_deleted, restore_filters, restore_sentence
from moss_memory.rows.versions import PAST, parse_as_of, reads_current_version, version_mismatch
from moss_memory.rows.workspace_names import note_new_workspace

from .artifact_responses import ARTIFACT, ITEM, KEY
from .artifact_rows import (
    EXPECTED,
    UNEXPIRED,
    artifact_content_columns,
    artifact_response,
    artifacts,
    list_columns,
    sql,
    to_list_item,
    values_to_response,
    versioned,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

_RESTORE_FILTERS = restore_filters("workspace", "kind", "run_id", "phase", "role", "tag")
ArtifactRestoreFilters = Annotated[dict[str, Any], _RESTORE_FILTERS]
ArtifactKind = Annotated[str, "type of the data, e.g. explorer-finding"]
Data = Annotated[dict[str, Any], "structured content, a JSON object", {"own_limit": True}]
ArtifactText = Annotated[str, "rendered view for LLMs", {"own_limit": True}]
TtlSeconds = Annotated[int, {"minimum": 1}, "seconds until it expires"]
ExpectedArtifactVersion = Annotated[int, "update only this version; mode is ignored"]
Validate = Annotated[bool, "check data against the kind's schema"]
IncludeExpired = Annotated[bool, "also expired ones"]
OrderBy = Annotated[Literal["updated_at", "created_at"], "newest first by this"]

DATA_MAX_CHARS = 50_000
TEXT_MAX_CHARS = 12_000
TTL_MAX_S = 10**11
ITEMS_MAX = 100

STORED = ResponseSchema(
    "StoredArtifact",
    {
        "id": text("ULID"),
        "workspace": text("namespace, as it was first written"),
        "name": text("handle, as it was first written"),
        "kind": text("type of the data"),
        "version": integer("its version now"),
    },
)
SWEEP_EVERY_S = 300
SWEEP_ROWS = 100


def _propose_kind(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call with a kind that fits any data, or the list of kinds if the call is long."""
    from moss_memory.registry.corrected_calls import MOST_CHARS, corrected_call

    if arguments.get("kind") is not None:
        return None
    if len(json.dumps(arguments)) > MOST_CHARS:
        return next_call("artifact_kinds", {}, "lists kinds; any other name is accepted, too")
    reason = "stores it as data without a schema; another `kind` lets others filter by it"
    return corrected_call(artifact_store, {**arguments, "kind": "freeform"}, reason)


@operation(
    mutates=True,
    scan_secrets=True,
    proposed_call=_propose_kind,
    check_own_limits=lambda call, values: _check_sizes(values["data"], values.get("text")),
    answers=STORED.with_fields(
        {
            "name": text("handle, as it was first written", nullable=True),
            "data_chars": integer("characters of the data as compact JSON"),
            "text_chars": integer("characters of the text", nullable=True),
            "expires_at": moment("when it expires", nullable=True),
        }
    ),
    cli=Cli(aliases=("save",), sentence="Saved {it}, version {version}."),
    example="moss artifact store --kind explorer-finding --name run-1-code --data @finding.json --ttl-seconds 3600",
    words=(
        "save json, structured data, state for code, result of a sub-agent, expire, temporary, cache, key value, "
        "share data between agents, pass data to another agent, structured result, store a value, save an "
        "artifact, store a json object, save a dictionary, save a config, save data with an expiry, cache a "
        "value, save intermediate results, publish a result for other agents, machine readable state, write json"
    ),
)
def artifact_store(
    tx: Transaction,
    *,
    kind: ArtifactKind,
    data: Data,
    workspace: Workspace = DEFAULT_WORKSPACE,
    name: Name | None = None,
    text: ArtifactText | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    tags: Tags | None = None,
    ttl_seconds: TtlSeconds | None = None,
    expected_version: ExpectedArtifactVersion | None = None,
    mode: StoreMode = "error",
    validate: Validate = False,
) -> dict[str, Any]:
    """Save typed JSON for code, with optional text, version check and time to live; for prose use `capsule_store`.

    Replacing, by `mode` or `expected_version`, clears the fields that are not given.
    """
    if validate or tx.config.artifact_validate:
        from .artifact_kinds import refuse_invalid  # imports the schema library

        refuse_invalid(tx.config.home, normalize_kind(kind), data, text, required=validate)
    row = {
        "workspace_raw": workspace,
        "workspace_norm": normalize_workspace(workspace),
        "name_raw": name,
        "name_norm": None if name is None else normalize_name(name),
        "kind": normalize_kind(kind),
        **artifact_content_columns(_check_sizes(data, text), text),
        "run_id": normalize_label(run_id, what="run_id"),
        "phase": normalize_label(phase, what="phase"),
        "role": normalize_label(role, what="role"),
        "tags_json": tags_json(tags),
        **lifetime(tx, ttl_seconds),
    }
    tx.begin()
    row["now"] = tx.now
    if expected_version is not None:
        stored = _update_versioned(tx, row, expected_version)
    else:
        stored = _create_or_replace(tx, row, mode)
    tx.set_event_subject(workspace=str(row["workspace_norm"]), address=stored["id"])
    sweep_expired(tx)
    return {**stored, **{name: row[name] for name in ("data_chars", "text_chars", "expires_at")}}


@operation(
    idempotent=True,
    answers={
        "items": list_of(ITEM, "the artifacts, newest first", shown="answer"),
        "pagination": object_of(
            PAGE_THAT_ENDS.without("total", name="UncountedPage"), "the position of this page", shown="page"
        ),
        **HINT,
    },
    cli=Cli(remark="commands.empty_list.suggest_workspaces"),
    example="moss artifact list --run-id run-1 --kind explorer-finding",
    words=(
        "list json, results of a run, fan-in, collect what sub-agents wrote, see all json, what the run produced,"
        " outputs, list artifacts, which artifacts are there, results of the workers, results of sub-agents, what"
        " did the workers return, gather the results, everything a run wrote, newest artifacts"
    ),
)
def artifact_list(
    tx: ReadTransaction,
    *,
    workspace: Workspace | None = None,
    kind: ArtifactKind | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    tag: Tag | None = None,
    include_expired: IncludeExpired = False,
    include_deleted: IncludeDeleted = False,
    order_by: OrderBy = "updated_at",
    limit: Limit = 50,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List artifacts with their data, newest first, in all workspaces unless one is given; at most 100 a page."""
    page = Page(limit, offset, maximum=100)
    if kind is not None:
        normalize_kind(kind)
    filters = filters_from(tx, workspace=workspace, tag=tag, kind=kind, run_id=run_id, phase=phase, role=role)
    newest = {"updated_at": "updated_at desc, change_seq desc", "created_at": "created_at desc, row_id desc"}[order_by]
    order = f"order by {newest}"
    lasting = [] if include_expired else [UNEXPIRED]
    living = f"from artifacts {filters.where(ALIVE, *lasting)} {order}"
    sql = f"select {list_columns} {living} limit :limit offset :offset"
    if include_deleted:
        deleted = f"select row_id from artifacts {filters.where(DELETED, *lasting)} {order}"
        sql = select_with_deleted("artifacts", list_columns, f"select row_id {living}", deleted, order)
    limits = {"limit": page.limit + 1, "offset": page.offset, "most": page.end + 1}
    items = [to_list_item(row) for row in tx.rows(sql, {**filters.parameters, "now": tx.now, **limits})]
    pagination = {"limit": page.limit, "offset": page.offset, "has_more": len(items) > page.limit}
    items, pagination = truncate_page(items[: page.limit], pagination, tx.config.page_max_chars)
    return {"items": items, "pagination": pagination}


@operation(
    single_statement=reads_current_version,
    idempotent=True,
    answers=ARTIFACT.with_fields(PAST, "FetchedArtifact"),
    cli=Cli(aliases=("load",), prints_text=True),
    example="moss artifact fetch plan/run-1-code",
    words=(
        "load json, read structured data, get a result, open an artifact, contents of an artifact, payload of a "
        "result, read an artifact, load an artifact by name, fetch json by name, get the json back, read data of "
        "another agent, read a stored value, read the result of a sub-agent, old version of an artifact"
    ),
)
def artifact_fetch(
    tx: ReadTransaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    include_expired: IncludeExpired = False,
    include_deleted: IncludeDeleted = False,
    version: Version | None = None,
    as_of: AsOf | None = None,
) -> dict[str, Any]:
    """Load one artifact with data and text, by name or id, also an earlier `version`."""
    upto = parse_as_of(version, as_of)
    also = "" if include_expired else UNEXPIRED
    address = Address(id, workspace, name)
    if version is None and upto is None:
        return values_to_response(artifacts.find_tuple(tx, address, include_deleted=include_deleted, also=also))
    row = artifacts.find(tx, address, include_deleted=include_deleted, also=also)
    return {
        **artifact_response(versioned.version_at(tx, row, version=version, as_of=upto)),
        "current_version": row["version"],
    }


@operation(
    mutates=True,
    destructive=True,
    answers={"deleted": flag("true"), "id": text("ULID")},
    cli=Cli(sentence="Deleted {it}; `moss artifact restore` brings it back."),
    example="moss artifact delete plan/run-1-code",
    words=(
        "delete json, remove a result, discard, remove an artifact, delete an artifact, throw away a stored "
        "value, drop a cached value, remove json"
    ),
)
def artifact_delete(
    tx: Transaction, *, id: Id | None = None, workspace: Workspace | None = None, name: Name | None = None
) -> dict[str, Any]:
    """Delete one artifact so that `artifact_restore` can bring it back; its name is free again."""
    row = artifacts.find(tx, Address(id, workspace, name), also=UNEXPIRED)
    versioned.soft_delete(tx, row["id"])
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    sweep_expired(tx)
    return {"deleted": True, "id": row["id"], "workspace": row["workspace_raw"]}


@operation(
    mutates=True,
    idempotent=True,
    answers=answers_of_restore(KEY),
    cli=Cli(sentence=restore_sentence),
    example="moss artifact restore plan/run-1-code",
    words=(
        "undelete json, recover a deleted artifact, bring a result back, undelete an artifact, get a deleted "
        "artifact back, artifact deleted by accident, undo the deletion of an artifact, restore all artifacts of "
        "a run"
    ),
)
def artifact_restore(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    filters: ArtifactRestoreFilters | None = None,
) -> dict[str, Any]:
    """Bring back a deleted artifact, or all that match `filters`; overwritten data come back with `moss_revert`."""
    return restore_deleted(tx, versioned, id=id, workspace=workspace, name=name, filters=filters)


@operation(
    mutates=True,
    answers={
        "id": text("ULID"),
        "ttl_seconds": integer("how long it lives from now"),
        "expires_at": moment("when it expires"),
        "version": integer("its version, which stays"),
    },
    cli=Cli(sentence="Renewed {it} until {expires}."),
    example="moss artifact touch plan/run-1-code --ttl-seconds 7200",
    words=(
        "keep alive, extend the lifetime, prolong, postpone expiry, ttl, refresh, expire later, lease longer, do "
        "not let it expire, more time, renew an artifact, extend the expiry of an artifact, let an artifact live "
        "longer, change the time to live, keep an artifact another day, expires soon, make it permanent"
    ),
)
def artifact_touch(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    ttl_seconds: TtlSeconds,
) -> dict[str, Any]:
    """Set the seconds that an artifact lives from now; content and version stay. An expired one is not found."""
    row = artifacts.find(tx, Address(id, workspace, name), also=UNEXPIRED)
    lives = lifetime(tx, ttl_seconds)
    tx.run(sql["touch"], {"id": row["id"], "now": tx.now, "change_seq": tx.next_change(), **lives})
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    sweep_expired(tx)
    return {"id": row["id"], "workspace": row["workspace_raw"], **lives, "version": row["version"]}


def normalize_kind(raw: str) -> str:
    """Return a kind without whitespace around it; refuse a blank one."""
    kind = normalize_label(raw, what="kind")
    if kind is None:
        raise invalid_request("`kind` is blank; name the type of the data", path="kind")
    return kind


def lifetime(tx: Transaction, ttl_seconds: int | None, *, what: str = "ttl_seconds") -> dict[str, int | None]:
    if ttl_seconds is None:
        return {"ttl_seconds": None, "expires_at": None}
    if ttl_seconds > TTL_MAX_S:
        raise invalid_request(f"`{what}` is over {TTL_MAX_S}; without one an artifact never expires", path=what)
    tx.begin()
    return {"ttl_seconds": ttl_seconds, "expires_at": tx.now + ttl_seconds}


def sweep_expired(tx: Transaction) -> None:
    """Soft-delete a batch of expired artifacts, at most every five minutes; a failure does not fail the write."""
    last = tx.value(sql["last_sweep"])
    if last is None or not 0 <= tx.now - last < SWEEP_EVERY_S:
        tx.try_run(sql["sweep"], {"now": tx.now, "change": tx.next_change(), "most": SWEEP_ROWS})
        tx.next_change(SWEEP_ROWS)
        tx.try_run(sql["note_sweep"], {"now": tx.now})


def _check_sizes(data: dict[str, Any], text: str | None) -> str:
    """Refuse content above the limits; return the data as compact JSON."""
    data_json = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for field, code, actual, limit in (
        ("data", "DATA_TOO_LARGE", len(data_json), DATA_MAX_CHARS),
        ("text", "TEXT_TOO_LARGE", len(text or ""), TEXT_MAX_CHARS),
    ):
        if actual > limit:
            message = f"`{field}` has {actual} characters, the limit is {limit}; split it into several artifacts"
            raise MossError(code, message, details={"max_chars": limit, "actual_chars": actual})
    return data_json


def _create_or_replace(tx: Transaction, row: dict[str, Any], mode: str) -> dict[str, Any]:
    """Insert an artifact, or write the next version of the one with its name."""
    owner = None if row["name_norm"] is None else tx.row(sql["named"], row)
    if owner is not None:
        old_id, expires_at, version = owner
        if expires_at is not None and expires_at <= tx.now:
            versioned.soft_delete(tx, old_id)
        elif mode == "error":
            hint = 'choose another name, or store with `mode: "replace"` or `expected_version`'
            raise artifacts.name_taken_error(row["workspace_raw"], row["name_raw"], hint)
        else:
            return _update_versioned(tx, row, version)
    note_new_workspace(tx, row["workspace_norm"])
    row["id"] = tx.new_id()
    tx.run(sql["insert"], {**row, "tool": tx.tool, "origin": tx.origin_key(), "change_seq": tx.next_change()})
    address = {"workspace": row["workspace_raw"], "name": row["name_raw"]}
    return {"id": row["id"], **address, "kind": row["kind"], "version": 1}


def _update_versioned(tx: Transaction, row: dict[str, Any], expected_version: int) -> dict[str, Any]:
    """Write the next version of a named artifact; if no row was changed, raise the reason."""
    if row["name_norm"] is None:
        raise invalid_request("`expected_version` needs the name of the artifact to update", path="expected_version")
    own = {"tool": tx.tool, "origin": tx.origin_key(), "change_seq": tx.next_change()}
    update = {**row, **own, "expected_version": expected_version}
    versioned.archive_and_trim(tx, EXPECTED, update)
    changed = tx.row(sql["update_versioned"].filled(where=EXPECTED), update)
    if changed is not None:
        same_id, workspace, name, version = changed
        return {"id": same_id, "workspace": workspace, "name": name, "kind": row["kind"], "version": version}
    stored_row = artifacts.find(tx, Address(None, row["workspace_raw"], row["name_raw"]), also=UNEXPIRED)
    raise version_mismatch(versioned, stored_row, expected_version)
