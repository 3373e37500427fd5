"""`moss restore-backup`: replaces the store by a backup and keeps the present one."""

from __future__ import annotations

from moss_memory.secrets.scanner import findings_fields
from moss_memory.store import Store

from .command_request import load_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def restore_backup(home: str | None, path: str) -> dict[str, Any]:
    """Check the backup, keep the present store beside it and swap them; change nothing on an error."""
    from moss_memory.storage.call import CallContext, new_id, wall_clock_ms
    from moss_memory.storage.engine import ErrorTranslation, open_engine
    from moss_memory.storage.files.sandbox import real_path

    config = load_settings(home)
    backup = real_path(path, config.home)
    engine = open_engine(config)
    call = CallContext(
        operation="restore-backup", config=config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None
    )
    try:
        with ErrorTranslation(engine, "restore-backup"):
            kept_path = engine.restore(backup, call=call)
    finally:
        engine.close()
    with Store(config, actor="cli") as store:
        findings = findings_fields(store.find_credentials())
    answer: dict[str, Any] = {"restored": backup, "home": config.home, **findings}
    return answer if kept_path is None else {**answer, "kept": kept_path}
