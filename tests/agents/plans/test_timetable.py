from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.machines import Engine
from agents.models import Agent, Schedule
from agents.plans import schedule as scheduling
from agents.plans import timetable
from agents.plans.plan import Plan
from agents.refusals import FieldErrors
from runs.models import Experiment, Run
from runs.models.choices import RunState, UserRole
from tests.agents.conftest import FACTORS, plan_of

pytestmark = pytest.mark.django_db
NIGHTLY = "30 2 * * *"
BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def bench(machine):
    return machine("bench1", "sqlite:3.50.1", "h2:2.3.232")


@pytest.fixture
def nightly(bench, operator):
    """`nightly(since, cron, zone)` -> a schedule of one run that was made at that time."""

    def make(since: datetime, cron: str = NIGHTLY, zone: str = "Europe/Berlin", **more) -> Schedule:
        made = timetable.make(plan_of().as_json(), owner=operator, name="Nightly", cron=cron, zone=zone, **more)
        made.change(due_at=next(timetable.times(cron, zone, since)).astimezone(UTC))
        return made

    return make


def ticks(since: datetime, hours: int) -> None:
    """One tick an hour; what has been started ends before the next."""
    for hour in range(hours):
        timetable.tick(now=since + timedelta(hours=hour))
        Run.objects.update(state=RunState.FINISHED)


def local(schedule: Schedule) -> list[str]:
    rows = schedule.occurrences.order_by("due_at")
    return [f"{each.due_at.astimezone(BERLIN):%m-%d %H:%M}" for each in rows]


@pytest.mark.parametrize(
    ("year", "month", "day", "nights"),
    [(2026, 10, 23, ["10-24 02:30", "10-25 02:30", "10-26 02:30"]),
     (2026, 3, 27, ["03-28 02:30", "03-29 03:00", "03-30 02:30"])],
    ids=["autumn", "spring"],
)  # fmt: skip
def test_it_starts_once_a_night_over_the_changes_of_the_clock(nightly, year, month, day, nights):
    since = datetime(year, month, day, 12, 5, tzinfo=UTC)
    schedule = nightly(since)
    ticks(since, 66)
    assert local(schedule) == nights
    assert Experiment.objects.count() == 3


def test_a_week_by_the_hour_misses_nothing_and_doubles_nothing(nightly):
    since = datetime(2026, 11, 2, 0, 0, tzinfo=UTC)
    schedule = nightly(since, "0 */6 * * *", "UTC")
    ticks(since + timedelta(minutes=1), 24 * 7)
    due = list(schedule.occurrences.order_by("due_at").values_list("due_at", flat=True))
    assert due == [since + timedelta(hours=6 * number) for number in range(1, 28)]
    assert Experiment.objects.count() == 27


def test_times_that_were_missed_are_made_up_once(nightly):
    schedule = nightly(NOON)
    assert timetable.tick(now=NOON + timedelta(days=5)) == 1
    assert timetable.tick(now=NOON + timedelta(days=5)) == 0
    assert local(schedule) == ["11-03 02:30"]
    schedule.refresh_from_db()
    assert schedule.due_at == datetime(2026, 11, 8, 1, 30, tzinfo=UTC)


def test_a_time_of_which_another_tick_has_taken_care_starts_nothing(nightly):
    schedule = nightly(NOON)
    now = NOON + timedelta(days=1)
    assert timetable.tick(now=now) == 1
    assert not timetable._come(schedule.pk, now)
    assert Experiment.objects.count() == 1


def test_it_starts_nothing_while_the_experiment_before_has_not_ended(nightly):
    schedule = nightly(NOON)
    timetable.tick(now=NOON + timedelta(days=1))
    timetable.tick(now=NOON + timedelta(days=2))
    second, first = schedule.occurrences.all()
    assert second.experiment is None
    assert str(first.experiment) in second.note
    assert first.experiment.name == "Nightly 2026-11-03 01:30"


def lose_the_engine(schedule: Schedule) -> None:
    Agent.objects.update(engines=[])


def lose_the_role(schedule: Schedule) -> None:
    schedule.owner.role = UserRole.VIEWER
    schedule.owner.save()


def lose_the_machine(schedule: Schedule) -> None:
    schedule.change(plan=schedule.plan | {"agent": "gone"})


@pytest.mark.parametrize("lose", [lose_the_engine, lose_the_role, lose_the_machine])
def test_it_says_why_nothing_was_started_and_comes_again(nightly, lose):
    schedule = nightly(NOON)
    lose(schedule)
    timetable.tick(now=NOON + timedelta(days=1))
    (occurrence,) = schedule.occurrences.all()
    assert occurrence.experiment is None
    assert occurrence.note.startswith("not started: ")
    schedule.refresh_from_db()
    assert schedule.due_at == datetime(2026, 11, 4, 1, 30, tzinfo=UTC)
    assert not Run.objects.exists()


