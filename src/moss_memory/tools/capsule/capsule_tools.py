"""Capsules: store, fetch, update, delete and restore."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated, Any
from moss_memory.registry.arguments import (
    AsOf,
    ExpectedVersion,
    Id,
    IncludeDeleted,
    IncludeText,
    Name,
    Phase,
    Ref,
    Role,
    RunId,
    SourceName,
    StoreMode,
    Tags,
    Title,
    Version,
    Workspace,
)
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, TableColumn, flag, integer, list_of, object_of, text
from moss_memory.rows.lookup import Address, address_of
from moss_memory.rows.names import (
    DEFAULT_WORKSPACE,
    LOCAL,
    normalize_label,
    normalize_name,
    normalize_workspace,
    reference,
    tags_json,
)
from moss_memory.rows.undelete import answers_of_restore, restore_deleted, restore_filters, restore_sentence
from moss_memory.rows.versions import parse_as_of, reads_current_version, refuse_another_version
from moss_memory.rows.workspace_names import note_new_workspace

from .capsule_code_state import FETCHED, code_fields
from .capsule_responses import CAPSULE, KEY, STORED
from .capsule_rows import capsule_response, capsules, sql, versioned
from .sections import check_argument_size, check_capsule_text, missing_sections, with_places_to_fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Transaction

_RESTORE_FILTERS = restore_filters("workspace", "tag", "name_prefix", "run_id", "phase", "role")
RestoreFilters = Annotated[dict[str, Any], _RESTORE_FILTERS]
DeletedId = Annotated[str, "id, as lists show it with `include_deleted`"]
Local = Annotated[bool, "never write it to a synced folder (tag `local`)"]
AllowThin = Annotated[bool, "skip the check of the six sections"]
CapsuleText = Annotated[str, "Markdown with the six sections", {"own_limit": True}]


def thin_recovery(tool: str, arguments: dict[str, Any], error: MossError) -> dict[str, Any] | None:
    """Return the call that stores a capsule with placeholders for its missing sections, or None."""
    if error.code != "CAPSULE_TOO_THIN" or error.details is None or "capsule_text" not in arguments:
        return None
    missing = missing_sections(arguments["capsule_text"])
    text = with_places_to_fill(arguments["capsule_text"], missing)
    reason = "write what each (fill in: …) asks for before you send it; `allow_thin: true` stores the text as it is"
    return next_call(tool, {**arguments, "capsule_text": text}, reason)


_NOT_REPLACED = ("workspace_raw", "workspace_norm", "name_raw", "name_norm", "created_at", "updated_at", "deleted_at")
"""The columns that a replacement does not change."""
TITLE_MAX_CHARS = 1_000
ITEMS_MAX = 50

_REF = ResponseSchema(
    "Reference",
    {name: text("as it was given", optional=True) for name in ("id", "workspace", "name")},
    line=lambda ref: "/".join(ref.values()),
)
_MISSING = ResponseSchema(
    "MissingCapsule",
    {
        "ref": object_of(_REF, "the item that was asked for"),
        "code": text("why it is not there, as errors have it"),
        "message": text("the same in a sentence"),
    },
    table=(
        TableColumn("ref", min_width=12, drop_rank=2),
        TableColumn("code"),
        TableColumn("message", min_width=20, max_width=0),
    ),
)


@operation(
    mutates=True,
    scan_secrets=True,
    check_own_limits=check_argument_size,
    recovery_call=thin_recovery,
    answers=STORED.with_fields(
        {"previous_version": integer('with `mode: "replace"`: the version that it replaced', optional=True)}
    ),
    cli=Cli(aliases=("save",), sentence="Saved {it}, version {version}."),
    example="moss store --name auth --tags auth,jwt < capsule.md",
    words=(
        "save session state, write a hand-over, remember this for later, checkpoint, persist, dump context before"
        " compaction, stop for today, preserve progress, overwrite, replace, note for the next session, keep for "
        "later, snapshot, save, store, write down the state, memorize, keep notes for another session, context is"
        " full, hand over to another session, save my progress, save the conversation, save before I stop, end of"
        " session, running out of context, leave a summary for the next session, write a capsule, new capsule, "
        "store a summary, overwrite a capsule"
    ),
)
def capsule_store(
    tx: Transaction,
    *,
    capsule_text: CapsuleText,
    workspace: Workspace = DEFAULT_WORKSPACE,
    name: Name | None = None,
    title: Title | None = None,
    tags: Tags | None = None,
    source: SourceName | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    mode: StoreMode = "error",
    expected_version: ExpectedVersion | None = None,
    allow_thin: AllowThin = False,
) -> dict[str, Any]:
    """Save a hand-over that another session loads by name; for one section `capsule_append`, for JSON `artifact_store`.

    Six sections: Objective, Current status, Decisions, Next actions, Key locations, Open questions. A taken name is
    refused unless `mode: "replace"`, which clears optional fields not given again.
    """
    if expected_version is not None and (mode != "replace" or name is None):
        raise invalid_request('`expected_version` needs a `name` and `mode` "replace"', path="expected_version")
    row = {
        "title": _check_title(title) or name,
        "workspace_raw": workspace,
        "workspace_norm": normalize_workspace(workspace),
        "name_raw": name,
        "name_norm": None if name is None else normalize_name(name),
        "tags_json": tags_json(tags),
        "source": normalize_label(source, what="source"),
        "run_id": normalize_label(run_id, what="run_id"),
        "phase": normalize_label(phase, what="phase"),
        "role": normalize_label(role, what="role"),
        **check_capsule_text(tx, capsule_text, allow_thin=allow_thin),
        "deleted_at": None,
    }
    tx.begin()
    now = tx.now
    row |= {"created_at": now, "updated_at": now}
    if expected_version is not None:
        return _replace(tx, capsules.find(tx, Address(None, workspace, name)), row, title, expected_version)
    owner, has_capsules = tx.row(sql["owner_of_name"], row) or (None, False)
    if owner is not None:
        if mode == "error":
            hint = 'choose another name, update that one, or store with `mode: "replace"`'
            raise capsules.name_taken_error(workspace, str(name), hint)
        return _replace(tx, capsules.find(tx, Address(owner, None, None)), row, title, None)
    if not has_capsules:
        note_new_workspace(tx, row["workspace_norm"])
    row |= {"id": tx.new_id(), "version": 1, "version_at": now, "version_tool": tx.tool}
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    tx.queue(sql["insert"], {**row, "version_origin": tx.origin_key(), "change_seq": tx.next_change()})
    return write_response(row)


def _replace(
    tx: Transaction, stored: dict[str, Any], new: dict[str, Any], title: str | None, expected_version: int | None
) -> dict[str, Any]:
    """Replace the content of a capsule, which keeps its id, its names and its creation time."""
    refuse_another_version(versioned, stored, expected_version)
    content = {key: value for key, value in new.items() if key not in _NOT_REPLACED}
    row = {**stored, **content, "title": _check_title(title) or stored["name_raw"]}
    versioned.write_version(tx, row)
    return {**write_response(row), "previous_version": stored["version"]}


def write_response(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], **reference("capsule", row), "version": row["version"]}


@operation(
    single_statement=reads_current_version,
    idempotent=True,
    answers=FETCHED,
    cli=Cli(aliases=("load",), prints_text=True),
    example="moss fetch shop/auth",
    words=(
        "load, get, open, read, recall, resume by name, pick up a hand-over, as it was, view, display, show a "
        "capsule, contents, text of, read a capsule, open a hand-over, load a capsule by name, get a capsule, see"
        " the full text, old version of a capsule as text, what does the capsule say"
    ),
)
def capsule_fetch(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    include_text: IncludeText = True,
    include_deleted: IncludeDeleted = False,
    version: Version | None = None,
    as_of: AsOf | None = None,
) -> dict[str, Any]:
    """Load one capsule with its text, by name or id, also an earlier `version`; if unknown, use `moss_search`."""
    address = Address(id, workspace, name)
    upto = parse_as_of(version, as_of)
    row = shown = capsules.find(tx, address, include_deleted=include_deleted)
    if include_text and tx.call.loads is not None:
        tx.call.loads.add(tx, row)
    current = {}
    if version is not None or upto is not None:
        shown = versioned.version_at(tx, row, version=version, as_of=upto)
        current = {"current_version": row["version"]}
    answer = capsule_response(shown, include_text=include_text) | current
    return answer | (code_fields(tx, shown) if include_text else {})


@operation(
    idempotent=True,
    answers={
        "items": list_of(CAPSULE, "the capsules that were found, in the order asked for", shown="answer"),
        "errors": list_of(_MISSING, "the items that were not found"),
    },
    example="moss fetch-many auth shop/db",
    words=(
        "load several at once, batch read, multiple capsules together, three, five capsules in one call, one "
        "request, several hand-overs in one go, load a list of capsules, read many capsules, fetch two capsules, "
        "bulk load"
    ),
)
def capsule_fetch_many(
    tx: Transaction,
    *,
    items: list[Ref],
    include_text: IncludeText = True,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """Load up to 50 capsules in one call, in the order asked for.

    Missing ones are reported in `errors`.
    """
    if len(items) > ITEMS_MAX:
        raise invalid_request(f"`items` has {len(items)} entries; at most {ITEMS_MAX} are allowed", path="items")
    responses: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for index, ref in enumerate(items):
        tx.check_cancelled()
        try:
            row = capsules.find(tx, address_of(ref, index), include_deleted=include_deleted, suggest=False)
        except MossError as error:
            errors.append({"ref": ref, "code": error.code, "message": error.message})
        else:
            responses.append(capsule_response(row, include_text=include_text))
            if include_text and tx.call.loads is not None:
                tx.call.loads.add(tx, row)
    return {"items": responses, "errors": errors}


@operation(
    mutates=True,
    scan_secrets=True,
    check_own_limits=check_argument_size,
    recovery_call=thin_recovery,
    answers=STORED,
    cli=Cli(sentence="Changed {it}, version {version}."),
    example='moss update auth --title "Auth, second round"',
    words=(
        "edit, modify, correct, fix a typo, retitle, change tags, rewrite the text, description, label, wording, "
        "correct a spelling mistake, change the title of a capsule, edit a capsule, fix an error in a hand-over, "
        "add a tag to a capsule, rewrite a hand-over, change metadata"
    ),
)
def capsule_update(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    capsule_text: CapsuleText | None = None,
    title: Title | None = None,
    tags: Tags | None = None,
    source: SourceName | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    local: Local | None = None,
    expected_version: ExpectedVersion | None = None,
    allow_thin: AllowThin = False,
) -> dict[str, Any]:
    """Change text or metadata of a capsule; to go back to an old text use `moss_revert`.

    An empty string clears `title`, `source`, `run_id`, `phase` or `role`; an empty list clears the tags.
    """
    address = Address(id, workspace, name)
    labels = {"source": source, "run_id": run_id, "phase": phase, "role": role}
    changes: dict[str, Any] = {key: normalize_label(raw, what=key) for key, raw in labels.items() if raw is not None}
    if title is not None:
        changes["title"] = _check_title(title)
    if tags is not None:
        changes["tags_json"] = tags_json(tags)
    if not changes and capsule_text is None and local is None:
        fields = "`capsule_text`, `title`, `tags`, `source`, `run_id`, `phase`, `role` or `local`"
        raise invalid_request(f"no fields to update; give {fields}")
    if capsule_text is not None:
        changes |= check_capsule_text(tx, capsule_text, allow_thin=allow_thin)
    row = capsules.find(tx, address)
    refuse_another_version(versioned, row, expected_version)
    row |= changes
    if local is not None:
        other_tags = [tag for tag in json.loads(row["tags_json"] or "[]") if tag != LOCAL]
        row["tags_json"] = tags_json([*other_tags, LOCAL] if local else other_tags)
    versioned.write_version(tx, row, "change" if capsule_text is not None else "change_metadata")
    return write_response(row)


@operation(
    mutates=True,
    destructive=True,
    answers={"deleted": flag("true"), "id": text("ULID")},
    cli=Cli(sentence="Deleted {it}; `moss restore` brings it back."),
    example="moss delete auth",
    words=(
        "delete, remove, drop, throw away, discard, get rid of, forget a hand-over, not needed, delete one "
        "capsule, remove a hand-over, trash a capsule, soft delete, hand-over is obsolete"
    ),
)
def capsule_delete(
    tx: Transaction, *, id: Id | None = None, workspace: Workspace | None = None, name: Name | None = None
) -> dict[str, Any]:
    """Delete a capsule so that `capsule_restore` can bring it back; to leave no trace use `moss_erase`."""
    row = capsules.find(tx, Address(id, workspace, name))
    versioned.soft_delete(tx, row["id"])
    tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    return {"deleted": True, "id": row["id"], "workspace": row["workspace_raw"]}


@operation(
    mutates=True,
    idempotent=True,
    answers=answers_of_restore(KEY),
    cli=Cli(sentence=restore_sentence),
    example="moss restore shop/auth",
    words=(
        "undelete, recover deleted, bring back, deleted by mistake, by accident, accidentally removed, trash, "
        "revive, recycle bin, un-delete, gone, missing, deleted it, I deleted, get a deleted capsule back, undo a"
        " delete, recover a hand-over, restore from trash, undo the deletion, deleted the wrong capsule, restore "
        "all capsules of a run"
    ),
)
def capsule_restore(
    tx: Transaction,
    *,
    id: DeletedId | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    filters: RestoreFilters | None = None,
) -> dict[str, Any]:
    """Bring back a deleted capsule, or all that match `filters`; an overwritten text comes back with `moss_revert`.

    By name the most recently deleted one. A taken name is refused.
    """
    return restore_deleted(tx, versioned, id=id, workspace=workspace, name=name, filters=filters)


def _check_title(raw: str | None) -> str | None:
    if raw is None or not raw.strip():
        return None
    if len(raw) > TITLE_MAX_CHARS:
        raise invalid_request(f"`title` has {len(raw)} characters; at most {TITLE_MAX_CHARS} are allowed", path="title")
    return raw
