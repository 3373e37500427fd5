"""Bundles of artifacts: their texts under headers, or their parts as JSON."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request
from moss_memory.registry.argument_types import Annotated, Any, Literal
from moss_memory.registry.arguments import Ref, StoreMode
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import (
    LONG,
    ResponseSchema,
    TableColumn,
    free,
    integer,
    list_of,
    needs_id_column,
    object_of,
    text,
)
from moss_memory.rows.lookup import address_of

from .artifact_rows import UNEXPIRED, artifacts
from .artifact_tools import ITEMS_MAX, STORED, TtlSeconds, artifact_list, artifact_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import ReadTransaction, Transaction

ArtifactFormat = Annotated[Literal["markdown", "json"], "one text, or its parts"]
ArtifactStoreAs = Annotated[
    dict[str, Any],
    {
        "properties": {
            **{name: {"type": "string"} for name in ("workspace", "name", "kind", "run_id", "phase", "role")},
            "ttl_seconds": TtlSeconds,
            "mode": StoreMode,
        },
        "required": ["name", "kind"],
        "additionalProperties": False,
    },
    "also store the bundle",
]

_PART = ResponseSchema(
    "ArtifactPart",
    {
        "id": text("ULID"),
        "name": text("handle", nullable=True),
        "data": free("structured content"),
        "text": text("rendered view for models"),
    },
    table=(
        TableColumn("name", min_width=8),
        TableColumn("text", min_width=20, max_width=LONG),
        TableColumn("id", when=needs_id_column),
    ),
)


def _propose_items(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    from moss_memory.rows.compose_items import propose_items  # only a refusal needs it

    complete = f"text is not null and {UNEXPIRED}"
    return propose_items(tx, artifact_compose, artifact_list, arguments, most=ITEMS_MAX, also=complete)


@operation(
    mutates=True,
    scan_secrets=True,
    writes_with="store_as",
    proposed_call=_propose_items,
    answers={
        "bundle_text": text("the Markdown bundle", optional=True, shown="whole"),
        "bundle_chars": integer("characters of the bundle", optional=True),
        "parts": list_of(_PART, "the parts of a JSON bundle", optional=True),
        "parts_count": integer("how many artifacts are in it"),
        "stored": object_of(STORED, "the artifact that the bundle was stored as", optional=True),
    },
    cli=Cli(prints_text=True),
    example="moss artifact compose plan/run-1-code plan/run-1-tests",
    words=(
        "combine results, bundle texts of a run, merge findings into one prompt, one prompt from many artifacts, "
        "join the texts of artifacts, combine artifacts, collect reports of the reviewers in one text, summary "
        "input from all workers, concatenate artifacts"
    ),
)
def artifact_compose(
    tx: Transaction,
    *,
    items: list[Ref],
    format: ArtifactFormat = "markdown",
    store_as: ArtifactStoreAs | None = None,
) -> dict[str, Any]:
    """Bundle the texts of 1 to 100 artifacts for an LLM, each under a header; all or nothing.

    Every artifact needs a text. `store_as` also saves the bundle as an artifact that names its sources.
    """
    if not 1 <= len(items) <= ITEMS_MAX:
        raise invalid_request(f"`items` has {len(items)} entries; give 1 to {ITEMS_MAX}", path="items")
    if format == "json" and store_as is not None:
        raise invalid_request("`store_as` needs the markdown format", path="store_as")
    rows = []
    for index, ref in enumerate(items):
        tx.check_cancelled()
        rows.append(artifacts.find(tx, address_of(ref, index), also=UNEXPIRED))
    missing = [row["id"] for row in rows if row["text"] is None]
    if missing:
        raise MossError(
            "COMPOSE_MISSING_TEXT",
            f"these artifacts have no text: {', '.join(missing)}; store them with one or leave them out",
            details={"missing": missing},
        )
    if format == "json":
        parts = [
            {"id": row["id"], "name": row["name_raw"], "data": json.loads(row["data_json"]), "text": row["text"]}
            for row in rows
        ]
        return {"parts": parts, "parts_count": len(rows)}
    sections = []
    for row in rows:
        role = f": {row['role']}" if row["role"] else ""
        # On one line: a kind or role with line breaks could inject headers.
        heading = " ".join(f"{row['kind']}{role} ({row['name_raw'] or row['id']})".split())
        sections.append(f"## {heading}\n\n{row['text']}\n\n---")
    bundle = "\n\n".join(sections)
    answer: dict[str, Any] = {"bundle_text": bundle, "bundle_chars": len(bundle), "parts_count": len(rows)}
    if store_as is not None:
        sources = {"sources": [row["id"] for row in rows]}
        stored = artifact_store.run_in_transaction(tx, data=sources, text=bundle, **store_as)
        answer["stored"] = {key: stored[key] for key in STORED.fields}
    return answer
