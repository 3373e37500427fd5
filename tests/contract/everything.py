"""Calls that together produce every declared field of every tool's answer."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contract.doors import FULL
from support.repositories import Repository

if TYPE_CHECKING:
    from contract.doors import Door

SHOP = {"workspace": "shop"}
UNIT = "neotoma:store_feature_unit:v1"
TIMES = {"created_at": "2025-11-01T10:00:00Z", "updated_at": "2025-12-01"}
MANY = 110
"""More records than a page counts exactly."""
RELAXED = '"rotate the keys" AND decisions AND nowhere'
"""A query with no exact match whose single words occur in every family."""
KEY = "AK" + "IA" + "Q3EGRB7ZVX2MHT5N"
"""Text in the form of a credential, split so that secret scanners do not report this file."""
LONG = "a long story, told at length " * 200


def prepare(home: str, **settings: Any) -> None:
    """Write the settings and the valid and broken files that tools report."""
    os.makedirs(home, mode=0o700)
    files = {"config.json": {"import_max_bytes": 1_000, **settings}, "kinds/bad.json": [], "capabilities/bad.json": []}
    for name, content in {**files, **_OWN}.items():
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)


def call_everything(call: Door) -> None:
    """Call every tool until each declared field was answered; `prepare` must have made the home folder."""
    call("capsule_store", workspace="similar", capsule_text=FULL)
    call("capsule_store", workspace="simlar", capsule_text=FULL)
    _capsules(call)
    _capsule_files(call)
    _artifacts(call)
    _history(call)
    _branches(call)
    _notes(call)
    _graph(call)
    _conflicts(call)
    _cards(call)
    _tasks(call)
    _packs(call)
    _records(call)
    _search(call)
    _erased(call)
    _tools(call)
    _mistyped_workspace(call)
    call("moss_workspaces")
    call("moss_log", limit=500)


def call_about_code(call: Door) -> None:
    """Call the tools that compare with a git repository, while the repository changes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shop = Repository(Path(folder) / "shop")
        os.chdir(shop.folder)
        shop.commit({"a.py": "1", "b.py": "1"})
        call("capsule_store", name="about code", capsule_text=f"{FULL} a.py b.py")
        call("branchmind_think_card", workspace="default", card={"type": "decision", "title": "a.py", "text": "a.py"})
        call("moss_places", name="about code")
        call("moss_log", limit=500)
        shop.commit({"a.py": "2"})
        shop.git("rm", "-q", "b.py")
        shop.commit()
        call("moss_places", name="about code")
        call("moss_freshness")
        call("capsule_fetch", name="about code")
        call("capsule_latest", include_text=True)
        call("capsule_store", name="about one", capsule_text=f"{FULL} a.py")
        shop.git("rm", "-q", "a.py")
        shop.commit()
        call("moss_freshness")
        shop.git("checkout", "-q", "--orphan", "new")
        shop.commit()
        call("capsule_fetch", name="about code")
        call("moss_confirm", name="about code")
        Repository(Path(folder) / "other").commit({"c.py": "1"})
        os.chdir("/")
        call("capsule_store", name="not about code", capsule_text=FULL)
        call("moss_freshness", name="not about code")
        os.chdir(Path(folder) / "other")
        call("capsule_fetch", name="about code")
        call("moss_freshness", name="about code")


def call_unlisted(call: Door) -> None:
    """Call the unlisted tools until each declared field was answered."""
    call("artifact_purge", dry_run=True)
    call("branchmind_purge", dry_run=True)
    call("branchmind_purge")
    call("artifact_purge")
    call("moss_activity")
    call("moss_activity", workspace="a place where nothing happened")
    call("moss_changes", after=0, limit=1000)
    call("moss_recent")
    call("capsule_store", workspace="passing", capsule_text=FULL)
    call("moss_workspace_rename", name="passing", new_name="passed")
    call("moss_workspace_delete", name="passed")
    call("moss_workspace_delete", name="passed", dry_run=False)


