"""The kinds of artifacts that this orchestrator stores, and the type of each kind's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T", bound=Mapping[str, Any])


@dataclass(frozen=True)
class Kind(Generic[T]):
    """The name of a kind, with the type of its data."""

    name: str


class FoundFile(TypedDict):
    path: str
    relevance: Literal["high", "medium", "low"]
    summary: str


class ExplorerFinding(TypedDict):
    files: list[FoundFile]
    patterns: list[str]
    concerns: list[str]
    confidence: float


EXPLORER_FINDING: Kind[ExplorerFinding] = Kind("explorer-finding")


class Issue(TypedDict):
    id: str
    file: str
    line: NotRequired[int]
    category: str
    message: str
    severity: Literal["error", "warning", "info"]


class VerifierOutput(TypedDict):
    verdict: Literal["pass", "concerns", "blocked"]
    issues: list[Issue]
    summary: str


VERIFIER_OUTPUT: Kind[VerifierOutput] = Kind("verifier-output")


class Action(TypedDict):
    action_id: str
    path: str
    op: Literal["edit", "create", "delete", "external"]
    pre_hash: NotRequired[str]
    post_hash: NotRequired[str]
    external_ref: NotRequired[str]


class StepResult(TypedDict):
    step_instance_id: str
    status: Literal["OK", "BLOCKED", "FAILED"]
    artifact_ids: list[str]
    actions: list[Action]
    error_code: NotRequired[str]
    note: NotRequired[str]


STEP_RESULT: Kind[StepResult] = Kind("step-result")

Workflow = Literal["plan", "feat", "fix"]


class DlqEntry(TypedDict):
    workflow: Workflow
    task: str
    failed_step: str
    inputs: dict[str, Any]
    partial_results: NotRequired[list[str]]
    retry_count: int
    last_error: str
    relevant_files: NotRequired[list[str]]


DLQ_ENTRY: Kind[DlqEntry] = Kind("dlq-entry")


class Step(TypedDict):
    step_id: str
    step_instance_id: str
    name: str
    status: str
    events: list[Any]
    artifact_ids: list[str]
    error_code: NotRequired[str]


class RunConfig(TypedDict):
    rounds: int
    retries: int
    timeout_ms: int


class RunRecord(TypedDict):
    run_id: str
    status: Literal["RUNNING", "OK", "BLOCKED", "FAILED"]
    workflow: Workflow
    args: dict[str, Any]
    repo_hash: str
    config: RunConfig
    steps: list[Step]
    created_at: str
    updated_at: str
    last_error: NotRequired[str]
    resume_from: NotRequired[str]


RUN_RECORD: Kind[RunRecord] = Kind("run-record")
