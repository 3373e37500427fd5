"""`moss serve`: start, invalid configurations, sign-in and shutdown."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contract.doors import FULL
from moss_memory.errors import MossError
from moss_memory.http import server as server_module
from moss_memory.http.bind import BindConfig
from moss_memory.http.browser_cookie import KEPT_S, RENEW_S, BrowserKey
from moss_memory.http.http_clients import connect_commands
from moss_memory.http.listener import open_listener, port_owner
from moss_memory.http.sign_in import LINK_S, MAX_SESSIONS, SignIn
from moss_memory.http.token_file import load_token
from support.http_server import FAKES, SERVE, Answer, HttpServer
from support.mcp_pipe import call, request
from support.python_process import environment
from support.timeouts import TIMEOUT_S, wait_until


def structured(answer: Answer) -> Any:
    return answer.json["result"]["structuredContent"]


def refused_to_start(home: Path, *options: str) -> str:
    """Assert that a server does not start, and return its error message."""
    made = subprocess.run(
        [sys.executable, "-c", SERVE, "serve", "--home", str(home), *options],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=home.parent,
        timeout=TIMEOUT_S,
    )
    assert made.returncode == 1, made.stdout
    return made.stderr


def test_tools_can_be_called_over_http(server: HttpServer) -> None:
    stored = server.post(call("capsule_store", {"name": "auth", "capsule_text": FULL, "mode": "replace"}))
    assert structured(stored)["fetch_key"]["moss_capsule"] == "auth"
    assert structured(server.post(call("capsule_fetch", {"name": "auth"})))["capsule_text"] == FULL
    missing = server.post(call("capsule_fetch", {"name": "nothing"}))
    assert missing.status == 200
    assert structured(missing)["error"]["code"] == "NOT_FOUND"


def test_a_taken_port_is_refused_naming_its_process(server: HttpServer, tmp_path: Path) -> None:
    said = refused_to_start(tmp_path / "home", "--port", str(server.port))
    assert f"port {server.port} of 127.0.0.1 is taken by process {server.process.pid} (" in said
    assert "--port" in said
    assert not (tmp_path / "home").exists()


def test_the_next_port_is_used_only_on_request(server: HttpServer) -> None:
    with pytest.raises(MossError) as refused:
        open_listener("127.0.0.1", server.port)
    assert refused.value.code == "CONFLICT"
    with open_listener("127.0.0.1", server.port, or_next=True) as made:
        assert made.getsockname()[1] > server.port


def test_answers_are_sent_without_delay(tmp_path: Path) -> None:
    async def accepted() -> int:
        taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = writer.get_extra_info("socket")
            taken.set_result(peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with open_listener("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(serve, sock=listening):
                _, writer = await asyncio.open_connection(*listening.getsockname())
                writer.close()
                return await taken

    assert asyncio.run(accepted()) == 1


def test_the_process_of_a_port_is_found() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert f"process {os.getpid()} (" in port_owner(listening.getsockname()[1])


def test_a_read_only_server_refuses_writes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with HttpServer(home) as writing:
        writing.post(call("capsule_store", {"name": "auth", "capsule_text": FULL}))
    with HttpServer(home, "--read-only") as reading:
        assert ", to read only, until" in reading.said
        for tool, arguments in [
            ("capsule_store", {"name": "b", "capsule_text": FULL}),
            ("capsule_delete", {"name": "auth"}),
            ("capsule_export", {}),
            ("moss.store", {"name": "b", "capsule_text": FULL}),
            ("moss_call", {"tool": "capsule_delete", "arguments": {"name": "auth"}}),
            ("branchmind_init", {"workspace": "shop"}),
        ]:
            answer = reading.post(call(tool, arguments))
            assert structured(answer)["error"]["code"] == "READ_ONLY", tool
            assert structured(answer)["error"]["status"] == 403
        assert structured(reading.post(call("capsule_fetch", {"name": "auth"})))["capsule_text"] == FULL
        cookie = reading.sign_in()
        assert "|True|" in reading.ask("GET", f"{reading.base}/", cookie).text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_running_call_finishes_before_shutdown(own_fakes: HttpServer, tmp_path: Path, number: signal.Signals) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    gate = tmp_path / "gate"
    haul = call("haul", {"gate": str(gate)})
    own_fakes.send(connection, "POST", "/mcp", own_fakes.in_session, json.dumps(haul))
    own_fakes.post(call("started"))
    own_fakes.process.send_signal(number)
    wait_until(lambda: not is_listening(own_fakes.port), "the server still listens")
    gate.touch()
    assert structured(Answer(connection.getresponse())) == {"kept": 1}
    connection.close()
    assert own_fakes.process.wait(TIMEOUT_S) == 0


def test_a_hanging_call_does_not_block_shutdown(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", code=FAKES) as hurried:
        connection = http.client.HTTPConnection("127.0.0.1", hurried.port, timeout=TIMEOUT_S)
        hurried.send(connection, "POST", "/mcp", hurried.in_session, json.dumps(call("stuck")))
        hurried.post(call("started"))
        assert hurried.end() == 0
        connection.close()


def test_a_signalled_process_exits_within_two_seconds() -> None:
    ended_s = server_module.FINISH_S + server_module.CANCELLED_S + 2 * server_module.STOP_WORKERS_S
    assert ended_s + 2 * 0.1 <= server_module.EXIT_AFTER_SIGNAL_S < 2  # uvicorn checks for signals every 0.1 s


def test_idle_connections_do_not_block_shutdown(own_fakes: HttpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", own_fakes.port, timeout=TIMEOUT_S)
    own_fakes.send(connection, "POST", "/mcp", own_fakes.in_session, json.dumps(request("ping")))
    assert Answer(connection.getresponse()).status == 200
    assert own_fakes.end() == 0
    connection.close()


def test_a_streaming_page_does_not_block_shutdown(tmp_path: Path) -> None:
    endless = "from moss_memory.http import server\nserver.FINISH_S = server.EXIT_AFTER_SIGNAL_S = 100_000\n"
    with HttpServer(tmp_path / "home", code=endless + SERVE) as server:
        cookie = server.sign_in()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
        server.send(connection, "GET", f"{server.base}/stream", cookie)
        response = connection.getresponse()
        assert response.readline() == b"first\n"
        assert server.end() == 0
        connection.close()


def is_listening(port: int) -> bool:
    with socket.socket() as made:
        return made.connect_ex(("127.0.0.1", port)) == 0


def test_concurrent_calls_are_all_answered(server: HttpServer) -> None:
    answers: list[Answer] = []
    asked = [threading.Thread(target=lambda: answers.append(server.post(call("capsule_list")))) for _ in range(64)]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join(TIMEOUT_S)
    assert [answer.status for answer in answers] == [200] * 64


def test_long_calls_do_not_delay_short_ones(own_fakes: HttpServer, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    hauls: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: hauls.append(own_fakes.post(call("haul", {"gate": str(gate)}))))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    own_fakes.post(call("started"))
    assert structured(own_fakes.post(call("echo", {"text": "hi"}))) == {"text": "hi"}
    gate.touch()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert len(hauls) == 12


def test_the_token_is_reused_and_never_printed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with HttpServer(home) as first:
        token = first.token
        assert token not in first.said
        for client, line in connect_commands(first.address, str(home / "token")):
            assert f"{client:<12} {line}" in first.said
    with HttpServer(home) as second:
        assert second.token == token


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_token_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "home"
    load_token(str(home))
    (home / "token").chmod(mode)
    assert "others may have read the token" in refused_to_start(home, "--port", "0")


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 42, b"x" * 30 + b" " + b"x" * 30, b"\xff" * 50])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    load_token(str(tmp_path))
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(MossError, match="holds no token"):
        load_token(str(tmp_path))


def test_a_token_that_is_a_link_or_a_folder_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    load_token(str(elsewhere))
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "token").symlink_to(elsewhere / "token")
    with pytest.raises(MossError, match="cannot be used"):
        load_token(str(tmp_path / "linked"))
    (tmp_path / "folder" / "token").mkdir(parents=True)
    with pytest.raises(MossError, match="no file of yours"):
        load_token(str(tmp_path / "folder"))


def test_servers_started_simultaneously_share_one_token(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(load_token(str(tmp_path / "home")))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert len(found) == 16
    assert len(set(found)) == 1
    assert os.listdir(tmp_path / "home") == ["token"]


class Seconds:
    """A fake clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


