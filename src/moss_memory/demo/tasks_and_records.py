"""The tasks of the story, and the records of what was decided, released and checked."""

from __future__ import annotations

from .story import ADMIN, BEGUN, NOW, PLATFORM, SHOP, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CONFIRMED = {"criteria": True, "tests": True}


def lines() -> list[Line]:
    """Three plans and what was recorded on the way."""
    return [*_refunds(), *_other_plans(), *_progress(), *_units(), *_decisions(), *_releases(), *_checks()]


def _step(title: str, criteria: str, test: str = "") -> dict[str, Any]:
    return {"title": title, "success_criteria": [criteria], "tests": [test] if test else []}


def _task(at: float, workspace: str, title: str, *steps: dict[str, Any], **more: Any) -> Line:
    return Line(at, "tasks_create", workspace=workspace, kind="task", title=title, steps=list(steps), **more)


def _refunds() -> list[Line]:
    return [
        Line(
            300, "tasks_create", workspace=SHOP, kind="plan", title="Partial refunds", priority="high",
            description="Support refunds any part of an order, safely.", tags=["refunds"],
        ),
        _task(
            299, SHOP, "Ledger rows for partial amounts",
            _step("Amounts in the smallest unit", "No float is left in the ledger", "tests/test_shares.py"),
            _step("A row per refund", "Finance sees one row", "tests/test_ledger.py"),
            parent="PLAN-001", tags=["ledger"],
        ),
        _task(
            298, SHOP, "Idempotency key on provider calls",
            _step("Find out why refunds were paid twice", "The cause is shown, not guessed"),
            _step("One key per refund", "A retry is the same payment", "tests/test_refund_retry.py"),
            parent="PLAN-001", priority="high", tags=["payments"],
        ),
        _task(
            297, SHOP, "Admin form in review",
            _step("A field per line", "What is left is prefilled", "admin/refund_form.test.tsx"),
            _step("Read the sum out", "Screen readers say the sum", "axe, and by ear"),
            _step("Merge", "Rounding test is in"),
            parent="PLAN-001", description="Three clicks, and no way to refund too much.", tags=["admin"],
        ),
        _task(
            296, SHOP, "Reconciliation job",
            _step("Read the provider's report", "Every line is understood or named"),
            _step("Compare", "One line per difference"),
            _step("Tell somebody", "A difference is seen within a day"),
            parent="PLAN-001", priority="high", tags=["ledger"],
        ),
        _task(295, SHOP, "Flag to all of support", _step("From 10 % to all", "No ticket in three days"),
              parent="PLAN-001", priority="low"),
    ]  # fmt: skip


def _other_plans() -> list[Line]:
    return [
        Line(700, "tasks_create", workspace=PLATFORM, kind="plan", title="Dull deploys"),
        _task(699, PLATFORM, "Migrations first", _step("Both versions work", "Drilled once"), parent="PLAN-001"),
        _task(698, PLATFORM, "Drill taking one back", _step("Under a minute", "Measured"), parent="PLAN-001"),
        _task(500, PLATFORM, "Remove nine old flags", _step("new_checkout", "14 branches are gone"), priority="low"),
        _task(400, ADMIN, "Fold accents in search", _step("Fold on both sides", "Müller finds Mueller")),
        _task(399, ADMIN, "Show the second person what they approve", _step("A page", "Tried by two from support")),
    ]