_OWN: dict[str, dict[str, Any]] = {
    "kinds/mine.json": {"type": "object", "description": "mine"},
    "capabilities/mine.json": {
        "capability_id": "mine:note:v1",
        "entity_type": "own_note",
        "fields": {"id": {"type": "string", "required": True}},
        "identity": ["id"],
        "title": "id",
    },
}


def _capsules(call: Door) -> None:
    labels = {"title": "Auth", "tags": ["auth"], "source": "codex", "run_id": "r1", "phase": "build", "role": "writer"}
    call("capsule_latest", workspace="nowhere")
    call("capsule_store", name="auth", capsule_text=FULL, **labels)
    call("capsule_latest", include_text=True)
    call("capsule_latest", workspace="nowhere")
    unnamed = call("capsule_store", capsule_text=FULL)["id"]
    call("capsule_latest", workspace="nowhere")
    call("capsule_fetch", name="auth")
    call("capsule_fetch", id=unnamed, include_text=False)
    call(
        "capsule_fetch_many",
        items=[{"name": "auth", "workspace": "default"}, {"id": unnamed}, {"name": "nobody", "workspace": "x"}],
    )
    call("capsule_fetch_many", items=[{"id": "nobody"}])
    call("capsule_update", name="auth", title="Auth, again")
    call("capsule_append", name="auth", section="Decisions", content="- one more")
    call("capsule_append", id=unnamed, section="Decisions", content="- one more")
    both = [{"name": "auth"}, {"id": unnamed}]
    call("capsule_compose", items=both, sections=["Decisions"], store_as={"name": "bundle", "allow_thin": True})
    call("capsule_compose", items=both, format="json")
    call("capsule_compose", items=both, format="json", sections=["Nowhere"])
    call("capsule_list")
    call("capsule_inventory", tag="auth")
    call("capsule_search", query="decisions")
    call("capsule_search", query="status", workspace="default")
    call("capsule_delete", id=unnamed)
    call("capsule_list", include_deleted=True)
    call("capsule_inventory", include_deleted=True)
    call("capsule_search", query="decisions", include_deleted=True)
    call("capsule_fetch", id=unnamed, include_deleted=True)
    call("capsule_fetch_many", items=[{"id": unnamed}], include_deleted=True, include_text=False)
    call("capsule_restore", id=unnamed)
    call("capsule_bulk_update", run_id="r1", set_phase="done", dry_run=True)
    call("capsule_bulk_update", run_id="r1", set_phase="done")
    call("capsule_bulk_delete", name_prefix="bundle", dry_run=True)
    call("capsule_bulk_delete", name_prefix="bundle")
    call("capsule_purge", dry_run=True)
    call("capsule_purge")


def _capsule_files(call: Door) -> None:
    call("capsule_export", path="out.jsonl")
    call("capsule_export", path="none.jsonl", workspace="nowhere")
    given = call.write_export(
        {"id": 7},
        {"name": "no workspace"},
        {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "name_raw": "a"},
    )
    call("capsule_import", path=given)
    call("capsule_import", path=call.write_export({"title": KEY}))


