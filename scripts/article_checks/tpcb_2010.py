"""Checks of "100 MB TPC-B test of databases"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from statistics import median

from runs.publications.check import Check, Input, Result
from scripts.article_checks.article import Article, agrees, check, first_number
from scripts.article_checks.quantities import Quantity, Shown, constant, given, in_words, listed, over

# Name -> id of the version, in the order of the printed table.
SYSTEMS = {
    "PostgreSQL": "pg-8.3", "DB2": "db2-9.7", "MySQL": "mysql-5.0", "Oracle": "oracle-10r2",
    "Derby 10.3": "derby-10.3", "Derby 10.6": "derby-10.6",
}  # fmt: skip
Row = tuple[int | None, ...]
LENGTHS = range(2, 5)
SPREAD = 1.5


def repeats_of(article: Article, system: str, name: str = "") -> Input:
    values = article.numbers("tps", version=SYSTEMS[system], commit_group=None)
    name = name or system.replace(" ", "_").replace(".", "_")
    return listed(name, values, f"repeats of {system}", "TPS", "reconstructed")


def repeats_in_group(article: Article, name: str) -> Input:
    values = article.numbers("tps", version=SYSTEMS["DB2"], commit_group=2)
    return listed(name, values, "repeats with commit group 2", "TPS")


def median_of(article: Article, system: str) -> Quantity:
    return over("median", repeats_of(article, system))


# The table is printed without spaces. It is cut back into cells: every way to cut each row, of which those are kept
# whose columns have the printed medians.


def cuts(digits: str, columns: int) -> list[tuple[int, ...]]:
    """Every way to cut digits into so many numbers, none with a leading zero."""
    if columns == 0:
        return [()] if not digits else []
    return [
        (int(digits[:length]), *rest)
        for length in LENGTHS
        if len(digits) >= length and digits[0] != "0"
        for rest in cuts(digits[length:], columns - 1)
    ]


def row_cuts(digits: str) -> list[Row]:
    """All cells filled, or one of them empty, at any place."""
    columns = len(SYSTEMS)
    full: list[Row] = list(cuts(digits, columns))
    return full + [(*cut[:at], None, *cut[at:]) for cut in cuts(digits, columns - 1) for at in range(columns)]


def tables_of(rows: list[str], medians: str) -> Iterator[tuple[tuple[int, ...], list[list[int]]]]:
    """Medians and columns of the tables whose repeats lie within `SPREAD` times of the printed median of the column."""
    for middle in cuts(medians, len(SYSTEMS)):
        near = [
            [
                cut
                for cut in row_cuts(row)
                if all(cell is None or of / SPREAD <= cell <= of * SPREAD for cell, of in zip(cut, middle, strict=True))
            ]
            for row in rows
        ]
        for table in product(*near):
            columns = [[cell for cell in column if cell is not None] for column in zip(*table, strict=True)]
            if all(len(one) % 2 and median(one) == of for one, of in zip(columns, middle, strict=True)):
                yield middle, columns


def cells_of_the_table(article: Article) -> Iterator[Check]:
    stated = [article.stated(f"row_{name}") for name in (1, 2, 3, 4, 5, "median")]
    *rows, medians = (row.printed for row in stated)
    tables = list(tables_of(rows, medians))
    allowed = [columns for (postgresql, db2, *_), columns in tables if db2 / postgresql > bound(article)]
    kept = [sorted(article.numbers("tps", version=id, commit_group=None)) for id in SYSTEMS.values()]
    cut = "cuts of the five rows whose columns have the printed medians, repeats within 1.5 × of them"
    computed = [in_words(len(tables), cut, "tables with the printed medians")]
    for number, (middle, _) in enumerate(tables, 1):
        postgresql, db2 = (
            given(name, value, f"median of {name} in this table", "TPS", "reconstructed")
            for name, value in zip(("PostgreSQL", "DB2"), middle, strict=False)
        )
        computed.append((db2 / postgresql).shown(f"table {number}: DB2 against PostgreSQL", unit="×"))
    computed.append(in_words(len(allowed), f"{cut}; DB2 ahead of PostgreSQL as stated", "tables that the text allows"))
    computed += [
        in_words(len(row_cuts(row)), "cuts into six numbers of two to four digits, or into five and one empty cell",
                 f"ways to cut row {number}")
        for number, row in enumerate(rows, 1)
    ]  # fmt: skip
    yield check(
        "1.0", "Where the cells of the table end", agrees([list(map(sorted, one)) for one in allowed] == [kept]),
        {"agrees": "The row is printed without spaces. With repeats near their median few tables have the printed "
                   "medians, and only one of them lets DB2 lead as the text says; its cells are those stored here."},
        computed=computed, stated=stated, claims=["tpcb-a"],
    )  # fmt: skip


def bound(article: Article) -> float:
    """DB2 against PostgreSQL, as stated: at least so much."""
    return first_number(article.claim("tpcb-a").details["ratio_as_printed"])


def spread_of(label: str, repeats: Input) -> list[Shown]:
    mean, deviation = over("mean", repeats), over("stdev", repeats)
    return [
        over("median", repeats).shown(f"{label}: median", unit="TPS", digits=0),
        mean.shown(f"{label}: mean", unit="TPS", digits=1),
        deviation.shown(f"{label}: standard deviation", unit="TPS", digits=1),
        (deviation / mean).shown(f"{label}: CV", unit="%", digits=1),
    ]


def medians(article: Article) -> Iterator[Check]:
    computed = [row for system in SYSTEMS for row in spread_of(system, repeats_of(article, system, "repeats"))]
    printed = {row.version: row.value for row in article.results.aggregates if row.statistic == "median"}
    fits = all(printed[SYSTEMS[system]] == median_of(article, system).value for system in SYSTEMS)
    yield check(
        "1.0a", "Medians of the table", agrees(fits),
        {"agrees": "Every printed median is the median of its column; the spread is ours."},
        computed=computed + spread_of("DB2, commit group 2", repeats_in_group(article, "repeats")),
        stated=[article.stated("row_median")],
    )  # fmt: skip


def stated_ratios(article: Article) -> Iterator[Check]:
    postgresql = median_of(article, "PostgreSQL")
    ratio = (median_of(article, "DB2") / postgresql).shown(unit="×", digits=3)
    yield check(
        "1.1", "DB2 against PostgreSQL", agrees(ratio.value > bound(article)),
        {"agrees": "The ratio of the medians lies above the stated bound."},
        computed=[ratio], stated=[article.claimed("tpcb-a")], claims=["tpcb-a"],
    )  # fmt: skip
    ratio = (median_of(article, "Oracle") / postgresql).shown(unit="×", digits=3)
    yield check(
        "1.2", "Oracle against PostgreSQL", agrees(1 <= ratio.value <= 1.25),
        {"agrees": "No number is stated; we let up to a quarter more pass as not much."},
        computed=[ratio], stated=[article.stated("oracle")],
    )  # fmt: skip
    group, base = repeats_in_group(article, "group2"), repeats_of(article, "DB2", "base")
    gain = (over("median", group) / over("median", base) - 1).shown("medians", unit="%", signed=True)
    means = (over("mean", group) / over("mean", base) - 1).shown("means", unit="%", signed=True)
    low = over("min", group).shown("lowest with group 2", unit="TPS", digits=0)
    high = over("max", base).shown("highest without", unit="TPS", digits=0)
    overlap = "overlap, so the gain lies within the spread" if low.value <= high.value else "do not overlap"
    yield check(
        "1.3", "Gain of commit group 2", agrees(0 <= gain.value <= 10),
        {"agrees": f"A gain of a few percent; the ranges {overlap}."},
        computed=[gain, means, low, high], claims=["tpcb-d"],
        stated=[article.claimed("tpcb-d"), article.stated("commit_group_gain")],
    )  # fmt: skip


def data_set(article: Article) -> Iterator[Check]:
    branches = given("branches", article.details("wl-tpcb")["scale_factor"], "scale factor")
    accounts = given("accounts", 100_000, "accounts per branch, TPC-B", "", "")
    row = given("row", 100, "bytes of an account, TPC-B", "bytes", "")
    records = (branches * accounts).shown("records", unit="records", digits=0)
    size = (branches * accounts * row / constant(1000) ** 2).shown("size", unit="MB", digits=0)
    fits = article.number("records") == records.value and article.factor("size_mb") == size.value
    yield check(
        "1.4", "Scale factor, records and size", agrees(fits),
        {"agrees": "The rule of TPC-B gives both from the scale factor."},
        computed=[records, size], stated=[article.stated("records")],
    )  # fmt: skip


def other_ratios(article: Article) -> Iterator[Check]:
    pairs = (
        ("DB2", "Oracle", 3), ("DB2", "Derby 10.3", 3), ("Derby 10.3", "Derby 10.6", 3), ("PostgreSQL", "MySQL", 3),
        ("DB2", "MySQL", 2),
    )  # fmt: skip
    yield check(
        "1.5", "Other ratios of the medians", Result.DERIVED, "Not stated in the article.",
        computed=[(median_of(article, a) / median_of(article, b)).shown(unit="×", digits=digits)
                  for a, b, digits in pairs],
    )  # fmt: skip


def number_of_repeats(article: Article) -> Iterator[Check]:
    counts = [over("count", repeats_of(article, system)).shown(system, digits=0) for system in SYSTEMS]
    most = max(row.value for row in counts)
    fewer = [row.label for row in counts if row.value < most]
    yield check(
        "1.6", "Repeats per system", Result.GAP if fewer else Result.AGREES,
        {"gap": f"How many runs were made is not stated. {', '.join(fewer)} has fewer; the reason is not given.",
         "agrees": "How many runs were made is not stated. All systems have as many."},
        computed=counts,
    )  # fmt: skip


def memory(article: Article) -> Iterator[Check]:
    size = given("size", article.factor("size_mb"), "data set", "MB")
    of_machine = first_number(article.fact("The machine of the TPC-B test").details["ram"])
    ram = given("ram", of_machine, "memory of the machine", "GB", "recovered")
    share = (size / (ram * 1024)).shown("data set / memory", unit="%", digits=1)
    yield check(
        "1.7", "I/O bound without reads", agrees(share.value <= 100),
        {"agrees": "The data fit in memory many times, so the disk that limits the load is the one of the log."},
        computed=[share], stated=[article.stated("io_bound")],
    )  # fmt: skip


TOPICS = {
    "Transactions per second": [
        cells_of_the_table, medians, stated_ratios, data_set, other_ratios, number_of_repeats, memory,
    ],
}  # fmt: skip
