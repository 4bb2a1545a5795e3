from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from benchagent.protocol import API_ROOT
from django.utils import timezone

from agents.jobs import life
from agents.models import JobLogChunk
from runs.models import SeriesChunk
from runs.models.choices import RunState
from runs.run import series
from tests.agents.conftest import finish_item, log_item, samples_item, state_item

pytestmark = pytest.mark.django_db


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth else []


def values(attempt) -> list[float | None]:
    return series.read(attempt.run, "tps").values


def test_it_applies_states_samples_and_log(attempt):
    answer = attempt.batch(
        1, state_item("loading"), state_item("warming_up"), samples_item(5, 7.5), log_item("hello\n")
    )
    assert answer.status_code == 200
    assert answer.json() == {"seq": 1, "cancel": False}
    assert attempt.now.state == RunState.WARMING_UP
    assert values(attempt) == [5, 7.5]
    assert attempt.job.log_tail() == "hello\n"
    assert [change.state for change in attempt.run.state_changes.all()] == [
        "queued", "assigned", "preparing", "loading", "warming_up",
    ]  # fmt: skip


def test_it_finishes_the_run(attempt, hinted, django_capture_on_commit_callbacks):
    attempt.batch(1, state_item("measuring"), samples_item(800, 825))
    with django_capture_on_commit_callbacks(execute=True):
        assert attempt.batch(2, finish_item()).status_code == 200
    run = attempt.now
    assert run.state == RunState.FINISHED
    assert run.durability == "power_loss"
    assert run.measurements.get(provenance="measured").value == 812.5
    assert run.storage.get().device.name == "sda"
    assert run.finished_at >= run.started_at
    assert attempt.job.closed_at is not None
    assert ("agents.dispatch", ()) in hinted


def test_it_acknowledges_a_batch_twice_and_applies_it_once(attempt):
    for _ in range(2):
        answer = attempt.batch(1, samples_item(1, 2), log_item("once\n"))
        assert (answer.status_code, answer.json()["seq"]) == (200, 1)
    assert values(attempt) == [1, 2]
    assert attempt.job.log_tail() == "once\n"


def test_it_refuses_a_batch_that_is_ahead_and_names_the_one_it_waits_for(attempt):
    attempt.batch(1, samples_item(1))
    answer = attempt.batch(3, samples_item(3, chunk=2, t0_s=2))
    assert answer.status_code == 409
    assert answer.json()["expected"] == 2
    assert values(attempt) == [1]


def test_it_applies_a_batch_as_a_whole_or_not_at_all(attempt):
    answer = attempt.batch(1, samples_item(1), log_item("x"), state_item("dreaming"))
    assert answer.status_code == 400
    assert list(answer.json()) == ["items[2].state"]
    assert values(attempt) == []
    assert not JobLogChunk.objects.exists()
    assert attempt.job.last_seq == 0
    assert attempt.batch(1, samples_item(1)).status_code == 200


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"kind": "news"}, "items[0].kind"),
        ({}, "items[0].kind"),
        ({"kind": ["log"]}, "items[0].kind"),
        (7, "items[0]"),
        ({**samples_item(1), "values": ["x"]}, "items[0].values[0]"),
        ({**samples_item(1), "values": [1, True]}, "items[0].values[1]"),
        ({**samples_item(1), "values": [1, "2"]}, "items[0].values[1]"),
        ({**samples_item(1), "values": [1e300]}, "items[0].values[0]"),
        ({**samples_item(1), "values": {}}, "items[0].values"),
        ({**samples_item(1), "interval_s": 0}, "items[0]"),
        ({**samples_item(1), "chunk": -1}, "items[0].chunk"),
        ({**samples_item(1), "chunk": 2**40}, "items[0].chunk"),
        ({**samples_item(1), "t0_s": -5.0}, "items[0]"),
        ({**log_item("x"), "offset": "0"}, "items[0].offset"),
        ({**state_item("loading"), "at": 1e200}, "items[0].at"),
        ({**state_item("loading"), "at": "now"}, "items[0].at"),
        (finish_item("won"), "items[0].outcome"),
        ({**finish_item(), "result": {}}, "items[0].result.metrics"),
        (finish_item(metrics=[{"name": "tps", "value": None, "phase": "run"}]), "items[0].result.metrics[0].value"),
        (finish_item(per_terminal=[1.5]), "items[0].result.per_terminal[0]"),
        (finish_item(dataset={"deep": nested(60)}), "items[0].result.dataset.deep"),
        (finish_item(effective_settings=[["a", "b", "c"]]), "items[0].result.effective_settings[0]"),
        (finish_item(effective_settings=[["a"]]), "items[0].result.effective_settings[0][1]"),
    ],
)
def test_it_names_the_wrong_field(attempt, item, field):
    answer = attempt.batch(1, item)
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert attempt.now.state == RunState.PREPARING


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 400])
def test_it_refuses_what_is_no_finite_number(attempt, client, number):
    body = json.dumps({"seq": 1, "items": [samples_item(4711)]}).replace("4711", number)
    answer = client.post(
        f"{API_ROOT}/jobs/{attempt.run.pk}/batch/", body, content_type="application/json",
        headers={"Authorization": f"Bearer {attempt.token}"},
    )  # fmt: skip
    assert answer.status_code == 400
    assert values(attempt) == []


