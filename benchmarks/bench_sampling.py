"""`make bench-sampling`: what the agent's watching costs, in throughput, on one PostgreSQL.

    make bench-sampling ARGS="--rounds 7 --seconds 10 --warm-up 10"

With: the session of an agent's job, which samples machine, processes and disks each second, asks the server for waits
and counters, writes everything into its spool, and sends it, with heartbeats, to a server that only takes it. That one
is a process of this machine: its CPU counts in the throughput, but not as CPU of the watching. Without: the load
generator alone, on the same tables with the same transactions. Commits do not wait (synchronous_commit=off), so that
every CPU second that the watching takes is one that clients or server lack. The three runs of a round are interleaved
and their order rotates.

Each round runs "without" twice: how far these two differ is what this machine cannot tell from nothing. Where that is
more than the watching costs, the CPU that it takes tells more than the throughput; the kernel keeps accounts of it.

The last lines are the medians of the rounds with their ranges:

    throughput of two runs without: 1.8 % (-13.6 to 0.5) apart
    overhead of sampling, by throughput: 0.6 % (-1.0 to 2.1)
    overhead of sampling, by CPU: 0.35 % (0.30 to 0.41)
"""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass

from benchagent.java import JavaToolchain

from benchmarks.clients import Server, postgresql
from benchmarks.pairs import CACHE, ClientFailed, options


@dataclass(frozen=True)
class Round:
    """Percent: of the throughput, lost with watching and between two runs without; of the machine's CPU, taken."""

    overhead: float
    noise: float
    cpu: float


def measure(server: Server, seconds: int, warm_up: int, rounds: int) -> list[Round]:
    clients = [("without", server.bare), ("with", server.accounted_agent), ("without again", server.bare)]
    done = []
    for number in range(rounds):
        tps: dict[str, float] = {}
        turned = number % len(clients)
        for which, client in clients[turned:] + clients[:turned]:
            server.prepare("off")
            tps[which] = client(seconds, warm_up).tps
        taken = server.taken
        if taken is None:
            raise ClientFailed("the run was over before its CPU was read: it needs more seconds")
        without = (tps["without"] + tps["without again"]) / 2
        done.append(
            Round(
                100 * (1 - tps["with"] / without),
                100 * (1 - tps["without again"] / tps["without"]),
                taken.total / 10 / (os.cpu_count() or 1),
            )
        )
        print(
            f"round {number + 1}: {tps['with']:.0f} TPS with, {tps['without']:.0f} and {tps['without again']:.0f} "
            f"without; CPU a second: agent {taken.agent:.1f} ms, thread that asks {taken.thread:.1f} ms, backend that "
            f"answers {taken.backend:.1f} ms",
            flush=True,
        )
    return done


def spread(values: list[float], digits: int = 1) -> str:
    return f"{statistics.median(values):.{digits}f} % ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main() -> None:
    parser = options(__doc__, rounds="rounds", default=7)
    parser.add_argument("--scale", type=int, default=10, help="branches, of 100,000 accounts each")
    asked = parser.parse_args()
    with postgresql(JavaToolchain(CACHE), asked.scale) as server:
        done = measure(server, asked.seconds, asked.warm_up, asked.rounds)
    print(f"throughput of two runs without: {spread([each.noise for each in done])} apart")
    print(f"overhead of sampling, by throughput: {spread([each.overhead for each in done])}")
    print(f"overhead of sampling, by CPU: {spread([each.cpu for each in done], 2)}")


if __name__ == "__main__":
    main()
