"""Changes of several machines: one alert where all were given the same, one for each where they changed themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from runs.history import alerts
from runs.models import Alert, Telling, TellingRule
from runs.telling import delivery
from tests.runs.history.nights import DISK, file, night
from tests.whole import whole

pytestmark = pytest.mark.django_db
STEP, LAST = 14, 18
MACHINES = {"alpha": 0, "beta": 5, "gamma": 48}


def nightly(
    machine: str,
    workload: str = "a",
    *,
    level: float = 0.9,
    levels: Mapping[int, float] = {},
    noise: float = 0.01,
    step: int = STEP,
    last: int = LAST,
    every: int = 1,
    commits: bool = True,
    kernel: str = "",
    visibility: str = "public",
    **new,
):
    """Nights of a machine, some hours after those of the first; `new`: what they are given from the step on."""
    for number in range(1, last + 1, every):
        is_after = number >= step
        hardware = {"name": machine, "kernel": kernel if is_after and kernel else "6.1", "storage": [DISK]}
        more = new if is_after else {}
        one = night(
            number, of=last + 3, level=levels.get(number, level if is_after else 1.0), noise=noise, hardware=hardware,
            workload={"slug": workload, "name": workload, "version": "1", "kind": ""},
            visibility=visibility, tested={} if commits else {"commit": ""}, **more,
        )  # fmt: skip
        begun = datetime.fromisoformat(one["started_at"]) + timedelta(hours=MACHINES[machine])
        yield one | {"started_at": begun.isoformat()}


def confirmed() -> list[Alert]:
    return list(alerts.with_changes(Alert.objects.filter(state="confirmed")))


@pytest.mark.parametrize("order", [("gamma", "alpha", "beta"), *whole((("alpha", "beta", "gamma"),))])
def test_one_commit_on_several_machines_is_one_alert_that_is_told_once(contributor, operator, order):
    """Was: an alert and a telling for each machine."""
    TellingRule.objects.create(owner=operator, name="nights", way="mail", target="dba@bench.example")
    for machine in order:
        file([*nightly(machine, "a"), *nightly(machine, "b")], contributor, at_once=LAST)
        delivery.keep_up()
    (alert,) = confirmed()
    title = alerts.title(alert)
    assert title.startswith("6 of 6 benchmarks on alpha, beta and gamma since commit ")
    assert {point.benchmark.hardware.name for point in alert.changes.all()} == set(MACHINES)
    assert [telling.alert_id for telling in Telling.objects.all()] == [alert.pk]


@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha"), ("alpha", "alpha")])
def test_steps_that_noise_places_at_neighbouring_commits_are_one_alert_that_says_so(client, contributor, order):
    """Was: an alert for each machine."""
    for machine, workload in zip(order, "ab", strict=True):
        is_unclear = machine == "beta" or (workload == "b" and "beta" not in order)
        file(
            [*nightly(machine, workload, noise=0.04, levels={STEP: 0.94} if is_unclear else {})],
            contributor,
            at_once=LAST,
        )
    (alert,) = confirmed()
    assert sorted(int(point.at.commit, 16) for point in alert.changes.all()) == [STEP, STEP + 1]
    days = sorted(point.at.measured_at for point in alert.changes.all())
    begun = f"begun between {days[0]:%Y-%m-%d} and {days[1]:%Y-%m-%d}"
    assert begun in alerts.title(alert), "was: since one of the two"
    assert client.get(alert.get_absolute_url()).context["places_differ"]


@pytest.mark.parametrize(
    ("every", "step", "made", "is_first"),
    [(2, 30, [2], False), (3, 30, [2], True), (2, 28, [1, 1], True), (2, 32, [1, 1], False),
     *whole((2, 30, [2], True), (3, 30, [2], False), (2, 28, [1, 1], False), (2, 32, [1, 1], True))],
)  # fmt: skip
def test_a_machine_that_measures_few_commits_shares_the_cause_of_one_that_measures_each(
    contributor, every, step, made, is_first
):
    """Was: an alert for each, as it has not measured the commit that the step began with."""
    series = [[*nightly("alpha", step=30, last=40)], [*nightly("beta", step=step, last=40, every=every)]]
    for nights in reversed(series) if is_first else series:
        file(nights, contributor, at_once=40)
    assert sorted(len(alert.changes.all()) for alert in confirmed()) == made


@pytest.mark.parametrize(
    ("other", "apart"), [("beta", 1), ("alpha", 2), *whole(("alpha", 1), ("beta", 2))]
)  # fmt: skip
def test_steps_that_surely_began_with_different_commits_are_two_alerts(contributor, other, apart):
    file([*nightly("alpha", "a")], contributor, at_once=LAST)
    file([*nightly(other, "b", step=STEP + apart)], contributor, at_once=LAST)
    assert sorted(len(alert.changes.all()) for alert in confirmed()) == [1, 1]


@pytest.mark.parametrize(
    ("new", "words"),
    [({"dbms": {"name": "PostgreSQL", "version": "18.2"}}, "since PostgreSQL 18.2, "),
     ({"config": [{"name": "work_mem", "value": "1MB"}]}, "work_mem")],
)  # fmt: skip
def test_a_version_or_a_setting_that_machines_are_given_is_one_cause(contributor, new, words):
    for machine in ("alpha", "beta"):
        file([*nightly(machine, commits=False, **new)], contributor, at_once=LAST)
    assert [words in alerts.title(alert) for alert in confirmed()] == [True]


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [({"kernel": "6.12"}, {"kernel": "6.12"}), ({"kernel": "6.12"}, {}), ({"commits": False}, {"commits": False}),
     ({}, {"dbms": {"name": "PostgreSQL", "version": "18.2"}}), ({}, {"visibility": "private"})],
)  # fmt: skip
def test_what_machines_change_themselves_or_were_not_given_alike_is_an_alert_for_each(contributor, alpha, beta):
    file([*nightly("alpha", **alpha)], contributor, at_once=LAST)
    file([*nightly("beta", **beta)], contributor, at_once=LAST)
    assert sorted(alert.machine_id is not None and len(alert.changes.all()) for alert in confirmed()) == [1, 1]


def test_a_cause_that_a_person_has_judged_takes_no_further_machine(contributor):
    file([*nightly("alpha")], contributor, at_once=LAST)
    alerts.move(confirmed()[0], "expected", by=contributor)
    file([*nightly("beta")], contributor, at_once=LAST)
    assert [alerts.title(alert).count("beta") for alert in confirmed()] == [1]


def test_its_page_and_the_api_name_the_machine_of_each_change(client, contributor):
    for machine in ("alpha", "beta"):
        file([*nightly(machine)], contributor, at_once=LAST)
    (alert,) = confirmed()
    page = client.get(alert.get_absolute_url())
    assert [point.benchmark.on_machine in page.content.decode() for point, _ in page.context["changes"]] == [True, True]
    assert not page.context["why"].is_machine
    told = client.get(f"/api/v1/alerts/{alert.pk}/").json()
    assert sorted(change["machine"] for change in told["changes"]) == ["alpha", "beta"]
    assert "alpha and beta" in told["title"]


def test_a_release_is_one_cause_over_machines_and_no_cause_of_what_ran_on_one_version(client, contributor):
    """Was: one alert of all on the first machine, since the day of the commit, "Likeliest: version"."""
    releases = [(1, "17.0"), (2, "17.0"), (3, "17.0"), (10, "17.2"), (11, "17.2"), (12, "17.2")]
    releases += [(15, "18.0"), (16, "18.0"), (17, "18.0")]
    file([*nightly("alpha")], contributor, at_once=LAST)
    for machine in ("alpha", "beta"):
        of_machine = [
            night(
                number, of=LAST + 3, level=0.9 if version == "18.0" else 1, tested={"commit": ""},
                dbms={"name": "PostgreSQL", "version": version}, hardware={"name": machine, "storage": [DISK]},
                workload={"slug": "b", "name": "b"},
            )
            for number, version in releases
        ]  # fmt: skip
        file(of_machine, contributor, at_once=LAST)
    nights, release = sorted(confirmed(), key=lambda alert: alert.since)
    assert len(nights.changes.all()) == 1
    assert alerts.title(release).startswith("2 of 3 benchmarks on alpha and beta since PostgreSQL 18.0, ")
    whys = [client.get(alert.get_absolute_url()).context["why"] for alert in (nights, release)]
    assert [(why.kind, why.held, why.moved) for why in whys] == [("commit", 1, 1), ("version", 2, 2)]


def test_a_step_shares_an_alert_with_each_of_its_steps_not_with_the_first_alone(contributor):
    """Was: a step that began with a version joined one that may not have, beside one that surely has not."""
    new = {"dbms": {"name": "PostgreSQL", "version": "18.2"}}
    unclear = nightly("alpha", "a", noise=0.04, levels={STEP: 0.93}, commits=False, **new)
    without, surely = nightly("beta", "b", commits=False), nightly("gamma", "c", commits=False, **new)
    alpha = {"name": "alpha", "kernel": "6.1", "storage": [DISK]}
    for series in (unclear, without, surely):
        file([each | {"hardware": alpha} for each in series], contributor, at_once=LAST)
    shared = [{point.benchmark.workload.name for point in alert.changes.all()} for alert in confirmed()]
    assert sorted(map(sorted, shared)) == [["a", "b"], ["c"]]
    assert [title for title in map(alerts.title, confirmed()) if "2 of 3" in title and "18.2" not in title]


def test_another_load_generator_is_its_own_cause_and_no_durability(client, contributor):
    """Was: "Likeliest: durability" of it, "Version 16.4 → 1.0.20", and one alert with a step of another workload."""
    tools = {"name": "pgbench", "version": "16.4"}, {"name": "sysbench", "version": "1.0.20"}
    told = list(nightly("alpha", "a", level=1.7))
    for number, document in enumerate(told, 1):
        document |= {"driver": tools[number >= STEP], "durability": "power_loss"}
    file([*told, *nightly("alpha", "b")], contributor, at_once=LAST)
    first, other = sorted(confirmed(), key=lambda alert: alert.changes.get().benchmark.name)
    answer = client.get(f"/api/v1/alerts/{first.pk}/").json()
    causes = [(row["kind"], row["words"]) for row in answer["caused_by"] if row["kind"] != "commit"]
    assert (answer["kind"], causes) == (
        "load generator", [("load generator", "Load generator pgbench 16.4 → sysbench 1.0.20")],
    )  # fmt: skip
    assert other.changes.get().benchmark.workload.name == "b"


def test_another_isolation_level_is_no_durability(client, contributor):
    told = list(nightly("alpha", "a", commits=False))
    for number, document in enumerate(told, 1):
        level = "serializable" if number >= STEP else "read committed"
        document |= {"driver": {"name": "own", "isolation": level}, "durability": "power_loss"}
    file(told, contributor, at_once=LAST)
    (alert,) = confirmed()
    answer = client.get(f"/api/v1/alerts/{alert.pk}/").json()
    assert [(row["kind"], row["words"]) for row in answer["caused_by"]] == [
        ("isolation", "Isolation level read committed → serializable")
    ]
