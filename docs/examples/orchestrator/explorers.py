"""Fan-out to twenty explorers, fan-in of their findings."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

from moss_memory import open_store

from .client import Artifacts
from .kinds import EXPLORER_FINDING, ExplorerFinding, FoundFile

AREAS = [f"area-{number:02d}" for number in range(20)]
RANK = {"high": 3, "medium": 2, "low": 1}


def explore(area: str) -> ExplorerFinding:
    """Return the finding of one explorer; a real explorer would call a model."""
    own: FoundFile = {"path": f"src/{area}.py", "relevance": "medium", "summary": f"the code of {area}"}
    shared: FoundFile = {"path": "src/session.py", "relevance": "low", "summary": f"used by {area}"}
    if area == "area-07":
        shared = {"path": "src/session.py", "relevance": "high", "summary": "where tokens are rotated"}
    return {"files": [own, shared], "patterns": ["repository"], "concerns": [], "confidence": 0.8}


def render_explorer_finding(finding: ExplorerFinding) -> str:
    """Return the text for a model; code reads the data and never this text."""
    return "\n".join(f"- `{file['path']}` ({file['relevance']}): {file['summary']}" for file in finding["files"])


def explore_and_store(artifacts: Artifacts, run_id: str, area: str) -> str:
    """Explore an area and store the finding for an hour."""
    finding = explore(area)
    stored = artifacts.store(
        EXPLORER_FINDING,
        finding,
        workspace="plan",
        name=f"{run_id}-{area}-explorer",
        text=render_explorer_finding(finding),
        run_id=run_id,
        role="code-explorer",
        phase="exploring",
        ttl_seconds=3600,
    )
    return stored.id


def fan_out_in_threads(artifacts: Artifacts, run_id: str) -> list[str]:
    """Run twenty workers in threads that share one store."""
    with ThreadPoolExecutor(max_workers=len(AREAS)) as pool:
        return list(pool.map(partial(explore_and_store, artifacts, run_id), AREAS))


def explore_in_a_process(home: str, run_id: str, area: str) -> str:
    """Run one worker in a process that opens its own store in the same home."""
    with open_store(home) as store:
        return explore_and_store(Artifacts(store), run_id, area)


def fan_out_in_processes(home: str, run_id: str) -> list[str]:
    """Run twenty workers in processes; Moss runs their writes one after the other."""
    with ProcessPoolExecutor(max_workers=len(AREAS), mp_context=get_context("spawn")) as pool:
        return list(pool.map(partial(explore_in_a_process, home, run_id), AREAS))


def fan_in(artifacts: Artifacts, run_id: str) -> list[FoundFile]:
    """Return every file of a run once, with its most relevant mention, the most relevant files first."""
    findings = artifacts.list(EXPLORER_FINDING, run_id=run_id)
    all_files = [file for finding in findings for file in finding.data["files"]]
    merged: dict[str, FoundFile] = {}
    for file in sorted(all_files, key=lambda file: (-RANK[file["relevance"]], file["path"])):
        merged.setdefault(file["path"], file)
    return list(merged.values())


def context_for_the_stitcher(artifacts: Artifacts, run_id: str) -> str:
    """Return the findings of a run as one Markdown text for the next model."""
    return artifacts.compose(artifacts.list(EXPLORER_FINDING, run_id=run_id))
