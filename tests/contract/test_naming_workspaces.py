"""Workspace names: errors list the existing workspaces, and answers of writes name theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract.doors import FULL, Door, StoreDoor, open_test_store
from contract.everything import call_everything, prepare
from moss_memory.registry import catalog
from support.direct_store import dump
from support.promises import holds

if TYPE_CHECKING:
    from pathlib import Path

    from contract.doors import Clock
    from moss_memory.errors import MossError

READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tasks_radar", {}),
    ("tasks_handoff", {}),
    ("tasks_show", {"target": "TASK-001"}),
    ("branchmind_context_pack", {}),
    ("branchmind_think_context", {}),
    ("branchmind_show", {}),
)


def details(error: MossError) -> dict[str, Any]:
    assert error.details is not None
    return error.details


def follow(door: Door, error: MossError) -> dict[str, Any]:
    assert error.recovery is not None
    return door(error.recovery["tool"], **error.recovery["arguments"])


def fill(door: Door, *workspaces: str) -> None:
    for workspace in workspaces:
        door("tasks_create", workspace=workspace, kind="task", title=f"of {workspace}")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, inside a git repository named Shop."""
    (tmp_path / "Shop" / ".git").mkdir(parents=True)
    (tmp_path / "Shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "Shop" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "Shop" / "src")
    return tmp_path / "Shop"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder outside of any repository."""
    monkeypatch.chdir(tmp_path)


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
@pytest.mark.usefixtures("repository")
def test_a_call_without_a_workspace_proposes_that_of_the_repository(door: Door) -> None:
    fill(door, "shop", "billing")
    error = door.refuses("INVALID_REQUEST", "tasks_radar")
    assert details(error) == {"path": "workspace", "workspaces": ["billing", "shop"], "here": "Shop"}
    assert follow(door, error)["workspace"] == "shop"


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
@pytest.mark.usefixtures("repository")
def test_work_trees_share_the_name_of_the_main_one(
    door: Door, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = repository / ".git" / "worktrees" / "other"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    other = repository.parent / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {own}\n")
    monkeypatch.chdir(other)
    assert details(door.refuses("INVALID_REQUEST", "tasks_radar"))["here"] == "Shop"


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
@pytest.mark.usefixtures("nowhere")
def test_a_call_without_a_workspace_proposes_the_only_one(door: Door) -> None:
    fill(door, "shop")
    error = door.refuses("INVALID_REQUEST", "branchmind_notes_commit", content="text")
    assert details(error) == {"path": "workspace", "workspaces": ["shop"]}
    assert follow(door, error)["workspace"] == "shop"


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
@pytest.mark.usefixtures("nowhere")
def test_a_call_without_a_workspace_lists_several(door: Door) -> None:
    fill(door, *(f"w{number:02}" for number in range(12)))
    error = door.refuses("INVALID_REQUEST", "tasks_radar")
    assert details(error)["workspaces"] == [f"w{number:02}" for number in range(11, 1, -1)]
    assert "workspaces" in follow(door, error)


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
@pytest.mark.usefixtures("repository")
def test_a_call_without_a_workspace_in_an_empty_store_proposes_the_repository(door: Door) -> None:
    error = door.refuses("INVALID_REQUEST", "tasks_radar")
    assert details(error) == {"path": "workspace", "workspaces": [], "here": "Shop"}
    assert error.recovery is not None
    assert error.recovery["tool"] == "moss_workspaces"


@holds("decisions §10: a missing workspace is proposed: that of the repository, the only one, or a list")
def test_a_disabled_tool_is_not_proposed(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, disabled_tools=["moss_workspaces"]) as store:
        assert StoreDoor(store).refuses("INVALID_REQUEST", "tasks_radar").recovery is None


@holds("decisions §10: a read in a workspace that does not exist leads to the nearest and never writes")
@pytest.mark.parametrize(("tool", "arguments"), READS)
def test_a_read_in_a_mistyped_workspace_proposes_the_nearest(door: Door, tool: str, arguments: dict[str, Any]) -> None:
    fill(door, "Shop", "billing")
    error = door.refuses("INVALID_REQUEST" if tool in ("tasks_radar", "tasks_handoff") else "NOT_FOUND", tool,
                         workspace="shpo", **arguments)  # fmt: skip
    assert details(error)["nearest"] == ["Shop"]
    assert error.recovery is not None
    assert error.recovery["arguments"] == {"workspace": "Shop", **arguments}
    assert "error" not in follow(door, error)


@holds("decisions §10: a read in a workspace that does not exist leads to the nearest and never writes")
@pytest.mark.parametrize(("tool", "arguments"), READS)
def test_a_read_in_a_dissimilar_workspace_lists_the_existing_ones(
    door: Door, tool: str, arguments: dict[str, Any]
) -> None:
    fill(door, "shop", "billing")
    error = door.refuses("INVALID_REQUEST" if tool in ("tasks_radar", "tasks_handoff") else "NOT_FOUND", tool,
                         workspace="warehouse", **arguments)  # fmt: skip
    assert details(error)["nearest"] == []
    assert {one["workspace"] for one in follow(door, error)["workspaces"]} == {"shop", "billing"}


@holds("decisions §10: a read in a workspace that does not exist leads to the nearest and never writes")
def test_a_change_of_a_missing_row_in_a_mistyped_workspace_proposes_a_read(door: Door) -> None:
    fill(door, "shop")
    error = door.refuses("NOT_FOUND", "tasks_note", workspace="shpo", target="TASK-001", note="text")
    assert error.recovery is not None
    assert (error.recovery["tool"], error.recovery["arguments"]) == ("tasks_list", {"workspace": "shop"})


@holds("decisions §10: a read in a workspace that does not exist leads to the nearest and never writes")
def test_a_capsule_is_read_from_the_nearest_workspace_that_has_its_name(door: Door) -> None:
    for workspace in ("shop", "billing"):
        door("capsule_store", workspace=workspace, name="auth", capsule_text=FULL)
    error = door.refuses("NOT_FOUND", "capsule_fetch", workspace="shpo", name="auth")
    assert follow(door, error)["workspace"] == "shop"


@holds("decisions §10: a read in a workspace that does not exist leads to the nearest and never writes")
def test_errors_of_other_kinds_keep_their_recovery(door: Door) -> None:
    fill(door, "shop")
    error = door.refuses("INVALID_REQUEST", "branchmind_branch_list", workspace="shpo", limit=0)
    assert "nearest" not in details(error)


@holds(
    "decisions §10: a write that creates a workspace reports it, and every answer of a writing tool names the workspace"
)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("capsule_store", {"capsule_text": FULL}),
        ("capsule_store", {"capsule_text": FULL, "name": "auth"}),
        ("artifact_store", {"kind": "k", "data": {}}),
        ("tasks_create", {"kind": "task", "title": "t"}),
        ("branchmind_notes_commit", {"content": "text"}),
        ("branchmind_think_card", {"card": "text"}),
        ("branchmind_init", {}),
    ],
)
def test_the_first_write_reports_that_it_created_the_workspace(
    door: Door, tool: str, arguments: dict[str, Any]
) -> None:
    fill(door, "Shop")
    made = door(tool, workspace="shpo", **arguments)
    assert made["created_workspace"] is True
    assert made["similar_workspace"] == "Shop"
    assert "similar_workspace" not in door(tool, workspace="warehouse", **arguments)
    again = {**arguments, "name": "other"} if "name" in arguments else arguments
    if tool != "branchmind_init":
        assert "created_workspace" not in door(tool, workspace="shpo", **again)


@holds(
    "decisions §10: a write that creates a workspace reports it, and every answer of a writing tool names the workspace"
)
def test_a_move_reports_that_it_created_the_workspace(door: Door) -> None:
    door("capsule_store", workspace="shop", name="auth", capsule_text=FULL)
    moved = door("moss_rename", type="capsule", workspace="shop", name="auth", new_workspace="shpo")
    assert (moved["created_workspace"], moved["fetch_key"]["moss_workspace"]) == (True, "shpo")


class Watcher(StoreDoor):
    """A door that records the writing tools whose answers name no workspace."""

    nameless: set[str]

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = super().__call__(tool, **arguments)
        operation = catalog.find(tool)
        assert operation is not None
        wrote = operation.mutates and not operation.proxy and _is_in_one(tool, arguments)
        if wrote and not _names_workspace(answer):
            self.nameless.add(tool)
        return answer


def _is_in_one(tool: str, arguments: dict[str, Any]) -> bool:
    """Return whether a call writes to one workspace; bulk calls without this filter may write to many."""
    if tool.endswith("_compose"):
        return "store_as" in arguments
    many = tool.endswith(("_bulk_delete", "_bulk_update", "_purge", "_import")) or "filters" in arguments
    return not many or "workspace" in arguments


def _names_workspace(answer: dict[str, Any]) -> bool:
    places = [answer, *(answer[key] for key in ("fetch_key", "stored") if key in answer)]
    places += [place["fetch_key"] for place in places if "fetch_key" in place]
    return any("workspace" in place or "moss_workspace" in place for place in places)


@holds(
    "decisions §10: a write that creates a workspace reports it, and every answer of a writing tool names the workspace"
)
def test_every_answer_of_a_writing_tool_names_the_workspace(home: str, clock: Clock) -> None:
    prepare(home)
    with open_test_store(home, clock) as store:
        door = Watcher(store)
        door.nameless = set()
        call_everything(door)
    assert sorted(door.nameless) == []


LISTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("capsule_list", {}),
    ("capsule_inventory", {}),
    ("capsule_search", {"query": "of"}),
    ("artifact_list", {}),
    ("moss_search", {"query": "of"}),
    ("moss_freshness", {}),
    ("moss_log", {}),
    ("tasks_list", {}),
    ("tasks_ready", {}),
    ("tasks_delta", {}),
    ("branchmind_branch_list", {}),
    ("retrieve_records", {}),
    ("retrieve_entities", {}),
    ("list_timeline_events", {}),
)


@holds("decisions §10: an empty list in a workspace that does not exist names the nearest ones")
@pytest.mark.parametrize(("tool", "arguments"), LISTS)
def test_an_empty_list_of_a_mistyped_workspace_names_the_nearest(
    call: Door, tool: str, arguments: dict[str, Any]
) -> None:
    fill(call, "Shop", "billing")
    before = dump(call.home)
    answer = call(tool, workspace="shpo", **arguments)
    assert answer.pop("hint") == "there is no workspace 'shpo'; the nearest is 'Shop'"
    assert dump(call.home) == before
    assert answer.keys() == call(tool, workspace="nothing-like-it", **arguments).keys()


@holds("decisions §10: an empty list in a workspace that does not exist names the nearest ones")
def test_a_list_of_an_existing_workspace_has_no_hint(call: Door) -> None:
    fill(call, "shop", "shops")
    assert call("capsule_list", workspace="shop")["items"] == []
    for tool, arguments in LISTS:
        assert "hint" not in call(tool, workspace="shop", **arguments)
        if tool not in ("tasks_list", "tasks_ready", "tasks_delta", "branchmind_branch_list"):
            assert "hint" not in call(tool, **arguments)


@holds("decisions §10: an empty list in a workspace that does not exist names the nearest ones")
def test_an_empty_store_has_no_hint(call: Door) -> None:
    assert "hint" not in call("capsule_list", workspace="shop")


@holds("decisions §10: an empty list in a workspace that does not exist names the nearest ones")
def test_an_answer_with_a_hint_keeps_its_budget(call: Door) -> None:
    fill(call, *("a" * length for length in (250, 248, 247)))
    assert "hint" in call("tasks_list", workspace="a" * 249)
    assert "hint" not in call("tasks_list", workspace="a" * 249, max_chars=500)


@holds("decisions §10: an empty list in a workspace that does not exist names the nearest ones")
def test_the_configured_workspace_has_no_hint(home: str, clock: Clock) -> None:
    with open_test_store(home, clock, workspace="shpo") as store:
        door = StoreDoor(store)
        fill(door, "shop")
        assert "hint" not in door("tasks_list")
        assert "hint" in door("tasks_list", workspace="shpp")
