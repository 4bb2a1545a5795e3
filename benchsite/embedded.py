"""`make up`: the embedded default, everything on this machine under one supervisor until it is stopped."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shlex
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from http.client import HTTPConnection, HTTPException
from io import StringIO
from threading import Event

import psutil
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import Error, connection, connections
from django.db.migrations.executor import MigrationExecutor

from agents.models import EnrolmentCode
from agents.plans.schedule import first_experiment, set_failed_first_aside
from benchsite import liveness, programs
from benchsite.backup import finish
from benchsite.programs import Address, CannotStart
from benchsite.schema import why_newer
from benchsite.state import OPERATOR, State, read, write_private
from benchsite.supervisor import Supervisor, kill_leftovers
from runs.models import User
from runs.models.choices import OPEN_STATES, UserRole
from runs.results.checking import judge_upgraded

LOOK_EVERY_S = 0.3
LATE_AFTER_S = 60
# The stamp of the static files, written when the tables stand.
STAMP = "static.stamp"

FIRST_STEPS = """
  1. Open the address{fills}.
  2. Open Publications, or tick runs in the list, and compare.
  3. Log in and open Schedule to start a benchmark of your own.
  4. {token} NAME=me SCOPES=read,upload   prints a token for the REST API (/api/docs/).
  Stop with Ctrl-C; `make up` continues with the same data.
"""


def run(state: State) -> None:
    """Returns when it was asked to stop and everything has stopped. Raises CannotStart."""
    address = Address.from_environment()
    with only_one(state, address):
        run_alone(state, address)


def print_line(text: str) -> None:
    with suppress(OSError):  # a terminal that is gone is no reason to leave processes behind
        print(text, flush=True)


@contextmanager
def held(state: State) -> Iterator[None]:
    """Hold STATE. The lock ends with the process, so nothing is left to clean after a kill -9. Raises CannotStart."""
    with state.lock_file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            where = f"{state.path}, process {read(state.pid_file)}, {read(state.url_file)}"
            raise CannotStart(f"already running ({where}); stop it, or choose another STATE and PORT") from None
        yield


@contextmanager
def only_one(state: State, address: Address) -> Iterator[None]:
    with held(state):
        for name in kill_leftovers(state.processes):
            print_line(f"killed a {name} of an earlier start")
        address.check_free()
        state.pid_file.write_text(f"{os.getpid()}\n")
        state.url_file.write_text(f"{address.url}\n")
        try:
            yield
        finally:
            state.pid_file.unlink(missing_ok=True)


def run_alone(state: State, address: Address) -> None:
    os.umask(0o077)
    state.tmp.mkdir(exist_ok=True)
    supervisor = Supervisor(state.logs, state.processes, programs.environment(state, address), print_line)
    asked_to_stop = Event()

    def interrupt() -> None:
        on_signal(asked_to_stop.set)  # a second one must not end the stopping
        raise Stopped

    try:
        on_signal(interrupt)
        password = prepare(supervisor, state, address)
        on_signal(asked_to_stop.set)
        print_line("starting worker, beat, web and the local agent")
        liveness.forget()
        supervisor.start(programs.worker())
        supervisor.start(programs.beat(state))
        supervisor.start(programs.web(address))
        supervisor.start(programs.agent(state, address))
        if address.has_tls:
            supervisor.start(programs.front(state, address))
        watch(supervisor, asked_to_stop, address, password)
    except Stopped:
        pass
    except Error as error:
        raise CannotStart(f"the database does not work: {str(error).strip()}") from None
    finally:
        on_signal(asked_to_stop.set)
        print_line("stopping")
        supervisor.stop()
        # Where the socket had to lie outside STATE, nothing stays there.
        if not state.broker_socket.is_relative_to(state.path):
            with suppress(OSError):
                state.broker_socket.unlink(missing_ok=True)
                state.broker_socket.parent.rmdir()
        print_line("stopped")


class Stopped(BaseException):
    """A signal came while the start was being prepared."""


def on_signal(act: Callable[[], None]) -> None:
    """What SIGINT, SIGTERM and SIGHUP do from now on; SIGHUP stays ignored where it is (nohup)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: act())


def prepare(supervisor: Supervisor, state: State, address: Address) -> str | None:
    """Returns the first operator's password when this start made it."""
    if state.broker_url() == settings.CELERY_BROKER_URL:
        supervisor.start(programs.broker(state))
    finish(state)
    fill(state, print_line)
    issue_code(state)
    if settings.FIRST_RUN and set_failed_first_aside():
        print_line("the first experiment failed at the last start, it starts again")
    password = None
    if not User.objects.filter(role__in=[UserRole.OPERATOR, UserRole.ADMIN], is_active=True).exists():
        password = new_password(username=OPERATOR, state=state, url=address.url)
    connections.close_all()
    return password


def watch(supervisor: Supervisor, asked_to_stop: Event, address: Address, password: str | None) -> None:
    """Until a signal comes."""
    started_at = psutil.Process().create_time()
    ready, late = False, False
    while not asked_to_stop.wait(LOOK_EVERY_S):
        supervisor.look_after()
        if ready:
            continue
        waited_s = time.time() - started_at
        missing = not_ready(address)
        if missing is None:
            ready = True
            welcome(address, password, waited_s)
        elif not late and waited_s > LATE_AFTER_S:
            late = True
            print_line(f"still not ready: {missing}; see {supervisor.logs}")


