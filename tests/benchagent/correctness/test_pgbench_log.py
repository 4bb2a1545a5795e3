"""What the comparison with pgbench takes out of its log of transactions."""

from __future__ import annotations

from benchmarks.clients import in_window, percentile

# Client, number, latency in µs, script, end: seconds and µs since 1970. The first begins at 100.0 s.
LOG = """\
0 1 500000 0 100 500000
1 1 1999999 0 101 999999
0 2 700 0 102 0
1 2 800 0 103 999999
0 3 900 0 104 0
"""


def test_it_takes_the_transactions_that_ended_in_the_window():
    assert in_window(LOG.splitlines(), warm_up=2, seconds=2) == [700, 800]
    assert in_window(LOG.splitlines(), warm_up=0, seconds=2) == [500000, 1999999]
    assert in_window(reversed(LOG.splitlines()), warm_up=2, seconds=3) == [900, 800, 700]


def test_a_percentile_is_a_value_that_was_measured():
    hundred = list(range(1, 101))
    assert [percentile(hundred, percent) for percent in (0, 50, 95, 99, 100)] == [1, 50, 95, 99, 100]
    assert percentile([7], 99) == 7
    assert percentile([1, 2, 3], 50) == 2
