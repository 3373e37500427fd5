"""Brings records that were kept as files into the store, and checks that each of them arrived."""

from __future__ import annotations

import os
import time

from ..credentials import findings_in, told
from ..errors import MossError
from ..json_files import json_files, read_object, shown_path
from ..times import shown_instant
from ..values import DEFAULT_WORKSPACE, normalize
from .fallback import COLLECTIONS, FILE_MAX_BYTES, capability_of
from .identity import content_id, payload_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..store import Store


def kept_files(folder: str) -> list[tuple[str, str]]:
    """Every kept record below a memory folder, as (collection, path), in a stable order."""
    return [
        (collection, os.path.join(folder, collection, name))
        for collection in COLLECTIONS
        for name in json_files(os.path.join(folder, collection))
    ]


def migrate(
    store: Store,
    folder: str,
    *,
    workspace: str | None = None,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Submits every kept record and reads it back; a file that fails is named with the reason, the others go on.

    A record counts as seen when its file was written, so what was submitted since is not undone.
    """
    files = kept_files(folder)
    report: dict[str, Any] = {"files": len(files), "migrated": 0, "already_there": 0, "failed": []}
    found: list[dict[str, Any]] = []
    for number, (collection, path) in enumerate(files, start=1):
        try:
            body = _body(path)
            created = _migrate_file(store, collection, path, body, workspace=workspace, dry_run=dry_run)
            found += findings_in(body, shown_path(path))
            report["migrated" if created else "already_there"] += 1
        except (MossError, ValueError, OSError) as error:
            code, message = _reason(error)
            report["failed"].append({"file": shown_path(path), "code": code, "message": message})
        if progress is not None:
            progress(number, len(files))
    return {
        **report,
        "verified": report["migrated"] + report["already_there"] if not dry_run else 0,
        "dry_run": dry_run,
        **told(found),
    }


def _reason(error: MossError | ValueError | OSError) -> tuple[str, str]:
    """What a report says of a file that failed, in the codes of this family."""
    if not isinstance(error, MossError):
        return "VALIDATION_ERROR", str(error)
    return "VALIDATION_ERROR" if error.code == "INVALID_REQUEST" else error.code, error.message


def _body(path: str) -> dict[str, Any]:
    """The record in a file."""
    root = os.path.realpath(os.path.dirname(os.path.dirname(path)))
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise ValueError("it is a link that leads out of the folder; put the file itself there")
    return read_object(path, what="record", max_bytes=FILE_MAX_BYTES)


def _migrate_file(
    store: Store, collection: str, path: str, body: dict[str, Any], *, workspace: str | None, dry_run: bool
) -> bool:
    """Submits one record; says whether it is new. A dry run checks it and only looks."""
    capability = capability_of(store.config.home, collection)
    capability.check(body)
    # The same file again is the same request: a second run adds no second observation.
    request = f"migrate:{content_id(capability.capability_id, body, [], None)}"
    seen_us = min(os.stat(path).st_mtime_ns, time.time_ns()) // 1000
    arguments: dict[str, Any] = {
        "capability_id": capability.capability_id,
        "body": body,
        "provenance": {"extracted_at": shown_instant(seen_us)},
        "client_request_id": request,
        "allow_secrets": True,
    }
    if workspace is not None:
        arguments["workspace"] = workspace
    known = store.call("retrieve_records", {"ids": [_expected_id(arguments, workspace)]})["records"]
    if dry_run:
        return not known
    answer = store.call("submit_payload", arguments)
    found = store.call("retrieve_records", {"ids": [answer["payload_id"]]})["records"]
    if [record["properties"] for record in found] != [body]:
        raise ValueError("the record read back is not the one submitted")
    return not known


def _expected_id(arguments: dict[str, Any], workspace: str | None) -> str:
    norm = normalize(workspace or DEFAULT_WORKSPACE, what="workspace")
    return payload_id(norm, content_id(arguments["capability_id"], arguments["body"], [], None))
