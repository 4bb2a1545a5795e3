from __future__ import annotations

import pytest
from django.urls import reverse

from agents.jobs import dispatch, life
from agents.models import Job
from agents.plans import schedule
from runs.models import Run
from runs.models.choices import RunState
from tests.agents.conftest import finish_item, log_item, plan_of, samples_item, state_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def first(experiment) -> Run:
    return experiment.runs.get(order_index=1)


@pytest.fixture
def measuring(experiment, first) -> Run:
    dispatch.assign_queued()
    life.claim(agent=experiment.bench.agent, run_id=first.pk)
    items = [state_item("loading"), log_item("loading 100,000 rows\n"), state_item("measuring"), samples_item(800.0)]
    life.apply(run_id=first.pk, batch={"seq": 1, "items": items})
    first.refresh_from_db()
    return first


def status(client, run: Run):
    return client.get(reverse("run-job", args=[run.pk]))


def test_it_says_why_a_run_waits(client, first):
    html = status(client, first).content.decode()
    assert "Waiting in the queue" in html
    assert '<p role="status" data-waiting>Agent bench1 ' in html
    assert 'hx-trigger="every 2s"' in html


def test_it_shows_progress_and_log_of_a_run_that_goes_on(client, measuring):
    html = status(client, measuring).content.decode()
    assert "Measuring" in html
    assert "On bench1: " in html
    assert '<progress max="100"' in html
    assert "loading 100,000 rows" in html


def test_it_loads_the_page_anew_when_the_run_has_ended(client, measuring):
    assert "HX-Refresh" not in status(client, measuring)
    life.apply(run_id=measuring.pk, batch={"seq": 2, "items": [finish_item()]})
    answer = status(client, measuring)
    assert answer["HX-Refresh"] == "true"
    assert "hx-get" not in answer.content.decode()


def test_it_shows_the_button_that_cancels_to_operators_only(client, first, viewer, operator):
    button = "Cancel this run"
    assert button not in status(client, first).content.decode()
    client.force_login(viewer)
    assert button not in status(client, first).content.decode()
    client.force_login(operator)
    assert button in status(client, first).content.decode()


def test_it_says_that_a_run_is_being_cancelled(client, measuring, operator):
    client.force_login(operator)
    assert client.post(reverse("run-cancel", args=[measuring.pk])).status_code == 302
    html = status(client, measuring).content.decode()
    assert "Cancelling: bench1 stops the load generator and the DBMS" in html
    assert "<progress" not in html
    assert "Cancel this run" not in html


def test_it_goes_back_to_the_page_where_the_button_was(client, first, operator):
    client.force_login(operator)
    path = reverse("run-cancel", args=[first.pk])
    here = client.post(path, headers={"Referer": "http://testserver/experiments/x/?a=1"})
    assert here["Location"] == "/experiments/x/?a=1"
    elsewhere = client.post(path, headers={"Referer": "https://evil.example/x"})
    assert elsewhere["Location"] == first.get_absolute_url()


def test_it_shows_nothing_for_a_run_that_was_not_scheduled_here(client, first):
    from django.template import Context, Template

    Job.objects.filter(pk=first.pk).delete()
    shown = Template("{% load jobs %}{% job_status run %}{% repeat_button run %}").render(
        Context({"run": Run.objects.get(pk=first.pk)})
    )
    assert shown.strip() == ""
    assert status(client, first).status_code == 404


def test_it_is_part_of_the_pages_of_run_and_experiment(client, first, experiment):
    for thing in (first, experiment):
        html = client.get(thing.get_absolute_url()).content.decode()
        assert ("data-waiting" if thing is first else "0 of 3 runs") in html


