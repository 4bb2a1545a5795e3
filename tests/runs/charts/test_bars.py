"""Bars begin at 0; where that hides the small ones, marks stand on a logarithmic axis."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from django.http import QueryDict

from runs.answers.words.drawn import LOG_BARS_NOTE
from runs.charts.compare import bars_parts, effects_figure
from runs.charts.drawing import draw
from runs.compare.axes import arrange
from runs.compare.compare import compare
from runs.configs.creating import Parameter, config_of
from tests.runs.cells import all_runs, make_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("values", "query", "scale"),
    [
        ((2.0, 400.0, 1999.0), "", "linear"), ((2.0, 400.0, 2000.0), "", "log"), ((0.0, 400.0, 2000.0), "", "linear"),
        ((2.0, 400.0, 2000.0), "y_scale=linear", "linear"), ((200.0, 400.0, 300.0), "y_scale=log", "log"),
    ],
)  # fmt: skip
def test_values_a_thousandfold_apart_stand_on_a_logarithmic_axis(values, query, scale):
    for system, value in zip(("H2 2.4", "MySQL 8.4", "PostgreSQL 17.2"), values, strict=True):
        make_run(system, value)
    comparison = compare(all_runs())
    (figure,) = bars_parts(replace(comparison, axes=arrange(comparison, QueryDict(query))))
    assert figure.spec["scale"] == scale
    assert figure.note.endswith(LOG_BARS_NOTE) == (scale == "log")


@pytest.mark.parametrize(("unranked", "most"), [(2953.0, (2953.0, 2953.0)), (9000.0, (None, None))])
def test_classes_share_an_axis_where_the_bars_of_each_can_be_read(unranked, most):
    """Was: bars of 683 and 2,953 TPS of one length, one above the other."""
    make_run("H2 2.4", 683.0, durability="power_loss")
    make_run("MySQL 8.4", unranked, durability="bounded_loss")
    specs = [figure.spec for figure in bars_parts(compare(all_runs()))]
    assert tuple(spec.get("most") for spec in specs) == most


def test_panels_share_the_axis():
    for system, terminals, value in (("H2 2.4", 1, 2.0), ("H2 2.4", 8, 30.0), ("MySQL 8.4", 1, 9_000.0)):
        make_run(system, value, factors={"terminals": terminals})
    comparison = compare(all_runs())
    (panels,) = bars_parts(
        replace(comparison, axes=arrange(comparison, QueryDict("view=bars&panels=factor:terminals")))
    )
    specs = [figure.spec for figure in panels.figures]
    assert [(spec["scale"], spec["least"], spec["most"]) for spec in specs] == [("log", 2.0, 9_000.0)] * 2
    assert panels.note.endswith(LOG_BARS_NOTE)
    of_panels = [(bar["value"], bar["row"]) for spec in specs for bar in spec["groups"]]
    assert [panels.table.rows[row][2].value for _, row in of_panels] == [value for value, _ in of_panels]


def test_what_a_setting_did_begins_at_no_change():
    for level, value in (("off", 1000), ("on", 850)):
        config, _ = config_of("postgresql", "PostgreSQL", [Parameter("jit", level)], provenance="uploaded")
        for repeat in (1, 2, 3):
            make_run("PostgreSQL 18.0", value + repeat, config=config, repeat=repeat)
    figure = effects_figure(compare(all_runs(), QueryDict("ask=effects")))
    spec = figure.spec
    assert spec["base"] == 1.0
    assert [figure.table.rows[bar["row"]][0].text for bar in spec["groups"]] == ["jit off → on"]
    assert [bar["text"] for bar in spec["groups"]] == ["0.850\u202f×"]


def test_bars_say_which_settings_their_names_leave_out_where_the_answer_is_of_ratios():
    """Was: a bar "max_wal_size=32GB" that had another compression than its neighbour, said nowhere."""
    for compression in ("lz4", "off"):
        for size in ("1GB", "32GB"):
            settings = [Parameter("wal_compression", compression), Parameter("max_wal_size", size)]
            config, _ = config_of("postgresql", "PostgreSQL", settings, provenance="uploaded")
            for repeat in (1, 2, 3):
                make_run("PostgreSQL 18.0", 1000 + repeat, config=config, repeat=repeat)
    (figure,) = bars_parts(compare(all_runs(), QueryDict("ask=effects")))
    assert "Where a name does not say it: wal_compression=lz4, max_wal_size=1GB." in figure.note


@pytest.mark.parametrize(("queries", "drawn"), [(6, ["order", "curve"]), (5, ["curve"])])
def test_where_no_reader_can_tell_the_curves_apart_bars_say_which_is_best(queries: int, drawn: list[str]):
    """Seen: 130 curves of six systems, which showed nothing of "DuckDB 1.2.0 has the lowest query time"."""
    for system, value in (("H2 2.4", 900), ("MySQL 8.4", 600), ("PostgreSQL 17.2", 1800)):
        for query, scale, repeat in product(range(queries), (1, 10, 100), (1, 2, 3)):
            factors = {"query": f"q{query}", "scale_factor": scale}
            make_run(system, value * (1 + 0.01 * repeat) / scale, factors=factors, repeat=repeat)
    parts = draw(compare(all_runs())).parts
    assert [part.id for part in parts] == drawn
    if len(drawn) > 1:
        rows = [[cell.text or cell.value for cell in row[:2]] for row in parts[0].table.rows]
        assert rows == [["PostgreSQL 17.2", pytest.approx(2.0)], ["H2 2.4", 1.0], ["MySQL 8.4", pytest.approx(2 / 3)]]
