"""The git repository of the current folder, read from its files without running git."""

from __future__ import annotations

import os

_MAX_BYTES = 10_000


def repository_name() -> str:
    """Return the folder name of the repository's main work tree, which all its work trees share; empty if there is
    none."""
    try:
        folder = work_tree()
        return os.path.basename(_main_work_tree(folder)) if folder else ""
    except (OSError, ValueError):
        return ""


def work_tree() -> str:
    """Return the folder with `.git` around the current folder; empty if there is none."""
    try:
        folder = os.getcwd()
    except OSError:
        return ""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def _main_work_tree(folder: str) -> str:
    """Return the main work tree of the repository of a folder with `.git`, empty if it has none."""
    git = os.path.join(folder, ".git")
    if os.path.isdir(git):
        return folder if os.path.isfile(os.path.join(git, "HEAD")) else ""
    key, _, place = _first_line(git).partition("gitdir:")
    own = os.path.normpath(os.path.join(folder, place.strip()))
    if key or not place.strip() or not os.path.isdir(own):
        return ""
    link = os.path.join(own, "commondir")
    if not os.path.isfile(link):
        return folder  # a submodule is a repository of its own
    common = os.path.normpath(os.path.join(own, _first_line(link)))
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common.removesuffix(".git")


def _first_line(path: str) -> str:
    """Return the first line of a small file."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(fd, _MAX_BYTES).decode().partition("\n")[0].strip()
    finally:
        os.close(fd)
