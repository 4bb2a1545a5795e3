"""Every workload that an agent can run, and its factors and their values in words: what pages and commands say."""

from __future__ import annotations

from benchagent import plugins
from benchagent.catalog.model import SPAN, STRICTEST, FactorDef, FactorKind, Role, WorkloadEntry

WORKLOADS: dict[str, WorkloadEntry] = {
    entry.slug: entry
    for entry in sorted(plugins.offered(plugins.WORKLOADS).values(), key=lambda entry: (entry.order, entry.slug))
}
# Every factor by its name. Workloads that share a factor share its words.
FACTORS: dict[str, FactorDef] = {
    factor.name: factor for entry in reversed(WORKLOADS.values()) for factor in reversed(entry.factors)
}

# What tools and people call the columns that tell where and with what something was measured.
PLACES = (
    "disk", "servers", "filename", "directory", "tablespace", "machine", "host", "hostname", "hardware", "server",
    "instance", "instance_type", "os", "kernel", "file_system", "config", "configuration",
)  # fmt: skip
# What tools and articles vary that is no factor of ours and no question either.
OTHER_ROLES: dict[str, Role] = {
    **dict.fromkeys(
        (
            "threads", "clients", "streams", "loaders", "build_virtual_users", "async_clients", "commit_group",
            "test_no",
            "isolation", "query_mode", "ps_mode", "db_driver", "max_tries", "partitions", "partition_method",
            "partitioned", "fillfactor", "hash_clusters", "stored_procedures", "use_bcp", "storage_engine",
            "history_primary_key", "seed", "page_size_bytes", "conn_params", "random_seed",
            "reconnect_on_connection_failure", "sync_method", *PLACES,
        ),
        Role.CONDITION,
    ),
    **dict.fromkeys(
        (
            "duration_minutes", "rampup_minutes", "ramp_up_s", "transactions_per_client", "report_interval_s",
            "sampling_rate", "aggregate_interval_s",
        ),
        Role.PROCEDURE,
    ),
}  # fmt: skip


def headline_metrics(kind: str, primary: str = "") -> tuple[str, ...]:
    """Names of the metrics that say a run's result in one line, the one that counts first: run page, lists, benchctl.

    `kind` is a workload of the catalogue; of any other one `primary` counts, as its first upload named it.
    """
    entry = WORKLOADS.get(kind)
    return (primary or (entry.primary_metric if entry else ""), *(entry.beside if entry else WorkloadEntry.beside))


def factor_role(name: str, *declared: str) -> Role:
    """The strictest of what is known of a factor's name and what senders declared; empty ones declare nothing.

    A factor that nobody knows is a question unless each sender says something else.
    """
    own = FACTORS[name].role if name in FACTORS else OTHER_ROLES.get(name, Role.QUESTION if "" in declared else None)
    stated = [Role(role) for role in declared if role]
    return min([*stated, *([own] if own else [])], key=STRICTEST.index, default=Role.QUESTION)


def factor_span(name: str) -> float:
    return FACTORS[name].span if name in FACTORS else SPAN


OWN_STORAGE = "agent's own storage"
# Units that a number alone is not understood without; all others repeat what the label says.
SPOKEN_UNITS = ("s", "GB", "MB", "transactions/s")
# What is counted, and one of it.
COUNTED = {
    "branches": "branch",
    "warehouses": "warehouse",
    "connections": "connection",
    "CPUs": "CPU",
    "rows": "row",
    "jobs": "job",
    "terminals": "terminal",
    "threads": "thread",
    "clients": "client",
    "streams": "stream",
}

FactorValue = int | float | str


# What the names of factors that the catalogue does not know end with.
UNIT_SUFFIXES = {"_tb": "TB", "_gb": "GB", "_mb": "MB", "_s": "s"}


def factor_label(name: str) -> str:
    """The heading of a factor; one that is not known is named without its unit."""
    if name in FACTORS:
        return FACTORS[name].label
    for suffix in UNIT_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.replace("_", " ").capitalize()


def factor_unit(name: str) -> str:
    """That of the catalogue, else what the name ends with."""
    by_suffix = (unit for suffix, unit in UNIT_SUFFIXES.items() if name.endswith(suffix))
    return FACTORS[name].unit if name in FACTORS else next(by_suffix, "")


def factor_words(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value under its factor's heading: "160 MB", "restored copy". A factor that is not known says what it stores.

    `unit` is the stored one; None takes the catalogue's.
    """
    factor = FACTORS.get(name)
    if factor is None:
        return amount(value, unit or "")
    if factor.kind == FactorKind.STORAGE:
        return str(value) or OWN_STORAGE
    return factor.words.get(_key(value)) or amount(value, factor.unit if unit is None else unit)


def factor_phrase(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value that stands alone, among those of other factors: "memory limit 160 MB", "8 terminals", "data on slow"."""
    factor, words = FACTORS.get(name), factor_words(name, value, unit)
    if factor is None:
        return words
    if factor.kind == FactorKind.STORAGE:
        return factor.spoken.format(value or "own storage")
    if isinstance(value, str) or _key(value) in factor.words:
        return words
    if factor.spoken:
        return factor.spoken.format(words)
    label = f"{factor.label[:1].lower()}{factor.label[1:]}"
    if label in COUNTED:
        return amount(value, label)
    own_unit = factor.unit if unit is None else unit
    return f"{label} {amount(value, own_unit if own_unit in SPOKEN_UNITS else '')}"


def amount(value: FactorValue, unit: str) -> str:
    """With thousands separators, and one thing in the singular; from 1,000 MB on in GB, with all its digits."""
    if isinstance(value, str):
        return f"{value} {unit}".strip()
    if unit == "MB" and abs(value) >= 1000:
        value, unit = value / 1000, "GB"
    # 100,000,000,000 rows, and not 1e+11.
    digits = ",.0f" if float(value).is_integer() and abs(value) < 1e15 else ",.10g"
    return f"{value:{digits}} {COUNTED.get(unit, unit) if value == 1 else unit}".strip()


def _key(value: FactorValue) -> str:
    return value if isinstance(value, str) else f"{value:g}"
