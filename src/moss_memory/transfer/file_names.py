"""Names as path components: readable, percent-encoded where a file system could refuse or confuse them."""

from __future__ import annotations

import re

from moss_memory.storage.call import ULID_ALPHABET

_MAX_BYTES = 200
"""The maximum length of a path component; with a suffix it stays below the limits of file systems."""
_SAFE = re.compile(r"[a-z0-9_][a-z0-9_ .+,;=@~!#$&'(){}\[\]^`-]*(?<![. ])")
"""Names that every file system accepts unencoded."""
_FORBIDDEN = frozenset('/\\:*?"<>|%')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.DOTALL)
"""Names of devices on Windows, with any extension."""
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OTHER_ID = "%id~"
_CUT = "%~"
"""Marks that percent-encoding never produces."""


def encode_name(norm: str) -> str:
    """Return the normal form of a name as a path component.

    Different names give paths that differ by more than case. A name that looks like an id is encoded, because rows
    without a name use their id.
    """
    special = _is_special(norm)
    if _SAFE.fullmatch(norm) and len(norm) <= _MAX_BYTES and not special:
        return norm
    last_index = len(norm) - 1
    parts = [
        _percent(char) if (special and index == 0) or _must_encode(char, index, last_index) else char
        for index, char in enumerate(norm)
    ]
    return _shorten("".join(parts), norm)


def encode_id(id: str) -> str:
    """Return an id as a path component: ULIDs and UUIDs unchanged, others marked and encoded."""
    if _ULID.fullmatch(id) or _UUID.fullmatch(id):
        return id
    encoded = "".join(
        [char if char.isascii() and (char.islower() or char.isdigit()) else _percent(char) for char in id]
    )
    return _shorten(_OTHER_ID + encoded, id)


def derive_id(*parts: str) -> str:
    """Return an id for a file without one; it is the same on every machine."""
    import hashlib

    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:15], "big")
    return "00" + "".join([ULID_ALPHABET[number >> shift & 31] for shift in range(115, -1, -5)])


def decode_name(path_component: str) -> str:
    """Return the name in a path component; that of a shortened one cannot be recovered."""
    from urllib.parse import unquote  # only few files need it

    return unquote(path_component, errors="strict") if "%" in path_component else path_component


def decode_id(path_component: str) -> str:
    """Return the id of a path component."""
    return decode_name(path_component.removeprefix(_OTHER_ID))


def is_id(path_component: str) -> bool:
    """Return True if a path component is an id and not a name."""
    return path_component.startswith(_OTHER_ID) or _ULID.fullmatch(path_component) is not None


def _is_special(norm: str) -> bool:
    return _RESERVED.fullmatch(norm) is not None or _ULID.fullmatch(norm.upper()) is not None


def _must_encode(character: str, index: int, last_index: int) -> bool:
    if character in _FORBIDDEN or (character in ". " and index in (0, last_index)):
        return True
    if character.isascii():
        return not character.isprintable() or character.isupper()
    import unicodedata

    folded = unicodedata.normalize("NFKC", character).casefold()
    return folded != character or not character.isprintable()


def _percent(character: str) -> str:
    return "".join([f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass")])


def _shorten(encoded: str, name: str) -> str:
    """Return a component that is too long as its beginning and a hash of the name."""
    raw = encoded.encode()
    if len(raw) <= _MAX_BYTES:
        return encoded
    import hashlib

    hashed = hashlib.sha256(name.encode()).hexdigest()[:32]
    start = raw[: _MAX_BYTES - len(_CUT) - len(hashed)].decode(errors="ignore")
    return re.sub("%[0-9A-F]?$", "", start) + _CUT + hashed
