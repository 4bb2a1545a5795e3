"""Each factor says what it is: another question, a condition, or the procedure."""

from __future__ import annotations

import pytest
from benchagent.catalog import FACTORS as KNOWN
from django.http import QueryDict

from runs.answers.words import headline
from runs.answers.words.gaps import difference_words, refusal_words
from runs.answers.words.verdicts import against_words
from runs.answers.words.warnings import warnings_of
from runs.charts.compare import csv_rows
from runs.compare.compare import compare
from runs.compare.guard import conditions_of, differences
from runs.models import Config, RunFactor, Upload
from tests.runs.cells import FACTORS, all_runs, machine, make_repeats, make_run

pytestmark = pytest.mark.django_db

SCRIPT = "-- the whole of our billing, as it ran in the night of the first of April\n" * 5


def compared(first: dict[str, float | str], second: dict[str, float | str], **fields: object):
    """The faster group against the slower one, two systems with three repeats each, and the comparison."""
    for system, factors, tps in (("SQLite 3", first, 100), ("H2 2", second, 200)):
        values = {"durability": "power_loss", "on": machine()} | fields
        make_repeats(system, (tps, tps + 1, tps + 2), factors=FACTORS | factors, **values)
    for name in {**first, **second}.keys() & KNOWN.keys():
        RunFactor.objects.filter(name=name).update(unit=KNOWN[name].unit)
    comparison = compare(all_runs(), QueryDict("baseline=sqlite-3"))
    return next(group.against for group in comparison.groups if group.against), comparison


QUESTIONS = [
    ({"load": "insert"}, {"load": "select_narrow"}, "Load: SELECT, narrow range against INSERT"),
    ({"rate_per_s": 500}, {}, "Fixed rate: no fixed rate against 500 transactions/s"),
    ({"script_text": "BEGIN"}, {"script_text": "COMMIT"}, "Script: COMMIT against BEGIN"),
    ({"rows_per_table": 10_000}, {"rows_per_table": 100}, "Rows per table: 100 against 10,000"),
    ({"dataset_mb": 100}, {"dataset_mb": 10}, "Data set: 10 MB against 100 MB"),
    ({"target_size_mb": 900}, {"target_size_mb": 90}, "Target size: 90 MB against 900 MB"),
    ({"target_size_mb": 900}, {}, "Target size: size by warehouses against 900 MB"),
    ({}, {"warehouse_rows": "tenth"}, "Rows of a warehouse: tenth-size warehouses against standard warehouses"),
    ({"preloaded": "empty"}, {}, "Tables before the INSERTs: preloaded against empty tables"),
    ({"customers": 1}, {"customers": 2}, "Customers: 2 against 1"),
    ({"customers": 1}, {}, "Customers: not known against 1"),
]


@pytest.mark.parametrize(("first", "second", "words"), QUESTIONS)
def test_another_question_has_no_ratio_no_verdict_and_no_headline(first, second, words):
    against, comparison = compared(first, second)

    assert (against.ratio, against.verdict, against_words(against)) == (None, None, f"no ratio: {words}")
    assert [(one.severity, one.role) for one in against.differences] == [("blocks", "question")]
    assert headline(comparison) == ""
    label = words.partition(":")[0]
    assert f"No ratio between groups that differ in {label}: they only stand side by side." in warnings_of(comparison)


CONDITIONS = [
    ({"cache_state": "cold"}, {}, "Caches at the start", "warm caches against cold caches"),
    ({"memory_limit_mb": 160}, {}, "Memory limit", "no memory limit against 160 MB"),
    ({"cpus": 1}, {"cpus": 2}, "CPUs", "2 against 1"),
    ({"terminals": 8}, {}, "Terminals", "4 against 8"),
    ({"group_commit": "off"}, {}, "Group commit", "commit group as configured against no commit group"),
]


@pytest.mark.parametrize(("first", "second", "label", "values"), CONDITIONS)
def test_a_condition_is_named_beside_the_ratio_and_in_the_headline(first, second, label, values):
    against, comparison = compared(first, second)

    assert against.ratio is not None and against.verdict is not None
    assert [(one.severity, one.role, difference_words(one)) for one in against.differences] == [
        ("note", "condition", f"{label}: {values}")
    ]
    assert f"Not alike: {label} ({values})." in headline(comparison)


