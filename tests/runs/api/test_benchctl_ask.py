"""`benchctl ask` against a site as it is."""

from __future__ import annotations

import json

import pytest
from benchagent.ctl.asking import EXIT_NO_ANSWER
from benchagent.ctl.cli import EXIT_REFUSED, main
from benchagent.ctl.comparing import EXIT_OF

from benchmarks.bench_truth.worlds import documents, world
from runs import results

# Three systems on one machine: 1620, 900 and 900 TPS in truth.
SYSTEMS = world(1, 30)


@pytest.fixture
def asking(live_server, operator, api_token, monkeypatch):
    outcomes = results.store_uploads(documents=[*documents(SYSTEMS)], owner=operator)
    assert {outcome.status for outcome in outcomes} == {"created"}
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read"))


def test_it_tells_the_best_with_its_claims(asking, capsys):
    assert main(["ask", "best", f"tag={SYSTEMS.tag}", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    first, *others = answer["claims"]
    assert first["label"] == "PostgreSQL 17.2"
    assert {claim["ratio"]["verdict"] for claim in others} == {"better"}
    assert main(["ask", f"tag={SYSTEMS.tag}", "best", "--fail-if", "better"]) == EXIT_OF["better"]
    table = capsys.readouterr().out.splitlines()
    assert table[0] == answer["words"]
    assert len(table) == 2 + len(answer["claims"])


def test_it_tells_what_is_missing(asking, capsys):
    assert main(["ask", "loss", f"tag={SYSTEMS.tag}"]) == EXIT_NO_ANSWER
    assert "measure at a second one" in capsys.readouterr().err


def test_a_question_that_there_is_not_is_refused(asking, capsys):
    assert main(["ask", "quickest", f"tag={SYSTEMS.tag}"]) == EXIT_REFUSED
    assert "quickest" in capsys.readouterr().err
