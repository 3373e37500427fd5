"""Lookup of one row by id, or by workspace and name, in every family that has names."""

from __future__ import annotations

from moss_memory.errors import MossError, invalid_request, next_call

from .names import DEFAULT_WORKSPACE, normalize_name, normalize_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from moss_memory.storage.engine import ReadTransaction, Row


class Address:
    """The address of one row: its id, or its workspace and name."""

    __slots__ = ("id", "name", "name_norm", "workspace", "workspace_norm")

    def __init__(self, id: str | None, workspace: str | None, name: str | None, *, at: str = "") -> None:
        if id is not None:
            if name is not None or workspace is not None:
                raise MossError(
                    "AMBIGUOUS_ADDRESSING",
                    f"`{at}id` is given together with `{at}name` or `{at}workspace`; "
                    "give the id alone, or `workspace` and `name`",
                )
            if not id.strip():
                raise invalid_request(f"`{at}id` is blank; give an id, or `workspace` and `name`", path=f"{at}id")
        elif name is None:
            raise invalid_request(f"`{at}id` or `{at}name` is needed", path=f"{at}name")
        self.id = id
        self.name = name
        self.workspace = workspace
        if name is not None:
            workspace_raw = DEFAULT_WORKSPACE if workspace is None else workspace
            self.workspace_norm = normalize_workspace(workspace_raw, what=f"{at}workspace")
            self.name_norm = normalize_name(name, what=f"{at}name")

    def as_text(self) -> str:
        """Return the address as text for a message, with a long id truncated."""
        return self.id[:64] if self.id else f"{self.workspace or DEFAULT_WORKSPACE}/{self.name}"

    def arguments(self) -> dict[str, str]:
        if self.id is not None:
            return {"id": self.id}
        return {"workspace": self.workspace or DEFAULT_WORKSPACE, "name": self.name or ""}


def address_of(ref: dict[str, Any], index: int) -> Address:
    """Return the address in one of the `items` of a call."""
    return Address(ref.get("id"), ref.get("workspace"), ref.get("name"), at=f"items[{index}].")


