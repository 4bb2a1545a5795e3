from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
import yaml
from benchagent.ctl.cli import main
from benchagent.ctl.gate import sides_of
from django.utils import timezone

from runs.answers.answer import Amount
from runs.answers.history import expected_amount
from runs.history import alerts
from runs.history.gate import gated, is_not_worse
from runs.history.overview import read_baseline
from runs.models import Alert, Benchmark, Experiment, HardwareProfile, Measurement, Run
from runs.stats import ALPHA
from tests.conftest import REPOSITORY
from tests.docs.test_commands import DATA
from tests.runs.history.nights import file, night, nights, with_latency

WORSE, UNDECIDED, COULD_NOT = 1, 2, 3
PULL_REQUEST = {"tested": {"branch": "pr-7", "commit": "f" * 40}}


@pytest.fixture
def gate(live_server, operator, api_token, monkeypatch, tmp_path, capsys):
    """`gate(document, …, than=…)` -> exit status and what was printed, of results that a pipeline has just made."""
    file(nights(range(1, 14)), operator, at_once=13)
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read", "upload"))

    def run(*documents, **options):
        names = []
        for number, document in enumerate(documents):
            (tmp_path / f"{number}.json").write_text(json.dumps(document))
            names.append(str(tmp_path / f"{number}.json"))
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        status = main(["gate", *names, *words])
        return status, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("level", "status", "verdict"), [(0.9, WORSE, "worse"), (1.0, 0, "equivalent"), (1.1, 0, "better")]
)
def test_a_branch_is_judged_against_the_batches_of_the_main_one(gate, level, status, verdict):
    ended, told = gate(night(14, level=level, **PULL_REQUEST), format="json")
    (cell,) = json.loads(told)["cells"]
    assert (ended, cell["change"]["verdict"], cell["batches"]) == (status, verdict, 10)
    assert cell["change"]["value"] == pytest.approx(level, abs=0.02)


def test_what_is_watched_beside_the_main_metric_is_judged_where_it_is_asked_for(gate, operator):
    file([with_latency(night(number)) for number in range(14, 20)], operator, at_once=6)
    document = with_latency(night(20, **PULL_REQUEST), 1.5)
    ended, told = gate(document, format="json")
    assert ended == 0 and [cell["metric"] for cell in json.loads(told)["cells"]] == ["Throughput"]
    ended, told = gate(document, format="json", metric="latency_p99_ms")
    assert ended == WORSE and [cell["metric"] for cell in json.loads(told)["cells"]] == ["p99 latency"]


@pytest.mark.django_db
def test_what_another_sender_has_measured_is_no_baseline_and_it_says_why(operator, contributor):
    file(nights(range(1, 5)), operator, at_once=4)
    file([night(5)], contributor)
    sent = Run.objects.filter(owner=contributor).values_list("pk", flat=True)

    def lacking(than):
        (cell,) = gated([*sent[:1]], read_baseline(than), contributor)
        assert cell.change.basis
        return cell.change.basis.kind

    assert lacking("last:10") == "first_of_sender"
    file([night(6)], contributor)
    assert lacking("label:never") == "base_batch"


def test_one_batch_of_a_label_is_judged_by_its_repeats(gate, operator):
    file([night(13, level=1.001, label="release")], operator)
    ended, told = gate(night(14, level=0.9, **PULL_REQUEST), than="label:release", format="json")
    (cell,) = json.loads(told)["cells"]
    assert (ended, cell["batches"], cell["change"]["verdict"]) == (WORSE, 1, "worse")


def test_recent_batches_from_before_a_change_are_no_baseline(gate, operator):
    file(nights(range(14, 22), level=0.9), operator, at_once=8)
    head = night(22, level=0.9, **PULL_REQUEST)
    assert gate(head, than="last:20")[0] == 0
    alerts.move(Alert.objects.get(state="confirmed"), "noise", by=operator)
    assert gate(head, than="last:20")[0] == UNDECIDED
    assert gate(head, than=f"commit:{1:040x}")[0] == WORSE


