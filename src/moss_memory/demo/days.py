"""The ordinary days of the story: progress, notes and the state that programs leave."""

from __future__ import annotations

from .story import ADMIN, PLATFORM, SHOP, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DAYS = 61
_PROGRESS = (
    (PLATFORM, "deploys", "Current status", "- Eleven deploys today, none taken back"),
    (SHOP, "webhooks", "Current status", "- 41,000 events, the oldest waited 0.8 s"),
    (PLATFORM, "logging", "Next actions", "- The eighth service passes the id on"),
    (ADMIN, "order-search", "Decisions", "- Results of the last 90 days first"),
    (SHOP, "session-store", "Current status", "- 18,204 sessions moved over"),
    (PLATFORM, "flags", "Next actions", "- `old_totals` is gone"),
    (ADMIN, "permissions", "Current status", "- Six people have the second role"),
    (SHOP, "rounding", "Current status", "- Checked against 9,000 invoices"),
    (SHOP, "ci-speed", "Current status", "- Median 6:04 this week"),
)
_STORED_AT = (1490, 1440, 1300, 1180, 1010, 840, 700, 520, 430)
_NOTES = (
    "Asked finance how they count a refund that was taken back: as a new row.",
    "The provider's sandbox answers within 90 ms, production within 400.",
    "Read the last ten tickets: seven are about parts of an order.",
    "The old job sums floats; that is where the cent went.",
    "Two countries have no minor unit. Both are in the tests now.",
    "A retry after a deploy used another key. Written down as a case.",
    "The report of the provider comes at 04:10 and is complete at 04:40.",
    "Support tried the form: nobody looked for the second button.",
)
_PATHS = ("payments/client.py", "ledger/refunds.py", "admin/refund_form.tsx", "webhooks/inbox.py", "money/rounding.py")
_BUSY = (3, 5, 6, 4, 8, 1, 0, 4, 6, 3, 9, 7, 0, 1, 5, 7, 4, 6, 10, 2, 0)
"""How much happened on the days of three weeks."""


def lines() -> list[Line]:
    """What happened day by day: a few appends, notes, thoughts and artifacts, fewer at the weekends."""
    found: list[Line] = []
    for day in range(_DAYS):
        for piece in range(_BUSY[day % len(_BUSY)]):
            hours_ago = (_DAYS - day) * 24 - 9 - piece * 0.9
            found.append(_piece(day, piece, hours_ago))
    return [*found, *_lasting(), *_nightly()]


def _piece(day: int, piece: int, hours_ago: float) -> Line:
    number = day * 7 + piece
    if piece % 4 == 1:
        return Line(hours_ago, "branchmind_notes_commit", workspace=SHOP, content=_NOTES[number % len(_NOTES)])
    if piece % 4 == 2:
        step = f"Looked at {_PATHS[number % len(_PATHS)]}"
        return Line(hours_ago, "branchmind_trace_step", workspace=SHOP, step=step)
    if piece % 4 == 3:
        return _finding(number, hours_ago)
    known = [place for place, at in zip(_PROGRESS, _STORED_AT, strict=True) if at > hours_ago]
    if not known:
        return Line(hours_ago, "branchmind_notes_commit", workspace=PLATFORM, content=_NOTES[number % len(_NOTES)])
    workspace, name, section, content = known[number % len(known)]
    return Line(hours_ago, "capsule_append", workspace=workspace, name=name, section=section, content=content)


def _finding(number: int, hours_ago: float) -> Line:
    path = _PATHS[number % len(_PATHS)]
    data: dict[str, Any] = {
        "files": [{"path": path, "relevance": ("high", "medium", "low")[number % 3], "summary": "retries live here"}],
        "patterns": ["one key per call", "amounts as integers"],
        "concerns": ["the key is built from the time"] if number % 2 else [],
        "confidence": round(0.6 + number % 4 / 10, 1),
    }
    run = f"explore-{number // 40 + 1:02}"
    return Line(
        hours_ago, "artifact_store", workspace=SHOP, kind="explorer-finding", name=f"finding-{number:03}", run_id=run,
        phase="explore", role=("reader", "critic")[number % 2], data=data, text=f"{path}: retries live here",
    )  # fmt: skip


def _lasting() -> list[Line]:
    spec: dict[str, Any] = {
        "objective": "Refund any part of an order",
        "approach": "One ledger row per refund; its id is the key of the provider's call",
        "files_to_modify": ["payments/client.py", "ledger/refunds.py"],
        "files_to_create": ["jobs/reconcile.py"],
        "constraints": ["amounts are integers", "no call is sent with two keys"],
        "test_strategy": "Replay the slow provider; compare with the ledger",
    }
    place = {"workspace": SHOP, "kind": "design-spec", "name": "partial-refunds", "run_id": "refunds-design"}
    widened = {**spec, "files_to_create": ["jobs/reconcile.py", "tests/test_refund_retry.py"]}
    return [
        Line(290, "artifact_store", **place, data={**spec, "constraints": spec["constraints"][:1]}, tags=["refunds"]),
        Line(160, "artifact_store", **place, data=spec, mode="replace", tags=["refunds"], text="Refund any part."),
        Line(47, "artifact_store", **place, data=widened, mode="replace", tags=["refunds"], text="Refund any part."),
    ]


def _nightly() -> list[Line]:
    """The state of the nightly run, most of which goes by itself after some days."""
    week_s = 7 * 86400
    run: dict[str, Any] = {"workspace": SHOP, "run_id": "nightly-reconcile", "ttl_seconds": week_s, "phase": "verify"}
    results = ((9.4, "fetch-report", "OK"), (9.2, "compare", "OK"), (9.1, "write-differences", "BLOCKED"))
    steps = [
        Line(at, "artifact_store", **run, kind="step-result", name=name, role="worker",
             data={"step_instance_id": f"{name}-1", "status": status, "artifact_ids": [], "actions": []})
        for at, name, status in results
    ]  # fmt: skip
    issues = [
        {"id": "V1", "file": "jobs/reconcile.py", "line": 41, "category": "money", "severity": "error",
         "message": "a difference below one cent is dropped"},
        {"id": "V2", "file": "jobs/reconcile.py", "line": 77, "category": "alerts", "severity": "warning",
         "message": "nobody is told when the report is late"},
    ]  # fmt: skip
    verdict = {"verdict": "concerns", "issues": issues, "summary": "Works, but would hide small differences."}
    return [
        *steps,
        Line(9, "artifact_store", **run, kind="verifier-output", name="verdict", role="verifier", data=verdict,
             text="Works, but would hide small differences."),
    ]  # fmt: skip
