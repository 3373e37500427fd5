"""Passwords, which have no shape of their own: they are found by the text around them."""

from __future__ import annotations

from .kinds import CONNECTION_FIELDS, PASSWORD_NAMES, PASSWORD_SETTING, PASSWORDS, PLACEHOLDER_PARTS, PLACEHOLDERS
from .randomness import class_changes, compiled, is_key, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int, str]
    """Start and end of a value, and its kind."""
    Check = Callable[[], object]
    """Called from time to time on a long text; raises if the caller has cancelled."""

PASSWORD_SIGNS = (b"@", b":5432:", b"curl ", b"machine ", b"pass", b"pwd")
"""A text without any of these, in lower case, contains no password."""
CHECK_EVERY = 1000
_LINE_CHARS = 300


def passwords_in(text: str, lowered: bytes, check: Check) -> Iterator[Span]:
    """Yield the passwords in a text, given the same in lower case."""
    if "@" in text and "://" in text:
        yield from _url_users(text)
    for kind, (literals, pattern) in PASSWORDS.items():
        if any(literal in text for literal in literals):
            check()
            yield from _passwords(text, pattern, kind, check)
    if b"pass" in lowered or b"pwd" in lowered:
        yield from _password_settings(text, lowered, check)


def is_login(value: str) -> bool:
    """Return True if base64 holds a user's name and a password."""
    import binascii

    try:
        login = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    user, colon, password = login.partition(":")
    return bool(user and colon and len(password) >= 4 and login.isprintable()) and not _is_placeholder(password, user)


def _passwords(text: str, pattern: str, kind: str, check: Check) -> Iterator[Span]:
    """Yield the passwords of a kind that are no placeholders."""
    for count, match in enumerate(compiled(pattern).finditer(text), 1):
        if count % CHECK_EVERY == 0:
            check()
        if kind == "netrc-password":
            before = text[max(0, match.start() - _LINE_CHARS) : match.start()]
            if "machine" not in before and "default" not in before:
                continue
        if not _is_placeholder(match[2], match[1]):
            yield *match.span(2), kind


def _is_placeholder(value: str, user: str) -> bool:
    """Return True if this is a placeholder for a password: a word for it, a variable, the user's name."""
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
            if count % CHECK_EVERY == 0:
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
    """Return True if the text before a password on its line is the beginning of a connection string."""
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
    """Return True if a password is too random for an example in documentation."""
    if len(value) < 10 or any(sign in value for sign in ".(/=:") or not is_random(value):
        return False
    kinds = [compiled(kind).search(value) is not None for kind in ("[0-9]", "[a-z]", "[A-Z]", "[!#^&*+~@?_-]")]
    return kinds[0] and sum(kinds) >= 3 and 3 * class_changes(value) >= len(value)


def _url_users(text: str) -> Iterator[Span]:
    """Yield the tokens that are the user's name in a URL, except the public keys of Sentry."""
    for match in compiled(r"://([\w.~+-]{20,200}):{0,1}@(?!\S{0,60}sentry)(?=[\w\[])").finditer(text):
        if is_key(match[1]):
            yield *match.span(1), "token-in-url"
