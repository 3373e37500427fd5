"""Search for credentials in a text, in time that grows linearly with its length.

Nearly every text contains none, so a cheap test comes first: find runs of at least 16 characters that may form a key,
and look up the first letters of their words and a few literals. A pattern runs only if its prefix or literal was found,
and starts at that offset. Quantifiers are bounded or possessive (`{0,3}`, `{1,200}+`), so no pattern backtracks far.
"""

from __future__ import annotations

import functools
import re

from .kinds import (
    CONNECTION_FIELDS,
    CONTAINING,
    IN_RUNS,
    LOGIN,
    NAME_SIGNS,
    NAMED_BY_VENDOR,
    NAMED_KINDS,
    NAMES_OF_OTHERS,
    NAMES_OF_SECRETS,
    PASSWORD_NAMES,
    PASSWORD_SETTING,
    PASSWORDS,
    PLACEHOLDER_PARTS,
    PLACEHOLDERS,
    PREFIXED,
    SIGNED_URL,
    SURROUNDED,
    TELEGRAM,
    TWITTER,
    ZEROS,
)
from .randomness import BLOCK_CHARS, class_changes, compiled, is_after_base64, is_in_block, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int, str]
    """Start and end of a value, and its kind."""
    Check = Callable[[], object]
    """Called from time to time on a long text; raises if the caller has cancelled."""

SHORTEST = 16
"""The length of the shortest credential that is known by its shape."""
_CHECK_EVERY = 1000
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_CLASSES = bytes(ord("a") if code in _LETTERS + b"_-./+~%" else ord(" ") for code in range(256))
_WORDS = bytes(code if code in _LETTERS else ord(" ") for code in range(256))
_RUN = b"a" * SHORTEST
_HEAD = 3
"""The number of letters by which prefixes are looked up; no prefix begins with a shorter word."""
_NAME_CHARS = 80
_LINE_CHARS = 300
_LONGEST_NAMED = 8000
_SAMPLE = 200
"""Randomness is measured on the first characters, so that a long run takes no more time than a short one."""
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
_GENERAL = ("named-secret", "token-in-url", "password-setting", "api-key")
_BEFORE_VALUE = frozenset("=:\"'` \t>")


def spans_in(text: str, check: Check | None = None) -> list[Span]:
    """Return the spans and kinds of the credentials in a text, in order, none inside another."""
    found = sorted(_spans(text, check or _no_check), key=lambda span: (span[0], -span[1], span[2] in _GENERAL))
    kept: list[Span] = []
    for span in found:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def has_any(text: str, check: Check | None = None) -> bool:
    """Return whether a text contains a credential."""
    return any(True for _ in _spans(text, check or _no_check))


def is_name_of_secret(name: str) -> bool:
    """Return whether a value is probably a secret because of the name of its setting."""
    return len(name) <= _NAME_CHARS and _is_secret_name(name)


def _no_check() -> None:
    """Do nothing: the call cannot be cancelled."""


def _spans(text: str, check: Check) -> Iterator[Span]:
    """Yield every match of every kind; they may overlap."""
    ascii_text = text.encode("ascii", "replace")
    runs = _long_runs(text, ascii_text)
    if runs:
        joined = _joined(runs)
        heads = {word[:_HEAD] for word in joined.translate(_WORDS).split()}
        known = _heads()
        for prefix, kind in [entry for head in heads & known.keys() for entry in known[head]]:
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
    yield from _all_passwords(text, ascii_text.lower(), check)


def _all_passwords(text: str, lowered: bytes, check: Check) -> Iterator[Span]:
    """Yield the passwords, which have no shape, by the text around them."""
    if "@" in text and "://" in text:
        yield from _url_users(text)
    for kind, (literals, pattern) in PASSWORDS.items():
        if any(literal in text for literal in literals):
            check()
            yield from _passwords(text, pattern, kind, check)
    if b"pass" in lowered or b"pwd" in lowered:
        yield from _password_settings(text, lowered, check)


