"""Versions of capsules and artifacts: history, revert and rename."""

from __future__ import annotations

from moss_memory.errors import invalid_request, next_call
from moss_memory.registry import catalog
from moss_memory.registry.argument_types import Annotated, Literal
from moss_memory.registry.arguments import ExpectedVersion, Id, Limit, Name, Offset, Workspace
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.corrected_calls import corrected_call
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    FINDINGS,
    PAGINATION,
    ResponseSchema,
    TableColumn,
    choice,
    fetch_key_of,
    flag,
    integer,
    list_of,
    moment,
    text,
)
from moss_memory.registry.tool_groups import import_module
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import normalize_name, normalize_workspace, reference
from moss_memory.rows.paging import Page
from moss_memory.rows.undelete import refuse_taken_name
from moss_memory.rows.versions import refuse_another_version
from moss_memory.rows.workspace_names import note_new_workspace
from moss_memory.secrets.scanner import findings_fields
from moss_memory.storage.origin import actors_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.versions import Versioned
    from moss_memory.storage.engine import ReadTransaction, Transaction

Family = Annotated[Literal["capsule", "artifact"], "the family"]
OldVersion = Annotated[int, {"minimum": 1}, "the version to go back to"]
NewName = Annotated[str, "the new name"]
NewWorkspace = Annotated[str, "the new workspace"]

_FAMILIES = ("capsule", "artifact")
_ADDRESS = ("id", "workspace", "name", "fetch_key")

_VERSION = ResponseSchema(
    "Version",
    {
        "version": integer("its number"),
        "at": moment("when it was written"),
        "tool": text("which tool wrote it"),
        "by": text("who wrote it, if known", optional=True),
        "source": text("the `source` of a capsule", optional=True),
        "chars": integer("characters of its text, of an artifact's data and text"),
        "change": text("the change, in a line"),
        "erased": flag("whether its content was erased", optional=True, shown="if_true"),
    },
    table=(
        TableColumn("version"),
        TableColumn("at", "written"),
        TableColumn("tool", drop_rank=3),
        TableColumn("by", min_width=8, drop_rank=5, unless=None),
        TableColumn("source", min_width=8, drop_rank=4, unless=None),
        TableColumn("chars", drop_rank=2),
        TableColumn("change", min_width=20, max_width=0),
    ),
)


