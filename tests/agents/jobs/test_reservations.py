"""Reservations: what may not begin before them, what waits says why, who is refused."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import dispatch, queue, reservations, status
from agents.models import Agent, Reservation
from agents.plans import schedule
from agents.refusals import FieldErrors
from runs.access import changes
from runs.models import Run
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
# Warm-up, window, what lies around it for an engine of which nothing is known.
TAKES = timedelta(seconds=2 + 5 + 4 + 2)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
PATH = "/api/v1/reservations/"


@pytest.fixture
def bench(machine) -> Agent:
    return machine("bench1").agent


@pytest.fixture
def run(bench) -> Run:
    return schedule.start(plan_of(), user=None).runs.get()


def reason(run: Run) -> str:
    return status.reason(Run.objects.select_related("job__requested_agent", "dbms_version__dbms").get(pk=run.pk))


def test_nothing_begins_that_would_not_end_before_a_reservation(bench, run, operator):
    now = timezone.now()
    soon = reservations.reserve(
        bench, by=operator, reason="kernel tests", begins_at=now + timedelta(seconds=10), ends_at=now + HOUR
    )
    assert dispatch.assign_queued() == 0
    assert not dispatch.assign(run, bench)  # one that was free when the dispatcher looked
    assert "by olga-operator: kernel tests" in reason(run)
    assert not bench.is_paused
    (waiting,) = queue.entries(operator)
    assert waiting.begins_at == soon.ends_at
    soon.change(begins_at=now + TAKES + MINUTE)
    assert dispatch.assign_queued() == 1


def test_in_between_it_begins_only_what_ends_before_the_next(bench, run, operator):
    now = timezone.now()
    first = reservations.reserve(bench, by=operator, ends_at=now + HOUR)
    second = reservations.reserve(
        bench, by=operator, begins_at=now + HOUR + timedelta(seconds=5), ends_at=now + 2 * HOUR
    )
    assert [entry.begins_at for entry in queue.entries(operator)] == [second.ends_at]
    second.change(begins_at=now + 1.5 * HOUR)
    assert [entry.begins_at for entry in queue.entries(operator)] == [first.ends_at]
    reservations.reserve(bench, by=operator)
    assert [entry.begins_at for entry in queue.entries(operator)] == [None]


def test_a_reservation_holds_every_agent_of_the_machine_and_a_pause_its_own(
    client, bench, run, machine, operator, settings
):
    other, now = machine("bench2").agent, timezone.now()
    other.change(hardware=bench.hardware)
    reserved = reservations.reserve(other, by=operator, begins_at=now, ends_at=now + HOUR)
    run.job.requested_agent = bench
    run.job.save()
    assert dispatch.assign_queued() == 0
    assert "bench2" in reason(run) and "olga-operator" in reason(run)
    assert reserved in queue.timeline(bench, operator)
    client.force_login(operator)
    assert 'href="/agents/bench2/"' in client.get("/agents/bench1/").content.decode()
    settings.EXCLUSIVE_MACHINES = False
    assert reserved not in queue.timeline(bench, operator)
    settings.EXCLUSIVE_MACHINES = True
    reservations.reserve(other, by=operator)  # a pause, in its place
    assert dispatch.assign_queued() == 1


def test_a_reservation_of_the_whole_queue_holds_every_machine(bench, run, operator):
    now = timezone.now()
    reservations.reserve(None, by=operator, begins_at=now + timedelta(seconds=5), ends_at=now + HOUR)
    assert dispatch.assign_queued() == 0
    assert "olga-operator" in reason(run)
    Reservation.objects.update(ends_at=now)
    assert dispatch.assign_queued() == 1


@pytest.mark.parametrize(
    ("begins", "ends", "field"),
    [
        (None, -1, "ends_at"),
        (3, 2, "ends_at"),
        (0.5, 1.5, "begins_at"),
        (1.5, 1.6, "begins_at"),
        (0.5, None, "begins_at"),
    ],
)
def test_what_is_over_or_reserved_already_is_refused(bench, operator, begins, ends, field):
    now = timezone.now()
    reservations.reserve(bench, by=operator, begins_at=now + HOUR, ends_at=now + 2 * HOUR)
    times = [None if hours is None else now + hours * HOUR for hours in (begins, ends)]
    with pytest.raises(FieldErrors) as caught:
        reservations.reserve(bench, by=operator, begins_at=times[0], ends_at=times[1])
    assert list(caught.value.errors) == [field]
    assert Reservation.objects.count() == 1


def test_what_stands_is_replaced_ended_and_told_among_the_changes(bench, operator):
    for reason in ("disk", "fan"):
        reservations.reserve(bench, by=operator, reason=reason)
    standing = Agent.objects.get(pk=bench.pk).reservation
    assert (str(standing), Reservation.objects.ahead(timezone.now()).count()) == ("paused by olga-operator: fan", 1)
    reservations.end(standing, by=operator)
    assert not Agent.objects.get(pk=bench.pk).is_paused
    assert [(each.old, each.new) for each in changes.history(bench)[:2]] == [
        ("paused by olga-operator: fan", ""), ("", "paused by olga-operator: fan"),
    ]  # fmt: skip


@pytest.mark.parametrize(("path", "method", "body", "field"), [
    (PATH, "post", {"agent": "bench1"}, "ends_at"),
    ("/api/v1/queue/", "patch", {"paused": True}, "until"),
    ("/api/v1/agents/bench1/", "patch", {"paused": True}, "paused_until"),
])  # fmt: skip
def test_by_api_a_machine_is_reserved_for_weeks_and_a_time_needs_its_zone(
    client, bench, bearer, path, method, body, field
):
    """Was: a time after tomorrow was refused as if it were that of a measurement; one without a zone was error 500."""
    headers, until = bearer("agent", "schedule"), timezone.now() + timedelta(days=30)
    send = getattr(client, method)
    bare = send(path, body | {field: until.replace(tzinfo=None).isoformat()}, "application/json", headers=headers)
    assert (bare.status_code, list(bare.json())) == (400, [field])
    assert send(path, body | {field: until.isoformat()}, "application/json", headers=headers).status_code in (200, 201)
    assert Reservation.objects.get().ends_at == until


def test_it_is_reserved_and_released_by_page_and_by_api(client, bench, run, operator, bearer):
    now, headers = timezone.now(), bearer("agent")
    body = {"agent": "bench1", "begins_at": (now + HOUR).isoformat(), "ends_at": (now + 2 * HOUR).isoformat()}
    made = client.post(PATH, body, content_type="application/json", headers=headers)
    assert (made.status_code, made.json()["agent"], made.json()["by"]) == (201, "bench1", "olga-operator")
    assert list(client.post(PATH, body, content_type="application/json", headers=headers).json()) == ["begins_at"]
    wrong = client.post(PATH, {"agent": "nowhere"}, content_type="application/json", headers=headers)
    assert list(wrong.json()) == ["agent"]
    assert client.get(PATH).json()["results"] == [made.json()]
    client.force_login(operator)
    for page in ("/queue/", "/agents/bench1/"):
        assert made.json()["words"] in client.get(page).content.decode()
    there = client.get("/agents/bench1/").context["timeline"]
    assert [type(each) for each in there] == [queue.Entry, Reservation]
    client.post("/queue/", {"action": "end", "reservation": made.json()["id"]})
    assert client.get(PATH).json()["results"] == []
    again = client.post(PATH, body, content_type="application/json", headers=headers).json()
    assert client.delete(f"{PATH}{again['id']}/", headers=headers).status_code == 204
