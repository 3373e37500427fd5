"""Ten jobs of an ordinary week of coding, done by agents that follow the answers of Moss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from e2e.week_agent import Agent, Call

    StartAgent = Callable[[], Agent]

SHOP = "shop"
LABELS = ("Objective", "Current status", "Decisions", "Next actions", "Key locations", "Open questions")
THIN = "## Objective\nCustomers sign in once a month.\n\n## Decisions\n- refresh tokens rotate\n"


def capsule(subject: str) -> str:
    """Return a capsule with the six sections."""
    return "\n\n".join(f"## {label}\n- {label.lower()} of {subject}" for label in LABELS) + "\n"


def with_workspace(call: Call) -> Callable[[dict[str, Any]], Call]:
    """Return a function that repeats the call in the project's workspace after any answer."""
    return lambda answer: (call[0], {**call[1], "workspace": SHOP})


def save_and_resume(start_agent: StartAgent) -> None:
    ada = start_agent()
    stored = ada.complete("capsule_store", {"workspace": SHOP, "name": "auth", "capsule_text": THIN})
    assert stored["fetch_key"]["moss_workspace"] == SHOP
    ada.complete("capsule_store", {"workspace": "billing", "name": "invoices", "capsule_text": capsule("invoices")})
    for section, content in (("Decisions", "- sessions live in Redis"), ("Decisions", "- cookies are HttpOnly")):
        ada.complete("capsule_append", {"workspace": SHOP, "name": "auth", "section": section, "content": content})
    status = {"workspace": SHOP, "name": "auth", "section": "Current status", "content": "rotation works"}
    if ada.accepts("capsule_append", "mode"):
        ada.complete("capsule_append", {**status, "mode": "replace"})
    else:
        whole = ada.complete("capsule_fetch", {"workspace": SHOP, "name": "auth"})["capsule_text"]
        again = {"workspace": SHOP, "name": "auth", "capsule_text": whole + "\nrotation works\n", "mode": "replace"}
        ada.complete("capsule_store", again)
    bob = start_agent()
    resumed = bob.complete("capsule_latest", {"workspace": SHOP, "include_text": True})
    assert "Redis" in resumed["item"]["capsule_text"]
    for mistaken in ({"name": "auth"}, {"workspace": SHOP, "name": "auht"}):
        bob.complete("capsule_fetch", mistaken, right=lambda answer: answer.get("name") == "auth", mistake=True)
    key = resumed["item"]["fetch_key"]
    bob.complete(
        "capsule_fetch", {"fetch_key": key}, detour=lambda: bob.ask("capsule_fetch", workspace=SHOP, name="auth")
    )
    bob.complete("moss_search", {"query": "where do sessions live"}, right=lambda answer: bool(answer["items"]))


def plan_and_close(start_agent: StartAgent) -> None:
    ada = start_agent()
    call: Call = ("tasks_radar", {})
    made = ada.complete(
        *call,
        right=lambda answer: "id" in answer or "radar" in answer,
        again=with_workspace(call),
        detour=lambda: ada.ask("tasks_radar", workspace=SHOP),
        mistake=True,
    )
    steps: list[dict[str, Any]] = [
        {"title": "Make tokens", "success_criteria": "a second use is refused", "tests": "pytest -k token"},
        {"title": "Send the mail", "success_criteria": "the mail holds a link"},
        {"title": "Tell the team"},
    ]
    if "id" in made:
        ada.find("remove a task", "tasks_delete")
        ada.ask("tasks_delete", workspace=made.get("workspace", SHOP), target=made["id"])
    plan = ada.complete("tasks_create", {"workspace": SHOP, "kind": "plan", "title": "Password reset", "steps": steps})
    for _ in range(12):
        radar = ada.complete("tasks_radar", {"workspace": SHOP, "target": plan["id"]})
        if radar["target"]["status"] == "DONE":
            return
        ada.follow(radar["radar"]["next"])
    raise AssertionError("the plan was never done")


