"""Records are one entity exactly if their normalized identities are equal."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contract.doors import open_test_store, outcome
from contract.records.archive import FIELDS, IDENTITY, SAMPLES, TYPES, capability_of
from moss_memory.errors import MossError
from moss_memory.store import Store
from property.record_model import identity_of, instant, norm

MEASURED = {
    "capability_id": "lab:measured:v1",
    "entity_type": "measured",
    "fields": {
        "word": {"type": "string"},
        "text": {"type": "text"},
        "level": {"type": "number"},
        "valid": {"type": "boolean"},
        "at": {"type": "time"},
    },
    "identity": ["word", "text", "level", "valid", "at"],
    "title": "word",
}
"""A custom capability whose identity has an optional part of every type."""
SEPARATORS = ["|", ",", ":", "/", "\x1f", "\n", '"', "\\", '","', "']['", "null", "[]", "\u2028", "#", "\ue000"]
TRICKY = [
    "", " ", "a", "A", "a ", " a", "a b", "a  b", "a\tb", "a\nb", "a\u00a0b", "a\u2003b", "ab", "a\u200bb", "a-b",
    "\u00e9", "e\u0301", "\u00c9", "E\u0301", "e", "\u212b", "\u00c5", "A\u030a", "\u01f0", "J\u030c", "j\u030c",
    "\u0130", "i\u0307", "I", "i", "\u0131", "\u00df", "ss", "SS", "\u1e9e", "\u03a3", "\u03c3", "\u03c2", "A\u03a3",
    "a\u03c2", "a\u03c3", "\uff21", "\ufb01", "fi", "\u2126", "\u03c9", "\u0374", "\u02b9", "1", "1.0", "true", "null",
    "None", "t", "s", *SEPARATORS, *(f"a{separator}b" for separator in SEPARATORS),
]  # fmt: skip
"""Texts with equal or different normal forms that are easily confused."""
TEXTS = st.sampled_from(TRICKY) | st.text(max_size=6).filter(lambda text: "\0" not in text)
MOMENTS = st.sampled_from(
    [
        "2025-12-01", "2025-12-01T00:00:00Z", "2025-12-01T00:00", "2025-12-01T01:00:00+01:00",
        "2025-11-30T23:00:00-01:00", "2025-12-01T00:00:00.000Z", "2025-12-01T00:00:00.000001Z",
        "2025-12-01T00:00:00.1Z", "2025-12-01T00:00:00.100000Z", "2025-12-01T00:00:01Z", "2025-12-02",
        "1969-12-31T23:59:59.999999Z", "1970-01-01", "0001-01-01", "9999-12-31",
    ]
)  # fmt: skip
NUMBERS = st.sampled_from([0, -0.0, 1, 1.0, -1, 1.5, 10, 1e1, 100.0, 1e2, 2**53, float(2**53), 2**53 + 1, 1e300, 0.1])


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return one store for all examples, which do not affect each other."""
    with tempfile.TemporaryDirectory(prefix="moss-identity-") as home, open_test_store(home) as opened:
        os.makedirs(os.path.join(home, "capabilities"))
        with open(os.path.join(home, "capabilities", "measured.json"), "w", encoding="utf-8") as file:
            json.dump(MEASURED, file)
        yield opened


def entity_of(store: Store, capability_id: str, body: dict[str, Any]) -> str:
    found: str = store.call("submit_payload", {"capability_id": capability_id, "body": body})["entity_id"]
    return found


def check_partition(named: list[tuple[str, str]]) -> None:
    """Assert that identities and entities, submitted in pairs, are one to one."""
    entity_by_identity: dict[str, str] = {}
    identity_by_entity: dict[str, str] = {}
    for identity, entity in named:
        assert entity_by_identity.setdefault(identity, entity) == entity, f"{identity} was split"
        assert identity_by_entity.setdefault(entity, identity) == identity, (
            f"{identity} and {identity_by_entity[entity]} were taken for one"
        )


