"""An engine and a workload for Benchsite. The server reads these entries, an agent also the modules that they name."""

from __future__ import annotations

from benchagent.catalog.factors import CONDITIONS, KNOBS, window
from benchagent.catalog.model import DbmsEntry, FactorDef, Role, WorkloadEntry

H2PG = DbmsEntry(
    slug="h2pg",
    name="H2 in PostgreSQL mode",
    vendor="H2 Group",
    module="benchsite_example.engine",
    embedded=True,
    settings=(("WRITE_DELAY", "0"),),
    settings_help="settings of the database URL, one `name = value` a line",
)
COUNTERS = WorkloadEntry(
    slug="counters",
    name="Counters",
    version="1",
    summary="Each transaction raises one of the counters; their sum is what was committed.",
    factors=(
        FactorDef("counters", "Counters", "rows", 1_000, 1, 10_000_000, rows_each=1, role=Role.QUESTION),
        *window(4),
        *KNOBS,
        *CONDITIONS,
    ),
    primary_metric="tps",
    module="benchsite_example.counters",
)
