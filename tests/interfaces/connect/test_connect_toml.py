"""Edits of TOML: one table changes, and every other byte stays."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from moss_memory.connect import toml_edit
from moss_memory.connect.parse_error import ConfigParseError

PATH = ("mcp_servers", "moss")
ENTRY = {"command": "moss", "args": ["mcp", "--toolsets", "core"], "env": {"A b": '"q"\x7f'}}

PIECES = (
    "# a comment [mcp_servers.moss]\n",
    "\n",
    "  \t\n",
    'model = "gpt"\n',
    "long = '''\n[mcp_servers.moss]\ncommand = 1\n'''\n",
    'other = """\n# \\"""\n"""  # end\n',
    'list = [\n  "]", # ]\n  [1, 2],\n]\n',
    "dotted.key.'a b' = { x = 1, y = [\"}\"] }\n",
)
TABLES = (
    '[mcp_servers.other]\ncommand = "x" # kept\n',
    '[ mcp_servers . "third one" ]\nurl = "http://x"\n[mcp_servers."third one".env]\nA = "1"\n',
    "[profiles.fast]\nx = 1979-05-27T07:32:00Z\n",
    "[[runs]]\na = 1\n\n[[runs]]\na = 2\n",
    "[mcp_servers]\nflag = true\n",
)
MOSS = (
    '[mcp_servers.moss]\ncommand = "old"\n',
    '[mcp_servers.moss] # mine\n# why\ncommand = "old"\nstartup_timeout_sec = 20\n\n[mcp_servers.moss.env]\nB = "2"\n',
    "[mcp_servers.'moss']\nargs = [\n  'a', # one\n]\n",
)


@st.composite
def files(draw: st.DrawFn, *, moss: bool) -> str:
    """Draw a typical file, with or without an entry for Moss."""
    pieces = draw(st.lists(st.sampled_from(PIECES), unique=True))
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True))
    if moss:
        tables.insert(draw(st.integers(0, len(tables))), draw(st.sampled_from(MOSS)))
    gaps = [draw(st.sampled_from(["", "\n", "# gap\n"])) for _ in tables]
    text = "".join(pieces) + "".join(gap + table for gap, table in zip(gaps, tables, strict=True))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assume(False)
    return text


def with_entry(text: str, entry: dict[str, Any] | None) -> dict[str, Any]:
    value = tomllib.loads(text)
    servers = value.setdefault("mcp_servers", {})
    servers.pop("moss", None)
    if entry is not None:
        servers["moss"] = entry
    if not servers:
        del value["mcp_servers"]
    return value


@given(files(moss=False))
def test_adding_and_removing_an_entry_restores_the_file(text: str) -> None:
    changed = toml_edit.set_value(text, PATH, ENTRY)
    assert changed.startswith(text)
    assert tomllib.loads(changed) == with_entry(text, ENTRY)
    assert toml_edit.set_value(changed, PATH, ENTRY) == changed
    assert toml_edit.remove_value(changed, PATH) == text


@given(files(moss=True))
def test_an_entry_is_replaced_in_place(text: str) -> None:
    changed = toml_edit.set_value(text, PATH, ENTRY)
    assert tomllib.loads(changed) == with_entry(text, ENTRY)
    before, _, after = changed.partition("[mcp_servers.moss]" + ("\r\n" if "\r\n" in changed else "\n") + "command")
    assert text.startswith(before)
    assert after


@given(files(moss=True))
def test_a_removal_deletes_the_table_and_its_subtables_only(text: str) -> None:
    changed = toml_edit.remove_value(text, PATH)
    assert tomllib.loads(changed) == with_entry(text, None)
    kept = iter(text)
    assert all(sign in kept for sign in changed)
    assert toml_edit.remove_value(changed, PATH) == changed


@pytest.mark.parametrize(
    "text",
    ['[mcp_servers]\nmoss = { command = "x" }\nb = 1\n', 'mcp_servers.moss.command = "x"\nmcp_servers.b = 1\n'],
)
def test_an_entry_in_another_form_is_replaced_too(text: str) -> None:
    changed = toml_edit.set_value(text, PATH, ENTRY)
    assert tomllib.loads(changed) == with_entry(text, ENTRY)
    assert tomllib.loads(toml_edit.remove_value(text, PATH)) == with_entry(text, None)


def test_inline_server_tables_stay_unchanged() -> None:
    text = 'model = "x"\nmcp_servers = { other = { command = "x" } }\n'
    with pytest.raises(ConfigParseError, match="line 2: mcp_servers is written in one line"):
        toml_edit.set_value(text, PATH, ENTRY)


@pytest.mark.parametrize("number", ["nan", "-nan", "+inf", "[1.0, nan]", "{ a = nan }"])
def test_unusual_numbers_stay_unchanged(number: str) -> None:
    text = f"a = {number}\n\n[mcp_servers.other]\nb = {number}\n"
    changed = toml_edit.set_value(text, PATH, ENTRY)
    assert changed.startswith(text)
    assert toml_edit.remove_value(changed, PATH) == text
    owned = changed + f"c = {number}\n"
    assert toml_edit.set_value(owned, PATH, toml_edit.find_value(owned, PATH)) == owned, (
        "the second time changes nothing"
    )


def test_invalid_toml_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigParseError) as refused:
        toml_edit.set_value("a = 1\nb = = 2\n", PATH, ENTRY)
    assert refused.value.line == 2
