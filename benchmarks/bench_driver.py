"""`make bench-driver`: the load generator against pgbench, on the same tables of the same server.

    make bench-driver ARGS="--pairs 5 --seconds 10 --warm-up 10 --json driver.json"

Ours is the session of an agent's job, with its samples and its own queries each second, its heartbeats and what it
sends; pgbench runs its built-in TPC-B script with -M prepared and logs each transaction, into memory. Both use 4
connections to one private PostgreSQL on the same tables. Pairs are interleaved and their order alternates, with
synchronous_commit off (the client's CPU decides) and on (the disk decides). What is compared is the time after the
warm-up. CPU is that of the clients alone: of pgbench over its whole run, of the load generator in the window.
What is told of the pairs: see pairs.py.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchagent.java import JavaToolchain

from benchmarks.clients import postgresql
from benchmarks.pairs import CACHE, Measurement, measured, options, report

# By value of synchronous_commit: the least that the median of the ratios of TPS is to be.
TARGETS = {"off": 0.90, "on": 0.95}


def main() -> int:
    parser = options(__doc__, rounds="pairs")
    parser.add_argument("--scale", type=int, default=10, help="branches, of 100,000 accounts each")
    parser.add_argument("--json", type=Path, help="write every pair to this file")
    asked = parser.parse_args()
    with postgresql(JavaToolchain(CACHE), asked.scale) as server:
        machine = f"scale {asked.scale}, {os.cpu_count()} cores, {platform.machine()}"
        about = f"PostgreSQL {server.version}, {machine}; {asked.warm_up} s warm-up, {asked.seconds} s measured"
        print(f"{about}\n", flush=True)

        def prepared(commit: str, client: Callable[[int, int], Measurement]) -> Measurement:
            server.prepare(commit)
            return client(asked.seconds, asked.warm_up)

        clients = {
            load_of(commit): (partial(prepared, commit, server.pgbench), partial(prepared, commit, server.agent))
            for commit in TARGETS
        }
        pairs = measured(clients, asked.pairs)
    status = report("pgbench", pairs, {load_of(commit): target for commit, target in TARGETS.items()})
    if asked.json:
        told = [{"load": p.load, "pgbench": p.theirs.as_json(), "ours": p.ours.as_json()} for p in pairs]
        asked.json.write_text(json.dumps({"about": about, "pairs": told}, indent=1))
    return status


def load_of(commit: str) -> str:
    return f"synchronous_commit {commit}"


if __name__ == "__main__":
    sys.exit(main())
