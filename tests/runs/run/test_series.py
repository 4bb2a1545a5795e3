from __future__ import annotations

import math
import random

import pytest

from runs.models import Metric, SeriesChunk
from runs.results import append_samples
from runs.run import series
from tests.runs.builders import samples, scheduled

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0],
        [None],
        [None, 1.5, None, -2.25, 0.1, 1e-300, 1.7976931348623157e308, 5e-324],
        [float(number) for number in range(3600)],
    ],
)
def test_it_gives_back_exactly_the_values_it_was_given(values):
    assert series.decode(series.encode(values)) == values


def test_it_gives_back_any_finite_double_bit_by_bit():
    generator = random.Random(7)
    values = [generator.uniform(-1, 1) * 10 ** generator.randint(-300, 300) for _ in range(2000)]
    decoded = series.decode(series.encode(values))
    assert [math.copysign(1, value) for value in decoded] == [math.copysign(1, value) for value in values]
    assert [value.hex() for value in decoded] == [value.hex() for value in values]


def test_it_stores_an_hour_of_seconds_in_far_less_than_raw_doubles():
    generator = random.Random(7)
    values = [round(generator.gauss(800, 40)) * 1.0 for _ in range(3600)]
    assert len(series.encode(values)) < 3600 * 8 / 3


def test_it_refuses_a_codec_it_does_not_know():
    with pytest.raises(ValueError, match="codec 9"):
        series.decode(series.encode([1.0]), codec=9)


def test_it_summarises_a_chunk_without_its_gaps():
    run = scheduled()
    metric = Metric.objects.create(name="x", unit="y", label="X")
    chunk = series.new_chunk(run=run, metric=metric, chunk=0, t0_s=0, interval_s=1, values=[None, 2.0, 5.0])
    assert (chunk.count, chunk.minimum, chunk.maximum, chunk.total) == (3, 2.0, 5.0, 7.0)
    empty = series.new_chunk(run=run, metric=metric, chunk=1, t0_s=3, interval_s=1, values=[None])
    assert (empty.count, empty.minimum, empty.maximum, empty.total) == (1, None, None, None)


def test_it_reads_the_same_before_and_after_merging():
    run = scheduled()
    append_samples(run=run, item=samples("tps", 0, 0, [1.0, None]))
    append_samples(run=run, item=samples("tps", 1, 2, [3.0]))
    append_samples(run=run, item=samples("latency_p99_ms", 0, 0, [9.0]))
    before = series.read_all(run)
    assert series.merge(run) == 1
    assert series.read_all(run) == before
    assert SeriesChunk.objects.filter(run=run).count() == 2
    assert series.read(run, "tps").values == [1.0, None, 3.0]
    assert series.read(run, "tps").unit == "TPS"
    assert series.merge(run) == 0


def test_it_shows_a_missing_delivery_as_a_gap():
    run = scheduled()
    append_samples(run=run, item=samples("tps", 0, 0, [1.0]))
    append_samples(run=run, item=samples("tps", 2, 3, [4.0]))
    assert series.read(run, "tps").values == [1.0, None, None, 4.0]


def test_it_keeps_the_time_of_the_first_sample():
    run = scheduled()
    append_samples(run=run, item=samples("machine_cpu_percent", 0, -3, [10.0, 20.0, 30.0], interval_s=2))
    assert series.read(run, "machine_cpu_percent").points() == [(-3, 10.0), (-1, 20.0), (1, 30.0)]


@pytest.mark.parametrize(
    ("after_s", "t0_s", "values"),
    [(-1, 0, [1.0, 2.0, 3.0]), (0, 1, [2.0, 3.0]), (0.5, 1, [2.0, 3.0]), (1, 2, [3.0]), (2, 3, []), (99, 3, [])],
)
def test_it_reads_only_what_begins_later(after_s, t0_s, values):
    run = scheduled()
    append_samples(run=run, item=samples("tps", 0, 0, [1.0, 2.0, 3.0]))
    (found,) = series.read_all(run, after_s)
    assert (found.t0_s, found.values) == (t0_s, values)


def test_it_reads_an_empty_series_where_there_is_none():
    assert series.read(scheduled(), "tps").values == []


def test_it_thins_to_the_lowest_and_the_highest_of_each_stretch_and_keeps_gaps():
    values = [5.0, 1.0, 9.0, 5.0, None, 7.0, 7.0, None, None, None, 3.0]
    made = series.thinned(series.Series("tps", "TPS", 10.0, 0.5, values), 4)
    assert [(part.begin_s, part.lowest, part.highest) for part in made] == [(10, 1, 9), (12, 7, 7), (14, 3, 3)]
    assert [part.points for part in made] == [
        [(10.5, 1), (11.0, 9)], [(12.0, None), (12.5, 7)], [(14.0, None), (15.0, 3)],
    ]  # fmt: skip
    (gap,) = series.thinned(series.Series("tps", "TPS", 0.0, 1.0, [None, None]), 4)
    assert (gap.lowest, gap.highest, gap.points) == (None, None, [(0.0, None)])


def test_it_thins_only_what_is_twice_as_long_as_the_picture():
    def sampled(count):
        return series.Series("tps", "TPS", 0.0, 1.0, [1.0] * count)

    assert series.samples_each([sampled(200), sampled(3)], 100) == 1
    assert series.samples_each([sampled(201), sampled(3)], 100) == 3
    assert len(series.thinned(sampled(1_000_000), series.samples_each([sampled(1_000_000)], 999))) <= 999
    assert series.samples_each([], 100) == 1


def test_it_unpacks_only_what_is_asked_for(monkeypatch):
    run = scheduled()
    for chunk in range(10):
        for metric in ("tps", "machine_cpu_percent"):
            append_samples(run=run, item=samples(metric, chunk, 10.0 * chunk, [float(chunk)] * 10))
    unpacked, decode = [], series.decode
    monkeypatch.setattr(series, "decode", lambda data, codec: unpacked.append(1) or decode(data, codec=codec))
    (part,) = series.read_all(run, 24.5, 41, names=["tps"])
    assert (part.t0_s, part.values) == (25, [2.0] * 5 + [3.0] * 10 + [4.0])
    assert len(unpacked) == 3


def test_it_reads_the_samples_between_two_times():
    run = scheduled()
    append_samples(run=run, item=samples("tps", 0, 0.0, [float(number) for number in range(10)]))
    (part,) = series.read_all(run, 2.5, 6)
    assert (part.t0_s, part.values) == (3, [3, 4, 5])
    assert series.read_all(run, 20, 30)[0].values == []
