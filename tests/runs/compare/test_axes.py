"""What varies decides the chart: the first assignment of facts to x, series and panels, and what readers change."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product
from uuid import uuid5

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict

from runs.charts.curves import marks
from runs.compare.axes import arrange
from runs.compare.compare import compare, compare_selection
from runs.compare.panels import COLOURS, told_by_color
from runs.compare.select import select
from runs.models import Config, Publication, Run, RunStorage, StorageDevice
from tests.runs.cells import TOGETHER, add_number, all_runs, batch, machine, make_run, make_runs, workload

pytestmark = pytest.mark.django_db


def arranged(query: str = ""):
    comparison = compare(all_runs())
    arranged = replace(comparison, axes=arrange(comparison, QueryDict(query)))
    return arranged.axes, arranged.panels


def sweep(engines=("Derby 10.6", "H2 2.4"), scales=(1, 4, 16), terminals=(2, 8), repeats=1) -> None:
    make_runs(
        {
            "system": engine, "value": 1000 / scale + clients + repeat + (500 if engine == engines[0] else 0),
            "factors": {"scale_factor": scale, "terminals": clients}, "repeat": repeat,
        }
        for repeat, engine, scale, clients in product(range(1, repeats + 1), engines, scales, terminals)
    )  # fmt: skip


def drawn(panels):
    return {
        panel.label: {curve.label: [point.x for point in curve.points] for curve in panel.curves} for panel in panels
    }


def test_more_lines_than_looks_have_the_color_of_their_system():
    """Seen: 24 lines of five systems, all grey."""
    sweep(engines=("Derby 10.6", "H2 2.4"), terminals=range(1, 11))
    axes, panels = arranged("panels=none")
    curves = [curve for panel in panels for curve in panel.curves]
    assert len(curves) == 20 == len({curve.color for curve in curves})
    assert told_by_color([point for curve in curves for point in curve.points], axes, "") == "dbms"
    assert {(curve.label.partition(" · ")[0], curve.color % COLOURS) for curve in curves} == {
        ("Derby 10.6", 0), ("H2 2.4", 1),
    }  # fmt: skip


def test_a_sweep_of_engines_scales_and_terminals_is_two_panels_of_two_curves():
    sweep()
    axes, panels = arranged()
    assert (axes.view, axes.x, axes.series, axes.panels) == (
        "curve", "factor:scale_factor", ("dbms",), "factor:terminals",
    )  # fmt: skip
    both = {"Derby 10.6": [1, 4, 16], "H2 2.4": [1, 4, 16]}
    assert drawn(panels) == {"2 terminals": both, "8 terminals": both}
    assert [curve.color for panel in panels for curve in panel.curves] == [0, 1, 0, 1]


def test_a_grid_over_systems_names_no_configuration_that_each_has_of_its_own():
    """Was: every second cell empty, as each row named the configuration of one system."""
    sweep(scales=(1, 4))
    for dbms in ("derby", "h2"):
        Run.objects.filter(dbms_version__dbms__slug=dbms).update(config=Config.objects.create(slug=dbms, name=dbms))
    for view in ("heatmap", "table"):
        axes, panels = arranged(f"view={view}&x=dbms")
        assert (axes.x, axes.follow) == ("dbms", ("config",))
        assert all(len(curve.points) == 2 for panel in panels for curve in panel.curves)


def test_configurations_are_not_named_with_a_dbms_that_is_pooled():
    """Was: KeyError, and a 500."""
    sweep(terminals=(2,))
    for dbms in ("derby", "h2"):
        Run.objects.filter(dbms_version__dbms__slug=dbms).update(config=Config.objects.create(slug=dbms, name=dbms))
    comparison = compare(all_runs(), QueryDict("x=factor:scale_factor&pool=dbms"))
    assert (comparison.axes.pooled, comparison.axes.series) == (("dbms",), ("config",))
    assert [len(curve.points) for panel in comparison.panels for curve in panel.curves] == [3, 3]


def test_a_group_has_the_color_of_its_curve():
    sweep(engines=("Derby 10.6",), scales=(1, 4, 16))
    comparison = compare(all_runs(), QueryDict("x=factor:terminals"))
    (panel,) = comparison.panels
    of_curves = {run.id: curve.color for curve in panel.curves for point in curve.points for run in point.runs}
    assert len({*of_curves.values()}) == 3
    assert {run.id: group.color for group in comparison.groups for run in group.runs} == of_curves


def test_what_a_queued_run_cannot_tell_yet_does_not_vary():
    """Was: of an experiment half measured "SQLite · data storage not set" stood as a series of its own."""
    disk = StorageDevice.objects.create(hardware=machine(), slug="vda", name="vda", medium="ssd")
    for scale in (1, 4, 16):
        run = make_run("SQLite 3.53", 100 - scale, factors={"scale_factor": scale}, on=machine())
        run.storage.create(role="data", device=disk)
    make_run("SQLite 3.53", None, factors={"scale_factor": 64}, state="queued")
    comparison = compare(all_runs())
    assert [fact.field for fact in comparison.varying] == ["factor:scale_factor"]
    assert len(comparison.panels[0].curves) == 1


def test_every_repeat_stands_behind_its_point():
    sweep(repeats=3)
    _, panels = arranged()
    assert {point.n for panel in panels for curve in panel.curves for point in curve.points} == {3}


def test_a_size_is_x_before_terminals_though_these_have_more_levels():
    sweep(terminals=(1, 2, 4, 8))
    axes, _ = arranged()
    # The colours tell the systems, of which it is asked which is best.
    assert (axes.x, axes.series, axes.panels) == ("factor:scale_factor", ("dbms",), "factor:terminals")


def test_terminals_are_x_where_no_size_has_three_levels():
    sweep(scales=(1, 4), terminals=(1, 2, 4))
    axes, _ = arranged()
    assert (axes.view, axes.x, axes.series, axes.panels) == (
        "curve", "factor:terminals", ("dbms",), "factor:scale_factor",
    )  # fmt: skip


def test_without_a_number_of_three_levels_there_are_bars(article):
    axes, _ = arranged()
    assert (axes.view, axes.x, axes.panels) == ("bars", "", "")


def test_a_number_that_never_varies_alone_makes_no_curve():
    for engine, scale in (("Derby 10.6", 1), ("H2 2.4", 4), ("SQLite 3", 16)):
        make_run(engine, 7, factors={"scale_factor": scale})
    axes, _ = arranged()
    assert axes.view == "bars"


def test_a_configuration_of_its_dbms_takes_no_place():
    for engine in ("Derby 10.6", "H2 2.4"):
        config = Config.objects.create(slug=engine[:2].lower(), name=f"{engine}, defaults")
        for scale in (1, 4, 16):
            make_run(engine, scale, factors={"scale_factor": scale}, config=config)
    axes, panels = arranged()
    assert (axes.series, axes.panels, axes.follow) == (("dbms",), "", ("config",))
    assert [curve.label for curve in panels[0].curves] == ["Derby 10.6", "H2 2.4"]


def test_configurations_of_several_dbms_are_named_with_theirs():
    for engine, names in (("Derby 10.6", ("small", "large")), ("H2 2.4", ("other",))):
        for name in names:
            config = Config.objects.create(slug=name, name=name)
            for scale in (1, 4, 16):
                make_run(engine, scale, factors={"scale_factor": scale}, config=config)
    _, panels = arranged()
    assert [curve.label for curve in panels[0].curves] == [
        "Derby 10.6 · small", "Derby 10.6 · large", "H2 2.4 · other",
    ]  # fmt: skip


def test_a_device_speaks_for_the_factor_that_asked_for_it():
    device = {}
    for name in ("fast", "slow"):
        device[name] = StorageDevice.objects.create(hardware=machine(), slug=name, name=f"{name} disk", medium="hdd")
        for scale in (1, 4, 16):
            run = make_run("H2 2.4", scale, factors={"scale_factor": scale, "data_storage": name}, on=machine())
            run.storage.create(role="data", device=device[name])
    axes, panels = arranged()
    assert (axes.series, axes.follow) == (("storage:data",), ("factor:data_storage",))
    assert len(panels[0].curves) == 2


def test_lost_values_are_gaps_of_their_curve_and_another_workload_is_not_drawn():
    oltp, load = workload("OLTP"), workload("Load")
    for at, size in enumerate((9.04, 30.3, 1813.97), start=1):
        for disk in ("SATA", "SSD"):
            lost = {"state": "value_missing", "missing_reason": "lost in a picture"} if disk == "SSD" else {}
            factors = {"size_gb": size, "disk": disk, "test_no": at}
            make_run("Firebird 2.5", None if lost else 500 - at, factors=factors, of=oltp, **lost)
            make_run("Firebird 2.5", 8, number="load_mb_per_s", factors=factors, of=load)
    axes, panels = arranged("metric=tps")
    assert (axes.x, axes.series, axes.panels) == ("factor:size_gb", ("factor:disk",), "")
    assert [[point.centre for point in curve.points] for curve in panels[0].curves] == [
        [499, 498, 497], [None, None, None],
    ]  # fmt: skip
    assert panels[0].curves[1].points[0].gap == "lost in a picture"


def test_what_is_left_over_names_series_unless_it_is_fixed_or_pooled():
    for depth in (1, 8):
        for scale in (1, 4, 16):
            for clients in (2, 8):
                for engine in ("Derby 10.6", "H2 2.4"):
                    factors = {"scale_factor": scale, "terminals": clients, "io_depth": depth}
                    make_run(engine, scale + depth, factors=factors)
    axes, panels = arranged()
    assert (axes.series, axes.panels) == (("dbms", "factor:io_depth"), "factor:terminals")
    assert [curve.label for curve in panels[0].curves] == [
        "Derby 10.6 · Io depth 1", "Derby 10.6 · Io depth 8", "H2 2.4 · Io depth 1", "H2 2.4 · Io depth 8",
    ]  # fmt: skip

    axes, panels = arranged("fix=factor:terminals=8")
    assert (axes.series, axes.panels) == (("dbms",), "factor:io_depth")
    assert {point.facts["factor:terminals"] for panel in panels for point in panel.curves[0].points} == {"8"}

    for pool in ("pool=factor:terminals", "fix=factor:terminals=*"):
        axes, panels = arranged(pool)
        assert (axes.series, axes.panels) == (("dbms",), "factor:io_depth")
        assert [point.n for point in panels[0].curves[0].points] == [2, 2, 2]


def test_a_reader_turns_the_axes_round_and_switches_them_off():
    sweep()
    axes, panels = arranged("x=factor:terminals&series=factor:scale_factor&panels=dbms")
    assert (axes.view, axes.x, axes.series, axes.panels) == (
        "curve", "factor:terminals", ("factor:scale_factor",), "dbms",
    )  # fmt: skip
    assert drawn(panels)["H2 2.4"] == {f"Scale factor {scale}": [2, 8] for scale in (1, 4, 16)}
    assert arranged("x=none")[0].view == "bars"
    axes, panels = arranged("panels=none")
    assert (axes.series, len(panels)) == (("dbms", "factor:terminals"), 1)


def test_an_article_and_own_runs_of_the_same_cells_are_two_curves():
    article = Publication.objects.create(slug="tpcb-2010", title_en="Test of databases", published_on=date(2010, 11, 4))
    for scale in (1, 4, 16):
        make_run("H2 2.4", scale, factors={"scale_factor": scale})
        make_run("H2 2.4", scale * 2, factors={"scale_factor": scale}, publication=article, provenance="printed")
    axes, panels = arranged()
    assert (axes.x, axes.series) == ("factor:scale_factor", ("batch",))
    curves = {curve.label: [point.centre for point in curve.points] for curve in panels[0].curves}
    assert sorted(curves.values()) == [[1, 4, 16], [2, 8, 32]]
    assert "Test of databases" in curves


def test_sizes_that_were_asked_for_by_several_factors_stand_on_one_axis():
    article = Publication.objects.create(slug="terabyte", title_en="One terabyte", published_on=date(2015, 1, 1))
    for scale, size_gb in ((1, 9), (4, 20), (16, 1800)):
        run = make_run("H2 2.4", scale, factors={"scale_factor": scale})
        add_number(run, scale * 15_000_000, name="db_size_bytes", unit="bytes")
        make_run("H2 2.4", scale * 2, factors={"size_gb": size_gb}, publication=article, provenance="printed")
    axes, panels = arranged()
    assert (axes.x, axes.x_as, axes.series, axes.panels) == ("factor:size_gb", "size", ("batch",), "")
    assert sorted([point.x for point in curve.points] for curve in panels[0].curves) == [
        [15, 60, 240], [9_663.7, 21_474.8, 1_932_735.3],
    ]  # fmt: skip


def test_a_disk_on_which_all_runs_failed_is_named_as_it_was_asked_for():
    """Seen: a legend of "data storage not set" beside the other disk."""
    disk = StorageDevice.objects.create(hardware=machine(), slug="vda", name="vda", medium="ssd")
    for storage, scale in product(("fast", "slow"), (1, 4, 16)):
        factors = {"scale_factor": scale, "data_storage": storage}
        failed = {"state": "failed", "message": "no room"} if storage == "slow" else {}
        run = make_run("SQLite 3.53", None if failed else 7, factors=factors, on=machine(), **failed)
        if not failed:
            RunStorage.objects.create(run=run, device=disk, role="data")
    axes, panels = arranged()
    assert (axes.x, axes.series) == ("factor:scale_factor", ("factor:data_storage",))
    assert [curve.label for curve in panels[0].curves] == ["fast", "slow"]


def test_runs_of_three_days_are_a_curve_over_the_date():
    for day in ("2026-01-01", "2026-02-01", "2026-03-01"):
        for engine in ("Derby 10.6", "H2 2.4"):
            made = batch(uuid5(TOGETHER, day))
            make_run(engine, 7, batch=made, measured_on=day)
    axes, panels = arranged()
    assert (axes.view, axes.x, axes.series) == ("curve", "date", ("dbms",))
    assert len(panels[0].curves) == 2


def test_nights_of_two_versions_that_are_batches_of_a_commit_each_are_a_curve_of_each_version():
    for night in range(1, 31):
        for version in ("PostgreSQL 16.4", "PostgreSQL 17.2"):
            tested = {"commit": f"{version[-4:]}-{night}"}
            made = batch(uuid5(TOGETHER, f"{night} {version}"), label=f"nightly {night}", tested=tested)
            make_run(version, 7, batch=made, measured_on=f"2026-01-{night:02}")
    axes, panels = arranged()
    assert (axes.view, axes.x, axes.series, axes.panels) == ("curve", "date", ("dbms",), "")
    assert [(curve.label, len(curve.points)) for curve in panels[0].curves] == [
        ("PostgreSQL 16.4", 30), ("PostgreSQL 17.2", 30),
    ]  # fmt: skip


def nights(*versions: str, slower_from: int = 99) -> None:
    for night, version in enumerate(versions, start=1):
        tested = {"commit": f"{version}-{night}"}
        made = batch(uuid5(TOGETHER, f"{night} {version}"), label=f"nightly {night}", tested=tested)
        value = 7 if night < slower_from else 5
        make_run(version, value, batch=made, measured_on=f"2026-01-{night:02}")


def test_a_dbms_that_is_upgraded_goes_on_as_the_same_curve():
    """Seen: two months of nights in two colours, the change at the upgrade in neither."""
    nights(*["PostgreSQL 18.0"] * 5, *["PostgreSQL 18.1"] * 4)
    axes, panels = arranged()
    assert (axes.view, axes.x, axes.series) == ("curve", "date", ())
    assert [len(curve.points) for curve in panels[0].curves] == [9]
    assert [mark["label"] for mark in marks(panels[0], compare(all_runs()))] == ["18.1"]
    assert len(arranged("series=dbms")[1][0].curves) == 2


def test_it_marks_a_curve_of_days_where_it_has_a_step_and_where_its_dbms_was_upgraded():
    nights(*["PostgreSQL 18.0"] * 12, *["PostgreSQL 18.1"] * 8, slower_from=11)
    comparison = compare(all_runs())
    marked = marks(comparison.panels[0], comparison)
    assert [date.fromordinal(int(mark["value"])).day for mark in marked] == [11, 13]


@pytest.mark.parametrize(
    "versions",
    [
        ["PostgreSQL 18.0", "PostgreSQL 18.1"] * 4,
        ["PostgreSQL 16.4", "PostgreSQL 17.2", "PostgreSQL 18.1"],
        ["PostgreSQL 18.0"] * 4 + ["MariaDB 11.4"] * 4,
    ],
)
def test_versions_that_do_not_follow_each_other_are_told_apart(versions):
    nights(*versions)
    assert "dbms" in arranged()[0].series


def test_two_commits_of_each_night_are_a_curve_each():
    for night in range(1, 6):
        for commit in ("main", "patched"):
            made = batch(uuid5(TOGETHER, f"{night} {commit}"), tested={"commit": commit})
            make_run("PostgreSQL 17.2", 7, batch=made, measured_on=f"2026-01-{night:02}")
    axes, panels = arranged()
    assert (axes.view, axes.x, axes.series) == ("curve", "date", ("tested:commit",))
    assert len(panels[0].curves) == 2


def test_it_says_which_names_there_are():
    sweep()
    axes, _ = arranged("x=colour&view=pie&fix=dbms=Oracle")
    assert set(axes.problems) == {"x", "view", "fix"}
    assert "factor:scale_factor" in axes.problems["x"][0]
    assert axes.x == "factor:scale_factor"


def test_sets_are_series_of_one_curve_each_and_never_pooled():
    """An article's runs against mine: a run of both is the baseline set's, and the same cell stands in both."""
    sweep(engines=("H2 2.4",), terminals=(2,))
    theirs = {run.id for run in all_runs()}
    sweep(engines=("H2 2.4",), terminals=(2,))
    params = QueryDict(mutable=True)
    params.setlist("set", ["dbms=h2-2-4", "&".join(f"run={run}" for run in theirs)])
    params["base_set"] = "2"
    selection = select(params, AnonymousUser())
    comparison = compare_selection(selection)
    axes = comparison.axes
    assert (axes.x, axes.series) == ("factor:scale_factor", ("set",))
    curves = {curve.label: [point.x for point in curve.points] for curve in comparison.panels[0].curves}
    assert curves == {"Set 1: H2 2.4": [1, 4, 16], "Set 2: 3 runs": [1, 4, 16]}
    assert comparison.levels.base_label == "Set 2: 3 runs"
    assert {run.id for group in comparison.groups if group.facts["set"] == "2" for run in group.runs} == theirs
    params["fix"] = "set=1"
    assert len(compare_selection(selection).groups) == 3
