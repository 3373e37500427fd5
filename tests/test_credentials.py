"""What looks like a credential is found by its shape, and ordinary text is not taken for one."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import random
import re
import string
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from moss_memory.credentials import findings_in, redacted
from moss_memory.credential_search import spans_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
BASE64URL = ALNUM + "-_"

Chance = random.Random


def _some(chance: Chance, letters: str, count: int) -> str:
    return "".join(chance.choices(letters, k=count))


def _begins(beginning: str, letters: str, count: int) -> Callable[[Chance], str]:
    """Values of one prefix and length. No prefix stands in one piece here, for scanners of repositories."""
    return lambda chance: beginning.replace("|", "") + _some(chance, letters, count)


def _uuid(chance: Chance) -> str:
    return "-".join(_some(chance, HEX, count) for count in (8, 4, 4, 4, 12))


def _token_of_json(chance: Chance) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": _some(chance, LOWER, 12), "iat": chance.randrange(10**9)}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, _some(chance, BASE64URL, 43)])


def _private_key(chance: Chance) -> str:
    kind = chance.choice(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
    lines = "\n".join(_some(chance, BASE64, 64) for _ in range(12))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def _address(scheme: str) -> Callable[[Chance], str]:
    return lambda chance: f"{scheme}://app:{_some(chance, ALNUM, 15)}7@db.internal:5432/shop"


MADE_UP: dict[str, Callable[[Chance], str]] = {
    "aws-access-key": _begins("AK|IA", UPPER, 16),
    "aws-secret-key": lambda chance: f"AWS_SECRET_ACCESS_KEY={_some(chance, BASE64, 37)}aB3",
    "github-token": _begins("gh|p_", ALNUM, 36),
    "github-fine-grained-token": lambda chance: (
        "github" + f"_pat_{_some(chance, ALNUM, 22)}_{_some(chance, ALNUM, 59)}"
    ),
    "gitlab-token": _begins("gl|pat-", BASE64URL[:-1], 20),
    "slack-token": lambda chance: f"xox{'b'}-{chance.randrange(10**11, 10**12)}-{_some(chance, ALNUM, 24)}",
    "slack-webhook": lambda chance: (
        f"https://hooks.slack{'.com'}/services/T{_some(chance, UPPER, 8)}/B{_some(chance, UPPER, 8)}/"
        f"{_some(chance, ALNUM, 24)}"
    ),
    "discord-webhook": lambda chance: (
        f"https://discord{'.com'}/api/webhooks/{chance.randrange(10**17, 10**18)}/{_some(chance, BASE64URL, 68)}"
    ),
    "discord-token": lambda chance: (
        f"{chance.choice('MNO')}{_some(chance, ALNUM, 25)}.{_some(chance, ALNUM, 6)}.{_some(chance, ALNUM, 38)}"
    ),
    "nuget-key": _begins("oy|2", LOWER, 43),
    "render-key": _begins("rn|d_", ALNUM, 32),
    "stripe-key": _begins("sk|_live_", ALNUM, 24),
    "stripe-webhook-secret": _begins("wh|sec_", ALNUM, 32),
    "google-api-key": _begins("AI|za", ALNUM, 35),
    "google-oauth-secret": _begins("GOC|SPX-", ALNUM, 28),
    "google-oauth-token": _begins("ya|29.", BASE64URL, 120),
    "google-refresh-token": _begins("1/|/0", ALNUM, 60),
    "anthropic-key": _begins("sk-|ant-api03-", ALNUM, 93),
    "openai-key": _begins("sk-|proj-", ALNUM, 64),
    "api-key": _begins("sk|-", ALNUM, 48),
    "openrouter-key": _begins("sk-|or-v1-", HEX, 64),
    "groq-key": _begins("gs|k_", ALNUM, 52),
    "xai-key": _begins("xa|i-", ALNUM, 80),
    "perplexity-key": _begins("pp|lx-", ALNUM, 48),
    "replicate-token": _begins("r|8_", ALNUM, 37),
    "hugging-face-token": _begins("hf|_", string.ascii_letters, 34),
    "langsmith-key": lambda chance: f"lsv2{'_pt_'}{_some(chance, HEX, 32)}_{_some(chance, HEX, 10)}",
    "npm-token": _begins("np|m_", ALNUM, 36),
    "pypi-token": _begins("pypi|-AgEIcHlwaS5vcmc", ALNUM, 120),
    "rubygems-key": _begins("ruby|gems_", HEX, 48),
    "docker-token": _begins("dckr|_pat_", ALNUM, 27),
    "sendgrid-key": lambda chance: f"S{'G.'}{_some(chance, ALNUM, 22)}.{_some(chance, ALNUM, 43)}",
    "mailgun-key": _begins("ke|y-", HEX, 32),
    "mailchimp-key": lambda chance: f"{_some(chance, HEX, 32)}-u{'s14'}",
    "brevo-key": lambda chance: f"xkey{'sib-'}{_some(chance, HEX, 64)}-{_some(chance, ALNUM, 16)}",
    "twilio-key": _begins("S|K", HEX, 32),
    "telegram-bot-token": lambda chance: f"{chance.randrange(10**8, 10**10)}:A{'A'}{_some(chance, ALNUM, 33)}",
    "json-web-token": _token_of_json,
    "private-key": _private_key,
    "age-secret-key": _begins("AGE-|SECRET-KEY-1", UPPER, 58),
    "azure-storage-key": lambda chance: (
        f"DefaultEndpointsProtocol=https;AccountName=shop;Account{'Key='}{_some(chance, BASE64, 86)}=="
    ),
    "azure-client-secret": lambda chance: f"{_some(chance, ALNUM, 3)}8{'Q~'}{_some(chance, ALNUM, 34)}",
    "digitalocean-token": _begins("dop|_v1_", HEX, 64),
    "heroku-key": lambda chance: f"HRK{'U-'}{_uuid(chance)}",
    "databricks-token": _begins("da|pi", HEX, 32),
    "vault-token": _begins("hv|s.", ALNUM, 90),
    "terraform-token": lambda chance: f"{_some(chance, ALNUM, 14)}.atlas{'v1.'}{_some(chance, ALNUM, 64)}",
    "grafana-token": lambda chance: f"gls{'a_'}{_some(chance, ALNUM, 32)}_{_some(chance, HEX, 8)}",
    "newrelic-key": _begins("NR|AK-", UPPER, 27),
    "sentry-token": lambda chance: f"sntr{chance.choice(('ys_', 'yu_'))}{_some(chance, ALNUM, 100)}",
    "linear-key": _begins("lin|_api_", ALNUM, 40),
    "notion-token": _begins("nt|n_", ALNUM, 46),
    "figma-token": _begins("fig|d_", ALNUM, 40),
    "postman-key": lambda chance: f"PMA{'K-'}{_some(chance, HEX, 24)}-{_some(chance, HEX, 34)}",
    "airtable-token": lambda chance: f"pa{'t'}{_some(chance, ALNUM, 14)}.{_some(chance, HEX, 64)}",
    "atlassian-token": _begins("ATA|TT3", ALNUM, 180),
    "shopify-token": _begins("shp|at_", HEX, 32),
    "square-token": _begins("sq0|atp-", ALNUM, 22),
    "planetscale-token": _begins("pscale|_tkn_", ALNUM, 43),
    "supabase-key": _begins("sb|p_", HEX, 40),
    "netlify-token": _begins("nf|p_", ALNUM, 40),
    "doppler-token": _begins("dp|.pt.", ALNUM, 43),
    "tailscale-key": lambda chance: f"tskey{'-auth-'}{_some(chance, ALNUM, 12)}-{_some(chance, ALNUM, 32)}",
    "pulumi-token": _begins("pu|l-", HEX, 40),
    "dynatrace-token": lambda chance: f"dt0{'c01.'}{_some(chance, UPPER, 24)}.{_some(chance, UPPER, 64)}",
    "alibaba-access-key": _begins("LT|AI", ALNUM, 20),
    "password-in-url": _address("postgresql"),
    "password-in-connection-string": lambda chance: (
        f"Server=tcp:db.internal;Database=shop;User Id=app;Pass{'word='}{_some(chance, ALNUM, 12)}4;"
    ),
}
"""Kind -> how one is made up."""

AROUND = (
    "{}",
    "export TOKEN={}",
    'token: "{}",',
    "the key is `{}`.",
    "ключ: {}; next",
    '{{"text": "first\\n{}\\nlast"}}',
    "curl -H 'Authorization: Bearer {}' https://api.example.com/v1",
    "- [ ] rotate {}\n- [x] done",
)
EACH = 25


def _as_written(value: str, around: str) -> str:
    return around.format(value.replace("\n", "\\n") if "\\n" in around else value)


def test_made_up_keys_of_many_kinds_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    chance = Chance(7)
    missed: dict[str, int] = {}
    for kind, made in MADE_UP.items():
        for number in range(EACH):
            value = made(chance)
            found = spans_in(_as_written(value, AROUND[number % len(AROUND)]))
            if [one for _, _, one in found] != [kind]:
                missed[kind] = missed.get(kind, 0) + 1
    count = EACH * len(MADE_UP)
    with capsys.disabled():
        found_share = 1 - sum(missed.values()) / count
        print(f"\n{found_share:.1%} of {count:,} made-up keys of {len(MADE_UP)} kinds found; missed: {missed}")
    assert len(MADE_UP) >= 40
    assert sum(missed.values()) <= 0.05 * count
    assert not [kind for kind, times in missed.items() if times > EACH / 2]


def _paragraphs() -> Iterator[str]:
    """The paragraphs of the documentation and the sources of what is installed."""
    for distribution in sorted(importlib.metadata.distributions(), key=lambda one: str(one.metadata["Name"]).lower()):
        for file in distribution.files or ():
            if file.suffix in (".py", ".md", ".rst", ".txt", ".pyi", "") and ".." not in file.parts:
                try:
                    text = file.locate().read_text(encoding="utf-8")  # type: ignore[attr-defined]
                except (OSError, ValueError):
                    continue
                yield from (part for part in re.split(r"\n\s*\n", text) if len(part) >= 40)


def test_ordinary_text_is_not_taken_for_a_credential(capsys: pytest.CaptureFixture[str]) -> None:
    count = alarms = 0
    for paragraph in islice(_paragraphs(), 100_000):
        count += 1
        alarms += bool(spans_in(paragraph))
    with capsys.disabled():
        print(f"\n{alarms} alarms in {count:,} ordinary paragraphs")
    assert count >= 10_000
    assert alarms <= count / 10_000


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user:password@localhost/db",
        "postgresql://scott:tiger@localhost/test",
        "redis://:${REDIS_PASSWORD}@cache:6379/0",
        "https://{user}:{password}@example.com",
        "amqp://guest:guest@localhost//",
        "mysql://root:********@db/shop",
        "https://git@github.com:shop/api.git",
        "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "the password is kept in the vault under shop/db",
        "commit 9a08f03c5d2b1e7f6a4d3c2b1a0f9e8d7c6b5a49",
        "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "connect(host=host, user=user, password=settings.password)",
        "sk-learn-contrib-and-other-packages-of-that-kind",
        "eyJ is how a token begins",
    ],
)
def test_what_only_stands_where_a_credential_would_is_none(text: str) -> None:
    assert spans_in(text) == []


def test_a_finding_says_kind_and_place_and_never_the_value() -> None:
    value = MADE_UP["github-token"](Chance(1))
    body = {"title": "x", "notes": ["a", f"first line\nüber {value}"], "deep": {"k" * 20: value}}
    assert findings_in(body) == [
        {"kind": "github-token", "path": "notes[1]", "line": 2, "column": 6},
        {"kind": "github-token", "path": f"deep.{'k' * 20}", "line": 1, "column": 1},
    ]


def test_a_key_of_an_object_is_looked_at_too_and_is_no_part_of_a_path() -> None:
    value = MADE_UP["aws-access-key"](Chance(2))
    found = findings_in({"data": {value: {"inner": value}}})
    assert [one["path"] for one in found] == ["data", "data.[removed: aws-access-key].inner"]
    assert value not in json.dumps(found)


def test_redacted_text_holds_no_credential_and_all_the_rest() -> None:
    chance = Chance(3)
    values = [made(chance) for made in MADE_UP.values()]
    text = "begin\n" + "\nbetween\n".join(values) + "\nend"
    clean = redacted({"text": [text]})["text"][0]
    assert spans_in(clean) == []
    assert clean.startswith("begin\n")
    assert clean.endswith("\nend")
    assert clean.count("\nbetween\n") == len(values) - 1


def test_many_credentials_in_one_text_are_all_found_in_their_order() -> None:
    chance = Chance(4)
    value = MADE_UP["github-token"]
    text = "\n".join(value(chance) for _ in range(300))
    assert [start for start, _, _ in spans_in(text)] == [41 * line for line in range(300)]


@pytest.mark.parametrize(
    "hostile", ["-----BEGIN PRIVATE KEY-----" * 500, "://a:" * 4000, "host=a;" * 3000 + "pwd=", "eyJ" * 6000]
)
def test_text_made_to_take_long_does_not(hostile: str) -> None:
    spans_in(hostile)
