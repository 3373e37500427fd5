"""Messages to the operator: lines on stderr, and records of the standard `logging` library.

A record names tools, error codes, numbers and durations. It never contains arguments, names or stored text.

Importing `logging` takes milliseconds. So the command line imports it only if `MOSS_LOG` or `--verbose` asks for
records. A program that has imported `logging` itself gets all records from the logger `moss_memory`.
"""

from __future__ import annotations

import os
import sys

from .errors import MossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

DEBUG, INFO, WARNING, ERROR = 10, 20, 30, 40
"""The levels of the standard library."""
LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR}
LOGGER = "moss_memory"


def log(level: int, message: str, *values: object) -> None:
    """Pass a record to the logger; do nothing if the process has not imported `logging`."""
    logging = sys.modules.get("logging")
    if logging is not None and _is_enabled(logging, level):
        logging.getLogger(LOGGER).log(level, message, *values)


def _is_enabled(logging: ModuleType, level: int) -> bool:
    """Return True if records of this level are enabled; take no lock.

    `getLogger` and `isEnabledFor` acquire the lock of `logging` before their `try`. An interrupt between the two leaves
    it acquired, and every later call of the process would hang.
    """
    manager = logging.Logger.manager
    logger = manager.loggerDict.get(LOGGER)
    if not isinstance(logger, logging.Logger):  # nobody configured it
        logger = logging.root
    return bool(manager.disable < level >= logger.getEffectiveLevel())


def configure(*, verbose: bool = False) -> None:
    """Write records to stderr from the level of `MOSS_LOG` on, or from `debug` on if `verbose`."""
    chosen = "debug" if verbose else os.environ.get("MOSS_LOG", "").strip().lower()
    if not chosen:
        return
    if chosen not in LEVELS:
        raise MossError("INVALID_REQUEST", f"MOSS_LOG must be one of {', '.join(LEVELS)}; correct or unset it")
    import logging

    logger = logging.getLogger(LOGGER)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s moss %(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(LEVELS[chosen])


class LogStyle:
    """The format of the log: lines of text, or one JSON object on each line."""

    is_json = False


def say(text: str) -> None:
    """Write a line for the operator to stderr, if stderr is open."""
    if LogStyle.is_json:
        write_json_line("warning", {"message": text})
    else:
        _write_stderr(f"moss: {text}\n")


def write_json_line(level: str, fields: dict[str, object]) -> None:
    """Write a JSON object with the time, the level and these fields to stderr."""
    import json
    import time

    from moss_memory.rows.times import format_time

    now_ms = time.time_ns() // 1_000_000
    _write_stderr(json.dumps({"time": format_time(now_ms), "level": level, **fields}) + "\n")


def _write_stderr(text: str) -> None:
    try:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode())
        sys.stderr.flush()
    except (OSError, AttributeError):
        # The client closed stderr, or started the server without one.
        return