KEY = BrowserKey("x" * 43)


def cookie_of(sign_in: SignIn) -> bytes:
    made = sign_in.consume(sign_in.new_link_code())
    assert made is not None
    return made.partition(";")[0].encode()


def test_a_link_lasts_five_minutes() -> None:
    clock = Seconds()
    sign_in = SignIn(KEY, secure=False, clock_s=clock)
    code = sign_in.new_link_code()
    clock.now += LINK_S - 1
    assert sign_in.is_link_valid(code)
    clock.now += 1
    assert not sign_in.is_link_valid(code)
    assert sign_in.consume(code) is None
    assert LINK_S == 300


def test_a_browser_idle_for_a_month_is_signed_out() -> None:
    clock = Seconds()
    sign_in = SignIn(KEY, secure=False, clock_s=clock)
    cookie = cookie_of(sign_in)
    clock.now += KEPT_S - 1
    assert sign_in.session(cookie) is not None
    clock.now += 1
    assert sign_in.session(cookie) is None


def test_a_cookie_is_renewed_once_a_day_for_the_same_browser_and_its_forms() -> None:
    clock = Seconds()
    sign_in = SignIn(KEY, secure=False, clock_s=clock)
    cookie = cookie_of(sign_in)
    first = sign_in.session(cookie)
    clock.now += RENEW_S - 1
    assert sign_in.renewed(cookie) is None
    clock.now += 1
    newer = str(sign_in.renewed(cookie)).partition(";")[0].encode()
    clock.now += KEPT_S - RENEW_S
    assert sign_in.session(cookie) is None
    assert sign_in.session(newer) is first


