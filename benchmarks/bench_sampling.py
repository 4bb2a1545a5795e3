"""`make bench-sampling`: what the agent's watching costs, in throughput, on one PostgreSQL.

    make bench-sampling ARGS="--pairs 7 --seconds 10 --warm-up 10"

With: the session of an agent's job, which samples machine, processes and disks each second, asks the server for waits
and counters, and writes everything into its spool. Without: the load generator alone, on the same tables with the same
transactions. Commits do not wait (synchronous_commit=off), so that every CPU second that the watching takes is one that
clients or server lack. Pairs are interleaved and their order alternates.

The last line is the median of the pairs with its range: `overhead of sampling: 0.6 % (-1.0 to 2.1)`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchagent.java import JavaToolchain

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started as a file, it sees only its own folder

from benchmarks.clients import Server, postgresql  # noqa: E402

CACHE = Path(os.environ.get("BENCHSITE_TEST_CACHE") or ROOT / "var" / "test-cache")


def measure(server: Server, seconds: int, warm_up: int, pairs: int) -> list[float]:
    """Percent of the throughput that the watching took, for each pair."""
    clients = {"with": server.agent, "without": server.bare}
    overheads = []
    for number in range(pairs):
        tps: dict[str, float] = {}
        cpu_s: dict[str, float] = {}
        for which in sorted(clients, reverse=number % 2 == 0):
            server.prepare("off")
            begun = time.process_time()
            tps[which] = clients[which](seconds, warm_up).tps
            cpu_s[which] = time.process_time() - begun
        overheads.append(100 * (1 - tps["with"] / tps["without"]))
        agent = 1000 * (cpu_s["with"] - cpu_s["without"]) / (seconds + warm_up)
        print(
            f"pair {number + 1}: {tps['with']:.0f} TPS with, {tps['without']:.0f} without, overhead "
            f"{overheads[-1]:.1f} %; the agent's own CPU for it {agent:.0f} ms a second",
            flush=True,
        )
    return overheads


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=10, help="measured seconds of each run")
    parser.add_argument("--warm-up", type=int, default=10, help="seconds before them")
    parser.add_argument("--scale", type=int, default=10, help="branches, of 100,000 accounts each")
    asked = parser.parse_args()
    toolchain = JavaToolchain(CACHE)
    toolchain.prepare([group for group in toolchain.engine_groups() if group.dbms == "postgresql"], print)
    with (
        tempfile.TemporaryDirectory(prefix="bench-sampling-") as folder,
        postgresql(Path(folder), toolchain, asked.scale) as server,
    ):
        found = measure(server, asked.seconds, asked.warm_up, asked.pairs)
    print(f"overhead of sampling: {statistics.median(found):.1f} % ({min(found):.1f} to {max(found):.1f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
