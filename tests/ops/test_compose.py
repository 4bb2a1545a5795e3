"""The production files agree with the code. Containers are started by the leg `containers`."""

from __future__ import annotations

import re
import subprocess
import sys
from unittest.mock import Mock

import pytest
import redis
import yaml
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from benchsite import embedded, liveness, programs
from benchsite.programs import Address
from benchsite.settings import env_secret
from runs.models import Experiment
from tests.runs.cells import make_run

pytestmark = pytest.mark.ops

SERVICES = ["postgres", "redis", "migrate", "web", "web-2", "worker", "beat", "tls", "agent"]
OURS = ["migrate", "web", "web-2", "worker", "beat", "agent"]


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
    profiles = {name: part["profiles"] for name, part in compose["services"].items() if "profiles" in part}
    assert profiles == {"tls": ["tls"], "agent": ["agent"]}


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_can_more_than_it_must(compose, name):
    part = compose["services"][name]
    assert part["read_only"] is True
    assert part["cap_drop"] == ["ALL"]
    assert part.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "tls" else [])
    assert part["security_opt"] == ["no-new-privileges:true"]
    assert part["mem_limit"]
    assert part["pids_limit"]
    assert part["logging"]["options"]["max-size"]
    assert name == "migrate" or part["healthcheck"]["test"]


def test_the_password_is_in_a_file_alone(compose, repository):
    assert compose["secrets"] == {"password": {"file": "./secrets/password"}}
    assert "/secrets/" in (repository / ".gitignore").read_text().split()
    with_it = [name for name, part in compose["services"].items() if part.get("secrets")]
    assert with_it == ["postgres", "migrate", "web", "web-2", "worker", "beat"]


def test_database_and_broker_have_no_way_to_the_outside_nor_the_agent_one_to_them(compose):
    assert compose["networks"]["default"] == {"internal": True}
    on = {name: part.get("networks", ["default"]) for name, part in compose["services"].items()}
    assert {name: nets for name, nets in on.items() if nets != ["default"]} == {
        "web": ["default", "front", "jobs"], "web-2": ["default", "front"], "worker": ["default", "outside"],
        "tls": ["front"], "agent": ["jobs"],
    }  # fmt: skip


def test_every_part_of_ours_runs_the_same_image_on_the_same_database_and_broker(compose):
    parts = [compose["services"][name] for name in OURS]
    assert {part["image"] for part in parts} == {"benchsite:${VERSION:-latest}"}
    for part in parts[:-1]:
        assert part["environment"]["DATABASE_URL"] == "${DATABASE_URL:-postgres://benchsite@postgres:5432/benchsite}"
        assert part["environment"]["CELERY_BROKER_URL"] == "${CELERY_BROKER_URL:-redis://redis:6379/0}"
    assert parts[-1]["environment"] == {}, "an agent never sees the database or the broker"


def test_every_volume_is_declared(compose):
    mounts = {mount.split(":")[0] for part in compose["services"].values() for mount in part.get("volumes", [])}
    assert {mount for mount in mounts if not mount.startswith("./")} == set(compose["volumes"])


def test_nothing_runs_before_the_tables_are_there(compose):
    for name in ("web", "web-2", "worker", "beat"):
        needs = compose["services"][name]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}
    assert compose["services"]["migrate"]["restart"] == "no"


def test_the_agent_is_let_in_over_plain_http_under_the_name_that_it_uses(compose):
    server = re.search(r"--server http://(\w+):8000 --plain-http", compose["services"]["agent"]["command"])[1]
    assert server in compose["services"]["web"]["environment"]["ALLOWED_HOSTS"].split(",")
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


def test_the_image_serves_the_site_as_make_up_does(dockerfile):
    command = yaml.safe_load(re.search(r"^CMD (\[.*\])$", dockerfile, re.M)[1])
    ours = programs.web(Address("192.0.2.7", 8000)).command
    assert command[1:4] == ours[1:4] == ["manage.py", "web", "--listen"]
    assert command[4:] == ["0.0.0.0:8000"]


def test_the_migrate_service_names_commands_that_exist(compose):
    from django.core.management import get_commands

    named = re.findall(r"manage.py (\w+)", compose["services"]["migrate"]["command"])
    assert named == ["migrate", "import_publication", "judge", "collectstatic"]
    assert set(named) <= set(get_commands())


