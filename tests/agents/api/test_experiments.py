from __future__ import annotations

from datetime import timedelta

import pytest
from benchagent.plugins import LACKING
from django.utils import timezone

from agents.models import Agent
from agents.plans import schedule
from runs.api import once
from runs.models import AnsweredRequest, Batch, Experiment, Run
from runs.models.choices import RunState
from tests.agents.conftest import FACTORS, plan_of

pytestmark = pytest.mark.django_db
PATH = "/api/v1/experiments/"
BODY = {
    "workload": "tpcb",
    "engines": [{"dbms": "sqlite", "version": "3.50.1"}, {"dbms": "h2", "version": "2.3.232"}],
    "factors": FACTORS,
    "repeats": 2,
    "settings": {"sqlite": [["cache_size", "-2000"], ["cache_size", "-4000"]]},
}


def post(client, body, headers, path=""):
    return client.post(f"{PATH}{path}", body, content_type="application/json", headers=headers)


def test_it_may_wait_for_a_month_and_its_end_needs_a_zone(client, bearer, machine):
    machine()
    end = timezone.now() + timedelta(days=30)
    bare = post(client, BODY | {"not_after": end.replace(tzinfo=None).isoformat()}, bearer("schedule"))
    assert (bare.status_code, list(bare.json())) == (400, ["not_after"])
    assert post(client, BODY | {"not_after": end.isoformat()}, bearer("schedule")).status_code == 201


def test_it_starts_an_experiment(client, bearer, machine):
    machine()
    answer = post(client, BODY, bearer("schedule"))
    assert answer.status_code == 201
    body = answer.json()
    assert body["url"].endswith(f"/experiments/{body['slug']}/")
    assert [(run["dbms"], run["repeat"], run["order_index"]) for run in body["runs"]] == [
        ("SQLite 3.50.1", 1, 1), ("H2 2.3.232", 1, 2), ("SQLite 3.50.1", 2, 3), ("H2 2.3.232", 2, 4),
    ]  # fmt: skip
    run = Run.objects.select_related("job").get(pk=body["runs"][0]["id"])
    assert run.job.spec["settings"] == [["cache_size", "-2000"], ["cache_size", "-4000"]]
    assert run.experiment.created_by.username == "olga-operator"
    assert body["estimated_s"] > 4 * 7
    assert [words.partition(":")[0] for words in body["warnings"]] == ["A warm-up of 2 s is short"]


def test_it_says_which_machine_has_no_room_for_it(client, bearer, machine):
    bench = machine()
    place = {
        "name": "default", "device": "sda", "disks": [], "medium": None, "model": None, "bus": None, "emulated": "",
        "capacity_bytes": 10**9, "free_bytes": 10**6, "problem": "",
    }  # fmt: skip
    Agent.objects.filter(pk=bench.agent.pk).update(places=[place])
    body = post(client, BODY, bearer("schedule")).json()
    assert body["warnings"][0] == "bench1 lacks space on storage default (1 MB of 640 MB)."


def test_it_names_an_engine_and_a_workload_whose_plug_in_is_lacking(client, bearer, machine):
    """A repeat names them for its caller, who has typed neither."""
    machine()
    plan = BODY | {"workload": "lookups", "engines": [{"dbms": "duckdb", "version": "1.5.6"}]}
    wrong = post(client, plan, bearer("schedule")).json()
    assert "lookups" in wrong["workload"][0]
    assert "duckdb" in wrong["engines[0].dbms"][0]


def test_it_keeps_what_is_said_of_the_batch(client, bearer, machine):
    machine()
    said = {"label": "patched", "tags": ["night"], "tested": {"commit": "1a2b3c4d"}, "note": "with the fix"}
    answer = post(client, BODY | said | {"name": "Night run"}, bearer("schedule"))
    assert (answer.status_code, answer.json()["name"]) == (201, "Night run")
    together = Batch.objects.get()
    assert (together.label, together.tags, together.note) == ("patched", "night", "with the fix")
    assert together.tested == {"commit": "1a2b3c4d"}
    assert {run.batch_id for run in Run.objects.all()} == {together.pk}


def test_it_takes_the_catalogues_factors_where_none_are_given(client, bearer, machine):
    machine()
    body = {"workload": "tpcb", "engines": BODY["engines"][:1], "factors": {"duration_s": 7}}
    assert post(client, body, bearer("schedule")).status_code == 201
    assert Run.objects.get().job.spec["factors"] == {
        "scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"workload": "tpcx"}, "workload"),
        ({"engines": []}, "engines"),
        ({"engines": [{"dbms": "sqlite"}]}, "engines[0].version"),
        ({"engines": [{"dbms": "sqlite", "version": "1.0"}]}, "engines"),
        ({"factors": {"terminals": 0}}, "factors.terminals"),
        ({"factors": {"colour": 1}}, "factors.colour"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 51}, "repeats"),
        ({"name": "x" * 201}, "name"),
        ({"repeats": "2"}, "repeats"),
        ({"repeat": 2}, "repeat"),
        ({"factors": {"terminals": []}}, "factors.terminals"),
        ({"factors": {"terminals": [1, True]}}, "factors.terminals"),
        ({"agent": "nobody"}, "agent"),
        ({"settings": {"mongo": []}}, "settings"),
        ({"settings": {"sqlite": [["a"]]}}, "settings.sqlite[0]"),
    ],
)
def test_it_names_the_wrong_field(client, bearer, machine, change, field):
    machine()
    answer = post(client, {**BODY, **change}, bearer("schedule"))
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert not Experiment.objects.exists()


