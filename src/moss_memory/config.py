"""Load the settings from files and environment into one frozen Config that records the source of each value."""

from __future__ import annotations

import functools
import os
import stat

from .errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULTS: dict[str, Any] = {
    "workspace": "",
    "url": "",
    "capsule_max_chars": 12_000,
    "text_max_chars": 200_000,
    "import_max_bytes": 25_000_000,
    "page_max_chars": 100_000,
    "artifact_validate": False,
    "allow_secrets": False,
    "record_code": True,
    "history_keep": 100,
    "history_days": 365,
    "sync_folder": "",
    "allowed_paths": [],
    "allow_unsafe_paths": False,
    "trust_repo_config": False,
    "semantic_model": "",
    "disabled_tools": [],
    "disabled_types": [],
    "toolsets": [],
    "output_schemas": False,
    "token_calls_per_minute": 600,
    "token_calls_at_once": 16,
    "db_max_open_conns": 0,
    "db_max_idle_conns": 0,
}
"""Every key of a configuration file, with its default value."""

_ONLY_GLOBAL = (
    "url", "trust_repo_config", "history_keep", "history_days", "token_calls_per_minute", "token_calls_at_once",
)  # fmt: skip
_ONLY_WHEN_TRUSTED = ("allowed_paths", "allow_unsafe_paths", "semantic_model")
_ONLY_TO_FORBID = ("allow_secrets", "record_code")
ONLY_TO_LOWER = ("capsule_max_chars", "text_max_chars", "import_max_bytes")
_FILE_MAX_BYTES = 1_000_000


class Config:
    """The effective settings. Frozen: `replace` makes a changed copy."""

    def __init__(self, home: str, values: dict[str, Any], sources: dict[str, str], warnings: list[str]) -> None:
        self.__dict__.update(values, home=home, values=values, sources=sources, warnings=warnings)

    if TYPE_CHECKING:
        home: str
        values: dict[str, Any]
        sources: dict[str, str]
        warnings: list[str]

        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Config is frozen; use replace({name}=…)")

    @property
    def exports(self) -> str:
        """Return the folder of import and export files, the only one unless the settings allow others."""
        return os.path.join(self.home, "exports")

    def has_store(self) -> bool:
        """Return False if the home has no database yet, so that every read is empty; a server's always counts."""
        return bool(self.url) or os.path.lexists(os.path.join(self.home, "moss.db"))

    @functools.cached_property
    def model_folder(self) -> str:
        """Return the folder of the user's own embedding model; empty if none is set."""
        chosen = os.path.expanduser(self.semantic_model)
        return os.path.join(self.home, chosen) if chosen else ""

    def replace(self, **values: Any) -> Config:
        """Return a copy with some values changed."""
        sources = {**self.sources, **dict.fromkeys(values, "given")}
        return Config(self.home, {**self.values, **values}, sources, self.warnings)


def load_config(home: str | None = None, cwd: str | None = None) -> Config:
    """Return the settings for a home folder, merged with those of the repository around the current folder."""
    home = resolve_home(home)
    values, sources = _defaults(), dict.fromkeys(DEFAULTS, "default")
    warnings: list[str] = []
    global_path = os.path.join(home, "config.json")
    for key, value in _check_keys(_read(global_path, strict=True, warnings=warnings), global_path, warnings).items():
        values[key] = value
        sources[key] = global_path
    if values["sync_folder"]:
        values["sync_folder"] = os.path.join(home, os.path.expanduser(values["sync_folder"]))
    repo_path = find_repo_config(cwd, home)
    if repo_path:
        _merge_repo(values, sources, _read(repo_path, strict=False, warnings=warnings), repo_path, warnings)
    values["allowed_paths"] = _resolve_folders(values["allowed_paths"], warnings)
    chosen = os.environ.get("MOSS_WORKSPACE", "").strip()
    if chosen:
        if problem := _workspace_problem(chosen):
            raise MossError("INVALID_REQUEST", f"MOSS_WORKSPACE must be {problem}; correct or unset it")
        values["workspace"], sources["workspace"] = chosen, "MOSS_WORKSPACE"
    server = os.environ.get("MOSS_URL", "").strip()
    if server:
        if problem := _url_problem(server):
            raise MossError("INVALID_REQUEST", f"MOSS_URL must be {problem}; correct or unset it")
        values["url"], sources["url"] = server, "MOSS_URL"
    return Config(home, values, sources, warnings)


