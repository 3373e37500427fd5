"""The report of `moss doctor`: findings with a status and a suggested fix."""

from __future__ import annotations

from moss_memory.cli.render.install_hint import with_working_install

OK, WARN, FAIL = "ok", "warn", "fail"


class Report:
    """The findings of all checks."""

    def __init__(self) -> None:
        self.checks: list[dict[str, str]] = []

    def add(self, name: str, status: str, message: str, todo: str = "") -> None:
        """Add a finding; `todo` is the suggested fix."""
        check = {"name": name, "status": status, "message": with_working_install(message)}
        if todo:
            check["todo"] = with_working_install(todo)
        self.checks.append(check)