def _long_runs(text: str, ascii_text: bytes) -> list[tuple[int, bytes]]:
    """Return the runs of characters that are long enough for a credential, and where each begins."""
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
            heads.setdefault(head[:_HEAD], []).append((prefix, kind))
    return heads


def _prefixed(text: str, prefix: str, kind: str, check: Check) -> Iterator[Span]:
    """Yield the values of a kind that begin with one of its prefixes."""
    start = text.find(prefix)
    count = 0
    while start >= 0:
        end = start + len(prefix)
        if _is_edge(text, start):
            match = _rest(PREFIXED[kind][1]).match(text, end)
            if match is not None:
                if is_random(text[end : match.end()], prefix) and not is_in_block(text, start, match.end(), prefix):
                    yield start, match.end(), kind
                end = match.end()
        count += 1
        if count % _CHECK_EVERY == 0:
            check()
        start = text.find(prefix, end)


@functools.cache
def _rest(pattern: str) -> re.Pattern[str]:
    """Return the pattern of what follows a prefix: greedy without backtracking, or ended by an edge."""
    return re.compile(f"{pattern}+" if pattern.endswith(",}") else f"(?:{pattern})(?![A-Za-z0-9_])", re.ASCII)


def _is_edge(text: str, start: int) -> bool:
    """Return whether a value may begin here: not inside a word, but after an escaped character."""
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
        if count % _CHECK_EVERY == 0:
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
        yield from _at(text, zeros, TWITTER, "twitter-bearer-token")
    digits = compiled(r"[0-9]{8,10}:\Z").search(text[max(0, start - 11) : start])
    if digits is not None:
        yield from _at(text, start - len(digits[0]), TELEGRAM, "telegram-bot-token")


def _is_continued(text: str, zeros: int) -> bool:
    """Return whether zeros or other base64 end the line before."""
    return text[max(0, zeros - 8) : zeros].rstrip().endswith("AA") or is_after_base64(text, zeros)


def _at(text: str, start: int, pattern: str, kind: str) -> Iterator[Span]:
    """Yield the value of a kind that begins at an offset, if there is one."""
    match = _rest(pattern).match(text, start)
    if match is not None and is_random(match[0].lstrip("A")):
        yield start, match.end(), kind


def _kind_by_name(text: str, start: int, end: int) -> str:
    """Return the kind of a value by the name of its setting; the empty string if it is no secret."""
    before = text[max(0, start - _NAME_CHARS) : start].rpartition("\n")[2]
    value = text[start:end]
    if compiled(NAME_SIGNS).search(before.lower()) is None:
        return ""  # nearly always: the patterns below take ten times as long
    login = compiled(LOGIN).search(before)
    if login is not None and _is_login(value):
        return "docker-registry-auth" if login[1] else "basic-authorization"
    if not _is_secret_value(value):
        return ""
    name = _name_before(before)
    if not name:
        return next((kind for names, values, kind in NAMED_BY_VENDOR if _fits(before, names, value, values)), "")
    return next((kind for names, values, kind in NAMED_KINDS if _fits(name, names, value, values)), "named-secret")


def _fits(name: str, names: str, value: str, values: str) -> bool:
    return compiled(values).fullmatch(value) is not None and compiled(names).search(name) is not None


def _is_secret_value(value: str) -> bool:
    """Return whether a run is a key, and not a word, a path, a version or the name of a file.

    Keys mix digits with letters. The fewer groups of digits a value has, the more often its characters must change
    class: after every second one for one group (`checkout2026Release`), third for two, fourth for three and more. A
    hexadecimal number must have 32 digits, because shorter ones are commits and colours.
    """
    part = max(value[:_SAMPLE].split("."), key=len)
    if len(part) < SHORTEST or value.startswith("eyJ") or compiled("[0-9]").search(part) is None:
        return False
    if compiled(r"[A-Za-z0-9+/]*|[\w~+-]*").fullmatch(part) is None or not is_random(part):
        return False
    if compiled(r"[0-9a-f-]*").fullmatch(part):
        return len(part) >= 32 and not part.replace("-", "").isdigit()
    groups = len(compiled(r"[0-9]{1,200}+").findall(part))
    eighths = 4 if groups < 2 else 3 if groups == 2 else 2
    return groups >= 1 and 8 * class_changes(part) >= eighths * len(part)


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


