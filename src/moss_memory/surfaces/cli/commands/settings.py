"""`moss config`: the effective settings and where each comes from."""

from __future__ import annotations

import os

from moss_memory.config import find_repo_config

from .request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def settings(home: str | None) -> dict[str, Any]:
    """Every setting with its value and its source, the files that were looked for, and the warnings."""
    config = load_settings(home)
    return {
        "home": config.home,
        "home_source": "--home" if home else "MOSS_HOME" if os.environ.get("MOSS_HOME") else "default",
        "files": {
            "global": os.path.join(config.home, "config.json"),
            "repository": find_repo_config(None, config.home),
        },
        "settings": {key: {"value": value, "source": config.sources[key]} for key, value in config.values.items()},
        "warnings": list(config.warnings),
    }


def settings_table(shown: dict[str, Any], *, width: int) -> str:
    """The settings in aligned columns."""
    import json

    from moss_memory.answers import Column

    from ..showing.alignment import aligned
    from ..showing.cell import Cell, printable

    rows = [("home", shown["home"], shown["home_source"])]
    for key, one in shown["settings"].items():
        rows.append((key, json.dumps(one["value"], ensure_ascii=False), one["source"]))
    columns = [Column("setting"), Column("value", least=12), Column("source", least=12, goes=1, widest=0)]
    return aligned(columns, [[Cell(printable(part)) for part in row] for row in rows], width=width)