def _artifacts(call: Door) -> None:
    labels = {"run_id": "r1", "phase": "build", "role": "writer", "tags": ["x"]}
    named = call("artifact_store", kind="freeform", name="a", data={"n": 1}, text="A", ttl_seconds=3600, **labels)
    bare = call("artifact_store", kind="freeform", data={})
    for number in range(3):
        call("artifact_store", workspace="large", kind="freeform", name=f"l{number}", data={"text": "x" * 49_000})
    call("artifact_list", workspace="large")
    call("artifact_bulk_delete", workspace="large")
    call("artifact_store", workspace="shop", kind="freeform", data={}, run_id="r1")
    call("artifact_fetch", id=named["id"])
    call("artifact_fetch", id=bare["id"])
    call("artifact_compose", items=[{"name": "a"}], store_as={"name": "bundle", "kind": "freeform"})
    call("artifact_store", kind="freeform", data={}, text="unnamed")
    unnamed = call("artifact_list")["items"][0]["id"]
    call("artifact_compose", items=[{"name": "a"}, {"id": unnamed}], format="json")
    call("artifact_touch", name="a", ttl_seconds=60)
    call("artifact_delete", id=bare["id"])
    call("artifact_list", include_deleted=True)
    call("artifact_fetch", id=bare["id"], include_deleted=True)
    call("artifact_bulk_update", run_id="r1", set_phase="done", dry_run=True)
    call("artifact_bulk_update", run_id="r1", set_phase="done")
    call("artifact_bulk_delete", workspace="nowhere")
    call("artifact_bulk_delete", run_id="r1", dry_run=True)
    call("artifact_kinds")
    os.remove(os.path.join(call.home, "kinds", "bad.json"))
    call("artifact_kinds")


def _history(call: Door) -> None:
    contents: dict[str, dict[str, Any]] = {
        "capsule": {"capsule_text": FULL, "source": "codex"},
        "artifact": {"kind": "freeform", "data": {"n": 2}},
    }
    for family, content in contents.items():
        call(f"{family}_store", name="h", **content)
        call(f"{family}_store", name="h", mode="replace", **content)
        call(f"{family}_fetch", name="h", version=1)
        unnamed = call(f"{family}_store", **content)["id"]
        call("moss_history", type=family, name="h")
        call("moss_history", type=family, id=unnamed)
        call("moss_revert", type=family, name="h", version=1)
        call("moss_rename", type=family, name="h", new_name="renamed")
        call("moss_rename", type=family, id=unnamed, new_workspace="elsewhere")
        call(f"{family}_delete", id=unnamed)
        call(f"{family}_restore", id=unnamed)
        call("moss_erase", type=family, id=unnamed, dry_run=True)
        for _ in range(2):
            call(f"{family}_store", name="twice", **content)
            call(f"{family}_delete", name="twice")
        call(f"{family}_restore", filters={"deleted_after": 0})
        call(f"{family}_store", name="held", **content, tags=[KEY], allow_secrets=True)
        call("moss_revert", type=family, name="held", version=1)
        call(f"{family}_delete", name="held")
        call(f"{family}_restore", name="held")


def _branches(call: Door) -> None:
    call("branchmind_status", **SHOP)
    call("branchmind_init", **SHOP)
    call("branchmind_checkout", **SHOP, ref="main")
    call("branchmind_branch_create", **SHOP, name="what-if")
    call("branchmind_branch_create", **SHOP, name="old")
    call("branchmind_branch_rename", **SHOP, old="old", new="older")
    call("branchmind_branch_delete", **SHOP, name="older")
    call("branchmind_branch_list", **SHOP)


def _notes(call: Door) -> None:
    call("branchmind_log", **SHOP)
    call("branchmind_reflog", **SHOP)
    call("branchmind_docs_list", **SHOP)
    call("branchmind_notes_commit", **SHOP, content="plain")
    call("branchmind_notes_commit", **SHOP, content="rich", title="T", format="markdown", meta={"a": 1})
    call("branchmind_commit", **SHOP, artifact="text", message="said", docs=["notes", "more"], meta={"a": 1})
    call("branchmind_notes_commit", **SHOP, content="on the branch", branch="what-if")
    for tool in ("branchmind_show", "branchmind_log"):
        call(tool, **SHOP, doc="notes", limit=1)
        call(tool, **SHOP, doc="notes", cursor=10**6)
    call("branchmind_diff", **SHOP, **{"from": "main", "to": "what-if"})
    call("branchmind_merge", **SHOP, **{"from": "what-if", "into": "main"})
    call("branchmind_tag_create", **SHOP, name="t")
    call("branchmind_tag_list", **SHOP)
    call("branchmind_reset", **SHOP, to="t")
    call("branchmind_tag_delete", **SHOP, name="t")
    call("branchmind_reflog", **SHOP)
    call("branchmind_reflog", **SHOP, limit=1)
    call("branchmind_docs_list", **SHOP)
    call("branchmind_status", **SHOP)


