"""A local OAuth issuer: metadata, keys that it can change, and signed tokens with any claims."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey, Key, RSAKey

AUDIENCE = "moss-of-the-team"


class Issuer:
    """Serve metadata and keys at an address of this machine."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {}
        self.reads = 0
        """The number of times that the keys were read."""
        self.named = ""
        """The issuer's name in its metadata, its address unless set."""
        self.path = "/.well-known/oauth-authorization-server"
        self.extra_keys: list[dict[str, Any]] = []
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.answer(self)

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.add_key("first", "RS256")
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        document: dict[str, Any] | None = None
        if request.path == self.path:
            document = {"issuer": self.named or self.address, "jwks_uri": f"{self.address}/keys"}
        elif request.path == "/keys":
            self.reads += 1
            public = [{**key.as_dict(private=False), "kid": kid, "use": "sig"} for kid, key in self.keys.items()]
            document = {"keys": [*self.extra_keys, *public]}
        request.send_response(404 if document is None else 200)
        request.end_headers()
        request.wfile.write(json.dumps(document).encode())

    def add_key(self, kid: str, algorithm: str) -> None:
        self.keys[kid] = RSAKey.generate_key(2048) if algorithm == "RS256" else ECKey.generate_key("P-256")

    def now(self, later_s: int = 0) -> int:
        """Return the time in seconds, plus `later_s`."""
        return int(time.time()) + later_s

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a valid token with some changed, or left out if None."""
        usual = {
            "iss": self.address,
            "aud": AUDIENCE,
            "sub": "user-17",
            "email": "anna@example.org",
            "exp": self.now(3600),
            "scope": "moss:read moss:write",
        }
        return {name: value for name, value in {**usual, **changes}.items() if value is not None}

    def token(self, kid: str = "first", *, signed_by: Key | None = None, **changes: Any) -> str:
        key = signed_by or self.keys[kid]
        header = {"alg": "RS256" if key.key_type == "RSA" else "ES256", "kid": kid, "typ": "at+jwt"}
        return jws.serialize_compact(header, json.dumps(self.claims(**changes)), key)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