def _propose_type(tx: ReadTransaction, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call with the type of the row at its address; None if there is no such row."""
    operation = catalog.find(tool)
    kind = None if arguments.get("type") is not None else _find_type(tx, arguments)
    if kind is None or operation is None:
        return None
    return corrected_call(operation, {**arguments, "type": kind}, f"is the same call for the {kind} of that address")


def _address_in(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in _ADDRESS if arguments.get(name) is not None}


def _propose_history(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the next call after a refused revert: the same with its type, the versions, or the last changes."""
    address = _address_in(arguments)
    if not address:
        return next_call("moss_log", {"limit": 10}, "lists the last changes with the ids of the changed rows")
    if arguments.get("version") is not None and (whole := _propose_type(tx, "moss_revert", arguments)) is not None:
        return whole
    kind = _find_type(tx, arguments) or "capsule"
    family = arguments["type"] if arguments.get("type") in _FAMILIES else kind
    return corrected_call(moss_history, {**address, "type": family}, "lists the versions: choose one as `version`")


def _find_type(tx: ReadTransaction, arguments: dict[str, Any]) -> str | None:
    """Return the type of the row at the address of a call: a capsule before an artifact of the same name.

    Raise `MossError` if the address is invalid.
    """
    address = _address_in(arguments)
    key = address.get("fetch_key")
    key_type = next((family for family in _FAMILIES if isinstance(key, dict) and f"moss_{family}" in key), "capsule")
    values = moss_history.decode({**address, "type": key_type}, tx.config.workspace)
    decoded = Address(values.get("id"), values.get("workspace"), values.get("name"))
    enabled = [family for family in _FAMILIES if family not in tx.config.disabled_types]
    types = (
        family for family in enabled if _versioned(tx, family).rows.find_or_none(tx, decoded, include_deleted=True)
    )
    return next(types, None)


@operation(
    idempotent=True,
    proposed_call=lambda tx, arguments: _propose_type(tx, "moss_history", arguments),
    answers={
        "type": choice(_FAMILIES, "its type"),
        "id": text("ULID"),
        "workspace": text("namespace, as it was written"),
        "name": text("handle, as it was written", optional=True),
        "current": integer("the present version"),
        "versions": list_of(_VERSION, "newest first, the present one included", shown="answer"),
        "pagination": PAGINATION,
    },
    cli=Cli("versions", groups=("capsule", "artifact")),
    example="moss versions shop/auth",
    words=(
        "earlier versions, who changed this, who changed it, list versions, older versions, who changed, what "
        "changed in it, revisions, change log, list of changes, when was it edited, diff between versions, past "
        "versions, versions of a capsule, show older versions, version history, history of a capsule, list the "
        "revisions, how did the capsule look before, which versions are there, when was the capsule changed, "
        "versions of an artifact"
    ),
)
def moss_history(
    tx: ReadTransaction,
    *,
    type: Family,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> dict[str, Any]:
    """List the versions of a capsule or artifact, newest first: when, how, what changed; `moss_revert` goes back."""
    from .diff_summary import describe_version  # only this call needs it

    page = Page(limit, offset, maximum=100)
    versioned = _versioned(tx, type)
    row = versioned.rows.find(tx, Address(id, workspace, name), include_deleted=True)
    total = versioned.count(tx, row) + 1
    # One more than the page: each is compared with the previous one.
    rows = versioned.read(tx, row, most=page.limit + (page.offset > 0), skip=max(page.offset - 1, 0))
    if page.offset == 0:
        rows.insert(0, versioned.current_as_version(row))
    shown = rows[: page.limit]
    before = [*rows[1:], None]
    actors = actors_of(tx, {version["origin"] for version in shown if version["origin"] is not None})
    versions = [
        describe_version(versioned, version, earlier, actors.get(version["origin"]))
        for version, earlier in zip(shown, before, strict=False)
    ]
    answer: dict[str, Any] = {"type": type, "id": row["id"], "workspace": row["workspace_raw"]}
    if row["name_raw"] is not None:
        answer["name"] = row["name_raw"]
    pagination = page.answer(returned=len(versions), total=total)
    return {**answer, "current": row["version"], "versions": versions, "pagination": pagination}


def _describe_revert(answer: dict[str, Any], _: dict[str, Any]) -> str:
    if not answer["changed"]:
        return "Nothing to change: version {version} has the content of version {reverted_to}."
    return "Went back to version {reverted_to}; it is now version {version}."


@operation(
    mutates=True,
    idempotent=True,
    proposed_call=_propose_history,
    answers={
        "id": text("ULID"),
        "version": integer("the present version"),
        "reverted_to": integer("the version whose content it has"),
        "changed": flag("false if it had that content already: then nothing was written"),
        **FINDINGS,
    },
    cli=Cli(
        groups=("capsule", "artifact"),
        inferred={"version": "the one before the present one"},
        sentence=_describe_revert,
    ),
    example="moss revert shop/auth --version 3",
    words=(
        "undo, undo a change, undo my last edit, go back, revert, roll back, overwritten by mistake, restore the "
        "old text, take back, previous version, before my change, mess up, wrong edit, rollback, back to version,"
        " go back to an older version, restore an earlier version, undo an edit, undo an overwrite, put back the "
        "old version, I overwrote the text, get the old text back, revert a capsule, revert an artifact, wrong "
        "text saved, reverse a change"
    ),
)
def moss_revert(
    tx: Transaction,
    *,
    type: Family,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    version: OldVersion,
    expected_version: ExpectedVersion | None = None,
) -> dict[str, Any]:
    """Undo changes: make an old version of a capsule or artifact the present one; for deleted ones use restore."""
    versioned = _versioned(tx, type)
    row = versioned.rows.find(tx, Address(id, workspace, name), also=versioned.visible_condition)
    refuse_another_version(versioned, row, expected_version)
    old = versioned.version_at(tx, row, version=version, as_of=None)
    content = versioned.content(old)
    changed = content != versioned.content(row)
    if changed:
        row |= {**content, **versioned.measured(content)}
        versioned.write_version(tx, row, kept_origin=old["version_origin"])
    else:
        tx.skip_event()
    answer = {"id": row["id"], "workspace": row["workspace_raw"], "version": row["version"]}
    answer |= {"reverted_to": version, "changed": changed}
    return answer | findings_fields(versioned.findings(row))


@operation(
    mutates=True,
    cross_workspace=True,
    proposed_call=lambda tx, arguments: _propose_type(tx, "moss_rename", arguments),
    answers={
        "id": text("ULID"),
        "version": integer("the present version"),
        "fetch_key": fetch_key_of("capsule", "artifact", name="RenamedKey"),
    },
    scan_secrets=True,
    cli=Cli(groups=("capsule", "artifact"), sentence="Renamed to {it}, version {version}."),
    example="moss rename shop/auth --new-name sign-in",
    words=(
        "rename, move to another workspace, new name, different workspace, call it something else, move an "
        "artifact, move a capsule, other name, change the name, change the workspace, relocate, retitle the "
        "handle, rename a capsule, rename an artifact, change the name of a capsule, move to a different project,"
        " wrong workspace, saved in the wrong project, give it another name, call the capsule something else"
    ),
)
def moss_rename(
    tx: Transaction,
    *,
    type: Family,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    new_name: NewName | None = None,
    new_workspace: NewWorkspace | None = None,
) -> dict[str, Any]:
    """Give a capsule or artifact another name, or move it to another workspace; a taken name is refused."""
    if new_name is None and new_workspace is None:
        raise invalid_request("`new_name` or `new_workspace` is needed", path="new_name")
    names: dict[str, str] = {}
    if new_name is not None:
        names |= {"name_raw": new_name, "name_norm": normalize_name(new_name, what="new_name")}
    if new_workspace is not None:
        norm = normalize_workspace(new_workspace, what="new_workspace")
        names |= {"workspace_raw": new_workspace, "workspace_norm": norm}
    versioned = _versioned(tx, type)
    row = versioned.rows.find(tx, Address(id, workspace, name), also=versioned.visible_condition)
    if row.get("title") is not None and row["title"] == row["name_raw"]:
        names["title"] = names.get("name_raw", row["name_raw"])  # the title was copied from the name
    row |= names
    note_new_workspace(tx, row["workspace_norm"])
    refuse_taken_name(tx, versioned, row, "choose another name, or rename that one first")
    if "name_raw" in versioned.unversioned:
        tx.run(versioned.sql["rename"], {**row, "now": tx.now, "change_seq": tx.next_change()})
        tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])
    else:
        versioned.write_version(tx, row, "rename")
    return {"id": row["id"], "version": row["version"], **reference(versioned.rows.noun, row)}


def _versioned(tx: ReadTransaction, family: str) -> Versioned:
    """Return the versioned rows of a family; refuse a disabled one."""
    if family in tx.config.disabled_types:
        raise invalid_request(f"`type` {family!r} is disabled by the configuration", path="type")
    versioned: Versioned = import_module(f"moss_memory.tools.{family}.{family}_rows").versioned
    return versioned