def test_a_headline_does_not_repeat_what_its_labels_say():
    for cache, tps in (("cold", 100), ("warm", 200)):
        for value in (tps, tps + 1, tps + 2):
            make_run("SQLite 3", value, factors=FACTORS | {"cache_state": cache}, durability="power_loss", on=machine())

    said = headline(compare(all_runs()))

    assert said.startswith("warm caches has the highest throughput") and "Not alike" not in said


def test_a_headline_names_all_conditions():
    _, comparison = compared({"cpus": 1, "cache_state": "cold", "memory_limit_mb": 160, "terminals": 8}, {})

    assert headline(comparison).endswith(" Not alike: Terminals, Caches at the start, CPUs, Memory limit.")


@pytest.mark.parametrize(
    ("first_s", "second_s", "stands"), [(30, 300, True), (60, 3600, False), (1, 3600, False), (30, 30, True)]
)
def test_a_window_is_named_and_refused_beyond_ten_times(first_s, second_s, stands):
    against, comparison = compared({"duration_s": first_s}, {"duration_s": second_s})

    assert (against.ratio is not None) == stands
    assert bool(headline(comparison)) == stands
    assert [one.role for one in against.differences] == ["procedure"] * (first_s != second_s)
    if not stands:
        assert against_words(against) == f"no ratio: Measured window: {second_s:,} s against {first_s} s"


@pytest.mark.parametrize(("metric", "second_s", "stands"), [
    ("latency_max_ms", 300, False), ("latency_max_ms", 30, True), ("latency_p99_ms", 300, True),
])  # fmt: skip
def test_a_maximum_is_compared_over_equal_windows_only(metric: str, second_s: int, stands: bool):
    """Was: 3 × of a maximum over 300 s against one over 30 s."""
    against, comparison = compared({"duration_s": 30}, {"duration_s": second_s}, number=metric)

    assert comparison.metric.name == metric
    assert (against.ratio is not None, bool(headline(comparison))) == (stands, stands)


def test_a_window_in_minutes_is_one_of_so_many_seconds():
    for system, value, unit in (("SQLite 3", 300, "s"), ("H2 2", 5, "min")):
        make_run(system, 100, factors=FACTORS | {"duration_s": value}, durability="power_loss", on=machine())
        RunFactor.objects.filter(name="duration_s", number=value).update(unit=unit)

    against = next(group.against for group in compare(all_runs()).groups if group.against)

    assert not against.is_refused


@pytest.mark.parametrize(("first_s", "second_s", "stands"), [(10, 60, True), (0, 10, False), (1, 3600, False)])
def test_a_warm_up_is_named_and_refused_beyond_sixty_times_or_where_one_has_none(first_s, second_s, stands):
    against, _ = compared({"warm_up_s": first_s}, {"warm_up_s": second_s})

    assert (against.ratio is not None) == stands


def test_the_best_two_of_a_headline_may_not_be_further_apart_than_each_from_the_baseline():
    for system, duration_s, tps in (("SQLite 3", 60, 100), ("H2 2", 600, 300), ("Derby 10", 6, 200)):
        for value in (tps, tps + 1, tps + 2):
            factors = FACTORS | {"duration_s": duration_s}
            make_run(system, value, factors=factors, durability="power_loss", on=machine())

    comparison = compare(all_runs(), QueryDict("baseline=sqlite-3"))

    assert all(group.against.ratio for group in comparison.groups if group.against)
    assert headline(comparison) == ""


def test_two_long_scripts_that_differ_at_their_end_are_two_cells():
    runs = [make_run("SQLite 3", 100, factors={}, on=machine()) for _ in range(2)]
    for run, end in zip(runs, ("COMMIT;", "ROLLBACK;"), strict=True):
        factor = RunFactor.of(run, "script_text", SCRIPT + end)
        assert len(factor.text) <= 300
        factor.save()
        run.set_cell_key()
        run.save()

    comparison = compare(all_runs())

    against = next(group.against for group in comparison.groups if group.against)
    assert [group.n for group in comparison.groups] == [1, 1]
    assert against_words(against).startswith("no ratio: Script: -- the whole of our billing, as it ran")
    assert len(against_words(against)) < 200