def test_a_signed_cookie_is_valid_only_for_servers_of_the_same_home() -> None:
    cookie = cookie_of(SignIn(KEY, secure=False))
    again = SignIn(BrowserKey("x" * 43), secure=False)
    known, other = again.session(cookie), SignIn(BrowserKey("y" * 43), secure=False)
    assert known is not None
    assert other.session(cookie) is None
    assert other.renewed(cookie) is None
    assert BrowserKey("x" * 43).base == KEY.base != BrowserKey("y" * 43).base


def test_a_cookie_is_invalid_after_the_sign_out() -> None:
    sign_in = SignIn(KEY, secure=False)
    cookie = cookie_of(sign_in)
    session = sign_in.session(cookie)
    assert session is not None
    assert "Max-Age=0" in sign_in.sign_out(session)
    assert session.ended.is_set()
    assert sign_in.session(cookie) is None
    assert sign_in.renewed(cookie) is None


def test_a_sign_out_survives_a_restart_until_the_cookie_expires(tmp_path: Path) -> None:
    clock, file = Seconds(), tmp_path / "signed-out"
    sign_in = SignIn(KEY, secure=False, signed_out=str(file), clock_s=clock)
    cookie, other = cookie_of(sign_in), cookie_of(sign_in)
    session = sign_in.session(cookie)
    assert session is not None
    sign_in.sign_out(session)
    file.write_bytes(file.read_bytes() + b"a line that was cut o")
    again = SignIn(KEY, secure=False, signed_out=str(file), clock_s=clock)
    assert (again.session(cookie), again.renewed(cookie)) == (None, None)
    left = again.session(other)
    assert left is not None
    assert file.stat().st_mode & 0o777 == 0o600
    clock.now += KEPT_S
    again.sign_out(left)
    assert len(file.read_text().splitlines()) == 1, "a sign-out is stored although its cookie has expired"


def test_the_streams_of_the_longest_idle_of_too_many_browsers_end() -> None:
    clock = Seconds()
    sign_in = SignIn(KEY, secure=False, clock_s=clock)
    opened = []
    for _ in range(MAX_SESSIONS + 1):
        opened.append(sign_in.session(cookie_of(sign_in)))
        clock.now += 1
    assert [session.ended.is_set() for session in opened if session is not None][:2] == [True, False]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--host", "0.0.0.0"), "--allowed-host"),  # noqa: S104
        (("--host", "0.0.0.0", "--allowed-host", "moss.example"), "--behind-proxy"),  # noqa: S104
        (("--allowed-host", "moss.example"), "--tls-cert"),
        (("--behind-proxy",), "--allowed-host"),
        (("--tls-cert", "cert.pem"), "--tls-key"),
        (("--behind-proxy", "--allowed-host", "*"), "is no host"),
        (("--behind-proxy", "--allowed-host", "https://moss.example"), "is no host"),
    ],
)
def test_a_server_for_others_needs_more_options_and_explains_them(
    tmp_path: Path, options: tuple[str, ...], why: str
) -> None:
    said = refused_to_start(tmp_path / "home", "--port", "0", *options)
    assert why in said
    assert "[INVALID_REQUEST]" in said


