"""The check of commit subjects since the last release."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from release.commit_subjects import problem_of, subjects_since_release


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *named, *words], check=True, capture_output=True)


def commit(folder: Path, subject: str) -> None:
    git(folder, "commit", "--allow-empty", "-m", subject)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository whose version was set after one commit and before another."""
    folder = tmp_path / "repository"
    (folder / "src" / "moss_memory").mkdir(parents=True)
    git(folder, "init", "-b", "main")
    commit(folder, "what was before the release")
    (folder / "src" / "moss_memory" / "version.py").write_text('__version__ = "1.0.0"\n')
    git(folder, "add", "-A")
    commit(folder, "release: set version 1.0.0")
    commit(folder, "search: rank exact phrases first")
    return folder


def test_commits_since_the_version_was_set_are_checked(repository: Path) -> None:
    assert subjects_since_release(repository) == ["search: rank exact phrases first"]


def test_a_tag_of_a_release_is_the_base(repository: Path) -> None:
    git(repository, "tag", "v1.0.1")
    commit(repository, "web: escape names")
    assert subjects_since_release(repository) == ["web: escape names"]


def test_a_shallow_clone_checks_the_commits_that_are_there(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--depth", "1", f"file://{repository}", "shallow")
    assert len(subjects_since_release(tmp_path / "shallow")) <= 1


def test_a_folder_without_git_has_nothing_to_check(tmp_path: Path) -> None:
    assert subjects_since_release(tmp_path) == []


def test_a_subject_is_an_area_and_an_imperative() -> None:
    assert problem_of("postgres: key the SQL translation cache by the overridden text") is None
    assert "characters" in (problem_of("x: " + "y" * 70) or "")
    for subject in ("Fix it", "search: The ranking", "search: what was there is used", "no area"):
        assert "area: imperative" in (problem_of(subject) or "")
