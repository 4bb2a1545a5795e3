from __future__ import annotations

from typing import Any

import pytest

from runs.charts.run import figures, load_bands
from runs.models import HardwareProfile, Run
from runs.run import derived
from runs.run.series import Series
from runs.tables import Table
from tests.runs.cells import add_number, make_run

FACTORS: dict[str, float | str] = {"warm_up_s": 2, "duration_s": 12}
# Two seconds of warm-up, twelve measured, and one more that does not count.
RATES: list[float | None] = [1.0, 1.0, 100.0, 100.0, 90.0, 90.0, None, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0, 500.0]


def one_second(name: str, values: list[float | None]) -> Series:
    return Series(name, "", 0.0, 1.0, values)


def shown(table: Table | None) -> dict[str, Any]:
    """The first value of each row by its head."""
    return {row[0].text: row[1].text if row[1].value is None else row[1].value for row in table.rows} if table else {}


def figures_of(run: Run, **series: list[float | None]) -> dict[str, Any]:
    return shown(derived.of_run(run, [one_second(name, values) for name, values in series.items()]).figures)


@pytest.mark.parametrize(
    ("cpu", "disk", "bound"), [(97.0, 89.9, True), (96.9, 10.0, False), (100.0, 90.0, False), (50.0, 99.0, False)]
)
def test_cpu_bound_wants_a_busy_cpu_and_a_disk_that_is_not(cpu: float, disk: float, bound: bool):
    assert derived.cpu_bound(cpu, disk) is bound


def test_steadiness_is_the_coefficient_of_variation_without_gaps():
    assert derived.variation_percent([90.0, None, 110.0]) == pytest.approx(14.1421, rel=1e-4)
    assert derived.variation_percent([100.0]) is None
    assert derived.variation_percent([0.0, 0.0]) is None


def test_the_trend_sets_the_last_sixth_against_the_first():
    assert derived.trend_percent([100.0, 100.0, *[1.0] * 8, 70.0, 90.0]) == pytest.approx(-20.0)
    assert derived.trend_percent([100.0] * 11) is None, "a sixth is less than two values"
    assert derived.trend_percent([None, None, *[1.0] * 10]) is None


def test_shares_of_tables_are_without_indexes_and_tables_of_no_known_size_are_left_out():
    tables = [
        {"table": "stock", "size_bytes": 300, "index_bytes": 60},
        {"table": "order_line", "size_bytes": 700, "index_bytes": None},
        {"table": "history", "size_bytes": None},
        {"table": "odd", "size_bytes": "many"},
    ]
    assert derived.table_shares(tables) == [("order_line", 70.0, None), ("stock", 30.0, 20.0)]


def test_fetches_are_told_by_the_rows_counted_or_else_returned():
    assert derived.fetches_per_row({"count": "400", "row_count": 1, "fetches": 1000}) == 2.5
    assert derived.fetches_per_row({"row_count": 5, "fetches": 15}) == 3.0
    assert derived.fetches_per_row({"row_count": 0, "fetches": 15}) is None
    assert derived.fetches_per_row({"row_count": 5}) is None


def test_a_run_shows_what_follows_from_what_it_has_stored(db):
    hardware = HardwareProfile.objects.create(slug="m", name="M", ram_bytes=8_000_000_000)
    query = {"query": 2, "state": "warm", "row_count": 2, "fetches": 9}
    run = make_run("Firebird 3.0", 80, factors=FACTORS, on=hardware, dataset={"warehouses": 8},
                   statistics={"queries": [query, {**query, "state": "cold"}]})  # fmt: skip
    add_number(run, 800_000_000, name="db_size_bytes", unit="bytes")
    found = figures_of(run, tps=RATES, machine_cpu_percent=[99.0] * 14, disk_util_percent=[10.0] * 14)
    assert found == {
        "Steadiness": pytest.approx(derived.variation_percent(RATES[2:14])),
        "Last sixth of the window against its first": pytest.approx(-20.0),
        "Bound by the CPU": "yes",
        "Size of a warehouse": 100.0,
        "Size against memory": 0.1,
        "Query 2: fetches per row": 4.5,
    }


def test_dips_are_told_with_their_distance(db):
    """Seen: two seconds at 60 % every 30 s for an hour, and "no stalls" was all that was said of them."""
    run = make_run("PostgreSQL 17", 80, factors={"duration_s": 600})
    rates: list[float | None] = [600.0 if at % 30 in (10, 11) else 1_000.0 for at in range(600)]
    (row,) = [row for row in derived.of_run(run, [one_second("tps", rates)]).figures.rows if "quarters" in row[0].text]
    assert row[1].value == pytest.approx(100 * 2 / 30)
    assert row[3].text == "of the 1-s values, in 20 stretches, 30 s from begin to begin (median)"
    assert not [name for name in figures_of(run, tps=[1_000.0] * 600) if "quarters" in name]


def test_a_cpu_that_others_kept_busy_is_not_said_to_be_the_runs_alone(db):
    run = make_run("Firebird 3.0", 80, factors=FACTORS)
    run.checks = [{"name": "machine_alone", "ok": False, "detail": "disturbed: …"}]
    found = figures_of(run, tps=RATES, machine_cpu_percent=[99.0] * 14, disk_util_percent=[10.0] * 14)
    assert found["Bound by the CPU"] == "yes, and other programs used it too"


