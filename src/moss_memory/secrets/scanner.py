"""Find credentials in the values that callers store: the kind and the place of each, in linear time.

Nearly every text contains none, so a cheap test comes first: find runs of at least 16 characters that may form a key,
and look up the first letters of their words and a few literals. A pattern runs only if its prefix or literal was found,
and starts at that offset. Quantifiers are bounded or possessive (`{0,3}`, `{1,200}+`), so no pattern backtracks far.
"""

from __future__ import annotations

import functools
import re

from moss_memory.errors import MossError

from .kinds import (
    CONTAINING,
    IN_RUNS,
    LOGIN,
    NAME_SIGNS,
    NAMED_BY_VENDOR,
    NAMED_KINDS,
    NAMES_OF_OTHERS,
    NAMES_OF_SECRETS,
    PREFIXED,
    SIGNED_URL,
    SURROUNDED,
    TELEGRAM,
    TWITTER,
    ZEROS,
)
from .passwords import CHECK_EVERY, PASSWORD_SIGNS, is_login, passwords_in
from .randomness import BLOCK_CHARS, SHORTEST, compiled, is_after_base64, is_in_block, is_key, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from moss_memory.config import Config

    from .passwords import Check, Span

MOST_FINDINGS = 20
_PATH_CHARS = 200
_SHORTEST_NAMED = 8
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_CLASSES = bytes(ord("a") if code in _LETTERS + b"_-./+~%" else ord(" ") for code in range(256))
_WORDS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))
_RUN = b"a" * SHORTEST
_LOOKUP_LETTERS = 3
"""The number of letters by which prefixes are looked up; no prefix begins with a shorter word."""
_NAME_CHARS = 80
_LONGEST_NAMED = 8000
_ESCAPE = r"\\(?:[nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})"
_BETWEEN_CHARS = 32
_BETWEEN = (
    r"(?:\\{0,1}[\"'`]{0,1}\]{0,1}\s{0,3}(?::=|=>|==|=|:)\s{0,3}(?:\\{0,1}[\"'`]){0,1}"
    r"(?:(?i:bearer|basic|token|apikey|api-key|ssws|geniekey|key|bot)\s|base64:){0,1}"
    r"|[\"']{0,1}\s(?:is|was)(?: now){0,1}:{0,1}\s|\s{1,2}|[\"']\s{0,1},\s{0,1})\Z"
)
"""The text between the name of a secret and its value: an assignment, with quotes and a scheme such as `Bearer`; or
`is` or `was`; or blanks; or the comma between two quoted texts."""
_NAME_LETTERS = (_LETTERS + b"_.-").decode()
_UNSPECIFIC_KINDS = ("named-secret", "token-in-url", "password-setting", "api-key")
_BEFORE_VALUE = frozenset("=:\"'` \t>")


def refuse_credentials(config: Config, arguments: dict[str, Any], check: Check | None = None) -> None:
    """Raise `SECRET_FOUND` if a value to be stored contains a credential, unless the configuration allows it.

    `check` is called from time to time on long texts and raises if the caller has cancelled.
    """
    if config.allow_secrets:
        return
    findings = findings_in(arguments, check=check)
    if not findings:
        return
    first = findings[0]
    rest = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    raise MossError(
        "SECRET_FOUND",
        f"{first['path']}, line {first['line']}, column {first['column']}, looks like a credential ({first['kind']})"
        f"{rest}; nothing was stored. Replace each value in `details.findings` by the place where it is kept, and send "
        "the call again. If it is a false positive, add `allow_secrets: true`",
        details={"findings": findings[:MOST_FINDINGS]},
    )


def findings_in(value: Any, path: str = "", check: Check | None = None) -> list[dict[str, Any]]:
    """Return the credentials in the texts of a value at any depth: `{kind, path, line, column}`, counted from 1."""
    # All texts at once first, because nearly always none is found: an artifact has many short ones, and searching each
    # took as long as storing them.
    if not has_any("\n".join(_bare_texts(value)), check):
        return []
    return [
        {"kind": kind, "path": where[:_PATH_CHARS], "line": line, "column": column}
        for where, text, name in _texts(value, path)
        for kind, line, column in _positions(text, name, check)
    ]


