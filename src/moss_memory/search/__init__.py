"""Searching by words, by meaning, or by both.

The modules in the order in which a search happens:

- `query`: parse the text of a query: a natural question, or an expression with operators.
- `expression`: the syntax tree of an expression: phrases, prefixes, AND, OR, NOT.
- `tokens`: split text into the words of the index, CJK text into bigrams, and reduce words to their stems.
- `request`: the search request (query, mode, sources, filters, page), and the page of hits that answers it. Run it;
  fall back to a plain question, or from vectors to words. Each engine extends `SearchFilters`, its filters in SQL.
- `ranking`: the scores of hits and their order, by words, by vectors or by both; each engine computes bm25.
- `embedding`: the model that turns a text into vectors.
- `vectors`: the vectors of a store in memory, compared with the vector of a question.
- `embedding_queue`: compute the vectors that are missing, during a search or by `moss index`.
- `snippet`: the matched words of a text, and the part around them as HTML.
"""