@pytest.mark.parametrize(
    ("options", "named", "command"),
    [
        (
            ("--host", "0.0.0.0"),  # noqa: S104
            ("--allowed-host", "--tls-cert", "--tls-key", "--behind-proxy"),
            "moss serve --host 0.0.0.0 --allowed-host moss.example.org:8314 --tls-cert cert.pem --tls-key key.pem",
        ),
        (
            ("--host", "0.0.0.0", "--tls-key", "k.pem"),  # noqa: S104
            ("--allowed-host", "--tls-cert"),
            "moss serve --host 0.0.0.0 --allowed-host moss.example.org:8314 --tls-cert cert.pem --tls-key k.pem",
        ),
        (
            ("--behind-proxy",),
            ("--allowed-host",),
            "moss serve --allowed-host moss.example.org --behind-proxy",
        ),
    ],
)
def test_all_missing_options_of_a_server_for_others_are_named_at_once(
    tmp_path: Path, options: tuple[str, ...], named: tuple[str, ...], command: str
) -> None:
    said = " ".join(refused_to_start(tmp_path / "home", "--port", "0", *options).split())
    explained, _, complete = said.partition(" Complete: ")
    assert [name for name in named if name not in explained] == []
    assert complete.startswith(command)
    given = command.removeprefix("moss serve ").split()
    BindConfig(
        host=given[given.index("--host") + 1] if "--host" in given else "127.0.0.1",
        allowed_hosts=[given[given.index("--allowed-host") + 1]],
        behind_proxy="--behind-proxy" in given,
        tls_cert="cert.pem" if "--tls-cert" in given else None,
        tls_key="key.pem" if "--tls-key" in given else None,
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--port", "70000"), "--port is 70000"),
        (("--port", "-1"), "--port is -1"),
        (("--port", "0", "--tls-cert", "none.pem", "--tls-key", "none.pem"), "cannot be used"),
    ],
)
def test_invalid_server_options_are_reported(tmp_path: Path, options: tuple[str, ...], why: str) -> None:
    said = refused_to_start(tmp_path / "home", *options)
    assert why in said
    assert "[INVALID_REQUEST]" in said


def test_behind_a_proxy_the_cookie_is_secure_and_no_tool_names_files(tmp_path: Path) -> None:
    with HttpServer(tmp_path / "home", "--behind-proxy", "--allowed-host", "moss.example") as server:
        proxied = [("Host", "moss.example"), ("Origin", "https://moss.example")]
        link = server.ask("POST", "/sign-in", [*server.authorized, *proxied]).text.strip()
        assert link.startswith("https://moss.example/sign-in/")
        spent = server.ask("POST", link.removeprefix("https://moss.example"), proxied)
        assert spent.headers["set-cookie"].endswith("; Secure")
        assert server.ask("GET", "/", [("Host", "moss.example"), ("Origin", "http://moss.example")]).status == 403
        assert server.ask("GET", "/", [("Host", "other.example")]).status == 421
        names = [tool["name"] for tool in server.post(request("tools/list")).json["result"]["tools"]]
        assert "capsule_store" in names
        for tool in ("capsule_export", "capsule_import", "moss.export", "moss.import"):
            assert tool not in names
            assert server.post(call(tool)).json["error"]["code"] == -32602


def test_certificate_files_enable_https(tmp_path: Path) -> None:
    certificate, key = made_certificate(tmp_path)
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with HttpServer(tmp_path / "home", *options) as server:
        assert f"https://127.0.0.1:{server.port}/mcp" in server.said
        trusting = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=TIMEOUT_S, context=trusting)
        origin = [("Origin", f"https://{server.host}")]
        server.send(connection, "POST", "/mcp", [*server.authorized, *origin], json.dumps(request("initialize")))
        assert Answer(connection.getresponse()).status == 200
        connection.close()


def made_certificate(folder: Path) -> tuple[Path, Path]:
    """Create a certificate for 127.0.0.1 and its key, valid for an hour."""
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return certificate, private


def test_the_names_of_this_machine_have_their_origins() -> None:
    assert BindConfig().origins(8314) == {
        b"127.0.0.1:8314": b"http://127.0.0.1:8314",
        b"localhost:8314": b"http://localhost:8314",
        b"[::1]:8314": b"http://[::1]:8314",
    }


def test_the_lines_for_clients_list_the_core_and_can_be_typed_into_any_shell() -> None:
    for _, line in connect_commands("http://127.0.0.1:8314", "/home/a/.moss/token"):
        url = "http://127.0.0.1:8314/mcp?toolsets=core"
        assert f"'{url}'" in line or f'"{url}"' in line
    settings = dict(connect_commands("http://127.0.0.1:8314", "/home/a/.moss/token"))["Cursor, in ~/.cursor/mcp.json"]
    assert json.loads(settings)["mcpServers"]["moss"]["url"] == url
