"""Row history: the earlier versions of rows, in one table for all families that have them."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call
from moss_memory.registry.responses import integer

from .hard_delete import HardDelete
from .lookup import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Transaction

    from .lookup import AddressedRows

_CONTENT = ("title", "source", "kind", "data_json", "text", "tags_json", "run_id", "phase", "role")
"""The content columns of `versions`; a family fills those that its rows have."""

_HEAD = ("version", "at", "tool", "origin", "chars", "erased", "workspace_raw", "name_raw")
_DAY_S = 86_400

PAST = {"current_version": integer("the present version, if `version` or `as_of` was given", optional=True)}
"""The field that a fetch by `version` or `as_of` adds to the answer."""


class Versioned:
    """The rows of one family with their versions: the current one in its own table, the earlier ones in `versions`."""

    __slots__ = (
        "_archive", "_of_row", "_read", "_trim", "columns", "family", "measured", "rows", "sql", "unversioned",
        "visible_condition",
    )  # fmt: skip

    def __init__(
        self,
        rows: AddressedRows,
        *,
        columns: dict[str, str],
        chars: str,
        measured: Callable[[dict[str, Any]], dict[str, Any]],
        sql: Mapping[str, str],
        unversioned: tuple[str, ...] = (),
        visible_condition: str = "",
    ) -> None:
        self.rows = rows
        self.family = rows.noun
        self.columns = columns
        """The versioned columns of the table, each with its column of `versions`."""
        self.measured = measured
        """Computes further columns from the versioned ones."""
        self.sql = sql
        """The family's statements, by name."""
        self.unversioned = unversioned
        """Columns that also change without a new version; diffs of versions leave them out."""
        self.visible_condition = visible_condition
        """A condition for rows to be changed, beside not being deleted; `:now` is the time."""
        archived_columns = dict.fromkeys(_CONTENT, "null") | {archived: column for column, archived in columns.items()}
        self._archive = (
            "insert into versions (family, subject, version, at, tool, origin, superseded_at, workspace_raw, name_raw,"
            f" chars, {', '.join(archived_columns)}) select '{self.family}', row_id, version, version_at, version_tool,"
            f" version_origin, greatest(version_at, :moss_now), workspace_raw, name_raw, {chars},"
            f" {', '.join(archived_columns.values())}"
            f" from {rows.table} {{where}} on conflict (family, subject, version) do nothing"
        )
        self._of_row = f"family = '{self.family}' and subject = (select row_id from {rows.table} where id = :id)"
        self._read = f"select {', '.join((*_HEAD, *columns.values()))} from versions where {self._of_row}"
        self._trim = (
            f"delete from versions where family = '{self.family}'"
            f" and subject in (select row_id from {rows.table} {{where}})"
            " and (superseded_at < :moss_oldest or version <="
            f" (select version from {rows.table} where row_id = versions.subject) + 1 - :moss_most)"
        )

    def stream_all(self, tx: ReadTransaction) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Yield every earlier version of every row: the row's id, the version and the content."""
        columns = ", ".join([f"v.{name}" for name in self.columns.values()])
        rows = tx.stream(
            f"select t.id, v.version, {columns} from versions as v join {self.rows.table} as t on t.row_id = v.subject"
            " where v.family = :family order by t.id, v.version",
            {"family": self.family},
        )
        for row, number, *values in rows:
            yield row, number, dict(zip(self.columns, values, strict=True))

    def findings(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the suspected credentials in a row."""
        from moss_memory.secrets.scanner import findings_in  # only few calls need it

        return findings_in(self.content(row), f"{self.rows.table}/{row['id']}")

    def archive_and_trim(self, tx: Transaction, where: str, parameters: dict[str, Any]) -> None:
        """Store the current content of rows before they change, and delete versions that are too old.

        Storing a version twice has no effect: an import tries many rows together before it writes them one by one.
        """
        values = {**parameters, "moss_now": tx.now}
        tx.run(self._archive.format(where=where), values)
        values["moss_oldest"] = max(tx.now - tx.config.history_days * _DAY_S, -(2**62))
        values["moss_most"] = tx.config.history_keep
        tx.run(self._trim.format(where=where), values)

    def soft_delete(self, tx: Transaction, id: str) -> None:
        tx.run(self.sql["soft_delete"], {"id": id, "now": tx.now, "change_seq": tx.next_change()})

    def write_version(
        self, tx: Transaction, row: dict[str, Any], statement: str = "change", *, kept_origin: str | None = None
    ) -> None:
        """Write a row with new content as its next version, and make it the subject of the call's event.

        `statement` is the name of one in the family's `queries.sql`. `kept_origin` is the origin of content that was
        written before, for its code state.
        """
        self.archive_and_write(tx, {**row, "kept_origin": kept_origin}, self.sql[statement])
        row["version"] += 1
        tx.set_event_subject(workspace=row["workspace_norm"], address=row["id"])

    def archive_and_write(self, tx: Transaction, row: dict[str, Any], sql: str) -> None:
        """Store the current content of a row as a version, then write its next one; the event stays as it is."""
        self.archive_and_trim(tx, "where id = :id", {"id": row["id"]})
        change = {"now": tx.now, "tool": tx.tool, "origin": tx.origin_key(), "change_seq": tx.next_change()}
        tx.run(sql, {**row, **change})

    def read(self, tx: ReadTransaction, row: dict[str, Any], *, most: int, skip: int = 0) -> list[dict[str, Any]]:
        """Return at most `most` earlier versions of a row, newest first."""
        rows = tx.rows(
            f"{self._read} order by version desc limit :moss_most offset :moss_skip",
            {"id": row["id"], "moss_most": most, "moss_skip": skip},
        )
        return [self._to_dict(values) for values in rows]

    def current_as_version(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the current version of a row in the form of an earlier one."""
        content = self.content(row)
        return {
            "version": row["version"],
            "at": row["version_at"],
            "tool": row["version_tool"],
            "origin": row["version_origin"],
            "chars": sum(size or 0 for name, size in self.measured(content).items() if name.endswith("_chars")),
            "erased": 0,
            "workspace_raw": row["workspace_raw"],
            "name_raw": row["name_raw"],
            **content,
        }

    def content(self, row: dict[str, Any]) -> dict[str, Any]:
        return {column: row[column] for column in self.columns}

    def count(self, tx: ReadTransaction, row: dict[str, Any]) -> int:
        """Return the number of earlier versions, without the current one."""
        number: int = tx.value(f"select count(*) from versions where {self._of_row}", {"id": row["id"]})
        return number

    def version_at(
        self, tx: ReadTransaction, row: dict[str, Any], *, version: int | None, as_of: int | None
    ) -> dict[str, Any]:
        """Return the row in a version, or in the version current at a time; raise `NOT_FOUND` if there is none.

        Its names and its time to live are the current ones.
        """
        if version is None:
            if as_of is None or row["version_at"] <= as_of:
                return row
            chosen, values = "at <= :as_of", {"id": row["id"], "as_of": as_of}
        elif version == row["version"]:
            return row
        else:
            chosen, values = "version = :version", {"id": row["id"], "version": version}
        version_row = tx.row(f"{self._read} and {chosen} order by version desc limit 1", values)
        old = None if version_row is None else self._to_dict(version_row)
        if old is None or old["erased"]:
            raise self._version_not_found(tx, row, version, erased=old is not None)
        content = self.content(old)
        head = {"version": old["version"], "updated_at": old["at"]}
        origin = {"version_origin": old["origin"], "confirmed_origin": None}
        return {**row, **content, **self.measured(content), **head, **origin}

    def erasure(self, tx: ReadTransaction, row: dict[str, Any]) -> HardDelete:
        """Return the deletion of a row with all of its versions."""
        number: int = tx.value(f"select row_id from {self.rows.table} where id = :id", {"id": row["id"]})

        def execute(tx: Transaction) -> None:
            tx.run(f"delete from {self.rows.table} where row_id = :row_id", {"row_id": number})

        earlier = list(tx.stream(f"select row_id, title, text from versions where {self._of_row}", {"id": row["id"]}))
        texts = [
            self.content(row).get(column) for column, archived in self.columns.items() if archived in ("title", "text")
        ]
        return HardDelete(
            execute,
            rows=1,
            versions=len(earlier),
            vectors=tx.vectors_of(self.family, [number]),
            texts=[*texts, *(text for _, *title_and_text in earlier for text in title_and_text)],
            row_versions=[(self.rows.table, number), *(("versions", version) for version, *_ in earlier)],
        )

    def erasure_of_version(self, tx: ReadTransaction, row: dict[str, Any], version: int) -> HardDelete:
        """Return the erasure of one earlier version's content; its entry in the history stays."""
        if version == row["version"]:
            raise invalid_request(
                f"`version` {version} is the present one and cannot be erased alone; change the {self.family} first, "
                "or erase all of it by leaving `version` out",
                path="version",
            )
        self.version_at(tx, row, version=version, as_of=None)
        emptied = ", ".join([f"{column} = null" for column in (*_CONTENT, "name_raw")])
        statement = f"update versions set {emptied}, chars = 0, erased = 1 where {self._of_row} and version = :version"

        def execute(tx: Transaction) -> None:
            tx.run(statement, {"id": row["id"], "version": version})

        return HardDelete(execute, versions=1)

    def _to_dict(self, values: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip((*_HEAD, *self.columns), values, strict=True))

    def _version_not_found(
        self, tx: ReadTransaction, row: dict[str, Any], version: int | None, *, erased: bool
    ) -> MossError:
        oldest_archived = tx.value(f"select min(version) from versions where {self._of_row}", {"id": row["id"]})
        oldest = row["version"] if oldest_archived is None else oldest_archived
        label = "version of that time" if version is None else f"version {version}"
        problem = f"the {label} of this {self.family} was erased" if erased else f"this {self.family} has no {label}"
        existing = f"versions {oldest} to {row['version']}" if oldest < row["version"] else f"version {oldest} only"
        return MossError(
            "NOT_FOUND",
            f"{problem}; it has {existing}",
            details={"oldest": oldest, "newest": row["version"]},
            recovery=next_call("moss_history", {"type": self.family, "id": row["id"]}, "lists its versions"),
        )


def refuse_another_version(versioned: Versioned, row: dict[str, Any], expected: int | None) -> None:
    """Refuse a change made for another version of a row than the current one."""
    if expected is not None and row["version"] != expected:
        raise version_mismatch(versioned, row, expected)


def version_mismatch(versioned: Versioned, row: dict[str, Any], expected: int) -> MossError:
    actual, family = row["version"], versioned.family
    has_name = bool(row["name_raw"])
    address = Address(None, row["workspace_raw"], row["name_raw"]) if has_name else Address(row["id"], None, None)
    return MossError(
        "VERSION_MISMATCH",
        f"{address.as_text()} is at version {actual}, not {expected}; fetch it, apply your change to what is there now "
        f"and send it with `expected_version: {actual}`",
        details={"expected": expected, "actual": actual},
        recovery=next_call(f"{family}_fetch", address.arguments(), f"shows the {family} as it is now"),
    )


def reads_current_version(values: dict[str, Any]) -> bool:
    return values.get("version") is None and values.get("as_of") is None


def parse_as_of(version: int | None, as_of: int | str | None) -> int | None:
    """Return the time of `as_of`, seconds or ISO 8601, in seconds; refuse it beside a version."""
    if version is not None and as_of is not None:
        raise invalid_request("`version` and `as_of` both choose a version; give one of them", path="as_of")
    if as_of is None or isinstance(as_of, int):
        return as_of
    digits = as_of.strip()
    if 8 < len(digits) < 16 and digits.isascii() and digits.isdigit():
        return int(digits)  # seconds from the command line; eight digits would be a date
    from .times import instant_us

    return instant_us(as_of, what="as_of", end_of_day=True) // 1_000_000
