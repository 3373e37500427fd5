"""A tokenizer in its published form, `tokenizer.json`, read by the package `tokenizers`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARS_PER_PIECE = 20
"""An upper bound of the average; characters beyond it are not tokenized."""

_FIRST_WITHOUT_SPACES = "\u2e80"
"""From here on in Unicode, scripts such as Chinese have no spaces between words: any token may begin a chunk."""


class TokenizerFile:
    """Splits texts into tokens by the algorithm and vocabulary of the file."""

    def __init__(self, path: str) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # no threads, and no warning at forks
        from tokenizers import Tokenizer

        self._tokenizer = _call(Tokenizer.from_file, path)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.special_tokens = self._special_tokens()

    def pieces_of(self, text: str, most: int) -> tuple[list[int], list[int]]:
        """Return the ids of the first `most` tokens of a text, and the offset of each token's word."""
        encoding = _call(self._tokenizer.encode, text[: most * _CHARS_PER_PIECE], add_special_tokens=False)
        starts: list[int] = []
        for start, _ in encoding.offsets[:most]:
            starts.append(starts[-1] if starts and _is_inside_word(text, start) else start)
        return encoding.ids[:most], starts

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """Return the special tokens before and after those of every text."""
        whole = _call(self._tokenizer.encode, "a", add_special_tokens=True)
        inner = [index for index, special in enumerate(whole.special_tokens_mask) if not special]
        if not inner:
            return whole.ids, []
        return whole.ids[: inner[0]], whole.ids[inner[-1] + 1 :]


def _is_inside_word(text: str, start: int) -> bool:
    before, here = text[start - 1 : start], text[start : start + 1]
    return before.isalnum() and here.isalnum() and here < _FIRST_WITHOUT_SPACES


def _call(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call a function of the package, and turn its panics, which are no `Exception`, into a ValueError."""
    try:
        return function(*arguments, **options)
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise ValueError(f"the tokenizer failed ({error})") from None
