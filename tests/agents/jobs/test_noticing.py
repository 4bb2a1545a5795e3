"""What happens in the lab is told by the rules that ask for it, once, and to whom may see it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from agents import enqueueing
from agents.jobs import noticing
from agents.models import Agent, Job
from agents.plans import schedule
from runs.models import Notice, Run, TellingRule
from runs.models.choices import RunState
from runs.telling import delivery
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
A = "sqlite:3.50.1"


@pytest.fixture
def told(settings, operator):
    """`told()`: the subjects that have gone out since it was asked last."""
    settings.EMAIL_HOST = "mail.test"
    TellingRule.objects.create(
        owner=operator, name="Lab", way="mail", target="lab@example.org", site_url="http://site", tells_lab=True,
        created_at=timezone.now() - timedelta(days=1),
    )  # fmt: skip

    def ask() -> list[str]:
        mail.outbox.clear()
        noticing.notice()
        delivery.keep_up()
        return [message.subject for message in mail.outbox]

    return ask


def ended(experiment, *states: str) -> None:
    for run, state in zip(experiment.runs.order_by("order_index"), states, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state, finished_at=timezone.now())


@pytest.mark.parametrize(
    ("states", "words"),
    [
        ((RunState.FAILED, RunState.FAILED), "Night failed: 2 failed"),
        ((RunState.CANCELLED, RunState.CANCELLED), "Night was cancelled: 2 cancelled"),
        ((RunState.CANCELLED, RunState.FINISHED), "Night was cancelled in part: 1 cancelled, 1 finished"),
        ((RunState.FINISHED, RunState.FINISHED), "Night is done: 2 finished"),
    ],
)
def test_how_an_experiment_ended_is_told_as_it_was(machine, operator, told, states, words):
    machine()
    ended(schedule.start(plan_of(A, repeats=2, name="Night"), user=operator), *states)
    assert words in told()[0]


def test_an_experiment_is_told_once_when_it_has_ended_and_again_after_a_repeat(machine, operator, told):
    machine()
    experiment = schedule.start(plan_of(A, repeats=2, name="Night"), user=operator)
    assert told() == []
    ended(experiment, RunState.FINISHED, RunState.FAILED)
    (subject,) = told()
    assert "Night failed in part: 1 failed, 1 finished" in subject
    assert experiment.get_absolute_url() in mail.outbox[0].body
    assert told() == []
    schedule.repeat_failed(experiment, user=operator)
    assert told() == []
    ended(experiment, RunState.FINISHED, RunState.FAILED, RunState.FINISHED)
    (subject,) = told()
    assert "Night is done: 1 failed, 2 finished; what failed was repeated" in subject


def test_a_rule_tells_nothing_that_ended_before_it_was_made(machine, operator, told):
    """Was: the first rule was told at once of all experiments of a day."""
    machine()
    TellingRule.objects.update(created_at=timezone.now())
    experiment = schedule.start(plan_of(A, name="Night"), user=operator)
    ended(experiment, RunState.FINISHED)
    experiment.runs.update(finished_at=timezone.now() - timedelta(hours=1))
    assert told() == []
    ended(schedule.start(plan_of(A, name="Day"), user=operator), RunState.FINISHED)
    assert [subject.partition(":")[0] for subject in told()] == ["[Benchsite] Day is done"]


def test_a_long_title_is_cut_in_the_subject_and_whole_in_the_text(told, operator):
    words = "No sign of life from bench1 for two minutes. If it is heard of again, the run goes on. " * 3
    Notice.objects.create(key="silent", title=words.strip(), path="/agents/bench1/")
    (subject,) = told()
    assert subject.endswith(" …") and len(subject) < 120
    assert words.strip() in mail.outbox[0].body


def test_it_tells_nobody_of_what_they_may_not_see(machine, administrator, told):
    machine()
    ended(schedule.start(plan_of(A, visibility="private"), user=administrator), RunState.FINISHED)
    assert told() == []
    assert Notice.objects.count() == 1


def test_what_waits_too_long_and_an_agent_that_fell_silent_are_told(machine, operator, told):
    bench = machine()
    schedule.start(plan_of(A, name="Patient"), user=operator)
    running = schedule.start(plan_of(A, name="Under way", visibility="public"), user=operator).runs.get()
    long_ago = timezone.now() - timedelta(hours=2)
    Run.objects.exclude(pk=running.pk).update(state_changed_at=long_ago)
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(seconds=40))
    Run.objects.filter(pk=running.pk).update(state=RunState.MEASURING)
    Job.objects.filter(pk=running.pk).update(agent=bench.agent)
    assert [subject.startswith("[Benchsite] 2 events") for subject in told()] == [True]
    titles = list(Notice.objects.values_list("title", flat=True))
    assert any(title.startswith("Patient waits") and "Offline" in title for title in titles)
    assert any(title.startswith("No sign of life from bench1") for title in titles)
    assert told() == []


def test_without_a_rule_that_asks_nothing_is_noticed(machine, operator):
    machine()
    ended(schedule.start(plan_of(A), user=operator), RunState.FINISHED)
    assert (noticing.notice(), Notice.objects.count()) == (0, 0)


def test_a_webhook_is_told_at_once_what_is_in_progress_and_mail_is_not(
    machine, operator, told, hinted, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr(delivery, "post", lambda url, body, headers: sent.append(json.loads(body)["notices"]))
    TellingRule.objects.create(
        owner=operator, name="CI", way="webhook", target="https://ci.example", secret=delivery.new_secret(),
        site_url="http://site", tells_lab=True,
    )  # fmt: skip
    machine()
    with django_capture_on_commit_callbacks(execute=True):
        experiment = schedule.start(plan_of(A, name="Head", tested={"commit": "abc1234"}), user=operator)
    assert (enqueueing.TICK, ()) in hinted
    assert told() == []
    ended(experiment, RunState.FINISHED)
    assert len(told()) == 1
    assert [[(each["status"], each["commit"]) for each in notices] for notices in sent] == [
        [("in progress", "abc1234")], [("ended", "abc1234")],
    ]  # fmt: skip
