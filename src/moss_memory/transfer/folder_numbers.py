"""The file of an export with the columns that belong to the exported store."""

from __future__ import annotations

from .export_schema import InvalidRow
from .families import reasoning
from .file_names import encode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.origin import Origin

    from .export_schema import Line, Values

_LAST = 2**53
_RECORD_LISTS = ("observations", "events")


class FolderNumbers:
    """The numbers of files, workspaces and counters; empty for a folder without them."""

    def __init__(self) -> None:
        self._files: dict[str, Line] = {}
        self._workspaces: dict[str, Line] = {}
        self._places: dict[str, str] = {}
        self.counters: dict[str, int] = {}
        self.highest: dict[str, int] = {}
        """The last number of each series in a workspace."""
        self.last_record = 0
        self.origins: list[Origin] = []
        """The origins that the exported rows name."""

    def add(self, line: Line) -> None:
        """Add one line; raise `InvalidRow` if it is invalid."""
        if isinstance(line.get("file"), str):
            self._add_file(line)
        elif isinstance(line.get("workspace"), str):
            self._add_workspace(line)
        elif isinstance(line.get("origin"), dict):
            self.origins.append(reasoning.origin_in_file(reasoning.ORIGINS.read(line["origin"])))
        elif isinstance(line.get("last"), dict) and len(line) == 1:
            for series, last_number in line["last"].items():
                if series not in ("seq", "branch") or not is_number(last_number):
                    raise InvalidRow(f"last must be a number from 0 to {_LAST - 1}")
                self.counters[series] = last_number
        else:
            raise InvalidRow("it names no file and no workspace")

    def _add_file(self, line: Line) -> None:
        self._files[line["file"]] = {key: value for key, value in line.items() if key != "file"}
        for key in ("row_id", "entity_row"):
            if line.get(key) is not None and not is_number(line[key]):
                raise InvalidRow(f"{key} must be a number from 0 to {_LAST - 1}")
        for key in _RECORD_LISTS:
            listed = line.get(key, [])
            if not isinstance(listed, list) or not all(map(is_number, listed)):
                raise InvalidRow(f"{key} must be a list of numbers")
        answers = line.get("answers", [])
        if not isinstance(answers, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in answers):
            raise InvalidRow("answers must be a list of pairs")
        if not isinstance(line.get("event_workspaces", []), list):
            raise InvalidRow("event_workspaces must be a list")
        numbers = [line.get("row_id"), line.get("entity_row"), *line.get("observations", []), *line.get("events", [])]
        self.last_record = max(self.last_record, *[number or 0 for number in numbers])

    def _add_workspace(self, line: Line) -> None:
        numbers, revisions = line.get("numbers", {}), line.get("revisions", {})
        if not isinstance(numbers, dict) or not isinstance(revisions, dict):
            raise InvalidRow("numbers and revisions must be objects")
        for series, listed in numbers.items():
            if not isinstance(listed, list) or not all(map(is_number, listed)) or listed != sorted(set(listed)):
                raise InvalidRow(f"the numbers of {series[:40]} must be a list of numbers that rise")
            self.highest[series] = max([self.highest.get(series, 0), *listed])
        ids = line.get("conflict_ids", [])
        if not isinstance(ids, list) or not all(isinstance(conflict_id, str) for conflict_id in ids):
            raise InvalidRow("conflict_ids must be a list of strings")
        self._workspaces[line["workspace"]] = line
        self._places[encode_name(line["workspace"])] = line["workspace"]

    def of_file(self, name: str) -> Values:
        return self._files.get(name, {})

    def of_workspace(self, workspace: str) -> Line | None:
        return self._workspaces.get(workspace)

    def workspace_at(self, path: str) -> str | None:
        """Return the workspace whose folder a path is in, or None if it is not among them."""
        return self._places.get(path.split("/")[1])

    def revisions_of(self, workspace: str) -> dict[str, Any]:
        revisions: dict[str, Any] = self._workspaces.get(workspace, {}).get("revisions", {})
        return revisions


def is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LAST
