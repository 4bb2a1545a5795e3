"""`make bench-confinement`: what the sandbox of a job costs in throughput, on SQLite, H2 and PostgreSQL.

    make bench-confinement ARGS="--pairs 8 --seconds 3 --warm-up 2"

TPC-B profile, two terminals. With: DBMS and load generator as a job has them. Without: the same user, no Landlock; of
being somebody else nothing is left to pay once a process runs. All files lie in memory, so that no disk hides the cost.
Both of a pair go on with their own copy of the data; pairs are interleaved and their order alternates, so that what
else the machine does hits both alike. What is told is the geometric mean of the ratios within the pairs with its 95 %
confidence interval (Student's t of the logarithms).

    sqlite: TPS 1.003 (0.981 to 1.026), CPU 0.995 (0.980 to 1.011), 8 pairs

CPU is that of the JVM for a transaction, with SQLite and H2 in it: on a busy machine it tells more than the throughput.
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
from benchagent.workloads.tpcb import run_step as tpcb_step

from benchmarks.clients import MEMORY
from benchmarks.pairs import CACHE, Measurement, Pair, of_summary, options
from runs.stats import geometric_mean, geometric_mean_interval
from tests.benchagent.dbms.trial import Trial

ENGINES = ("sqlite", "h2", "postgresql")


def measurement(trial: Trial, seconds: int, warm_up: int) -> Measurement:
    factors = TPCB.factors({"scale_factor": 1, "terminals": 2, "warm_up_s": warm_up, "duration_s": seconds})
    return of_summary(trial.events([tpcb_step(factors, trial.seed)]).summary)


def ratios(slug: str, toolchain: JavaToolchain, pairs: int, seconds: int, warm_up: int) -> list[Pair]:
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
                measured = {trial: measurement(trial, seconds, warm_up) for trial in order}
                ours, theirs = (measured[trial] for trial in trials)
                done.append(Pair(slug, theirs, ours))
                words = f"{ours.tps:.0f} TPS with, {theirs.tps:.0f} without"
                print(f"{slug} {version}, pair {number + 1}: {words}", flush=True)
        finally:
            for trial in trials:
                trial.close()
    return done


def told(values: Sequence[float]) -> str:
    interval = geometric_mean_interval(values)
    words = f"{interval.low:.3f} to {interval.high:.3f}" if interval else "too few for an interval"
    return f"{geometric_mean(values):.3f} ({words})"


def main() -> None:
    parser = options(__doc__, rounds="pairs", default=8)
    asked = parser.parse_args()
    print(f"Landlock {landlock() or 'is missing'}, {os.cpu_count()} cores, {platform.machine()}", flush=True)
    toolchain = JavaToolchain(CACHE)
    done = {slug: ratios(slug, toolchain, asked.pairs, asked.seconds, asked.warm_up) for slug in ENGINES}
    print("with by without, geometric means of the pairs (95 % confidence interval):")
    for slug, of_engine in done.items():
        tps, cpu = (told([pair.ratio(figure) for pair in of_engine]) for figure in ("tps", "cpu_ms"))
        print(f"{slug}: TPS {tps}, CPU {cpu}, {len(of_engine)} pairs")


if __name__ == "__main__":
    main()
