"""A week of ten ordinary jobs takes few calls and few characters and has no dead end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.week_agent import Agent, Tally
from e2e.week_jobs import JOBS
from support.mcp_server import McpServer

if TYPE_CHECKING:
    from pathlib import Path

MOST_CALLS = 109
MOST_FAILED = 6
MOST_MISTAKES = 6
MOST_DETOURS = 0
MOST_CHARS = 74_500


def play(folder: Path) -> Tally:
    """Run the jobs in a git repository with the `core` list."""
    (folder / "shop" / ".git").mkdir(parents=True)
    (folder / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    servers: list[McpServer] = []
    tally = Tally()

    def start_agent() -> Agent:
        servers.append(McpServer(folder / "shop" / "home", "--toolsets", "core"))
        return Agent(servers[-1], tally)

    try:
        for job in JOBS:
            job(start_agent)
    finally:
        for server in servers:
            server.close()
    return tally


def test_a_week_of_ten_jobs_has_few_refusals_and_no_dead_end(tmp_path: Path) -> None:
    tally = play(tmp_path)
    assert tally.dead_ends == [], str(tally)
    assert len(tally.detours) <= MOST_DETOURS, str(tally)
    assert tally.failed <= MOST_FAILED, str(tally)
    assert tally.mistakes <= MOST_MISTAKES, str(tally)
    assert tally.calls <= MOST_CALLS, str(tally)
    assert tally.chars <= MOST_CHARS, str(tally)