def test_it_shows_how_far_an_experiment_is(client, experiment, measuring):
    path = reverse("experiment-progress", args=[experiment.slug])
    open_still = client.get(path)
    html = open_still.content.decode()
    assert "0 of 3 runs done" in html and "HX-Retarget" not in open_still
    assert "SQLite 3.50.1, repeat 1</a> on bench1." in html
    assert "left for everything" in html
    life.apply(run_id=measuring.pk, batch={"seq": 2, "items": [finish_item()]})
    assert "1 of 3 runs done" in client.get(path).content.decode()
    life.cancel_experiment(experiment)
    ended = client.get(path)
    html = ended.content.decode()
    # Seen: "All 6 runs have ended" above "5 of 6 have ended", without the answer and the button to delete.
    assert "All 3 runs have ended" in html and (ended["HX-Retarget"], ended["HX-Reselect"]) == ("#main", "#main")
    assert "Cancel what is left" not in html
    assert "1 finished" in html
    assert "2 cancelled" in html


def test_what_waits_of_an_experiment_is_cancelled_together(experiment, django_assert_max_num_queries):
    """Seen: 380 runs took 33 s, some statements and a commit each."""
    with django_assert_max_num_queries(14):
        assert life.cancel_experiment(experiment) == 3
    assert {run.state_changes.last().state for run in experiment.runs.all()} == {"cancelled"}


def test_pages_of_what_was_cancelled_before_it_started(client, experiment, first):
    """Seen: a panel with nothing but the word Job, "Cancelled. cancelled before it started", and "No numbers yet"."""
    to_come = "known after the first run"
    assert to_come in client.get(reverse("experiment", args=[experiment.slug])).content.decode()
    life.cancel_experiment(experiment)
    said = client.get(first.get_absolute_url()).content.decode()
    assert ">Job<" not in said
    assert "<strong>Cancelled before it started.</strong>" in said
    whole = client.get(reverse("experiment", args=[experiment.slug])).content.decode()
    assert "None of its runs has ended with a number that counts: 3 × cancelled before it started." in whole
    assert "No numbers yet" not in whole
    assert to_come not in whole


def test_an_experiment_of_one_run_speaks_of_one(client, machine, operator):
    """Seen: "All 1 runs have ended", "made interleaved"."""
    machine("bench1", "sqlite:3.50.1")
    alone = schedule.start(plan_of("sqlite:3.50.1"), user=operator)
    life.cancel_experiment(alone)
    said = client.get(reverse("experiment", args=[alone.slug])).content.decode()
    assert "<h2>The run has ended</h2>" in said
    assert "1 of 1 has ended." in said
    assert "interleaved" not in said


@pytest.mark.parametrize(
    ("order", "words"),
    [("random", "in an order shuffled for each repeat (seed 42)."), ("interleaved", "Repeats are interleaved: ")],
)
def test_an_experiment_says_in_which_order_its_runs_are_made(client, machine, order, words):
    """Seen: "Repeats are interleaved" of what was shuffled, and its seed nowhere."""
    machine("bench1", "sqlite:3.50.1")
    plan = plan_of("sqlite:3.50.1", repeats=2, order=order, order_seed=42 if order == "random" else 0)
    html = client.get(schedule.start(plan, user=None).get_absolute_url()).content.decode()
    assert words in html
    assert ("interleaved" in html) == (order == "interleaved")


@pytest.mark.parametrize(
    ("states", "badge"),
    [((RunState.FINISHED, RunState.FAILED), "Failed in part"),
     ((RunState.FINISHED, RunState.CANCELLED), "Cancelled in part"),
     ((RunState.FINISHED, RunState.FINISHED), "Finished"), ((RunState.FAILED, RunState.CANCELLED), "Failed"),
     ((RunState.FINISHED, RunState.QUEUED), "Queued")],
)  # fmt: skip
def test_lists_of_experiments_say_that_a_part_has_not_come_through(client, machine, states, badge):
    """Seen: "Finished" of an experiment of which 20 of 24 runs were cancelled; at home neither state nor counts."""
    machine("bench1", "sqlite:3.50.1")
    experiment = schedule.start(plan_of("sqlite:3.50.1", repeats=2), user=None)
    for run, state in zip(experiment.runs.order_by("order_index"), states, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state)
    for path in (reverse("experiments"), reverse("home")):
        html = client.get(path).content.decode()
        row = html[html.rindex(f'<a href="{experiment.get_absolute_url()}">') :]
        assert f">{badge}</span>" in row[: row.index("</time>")]
        assert "2 finished" in row if states[1] == RunState.FINISHED else f"1 {states[1]}" in row


