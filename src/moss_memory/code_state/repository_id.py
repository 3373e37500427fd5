"""The id of a repository: the same in all of its clones, and without a secret of any of them."""

from __future__ import annotations

import os
import re

from .repository_files import CONFIG_BYTES, is_object_id, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]')
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/@]*@)?([^/:]*)(?::(\d*))?(/.*)?", re.DOTALL)
_SHORT = re.compile(r"(?:[^/@:]*@)?([^/:]{2,}):(?!/{2})(.*)", re.DOTALL)
"""The short form of ssh; a single letter before the colon is the drive of a Windows path."""
_PATH_MAX_CHARS = 4_000
"""A longer path is not valid; git limits them as the system does."""
_USUAL_PORTS = ("", "22", "80", "443", "9418")


def read_git_config(config: str) -> Iterator[tuple[str, str, str]]:
    """Yield section, key and value of each line of a git configuration; files that it includes are not read."""
    content = read_file(config, CONFIG_BYTES) or b""
    section = ""
    for line in content.decode("utf-8", "replace").split("\n"):
        line = line.strip()
        if line.startswith("["):
            head = _SECTION.match(line)
            name, sub = (head[1].lower(), head[2]) if head else ("", None)
            section = name if sub is None else f"{name}.{sub}"
            line = line[head.end() :].strip() if head else ""
        key, separator, value = line.partition("=")
        if key and key[0] not in "#;":
            yield section, key.strip().lower(), _unquoted(value.strip()) if separator else "true"


def _unquoted(value: str) -> str:
    """Return a value without its quotes and comment."""
    if '"' not in value:
        return re.split(r"\s[#;]", value, maxsplit=1)[0].strip()
    return re.sub(r'(?<!\\)"', "", value).replace('\\"', '"').replace("\\\\", "\\")


def origin_id(url: str, work_tree: str) -> str:
    """Return the id of the repository with this `origin` URL, or at this local path."""
    return _hash("origin", normalize_url(url, work_tree))


def root_id(common: str) -> str:
    """Return the id of a repository by its root commit; empty if that is unknown."""
    root = _root_commit(common)
    return _hash("root", root) if root else ""


def local_path(url: str, work_tree: str) -> str:
    """Return the absolute path of a URL that is one of this machine; else empty."""
    url = url.strip()
    if len(url) > _PATH_MAX_CHARS or not url.isprintable():
        return ""
    long = _URL.fullmatch(url)
    if long:
        return os.path.normpath(long[4] or "/") if long[1].lower() == "file" else ""
    if not url.startswith((".", "/", "~")) and _SHORT.fullmatch(url):
        return ""
    return os.path.normpath(os.path.join(work_tree, url))


def normalize_url(url: str, work_tree: str) -> str:
    """Return host and path of a URL: without protocol, user, password and `.git`; a local path is absolute."""
    if path := local_path(url, work_tree):
        return path.removesuffix("/.git").rstrip("/").removesuffix(".git").rstrip("/")
    url = url.strip()
    if long := _URL.fullmatch(url):
        port = "" if (long[3] or "") in _USUAL_PORTS else f":{long[3]}"
        host, path = f"{long[2].lower()}{port}", long[4] or ""
    elif short := _SHORT.fullmatch(url):
        host, path = short[1].lower(), short[2]
    else:
        host, path = "", url
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host}/{path}"


def _root_commit(common: str) -> str:
    """Return the root commit as the log of `HEAD` begins with it; empty if the log does not.

    Only a program could read the whole history. The log of a repository that was made here begins with the initial
    commit; it no longer does after git has expired its entries.
    """
    content = read_file(os.path.join(common, "logs", "HEAD"), start=True) or b""
    line = content.partition(b"\n")[0].decode("utf-8", "replace")
    before, _, rest = line.partition(" ")
    commit = rest.partition(" ")[0]
    begins = not before.strip("0") and "\tcommit (initial)" in line
    return commit if begins and is_object_id(commit) else ""


def _hash(kind: str, text: str) -> str:
    from _blake2 import blake2b  # hashlib would load OpenSSL

    return f"{kind}-{blake2b(text.encode('utf-8', 'surrogateescape'), digest_size=16).hexdigest()}"
