"""Import of spooled records into the store, each verified by reading it back."""

from __future__ import annotations

import os
import re
import time

from moss_memory.errors import MossError
from moss_memory.rows.names import DEFAULT_WORKSPACE, normalize_workspace
from moss_memory.rows.times import format_instant, instant_us
from moss_memory.secrets.scanner import findings_fields, findings_in
from moss_memory.storage.files.json_files import json_files, read_json, read_object, shown_path

from .entity_ids import canonical_hash, content_id, payload_id
from .field_mapping import split_fields, split_workspace, unpack
from .record_tools import submit_payload
from .spool import COLLECTIONS, FILE_MAX_BYTES, capability_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moss_memory.store import Store

    from .capabilities import Capability
    from .field_mapping import Mapping

_REPEATED = re.compile(r"~\d+\.json$")
"""Matches a file of a repeated submission of an entity, which is imported even if its content is the same."""


def spooled_files(folder: str) -> list[tuple[str, str]]:
    """Return every spooled file below a memory folder as (collection, path), in a stable order."""
    return [
        (collection, os.path.join(folder, collection, name))
        for collection in COLLECTIONS
        for name in json_files(os.path.join(folder, collection))
    ]


def import_spool(
    store: Store,
    folder: str,
    *,
    workspace: str | None = None,
    dry_run: bool = False,
    mapping: Mapping | None = None,
    lenient: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Submit every spooled record and read it back; report a file that fails and continue with the others.

    The observation time of a record is that of its file, so later submissions are not overwritten. A file that names
    its workspace keeps it; `workspace` is for the others. `lenient` also accepts arrays of bodies, and fields that
    the capability does not have.
    """
    files = spooled_files(folder)
    report: dict[str, Any] = {"files": len(files), "migrated": 0, "already_there": 0, "failed": []}
    if lenient:
        report["unmapped"] = []
    findings: list[dict[str, Any]] = []
    for number, (collection, path) in enumerate(files, start=1):
        try:
            for record in _read_records(store, collection, path, mapping, lenient=lenient):
                created = _import_record(store, path, record, workspace=workspace, dry_run=dry_run)
                findings += findings_in({**record.body, **record.unmapped}, shown_path(path))
                report["migrated" if created else "already_there"] += 1
                if record.unmapped:
                    report["unmapped"].append({"file": shown_path(path), "fields": sorted(record.unmapped)})
        except (MossError, ValueError, OSError) as error:
            code, message = _explain(error)
            report["failed"].append({"file": shown_path(path), "code": code, "message": message})
        if progress is not None:
            progress(number, len(files))
    return {
        **report,
        "verified": report["migrated"] + report["already_there"] if not dry_run else 0,
        "dry_run": dry_run,
        **findings_fields(findings),
    }


def _explain(error: MossError | ValueError | OSError) -> tuple[str, str]:
    """Return code and message for a file that failed, in the codes of this family."""
    if not isinstance(error, MossError):
        return "VALIDATION_ERROR", str(error)
    return "VALIDATION_ERROR" if error.code == "INVALID_REQUEST" else error.code, error.message


class _SpooledRecord:
    """One record of a file: its capability, body and provenance, and the fields that the capability lacks."""

    def __init__(
        self,
        capability: Capability,
        body: dict[str, Any],
        provenance: dict[str, Any],
        unmapped: dict[str, Any],
        *,
        workspace: str | None = None,
        repetition: str = "",
    ) -> None:
        self.capability = capability
        self.body = body
        self.workspace = workspace
        self._repetition = repetition
        self.provenance = {**provenance, "unmapped": unmapped} if unmapped else provenance
        self.unmapped = unmapped

    def compute_content_id(self) -> str:
        refs, extractor = self.provenance.get("source_refs", []), self.provenance.get("extractor_version")
        return content_id(self.capability.capability_id, self.body, refs, extractor)

    def request_id(self) -> str:
        """Return its idempotency key: a second import of the same file adds no observation."""
        unmapped = canonical_hash(self.unmapped) if self.unmapped else ""
        return "migrate:" + ":".join(filter(None, (self.compute_content_id(), unmapped, self._repetition)))


def _read_records(
    store: Store, collection: str, path: str, mapping: Mapping | None, *, lenient: bool
) -> list[_SpooledRecord]:
    """Return the records of a file; raise `MossError` or `ValueError` if one is invalid."""
    root = os.path.realpath(os.path.dirname(os.path.dirname(path)))
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise ValueError("it is a link that leads out of the folder; put the file itself there")
    capability = capability_of(store.config.home, collection)
    read = read_json if lenient else read_object
    content, workspace = split_workspace(read(path, what="record", max_bytes=FILE_MAX_BYTES))
    entries = unpack(content)
    unknown_provenance = [name for _, _, extra_fields in entries for name in extra_fields]
    if unknown_provenance and not lenient:
        raise ValueError(f"provenance has unknown fields: {', '.join(unknown_provenance)[:200]}")
    repetition = os.path.basename(path) if _REPEATED.search(path) else ""
    records = []
    for index, (body, provenance, unmapped) in enumerate(entries):
        try:
            mapped = body if mapping is None else mapping.apply(collection, body)
            if lenient:
                mapped, unknown = split_fields(capability, mapped)
                unmapped = {**unmapped, **unknown}
            capability.check(mapped)
            checked = _check_provenance(capability, mapped, provenance)
            records.append(
                _SpooledRecord(capability, mapped, checked, unmapped, workspace=workspace, repetition=repetition)
            )
        except (MossError, ValueError) as error:
            if len(entries) == 1:
                raise
            raise ValueError(f"entry {index} of the array: {_explain(error)[1]}") from error
    return records


def _check_provenance(capability: Capability, body: dict[str, Any], provenance: dict[str, Any]) -> dict[str, Any]:
    """Return a file's provenance, checked as `submit_payload` checks it."""
    arguments = {"capability_id": capability.capability_id, "body": body, "provenance": provenance}
    checked: dict[str, Any] = submit_payload.decode(arguments, DEFAULT_WORKSPACE)["provenance"]
    if "extracted_at" in checked:
        instant_us(checked["extracted_at"], what="provenance.extracted_at")
    return checked


def _import_record(store: Store, path: str, record: _SpooledRecord, *, workspace: str | None, dry_run: bool) -> bool:
    """Submit one record, unless it is a dry run; return True if it is new."""
    content = record.compute_content_id()
    chosen = record.workspace or workspace or DEFAULT_WORKSPACE
    norm = normalize_workspace(chosen)
    stored_before = store.call("retrieve_records", {"ids": [payload_id(norm, content)]})["records"]
    if dry_run:
        return not stored_before
    seen_us = min(os.stat(path).st_mtime_ns, time.time_ns()) // 1000
    answer = store.call(
        "submit_payload",
        {
            "capability_id": record.capability.capability_id,
            "body": record.body,
            "provenance": {"extracted_at": format_instant(seen_us), **record.provenance},
            "client_request_id": record.request_id(),
            "allow_secrets": True,
            "workspace": chosen,
        },
    )
    read_back = store.call("retrieve_records", {"ids": [answer["payload_id"]]})["records"]
    if [record_read["properties"] for record_read in read_back] != [record.body]:
        raise ValueError("the record read back is not the one submitted")
    return not stored_before
