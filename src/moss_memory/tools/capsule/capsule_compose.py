"""Append to a section of a capsule, and compose capsules into a bundle."""

from __future__ import annotations

from moss_memory.errors import MossError, find_alike, invalid_request, next_call
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.registry.arguments import ExpectedVersion, Id, Name, Ref, StoreMode, Workspace
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.corrected_calls import MOST_CHARS
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    ResponseSchema,
    TableColumn,
    flag,
    integer,
    list_of,
    needs_id_column,
    object_of,
    text,
)
from moss_memory.rows.lookup import Address, address_of
from moss_memory.rows.names import fetch_key
from moss_memory.rows.versions import refuse_another_version

from .capsule_responses import KEY, STORED, VERSION
from .capsule_rows import capsules, versioned
from .capsule_tools import ITEMS_MAX, capsule_store, thin_recovery
from .sections import append_to, check_capsule_size, keep_sections, parse_sections, same_title, text_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

AppendMode = Annotated[Literal["append", "replace"], "add to the section, or replace it"]
ComposeFormat = Annotated[Literal["markdown", "json"], "one text, or its parts"]
AppendedText = Annotated[str, "text", {"own_limit": True}]
SectionName = Annotated[str, "a header as it is written"]
SectionNames = Annotated[list[str], "keep only these headers"]
_STRING = {"type": "string"}
StoreAs = Annotated[
    dict[str, Any],
    {
        "properties": {
            **dict.fromkeys(("name", "workspace", "title"), _STRING),
            "tags": {"type": "array", "items": _STRING},
            **dict.fromkeys(("source", "run_id", "phase", "role"), _STRING),
            "mode": StoreMode,
            "expected_version": {"type": "integer"},
            "allow_thin": {"type": "boolean"},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    "also store the bundle",
]

_PART = ResponseSchema(
    "CapsulePart",
    {
        "id": text("ULID"),
        "workspace": text("namespace"),
        "name": text("handle", optional=True),
        "version": VERSION,
        "display_name": text("its header in the bundle"),
        "text": text("its text, or the wanted sections of it"),
        "chars": integer("characters of that"),
    },
    table=(
        TableColumn("display_name", "title", min_width=8),
        TableColumn("name", min_width=8),
        TableColumn("workspace", min_width=8, drop_rank=6),
        TableColumn("chars"),
        TableColumn("id", when=needs_id_column),
    ),
)
_UNUSED = _PART.without("text", "chars", name="UnusedCapsule")


def _describe_append(answer: dict[str, Any], _: dict[str, Any]) -> str:
    verb = "Replaced" if answer["replaced"] else "Added to"
    return f'{verb} "{{section}}" of {{it}}, version {{version}}.'


@operation(
    mutates=True,
    scan_secrets=True,
    check_own_limits=lambda call, values: check_capsule_size(call.config, values["content"]),
    answers={
        "id": text("ULID"),
        "section_hit": text("the header as it is written in the capsule"),
        "replaced": flag("whether the section's content, or a placeholder, was replaced"),
        "version": VERSION,
        "fetch_key": KEY.or_absent(),
    },
    cli=Cli(sentence=_describe_append),
    example='moss append auth --section "Next actions" --content "- rotate the keys"',
    words=(
        "add a line, add to a section, extend, one more decision, append, replace one section only, add an item, "
        "put under a heading, put into a section, next actions, key locations, insert, supplement, update one "
        "section, add a decision, add to a capsule, add a next action, add an open question to the hand-over, "
        "change only one section, update the current status section, rewrite one part of a capsule, add a bullet,"
        " add to an existing hand-over"
    ),
)
def capsule_append(
    tx: Transaction,
    *,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    section: SectionName,
    content: AppendedText,
    mode: AppendMode = "append",
    expected_version: ExpectedVersion | None = None,
) -> dict[str, Any]:
    """Add to one section of a capsule, or replace its content, and leave the rest as it is.

    Replaces a placeholder such as `TBD`.
    """
    address = Address(id, workspace, name)
    if not content.strip():
        raise invalid_request("`content` is blank; give the text to append", path="content")
    row = capsules.find(tx, address)
    refuse_another_version(versioned, row, expected_version)
    if not section.strip():
        raise invalid_request("`section` is blank; give the header of a section", path="section")
    present = parse_sections(row["capsule_text"])
    if not present:
        raise invalid_request("the capsule has no Markdown headers to append to; use `capsule_update`", path="section")
    target = next((candidate for candidate in present if same_title(candidate.title, section)), None)
    if target is None:
        raise _section_not_found(row["id"], section, [candidate.title for candidate in present], content, mode)
    text, replaced = append_to(row["capsule_text"], target, content, replace=mode == "replace")
    check_capsule_size(tx.config, text)
    row |= text_columns(text)
    versioned.write_version(tx, row)
    answer = {"id": row["id"], "version": row["version"], "section_hit": target.heading, "replaced": replaced}
    if row["name_raw"] is None:
        return {**answer, "workspace": row["workspace_raw"]}
    return {**answer, "fetch_key": fetch_key("capsule", row)}


def _propose_items(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    from moss_memory.rows.compose_items import propose_items  # only a refusal needs it

    from .capsule_lists import capsule_inventory

    return propose_items(tx, capsule_compose, capsule_inventory, arguments, most=ITEMS_MAX, also="true")


@operation(
    mutates=True,
    scan_secrets=True,
    writes_with="store_as",
    proposed_call=_propose_items,
    answers={
        "bundle_text": text("the Markdown bundle", optional=True, shown="whole"),
        "parts": list_of(_PART, "the parts of a JSON bundle", optional=True),
        "bundle_chars": integer("characters of the bundle, or of all parts"),
        "parts_count": integer("how many capsules are in it"),
        "missing": list_of(_UNUSED, "capsules with none of the wanted sections", optional=True),
        "stored": object_of(STORED, "the capsule that the bundle was stored as", optional=True),
    },
    cli=Cli(prints_text=True),
    example='moss compose auth shop/db --sections "Next actions"',
    words=(
        "combine, bundle, concatenate, join several hand-overs, assemble a prompt, only the decisions of several,"
        " several capsules as one, stitch, collect sections, make one document of several capsules, one text from"
        " many capsules, combine capsules, merge hand-overs, extract a section from several capsules, build a "
        "prompt from capsules"
    ),
)
def capsule_compose(
    tx: Transaction,
    *,
    items: list[Ref],
    sections: SectionNames | None = None,
    format: ComposeFormat = "markdown",
    store_as: StoreAs | None = None,
) -> dict[str, Any]:
    """Join 1 to 50 capsules, or only some of their `sections`, into one text; all or nothing.

    `store_as` also saves the Markdown bundle as a capsule, checked like any other.
    """
    if not 1 <= len(items) <= ITEMS_MAX:
        raise invalid_request(f"`items` has {len(items)} entries; give 1 to {ITEMS_MAX}", path="items")
    if format == "json" and store_as is not None:
        raise invalid_request("`store_as` needs the markdown format; JSON has no section headers", path="store_as")
    if sections is not None and not any(title.strip() for title in sections):
        raise invalid_request("`sections` is empty; name at least one header or leave it out", path="sections")
    parts, missing = _collect_parts(tx, items, sections)
    answer: dict[str, Any]
    if format == "json":
        size = sum(part["chars"] for part in parts)
        answer = {"parts": parts}
    else:
        bundle = "\n\n---\n\n".join([f"## {part['display_name']}\n\n{part['text']}" for part in parts])
        size = len(bundle)
        answer = {"bundle_text": bundle}
    answer |= {"bundle_chars": size, "parts_count": len(parts)}
    if sections is not None:
        answer["missing"] = missing
    limit = tx.config.capsule_max_chars
    if size > limit:
        raise MossError(
            "COMPOSE_TOO_LARGE",
            f"the bundle would have {size} characters, the limit is {limit}; "
            "compose fewer capsules or keep only some sections",
            details={"max_chars": limit, "actual_chars": size},
        )
    if store_as is not None:
        if not parts:
            message = "no capsule holds any of the wanted sections; there is nothing to store"
            raise invalid_request(message, path="sections")
        arguments = {"capsule_text": answer["bundle_text"], **store_as}
        try:
            stored = capsule_store.run_in_transaction(tx, **arguments)
        except MossError as error:
            error.recovery = thin_recovery("capsule_store", arguments, error) or error.recovery
            raise
        answer["stored"] = {key: stored[key] for key in STORED.fields}
    return answer


def _section_not_found(capsule: str, section: str, available: list[str], content: str, mode: str) -> MossError:
    """Return the error, with the same call for the section that is spelled alike, or the way to add a section."""
    message = f"section not found: {section[:200]}; available sections: {', '.join(available)[:1000]}"
    error = invalid_request(message, path="section", available=available)
    alike = find_alike(section, available)
    if alike is not None and len(content) <= MOST_CHARS:
        changed = {} if mode == "append" else {"mode": mode}
        arguments = {"id": capsule, "section": alike, "content": content, **changed}
        error.recovery = next_call("capsule_append", arguments, "is the same call, with the section spelled alike")
    else:
        error.message += "; to add a section, send the whole text with `capsule_update`"
        error.recovery = next_call("capsule_fetch", {"id": capsule}, "loads the text, to send it with the new section")
    return error


def _collect_parts(
    tx: Transaction, items: list[dict[str, Any]], sections: list[str] | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the parts of a bundle, and the capsules that have none of the wanted sections."""
    parts, missing = [], []
    for index, ref in enumerate(items):
        tx.check_cancelled()
        row = capsules.find(tx, address_of(ref, index))
        text = row["capsule_text"] if sections is None else keep_sections(row["capsule_text"], sections)
        part = {"id": row["id"], "workspace": row["workspace_raw"], "version": row["version"]}
        if row["name_raw"] is not None:
            part["name"] = row["name_raw"]
        # On one line: a title with line breaks could inject sections.
        part["display_name"] = " ".join((row["title"] or row["name_raw"] or row["id"]).split())
        if text is None:
            missing.append(part)
        else:
            if tx.call.loads is not None:
                tx.call.loads.add(tx, row)
            parts.append({**part, "text": text, "chars": len(text)})
    return parts, missing
