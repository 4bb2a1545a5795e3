"""What `make up` does before anything runs: database, literature, static files, first operator, agent's code.

Each step is quick when there is nothing to do.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from agents.models import EnrolmentCode
from benchsite.state import State, write_private
from runs.models import User
from runs.models.choices import UserRole

OPERATOR = "operator"


def migrate(state: State, say: Callable[[str], None]) -> None:
    if connection.vendor == "sqlite":
        # Others may pass through STATE; its journals take over the mode.
        state.database.touch()
        state.database.chmod(0o600)
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        say("making the tables of the database")
        call_command("migrate", verbosity=0, interactive=False)


def collect_static(state: State, say: Callable[[str], None]) -> None:
    stamp, now = state.path / "static.stamp", static_fingerprint()
    if stamp.exists() and stamp.read_text() == now:
        return
    say("collecting the static files")
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
    return hashlib.sha256("\n".join([str(settings.STORAGES), *sorted(lines)]).encode()).hexdigest()


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


def has_operator() -> bool:
    return User.objects.filter(role__in=[UserRole.OPERATOR, UserRole.ADMIN], is_active=True).exists()


def issue_code(state: State) -> None:
    """A one-time code for the local agent, unless it has registered before."""
    state.agent.mkdir(exist_ok=True)
    state.agent.chmod(0o711)
    if not (state.agent / "identity.json").exists():
        write_private(state.code, EnrolmentCode.issue())
