"""Malformed requests: each is answered by a page with an explanation and never by an internal error."""

from __future__ import annotations

import urllib.error
import urllib.request
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from contract.doors import FULL
from moss_memory.web.activity_chart import build_chart
from moss_memory.web.search_page import mark_title
from moss_memory.web.templating import sentence

if TYPE_CHECKING:
    from moss_memory.store import Store
    from support.pages_server import PagesServer

SHOP = "workspace=atlas-checkout"
ODD = (
    "/capsules?workspace=%00", "/capsules/%00", "/capsules/%ff%fe", "/capsules?offset=-1", "/capsules?offset=x",
    "/capsules?offset=99999999999999999999999", "/capsules?tag=", "/capsules?sort=x", "/capsules?age=x&agent=%00",
    "/capsules?sort=size&age=old&agent=nobody", "/tasks?tag=%00", "/capsules/nowhere/history",
    "/capsules?workspace=%ED%A0%80", "/artifacts?kind=%20", "/artifacts?offset=999999", "/artifacts/nowhere",
    "/artifacts/nowhere?version=99", "/tasks?workspace=nowhere", "/tasks?status=GONE", f"/tasks/TASK-999?{SHOP}",
    f"/tasks/%22%3E?{SHOP}", "/reasoning?workspace=nowhere", f"/reasoning?{SHOP}&branch=nowhere",
    f"/reasoning?{SHOP}&branch=main&compare=nowhere", f"/reasoning?{SHOP}&doc=nowhere",
    f"/reasoning/log?{SHOP}&cursor=x", f"/reasoning/log?{SHOP}&doc=nowhere",
    f"/reasoning/conflicts/CONFLICT-0?{SHOP}", f"/reasoning/node?{SHOP}", f"/reasoning/node?{SHOP}&branch=nowhere&id=x",
    f"/reasoning/node?{SHOP}&id=%00", "/workspaces?name=%00", "/workspaces?offset=99999",
    "/agent?client=%00&mark=none&offset=99999", "/map?workspace=%00", "/map/data?x=1",
    "/records?as_of=yesterday", "/records?entity_type=nothing",
    "/records/entities/ent_0", "/records/nothing", "/records/timeline?after_date=x", "/search", "/search?q=%22",
    "/search?q=%00", "/search?q=refund&mode=keyword&type=nothing", f"/search?q={'x' * 3000}&mode=keyword",
    "/?workspace=%0a", "/?from=x&to=y", "/?from=9999-12-31&to=0001-01-01", "/?since=never", "/?offset=999999",
    "/?from=2026-02-30", "/overview?workspace=%00",
    "/nowhere", "/static/nothing.js", "/static/", "/static/../site.py", "/static/%2e%2e/site.py",
    "/static/%00",
)  # fmt: skip
FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/capsules/{id}/edit", {}), ("/capsules/{id}/edit", {"capsule_text": "thin"}), ("/capsules/nowhere/delete", {}),
    ("/capsules/{id}/rename", {"name": "x" * 300}), ("/capsules/{id}/revert", {"version": "99"}),
    ("/capsules/{id}/edit", {"capsule_text": FULL}), ("/capsules/{id}/edit", {"capsule_text": FULL, "version": "²"}),
    ("/capsules/{id}/edit", {"capsule_text": FULL, "version": "9" * 5_000}), ("/capsules/{id}/revert", {}),
    ("/capsules/{id}/revert", {"version": "one"}),
    ("/capsules/{id}/edit", {"capsule_text": "\0", "version": "1"}), ("/artifacts/nowhere/restore", {}),
    ("/reasoning/merge", {}), ("/reasoning/merge", {"workspace": "atlas-checkout", "from": "main", "into": "main"}),
    ("/reasoning/conflicts/CONFLICT-0/settle", {"workspace": "atlas-checkout", "resolution": "both"}),
)  # fmt: skip


def status_of(address: str, form: dict[str, str] | None = None) -> int:
    """Return the status of the answer to a request."""
    data = None if form is None else urlencode(form).encode()
    try:
        with urllib.request.urlopen(address, data) as answer:  # noqa: S310 - of this test
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


@pytest.mark.parametrize("path", ODD)
def test_a_malformed_request_is_answered_by_a_page(server: PagesServer, path: str) -> None:
    assert status_of(server.address + path) in (200, 400, 404)


@pytest.mark.parametrize("path", [path for path in ODD if path.startswith("/static/")])
def test_only_the_files_of_the_pages_are_served(server: PagesServer, path: str) -> None:
    assert status_of(server.address + path) == 404


@pytest.mark.parametrize(("path", "form"), FORMS)
def test_a_malformed_form_is_refused_and_changes_nothing(
    server: PagesServer, store: Store, path: str, form: dict[str, str]
) -> None:
    capsule = store.call("capsule_fetch", {"workspace": "atlas-checkout", "name": "refunds"})
    before = store.call("moss_changes", {})["seq"]
    assert status_of(server.address + path.replace("{id}", capsule["id"]), form) in (400, 404, 409, 413, 422)
    assert store.call("moss_changes", {})["seq"] == before


@pytest.mark.parametrize("highest", [0, 1, 7, 999, 1_000, 1_750, 12_345, 999_999, 25_000_000])
def test_the_figures_beside_the_plot_have_room(highest: int) -> None:
    today = {"day": "2026-01-31", "capsule": highest}
    lines = build_chart([today], ["capsule"], 9, today=date(2026, 1, 31))["lines"]
    assert 2 <= len(lines) <= 6
    assert len({line["text"] for line in lines}) == len(lines)
    assert max(len(line["text"]) for line in lines) <= 4


@pytest.mark.parametrize(
    ("title", "question", "shown"),
    [
        ("Refunds & more", "refund", "<mark>Refunds</mark> &amp; more"),
        ("<b>refund</b>", 'REFUND OR "b"', "&lt;b&gt;<mark>refund</mark>&lt;/b&gt;"),
        ("a title", "of it", "a title"),
        ("x" * 300, "y", "x" * 159 + "…"),
    ],
)
def test_a_title_is_highlighted_at_the_words_of_the_query(title: str, question: str, shown: str) -> None:
    assert str(mark_title(title, question)) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("there is no such page", "There is no such page."),
        ("title, line 1, looks odd", "Title, line 1, looks odd."),
        ("capsule_text, line 1, looks odd", "capsule_text, line 1, looks odd."),
        ("postgresql://host/team cannot be reached", "postgresql://host/team cannot be reached."),
        ("", "."),
    ],
)
def test_a_message_is_a_sentence_and_names_stay_as_they_are(message: str, shown: str) -> None:
    assert str(sentence(message)) == shown