def test_it_ends_when_it_shall_and_a_single_one_after_its_time(nightly, bench, operator):
    now = datetime.now(UTC)
    ending = nightly(now, "0 * * * *", "UTC", ends_at=(now + timedelta(hours=2)).replace(minute=30))
    ticks(now + timedelta(minutes=1), 10)
    assert ending.occurrences.count() == 2
    ending.refresh_from_db()
    assert (ending.due_at, timetable.next_times(ending)) == (None, [])
    single = timetable.make(
        plan_of().as_json(), owner=operator, name="Once", cron="", zone="UTC", at=now + timedelta(hours=3)
    )
    assert timetable.next_times(single) == [now + timedelta(hours=3)]
    ticks(now, 10)
    assert single.occurrences.count() == 1


def test_what_comes_while_it_is_paused_is_passed_over(nightly):
    schedule = nightly(NOON)
    timetable.set_paused(schedule, paused=True)
    assert timetable.tick(now=NOON + timedelta(days=3)) == 0
    timetable.set_paused(schedule, paused=False)
    schedule.refresh_from_db()
    assert schedule.due_at > datetime.now(UTC)
    assert len(timetable.next_times(schedule)) == 5


# Plans


@pytest.mark.parametrize(
    "plan",
    [
        plan_of("sqlite:3.50.1", "h2:2.3.232", repeats=3, name="both", tags=("a", "b"), tested={"commit": "abc"}),
        plan_of(sweep={"terminals": (1, 2)}, settings={"sqlite": (("synchronous", "FULL"),)}, note="words"),
        plan_of(overrides=(("terminals", 2, {"duration_s": 9}),), extra=({"terminals": 8},)),
        Plan("tpcb", (Engine("postgresql", "15.8", "prod"),), FACTORS),
    ],
)
def test_a_plan_that_is_told_is_the_same_plan(bench, plan):
    again = Plan.of(plan.as_json(), user=None)
    assert again.cells() == plan.cells()
    assert again.as_json() == plan.as_json()


def test_a_plan_whose_secret_is_not_kept_is_refused(bench, operator):
    told = plan_of(settings={"sqlite": (("password", "hunter2"),)}).as_json()
    with pytest.raises(FieldErrors, match="password"):
        timetable.make(told, owner=operator, name="x", cron=NIGHTLY, zone="UTC")
    assert not Schedule.objects.exists()


# Pages


@pytest.fixture
def planned(bench, operator, client):
    client.force_login(operator)
    return scheduling.start(plan_of(name="sweep"), user=operator)


def test_an_experiment_becomes_nightly_in_two_clicks(planned, client):
    link = f"/schedules/new/?experiment={planned.slug}"
    assert link in client.get(planned.get_absolute_url()).content.decode()
    form = client.get(link).context["form"]
    filled = {name: form[name].value() or "" for name in form.fields}
    answer = client.post("/schedules/new/", filled | {"experiment": planned.slug}, follow=True)
    schedule = Schedule.objects.get()
    assert (schedule.name, schedule.cron, len(answer.context["next_times"])) == ("sweep", "0 2 * * *", 5)
    shown = answer.context["next_times"][0]
    assert f"<li>{shown:%Y-%m-%d} 02:00 UTC</li>" in answer.content.decode()
    assert "sweep" in client.get("/schedules/").content.decode()


@pytest.mark.parametrize(
    ("given", "field"),
    [({"cron": "61 * * * *"}, "cron"), ({"cron": "nightly"}, "cron"), ({"zone": "Mars/Olympus"}, "zone"),
     ({"zone": "../etc"}, "zone"), ({"name": ""}, "name"), ({"cron": ""}, "at"),
     ({"cron": "", "at": "2020-01-01T00:00"}, "at"), ({"ends_at": "2020-01-01T00:00"}, "ends_at"),
     ({"at": "2099-01-01T00:00"}, "at")],
)  # fmt: skip
def test_it_names_the_field_that_is_wrong_and_keeps_nothing(planned, client, given, field):
    filled = {"experiment": planned.slug, "name": "x", "cron": NIGHTLY, "zone": "UTC"} | given
    answer = client.post("/schedules/new/", filled)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    assert not Schedule.objects.exists()


