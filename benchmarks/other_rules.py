"""The rules by which others find changes, simplified, with their defaults, on the same made-up series.

Read from the sources of Bencher, Conbench, Argus, rustc-perf and Perfherder; Otava's own code runs in a virtual
environment of its own, since its pins clash with ours. Series are logs of repeats, batch by batch; each rule gives
(when, where) of its alarms, as batch numbers. Throughput: where a rule looks at one side, it looks for less.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

FIRST = 10
OTAVA = "apache-otava==0.8.0"
Series = np.ndarray
Alarms = list[tuple[int, int]]


def _single(is_off: Callable[[Series, int], bool]) -> Callable[[Series], Alarms]:
    """A rule that looks at the newest batch alone."""
    return lambda values: [(now, now) for now in range(FIRST, len(values)) if is_off(values, now)]


def _bencher_t(values: Series, now: int) -> bool:
    """A t-test at 99 % of at most 64 batches, the lower side."""
    before = values[max(0, now - 64) : now].mean(1)
    half = stdtrit(len(before) - 1, 0.99) * before.std(ddof=1) * (1 + 1 / len(before)) ** 0.5
    return bool(values[now].mean() < before.mean() - half)


def _bencher_percentage(values: Series, now: int) -> bool:
    return bool(values[now].mean() < 0.9 * values[max(0, now - 64) : now].mean())


def _conbench(values: Series, now: int) -> bool:
    """The best repeat against the rolling mean of at most 100 commits, |z| > 5."""
    best = values[max(0, now - 100) : now].max(1)
    off = (best - best.cumsum() / np.arange(1, len(best) + 1))[1:]
    return bool(abs(values[now].max() - best.mean()) > 5 * off.std(ddof=1))


def _argus(values: Series, now: int) -> bool:
    """10 % below the best so far."""
    return bool(values[now].mean() < 0.9 * values[:now].mean(1).max())


def _rustc_perf(values: Series, now: int) -> bool:
    """Above the third quartile of earlier changes by three times the distance of the quartiles."""
    means = values[max(0, now - 31) : now + 1].mean(1)
    changes = np.abs(np.diff(means) / means[:-1])
    low, high = np.percentile(changes[:-1], [25, 75])
    return bool(changes[-1] > high + 3 * (high - low))


def _band(values: Series, now: int) -> bool:
    """Beyond a band of 99.5 % of 30 batches."""
    before = np.log(values[max(0, now - 30) : now]).mean(1)
    half = stdtrit(len(before) - 1, 0.9975) * before.std(ddof=1) * (1 + 1 / len(before)) ** 0.5
    return bool(abs(np.log(values[now]).mean() - before.mean()) > half)


def _perfherder(values: Series) -> Alarms:
    """t > 7 of 12 repeats on to as many as 24 before, weighted by nearness, the largest of its neighbours, ≥ 2 %."""
    count, repeats = values.shape
    t, since = np.zeros(count + 1), 0
    for at in range(4, count - 3):
        back = min(max(since, 12), 24)
        sides = [values[max(0, at - min(back, 24 // repeats)) : at][::-1], values[at : at + 4]]
        centres, errors = [], []
        for side in sides:
            weights = np.linspace(1, 0, len(side), endpoint=False)
            centre = float((weights * side.mean(1)).sum() / weights.sum())
            centres.append(centre)
            errors.append(((side - centre) ** 2).sum() / (side.size - 1) / side.size)
        t[at] = abs(centres[1] - centres[0]) / sum(errors) ** 0.5
        since = 0 if t[at] > 7 else since + 1
    return [
        (at + 3, at)
        for at in range(FIRST, count - 3)
        if t[at] > 7 and t[at] >= max(t[at - 1], t[at + 1])
        and abs(values[at : at + 4].mean() / values[max(0, at - 8) : at].mean() - 1) >= 0.02
    ]  # fmt: skip


RULES: dict[str, Callable[[Series], Alarms]] = {
    "Bencher, t-test 99 %": _single(_bencher_t),
    "Bencher, −10 %": _single(_bencher_percentage),
    "Conbench, z > 5": _single(_conbench),
    "Perfherder, t > 7": _perfherder,
    "rustc-perf, quartiles": _single(_rustc_perf),
    "Argus, best −10 %": _single(_argus),
    "a band of 99.5 %": _single(_band),
}
OTAVAS = {"Otava 0.8": 0.0, "Otava 0.8, from 3 %": 0.03}


class Otava:
    """Its own code, in an environment that is made and taken away."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self._python = folder / "bin" / "python"
        subprocess.run([self._python, "-m", "pip", "install", "--quiet", OTAVA], check=True, stdout=sys.stderr)

    def alarms(self, series: Sequence[Series]) -> dict[str, list[Alarms]]:
        """By each of `OTAVAS`, at the same time."""
        means = json.dumps([np.exp(each).mean(1).tolist() for each in series])
        command = [str(self._python), str(Path(__file__).with_name("otava_alarms.py"))]
        with ThreadPoolExecutor() as threads:
            told = threads.map(
                lambda least: (
                    subprocess.run(
                        [*command, str(least)], input=means, stdout=subprocess.PIPE, text=True, check=True
                    ).stdout
                ),
                OTAVAS.values(),
            )
        return {name: json.loads(text) for name, text in zip(OTAVAS, told, strict=True)}


def all_alarms(series: Sequence[Series], otava: Otava | None, most_of_otava: int) -> dict[str, list[Alarms]]:
    """Of each rule, of each of these series of logs; Otava, which is slow, of the first ones."""
    found = {name: [rule(np.exp(each)) for each in series] for name, rule in RULES.items()}
    if otava is not None:
        found |= otava.alarms(series[:most_of_otava])
    return found
