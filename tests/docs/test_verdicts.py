"""docs/method/verdicts.md and the simulated table: every number there is what `runs.stats` says."""

from __future__ import annotations

import math
import re
import statistics

import pytest

from runs.stats import geometric_mean, geometric_mean_interval, judge, ratio, t_quantile
from scripts.verdict_table import NOISES, REPEATS, line
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "method" / "verdicts.md").read_text()
TABLE = (REPOSITORY / "docs" / "reference" / "verdict-simulation.md").read_text()
NUMBER = r"([\d.]+)"
CELL = re.compile(
    rf"^\| ([ab]) \| ([\d, ]+) \| {NUMBER} \| {NUMBER} \| {NUMBER} \| {NUMBER} to {NUMBER} \|$", re.MULTILINE
)


def repeats(words: str) -> list[float]:
    return [float(value) for value in words.split(", ")]


CELLS = {row[0]: repeats(row[1]) for row in CELL.findall(PAGE)}


def stated(pattern: str) -> list[str]:
    """Numbers of the page's text behind a wording, as printed."""
    match = re.search(pattern, PAGE)
    assert match, pattern
    return list(match.groups())


def as_printed(value: float, printed: str) -> str:
    return f"{value:.{len(printed.partition('.')[2])}f}"


def test_the_rows_of_the_example_follow_from_its_repeats():
    rows = CELL.findall(PAGE)
    assert [row[0] for row in rows] == ["a", "b"]
    for _, words, mean, spread, geometric, low, high in rows:
        values = repeats(words)
        logs = [math.log(value) for value in values]
        interval = geometric_mean_interval(values)
        assert interval
        computed = (statistics.fmean(logs), statistics.stdev(logs), geometric_mean(values), interval.low, interval.high)
        for number, printed in zip(computed, (mean, spread, geometric, low, high), strict=True):
            assert number is not None and as_printed(number, printed) == printed


def test_the_ratio_and_its_words_follow_too():
    estimate = ratio(CELLS["a"], CELLS["b"])
    assert estimate and estimate.interval and estimate.degrees_of_freedom
    variance = sum(statistics.variance(map(math.log, values)) / len(values) for values in CELLS.values())
    numbers = (
        estimate.value, variance, estimate.degrees_of_freedom, t_quantile(0.975, estimate.degrees_of_freedom),
        estimate.interval.low, estimate.interval.high,
    )  # fmt: skip
    printed = stated(
        rf"= {NUMBER}, v = {NUMBER}, ν = {NUMBER}, t\(0\.975; ν\) = {NUMBER}, so its interval is {NUMBER} to (\d\.\d+)"
    )
    assert [as_printed(*pair) for pair in zip(numbers, printed, strict=True)] == printed
    assert f"**{judge(CELLS['a'], CELLS['b'], better='higher').words}**" in PAGE


def test_the_noisier_example_is_undecided_as_it_says():
    words, value, low, high = stated(r"spread more, ([\d, ]+): R = ([\d.]+), its interval ([\d.]+) to ([\d.]+) holds 1")
    verdict = judge(CELLS["a"], repeats(words), better="higher")
    assert verdict.ratio and verdict.ratio.interval
    for number, printed in (
        (verdict.ratio.value, value),
        (verdict.ratio.interval.low, low),
        (verdict.ratio.interval.high, high),
    ):
        assert as_printed(number, printed) == printed
    assert f"**{verdict.words}**" in PAGE


def test_the_simulated_table_has_every_row():
    assert [re.findall(r"^\| (.+?) \| (\d+) \|", row)[0] for row in rows_of(TABLE)] == [
        (noise, str(repeats)) for noise in NOISES for repeats in REPEATS
    ]


@pytest.mark.parametrize(("noise", "repeats"), [("2 %", 3), ("5 %", 3), ("skewed, 5 %", 4)])
def test_rows_of_the_simulated_table_are_simulated(noise: str, repeats: int):
    assert line(noise, repeats) in rows_of(TABLE)


def test_the_page_shows_rows_of_the_table():
    shown = rows_of(PAGE.split("rows of ../reference/verdict-simulation.md -->")[1])
    assert len(shown) >= 6
    assert set(shown) <= set(rows_of(TABLE))


def rows_of(text: str) -> list[str]:
    return [row for row in text.splitlines() if re.match(r"\| .+ \| \d+ \| [\d.]+%", row)]
