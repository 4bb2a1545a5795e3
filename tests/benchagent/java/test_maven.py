"""Behind a company's mirror: its certificate is signed by its own authority, and it asks for a name and a password."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchagent.java import FetchError, JavaToolchain
from benchagent.java.maven import Repository, mirror_of_central

from tests.benchagent.company import Authority, Mirror
from tests.benchagent.fake_server import FakeServer, wait_until

WANTED = "hsqldb-2.7.4"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def mirror(toolchain: JavaToolchain, authority: Authority) -> Iterator[Mirror]:
    made = Mirror(toolchain.store.folder, authority)
    yield made
    made.stop()


def fetch(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchagent", "engines", "fetch", WANTED, "--to", str(folder / "usb")]
    return subprocess.run(
        [*command, "--state", str(folder / "agent")],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_it_trusts_whom_the_system_trusts_and_logs_in_as_settings_xml_says(mirror, authority, tmp_path):
    mirror.settings(tmp_path)
    done = fetch(tmp_path, mirror.environment(tmp_path, SSL_CERT_FILE=str(authority.certificate)))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "usb").iterdir()] == ["hsqldb-2.7.4.jar"]
    assert mirror.password not in done.stdout + done.stderr


def test_it_says_whose_certificate_nobody_trusts_and_what_to_do(mirror, tmp_path):
    mirror.settings(tmp_path)
    done = fetch(tmp_path, mirror.environment(tmp_path))
    assert done.returncode == 1
    assert "the certificate of localhost is signed by nobody whom this machine trusts" in done.stderr
    assert "SSL_CERT_FILE" in done.stderr
    assert "Traceback" not in done.stderr
    assert mirror.asked == []


@pytest.mark.parametrize(
    ("password", "words"),
    [("wrong-secret", "refuses the login (401)"), ("{3ncRypted=}", "is encrypted, and only Maven can read it")],
)
def test_it_says_why_the_mirror_gives_nothing_and_never_the_password(mirror, authority, tmp_path, password, words):
    mirror.settings(tmp_path, password=password)
    done = fetch(tmp_path, mirror.environment(tmp_path, SSL_CERT_FILE=str(authority.certificate)))
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert password not in done.stdout + done.stderr


def test_a_failure_tells_the_address_without_the_password(mirror, authority, tmp_path):
    mirror.settings(tmp_path)
    mirror.closed = True
    done = fetch(tmp_path, mirror.environment(tmp_path, SSL_CERT_FILE=str(authority.certificate)))
    assert f"repository ours ({mirror.url}) answers 503" in done.stderr
    for secret in (mirror.password, "p%40ss%2Fword%3A1", mirror.user):
        assert secret not in done.stdout + done.stderr


def test_it_goes_through_the_proxy_of_the_environment(toolchain, tmp_path):
    proxy = Mirror(toolchain.store.folder)
    proxy.settings(tmp_path, url="http://maven.example")
    done = fetch(tmp_path, proxy.environment(tmp_path, http_proxy=proxy.url))
    proxy.stop()
    assert done.returncode == 0, done.stderr
    assert all(path.startswith("http://maven.example/org/hsqldb/") for path in proxy.asked)


def told(server: FakeServer, dbms: str) -> dict[str, Any]:
    """What the agent has said last of an engine."""
    said = [message["engines"] for message in [*server.registrations, *server.polls] if "engines" in message]
    return next((engine for engine in said[-1] if engine["dbms"] == dbms), {}) if said else {}


def test_an_agent_of_the_company_offers_engines_once_their_jars_can_be_had(authority, tmp_path, mirror):
    """The server is behind the company's authority, too; the mirror is closed at first."""
    server = FakeServer()
    authority.protect(server._http)
    command = [sys.executable, "-m", "benchagent", "run", "--server", f"https://localhost:{server.port}"]
    environment = mirror.environment(tmp_path, SSL_CERT_FILE=str(authority.certificate))
    mirror.settings(tmp_path)
    mirror.closed = True
    agent = subprocess.Popen([*command, "--state", str(tmp_path / "agent")], env=environment, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: "answers 503" in told(server, "sqlite").get("reason", ""), 60)
        assert told(server, "sqlite") | {"available": False, "pending": True} == told(server, "sqlite")
        mirror.closed = False
        wait_until(lambda: all(told(server, dbms).get("available") for dbms in ("sqlite", "derby", "hsqldb", "h2")), 60)
    finally:
        agent.kill()
        agent.communicate()
        server.stop()


def test_a_mirror_of_other_repositories_or_of_plain_http_is_none_of_central(tmp_path):
    settings = tmp_path / "settings.xml"
    assert mirror_of_central(settings) is None
    blocker = "<id>b</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url>"
    other = "<id>o</id><mirrorOf>snapshots</mirrorOf><url>https://o.example</url>"
    settings.write_text(f"<settings><mirrors><mirror>{blocker}</mirror><mirror>{other}</mirror></mirrors></settings>")
    assert mirror_of_central(settings) is None
    central = "<id>c</id><mirrorOf>snapshots, central</mirrorOf><url>https://c.example/m/</url>"
    settings.write_text(f"<settings><mirrors><mirror>{other}</mirror><mirror>{central}</mirror></mirrors></settings>")
    assert mirror_of_central(settings) == Repository("c", "https://c.example/m")
    settings.write_text("<settings>")
    with pytest.raises(FetchError, match="cannot be read"):
        mirror_of_central(settings)
