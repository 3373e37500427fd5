"""Check the subjects of the commits since the last release: `area: imperative`, at most 72 characters.

The base is the last tag `v*`, else the commit that changed the version last. In a clone that is too shallow for the
base, all available commits are checked; without git, none.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_CHARS = 72
SUBJECT = re.compile(r"[a-z0-9 ,_/.+-]+: (?!(?:what|who|whoever|those|whether|where|how|the|a|an) )[a-z0-9`]")


def problem_of(subject: str) -> str | None:
    """Return the problem of a subject, or None."""
    if len(subject) > MAX_CHARS:
        return f"has {len(subject)} characters, at most {MAX_CHARS} are allowed"
    return None if SUBJECT.match(subject) else "is not of the form `area: imperative`"


def subjects_since_release(root: Path = ROOT) -> list[str]:
    """Return the subjects since the last release; empty without a repository."""
    if not _git(root, "rev-parse", "--git-dir"):
        return []
    tags = _git(root, "describe", "--tags", "--abbrev=0", "--match", "v*")
    version = _git(root, "log", "-1", "--format=%H", "-G^__version__", "--", "src/moss_memory/version.py")
    base = (tags or version or [""])[0]
    return _git(root, "log", "--no-merges", "--format=%s", f"{base}..HEAD" if base else "HEAD")


def _git(root: Path, *words: str) -> list[str]:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return done.stdout.splitlines()


def main() -> int:
    """Print each subject with a problem; return 1 if there is one."""
    problems = [(subject, problem) for subject in subjects_since_release() if (problem := problem_of(subject))]
    for subject, problem in problems:
        print(f"the commit subject {subject!r} {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
