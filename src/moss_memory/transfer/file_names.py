"""Names as parts of paths: readable, percent-encoded where a file system could refuse or confuse them."""

from __future__ import annotations

import re

_MAX_BYTES = 200
"""The maximum length of a part; with a suffix it stays below the limits of file systems."""
_SAFE = re.compile(r"[a-z0-9_][a-z0-9_ .+,;=@~!#$&'(){}\[\]^`-]*(?<![. ])")
"""Names that every file system accepts unencoded."""
_FORBIDDEN = frozenset('/\\:*?"<>|%')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.DOTALL)
"""Names of devices on Windows, with any extension."""
_ULID = re.compile("[0-9A-HJKMNP-TV-Z]{26}")
_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ULID_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_OTHER_ID = "%id~"
_CUT = "%~"
"""Marks that no encoded name contains."""


def encode_name(norm: str) -> str:
    """Return the normal form of a name as a part of a path.

    Two names never give parts that a file system without case takes for one. A name that looks like an id is encoded,
    because unnamed things have their id as file name.
    """
    if _SAFE.fullmatch(norm) and len(norm) <= _MAX_BYTES and not _is_special(norm):
        return norm
    last = len(norm) - 1
    special = _is_special(norm)
    parts = [
        _percent(one) if (special and index == 0) or _must_encode(one, index, last) else one
        for index, one in enumerate(norm)
    ]
    return _shorten("".join(parts), norm)


def encode_id(id: str) -> str:
    """Return an id as a part of a path: ULIDs and UUIDs unchanged, others marked and encoded."""
    if _ULID.fullmatch(id) or _UUID.fullmatch(id):
        return id
    encoded = "".join([one if one.isascii() and (one.islower() or one.isdigit()) else _percent(one) for one in id])
    return _shorten(_OTHER_ID + encoded, id)


def derive_id(*parts: str) -> str:
    """Return an id for a file without one; it is the same on every machine."""
    import hashlib

    number = int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:15], "big")
    return "00" + "".join([_ULID_ALPHABET[number >> shift & 31] for shift in range(115, -1, -5)])


def decode_name(part: str) -> str:
    """Return the name in a part of a path; that of a shortened part cannot be recovered."""
    from urllib.parse import unquote  # only few files need it

    return unquote(part, errors="strict") if "%" in part else part


def decode_id(part: str) -> str:
    """Return the id that a part of a path means."""
    return decode_name(part.removeprefix(_OTHER_ID))


def is_id(part: str) -> bool:
    """Return whether a part of a path is an id and no name."""
    return part.startswith(_OTHER_ID) or _ULID.fullmatch(part) is not None


def _is_special(norm: str) -> bool:
    return _RESERVED.fullmatch(norm) is not None or _ULID.fullmatch(norm.upper()) is not None


def _must_encode(character: str, index: int, last: int) -> bool:
    if character in _FORBIDDEN or (character in ". " and index in (0, last)):
        return True
    if character.isascii():
        return not character.isprintable() or character.isupper()
    import unicodedata

    folded = unicodedata.normalize("NFKC", character).casefold()
    return folded != character or not character.isprintable()


def _percent(character: str) -> str:
    return "".join([f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass")])


def _shorten(encoded: str, name: str) -> str:
    """Return a part that is too long as its beginning and a hash of the name."""
    raw = encoded.encode()
    if len(raw) <= _MAX_BYTES:
        return encoded
    import hashlib

    hashed = hashlib.sha256(name.encode()).hexdigest()[:32]
    start = raw[: _MAX_BYTES - len(_CUT) - len(hashed)].decode(errors="ignore")
    return re.sub("%[0-9A-F]?$", "", start) + _CUT + hashed
