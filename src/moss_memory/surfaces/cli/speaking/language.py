"""What Moss says, in the command line's words: arguments as options, tools as commands.

The registry and the errors speak of arguments and tools, as programs and agents do; only what a person reads
in a terminal passes through here, and the names that change come from the registry.
"""

from __future__ import annotations

import re

from moss_memory import catalog

from ..parsing.groups import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from moss_memory.operation import Operation

    from ..commands.builtin import BuiltIn


def spoken(text: str, operation: Operation | BuiltIn, *, values: Iterable[str] = (), refusal: bool = False) -> str:
    """The text with `include_text` as `--include-text` and `capsule_restore` as `moss restore`.

    What the caller wrote (`values`) stays as it is. A refusal is about arguments, so that its plain words
    (`name`, `limit`) are arguments too, where it begins with one or counts several up.
    """
    if not operation.parameters:
        return text
    speaker = _Speaker(operation.name.partition("_")[0], refusal)
    said = _pattern(operation, [value for value in values if value.strip()]).sub(speaker.say, text)
    first, _, rest = said.partition(" ")
    named = rest.startswith(("'", '"'))  # "branch 'main' has …" is about the branch, not about the option
    return f"{_flag(first)} {rest}" if refusal and first in operation.parameters and not named else said


def _pattern(operation: Operation | BuiltIn, values: list[str]) -> re.Pattern[str]:
    """Finds, in this order: the caller's own words, a choice, a switch, several names in a row, code, one word."""
    any_name = _any_of(operation.parameters)
    choice = _any_of(name for name, schema in operation.parameters.items() if "enum" in schema) or "(?!)"
    return re.compile(
        (rf"(?<!\w)(?:{_any_of(values)})(?!\w)|" if values else "") + rf"(?<![\w./-])(?:"
        rf"(?P<open>`?)(?P<choice>(?i:{choice}))`?(?: is |: | )[\"`](?P<value>\w+)[\"`]"
        rf"|(?P<switch>{any_name}): true"
        rf"|(?P<row>(?:{any_name})(?:(?:, | or | and | beside )(?:{any_name}))+)"
        rf"|`(?P<code>{any_name})`"
        rf"|(?P<word>[a-z]+(?:_[a-z]+)+)"
        rf")(?![\w/-])"
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


class _Speaker:
    """Says one thing that was found in the command line's words."""

    def __init__(self, family: str, refusal: bool) -> None:
        self._family = family
        self._refusal = refusal

    def say(self, found: re.Match[str]) -> str:
        part = found.groupdict()
        if part["choice"]:
            tick = part["open"]
            return f"{tick}{_flag(part['choice'].lower())} {part['value']}{tick}"
        if part["switch"]:
            return _flag(part["switch"])
        if part["row"] and (self._refusal or "_" in part["row"]):
            return re.sub(r"\w+", lambda word: word[0] if word[0] in _BETWEEN else _flag(word[0]), part["row"])
        if part["code"]:
            return f"`{_flag(part['code'])}`"
        return self._word(part["word"]) if part["word"] else found[0]

    def _word(self, word: str) -> str:
        for tool in (word, f"{self._family}_{word}"):  # of its own family a tool may speak without the prefix
            if catalog.find(tool) is not None:
                return f"moss {words_of(tool)}"
        return _flag(word) if any(word in one.parameters for one in catalog.operations()) else word


_BETWEEN = ("or", "and", "beside")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
