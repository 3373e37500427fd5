"""A proxy with TLS in front of a PostgreSQL server, with a self-signed certificate."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_REQUEST_BYTES = 8
_PIECE_BYTES = 65536


class TlsProxy:
    """Accept connections on this machine, with a certificate for a name; only the way to the proxy is encrypted.

    Where `speaks` is false it answers as a server without TLS does.
    """

    def __init__(self, server: str, folder: Path, *, certified: str, speaks: bool = True) -> None:
        self._server = server
        self._speaks = speaks
        self.roots = folder / f"{certified}.crt"
        key = folder / f"{certified}.key"
        _certify(certified, self.roots, key)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.roots, key)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.heard = b""
        """Bytes received before any encryption."""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._meet, args=(connection,), daemon=True).start()

    def _meet(self, connection: socket.socket) -> None:
        try:
            self.heard += connection.recv(_REQUEST_BYTES)
            connection.sendall(b"S" if self._speaks else b"N")
            inner = self._context.wrap_socket(connection, server_side=True) if self._speaks else connection
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
        except OSError:
            connection.close()
            return
        threading.Thread(target=_pass_on, args=(server, inner), daemon=True).start()
        _pass_on(inner, server)

    def close(self) -> None:
        """Accept no more connections."""
        self._listening.close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(_PIECE_BYTES):
            target.sendall(piece)
    except OSError:
        pass
    finally:
        for end in (source, target):
            end.close()


def _certify(name: str, certificate: Path, key_file: Path) -> None:
    """Write a key, and a self-signed certificate for a name."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
