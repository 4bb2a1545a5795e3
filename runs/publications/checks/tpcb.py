"""tpcb-2010: the table cut back into cells, its medians, and what the text says of them."""

from __future__ import annotations

from runs.publications.checks.model import (
    Check,
    Computed,
    Input,
    MissingInputError,
    Result,
    Shape,
    compute,
    judge_bounds,
)
from runs.publications.checks.rows import Rows, Rule
from runs.publications.checks.split import SPREAD, Solution, row_cuts, solutions

TOPIC = "Transactions per second"
# Columns of the table, as printed in its head.
SYSTEMS = ("pg-8.3", "db2-9.7", "mysql-5.0", "oracle-10r2", "derby-10.3", "derby-10.6")
NAMES = ("PostgreSQL", "DB2", "MySQL", "Oracle", "Derby_10_3", "Derby_10_6")
ROWS = ("row_1", "row_2", "row_3", "row_4", "row_5")
# "Not that much better": up to a quarter more. "A few percent": under ten, as the author says of all cases.
NOT_MUCH = 1.25
FEW_PERCENT = 10
# The TPC-B standard: accounts per branch, bytes of an account's row.
ACCOUNTS_PER_BRANCH, ROW_BYTES = 100_000, 100


def split(rows: Rows) -> Check:
    """Both tables that the medians allow, and the one that the text allows."""
    printed = tuple(rows.stated(one).printed for one in ROWS)
    found = solutions(printed, rows.stated("row_median").printed, len(SYSTEMS))
    bound = _bound(rows)
    kept = [one for one in found if one.medians[1] / one.medians[0] > bound]
    stored = _stored(rows)
    same = len(kept) == 1 and all(sorted(kept[0].column(index)) == one for index, one in enumerate(stored))
    return Check(
        "Where the cells of the table end", Result.AGREES if same else Result.DISAGREES,
        "The row is printed without spaces. With repeats near their median few tables have the printed medians, and "
        "only one of them lets DB2 lead as the text says; its cells are those stored here.",
        [rows.stated(one) for one in (*ROWS, "row_median")], _counts(printed, found, kept), claims=("tpcb-a",),
    )  # fmt: skip


def _bound(rows: Rows) -> float:
    """The 4 of "more than 4 times"."""
    text = str(rows.claim("tpcb-a").details.get("ratio_as_printed", ""))
    try:
        return float(text.lstrip("<>=≤≥"))
    except ValueError:
        raise MissingInputError("the bound of tpcb-a") from None


def _stored(rows: Rows) -> list[list[int]]:
    return [sorted(round(one) for one in rows.repeats(version)) for version in SYSTEMS]


def _counts(printed: tuple[str, ...], found: tuple[Solution, ...], kept: list[Solution]) -> list[Computed]:
    cut = "cuts into six numbers of two to four digits, or into five and one empty cell"
    fits = f"cuts of the five rows whose columns have the printed medians, repeats within {SPREAD:g} × of them"
    ways = [
        _counted(len(row_cuts(row, len(SYSTEMS))), cut, f"ways to cut row {at}") for at, row in enumerate(printed, 1)
    ]
    leads = [
        compute(
            "DB2 / PostgreSQL", Shape("×", 2, label=f"table {at}: DB2 against PostgreSQL"),
            DB2=Input("median of DB2 in this table", float(one.medians[1]), "TPS", "reconstructed"),
            PostgreSQL=Input("median of PostgreSQL in this table", float(one.medians[0]), "TPS", "reconstructed"),
        )
        for at, one in enumerate(found, 1)
    ]  # fmt: skip
    return [
        _counted(len(found), fits, "tables with the printed medians"),
        *leads,
        _counted(len(kept), f"{fits}; DB2 ahead of PostgreSQL as stated", "tables that the text allows"),
        *ways,
    ]


def _counted(number: int, how: str, label: str) -> Computed:
    return Computed(float(number), formula=how, words=how, digits=0, label=label)


