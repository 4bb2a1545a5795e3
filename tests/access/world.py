"""A small site for the table of access: everybody of the cast, and every kind of thing public, unlisted and private."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest import mock

from benchagent import histogram
from benchagent.catalog import WORKLOADS
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.db import transaction
from django.test import Client
from django.test.client import ClientHandler
from django.utils import timezone

from agents import enqueueing, machines
from agents.machines import Engine
from agents.models import EnrolmentCode
from agents.plans import schedule
from agents.plans.plan import Plan
from runs import imports
from runs.access import people as accounts
from runs.access.rules import change_visibility
from runs.compare import reports
from runs.history import filing
from runs.models import Alert, ApiToken, Artefact, Config, Experiment, Publication, Run, SeriesBatch, Upload, User
from runs.run import artefacts
from tests.access.rules import PEOPLE, Who
from tests.agents.conftest import plan_of, registration
from tests.runs.builders import document, store_upload

SEEN = ("public", "unlisted", "private")
# Stands in every name of the private and of the unlisted things: lists, filters and files must not contain it.
MARKS = {"public": "Openfield", "unlisted": "Hedgerow", "private": "Cellardoor"}
PASSWORD = "correct horse battery"


@dataclass
class World:
    people: dict[str, User] = field(default_factory=dict)
    # visibility -> name in rows.py -> what stands in the path for it
    things: dict[str, dict[str, Any]] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    # The site as all clients meet it: its middleware is loaded once, not for each request.
    handler: ClientHandler = field(default_factory=lambda: ClientHandler(enforce_csrf_checks=False))

    def client(self, who: Who, **more: Any) -> Client:
        """A new one each time: a logout must not log out those who come after."""
        client = Client(headers=self.headers.get(who.name), **more)
        if not more:
            client.handler = self.handler
        if who.name in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[who.name]
        return client


@contextmanager
def built() -> Iterator[World]:
    """Gone afterwards as if it had never been. Hints to workers go nowhere, and no request deletes a file for good."""
    kept = mock.patch.object(FileSystemStorage, "delete")
    with mock.patch.object(enqueueing.sender, "put"), kept, transaction.atomic():
        yield build()
        transaction.set_rollback(True)


def stored() -> World:
    """For good, on a site that nothing runs of yet."""
    with mock.patch.object(enqueueing.sender, "put"), transaction.atomic():
        return build()


def build() -> World:
    world = World()
    for name, role in (
        ("viewer", "viewer"), ("contributor", "contributor"), ("owner", "contributor"), ("operator", "operator"),
        ("administrator", "admin"),
    ):  # fmt: skip
        world.people[name] = User.objects.create_user(username=f"the-{name}", password=PASSWORD, role=role)
    agent, _ = machines.register(message=registration("bench1", code=EnrolmentCode.issue()))
    agent.engines.append(
        {"dbms": "postgresql", "version": "15.20", "available": True, "reason": "", "path": "", "connection": "staging"}
    )
    agent.save()
    shared = _shared(world, agent.slug)
    for seen in SEEN:
        world.things[seen] = {**shared, **_things(world.people["owner"], seen)}
    _keys(world)
    return world


def _shared(world: World, agent: str) -> dict[str, Any]:
    """What has no visibility: everybody meets the same."""
    Publication.objects.create(slug="article", title_original="x", title_en="An article", language="en")
    newcomer = User.objects.create_user(username="the-newcomer", password=PASSWORD)
    uid, link = accounts.password_link(newcomer)
    return {
        "agent": agent, "publication": "article", "person": newcomer.pk,
        "uid": uid, "link": link, "nowhere": uuid.uuid4(),
        "script_run": _reaching("script", Engine("sqlite", "3.50.1")),
        "connection_run": _reaching("tpcb", Engine("postgresql", "15.20", "staging")),
    }  # fmt: skip


def _reaching(workload: str, engine: Engine) -> uuid.UUID:
    """A public run that only some tokens could have asked for."""
    factors = {factor.name: factor.default for factor in WORKLOADS[workload].factors}
    return schedule.start(Plan(workload, (engine,), factors), user=None).runs.get().pk


def _things(owner: User, seen: str) -> dict[str, Any]:
    mark = MARKS[seen]
    upload = _upload(owner, seen)
    run = upload.runs.get(repeat=1)
    experiment = _experiment(owner, seen)
    waiting = experiment.runs.get(repeat=1)
    report = reports.create(title=f"{mark} report", note="", query=f"run={run.pk}", visibility="public", owner=owner)
    change_visibility(target=report, visibility=seen, by=owner)
    file_import, _ = imports.receive(
        files=[imports.Sent(f"{mark}.log", io.BytesIO(f"nothing of {mark}\n".encode()))], owner=owner
    )
    part = imports.parts.begin(owner=owner, name=f"{mark}.log", size_bytes=1, mark="")
    assert run.hardware is not None
    assert run.config is not None
    filing.keep_up()
    in_series = SeriesBatch.objects.select_related("benchmark").get(run=run)
    annotation = run.annotations.create(at_s=1, text=f"{mark} note at a second")
    Run.objects.filter(pk=run.pk).update(latency_histogram=histogram.encode([(1_000, 10)]))
    return {
        "run": run.pk, "annotation": annotation.pk, "cell": run.cell_key, "upload": upload.pk,
        "batch": run.batch_id, "experiment": experiment.slug, "job_run": waiting.pk,
        "report": report.slug, "hardware": run.hardware.slug, "config": run.config.slug,
        "import": file_import.pk, "part": part.pk,
        "artefact": Artefact.objects.get(upload=upload).pk, "workload": run.workload.slug,
        "device": run.hardware.storage.get().slug, "dbms": run.dbms_version.dbms.slug,
        "benchmark": in_series.benchmark_id, "alert": _alert(in_series, seen),
        "version": run.dbms_version.slug, "metric": f"{mark.lower()}_rate",
    }  # fmt: skip


def _alert(at: SeriesBatch, seen: str) -> Any:
    alert = Alert.objects.create(
        owner=at.benchmark.owner, visibility=seen, machine=at.benchmark.machine, after=at.measured_at,
        since=at.measured_at, latest=at.measured_at, note=f"{MARKS[seen]} note",
    )  # fmt: skip
    alert.changes.create(benchmark=at.benchmark, at=at, state="confirmed", side="worse", change={"value": -0.1})
    return alert.pk


def _upload(owner: User, seen: str) -> Upload:
    mark = MARKS[seen]
    body = document(
        id=str(uuid.uuid4()),
        workload={"slug": f"{mark.lower()}-load", "name": f"{mark} load", "version": "1", "kind": ""},
        dbms={"name": f"{mark}DB", "version": "1"},
        hardware={"name": f"{mark} machine"},
        config=[{"name": f"{mark.lower()}_setting", "value": "1"}],
        factors={f"{mark.lower()}_knob": 7, "disk": mark},
        note=f"{mark} note",
        visibility=seen,
    )
    body["repeats"] = [
        {
            "metrics": [{"name": "tps", "value": 100 + n}, {"name": f"{mark.lower()}_rate", "value": 1, "unit": "1/s"}],
            "series": [{"name": "tps", "t0_s": 0, "interval_s": 1, "values": [1, 2]}],
        }
        for n in range(2)
    ]
    store_upload(document=body, token=None, owner=owner)
    upload = Upload.objects.get(pk=body["id"])
    artefacts.keep(name=f"{mark}.txt", content=mark.encode(), upload=upload)
    machine = upload.runs.all()[0].hardware
    assert machine is not None
    machine.created_by = owner
    machine.save(update_fields=["created_by"])
    machine.storage.create(slug=f"{mark.lower()}-disk", name=f"{mark} disk")
    config = Config.objects.filter(runs__upload=upload).distinct().get()
    config.files.all().delete()
    config.files.create(position=1, name=f"{mark}.conf", text=f"# {mark}\n")
    Config.objects.filter(pk=config.pk).update(created_by=owner, name=f"{mark} config", slug=f"{mark.lower()}-conf")
    return upload


def _experiment(owner: User, seen: str) -> Experiment:
    """Two runs of which one waits and one has ended."""
    experiment = schedule.start(plan_of(repeats=2, name=f"{MARKS[seen]} experiment", visibility=seen), user=owner)
    Run.objects.filter(experiment=experiment, repeat=2).update(state="finished", finished_at=timezone.now())
    return experiment


def _keys(world: World) -> None:
    """A session or a token for each of PEOPLE."""
    for who in PEOPLE:
        if who.scopes is not None:
            world.headers[who.name] = {"Authorization": f"Bearer {_secret(world, who)}"}
            continue
        if who.role != "anyone":
            client = Client()
            client.force_login(world.people[who.name])
            world.sessions[who.name] = client.cookies[settings.SESSION_COOKIE_NAME].value


def _secret(world: World, who: Who) -> str:
    """Straight from the model: one of them has scopes that its owner's role does not have (any more)."""
    owner = world.people["owner" if who.owner else who.role]
    assert who.scopes is not None
    token, secret = ApiToken.issue(owner=owner, name=who.name, scopes=who.scopes)
    if who.name == "expired token":
        token.expires_at = timezone.now() - timedelta(seconds=1)
    if who.name == "revoked token":
        token.revoked_at = timezone.now()
    token.save()
    return secret
