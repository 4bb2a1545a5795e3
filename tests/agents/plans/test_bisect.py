from __future__ import annotations

from datetime import timedelta
from itertools import cycle

import pytest
from django.utils import timezone

from agents import machines
from agents.models import Agent, Bisection, EnrolmentCode, Job
from agents.plans import halving, schedule
from agents.plans.bisect import plan_between
from agents.refusals import FieldErrors
from runs.models import Measurement, Metric, Run
from runs.models.choices import RunState
from tests.agents.conftest import plan_of, registration

pytestmark = pytest.mark.django_db
VERSIONS = ("15.3", "9.6.24", "15.9", "15.18", "16.1")
SETTINGS = (("fsync", "on"), ("shared_buffers", "128MB"), ("work_mem", "4MB"))


@pytest.fixture
def agent() -> Agent:
    agent, _ = machines.register(message=registration("bench1", code=EnrolmentCode.issue()))
    agent.engines = [{**agent.engines[0], "dbms": "postgresql", "version": version} for version in VERSIONS]
    agent.save()
    return agent


@pytest.fixture
def measured(agent, operator):
    """`measured(version, days ago, setting=value, …)` -> a run that the agent has measured."""

    def measure(version: str, ago: int, **changes: str) -> Run:
        settings = tuple((name, changes.get(name, value)) for name, value in SETTINGS)
        plan = plan_of(f"postgresql:{version}", agent=agent, settings={"postgresql": settings})
        run = schedule.start(plan, user=operator).runs.get()
        Job.objects.filter(run=run).update(agent=agent)
        Run.objects.filter(pk=run.pk).update(measured_at=timezone.now() - timedelta(days=ago))
        run.refresh_from_db()
        return run

    return measure


def test_versions_between_two_points_are_measured_with_both_ends(measured):
    plan = plan_between(measured("15.3", 9), measured("15.18", 1))
    assert plan["engines"] == [["postgresql", version] for version in ("15.3", "15.9", "15.18")]
    assert (plan["agent"], plan["swept"]) == ("bench1", {})


def test_builds_of_commits_lie_between_by_the_number_in_their_names(measured, agent):
    builds = ["15.9-0041-c0ffee", "15.9-0007-f3eb639a", "15.9-0012-0badc0de", "15.9-head", "16.1-head"]
    agent.engines += [{**agent.engines[0], "version": version} for version in builds]
    agent.save()
    plan = plan_between(measured(builds[1], 9), measured(builds[0], 1))
    assert [version for _, version in plan["engines"]] == [builds[1], builds[2], builds[0]]
    with pytest.raises(FieldErrors, match="older"):
        plan_between(measured("15.9", 9), measured("15.9-head", 1))
    assert machines.newest(agent, "postgresql").version == "16.1"


def test_settings_that_differ_are_each_measured_at_both_values(measured):
    plan = plan_between(measured("15.3", 9), measured("15.3", 1, fsync="off", work_mem="64MB"))
    assert plan["swept"] == {"postgresql": {"fsync": ["on", "off"], "work_mem": ["4MB", "64MB"]}}
    assert plan["settings"] == {"postgresql": [["shared_buffers", "128MB"]]}


def test_it_says_why_nothing_can_be_measured_between(measured, agent):
    old, same = measured("15.3", 9), measured("15.3", 1)
    with pytest.raises(FieldErrors) as refused:
        plan_between(old, same)
    assert set(refused.value.errors) == {"settings"}
    Job.objects.filter(run=same).update(agent=None)
    with pytest.raises(FieldErrors) as refused:
        plan_between(old, same)
    assert set(refused.value.errors) == {"agent"}


def test_the_form_is_filled_with_what_lies_between(client, operator, measured):
    old, new = measured("15.3", 9), measured("15.9", 1)
    client.force_login(operator)
    page = client.get(f"/schedule/between/?run={new.pk}&run={old.pk}")
    form = page.context["form"]
    assert (page.status_code, form.initial["engines"]) == (200, ["postgresql:15.3", "postgresql:15.9"])
    assert form.initial["agent"] == "bench1"
    for wrong in (f"run={old.pk}", f"run={old.pk}&run=x"):
        assert client.get(f"/schedule/between/?{wrong}").status_code == 302


