"""`moss_erase`: hard deletion from every place in which Moss stores data."""

from __future__ import annotations

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated, Literal
from moss_memory.registry.arguments import Id, Name, Workspace
from moss_memory.registry.cli_traits import YES, Cli, switch
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, choice, flag, integer, object_of, texts
from moss_memory.registry.tool_groups import import_module
from moss_memory.rows.bulk_changes import SCOPE, DryRun, is_not_dry_run
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import pluralize

from .backup_scan import copies_in
from .quote_search import quotes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.rows.hard_delete import HardDelete
    from moss_memory.rows.versions import Versioned
    from moss_memory.storage.engine import ReadTransaction, Transaction

What = Annotated[Literal["capsule", "artifact", "record", "note", "trace", "node", "task"], "the type"]
ErasedVersion = Annotated[int, {"minimum": 1}, "only this earlier version"]
InBranch = Annotated[str, "branch"]
InDocument = Annotated[str, "document"]
EntrySeq = Annotated[int, {"minimum": 0}, "number of a note or trace entry"]
OfTarget = Annotated[str, "plan or task"]
OfStep = Annotated[str, "only this step"]

_TYPES = ("capsule", "artifact", "record", "note", "trace", "node", "task")
_ADDRESS_ARGUMENTS = {
    "capsule": ("id", "workspace", "name", "version"),
    "artifact": ("id", "workspace", "name", "version"),
    "record": ("id", "workspace"),
    "note": ("id", "workspace", "branch", "doc", "seq"),
    "trace": ("id", "workspace", "branch", "doc", "seq"),
    "node": ("id", "workspace", "branch", "doc"),
    "task": ("id", "workspace", "target", "step_id"),
}
"""The arguments that address an object of each type; `id` is the one of a search hit."""
_HIT_IDS = {"note": "seq", "trace": "seq", "task": "target"}
"""The argument that the `id` of a search hit means, if that is not an id of its own."""
_QUOTED_WHOLE = ("capsule", "artifact", "record")
"""Types whose texts often have the same beginning: only the whole text is a quote."""
_MAX_DIGITS = 18
"""Every number with at most this many digits fits in 64 bits."""

_REMOVED = ResponseSchema(
    "Removed",
    {
        "rows": integer("rows, or entries and nodes that stay without content"),
        "versions": integer("earlier versions"),
        "vectors": integer("vectors of search by meaning"),
    },
)


def _describe_erasure(answer: dict[str, Any], _: dict[str, Any]) -> str:
    removed = answer["removed"]
    counts = f"{pluralize(removed['rows'], 'row')}, {pluralize(removed['versions'], 'earlier version')}"
    if answer["dry_run"]:
        return f"A dry run: {counts} would be erased. Nothing is changed."
    remark = "" if answer["complete"] else " The next write removes the rest from the disk."
    return f"Erased {counts}.{remark}"


