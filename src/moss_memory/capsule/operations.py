"""Capsules: store, read, change, browse, search, append and compose."""

from __future__ import annotations

from ..addressing import Address, address_of
from ..arguments import (
    Id,
    IncludeDeleted,
    IncludeText,
    Limit,
    Name,
    NamePrefix,
    Offset,
    Phase,
    Query,
    Ref,
    Role,
    RunId,
    Source,
    StoreMode,
    Tag,
    Tags,
    Text,
    Title,
    Workspace,
)  # fmt: skip
from ..errors import MossError, invalid, next_call
from ..filters import Filters, filters_from
from ..operation import operation
from ..values import DEFAULT_WORKSPACE, Page, estimate_tokens, label, normalize, tags_json
from . import sections as markdown
from .rows import NEWEST_FIRST, capsules, fetch_key, shown, sql, summary, summary_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..storage.engine import Transaction

    Format = Literal["markdown", "json"]
    StoreAs = dict[str, Any]
    AllowThin = bool
    CapsuleText = str
    SectionName = str
    SectionNames = list[str]
else:
    Format = {"type": "string", "enum": ["markdown", "json"], "description": "one text, or its parts"}
    AllowThin = {"type": "boolean", "description": "skip the check of the six sections"}
    CapsuleText = {"type": "string", "description": "the capsule, Markdown with the six sections"}
    SectionName = {"type": "string", "description": "a header as it is written"}
    SectionNames = {"type": "array", "items": {"type": "string"}, "description": "keep only these headers"}
    StoreAs = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "workspace": {"type": "string"},
            "title": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "source": {"type": "string"},
            "run_id": {"type": "string"},
            "phase": {"type": "string"},
            "role": {"type": "string"},
            "mode": StoreMode,
            "allow_thin": {"type": "boolean"},
        },
        "required": ["name"],
        "additionalProperties": False,
        "description": "also store the bundle",
    }


def thin_recovery(tool: str, arguments: dict[str, Any], error: MossError) -> dict[str, Any] | None:
    """The call that stores a thin capsule after all: with the missing headers, as places to fill."""
    if error.code != "CAPSULE_TOO_THIN" or error.details is None:
        return None
    missing = error.details["missing"]
    if tool == "capsule_compose":
        store_as = {**arguments["store_as"], "allow_thin": True}
        return next_call(tool, {**arguments, "store_as": store_as}, "stores the bundle without the six sections")
    headers = "".join([f"\n\n## {title}\n(pending)" for title in missing])
    text = arguments["capsule_text"].rstrip() + headers + "\n"
    reason = "adds the missing headers; better fill them in first, or allow_thin: true stores it as it is"
    return next_call(tool, {**arguments, "capsule_text": text}, reason)


TITLE_MAX_CHARS = 1_000
ITEMS_MAX = 50
SEPARATOR = "\n\n---\n\n"


@operation(
    mutates=True,
    destructive=True,
    recover=thin_recovery,
    example="moss store --name auth --tags auth,jwt < capsule.md",
)
def capsule_store(
    tx: Transaction,
    *,
    capsule_text: CapsuleText,
    workspace: Workspace = DEFAULT_WORKSPACE,
    name: Name | None = None,
    title: Title | None = None,
    tags: Tags | None = None,
    source: Source | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    mode: StoreMode = "error",
    allow_thin: AllowThin = False,
) -> dict[str, Any]:
    """Save a capsule: a distilled hand-over that another session can load by name.

    It needs six sections: Objective, Current status, Decisions, Next actions, Key locations, Open questions.
    A taken name is refused unless `mode` is `replace`, which keeps the id and clears every optional field not
    given again. Durable when it returns.
    """
    row = {
        "workspace_raw": workspace,
        "workspace_norm": normalize(workspace, what="workspace"),
        "name_raw": name,
        "name_norm": None if name is None else normalize(name, what="name"),
        "title": _title(title) or name,
        "tags_json": tags_json(tags),
        "source": label(source, what="source"),
        "run_id": label(run_id, what="run_id"),
        "phase": label(phase, what="phase"),
        "role": label(role, what="role"),
        **_checked_text(tx, capsule_text, allow_thin=allow_thin),
        "created_at": tx.now,
        "updated_at": tx.now,
        "deleted_at": None,
    }
    taken = None if name is None else tx.row(sql["name_taken"], row)
    if taken is None:
        row["id"] = tx.new_id()
        row["change_seq"] = tx.next_change()
        tx.run(sql["insert"], row)
    elif mode == "error":
        hint = 'choose another name, update that one, or store with mode "replace"'
        raise capsules.name_taken(workspace, str(name), hint)
    else:
        kept = capsules.find(tx, Address(taken[0], None, None))
        row = {**kept, **_content_of(row), "title": _title(title) or kept["name_raw"]}
        tx.run(sql["change"], {**row, "now": tx.now, "change_seq": tx.next_change()})
    tx.concerns(workspace=row["workspace_norm"], address=row["id"])
    return {"id": row["id"], "fetch_key": fetch_key(row)}


