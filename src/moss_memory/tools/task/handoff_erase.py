"""Erasure of a plan, task, note or card from the hand-overs that Moss wrote."""

from __future__ import annotations

import re

from moss_memory.rows.hard_delete import ERASED, HardDelete
from moss_memory.rows.lookup import Address
from moss_memory.rows.names import normalize_workspace
from moss_memory.tools.task.model.task_status import shorten_line

from .handoff_text import HANDOFF_SOURCE, LINE_CHARS, find_locations, handover_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.rows.hard_delete import RowVersion
    from moss_memory.storage.engine import ReadTransaction, Transaction

_TITLE = re.compile(r"Hand-over of ([A-Z]+-[0-9]+):")
_CUT = "…"
_CAPSULES = (
    "select row_id, id, name_norm, version_tool, title, capsule_text from capsules"
    " where workspace_norm = :workspace and (source = :source or row_id in"
    " (select subject from versions where family = 'capsule' and tool = :tool)) order by row_id"
)
_VERSIONS = (
    "select row_id, tool, title, text from versions where family = 'capsule' and subject = :row_id and erased = 0"
    " order by version"
)
_SET_CAPSULE = (
    "update capsules set title = :title, capsule_text = :capsule_text, capsule_chars = :capsule_chars,"
    " tokens_estimate = :tokens_estimate where row_id = :row_id"
)
_SET_VERSION = "update versions set title = :title, text = :capsule_text, chars = :capsule_chars where row_id = :row_id"


class Handovers:
    """The hand-overs of a workspace that an erasure removes, rewrites or reports."""

    def __init__(self, tx: ReadTransaction, workspace: str, erasure: HardDelete, erased: str | None) -> None:
        self._tx = tx
        self._erased = erased
        self._lines = _Lines(erasure, erased)
        self.rewritten: dict[RowVersion, tuple[str | None, str]] = {}
        """The new title and text of each row to rewrite."""
        self.named: list[str] = []
        """The ids of hand-overs of the erased plan or task that a caller has edited."""
        self._removed: list[HardDelete] = []
        key = {"workspace": normalize_workspace(workspace), "source": HANDOFF_SOURCE, "tool": HANDOFF_SOURCE}
        for row in list(tx.stream(_CAPSULES, key)):
            self._inspect(*row)

    def _inspect(self, row_id: int, id: str, name: str | None, tool: str, title: str | None, text: str) -> None:
        """Decide if one capsule and its versions are removed, rewritten or reported."""
        versions = [
            (("versions", version_id), *fields)
            for version_id, *fields in self._tx.stream(_VERSIONS, {"row_id": row_id})
        ]
        versions.append((("capsules", row_id), tool, title, text))
        written = {(row_title, body) for _, writer, row_title, body in versions if writer == HANDOFF_SOURCE}
        own = [(row_key, row_title, body) for row_key, _, row_title, body in versions if (row_title, body) in written]
        about = {_target_of_title(row_title) for _, row_title, _ in own}
        if len(own) == len(versions) and about == {self._erased}:
            from moss_memory.tools.capsule.capsule_rows import capsules, versioned

            row = capsules.find(self._tx, Address(id, None, None), include_deleted=True)
            self._removed.append(versioned.erasure(self._tx, row))
            return
        for row_key, row_title, body in own:
            new = self._lines.without(row_title, body)
            if new != (row_title, body):
                self.rewritten[row_key] = new
        if (
            self._erased is not None
            and len(own) < len(versions)
            and name == normalize_workspace(handover_name(self._erased))
        ):
            self.named.append(id)

    def erasure(self) -> HardDelete:
        tables = [table for table, _ in self.rewritten]
        rewriting = HardDelete(self._rewrite, rows=tables.count("capsules"), versions=tables.count("versions"))
        return rewriting.combined_with(self._removed)

    def _rewrite(self, tx: Transaction) -> None:
        from moss_memory.tools.capsule.sections import text_columns

        for (table, row_id), (title, text) in self.rewritten.items():
            values = {**text_columns(text), "title": title, "row_id": row_id}
            if table == "versions":
                del values["tokens_estimate"]
            tx.run(_SET_CAPSULE if table == "capsules" else _SET_VERSION, values)


class _Lines:
    """The erased texts as they occur in lines of hand-overs."""

    def __init__(self, erasure: HardDelete, erased: str | None) -> None:
        self._erased = erased
        self._owners = erasure.owners
        texts = [" ".join(text.split()) for text in erasure.texts]
        self._titles = sorted(texts, key=len, reverse=True)
        lines = [*texts, *(f"Noted: {text}" for text in texts)]
        self._whole = {shorten_line(line, LINE_CHARS) for line in lines} | set(find_locations(erasure.texts))

    def without(self, title: str | None, text: str) -> tuple[str | None, str]:
        """Return the title and text of a hand-over without the erased texts."""
        target = _target_of_title(title)
        if self._erased is not None and target == self._erased:
            return f"Hand-over of {target}: {ERASED}", f"{ERASED}\n"
        if self._erased is None and target not in self._owners:
            return title, text
        lines = text.split("\n")
        return title, "\n".join(self._line(line) if line.startswith("- ") else line for line in lines)

    def _line(self, line: str) -> str:
        body = line[2:]
        if self._erased is None:
            return f"- {ERASED}" if body in self._whole else line
        for title in self._titles:
            body = self._remove_title(body, title, self._erased)
        return f"- {body}"

    def _remove_title(self, body: str, title: str, id: str) -> str:
        """Return a line without the title, complete or truncated, next to the erased id."""
        for before, after in ((f"{id} ", ""), (f"{id}: ", ""), ("", f" ({id})"), ("", f" ({id},")):
            body = body.replace(f"{before}{title}{after}", f"{before}{ERASED}{after}")
        if body.endswith(_CUT):
            beginning = body[: -len(_CUT)]
            for lead in (f"{id} ", f"{id}: "):
                index = beginning.rfind(lead)
                title_part = beginning[index + len(lead) :]
                if index >= 0 and title_part and title.startswith(title_part):
                    return f"{beginning[: index + len(lead)]}{ERASED}"
            if beginning and title.startswith(beginning):
                return ERASED
        return body


def _target_of_title(title: str | None) -> str | None:
    """Return the id of the plan or task in the title of a hand-over, or None."""
    match = _TITLE.match(title or "")
    return None if match is None else match[1]
