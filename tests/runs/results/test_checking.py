"""What was stored before runs were judged is judged once, from what is there."""

from __future__ import annotations

from typing import Any

import pytest
from benchagent import histogram
from django.core.management import call_command
from django.test import Client

from runs.models import Measurement, Run
from runs.results import checking
from runs.results.checking import judge_stored
from runs.run import quality
from tests.runs.builders import document, store_upload
from tests.runs.run.test_quality import STARVED, latencies, measured, uploaded

pytestmark = pytest.mark.django_db
RISING = [1_000.0 + 100 * at for at in range(30)]
FACTORS: dict[str, Any] = {"terminals": 4, "duration_s": 30}


def forget_judgements(run: Run) -> None:
    """As an older version stored it."""
    Measurement.objects.filter(run=run, provenance="computed").delete()
    Run.objects.filter(pk=run.pk).update(checks=[], warnings=["said by the agent"], state="finished", message="")


def said(run: Run) -> tuple[Any, ...]:
    run.refresh_from_db()
    computed = run.measurements.filter(provenance="computed").values_list("metric__name", "value").order_by("metric")
    return run.state, run.checks, run.warnings, list(computed)


def test_what_was_stored_before_is_judged_as_if_it_came_today(client: Client, capsys: pytest.CaptureFixture[str]):
    rows = [{"name": "tps", "values": RISING}]
    run = uploaded(
        latencies(
            metrics={"tps": 2_400, "latency_p95_ms": 4.2},
            per_terminal=STARVED,
            series=rows,
            histogram=histogram.encode([(4_200, 99)]),
        ),
        factors=FACTORS,
    )
    today = said(run)
    assert len(today[1]) == 4 and len(today[3]) > 4
    forget_judgements(run)
    page = client.get(run.get_absolute_url()).content.decode()
    assert page.count(quality.BEFORE) == 2 and "Not judged: fairness" in page and "Not judged: steadiness" in page

    call_command("judge", "--trial")
    assert "1 runs would get checks and warnings" in capsys.readouterr().out
    assert said(run)[1:] == ([], ["said by the agent"], [])
    call_command("judge")
    assert "1 runs got metrics from its histogram" in capsys.readouterr().out
    state, checks, warnings, computed = said(run)
    assert (state, checks, computed) == (today[0], today[1], today[3])
    assert warnings == ["said by the agent", *today[2]]
    call_command("judge")
    assert said(run) == (state, checks, warnings, computed)
    assert capsys.readouterr().out == "Every run that is stored is judged by today's rules.\n"


def test_an_upgrade_judges_what_is_stored_once(monkeypatch, client: Client, operator):
    """`make up` does so of few runs; of many an operator's page says that it is due."""
    run = uploaded(latencies(per_terminal=STARVED), factors=FACTORS)
    today = said(run)
    forget_judgements(run)
    client.force_login(operator)
    assert "data-not-judged" in client.get("/agents/").content.decode()
    monkeypatch.setattr(checking, "MOST_AT_START", 0)
    assert checking.judge_upgraded().startswith("1 stored runs wait")
    assert said(run)[1] == []

    monkeypatch.setattr(checking, "MOST_AT_START", 1)
    assert checking.judge_upgraded().startswith("judged 1 stored runs")
    assert said(run)[1] == today[1]
    forget_judgements(run)
    assert checking.judge_upgraded() == ""
    assert said(run)[1] == []
    assert "data-not-judged" not in client.get("/agents/").content.decode()
    # What comes out of a backup may be older again.
    checking.forget_judged()
    assert checking.runs_not_judged() == 1


def test_a_measured_run_keeps_what_its_agent_checked():
    run = measured(per_terminal=STARVED, checks=[{"name": "balances", "ok": True, "detail": "0"}])
    today = said(run)
    assert judge_stored() == {}
    Run.objects.filter(pk=run.pk).update(checks=[run.checks[0]], warnings=[])
    Measurement.objects.filter(run=run, provenance="computed").delete()
    assert judge_stored() == {"checks and warnings": 1}
    assert said(run) == today


def test_a_run_whose_errors_were_not_looked_at_is_no_result():
    run = uploaded({"metrics": {"tps": 100, "transactions": 6_603, "errors": 6_348}})
    assert run.state == "failed"
    forget_judgements(run)
    assert judge_stored() == {"the state failed: too many transactions failed": 1}
    assert said(run)[0] == "failed"
    assert run.message.startswith("6,348 of 12,951 ")


def test_what_lacks_the_data_says_so_on_page_and_api(client: Client):
    store_upload(document=document(repeats=[{"metrics": {"tps": 100}}]))
    run = Run.objects.get()
    assert client.get(f"/api/v1/runs/{run.id}/").json()["not_judged"] == [
        "fairness: what each terminal did is not stored", "steadiness: no throughput over time is stored",
        "errors: how many transactions failed is not stated",
    ]  # fmt: skip
    assert (
        "Not judged: steadiness: no throughput over time is stored."
        in client.get(run.get_absolute_url()).content.decode()
    )