def test_it_cancels_a_waiting_run(client, bearer, machine):
    machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    answer = client.post(f"/api/v1/runs/{run.pk}/cancel/", headers=bearer("schedule"))
    assert answer.status_code == 202
    assert answer.json() == {"id": str(run.pk), "status": "cancelled", "cancel_requested": False}
    run.refresh_from_db()
    assert (run.message, run.finished_at is None) == ("cancelled by olga-operator before it started", False)


def test_it_does_not_cancel_what_has_ended(client, bearer, machine):
    machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    Run.objects.move(run.pk, to=RunState.CANCELLED)
    assert client.post(f"/api/v1/runs/{run.pk}/cancel/", headers=bearer("schedule")).status_code == 409


def test_a_key_makes_one_experiment_and_takes_no_other_request(client, bearer, machine):
    machine()
    headers = bearer("schedule")

    def send(body, key="k1"):
        return post(client, body, headers | {"Idempotency-Key": key})

    assert (send(BODY | {"repeats": 0}).status_code, AnsweredRequest.objects.count()) == (400, 0)
    first, again = send(BODY), send(BODY)
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert (again["Idempotent-Replayed"], Experiment.objects.count()) == ("true", 1)
    assert list(send(BODY | {"repeats": 1}).json()) == ["Idempotency-Key"]
    assert send(BODY, "k2").json()["slug"] != first.json()["slug"]
    assert list(send(BODY, "k" * 201).json()) == ["Idempotency-Key"]
    AnsweredRequest.objects.update(at=timezone.now() - once.KEPT - timedelta(minutes=1))
    once.forget_old()
    assert not AnsweredRequest.objects.exists()


def ended(slug: str, states: list[str]) -> list[Run]:
    runs = list(Run.objects.filter(experiment__slug=slug).order_by("order_index"))
    for run, state in zip(runs, states, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state)
    return runs


def test_it_runs_a_plan_again_with_one_change(client, bearer, machine):
    machine()
    slug = post(client, BODY | {"factors": FACTORS | {"terminals": [1, 2]}}, bearer("schedule")).json()["slug"]
    changed = {"repeats": 1, "swept": {"sqlite": {"cache_size": ["-1", "-2"]}}, "name": "Other caches"}

    def repeat(**change):
        return post(client, change, bearer("schedule"), f"{slug}/repeat/")

    answer = repeat(**changed)
    assert answer.status_code == 201, answer.content
    before, after = (Experiment.objects.get(slug=each).plan for each in (slug, answer.json()["slug"]))
    factors = before.pop("factors")  # with the usual value of what is varied
    assert after["factors"].items() <= factors.items()
    differing = {name for name in before if before[name] != after[name]}
    assert differing == {"repeats", "swept", "name"}
    assert len(answer.json()["runs"]) == 2 * (2 + 1)
    wrong = {"repeats": (99, "repeats"), "stop": ({"Infinity": 1}, "stop.Infinity"), "agent": ("nobody", "agent")}
    for name, (value, field) in (wrong | {"state": (1, "state")}).items():
        refused = repeat(**{name: value})
        assert (refused.status_code, field in refused.json()) == (400, True)
    # A DBMS that only the site knows from which the plan was brought.
    stored = Experiment.objects.get(slug=slug)
    elsewhere = {**stored.plan, "engines": [["elsewhere", "1"]], "settings": {}}
    Experiment.objects.filter(slug=slug).update(plan=elsewhere)
    assert repeat().status_code == 400


def test_it_repeats_what_failed_once(client, bearer, machine):
    machine()
    slug = post(client, BODY, bearer("schedule")).json()["slug"]
    failed = ended(slug, [RunState.FAILED, RunState.FINISHED, RunState.FINISHED, RunState.LOST])

    def repeat(body):
        return post(client, body, bearer("schedule"), f"{slug}/repeat-runs/").json()["results"]

    made = Run.objects.filter(pk__in=repeat({})).order_by("order_index").select_related("job", "dbms_version__dbms")
    assert [(run.dbms_version.dbms.slug, run.repeat, run.order_index) for run in made] == [
        ("sqlite", 3, 5), ("h2", 3, 6),
    ]  # fmt: skip
    assert made[0].job.spec["settings"] == failed[0].job.spec["settings"]
    assert repeat({}) == []
    (one,) = repeat({"run": str(failed[1].pk)})
    assert Run.objects.get(pk=one).repeat == 4
    headers = bearer("schedule") | {"Idempotency-Key": "again"}
    first, again = (post(client, {"run": one}, headers, f"{slug}/repeat-runs/").json() for _ in range(2))
    assert first == again and Run.objects.filter(experiment__slug=slug, repeat=5).count() == 1


@pytest.mark.parametrize(("change", "field"), [
    ({"engines": [{"dbms": "h2pg", "version": "1"}]}, "engines[0].dbms"),
    ({"workload": "counters"}, "workload"),
    ({"settings": {"h2pg": [["a", "1"]]}}, "settings"),
])  # fmt: skip
def test_of_what_a_plug_in_would_offer_it_says_that_none_does(client, bearer, machine, change, field):
    machine()
    answer = post(client, BODY | change, bearer("schedule"))
    assert answer.status_code == 400
    assert LACKING in str(answer.json()[field]) and "sqlite" in str(answer.json()) + "sqlite" * (field == "workload")