@pytest.fixture
def bring(db):
    """`bring(bisection, level)`: its present step ends, each run with the number that `level(spec)` tells."""
    metric = Metric.objects.get_or_create(name="tps", unit="1/s", defaults={"label": "TPS", "better": "higher"})[0]

    def end(bisection: Bisection, level) -> None:
        for run in bisection.experiment.runs.select_related("job"):
            value = level(run.job.spec) * (1 + run.repeat / 1000)
            Measurement.objects.create(run=run, metric=metric, phase="run", value=value)
        bisection.experiment.runs.update(state=RunState.FINISHED, finished_at=timezone.now())
        assert halving.go_on() == 1
        bisection.refresh_from_db()

    return end


def test_versions_are_halved_until_two_neighbours_are_left(measured, agent, operator, bring):
    agent.engines = [{**agent.engines[0], "version": f"15.{minor}"} for minor in range(1, 10)]
    agent.save()
    bisection = halving.begin(measured("15.1", 9), measured("15.9", 1), user=operator)
    assert halving.go_on() == 0
    measured_at = []
    while not bisection.outcome:
        assert len(measured_at) + bisection.steps_left == 3
        plan = bisection.experiment.plan
        measured_at.append([version for _, version in plan["engines"]])
        bring(bisection, lambda spec: 100 if int(spec["dbms_version"][3:]) < 7 else 80)
    assert measured_at == [["15.1", "15.5", "15.9"], ["15.5", "15.7", "15.9"], ["15.5", "15.6", "15.7"]]
    assert bisection.outcome == "It is 15.6 → 15.7."
    assert halving.go_on() == 0
    assert [round(step["second"], 2) for step in bisection.steps] == [-0.2, 0, -0.2]


def test_settings_are_halved_to_the_one_that_costs(measured, operator, bring):
    changed = {"fsync": "off", "shared_buffers": "1MB", "work_mem": "64MB"}
    old, new = measured("15.3", 9), measured("15.3", 1, **changed)
    bisection = halving.begin(old, new, user=operator)
    assert bisection.name == f"Between {old.measured_at:%Y-%m-%d} and {new.measured_at:%Y-%m-%d}"
    assert halving.begin(old, new, user=operator) == bisection
    same_day = halving.begin(old, measured("15.3", 9, **changed | {"work_mem": "32MB"}), user=operator)
    assert f"{old.measured_at:%H:%M}" in same_day.name and same_day.name.endswith(" UTC")
    while not bisection.outcome:
        cells = {tuple(map(tuple, run.job.spec["settings"])) for run in bisection.experiment.runs.select_related("job")}
        assert len(cells) == 3
        bring(bisection, lambda spec: 80 if dict(spec["settings"])["shared_buffers"] == "1MB" else 100)
    assert bisection.outcome == "It is shared_buffers 128MB → 1MB."


def test_a_noisy_step_is_measured_again_before_its_ends_are_called_alike(measured, operator, bring):
    def measured_as(*of_new: int):
        values = {"15.3": cycle((28505, 27032, 26899)), "15.9": cycle((28505, 26899, 27032)), "15.18": cycle(of_new)}
        return lambda spec: next(values[spec["dbms_version"]])

    old, new = measured("15.3", 9), measured("15.18", 1)
    noisy = halving.begin(old, new, user=operator)
    bring(noisy, measured_as(2847, 4900, 344))
    assert (noisy.outcome, noisy.low, noisy.high) == ("", 0, 2)
    bring(noisy, measured_as(2847, 4900, 344))
    assert noisy.outcome == "It is 15.9 → 15.18."
    alike = halving.begin(old, new, user=operator)
    for _ in range(halving.MOST_ROUNDS):
        assert alike.outcome == ""
        bring(alike, measured_as(90000, 26000, 9000))
    assert alike.outcome.startswith("Its ends do not surely differ")