def test_what_is_in_force_is_not_yet_known_of_a_run_that_goes_on(client, machine):
    machine("bench1", "sqlite:3.50.1")
    plan = plan_of("sqlite:3.50.1", settings={"sqlite": (("cache_size", "-1000"),)})
    html = client.get(schedule.start(plan, user=None).runs.get().get_absolute_url()).content.decode()
    assert "not yet</span></td>" in html and "not reported" not in html


@pytest.mark.parametrize("outcome", ["failed", "cancelled", "finished"])
def test_what_a_run_had_when_it_was_cut_short_is_no_result(client, measuring, outcome):
    """Seen: "54.2 MiB" as the result of a cancelled run, "0.028 % failed" as that of one whose DBMS was killed."""
    life.apply(run_id=measuring.pk, batch={"seq": 2, "items": [finish_item(outcome, "as told")]})
    measuring.refresh_from_db()
    assert (measuring.state, measuring.measurements.exists()) == (outcome, True)
    html = client.get(measuring.get_absolute_url()).content.decode()
    assert ('id="result"' in html) == (outcome == "finished")


def test_why_runs_failed_is_said_at_once_and_equal_reasons_once(client, experiment):
    """Seen: "Failed" without a word while 12 runs failed alike, and then the same message 12 times."""
    for number, run in enumerate(experiment.runs.order_by("order_index")[:2], 1):
        log = (
            f'2026-11-29 19:15:0{number}.123 UTC [{number}] LOG:  unrecognized parameter "x" in file "/jobs/{number}/a"'
        )
        message = f"PostgreSQL 15.18 did not start: {log}"
        Run.objects.filter(pk=run.pk).update(state=RunState.FAILED, message=message)
    html = client.get(reverse("experiment-progress", args=[experiment.slug])).content.decode()
    assert html.count("did not start") == 1
    assert "2 × PostgreSQL 15.18 did not start: " in html
    whole = client.get(reverse("experiment", args=[experiment.slug])).content.decode()
    assert whole.count("2 × ") == 1


def test_it_cancels_what_is_left_of_an_experiment(client, experiment, operator):
    client.force_login(operator)
    answer = client.post(reverse("experiment-cancel", args=[experiment.slug]))
    assert answer["Location"] == reverse("experiment", args=[experiment.slug])
    assert set(experiment.runs.values_list("state", flat=True)) == {RunState.CANCELLED}


def test_it_runs_a_cell_once_more(client, measuring, operator):
    life.apply(run_id=measuring.pk, batch={"seq": 2, "items": [finish_item("failed", "balances differ")]})
    client.force_login(operator)
    assert "Run once more" in client.get(measuring.get_absolute_url()).content.decode()
    answer = client.post(reverse("run-repeat", args=[measuring.pk]))
    again = Run.objects.get(repeat=4)
    assert answer["Location"] == again.get_absolute_url()
    assert again.state == RunState.QUEUED


def test_it_says_why_a_cell_of_another_version_cannot_be_run_once_more(client, measuring, operator):
    life.apply(run_id=measuring.pk, batch={"seq": 2, "items": [finish_item("failed", "balances differ")]})
    Job.objects.filter(pk=measuring.pk).update(spec={**measuring.job.spec, "workload_version": "0"})
    client.force_login(operator)
    assert "it ran version 0" in client.get(measuring.get_absolute_url()).content.decode()
    answer = client.post(reverse("run-repeat", args=[measuring.pk]), follow=True)
    assert "it ran version 0" in answer.content.decode()
    assert not Run.objects.filter(repeat=4).exists()
