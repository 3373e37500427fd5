"""Searching by words, by meaning, or by both.

The modules in the order in which a search happens:

- `query`: parse the text of a query: a natural question, or an expression with operators.
- `expression`: the syntax tree of an expression: phrases, prefixes, AND, OR, NOT.
- `tokens`: split text into the words of the index, CJK text into bigrams, and reduce words to their stems.
- `request`: the search request: query, mode, sources, filters, page. Run it; fall back to a plain question, or from
  vectors to words. `SearchFilters` are its filters as SQL conditions, which each engine extends to its `Scope`.
- `ranking`: the scores of hits and their order, by words, by vectors or by both; each engine's `word_search` computes
  bm25.
- `embedding`: the model that turns a text into vectors.
- `vectors`: the vectors of a store in memory, compared with the vector of a question.
- `embedding_queue`: compute the vectors that are missing, during a search or by `moss index`.
- `hits`: the page of hits that a search returns: document numbers, the matched words of a text, snippets as HTML.
"""
