"""How a server is spoken to: the options of a connection that a URL and the environment leave open."""

from __future__ import annotations

import os

import psycopg
from psycopg.conninfo import conninfo_to_dict

from moss_memory.errors import MossError

from .url import is_well_formed, without_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONNECT_S = 10
"""How long one host may take to answer."""
_LOCAL = ("localhost", "::1")
_ROOTS = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, Alpine
)
"""Where systems keep the certificates that they trust: the driver's own OpenSSL looks in none of these places."""


def options_of(url: str) -> dict[str, Any]:
    """The options with which a URL is opened: what it does not say itself is said here.

    A host that is not this machine has to prove who it is; of several hosts the one that can be written is taken.
    """
    try:
        given = conninfo_to_dict(url) if is_well_formed(url) else None
    except psycopg.ProgrammingError:
        given = None
    if given is None:
        raise MossError(
            "INVALID_REQUEST", f"{without_password(url)} is no URL of a PostgreSQL database; see `moss help config`"
        )
    options: dict[str, Any] = {
        "application_name": "moss",
        "connect_timeout": str(CONNECT_S),
        "target_session_attrs": "read-write",
        "keepalives_idle": "30",
        "keepalives_interval": "10",
        "keepalives_count": "3",
    }
    if not is_local(given) and "sslmode" not in given and not os.environ.get("PGSSLMODE"):
        options["sslmode"] = "verify-full"
    if "sslrootcert" not in given and _mode(given, options).startswith("verify-"):
        options.update(_roots())
    return {**options, **given, "client_encoding": "utf8"}  # every text has to pass, whatever the URL says


def is_local(given: dict[str, Any]) -> bool:
    """Whether every host of these options is this machine; a service may be anywhere."""
    if given.get("service") or os.environ.get("PGSERVICE"):
        return False
    named = given.get("hostaddr") or given.get("host") or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST", "")
    return all(map(_is_here, str(named).split(",")))


def _is_here(host: str) -> bool:
    """Whether this is a socket of this machine, or an address that never leaves it."""
    numbers = host.startswith("127.") and host.replace(".", "").isdecimal()
    return not host or host.startswith(("/", "@")) or numbers or host.lower() in _LOCAL


def _mode(given: dict[str, Any], options: dict[str, Any]) -> str:
    return str(given.get("sslmode") or options.get("sslmode") or os.environ.get("PGSSLMODE", ""))


def _roots() -> dict[str, str]:
    """The certificates that a server's is checked against, where nobody has said which: the user's, or the system's."""
    own = os.path.expanduser(os.path.join("~", ".postgresql", "root.crt"))
    if os.environ.get("PGSSLROOTCERT") or os.path.exists(own):
        return {}
    found = (path for path in (os.environ.get("SSL_CERT_FILE", ""), *_ROOTS) if path and os.path.exists(path))
    return {"sslrootcert": next(found, "system")}