def test_it_leaves_out_fields_that_it_does_not_know(attempt):
    assert attempt.batch(1, {**samples_item(1, 2), "colour": {"deep": nested(60)}}).status_code == 200
    assert values(attempt) == [1, 2]


def test_it_numbers_batches_from_one(attempt):
    answer = attempt.batch(0, samples_item(1))
    assert (answer.status_code, list(answer.json())) == (400, ["seq"])


def test_it_takes_nothing_after_the_finish_but_repeats(attempt):
    attempt.batch(1, samples_item(1), finish_item())
    assert attempt.batch(1, samples_item(1), finish_item()).status_code == 200
    answer = attempt.batch(2, samples_item(2, chunk=1, t0_s=1))
    assert (answer.status_code, answer.json()) == (409, {"detail": "the job has ended"})
    assert values(attempt) == [1]


def test_it_takes_nothing_behind_the_finish_in_one_batch(attempt):
    answer = attempt.batch(1, finish_item(), samples_item(1))
    assert (answer.status_code, list(answer.json())) == (400, ["items[1]"])
    assert attempt.now.state == RunState.PREPARING


def test_it_takes_the_late_result_of_a_lost_run(attempt):
    attempt.batch(1, state_item("measuring"), samples_item(10))
    life.expire_leases(now=timezone.now() + timedelta(hours=1))
    assert attempt.now.state == RunState.LOST
    answer = attempt.batch(2, state_item("collecting"), samples_item(20, chunk=1, t0_s=1), finish_item())
    assert answer.status_code == 200
    assert attempt.now.state == RunState.FINISHED
    assert attempt.now.message == ""
    assert values(attempt) == [10, 20]


def test_it_takes_what_was_measured_when_the_agent_itself_says_lost(attempt):
    attempt.batch(1, state_item("measuring"), samples_item(10))
    life.expire_leases(now=timezone.now() + timedelta(hours=1))
    attempt.batch(2, finish_item("lost", "the agent was interrupted"))
    run = attempt.now
    assert (run.state, run.message) == (RunState.LOST, "the agent was interrupted")
    assert run.measurements.get(provenance="measured").value == 812.5
    assert attempt.batch(3, samples_item(1)).status_code == 409


def test_it_tells_that_the_run_is_to_be_cancelled_and_keeps_what_was_measured(attempt, operator):
    attempt.batch(1, state_item("measuring"), samples_item(10, 20))
    life.cancel(attempt.run, by=operator)
    assert attempt.batch(2, samples_item(30, chunk=1, t0_s=2)).json() == {"seq": 2, "cancel": True}
    assert attempt.batch(3, finish_item("cancelled", "cancelled on the server")).json()["cancel"] is False
    assert (attempt.now.state, attempt.now.message) == (RunState.CANCELLED, "cancelled by olga-operator")
    assert values(attempt) == [10, 20, 30]


def test_it_merges_the_series_at_the_end(attempt):
    for number in range(3):
        attempt.batch(number + 1, samples_item(number, chunk=number, t0_s=number))
    assert SeriesChunk.objects.count() == 3
    attempt.batch(4, finish_item())
    assert SeriesChunk.objects.count() == 1
    assert values(attempt) == [0, 1, 2]


def test_it_renews_the_lease(attempt):
    before = attempt.job.lease_expires_at
    attempt.batch(1)
    assert attempt.job.lease_expires_at > before


def test_it_does_not_trust_a_clock_that_goes_wrong(attempt):
    ahead = {**state_item("loading"), "at": timezone.now().timestamp() + 86_400}
    behind = {**finish_item(), "at": 0.0}
    attempt.batch(1, ahead, behind)
    run = attempt.now
    assert run.started_at <= run.finished_at <= timezone.now()


def test_it_lets_nobody_else_in(attempt, machine):
    for token in ("", attempt.machine.token, "bsj_wrong"):
        assert attempt.machine.batch(attempt.run.pk, token, 1, samples_item(1)).status_code == 401
    assert values(attempt) == []


def test_it_takes_the_result_of_an_agent_that_was_disabled_meanwhile(attempt):
    from agents import machines

    machines.disable(attempt.machine.agent)
    assert attempt.batch(1, finish_item()).status_code == 200
    assert attempt.now.state == RunState.FINISHED


def test_it_stores_text_that_a_database_refuses(attempt):
    item = finish_item("failed", "a\x00b \ud800", effective_settings=[["x\x00", "\udfff"]], dataset={"k\x00": ["\x00"]})
    assert attempt.batch(1, log_item("a\x00\ud800b"), item).status_code == 200
    assert attempt.now.state == RunState.FAILED
    assert attempt.now.dataset == {"k ": [" "]}


def test_a_setting_that_is_not_in_force_as_given_is_told_with_the_result(attempt):
    words = ["synchronous=SUPER given, synchronous=NORMAL in force", "no_such_pragma"]
    attempt.batch(1, finish_item(ignored_settings=words, warnings=["first"]))
    assert attempt.now.warnings[:2] == ["first", f"not in force as given: {'; '.join(words)}"]
