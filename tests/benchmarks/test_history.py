"""A small fixed sample of `make bench-history`, through the same functions."""

from __future__ import annotations

from benchmarks import bench_history

PLAIN, HANGING, BAD_NIGHTS, *_ = bench_history.KINDS
SERIES, SEED = 12, 3


def test_it_errs_as_seldom_as_the_docs_say():
    assert bench_history.false_alarms(PLAIN, 0.02, SERIES, SEED)[0] <= 0.5
    waiting, again, more = bench_history.false_alarms(BAD_NIGHTS, 0.02, SERIES, SEED)
    assert max(waiting, again) <= 5
    assert 0 < more < 0.25


def test_it_finds_a_step_of_five_per_cent_and_where_it_is():
    found = bench_history.detection(PLAIN, 0.02, -0.05, SERIES, SEED)
    assert min(found.again, found.within_10, found.placed) >= 0.9
    assert found.within_3 >= 0.75


def test_it_does_not_find_what_cannot_be_seen():
    assert bench_history.detection(PLAIN, 0.02, -0.01, SERIES, SEED).again <= 0.3


def test_a_drift_and_louder_repeats_are_kinds_of_their_own():
    told = bench_history.drift_told(3, SEED, -0.002)
    assert told.drift == 1
    assert told.batch <= 60
    assert told.step_left < 0.5
    assert bench_history.noise_told(3, SEED, 3) >= 0.6
