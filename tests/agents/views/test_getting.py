"""A machine gets its agent from the server that it is to work for."""

from __future__ import annotations

import base64
import hashlib
import os
import signal
import site
import subprocess
import zipfile
from io import BytesIO

import pytest
from django.urls import reverse
from django.utils import timezone

from agents import getting
from agents.jobs import errands
from agents.models import Agent, AgentStatus, Errand
from tests.ops.site import wait_until

pytestmark = pytest.mark.django_db


def test_the_script_names_the_wheel_of_this_server_and_its_checksum(client):
    script = client.get("/agents/install.sh").content.decode()
    wheel = getting.wheel()
    content = b"".join(client.get(reverse("agent-wheel", args=[wheel.name])))
    assert f"{hashlib.sha256(content).hexdigest()}  {wheel.name}" in script
    names = zipfile.ZipFile(BytesIO(content)).namelist()
    assert "benchagent/cli/main.py" in names
    assert any(name.startswith("benchagent/_loadgen/java/") for name in names)
    assert client.get("/agents/install/benchagent-9.whl").status_code == 404


def test_only_operators_get_the_line_with_a_code(client, operator):
    assert client.post(reverse("agent-code")).status_code == 302
    client.force_login(operator)
    page = client.post(reverse("agent-code")).content.decode()
    line = page.split("data-install>")[1].split("<")[0]
    code = page.split("data-code>")[1].split("<")[0]
    assert f"BENCHSITE_CODE={code} sh" in line
    assert getting.wheel().sha256 in page


def test_the_line_carries_the_authority_or_says_plain_http_which_operators_are_told(
    client, operator, settings, tmp_path
):
    def line() -> str:
        return client.post(reverse("agent-code")).content.decode().split("data-install>")[1].split("<")[0]

    client.force_login(operator)
    (tmp_path / "root.crt").write_bytes(b"a certificate")
    settings.AUTHORITY_FILE = str(tmp_path / "root.crt")
    assert base64.b64encode(b"a certificate").decode() in line()
    assert "BENCHSITE_CA=" in line()
    assert "data-plain-http" not in client.get("/agents/").content.decode()
    settings.AUTHORITY_FILE, settings.PLAIN_HTTP = "", ["10.0.0.0/24"]
    assert line().endswith("sh -s -- --plain-http")
    assert "10.0.0.0/24" in client.get("/agents/").content.decode()
    client.logout()
    assert "10.0.0.0/24" not in client.get("/agents/").content.decode()


def updates_itself(operator) -> bool:
    """Of this server's wheel, and is heard of afterwards."""

    def can() -> bool:
        return "update" in Agent.objects.get().errands

    if not wait_until(can, 60, 0.5):
        return False
    errands.ask(Agent.objects.get(), by=operator, command="update", words=[])
    if not wait_until(Errand.objects.filter(state="done").exists, 120, 0.5):
        return False
    at = timezone.now()
    return wait_until(Agent.objects.filter(last_seen_at__gt=at).exists, 60, 0.5)


@pytest.mark.engines
@pytest.mark.django_db(transaction=True)
def test_the_line_installs_an_agent_that_registers(live_server, client, operator, tmp_path):
    client.force_login(operator)
    page = client.post(reverse("agent-code"), headers={"Host": live_server.url.removeprefix("http://")})
    line = page.content.decode().split("data-install>")[1].split("<")[0]
    # What the agent needs of others is ours: the machine that runs this test need not have an index.
    packages = os.pathsep.join(site.getsitepackages())
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "BENCHAGENT_DIR": str(tmp_path / "agent"),
        "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": packages, "BENCHAGENT_MACHINE_ID": "of this test",
    }  # fmt: skip
    agent = subprocess.Popen(["sh", "-c", line], env=environment, stderr=subprocess.PIPE, start_new_session=True)
    try:
        registered = wait_until(Agent.objects.filter(status=AgentStatus.APPROVED).exists, 120, 0.5)
        updated = registered and updates_itself(operator)
    finally:
        os.killpg(agent.pid, signal.SIGTERM)
        _, words = agent.communicate(timeout=60)
    assert registered, words.decode()
    assert updated, [*Errand.objects.values_list("state", "log"), words.decode()]
    assert "this program was updated and begins anew" in words.decode()
    assert (tmp_path / "agent" / "code.txt").stat().st_mode & 0o077 == 0
    assert (tmp_path / "agent" / "state").stat().st_mode & 0o005 == 0o005, "a server's own user passes through"