def test_the_page_of_a_run_tells_each_figure_with_its_unit_and_how_it_came_about(client, db):
    run = make_run(
        "Firebird 3.0", 80, factors={"warehouses": 8}, statistics={"tables": [{"table": "stock", "size_bytes": 9}]}
    )
    add_number(run, 860_000_000, name="db_size_bytes", unit="bytes")
    html = client.get(run.get_absolute_url()).content.decode()
    section = html[html.index('id="derived"') : html.index('id="origin"')]
    size = 'Size of a warehouse</th><td class="num" data-value="107.5">107.5</td><td>MB</td><td>size of the database by'
    assert size in section
    assert 'stock</th><td class="num" data-value="100.0">100</td>' in section


def test_what_has_no_inputs_is_left_out(db):
    run = make_run("Firebird 3.0", 80, factors=FACTORS)
    assert figures_of(run, tps=[1.0], machine_cpu_percent=[99.0] * 14) == {}
    assert derived.of_run(run, []) == derived.Derived(None, None)
    run.context = {"connection": "prod"}
    of_the_load_generator = {"machine_cpu_percent": [99.0] * 14, "disk_util_percent": [10.0] * 14}
    assert figures_of(run, **of_the_load_generator) == {}, "not the machine of the server"


def test_both_parts_of_a_load_have_a_band_a_time_and_a_rate(db):
    run = make_run(
        "Firebird 3.0", 80, factors=FACTORS, statistics={"marks": [{"name": "slow_part", "rows": 70_000, "t": 4.0}]}
    )
    add_number(run, 10.0, name="load_s", phase="load", unit="s")
    add_number(run, 10_000.0, name="load_rows_per_s", phase="load", unit="rows/s")
    assert figures_of(run) == {
        "Load, fast part": 4.0,
        "Load, fast part: rate": 17_500.0,
        "Load, slow part": 6.0,
        "Load, slow part: rate": 5_000.0,
    }
    bands = [
        {"from": 0, "to": 4.0, "label": "fast part, 70 % of the rows", "clear": True},
        {"from": 4.0, "to": 10.0, "label": "slow part, by design"},
    ]
    assert load_bands(run) == bands
    (figure,) = figures(run, [one_second("load_mb_per_s", [5.0, 1.0])])
    assert figure.spec["type"] == "lines"
    assert figure.spec["bands"] == bands


def test_samples_under_names_of_ones_own_are_drawn_as_they_are_given(db):
    """Seen: CPU and disk of 3,700 samples each were taken with 201, and drawn nowhere."""
    run = make_run("PostgreSQL 17", 80, factors=FACTORS)
    units = {"tps": "TPS", "cpu_percent": "%", "io_wait": "%", "disk_written_mb_per_s": "MB/s", "checkpoints": ""}
    drawn = figures(run, [Series(name, unit, 0.0, 1.0, [1.0, 2.0]) for name, unit in units.items()])
    assert [(figure.id, figure.title) for figure in drawn] == [
        ("throughput", "Throughput over time"), ("own-1", "Samples in %"), ("own-2", "disk_written_mb_per_s"),
    ]  # fmt: skip
    assert [line["label"] for line in drawn[1].spec["series"]] == ["cpu_percent", "io_wait"]


def test_an_even_load_has_no_parts(db):
    run = make_run("Firebird 3.0", 80, factors=FACTORS)
    add_number(run, 10.0, name="load_s", phase="load", unit="s")
    assert derived.load_parts(run) is None
    assert load_bands(run) == []


def test_a_run_beside_which_others_only_wrote_is_bound_by_the_cpu_all_the_same(db):
    hardware = HardwareProfile.objects.create(slug="m", name="M", cpu_threads=4)
    run = make_run("Firebird 3.0", 80, factors=FACTORS, on=hardware)
    add_number(run, 3.9, name="server_cpu_cores", unit="cores")
    add_number(run, 99.0, name="machine_cpu_percent", unit="%")
    run.checks = [{"name": "machine_alone", "ok": False, "detail": "disturbed: others wrote …"}]
    found = figures_of(run, tps=RATES, machine_cpu_percent=[99.0] * 14, disk_util_percent=[10.0] * 14)
    assert found["Bound by the CPU"] == "yes"


@pytest.mark.parametrize(("own", "said"), [(0.2, "no: other programs had it, the run 5 %"), (3.0, "yes, and other")])
def test_a_run_that_had_little_of_a_busy_cpu_was_not_bound_by_it(db, own: float, said: str):
    """Was: "yes" of a run that had 5 % of the CPU."""
    hardware = HardwareProfile.objects.create(slug="m", name="M", cpu_threads=4)
    run = make_run("Firebird 3.0", 80, factors=FACTORS, on=hardware)
    add_number(run, own, name="server_cpu_cores", unit="cores")
    run.checks = [{"name": "machine_alone", "ok": False, "detail": "disturbed: …"}]
    found = figures_of(run, tps=RATES, machine_cpu_percent=[99.0] * 14, disk_util_percent=[10.0] * 14)
    assert found["Bound by the CPU"].startswith(said)