@operation(
    mutates=True,
    cross_workspace=True,
    destructive=True,
    writes_if=is_not_dry_run,
    answers={
        "type": choice(_TYPES, "its type"),
        "removed": object_of(_REMOVED, "how much was removed, or would be"),
        "dry_run": flag("whether nothing was done"),
        "complete": flag("false while a reader still holds its bytes; the next write removes them"),
        "scope": SCOPE,
        "copies": texts("files in the home that may still hold it, by path, and quotes of it, by type and address"),
    },
    cli=Cli(
        groups=("capsule", "artifact", "task", "record"),
        options={"copies": switch("also delete copies that Moss made in the home folder"), **YES},
        asks=True,
        sentence=_describe_erasure,
    ),
    example="moss erase shop/auth --dry-run",
    words=(
        "forget, erase, remove a secret, password stored, leaked credential, api key, purge for good, gdpr, "
        "personal data, wipe, take out, delete forever, irrevocably, sensitive, confidential, token leaked, "
        "scrub, redact, privacy, completely remove, credential, make it disappear, left on disk, nothing left, "
        "secret, remove a password, stored a secret by accident, delete without a trace, remove personal data, "
        "erase completely, leaked key, delete a record, delete a note for good, secret in a note, hard delete, "
        "remove every trace"
    ),
)
def moss_erase(
    tx: Transaction,
    *,
    type: What,
    id: Id | None = None,
    workspace: Workspace | None = None,
    name: Name | None = None,
    version: ErasedVersion | None = None,
    branch: InBranch | None = None,
    doc: InDocument | None = None,
    seq: EntrySeq | None = None,
    target: OfTarget | None = None,
    step_id: OfStep | None = None,
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Remove something for good (a secret, personal data): row, versions, copies, index and bytes; no way back.

    A note or trace entry (`seq`), a node (`id`) and a task's texts (`target`) leave their place; a record takes its
    observations along.
    """
    values = {
        "id": id, "workspace": workspace, "name": name, "version": version, "branch": branch, "doc": doc, "seq": seq,
        "target": target, "step_id": step_id,
    }  # fmt: skip
    arguments = {key: value for key, value in values.items() if value is not None}
    extra = next((key for key in arguments if key not in _ADDRESS_ARGUMENTS[type]), None)
    if extra is not None:
        raise invalid_request(
            f"`{extra}` names no {type}; it is identified by {', '.join(_ADDRESS_ARGUMENTS[type])}", path=extra
        )
    if "id" in arguments and type in _HIT_IDS:
        arguments = _from_hit(tx, type, arguments)
    erasure, norm, quotes = _plan_with_quotes(tx, type, arguments)
    answer: dict[str, Any] = {"type": type, "workspace": norm, "removed": erasure.removed, "dry_run": dry_run}
    answer |= {"complete": False, **tx.erasure_scope, "copies": [*copies_in(tx.config.home), *quotes]}
    if not dry_run:
        erasure.execute(tx)
        tx.erase_after_commit(answer, field="complete", anything=True)
    return answer


def _from_hit(tx: ReadTransaction, type: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the address with the arguments that the `id` of a search hit means."""
    replaced = _HIT_IDS[type]
    if replaced in arguments:
        raise invalid_request(f"`id` and `{replaced}` mean the same here; give one of them", path="id")
    hit, without_id = arguments["id"], {key: value for key, value in arguments.items() if key != "id"}
    if type == "task":
        if not hit.startswith("STEP-") or "step_id" in arguments:
            return {**without_id, "target": hit}
        workspace = _workspace_of(tx, type, arguments)
        target = import_module("moss_memory.tools.task.task_erase").target_of_step(tx, workspace, hit)
        return {**without_id, "target": target, "step_id": hit}
    if not (hit.isascii() and hit.isdigit() and len(hit) <= _MAX_DIGITS):
        raise invalid_request(f"`id` of a {type} is its number, as a search hit has it", path="id")
    workspace, doc = import_module("moss_memory.tools.reasoning.reasoning_erase").entry_location(tx, type, int(hit))
    # A search returns entries of the trace as notes, too.
    return {"workspace": workspace, **({"doc": doc} if type == "note" else {}), **without_id, "seq": int(hit)}


def _workspace_of(tx: ReadTransaction, type: str, arguments: dict[str, Any]) -> str:
    workspace: str = arguments.get("workspace") or tx.config.workspace
    if not workspace:
        raise invalid_request(f"`workspace` is needed: the one that the {type} is in", path="workspace")
    return workspace


def _plan_with_quotes(tx: ReadTransaction, type: str, arguments: dict[str, Any]) -> tuple[HardDelete, str, list[str]]:
    """Return the deletion with hand-overs that Moss wrote, its workspace, and the addresses that quote it."""
    erasure, workspace = _plan(tx, type, arguments)
    if arguments.get("version") is not None:
        return erasure, workspace, []  # later versions contain the same text
    erased = arguments["target"] if type == "task" else None
    handovers = import_module("moss_memory.tools.task.handoff_erase").Handovers(tx, workspace, erasure, erased)
    whole = erasure.combined_with([handovers.erasure()])
    quotes = quotes_of(
        tx, workspace, whole, rewritten=handovers.rewritten, named=handovers.named, in_part=type not in _QUOTED_WHOLE
    )
    return whole, workspace, quotes


def _plan(tx: ReadTransaction, type: str, arguments: dict[str, Any]) -> tuple[HardDelete, str]:
    """Return the deletion and its workspace; raise `NOT_FOUND` if the object does not exist."""
    if type in ("capsule", "artifact"):
        versioned: Versioned = import_module(f"moss_memory.tools.{type}.{type}_rows").versioned
        version = arguments.get("version")
        address = Address(arguments.get("id"), arguments.get("workspace"), arguments.get("name"))
        row = versioned.rows.find(tx, address, include_deleted=True)
        erasure = versioned.erasure(tx, row) if version is None else versioned.erasure_of_version(tx, row, version)
        return erasure, row["workspace_norm"]
    if type == "record":
        erasing = import_module("moss_memory.tools.record.record_erase")
        deletion: tuple[HardDelete, str] = erasing.erase_record(tx, arguments.get("workspace"), arguments.get("id"))
        return deletion
    workspace = _workspace_of(tx, type, arguments)
    if type == "task":
        erasing = import_module("moss_memory.tools.task.task_erase")
        return erasing.erase_task(tx, workspace, arguments.get("target"), step_id=arguments.get("step_id")), workspace
    document = {"branch": arguments.get("branch"), "doc": arguments.get("doc")}
    if type == "node":
        erasing = import_module("moss_memory.tools.reasoning.graph.node_erase")
        return erasing.erase_node(tx, workspace, arguments.get("id"), **document), workspace
    erasing = import_module("moss_memory.tools.reasoning.reasoning_erase")
    return erasing.erase_entry(tx, workspace, type, **document, seq=arguments.get("seq")), workspace