def test_the_image_copies_what_is_there_and_what_is_not_ignored(dockerfile, repository):
    sources = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.M)
    allowed = [line[1:] for line in (repository / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert len(sources) >= 8
    for source in sources:
        assert (repository / source).exists()
        assert source.split("/")[0] in allowed


def test_a_secret_is_read_from_its_file_and_said_once_only(monkeypatch, tmp_path):
    file = tmp_path / "password"
    file.write_text("s3cr3t\n")
    monkeypatch.setenv("DATABASE_PASSWORD_FILE", str(file))
    assert env_secret("DATABASE_PASSWORD") == "s3cr3t"
    monkeypatch.setenv("DATABASE_PASSWORD", "another")
    with pytest.raises(ImproperlyConfigured, match="both set"):
        env_secret("DATABASE_PASSWORD")
    monkeypatch.delenv("DATABASE_PASSWORD")
    file.unlink()
    with pytest.raises(ImproperlyConfigured, match="DATABASE_PASSWORD_FILE cannot be read"):
        env_secret("DATABASE_PASSWORD")


def test_a_sign_of_life_touches_the_file_of_the_health_check_once_the_broker_has_it(settings, monkeypatch, tmp_path):
    settings.ALIVE_FILE = str(tmp_path / "alive")
    answers = [redis.ConnectionError("gone"), True]
    monkeypatch.setattr(liveness, "broker", lambda: Mock(set=Mock(side_effect=[answers.pop(0)])))
    liveness.renew("worker")
    assert not (tmp_path / "alive").exists()
    liveness.renew("worker")
    assert (tmp_path / "alive").exists()


def test_an_operator_can_say_what_the_containers_take_from_their_environment(compose):
    environment = compose["services"]["web"]["environment"]
    names = ("DATABASE_URL", "CELERY_BROKER_URL", "LOG_LEVEL", "RATE_LIMITS")
    assert [name for name in names if not str(environment[name]).startswith(f"${{{name}:-")] == []


def test_the_image_names_its_user_by_number(dockerfile):
    (user,) = re.findall(r"^USER (\S+)$", dockerfile, re.MULTILINE)
    assert user.isdecimal()
    assert f"--uid {user} " in dockerfile


@pytest.mark.parametrize("command", ["backup", "restore"])
@pytest.mark.parametrize("file", ["", "."])
def test_a_backup_without_a_file_is_told_so(command, file):
    with pytest.raises(CommandError, match="FILE="):
        call_command(command, file)


def test_the_schedule_of_beat_lies_in_a_folder_that_is_there(repository):
    text = (repository / "docs" / "operate" / "operations.md").read_text()
    assert set(re.findall(r"celery -A benchsite beat .*--schedule (\S+)", text)) == {'"$STATE/beat-schedule"'}
    assert text.index("manage.py migrate && ") < text.index("manage.py web --listen")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("state", "command"), [("", "make token NAME"), ("/srv/x y", "make token STATE='/srv/x y' NAME")]
)
def test_the_first_steps_name_the_state_they_are_of(state, command, monkeypatch):
    monkeypatch.setenv("STATE", state)
    assert command in embedded.first_steps()
    assert embedded.make("login") == command.replace("token", "login").removesuffix(" NAME")


@pytest.mark.django_db
@pytest.mark.parametrize(("state", "fills"), [("", True), ("measuring", True), ("cancelled", False)])
def test_home_is_said_to_fill_by_itself_while_the_first_experiment_is_to_come_or_goes_on(settings, state, fills):
    settings.FIRST_RUN = True
    if state:
        first = Experiment.objects.create(slug="first", name="First light", demonstration=True)
        make_run("H2 2.4", None, experiment=first, state=state)
    assert ("fills up" in embedded.first_steps()) is fills


def test_behind_tls_no_address_is_named_where_nobody_answers(settings):
    address = programs.Address("127.0.0.1", 8000)
    assert embedded.where(address) == "http://127.0.0.1:8000/"
    settings.BEHIND_TLS = True
    assert embedded.where(address).startswith("https, at the name of the proxy")
    settings.CSRF_TRUSTED_ORIGINS = ["https://bench.example"]
    assert embedded.where(address).startswith("https://bench.example, ")
