"""Credentials are found by their form, and ordinary text is not mistaken for one."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import re
import sysconfig
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_memory.secrets.kinds import LOGIN, NAME_SIGNS, NAMED_BY_VENDOR, NAMES_OF_SECRETS
from moss_memory.secrets.scanner import findings_in, redacted, spans_in
from support.made_up_credentials import ALNUM, HEX, TEXTS, TOKENS, Chance, some, uuid
from support.thorough import complete_or, is_thorough

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {**TOKENS, **TEXTS}
AROUND = (
    "{}",
    "export TOKEN={}",
    'token: "{}",',
    "the key is `{}`.",
    "ключ: {}; next",
    '{{"text": "first\\n{}\\nlast"}}',
    "curl -H 'Authorization: Bearer {}' https://api.example.com/v1",
    "- [ ] rotate {}\n- [x] done",
    "origin https://{}@github.com/shop/api.git (fetch)",
    "https://x-access-token:{}@github.com/shop/api.git",
    "https://api.example.com/v1/{}",
    "see-{}",
    "see.{}",
    "see+{}",
    "see~{}",
    "see_{}",
    "https://example.com/?next=a%3D{}",
)
EACH = 34


def _as_written(value: str, around: str) -> str:
    return around.format(value.replace("\n", "\\n") if "\\n" in around else value)


def test_made_up_credentials_of_many_kinds_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    chance = Chance(7)
    missed: dict[str, int] = {}
    for kind, make in KINDS.items():
        for number in range(EACH):
            text = make(chance)
            if kind in TOKENS:
                text = _as_written(text, AROUND[number % len(AROUND)])
            if not spans_in(text):
                missed[kind] = missed.get(kind, 0) + 1
    count = EACH * len(KINDS)
    with capsys.disabled():
        share = 1 - sum(missed.values()) / count
        print(f"\n{share:.2%} of {count:,} made-up credentials of {len(KINDS)} kinds found; missed: {missed}")
    assert len(KINDS) >= 134
    assert sum(missed.values()) <= 0.01 * count
    assert [kind for kind, times in missed.items() if times > EACH / 10] == []


@pytest.mark.parametrize("around", AROUND)
def test_a_token_is_found_after_any_text(around: str) -> None:
    chance = Chance(8)
    values = {kind: make(chance) for kind, make in TOKENS.items()}
    missed = [kind for kind, value in values.items() if not spans_in(_as_written(value, around))]
    assert len(missed) <= 0.03 * len(values), missed


def _paragraphs() -> Iterator[str]:
    """Return the paragraphs of the documentation and the sources of installed packages."""
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
        "postgres://Admin1:Admin1@db.example.net/shop",
        "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "token: ghp_aaaaaaaaaaaaaa1b2c3d4e5f6g7h8i9j0k1l",
        "cache_key: 4f1c9be07d23a86e55d0",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "the password is kept in the vault under shop/db",
        "commit 9a08f03c5d2b1e7f6a4d3c2b1a0f9e8d7c6b5a49",
        "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        "connect(host=host, user=user, password=settings.password)",
        "sk-learn-contrib-and-other-packages-of-that-kind",
        "eyJ is how a token begins",
    ],
)
def test_text_that_resembles_a_credential_is_not_reported(text: str) -> None:
    assert spans_in(text) == []


def test_a_finding_contains_kind_and_place_and_never_the_value() -> None:
    value = TOKENS["github"](Chance(1))
    body = {"title": "x", "notes": ["a", f"first line\nüber {value}"], "deep": {"k" * 20: value}}
    assert findings_in(body) == [
        {"kind": "github-token", "path": "notes[1]", "line": 2, "column": 6},
        {"kind": "github-token", "path": f"deep.{'k' * 20}", "line": 1, "column": 1},
    ]


def test_a_key_of_an_object_is_searched_too_and_is_not_in_a_path() -> None:
    value = TOKENS["aws-access-key"](Chance(2))
    found = findings_in({"data": {value: {"inner": value}}})
    assert [one["path"] for one in found] == ["data", "data.[removed: aws-access-key].inner"]
    assert value not in json.dumps(found)


def test_redacted_text_keeps_all_but_the_credentials() -> None:
    chance = Chance(3)
    values = [make(chance) for make in TOKENS.values()]
    clean = redacted("begin\n" + "\nbetween\n".join(values) + "\nend")
    assert spans_in(clean) == []
    assert clean.startswith("begin\n")
    assert clean.endswith("\nend")
    assert clean.count("\nbetween\n") == len(values) - 1


@pytest.mark.parametrize("name", ["api_key", "client_secret", "authToken", "password"])
def test_a_value_in_an_object_is_found_by_its_name(name: str) -> None:
    value = "q7" + some(Chance(5), ALNUM, 30)
    [found] = findings_in({"data": {name: f"{value}\n"}})
    assert (found["path"], found["line"], found["column"]) == (f"data.{name}", 1, 1)
    assert findings_in({"data": {"label": value}}) == []


@pytest.mark.parametrize("names", [NAMES_OF_SECRETS, LOGIN, *[names for names, _, _ in NAMED_BY_VENDOR]])
@given(data=st.data())
def test_the_quick_check_of_a_name_misses_no_credential(names: str, data: st.DataObject) -> None:
    name = data.draw(st.from_regex(re.compile(names, re.ASCII), fullmatch=True))
    assert re.search(NAME_SIGNS, name.lower())


def test_many_credentials_in_one_text_are_all_found_in_their_order() -> None:
    chance = Chance(4)
    value = TOKENS["github"]
    text = "\n".join(value(chance) for _ in range(300))
    assert [start for start, _, _ in spans_in(text)] == [41 * line for line in range(300)]


@cache
def _binaries() -> list[bytes]:
    """Return compiled modules and shared libraries of this interpreter and of what is installed."""
    places = [Path(sysconfig.get_paths()[name]) for name in ("platlib", "stdlib")]
    found = sorted({path for place in places for path in place.rglob("*") if path.suffix in (".so", ".pyc")})
    return [path.read_bytes()[:300_000] for path in found if path.is_file() and path.stat().st_size > 4_000][:200]


@pytest.mark.parametrize(
    ("share", "width", "line_end", "signs"),
    [
        (0, 64, "\n", b"+/"),
        (1, 76, "\n", b"+/"),
        (2, 120, "\n", b"+/"),
        (3, 120, "\r\n", b"+/"),
        (4, 0, "", b"+/"),
        (5, 76, "\\n", b"+/"),
        (6, 76, "\n", b"-_"),
        (7, 0, "", b"-_"),
    ],
)
def test_a_binary_as_base64_is_no_credential(share: int, width: int, line_end: str, signs: bytes) -> None:
    """Test every binary in every form with `--thorough`, else an eighth in each form."""
    found = _binaries()
    assert len(found) >= 150
    chosen = found if is_thorough() else found[share::8]
    binaries = [*chosen, b"\0" * 40_000, bytes(range(256)) * 200, Chance(9).randbytes(complete_or(300_000, 50_000))]
    alarms = []
    for number, binary in enumerate(binaries):
        coded = base64.b64encode(binary, signs).decode()
        text = line_end.join(coded[at : at + width] for at in range(0, len(coded), width)) if width else coded
        alarms += [(number, kind) for _, _, kind in spans_in(text)]
    assert alarms == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n"])
def test_the_first_part_of_a_line_of_base64_is_no_credential(line_end: str) -> None:
    """Test matches that begin after a sign within the first 40 characters; the line after it has no digit."""
    lines = [
        "BpbiBjbGFzcyApAnK2AAAAchQAAAByBAEAAHMDAAAAICAgchkAAADaD19oYXNoX2V4Y2VwdGlvbnILAQAAUQMAAHMoAAAAgADlChPwAAEV",
        (
            "L9ggI6QM8AMBFS/wAAEVL/EAAQsw9AABCzDwAAEFMHIYAAAAKQRGRkZGKQRG"
            "RkZUKQRGRlRGKQRGRlRUKQRGVEZGKQRGVEZUKQRGVFRGKQRGVFRUKQRURkZG"
        ),
        (
            "KQRURkZUKQRURlRGKQRURlRUKQRUVEZGKQRUVEZUKQRUVFRGKQRUVFRUYwsA"
            "AAAAAAAAAAAAAA4AAAADAAAA86QLAACXAGkAfQt8AGoAAAAAAAAAAAB0AgAA"
        ),
    ]
    assert spans_in(line_end.join(lines)) == []


@pytest.mark.parametrize(
    "line", ["=" * 70, "/" * 70, "+" * 70, "-" * 70, "a/b/c/" * 12, "docs/Guide2/" * 6, "9f3a" * 16]
)
def test_a_credential_beside_a_long_line_that_is_no_base64_is_found(line: str) -> None:
    value = TOKENS["aws-access-key"](Chance(11))
    for text in (f"{line}\n{value} is the key", f"the key:\n{value}\n{line}", f"{line}/{value}"):
        assert [kind for _, _, kind in spans_in(text)] == ["aws-access-key"], text


def _lines_of_tools(chance: Chance) -> list[str]:
    """Return lines as lock files, version control, style sheets and minified code have them."""
    sha1, sha256 = some(chance, HEX, 40), some(chance, HEX, 64)
    sha512 = base64.b64encode(chance.randbytes(64)).decode()
    return [
        f"api-{uuid(chance)}",
        f"key-{hashlib.md5(chance.randbytes(8), usedforsecurity=False).hexdigest()}",
        f"request {uuid(chance)} took 12 ms, trace_id={some(chance, HEX, 32)}",
        f"commit {sha1} (HEAD -> main, origin/main)",
        f"uses: actions/checkout@{sha1}",
        f"    --hash=sha256:{sha256} \\",
        f'"integrity": "sha512-{sha512}"',
        f'resolved "https://registry.yarnpkg.com/left-pad/-/left-pad-1.3.0.tgz#{sha1}"',
        f'checksum = "{sha256}"',
        f"github.com/pkg/errors v0.9.1 h1:{base64.b64encode(chance.randbytes(32)).decode()}",
        f"image: ghcr.io/shop/api@sha256:{sha256}",
        f".btn-{some(chance, HEX, 8)}{{background:url(data:image/png;base64,{sha512})}}",
        f"!function(e,t){{var n=t(7),r=e.exports=function(e){{return n.a{some(chance, HEX, 6)}(e)}}}}();",
        f"sourceMappingURL=main.{some(chance, HEX, 20)}.js.map",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(chance, ALNUM, 43)} dev@laptop",
        f'ETag: W/"{some(chance, HEX, 32)}", nextPageToken: {some(chance, ALNUM, 40)}',
        f"arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/db-{some(chance, ALNUM, 6)}",
        f"public_key: {base64.b64encode(chance.randbytes(32)).decode()}",
        "const token = await getAccessTokenSilently2({ scope: 'read:users_v2' });",
        "password: see the vault under shop/db; secret: stored in 1Password as item-42",
        f"kubectl rollout status deploy/api-{some(chance, HEX, 10)}-x7k2p --namespace shop-{some(chance, HEX, 12)}",
        f"ULID 01{some(chance, 'ABCDEFGHJKMNPQRSTVWXYZ0123456789', 24)} and nanoid {some(chance, ALNUM, 21)}",
        "TOKENIZER_MAX_LENGTH_2048=sentence-transformers/all-MiniLM-L6-v2",
        "github_pattern_matches_all_of_the_following_branches_and_more_2024",
    ]


def test_lines_that_tools_write_are_not_taken_for_credentials() -> None:
    chance = Chance(10)
    alarms = [line for _ in range(100) for line in _lines_of_tools(chance) if spans_in(line)]
    assert alarms == []
