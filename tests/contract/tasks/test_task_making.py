"""`tasks_create`, `tasks_list` and `tasks_edit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.direct_store import run
from support.promises import holds

if TYPE_CHECKING:
    from contract.tasks.task_tools import TaskTools


@holds("decisions §4 create: a plan PLAN-001 or a task TASK-001; numbers count per workspace, TASK-1000 after TASK-999")
def test_plans_and_tasks_are_numbered_separately(desk: TaskTools) -> None:
    assert [desk.plan(), desk.task(), desk.task(), desk.plan()] == ["PLAN-001", "TASK-001", "TASK-002", "PLAN-002"]


@holds("decisions §4 create: a plan PLAN-001 or a task TASK-001; numbers count per workspace, TASK-1000 after TASK-999")
def test_each_workspace_has_its_own_numbers(desk: TaskTools) -> None:
    desk.task("one", "step")
    other = desk.another("Other")
    assert other.task("one", "step") == "TASK-001"
    assert [step["step_id"] for step in other.steps("TASK-001").values()] == ["STEP-001"]
    assert desk.another("  sHOP ").task() == "TASK-002"
    assert other.listed() == ["TASK-001"]


@holds("decisions §4 create: a plan PLAN-001 or a task TASK-001; numbers count per workspace, TASK-1000 after TASK-999")
def test_task_1000_comes_after_task_999(desk: TaskTools) -> None:
    desk.task("one", "step")
    desk.plan()
    run(desk.door.home, "update task_numbers set last = 998")
    assert [desk.task("t", "a", "b"), desk.task()] == ["TASK-999", "TASK-1000"]
    assert [step["step_id"] for step in desk.steps("TASK-999").values()] == ["STEP-999", "STEP-1000"]
    assert [desk.plan(), desk.plan()] == ["PLAN-999", "PLAN-1000"]
    assert desk.listed() == ["TASK-001", "PLAN-001", "TASK-999", "TASK-1000", "PLAN-999", "PLAN-1000"]
    assert desk.radar("TASK-1000")["reasoning_ref"]["branch"] == "task/TASK-1000"


@holds("shapes tasks: every mutation answers id, kind, revision, event and the step it is about")
def test_a_created_task_returns_its_id_kind_revision_and_event(desk: TaskTools) -> None:
    for kind, made in (("plan", "PLAN-001"), ("task", "TASK-001")):
        answer = desk("create", kind=kind, title="A")
        assert set(answer) - {"steps", "created_workspace"} == {"workspace", "id", "kind", "title", "revision", "event"}
        assert (answer["id"], answer["kind"], answer["revision"]) == (made, kind, 1)
        assert (answer["workspace"], answer["title"]) == ("Shop", "A")
        assert answer["event"]["target"] == made


@holds("decisions §4 create: title, description, priority, tags, optional steps")
def test_a_new_task_has_the_given_fields(desk: TaskTools) -> None:
    desk.plan()
    desk(
        "create", kind="task", title="  Rotate the key ", parent="PLAN-001", description="All of it.\nSoon.",
        priority="high", tags=[" ops ", "Keys", "ops"],
        steps=[{"title": "Make it", "success_criteria": ["it signs"], "tests": "pytest", "blockers": []},
               {"title": "b"}],
    )  # fmt: skip
    shown = desk.shown("TASK-001")
    assert (shown["id"], shown["kind"], shown["title"]) == ("TASK-001", "task", "Rotate the key")
    assert (shown["status"], shown["priority"], shown["revision"]) == ("TODO", "high", 1)
    assert (shown["parent"], shown["tags"]) == ("PLAN-001", ["ops", "Keys"])
    assert shown["description"] == "All of it.\nSoon."
    assert [(path, step["title"]) for path, step in desk.steps("TASK-001").items()] == [
        ("s:0", "Make it"),
        ("s:1", "b"),
    ]
    assert desk.radar("TASK-001")["radar"]["verify"] == ["it signs", "pytest"]


@holds("decisions §4 create: title, description, priority, tags, optional steps")
def test_a_new_task_has_normal_priority_no_tags_and_no_parent(desk: TaskTools) -> None:
    desk.task()
    shown = desk.shown("TASK-001")
    assert (shown["priority"], shown["tags"], shown["status"]) == ("normal", [], "TODO")
    assert not {"parent", "description", "contract", "depends_on"} & set(shown)


@holds("decisions §4: tasks_create also bootstraps main")
def test_creating_a_task_creates_main_and_checks_it_out(desk: TaskTools) -> None:
    desk.task()
    desk.plan()
    assert desk.room.branches() == {
        name: {"name": name, "base_branch": None, "base_seq": None}
        for name in ("main", "plan/PLAN-001", "task/TASK-001")
    }
    status = desk.room("status")
    assert (status["checkout"], status["workspace_exists"]) == ("main", True)


@holds("decisions §4: tasks_create also bootstraps main")
def test_creating_a_task_does_not_change_the_checkout(desk: TaskTools) -> None:
    desk.room("init")
    desk.room.branch("what-if")
    desk.room("checkout", ref="what-if")
    desk.task()
    assert desk.room("status")["checkout"] == "what-if"


@holds("decisions §4 create: title, description, priority, tags, optional steps")
@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "epic"}, {"kind": "TASK"}, {"kind": None}, {"title": ""}, {"title": " \n"}, {"title": None},
        {"title": "x" * 1001}, {"priority": "urgent"}, {"priority": "HIGH"}, {"tags": ["a", " "]},
        {"tags": ["x" * 101]}, {"tags": [f"{n}" for n in range(51)]}, {"tags": "ops"},
        {"description": "x" * 200_001}, {"steps": [{"title": "fine"}, {"title": " "}]}, {"steps": [{}]},
        {"steps": [{"title": "a", "test": "b"}]},
        {"steps": [{"title": "a", "tests": ["b", ""]}]}, {"steps": [{"title": "a", "tests": 5}]}, {"steps": "make it"},
        {"steps": [{"title": "x"}] * 201}, {"status": "DONE"}, {"expected_revision": 1}, {"owner": "kim"},
    ],
    ids=lambda wrong: f"{next(iter(wrong))}",
)  # fmt: skip
def test_a_task_with_one_invalid_part_is_not_created(timed: TaskTools, wrong: dict[str, Any]) -> None:
    timed.room("init")
    codes = {"expected_revision": "VERSION_MISMATCH", "description": "TEXT_TOO_LARGE"}
    code = codes.get(next(iter(wrong)), "INVALID_REQUEST")
    timed.refuses(code, "create", **{"kind": "task", "title": "A", **wrong})
    assert timed.task() == "TASK-001"


@holds("decisions §0: a wrong type is refused with the path of the bad value")
def test_an_invalid_part_of_a_step_is_named_by_its_path(desk: TaskTools) -> None:
    steps = [{"title": "fine"}, {"title": "a", "tests": ["b", " "]}]
    error = desk.refuses("INVALID_REQUEST", "create", kind="task", title="A", steps=steps)
    assert error.details is not None
    assert error.details["path"] == "steps[1].tests[1]"
    error = desk.refuses("INVALID_REQUEST", "create", kind="task", title="A", steps=[{"title": "a", "tests": [1]}])
    assert error.details is not None
    assert error.details["path"] == "steps[0].tests[0]"


@holds("decisions §4 create: title, description, priority, tags, optional steps")
def test_titles_and_descriptions_of_maximum_length_are_accepted(desk: TaskTools) -> None:
    desk.task("é" * 1000, description="é" * 200_000)
    shown = desk.shown("TASK-001")
    assert (shown["title"], shown["description"]) == ("é" * 1000, "é" * 200_000)


@holds("decisions §4 create: the parent of a task is a plan, and one that is not done")
def test_the_parent_of_a_task_must_be_an_open_plan(desk: TaskTools) -> None:
    desk.task()
    desk.refuses("INVALID_REQUEST", "create", kind="task", title="A", parent="TASK-001")
    desk.plan()
    desk.refuses("INVALID_REQUEST", "create", kind="plan", title="A", parent="PLAN-001")
    desk.misses("create", kind="task", title="A", parent="PLAN-002")
    desk("complete", target="PLAN-001")
    desk.refuses("CONFLICT", "create", kind="task", title="A", parent="PLAN-001")
    desk("reopen", target="PLAN-001")
    assert desk.task("A", parent="PLAN-001") == "TASK-002"


@holds("decisions §4: an expected_revision that does not match is VERSION_MISMATCH")
def test_a_new_task_is_expected_at_revision_0(desk: TaskTools) -> None:
    answer = desk("create", kind="task", title="A", expected_revision=0)
    assert answer["revision"] == 1
    error = desk.refuses("VERSION_MISMATCH", "create", kind="task", title="A", expected_revision=1)
    assert error.details == {"expected": 1, "actual": 0}
    assert error.recovery is not None
    desk.door(error.recovery["tool"], **error.recovery["arguments"])


@holds("decisions §4 list: plans and tasks by kind, status, parent and tag")
def test_lists_filter_by_kind_status_parent_and_tag(desk: TaskTools) -> None:
    desk.plan(tags=["ops"])
    desk.plan()
    desk.task("a", parent="PLAN-001", tags=["ops", "x"])
    desk.task("b", parent="PLAN-002", tags=["Ops"])
    desk.task("c")
    desk("complete", target="TASK-002", status="ACTIVE")
    desk("complete", target="TASK-003")
    assert desk.listed() == ["PLAN-001", "PLAN-002", "TASK-001", "TASK-002", "TASK-003"]
    assert desk.listed(kind="plan") == ["PLAN-001", "PLAN-002"]
    assert desk.listed(kind="task") == ["TASK-001", "TASK-002", "TASK-003"]
    assert desk.listed(parent="PLAN-001") == ["TASK-001"]
    assert desk.listed(status="TODO") == ["PLAN-001", "PLAN-002", "TASK-001"]
    assert desk.listed(status="ACTIVE") == ["TASK-002"]
    assert desk.listed(status="DONE") == ["TASK-003"]
    assert desk.listed(tag="ops") == ["PLAN-001", "TASK-001"]
    assert desk.listed(tag="ops", kind="task", status="TODO", parent="PLAN-001") == ["TASK-001"]
    assert desk.listed(tag="OPS") == []
    desk.refuses("INVALID_REQUEST", "list", status="done")
    desk.refuses("INVALID_REQUEST", "list", kind="step")


@holds("decisions §4 list: plans and tasks by kind, status, parent and tag")
def test_a_listed_task_has_the_documented_fields(desk: TaskTools) -> None:
    desk.plan("P")
    desk.task("T", parent="PLAN-001", tags=["b", "a"])
    answer = desk("list")
    assert set(answer) == {"items", "pagination", "truncated"}
    assert answer["items"] == [
        {"id": "PLAN-001", "kind": "plan", "title": "P", "status": "TODO", "tags": [], "revision": 1},
        {
            "id": "TASK-001", "kind": "task", "title": "T", "status": "TODO", "parent": "PLAN-001", "tags": ["b", "a"],
            "revision": 1,
        },
    ]  # fmt: skip
    assert answer["pagination"] == {"limit": 50, "offset": 0, "has_more": False, "total": 2}
    assert answer["truncated"] is False
    assert desk.another("Elsewhere")("list")["items"] == []


@holds("decisions §0: lists are paged, every row exactly once, limits are clamped")
def test_pages_of_a_list_contain_every_task_exactly_once(desk: TaskTools) -> None:
    made = [desk.task(f"task {number}") for number in range(7)]
    found: list[str] = []
    while True:
        answer = desk("list", limit=3, offset=len(found))
        found += [item["id"] for item in answer["items"]]
        assert answer["pagination"]["total"] == 7
        assert answer["pagination"]["has_more"] == (len(found) < 7)
        if not answer["pagination"]["has_more"]:
            break
    assert found == made


@holds("decisions §0: lists are paged, every row exactly once, limits are clamped")
def test_the_limit_of_a_list_is_clamped_shown_and_at_least_1(desk: TaskTools) -> None:
    desk.task()
    assert desk("list", limit=10_000)["pagination"]["limit"] == 200
    desk.refuses("INVALID_REQUEST", "list", limit=0)
    desk.refuses("INVALID_REQUEST", "list", offset=-1)
    desk.refuses("INVALID_REQUEST", "delta", limit=0)


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_an_edit_changes_only_the_given_fields(desk: TaskTools) -> None:
    desk.plan()
    desk.task("A", description="old", priority="low", tags=["a"], parent="PLAN-001")
    before = desk.shown("TASK-001")
    changes: dict[str, Any] = {
        "title": " B ", "description": "new", "priority": "high", "tags": ["b", "c"], "depends_on": "PLAN-001",
    }  # fmt: skip
    for revision, (name, value) in enumerate(changes.items(), start=2):
        answer = desk("edit", target="TASK-001", **{name: value})
        assert set(answer) == {"workspace", "id", "kind", "title", "revision", "event"}
        shown = {"title": "B", "depends_on": ["PLAN-001"]}.get(name, value)
        before = {**before, name: shown, "revision": revision}
        assert desk.shown("TASK-001") == before


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_empty_values_clear_optional_fields(desk: TaskTools) -> None:
    desk.task("other")
    desk.task("A", description="old", tags=["a"])
    desk("edit", target="TASK-002", depends_on=["TASK-001"])
    desk("edit", target="TASK-002", description="", tags=[], depends_on=[])
    shown = desk.shown("TASK-002")
    assert shown["tags"] == []
    assert not {"description", "depends_on"} & set(shown)
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-002", title="")


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_an_edit_without_changes_or_of_an_unknown_task_is_refused(desk: TaskTools) -> None:
    desk.task()
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-001")
    desk.misses("edit", target="TASK-002", title="A")
    desk.misses("edit", target="task-001", title="A")
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-001", priority="urgent")
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-001", status="DONE")


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_only_plans_have_a_contract_which_is_an_object(desk: TaskTools) -> None:
    desk.plan()
    desk.task()
    contract = {"promise": "no downtime", "limits": [1, None, {"deep": True}]}
    desk("edit", target="PLAN-001", contract=contract)
    assert desk.shown("PLAN-001")["contract"] == contract
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-001", contract=contract)
    desk.refuses("INVALID_REQUEST", "edit", target="PLAN-001", contract=["no object"])
    desk.refuses("INVALID_REQUEST", "edit", target="PLAN-001", contract="no object")
    assert desk.shown("PLAN-001")["contract"] == contract


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_dependencies_are_other_tasks_without_a_cycle(desk: TaskTools) -> None:
    for _ in range(3):
        desk.task()
    desk.plan()
    desk("edit", target="TASK-001", depends_on=["TASK-002", "PLAN-001", "TASK-002"])
    assert desk.shown("TASK-001")["depends_on"] == ["TASK-002", "PLAN-001"]
    desk("edit", target="TASK-002", depends_on="TASK-003")
    desk.misses("edit", target="TASK-003", depends_on=["TASK-009"])
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-003", depends_on=["TASK-003"])
    desk.refuses("CONFLICT", "edit", target="TASK-003", depends_on=["TASK-001"])
    desk.refuses("CONFLICT", "edit", target="TASK-003", depends_on=["TASK-002"])
    desk("edit", target="TASK-001", depends_on=["TASK-003"])
    assert desk.shown("TASK-001")["depends_on"] == ["TASK-003"]


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_a_cycle_through_the_tasks_of_a_plan_is_refused(desk: TaskTools) -> None:
    first, second = desk.plan(), desk.plan()
    inner, outer = desk.task(parent=first), desk.task()
    desk("edit", target=second, depends_on=outer)
    desk("edit", target=outer, depends_on=first)
    desk.refuses("CONFLICT", "edit", target=inner, depends_on=second)
    desk("edit", target=outer, depends_on=[])
    desk("edit", target=inner, depends_on=second)
    desk.refuses("CONFLICT", "edit", target=outer, depends_on=first)


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_a_task_that_depends_on_its_own_plan_does_not_wait_for_it(desk: TaskTools) -> None:
    plan = desk.plan()
    first, second = desk.task(parent=plan), desk.task(parent=plan)
    desk("edit", target=first, depends_on=plan)
    desk("edit", target=second, depends_on=first)
    assert [one["id"] for one in desk("ready")["tasks"]] == [first]


@holds("decisions §4 edit: title, description, priority, tags, depends_on, contract (plans)")
def test_a_refused_edit_changes_no_other_field(desk: TaskTools) -> None:
    desk.task()
    desk.refuses("NOT_FOUND", "edit", target="TASK-001", title="B", depends_on=["TASK-009"])
    desk.refuses("INVALID_REQUEST", "edit", target="TASK-001", title="B", contract={})
    assert desk.shown("TASK-001")["title"] == "Rotate the signing key"


@holds("decisions §0: task tools require a workspace")
def test_task_tools_require_a_valid_workspace_name(desk: TaskTools) -> None:
    for arguments in ({}, {"workspace": None}, {"workspace": " "}, {"workspace": "a\nb"}, {"workspace": "x" * 257}):
        desk.door.refuses("INVALID_REQUEST", "tasks_list", **arguments)
        desk.door.refuses("INVALID_REQUEST", "tasks_create", kind="task", title="A", **arguments)
    assert desk.another("x" * 256).task() == "TASK-001"