def test_halving_ends_where_the_change_is_not_seen_again_or_a_point_brings_nothing(measured, operator, bring):
    old, new = measured("15.3", 9), measured("15.18", 1)
    same = halving.begin(old, new, user=operator)
    bring(same, lambda spec: 100)
    assert same.outcome.startswith("Its ends do not")
    failed = halving.begin(old, new, user=operator)
    failed.experiment.runs.update(state=RunState.FAILED)
    assert halving.go_on() == 1
    failed.refresh_from_db()
    assert "no number" in failed.outcome


def test_whoever_cancels_a_step_ends_the_search(measured, operator, bring):
    bisection = halving.begin(measured("15.3", 9), measured("15.18", 1), user=operator)
    levels = cycle((90, 50))
    bring(bisection, lambda spec: next(levels))
    assert bisection.outcome == ""
    bisection.experiment.runs.update(state=RunState.CANCELLED)
    assert halving.go_on() == 1
    bisection.refresh_from_db()
    assert (bisection.outcome, len(bisection.steps)) == ("It was cancelled.", 1)


def test_a_button_measures_in_steps_and_a_page_says_how_far(client, operator, measured):
    client.force_login(operator)
    old, new = measured("15.3", 9), measured("15.18", 1)
    assert b"Measure in steps" in client.get(f"/schedule/between/?run={old.pk}&run={new.pk}").content
    answer = client.post("/schedule/between/", {"run": [old.pk, new.pk]}, follow=True)
    assert b"being measured" in answer.content
    ((bisection, steps, now),) = answer.context["bisections"]
    assert (bisection.experiment.plan["repeats"], steps) == (3, [])
    assert (bisection.steps_left, now["ended"], now["total"], now["halves"]) == (
        1, 0, 9, ("15.3 → 15.9", "15.9 → 15.18")
    )  # fmt: skip
    neighbours = client.post("/schedule/between/", {"run": [old.pk, measured("15.9", 2).pk]})
    assert (neighbours.status_code, Bisection.objects.count()) == (422, 1)


def test_the_api_searches_as_the_button_does_and_says_how_far(client, bearer, measured, bring):
    old = measured("15.3", 9)
    new = measured("15.3", 1, fsync="off", shared_buffers="1MB", work_mem="64MB")

    def post(*runs: Run, key: str = ""):
        headers = bearer("schedule", "read") | {"Idempotency-Key": key}
        body = {"runs": [str(run.pk) for run in runs]}
        return client.post("/api/v1/bisections/", body, content_type="application/json", headers=headers)

    begun, again = post(new, old, key="k"), post(new, old, key="k")
    assert (begun.status_code, again.json(), Bisection.objects.count()) == (201, begun.json(), 1)
    assert begun.json()["steps_left"] == 2
    assert begun.json()["old"]["settings"] == {"fsync": "on", "shared_buffers": "128MB", "work_mem": "4MB"}
    bisection = Bisection.objects.get()
    while not bisection.outcome:
        bring(bisection, lambda spec: 80 if dict(spec["settings"])["shared_buffers"] == "1MB" else 100)
    (ended,) = client.get("/api/v1/bisections/", headers=bearer("read")).json()["results"]
    assert (ended["found"], ended["outcome"]) == (True, bisection.outcome)
    assert (ended["old"], ended["new"]) == tuple(
        {"version": "15.3", "settings": {"shared_buffers": value}} for value in ("128MB", "1MB")
    )
    assert [[round(half["moved"], 2) for half in step["halves"]] for step in ended["steps"]] == [[0, -0.2], [-0.2, 0]]
    for wrong, field in (((old,), "runs"), ((old, old), "runs"), ((old, measured("15.3", 2)), "settings")):
        refused = post(*wrong)
        assert (refused.status_code, list(refused.json())) == (400, [field])


def test_one_sees_ones_own_searches_alone(client, bearer, measured, administrator):
    halving.begin(measured("15.3", 9), measured("15.18", 1), user=administrator)
    pk = Bisection.objects.get().pk
    assert client.get("/api/v1/bisections/", headers=bearer("read")).json() == {"results": []}
    assert client.get(f"/api/v1/bisections/{pk}/", headers=bearer("read")).status_code == 404
