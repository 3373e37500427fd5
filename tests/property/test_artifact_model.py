"""Any sequence of artifact calls has the same effect on the store and on a plain-Python model."""

from __future__ import annotations

import shutil
import tempfile
from itertools import groupby
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from artifact.samples import check_artifacts
from contract.doors import START_MS, Clock, open_test_store, outcome
from moss_memory.errors import MossError
from moss_memory.rows.names import normalize_workspace
from property.artifact_model import ArtifactModel, listed_versions, shown
from property.refused import RefusedError
from property.version_list import DAYS, KEEP, at_time, in_version, versions_of
from support.direct_store import exists, rows
from support.thorough import machine_settings

NAMES = st.sampled_from(["Auth", "auth ", "AUTH", "caf\u00e9", "CAFE\u0301", "My  Name", " my name", "\u0130x"])
WORKSPACES = st.sampled_from(["default", "Shop", " shop", "\u00c9t\u00e9"])
WORDS = st.sampled_from(["alpha", "beta", "gamma"])
LABEL = st.sampled_from(["r1", " r1 ", "r2", ""])
TTL = st.sampled_from([None, 1, 1, 10, 10, 300, 400, 90_000])
CONTENT = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["k1", "k2"]),
        "data": st.dictionaries(st.sampled_from(["b", "a", "\u00e9"]), st.integers() | WORDS, max_size=2).filter(
            lambda data: all(isinstance(value, str) or abs(value) <= 2**53 for value in data.values())
        ),
    },
    optional={
        "text": WORDS,
        "ttl_seconds": TTL,
        "tags": st.lists(st.sampled_from(["t", " t", "T"]), max_size=2),
        "run_id": LABEL,
        "phase": LABEL,
        "role": LABEL,
    },
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "workspace": WORKSPACES,
        "kind": st.sampled_from(["k1", " k2"]),
        "tag": st.sampled_from(["t", "T "]),
        "run_id": st.sampled_from(["r1", " r2"]),
        "phase": st.sampled_from(["r1", "r2"]),
        "role": st.sampled_from(["r1"]),
    },
)
SOME_FILTERS = FILTERS.filter(bool)
STEPS_MS = [
    1, 999, 1000, 1000, 10_000, 10_000, 60_000, 299_000, 301_000, 301_000, 86_400_000,
    -1500, -60_000, -301_000, -86_400_000,
]  # fmt: skip


def check_place(answer: dict[str, Any], row: dict[str, Any]) -> None:
    """Assert that an answer names the workspace of the changed row, and remove it."""
    assert normalize_workspace(answer.pop("workspace")) == normalize_workspace(row["workspace"])


class ArtifactMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-artifact-model-")
        self.clock = Clock()
        self.store = open_test_store(self.folder, self.clock, history_keep=KEEP, history_days=DAYS)
        self.model = ArtifactModel(START_MS // 1000)
        self.ids: list[str] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV"]

    def teardown(self) -> None:
        if len(self.ids) > 1:
            check_artifacts(self.folder)
        self.store.close()
        shutil.rmtree(self.folder)

    def both(self, expected: Any, tool: str, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any] | None]:
        """Run a step on the model and on the store; assert that both succeed or fail with the same code."""
        try:
            result = expected()
        except RefusedError as refused:
            code = refused.code
        else:
            told = self.store.call(tool, arguments)
            for name in ("created_workspace", "similar_workspace", "previous_version"):
                told.pop(name, None)  # the contract tests check them
            return result, told
        answer = outcome(self.store, tool, arguments)
        assert isinstance(answer, MossError), f"{tool}({arguments}) answered {answer}, expected {code}"
        assert answer.code == code, answer.payload()
        return None, None

    def address(self, data: st.DataObject) -> dict[str, str]:
        """Return mostly the address of an existing artifact, sometimes any."""
        way = data.draw(st.integers(0, 5))
        if way and self.model.rows:
            chosen = data.draw(st.sampled_from(self.model.rows))
            if way > 2 or chosen["name"] is None:
                return {"id": chosen["id"]}
            return {"workspace": chosen["workspace"], "name": chosen["name"].swapcase() + " "}
        if data.draw(st.booleans()):
            return {"id": data.draw(st.sampled_from(self.ids))}
        return {"workspace": data.draw(WORKSPACES), "name": data.draw(NAMES)}

    def learn_id(self, row: dict[str, Any], id: str) -> None:
        """Assert that a new row has an id above all others and that an existing row keeps its id."""
        if row["id"] is None:
            assert id > max(self.ids)
            row["id"] = id
            self.ids.append(id)
        assert row["id"] == id

    @rule(step_ms=st.sampled_from(STEPS_MS))
    def time_passes_or_steps_back(self, step_ms: int) -> None:
        self.clock.ms += step_ms
        self.model.now = self.clock.seconds

    @rule(mode=st.sampled_from(["error", "replace"]), workspace=WORKSPACES, name=st.none() | NAMES, content=CONTENT)
    def store_one(self, mode: str, workspace: str, name: str | None, content: dict[str, Any]) -> None:
        self.check_store(workspace, name, content, mode=mode)

    @rule(data=st.data(), mode=st.sampled_from(["error", "replace"]), content=CONTENT)
    def store_under_a_name_that_is_or_was_taken(self, data: st.DataObject, mode: str, content: dict[str, Any]) -> None:
        named = [row for row in self.model.rows if row["name"] is not None]
        row = data.draw(st.sampled_from(named)) if named else {"workspace": "default", "name": "Auth"}
        self.check_store(row["workspace"].upper(), row["name"].lower(), content, mode=mode)

    @rule(data=st.data(), content=CONTENT, off_by=st.sampled_from([0, 0, 0, 1, -1]))
    def update_with_expected_version(self, data: st.DataObject, content: dict[str, Any], off_by: int) -> None:
        named = [row for row in self.model.rows if row["name"] is not None]
        if not named:
            self.check_store("default", data.draw(st.none() | NAMES), content, expected_version=1, mode="replace")
            return
        row = data.draw(st.sampled_from(named))
        mode = data.draw(st.sampled_from(["error", "replace"]))
        name = row["name"].swapcase()
        self.check_store(row["workspace"], name, content, expected_version=row["version"] + off_by, mode=mode)

    def check_store(self, workspace: str, name: str | None, content: dict[str, Any], **how: Any) -> None:
        row, answer = self.both(
            lambda: self.model.store(workspace, name, content, **how),
            "artifact_store",
            {"workspace": workspace, "name": name, **content, **how},
        )
        if answer is not None:
            self.learn_id(row, answer["id"])
            expected = shown(row)
            keys = ("id", "workspace", "name", "kind", "version", "data_chars", "text_chars", "expires_at")
            assert answer == {key: expected[key] for key in keys}

    @rule(data=st.data())
    def delete_one(self, data: st.DataObject) -> None:
        address = self.address(data)
        row, answer = self.both(lambda: self.model.delete(address), "artifact_delete", dict(address))
        if answer is not None:
            check_place(answer, row)
            assert answer == {"deleted": True, "id": row["id"]}

    @rule(data=st.data(), ttl=TTL.filter(bool))
    def touch_one(self, data: st.DataObject, ttl: int) -> None:
        address = self.address(data)
        row, answer = self.both(
            lambda: self.model.touch(address, ttl), "artifact_touch", {**address, "ttl_seconds": ttl}
        )
        if answer is not None:
            life = {"ttl_seconds": row["ttl"], "expires_at": row["expires"]}
            check_place(answer, row)
            assert answer == {"id": row["id"], "version": row["version"], **life}

    @rule(data=st.data(), version=st.integers(1, 6))
    def revert_one(self, data: st.DataObject, version: int) -> None:
        address = self.address(data)
        arguments = {"type": "artifact", **address, "version": version}
        reverted, answer = self.both(lambda: self.model.revert(address, version), "moss_revert", arguments)
        if reverted is not None:
            row, changed = reverted
            assert answer is not None
            check_place(answer, row)
            assert answer == {"id": row["id"], "version": row["version"], "reverted_to": version, "changed": changed}

    @rule(data=st.data(), name=st.none() | NAMES, workspace=st.none() | WORKSPACES)
    def rename_one(self, data: st.DataObject, name: str | None, workspace: str | None) -> None:
        address = self.address(data)
        arguments = {"type": "artifact", **address, "new_name": name, "new_workspace": workspace}
        row, answer = self.both(lambda: self.model.rename(address, name, workspace), "moss_rename", arguments)
        if answer is not None:
            assert (answer["id"], answer["version"]) == (row["id"], row["version"])

    @rule(data=st.data())
    def restore_one(self, data: st.DataObject) -> None:
        address = self.address(data)
        restored, answer = self.both(lambda: self.model.restore(address), "artifact_restore", dict(address))
        if answer is not None:
            assert (answer["id"], answer["restored"]) == (restored[0]["id"], restored[1])

    @rule(filters=SOME_FILTERS)
    def restore_many(self, filters: dict[str, str]) -> None:
        count, skipped = self.model.restore_all(filters)
        answer = self.store.call("artifact_restore", {"filters": filters})
        assert answer["restored_count"] == count
        assert sorted(one["id"] for one in answer["skipped"]) == sorted(skipped)

    @rule(data=st.data(), limit=st.integers(1, 5), offset=st.integers(0, 5))
    def look_at_a_history(self, data: st.DataObject, limit: int, offset: int) -> None:
        address = self.address(data)
        arguments = {"type": "artifact", **address, "limit": limit, "offset": offset}
        row, answer = self.both(lambda: self.model.find(address, deleted=True, expired=True), "moss_history", arguments)
        if answer is not None:
            expected = listed_versions(row)
            assert all(version.pop("change").isprintable() for version in answer["versions"])
            assert {version.pop("by") for version in answer["versions"]} <= {"python"}
            assert answer["versions"] == expected[offset : offset + limit]
            assert (answer["current"], answer["pagination"]["total"]) == (row["version"], len(expected))

    @rule(data=st.data(), version=st.integers(1, 8), back_s=st.sampled_from([-10, 0, 1, 60, 86_400, 4 * 86_400]))
    def fetch_an_old_one(self, data: st.DataObject, version: int, back_s: int) -> None:
        address = self.address(data)
        asked = {**address, "include_deleted": True, "include_expired": True}
        as_of = self.model.now - back_s

        def found() -> dict[str, Any]:
            return self.model.find(address, deleted=True, expired=True)

        by_number = self.both(lambda: in_version(found(), version), "artifact_fetch", {**asked, "version": version})
        by_time = self.both(lambda: at_time(found(), as_of), "artifact_fetch", {**asked, "as_of": as_of})
        for row, answer in (by_number, by_time):
            if row is not None:
                assert answer == {**shown(row), "current_version": found()["version"]}

    @rule(filters=SOME_FILTERS)
    def delete_many(self, filters: dict[str, str]) -> None:
        count, answer = self.both(
            lambda: self.model.bulk(filters, {"deleted": self.model.now}), "artifact_bulk_delete", dict(filters)
        )
        assert answer is not None
        assert answer.pop("workspace", None) == filters.get("workspace")
        assert answer == {"deleted": count}

    @rule(
        filters=SOME_FILTERS,
        sets=st.fixed_dictionaries(
            {},
            optional={
                "set_phase": LABEL,
                "set_role": LABEL,
                "set_tags": st.just([]) | st.just(["t", "new"]),
                "set_ttl_seconds": TTL,
            },
        ),
    )
    def update_many(self, filters: dict[str, str], sets: dict[str, Any]) -> None:
        def expected() -> int:
            if not sets:
                raise RefusedError("INVALID_REQUEST")
            changes = {key[4:]: value.strip() or None for key, value in sets.items() if isinstance(value, str)}
            if "set_tags" in sets:
                changes["tags"] = sets["set_tags"]
            if "set_ttl_seconds" in sets:
                changes |= self.model.life(sets["set_ttl_seconds"])
            return self.model.bulk(filters, changes)

        count, answer = self.both(expected, "artifact_bulk_update", {**filters, **sets})
        if answer is not None:
            assert answer.pop("workspace", None) == filters.get("workspace")
            assert answer == {"updated": count}

    @rule(workspace=st.none() | WORKSPACES, days=st.sampled_from([None, 1, 2]))
    def purge(self, workspace: str | None, days: int | None) -> None:
        filters = {} if workspace is None else {"workspace": workspace}
        count, answer = self.both(
            lambda: self.model.purge(filters, days), "artifact_purge", {**filters, "older_than_days": days}
        )
        assert answer is not None
        assert answer["purged"] == count

    @rule(data=st.data(), store_as=st.none() | st.tuples(WORKSPACES, NAMES, st.sampled_from(["error", "replace"])))
    def compose(self, data: st.DataObject, store_as: tuple[str, str, str] | None) -> None:
        items = [self.address(data) for _ in range(data.draw(st.integers(1, 3)))]
        arguments: dict[str, Any] = {"items": items}

        def expected() -> tuple[str, dict[str, Any] | None]:
            text, sources = self.model.bundle(items)
            if store_as is None:
                return text, None
            content = {"kind": "bundle", "data": {"sources": sources}, "text": text}
            how = {"mode": store_as[2], "tool": "artifact_compose"}
            return text, self.model.store(store_as[0], store_as[1], content, **how)

        if store_as is not None:
            arguments["store_as"] = {
                **dict(zip(("workspace", "name", "mode"), store_as, strict=True)),
                "kind": "bundle",
            }
        result, answer = self.both(expected, "artifact_compose", arguments)
        if answer is not None:
            text, row = result
            assert answer["bundle_text"] == text
            if row is not None:
                self.learn_id(row, answer["stored"]["id"])
                expected_row = shown(row)
                keys = ("id", "workspace", "name", "kind", "version")
                assert answer["stored"] == {key: expected_row[key] for key in keys}

    @rule(data=st.data(), expired=st.booleans(), deleted=st.booleans())
    def fetch_one(self, data: st.DataObject, expired: bool, deleted: bool) -> None:
        address = self.address(data)
        row, answer = self.both(
            lambda: self.model.find(address, deleted=deleted, expired=expired),
            "artifact_fetch",
            {**address, "include_expired": expired, "include_deleted": deleted},
        )
        if row is not None:
            assert answer == shown(row)

    @rule(filters=FILTERS, expired=st.booleans(), deleted=st.booleans(), by=st.sampled_from(["updated", "created"]),
          limit=st.integers(1, 5), offset=st.integers(0, 5))  # fmt: skip
    def browse(self, filters: dict[str, str], expired: bool, deleted: bool, by: str, limit: int, offset: int) -> None:
        asked = {**filters, "include_expired": expired, "include_deleted": deleted, "order_by": f"{by}_at"}
        everything = self.store.call("artifact_list", {**asked, "limit": 100})["items"]
        self.check_order(everything, self.model.matching(filters, deleted=deleted, expired=expired, by=by), by)
        page = self.store.call("artifact_list", {**asked, "limit": limit, "offset": offset})
        assert page["items"] == everything[offset : offset + limit]
        has_more = offset + limit < len(everything)
        place = {"limit": limit, "offset": offset, "has_more": has_more, "count": len(page["items"])}
        assert page["pagination"] == place

    def check_order(self, items: list[dict[str, Any]], expected: list[dict[str, Any]], by: str) -> None:
        """Assert that the items are the expected rows in order; rows of one sweep may be in any order."""
        assert len(items) == len(expected)
        left = iter(items)
        for _, group in groupby(expected, key=lambda row: row["id"] if by == "created" else row["seq"]):
            whole_rows = {row["id"]: shown(row) for row in group}
            for item in [next(left) for _ in whole_rows]:
                assert item["id"] in whole_rows, ([item["id"] for item in items], [row["id"] for row in expected])
                whole = whole_rows.pop(item["id"])
                assert "text" not in item
                assert item == {key: whole[key] for key in item}

    @rule(word=WORDS, filters=FILTERS)
    def search_for_a_word(self, word: str, filters: dict[str, str]) -> None:
        filters = {key: value for key, value in filters.items() if key in ("workspace", "run_id")}
        answer = self.store.call(
            "moss_search", {"search_mode": "keyword", "query": word, **filters, "types": ["artifact"], "limit": 100}
        )
        expected = {row["id"] for row in self.model.matching(filters) if word in (row["text"] or "")}
        assert {item["id"] for item in answer["items"]} == expected
        assert answer["pagination"]["total"] == len(expected)

    @invariant()
    def the_store_equals_the_model(self) -> None:
        answer = self.store.call("artifact_list", {"include_deleted": True, "include_expired": True, "limit": 100})
        self.check_order(answer["items"], self.model.matching({}, deleted=True, expired=True), "updated")

    @invariant()
    def nothing_is_left_of_purged_rows(self) -> None:
        if exists(self.folder):
            kept = sum(len(versions_of(row)) - 1 for row in self.model.rows)
            assert rows(self.folder, "select count(*) from versions") == [(kept,)]


ArtifactMachine.TestCase.settings = machine_settings(60, 40)
TestAnySequenceOfArtifactCallsDoesWhatTheModelDoes = ArtifactMachine.TestCase
