"""Rows of the map: one dot for each capsule, card, task and record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract.doors import FULL
from contract.records.archive import SAMPLES
from moss_memory.tools.everything.map_rows import map_rows, vectors_of_dots
from support.promises import holds

if TYPE_CHECKING:
    from moss_memory.store import Store


def furnish(store: Store) -> None:
    place = {"workspace": "Shop"}
    store.call("capsule_store", {**place, "name": "auth", "title": "Sign  in", "capsule_text": FULL, "tags": ["login"]})
    gone = store.call("capsule_store", {**place, "name": "gone", "capsule_text": FULL})["id"]
    store.call("capsule_delete", {"id": gone})
    card = {"id": "Q1", "type": "question", "title": "Why twice?", "tags": ["money"]}
    store.call("branchmind_think_card", {**place, "card": card})
    store.call("branchmind_branch_create", {**place, "name": "try"})
    changed = {"op": "node_upsert", "id": "Q1", "type": "question", "title": "Why three times?", "tags": ["money"]}
    store.call("branchmind_graph_apply", {**place, "branch": "try", "ops": [changed]})
    store.call("tasks_create", {**place, "kind": "task", "title": "Look", "steps": [{"title": "Read the log"}]})
    for _ in range(2):
        payload = {"capability_id": "neotoma:store_agent_decision:v1", "body": SAMPLES["agent_decision"], **place}
        store.call("submit_payload", payload)


def dots(store: Store, most: int = 100) -> list[dict[str, Any]]:
    return store.read(map_rows, what="test", most=most)


@holds("map: every capsule, card, task and record is a dot of the map")
def test_every_capsule_card_task_and_record_is_one_dot(store: Store) -> None:
    furnish(store)
    found = {dot["family"]: dot for dot in dots(store)}
    assert len(dots(store)) == len(found) == 4
    assert {dot["workspace"] for dot in found.values()} == {"Shop"}
    titles = {family: dot["title"] for family, dot in found.items() if family != "record"}
    assert titles == {"capsule": "Sign in", "reasoning": "Why three times?", "task": "Look"}
    assert found["reasoning"]["branch"] == "try"
    assert (found["capsule"]["tag"], found["reasoning"]["tag"]) == ("login", "money")
    assert all(dot["created_at"] <= dot["updated_at"] for dot in found.values())


@holds("map: every capsule, card, task and record is a dot of the map")
def test_the_number_of_dots_is_limited_last_changed_first(store: Store) -> None:
    for number in range(5):
        store.call("capsule_store", {"name": f"n{number}", "capsule_text": FULL})
    assert [dot["title"] for dot in dots(store, 2)] == ["n4", "n3"]


@holds("map: every capsule, card, task and record is a dot of the map")
def test_dots_have_no_vectors_without_a_model(store: Store) -> None:
    furnish(store)
    docs = [dot["doc"] for dot in dots(store)]
    assert None not in docs
    assert store.read(vectors_of_dots, what="test", docs=docs) == {}
