"""Searches in a single source of the common index."""

from __future__ import annotations

from unittest import mock

import pytest

from moss_memory.storage.sqlite import search_index as sqlite_search
from search.capsules import CapsuleDatabase


def put_artifact(database: CapsuleDatabase, text: str) -> None:
    database.connection.execute(
        "insert into artifacts (id, workspace_raw, workspace_norm, kind, data_json, text, data_chars, version,"
        " created_at, updated_at, change_seq) values ('a', 'w', 'w', 'note', '{}', ?, 2, 1, 1, 1, 1)",
        (text,),
    )


@pytest.mark.parametrize("few", [0, 200])
@pytest.mark.parametrize("question", ["redis", "redis cache session", '"redis cache"'])
def test_capsules_are_found_and_counted_without_the_artifacts(
    database: CapsuleDatabase, question: str, few: int
) -> None:
    rows = [database.put("redis cache session"), database.put("redis cache")]
    with mock.patch.object(sqlite_search, "_FEW_MATCHES", few):
        before = database.search(question)
        put_artifact(database, "redis cache session")
        after = database.search(question)
        artifacts = database.search(question, sources=("artifact",), now=1)
    assert {hit.document.row for hit in before.items} == set(rows)
    assert (len(before.items), before.total) == (2, 2)
    assert [hit.document.row for hit in after.items] == [hit.document.row for hit in before.items]
    assert after.total == 2
    assert [hit.document.source for hit in artifacts.items] == ["artifact"]
    assert artifacts.total == 1