def _graph(call: Door) -> None:
    whole = {"title": "Q", "text": "why", "status": "open", "tags": ["x"], "meta": {"a": 1}}
    nodes = [{"op": "node_upsert", "id": "q1", "type": "question", **whole}, _node("q2"), _node("q3")]
    edges = [_edge("q1", "q2", meta={"a": 1}), _edge("q2", "q1"), _edge("q2", "ghost")]
    call("branchmind_graph_apply", **SHOP, ops=[*nodes, *edges])
    call("branchmind_branch_create", **SHOP, name="side")
    call("branchmind_graph_validate", **SHOP)
    call("branchmind_graph_query", **SHOP)
    call("branchmind_graph_query", **SHOP, limit=1)
    changed = [
        _node("q2", status="closed"),
        {"op": "node_delete", "id": "q3"},
        _edge("q2", "q2"),
        _node("q1", title="B"),
    ]
    call("branchmind_graph_apply", **SHOP, ops=changed, branch="side")
    call("branchmind_graph_diff", **SHOP, **{"from": "main", "to": "side"})
    call("branchmind_graph_history", **SHOP, id="q1")
    call("branchmind_graph_history", **SHOP, id="q3", branch="side", limit=1)


def _conflicts(call: Door) -> None:
    call("branchmind_graph_apply", **SHOP, ops=[_node("q1", title="C"), _edge("q1", "q3", meta={"by": "main"})])
    call("branchmind_graph_apply", **SHOP, ops=[_edge("q1", "q3", meta={"by": "side"})], branch="side")
    merge = {"from": "side", "into": "main"}
    found = call("branchmind_graph_merge", **SHOP, **merge)["conflict_ids"]
    call("branchmind_graph_conflicts", **SHOP, into="main")
    for conflict in found:
        call("branchmind_graph_conflict_show", **SHOP, conflict_id=conflict)
        call("branchmind_graph_conflict_show", **SHOP, conflict_id=conflict, max_chars=500)
    for number, conflict in enumerate(found):
        call(
            "branchmind_graph_conflict_resolve",
            **SHOP,
            conflict_id=conflict,
            resolution=("use_from", "use_into")[number % 2],
        )
        call("branchmind_graph_conflict_show", **SHOP, conflict_id=conflict)
    call("branchmind_graph_conflicts", **SHOP, into="main")
    for title in ("D", "E"):
        call("branchmind_graph_apply", **SHOP, ops=[_node("q1", title=title)])
        call("branchmind_graph_apply", **SHOP, ops=[_node("q1", title=f"not {title}")], branch="side")
        found = [*found, *call("branchmind_graph_merge", **SHOP, **merge)["conflict_ids"]]
    call("branchmind_graph_apply", **SHOP, ops=[{"op": "node_delete", "id": "q1"}])
    call("branchmind_graph_apply", **SHOP, ops=[_node("q1", title="back")], branch="side")
    found = [*found, *call("branchmind_graph_merge", **SHOP, **merge)["conflict_ids"]]
    new = [_node("new", title="main")]
    call("branchmind_graph_apply", **SHOP, ops=new)
    call("branchmind_graph_apply", **SHOP, ops=[_node("new", title="side")], branch="side")
    found = [*found, *call("branchmind_graph_merge", **SHOP, **merge)["conflict_ids"]]
    for conflict in found:
        call("branchmind_graph_conflict_show", **SHOP, conflict_id=conflict)
    content = {"conflict_id": found[-1], "resolution": "use_content", "content": {"title": "both"}}
    call("branchmind_graph_conflict_resolve", **SHOP, **content)
    call("branchmind_graph_conflict_show", **SHOP, conflict_id=found[-1])
    ends = [_node("x" * 256), _node("y" * 256)]
    call("branchmind_graph_apply", **SHOP, ops=ends)
    for branch in ("main", "side"):
        call("branchmind_graph_apply", **SHOP, ops=[_edge("x" * 256, "y" * 256, meta={"by": branch})], branch=branch)
    call("branchmind_merge", **SHOP, **merge)
    call("branchmind_merge", **SHOP, **merge)
    call("branchmind_merge_back", **SHOP, **{"from": "side"}, dry_run=True)
    call("branchmind_merge_back", **SHOP, **{"from": "side"})
    call("branchmind_status", **SHOP)
    call("branchmind_status", **SHOP, max_chars=500)


