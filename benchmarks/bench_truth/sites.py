"""Sites that worlds are sent to: one in this process, and one behind a web process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import requests

from benchmarks.bench_uploads import SECRET
from scripts.private import environment, manage, web

if TYPE_CHECKING:
    from django.test import Client


@dataclass
class InProcess:
    """A site in this process."""

    client: Client
    secret: str

    def get(self, path: str) -> tuple[int, str]:
        answer = self.client.get(path)
        return answer.status_code, b"".join(answer).decode()

    def post(self, path: str, body: str) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self.secret}"}
        answer = self.client.post(path, body, content_type="application/json", headers=headers)
        return answer.status_code, answer.content.decode()

    def publish(self, folder: Path) -> None:
        from django.core.management import call_command

        call_command("import_publication", folder, stdout=StringIO())


@dataclass
class OverHttp:
    """A web process as it is shipped."""

    base: str
    session: requests.Session
    env: Mapping[str, str]

    def get(self, path: str) -> tuple[int, str]:
        answer = self.session.get(f"{self.base}{path}", timeout=120)
        return answer.status_code, answer.content.decode()

    def post(self, path: str, body: str) -> tuple[int, str]:
        headers = {"Content-Type": "application/json"}
        answer = self.session.post(f"{self.base}{path}", body.encode(), headers=headers, timeout=120)
        return answer.status_code, answer.text

    def publish(self, folder: Path) -> None:
        manage(dict(self.env), "import_publication", str(folder))


def in_process() -> InProcess:
    from django.test import Client

    from runs.models import ApiToken, User

    owner = User.objects.create_user(username="bench", role="contributor")
    return InProcess(Client(), ApiToken.issue(owner=owner, name="bench", scopes=["upload"])[1])


@contextmanager
def over_http(state: str) -> Iterator[OverHttp]:
    env = environment(state)
    manage(env, "migrate", "--verbosity=0")
    secret = manage(env, "shell", "--no-imports", "-c", SECRET).strip()
    with web(env) as (base, _), requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {secret}"
        yield OverHttp(base, session, env)
