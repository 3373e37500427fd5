"""Prompts, resources and completions: content, refusals and notifications of changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods

from contract.doors import FULL, open_test_store
from contract.records.archive import sent
from moss_memory.config import load_config
from moss_memory.mcp.handlers import handle
from moss_memory.mcp.protocol import Protocol, StoreRequest
from moss_memory.mcp.resources import KINDS, PAGE
from moss_memory.mcp.subscriptions import MAX_URIS, ChangeDetector, Subscription
from moss_memory.mcp.tool_list import ToolList
from moss_memory.store import Store
from support.mcp_pipe import SERVE, UNHURRIED, PipeClient, call, request

STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
Ask = Callable[..., Any]


def asking(store: Store, **offered: Any) -> Ask:
    """Return a function that sends a request and returns the result or the error."""
    offer = ToolList(**offered)

    def ask(method: str, /, *, stateless: bool = False, **params: Any) -> Any:
        sent = {**params, "_meta": STATELESS} if stateless else params
        outcome = Protocol(lambda: offer).answer(request(method, sent))
        assert isinstance(outcome, StoreRequest), outcome
        answer = json.loads(handle(outcome, lambda: store))
        if "result" in answer:
            version = "2026-07-28" if stateless else "2025-11-25"
            methods.validate_server_result(method, version, answer["result"])
        return answer.get("result") or answer["error"]

    return ask


@pytest.fixture
def ask(store: Store) -> Ask:
    return asking(store)


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a store with one entry of every kind that has an address."""
    store.call("capsule_store", {"workspace": "shop", "name": "auth", "capsule_text": FULL, "tags": ["auth", "api"]})
    store.call("capsule_store", {"workspace": "blog", "name": "a b/c", "capsule_text": FULL, "tags": ["api"]})
    store.call("capsule_store", {"workspace": "shop", "capsule_text": FULL})
    artifact = {"workspace": "shop", "name": "plan", "kind": "freeform", "data": {"a": 1}}
    store.call("artifact_store", artifact)
    store.call("tasks_create", {"workspace": "shop", "kind": "task", "title": "Sign in"})
    return store


def test_every_resource_is_listed_and_read(filled: Store) -> None:
    ask = asking(filled)
    listed = ask("resources/list")["resources"]
    assert [row["uri"] for row in listed] == [
        "moss://capsule/blog/a%20b%2Fc",
        "moss://capsule/shop/auth",
        "moss://artifact/shop/plan",
    ]
    for row in listed:
        (content,) = ask("resources/read", uri=row["uri"])["contents"]
        assert (content["uri"], content["mimeType"]) == (row["uri"], row["mimeType"])
    assert ask("resources/read", uri="moss://capsule/blog/a%20b%2Fc")["contents"][0]["text"] == FULL
    artifact = json.loads(ask("resources/read", uri="moss://artifact/shop/plan")["contents"][0]["text"])
    assert artifact["data"] == {"a": 1}


def test_tasks_branches_and_records_have_addresses_too(filled: Store) -> None:
    ask = asking(filled, workspace="shop")
    addresses = [row["uri"] for row in ask("resources/list")["resources"]]
    assert "moss://capsule/shop/auth" in addresses
    assert "moss://capsule/blog/a%20b%2Fc" not in addresses
    assert "moss://task/shop/TASK-001" in addresses
    graphs = [one for one in addresses if one.startswith("moss://graph/shop/")]
    assert graphs
    assert (
        json.loads(ask("resources/read", uri="moss://task/shop/TASK-001")["contents"][0]["text"])["title"] == "Sign in"
    )
    for uri in graphs:
        assert "nodes" in json.loads(ask("resources/read", uri=uri)["contents"][0]["text"])


def test_a_record_is_read_by_its_id(store: Store) -> None:
    store.call("submit_payload", sent("agent_decision", {}))
    (stored,) = store.call("retrieve_records", {})["records"]
    ask = asking(store)
    text = ask("resources/read", uri=f"moss://record/default/{stored['id']}")["contents"][0]["text"]
    assert json.loads(text) == stored
    assert ask("resources/read", uri="moss://record/default/nothing")["code"] == -32002


def test_every_kind_has_a_template(ask: Ask) -> None:
    shown = ask("resources/templates/list")["resourceTemplates"]
    assert [one["uriTemplate"] for one in shown] == [
        "moss://capsule/{workspace}/{name}",
        "moss://artifact/{workspace}/{name}",
        "moss://task/{workspace}/{target}",
        "moss://record/{workspace}/{id}",
        "moss://graph/{workspace}/{branch}",
    ]
    assert {one["name"] for one in shown} == set(KINDS)


