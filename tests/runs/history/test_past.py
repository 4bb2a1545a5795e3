"""Series of other sites, and folders whose names say what was measured when, become benchmarks."""

from __future__ import annotations

import json
import random

import pytest
from benchagent.ctl import past
from benchagent.ctl.cli import main

from runs.history import filing
from runs.models import Alert, Benchmark, ChangePoint, Run
from tests.docs.test_commands import DATA

# Of a history whose commits do not stand in the order of their dates.
COMMITS = [f"{number:040x}" for number in range(30)]


@pytest.fixture
def benchctl(live_server, operator, api_token, monkeypatch, tmp_path):
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read", "upload"))
    monkeypatch.setenv("BENCHCTL_CONFIG", str(tmp_path / "login.json"))

    def run(*words: object) -> int:
        status = main([*map(str, words)])
        filing.keep_up()
        return status

    return run


def test_a_series_of_the_past_is_a_benchmark_in_the_order_of_its_commits_and_wakes_nobody(benchctl, tmp_path):
    noise = random.Random(1)
    days = [f"2024-01-{1 + (at * 7) % 30:02d}" for at in range(30)]
    rows = [
        {"commitid": commit, "branch": "default", "project": "PostgreSQL", "executable": "pg", "benchmark": "OLTP",
         "environment": "x", "result_value": (10 if at < 20 else 12) * noise.uniform(0.99, 1.01), "revision_date": day}
        for at, (commit, day) in enumerate(zip(COMMITS, days, strict=True))
    ]  # fmt: skip
    noise.shuffle(rows)
    (tmp_path / "results.json").write_text(json.dumps(rows))
    (tmp_path / "revs").write_text("".join(f"{commit}\n" for commit in reversed(COMMITS)))
    said = ("--hardware", "Bench 1", "--dbms", "PostgreSQL 18.1", "--commits", tmp_path / "revs")
    assert benchctl("upload", tmp_path / "results.json", *said) == 0
    series = list(Benchmark.objects.get().series.in_order())
    assert [row.commit for row in series] == COMMITS
    assert [f"{row.measured_at:%Y-%m-%d}" for row in series] == days
    (point,) = ChangePoint.objects.filter(state="confirmed")
    assert (point.at.commit, point.side, Alert.objects.count()) == (COMMITS[20], "worse", 0)


def test_names_of_files_say_date_label_and_commit(benchctl, tmp_path):
    text = (DATA / "pgbench" / "v15_aggregated_stdout.txt").read_text()
    for day, commit, digit in (("2024-03-01", "abc1234", 1), ("2024-03-02", "abd1234", 2)):
        (tmp_path / "old" / f"nightly-{day}").mkdir(parents=True)
        name = tmp_path / "old" / f"nightly-{day}" / f"{commit}_pgbench.log"
        name.write_text(text.replace("time = 5.120 ms", f"time = 5.12{digit} ms"))
    (tmp_path / "old" / "other.log").write_text(text)
    said = ("--hardware", "Bench 1", "--names", "{label}-{date}/{commit}_*.log")
    assert benchctl("import", tmp_path / "old", *said) == 1
    runs = {(str(run.measured_on), run.effective_label, run.effective_tested["commit"]) for run in Run.objects.all()}
    assert runs == {("2024-03-01", "nightly", "abc1234"), ("2024-03-02", "nightly", "abd1234")}


@pytest.mark.parametrize(
    ("name", "part"),
    [("nightly-2024-03/abc1234_x.log", "{date}"), ("nightly-2024-03-01/main_x.log", "{commit}"),
     ("nightly-2024-13-01/abc1234_x.log", "date"), ("nightly-2024-03-01/abc1234_x.log.gz", "'.gz'"),
     ("x.log", "no - follows {label}")],
)  # fmt: skip
def test_a_name_that_does_not_fit_is_told_the_part(name, part):
    names = past.pattern("{label}-{date}/{commit}_*.log")
    assert past.details_in_name(name, names) is None
    assert part in past.why_not(name, names)


def test_what_was_not_understood_is_named_with_its_reason_and_ends_with_1(benchctl, tmp_path, capsys):
    row = {"commitid": "a1b2c3d", "benchmark": "OLTP", "result_value": 10, "revision_date": "2024-01-02"}
    (tmp_path / "rows.json").write_text(json.dumps([row, row | {"result_value": "n/a"}]))
    (tmp_path / "date.json").write_text(json.dumps([row | {"revision_date": "last week"}]))
    said = ("--hardware", "Bench 1", "--dbms", "PostgreSQL 18.1")
    assert benchctl("upload", tmp_path / "rows.json", *said) == 0
    assert "rows.json: not understood: not a plain number: 'n/a'" in capsys.readouterr().err
    assert benchctl("upload", tmp_path / "date.json", *said) == 1
    assert "'last week' is no date" in capsys.readouterr().err
    assert benchctl("upload", tmp_path / "date.json", tmp_path / "rows.json", *said) == 1


@pytest.mark.parametrize("wrong", ["{day}.log", "{date}-{date}", "*.log"])
def test_it_refuses_a_pattern_that_tells_nothing(wrong, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["import", str(tmp_path), "--names", wrong])
    assert end.value.code == 2


def test_the_beginning_of_a_commit_has_its_place_where_one_alone_begins_so(tmp_path):
    (tmp_path / "revs").write_text("abcdef0aa\nabcdef0bb\n1234567aa\n")
    commits = past.Commits(str(tmp_path / "revs"))
    assert [commits.number(text) for text in ("1234567aa", "1234567", "abcdef0", "abcdef0a", "fff")] == [
        "1", "1", "", "3", "",
    ]  # fmt: skip
    assert commits.ordered({"commit": "1234567", "commit_number": "9"}) == {"commit": "1234567", "commit_number": "9"}
