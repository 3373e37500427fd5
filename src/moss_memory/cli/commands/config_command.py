"""`moss config`: the effective settings and the source of each."""

from __future__ import annotations

import os

from moss_memory.config import DEFAULTS, find_repo_config, load_config, resolve_home, setting_problem
from moss_memory.errors import closest_match, invalid_request
from moss_memory.storage.files.private_files import make_private_folder, write_private
from moss_memory.storage.postgres.url import without_password

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def settings(home: str | None) -> dict[str, Any]:
    """Return every setting with its value and source, the files that were looked for, and the warnings."""
    config = load_settings(home)
    return {
        "home": config.home,
        "home_source": "--home" if home else "MOSS_HOME" if os.environ.get("MOSS_HOME") else "default",
        "files": {
            "global": os.path.join(config.home, "config.json"),
            "repository": find_repo_config(None, config.home),
        },
        "settings": {
            key: {"value": without_password(value) if key == "url" and value else value, "source": config.sources[key]}
            for key, value in config.values.items()
        },
        "warnings": list(config.warnings),
    }


def set_setting(home: str | None, *, key: str, value: str) -> dict[str, Any]:
    """Write one setting into the user's configuration file, atomically; refuse an invalid value."""
    import json

    folder = resolve_home(home)
    load_config(home)  # refuse a broken file instead of overwriting it
    if key not in DEFAULTS:
        like = closest_match(key, list(DEFAULTS))
        raise invalid_request(f"there is no setting {key[:100]!r}; the nearest is {like!r}", path="key")
    parsed = _parse_value(value, DEFAULTS[key])
    problem = setting_problem(key, parsed)
    if problem:
        raise invalid_request(f"{key} must be {problem}", path="value")
    path = os.path.join(folder, "config.json")
    present: dict[str, Any] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8-sig") as file:
            present = json.load(file)
    make_private_folder(folder)
    write_private(path, (json.dumps({**present, key: parsed}, ensure_ascii=False, indent=2) + "\n").encode())
    return {"key": key, "value": parsed, "file": path}


def _parse_value(value: str, default: Any) -> Any:
    """Convert a word to the value of a setting: JSON if it is valid, words between commas if a list is expected."""
    import json

    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = value
    if isinstance(default, list) and not isinstance(parsed, list):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(default, str) else parsed


def settings_table(shown: dict[str, Any], *, width: int) -> str:
    import json

    from moss_memory.cli.render.cell import Cell, printable
    from moss_memory.cli.render.columns import align_rows
    from moss_memory.registry.responses import TableColumn

    rows = [("home", shown["home"], shown["home_source"])]
    for key, setting in shown["settings"].items():
        rows.append((key, json.dumps(setting["value"], ensure_ascii=False), setting["source"]))
    columns = [
        TableColumn("setting"),
        TableColumn("value", min_width=12),
        TableColumn("source", min_width=12, drop_rank=1, max_width=0),
    ]
    return align_rows(columns, [[Cell(printable(part)) for part in row] for row in rows], width=width)