def test_a_long_list_comes_in_pages(store: Store) -> None:
    for number in range(PAGE + 30):
        store.call("capsule_store", {"name": f"c{number}" if number % 10 else None, "capsule_text": FULL})
    store.call("artifact_store", {"name": "last", "kind": "freeform", "data": {}})
    ask = asking(store)
    first = ask("resources/list")
    second = ask("resources/list", cursor=first["nextCursor"])
    assert "nextCursor" not in second
    addresses = [row["uri"] for row in [*first["resources"], *second["resources"]]]
    assert len(addresses) == len(set(addresses)) == (PAGE + 30) * 9 // 10 + 1
    assert addresses[-1] == "moss://artifact/default/last"


@pytest.mark.parametrize("cursor", ["", "x", "capsule", "capsule.", "capsule.x", "nothing.3", "capsule.-1", 5, []])
def test_an_unknown_resource_cursor_is_refused(ask: Ask, cursor: Any) -> None:
    assert ask("resources/list", cursor=cursor)["code"] == -32602


@pytest.mark.parametrize(
    "uri",
    [None, 5, "", "x", "file:///etc/passwd", "moss://", "moss://capsule/shop", "moss://capsule//auth", "moss://nothing/a/b",
     "moss://capsule/a/b/c", "MOSS://capsule/a/b"],
)  # fmt: skip
def test_an_invalid_address_is_refused(ask: Ask, uri: Any) -> None:
    assert ask("resources/read", uri=uri)["code"] == -32602


@pytest.mark.parametrize("uri", ["moss://capsule/shop/nothing", "moss://artifact/shop/x", "moss://record/shop/x"])
def test_a_missing_resource_has_the_error_code_of_its_era(ask: Ask, uri: str) -> None:
    missing = ask("resources/read", uri=uri)
    assert missing["code"] == -32002
    assert missing["data"]["error"]["code"] == "NOT_FOUND"
    assert ask("resources/read", uri=uri, stateless=True)["code"] == -32602


def test_invalid_names_are_refused(ask: Ask) -> None:
    assert ask("resources/read", uri="moss://capsule/%00/auth")["code"] == -32602
    assert ask("resources/read", uri="moss://capsule/shop/%ff%fe")["code"] in (-32002, -32602)
    assert ask("resources/read", uri="moss://capsule/shop/" + "x" * 300)["code"] == -32602


def test_a_disabled_family_has_no_resources_and_no_prompts(filled: Store) -> None:
    ask = asking(filled, disabled_types=["capsule"], workspace="shop")
    assert not [row for row in ask("resources/list")["resources"] if row["uri"].startswith("moss://capsule/")]
    assert ask("resources/read", uri="moss://capsule/shop/auth")["code"] == -32002
    assert [one["name"] for one in ask("prompts/list")["prompts"]] == ["handoff", "review"]
    assert ask("prompts/get", name="load")["code"] == -32602


@pytest.mark.parametrize("stateless", [False, True])
def test_every_list_has_the_format_of_its_era(filled: Store, stateless: bool) -> None:
    ask = asking(filled, workspace="shop")
    for method in ("prompts/list", "resources/list", "resources/templates/list"):
        assert ("ttlMs" in ask(method, stateless=stateless)) == stateless
    read = ask("resources/read", uri="moss://capsule/shop/auth", stateless=stateless)
    assert ("resultType" in read) == stateless
    for name in ("save", "load", "handoff", "review"):
        ask("prompts/get", name=name, stateless=stateless)


# Prompts


def test_four_prompts_are_listed(ask: Ask) -> None:
    shown = ask("prompts/list")["prompts"]
    assert [one["name"] for one in shown] == ["save", "load", "handoff", "review"]
    assert all(one["description"] and one["arguments"] for one in shown)


def text_of(prompt: Any) -> str:
    text: str = prompt["messages"][0]["content"]["text"]
    return text


def test_save_is_the_documented_text_with_the_limit_of_the_store(home: str) -> None:
    with open_test_store(home, capsule_max_chars=4321) as store:
        ask = asking(store)
        assert text_of(ask("prompts/get", name="save")).startswith(
            "Distill into a capsule under 4321 chars. State not story. Must include Objective, Current status, "
            "Decisions/Constraints, Next actions, Key locations, Open questions/Risks. Max 1\u20133 tiny snippets "
            "only if critical. If too long, compress\u2014do not omit decisions or next actions."
        )
        filled = text_of(ask("prompts/get", name="save", arguments={"name": "auth", "tags": "api, auth"}))
        assert "name 'auth'" in filled
        assert '["api","auth"]' in filled
        assert 'mode "replace"' in filled


