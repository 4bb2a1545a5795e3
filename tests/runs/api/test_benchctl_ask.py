"""`benchctl ask` against a site as it is."""

from __future__ import annotations

import json

import pytest
from benchagent.ctl.asking import EXIT_NO_ANSWER
from benchagent.ctl.cli import EXIT_REFUSED, main
from benchagent.ctl.comparing import EXIT_OF

from runs import results
from tests.runs.history.nights import night

TAG = "three-systems"
# Three systems on one machine: 1,620, 900 and 900 TPS in truth.
SYSTEMS = [
    night(number, level=level, dbms={"name": name, "version": version}, tags=[TAG])
    for number, (name, version, level) in enumerate(
        [("PostgreSQL", "17.2", 1.62), ("MariaDB", "11.4.4", 0.9), ("H2", "2.3", 0.9)], 1
    )
]


@pytest.fixture
def asking(live_server, operator, api_token, monkeypatch):
    outcomes = results.store_uploads(documents=SYSTEMS, owner=operator)
    assert {outcome.status for outcome in outcomes} == {"created"}
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read"))


def test_it_tells_the_best_with_its_claims(asking, capsys):
    assert main(["ask", "best", f"tag={TAG}", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    first, *others = answer["claims"]
    assert first["label"] == "PostgreSQL 17.2"
    assert {claim["ratio"]["verdict"] for claim in others} == {"better"}
    assert main(["ask", f"tag={TAG}", "best", "--fail-if", "better"]) == EXIT_OF["better"]
    table = capsys.readouterr().out.splitlines()
    assert table[0] == answer["words"]
    assert len(table) == 2 + len(answer["claims"])


def test_it_tells_what_is_missing(asking, capsys):
    assert main(["ask", "loss", f"tag={TAG}"]) == EXIT_NO_ANSWER
    assert "measure at a second one" in capsys.readouterr().err


def test_a_question_that_there_is_not_is_refused(asking, capsys):
    assert main(["ask", "quickest", f"tag={TAG}"]) == EXIT_REFUSED
    assert "quickest" in capsys.readouterr().err