def test_by_api_it_is_due_once_in_a_month(planned, client, bearer):
    """Was: a time after tomorrow was refused, as if it were that of a measurement, and one without a zone error 500."""
    at = (datetime.now(UTC) + timedelta(days=30)).replace(microsecond=0)
    body = {"experiment": planned.slug, "name": "once"}

    def sent(**more):
        return client.post("/api/v1/schedules/", body | more, "application/json", headers=bearer("schedule"))

    assert list(sent(at=at.replace(tzinfo=None).isoformat()).json()) == ["at"]
    assert list(sent(at=at.isoformat(), cron=NIGHTLY).json()) == ["at"]
    assert sent(cron="61 3 * * *").json()["cron"] == ["Bad minute in “61 3 * * *”."]
    never = ["“0 0 31 2,4 *” never happens: no month that it names has such a day."]
    assert sent(cron="0 0 31 2,4 *").json()["cron"] == never
    assert list(sent(cron="61 3 * * *", timezone="Mars/Olympus").json()) == ["timezone", "cron"], "was: the zone alone"
    assert sent(cron="0 0 32 2 *").json()["cron"] == ["Bad day-of-month in “0 0 32 2 *”."]
    assert sent(at=at.isoformat(), ends_at=at.isoformat()).status_code == 201
    assert Schedule.objects.get().due_at == at


def test_a_person_changes_pauses_and_deletes_a_schedule(planned, client, nightly):
    schedule = nightly(datetime.now(UTC))
    path = f"/schedules/{schedule.slug}/"
    assert client.get(path).content.decode().count(" 02:30 Europe/Berlin<") > 3
    client.post(path, {"action": "times", "name": "Weekly", "cron": "0 3 * * 6", "zone": "UTC"})
    client.post(path, {"action": "pause"})
    schedule.refresh_from_db()
    assert (schedule.name, schedule.cron, schedule.is_paused) == ("Weekly", "0 3 * * 6", True)
    assert client.post(path, {"action": "times", "name": "x", "cron": "x", "zone": "UTC"}).status_code == 422
    assert "Paused" in client.get(path).content.decode()
    client.post(path, {"action": "resume"})


def test_a_deleted_schedule_starts_nothing_and_can_be_brought_back(planned, client, nightly):
    """Was: it was gone, with what came of its times."""
    schedule = nightly(datetime.now(UTC) - timedelta(days=3))
    path = f"/schedules/{schedule.slug}/"
    assert timetable.tick(now=datetime.now(UTC) - timedelta(days=2)) == 1
    Run.objects.update(state=RunState.FINISHED)
    gone = client.post(path, {"action": "delete"}, follow=True)
    assert (gone.status_code, "Undo: bring it back" in gone.content.decode()) == (410, True)
    assert timetable.tick() == 0
    assert "Nightly" not in client.get("/schedules/").content.decode()
    assert client.post(path, {"action": "resume"}).status_code == 404
    assert "Nightly" in client.get("/deleted/").content.decode()
    back = client.post(path, {"action": "restore"}, follow=True)
    assert (back.status_code, len(back.context["occurrences"])) == (200, 1)
    # Times that came meanwhile are passed over.
    assert back.context["next_times"][0] > datetime.now(UTC)
    assert timetable.tick() == 0


def test_the_command_purges_a_deleted_schedule_as_its_page_does(nightly, administrator):
    schedule = nightly(datetime.now(UTC))
    with pytest.raises(CommandError, match="there is no deleted schedule"):
        call_command("purge", "schedule", schedule.slug, by=administrator.username)
    timetable.delete(schedule)
    call_command("purge", "schedule", schedule.slug, by=administrator.username, stdout=io.StringIO())
    assert not Schedule.objects.filter(pk=schedule.pk).exists()


def test_a_deleted_schedule_can_be_purged_and_its_experiments_stay(planned, client, nightly, administrator):
    schedule = nightly(datetime.now(UTC) - timedelta(days=3))
    assert timetable.tick(now=datetime.now(UTC) - timedelta(days=2)) == 1
    client.force_login(administrator)
    assert client.get(f"/schedules/{schedule.slug}/purge/").status_code == 404
    timetable.delete(schedule)
    assert "Purge this schedule for good?" in client.get(f"/schedules/{schedule.slug}/purge/").content.decode()
    count = Experiment.objects.count()
    record = client.post(f"/schedules/{schedule.slug}/purge/", {"reason": "a trial"}, follow=True).content.decode()
    assert "a trial" in record and "schedule" in record
    assert (Schedule.objects.count(), Experiment.objects.count()) == (0, count)


def test_one_whose_only_time_came_while_it_was_deleted_is_due_no_more(bench, operator):
    given = {"name": "once", "cron": "", "zone": "UTC", "at": datetime.now(UTC) + timedelta(days=1)}
    schedule = timetable.make(plan_of().as_json(), owner=operator, **given)
    assert timetable.delete(schedule)
    Schedule.objects.update(due_at=datetime.now(UTC) - timedelta(hours=1))
    schedule.refresh_from_db()
    assert timetable.restore(schedule)
    schedule.refresh_from_db()
    assert (schedule.due_at, schedule.deleted_at, timetable.tick()) == (None, None, 0)