def medians(rows: Rows) -> Check:
    """The median of every system's repeats against the printed one, and their spread."""
    computed, agree = [], True
    for version, name in zip(SYSTEMS, NAMES, strict=True):
        repeats = Input(f"repeats of {name.replace('_', ' ')}", rows.repeats(version), "TPS", "reconstructed")
        printed = rows.aggregates("median", version)
        computed += _spread(name.replace("_", " ").replace("10 ", "10."), repeats)
        agree = agree and bool(printed) and printed[0].value == computed[-4].value
    group = Input("repeats with commit group 2", rows.repeats("db2-9.7", commit_group=2), "TPS")
    return Check(
        "Medians of the table", Result.AGREES if agree else Result.DISAGREES,
        "Every printed median is the median of its column; the spread is ours.",
        [rows.stated("row_median")], [*computed, *_spread("DB2, commit group 2", group)],
    )  # fmt: skip


def _spread(name: str, repeats: Input) -> list[Computed]:
    return [
        compute("median(repeats)", Shape("TPS", 0, label=f"{name}: median"), repeats=repeats),
        compute("mean(repeats)", Shape("TPS", 1, label=f"{name}: mean"), repeats=repeats),
        compute("stdev(repeats)", Shape("TPS", 1, label=f"{name}: standard deviation"), repeats=repeats),
        compute("stdev(repeats) / mean(repeats)", Shape("%", 1, label=f"{name}: CV"), repeats=repeats),
    ]


def _medians_of(rows: Rows) -> dict[str, Input]:
    return {
        name: Input(f"repeats of {name.replace('_', ' ')}", rows.repeats(version), "TPS", "reconstructed")
        for version, name in zip(SYSTEMS, NAMES, strict=True)
    }


def db2_lead(rows: Rows) -> Check:
    given = _medians_of(rows)
    ratio = compute("median(DB2) / median(PostgreSQL)", Shape("×", 3), DB2=given["DB2"], PostgreSQL=given["PostgreSQL"])
    above = Result.AGREES if ratio.value > _bound(rows) else Result.DISAGREES
    return Check(
        "DB2 against PostgreSQL", above, "The ratio of the medians lies above the stated bound.",
        [rows.claimed("tpcb-a")], [ratio], claims=("tpcb-a",),
    )  # fmt: skip


def oracle(rows: Rows) -> Check:
    given = _medians_of(rows)
    ratio = compute(
        "median(Oracle) / median(PostgreSQL)", Shape("×", 3), Oracle=given["Oracle"], PostgreSQL=given["PostgreSQL"]
    )
    return Check(
        "Oracle against PostgreSQL", judge_bounds(ratio.value, low=1, high=NOT_MUCH),
        "No number is stated; we let up to a quarter more pass as not much.", [rows.stated("oracle")], [ratio],
    )  # fmt: skip


def commit_group(rows: Rows) -> Check:
    base = Input("repeats of DB2", rows.repeats("db2-9.7"), "TPS", "reconstructed")
    group = Input("repeats with commit group 2", rows.repeats("db2-9.7", commit_group=2), "TPS")
    given = {"group2": group, "base": base}
    gain = compute("median(group2) / median(base) − 1", Shape("%", 2, True, label="medians"), **given)
    mean = compute("mean(group2) / mean(base) − 1", Shape("%", 2, True, label="means"), **given)
    low = compute("min(group2)", Shape("TPS", 0, label="lowest with group 2"), group2=group)
    high = compute("max(base)", Shape("TPS", 0, label="highest without"), base=base)
    overlap = low.value <= high.value
    spread = "the ranges overlap, so the gain lies within the spread" if overlap else "the ranges do not overlap"
    return Check(
        "Gain of commit group 2", judge_bounds(gain.value, low=0, high=FEW_PERCENT),
        f"A gain of a few percent; {spread}.",
        [rows.claimed("tpcb-d"), rows.stated("commit_group_gain")], [gain, mean, low, high], claims=("tpcb-d",),
    )  # fmt: skip