@st.composite
def identities(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    """Return the sample of a type with another identity; an optional part may be null or missing."""
    body = dict(SAMPLES[kind])
    for name in IDENTITY[kind]:
        form = FIELDS[kind][name]
        if not form.endswith("!") and draw(st.booleans()):
            body[name] = None
            if draw(st.booleans()):
                del body[name]
        elif form.startswith("time"):
            body[name] = draw(MOMENTS)
        elif (kind, name) == ("codebase_entity", "type"):
            body[name] = draw(st.sampled_from(["subsystem", "component", "pattern"]))
        else:
            body[name] = draw(TEXTS)
    return body


@pytest.mark.parametrize("kind", TYPES)
@given(data=st.data())
def test_entities_are_one_to_one_with_their_normalized_identities(kind: str, data: st.DataObject, store: Store) -> None:
    bodies = data.draw(st.lists(identities(kind), min_size=2, max_size=8))
    check_partition([(identity_of(kind, body), entity_of(store, capability_of(kind), body)) for body in bodies])


def test_similar_texts_are_one_entity_exactly_if_their_normal_forms_are_equal(store: Store) -> None:
    for kind in ("feature_unit", "codebase_entity"):
        part = IDENTITY[kind][0]
        bodies = [{**SAMPLES[kind], part: text} for text in TRICKY]
        check_partition([(identity_of(kind, body), entity_of(store, capability_of(kind), body)) for body in bodies])


@given(texts=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), separator=st.sampled_from(SEPARATORS))
@example(texts=[("a", "b", "c")], separator="|")
@example(texts=[("a", "b", "c")], separator='","')
def test_a_separator_never_moves_from_one_part_to_another(
    texts: list[tuple[str, str, str]], separator: str, store: Store
) -> None:
    cut = [
        parts
        for one, two, three in texts
        for parts in ((f"{one}{separator}{two}", three), (one, f"{two}{separator}{three}"), (one, two), (two, one))
    ]
    named = []
    for one, other in cut:
        body = {**SAMPLES["validation_result"], "validation_type": one, "related_entity_id": other}
        identity = json.dumps([norm(one), norm(other)])
        named.append((identity, entity_of(store, capability_of("validation_result"), body)))
    check_partition(named)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_equal_identities_of_different_types_are_different_entities(texts: list[str], store: Store) -> None:
    for text in texts:
        entities = {
            entity_of(store, capability_of(kind), {**SAMPLES[kind], IDENTITY[kind][0]: text})
            for kind in ("feature_unit", "release", "agent_session")
        }
        assert len(entities) == 3


def test_the_same_body_of_two_kinds_of_decisions_is_two_entities(store: Store) -> None:
    body = {name: SAMPLES["agent_decision"][name] for name in ("decision", "rationale", "timestamp")}
    kinds = ("agent_decision", "architectural_decision")
    assert len({entity_of(store, capability_of(kind), body) for kind in kinds}) == 2


PARTS = st.fixed_dictionaries(
    {}, optional={"word": TEXTS, "text": TEXTS, "level": NUMBERS, "valid": st.booleans(), "at": MOMENTS}
)


def measured_identity(body: dict[str, Any]) -> str:
    """Return the identity of a body of the custom capability: numbers by value, separate from booleans and texts."""
    parts: list[Any] = []
    for name in MEASURED["identity"]:
        value = body.get(name)
        if name == "at" and value is not None:
            value = instant(value)
        elif name == "level" and value is not None:
            value = str(int(value)) if value == int(value) else repr(value)
        parts.append(norm(value) if name in ("word", "text") and value is not None else value)
    return json.dumps(parts)


@given(bodies=st.lists(PARTS, min_size=2, max_size=10))
@example(bodies=[{}, {"word": ""}, {"text": ""}, {"level": 0}, {"valid": False}, {"word": "null"}])
@example(bodies=[{"word": "1"}, {"text": "1"}, {"level": 1}, {"valid": True}, {"word": "true"}])
@example(bodies=[{"word": "a", "text": "b"}, {"word": "a b"}, {"text": "a b"}, {"word": "b", "text": "a"}])
@example(bodies=[{"word": "1970-01-01"}, {"at": "1970-01-01"}, {"level": 0}, {"at": "1970-01-01T01:00:00+01:00"}])
def test_parts_of_every_type_and_missing_ones_are_distinguished(bodies: list[dict[str, Any]], store: Store) -> None:
    plain = [body for body in bodies if has_one_spelling(body.get("level"))]
    check_partition([(measured_identity(body), entity_of(store, "lab:measured:v1", body)) for body in plain])


def has_one_spelling(level: Any) -> bool:
    """Return whether a number has only one spelling."""
    return level is None or isinstance(level, int) or level != int(level)


@given(levels=st.lists(NUMBERS, min_size=2, max_size=6))
@example(levels=[1, 1.0])
def test_a_number_is_the_same_in_every_spelling(levels: list[int | float], store: Store) -> None:
    bodies = [{"level": level} for level in levels]
    check_partition([(measured_identity(body), entity_of(store, "lab:measured:v1", body)) for body in bodies])


def test_times_less_than_a_microsecond_apart_are_different(store: Store) -> None:
    answers = []
    for fraction in ("1234561", "1234562", "123456"):
        body = {**SAMPLES["agent_decision"], "timestamp": f"2025-12-01T10:00:00.{fraction}Z"}
        sent = {"capability_id": capability_of("agent_decision"), "body": body}
        answers.append(outcome(store, "submit_payload", sent))
    refused = [answer.code for answer in answers if isinstance(answer, MossError)]
    assert set(refused) <= {"VALIDATION_ERROR"}
    entities = [answer["entity_id"] for answer in answers if not isinstance(answer, MossError)]
    assert len(set(entities)) == len(entities), "moments that differ became one"


@given(raw=st.lists(TEXTS.filter(lambda text: bool(norm(text)) and text.isprintable()), min_size=2, max_size=6))
def test_workspaces_with_different_normal_forms_are_separate(raw: list[str], store: Store) -> None:
    named = []
    for workspace in raw:
        sent = {"capability_id": capability_of("release"), "body": SAMPLES["release"], "workspace": workspace}
        named.append((norm(workspace), store.call("submit_payload", sent)["payload_id"]))
    check_partition(named)
