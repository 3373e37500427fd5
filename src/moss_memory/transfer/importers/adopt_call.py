"""One file of another memory taken into the store: a call for people, on the command line and from Python, no tool."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import Shape, integer, list_of, map_of, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import Transaction

    SourceName = str
    Items = list[dict[str, Any]]
    FileName = str
    WorkspaceName = str
    Try = bool
else:
    SourceName = {"type": "string"}
    Items = {"type": "array", "items": {"type": "object"}}
    FileName = {"type": "string"}
    WorkspaceName = {"type": "string"}
    Try = {"type": "boolean"}

SKIPPED = Shape("SkippedItem", {"file": text("file"), "item": text("what"), "reason": text("why")})


class DryRunRollback(MossError):  # noqa: N818 - it is no failure
    """What a try would have taken; raising it takes everything back."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__("CANCELLED", "only tried")
        self.told = told


@operation(
    mutates=True,
    cross_workspace=True,
    slow=True,
    visible=False,
    answers={
        "taken": map_of(integer("how many"), "what is new, by kind"),
        "already_there": integer("what was taken before"),
        "skipped": list_of(SKIPPED, "what was not taken"),
    },
    example="moss adopt markdown notes",
)
def adopt_items(
    tx: Transaction, *, source: SourceName, workspace: WorkspaceName, file: FileName, items: Items, dry_run: Try = False
) -> dict[str, Any]:
    """Take the items of one file, all or none; what was taken before stays as it is."""
    from .importer import Importer

    taking = Importer(tx, source, workspace, file)
    taking.run(items)
    told = {"taken": taking.taken, "already_there": taking.already_there, "skipped": taking.skipped}
    if dry_run:
        raise DryRunRollback(told)
    return told