def _cards(call: Door) -> None:
    think = "branchmind_think"
    question = call(f"{think}_add_question", **SHOP, card="Why?")["card_id"]
    call(f"{think}_card", **SHOP, card={"id": "c1", "title": "It is the cache", "type": "hypothesis"})
    call(f"{think}_card", **SHOP, card={"id": "c1", "title": "It is the cache", "type": "hypothesis"})
    for kind in ("decision", "evidence", "frame", "hypothesis", "note", "question", "test", "update"):
        call(f"{think}_add_{kind}", **SHOP, card=f"a {kind}", supports=[question])
        call(f"{think}_add_{kind}", **SHOP, card={"title": "to meta", "owner": "kim", "tests": [question]})
        call(f"{think}_add_{kind}", **SHOP, card={"id": f"same {kind}", "text": "once"})
        call(f"{think}_add_{kind}", **SHOP, card={"id": f"same {kind}", "text": "once"})
    call(f"{think}_link", **SHOP, **{"from": "c1", "rel": "blocks", "to": question, "meta": {"a": 1}})
    call(f"{think}_add_question", **SHOP, card={"id": "waits", "title": "How?"})
    call(f"{think}_link", **SHOP, **{"from": "c1", "rel": "blocks", "to": "waits"})
    call(f"{think}_pin", **SHOP, ids=["c1", question])
    call(f"{think}_pin", **SHOP, ids=["c1"])
    call(f"{think}_pins", **SHOP)
    call(f"{think}_frontier", **SHOP)
    subgoal = call(f"{think}_subgoal_open", **SHOP, question_id=question)["subgoal_id"]
    call(f"{think}_subgoal_close", **SHOP, subgoal_id=subgoal, return_card="found")
    call(f"{think}_subgoal_close", **SHOP, subgoal_id=subgoal)
    call(f"{think}_add_note", **SHOP, card="a note")
    call(f"{think}_nominal_merge", **SHOP, dry_run=True)
    call(f"{think}_set_status", **SHOP, ids=["c1"], status="closed")
    call(f"{think}_set_status", **SHOP, ids=["c1"], status="closed")
    call(f"{think}_template", **SHOP, type="test")
    call(f"{think}_playbook", **SHOP, name="debug")
    step = call("branchmind_trace_step", **SHOP, step="look", message="seen")["entry"]
    assert step["format"] == "trace_step"
    thought = {"thought": "x", "thought_number": 3, "total_thoughts": 3, "next_thought_needed": False}
    call("branchmind_trace_sequential_step", **SHOP, **thought)
    call("branchmind_trace_validate", **SHOP)
    call("branchmind_trace_hydrate", **SHOP, limit=1)


