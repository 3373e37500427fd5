"""The reasoning of the story: why some refunds were paid twice, and what was tried on branches."""

from __future__ import annotations

from .story import SHOP, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TRIED = "try-idempotency"
_LATER = "retry-later"


def lines() -> list[Line]:
    """The questions on main, the branch that answers one, and a merge that left a conflict."""
    return [*_asked(), *_tried(), *_conflict(), *_logged()]


def _card(hours_ago: float, kind: str, id: str, title: str, text: str = "", status: str = "open", **more: Any) -> Line:
    card = {"id": id, "type": kind, "title": title, "text": text or title, "status": status}
    return Line(hours_ago, "branchmind_think_card", workspace=SHOP, card=card, **more)


def _link(hours_ago: float, from_: str, rel: str, to: str, **more: Any) -> Line:
    return Line(hours_ago, "branchmind_think_link", workspace=SHOP, from_=from_, rel=rel, to=to, **more)


def _status(hours_ago: float, status: str, *ids: str, **more: Any) -> Line:
    return Line(hours_ago, "branchmind_think_set_status", workspace=SHOP, ids=list(ids), status=status, **more)


def _asked() -> list[Line]:
    return [
        Line(260, "branchmind_init", workspace=SHOP),
        _card(259.9, "frame", "F1", "Done: a retry is the same payment", "Whatever is sent twice is paid once."),
        _card(259, "question", "Q1", "Why are some refunds paid twice?", "Nine cases in October, 340 € in all."),
        _link(258.9, "Q1", "part of", "F1"),
        _card(256, "hypothesis", "H1", "The provider replays its webhook"),
        _link(255.9, "H1", "answers", "Q1"),
        _card(252, "hypothesis", "H2", "Support clicks twice"),
        _link(251.9, "H2", "answers", "Q1"),
        _card(236, "evidence", "E2", "Access log: one POST per refund", status="done"),
        _link(235.9, "E2", "blocks", "H2"),
        _status(235, "rejected", "H2"),
        _card(214, "evidence", "E1", "Two webhooks, same event id", "The inbox drops the second one.", "done"),
        _link(213.9, "E1", "blocks", "H1"),
        _card(210, "hypothesis", "H3", "A timeout is retried with a new key"),
        _link(209.9, "H3", "answers", "Q1"),
        _card(208, "test", "T1", "Slow provider in staging: 5 s", "40 refunds against a provider that waits."),
        _link(207.9, "T1", "tests", "H3"),
        Line(190, "branchmind_branch_create", workspace=SHOP, name=_TRIED, from_="main"),
    ]


def _tried() -> list[Line]:
    on = {"ref": _TRIED}
    new = {"branch": _TRIED}
    return [
        _status(189, "rejected", "H1", **on),
        _card(188, "evidence", "E3", "37 of 40 slow refunds paid twice", "Every one had two keys.", "done", **new),
        _link(187.9, "T1", "yields", "E3", **on),
        _link(187.8, "E3", "supports", "H3", **on),
        _status(187, "done", "T1", **on),
        _status(186.9, "accepted", "H3", **on),
        _card(
            166,
            "decision",
            "D1",
            "The refund's id is the idempotency key",
            "Not the order's: two partial refunds of one order are two payments.",
            "accepted",
            **new,
        ),
        _link(165.9, "H3", "leads to", "D1", **on),
        _link(165.8, "D1", "resolves", "Q1", **on),
        _card(143, "evidence", "E4", "312 refunds in staging, none twice", status="done", **new),
        _link(142.9, "E4", "supports", "D1", **on),
        _card(30, "question", "Q2", "And two partial refunds of one line?", "They differ in nothing but time.", **new),
        _link(29.9, "Q2", "follows", "D1", **on),
    ]


def _conflict() -> list[Line]:
    upsert = {"op": "node_upsert", "id": "H4", "type": "hypothesis", "status": "open"}
    first = {**upsert, "title": "Thirty seconds are enough", "text": "The provider answers within 20 s."}
    ours = {**upsert, "title": "Thirty seconds are enough", "text": "Seen for 99.9 % of calls.", "status": "accepted"}
    theirs = {**upsert, "title": "Two minutes are needed", "text": "Banks in two countries take 70 s."}
    return [
        Line(130, "branchmind_graph_apply", workspace=SHOP, ops=[first]),
        Line(129, "branchmind_branch_create", workspace=SHOP, name=_LATER, from_="main"),
        Line(100, "branchmind_graph_apply", workspace=SHOP, branch=_LATER, ops=[theirs]),
        Line(98, "branchmind_graph_apply", workspace=SHOP, ops=[ours]),
        Line(28, "branchmind_graph_merge", workspace=SHOP, into="main", from_=_LATER),
    ]


def _logged() -> list[Line]:
    notes = (
        (258, "Counted by hand: nine double payments in October, all above 5 s."),
        (234, "Support was asked: nobody clicks twice, the button is disabled."),
        (209, "The retry builds its key anew from the time. That would do it."),
        (186, "37 of 40. That is the cause."),
        (74, "Since Tuesday in production: no double payment among 1,204 refunds."),
    )
    steps = (
        (257, "Read the access log of the nine cases"),
        (212, "Replay the webhook against staging"),
        (207, "Slow the provider down to 5 s"),
        (165, "Take the refund's id as the key and run the replay again"),
    )
    return [
        *(Line(at, "branchmind_notes_commit", workspace=SHOP, content=text, branch="main") for at, text in notes),
        *(Line(at, "branchmind_trace_step", workspace=SHOP, step=text, ref="main") for at, text in steps),
    ]
