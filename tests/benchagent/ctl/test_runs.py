from __future__ import annotations

import csv
import io
import json
from uuid import UUID

import pytest
from benchagent.ctl.cli import main

from .fake_api import FakeApi, a_run


@pytest.fixture
def many(logged_in: FakeApi) -> FakeApi:
    logged_in.runs = [a_run(number) for number in range(120)]
    return logged_in


def test_it_lists_runs_with_the_filters_of_the_api(many: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "dbms=postgresql", "factor.terminals=8", "--limit", "2"]) == 0
    assert many.requests[-1][2] == [("dbms", "postgresql"), ("factor.terminals", "8"), ("page_size", "2")]
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 3
    assert "1,234.500 TPS, p99 latency 0.75 ms" in captured.out
    assert "--all" in captured.err


def test_it_follows_the_pages(many: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    many.runs = [a_run(number) for number in range(1100)]
    assert main(["runs", "--all", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1100
    assert len(many.requests) == 3


def test_it_writes_csv_with_factors_and_metrics(many: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--csv", "--limit", "3"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 3
    assert (rows[0]["factor.terminals"], rows[0]["tps"], rows[0]["dbms_version"]) == ("8", "1234.5", "15.14")


def test_its_csv_says_when_of_which_commit_each_was_measured(many: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    """An import of years has one day of storing."""
    many.runs = [a_run(1, measured_at="2016-03-04T00:00:00Z", label="main", tested={"commit": "054c563a"}), a_run(2)]
    assert main(["runs", "--csv"]) == 0
    first, other = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (first["measured_at"], first["label"], first["commit"]) == ("2016-03-04T00:00:00Z", "main", "054c563a")
    assert other["commit"] == ""


def test_its_table_says_when_each_was_measured_as_well_as_that_is_known(many: FakeApi, capsys) -> None:
    """Was: the day of storing, under all of them."""
    when = {"measured_at": "2016-03-04T09:30:00Z"}
    many.runs = [a_run(at, **when, measured_at_precision=known) for at, known in enumerate(("time", "day", "stored"))]
    assert main(["runs"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split("  ")[-1].strip() for row in rows] == ["2016-03-04 09:30 UTC", "2016-03-04", "stored 2016-03-04"]


def test_it_shows_the_servers_complaint_about_a_filter(many: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "nonsense=1"]) == 3
    assert "nonsense: Unknown parameter." in capsys.readouterr().err
    assert main(["runs", "postgresql"]) == 2


def test_it_lists_benchmarks_and_tells_one_with_its_changes(logged_in: FakeApi, capsys) -> None:
    row = {"id": "1", "name": "nightly", "machine": "box", "newest": None, "unit": "", "change": None}
    one = str(UUID(int=1))
    changes = [{"state": "confirmed", "words": "12 % less"}, {"state": "refuted", "words": "one bad night"}]
    logged_in.answers["/benchmarks/"] = {"results": [row], "next": None}
    logged_in.answers[f"/benchmarks/{one}/"] = {**row, "batches": 9, "words": "it fell", "changes": changes}
    assert main(["benchmarks", "dbms=sqlite", "--than", "days:30"]) == 0
    assert logged_in.requests[-1][2] == [("dbms", "sqlite"), ("than", "days:30")]
    assert "nightly" in capsys.readouterr().out
    logged_in.answers["/benchmarks/"] = {"results": [row | {"told_apart": "nvme0, 2026-11-22"}], "next": None}
    assert main(["benchmarks"]) == 0
    assert "box (nvme0, 2026-11-22)" in capsys.readouterr().out
    fell = {"kind": "step", "since": "2026-11-22T02:00:00Z", "change": {"value": -0.123}}
    logged_in.answers["/benchmarks/"] = {"results": [row | {"last_change": fell}], "next": None}
    assert main(["benchmarks"]) == 0
    assert "-12.3% since 2026-11-22" in capsys.readouterr().out
    left = fell | {"kind": "zero", "change": {"value": None}, "zero": "from"}
    worse = {"value": None, "verdict": "worse"}
    logged_in.answers["/benchmarks/"] = {"results": [row | {"last_change": left, "change": worse}], "next": None}
    assert main(["benchmarks"]) == 0
    printed = capsys.readouterr().out
    assert "from 0 since 2026-11-22" in printed and "worse" in printed
    of_before = {name: value for name, value in left.items() if name != "zero"}
    logged_in.answers["/benchmarks/"] = {"results": [row | {"last_change": of_before}], "next": None}
    assert main(["benchmarks"]) == 0, "of a server that does not say which"
    assert "from or to 0 since 2026-11-22" in capsys.readouterr().out
    unsure = fell | {"change": {"value": -0.123, "verdict": "undecided"}}
    logged_in.answers["/benchmarks/"] = {"results": [row | {"last_change": unsure}], "next": None}
    assert main(["benchmarks"]) == 0
    assert "not yet sure -12.3% since" in capsys.readouterr().out
    small = fell | {"change": {"value": -0.084, "verdict": "too_small"}}
    logged_in.answers["/benchmarks/"] = {"results": [row | {"last_change": small}], "next": None}
    assert main(["benchmarks"]) == 0
    assert "too small -8.4% since" in capsys.readouterr().out
    changes += [unsure | {"state": "confirmed", "words": "Not yet sure: …"}, {"state": "suspected", "words": "Susp…"}]
    assert main(["benchmarks", one]) == 0
    assert capsys.readouterr().out.splitlines() == ["it fell", "confirmed: 12 % less", "Not yet sure: …", "Susp…"]
    assert main(["benchmarks", one, "dbms=sqlite"]) == main(["benchmarks", "nightly"]) == 2
