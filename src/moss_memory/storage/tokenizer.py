"""How texts and questions are cut into words, on every engine the same: chosen here, made where SQLite is.

A leaf, so that the language of queries below storage may use it.
"""

from moss_memory.storage.sqlite.fts_tokenizer import places_of, porter_stems, words_of

__all__ = ["places_of", "porter_stems", "words_of"]
