"""The tokenizer of texts and queries, the same on every engine.

It imports nothing else of Moss, so that the query parser below storage may use it.
"""

from moss_memory.storage.sqlite.fts_tokenizer import porter_stems, word_spans, words_of

__all__ = ["porter_stems", "word_spans", "words_of"]
