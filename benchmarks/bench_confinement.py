"""`make bench-confinement`: what the walls around a job cost in throughput, on SQLite, H2 and PostgreSQL.

    make bench-confinement ARGS="--pairs 8 --seconds 3 --warm-up 2"

TPC-B profile, two terminals. With: DBMS and load generator as a job has them. Without: the same user, no Landlock; of
being somebody else nothing is left to pay once a process runs. All files lie in memory, so that no disk hides the cost.
Both of a pair go on with their own copy of the data; pairs are interleaved and their order alternates, so that what
else the machine does hits both alike. What is told is the geometric mean of the ratios within the pairs with its 95 %
confidence interval (Student's t of the logarithms).

    sqlite: 1.003 (0.981 to 1.026), 8 pairs
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchagent import dbms
from benchagent.catalog import DBMSS
from benchagent.dbms.base import EngineContext
from benchagent.java import JavaToolchain
from benchagent.machine.landlock import version as landlock
from benchagent.workloads.tpcb import WORKLOAD as TPCB
from benchagent.workloads.tpcb import _run as tpcb_step

from benchmarks.clients import MEMORY
from benchmarks.pairs import CACHE, Measurement, of_summary, options
from runs.stats import geometric_mean, geometric_mean_interval
from tests.benchagent.dbms.trial import Trial

ENGINES = ("sqlite", "h2", "postgresql")


def measurement(trial: Trial, seconds: int, warm_up: int) -> Measurement:
    factors = TPCB.factors({"scale_factor": 1, "terminals": 2, "warm_up_s": warm_up, "duration_s": seconds})
    return of_summary(trial.events([tpcb_step(factors, trial.seed)]).summary)


def ratios(slug: str, toolchain: JavaToolchain, pairs: int, seconds: int, warm_up: int) -> list[float]:
    """TPS with by TPS without."""
    with tempfile.TemporaryDirectory(prefix="benchsite-confinement-", dir=MEMORY) as folder:
        Path(folder).chmod(0o755)
        context = EngineContext(toolchain, frozenset(), Path(folder), CACHE / "engines")
        version = next(facts["version"] for facts in dbms.adapter(slug).discover(context) if facts["available"])
        settings = dict(DBMSS[slug].settings)
        trials = [
            Trial(Path(folder) / name, toolchain, slug, version, settings, engines_dir=CACHE / "engines", landlock=wall)
            for name, wall in (("with", True), ("without", False))
        ]
        done = []
        try:
            for trial in trials:
                trial.tpcb()
            for number in range(pairs):
                order = trials if number % 2 == 0 else trials[::-1]
                tps = {trial: measurement(trial, seconds, warm_up).tps for trial in order}
                with_walls, without = (tps[trial] for trial in trials)
                done.append(with_walls / without)
                words = f"{with_walls:.0f} TPS with, {without:.0f} without"
                print(f"{slug} {version}, pair {number + 1}: {words}, {done[-1]:.3f}", flush=True)
        finally:
            for trial in trials:
                trial.close()
    return done


def told(values: Sequence[float]) -> str:
    interval = geometric_mean_interval(values)
    words = f"{interval.low:.3f} to {interval.high:.3f}" if interval else "too few for an interval"
    return f"{geometric_mean(values):.3f} ({words}), {len(values)} pairs"


def main() -> None:
    parser = options(__doc__, rounds="pairs", default=8)
    asked = parser.parse_args()
    print(f"Landlock {landlock() or 'is missing'}, {os.cpu_count()} cores, {platform.machine()}", flush=True)
    toolchain = JavaToolchain(CACHE)
    done = {slug: ratios(slug, toolchain, asked.pairs, asked.seconds, asked.warm_up) for slug in ENGINES}
    print("throughput with by without, geometric means of the pairs (95 % confidence interval):")
    for slug, values in done.items():
        print(f"{slug}: {told(values)}")


if __name__ == "__main__":
    main()
