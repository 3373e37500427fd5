"""Git for `moss sync --git`: the user's own program with the user's own configuration."""

from __future__ import annotations

import os

from moss_memory.errors import MossError, invalid_request

_SHOWN_CHARS = 1000


class GitRepository:
    """The repository that a folder is in; only the folder's files are committed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        if self._run("rev-parse", "--is-inside-work-tree")[1].strip() != "true":
            raise invalid_request(
                f"{folder} is in no git repository; make one there with `git init` and `git remote add origin URL`, "
                "or clone one, or sync without `--git`",
                path="git",
            )
        self._refuse_unsettled()
        self._branch = self._run("symbolic-ref", "--short", "HEAD")[1].strip()
        if not self._branch:
            raise invalid_request(f"the repository of {folder} is on no branch; `git switch` to one first", path="git")
        self._remote = self._run("config", f"branch.{self._branch}.remote")[1].strip()
        if not self._remote:
            remotes = self._run("remote")[1].split()
            self._remote = "origin" if "origin" in remotes else next(iter(remotes), "")
        for name in (self._branch, self._remote):
            if name.startswith("-"):  # git would take it for an option, and an option can name a program
                raise invalid_request(f"the branch or remote {name!r} of {folder} begins with a hyphen", path="git")

    @property
    def has_remote(self) -> bool:
        return bool(self._remote)

    def commit(self, message: str) -> bool:
        """Commit the changes of the folder; return True if there were any."""
        self._must("add", "--all", "--", ".")
        if self._run("diff", "--cached", "--quiet", "--", ".")[0] == 0:
            return False
        self._must("commit", "--quiet", "--message", message, "--", ".")
        return True

    def pull(self) -> None:
        """Merge the commits of the remote; raise `CONFLICT` if git cannot merge them alone."""
        code, _, problem = self._run("ls-remote", "--exit-code", "--heads", self._remote, self._branch)
        if code == 2:
            return  # the remote does not have the branch yet
        if code != 0:
            raise self._failed("ls-remote", problem)
        code, output, problem = self._run("pull", "--quiet", "--no-rebase", "--no-edit", self._remote, self._branch)
        if code != 0:
            self._refuse_unsettled()
            raise self._failed("pull", problem or output)

    def push(self) -> bool:
        """Send the commits to the remote; return False if it has newer ones, which must be pulled first."""
        if self._run("rev-parse", "--verify", "--quiet", "HEAD")[0] != 0:
            return True  # nothing was ever committed
        code, _, problem = self._run("push", "--quiet", "--set-upstream", self._remote, f"HEAD:{self._branch}")
        if code == 0:
            return True
        if "[rejected]" in problem or "fetch first" in problem or "non-fast-forward" in problem:
            return False
        raise self._failed("push", problem)

    def _refuse_unsettled(self) -> None:
        files = self._run("diff", "--name-only", "--diff-filter=U", "-z")[1].split("\0")
        unsettled = [name for name in files if name]
        if unsettled:
            names = ", ".join(unsettled[:10])
            raise MossError(
                "CONFLICT",
                f"git could not merge {names}. Edit these files, then `git add` and `git commit` them, and run `moss "
                "sync --git` again; reasoning and tasks are taken whole, with `git checkout --ours` or `--theirs`. "
                "`git merge --abort` goes back to before the pull",
                details={"files": unsettled[:100]},
            )

    def _must(self, *words: str) -> None:
        code, output, problem = self._run(*words)
        if code != 0:
            raise self._failed(words[0], problem or output)

    def _failed(self, command: str, problem: str) -> MossError:
        message = problem.strip()[:_SHOWN_CHARS]
        return invalid_request(f"`git {command}` failed in {self._folder}: {message}", path="git")

    def _run(self, *words: str) -> tuple[int, str, str]:
        import subprocess  # only `--git` needs it

        try:
            result = subprocess.run(
                ["git", "-C", self._folder, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env={**os.environ, "LC_ALL": "C"},
                check=False,
            )
        except FileNotFoundError:
            raise invalid_request("there is no program git; install it, or sync without `--git`", path="git") from None
        return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