def default_config(home: str) -> Config:
    """Return the settings without any file."""
    return Config(home, _defaults(), dict.fromkeys(DEFAULTS, "default"), [])


def _defaults() -> dict[str, Any]:
    return {key: list(value) if isinstance(value, list) else value for key, value in DEFAULTS.items()}


def resolve_home(home: str | None = None) -> str:
    """Return the folder of the store, links resolved: the given one, else `MOSS_HOME`, else `~/.moss`."""
    chosen = home or os.environ.get("MOSS_HOME") or os.path.join("~", ".moss")
    try:
        return os.path.realpath(os.path.expanduser(chosen))
    except OSError:
        raise MossError(
            "INVALID_REQUEST", f"the current folder no longer exists; give {chosen!r} as an absolute path"
        ) from None


def find_repo_config(cwd: str | None, home: str) -> str | None:
    """Return the nearest `.moss/config.json` upward from the current folder, below the user's home folder."""
    try:
        folder = os.path.realpath(cwd or os.getcwd())
    except OSError:
        return None  # the current folder was removed
    stop = os.path.realpath(os.path.expanduser("~"))
    while folder != stop:
        candidate = os.path.join(folder, ".moss")
        path = os.path.join(candidate, "config.json")
        if os.path.lexists(path) and os.path.realpath(candidate) != home:
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _merge_repo(
    values: dict[str, Any], sources: dict[str, str], file_values: dict[str, Any], path: str, warnings: list[str]
) -> None:
    for key, value in _check_keys(file_values, path, warnings).items():
        if key in ONLY_TO_LOWER and value > values[key]:
            warnings.append(f"{path}: {key} is ignored; a repository may only lower it")
            continue
        if not _may_set(key, value, trusted=values["trust_repo_config"]):
            warnings.append(f"{path}: {key} is ignored; a repository may not set it (see trust_repo_config)")
            continue
        if key == "sync_folder" and value:
            value = _inside_repository(value, os.path.dirname(os.path.dirname(path)))
            if not value:
                warnings.append(f"{path}: sync_folder is ignored; a repository may only name a folder inside it")
                continue
        merged: Any
        if isinstance(value, list):
            merged = list(dict.fromkeys([*values[key], *value]))
        elif isinstance(value, bool):
            merged = (values[key] or value) and key not in _ONLY_TO_FORBID
        else:
            merged = value or values[key]
        if merged != values[key]:
            both = isinstance(value, list) and values[key]
            sources[key] = f"{sources[key]} + {path}" if both else path
            values[key] = merged


def _inside_repository(folder: str, root: str) -> str:
    """Return the absolute path of a folder inside a repository; empty if it is outside, or in git's own folder."""
    resolved = os.path.realpath(os.path.join(root, folder))
    inside = os.path.relpath(resolved, os.path.realpath(root)).split(os.sep)
    return "" if inside[0] in (os.curdir, os.pardir) or ".git" in inside else resolved


def _may_set(key: str, value: Any, *, trusted: bool) -> bool:
    if key in _ONLY_TO_FORBID:
        return not value
    return key not in _ONLY_GLOBAL and (key not in _ONLY_WHEN_TRUSTED or trusted)


def _read(path: str, *, strict: bool, warnings: list[str]) -> dict[str, Any]:
    """Return the JSON object in a configuration file; a broken file of a repository only adds a warning."""
    if not os.path.lexists(path):
        return {}
    file_values, problem = parse_config_file(path)
    if not problem:
        return file_values
    if strict:
        raise MossError("INVALID_REQUEST", f"{path}: {problem}; correct or remove the file", details={"file": path})
    warnings.append(f"{path} is ignored: {problem}")
    return {}


