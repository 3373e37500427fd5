"""The bind address: allowed hosts, their origins, and the conditions for remote access."""

from __future__ import annotations

from dataclasses import dataclass

from moss_memory.errors import invalid_request

from .listener import LOOPBACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PORT = 8314


@dataclass(kw_only=True)
class BindConfig:
    """The listening address and the allowed host names; remote access needs TLS.

    An incomplete configuration is refused by an error that names every missing setting.
    """

    host: str = LOOPBACK[0]
    allowed_hosts: Sequence[str] = ()
    behind_proxy: bool = False
    tls_cert: str | None = None
    tls_key: str | None = None

    def __post_init__(self) -> None:
        self.is_remote = self.host not in LOOPBACK or self.behind_proxy or bool(self.allowed_hosts)
        """True if other machines can connect."""
        self.secure = self.behind_proxy or self.tls_cert is not None
        if missing := list(self._missing()):
            needs = f"reaching beyond this machine (`host` {self.host}) needs more: " if self.is_remote else ""
            raise invalid_request(f"{needs}{'; '.join(missing)}. Complete: {self._complete_command()}")
        for name in self.allowed_hosts:
            if not name.isascii() or not name.isprintable() or set(name) & set("/@ *,") or name != name.lower():
                raise invalid_request(
                    f"`allowed_host` {name!r} is no host; give a name in lower case, with its port if it has one"
                )

    def _missing(self) -> Iterator[str]:
        if self.is_remote and not self.allowed_hosts:
            yield (
                "`allowed_host`: the name by which clients call this server; it keeps web pages from sending requests "
                "under another name"
            )
        if (self.tls_cert is None) != (self.tls_key is None):
            yield f"`{'tls_cert' if self.tls_cert is None else 'tls_key'}`: the two files of TLS belong together"
        elif self.is_remote and not self.secure:
            yield (
                "`tls_cert` and `tls_key`, or `behind_proxy` if a proxy does TLS: otherwise the token and all data are "
                "sent unencrypted"
            )

    def _complete_command(self) -> str:
        """Return the complete command; missing names are filled in with examples."""
        words = ["moss serve"]
        if self.host not in LOOPBACK:
            words.append(f"--host {self.host}")
        if self.is_remote:
            example = "moss.example.org" if self.behind_proxy else f"moss.example.org:{PORT}"
            words += [f"--allowed-host {name}" for name in self.allowed_hosts or (example,)]
        if self.behind_proxy:
            words.append("--behind-proxy")
        if self.tls_cert is not None or self.tls_key is not None or not self.behind_proxy:
            words.append(f"--tls-cert {self.tls_cert or 'cert.pem'} --tls-key {self.tls_key or 'key.pem'}")
        return " ".join(words)

    def origins(self, port: int) -> dict[bytes, bytes]:
        scheme = "https" if self.tls_cert else "http"
        local = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
        origins = {host.encode(): f"{scheme}://{host}".encode() for host in local}
        for name in self.allowed_hosts:
            origins[name.encode()] = f"https://{name}".encode()
        return origins

    def address(self, port: int) -> str:
        if self.allowed_hosts:
            return f"https://{self.allowed_hosts[0]}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{port}"
