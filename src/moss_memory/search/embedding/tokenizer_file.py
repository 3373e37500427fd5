"""A tokenizer as it is published, `tokenizer.json`, read by the package `tokenizers`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHARS_PER_PIECE = 20
"""No text has longer pieces on average; what comes after so many characters is not cut."""

_WITHOUT_GAPS = "\u2e80"
"""From here on in Unicode, Chinese and Japanese among them, words stand together and any piece may begin a passage."""


class TokenizerFile:
    """Cuts texts into the pieces of a vocabulary, of whatever kind the file says."""

    def __init__(self, path: str) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # one text at a time: no threads, no warning at forks
        from tokenizers import Tokenizer

        self._tokenizer = _unbroken(Tokenizer.from_file, path)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.around = self._around()

    def pieces_of(self, text: str, most: int) -> tuple[list[int], list[int]]:
        """The numbers of the first `most` pieces of a text, and for each where the word that it is of begins."""
        found = _unbroken(self._tokenizer.encode, text[: most * _CHARS_PER_PIECE], add_special_tokens=False)
        starts: list[int] = []
        for start, _ in found.offsets[:most]:
            starts.append(starts[-1] if starts and _goes_on(text, start) else start)
        return found.ids[:most], starts

    def _around(self) -> tuple[list[int], list[int]]:
        """The pieces that come before and after those of every text."""
        whole = _unbroken(self._tokenizer.encode, "a", add_special_tokens=True)
        inner = [at for at, special in enumerate(whole.special_tokens_mask) if not special]
        if not inner:
            return whole.ids, []
        return whole.ids[: inner[0]], whole.ids[inner[-1] + 1 :]


def _goes_on(text: str, start: int) -> bool:
    """Whether a piece that begins here stands inside of a word."""
    before, here = text[start - 1 : start], text[start : start + 1]
    return before.isalnum() and here.isalnum() and here < _WITHOUT_GAPS


def _unbroken(call: Any, *arguments: Any, **more: Any) -> Any:
    """What a call into the package gives; its panics, which pass every `except Exception`, become errors."""
    try:
        return call(*arguments, **more)
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise ValueError(f"the tokenizer failed ({error})") from None