def claim_among_two(start_agent: StartAgent) -> None:
    ada, bob = start_agent(), start_agent()
    for title in ("Rotate refresh tokens", "Log out every device"):
        ada.complete("tasks_create", {"workspace": SHOP, "kind": "task", "title": title, "steps": [{"title": title}]})
    for agent in (ada, bob):
        agent.find("take a task so that nobody else works on it", "tasks_claim")
    mine = ada.complete("tasks_claim", {"workspace": SHOP, "agent": "ada"})
    taken = {"workspace": SHOP, "agent": "bob", "target": mine["id"]}
    his = bob.complete(
        "tasks_claim", taken, right=lambda answer: "lease_until_ms" in answer or "tasks" in answer, mistake=True
    )
    if "lease_until_ms" not in his:
        his = bob.complete("tasks_claim", {"workspace": SHOP, "agent": "bob"})
    assert his["id"] != mine["id"]
    for agent, piece in ((ada, mine["id"]), (bob, his["id"])):
        for _ in range(6):
            radar = agent.complete("tasks_radar", {"workspace": SHOP, "target": piece})
            if radar["target"]["status"] == "DONE":
                break
            agent.follow(radar["radar"]["next"])


def reverse_a_decision(start_agent: StartAgent) -> None:
    ada = start_agent()
    old = {"id": "sessions-redis", "type": "decision", "title": "Sessions live in Redis", "text": "fast and simple"}
    ada.complete("branchmind_think_card", {"workspace": SHOP, "card": old})
    ada.complete("branchmind_notes_commit", {"workspace": SHOP, "content": "Redis lost sessions in the failover test"})
    new = {
        "id": "sessions-postgres",
        "type": "decision",
        "title": "Sessions live in PostgreSQL",
        "text": "they survive a failover",
        "supersedes": "sessions-redis",
    }

    def set_status() -> dict[str, Any]:
        ada.find("a decision is not valid any more", "branchmind_think_set_status")
        return ada.ask("branchmind_think_set_status", workspace=SHOP, ids="sessions-redis", status="superseded")

    ada.complete("branchmind_think_card", {"workspace": SHOP, "card": new})
    if not _is_superseded(ada):
        set_status()
        ada.find("connect two cards", "branchmind_think_link")
        link = {"from": "sessions-postgres", "rel": "supersedes", "to": "sessions-redis"}
        ada.ask("branchmind_think_link", workspace=SHOP, **link)
        _is_superseded(ada)


def _is_superseded(agent: Agent) -> bool:
    """Find the decision with the simplest call; return True if the old card is marked as superseded."""
    hits = agent.complete("moss_search", {"query": "where do sessions live", "workspace": SHOP})["items"]
    return any("sessions-redis" in str(hit["fetch"]) and hit.get("status") == "superseded" for hit in hits)


def try_and_merge_back(start_agent: StartAgent) -> None:
    ada = start_agent()
    question = {"id": "mail", "type": "question", "title": "Which mail service?", "text": "open"}
    ada.complete("branchmind_think_card", {"workspace": SHOP, "card": question})
    ada.find("try an answer on a branch", "branchmind_branch_create")
    ada.complete("branchmind_branch_create", {"workspace": SHOP, "name": "own-mail"})
    here = {"workspace": SHOP, "branch": "own-mail"}
    ada.complete("branchmind_notes_commit", {**here, "content": "own mail server: 40 lines of configuration"})
    answer = {"id": "own", "type": "hypothesis", "title": "Our own server is enough", "supports": ["mail"]}
    ada.complete("branchmind_think_card", {**here, "card": answer})
    ada.find("set the status of a card", "branchmind_think_set_status")
    ada.complete(
        "branchmind_think_set_status", {"workspace": SHOP, "ids": "mail", "status": "resolved", "ref": "own-mail"}
    )
    ada.complete("branchmind_think_set_status", {"workspace": SHOP, "ids": "mail", "status": "deferred"})
    if ada.find("bring a branch back into its base", "branchmind_merge_back"):
        merged = ada.complete("branchmind_merge_back", {"workspace": SHOP, "from": "own-mail"})
        conflicts = merged["conflicts"]
    else:
        ada.find("merge the notes of a branch", "branchmind_merge")
        ada.find("merge the graph of a branch", "branchmind_graph_merge")
        both = {"workspace": SHOP, "from": "own-mail", "into": "main"}
        for doc in ("notes", "trace"):
            ada.complete("branchmind_merge", {**both, "doc": doc})
        ada.complete("branchmind_graph_merge", both)
        ada.find("conflicts of a merge", "branchmind_graph_conflicts")
        conflicts = ada.complete("branchmind_graph_conflicts", {"workspace": SHOP, "into": "main"})["conflicts"]
    assert conflicts
    ada.find("resolve a conflict", "branchmind_graph_conflict_resolve")
    for one in conflicts:
        chosen = {"workspace": SHOP, "conflict_id": one["conflict_id"], "resolution": "use_from"}
        ada.complete("branchmind_graph_conflict_resolve", chosen)
    ada.complete("branchmind_context_pack", {"workspace": SHOP})