def _tasks(call: Door) -> None:
    call("tasks_create", **SHOP, kind="plan", title="Plan", description=LONG)
    call("tasks_radar", **SHOP)
    call("tasks_show", **SHOP, target="PLAN-001")
    call("tasks_edit", **SHOP, target="PLAN-001", contract={"by": "May"}, tags=["x"], priority="high")
    steps = [{"title": "first", "success_criteria": ["it works"], "tests": ["pytest"], "blockers": ["keys"]}]
    call("tasks_create", **SHOP, kind="task", title="Task", parent="PLAN-001", priority="low", steps=steps)
    call("tasks_create", **SHOP, kind="task", title="Other")
    call("tasks_radar", **SHOP, target="TASK-001")
    call("tasks_edit", **SHOP, target="TASK-001", depends_on=["TASK-002"])
    here = {**SHOP, "target": "TASK-001"}
    call("tasks_decompose", **here, steps=[{"title": "second"}])
    call("tasks_decompose", **here, steps=[{"title": "below"}], parent="s:1")
    call("tasks_define", **here, path="s:0", title="first of all")
    _shared(call, here)
    call("tasks_verify", **here, path="s:0", checkpoints={"security": True, "perf": True, "docs": True})
    call("tasks_block", **here, path="s:1", reason="waits")
    call("tasks_radar", **here)
    for agent in ("ada", "ben"):
        call("tasks_claim", **here, path="s:0", agent="ada")
        call("tasks_done", **here, path="s:0", checkpoints={"criteria": True, "tests": True}, agent=agent)
        call("tasks_reopen", **here, path="s:0")
    call("tasks_done", **here, path="s:0", checkpoints={"criteria": True, "tests": True})
    call("tasks_show", **here)
    call("tasks_radar", **here)
    call("tasks_reopen", **here, path="s:0")
    for agent in ("ada", "ben"):
        call("tasks_claim", **SHOP, target="TASK-002", agent="ada")
        call("tasks_complete", **SHOP, target="TASK-002", agent=agent)
        call("tasks_list", **SHOP)
        call("tasks_reopen", **SHOP, target="TASK-002")
    call("tasks_list", **SHOP)
    call("branchmind_status", **SHOP)
    for place in ({}, {"path": "s:0"}):
        call("tasks_note", **here, note="so far", **place)
        call("tasks_evidence", **here, checks=["pytest: 12 passed"], **place)
    call("tasks_show", **here)
    call("tasks_focus", **SHOP)
    call("tasks_radar", **here)
    call("tasks_focus", **SHOP, target="TASK-001")
    call("tasks_focus", **SHOP, action="clear")
    call("tasks_focus", **SHOP, target="PLAN-001")
    for target in ("PLAN-001", "TASK-001", "TASK-002"):
        for budget in ({}, {"max_chars": 500}, {"max_chars": 900}):
            call("tasks_radar", **SHOP, target=target, **budget)
            call("tasks_handoff", **SHOP, target=target, **budget)
            call("branchmind_export", **SHOP, target=target, **budget)
    for kind in ("question", "decision", "evidence"):
        call(f"branchmind_think_add_{kind}", **here, card={"title": f"a {kind}"})
    call("tasks_handoff", **here, as_capsule=True)
    call("tasks_list", **SHOP)
    call("tasks_delta", **SHOP)
    call("branchmind_show", **here, doc_kind="trace")
    call("tasks_delete", **here, path="s:1")
    call("tasks_delete", **SHOP, target="TASK-002")