@operation(single_statement=True, idempotent=True, example="moss fetch --workspace shop --name auth")
def capsule_fetch(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    include_text: IncludeText = True,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """Load one capsule by id, or by workspace and name, with its full text."""
    row = capsules.find(tx, Address(id, workspace, name), include_deleted=include_deleted)
    return shown(row, include_text=include_text)


@operation(idempotent=True, example='moss fetch-many --items \'[{"name": "auth"}, {"name": "db"}]\'')
def capsule_fetch_many(
    tx: Transaction,
    *,
    items: list[Ref],
    include_text: IncludeText = True,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """Load up to 50 capsules in one call, in the order asked for.

    What is missing is reported in `errors` beside what was found.
    """
    if len(items) > ITEMS_MAX:
        raise invalid(f"items has {len(items)} entries; at most {ITEMS_MAX} are allowed", path="items")
    found: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for index, ref in enumerate(items):
        tx.check_cancelled()
        try:
            row = capsules.find(tx, address_of(ref, index), include_deleted=include_deleted)
        except MossError as error:
            errors.append({"ref": ref, "code": error.code, "message": error.message})
        else:
            found.append(shown(row, include_text=include_text))
    return {"items": found, "errors": errors}


@operation(
    mutates=True,
    destructive=True,
    recover=thin_recovery,
    example='moss update --name auth --title "Auth, second round"',
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
    source: Source | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    allow_thin: AllowThin = False,
) -> dict[str, Any]:
    """Change a capsule's text or metadata; its id, workspace and name stay.

    An empty string clears title, source, run_id, phase or role; an empty list clears the tags.
    """
    address = Address(id, workspace, name)
    labels = {"source": source, "run_id": run_id, "phase": phase, "role": role}
    changes: dict[str, Any] = {key: label(value, what=key) for key, value in labels.items() if value is not None}
    if title is not None:
        changes["title"] = _title(title)
    if tags is not None:
        changes["tags_json"] = tags_json(tags)
    if not changes and capsule_text is None:
        raise invalid("no fields to update; give capsule_text, title, tags, source, run_id, phase or role")
    row = capsules.find(tx, address)
    if capsule_text is not None:
        changes |= _checked_text(tx, capsule_text, allow_thin=allow_thin)
    row |= changes
    statement = "change" if capsule_text is not None else "change_metadata"
    tx.run(sql[statement], {**row, "now": tx.now, "change_seq": tx.next_change()})
    tx.concerns(workspace=row["workspace_norm"], address=row["id"])
    return {"id": row["id"], "fetch_key": fetch_key(row)}


@operation(mutates=True, destructive=True, example="moss delete --name auth")
def capsule_delete(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
) -> dict[str, Any]:
    """Soft-delete a capsule: it leaves lists and search, its name is free again, capsule_restore brings it back."""
    row = capsules.find(tx, Address(id, workspace, name))
    tx.run(sql["soft_delete"], {"id": row["id"], "now": tx.now, "change_seq": tx.next_change()})
    tx.concerns(workspace=row["workspace_norm"], address=row["id"])
    return {"deleted": True, "id": row["id"]}


@operation(mutates=True, idempotent=True, example="moss restore 01ARZ3NDEKTSV4RRFFQ69G5FAV")
def capsule_restore(tx: Transaction, *, id: Id) -> dict[str, Any]:
    """Bring a soft-deleted capsule back under its name; refused when another has taken that name."""
    address = Address(id, None, None)
    row = capsules.find_or_none(tx, address, include_deleted=True)
    if row is None:
        raise capsules.not_found(address)
    if row["deleted_at"] is not None:
        if row["name_norm"] is not None and tx.row(sql["name_taken"], row) is not None:
            raise capsules.name_taken(row["workspace_raw"], row["name_raw"], "delete or keep the one that has it")
        tx.run(sql["restore"], {"id": row["id"], "now": tx.now, "change_seq": tx.next_change()})
    tx.concerns(workspace=row["workspace_norm"], address=row["id"])
    return {"restored": row["deleted_at"] is not None, "id": row["id"], "fetch_key": fetch_key(row)}


@operation(idempotent=True, example="moss latest --workspace shop --include-text")
def capsule_latest(
    tx: Transaction,
    *,
    workspace: Workspace = DEFAULT_WORKSPACE,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_text: IncludeText = False,
    include_deleted: IncludeDeleted = False,
) -> dict[str, Any]:
    """The most recently changed capsule of a workspace, as a summary unless `include_text`."""
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    where = filters.where(*_alive(include_deleted))
    row = tx.row(f"select id from capsules {where} {NEWEST_FIRST} limit 1", filters.parameters)
    if row is None:
        return {"item": None}
    capsule = capsules.find(tx, Address(row[0], None, None), include_deleted=True)
    return {"item": shown(capsule, include_text=include_text)}


@operation(idempotent=True, example="moss list --workspace shop --limit 20")
def capsule_list(
    tx: Transaction,
    *,
    workspace: Workspace = DEFAULT_WORKSPACE,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List one workspace's capsules, newest change first, without their text; at most 100 a page."""
    filters = filters_from(tx, workspace=workspace, run_id=run_id, phase=phase, role=role)
    return _listing(tx, filters, Page(limit, offset, maximum=100), include_deleted=include_deleted)


@operation(idempotent=True, example="moss inventory --tag auth")
def capsule_inventory(
    tx: Transaction,
    *,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    name_prefix: NamePrefix | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    limit: Limit = 100,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List the capsules of all workspaces, newest change first, without their text; at most 500 a page."""
    filters = filters_from(
        tx, workspace=workspace, tag=tag, name_prefix=name_prefix, run_id=run_id, phase=phase, role=role
    )
    return _listing(tx, filters, Page(limit, offset, maximum=500), include_deleted=include_deleted)


@operation(idempotent=True, example='moss capsule search "where do refresh tokens live"')
def capsule_search(
    tx: Transaction,
    *,
    query: Query,
    workspace: Workspace | None = None,
    tag: Tag | None = None,
    run_id: RunId | None = None,
    phase: Phase | None = None,
    role: Role | None = None,
    include_deleted: IncludeDeleted = False,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Find capsules by their words, best match first, each with a snippet.

    A plain question finds what holds any of its words, most words first. Operators work exactly:
    "a phrase", prefix*, AND, OR, NOT, parentheses.
    """
    from .search import search_capsules  # the search room is not worth its import to other calls

    filters = filters_from(tx, tag=tag, run_id=run_id, phase=phase, role=role)
    page = Page(limit, offset, maximum=100)
    norm = None if workspace is None else normalize(workspace, what="workspace")
    return search_capsules(tx, query, filters, page, workspace_norm=norm, include_deleted=include_deleted)


@operation(mutates=True, example='moss append --name auth --section "Next actions" --content "- rotate the keys"')
def capsule_append(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    section: SectionName,
    content: Text,
) -> dict[str, Any]:
    """Append content to one section of a capsule without rewriting the rest.

    The section is named as its header is written, in any case. Replaces a placeholder such as `TBD`.
    Durable when it returns.
    """
    address = Address(id, workspace, name)
    if not content.strip():
        raise invalid("content is blank; give the text to append", path="content")
    row = capsules.find(tx, address)
    target = _section(row["capsule_text"], section)
    text, replaced = markdown.append_to(row["capsule_text"], target, content)
    _check_size(tx, text)
    row |= _measured(text)
    tx.run(sql["change"], {**row, "now": tx.now, "change_seq": tx.next_change()})
    tx.concerns(workspace=row["workspace_norm"], address=row["id"])
    answer: dict[str, Any] = {"id": row["id"], "section_hit": target.heading, "replaced": replaced}
    if row["name_raw"] is not None:
        answer["fetch_key"] = fetch_key(row)
    return answer


@operation(
    mutates=True,
    destructive=True,
    recover=thin_recovery,
    writes_with="store_as",
    example='moss compose --items \'[{"name": "auth"}, {"name": "db"}]\' --sections "Next actions"',
)
def capsule_compose(
    tx: Transaction,
    *,
    items: list[Ref],
    sections: SectionNames | None = None,
    format: Format = "markdown",
    store_as: StoreAs | None = None,
) -> dict[str, Any]:
    """Assemble 1 to 50 capsules into one bundle; all or nothing.

    `store_as` also saves the Markdown bundle as a capsule, checked like any other.
    """
    if not 1 <= len(items) <= ITEMS_MAX:
        raise invalid(f"items has {len(items)} entries; give 1 to {ITEMS_MAX}", path="items")
    if format == "json" and store_as is not None:
        raise invalid("store_as needs the markdown format; JSON has no section headers", path="store_as")
    if sections is not None and not any(title.strip() for title in sections):
        raise invalid("sections is empty; name at least one header or leave it out", path="sections")
    parts, missing = _parts(tx, items, sections)
    if format == "json":
        size = sum(part["chars"] for part in parts)
        answer: dict[str, Any] = {"parts": parts, "bundle_chars": size, "parts_count": len(parts)}
    else:
        bundle = SEPARATOR.join([f"## {part['display_name']}\n\n{part['text']}" for part in parts])
        size = len(bundle)
        answer = {"bundle_text": bundle, "bundle_chars": size, "parts_count": len(parts)}
    if sections is not None:
        answer["missing"] = missing
    _check_bundle_size(tx, size)
    if store_as is not None:
        if not parts:
            raise invalid("no capsule holds any of the wanted sections; there is nothing to store", path="sections")
        answer["stored"] = capsule_store.body(tx, capsule_text=answer["bundle_text"], **store_as)
    return answer


def _checked_text(tx: Transaction, text: str, *, allow_thin: bool) -> dict[str, Any]:
    """The text with its measures, once it has passed size and structure."""
    if not text.strip():
        raise invalid("capsule_text is empty; write the six sections", path="capsule_text")
    _check_size(tx, text)
    missing = [] if allow_thin else markdown.missing_sections(text)
    if missing:
        raise MossError(
            "CAPSULE_TOO_THIN",
            f"capsule missing required sections: [{', '.join(missing)}]",
            details={"missing": missing},
        )
    return _measured(text)


def _check_size(tx: Transaction, text: str) -> None:
    limit = tx.config.capsule_max_chars
    if len(text) > limit:
        raise MossError(
            "CAPSULE_TOO_LARGE",
            f"the capsule would have {len(text)} characters, {len(text) - limit} more than the limit of {limit}; "
            "compress it, keeping decisions and next actions",
            details={"max_chars": limit, "actual_chars": len(text)},
        )


def _check_bundle_size(tx: Transaction, size: int) -> None:
    limit = tx.config.capsule_max_chars
    if size > limit:
        raise MossError(
            "COMPOSE_TOO_LARGE",
            f"the bundle would have {size} characters, the limit is {limit}; "
            "compose fewer capsules or keep only some sections",
            details={"max_chars": limit, "actual_chars": size},
        )


def _measured(text: str) -> dict[str, Any]:
    return {"capsule_text": text, "capsule_chars": len(text), "tokens_estimate": estimate_tokens(text)}


def _content_of(row: dict[str, Any]) -> dict[str, Any]:
    """What a replacement takes from the new capsule: everything but identity, names and times."""
    kept = (
        "id",
        "workspace_raw",
        "workspace_norm",
        "name_raw",
        "name_norm",
        "created_at",
        "updated_at",
        "deleted_at",
    )
    return {key: value for key, value in row.items() if key not in kept}


def _title(raw: str | None) -> str | None:
    if raw is None or not raw.strip():
        return None
    if len(raw) > TITLE_MAX_CHARS:
        raise invalid(f"title has {len(raw)} characters; at most {TITLE_MAX_CHARS} are allowed", path="title")
    return raw


def _alive(include_deleted: bool) -> list[str]:
    return [] if include_deleted else ["deleted_at is null"]


def _listing(tx: Transaction, filters: Filters, page: Page, *, include_deleted: bool) -> dict[str, Any]:
    where = filters.where(*_alive(include_deleted))
    counted = tx.row(f"select count(*) from capsules {where}", filters.parameters)
    rows = tx.rows(
        f"select {summary_columns} from capsules {where} {NEWEST_FIRST} limit :limit offset :offset",
        {**filters.parameters, "limit": page.limit, "offset": page.offset},
    )
    items = [summary(row) for row in rows]
    total = counted[0] if counted else 0
    return {
        "items": items,
        "pagination": page.answer(returned=len(items), total=total),
        "sort": "updated_at_desc",
    }


def _section(text: str, title: str) -> markdown.Section:
    """The first section with that header; a refusal lists the headers there are."""
    if not title.strip():
        raise invalid("section is blank; give the header of a section", path="section")
    found = markdown.parse(text)
    if not found:
        raise invalid("the capsule has no Markdown headers to append to; use capsule_update", path="section")
    for section in found:
        if markdown.same_title(section.title, title):
            return section
    available = [section.title for section in found]
    raise invalid(
        f"section not found: {title[:200]}; available sections: {', '.join(available)[:1000]}",
        path="section",
        available=available,
    )


def _parts(
    tx: Transaction, items: list[dict[str, Any]], sections: list[str] | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The parts of a bundle, and those capsules that hold none of the wanted sections."""
    parts, missing = [], []
    for index, ref in enumerate(items):
        tx.check_cancelled()
        row = capsules.find(tx, address_of(ref, index))
        text = row["capsule_text"] if sections is None else markdown.keep_sections(row["capsule_text"], sections)
        part = {"id": row["id"], "workspace": row["workspace_raw"]}
        if row["name_raw"] is not None:
            part["name"] = row["name_raw"]
        # On one line: a title with line breaks could forge sections.
        part["display_name"] = " ".join((row["title"] or row["name_raw"] or row["id"]).split())
        if text is None:
            missing.append(part)
        else:
            parts.append({**part, "text": text, "chars": len(text)})
    return parts, missing
