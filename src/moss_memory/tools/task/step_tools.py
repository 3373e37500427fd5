"""Tools for steps of plans and tasks: decompose, define, note, verify, done, reopen, block, evidence."""

from __future__ import annotations

import json

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.operation import operation
from moss_memory.registry.repair import corrected_call
from moss_memory.rows.names import normalize_label, normalize_workspace
from moss_memory.tools.reasoning.notes.note_tools import append, check_note
from moss_memory.tools.task.model.leases import release_claims, renew, warn_of_holder
from moss_memory.tools.task.model.task_rows import (
    REQUIRED_CHECKPOINTS,
    Step,
    Task,
    find_step,
    format_id,
    reserve_numbers,
    save_step,
    sql,
    steps_of,
)
from moss_memory.tools.task.model.task_status import reason_to_close

from .graph_projection import step_edge, step_node, task_document
from .task_arguments import (
    ITEMS_MAX,
    Checkpoints,
    ClosingAgent,
    RequiredWorkspace,
    Revision,
    StepId,
    StepPath,
    Steps,
    TaskId,
    TaskTitle,
    Texts,
    check_texts,
    check_title,
)
from .task_responses import CHANGED, STEP_NAMED, STEPS, WARNING
from .task_writes import Mutation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from moss_memory.storage.engine import ReadTransaction, Transaction
else:
    from moss_memory.registry.argument_types import Annotated

ParentStep = Annotated[str, "path or id of the step to divide"]
NoteAgent = Annotated[str, "renews the claim of this agent"]
NoteText = Annotated[str, "progress worth remembering"]
Blocked = Annotated[bool, "false unblocks"]
Reason = Annotated[str, "what it waits for"]