def _progress() -> list[Line]:
    shop: dict[str, Any] = {"workspace": SHOP}
    done = {**shop, "checkpoints": _CONFIRMED}
    return [
        Line(280, "tasks_done", **done, target="TASK-001", path="s:0"),
        Line(262, "tasks_evidence", **shop, target="TASK-001", path="s:1", checks=["pytest ledger: 84 passed"]),
        Line(261, "tasks_done", **done, target="TASK-001", path="s:1"),
        Line(260.5, "tasks_complete", **shop, target="TASK-001"),
        Line(185, "tasks_evidence", **shop, target="TASK-002", path="s:0", texts=["37 of 40 slow refunds paid twice"]),
        Line(184, "tasks_done", **done, target="TASK-002", path="s:0"),
        Line(141, "tasks_evidence", **shop, target="TASK-002", path="s:1", links=["https://ci.example/runs/4711"]),
        Line(140, "tasks_done", **done, target="TASK-002", path="s:1"),
        Line(139, "tasks_complete", **shop, target="TASK-002"),
        Line(118, "tasks_done", **done, target="TASK-003", path="s:0"),
        Line(
            53, "tasks_note", **shop, target="TASK-003", path="s:1", note="Tried with two screen readers; one is mute"
        ),
        Line(52, "tasks_verify", **shop, target="TASK-003", path="s:1", checkpoints={"criteria": True}),
        Line(51, "tasks_block", **shop, target="TASK-003", path="s:2", reason="the rounding test is not in yet"),
        Line(50, "tasks_edit", **shop, target="TASK-005", depends_on=["TASK-003", "TASK-004"]),
        Line(4, "tasks_claim", **shop, target="TASK-003", agent="claude-code", lease_s=36000),
        Line(4, "tasks_focus", **shop, action="set", target="TASK-003"),
        Line(450, "tasks_done", workspace=PLATFORM, checkpoints=_CONFIRMED, target="TASK-001", path="s:0"),
        Line(449, "tasks_complete", workspace=PLATFORM, target="TASK-001"),
        Line(7, "tasks_claim", workspace=PLATFORM, target="TASK-002", agent="codex", lease_s=72000),
    ]


def _record(at: float, kind: str, workspace: str, agent: str, source: str, **body: Any) -> Line:
    provenance = {"agent_id": agent, "source_refs": [source], "extractor_version": "1"}
    return Line(
        at,
        "submit_payload",
        capability_id=f"neotoma:store_{kind}:v1",
        workspace=workspace,
        body=body,
        provenance=provenance,
    )


def _units() -> list[Line]:
    begun = {"created_at": BEGUN, "updated_at": NOW}
    unit, about = "feature_unit", "Partial refunds of any line, from the admin page"
    return [
        _record(1400, unit, SHOP, "codex", "board#31", id="FU-031", description="Sessions in the database",
                status="in_progress", risk_level="medium", **begun),
        _record(1000, unit, SHOP, "codex", "pr#402", id="FU-031", description="Sessions in the database",
                status="deployed", **begun),
        _record(310, unit, SHOP, "claude-code", "board#44", id="FU-044", description=about, status="planning",
                risk_level="high", dependencies=["FU-031"], **begun),
        _record(138, unit, SHOP, "claude-code", "pr#519", id="FU-044", description=about, status="in_progress",
                risk_level="medium", dependencies=["FU-040"], **begun),
        _record(600, unit, ADMIN, "gemini", "board#38", id="FU-038", description="Search by anything a customer says",
                status="in_progress", **begun),
        _record(70, unit, PLATFORM, "claude-code", "board#47", id="FU-047", description="Installed in one line",
                status="completed", risk_level="low", **begun),
    ]  # fmt: skip


def _decisions() -> list[Line]:
    kind = "agent_decision"
    return [
        _record(1005, kind, SHOP, "claude-code", "capsule:session-store", timestamp=NOW, related_entities=["FU-031"],
                decision="Sessions live in PostgreSQL", rationale="A failover of Redis lost 4 % of them."),
        _record(164, kind, SHOP, "claude-code", "graph:D1", timestamp=NOW, related_entities=["FU-044"],
                decision="The refund's id is the idempotency key",
                rationale="Two partial refunds of one order are two payments."),
        _record(650, kind, PLATFORM, "codex", "thread:deploys", timestamp=NOW,
                decision="No deploys after 16:00 on Fridays", rationale="Two of three bad evenings began then."),
    ]  # fmt: skip


def _releases() -> list[Line]:
    return [
        _record(960, "release", SHOP, "codex", "tag:2026.40", id="2026.40", version="2026.40.0", status="deployed",
                feature_units=["FU-031"], created_at=NOW, updated_at=NOW),
        _record(48, "release", SHOP, "codex", "tag:2026.46", id="2026.46", version="2026.46.0", status="in_progress",
                feature_units=["FU-044", "FU-047"], created_at=NOW, updated_at=NOW,
                acceptance_criteria=["No double payment for a week", "Finance signs"]),
    ]  # fmt: skip


def _checks() -> list[Line]:
    found = ((720, "passed", 0), (480, "failed", 3), (240, "passed", 0), (72, "passed", 0), (20, "passed", 0))
    return [
        _record(at, "validation_result", SHOP, "ci", f"run#{int(5000 - at)}", validation_type="double payments",
                status=status, timestamp=NOW, related_entity_id="FU-044", details={"duplicates": duplicates})
        for at, status, duplicates in found
    ]  # fmt: skip