def _is_login(value: str) -> bool:
    """Return whether base64 holds a user's name and a password."""
    import binascii

    try:
        login = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    user, colon, password = login.partition(":")
    return bool(user and colon and len(password) >= 4 and login.isprintable()) and not _is_placeholder(password, user)


_ACCEPTS = dict.fromkeys(("private-key", "ssh2-private-key", "putty-private-key"), bool)
"""The check of a match, if it is not the check for randomness."""


def _passwords(text: str, pattern: str, kind: str, check: Check) -> Iterator[Span]:
    """Yield the passwords of a kind that are no placeholders."""
    for count, match in enumerate(compiled(pattern).finditer(text), 1):
        if count % _CHECK_EVERY == 0:
            check()
        if kind == "netrc-password":
            before = text[max(0, match.start() - _LINE_CHARS) : match.start()]
            if "machine" not in before and "default" not in before:
                continue
        if not _is_placeholder(match[2], match[1]):
            yield *match.span(2), kind


def _is_placeholder(value: str, user: str) -> bool:
    """Return whether this is a placeholder for a password: a word for it, a variable, the user's name."""
    if value.lower() in PLACEHOLDERS or value == user or compiled(r"([xX*0.])\1*").fullmatch(value):
        return True
    if any(sign in value for sign in "{}$%<>[]|") or compiled(PLACEHOLDER_PARTS).search(value):
        return True
    is_mixed = value not in (value.lower(), value.upper())
    return not is_mixed and compiled("[0-9!#^&*+~]").search(value) is None


def _password_settings(text: str, lowered: bytes, check: Check) -> Iterator[Span]:
    """Yield the passwords in connection strings, and those in other settings that look random."""
    for name in PASSWORD_NAMES:
        start, count = lowered.find(name), 0
        while start >= 0:
            count += 1
            if count % _CHECK_EVERY == 0:
                check()
            match = compiled(PASSWORD_SETTING).match(text, start)
            kind = "" if match is None else _kind_of_password(text, start, match[1])
            if match is not None and kind:
                yield *match.span(1), kind
            start = lowered.find(name, start + len(name) if match is None else match.end())


def _kind_of_password(text: str, start: int, value: str) -> str:
    if _is_placeholder(value, ""):
        return ""
    line = text[max(0, start - _LINE_CHARS) : start].rpartition("\n")[2]
    if _is_connection(line):
        return "password-in-connection-string"
    return "password-setting" if _is_strong(value) else ""


def _is_connection(line: str) -> bool:
    """Return whether the text before a password on its line is the beginning of a connection string."""
    if "jdbc:" in line and line[-1:] in "?&;":
        return True
    if line.rstrip(" ").endswith(";"):
        fields = line.split(";")
    elif line.endswith(" ") and not any(sign in line for sign in ",;()"):
        fields = line.split(" ")
    else:
        return False
    names = [field.partition("=")[0].strip(" \"'`").lower() for field in fields[:-1] if "=" in field]
    return any(name in CONNECTION_FIELDS or name.rpartition(" ")[2] in CONNECTION_FIELDS for name in names)


def _is_strong(value: str) -> bool:
    """Return whether a password is too random for an example in documentation."""
    if len(value) < 10 or any(sign in value for sign in ".(/=:") or not is_random(value):
        return False
    kinds = [compiled(kind).search(value) is not None for kind in ("[0-9]", "[a-z]", "[A-Z]", "[!#^&*+~@?_-]")]
    return kinds[0] and sum(kinds) >= 3 and 3 * class_changes(value) >= len(value)


def _url_users(text: str) -> Iterator[Span]:
    """Yield the tokens that are the user's name in a URL, except the public keys of Sentry."""
    for match in compiled(r"://([\w.~+-]{20,200}):{0,1}@(?!\S{0,60}sentry)(?=[\w\[])").finditer(text):
        if _is_secret_value(match[1]):
            yield *match.span(1), "token-in-url"
