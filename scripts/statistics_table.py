"""Print docs/reference/engine-counters.md: what each DBMS tells about itself, and where from.

    .venv/bin/python scripts/statistics_table.py > docs/reference/engine-counters.md

Everything in it is what the adapters say; a test compares the file with this output.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from benchagent.catalog import DBMSS
from benchagent.dbms.counters import PARTS, EngineCounters
from benchagent.dbms.derby import DerbyCounters
from benchagent.dbms.firebird.counters import FirebirdCounters, ForeignCounters
from benchagent.dbms.h2 import H2Counters, H2MemoryCounters
from benchagent.dbms.hsqldb import HsqldbCounters
from benchagent.dbms.mysql.counters import InnodbCounters
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.dbms.sqlite import SqliteCounters
from benchagent_unverified.cubrid import CubridCounters
from benchagent_unverified.db2 import Db2Counters
from benchagent_unverified.interbase import InterbaseCounters
from benchagent_unverified.oracle import OracleCounters

SCHEMA = "bench"
# Where something changes from one version to the next; and servers of others, whose files and tools are out of reach.
POSTGRESQL = ("9.2", "9.6", "10", "14", "16", "17", "18")
MYSQLS, MARIADBS = ("5.5", "5.6.5", "8.0.18"), ("10.1", "10.8")
CUBRIDS = ("9.3", "10.0", "11.0")
OPEN_SYNC = "open_datasync"
OTHERS = "server of others"
HIT_RATIO = ("buffer_hits", "buffer_reads")
HEAD = """# Engine counters

What each DBMS tells about itself, and where the agent reads it. Counters are read at the begin and at the end of the
measured window, and a run shows their difference; waits are sampled each second of it, or told by such a difference
where the engine adds them up; tables and indexes are read after the run; the age of statistics, vacuum and purge just
before the warm-up. What an engine has not is shown on the page of a run as a gap, with the reason below. *Oracle
Database, IBM Db2, CUBRID and InterBase have not been verified against a live server.*

The **buffer hit ratio** is the share of hits in hits and reads. Transactions, latencies and retries are counted by the
load generator, never by the DBMS.

This page is the output of `scripts/statistics_table.py`, which asks the adapters; tests compare it with them, and what
they declare with what runs of one version of each engine delivered (`tests/benchagent/test_statistics_table.py`):
PostgreSQL 18, MySQL 5.5, MariaDB 10.11, Firebird 3.0, and of the embedded ones the agent's own. *some*: in some
versions, or not everywhere, as the source says.
"""


def variants() -> dict[str, dict[str, EngineCounters]]:
    """The variants by DBMS, in the order of the catalogue: a label, oldest version first, and what each tells."""
    counters: dict[str, dict[str, EngineCounters]] = {
        "postgresql": {
            **{f"from {version}": PostgresqlCounters(numbers(version)) for version in POSTGRESQL},
            f"wal_sync_method = {OPEN_SYNC}": PostgresqlCounters(numbers(POSTGRESQL[-1]), wal_sync_method=OPEN_SYNC),
            OTHERS: PostgresqlCounters(numbers(POSTGRESQL[-1]), superuser=False),
        },
        "mysql": {f"from {version}": InnodbCounters(Product(MYSQL, version), SCHEMA) for version in MYSQLS},
        "mariadb": {f"from {version}": InnodbCounters(Product(MARIADB, version), SCHEMA) for version in MARIADBS},
        "firebird": {"own server": FirebirdCounters(str, str), OTHERS: ForeignCounters()},
        "sqlite": {"": SqliteCounters()},
        "derby": {"": DerbyCounters()},
        "hsqldb": {"": HsqldbCounters()},
        "h2": {"in files": H2Counters(), "in memory": H2MemoryCounters()},
        "oracle": {"": OracleCounters(SCHEMA)},
        "db2": {"": Db2Counters(SCHEMA)},
        "cubrid": {f"from {version}": CubridCounters(numbers(version)) for version in CUBRIDS},
        "interbase": {"": InterbaseCounters()},
    }
    # Engines of plug-ins are in no page of ours.
    return {slug: counters[slug] for slug in DBMSS if slug in counters}


def numbers(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)


def page() -> str:
    return "\n".join(
        [HEAD, *overview(), *(line for slug, kinds in variants().items() for line in of_dbms(slug, kinds))]
    )


def overview() -> list[str]:
    """Statistic by DBMS: yes, no, or in some versions."""
    engines = variants()
    head = " | ".join(DBMSS[slug].name for slug in engines)
    lines = ["## All engines", "", f"| statistic | {head} |", f"|---|{'---|' * len(engines)}"]
    for part in PARTS:
        lines.append(f"| `{part}` | {' | '.join(mark(part, kinds) for kinds in engines.values())} |")
    ratios = [[counters.sources.keys() >= {*HIT_RATIO} for counters in kinds.values()] for kinds in engines.values()]
    lines.append(f"| buffer hit ratio | {' | '.join(map(mark_of, ratios))} |")
    meanings = [f"| `{part}` | {meaning} |" for part, meaning in PARTS.items()]
    return [*lines, "", "| statistic | what it is |", "|---|---|", *meanings, ""]


def mark(part: str, kinds: Mapping[str, EngineCounters]) -> str:
    return mark_of([part in counters.sources for counters in kinds.values()])


def mark_of(shown: list[bool]) -> str:
    if all(shown):
        return "yes"
    return "some" if any(shown) else "–"


def of_dbms(slug: str, kinds: Mapping[str, EngineCounters]) -> list[str]:
    """What is shown, each for itself, then what is not, by reason."""
    missing: dict[str, list[str]] = defaultdict(list)
    lines = [f"## {DBMSS[slug].name}", "", "| statistic | shown | source, or why there is none |", "|---|---|---|"]
    for part in PARTS:
        if any(part in counters.sources for counters in kinds.values()):
            lines.append(f"| `{part}` | {mark(part, kinds)} | {words(part, kinds)} |")
        else:
            missing[words(part, kinds)].append(f"`{part}`")
    return [*lines, *(f"| {', '.join(parts)} | – | {reason} |" for reason, parts in missing.items()), ""]


def words(part: str, kinds: Mapping[str, EngineCounters]) -> str:
    """One text where all variants agree; else each text with the first variant that has it."""
    first: dict[str, str] = {}
    for label, counters in kinds.items():
        first.setdefault(text(part, counters), label)
    return next(iter(first)) if len(first) == 1 else "; ".join(f"*{label}:* {said}" for said, label in first.items())


def text(part: str, counters: EngineCounters) -> str:
    return counters.sources[part] if part in counters.sources else f"none: {counters.none[part]}"


if __name__ == "__main__":
    print(page(), end="")
