"""The options of a connection that neither the URL nor the environment sets."""

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
"""The timeout of connecting to one host."""
_LOCAL = ("localhost", "::1")
_ROOT_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, Alpine
)
"""The trusted certificates of operating systems; the OpenSSL that is bundled with the driver uses none of them."""


def resolve_options(url: str) -> dict[str, Any]:
    """Return the connection options of a URL with defaults added.

    By default the certificate of a remote host is verified, and of several hosts the one that accepts writes is used.
    """
    try:
        url_options = conninfo_to_dict(url) if is_well_formed(url) else None
    except psycopg.ProgrammingError:
        url_options = None
    if url_options is None:
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
    if not is_local(url_options) and "sslmode" not in url_options and not os.environ.get("PGSSLMODE"):
        options["sslmode"] = "verify-full"
    mode = str(url_options.get("sslmode") or options.get("sslmode") or os.environ.get("PGSSLMODE", ""))
    if "sslrootcert" not in url_options and mode.startswith("verify-"):
        options.update(_root_certificate())
    return {**options, **url_options, "client_encoding": "utf8"}  # any other encoding cannot represent every text


def is_local(given: dict[str, Any]) -> bool:
    """Return True if every host of these options is this machine; a service may be remote."""
    if given.get("service") or os.environ.get("PGSERVICE"):
        return False
    hosts = given.get("hostaddr") or given.get("host") or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST", "")
    return all(map(_is_local_host, str(hosts).split(",")))


def _is_local_host(host: str) -> bool:
    """Return True for a Unix socket or a loopback address."""
    is_loopback = host.startswith("127.") and host.replace(".", "").isdecimal()
    return not host or host.startswith(("/", "@")) or is_loopback or host.lower() in _LOCAL


def _root_certificate() -> dict[str, str]:
    """Return the option of the system's root certificates; empty if the user has configured some."""
    own = os.path.expanduser(os.path.join("~", ".postgresql", "root.crt"))
    if os.environ.get("PGSSLROOTCERT") or os.path.exists(own):
        return {}
    certificates = (
        path for path in (os.environ.get("SSL_CERT_FILE", ""), *_ROOT_CERTIFICATES) if path and os.path.exists(path)
    )
    return {"sslrootcert": next(certificates, "system")}
