"""What looks like a credential in a store as it is: every text of every family, as it would move to files."""

from __future__ import annotations

from ..artifact.moving import TABLE as ARTIFACT
from ..capsule.moving import TABLE as CAPSULE
from ..credentials import findings_in, redacted
from ..reasoning import moving as reasoning
from ..record import moving as record
from ..task import moving as task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..storage.engine import ReadTransaction

_TABLES = (CAPSULE, ARTIFACT, *reasoning.TABLES, *task.TABLES, *record.TABLES)
_TOLD_EVERY = 1000


def credentials_in(tx: ReadTransaction) -> list[dict[str, Any]]:
    """Every finding, deleted rows included; its path is the table, the row and the column."""
    found = []
    looked_at = 0
    for table in _TABLES:
        for values in table.rows(tx):
            looked_at += 1
            if looked_at % _TOLD_EVERY == 0:
                tx.check_cancelled()
                tx.progress(looked_at)
            texts = {name: value for name, value in values.items() if isinstance(value, str)}
            place = "/".join([table.name, *(str(values[name]) for name in table.key)])
            found += findings_in(texts, redacted(place))
    return found
