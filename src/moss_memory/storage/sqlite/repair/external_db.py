"""Read another program's database from a copy, never from the file itself."""

from __future__ import annotations

import os
import re
import tempfile

import apsw

from moss_memory.errors import MossError, invalid_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from moss_memory.storage.engine import Row

_MOST_BYTES = 1 << 30
_MOST_ROWS = 1_000_000
_MOST_STEPS = 2_000
_STEP = 1_000_000
_TABLE = re.compile(r"(?:from|join) (\w+)")


def read_external(path: str, statements: dict[str, str]) -> dict[str, list[Row]]:
    """Run statements on a copy of a database file, so that nothing beside the file changes; return the rows of each.

    A statement whose table is missing returns no rows; a file with none of the tables, or a damaged one, is refused.
    """
    with tempfile.TemporaryDirectory(prefix="moss-adopt-") as folder:
        copy = os.path.join(folder, "source.db")
        for suffix in ("", "-wal"):
            _copy(path + suffix, copy + suffix)
        try:
            connection = apsw.Connection(copy)
            try:
                return _read(connection, path, statements)
            finally:
                connection.close()
        except UnicodeDecodeError:
            raise invalid_request(f"{path} holds text that is not UTF-8", path="path") from None
        except apsw.Error as error:
            raise invalid_request(
                f"{path} is no database that can be read ({type(error).__name__})", path="path"
            ) from None


def _read(connection: apsw.Connection, path: str, statements: dict[str, str]) -> dict[str, list[Row]]:
    steps = 0

    def give_up() -> bool:
        nonlocal steps
        steps += 1
        return steps > _MOST_STEPS  # a schema can contain a query without an end

    connection.set_progress_handler(give_up, _STEP)
    connection.execute("pragma trusted_schema = off")
    if connection.execute("pragma quick_check(1)").fetchall() != [("ok",)]:
        raise invalid_request(f"{path} is damaged; repair it, or copy it while no program writes to it", path="path")
    tables = {name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")}
    rows_by_key: dict[str, list[Row]] = {}
    for key, statement in statements.items():
        has_tables = set(_TABLE.findall(statement)) <= tables
        rows_by_key[key] = connection.execute(f"{statement} limit {_MOST_ROWS}").fetchall() if has_tables else []
    if not any(set(_TABLE.findall(statement)) <= tables for statement in statements.values()):
        raise invalid_request(f"{path} holds none of the tables that were looked for", path="path")
    return rows_by_key


def _copy(source: str, target: str) -> None:
    import shutil
    import stat

    try:
        status = os.lstat(source)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise invalid_request(f"{source} is no plain file of at most 1 GB", path="path")
        shutil.copyfile(source, target, follow_symlinks=False)
    except FileNotFoundError:
        if not source.endswith("-wal"):
            raise invalid_request(f"{source} does not exist", path="path") from None
    except OSError as error:
        raise MossError("INVALID_REQUEST", f"{source} cannot be read ({error.strerror})") from None