def test_the_answer_of_the_api_and_the_csv_name_what_differs_and_in_which_role(client):
    _, comparison = compared({"cache_state": "cold"}, {})

    body = client.get("/api/v1/compare/", {"dbms": ["sqlite", "h2"], "baseline": "sqlite-3"}).json()
    (differences,) = (group["differences"] for group in body["groups"] if not group["is_baseline"])
    assert differences == [
        {
            "field": "cache_state", "label": "Caches at the start", "a": "warm caches", "b": "cold caches",
            "severity": "note", "role": "condition", "is_own_question": False,
        }
    ]  # fmt: skip
    head, *rows = csv_rows(comparison)
    assert {dict(zip(head, row, strict=True))["differences"] for row in rows} == {
        "", "condition: Caches at the start: warm caches against cold caches"
    }  # fmt: skip


OURS = {
    "name": "benchsite.loadgen", "version": "1", "java": "17.0.9", "agent": "0.1", "jdbc_driver": "PostgreSQL JDBC",
    "jdbc_driver_version": "42.7.1", "isolation": "read committed", "transport": "TCP, same machine",
}  # fmt: skip


def recorded(first: dict[str, object], second: dict[str, object], systems=("PostgreSQL 17", "PostgreSQL 17")):
    """What is named between two runs that differ in nothing but in these columns."""
    runs = [
        make_run(system, 100, durability="power_loss", on=machine(), **columns)
        for system, columns in zip(systems, (first, second), strict=True)
    ]
    return [difference_words(one) for one in differences(conditions_of(runs[:1]), conditions_of(runs[1:]))]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"isolation": "serializable"}, "Isolation level: read committed against serializable"),
        ({"isolation": ""}, "Isolation level: read committed against not known"),
        ({"transport": "TCP, another machine"}, "Client: TCP, same machine against TCP, another machine"),
        ({"version": "2"}, "Load generator: benchsite.loadgen 1 against benchsite.loadgen 2"),
        ({"jdbc_driver_version": "42.7.9"}, "JDBC driver: PostgreSQL JDBC 42.7.1 against PostgreSQL JDBC 42.7.9"),
        ({"java": "21"}, "Java: 17.0.9 against 21"),
        ({"agent": "0.2"}, "Agent version: 0.1 against 0.2"),
    ],
)
def test_what_a_result_records_is_a_condition(changes, words):
    assert recorded({"driver": OURS}, {"driver": OURS | changes}) == [words]


def test_what_only_one_side_can_have_is_not_named():
    """Two DBMSs have two drivers; another tool has neither Java nor an agent."""
    other = OURS | {"jdbc_driver": "MariaDB Connector/J"}
    assert recorded({"driver": OURS}, {"driver": other}, ("PostgreSQL 17", "MariaDB 11")) == []
    assert recorded({"driver": OURS | {"jdbc_driver_version": "2.4"}}, {"driver": OURS}, ("H2 2", "H2 2")) == []

    pgbench = {"name": "pgbench", "version": "17", "isolation": "read committed", "transport": "TCP, same machine"}
    assert recorded({"driver": OURS}, {"driver": pgbench}) == ["Load generator: benchsite.loadgen 1 against pgbench 17"]


def test_buffers_are_compared_by_their_meaning_across_engines():
    postgresql = {"effective_settings": [["shared_buffers", "131072kB"]]}

    def mysql(size: str):
        return {"effective_settings": [["innodb_buffer_pool_size", size]]}

    engines = ("PostgreSQL 17", "MySQL 8")
    assert recorded(postgresql, mysql("1073741824"), engines) == ["Buffer pool: 128 MiB against 1 GiB"]
    assert recorded(postgresql, mysql("134217728"), engines) == []
    assert recorded(postgresql, {}, engines) == ["Buffer pool: 128 MiB against not known"]


def test_buffers_of_uploads_are_those_of_their_configurations():
    configs = []
    for size in ("16GB", "8GB"):
        configs.append(Config.objects.create(slug=size, name=size))
        configs[-1].parameters.create(name="shared_buffers", value=size, position=1)

    sent = Upload.objects.create(digest="1", schema_version=1)
    words = recorded({"config": configs[0], "upload": sent}, {"config": configs[1], "upload": sent})

    assert "Buffer pool: 16 GiB against 8 GiB" in words and "Configuration: 16GB against 8GB" in words


