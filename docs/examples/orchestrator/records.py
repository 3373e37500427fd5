"""Records of runs, and the rounds of a verifier."""

from __future__ import annotations

from .client import Artifact, Artifacts
from .kinds import RUN_RECORD, VERIFIER_OUTPUT, Issue, RunRecord, VerifierOutput

DAY_S = 24 * 3600


def store_run_record(artifacts: Artifacts, record: RunRecord) -> Artifact[RunRecord]:
    """Store the record of a run: for a week after a success, for a month after a failure."""
    succeeded = record["status"] == "OK"
    return artifacts.store(
        RUN_RECORD,
        record,
        workspace="runs",
        name=record["run_id"],
        run_id=record["run_id"],
        phase="complete" if succeeded else "failed",
        ttl_seconds=7 * DAY_S if succeeded else 30 * DAY_S,
    )


def store_round(artifacts: Artifacts, run_id: str, number: int, output: VerifierOutput) -> Artifact[VerifierOutput]:
    """Store the output of a verifier's round for two hours."""
    return artifacts.store(
        VERIFIER_OUTPUT,
        output,
        text=f"{output['verdict']}: {output['summary']}",
        workspace="feat",
        name=f"{run_id}-verifier-r{number}",
        run_id=run_id,
        role="impl-verifier",
        phase="verifying",
        ttl_seconds=7200,
    )


def resolved_since(artifacts: Artifacts, run_id: str, number: int, output: VerifierOutput) -> list[Issue]:
    """Return the issues of an earlier round that are fixed; line numbers change, so compare issues by id."""
    previous = artifacts.fetch(VERIFIER_OUTPUT, workspace="feat", name=f"{run_id}-verifier-r{number}")
    open_ids = {issue["id"] for issue in output["issues"]}
    return [issue for issue in previous.data["issues"] if issue["id"] not in open_ids]
