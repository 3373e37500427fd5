"""Capsules inserted by plain SQL into the real schema, and a reference implementation of a search."""

from __future__ import annotations

import math
from typing import Any

import apsw

from moss_memory.search.query import parse_query
from moss_memory.search.request import Hits, SearchRequest
from moss_memory.search.tokens import STOP_WORDS, question_words, stems_of, words_in
from moss_memory.storage.sqlite.functions import add_functions
from moss_memory.storage.sqlite.schema_migrations import migrations_after
from moss_memory.storage.sqlite.search_index import search_by_words


class CapsuleDatabase:
    """Capsules in a database, inserted by plain SQL."""

    def __init__(self, path: str = ":memory:") -> None:
        self.connection = apsw.Connection(path)
        add_functions(self.connection)
        for _, sql in migrations_after(0):
            self.connection.execute(sql).fetchall()
        self.texts: dict[int, tuple[str, str]] = {}

    def put(self, text: str, *, title: str | None = None, name: str | None = None, workspace: str = "w",
            deleted: bool = False, run_id: str | None = None, updated_at: int | None = None) -> int:  # fmt: skip
        """Insert a capsule and return its row."""
        row = len(self.texts) + 1
        self.connection.execute(
            "insert into capsules (row_id, id, workspace_raw, workspace_norm, name_raw, name_norm, title, capsule_text,"
            " capsule_chars, tokens_estimate, run_id, created_at, updated_at, deleted_at, change_seq)"
            " values (:row, :row, :workspace, :workspace, :name, lower(:name), :title, :text, 1, 1, :run_id, 1,"
            " :updated_at, :deleted_at, :row)",
            {
                "row": row,
                "workspace": workspace,
                "name": name,
                "title": title,
                "text": text,
                "run_id": run_id,
                "updated_at": row if updated_at is None else updated_at,
                "deleted_at": row if deleted else None,
            },
        )
        self.texts[row] = (title or name or "", text)
        return row

    def search(
        self, text: str, *, limit: int = 100, sources: tuple[str, ...] = ("capsule",), now: int = 0, **filters: Any
    ) -> Hits:
        request = SearchRequest(parse_query(text), sources=sources, limit=limit, **filters)
        return search_by_words(self.connection, request, now)

    def find(self, text: str, **options: Any) -> list[int]:
        """Return the rows of one page, in order."""
        return [hit.document.row for hit in self.search(text, **options).items]


def model_of(database: CapsuleDatabase, question: str) -> dict[int, float]:
    """Return the score of each row that a question finds, computed from every text.

    bm25 is computed as in FTS5: over all rows, each form of a word by itself, the filter's words in the length.
    """
    texts = {row: (words_in(title), words_in(body)) for row, (title, body) in database.texts.items()}
    filters = dict(database.connection.execute("select row_id, search_filter from capsules"))
    length = {row: len(title) + len(body) + len(words_in(filters[row])) for row, (title, body) in texts.items()}
    average = sum(length.values()) / len(length)
    words = question_words(question)
    stems = set(stems_of([word for word in words if word not in STOP_WORDS] or words))
    seen = {form for title, body in texts.values() for form in (*title, *body)}
    forms = {form: stems_of([form])[0] for form in seen if stems_of([form])[0] in stems}
    hits = {form: sum(form in title or form in body for title, body in texts.values()) for form in forms}
    idf = {}
    for stem in stems:
        held = min(len(texts), sum(hits[form] for form in forms if forms[form] == stem))
        idf[stem] = math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
    found = {}
    for row, (title, body) in texts.items():
        here = {forms[form] for form in (*title, *body) if form in forms}
        bm25 = 0.0
        for form in forms:
            rarity = math.log((len(texts) - hits[form] + 0.5) / (hits[form] + 0.5))
            often = 5.0 * title.count(form) + body.count(form)
            part = often * 2.2 / (often + 1.2 * (0.25 + 0.75 * length[row] / average))
            bm25 += (rarity if rarity > 0 else 1e-6) * part
        if here:
            ideal = 2.2 * sum(idf.values())
            found[row] = bm25 / ideal + 0.5 * sum(idf[stem] for stem in here) / sum(idf.values())
    return found