def _positions(text: str, name: str, check: Check | None) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, line and column of each credential in a text, the value of the setting of that name, if any."""
    line, line_start, counted_to = 1, 0, 0
    before = f"{name}=" if name else ""
    for start, _, kind in spans_in(before + text, check):
        start = max(0, start - len(before))
        line += text.count("\n", counted_to, start)
        line_start = max(line_start, text.rfind("\n", counted_to, start) + 1)
        counted_to = start
        yield kind, line, start - line_start + 1


def findings_fields(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"findings": found[:MOST_FINDINGS]} if found else {}


def redacted(value: str) -> str:
    """Return the text with `[removed: kind]` in the place of each credential."""
    parts, copied_to = [], 0
    for start, end, kind in spans_in(value):
        parts += [value[copied_to:start], f"[removed: {kind}]"]
        copied_to = end
    return "".join([*parts, value[copied_to:]])


def _bare_texts(value: Any) -> list[str]:
    texts: list[str] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            if len(part) >= SHORTEST:
                texts.append(part)
        elif isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            pending += part
            pending += part.values()
            texts += [f"{name}={text}" for name, text in part.items() if _is_named(name, text)]
    return texts


def _is_named(name: Any, value: Any) -> bool:
    """Return True if a value has to be looked at together with its name."""
    return isinstance(value, str) and len(value) >= _SHORTEST_NAMED and is_name_of_secret(name)


def _texts(value: Any, path: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every text that is long enough, keys too, with its path, and its name if that is one of a secret."""
    if isinstance(value, str):
        if len(value) >= SHORTEST or name:
            yield path, value, name
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts(part, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            shown = key
            if len(key) >= SHORTEST:
                yield path, key, ""
                shown = redacted(key)
            secret_name = key if _is_named(key, part) else ""
            yield from _texts(part, f"{path}.{shown}" if path else shown, secret_name)


def spans_in(text: str, check: Check | None = None) -> list[Span]:
    """Return the spans and kinds of the credentials in a text, in order, none inside another."""
    spans = sorted(_spans(text, check or _no_check), key=lambda span: (span[0], -span[1], span[2] in _UNSPECIFIC_KINDS))
    disjoint: list[Span] = []
    for span in spans:
        if not disjoint or span[0] >= disjoint[-1][1]:
            disjoint.append(span)
    return disjoint


def has_any(text: str, check: Check | None = None) -> bool:
    return any(True for _ in _spans(text, check or _no_check))


def is_name_of_secret(name: str) -> bool:
    """Return True if a value is probably a secret because of the name of its setting."""
    return len(name) <= _NAME_CHARS and _is_secret_name(name)


def _no_check() -> None:
    pass


def _spans(text: str, check: Check) -> Iterator[Span]:
    """Yield every match of every kind; they may overlap."""
    ascii_text = text.encode("ascii", "replace")
    runs = _long_runs(text, ascii_text)
    if runs:
        joined = _joined(runs)
        heads = {word[:_LOOKUP_LETTERS] for word in joined.translate(_WORDS).split()}
        kinds_by_head = _heads()
        for prefix, kind in [entry for head in heads & kinds_by_head.keys() for entry in kinds_by_head[head]]:
            check()
            yield from _prefixed(text, prefix, kind, check)
        yield from _unprefixed(text, runs, check)
        for literal, pattern, kind in _containing():
            if literal in joined:
                check()
                yield from _matches(text, pattern, kind)
        for kind, (literals, pattern) in SURROUNDED.items():
            if any(literal in text for literal in literals):
                check()
                yield from _matches(text, pattern, kind)
    lowered = ascii_text.lower()
    if any(sign in lowered for sign in PASSWORD_SIGNS):
        yield from passwords_in(text, lowered, check)


def _long_runs(text: str, ascii_text: bytes) -> list[tuple[int, bytes]]:
    """Return the runs of characters that are long enough for a credential, each with its offset."""
    classes = ascii_text.translate(_CLASSES)
    runs = []
    start = classes.find(_RUN)
    while start >= 0:
        end = classes.find(b" ", start)
        end = len(classes) if end < 0 else end
        runs.append((start, ascii_text[start:end]))
        if text[start - 1 : start] == "\\":  # the first letter may be that of a line break in JSON
            escape = compiled(_ESCAPE).match(text, start - 1)
            if escape is not None:
                runs.append((escape.end(), ascii_text[escape.end() : end]))
        start = classes.find(_RUN, end)
    return runs


def _joined(runs: list[tuple[int, bytes]]) -> bytes:
    """Return all runs in one; after an escaped character of a URL another word begins."""
    joined = b"\n".join([run for _, run in runs])
    return joined + b"\n" + re.sub(rb"%[0-9A-Fa-f]{2}", b" ", joined) if b"%" in joined else joined


@functools.cache
def _containing() -> list[tuple[bytes, str, str]]:
    return [
        (literal.encode(), pattern, kind) for kind, (literals, pattern) in CONTAINING.items() for literal in literals
    ]


@functools.cache
def _heads() -> dict[bytes, list[tuple[str, str]]]:
    """Return the prefixes and their kinds by the first letters of the word with which each begins."""
    heads: dict[bytes, list[tuple[str, str]]] = {}
    for kind, (prefixes, _) in PREFIXED.items():
        for prefix in prefixes:
            head = prefix.encode().translate(_WORDS).split()[0] if prefix[:1].isalnum() else b""
            heads.setdefault(head[:_LOOKUP_LETTERS], []).append((prefix, kind))
    return heads


def _prefixed(text: str, prefix: str, kind: str, check: Check) -> Iterator[Span]:
    """Yield the values of a kind that begin with one of its prefixes."""
    start = text.find(prefix)
    count = 0
    while start >= 0:
        end = start + len(prefix)
        if _is_edge(text, start):
            match = _pattern_after_prefix(PREFIXED[kind][1]).match(text, end)
            if match is not None:
                if is_random(text[end : match.end()], prefix) and not is_in_block(text, start, match.end(), prefix):
                    yield start, match.end(), kind
                end = match.end()
        count += 1
        if count % CHECK_EVERY == 0:
            check()
        start = text.find(prefix, end)


@functools.cache
def _pattern_after_prefix(pattern: str) -> re.Pattern[str]:
    """Return the pattern of the text after a prefix: greedy without backtracking, or ended by an edge."""
    return re.compile(f"{pattern}+" if pattern.endswith(",}") else f"(?:{pattern})(?![A-Za-z0-9_])", re.ASCII)


def _is_edge(text: str, start: int) -> bool:
    """Return True if a value may begin here: not inside a word, but after an escaped character."""
    if start == 0:
        return True
    before = text[start - 1]
    if not (before.isascii() and before.isalnum()):
        return True
    behind = text[max(0, start - 6) : start]
    return behind.rfind("%") == len(behind) - 3 >= 0 or compiled(rf"(?:{_ESCAPE})\Z").search(behind) is not None


def _unprefixed(text: str, runs: list[tuple[int, bytes]], check: Check) -> Iterator[Span]:
    """Yield the values that are known by their whole run, or by the text before them."""
    for count, (start, run) in enumerate(runs, 1):
        if count % CHECK_EVERY == 0:
            check()
        size = len(run)
        for kind, (least, sign, pattern) in IN_RUNS.items():
            if size >= least and run.count(sign) >= 2:
                yield from _matches(text, pattern, kind, start, start + size)
        if size <= _LONGEST_NAMED and text[start - 1 : start] in _BEFORE_VALUE:
            end = start + len(run.rstrip(b".~%"))
            kind = _kind_by_name(text, start, end)
            if kind:
                yield start, end, kind
        if b"AA" in run[:BLOCK_CHARS]:
            yield from _begun_with_zeros(text, start)
    if "sig=" in text:
        yield from _matches(text, SIGNED_URL, "azure-sas-signature")


def _begun_with_zeros(text: str, start: int) -> Iterator[Span]:
    """Yield a value that begins with the base64 of zeros; a longer text before it would be that of a binary."""
    zeros = text.find(ZEROS, start, start + BLOCK_CHARS + len(ZEROS))
    if zeros >= 0 and _is_edge(text, zeros) and not _is_continued(text, zeros):
        yield from _credential_at(text, zeros, TWITTER, "twitter-bearer-token")
    digits = compiled(r"[0-9]{8,10}:\Z").search(text[max(0, start - 11) : start])
    if digits is not None:
        yield from _credential_at(text, start - len(digits[0]), TELEGRAM, "telegram-bot-token")


def _is_continued(text: str, zeros: int) -> bool:
    """Return True if zeros or other base64 end the line before."""
    return text[max(0, zeros - 8) : zeros].rstrip().endswith("AA") or is_after_base64(text, zeros)


def _credential_at(text: str, start: int, pattern: str, kind: str) -> Iterator[Span]:
    """Yield the value of a kind that begins at an offset, if there is one."""
    match = _pattern_after_prefix(pattern).match(text, start)
    if match is not None and is_random(match[0].lstrip("A")):
        yield start, match.end(), kind


def _kind_by_name(text: str, start: int, end: int) -> str:
    """Return the kind of a value by the name of its setting; the empty string if it is no secret."""
    before = text[max(0, start - _NAME_CHARS) : start].rpartition("\n")[2]
    value = text[start:end]
    if compiled(NAME_SIGNS).search(before.lower()) is None:
        return ""  # most texts end here: the patterns below take ten times as long
    login = compiled(LOGIN).search(before)
    if login is not None and is_login(value):
        return "docker-registry-auth" if login[1] else "basic-authorization"
    if not is_key(value):
        return ""
    name = _name_before(before)
    if not name:
        return next(
            (kind for names, values, kind in NAMED_BY_VENDOR if _name_and_value_match(before, names, value, values)), ""
        )
    return next(
        (kind for names, values, kind in NAMED_KINDS if _name_and_value_match(name, names, value, values)),
        "named-secret",
    )


def _name_and_value_match(name: str, names: str, value: str, values: str) -> bool:
    return compiled(values).fullmatch(value) is not None and compiled(names).search(name) is not None


def _name_before(before: str) -> str:
    """Return the name of the setting at the end of a text, if it is one of a secret."""
    quoted = before.rstrip("\"'`\\")
    between = compiled(_BETWEEN).search(quoted, max(0, len(quoted) - _BETWEEN_CHARS))
    if between is None:
        return ""
    words = quoted[: between.start()]
    if compiled(rf"{NAMES_OF_SECRETS}[\w.\-]{{0,24}}+\Z").search(words) is None:
        return ""
    name = words[len(words.rstrip(_NAME_LETTERS)) :]
    if between[0].isspace() and not (name.startswith("--") or name.lower() == "bearer"):
        return ""
    return "" if compiled(NAMES_OF_OTHERS).search(name) else words[-_BETWEEN_CHARS:]


@functools.lru_cache(maxsize=512)
def _is_secret_name(name: str) -> bool:
    secret = compiled(rf"{NAMES_OF_SECRETS}|(?i:pwd\Z)").search(name)
    return secret is not None and compiled(NAMES_OF_OTHERS).search(name) is None


def _matches(text: str, pattern: str, kind: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Yield the matches of a whole pattern in a part of a text."""
    for match in compiled(pattern).finditer(text, start, len(text) if end is None else end):
        group = match.lastindex or 0
        if _ACCEPTS.get(kind, is_random)(match[group]):
            yield *match.span(group), kind


_ACCEPTS = dict.fromkeys(("private-key", "ssh2-private-key", "putty-private-key"), bool)
"""The check of a match, if it is not the check for randomness."""
