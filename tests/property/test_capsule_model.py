"""Any sequence of capsule calls has the same effect on the store and on a plain-Python model."""

from __future__ import annotations

import shutil
import tempfile
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from contract.doors import START_MS, Clock, open_test_store, outcome
from moss_memory.errors import MossError
from property.model import Model, RefusedError, listed_versions, shown
from property.version_list import DAYS, KEEP, at_time, in_version, versions_of
from support.direct_store import exists, rows
from support.thorough import machine_settings

NAMES = st.sampled_from(
    ["Auth", "auth ", "AUTH", "auth-1", "caf\u00e9", "CAFE\u0301", "My  Name", " my name", "n" * 255, "\u0130stanbul",
     "Stra\u00dfe", "a%b", "a_b", "\u65e5\u672c"]
)  # fmt: skip
WORKSPACES = st.sampled_from(["default", "Shop", " shop", "\u00c9t\u00e9", "e\u0301te\u0301"])
WORDS = st.sampled_from(["alpha", "beta", "gamma"])
LABEL = st.sampled_from(["r1", " r1 ", "r2", ""])
TAGS = st.lists(st.sampled_from(["t", " t", "T", "u", "\u00e9"]), max_size=3)
FIELDS = st.fixed_dictionaries({}, optional={"title": st.sampled_from(["T", "Other"]), "tags": TAGS, "source": LABEL,
                                             "run_id": LABEL, "phase": LABEL, "role": LABEL})  # fmt: skip
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "workspace": WORKSPACES,
        "tag": st.sampled_from(["t", "T ", "u", "\u00e9"]),
        "name_prefix": st.sampled_from(["A", "au", "caf", "my n", "a%", "a_", "\u65e5"]),
        "run_id": st.sampled_from(["r1", " r2"]),
        "phase": st.sampled_from(["r1", "r2"]),
        "role": st.sampled_from(["r1"]),
    },
)
SOME_FILTERS = FILTERS.filter(bool)
TEXTS = st.builds(lambda words: "## Notes\n" + " ".join(words), st.lists(WORDS, min_size=1, max_size=3))


class CapsuleMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="moss-model-")
        self.clock = Clock()
        self.store = open_test_store(self.folder, self.clock, history_keep=KEEP, history_days=DAYS)
        self.model = Model()
        self.model.now = START_MS // 1000
        self.ids: list[str] = ["01ARZ3NDEKTSV4RRFFQ69G5FAV"]
        self.files: list[tuple[str, list[dict[str, Any]]]] = []

    def teardown(self) -> None:
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
        """Return mostly the address of an existing capsule, sometimes any."""
        way = data.draw(st.integers(0, 5))
        if way and self.model.capsules:
            chosen = data.draw(st.sampled_from(self.model.capsules))
            if way > 2 or chosen["name"] is None:
                return {"id": chosen["id"]}
            return {"workspace": chosen["workspace"], "name": chosen["name"].swapcase() + " "}
        if data.draw(st.booleans()):
            return {"id": data.draw(st.sampled_from(self.ids))}
        return {"workspace": data.draw(WORKSPACES), "name": data.draw(NAMES)}

    @rule(step_ms=st.sampled_from([1, 999, 1000, 60_000, 86_400_000, -1500, -86_400_000]))
    def time_passes_or_steps_back(self, step_ms: int) -> None:
        self.clock.ms += step_ms
        self.model.now = self.clock.seconds

    @rule(mode=st.sampled_from(["error", "replace"]), workspace=WORKSPACES, name=st.none() | NAMES, text=TEXTS,
          fields=FIELDS)  # fmt: skip
    def store_one(self, mode: str, workspace: str, name: str | None, text: str, fields: dict[str, Any]) -> None:
        if mode == "replace":
            fields = {"title": "Replaced", **fields}
        arguments = {
            "capsule_text": text, "workspace": workspace, "name": name, "mode": mode, "allow_thin": True, **fields
        }  # fmt: skip
        capsule, answer = self.both(
            lambda: self.model.store(mode, workspace, name, text, fields), "capsule_store", arguments
        )
        if answer is not None:
            if capsule["id"] is None:
                assert answer["id"] > max(self.ids)
                capsule["id"] = answer["id"]
                self.ids.append(answer["id"])
            self.check_stored(answer, capsule)

    def check_stored(self, answer: dict[str, Any] | None, capsule: dict[str, Any]) -> None:
        """Check the answer of a call that changed a capsule."""
        if answer is not None:
            assert {key: answer.get(key) for key in ("id", "version")} == {
                key: capsule[key] for key in ("id", "version")
            }
            if capsule["name"] is not None:
                assert answer["fetch_key"] == shown(capsule)["fetch_key"]

    @rule(data=st.data(), changes=FIELDS, text=st.none() | TEXTS, clear_title=st.booleans(),
          expected=st.none() | st.integers(0, 3))  # fmt: skip
    def update_one(
        self, data: st.DataObject, changes: dict[str, Any], text: str | None, clear_title: bool, expected: int | None
    ) -> None:
        address = self.address(data)
        if text is not None:
            changes = {**changes, "capsule_text": text}
        if clear_title:
            changes = {**changes, "title": ""}
        arguments = {**address, **changes, "allow_thin": True, "expected_version": expected}
        capsule, answer = self.both(lambda: self.model.update(address, changes, expected), "capsule_update", arguments)
        self.check_stored(answer, capsule)

    @rule(data=st.data(), word=WORDS)
    def append_to_one(self, data: st.DataObject, word: str) -> None:
        address = self.address(data)

        capsule, answer = self.both(
            lambda: self.model.append(address, word),
            "capsule_append",
            {**address, "section": "notes", "content": word},
        )
        self.check_stored(answer, capsule)

    @rule(data=st.data(), name=st.none() | NAMES, workspace=st.none() | WORKSPACES)
    def rename_one(self, data: st.DataObject, name: str | None, workspace: str | None) -> None:
        address = self.address(data)
        arguments = {"type": "capsule", **address, "new_name": name, "new_workspace": workspace}
        capsule, answer = self.both(lambda: self.model.rename(address, name, workspace), "moss_rename", arguments)
        self.check_stored(answer, capsule)

    @rule(data=st.data(), version=st.integers(1, 6))
    def revert_one(self, data: st.DataObject, version: int) -> None:
        address = self.address(data)
        arguments = {"type": "capsule", **address, "version": version}
        reverted, answer = self.both(lambda: self.model.revert(address, version), "moss_revert", arguments)
        if reverted is not None:
            capsule, changed = reverted
            (answer or {}).pop("workspace", None)  # the contract tests check it
            assert answer == {
                "id": capsule["id"], "version": capsule["version"], "reverted_to": version, "changed": changed
            }  # fmt: skip

    @rule(data=st.data(), limit=st.integers(1, 5), offset=st.integers(0, 5))
    def look_at_a_history(self, data: st.DataObject, limit: int, offset: int) -> None:
        address = self.address(data)
        arguments = {"type": "capsule", **address, "limit": limit, "offset": offset}
        capsule, answer = self.both(lambda: self.model.any_of(address), "moss_history", arguments)
        if answer is None:
            return
        expected = listed_versions(capsule)
        assert all(version.pop("change").isprintable() for version in answer["versions"])
        assert {version.pop("by") for version in answer["versions"]} <= {"python"}
        assert answer["versions"] == expected[offset : offset + limit]
        assert answer["current"] == capsule["version"]
        assert answer["pagination"]["total"] == len(expected)

    @rule(data=st.data(), version=st.integers(1, 8), back_s=st.sampled_from([-10, 0, 1, 60, 86_400, 4 * 86_400]))
    def fetch_an_old_one(self, data: st.DataObject, version: int, back_s: int) -> None:
        address = self.address(data)
        asked = {**address, "include_deleted": True}
        as_of = self.model.now - back_s
        by_number = self.both(
            lambda: in_version(self.model.any_of(address), version), "capsule_fetch", {**asked, "version": version}
        )
        by_time = self.both(
            lambda: at_time(self.model.any_of(address), as_of), "capsule_fetch", {**asked, "as_of": as_of}
        )
        for capsule, answer in (by_number, by_time):
            if capsule is not None:
                current = self.model.any_of(address)["version"]
                assert answer == {**shown(capsule, text=True), "current_version": current}

    @rule(data=st.data())
    def delete_one(self, data: st.DataObject) -> None:
        address = self.address(data)
        self.both(lambda: self.model.delete(address), "capsule_delete", dict(address))

    @rule(data=st.data())
    def restore_one(self, data: st.DataObject) -> None:
        address = self.address(data)
        restored, answer = self.both(lambda: self.model.restore(address), "capsule_restore", dict(address))
        if restored is not None:
            capsule, was_deleted = restored
            assert answer == {
                "id": capsule["id"], "restored": was_deleted, "fetch_key": shown(capsule)["fetch_key"]
            }  # fmt: skip

    @rule(filters=SOME_FILTERS, back_s=st.none() | st.sampled_from([0, 1000, 86_400]))
    def restore_many(self, filters: dict[str, str], back_s: int | None) -> None:
        after = None if back_s is None else self.model.now - back_s
        count, skipped = self.model.restore_all(filters, after)
        answer = self.store.call("capsule_restore", {"filters": {**filters, "deleted_after": after}})
        taken = [{"id": one, "code": "NAME_ALREADY_EXISTS"} for one in skipped]
        place = {"workspace": filters["workspace"]} if "workspace" in filters else {}
        assert answer == {"restored_count": count, "skipped": taken, **place}

    @rule(filters=SOME_FILTERS)
    def run_dry(self, filters: dict[str, str]) -> None:
        ids = [capsule["id"] for capsule in self.model.matching(filters)]
        for tool, counts in (("capsule_bulk_delete", "deleted"), ("capsule_bulk_update", "updated")):
            sets = {"set_role": "dry"} if counts == "updated" else {}
            answer = self.store.call(tool, {**filters, **sets, "dry_run": True})
            assert (answer[counts], answer["ids"], answer["dry_run"]) == (len(ids), ids[:20], True)

    @rule(filters=SOME_FILTERS)
    def delete_many(self, filters: dict[str, str]) -> None:
        count, answer = self.both(
            lambda: self.model.bulk(filters, {"deleted": self.model.now}), "capsule_bulk_delete", dict(filters)
        )
        assert answer is not None
        assert answer["deleted"] == count

    @rule(filters=SOME_FILTERS, phase=st.none() | LABEL, tags=st.none() | st.just([]) | st.just(["t", "new"]))
    def update_many(self, filters: dict[str, str], phase: str | None, tags: list[str] | None) -> None:
        changes: dict[str, Any] = {}
        if phase is not None:
            changes["phase"] = phase.strip() or None
        if tags is not None:
            changes["tags"] = tags

        def expected() -> int:
            if not changes:
                raise RefusedError("INVALID_REQUEST")
            return self.model.bulk(filters, changes)

        arguments = {**filters, "set_phase": phase, "set_tags": tags}
        count, answer = self.both(expected, "capsule_bulk_update", arguments)
        if answer is not None:
            assert answer["updated"] == count

    @rule(workspace=st.none() | WORKSPACES, days=st.sampled_from([None, 1, 2]))
    def purge(self, workspace: str | None, days: int | None) -> None:
        filters = {} if workspace is None else {"workspace": workspace}
        count, answer = self.both(
            lambda: self.model.purge(filters, days), "capsule_purge", {**filters, "older_than_days": days}
        )
        assert answer is not None
        assert answer["purged"] == count

    @rule(workspace=st.none() | WORKSPACES, include_deleted=st.booleans())
    def export(self, workspace: str | None, include_deleted: bool) -> None:
        filters = {} if workspace is None else {"workspace": workspace}
        records = self.model.export(filters, include_deleted=include_deleted)
        answer = self.store.call("capsule_export", {**filters, "include_deleted": include_deleted})
        assert answer["count"] == len(records)
        self.files.append((answer["path"].rpartition("/")[2], records))

    @precondition(lambda self: bool(self.files))
    @rule(data=st.data(), mode=st.sampled_from(["error", "replace", "rename"]))
    def import_one_of_the_files(self, data: st.DataObject, mode: str) -> None:
        path, records = data.draw(st.sampled_from(self.files))
        became, answer = self.both(
            lambda: self.model.take_in(records, mode), "capsule_import", {"path": path, "mode": mode}
        )
        if answer is not None:
            assert answer == {"imported": len(records), "skipped": 0, "errors": []}
            latest = f"select id from capsules order by change_seq desc limit {len(records)}"
            new_ids = [row[0] for row in rows(self.folder, latest)][::-1] if mode == "rename" else []
            for capsule, new_id in zip(became, new_ids, strict=False):
                assert capsule["id"] in (None, new_id)
                capsule["id"] = new_id
                self.ids.append(new_id)

    @rule(data=st.data(), include_text=st.booleans())
    def fetch_one(self, data: st.DataObject, include_text: bool) -> None:
        address = self.address(data)
        capsule, answer = self.both(
            lambda: self.model.active(address), "capsule_fetch", {**address, "include_text": include_text}
        )
        if capsule is not None:
            assert answer == shown(capsule, text=include_text)

    @rule(data=st.data())
    def fetch_many(self, data: st.DataObject) -> None:
        items = [self.address(data) for _ in range(data.draw(st.integers(0, 4)))]
        found, missing = [], []
        for ref in items:
            try:
                found.append(shown(self.model.active(ref), text=True))
            except RefusedError as refused:
                missing.append((ref, refused.code))
        answer = self.store.call("capsule_fetch_many", {"items": items})
        assert answer["items"] == found
        assert [(error["ref"], error["code"]) for error in answer["errors"]] == missing

    @rule(filters=FILTERS, include_deleted=st.booleans(), limit=st.integers(1, 5), offset=st.integers(0, 5))
    def browse_a_page(self, filters: dict[str, str], include_deleted: bool, limit: int, offset: int) -> None:
        page = {"include_deleted": include_deleted, "limit": limit, "offset": offset}
        self.check_page("capsule_inventory", filters, page)
        narrow = {key: value for key, value in filters.items() if key not in ("tag", "name_prefix", "workspace")}
        workspace = filters.get("workspace", "default")
        self.check_page("capsule_list", {**narrow, "workspace": workspace}, page)
        latest = self.store.call(
            "capsule_latest", {**narrow, "workspace": workspace, "include_deleted": include_deleted}
        )
        expected = self.model.matching({**narrow, "workspace": workspace}, include_deleted=include_deleted)
        assert latest == ({"item": shown(expected[0])} if expected else self.nothing_here(narrow, workspace))

    def nothing_here(self, filters: dict[str, str], workspace: str) -> dict[str, Any]:
        """Return the answer of `capsule_latest` for a workspace in which no capsule passes the filters."""
        newest: dict[str, dict[str, Any]] = {}
        for capsule in map(shown, self.model.matching(filters, include_deleted=False)):
            newest.setdefault(capsule["workspace_norm"], capsule)
        newest.pop(" ".join(workspace.lower().split()), None)
        told = ("workspace", "id", "name", "updated_at")
        elsewhere = [{key: one[key] for key in told if key in one} for one in newest.values()]
        return {"item": None, "elsewhere": elsewhere[:5]}

    def check_page(self, tool: str, filters: dict[str, str], page: dict[str, Any]) -> None:
        expected = self.model.matching(filters, include_deleted=page["include_deleted"])
        answer = self.store.call(tool, {**filters, **page})
        end = page["offset"] + page["limit"]
        assert answer["items"] == [shown(capsule) for capsule in expected[page["offset"] : end]]
        assert answer["pagination"] == {
            "limit": page["limit"], "offset": page["offset"], "has_more": end < len(expected), "total": len(expected)
        }  # fmt: skip

    @rule(word=WORDS, filters=FILTERS, include_deleted=st.booleans())
    def search_for_a_word(self, word: str, filters: dict[str, str], include_deleted: bool) -> None:
        filters = {key: value for key, value in filters.items() if key != "name_prefix"}
        answer = self.store.call("capsule_search", {"query": word, **filters, "include_deleted": include_deleted})
        expected = {
            capsule["id"]
            for capsule in self.model.matching(filters, include_deleted=include_deleted)
            if word in capsule["text"]
        }
        found = [item["id"] for item in answer["items"]]
        assert len(found) == min(len(expected), 20)
        assert set(found) <= expected
        assert answer["pagination"]["total"] == len(expected)

    @invariant()
    def the_store_equals_the_model(self) -> None:
        answer = self.store.call("capsule_inventory", {"include_deleted": True, "limit": 500})
        assert answer["items"] == [shown(capsule) for capsule in self.model.matching({}, include_deleted=True)]

    @invariant()
    def nothing_is_left_of_purged_rows(self) -> None:
        if exists(self.folder):
            kept = sum(len(versions_of(capsule)) - 1 for capsule in self.model.capsules)
            assert rows(self.folder, "select count(*) from versions") == [(kept,)]


CapsuleMachine.TestCase.settings = machine_settings(50, 40)
TestAnySequenceOfCallsDoesWhatTheModelDoes = CapsuleMachine.TestCase