@pytest.mark.parametrize(("metric", "is_watched"), [("latency_p99_ms", True), ("latency_p50_ms", False)])
def test_recent_batches_of_a_metric_beside_the_main_one_are_those_since_its_own_change(
    gate, operator, metric, is_watched
):
    """Was: +30 % (−27 to +134), undecided, against batches from before the change and since."""

    def with_metric(number, level, **changes):
        document = with_latency(night(number, **changes), level)
        for repeat in document["repeats"]:
            repeat["metrics"][metric] = repeat["metrics"].pop("latency_p99_ms")
        return document

    file([with_metric(number, 1.0 if number < -4 else 1.5) for number in range(-20, 1)], operator, at_once=21)
    assert Benchmark.objects.filter(metric__name=metric).exists() == is_watched
    head = with_metric(14, 1.5, **PULL_REQUEST)
    for than in ("last:10", "days:30"):
        ended, told = gate(head, than=than, metric=metric, format="json")
        (cell,) = json.loads(told)["cells"]
        assert (ended, cell["batches"]) == (0, 5), cell["change"]


@pytest.mark.parametrize("form", ["json", "markdown", "junit"])
def test_one_bad_night_in_the_baseline_hides_no_loss_and_is_named(gate, operator, form):
    """Was: −17.3 % (−39.8 to +13.6), undecided, for ten nights after one that lost 35 %."""
    file([night(14, level=0.65)], operator)
    ended, told = gate(night(15, level=0.9, **PULL_REQUEST), format=form)
    assert ended == WORSE
    assert re.search(r"left.out\W+(OLTP.*: )?20\d\d-\d\d-\d\d −3\d", told)
    if form == "json":
        (cell,) = json.loads(told)["cells"]
        assert (cell["batches"], round(cell["change"]["value"], 1)) == (9, 0.9)


@pytest.mark.parametrize(
    ("level", "allow", "status"), [(0.9, "3", WORSE), (0.9, "15", 0), (1.0, "0.1", UNDECIDED), (1.0, "15", 0)]
)
def test_what_may_be_lost_can_be_said(gate, level, allow, status):
    assert gate(night(14, level=level, **PULL_REQUEST), allow=allow)[0] == status


@pytest.mark.parametrize(
    ("better", "low", "high", "is_met"),
    [("higher", 0.98, 1.2, True), ("higher", 0.96, 1.2, False), ("lower", 0.8, 1.02, True), ("lower", 0.8, 1.04, False),
     ("none", 0.98, 1.2, False)],
)  # fmt: skip
def test_undecided_whether_better_is_decided_whether_worse(better, low, high, is_met):
    change = Amount(value=1.0, low=low, high=high, verdict="undecided")
    assert is_not_worse(change, better=better, least=0.03) == is_met


def test_what_cannot_be_decided_and_what_has_no_number_have_statuses_of_their_own(gate):
    ended, told = gate(night(14, **PULL_REQUEST), than="label:never")
    assert ended == UNDECIDED
    assert "no batch before it with this metric is “label:never”" in told
    failed = night(15, **PULL_REQUEST) | {"repeats": [{"status": "failed", "message": "it fell over"}]}
    assert gate(failed)[0] == COULD_NOT
    ended, told = gate(night(14, **PULL_REQUEST), format="junit")  # a copy of what was sent before
    suite = ElementTree.fromstring(told.partition("\n")[0])
    assert (ended, suite.get("tests"), suite.get("errors")) == (COULD_NOT, "3", "3"), "no pipeline shows it as passed"
    assert gate({"schema_version": 1})[0] == COULD_NOT