_TEXTS = ("success_criteria", "tests", "blockers")
_CONFIRMS = {"success_criteria": "criteria", "tests": "tests"}


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent(), "steps": STEPS},
    example="""moss task decompose TASK-001 -w shop --steps '[{"title":"Write the failing test"}]'""",
    words=(
        "split into steps, break down, subtasks, add steps, checklist, divide, plan the steps of a task, smaller "
        "pieces, sub-steps, break a task into steps, split a task, add a step, add steps to a plan, add a step to"
        " a task, add subtasks, make a checklist for a task, smaller tasks, list the steps needed"
    ),
)
def tasks_decompose(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    steps: Steps,
    parent: ParentStep | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Add steps to a plan or task, or below one of its steps; all or none."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    mutation.refuse_done()
    above = None
    if parent is not None:
        step_id, path = (None, parent) if parent.startswith("s:") else (parent, None)
        above = _find_open_step(mutation, step_id, path)
    added = add_steps(tx, mutation.workspace, mutation.task, above, steps)
    nodes = [part for step in added for part in (step_node(step), step_edge(mutation.task, step))]
    payload = {"steps": [step.step_id for step in added]}
    response = mutation.finish("steps_added", payload, step=above, shown=nodes)
    return {**response, "steps": [step.address() for step in added]}


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED},
    example="moss task define TASK-001 -w shop --path s:0 --tests 'pytest tests/keys'",
    words=(
        "change a step, acceptance criteria, edit a step, tests of a step, change the acceptance criteria, change"
        " the title of a step, edit the tests of a step, rewrite a step, update a step, success criteria of a "
        "step, add a blocker to a step, define when a step is done"
    ),
)
def tasks_define(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    title: TaskTitle | None = None,
    success_criteria: Texts | None = None,
    tests: Texts | None = None,
    blockers: Texts | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Change one step (the whole task: `tasks_edit`); changed criteria or tests must be confirmed again."""
    given = {"success_criteria": success_criteria, "tests": tests, "blockers": blockers}
    changed = [name for name, value in (("title", title), *given.items()) if value is not None]
    if not changed:
        raise invalid_request("nothing to change; give `title`, `success_criteria`, `tests` or `blockers`")
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = _find_open_step(mutation, step_id, path)
    confirmed = step.checkpoints()
    if title is not None:
        step.title = check_title(title)
    for name, value in given.items():
        if value is not None:
            texts = check_texts(value, what=name)
            if texts != step.texts(name):
                confirmed.pop(_CONFIRMS.get(name, ""), None)
            setattr(step, f"{name}_json", _texts_json(texts))
    step.checkpoints_json = json.dumps(confirmed) if confirmed else None
    return _save(mutation, step, "step_defined", {"changed": changed})


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    example="moss task note TASK-001 -w shop 'The old key is still used by the worker.'",
    words=(
        "comment on a task, progress on a task, note about a step, write progress, remark on a task, update on a "
        "task, comment on a ticket, add a note to a task, note progress, write a comment, leave a comment, "
        "progress report on a step, tell how the task goes"
    ),
)
def tasks_note(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    note: NoteText,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    agent: NoteAgent | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Write a progress note on a plan, task or step; notes on no task: `branchmind_notes_commit`."""
    who = normalize_label(agent, what="agent")
    mutation = Mutation(tx, workspace, target, expected_revision)
    if who is not None:
        renew(tx, mutation.workspace, mutation.task, who)
    step = _find_optional_step(mutation, step_id, path)
    content = check_note(note, title=None if step is None else f"{step.path} {step.title}", what="note")
    entry = append(tx, task_document(mutation.workspace, mutation.task, "notes"), content)
    return mutation.finish("note_added", {"seq": entry["seq"]}, step=step)


@operation(
    mutates=True,
    answers={**CHANGED, "step": STEP_NAMED},
    example="""moss task verify TASK-001 -w shop --path s:0 --checkpoints '{"criteria":true,"tests":true}'""",
    words=(
        "confirm tests passed, criteria met, sign off, check, confirm, tests are green, review passed, quality "
        "gate, approve, confirm a checkpoint, tests passed, verify a step, criteria are met, confirm the "
        "criteria, mark the tests as passed, check without closing, security review passed"
    ),
)
def tasks_verify(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    checkpoints: Checkpoints,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Confirm checkpoints of a step without closing it; `tasks_done` confirms and closes in one call."""
    if not any(checkpoints.values()):
        raise invalid_request(
            "`checkpoints` confirms nothing; check the step, then send `true` for at least one of them",
            path="checkpoints",
        )
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = _find_open_step(mutation, step_id, path)
    _confirm(step, checkpoints)
    return _save(mutation, step, "step_verified", {"checkpoints": step.checkpoints()})


def _propose_steps(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that lists the steps of the task that a refused call names."""
    from .task_show import tasks_show  # only a refusal needs it

    here: dict[str, Any] = {name: arguments[name] for name in ("workspace", "target") if name in arguments}
    return corrected_call(tasks_show, here, "lists the steps with `step_id` and `path`")


@operation(
    mutates=True,
    propose=_propose_steps,
    answers={**CHANGED, "step": STEP_NAMED, **WARNING},
    example="moss task done TASK-001 -w shop --path s:0",
    words=(
        "step finished, check off, tick off, close a step, completed step, finished a step, completed this step, "
        "mark a step as done, done with this step, finish a step, tick off a step, check a step off, step is "
        "done, complete a step, finish this step, close the current step, mark step as finished, step completed"
    ),
)
def tasks_done(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    checkpoints: Checkpoints | None = None,
    agent: ClosingAgent | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Close a step of a task; confirm in `checkpoints` what it defines. The whole task: `tasks_complete`."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    _require_step(mutation, step_id or path, checkpoints)
    step = _find_open_step(mutation, step_id, path)
    _refuse_to_close(mutation, step)
    _confirm(step, checkpoints or {})
    if step.missing():
        raise _unconfirmed_error(mutation, step)
    warning = warn_of_holder(tx, mutation.workspace, mutation.task, step, normalize_label(agent, what="agent"))
    step.done = 1
    release_claims(tx, mutation.task, step)
    if mutation.task.status == "TODO":
        mutation.task.status = "ACTIVE"
    return _save(mutation, step, "step_done", {"checkpoints": step.checkpoints()}) | warning


@operation(
    mutates=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    example="moss task reopen TASK-001 -w shop --path s:0",
    words=(
        "reopen, not done after all, undo done, redo, failed again, closed too early, not finished, open a task "
        "again, reopen a step, step was not done, undo the completion, mark as not done, closed by mistake, task "
        "is not finished after all, bug came back"
    ),
)
def tasks_reopen(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Open a closed step again, to be confirmed anew, or a DONE plan or task, which becomes ACTIVE."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    task = mutation.task
    was_done = task.status == "DONE"
    if was_done:
        mutation.refuse_in_done_plan()
        task.status = "ACTIVE"
    step = _find_optional_step(mutation, step_id, path)
    if step is None:
        if not was_done:
            raise mutation.conflict(f"{task.id} is not DONE; there is nothing to reopen")
        return mutation.finish(f"{task.kind}_reopened", {"from": "DONE", "to": "ACTIVE"})
    if not step.done:
        raise mutation.conflict(f"step {step.path} is open already")
    reopened = _reopen_upwards(mutation, step)
    nodes = [step_node(one) for one in reopened]
    return mutation.finish("step_reopened", {"steps": [one.path for one in reopened]}, step=step, shown=nodes)


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED},
    example="moss task block TASK-001 -w shop --path s:1 --reason 'waiting for the key'",
    words=(
        "blocked, stuck, waiting for, unblock, impediment, wait for somebody, cannot go on, dependency outside, "
        "mark as blocked, hold up, obstacle, pause a step, step is blocked, I am stuck, mark a step as blocked, "
        "cannot continue, waiting for someone, blocked by something, remove the block, waiting for an answer, "
        "server is down"
    ),
)
def tasks_block(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    blocked: Blocked = True,
    reason: Reason | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Block a step with the reason, or unblock it."""
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = _find_open_step(mutation, step_id, path)
    step.blocked = int(blocked)
    step.block_reason = ((reason or "").strip() or None) if blocked else None
    return _save(mutation, step, "step_blocked" if blocked else "step_unblocked", {})


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    example="moss task evidence TASK-001 -w shop --path s:0 --checks 'pytest: 12 passed'",
    words=(
        "attach proof, link to a pull request, test output, attach a log, attach evidence, proof of work, link, "
        "screenshot, benchmark result, add a link to a task, attach a pull request, add proof, attach test "
        "results, attach a commit, link a file to a task, evidence for a step, prove that it works"
    ),
)
def tasks_evidence(
    tx: Transaction,
    *,
    workspace: RequiredWorkspace,
    target: TaskId,
    step_id: StepId | None = None,
    path: StepPath | None = None,
    links: Texts | None = None,
    checks: Texts | None = None,
    texts: Texts | None = None,
    expected_revision: Revision | None = None,
) -> dict[str, Any]:
    """Attach evidence to a plan, task or step: links, checks that were run, small texts."""
    given = {"links": links, "checks": checks, "texts": texts}
    found = {name: check_texts(value, what=name) for name, value in given.items()}
    if not any(found.values()):
        raise invalid_request("there is no evidence; give `links`, `checks` or `texts`", path="links")
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = _find_optional_step(mutation, step_id, path)
    row = {"task_row": mutation.task.row_id, "step_id": None if step is None else step.step_id, "now_ms": tx.now_ms}
    for kind, contents in found.items():
        for content in contents:
            tx.run(sql["add_evidence"], {**row, "kind": kind, "content": content})
    return mutation.finish("evidence_added", {name: len(items) for name, items in found.items() if items}, step=step)


def add_steps(
    tx: Transaction, workspace: str, task: Task, parent: Step | None, steps: list[dict[str, Any]]
) -> list[Step]:
    """Write new steps after the existing ones; their ids and paths are never reused."""
    if not 1 <= len(steps) <= ITEMS_MAX:
        raise invalid_request(f"`steps` has {len(steps)} entries; give 1 to {ITEMS_MAX}", path="steps")
    holder: Task | Step = task if parent is None else parent
    prefix = "" if parent is None else f"{parent.path}."
    sort_prefix = "" if parent is None else f"{parent.sort_key}."
    number = reserve_numbers(tx, workspace, "step", len(steps))
    added = []
    for at, given in enumerate(steps):
        index = holder.next_index + at
        row = {
            "task_row": task.row_id,
            "workspace": normalize_workspace(workspace),
            "step_id": format_id("step", number + at),
            "parent_step": None if parent is None else parent.step_id,
            "path": f"{prefix}s:{index}",
            "sort_key": f"{sort_prefix}{index:06d}",
            "title": check_title(given["title"], what=f"steps[{at}].title"),
            **{
                f"{name}_json": _texts_json(check_texts(given.get(name), what=f"steps[{at}].{name}")) for name in _TEXTS
            },
        }
        tx.run(sql["add_step"], row)
        added.append(find_step(tx, workspace, task, str(row["step_id"]), None))
    holder.next_index += len(steps)
    if parent is not None:
        save_step(tx, parent)
    return added


def _texts_json(texts: list[str]) -> str | None:
    return json.dumps(texts, ensure_ascii=False) if texts else None


def _find_optional_step(mutation: Mutation, step_id: str | None, path: str | None) -> Step | None:
    if step_id is None and path is None:
        return None
    return find_step(mutation.tx, mutation.workspace, mutation.task, step_id, path)


def _find_open_step(mutation: Mutation, step_id: str | None, path: str | None) -> Step:
    step = find_step(mutation.tx, mutation.workspace, mutation.task, step_id, path)
    if step.done:
        arguments = {"workspace": mutation.workspace, "target": mutation.task.id, "step_id": step.step_id}
        reopen = next_call("tasks_reopen", arguments, "opens the step again")
        raise mutation.conflict(f"step {step.path} is done; reopen it first", recovery=reopen)
    return step


def _confirm(step: Step, checkpoints: dict[str, bool]) -> None:
    confirmed = {**step.checkpoints(), **checkpoints}
    confirmed = {name: True for name, value in confirmed.items() if value}
    step.checkpoints_json = json.dumps(confirmed) if confirmed else None


def _save(mutation: Mutation, step: Step, type: str, payload: dict[str, Any]) -> dict[str, Any]:
    save_step(mutation.tx, step)
    return mutation.finish(type, payload, step=step, shown=[step_node(step)])


def _require_step(mutation: Mutation, given: str | None, checkpoints: dict[str, bool] | None) -> None:
    """Refuse to close a step that is not named, or a step of a plan or task without steps."""
    tx, task = mutation.tx, mutation.task
    here = {"workspace": mutation.workspace, "target": task.id}
    complete = next_call("tasks_complete", here, "closes it as a whole")
    if not steps_of(tx, task, limit=1):
        message = f"{task.id} has no steps; `tasks_complete` closes it"
        if given is None:
            raise MossError("INVALID_REQUEST", message, details={"path": "step_id"}, recovery=complete)
        raise MossError("NOT_FOUND", f"{message}; there is no step {given[:100]!r}", recovery=complete)
    if given is None:
        open_steps = steps_of(tx, task, "open_steps", limit=2)
        call = next_call("tasks_radar", here, "lists the steps and says which one comes next")
        if len(open_steps) == 1:
            step: dict[str, Any] = {**here, "step_id": open_steps[0].step_id}
            step |= {"checkpoints": checkpoints} if checkpoints else {}
            call = next_call("tasks_done", step, f"{open_steps[0].path} is the only open step")
        elif not open_steps:
            raise MossError(
                "INVALID_REQUEST",
                f"every step of {task.id} is done; `tasks_complete` closes it as a whole",
                details={"path": "step_id"},
                recovery=complete,
            )
        message = f"`step_id` or `path` is needed: which step of {task.id} is done?"
        raise MossError("INVALID_REQUEST", message, details={"path": "step_id"}, recovery=call)


def _refuse_to_close(mutation: Mutation, step: Step) -> None:
    """Refuse to close a step that is blocked or has open steps below it."""
    if step.blocked:
        reason = f" ({step.block_reason})" if step.block_reason else ""
        here = {"workspace": mutation.workspace, "target": mutation.task.id, "step_id": step.step_id}
        unblock = next_call("tasks_block", {**here, "blocked": False}, f"unblocks it, once it can go on{reason}")
        raise mutation.conflict(f"step {step.path} is blocked{reason}; unblock it first", recovery=unblock)
    key = {"task_row": mutation.task.row_id, "step_id": step.step_id}
    children = [child for (child,) in mutation.tx.rows(sql["open_children"], key)]
    if children:
        problem = f"step {step.path} has open steps below it: {', '.join(children)}"
        raise mutation.conflict(problem, details={"open": children})


def _unconfirmed_error(mutation: Mutation, step: Step) -> MossError:
    missing = step.missing()
    arguments = {"workspace": mutation.workspace, "target": mutation.task.id, "step_id": step.step_id}
    texts = {REQUIRED_CHECKPOINTS[name]: step.texts(REQUIRED_CHECKPOINTS[name]) for name in missing}
    return MossError(
        "CHECKPOINTS_NOT_CONFIRMED",
        f"step {step.path} {step.title} is not confirmed: {' and '.join(missing)}; check them, then send the same call"
        " with `checkpoints`",
        details={"missing": missing, **texts},
        recovery=next_call("tasks_done", arguments, reason_to_close(step)),
    )


def _reopen_upwards(mutation: Mutation, step: Step) -> list[Step]:
    """Reopen a step and its closed ancestors, because no closed step may contain an open one."""
    reopened = []
    above: Step | None = step
    while above is not None and above.done:
        above.done, above.checkpoints_json = 0, None
        save_step(mutation.tx, above)
        reopened.append(above)
        parent = above.parent_step
        above = None if parent is None else find_step(mutation.tx, mutation.workspace, mutation.task, parent, None)
    return reopened
