"""A purged text leaves no byte in the database files, in the index included."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.shelf import Shelf


@pytest.mark.parametrize("others", [0, 300])
def test_a_purged_word_is_nowhere_on_disk(tmp_path: Path, others: int) -> None:
    path = tmp_path / "moss.db"
    shelf = Shelf(str(path))
    shelf.connection.execute("pragma journal_mode = wal").fetchall()
    shelf.connection.execute("pragma secure_delete = on").fetchall()
    for number in range(others):
        shelf.put(f"ordinary text number{number} with some words that repeat")
    secrets = ["xylozanthic", "quovergild", "zzyzxmarrow"]
    row = shelf.put(f"{secrets[0]} and {secrets[1]} " * 20, title=secrets[2])
    for number in range(others):
        shelf.put(f"later text number{number} with some words that repeat")
    shelf.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    assert any(secret.encode() in path.read_bytes() for secret in secrets)

    shelf.connection.execute("delete from capsules where row_id = ?", (row,))
    shelf.connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    # The index stores a word without the beginning it shares with the word before it.
    assert [secret for secret in secrets if secret.encode()[2:] in left] == []
    terms = b" ".join(bytes(term) for (term,) in shelf.connection.execute("select term from search_index_idx"))
    assert [secret for secret in secrets if secret.encode()[2:] in terms] == []
    shelf.connection.execute("insert into search_index (search_index, rank) values ('integrity-check', 1)")
    shelf.connection.close()
