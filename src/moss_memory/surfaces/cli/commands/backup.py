"""`moss backup`: a copy of the whole store in one file, made by the engine while others go on writing."""

from __future__ import annotations

import os

from moss_memory.config import load_config
from moss_memory.errors import MossError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.config import Config

DATABASE = "moss.db"


def back_up(home: str | None, path: str) -> dict[str, Any]:
    """Writes one state of the store to a new file that only its owner may read; on an error there is no file."""
    config = load_config(home)
    target = os.path.abspath(os.path.expanduser(path))
    if not os.path.lexists(os.path.join(config.home, DATABASE)):
        raise MossError("NOT_FOUND", f"there is no store in {config.home} yet, so there is nothing to back up")
    _claim(config, target)
    try:
        _copy(config, target)
        _make_durable(target)
    except BaseException:
        os.unlink(target)
        raise
    return {"path": target, "bytes": os.path.getsize(target)}


def _claim(config: Config, target: str) -> None:
    """Makes the file, empty and private, so that the copy is never open to others and overwrites nothing."""
    folder, name = os.path.split(target)
    if name.startswith(DATABASE) and os.path.realpath(folder) == os.path.realpath(config.home):
        raise invalid(f"{target} belongs to the store itself; choose another name")
    try:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise invalid(f"{target} is there already; choose a new name, backups overwrite nothing") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise invalid(f"{target} cannot be made: {reason}") from None
    os.fchmod(fd, 0o600)
    os.close(fd)


def _copy(config: Config, target: str) -> None:
    from moss_memory.storage.engine import Call, open_engine
    from moss_memory.values import new_id, wall_clock_ms

    engine = open_engine(config)
    call = Call(operation="backup", config=config, clock_ms=wall_clock_ms, new_id=new_id, cancelled=None, progress=None)
    try:
        # Its own snapshot: inside a transaction SQLite refuses to copy.
        tx = engine.begin_read(snapshot=False, call=call)
        try:
            list(tx.rows("pragma query_only = off"))  # it counts the new file as a change too
            list(tx.rows("vacuum into :target", {"target": target}))
        finally:
            tx.release()
    except Exception as error:
        if isinstance(error, MossError):
            raise
        problem = engine.translate(error)
        if isinstance(problem, MossError) and problem.code == "STORAGE_FULL":
            raise MossError("STORAGE_FULL", f"no space is left for {target}; nothing was kept of it") from error
        raise problem or error from error
    finally:
        engine.close()


def _make_durable(target: str) -> None:
    for path in (target, os.path.dirname(target)):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
