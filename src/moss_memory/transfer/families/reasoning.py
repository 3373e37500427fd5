"""Reasoning in export files: complete workspaces, with the numbers of their entries."""

from __future__ import annotations

import json

from moss_memory.code_state.repository_files import is_object_id
from moss_memory.code_state.work_tree import clean_name
from moss_memory.storage.call import clean_actor
from moss_memory.storage.origin import origin_of_row
from moss_memory.tools.reasoning.graph.conflict_tools import conflict_id
from moss_memory.tools.reasoning.graph.node_versions import Version
from moss_memory.tools.reasoning.reasoning_sql import sql
from moss_memory.transfer.export_schema import (
    InvalidRow,
    Table,
    choice,
    counter,
    flag,
    json_column,
    normalized,
    number,
    tags_column,
    text,
    whole,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction
    from moss_memory.storage.origin import Origin
    from moss_memory.transfer.export_schema import Renumbering, Values

FILE = "reasoning.jsonl"
SEQ, BRANCH = "seq", "branch"
SERIES = {series: f"select last from numbers where series = '{series}'" for series in (SEQ, BRANCH)}

_OF_BRANCHES = "in (select branch_id from branches where workspace_norm = :workspace)"
_BRANCH = {"branch_id": "branches"}
_SIDES = ("base_json", "theirs_json", "ours_json")


def renumber_event(event_json: str, renumbering: Renumbering) -> str:
    """Return the payload of a task event with the new number of the note that it names."""
    event = json.loads(event_json)
    payload = event.get("payload")
    if event.get("type") != "note_added" or not isinstance(payload, dict) or not isinstance(payload.get("seq"), int):
        return event_json
    seq = renumbering.number(SEQ, payload["seq"])
    if seq == payload["seq"]:
        return event_json  # as it was written, with its spaces
    payload["seq"] = seq
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _renumber_entry(entry: Values, renumbering: Renumbering) -> None:
    if entry["written_as"] == "event" and entry["meta_json"] is not None:
        entry["meta_json"] = renumber_event(entry["meta_json"], renumbering)
    origin = entry["source_event_id"]
    if origin is None:
        return
    if origin.startswith("merge:"):
        _, branch_id, seq = origin.split(":")
        origin = f"merge:{renumbering.number(BRANCH, int(branch_id))}:{renumbering.number(SEQ, int(seq))}"
    entry["source_event_id"] = renumbering.ids.get(origin, origin)


def _renumber_reset(reset: Values, renumbering: Renumbering) -> None:
    reach = [
        (renumbering.number(BRANCH, branch_id), renumbering.number(SEQ, after), renumbering.number(SEQ, upto))
        for branch_id, after, upto in json.loads(reset["reach_json"])
    ]
    reset["reach_json"] = json.dumps(reach, separators=(",", ":"))


def _renumber_conflict(conflict: Values, renumbering: Renumbering) -> None:
    states = []
    for side in _SIDES:
        packed = None if conflict[side] is None else json.loads(conflict[side])
        states.append("" if packed is None else packed[Version.columns.index("state")])
        if packed is not None:
            packed[0] = renumbering.number(SEQ, packed[0])
            conflict[side] = json.dumps(packed, ensure_ascii=False, separators=(",", ":"))
    if renumbering.changes(BRANCH):
        key = (conflict["from_id"], conflict["into_id"], conflict["doc"], conflict["key"])
        conflict["conflict_id"] = conflict_id(*key, states)


def _check_branch(branch: Values) -> None:
    if branch["base_id"] is not None and (branch["base_id"] >= branch["branch_id"] or branch["base_seq"] is None):
        raise InvalidRow("a branch comes after its base and shows it up to base_seq")


def _check_entry(entry: Values) -> None:
    parts = (entry["source_event_id"] or "").split(":")
    if parts[0] == "merge" and (len(parts) != 3 or not all(part.isdecimal() for part in parts[1:])):
        raise InvalidRow("source_event_id names no merged entry")


def _check_reset(reset: Values) -> None:
    for triple in json.loads(reset["reach_json"]):
        if len(triple) != 3 or not all(isinstance(value, int) and not isinstance(value, bool) for value in triple):
            raise InvalidRow("reach must be a list of three numbers each")


def _check_version(values: Values) -> None:
    is_edge = None not in (values["from_id"], values["rel"], values["to_id"])
    if is_edge == (values["type"] is not None):
        raise InvalidRow("a version is of a node, which has a type, or of an edge, which has from_id, rel and to_id")
    if values["key"].count("|") != 2 * is_edge:
        raise InvalidRow("the key of a node is its id, of an edge from|rel|to")


def _check_conflict(conflict: Values) -> None:
    for side in _SIDES:
        packed = None if conflict[side] is None else json.loads(conflict[side])
        if packed is not None and (len(packed) != len(Version.columns) or not isinstance(packed[0], int)):
            raise InvalidRow(f"{side.removesuffix('_json')} is no version of a node or an edge")


NUMBERS = Table("numbers", text("series"), counter("last"), key=("series",), workspace_condition="", only="last > 0")
ORIGINS = Table(
    "origins",
    text("origin_id"),
    text("actor"),
    *[text(name, optional=True) for name in ("repository", "repository_id", "branch", "commit_id")],
    key=("origin_id",),
    workspace_condition="",
)
"""The actors and code states of changes; the rows of all families name them."""
_OF_WORKSPACE = (
    "select origin from doc_entries where workspace_norm = :workspace",
    "select origin from graph_versions where workspace_norm = :workspace",
    "select origin from events where workspace = :workspace and payload is not null",
)
WORKSPACE_ORIGINS = Table(
    "origins",
    *ORIGINS.columns.values(),
    key=("origin_id",),
    workspace_condition=f"origin_id in ({' union '.join(_OF_WORKSPACE)})",
)
"""The origins that reasoning and tasks of a workspace name."""
_NAMES_ORIGINS = (
    "select version_origin from capsules", "select confirmed_origin from capsules",
    "select version_origin from artifacts",
)  # fmt: skip


def origin_in_file(row: dict[str, Any]) -> Origin:
    """Return the origin of a row that somebody else has written: its texts are cleaned, its key is computed."""
    cleaned = {name: clean_name(row.get(name) or "") for name in ("repository", "repository_id", "branch", "commit_id")}
    commit = cleaned["commit_id"] if is_object_id(cleaned["commit_id"]) else ""
    return origin_of_row({**cleaned, "actor": clean_actor(row["actor"]), "commit_id": commit})


def exported_origins(*, with_history: bool) -> str:
    """Return the condition on origins that exported capsules and artifacts name them."""
    versions = ("select origin from versions",) if with_history else ()
    return " or ".join([f"origin_id in ({query})" for query in (*_NAMES_ORIGINS, *versions)])


TABLES = (
    Table(
        "workspaces",
        normalized("workspace_norm"),
        text("workspace_raw"),
        number("checkout_id", BRANCH, optional=True),
        text("focus_id", optional=True),
        key=("workspace_norm",),
        refers={"checkout_id": "branches", "focus_id": "tasks.id"},
    ),
    Table(
        "branches",
        number("branch_id", BRANCH),
        normalized("workspace_norm"),
        text("name"),
        number("base_id", BRANCH, optional=True),
        number("base_seq", SEQ, optional=True),
        counter("depth"),
        flag("canonical"),
        key=("branch_id",),
        refers={"base_id": "branches"},
        unique=(("workspace_norm", "name"),),
        check=_check_branch,
    ),
    Table(
        "documents",
        number("branch_id", BRANCH),
        choice("shape", ("log", "graph")),
        text("doc"),
        number("first_seq", SEQ),
        number("last_seq", SEQ, optional=True),
        number("reset_seq", SEQ, optional=True),
        key=("branch_id", "shape", "doc"),
        workspace_condition=f"branch_id {_OF_BRANCHES}",
        refers=_BRANCH,
    ),
    Table(
        "doc_entries",
        number("seq", SEQ),
        number("branch_id", BRANCH),
        normalized("workspace_norm"),
        text("doc"),
        choice("written_as", ("note", "step", "card", "event")),
        text("title", optional=True),
        text("format", optional=True),
        json_column("meta_json", dict, optional=True),
        text("content"),
        text("source_event_id", optional=True),
        text("card_id", optional=True),
        whole("ts_ms"),
        flag("hidden"),
        text("origin", optional=True),
        key=("seq",),
        refers=_BRANCH,
        check=_check_entry,
        fix=_renumber_entry,
    ),
    Table(
        "resets",
        number("seq", SEQ),
        number("branch_id", BRANCH),
        number("old_seq", SEQ, optional=True),
        number("new_seq", SEQ),
        text("message"),
        json_column("reach_json", list, of=list),
        number("own_after", SEQ),
        whole("ts_ms"),
        key=("seq",),
        workspace_condition=f"branch_id {_OF_BRANCHES}",
        refers=_BRANCH,
        check=_check_reset,
        fix=_renumber_reset,
    ),
    Table(
        "tags",
        normalized("workspace_norm"),
        text("name"),
        number("branch_id", BRANCH),
        text("doc"),
        number("seq", SEQ),
        whole("created_at_ms"),
        key=("workspace_norm", "name"),
        refers=_BRANCH,
    ),
    Table(
        "graph_versions",
        number("seq", SEQ),
        number("branch_id", BRANCH),
        normalized("workspace_norm"),
        text("doc"),
        text("key"),
        text("type", optional=True),
        text("title", optional=True),
        text("text", optional=True),
        text("status", optional=True),
        tags_column(),
        text("from_id", optional=True),
        text("rel", optional=True),
        text("to_id", optional=True),
        json_column("meta_json", dict, optional=True),
        flag("deleted"),
        text("state"),
        whole("ts_ms"),
        number("next_seq", SEQ, endless=True),
        text("origin", optional=True),
        key=("seq",),
        refers=_BRANCH,
        check=_check_version,
    ),
    Table(
        "graph_merges",
        number("from_id", BRANCH),
        text("doc"),
        text("key"),
        number("from_seq", SEQ),
        key=("from_id", "doc", "key"),
        workspace_condition=f"from_id {_OF_BRANCHES}",
        refers={"from_id": "branches"},
    ),
    Table(
        "graph_conflicts",
        number("seq", SEQ),
        text("conflict_id"),
        normalized("workspace_norm"),
        number("from_id", BRANCH),
        number("into_id", BRANCH),
        text("doc"),
        text("key"),
        number("from_seq", SEQ),
        json_column("base_json", list, optional=True),
        json_column("theirs_json", list),
        json_column("ours_json", list, optional=True),
        text("resolution", optional=True),
        whole("created_at_ms"),
        whole("resolved_at_ms", optional=True),
        key=("seq",),
        refers={"from_id": "branches", "into_id": "branches"},
        unique=(("conflict_id",),),
        check=_check_conflict,
        fix=_renumber_conflict,
    ),
    Table(
        "card_pins",
        number("seq", SEQ),
        number("branch_id", BRANCH),
        text("doc"),
        text("card_id"),
        flag("pinned"),
        number("next_seq", SEQ, endless=True),
        key=("seq",),
        workspace_condition=f"branch_id {_OF_BRANCHES}",
        refers=_BRANCH,
    ),
)


def after_insert(tx: Transaction, table: str, rows: list[Values]) -> None:
    """Write derived rows: the tags by which nodes are searched."""
    if table == "graph_versions":
        for values in rows:
            version = {key: values[key] for key in ("branch_id", "doc", "seq")}
            for tag in dict.fromkeys(json.loads(values["tags_json"] or "[]")):
                tx.run(sql["add_version_tag"], {**version, "tag": tag})


def before_delete(tx: Transaction, workspace: str) -> None:
    """Delete rows that are not exported but belong to a deleted workspace."""
    tx.run(f"delete from graph_tags where branch_id {_OF_BRANCHES}", {"workspace": workspace})
