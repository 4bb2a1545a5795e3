"""`/metrics` for Prometheus: what database, broker and disk say when it is asked, and the requests of this process.

Whoever may operate may read it, with a login or with a token of the scope read: it names machines and their load.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from agents.models import Agent, AgentStatus, Job
from benchsite import health
from runs.access.rules import may_operate
from runs.models import FileImport, Run
from runs.models.choices import ON_AGENT_STATES, OPEN_STATES


class Site(Collector):
    """Asked anew each time."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield from _queue()
        yield _gauge(
            "benchsite_agents", "Agents by state.", "state", Counter(map(state_of, Agent.objects.with_reservations()))
        )
        imports = FileImport.objects.order_by().values_list("state").annotate(Count("pk"))
        yield _gauge("benchsite_imports", "Imports of files by state.", "state", dict(imports))
        parts = {"database": health.database(), **health.broker_and_its_users()}
        up = {part: float(words == health.OK) for part, words in parts.items()}
        yield _gauge("benchsite_up", "Whether a part answers: database, broker, worker, beat.", "part", up)
        disk = shutil.disk_usage(settings.STATE.path)
        yield GaugeMetricFamily("benchsite_database_bytes", "Size of the database.", _database_bytes())
        yield GaugeMetricFamily("benchsite_disk_free_bytes", "Free on the disk of STATE.", disk.free)
        yield GaugeMetricFamily("benchsite_disk_bytes", "Size of the disk of STATE.", disk.total)


def _gauge(name: str, words: str, label: str, values: dict[str, float] | Counter[str]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, words, labels=[label])
    for value, number in values.items():
        gauge.add_metric([value], number)
    return gauge


def _queue() -> Iterator[GaugeMetricFamily]:
    rows = Run.objects.present().filter(state__in=OPEN_STATES, job__isnull=False).order_by()
    found = {state: (count, since) for state, count, since in rows.values_list("state").annotate(
        Count("pk"), Min("created_at"))}  # fmt: skip
    now = timezone.now()
    yield _gauge(
        "benchsite_runs", "Runs that wait or go on, by state.", "state",
        {state: found.get(state, (0, now))[0] for state in OPEN_STATES},
    )  # fmt: skip
    ages = {state: (now - since).total_seconds() for state, (_, since) in found.items()}
    yield _gauge("benchsite_oldest_run_seconds", "Age of the oldest of them since it was asked for.", "state", ages)


def state_of(agent: Agent) -> str:
    """What it is to an operator: a paused one that is away is paused."""
    if agent.status != AgentStatus.APPROVED:
        return str(agent.status)
    if agent.is_paused:
        return "paused"
    if not agent.is_online:
        return "offline"
    busy = Job.objects.filter(agent=agent, run__state__in=ON_AGENT_STATES).exists()
    return "busy" if busy else "online"


def _database_bytes() -> int:
    is_sqlite = connection.vendor == "sqlite"
    pages = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(pages if is_sqlite else "SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


class Operator(BasePermission):
    message = "This needs an operator: a login, or a token of theirs with the scope read."

    def has_permission(self, request: Request, view: APIView) -> bool:
        # A token without the scope read is a stranger's, where strangers read.
        if not request.user.is_authenticated and (settings.PUBLIC_READ or request.auth is None):
            raise NotAuthenticated(self.message)
        return may_operate(request.user)


class Metrics(APIView):
    permission_classes = [Operator]

    @extend_schema(exclude=True)
    def get(self, _request: Request) -> HttpResponse:
        site = CollectorRegistry()
        site.register(Site())
        return HttpResponse(generate_latest(site) + generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)


metrics = Metrics.as_view()
# A token that is shown here is looked at (`benchsite.limits`).
metrics.token_may_read = True  # type: ignore[attr-defined]  # as on views of pages
