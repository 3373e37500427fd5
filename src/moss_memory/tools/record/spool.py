"""Spool of records in `.cursor/memory/`, used if the store is out of reach; `moss record migrate` imports them."""

from __future__ import annotations

import json
import os
import re

from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.files.private_files import make_private_folder, write_new_private

from .capabilities import registry_of
from .entity_ids import entity_id
from .record_tools import as_write_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.store import Store

    from .capabilities import Capability

COLLECTIONS = {
    "feature_units": "neotoma:store_feature_unit:v1",
    "releases": "neotoma:store_release:v1",
    "agent_decisions": "neotoma:store_agent_decision:v1",
    "agent_sessions": "neotoma:store_agent_session:v1",
    "validation_results": "neotoma:store_validation_result:v1",
    "codebase_entities": "neotoma:store_codebase_entity:v1",
    "architectural_decisions": "neotoma:store_architectural_decision:v1",
}
"""The folders of `.cursor/memory/` and the capability of the records in each."""
MEMORY_FOLDER = os.path.join(".cursor", "memory")
FILE_MAX_BYTES = 8_000_000
"""The maximum size of a spooled file: twice the largest body in UTF-8 without indentation."""

_PLAIN_NAME = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,100}")


def submit_or_spool(
    store: Store,
    collection: str,
    body: dict[str, Any],
    *,
    provenance: dict[str, Any] | None = None,
    workspace: str | None = None,
    folder: str = MEMORY_FOLDER,
) -> dict[str, Any]:
    """Submit a record, or write it to a file if the store cannot be reached.

    Return the answer of `submit_payload`, or `{"kept": path}`. Each submission gets a file of its own, with its
    provenance and workspace if there are any. An invalid body raises `VALIDATION_ERROR` in both cases.
    """
    try:
        capability = capability_of(store.config.home, collection)
    except MossError as error:
        raise as_write_error(error) from None
    arguments: dict[str, Any] = {"capability_id": capability.capability_id, "body": body}
    if provenance is not None:
        arguments["provenance"] = provenance
    if workspace is not None:
        arguments["workspace"] = workspace
    try:
        return store.call("submit_payload", arguments)
    except MossError as error:
        if not error.code.startswith("DB_"):
            raise
    try:
        chosen = workspace or store.config.workspace or None
        path = write_spool_file(capability, collection, body, provenance=provenance, workspace=chosen, folder=folder)
    except MossError as error:
        raise as_write_error(error) from None
    return {"kept": path}


def write_spool_file(
    capability: Capability,
    collection: str,
    body: dict[str, Any],
    *,
    provenance: dict[str, Any] | None = None,
    workspace: str | None = None,
    folder: str = MEMORY_FOLDER,
) -> str:
    """Write a submission atomically to a new file that only its owner can read, and return the path.

    The file has the body; with provenance or workspace it has these and the body as `{body, provenance, workspace}`.
    """
    capability.check(body)
    target = os.path.join(folder, collection)
    make_private_folder(target)
    also = {name: value for name, value in (("provenance", provenance), ("workspace", workspace)) if value}
    content = {"body": body, **also} if also else body
    text = json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"
    if len(text) > FILE_MAX_BYTES:
        text = json.dumps(content, ensure_ascii=False).encode()
    return write_new_private(os.path.join(target, file_name(capability, body)), ".json", text)


def file_name(capability: Capability, body: dict[str, Any]) -> str:
    """Return the identity if it is safe as a file name, else the entity's id."""
    if len(capability.identity) == 1:
        value = body.get(capability.identity[0])
        if isinstance(value, str) and _PLAIN_NAME.fullmatch(value):
            return value
    return entity_id(capability, body)


def capability_of(home: str, collection: str) -> Capability:
    if collection not in COLLECTIONS:
        names = ", ".join(COLLECTIONS)
        raise invalid_request(f"there is no collection {collection[:100]!r}; known: {names}", known=list(COLLECTIONS))
    return registry_of(home).find(COLLECTIONS[collection])