def not_ready(address: Address) -> str | None:
    """What `/readyz` says is missing; None when everything is there."""
    connection = HTTPConnection(address.loopback, address.port, timeout=5)
    try:
        connection.request("GET", "/readyz", headers={"Host": "localhost"})
        answer = connection.getresponse()
        return None if answer.status == 200 else answer.read().decode()
    except (OSError, HTTPException) as error:
        return f"the web process does not answer ({error})"
    finally:
        connection.close()


def welcome(address: Address, password: str | None, waited_s: float) -> None:
    print_line(f"\nready after {waited_s:.1f} s\n\n  Benchsite  {where(address)}")
    if password is not None:
        print_line(f"  user       {OPERATOR}\n  password   {password}   ({make('login')} makes a new one)")
    if address.has_tls:
        print_line("  Its certificate is of an authority of its own, which the line of the agents page carries.")
    elif not address.ip.is_loopback and not settings.BEHIND_TLS:
        print_line("  Other machines reach it over plain http. With Caddy on PATH, and without PLAIN_HTTP, it has TLS.")
    print_line(first_steps())


def where(address: Address) -> str:
    """What people open. Behind TLS nobody is answered over plain http, and the proxy's own name is its own."""
    if not settings.BEHIND_TLS:
        return f"{address.url}/"
    names = settings.CSRF_TRUSTED_ORIGINS or ["https, at the name of the proxy"]
    return f"{names[0]}, which has to lead to {address.url} with X-Forwarded-Proto"


def make(target: str) -> str:
    """The command names a STATE other than the usual one, else it would make a site of its own."""
    return f"make {target} STATE={shlex.quote(os.environ['STATE'])}" if os.environ.get("STATE") else f"make {target}"


def first_steps() -> str:
    is_coming = settings.FIRST_RUN and (
        (first := first_experiment()) is None or first.runs.filter(state__in=OPEN_STATES).exists()
    )
    return FIRST_STEPS.format(
        fills=": the home page fills up with the first runs by itself" * is_coming, token=make("token")
    )


# Before anything runs; each step is quick when there is nothing to do


def fill(state: State, print_line: Callable[[str], None]) -> None:
    """What is alike in every site of this version."""
    migrate(state, print_line)
    print_line("importing the published results")
    call_command("import_publication", keep_deleted=True, stdout=StringIO())
    if words := judge_upgraded():
        print_line(words)
    collect_static(state, print_line)


def migrate(state: State, print_line: Callable[[str], None]) -> None:
    """Raises CannotStart where a newer version made the tables, or where they are gone."""
    if connection.vendor == "sqlite":
        if (state.path / STAMP).exists() and state.database.exists() and not state.database.stat().st_size:
            raise CannotStart(
                f"{state.database} is empty although this STATE was in use: `{make('restore')} FILE=…` brings a "
                "backup back; "
                "remove the file to begin anew"
            )
        # Others may pass through STATE; its journals take over the mode.
        state.database.touch()
        state.database.chmod(0o600)
    executor = MigrationExecutor(connection)
    if why := why_newer(executor.loader):
        raise CannotStart(why)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        print_line("making the tables of the database")
        call_command("migrate", verbosity=0, interactive=False)


def collect_static(state: State, print_line: Callable[[str], None]) -> None:
    stamp, now = state.path / STAMP, static_fingerprint()
    if stamp.exists() and stamp.read_text() == now:
        return
    print_line("collecting the static files")
    with redirect_stdout(StringIO()):
        call_command("collectstatic", verbosity=0, interactive=False, clear=settings.STATIC_ROOT.exists())
    stamp.write_text(now)


def static_fingerprint() -> str:
    """Path, size and time of change of every file that `collectstatic` would read."""
    lines = []
    for finder in get_finders():
        for path, storage in finder.list([]):
            file = (settings.BASE_DIR / storage.path(path)).stat()
            lines.append(f"{storage.path(path)} {file.st_size} {file.st_mtime_ns}")
    return hashlib.sha256("\n".join([str(settings.STORAGES["staticfiles"]), *sorted(lines)]).encode()).hexdigest()


def new_password(*, username: str, state: State, url: str) -> str:
    """Give `username` a random password and write address and login to a file that only its owner reads.

    A user who is missing is made, as operator. Where there is no administrator the user becomes one: who may run this
    command owns the machine, and somebody must decide who may do what.
    """
    password = secrets.token_urlsafe(12)
    user, _ = User.objects.get_or_create(username=username, defaults={"role": UserRole.OPERATOR})
    if not User.objects.filter(role=UserRole.ADMIN, is_active=True).exists():
        user.role = UserRole.ADMIN
    user.set_password(password)
    user.save()
    write_private(state.first_login, f"url: {url}/\nuser: {username}\npassword: {password}\n")
    return password


def issue_code(state: State) -> None:
    """A one-time code for the local agent, unless it has registered before."""
    state.agent.mkdir(exist_ok=True)
    state.agent.chmod(0o711)
    if not (state.agent / "identity.json").exists():
        write_private(state.code, EnrolmentCode.issue())