def keep_records(start_agent: StartAgent) -> None:
    ada = start_agent()
    ada.find("keep a fact to be asked for months later", "submit_payload")
    when = "2026-05-04T09:00:00Z"
    facts = [
        ("feature_unit", {"id": "FU-061", "description": "refresh tokens rotate", "status": "planning"}),
        ("feature_unit", {"id": "FU-062", "description": "log out every device", "status": "completed"}),
        ("agent_decision", {"decision": "sessions in PostgreSQL", "rationale": "FU-061 must survive a failover"}),
    ]
    learned: dict[str, tuple[str, list[str]]] = {}
    for kind, body in facts:
        capability, times = learned.get(kind, (kind, []))
        call = {"capability_id": capability, "body": {**body, **dict.fromkeys(times, when)}, "workspace": SHOP}
        learned[kind] = _submit(ada, call, when)
    ada.find("which features are planned now", "retrieve_entities")
    asked = {"entity_type": "feature_unit", "workspace": SHOP}
    if ada.accepts("retrieve_entities", "properties"):
        found = ada.complete("retrieve_entities", {**asked, "properties": {"status": "planning"}})["entities"]
        assert len(found) == 1
    else:
        ada.complete("retrieve_entities", {**asked, "include_snapshots": True})


def _submit(agent: Agent, call: dict[str, Any], when: str) -> tuple[str, list[str]]:
    """Submit one fact and add the fields that the refusals name as missing."""
    for _ in range(6):
        answer = agent.ask("submit_payload", **call)
        if "error" not in answer:
            times = [name for name, value in call["body"].items() if value == when]
            return call["capability_id"], times
        call = _with_missing(call, answer["error"], when)
    raise AssertionError(f"never submitted: {answer}")


def _with_missing(call: dict[str, Any], error: dict[str, Any], when: str) -> dict[str, Any]:
    proposed = error.get("recovery") or {}
    arguments = proposed.get("arguments", {})
    arguments = arguments.get("arguments", arguments)
    if "body" in arguments:
        places = {name: when for name, value in arguments["body"].items() if "(fill in" in str(value)}
        return {**arguments, "body": {**arguments["body"], **places}}
    known = [one for one in (error.get("details") or {}).get("known", []) if call["capability_id"] in one]
    if error["code"] == "UNKNOWN_CAPABILITY":
        return {**call, "capability_id": (known or [f"neotoma:store_{call['capability_id']}:v1"])[0]}
    missing = (error.get("details") or {}).get("path", "").removeprefix("body.")
    return {**call, "body": {**call["body"], missing: when}}


def undo_an_overwrite(start_agent: StartAgent) -> None:
    ada = start_agent()
    named = {"workspace": SHOP, "name": "deploy"}
    ada.complete("capsule_store", {**named, "capsule_text": capsule("the deployment"), "tags": ["deploy"]})
    ada.complete("capsule_store", {**named, "capsule_text": capsule("nothing of use"), "mode": "replace"})
    ada.find("undo a change", "moss_revert")
    ada.find("bring a capsule back", "capsule_restore")

    def revert(answer: dict[str, Any]) -> Call | None:
        if "versions" not in answer:
            return None
        return "moss_revert", {"type": "capsule", **named, "version": answer["versions"][-1]["version"]}

    def by_hand() -> dict[str, Any]:
        ada.find("earlier versions of a capsule", "moss_history")
        call = revert(ada.ask("moss_history", type="capsule", **named))
        assert call is not None
        return ada.ask(call[0], **call[1])

    ada.complete("capsule_restore", named, right=lambda answer: "reverted_to" in answer, again=revert, detour=by_hand)
    assert "the deployment" in ada.complete("capsule_fetch", named)["capsule_text"]


