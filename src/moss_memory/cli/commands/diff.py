"""`moss diff`: two versions of a capsule or artifact as a unified diff."""

from __future__ import annotations

from moss_memory.cli.render.output import say
from moss_memory.cli.render.unified_diff import diff_lines, show_difference
from moss_memory.errors import MossError
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_METADATA = ("title", "kind", "tags", "source", "run_id", "phase", "role")


def compare(
    home: str | None,
    *,
    type: str = "capsule",
    version: int | None = None,
    to: int | None = None,
    **address: str,
) -> int:
    """Print the difference of two versions, by default that of the last change."""
    with Store(load_settings(home), actor="cli") as store:
        arguments = {"type": type, **address}
        if to is None:
            to = store.call("moss_history", {**arguments, "limit": 1})["current"]
        if version is None:
            version = _before(type, to)
        old, new = (_version(store, type, address, number) for number in (version, to))
    lines = diff_lines(_label(old), _label(new), _parts(old, new))
    if lines:
        show_difference(lines)
    else:
        say(f"moss: there is no difference between versions {version} and {to}")
    return 0


def compare_artifact(home: str | None, **arguments: Any) -> int:
    return compare(home, type="artifact", **arguments)


def version_before(store: Store, arguments: dict[str, Any]) -> tuple[int, int]:
    """Return the previous and the present version; refuse if there is only one."""
    current = store.call("moss_history", {**arguments, "limit": 1})["current"]
    return _before(arguments["type"], current), current


def _before(type: str, version: int) -> int:
    if version == 1:
        raise MossError("NOT_FOUND", f"version 1 of this {type} is its first; there is none before it")
    return version - 1


def _version(store: Store, type: str, address: dict[str, str], version: int) -> dict[str, Any]:
    """Return a version of a row, deleted or not."""
    hidden = {"include_deleted": True, **({"include_expired": True} if type == "artifact" else {})}
    return store.call(f"{type}_fetch", {**address, **hidden, "version": version})


def _label(row: dict[str, Any]) -> str:
    from moss_memory.cli.render.cell import format_time

    name = f"{row['workspace']}/{row['name']}" if row.get("name") else row["id"]
    return f"{name} version {row['version']} ({format_time(row['updated_at'])})"


def _parts(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the parts to compare: name, old text, new text."""
    if "capsule_text" in old:
        contents = [("", old["capsule_text"], new["capsule_text"])]
    else:
        contents = [
            ("data", _format_json(old["data"]), _format_json(new["data"])),
            ("", old["text"] or "", new["text"] or ""),
        ]
    return [("metadata", _metadata(old), _metadata(new)), *contents]


def _metadata(row: dict[str, Any]) -> str:
    metadata = {key: row[key] for key in _METADATA if row.get(key)}
    lines = [f"{key}: {', '.join(value) if isinstance(value, list) else value}\n" for key, value in metadata.items()]
    return "".join(lines)


def _format_json(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