def test_facts_that_break_a_series_are_named():
    assert recorded({"context": {"microcode": "0xf8"}}, {"context": {"microcode": "0xf9"}}) == [
        "Microcode: 0xf8 against 0xf9"
    ]


def test_levels_of_the_axis_say_what_came_or_went_and_not_that_there_is_no_ratio():
    """Seen: a sweep of one engine over its sizes: eleven lines "no ratio: Size: 10.8 GB against 9.04 GB"."""
    for scale, tps in ((1, 400), (2, 200), (4, 100)):
        for value in (tps - 1, tps, tps + 1):
            factors = FACTORS | {"scale_factor": scale, "test_no": scale}
            make_run("SQLite 3", value, factors=factors, durability="power_loss", on=machine())
    comparison = compare(all_runs())
    told = [group.against for group in comparison.groups if group.against]
    assert [against_words(against) for against in told] == [
        "−50.0\u202f% (−50.5 to −49.5) from scale factor 1",
        "−75.0\u202f% (−75.6 to −74.4) from scale factor 1",
    ]
    assert {(against.kind, against.ratio, against.verdict, *against.differences) for against in told} == {
        ("level", None, None)
    }
    assert refusal_words(told[0]) == "Scale factor: 2 against 1"
    assert warnings_of(comparison) == []


def test_a_level_of_another_system_is_no_loss_of_the_baseline():
    """Seen: "PostgreSQL at scale factor 100: −12.5 % from scale factor 10", which was MariaDB's."""
    for system, scales in (("MariaDB 11.4", (10, 50, 500)), ("PostgreSQL 17.2", (10, 100, 1000))):
        for scale in scales:
            for value in (999, 1000, 1001):
                factors = FACTORS | {"scale_factor": scale}
                make_run(system, value / scale, factors=factors, durability="power_loss", on=machine())
    groups = compare(all_runs()).groups
    told = {group.label: against_words(group.against) for group in groups if group.against}
    assert told["PostgreSQL 17.2 · scale factor 100"] == "no ratio: Scale factor: 100 against 10"
    assert told["MariaDB 11.4 · scale factor 50"].endswith("from scale factor 10")


def test_what_differs_besides_the_axis_is_still_refused():
    for scale, window in ((1, 5), (2, 60), (4, 3600)):
        factors = FACTORS | {"scale_factor": scale, "duration_s": window}
        make_run("SQLite 3", 100, factors=factors, durability="power_loss", on=machine())
    last = compare(all_runs()).groups[-1].against
    assert last.kind == "refused" and "Measured window" in against_words(last)


def test_the_axis_is_no_difference_worth_a_line():
    for terminals in (1, 2, 4):
        for value in (99, 100, 101):
            factors = FACTORS | {"terminals": terminals, "cache_state": "cold" if terminals == 4 else "warm"}
            make_run("SQLite 3", value * terminals, factors=factors, durability="power_loss", on=machine())
    _, second, third = compare(all_runs()).groups
    assert second.against.ratio and second.against.differences == []
    assert [one.label for one in third.against.differences] == ["Caches at the start"]


def test_a_factor_without_its_unit_is_one_with_it():
    """Seen: an upload's scale factor 10 had no ratio to an agent's: "10 branches against 10"."""
    make_run("Derby 10.16", 100.0, factors={"scale_factor": 10, "duration_s": 60})
    for name in ("scale_factor", "duration_s"):
        RunFactor.objects.filter(name=name).update(unit=KNOWN[name].unit)
    make_run("SQLite 3.50", 200.0, factors={"scale_factor": 10, "duration_s": 60})
    comparison = compare(all_runs())
    (against,) = (group.against for group in comparison.groups if group.against)
    assert against.ratio is not None
    assert [one.label for one in against.differences if one.field in KNOWN] == []
    told = {fact.label: fact.words for fact in comparison.common}
    assert (told["Scale factor"], told["Measured window"]) == ("10", "60 s")