def scale(rows: Rows) -> Check:
    branches = Input("scale factor", rows.of_workload("wl-tpcb", "scale_factor").value)
    rule = Input("accounts per branch, TPC-B", float(ACCOUNTS_PER_BRANCH), provenance="")
    width = Input("bytes of an account, TPC-B", float(ROW_BYTES), "bytes", "")
    records = compute("branches × accounts", Shape("records", 0, label="records"), branches=branches, accounts=rule)
    size = compute(
        "branches × accounts × row / 1000 ^ 2", Shape("MB", 0, label="size"), branches=branches, accounts=rule,
        row=width,
    )  # fmt: skip
    stated = rows.stated("records")
    printed_mb = next((value for run in rows.material.runs if isinstance(value := run.factor("size_mb"), int)), None)
    agree = stated.value == records.value and printed_mb == size.value
    return Check(
        "Scale factor, records and size", Result.AGREES if agree else Result.DISAGREES,
        "The rule of TPC-B gives both from the scale factor.", [stated], [records, size],
    )  # fmt: skip


def ratios(rows: Rows) -> Check:
    given = _medians_of(rows)
    pairs = [
        ("DB2", "Oracle", 3), ("DB2", "Derby_10_3", 3), ("Derby_10_3", "Derby_10_6", 3), ("PostgreSQL", "MySQL", 3),
        ("DB2", "MySQL", 2),
    ]  # fmt: skip
    return Check(
        "Other ratios of the medians", Result.DERIVED, "Not stated in the article.", [],
        [
            compute(f"median({first}) / median({second})", Shape("×", digits), **{one: given[one] for one in pair})
            for *pair, digits in pairs
            for first, second in [pair]
        ],
    )  # fmt: skip


def repeats(rows: Rows) -> Check:
    given = _medians_of(rows)
    computed = [
        compute(f"count({name})", Shape("", 0, label=_spaced(name)), **{name: one}) for name, one in given.items()
    ]
    short = [one.label for one in computed if one.value < max(other.value for other in computed)]
    words = f"{', '.join(short)} has fewer; the reason is not given." if short else "All systems have as many."
    return Check(
        "Repeats per system", Result.GAP if short else Result.AGREES,
        f"How many runs were made is not stated. {words}", [], computed,
    )  # fmt: skip


def _spaced(name: str) -> str:
    return name.replace("_10_", " 10.")


def io_bound(rows: Rows) -> Check:
    memory = str(rows.fact("The machine of the TPC-B test").details.get("ram", ""))
    digits = memory.partition("GB")[0]
    if not digits.isdigit():
        raise MissingInputError("the memory of the machine")
    size = Input("data set", float(next(iter(_sizes(rows)))), "MB")
    ram = Input("memory of the machine", float(digits), "GB", "recovered")
    share = compute("size / (ram × 1024)", Shape("%", 1, label="data set / memory"), size=size, ram=ram)
    return Check(
        "I/O bound without reads", judge_bounds(share.value, high=100),
        "The data fit in memory many times, so the disk that limits the load is the one of the log.",
        [rows.stated("io_bound")], [share],
    )  # fmt: skip


def _sizes(rows: Rows) -> list[float]:
    found = [float(size) for run in rows.material.runs if isinstance(size := run.factor("size_mb"), int | float)]
    if not found:
        raise MissingInputError("the size of the data set")
    return found


CHECKS = {
    "1.0": Rule(split, Result.AGREES),
    "1.0a": Rule(medians, Result.AGREES),
    "1.1": Rule(db2_lead, Result.AGREES),
    "1.2": Rule(oracle, Result.AGREES),
    "1.3": Rule(commit_group, Result.AGREES),
    "1.4": Rule(scale, Result.AGREES),
    "1.5": Rule(ratios),
    "1.6": Rule(repeats),
    "1.7": Rule(io_bound, Result.AGREES),
}