def hand_over(start_agent: StartAgent) -> None:
    ada = start_agent()
    steps = [{"title": "Measure", "success_criteria": "a figure"}, {"title": "Decide"}]
    made = ada.complete("tasks_create", {"workspace": SHOP, "kind": "task", "title": "Choose a cache", "steps": steps})
    here = {"workspace": SHOP, "target": made["id"]}
    for title in ("Memory is enough", "Invalidate by version"):
        ada.complete("branchmind_think_card", {**here, "card": {"type": "hypothesis", "title": title}})
    evidence = {"type": "evidence", "title": "p95 fell to 20 ms", "text": "measured with 1,000 requests"}
    ada.complete("branchmind_think_card", {**here, "card": evidence})
    ada.complete("branchmind_notes_commit", {**here, "content": "Warning: the staging cache is shared"})
    closing = {**here, "path": "s:0", "checkpoints": {"criteria": True}}
    ada.complete("tasks_done", closing, detour=lambda: _close_by_hand(ada, closing))
    ada.complete("tasks_handoff", {**here, "as_capsule": True})
    bob = start_agent()
    bob.complete("capsule_fetch", {"workspace": SHOP, "name": f"{made['id']}-handoff"})
    bob.complete("tasks_radar", here)
    bob.complete("branchmind_context_pack", here)
    bob.complete("tasks_done", {**here, "path": "s:1"}, detour=lambda: _close_by_hand(bob, {**here, "path": "s:1"}))
    bob.complete(
        "tasks_done",
        here,
        right=lambda answer: answer["event"]["payload"].get("to") == "DONE",
        detour=lambda: _complete(bob, here),
    )


def _close_by_hand(agent: Agent, call: dict[str, Any]) -> dict[str, Any]:
    return agent.ask("tasks_done", **{**call, "checkpoints": {"criteria": True, "tests": True}})


def _complete(agent: Agent, here: dict[str, Any]) -> dict[str, Any]:
    agent.find("finish a task", "tasks_complete")
    return agent.ask("tasks_complete", **here)


def find_by_date(start_agent: StartAgent) -> None:
    ada = start_agent()
    for day, text in (("2026-05-04", "queue on PostgreSQL"), ("2026-07-02", "queue on Kafka")):
        card = {"type": "decision", "title": f"The {text}", "text": f"decided on {day}"}
        ada.complete("branchmind_think_card", {"workspace": SHOP, "card": card})
    asked = {"query": "queue decision", "workspace": SHOP}
    if ada.accepts("moss_search", "before"):
        ada.complete("moss_search", {**asked, "after": "2026-01-01", "before": "2099-01-01"})
    else:
        ada.complete("moss_search", asked)
        ada.find("what did we decide in May", "list_timeline_events")
        ada.ask("list_timeline_events", workspace=SHOP, before_date="2026-06-01")
    misspelt = {"workspace": "shpo", "name": "auth"}
    ada.complete("capsule_fetch", misspelt, right=lambda answer: answer.get("name") == "auth", mistake=True)
    call: Call = ("branchmind_context_pack", {"workspace": "shpo"})
    ada.complete(
        *call,
        right=lambda answer: answer.get("workspace", SHOP) == SHOP and "shpo" not in str(answer),
        again=with_workspace(call),
        mistake=True,
    )


def fan_out_and_in(start_agent: StartAgent) -> None:
    lead, run = start_agent(), {"workspace": SHOP, "run_id": "review-7"}
    lead.find("store typed JSON of a workflow run", "artifact_store")
    for number in range(6):
        finding = {"name": f"finding-{number}", "kind": "explorer-finding", "data": {"file": f"src/{number}.py"}}
        lead.complete("artifact_store", {**run, **finding, "text": f"file {number} has no tests", "role": "explorer"})
    lead.find("list the artifacts of a run", "artifact_list")
    listed = lead.complete("artifact_list", {"run_id": "review-7"})["items"]
    lead.find("join artifacts into one text", "artifact_compose")
    items = [{"id": item["id"]} for item in listed]
    stored = {"name": "review-7", "kind": "summary", "workspace": SHOP}
    wanted = {"items": items, "store_as": {**stored, "run_id": "review-7", "role": "lead", "ttl_seconds": 86_400}}
    lead.complete("artifact_compose", wanted, detour=lambda: lead.ask("artifact_compose", items=items, store_as=stored))
    lead.find("load an artifact", "artifact_fetch")
    lead.complete("artifact_fetch", {"workspace": SHOP, "name": "review-7"})


JOBS = (
    save_and_resume,
    plan_and_close,
    claim_among_two,
    reverse_a_decision,
    try_and_merge_back,
    keep_records,
    undo_an_overwrite,
    hand_over,
    find_by_date,
    fan_out_and_in,
)