def test_load_includes_the_capsule(filled: Store) -> None:
    ask = asking(filled)
    named = ask("prompts/get", name="load", arguments={"name": "AUTH", "workspace": "shop"})
    resource = named["messages"][1]["content"]["resource"]
    assert resource["uri"] == "moss://capsule/shop/auth"
    begin, head, blank, *text, end = resource["text"].split("\n")
    assert ("\n".join(text) + "\n", blank) == (FULL, "")
    assert head.startswith('capsule "auth", workspace "shop", version 1')
    assert (begin.split()[0], end.split()[0]) == ("BEGIN", "END")
    latest = asking(filled, workspace="blog")("prompts/get", name="load")
    assert latest["messages"][1]["content"]["resource"]["uri"] == "moss://capsule/blog/a%20b%2Fc"
    assert ask("prompts/get", name="load", arguments={"name": "nothing"})["code"] == -32602
    assert "no capsule" in text_of(asking(filled, workspace="empty")("prompts/get", name="load"))


def test_handoff_and_review_name_the_task(ask: Ask) -> None:
    for name in ("handoff", "review"):
        made = ask("prompts/get", name=name, arguments={"workspace": "shop", "target": "TASK-001"})
        assert "TASK-001" in text_of(made)
        assert "'shop'" in text_of(made)


@pytest.mark.parametrize(
    "params",
    [{}, {"name": 5}, {"name": "nothing"}, {"name": "save", "arguments": []},
     {"name": "save", "arguments": {"name": 5}}, {"name": "save", "arguments": {"colour": "red"}}],
)  # fmt: skip
def test_a_prompt_that_cannot_be_made_is_refused(ask: Ask, params: dict[str, Any]) -> None:
    assert ask("prompts/get", **params)["code"] == -32602


# Completions


def completed(ask: Ask, ref: Any, name: str, typed: str = "", **context: str) -> list[str]:
    more = {"context": {"arguments": context}} if context else {}
    found = ask("completion/complete", ref=ref, argument={"name": name, "value": typed}, **more)
    values: list[str] = found["completion"]["values"]
    return values


def test_names_workspaces_branches_and_tags_are_completed(filled: Store) -> None:
    ask = asking(filled)
    capsule = {"type": "ref/resource", "uri": "moss://capsule/{workspace}/{name}"}
    assert set(completed(ask, capsule, "workspace")) == {"shop", "blog"}
    assert completed(ask, capsule, "workspace", "SH") == ["shop"]
    assert completed(ask, capsule, "name", "", workspace="shop") == ["auth"]
    assert completed(ask, capsule, "name", "a b", workspace="blog") == ["a b/c"]
    artifact = {"type": "ref/resource", "uri": "moss://artifact/{workspace}/{name}"}
    assert completed(ask, artifact, "name", "p", workspace="shop") == ["plan"]
    task = {"type": "ref/resource", "uri": "moss://task/{workspace}/{target}"}
    assert completed(ask, task, "target", "TASK", workspace="shop") == ["TASK-001"]
    graph = {"type": "ref/resource", "uri": "moss://graph/{workspace}/{branch}"}
    assert completed(ask, graph, "branch", "", workspace="shop")
    save = {"type": "ref/prompt", "name": "save"}
    assert completed(ask, save, "tags") == ["api", "auth"]
    assert completed(ask, save, "tags", "auth, a") == ["auth, api", "auth, auth"]
    assert completed(ask, {"type": "ref/prompt", "name": "load"}, "name", "au") == ["auth"]


def test_an_empty_store_has_no_completions(ask: Ask) -> None:
    graph = {"type": "ref/resource", "uri": "moss://graph/{workspace}/{branch}"}
    assert completed(ask, graph, "branch") == []
    assert completed(ask, graph, "branch", "", workspace="nowhere") == []
    assert completed(ask, graph, "workspace") == []


def test_at_most_a_hundred_values_are_shown(store: Store) -> None:
    tags = [[f"t{number}-{part}" for part in range(50)] for number in range(4)]
    for number, some in enumerate(tags):
        store.call("capsule_store", {"name": f"c{number}", "capsule_text": FULL, "tags": some})
    found = asking(store)(
        "completion/complete", ref={"type": "ref/prompt", "name": "save"}, argument={"name": "tags", "value": ""}
    )["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 200, True)


@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        (None, {"name": "name", "value": ""}),
        ({"type": "ref/prompt"}, {"name": "name", "value": ""}),
        ({"type": "ref/prompt", "name": "nothing"}, {"name": "name", "value": ""}),
        ({"type": "ref/resource", "uri": "moss://capsule/shop/auth"}, {"name": "name", "value": ""}),
        ({"type": "ref/prompt", "name": "save"}, None),
        ({"type": "ref/prompt", "name": "save"}, {"name": "colour", "value": ""}),
        ({"type": "ref/prompt", "name": "save"}, {"name": "name", "value": 5}),
    ],
)
def test_an_invalid_completion_is_refused(ask: Ask, ref: Any, argument: Any) -> None:
    assert ask("completion/complete", ref=ref, argument=argument)["code"] == -32602


# Changes