def parse_config_file(path: str) -> tuple[dict[str, Any], str]:
    """Return the JSON object in a configuration file, or a description of its fault."""
    return _parse(_read_regular(path))


def _parse(text: str | None) -> tuple[dict[str, Any], str]:
    """Return the JSON object in the text, or a description of its fault."""
    if text is None:
        return {}, "it cannot be read as a plain file of at most 1 MB"
    import json

    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"it is not valid JSON ({error})" if isinstance(error, ValueError) else "it is nested too deeply"
    return (dict(parsed), "") if isinstance(parsed, dict) else ({}, "it does not hold a JSON object")


def _read_regular(path: str) -> str | None:
    """Return the text of a regular file; None if it is missing, special or larger than 1 MB."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _FILE_MAX_BYTES:
            return None
        return os.read(fd, status.st_size).decode("utf-8-sig", "replace")
    finally:
        os.close(fd)


def _check_keys(file_values: dict[str, Any], path: str, warnings: list[str]) -> dict[str, Any]:
    """Return the known keys with values of the right type; add a warning for every other key."""
    good: dict[str, Any] = {}
    for key, value in file_values.items():
        if key not in DEFAULTS:
            warnings.append(f"{path}: unknown key {key!r} is ignored (known: {', '.join(DEFAULTS)})")
        elif value is not None:
            problem = _problem(key, value, DEFAULTS[key])
            if problem:
                warnings.append(f"{path}: {key} is ignored; it must be {problem}")
            elif value or not isinstance(DEFAULTS[key], int) or isinstance(DEFAULTS[key], bool):
                good[key] = value
    return good


def setting_problem(key: str, value: Any) -> str:
    """Describe the values that a setting may have; empty if this value is one."""
    if key not in DEFAULTS:
        return f"one of {', '.join(DEFAULTS)}"
    return _problem(key, value, DEFAULTS[key])


def _problem(key: str, value: Any, default: Any) -> str:
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "true or false"
    if isinstance(default, int):
        fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
        return "" if fits else "a whole number, 0 or more"
    if key == "workspace":
        return _workspace_problem(value)
    if key == "url":
        return _url_problem(value, in_file=True)
    if isinstance(default, str):
        fits = isinstance(value, str) and "\0" not in value and value.encode("utf-8", "replace").decode() == value
        return "" if fits else "the path of a folder"
    fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return "" if fits else "a list of strings"


def _workspace_problem(value: Any) -> str:
    """Describe the names that a workspace may have; empty if this name is one."""
    from moss_memory.rows.names import normalize_workspace  # imported late: few set a workspace

    try:
        value.encode()
        normalize_workspace(value or "default")
    except (AttributeError, UnicodeEncodeError, MossError):
        return "the name of a workspace: 1 to 256 characters, no control characters"
    return ""


def _url_problem(value: Any, *, in_file: bool = False) -> str:
    """Describe the URLs that a store may have; empty if this is one. A URL in a file has no password."""
    from moss_memory.storage.postgres.url import has_password, is_url, is_well_formed  # few stores are on a server

    if value == "":
        return ""
    if not isinstance(value, str) or not is_url(value) or not is_well_formed(value):
        return "a URL such as postgresql://host/database, in which other characters than those of names are encoded"
    if in_file and has_password(value):
        return "a URL without a password, which goes into the file that PGPASSFILE names"
    return ""


def _resolve_folders(paths: list[str], warnings: list[str]) -> list[str]:
    """Return allowed folders with their parents resolved; leave out relative ones and links with a warning."""
    good = []
    for path in paths:
        folder = os.path.normpath(os.path.expanduser(path))
        if not os.path.isabs(folder) or "\0" in folder or folder.encode("utf-8", "replace").decode() != folder:
            warnings.append(f"allowed_paths: {path!r} is ignored; give an absolute path")
        elif os.path.islink(folder):
            warnings.append(f"allowed_paths: {path!r} is ignored; it is a symbolic link, name the folder itself")
        else:
            good.append(os.path.join(os.path.realpath(os.path.dirname(folder)), os.path.basename(folder)))
    return good