def _shared(call: Door, here: dict[str, Any]) -> None:
    """Call the tools for several agents that share a plan."""
    for priority in ("high", "low", "normal"):
        call("tasks_edit", **SHOP, target="TASK-002", priority=priority)
        call("tasks_ready", **SHOP)
        call("tasks_show", **SHOP, target="TASK-002")
    call("tasks_radar", **SHOP)
    call("tasks_focus", **SHOP, target="TASK-002")
    call("tasks_radar", **SHOP)
    call("tasks_focus", **SHOP, action="clear")
    call("tasks_claim", **here, path="s:0", agent="ada")
    call("tasks_show", **here)
    call("tasks_claim", **here, path="s:0", agent="ada", release=True)
    call("tasks_claim", **SHOP, target="PLAN-001", agent="ada")
    call("tasks_show", **SHOP, target="PLAN-001")
    call("tasks_show", **SHOP, target="PLAN-001", max_chars=500)
    call("tasks_ready", **SHOP, max_chars=500)
    for number in range(MANY):
        call("tasks_create", **SHOP, kind="task", title=f"{number} {LONG[:900]}", steps=[{"title": LONG[:900]}])
    call("tasks_ready", **SHOP, max_chars=500)
    call("tasks_ready", **SHOP, limit=1)
    call("tasks_ready", **SHOP)
    for number in range(MANY):
        call("tasks_delete", **SHOP, target=f"TASK-{number + 3:03d}")


def _packs(call: Door) -> None:
    think = "branchmind_think"
    for name in ("context", "query", "frontier", "next", "pack", "watch"):
        call(f"{think}_{name}", **SHOP)
        call(f"{think}_{name}", workspace="shop", max_chars=500)
    call("branchmind_init", workspace="empty")
    call(f"{think}_next", workspace="empty")
    call("branchmind_context_pack", **SHOP, include=["capsules", "artifacts"], run_id="r1")
    call("branchmind_context_pack", **SHOP)
    long = {"workspace": "w" * 250}
    call("branchmind_init", **long)
    call(f"{think}_add_question", **long, card={"id": "i" * 256, "title": LONG})
    call(f"{think}_pack", **long, max_chars=500)
    call("branchmind_context_pack", **long, max_chars=500)
    call("tasks_create", **long, kind="task", title=LONG[:1000], steps=[{"title": LONG[:1000]}])
    call("tasks_handoff", **long, target="TASK-001", max_chars=500)
    _pack_of_everything(call)


def _pack_of_everything(call: Door) -> None:
    """Request packs in which each optional field of each part is present once and absent once."""
    here = {"workspace": "packed"}
    beside = {"include": ["capsules", "artifacts"], "run_id": "r"}
    labels = {"run_id": "r", "phase": "build", "role": "writer", "tags": ["t"]}
    call("tasks_create", **here, kind="task", title="T")
    call("tasks_radar", **here)
    call("branchmind_context_pack", **here, target="TASK-001")
    call("artifact_store", **here, kind="k", name="a", data={}, text="long", ttl_seconds=99, **labels)
    call("artifact_store", **here, kind="k", data={}, run_id="r")
    call("capsule_store", **here, capsule_text=FULL)
    call("branchmind_context_pack", **here, **beside)
    call("capsule_store", **here, capsule_text=FULL, name="c", title="C", source="codex", **labels)
    for number in range(2):
        call("branchmind_notes_commit", **here, content=f"{number}")
    ops = [_node("waits", type="question"), _node("x"), _node("y"), _edge("x", "y")]
    call("branchmind_graph_apply", **here, ops=ops)
    call("branchmind_think_add_decision", **here, card={"id": "old", "title": "so"})
    call("branchmind_think_add_decision", **here, card={"id": "new", "title": "not so", "supersedes": "old"})
    call("branchmind_think_add_note", **here, card={"title": "stop", "blocks": "waits"})
    call("branchmind_branch_create", **here, name="b")
    for branch in ("main", "b"):
        call("branchmind_graph_apply", **here, ops=[_edge("x", "y", meta={"by": branch})], branch=branch)
    call("branchmind_merge_back", **here, **{"from": "b"})
    call("branchmind_think_pack", **here, limit_cards=1)
    call("branchmind_think_pack", **here)
    call("branchmind_context_pack", **here, **beside, ref="b", notes_limit=1)


