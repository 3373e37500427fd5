"""OAuth 2.1: a server accepts the JWTs of one issuer for one audience, beside its own tokens.

The issuer's keys are read from its metadata when the first JWT arrives. They are read again when they are old, and when
a JWT names an unknown key, because issuers change their keys.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict, deque
from urllib.parse import urlsplit

from moss_memory.errors import MossError, invalid_request
from moss_memory.storage.server_tables import hash_of

from .listener import LOOPBACK
from .thread_pools import in_thread
from .token_registry import Access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from joserfc.jwk import Key

ALGORITHMS = ("RS256", "ES256")
READ, WRITE = "moss:read", "moss:write"
SCOPES = (READ, WRITE)
METADATA_PATH = "/.well-known/oauth-protected-resource"
KEYS_AGE_S = 300.0
"""The age at which the keys are read again, so that a withdrawn key is refused soon after."""
_RENEWALS, _RENEWALS_S = 5, 60.0
"""The maximum number of reads because of unknown keys in a minute: any client can send such a JWT."""
_NOT_BEFORE_LEEWAY_S = 5
"""The tolerated difference between the clocks of issuer and server."""
_MAX_TOKEN_CHARS = 16_000
_MAX_BYTES = 1_000_000
_MAX_CACHED = 4_096
_MAX_TIME_S = 1 << 40
_TIMEOUT_S = 5.0


class InsufficientScopeError(Exception):
    """A valid JWT without any scope of this server."""


class OAuth:
    """The verifier of the JWTs of one issuer."""

    def __init__(
        self,
        issuer: str,
        audience: str,
        *,
        fetch: Callable[[str], Any] | None = None,
        now_s: Callable[[], float] = time.time,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Check the issuer's address; `fetch` returns the JSON document at an address."""
        if not _is_secure(issuer) or set(issuer) & set("?#@") or not issuer.isascii() or not issuer.isprintable():
            raise invalid_request(
                "`oauth_issuer` must be the issuer's address, such as https://login.example.org; http is allowed on "
                "this machine only",
                path="oauth_issuer",
            )
        if not audience.strip():
            raise invalid_request("`oauth_audience` is blank; give the `aud` of the issuer's tokens for this server")
        self.issuer = issuer
        self.audience = audience
        self._fetch = fetch or _fetch
        self._now_s = now_s
        self._clock_s = clock_s
        self._keys: list[Key] = []
        self._read_s = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._renewals: deque[float] = deque()
        self._verified: OrderedDict[str, Access] = OrderedDict()

    def metadata(self, origin: str) -> dict[str, Any]:
        """Return the description of the protected resource (RFC 9728) of a server at this origin."""
        return {
            "resource": f"{origin}/mcp",
            "authorization_servers": [self.issuer],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Moss",
        }

    async def find(self, token: str) -> Access | None:
        """Return the access of a JWT, None if it is not valid.

        Raise `InsufficientScopeError` if it has no scope of this server, and `MossError` if the issuer's keys cannot be
        read.
        """
        if len(token) > _MAX_TOKEN_CHARS or token.count(".") != 2:
            return None
        await self._read_keys(KEYS_AGE_S)
        digest = hash_of(token.encode())
        access = self._verified.get(digest)
        if access is None:
            claims = self._verify(token)
            if claims is None and self._may_renew():
                await self._read_keys(0.0)
                claims = self._verify(token)
            access = None if claims is None else self._access(claims)
            if access is None:
                return None
            self._verified[digest] = access
            if len(self._verified) > _MAX_CACHED:
                self._verified.popitem(last=False)
        return access if self.is_current(access) else None

    def is_current(self, access: Access) -> bool:
        return access.expires_at is not None and access.expires_at > self._now_s()

    def _verify(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a JWT that one of the known keys has signed; None for any other text."""
        from joserfc import jws
        from joserfc.errors import JoseError

        # Issuers add headers of their own; unknown critical ones are refused nevertheless.
        rules = jws.JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            header = jws.extract_compact(token.encode()).headers()
            if header.get("alg") not in ALGORITHMS:
                return None
            for key in self._candidates(header):
                try:
                    payload = json.loads(jws.deserialize_compact(token, key, registry=rules).payload)
                except JoseError:
                    continue
                return payload if isinstance(payload, dict) else None
        except (JoseError, ValueError, RecursionError):
            return None
        return None

    def _candidates(self, header: dict[str, Any]) -> list[Key]:
        """Return the keys of the type of a JWT, only the key with its id if it names one."""
        kind = "RSA" if header["alg"].startswith("RS") else "EC"
        return [key for key in self._keys if key.key_type == kind and header.get("kid") in (None, key.kid)]

    def _access(self, claims: dict[str, Any]) -> Access | None:
        """Return the access that verified claims give, None if they are of another issuer, audience or time."""
        now = self._now_s()
        audience, subject = claims.get("aud"), claims.get("sub")
        expires, begins = _number(claims.get("exp")), _number(claims.get("nbf", 0))
        if claims.get("iss") != self.issuer or self.audience not in (
            audience if isinstance(audience, list) else [audience]
        ):
            return None
        if not isinstance(subject, str) or not subject or expires is None or begins is None:
            return None
        if expires <= now or begins > now + _NOT_BEFORE_LEEWAY_S:
            return None
        granted = _scopes(claims)
        if granted.isdisjoint(SCOPES):
            raise InsufficientScopeError
        email = claims.get("email")
        has_email = isinstance(email, str) and "@" in email and claims.get("email_verified") is not False
        return Access(
            str(email if has_email else subject),
            # The same for every JWT of a person, so that a session continues with a new JWT.
            hash_of(f"{self.issuer}\0{subject}".encode("utf-8", "replace")),
            read_only=WRITE not in granted,
            expires_at=int(expires),
        )

    def _may_renew(self) -> bool:
        """Return True if the keys may be read now because of an unknown one, and count it."""
        now = self._clock_s()
        while self._renewals and self._renewals[0] <= now - _RENEWALS_S:
            self._renewals.popleft()
        if len(self._renewals) >= _RENEWALS:
            return False
        self._renewals.append(now)
        return True

    async def _read_keys(self, max_age_s: float) -> None:
        """Read the keys if they are older than `max_age_s`; keep the known ones if the issuer does not answer."""
        if self._clock_s() - self._read_s < max_age_s:
            return
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._load_keys())
        await asyncio.shield(self._reading)

    async def _load_keys(self) -> None:
        began_s = self._clock_s()
        try:
            keys = await in_thread(self._fetch_keys)
        except (OSError, ValueError, RecursionError):
            if not self._keys:
                raise MossError(
                    "STORAGE_BUSY", "the keys of the issuer of tokens cannot be read; send the request again later"
                ) from None
            # Known keys stay valid while the issuer is away; they are read again after a tenth of their age.
            self._read_s = began_s - 0.9 * KEYS_AGE_S
            return
        self._keys, self._read_s = keys, began_s
        self._verified.clear()

    def _fetch_keys(self) -> list[Key]:
        """Return the issuer's keys for signatures of these algorithms; runs on a thread."""
        from joserfc.errors import JoseError
        from joserfc.jwk import ECKey, RSAKey

        keys: list[Key] = []
        document = self._fetch(self._keys_address())
        listed = document.get("keys") if isinstance(document, dict) else None
        for key in listed if isinstance(listed, list) else ():
            if not isinstance(key, dict) or key.get("use", "sig") != "sig":
                continue
            try:
                if key.get("kty") == "RSA":
                    keys.append(RSAKey.import_key(_public(key)))
                elif key.get("kty") == "EC" and key.get("crv") == "P-256":
                    keys.append(ECKey.import_key(_public(key)))
            except (JoseError, ValueError, TypeError, KeyError):
                continue  # one bad key does not make the others useless
        if not keys:
            raise ValueError("the issuer has no usable keys")
        return keys

    def _keys_address(self) -> str:
        """Return the address of the keys by the metadata of the issuer (RFC 8414, OpenID Connect)."""
        parts = urlsplit(self.issuer)
        path = parts.path.rstrip("/")
        origin = f"{parts.scheme}://{parts.netloc}"
        for address in dict.fromkeys((
            f"{origin}/.well-known/oauth-authorization-server{path}",
            f"{origin}/.well-known/openid-configuration{path}",
            f"{origin}{path}/.well-known/openid-configuration",
        )):  # fmt: skip
            try:
                document = self._fetch(address)
            except (OSError, ValueError, RecursionError):
                continue
            keys = document.get("jwks_uri") if isinstance(document, dict) else None
            if isinstance(keys, str) and document.get("issuer") == self.issuer and _is_secure(keys):
                return keys
        raise ValueError("the issuer has no metadata with its own name and the address of its keys")


def make_oauth(issuer: str | None, audience: str | None) -> OAuth | None:
    """Return the verifier for the options of `moss serve`; None without them."""
    if issuer is None and audience is None:
        return None
    if issuer is None or audience is None:
        raise invalid_request("`oauth_issuer` and `oauth_audience` belong together; give both")
    from importlib.util import find_spec

    if find_spec("joserfc") is None:
        raise invalid_request("OAuth needs joserfc; install: pip install 'moss-memory[oauth]'")
    return OAuth(issuer, audience)


def challenge(origin: str, *, presented: bool, insufficient: bool = False) -> bytes:
    """Return the header `WWW-Authenticate`, which names the metadata with the issuer."""
    error = 'error="insufficient_scope", ' if insufficient else 'error="invalid_token", ' if presented else ""
    return f'Bearer {error}scope="{" ".join(SCOPES)}", resource_metadata="{origin}{METADATA_PATH}"'.encode()


def _scopes(claims: dict[str, Any]) -> set[str]:
    """Return the granted scopes: `scope` with spaces between them, or `scp` as text or a list."""
    scopes = claims.get("scope", claims.get("scp"))
    words = scopes.split(" ") if isinstance(scopes, str) else scopes if isinstance(scopes, list) else []
    return {word for word in words if isinstance(word, str)}


def _public(key: dict[str, Any]) -> dict[str, Any]:
    return {name: key[name] for name in ("kty", "kid", "n", "e", "crv", "x", "y") if name in key}


def _number(value: object) -> float | None:
    """Return a number of seconds; None for any other value, NaN included."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value != value:
        return None
    return min(max(value, -_MAX_TIME_S), _MAX_TIME_S)


def _is_secure(address: str) -> bool:
    """Return True for an https address, or an http address of this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))


def _fetch(address: str) -> Any:
    """Return the JSON document at an address; follow no redirect."""
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    request = urllib.request.Request(address, headers={"Accept": "application/json"})  # noqa: S310 - _is_secure
    with urllib.request.build_opener(NoRedirect).open(request, timeout=_TIMEOUT_S) as answer:
        body = answer.read(_MAX_BYTES + 1)
    if len(body) > _MAX_BYTES:
        raise ValueError("the document is too long")
    return json.loads(body)
