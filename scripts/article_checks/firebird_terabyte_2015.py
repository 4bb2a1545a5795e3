"""Checks of "Performance degradation with Firebird (one-terabyte database)"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from runs.publications.check import Check, Result, Stated, rounded
from runs.publications.document import QueryRow, TableRow
from scripts.article_checks.article import Article, agrees, all_of, check, decimals, factor_of, judge, number_of
from scripts.article_checks.quantities import Quantity, Shown, constant, given, listed, log2, over, plain

OPERATIONS = "business operations/s"
MB_PER_S = "MB/s"
# Records of TPC-C for each warehouse.
RECORDS = {
    "CUSTOMER": 30_000, "STOCK": 100_000, "ORDERS": 30_000, "NEW_ORDER": 9_000, "DISTRICT": 10,
    "ORDER_LINE": 300_000, "HISTORY": 30_000,
}  # fmt: skip


class Point(NamedTuple):
    size: float
    value: float

    @property
    def name(self) -> str:
        return f"{plain(self.size)} GB"

    def gb(self, name: str, what: str = "database size") -> Quantity:
        return given(name, self.size, what, "GB")

    def throughput(self, name: str) -> Quantity:
        return given(name, self.value, f"throughput at {self.name}", OPERATIONS)


def series(article: Article, metric: str) -> list[Point]:
    """The databases of the SATA disks, the smallest first; the largest, made later, is the last."""
    runs = article.runs(metric, disk="SATA RAID1")
    return sorted(Point(factor_of(run, "size_gb"), number_of(run, metric) or 0) for run in runs)


def first_loads(article: Article) -> Iterator[Check]:
    speeds, times = series(article, "load_speed"), series(article, "load_time")

    def rate(at: int, base: int, label: str, digits: int) -> Shown:
        seconds = given("time", times[at].value, "load time", "s")
        return (times[at].gb("size") * base / seconds).shown(label, unit=MB_PER_S, digits=digits)

    digits = [max(2, decimals(point.value)) for point in speeds]
    rates = [rate(at, 1024, point.name, digits[at]) for at, point in enumerate(speeds)]
    worst = max(
        abs(row.rounded - point.value) * 10**places for row, point, places in zip(rates, speeds, digits, strict=True)
    )
    yield check(
        "2.0", "MB/s from size and time", agrees(worst < 1.5),
        {"agrees": "Every printed rate is the size times 1024 over the time, to its last digit or one off: GB are of "
                   "1024 MB."},
        computed=[*rates, rate(0, 1000, "the first with 1 GB = 1000 MB", 3)],
        stated=[Stated(f"{len(speeds)} printed rates", "table of the load")],
    )  # fmt: skip
    printed = listed("rates", [point.value for point in speeds[:-1]], "load speed of every test", MB_PER_S)
    sizes = listed("sizes", [point.size for point in speeds[:-1]], "sizes", "GB")
    seconds = listed("times", [point.value for point in times[:-1]], "load times", "s")
    mean = over("mean", printed)
    yield check(
        "2.1", "Load speed of the first series", Result.DERIVED, "Statistics of the printed rates; none is stated.",
        computed=[
            over("min", printed).shown("lowest", unit=MB_PER_S, digits=8),
            over("max", printed).shown("highest", unit=MB_PER_S, digits=8),
            mean.shown("mean", unit=MB_PER_S, digits=6),
            over("median", printed).shown("median", unit=MB_PER_S, digits=9),
            (over("sum", sizes) * 1024 / over("sum", seconds))
            .shown("all data over all time", unit=MB_PER_S, digits=6),
        ],
    )  # fmt: skip
    low, high = article.between("average load speed")
    values = [point.value for point in speeds[:-1]]
    inside = [value for value in values if low <= value <= high]
    near = [value for value in values if low <= rounded(value, 1) <= high]
    outside = "though single tests lie outside of it" if len(near) < len(values) else "and so does every test"
    yield check(
        "2.2", "Average load speed", agrees(low <= mean.value <= high),
        {"agrees": f"The mean lies within the stated range, {outside}: loose wording."},
        computed=[mean.shown("mean", unit=MB_PER_S), *(
            over("count", listed("inside", some, label, MB_PER_S)).shown(label, digits=0)
            for some, label in ((inside, "within the stated range"), (near, "within it when rounded to its digits"))
        )],
        stated=[Stated(f"between {low:g} and {high:g} MB/s", "line 152")],
    )  # fmt: skip


def loads_beyond_memory(article: Article) -> Iterator[Check]:
    points, ram = series(article, "load_speed")[:-1], memory(article)
    below = listed("below", [point.value for point in points if point.size <= ram],
                   "load speed, sizes below RAM", MB_PER_S)  # fmt: skip
    above = listed("above", [point.value for point in points if point.size > ram],
                   "load speed, sizes above RAM", MB_PER_S)  # fmt: skip
    first = given("first", points[0].value, "load speed, first test", MB_PER_S)
    last = given("last", points[-1].value, "load speed, last test", MB_PER_S)
    change = (over("mean", above) / over("mean", below) - 1).shown(unit="%", signed=True)
    yield check(
        "2.3", "Load speed when RAM is passed", agrees(change.value >= -5),
        {"agrees": "A rough statement that holds; the smallest databases load fastest all the same."},
        computed=[
            over("mean", below).shown("below RAM", unit=MB_PER_S, digits=4),
            over("mean", above).shown("above RAM", unit=MB_PER_S, digits=4),
            change, (last / first - 1).shown("last against first", unit="%", signed=True),
        ],
        stated=[Stated("no drop when the database passes RAM", "line 152")],
    )  # fmt: skip


def memory(article: Article) -> float:
    return next(row.ram_gb or 0 for row in article.results.hardware if row.id == "hw-firebird-sata")


def largest_load(article: Article) -> Iterator[Check]:
    speed, seconds = series(article, "load_speed")[-1], series(article, "load_time")[-1].value
    size = speed.gb("size", "size of the largest database")
    time = given("time", seconds, "its load time", "s")
    rate = (size * 1024 / time).shown(unit=MB_PER_S, digits=9)
    stated = article.number("big_load_speed")
    yield check(
        "2.4", "Load speed of the largest database",
        all_of(judge(stated, rate.value), agrees(abs(rate.rounded - speed.value) < 1.5e-9)),
        {"agrees": "Text and table agree with size and time; the last printed digit is one too low."},
        computed=[rate],
        stated=[article.stated("big_load_speed"), Stated(f"{speed.value:.9f} MB/s in the table", "table of the load")],
    )  # fmt: skip
    hours = (time / 3600).shown(unit="h", digits=3)
    days = (time / 3600 / 24).shown(unit="days", digits=4)
    yield check(
        "2.5", "Load time in hours and days", cut_or_rounded(article, big_load_hours=hours, big_load_days=days),
        {"agrees": "Both are the printed seconds; the days are cut off."}, computed=[hours, days],
        stated=[article.stated("big_load_hours"), article.stated("big_load_days")],
    )  # fmt: skip
    printed = article.stated("big_load_time").printed
    digits = float(printed.replace(".", ""))
    thousands, decimal = (
        (size * 1024 / given("read", read, "load time", "s")).shown(label, unit=MB_PER_S)
        for read, label in ((digits, "as a thousands point"), (float(printed), "as a decimal point"))
    )
    yield check(
        "2.6", "A point that parts thousands",
        agrees(judge(stated, thousands.value) == Result.AGREES and seconds == digits),
        {"agrees": "Only with the point read as Portuguese writes thousands does the stated speed follow."},
        computed=[thousands, decimal], stated=[article.stated("big_load_time"), article.stated("big_load_speed")],
    )  # fmt: skip


def cut_or_rounded(article: Article, **rows: Shown) -> Result:
    """Agrees where each stated number is the computed one, cut or rounded to its digits."""

    def judged(stated: float, computed: float) -> Result:
        scale = 10 ** decimals(stated)
        return Result.AGREES if int(computed * scale + 1e-9) / scale == stated else judge(stated, computed)

    return all_of(*(judged(article.number(name), row.value) for name, row in rows.items()))


def largest_size(article: Article) -> Iterator[Check]:
    size = series(article, "load_speed")[-1].gb("size", "size of the largest database")
    binary = (size / 1024).shown("1 TB = 1024 GB", unit="TB", digits=6)
    decimal = (size * constant(1024) ** 3 / constant(1000) ** 4).shown("1 TB = 1000⁴ bytes", unit="TB", digits=6)
    yield check(
        "2.7", "The size in TB", cut_or_rounded(article, big_size_tb=binary, big_size_tb_rounded=binary),
        {"agrees": "The TB is binary; the conclusions cut it after one digit."}, computed=[binary, decimal],
        stated=[article.stated("big_size_tb"), article.stated("big_size_tb_rounded")],
    )  # fmt: skip
    grown = size.shown("in GB", unit="GB", digits=6)
    yield check(
        "2.8", "The size to which the database grew", judge(article.number("big_size_misprint"), grown.value),
        {"disagrees": "A misprint: GB stands where TB is meant, and the digits are off in the last places."},
        computed=[grown, (size / 1024).shown("in TB", unit="TB", digits=4)],
        stated=[article.stated("big_size_misprint")],
    )  # fmt: skip


def the_loader(article: Article) -> Iterator[Check]:
    slow, fast = article.between("instantaneous insert speed")
    percent, rates = article.number("fast_share"), [point.value for point in series(article, "load_speed")[:-1]]
    share = given("share", percent, "data loaded in the fast part", "%")
    rate = (
        1 / (share / 100 / given("fast", fast, "instantaneous insert speed, to", MB_PER_S)
             + (1 - share / 100) / given("slow", slow, "instantaneous insert speed, from", MB_PER_S))
    ).shown(unit=MB_PER_S, digits=3)  # fmt: skip
    yield check(
        "2.9", "The loader's two speeds", agrees(0.8 * min(rates) <= rate.value <= 1.2 * max(rates)),
        {"agrees": "The mean over both parts comes near the measured averages: plausible."}, computed=[rate],
        stated=[Stated(f"{percent:g} % at up to {fast:g} MB/s, the rest at about {slow:g} MB/s", "text")],
    )  # fmt: skip
    of_ssd = sorted({factor_of(run, "size_gb") for run in article.runs(disk="SSD")})
    sata = listed("sata", [one.size for one in series(article, "load_time")[:-1]], "sizes of the SATA series", "GB")
    ssd = listed("ssd", of_ssd, "sizes of the SSD series", "GB", "lost_in_picture")
    counts = [
        over("count", sata).shown("SATA, without the largest", digits=0),
        over("count", ssd).shown("SSD", digits=0),
    ]
    yield check(
        "2.10", "Number of tests", agrees(all(row.value == article.number("tests") for row in counts)),
        {"agrees": "The SSD series repeats the first one without the largest database."}, computed=counts,
        stated=[article.stated("tests")],
    )  # fmt: skip


def nearest(points: Sequence[Point], side: dict[str, Any]) -> Point:
    """To the size that a side of a claim names."""
    return min(points, key=lambda point: abs(point.size - float(re.findall(r"[\d.]+", str(side["size_gb"]))[0])))


def step(before: Point, after: Point, label: str = "", names: tuple[str, str] = ("now", "before")) -> Shown:
    now, then = after.throughput(names[0]), before.throughput(names[1])
    return (now / then - 1).shown(label, unit="%", signed=True)


def losses(article: Article) -> Iterator[Check]:
    points, claim = series(article, "performance"), article.claim("firebird-a")
    before, after = nearest(points, claim.side_b), nearest(points, claim.side_a)
    loss = step(before, after, names=("after", "before"))
    yield check(
        "2.11", f"Loss from {plain(before.size)} to {plain(after.size)} GB",
        judge(article.percent("firebird-a"), loss.value),
        {"rounded up": "Less is lost than stated; at one digit both are the same.",
         "rounded down": "More is lost than stated; at one digit both are the same."},
        computed=[loss], stated=[article.claimed("firebird-a")], claims=["firebird-a"],
    )  # fmt: skip
    against = [
        step(points[0], point, f"{point.name} against the smallest", ("now", "smallest")) for point in points[1:]
    ]
    steps = [step(one, other, f"{other.name}, step") for one, other in pairwise(points)]
    yield check(
        "2.11a", "Loss at every size", Result.DERIVED,
        "Every step loses." if max(row.value for row in steps) < 0 else "Not every step loses.",
        computed=[*against, *steps],
    )  # fmt: skip
    claim, big = article.claim("firebird-b"), points[-1]
    small = nearest(points[:-1], claim.side_b)
    size = (big.gb("big") / small.gb("small")).shown("size", unit="×")
    factor = (small.throughput("before") / big.throughput("after")).shown("throughput", unit="×", digits=4)
    said = claim.details
    yield check(
        "2.12", "The step to the largest database",
        all_of(judge(said["size_ratio"], size.value), judge(article.ratio("firebird-b"), factor.value),
               agrees(said["points_b"] == math.floor(small.value)), agrees(said["points_a"] == math.floor(big.value))),
        {"agrees": "Both factors follow from the tables; the two scores are cut to whole numbers."},
        computed=[size, factor], stated=[article.claimed("firebird-b")], claims=["firebird-b"],
    )  # fmt: skip


def whole_curve(article: Article) -> Iterator[Check]:
    points = series(article, "performance")
    first, last = points[0], points[-1]
    after, before = last.throughput("after"), first.throughput("before")
    yield check(
        "2.13", "From the smallest to the largest", Result.DERIVED, "Not stated in the article.",
        computed=[
            (last.gb("big") / first.gb("small")).shown("size", unit="×"),
            (before / after).shown("throughput divided by", unit="×", digits=4),
            (after / before - 1).shown("throughput", unit="%", signed=True),
        ],
    )  # fmt: skip
    yield check(
        "2.14", "Loss per doubling of the size", Result.DERIVED,
        "Not stated; it makes stretches of the curve comparable.",
        computed=[
            ((other.throughput("after") / one.throughput("before"))
             ** (1 / log2(other.gb("big") / one.gb("small"))) - 1)
            .shown(f"{plain(one.size)} to {plain(other.size)} GB", unit="%", signed=True)
            for one, other in pairwise([first, points[-2], last])
        ],
    )  # fmt: skip
    ram = memory(article)
    largest, second = sorted(pairwise(points[:-1]), key=lambda pair: pair[1].value / pair[0].value)[:2]
    passes = largest[0].size <= ram < largest[1].size
    yield check(
        "2.15", "The step at the size of RAM", Result.UNCLEAR if passes else Result.AGREES,
        {"unclear": "The largest step of the first series falls exactly where RAM is passed: small, but visible in "
                    "its own data.",
         "agrees": "The largest step of the first series is another one than where RAM is passed."},
        computed=[
            *(step(one, other, f"{plain(one.size)} to {plain(other.size)} GB") for one, other in (largest, second)),
            given("ram", ram, "memory of the machine", "GB").shown("memory", unit="GB", digits=0),
        ],
        stated=[article.stated("ram_step")],
    )  # fmt: skip


def disks(article: Article) -> Iterator[Check]:
    with_number = article.runs("performance", disk="SSD")
    yield check(
        "2.16", "The SSD against SATA", Result.UNCLEAR if with_number else Result.GAP,
        {"gap": "No value of the SSD series is left, and the size to which the factor belongs is not said."},
        stated=[article.claimed("firebird-d")], claims=["firebird-d"],
    )  # fmt: skip
    described = article.fact("Hardware of the Firebird test").details["disk"]
    heading = article.stated("raid_heading")
    named = heading.printed.split()[-1] in "".join(described.split())
    yield check(
        "2.17", "The RAID level", Result.AGREES if named else Result.UNCLEAR,
        f"The description names no level, the headings do; another page says: {described}.",
        stated=[article.stated("raid_text"), heading],
    )  # fmt: skip


def table_of(article: Article, name: str) -> TableRow:
    return next(row for row in article.results.table_stats if row.table == name)


def data_of(row: TableRow, name: str = "data") -> Quantity:
    return given(name, row.table_size_mb or 0, f"data of {row.table}", "MB")


def indexes_of(row: TableRow, name: str = "index") -> Quantity:
    return given(name, row.indices_size_mb or 0, f"indexes of {row.table}", "MB")


def records_of(article: Article, table: str, name: str = "records") -> Quantity:
    return given(name, table_of(article, table).records or 0, f"records of {table}", "records")


def sums(article: Article) -> tuple[Quantity, Quantity]:
    """The sizes of the data and of the indexes of all tables."""
    tables = article.results.table_stats
    data = listed("data", [row.table_size_mb or 0 for row in tables], "data of every table", "MB")
    indexes = listed("indexes", [row.indices_size_mb or 0 for row in tables], "indexes of every table", "MB")
    return over("sum", data), over("sum", indexes)


def page_size(article: Article) -> Quantity:
    return given("page", article.database("cfg-firebird")["page_size_bytes"], "page size", "bytes")


def table_sizes(article: Article) -> Iterator[Check]:
    tables, page = article.results.table_stats, page_size(article)
    sizes = [
        (given("pages", row.data_pages or 0, f"data pages of {row.table}", "pages") * page / constant(1024) ** 2)
        .shown(row.table, unit="MB")
        for row in tables
    ]  # fmt: skip
    worst = max(abs(size.value - (row.table_size_mb or 0)) for size, row in zip(sizes, tables, strict=True))
    yield check(
        "2.18", "Data pages and table sizes", agrees(worst <= 0.1),
        {"agrees": "Pages times page size is the printed size; the three largest are cut after one decimal."},
        computed=sizes, stated=[Stated(f"sizes of {len(tables)} tables", "table statistics")],
    )  # fmt: skip
    data, indexes = sums(article)
    big = series(article, "performance")[-1]
    file = big.gb("file", "size of the file")
    share = (1 - (data + indexes) / (file * 1024)).shown("of the file", unit="%", digits=3)
    yield check(
        "2.19", "Tables and indexes against the file", agrees(0 <= share.value <= 1),
        {"agrees": "What is left is room for system, pointer and inventory pages."},
        computed=[
            data.shown("data", unit="MB"), (data / 1024).shown("data", unit="GB", digits=3),
            indexes.shown("indexes", unit="MB"), (indexes / 1024).shown("indexes", unit="GB", digits=3),
            ((data + indexes) / 1024).shown("together", unit="GB", digits=3),
            (file * 1024 - data - indexes).shown("left for other pages", unit="MB"), share,
        ],
        stated=[Stated(f"{plain(big.size)} GB", "table of the load", big.size, "GB")],
    )  # fmt: skip


def index_sizes(article: Article) -> Iterator[Check]:
    rows = article.results.index_stats

    def size_of(label: str, what: str, table: str = "") -> Shown:
        sizes = [row.size_mb or 0 for row in rows if table in ("", row.table)]
        return over("sum", listed("sizes", sizes, what, "MB")).shown(label, unit="MB")

    indexed = [row for row in article.results.table_stats if row.table in {index.table for index in rows}]
    of_tables = [size_of(row.table, f"index sizes of {row.table}", row.table) for row in indexed]
    fits = [abs(size.value - (row.indices_size_mb or 0)) <= 0.1 for size, row in zip(of_tables, indexed, strict=True)]
    yield check(
        "2.20", "Index sizes in both tables", agrees(all(fits)),
        {"agrees": "The rows of the index statistics add up to the index column of the table statistics."},
        computed=[size_of("all indexes", "index sizes"), *of_tables],
        stated=[Stated("index column", "table statistics")],
    )  # fmt: skip


def shares(article: Article) -> Iterator[Check]:
    shown = [row for row in article.results.table_stats if row.total_percent]
    data, indexes = sums(article)
    alone = [(data_of(row, "own") / data).shown(f"{row.table}, of the table data", unit="%") for row in shown]
    together = [
        ((data_of(row, "own") + indexes_of(row)) / (data + indexes)).shown(f"{row.table}, with indexes", unit="%")
        for row in shown
    ]
    as_data, as_database = (
        all(judge(row.total_percent or 0, one.value) == Result.AGREES for one, row in zip(column, shown, strict=True))
        for column in (alone, together)
    )
    words = (
        "The printed column is the share of the table data alone; the text calls it a share of the database, which "
        "with indexes is about a point off."
    )
    yield check(
        "2.21", "Shares of the database", agrees(as_database),
        words if as_data else "The printed column is neither share.", computed=[*alone, *together],
        stated=[article.stated(f"{table}_share") for table in ("order_line", "stock", "customer")],
    )  # fmt: skip


def order_line(article: Article) -> Iterator[Check]:
    row, stated = table_of(article, "ORDER_LINE"), article.number("order_line_gb")
    data, index = data_of(row), indexes_of(row)
    alone = (data / 1024).shown("data alone", unit="GB", digits=1)
    both = ((data + index) / 1024).shown("data and indexes", unit="GB", digits=1)
    yield check(
        "2.22", "Are the indexes of ORDER_LINE within its 600 GB?",
        agrees(abs(both.value - stated) < abs(alone.value - stated)),
        {"disagrees": "The table has them on top; another page of the same tests has them apart too, so the slip is a "
                      "translator's."},
        computed=[alone, both, (index / 1024).shown("indexes", unit="GB", digits=1)],
        stated=[article.stated("order_line_gb"), article.stated("order_line_index_gb")],
    )  # fmt: skip


def indexes_against_tables(article: Article) -> Iterator[Check]:
    low, high = article.between("index size relative to table size in this database")
    each = [(indexes_of(row) / data_of(row, "own")).shown(row.table, unit="%") for row in article.results.table_stats]
    data, indexes = sums(article)
    indexed = [row.value for row in each if row.value > 0]
    outside = [value for value in indexed if not low <= value <= high]
    yield check(
        "2.23", "Index size against table size", agrees(not outside),
        f"{len(outside)} of {len(indexed)} indexed tables lie outside of the stated range.",
        computed=[*each, (indexes / data).shown("all tables", unit="%")],
        stated=[Stated(f"{low:g} to {high:g} %", "line 413")],
    )  # fmt: skip
    stock, customer = table_of(article, "STOCK"), table_of(article, "CUSTOMER")
    computed, binary = [], []
    for size, what, stated in (
        (data_of(stock, "size"), "data of STOCK", "stock_gb"),
        (data_of(customer, "size"), "data of CUSTOMER", "customer_gb"),
        (indexes_of(stock, "size"), "indexes of STOCK", "stock_index_gb"),
    ):
        pair = [(size / base).shown(f"{what}, / {base}", unit="GB", digits=1) for base in (1000, 1024)]
        by_1000, by_1024 = (abs(math.floor(row.value) - article.number(stated)) for row in pair)
        computed += pair
        binary.append(by_1024 < by_1000)
    yield check(
        "2.24", "GB of the text", agrees(all(binary)),
        {"disagrees": "The text divides MB by 1000, the size of the file by 1024: mixed units.",
         "agrees": "The text divides by 1024, as the size of the file does."},
        computed=computed, stated=[article.stated(name) for name in ("stock_gb", "customer_gb", "stock_index_gb")],
    )  # fmt: skip


def index_statistics(article: Article) -> Iterator[Check]:
    rows = article.results.index_stats
    records = {row.table: row.records for row in article.results.table_stats}
    full = [row.keys or 0 for row in rows if row.keys == records[row.table]]
    unique = [row.keys or 0 for row in rows if row.keys == row.unique_keys]
    repeated = [row.index for row in rows if row.keys != row.unique_keys]
    yield check(
        "2.25", "Keys and records", agrees(len(full) == len(rows)),
        {"agrees": f"Every index has a key per record; keys repeat only in {', '.join(repeated) or 'none'}."},
        computed=[
            over("count", listed("indexes", keys, label)).shown(label, digits=0)
            for keys, label in ((full, "with as many keys as the table has records"), (unique, "with all keys unique"))
        ],
        stated=[Stated(f"{len(rows)} indexes", "index statistics")],
    )  # fmt: skip
    recommended = article.number("recommended_depth")
    depths = [row.depth for row in rows if row.depth is not None and row.depth > recommended]
    lengths = listed("lengths", [row.key_length_bytes or 0 for row in rows], "key lengths", "bytes")
    of_key = next(row.keys or 0 for row in rows if row.index == "ORDER_LINE_PK")
    computed = {
        "deep_indexes": over("count", listed("deep", depths, "depths")).shown("deeper than recommended", digits=0),
        "key_length": over("max", lengths).shown("largest key length", unit="bytes"),
        "order_line_keys": (given("keys", of_key, "keys of ORDER_LINE_PK") / constant(10) ** 9)
        .shown("keys of ORDER_LINE_PK", unit="10⁹"),
    }  # fmt: skip
    yield check(
        "2.26", "Depth, key length, keys",
        all_of(*(judge(article.number(name), row.value) for name, row in computed.items())),
        {"agrees": "All three statements follow from the index statistics."},
        computed=list(computed.values()), stated=[article.stated(name) for name in computed],
    )  # fmt: skip


def cardinalities(article: Article) -> Iterator[Check]:
    warehouses = records_of(article, "WAREHOUSE", "warehouses")
    tables = [row.table for row in article.results.table_stats if row.table in RECORDS]
    each = [(records_of(article, table) / warehouses).shown(table, digits=1) for table in tables]
    beyond = [
        (records_of(article, table) - RECORDS[table] * warehouses)
        .shown(f"{table} against the initial load", digits=0, signed=True)
        for table in ("ORDERS", "HISTORY", "NEW_ORDER")
    ]  # fmt: skip
    fits = [
        abs(row.value - RECORDS[table]) <= 0.001 * max(row.value, RECORDS[table])
        for row, table in zip(each, tables, strict=True)
    ]
    yield check(
        "2.27", "Records per warehouse", agrees(all(fits) and table_of(article, "ITEM").records == 100_000),
        {"agrees": "The cardinalities of TPC-C; orders, history and new orders are a little off the initial load, so "
                   "a short run probably went before the statistics (our reading)."},
        computed=[*each, *beyond],
    )  # fmt: skip
    points, records = series(article, "performance"), table_of(article, "WAREHOUSE").records or 0
    big = points[-1].gb("big", "size of the largest database")
    warehouses = given("warehouses", records, "records of WAREHOUSE", "warehouses")
    small = [
        (point.gb("size") / big * warehouses).shown(point.name, digits=0) for point in points[:-1]
    ]  # fmt: skip
    steps = [after.rounded - before.rounded for before, after in pairwise(small)]
    yield check(
        "2.28", "Warehouses of the small databases", Result.DERIVED,
        f"Inferred from the size of a warehouse; they grow by {min(steps):g} to {max(steps):g}, likely the loader's "
        "argument.",
        computed=[(big * 1024 / warehouses).shown("MB a warehouse", unit="MB"), *small],
    )  # fmt: skip
    pages = given("pages", table_of(article, "ORDER_LINE").data_pages or 0, "data pages of ORDER_LINE", "pages")
    of_each = (pages / pointer_pages(article)).shown("data pages per pointer page", digits=1)
    room = (page_size(article) / 4).shown("page numbers that fit", digits=0)
    yield check(
        "2.29", "Pointer pages of ORDER_LINE", agrees(room.value / 2 <= of_each.value <= room.value),
        {"agrees": "Plausible: nearly as many as page numbers of four bytes fit."}, computed=[of_each, room],
        stated=[Stated(f"{pointer_pages(article).value:,.0f} pointer pages", "text")],
    )  # fmt: skip


def pointer_pages(article: Article) -> Quantity:
    return given("pointers", article.observed("ORDER_LINE pointer pages"), "ORDER_LINE pointer pages", "pages")


def query(article: Article, number: int) -> QueryRow:
    return next(row for row in article.results.query_stats if row.number == number)


def printed_of(row: QueryRow, metric: str) -> float:
    return next(number.value for number in row.metrics if number.name == metric)


def counting_queries(article: Article) -> Iterator[Check]:
    for number, check_number, title, expected, tolerance, words in (
        (2, "2.30", "Query 2: customers of a warehouse", 30_000, 0.0,
         "The count is TPC-C's customers of one warehouse, and every record costs two fetches."),
        (4, "2.31", "Query 4: order lines of a warehouse", 300_000, 0.01,
         "Near the mean of TPC-C, whose orders have five to fifteen lines; every record costs two fetches."),
    ):  # fmt: skip
        row = query(article, number)
        counted = row.count_result or 0
        count = given("count", counted, f"count of query {number}")
        fetches = given("fetches", printed_of(row, "fetches"), f"fetches of query {number}", "count")
        rest = (fetches - 2 * count).shown("fetches beyond two a record", digits=0)
        computed = [rest]
        if tolerance:
            mean = given("expected", expected, "order lines of a warehouse, TPC-C", "", "")
            computed.append((count / mean).shown("of TPC-C's mean", unit="%"))
        near = abs(counted - expected) <= tolerance * max(counted, expected)
        yield check(
            check_number, title, agrees(near and 0 <= rest.value <= 1000),
            {"agrees": words}, computed=computed, stated=[Stated(f"{counted:,.0f} records", f"query {number}")],
        )  # fmt: skip


def buffers(article: Article) -> Iterator[Check]:
    third, pointers = query(article, 3), pointer_pages(article)
    reads = given("reads", printed_of(third, "reads"), "reads of query 3", "pages")
    of_third = given("buffers", printed_of(third, "buffers"), "buffers of query 3", "pages")
    beyond = (reads - pointers).shown("reads beyond the pointer pages", unit="pages", digits=0)
    few = 0 <= beyond.value <= 0.05 * pointers.value
    yield check(
        "2.32", "Query 3: many reads for ten rows", Result.DERIVED if few else Result.UNCLEAR,
        {"derived": "About as many reads as the table has pointer pages: they were read then, after the warm-up, and "
                    "cannot all stay in the buffers. Our remark, not the article's."},
        computed=[beyond, (pointers - of_third).shown("pointer pages beyond the buffers", unit="pages", digits=0,
                                                      signed=True)],
        stated=[Stated(f"{reads.value:,.0f} reads", "query 3")],
    )  # fmt: skip
    queries = article.results.query_stats
    set_buffers = float(article.parameters("cfg-firebird", "page buffers")[0])
    all_buffers = given("buffers", set_buffers, "page buffers") * page_size(article)
    memories = listed(
        "memory", [printed_of(row, "current_memory") for row in queries], "current memory of every query", "bytes"
    )
    rest = (over("median", memories) / all_buffers - 1).shown("memory beyond the buffers", unit="%", signed=True)
    yield check(
        "2.33", "Buffers and memory", agrees(0 <= rest.value <= 5),
        {"agrees": "The memory in use is the page buffers and a little more."},
        computed=[all_buffers.shown("buffers", unit="bytes", digits=0), rest],
        stated=[Stated(f"{set_buffers:,.0f} page buffers", "firebird.conf")],
    )  # fmt: skip
    printed = {row.number: printed_of(row, "buffers") for row in queries}
    of_all = listed("buffers", list(printed.values()), "buffers of every query", "pages")
    span = (over("max", of_all) - over("min", of_all)).shown("largest difference", unit="pages", digits=0)
    odd = [number for number, value in printed.items() if value != max(printed.values())]
    yield check(
        "2.34", "Buffers of every query", Result.UNCLEAR if span.value else Result.AGREES,
        {"unclear": f"Query {', '.join(map(str, odd))} shows another number; odd and not explained.",
         "agrees": "All show the same."},
        computed=[span],
    )  # fmt: skip


def plans_and_ids(article: Article) -> Iterator[Check]:
    first, second = query(article, 1), query(article, 2)
    yield check(
        "2.35", "Plans of query 1 and its count", Result.DERIVED if first.plan != second.plan else Result.AGREES,
        {"derived": "The same join with two plans, as printed.", "agrees": "The same plan for both."},
        stated=[Stated(first.plan, "query 1"), Stated(second.plan, "query 2")],
    )  # fmt: skip
    texts = [row.sql for row in article.results.query_stats]
    found = [float(id) for sql in texts for id in re.findall(r"w_id\s*[=<>]+\s*(\d+)", sql, re.IGNORECASE)]
    ids = listed("ids", found, "warehouse ids of the queries")
    largest = over("max", ids).shown("largest id", digits=0)
    there = given("warehouses", table_of(article, "WAREHOUSE").records or 0, "warehouses").shown("warehouses", digits=0)
    yield check(
        "2.36", "Warehouse ids of the queries", agrees(1 <= largest.value <= there.value),
        {"agrees": "All ids exist in the database."}, computed=[largest, there],
    )  # fmt: skip


TOPICS = {
    "Load": [first_loads, loads_beyond_memory, largest_load, largest_size, the_loader],
    "Throughput over size": [losses, whole_curve, disks],
    "Tables of the largest database": [
        table_sizes, index_sizes, shares, order_line, indexes_against_tables,
    ],
    "Indexes and cardinalities": [index_statistics, cardinalities],
    "Queries": [counting_queries, buffers, plans_and_ids],
}  # fmt: skip
