"""Recorded facts about a shop, and paraphrased questions about them."""

from __future__ import annotations

from typing import Any

TIMES = {"created_at": "2026-01-12T09:00:00Z", "updated_at": "2026-02-20T16:00:00Z"}


def _decided(decision: str, rationale: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "agent_decision", {"decision": decision, "rationale": rationale, "timestamp": "2026-02-04", **more}


def _designed(decision: str, rationale: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "architectural_decision", {"decision": decision, "rationale": rationale, "timestamp": "2026-02-05", **more}


def _unit(id: str, description: str, status: str) -> tuple[str, dict[str, Any]]:
    return "feature_unit", {"id": id, "description": description, "status": status, **TIMES}


def _release(version: str, *criteria: str) -> tuple[str, dict[str, Any]]:
    told = {"id": f"v{version}", "version": version, "status": "deployed", "acceptance_criteria": list(criteria)}
    return "release", {**told, **TIMES}


def _session(id: str, outcomes: str) -> tuple[str, dict[str, Any]]:
    return "agent_session", {"session_id": id, "outcomes": outcomes, "started_at": "2026-02-10T08:00:00Z"}


def _part(name: str, kind: str, description: str) -> tuple[str, dict[str, Any]]:
    return "codebase_entity", {"name": name, "type": kind, "description": description, **TIMES}


def _check(kind: str, status: str, about: str, **details: Any) -> tuple[str, dict[str, Any]]:
    told = {"validation_type": kind, "status": status, "related_entity_id": about, "details": details}
    return "validation_result", {**told, "timestamp": "2026-02-15T12:00:00Z"}


RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "mail queue": _decided(
        "Queue outgoing mail in PostgreSQL",
        "Orders and their mails commit together; Redis lost jobs twice when it restarted.",
    ),
    "idle sign-out": _decided(
        "Sign people out after twelve idle hours", "Shared tablets in the warehouse stayed open over night."
    ),
    "pinned tools": _decided(
        "Pin every build tool to an exact version", "A new linter broke the main branch on a Friday evening."
    ),
    "one language": _decided(
        "Write error messages in English only", "Support searches the logs, and translated texts hid the cause."
    ),
    "short names": _decided(
        "Limit product names to eighty characters", "Longer ones are cut off on the parcel labels of the carrier."
    ),
    "money in cents": _designed(
        "Store amounts of money as whole cents",
        "Floating point made invoices differ from the ledger by a penny.",
        alternatives=["decimal columns"],
    ),
    "one writer": _designed(
        "Let one process own all writes to the search index",
        "Two of them corrupted its segments when a deployment overlapped.",
    ),
    "no microservices": _designed(
        "Keep the shop one deployable program",
        "Five people cannot run a dozen services on call.",
        impact="Modules talk through function calls.",
    ),
    "images elsewhere": _designed(
        "Keep product pictures in object storage", "Backups of the database had grown to four hundred gigabytes."
    ),
    "receipts": _unit("FU-042", "Mail receipts to customers", "completed"),
    "gift cards": _unit("FU-051", "Sell gift cards that can be spent in parts", "in_progress"),
    "dark theme": _unit("FU-056", "Offer a dark theme that follows the operating system", "deferred"),
    "rate limit": _unit("FU-060", "Slow down clients that guess passwords", "completed"),
    "export": _unit("FU-063", "Let customers download everything we know about them", "planning"),
    "spring release": _release("2.4.0", "checkout answers within 300 ms under the load of a sale"),
    "summer release": _release("2.5.0", "every page can be used with the keyboard alone"),
    "hotfix": _release("2.4.1", "no order is charged twice when the payment provider is slow"),
    "session on flakes": _session(
        "flaky-1", "The tests failed at midnight because they compared local dates with UTC; they freeze the clock now."
    ),
    "session on memory": _session(
        "leak-2", "The worker grew by a gigabyte a day: a cache of rendered templates never dropped anything."
    ),
    "session on upgrade": _session(
        "upgrade-1", "Moved to Python 3.13; two packages had no wheels and were replaced by code of our own."
    ),
    "session on tax": _session("tax-4", "Reduced rates for books work; those for food wait for the accountant."),
    "gatekeeper": _part("Gatekeeper", "component", "Decides which requests may pass, by role and by owner of the row."),
    "outbox": _part("Outbox", "pattern", "Events are written beside the change they tell of and sent afterwards."),
    "price engine": _part("Price engine", "subsystem", "Works out discounts, vouchers and what delivery costs."),
    "clock": _part("Clock", "component", "The only place that may ask what time it is, so that tests can move it."),
    "restore drill": _check(
        "restore drill", "passed", "backups", summary="The newest dump came back in 41 minutes, rows counted."
    ),
    "load test": _check(
        "load test", "failed", "v2.4.0", summary="Half of the baskets timed out at 900 buyers a minute."
    ),
    "audit": _check("dependency audit", "failed", "FU-060", summary="The JWT library has a known forgery hole."),
}
"""By subject."""

RIGHT_FIRST = {
    "how long does a login last?": "idle sign-out",
    "rounding mistakes on bills": "money in cents",
    "where are photos of articles saved?": "images elsewhere",
    "brute force protection": "rate limit",
    "unit tests are red only at night": "session on flakes",
    "authorization checks": "gatekeeper",
    "which code computes shipping fees?": "price engine",
    "why do labels truncate titles?": "short names",
    "night mode": "dark theme",
    "customers paid two times": "hotfix",
    "accessibility for people without a mouse": "summer release",
    "process eats more and more RAM": "session on memory",
}
"""The record that answers each question; it must be ranked first."""

AMONG_FIVE = {
    "why not keep jobs in memory?": "mail queue",
    "vulnerable third-party package": "audit",
    "site collapses when too many shoppers come": "load test",
}
"""Questions that other records answer almost as well."""

TOO_FAR = "can we recover from losing the disk?"
"""A question without words of any record and whose best similarity is below the threshold."""