def test_it_writes_junit_and_markdown(gate):
    documents = [
        night(14, level=0.9, **PULL_REQUEST),
        night(14, factors={"scale_factor": 100, "terminals": 64}, **PULL_REQUEST),
    ]
    ended, told = gate(*documents, format="junit")
    suite = ElementTree.fromstring(told)
    assert (ended, suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (WORSE, "2", "1", "1")
    ended, told = gate(*documents, format="markdown")
    assert ended == WORSE
    assert told.count("\n| [OLTP, PostgreSQL") == 2
    assert "1 worse" in told


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_rows_of_several_machines_name_them(gate, form):
    """Was: the same text twice."""
    beta = night(14, **PULL_REQUEST)
    beta["hardware"] = {**beta["hardware"], "name": "beta"}
    _, told = gate(night(14, **PULL_REQUEST), beta, format=form)
    words = " ".join(told.split())
    assert (" on alpha" in words, " on beta" in words) == (True, True)
    _, told = gate(beta, format=form)
    assert " on beta" not in " ".join(told.split())


def test_it_is_judged_by_the_metrics_that_are_asked_for_and_says_which(gate, operator, tmp_path, capsys):
    """Was: by TPS alone, and no word of it; a p99 that had grown by half was equivalent."""

    def slower(number: int, p99: float, **changes):
        document = night(number, **changes)
        for at, repeat in enumerate(document["repeats"]):
            repeat["metrics"]["latency_p99_ms"] = p99 * (1 + 0.004 * at)
        return document

    named = {"workload": {"slug": "p99", "name": "P99", "version": "1", "kind": ""}}
    file([slower(number, 12 + 0.05 * math.sin(number), **named) for number in range(1, 14)], operator, at_once=13)
    (tmp_path / "0.json").write_text(json.dumps(slower(14, 18, **named, **PULL_REQUEST)))

    def asked(*words: str) -> tuple[int, str, str]:
        return (main(["gate", str(tmp_path / "0.json"), *words]), *capsys.readouterr())

    ended, told, said = asked()
    assert (ended, "Throughput" in told, "Throughput against last:10: 1 equivalent" in said) == (0, True, True)
    assert "measured and not judged: latency_p99_ms (--metric NAME judges one)" in said
    both = ("--metric", "tps", "--metric", "latency_p99_ms")
    ended, told, _ = asked(*both, "--format", "json")
    answer = json.loads(told)
    verdicts = {cell["metric"]: (cell["change"]["verdict"], cell["batches"]) for cell in answer["cells"]}
    assert (ended, answer["not_judged"]) == (WORSE, [])
    assert [*verdicts.values()] == [("equivalent", 10), ("worse", 10)]
    assert answer["also_measured"] == []
    _, told, _ = asked(*both, "--format", "junit")
    suite = ElementTree.fromstring(told)
    assert len({case.get("name") for case in suite}) == 2
    (tmp_path / "0.json").write_text(json.dumps(night(15, **named, **PULL_REQUEST)))
    ended, told, _ = asked(*both, "--format", "json")
    assert (ended, len(json.loads(told)["not_judged"])) == (COULD_NOT, 3)
    assert asked("--metric", "latency_p98_ms")[0] == COULD_NOT


def of_window(seconds: int):
    """A workload of its own, whose window is told."""
    named = {"workload": {"slug": "windows", "name": "Windows", "version": "1", "kind": ""}}
    return named | {"factors": {"scale_factor": 100, "terminals": 16, "duration_s": seconds}}


@pytest.mark.parametrize("form", ["json", "junit", "markdown"])
def test_what_a_comparison_refuses_is_not_judged_and_says_why(gate, operator, form):
    """Was: "+49.7 % better", exit status 0, of windows of 10 s against such of 600 s. Compare gives no ratio."""
    file([night(number, **of_window(600)) for number in range(1, 14)], operator, at_once=13)
    ended, told = gate(night(14, level=1.5, **of_window(10), **PULL_REQUEST), format=form)
    assert ended == COULD_NOT
    if form == "json":
        answer = json.loads(told)
        assert (answer["cells"], len(answer["not_judged"])) == ([], 3)
    assert "Measured window: 10 s against 600 s" in told


def test_a_baseline_is_of_the_batches_that_may_be_compared(gate, operator):
    """Those of another window are passed over."""
    file([night(number, **of_window(10 if number < 8 else 600)) for number in range(1, 14)], operator, at_once=13)
    ended, told = gate(night(14, **of_window(10), **PULL_REQUEST), format="json")
    (cell,) = json.loads(told)["cells"]
    assert (ended, cell["batches"], cell["change"]["verdict"]) == (0, 7, "equivalent")


@pytest.mark.parametrize("form", ["json", "junit", "markdown"])
def test_a_condition_that_differs_is_named_beside_the_verdict(gate, operator, form):
    """As Compare does it: another load generator is another condition, which has a ratio."""
    of_sysbench = {"driver": {"name": "sysbench", "version": "1.0.20"}, **of_window(300)}
    file([night(number, **of_sysbench) for number in range(1, 14)], operator, at_once=13)
    head = {**of_sysbench, "driver": {"name": "pgbench", "version": "16.4"}}
    ended, told = gate(night(14, level=0.6, **head, **PULL_REQUEST), format=form)
    assert ended == WORSE
    assert "Load generator (pgbench 16.4 against sysbench 1.0.20)" in told


def counted(number: int, repeats: tuple[float, ...], **changes):
    named = {"workload": {"slug": "locks", "name": "Locks", "version": "1", "kind": ""}}
    metrics = [{"metrics": {"tps": 1000.0 + at, "deadlocks": value}} for at, value in enumerate(repeats)]
    return night(number, **named, **changes) | {"repeats": metrics}


@pytest.mark.parametrize("batches", [13, 1])
@pytest.mark.parametrize(
    ("before", "after", "ended", "verdict"),
    [((6, 7, 8), (0, 0, 0), 0, "better"), ((0, 0, 0), (6, 7, 8), WORSE, "worse"),
     ((0, 0, 0), (0, 0, 0), 0, "equivalent")],
)  # fmt: skip
def test_zero_in_every_repeat_is_judged_without_a_ratio(gate, operator, batches, before, after, ended, verdict):
    """Was: "a value is zero or negative", exit status 3, of the best result that a count of deadlocks can have."""
    file([counted(number, before) for number in range(14 - batches, 14)], operator, at_once=13)
    status, told = gate(counted(14, after, **PULL_REQUEST), metric="deadlocks", format="json")
    (cell,) = json.loads(told)["cells"]
    change = cell["change"]
    assert (status, change["verdict"], change["value"]) == (ended, verdict, None)
    assert cell["value"] == pytest.approx(sum(after) / 3, rel=0.02)
    assert change["why"].startswith(f"{verdict}: zero in every repeat")


def test_a_main_metric_that_was_zero_has_a_baseline_and_some_zeros_decide_nothing(gate, operator):
    def stalled(number: int, *values: float, **changes):
        named = {"workload": {"slug": "stalls", "name": "Stalls", "version": "1", "kind": ""}}
        return night(number, **named, **changes) | {"repeats": [{"metrics": {"tps": value}} for value in values]}

    file([stalled(number, 0, 0, 0) for number in range(1, 14)], operator, at_once=13)
    verdicts = []
    for values in ((90, 91, 92), (0, 91, 92)):
        ended, told = gate(stalled(14, *values, **PULL_REQUEST), format="json")
        (cell,) = json.loads(told)["cells"]
        verdicts.append((ended, cell["change"]["verdict"], cell["batches"], round(cell["value"])))
    assert verdicts == [(0, "better", 10, 91), (COULD_NOT, "refused", 10, 91)]


@pytest.mark.parametrize("form", ["junit", "json", "markdown"])
def test_what_cannot_be_stored_is_an_error_in_every_form(gate, tmp_path, capsys, form):
    """A pipeline keeps what is printed; of a file that its tool has not written, too."""
    (tmp_path / "noise.log").write_text("hello\n")
    (tmp_path / "refused.json").write_text('{"schema_version": 1}')
    for name in ("noise.log", "refused.json", "never-written.log"):
        ended = main(["gate", str(tmp_path / name), "--format", form])
        told = capsys.readouterr().out
        assert (ended, errors_of(told, form)) == (COULD_NOT, [name])


def errors_of(told: str, form: str) -> list[str]:
    """The files that were not judged, as far as each has a reason."""
    if form == "json":
        return [Path(each["what"]).name for each in json.loads(told)["not_judged"] if each["why"]]
    if form == "junit":
        cases = ElementTree.fromstring(told).findall("testcase")
        return [Path(case.attrib["name"]).name for case in cases if case.find("error").get("message")]
    found = re.findall(r"^\* not judged: (\S+): \S.*$", told, re.M)
    return [Path(name).name for name in found]


def test_one_file_that_is_not_understood_keeps_the_others_from_being_judged_and_is_named_alone(gate, tmp_path, capsys):
    (tmp_path / "refused.json").write_text('{"schema_version": 1}')
    ended, told = gate(night(14, **PULL_REQUEST), format="json")
    assert (ended, json.loads(told)["not_judged"]) == (0, [])
    ended = main(["gate", str(tmp_path / "0.json"), str(tmp_path / "refused.json"), "--format", "json"])
    assert (ended, errors_of(capsys.readouterr().out, "json")) == (COULD_NOT, ["refused.json"])


@pytest.mark.parametrize(
    ("variable", "value", "status"), [("TOKEN", "nonsense", COULD_NOT), ("SERVER", "http://127.0.0.1:9", 4)]
)
def test_a_server_that_refuses_or_is_away_is_an_error_of_the_file(
    gate, tmp_path, capsys, monkeypatch, variable, value, status
):
    monkeypatch.setenv(f"BENCHCTL_{variable}", value)
    ended, told = gate(night(14, **PULL_REQUEST), format="junit")
    assert (ended, errors_of(told, "junit")) == (status, ["0.json"])


@pytest.fixture
def ask(client, bearer):
    """`ask(runs=…, base=…)` -> the answer of the API, whose status is as said."""
    headers = bearer("read", "upload")

    def send(*, status: int = 200, **body):
        answer = client.post("/api/v1/gate/", body, content_type="application/json", headers=headers)
        assert answer.status_code == status
        return answer.json()

    return send


def ids_of(version: str) -> list[str]:
    return [str(pk) for pk in Run.objects.filter(dbms_version__version=version).values_list("pk", flat=True)]


def test_two_sides_that_were_measured_in_turn_are_judged_cell_by_cell(ask, contributor):
    older, newer = ({"dbms": {"name": "PostgreSQL", "version": version}} for version in ("18.0", "18.1"))
    busy = {"factors": {"scale_factor": 100, "terminals": 64}}
    fsync = {"durability": "power_loss"}
    sides = [
        [night(1, **older, **fsync), night(1, **older, **busy)],
        [night(1, level=0.9, **newer, durability="none"), night(1, **newer, **busy)],
    ]
    file([*sides[0], *sides[1]], contributor, at_once=4)
    base, head = ids_of("18.0"), ids_of("18.1")
    answer = ask(runs=head, base=base)
    told = {cell["benchmark"].rpartition(", ")[2]: cell["change"] for cell in answer["cells"]}
    assert (answer["without"], told["16 terminals"]["verdict"], told["64 terminals"]["verdict"]) == (
        [], "worse", "equivalent",
    )  # fmt: skip
    assert told["16 terminals"]["value"] == pytest.approx(0.9, abs=0.001)
    assert told["16 terminals"]["why"].endswith("survives power loss → not durable")
    assert len(ask(runs=head, base=head[:1])["without"]) == 3
    assert [cell["metric"] for cell in ask(runs=head, base=base, metrics=["tps"])["cells"]] == ["Throughput"] * 2
    assert [*ask(status=400, runs=head, base=base, metrics=["tsp"])] == ["metrics"]
    Measurement.objects.filter(run__in=base[:1]).delete()
    assert ask(runs=head, base=base)["without"] == base[:1], "a side that lacks a number is not judged as if it had all"
    Run.objects.filter(pk=base[1]).update(invalid_at=timezone.now(), invalid_reason="the disk was full")
    answer = ask(runs=head, base=base)
    reasons = dict(zip(answer["without"], answer["why_without"], strict=True))
    assert ("figure" in reasons[base[0]], "the disk was full" in reasons[base[1]]) == (True, True)


def test_sides_in_turn_that_a_comparison_refuses_are_not_judged_and_say_why(ask, contributor):
    """Was: not judged of another window for "nothing to be set against", and judged of another size of the data."""
    older, newer = ({"dbms": {"name": "PostgreSQL", "version": version}} for version in ("18.0", "18.1"))
    file([night(1, **older, **of_window(600)), night(1, **newer, **of_window(10))], contributor, at_once=2)
    answer = ask(runs=ids_of("18.1"), base=ids_of("18.0"))
    assert (answer["cells"], len(answer["without"])) == ([], 6)
    assert {*answer["why_without"]} == {"Measured window: 10 s against 600 s"}
    assert len(ask(runs=ids_of("18.1"), base=ids_of("18.1"))["cells"]) == 1


def test_a_condition_that_differs_of_sides_in_turn_is_named_beside_the_verdict(ask, contributor):
    """Was: the load generator differed, and not a word told."""
    for version, tool in (("18.0", "sysbench"), ("18.1", "pgbench")):
        driver = {"driver": {"name": tool, "version": "1"}}
        file([night(1, dbms={"name": "PostgreSQL", "version": version}, **driver)], contributor)
    (cell,) = ask(runs=ids_of("18.1"), base=ids_of("18.0"))["cells"]
    assert cell["not_alike"] == "Load generator (pgbench 1 against sysbench 1)"


def test_settings_that_are_written_in_other_units_are_no_difference(ask, contributor):
    """Was: "Configuration: PostgreSQL: shared_buffers=65536kB against …64MB", which the compare page called one."""
    of_main = [night(at, config=[{"name": "shared_buffers", "value": "64MB"}]) for at in range(1, 6)]
    asked = night(6, config=[{"name": "shared_buffers", "value": "65536kB"}], **PULL_REQUEST)
    file([*of_main, asked], contributor, at_once=6)
    runs = Run.objects.filter(batch__series__benchmark__branch="pr-7").distinct()
    (cell,) = ask(runs=[str(run.pk) for run in runs])["cells"]
    assert (cell["batches"], cell["not_alike"]) == (5, "")


@pytest.mark.parametrize(("repeats", "verdict"), [(8, "worse"), (5, "undecided")])
def test_a_machine_that_becomes_slower_does_not_hide_what_pairs_show(ask, contributor, repeats: int, verdict: str):
    """A B A B on a machine that loses half of its speed meanwhile; B is 10 % slower each time, give or take 2 %."""
    for version, level in (("18.0", 1000.0), ("18.1", 900.0)):
        values = [level * 0.92**number * (1 + 0.02 * math.sin(7 * number + level)) for number in range(repeats)]
        measured = {
            "dbms": {"name": "PostgreSQL", "version": version},
            "repeats": [{"metrics": {"tps": each}} for each in values],
        }
        file([night(1, **measured)], contributor)
    Run.objects.update(experiment=Experiment.objects.create(slug="in-turn", name="In turn"))
    base, head = ids_of("18.0"), ids_of("18.1")
    answer = ask(runs=head, base=base)
    (cell,) = answer["cells"]
    assert cell["change"]["verdict"] == verdict
    assert cell["change"]["value"] == pytest.approx(0.9, abs=0.02)


def test_the_base_of_what_is_measured_in_turn_is_what_came_first():
    rows = [
        {"id": number, "dbms": {"slug": "postgresql", "version": "18.1"}, "config": config}
        for number, config in enumerate(({"slug": "small"}, {"slug": "large"}, {"slug": "small"}, {"slug": "large"}))
    ]
    newer = {"id": 4, "dbms": {"slug": "postgresql", "version": "18.2"}, "config": None}
    assert sides_of(rows) == [["0", "2"], ["1", "3"]]
    assert len(sides_of([*rows, newer])) == 3


def test_gate_takes_files_or_a_plan_of_three_repeats(gate, tmp_path, capsys):
    """Of fewer it was told after they had run."""
    few = tmp_path / "few.json"
    few.write_text(json.dumps({"workload": "tpcb", "repeats": 1}))
    assert main(["gate", "--run", str(few)]) == 3
    assert "few.json: repeats is 1, and no verdict is made of fewer than 3" in capsys.readouterr().err
    assert main(["gate"]) == main(["gate", "a.json", "--run", "b.json"]) == 2


def test_it_judges_no_run_that_the_sender_may_not_see(ask, contributor):
    file([night(14, level=0.5, visibility="private")], contributor)
    hidden = [str(pk) for pk in Run.objects.filter(visibility="private").values_list("pk", flat=True)]
    answer = ask(runs=hidden)
    assert (answer["cells"], len(answer["without"])) == ([], 3)
    assert {*answer["why_without"]} == {"there is no such run"}
    for field, value in (("than", "yesterday"), ("runs", ["x"]), ("runs", [])):
        refused = ask(status=400, **{"runs": hidden, field: value})
        assert [name.partition("[")[0] for name in refused] == [field]


PIPELINES = [
    yaml.safe_load(block)
    for block in re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs/use/ci.md").read_text(), re.DOTALL)
]
COMMANDS = [PIPELINES[0]["jobs"]["benchmark"]["steps"][0]["run"], *PIPELINES[1]["benchmark"]["script"]]


@pytest.mark.parametrize("command", COMMANDS, ids=["GitHub", "GitLab"])
def test_the_commands_of_the_docs_end_as_they_say(gate, tmp_path, command):
    """By the shell, as a pipeline runs them the first time: there is no baseline yet."""
    HardwareProfile.objects.create(slug="bench1", name="Bench 1")
    (tmp_path / "pgbench.log").write_text((DATA / "pgbench" / "v15_aggregated_stdout.txt").read_text())
    names = {"GITHUB_REF_NAME": "pr-7", "GITHUB_SHA": "f" * 40, "GITHUB_STEP_SUMMARY": "summary.md",
             "CI_COMMIT_REF_NAME": "pr-7", "CI_COMMIT_SHA": "f" * 40}  # fmt: skip
    path = f"{Path(sys.executable).parent}:{os.defpath}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env={**os.environ, **names, "PATH": path}, check=False)
    assert done.returncode == UNDECIDED
    (written,) = [file for file in tmp_path.iterdir() if file.name in ("summary.md", "gate.xml")]
    assert "its benchmark has no batch before it" in written.read_text()
    assert Run.objects.filter(batch__tested__branch="pr-7").exists()


@pytest.mark.django_db
def test_the_more_cells_are_judged_the_surer_each_has_to_be(operator):
    """So that one of many that are all as before is called worse in at most 5 of 100 pipelines."""
    workloads = [{"slug": name, "name": name, "version": "1", "kind": ""} for name in ("a", "b", "c", "d")]
    file([each for workload in workloads for each in nights(range(1, 15), workload=workload)], operator, at_once=56)
    newest = Run.objects.filter(measured_at=Run.objects.latest("measured_at").measured_at)
    alone = gated(newest.filter(workload__name="a").values_list("pk", flat=True), read_baseline(""), operator)
    beside = gated(newest.values_list("pk", flat=True), read_baseline(""), operator)
    assert (len(alone), len(beside)) == (1, 4)
    (one,), same = alone, next(cell for cell in beside if cell.row.pk == alone[0].row.pk)
    assert same.change.value == one.change.value
    assert same.change.high / same.change.low > 1.2 * (one.change.high / one.change.low - 1) + 1


def test_pipelines_of_ten_cells_that_are_as_before_are_seldom_called_worse():
    random = Random(1)
    days = [math.exp(random.gauss(0, 0.05)) for _ in range(11 * 10 * 400)]
    asked = {"better": "higher", "threshold": 0.0, "confidence": 1 - ALPHA / 10}
    cells = [expected_amount(days[at], days[at + 1 : at + 11], **asked) for at in range(0, len(days), 11)]
    called = [any(cell.verdict == "worse" for cell in cells[at : at + 10]) for at in range(0, len(cells), 10)]
    assert 1 <= sum(called) <= 20
