"""The production files agree with the code. Containers are not started here: no test machine of ours has Docker."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml
from django.conf import settings

pytestmark = pytest.mark.ops

SERVICES = ["postgres", "redis", "migrate", "web", "worker", "beat", "agent"]
OURS = ["migrate", "web", "worker", "beat", "agent"]


@pytest.fixture(scope="module")
def compose(repository) -> dict:
    return yaml.safe_load((repository / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def dockerfile(repository) -> str:
    return (repository / "Dockerfile").read_text()


def run(arguments: list[str]) -> subprocess.CompletedProcess:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=settings.BASE_DIR)


def test_it_has_the_services_of_the_design(compose):
    assert list(compose["services"]) == SERVICES
    assert [name for name in SERVICES if "profiles" in compose["services"][name]] == ["agent"]
    assert compose["services"]["agent"]["profiles"] == ["agent"]


def test_every_part_of_ours_runs_the_same_image_on_the_same_database_and_broker(compose):
    parts = [compose["services"][name] for name in OURS]
    assert {part["image"] for part in parts} == {"benchsite"}
    for part in parts[:-1]:
        assert part["environment"]["DATABASE_URL"].startswith("postgres://benchsite:")
        assert part["environment"]["CELERY_BROKER_URL"] == "redis://redis:6379/0"
    assert parts[-1]["environment"] == {}, "an agent never sees the database or the broker"


def test_every_volume_is_declared(compose):
    used = {mount.split(":")[0] for part in compose["services"].values() for mount in part.get("volumes", [])}
    assert used == set(compose["volumes"])


def test_nothing_runs_before_the_tables_are_there(compose):
    for name in ("web", "worker", "beat"):
        needs = compose["services"][name]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}
    assert compose["services"]["migrate"]["restart"] == "no"


def test_the_agent_talks_plain_http_on_a_loopback_address_only(compose):
    agent = compose["services"]["agent"]
    assert agent["network_mode"] == "service:web"
    assert agent["command"][agent["command"].index("--server") + 1] == "http://127.0.0.1:8000"
    assert any(re.match(exempt, "api/agent/v1/poll/") for exempt in settings.SECURE_REDIRECT_EXEMPT)


@pytest.mark.parametrize("part", ["worker", "beat"])
def test_celery_understands_the_commands(compose, part):
    command = [*compose["services"][part]["command"], "--help"]
    assert command[0] == "python"
    done = subprocess.run(
        [sys.executable, *command[1:]], capture_output=True, text=True, check=False, cwd=settings.BASE_DIR
    )
    assert done.returncode == 0, done.stderr
    options = [word for word in command[6:-1] if word.startswith("--")]
    assert [option.split("=")[0] for option in options if option.split("=")[0] not in done.stdout] == []


def test_gunicorn_understands_its_command(dockerfile):
    command = yaml.safe_load(re.search(r"^CMD (\[.*\])$", dockerfile, re.M)[1])
    assert command[0] == "python"
    done = run([*command[1:], "--check-config"])
    assert done.returncode == 0, done.stderr


def test_the_migrate_service_names_commands_that_exist(compose):
    from django.core.management import get_commands

    named = re.findall(r"manage.py (\w+)", compose["services"]["migrate"]["command"])
    assert named == ["migrate", "import_publication", "collectstatic"]
    assert set(named) <= set(get_commands())


def test_the_image_copies_what_is_there_and_what_is_not_ignored(dockerfile, repository):
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.M)
    allowed = [line[1:] for line in (repository / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert len(sources) >= 8
    for source in sources:
        assert (repository / source).exists()
        assert source.split("/")[0] in allowed
