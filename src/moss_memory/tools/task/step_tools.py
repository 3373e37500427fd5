"""Tools for steps of plans and tasks: decompose, define, note, verify, done, reopen, block, evidence."""

from __future__ import annotations

import json

from moss_memory.errors import invalid_request
from moss_memory.registry.argument_types import Annotated
from moss_memory.registry.cli_traits import Cli
from moss_memory.registry.corrected_calls import corrected_call
from moss_memory.registry.operation import operation
from moss_memory.rows.names import normalize_label
from moss_memory.tools.reasoning.notes.entries import append_entry, check_note
from moss_memory.tools.task.model.leases import release_claims, renew_claims, warn_of_holder
from moss_memory.tools.task.model.task_rows import REQUIRED_CHECKPOINTS, sql

from .graph_projection import step_edge, step_node, task_document
from .step_changes import (
    add_steps,
    confirm,
    refuse_to_close,
    refuse_unconfirmed,
    refuse_unnamed_step,
    reopen_upwards,
    texts_json,
)
from .task_arguments import (
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
    normalize_title,
)
from .task_mutation import Mutation
from .task_responses import CHANGED, STEP_NAMED, STEPS, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

ParentStep = Annotated[str, "path or id of the step to divide"]
NoteAgent = Annotated[str, "renews the claim of this agent"]
NoteText = Annotated[str, "the progress to note"]
Blocked = Annotated[bool, "false unblocks"]
Reason = Annotated[str, "the cause of the block"]

_CONFIRMS = {texts: checkpoint for checkpoint, texts in REQUIRED_CHECKPOINTS.items()}


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent(), "steps": STEPS},
    cli=Cli(positional=("target", "steps"), sentence="Added {steps} to {task}."),
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
        above = mutation.find_open_step(step_id, path)
    added = add_steps(tx, mutation.workspace, mutation.task, above, steps)
    nodes = [part for step in added for part in (step_node(step), step_edge(mutation.task, step))]
    payload = {"steps": [step.step_id for step in added]}
    response = mutation.finish("steps_added", payload, step=above, shown=nodes)
    return {**response, "steps": [step.address() for step in added]}


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED},
    cli=Cli(positional=("target",), sentence="Changed {step}{task}."),
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
    new_texts = {"success_criteria": success_criteria, "tests": tests, "blockers": blockers}
    changed = [name for name, value in (("title", title), *new_texts.items()) if value is not None]
    if not changed:
        raise invalid_request("nothing to change; give `title`, `success_criteria`, `tests` or `blockers`")
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = mutation.find_open_step(step_id, path)
    confirmed = step.checkpoints()
    if title is not None:
        step.title = normalize_title(title)
    for name, value in new_texts.items():
        if value is not None:
            texts = check_texts(value, what=name)
            if texts != step.texts(name):
                confirmed.pop(_CONFIRMS.get(name, ""), None)
            setattr(step, f"{name}_json", texts_json(texts))
    step.checkpoints_json = json.dumps(confirmed) if confirmed else None
    return mutation.finish_step(step, "step_defined", {"changed": changed})


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    cli=Cli(positional=("target", "note"), sentence="Noted on {step}{task}."),
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
        renew_claims(tx, mutation.workspace, mutation.task, who)
    step = mutation.find_step(step_id, path)
    content = check_note(note, title=None if step is None else f"{step.path} {step.title}", what="note")
    entry = append_entry(tx, task_document(mutation.workspace, mutation.task, "notes"), content)
    return mutation.finish("note_added", {"seq": entry["seq"]}, step=step)


@operation(
    mutates=True,
    answers={**CHANGED, "step": STEP_NAMED},
    cli=Cli(positional=("target", "checkpoints"), sentence="Confirmed checkpoints of {step}{task}."),
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
    step = mutation.find_open_step(step_id, path)
    confirm(step, checkpoints)
    return mutation.finish_step(step, "step_verified", {"checkpoints": step.checkpoints()})


def _propose_steps(tx: ReadTransaction, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that lists the steps of the task that a refused call names."""
    from .task_show import tasks_show  # only a refusal needs it

    address: dict[str, Any] = {name: arguments[name] for name in ("workspace", "target") if name in arguments}
    return corrected_call(tasks_show, address, "lists the steps with `step_id` and `path`")


@operation(
    mutates=True,
    proposed_call=_propose_steps,
    answers={**CHANGED, "step": STEP_NAMED, **WARNING},
    cli=Cli(positional=("target",), sentence="Closed {step}{task}."),
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
    refuse_unnamed_step(mutation, step_id or path, checkpoints)
    step = mutation.find_open_step(step_id, path)
    refuse_to_close(mutation, step)
    confirm(step, checkpoints or {})
    refuse_unconfirmed(mutation, step)
    warning = warn_of_holder(tx, mutation.workspace, mutation.task, step, normalize_label(agent, what="agent"))
    step.done = 1
    release_claims(tx, mutation.task, step)
    if mutation.task.status == "TODO":
        mutation.task.status = "ACTIVE"
    return mutation.finish_step(step, "step_done", {"checkpoints": step.checkpoints()}) | warning


@operation(
    mutates=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    cli=Cli(positional=("target",), sentence="Reopened {step}{task}."),
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
    step = mutation.find_step(step_id, path)
    if step is None:
        if not was_done:
            raise mutation.conflict(f"{task.id} is not DONE; there is nothing to reopen")
        return mutation.finish(f"{task.kind}_reopened", {"from": "DONE", "to": "ACTIVE"})
    if not step.done:
        raise mutation.conflict(f"step {step.path} is open already")
    reopened = reopen_upwards(mutation, step)
    nodes = [step_node(reopened_step) for reopened_step in reopened]
    return mutation.finish(
        "step_reopened", {"steps": [reopened_step.path for reopened_step in reopened]}, step=step, shown=nodes
    )


def _describe_block(_: dict[str, Any], arguments: dict[str, Any]) -> str:
    return "Unblocked {step}{task}." if arguments.get("blocked") is False else "Blocked {step}{task}."


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED},
    cli=Cli(positional=("target",), sentence=_describe_block),
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
    step = mutation.find_open_step(step_id, path)
    step.blocked = int(blocked)
    step.block_reason = ((reason or "").strip() or None) if blocked else None
    return mutation.finish_step(step, "step_blocked" if blocked else "step_unblocked", {})


@operation(
    mutates=True,
    scan_secrets=True,
    answers={**CHANGED, "step": STEP_NAMED.or_absent()},
    cli=Cli(positional=("target",), sentence="Attached evidence to {step}{task}."),
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
    inputs = {"links": links, "checks": checks, "texts": texts}
    evidence = {name: check_texts(value, what=name) for name, value in inputs.items()}
    if not any(evidence.values()):
        raise invalid_request("there is no evidence; give `links`, `checks` or `texts`", path="links")
    mutation = Mutation(tx, workspace, target, expected_revision)
    step = mutation.find_step(step_id, path)
    row = {"task_row": mutation.task.row_id, "step_id": None if step is None else step.step_id, "now_ms": tx.now_ms}
    for kind, contents in evidence.items():
        for content in contents:
            tx.run(sql["add_evidence"], {**row, "kind": kind, "content": content})
    return mutation.finish("evidence_added", {name: len(items) for name, items in evidence.items() if items}, step=step)
