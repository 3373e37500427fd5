"""Random configuration files: connecting and removing one entry keeps every other byte."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from moss_memory.connect.clients import CLIENTS, USER
from moss_memory.connect.config_location import ConfigLocation
from moss_memory.errors import MossError
from support.thorough import complete_or

MANY = settings(max_examples=complete_or(150, 50), deadline=None)
ENTRY: dict[str, Any] = {"command": "/opt/my moss/bin/moss", "args": ["mcp", "--toolsets", "core"]}

pieces = st.sampled_from(
    [
        "# a comment\n", "\n", "   \n", "model = \"o3\"\n", "a.b.c = 1\n", "'quoted key' = true # why\n",
        "inline = { x = 1, y = [1, 2] }\n", "text = \"\"\"\n[mcp_servers.moss]\n# no table\n\"\"\"\n",
        "lines = [\n  1, # one\n  2,\n]\n", "\t[profiles.fast]\n\tmodel = 'x'\n", "[[hooks]]\nname = 'a'\n",
        "[[hooks.inner]]\nname = 'b'\n", "[mcp_servers]\n",
        "[mcp_servers.other]\ncommand = 'x'\n[mcp_servers.other.env]\nA = '1'\n",
        "mcp_servers.dotted.command = 'y'\n", "[ mcp_servers . \"spaced\" ]\ncommand = 'z'\n",
        "[mcp_servers.moss]\ncommand = 'old'\n", "[mcp_servers.moss.env]\nB = '2'\n",
        "mcp_servers = { old = { command = 'x' } }\n",
        "mcp_servers.moss.command = 'older'\n", "day = 2024-01-31\n", "path = 'C:\\Users'\n",
    ]
)  # fmt: skip


@MANY
@given(st.lists(pieces, max_size=8), st.booleans(), st.booleans())
def test_any_toml_keeps_every_other_byte(parts: list[str], ends: bool, windows: bool) -> None:
    text = "".join(parts)
    text = text if ends else text.rstrip("\n")
    text = text.replace("\n", "\r\n") if windows else text
    _comes_and_goes("codex", text)


members = st.sampled_from(
    [
        '"a": 1', '"b" : [1, // one\n 2,]', '/* why */ "c": {"moss": null}', '"d": "// no comment"',
        '"mcpServers": {"other": {"command": "x"}}', '"mcpServers": {}', '"mcpServers": {\n\t"x": {}, // last\n}',
        '"mcpServers": {"moss": {"command": "old"}}', '"mcpServers": {"moss": {"command": "old"}, "x": {"y": 2}}',
        '"é\\u00e9": "\\ud83d\\ude00"',
    ]
)  # fmt: skip
between = st.sampled_from([",", " ,\n", ",\t", ", // then\n", "\n,"])
around = st.sampled_from(["", "\n", "  ", " // here\n", "/* and */", "\ufeff"])


@MANY
@given(st.lists(members, max_size=4), between, around, around, st.booleans(), st.booleans())
def test_any_json_keeps_every_other_byte(
    parts: list[str], comma: str, before: str, inside: str, trailing: bool, windows: bool
) -> None:
    text = before + "{" + inside + comma.join(parts) + ("," if trailing and parts else "") + inside + "}" + before
    text = text.replace("\n", "\r\n") if windows else text
    _comes_and_goes("cursor", text)


def _comes_and_goes(client: str, text: str) -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        patch.dict(os.environ, {"HOME": home, "MOSS_HOME": f"{home}/moss", "CODEX_HOME": ""}),
    ):
        path = Path(CLIENTS[client].file(USER))
        path.parent.mkdir()
        path.write_bytes(text.encode())
        try:
            place = ConfigLocation(CLIENTS[client], USER)
            with_moss = place.with_entry(ENTRY)
        except MossError as refused:
            line = (refused.details or {})["line"]
        else:
            line = 0
        if line:
            assert line <= text.count("\n") + 1
            assert path.read_bytes() == text.encode()
            return
        place.save_replaced(with_moss)
        place.file.write(with_moss, keep=False)
        now = ConfigLocation(CLIENTS[client], USER)
        assert _others(now) == _others(place)
        assert now.with_entry(ENTRY) == now.file.text, "the second time changes the file"
        now.file.write(now.restore_text() or "", keep=False)
        assert path.read_bytes() == text.encode()


def _others(place: ConfigLocation) -> str:
    value = place.form.parse(place.file.text) or {}
    servers = {name: entry for name, entry in (value.get(place.keys[0]) or {}).items() if name != place.keys[1]}
    return json.dumps({**value, place.keys[0]: servers}, default=str, sort_keys=True)
