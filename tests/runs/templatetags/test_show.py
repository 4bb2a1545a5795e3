"""How numbers, sizes and times are written."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from runs import formatting
from runs.charts.base import lines, lines_table
from runs.models import Change
from runs.tables import TableCell
from runs.templatetags import show


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1.5282e-6, "0.000001528"), (-2.126e-9, "-2.126·10⁻⁹"), (1.5e-12, "1.5·10⁻¹²"),
        (0.0123456, "0.01235"), (0.5, "0.5"), (83.2712, "83.27"), (508, "508"),
        (508.46, "508.5"), (1192.4, "1,192"), (123456.7, "123,457"), (-3.25, "-3.25"),
    ],
)  # fmt: skip
def test_it_writes_numbers_as_the_charts_do(value, text):
    assert formatting.number(value) == text


def test_the_end_of_an_interval_is_written_out():
    assert [formatting.three_digits(end) for end in (3.29e-8, 3.29e-6, 0.0157, 2.8, 1204)] == [
        "3.3·10⁻⁸", "0.0000033", "0.0157", "2.80", "1,204",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 B"), (1023, "1,023 B"), (1024, "1 KiB"), (8 * 2**30, "8 GiB"), (1.5 * 2**20, "1.5 MiB")],
)
def test_it_writes_sizes_in_units_of_1024(size_bytes, text):
    assert formatting.byte_size(size_bytes) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.5, "0.5 s"), (5, "5 s"), (65, "1 min 05 s"), (7380, "2 h 03 min")])
def test_it_writes_durations(seconds, text):
    assert formatting.duration(seconds) == text


def test_it_never_writes_a_missing_value_as_a_number():
    assert [formatting.quantity(count, "deadlocks") for count in (0, 1)] == ["0 deadlocks", "1 deadlock"]
    assert [formatting.quantity(1, unit) for unit in ("TPS", "rows/s", "passes")] == ["1 TPS", "1 rows/s", "1 passes"]
    assert [formatting.quantity(size, "MB") for size in (160, 10_737)] == ["160 MB", "10.7 GB"]
    assert (formatting.number(None), formatting.quantity(None, "TPS"), formatting.byte_size(None)) == ("",) * 3
    assert (formatting.plain(None), formatting.exact(None), formatting.duration(None)) == ("",) * 3


def test_a_gap_carries_its_reason_and_is_escaped():
    _, cell = show.table_cells([TableCell(text="a"), TableCell(gap='lost in "fig. 1" <b>')]).split("</th>")
    assert cell.startswith('<td data-gap title="lost in &quot;fig. 1&quot; &lt;b&gt;">not known: ')


def test_a_cell_keeps_the_exact_number():
    cells = show.table_cells([TableCell(text="a"), TableCell(1234.56789)])
    assert cells == '<th scope="row">a</th><td class="num" data-value="1234.56789">1,235</td>'


def test_a_number_in_a_file_reads_back_the_same():
    for value in (0.1, 1 / 3, 1e-9, 123456789.123, 5.0):
        assert float(formatting.plain(value)) == value
    assert formatting.plain(5.0) == "5"


def test_a_time_is_utc_whatever_its_zone_and_a_date_stays_a_date():
    there = datetime(2026, 11, 21, 7, 30, tzinfo=timezone(timedelta(hours=2)))
    assert show.moment(there) == show.moment(datetime(2026, 11, 21, 5, 30, tzinfo=UTC))
    assert "2026-11-21 05:30 UTC" in show.moment(there)
    assert show.moment(date(2010, 11, 4)) == '<time datetime="2010-11-04">2010-11-04</time>'


def test_the_table_of_lines_has_every_point_and_tells_gaps_from_absence():
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear"},
        y={"label": "Latency", "unit": "ms"},
        series=[
            {"label": "p50", "color": 0, "dash": False, "points": [(0, 1.5), (1, None)]},
            {"label": "p99", "color": 1, "dash": True, "points": [(1, 9.0)]},
        ],
    )
    table = lines_table(spec)
    assert [column.heading for column in table.columns] == ["Time (s)", "p50 (ms)", "p99 (ms)"]
    assert table.rows[0] == [TableCell(0), TableCell(1.5), TableCell()]
    assert table.rows[1][1].gap
    assert table.rows[1][2] == TableCell(9.0)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("duration_s", 5, "measured window 5 s"), ("new_connection", True, "new connection yes"),
        ("script", "read.sql", "script read.sql"), ("scale_factor", 1, "scale factor 1"),
        ("terminals", 1, "1 terminal"),
    ],
)  # fmt: skip
def test_it_shows_what_a_file_says_of_a_factor_as_lists_do(name, value, shown):
    """Seen: "scale factor 1 branch, terminals 1 connection"."""
    assert show.factor_said(value, name) == shown


def test_a_time_in_a_recorded_change_is_written_as_pages_write_it():
    """Was: frozen: none → “2026-11-29T22:44:43+00:00”."""
    froze = Change(field="frozen", old=None, new="2026-11-29T23:44:43+01:00")
    moved = Change(field="measured_on", old="2026-11-29", new="T1")
    assert show.change_words(froze) == "frozen: none → 2026-11-29 22:44 UTC"
    assert show.change_words(moved) == "measured on: “2026-11-29” → “T1”"
