from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from benchagent.catalog import QUESTIONS
from benchagent.ctl.asking import EXIT_NO_ANSWER
from benchagent.ctl.cli import EXIT_USAGE, main
from benchagent.ctl.comparing import EXIT_OF

from .fake_api import FakeApi, a_run

WORSE = {"value": 0.943, "low": 0.935, "high": 0.951, "verdict": "worse", "more_repeats": None, "why": ""}
NOTHING = {"value": None, "low": None, "high": None, "verdict": "", "more_repeats": None, "why": ""}
CLAIMS: list[dict[str, Any]] = [
    {"kind": "standing", "label": "DB2", "rank": 1, "centre": 10_456.25, "ratio": NOTHING},
    {"kind": "level", "label": "", "ratio": WORSE},
    {"kind": "falls_off", "label": "NVMe", "shape": "knee", "at": 64.0},
    {"kind": "falls_off", "label": "SSD", "shape": "step", "at": None, "interval": [17.3, 21.6], "step": WORSE},
    {"kind": "falls_off", "label": "HDD", "shape": "turn", "at": 29.24, "turn": "highest", "turns_at": 32.0},
    {"kind": "loss", "label": "SATA", "levels": ["10 GB", "500 GB"],
     "change": {**WORSE, "value": -0.84, "low": -0.85, "high": -0.83}},
    {"kind": "scales", "label": "DB2", "most": 900.0, "most_at": 33.0, "gain": {**NOTHING, "value": 2.0}},
    {"kind": "effect", "label": "max_wal_size", "start": "1GB", "end": "64GB", "pairs": 4, "ratio": WORSE},
    {"kind": "effect", "label": "wal_level", "start": "1GB", "end": "32GB", "pairs": 0, "configurations": 8,
     "ratio": WORSE},
    {"kind": "step", "label": "", "day": "2026-05-27", "tested": "f3eb639a", "batches": 12, "change": WORSE},
    {"kind": "step", "label": "", "day": "", "tested": "", "batches": 13, "change": NOTHING},
    {"kind": "newer", "label": "", "newest": "2026-06-03", "batches": 10, "ratio": WORSE},
    {"kind": "published", "label": "H2", "here": 12.5, "printed": 508, "mean": 498.9,
     "ratio": {**NOTHING, "verdict": "refused"}},
    {"kind": "changed", "label": "kernel", "a": "6.1.0-18", "b": "6.1.0-25"},
]  # fmt: skip


@pytest.fixture
def asked(logged_in: FakeApi) -> FakeApi:
    logged_in.answered = {
        "asked": "Which is best?", "words": "DB2 is fastest.", "claims": CLAIMS, "missing": ["One size only."],
        "unit": "TPS", "counts": {"selected": 9, "drawn": 6, "unnumbered": 2, "left_out": 1},
        "left_out": [
            {"run": a_run(1)["id"], "reason": "held at another level"},
            {"run": None, "reason": "only the newest 1,000 runs are compared", "count": 1200},
        ],
    }  # fmt: skip
    return logged_in


def test_it_asks_with_filters_runs_and_a_question(asked: FakeApi) -> None:
    run = a_run(1)["id"]
    assert main(["ask", "loss", "label=sweep", "factor.disk=ssd=2", run]) == 0
    _, path, params, _ = asked.requests[-1]
    assert path == "/answers/"
    assert params == [("ask", "loss"), ("label", "sweep"), ("factor.disk", "ssd=2"), ("run", run)]
    assert main(["ask", "label=sweep", "--since", "30d"]) == 0
    day = (datetime.now(UTC) - timedelta(days=30)).date().isoformat()
    assert asked.requests[-1][2] == [("label", "sweep"), ("measured_from", day)]


def test_it_prints_words_claims_and_what_is_missing(asked: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "label=sweep"]) == 0
    told = capsys.readouterr()
    words, head, *rows = told.out.splitlines()
    assert words == "DB2 is fastest."
    assert head.split("  ")[0] == "CLAIM"
    assert len(rows) == len(CLAIMS)
    cells = (
        "rank 1, 10,456.250 TPS", "0.943 (0.935 to 0.951)", "knee at 64", "10 GB → 500 GB", "-84.0% (-85.0% to -83.0%)",
        "most 900 TPS at 33", "1GB → 64GB, 4 pairs", "1GB → 32GB, 8 configurations",
        "since 2026-05-27 f3eb639a", "no step in 13 batches",
        "step from 17.3 to 21.6", "highest at 32", "  3.000",
        "2026-06-03 against 10 batches", "12.500 here, printed 508, 498.900 the mean of its repeats",
        "6.1.0-18 → 6.1.0-25",
    )  # fmt: skip
    assert [cell for cell in cells if cell not in told.out] == []
    assert "One size only." in told.err
    assert "1 × held at another level" in told.err and "1,200 × only the newest 1,000" in told.err
    assert "6 of 9 runs, 2 without a number, 1 left out" in told.err


def test_what_has_no_ratio_has_no_rank(asked: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    """Was: "rank 1" and "undecided" of each, where the first has 0 in every repeat."""
    asked.answered["claims"] = [{**CLAIMS[0], "rank": 1, "ratio": {**NOTHING, "verdict": "undecided"}}]
    assert main(["ask", "best"]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert "no rank, 10,456.250 TPS" in row and row.endswith("no ratio")


def test_its_exit_status_is_that_of_the_verdicts_that_are_named(asked: FakeApi) -> None:
    assert main(["ask", "since", "label=nightly", "--fail-if", "worse"]) == EXIT_OF["worse"]
    assert main(["ask", "since", "label=nightly", "--fail-if", "better,undecided"]) == 0
    asked.answered["claims"] = [{**CLAIMS[2], "shape": "undecided", "at": None}]
    assert main(["ask", "falls_off", "label=sweep", "--fail-if", "undecided"]) == EXIT_OF["undecided"]
    asked.answered["claims"] = CLAIMS[:1]
    assert main(["ask", "since", "label=nightly", "--fail-if", "worse"]) == 0


def test_it_ends_with_a_status_of_its_own_where_there_is_no_answer(asked: FakeApi) -> None:
    asked.answered["claims"] = []
    assert main(["ask", "loss", "label=sweep", "--fail-if", "worse"]) == EXIT_NO_ANSWER
    assert EXIT_NO_ANSWER not in EXIT_OF.values()


def test_it_prints_the_answer_as_the_server_gives_it(asked: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "label=sweep", "--json", "--fail-if", "refused"]) == EXIT_OF["refused"]
    printed = json.loads(capsys.readouterr().out)
    assert printed == {**asked.answered, "exit_status": EXIT_OF["refused"]}


def test_it_refuses_a_second_question(asked: FakeApi) -> None:
    assert main(["ask", "loss", "best", "label=sweep"]) == EXIT_USAGE
    assert asked.requests == []


def test_its_help_names_every_question(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["ask", "--help"])
    told = capsys.readouterr().out.replace("\n", " ")
    assert [name for name in QUESTIONS if f" {name}," not in told and f" {name};" not in told] == []
