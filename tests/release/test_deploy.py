"""The files of `deploy/`, as far as they can be tested without separate machines."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from support.http_server import HttpServer
from support.python_process import environment
from support.timeouts import TIMEOUT_S

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
REAL = "import sys; from moss_memory.cli.main import main; sys.exit(main())"
DOMAIN = "moss.example.org"


def _instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


def _compose() -> dict[str, Any]:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert isinstance(document, dict)
    return document


def _unit() -> configparser.RawConfigParser:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string((DEPLOY / "moss.service").read_text())
    return unit


def _starts(home: Path, *options: str) -> None:
    """Start a server with these options of a file, on a free port, and assert that it is healthy."""
    local = [option for option in options if not option.startswith("--host")]
    with HttpServer(home, *local, code=REAL) as server:
        assert server.ask("GET", "/healthz").text == "ok"
        assert server.ask("GET", "/mcp", [("Host", DOMAIN)]).status == 401
        assert server.ask("GET", "/mcp", [("Host", "elsewhere.example")]).status == 421


def test_the_image_is_small_runs_without_root_and_copies_existing_files() -> None:
    given = _instructions()
    stages = [arguments for name, arguments in given if name == "FROM"]
    assert all(stage.split()[0].endswith("-slim") for stage in stages)
    last = given[max(at for at, (name, _) in enumerate(given) if name == "FROM") :]
    [user] = [arguments for name, arguments in last if name == "USER"]
    assert user.split(":")[0] not in ("0", "root")
    assert [name for name, _ in last].count("HEALTHCHECK") == 1
    for name, arguments in given:
        if name == "COPY" and not arguments.startswith("--from"):
            assert all((ROOT / source).exists() for source in arguments.split()[:-1]), arguments


def test_the_health_check_of_the_image_succeeds_only_with_a_server(tmp_path: Path) -> None:
    [check] = [arguments for name, arguments in _instructions() if name == "HEALTHCHECK"]
    command: list[str] = yaml.safe_load(check[check.index("CMD ") + 4 :])
    with HttpServer(tmp_path / "home", code=REAL) as server:
        line = [sys.executable, *[word.replace(":8314", f":{server.port}") for word in command[1:]]]
        assert command[0] == "python"
        assert subprocess.run(line, env=environment(), timeout=TIMEOUT_S).returncode == 0
    stopped = subprocess.run(line, env=environment(), timeout=TIMEOUT_S, capture_output=True)
    assert stopped.returncode != 0


@pytest.mark.thorough
def test_the_steps_of_the_image_install_a_server(tmp_path: Path) -> None:
    prefix, source = tmp_path / "opt", tmp_path / "src"
    source.mkdir()
    values = {
        name: value for kind, given in _instructions() if kind == "ARG" for name, _, value in [given.partition("=")]
    }
    for kind, arguments in _instructions():
        if kind == "COPY" and arguments.startswith("--from"):
            break
        if kind == "COPY":
            for name in arguments.split()[:-1]:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, source / name)
        if kind == "RUN":
            line = arguments.replace("/opt/moss", str(prefix)).replace("${EXTRAS}", values["EXTRAS"])
            words = [sys.executable if word == "python" else word for word in shlex.split(line)]
            subprocess.run(words, cwd=source, check=True, timeout=20 * TIMEOUT_S)
    said = subprocess.run([prefix / "bin" / "moss", "serve", "--help"], capture_output=True, text=True, check=True)
    assert "--oauth-issuer" in said.stdout


def test_services_have_few_privileges_and_everything_they_refer_to() -> None:
    compose = _compose()
    for name, service in compose["services"].items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"] == "unless-stopped", name
        assert set(service["networks"]) <= set(compose["networks"]), name
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).is_file(), volume
    for name in ("moss", "caddy"):
        assert compose["services"][name]["read_only"] is True
        assert compose["services"][name]["cap_drop"] == ["ALL"]
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["caddy"]
    assert compose["networks"]["storage"]["internal"] is True
    assert "web" not in compose["services"]["database"]["networks"]
    build = compose["services"]["moss"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


def test_every_variable_of_the_services_is_in_the_example() -> None:
    named = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    example = dict(
        line.split("=", 1) for line in (DEPLOY / "env.example").read_text().splitlines() if not line.startswith("#")
    )
    assert set(example) == named
    assert example["MOSS_DATABASE_PASSWORD"] == ""
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert "deploy/.env" in ignored


def test_the_command_of_the_container_starts_a_server(tmp_path: Path) -> None:
    [serve, *options] = _compose()["services"]["moss"]["command"]
    assert serve == "serve"
    _starts(tmp_path / "home", *[re.sub(r"\$\{MOSS_DOMAIN[^}]*\}", DOMAIN, option) for option in options])


def test_the_command_of_the_unit_starts_a_server(tmp_path: Path) -> None:
    program, serve, *options = shlex.split(_unit()["Service"]["ExecStart"])
    assert (program, serve) == ("/opt/moss/bin/moss", "serve")
    _starts(tmp_path / "home", *[option.replace("${MOSS_DOMAIN}", DOMAIN) for option in options])


def test_the_unit_has_few_privileges(tmp_path: Path) -> None:
    service = _unit()["Service"]
    assert service["User"] == "moss"
    assert service["CapabilityBoundingSet"] == ""
    for name in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "RestrictSUIDSGID", "ProtectHome"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    analyze = shutil.which("systemd-analyze")
    if analyze is not None:
        file = tmp_path / "moss.service"
        file.write_text((DEPLOY / "moss.service").read_text().replace("/opt/moss/bin/moss", sys.executable))
        verified = subprocess.run([analyze, "verify", str(file)], capture_output=True, text=True)
        assert "moss.service" not in verified.stderr + verified.stdout, verified.stderr
        judged = subprocess.run(
            [analyze, "security", "--offline=true", "--threshold=20", str(file)], capture_output=True, text=True
        )
        assert judged.returncode == 0, judged.stdout[-500:]


def test_the_proxy_passes_streams_on_at_once(tmp_path: Path) -> None:
    text = (DEPLOY / "Caddyfile").read_text()
    assert f"{{$MOSS_DOMAIN:{DOMAIN}}} {{" in text
    assert "reverse_proxy {$MOSS_UPSTREAM:127.0.0.1:8314}" in text
    assert "flush_interval -1" in text
    caddy = shutil.which("caddy")
    if caddy is not None:
        line = [caddy, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
        checked = subprocess.run(line, env={**environment(), "HOME": str(tmp_path)}, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr


def test_the_how_to_needs_ten_commands_and_existing_files() -> None:
    page = (ROOT / "docs" / "how-to" / "run-for-a-team.md").read_text()
    first, client, *_ = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(first.splitlines()) + len(client.splitlines()) == 10
    for name in re.findall(r"\bdeploy/([\w.]+)", page):
        assert (DEPLOY / name).is_file() or name == ".env", name


def test_the_three_machines_speak_tls_and_log_in(tmp_path: Path) -> None:
    nodes = DEPLOY / "three-nodes"
    etcd = yaml.safe_load((nodes / "etcd.conf.yml").read_text())
    assert all(etcd[name].startswith("https://") for name in etcd if name.endswith("-urls"))
    assert etcd["peer-transport-security"]["client-cert-auth"] is True
    patroni = yaml.safe_load((nodes / "patroni.yml").read_text())["etcd3"]
    assert (patroni["protocol"], patroni["username"]) == ("https", "patroni")
    line = ["sh", str(nodes / "certificates.sh"), "db1=10.0.0.1", "db2=10.0.0.2"]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT_S)
    for name, address in (("db1", "10.0.0.1"), ("db2", "10.0.0.2")):
        check = ["openssl", "verify", "-CAfile", "ca.crt", "-verify_ip", address, f"{name}.crt"]
        subprocess.run(check, cwd=tmp_path, check=True, capture_output=True, timeout=TIMEOUT_S)
        assert (tmp_path / f"{name}.key").stat().st_mode & 0o077 == 0