def _records(call: Door) -> None:
    body = {"id": "FU-1", "description": "Rotate the keys", "status": "planning", **TIMES}
    provenance = {"agent_id": "ada", "source_refs": ["a.md"], "extractor_version": "1", "unmapped": {"points": 3}}
    call("submit_payload", capability_id=UNIT, body=body, provenance=provenance)
    call("retrieve_entities", include_provenance=True)
    call("submit_payload", capability_id=UNIT, body={**body, "status": "completed"})
    call("retrieve_records", include_total_count=True)
    call("retrieve_records", search=["keys"], search_mode="keyword")
    for number in range(MANY):
        call("submit_payload", capability_id=UNIT, body={**body, "id": f"FU-{number + 2}"})
    for number in range(3):
        call("submit_payload", capability_id=UNIT, body={**body, "id": f"L-{number}", "description": "x" * 49_000})
    call("retrieve_records")
    call("retrieve_entities")
    call("retrieve_records", limit=1, offset=1)
    call("retrieve_entities", include_provenance=True)
    call("retrieve_entities", include_snapshots=False)
    call("submit_payload", capability_id=UNIT, body={**body, "id": "FU-R", "dependencies": ["FU-1"]})
    call("retrieve_entities", properties={"id": "FU-R"}, relations=True)
    call("retrieve_entities", properties={"id": "FU-1"}, relations=True)
    call("list_timeline_events")
    call("record_capabilities")
    call("record_capabilities", max_chars=600)
    os.remove(os.path.join(call.home, "capabilities", "bad.json"))
    call("record_capabilities")


def _search(call: Door) -> None:
    for query in ("decisions", "text", "keys", "unnamed", "rich", "cache", RELAXED):
        call("moss_search", query=query, search_mode="keyword")
    call("capsule_search", query=RELAXED)
    call("retrieve_records", search=[RELAXED], search_mode="keyword")
    here = {"workspace": "searched"}
    call("tasks_create", **here, kind="task", title="sluice gate")
    call("branchmind_think_card", **here, card={"id": "old", "type": "decision", "title": "sluice of wood"})
    call("branchmind_think_card", **here, card={"id": "new", "type": "decision", "title": "iron", "supersedes": "old"})
    call("moss_search", query="sluice", search_mode="keyword")


def _node(id: str, **more: Any) -> dict[str, Any]:
    return {"op": "node_upsert", "id": id, "type": "question", **more}


def _edge(tail: str, head: str, **more: Any) -> dict[str, Any]:
    return {"op": "edge_upsert", "from": tail, "rel": "asks", "to": head, **more}


def _erased(call: Door) -> None:
    here = {"workspace": "erased"}
    note = call("branchmind_notes_commit", **here, content="a note")["entry"]["seq"]
    call("branchmind_think_card", **here, card={"id": "Q", "type": "question", "title": "why"})
    trace = call("branchmind_show", **here, doc_kind="trace")["entries"][0]["seq"]
    call("tasks_create", **here, kind="task", title="t")
    body = {"id": "E-1", "description": "secret", "status": "planning", **TIMES}
    record = call("submit_payload", capability_id=UNIT, body=body)["payload_id"]
    call("moss_erase", type="trace", **here, seq=trace)
    call("moss_erase", type="note", **here, seq=note)
    call("moss_erase", type="node", **here, id="Q")
    call("moss_erase", type="task", **here, target="TASK-001")
    call("moss_erase", type="record", id=record)


def _mistyped_workspace(call: Door) -> None:
    for tool in (
        "capsule_list", "capsule_inventory", "artifact_list", "moss_freshness", "moss_log", "tasks_list", "tasks_ready",
        "tasks_delta", "branchmind_branch_list", "retrieve_records", "retrieve_entities", "list_timeline_events",
    ):  # fmt: skip
        call(tool, workspace="similat")
    for tool in ("capsule_search", "moss_search"):
        call(tool, workspace="similat", query="anything")


def _tools(call: Door) -> None:
    call("moss_tools", query="go back to an earlier version")
    call("moss_tools", names=["moss_revert"])
    call("moss_call", tool="capsule_list")