def methods_of(news: list[bytes]) -> list[tuple[str, Any]]:
    return [(json.loads(one)["method"], json.loads(one)["params"].get("uri")) for one in news]


def test_a_subscription_reports_only_its_own_resources(filled: Store) -> None:
    watch = Subscription(ToolList())
    watch.add(filled, "moss://capsule/shop/auth")
    watch.add(filled, "moss://capsule/shop/new")
    watch.add_list(filled)
    counter = ChangeDetector(lambda: filled)
    assert not counter.changed()
    assert watch.pending(filled) == []
    filled.call("capsule_append", {"workspace": "shop", "name": "auth", "section": "Decisions", "content": "- more"})
    assert counter.changed()
    assert methods_of(watch.pending(filled)) == [("notifications/resources/updated", "moss://capsule/shop/auth")]
    assert watch.pending(filled) == []
    filled.call("capsule_store", {"workspace": "shop", "name": "new", "capsule_text": FULL})
    assert methods_of(watch.pending(filled)) == [
        ("notifications/resources/updated", "moss://capsule/shop/new"),
        ("notifications/resources/list_changed", None),
    ]
    filled.call("capsule_delete", {"workspace": "shop", "name": "auth"})
    watch.remove("moss://capsule/shop/auth")
    assert methods_of(watch.pending(filled)) == [("notifications/resources/list_changed", None)]


def test_subscriptions_of_one_client_are_limited(store: Store) -> None:
    watch = Subscription(ToolList())
    for number in range(MAX_URIS):
        watch.add(store, f"moss://capsule/shop/{number}")
    with pytest.raises(Exception, match="at most 200"):
        watch.add(store, "moss://capsule/shop/more")
    watch.add(store, "moss://capsule/shop/1")


@pytest.fixture
def client(tmp_path: Path) -> Any:
    quick = "from moss_memory.mcp import subscriptions\nsubscriptions.POLL_INTERVAL_S = 0.05\n"
    with PipeClient(str(tmp_path), code=UNHURRIED + quick + SERVE) as made:
        yield made


def test_a_client_on_stdio_is_notified_of_changes_by_another_process(client: PipeClient, tmp_path: Path) -> None:
    assert client.ask("resources/subscribe", {"uri": "moss://capsule/default/auth"})["result"] == {}
    assert client.ask("resources/list")["result"]["resources"] == []
    with Store(load_config(str(tmp_path), cwd="/")) as other:
        other.call("capsule_store", {"name": "auth", "capsule_text": FULL})
        heard = [client.receive(), client.receive()]
        assert [one["method"] for one in heard] == [
            "notifications/resources/updated",
            "notifications/resources/list_changed",
        ]
        assert client.ask("resources/unsubscribe", {"uri": "moss://capsule/default/auth"})["result"] == {}
        other.call("capsule_append", {"name": "auth", "section": "Decisions", "content": "- more"})
        other.call("capsule_store", {"name": "second", "capsule_text": FULL})
        assert client.receive()["method"] == "notifications/resources/list_changed"


def test_a_stateless_client_on_stdio_listens_until_it_cancels(client: PipeClient, tmp_path: Path) -> None:
    wanted = {"resourceSubscriptions": ["moss://capsule/default/auth"], "toolsListChanged": True}
    client.send(request("subscriptions/listen", {"notifications": wanted, "_meta": STATELESS}, id="l"))
    acknowledged = client.receive()
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {"resourceSubscriptions": ["moss://capsule/default/auth"]}
    tagged = {"io.modelcontextprotocol/subscriptionId": "l"}
    assert acknowledged["params"]["_meta"] == tagged
    client.send(call("capsule_store", {"name": "auth", "capsule_text": FULL}, id=2))
    assert client.receive()["id"] == 2
    assert client.receive()["params"] == {"uri": "moss://capsule/default/auth", "_meta": tagged}
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "l"}})
    client.send(call("capsule_delete", {"name": "auth"}, id=3))
    assert client.receive()["id"] == 3
    assert client.hang_up() == []


@pytest.mark.parametrize(
    "params", [{}, {"notifications": 5}, {"notifications": {"resourceSubscriptions": "x"}},
               {"notifications": {"resourceSubscriptions": ["x"]}}],
)  # fmt: skip
def test_an_invalid_request_to_listen_is_refused(client: PipeClient, params: dict[str, Any]) -> None:
    assert client.ask("subscriptions/listen", {**params, "_meta": STATELESS})["error"]["code"] == -32602


@pytest.mark.parametrize("params", [{}, {"uri": 5}, {"uri": "x"}, {"uri": "moss://nothing/a/b"}])
def test_subscribing_to_an_invalid_address_is_refused(client: PipeClient, params: dict[str, Any]) -> None:
    assert client.ask("resources/subscribe", params)["error"]["code"] == -32602