class AddressedRows:
    """The rows of a table with ids, optional names and soft deletion."""

    def __init__(self, table: str, columns: tuple[str, ...], *, noun: str, lists: str, lists_all: str) -> None:
        self.table = table
        self.columns = columns
        self.noun = noun
        self._lists = lists
        self._lists_all = lists_all
        self._statements: dict[tuple[bool, bool, str], str] = {}

    def find(
        self,
        tx: ReadTransaction,
        address: Address,
        *,
        include_deleted: bool = False,
        also: str = "",
        suggest: bool = True,
    ) -> Any:
        """Return every column by name of the row at an address; raise `NOT_FOUND` if there is none.

        `also` is a further condition, in which `:now` is the time of the call. Without `suggest` the error does not
        search for similar names, which takes some milliseconds.
        """
        row = self.find_or_none(tx, address, include_deleted=include_deleted, also=also)
        if row is None:
            raise self._explain_missing(tx, address, also, suggest=suggest)
        return row

    def find_tuple(
        self, tx: ReadTransaction, address: Address, *, include_deleted: bool = False, also: str = ""
    ) -> Row:
        """Return the same as `find` as a tuple, in the order of `columns`."""
        row = self._row(tx, address, include_deleted, also)
        if row is None:
            raise self._explain_missing(tx, address, also, suggest=True)
        return row

    def _explain_missing(self, tx: ReadTransaction, address: Address, also: str, *, suggest: bool) -> MossError:
        """Return the error for an address: its row has expired, was deleted, both, or does not exist."""
        if not tx.call.suggest:
            return self.not_found(address)
        row = self.find_or_none(tx, address, include_deleted=True)
        if row is None:
            refusal = self.not_found(address)
            if suggest and address.id is None:
                self._add_suggestions(tx, address, also, refusal)
            return refusal
        deleted = row["deleted_at"] is not None
        expired = self.has_expired(row, tx.now)
        why = "was deleted and has expired" if deleted and expired else "was deleted" if deleted else "has expired"
        if deleted and not expired and not self._is_name_taken(tx, row):
            recovery = next_call(f"{self.noun}_restore", {"id": row["id"]}, f"brings the deleted {self.noun} back")
        else:
            # By id if deleted, since its name may be reused.
            arguments: dict[str, Any] = {"id": row["id"]} if deleted else dict(address.arguments())
            arguments |= {"include_deleted": True} if deleted else {}
            arguments |= {"include_expired": True} if expired else {}
            reason = f"shows the {'deleted' if deleted else 'expired'} {self.noun}"
            recovery = next_call(f"{self.noun}_fetch", arguments, reason)
        return MossError("NOT_FOUND", f"{self.noun} not found: {address.as_text()} (it {why})", recovery=recovery)

    def _add_suggestions(self, tx: ReadTransaction, address: Address, also: str, refusal: MossError) -> None:
        """Add to the error the same name in other workspaces, similar names, and the call that fetches the first."""
        from .suggestions import nearest_names, renamed_to, same_name  # only a refusal needs it

        same = same_name(tx, self.table, address, also=also)
        near = nearest_names(tx, self.table, address, also=also)
        own = address.workspace_norm
        shown = [
            match["name"] if normalize_workspace(match["workspace"]) == own else f"{match['workspace']}/{match['name']}"
            for match in near
        ]
        refusal.details = {"elsewhere": same, "nearest": shown}
        moved = renamed_to(tx, self, address, also=also)
        if moved is not None:
            refusal.details["renamed_to"] = moved
            refusal.message += f"; it was renamed to {moved['workspace']}/{moved['name']}"
            refusal.recovery = next_call(f"{self.noun}_fetch", moved, "loads it under its present name")
            return
        if len(same) > 1:
            refusal.message += f"; it is in {', '.join([match['workspace'] for match in same])}"
            reason = f"lists each {self.noun} of that name with its workspace"
            if self.noun == "capsule":
                refusal.recovery = next_call("capsule_inventory", {"name_prefix": address.name}, reason)
            else:
                arguments = {"query": f'"{address.name}"', "types": [self.noun]}
                refusal.recovery = next_call("moss_search", arguments, reason)
            return
        if same:
            suggestion, reason = f"there is {same[0]['workspace']}/{same[0]['name']}", "loads the one of that name"
        elif near:
            suggestion, reason = f"the nearest is {shown[0]}", "loads the one with the nearest name"
        else:
            return
        refusal.message += f"; {suggestion}"
        # Without a condition the suggestion may have expired.
        expired = {"include_expired": True} if "expires_at" in self.columns and not also else {}
        refusal.recovery = next_call(f"{self.noun}_fetch", {**(same or near)[0], **expired}, reason)

    def _is_name_taken(self, tx: ReadTransaction, row: dict[str, Any]) -> bool:
        """Return True if another row has the name of this deleted one."""
        if row["name_raw"] is None:
            return False
        owner = self.find_or_none(tx, Address(None, row["workspace_raw"], row["name_raw"]))
        return owner is not None and not self.has_expired(owner, tx.now)

    @staticmethod
    def has_expired(row: dict[str, Any], now: int) -> bool:
        """Return True if a row has a time to live and it is over."""
        return row.get("expires_at") is not None and row["expires_at"] <= now

    def find_or_none(
        self, tx: ReadTransaction, address: Address, *, include_deleted: bool = False, also: str = ""
    ) -> dict[str, Any] | None:
        row = self._row(tx, address, include_deleted, also)
        return None if row is None else dict(zip(self.columns, row, strict=True))

    def _row(self, tx: ReadTransaction, address: Address, include_deleted: bool, also: str) -> Row | None:
        by_id = address.id is not None
        key: dict[str, Any] = {"id": address.id} if by_id else {}
        if not by_id:
            key = {"workspace_norm": address.workspace_norm, "name_norm": address.name_norm}
        if also:
            tx.begin()
            key["now"] = tx.now
        statement = self._statements.get((by_id, include_deleted, also))
        return tx.row(statement or self._statement(by_id, include_deleted, also), key)

    def not_found(self, address: Address) -> MossError:
        """Return the error for an address without a row."""
        message = f"{self.noun} not found: {address.as_text()}"
        if address.id is not None:
            why = f"lists every {self.noun} with its id, name and workspace"
            recovery = next_call(self._lists_all, {"include_deleted": True}, why)
        else:
            arguments = {"workspace": address.workspace or DEFAULT_WORKSPACE}
            recovery = next_call(self._lists, arguments, f"lists the {self.noun}s of this workspace")
        return MossError("NOT_FOUND", message, recovery=recovery)

    def name_taken_error(self, workspace: str, name: str, what_to_do: str) -> MossError:
        """Return the error for a name that another row has."""
        article = "an" if self.noun[0] in "aeiou" else "a"
        return MossError(
            "NAME_ALREADY_EXISTS",
            f'{article} {self.noun} named "{name}" already exists in workspace "{workspace}"; {what_to_do}',
            recovery=next_call(
                f"{self.noun}_fetch", {"workspace": workspace, "name": name}, f"shows the {self.noun} that has the name"
            ),
        )

    def _statement(self, by_id: bool, include_deleted: bool, also: str) -> str:
        columns = ", ".join(self.columns)
        condition = f" and {also}" if also else ""
        start = f"select {columns} from {self.table} where "
        if by_id:
            alive = "" if include_deleted else " and deleted_at is null"
            statement = f"{start}id = :id{alive}{condition}"
        else:
            by_name = f"workspace_norm = :workspace_norm and name_norm = :name_norm{condition}"
            statement = f"{start}{by_name} and deleted_at is null"
            if include_deleted:
                # The active row, else the most recently deleted one; one statement, so one snapshot.
                statement = (
                    f"select {columns} from (select 0 as turn, {columns} from ({statement}) as active union all "
                    f"select 1 as turn, {columns} from ({start}{by_name} and deleted_at is not null "
                    f"order by deleted_at desc, change_seq desc limit 1) as latest) as found order by turn limit 1"
                )
        self._statements[by_id, include_deleted, also] = statement
        return statement


def row_address(row: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that fetch this row: its workspace and name, or its id if it has no name or is deleted."""
    if row.get("deleted_at") is not None:
        return {"id": row["id"], "include_deleted": True}
    if row["name_raw"] is None:
        return {"id": row["id"]}
    return {"workspace": row["workspace_raw"], "name": row["name_raw"]}
