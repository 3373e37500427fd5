"""Import of one source file: a call for the command line and Python, not a tool."""

from __future__ import annotations

from moss_memory.errors import MossError
from moss_memory.registry.argument_types import Annotated, Any
from moss_memory.registry.operation import operation
from moss_memory.registry.responses import ResponseSchema, integer, list_of, map_of, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Transaction

Text = Annotated[str, {}]
Items = Annotated[list[dict[str, Any]], {}]
Flag = Annotated[bool, {}]

SKIPPED = ResponseSchema("SkippedItem", {"file": text("file"), "item": text("what"), "reason": text("why")})


class DryRunRollback(MossError):  # noqa: N818 - it is no failure
    """Raised to roll back a dry run, with its result."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__("CANCELLED", "only tried")
        self.result = result


@operation(
    mutates=True,
    cross_workspace=True,
    slow=True,
    visible=False,
    answers={
        "taken": map_of(integer("how many"), "new items by kind"),
        "already_there": integer("items imported before"),
        "skipped": list_of(SKIPPED, "items that were not imported"),
    },
    example="moss adopt markdown notes",
)
def adopt_items(
    tx: Transaction, *, source: Text, workspace: Text, file: Text, items: Items, dry_run: Flag = False
) -> dict[str, Any]:
    """Import the items of one file, all or none; already imported items stay unchanged."""
    from .item_importer import ItemImporter

    importer = ItemImporter(tx, source, workspace, file)
    importer.run(items)
    result = {"taken": importer.taken, "already_there": importer.already_there, "skipped": importer.skipped}
    if dry_run:
        raise DryRunRollback(result)
    return result
