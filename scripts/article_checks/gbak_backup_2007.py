"""Checks of "Are you sure you do backups right, or a backup speed test"."""

from __future__ import annotations

from collections.abc import Iterator

from runs.publications.check import Check, Result, Stated, rounded
from scripts.article_checks.article import Article, agrees, check, judge
from scripts.article_checks.quantities import Shown, constant, given, plain

BOTH, SERVICES = ["tcp", "local"], ["se"]


def disk_rate(article: Article, method: list[str]) -> float:
    return article.observed("disk read-write speed", method=method)


def costs_of_output(article: Article) -> Iterator[Check]:
    low, high = article.between("extra time")
    length = article.number("verbose_backup")
    minutes = given("minutes", length, "length of the backup on which -v was measured", "min")
    shares = [
        (given("extra", seconds, f"extra time, {end}", "s") / (60 * minutes)).shown(label, unit="%")
        for seconds, end, label in ((low, "from", "at least"), (high, "to", "at most"))
    ]
    yield check(
        "0.1", "Cost of verbose output", agrees(all(row.value <= 2 for row in shares)),
        {"agrees": "About one percent: less than the spread between repeats can be expected to be."}, computed=shares,
        stated=[Stated(f"{low:g}–{high:g} s on {length:g} minutes: irrelevant", "line 53")],
    )  # fmt: skip


def count_of_records(article: Article) -> Iterator[Check]:
    (rate,), (elapsed,) = (article.numbers(name, id="gbak-count") for name in ("disk_transfer_rate", "elapsed"))
    size = given("size", article.database("cfg-gbak")["largest_table"]["size_gb"], "size of the largest table", "GB")
    seconds = given("seconds", elapsed, "elapsed time of count(*)", "s")
    rates = [(size * base / seconds).shown(f"1 GB = {base} MB", unit="MB/s") for base in (1000, 1024)]
    fits = [row.label for row in rates if judge(rate, row.value) == Result.AGREES]
    yield check(
        "0.2", "Disk rate of count(*)", agrees(bool(fits)),
        {"agrees": f"The rate follows from size and time; {' and '.join(fits)} fits it."}, computed=rates,
        stated=[Stated(f"about {rate:g} MB/s", "line 122", rate, "MB/s")],
    )  # fmt: skip


def protocols(article: Article) -> Iterator[Check]:
    rate = disk_rate(article, BOTH)
    local, tcp = (
        given(name, rate, "average disk rate of local and of TCP", "MB/s") for name in ("rate_local", "rate_tcp")
    )
    gain = (local / tcp - 1).shown(unit="%", digits=0, signed=True)
    yield check(
        "0.3", "Local protocol against TCP", judge(article.percent("gbak-a"), gain.value),
        {"disagrees": "One average rate is given for both; equal work at an equal rate takes equal time, unless the "
                      "rate is an average over methods or servers."},
        computed=[gain], claims=["gbak-a"],
        stated=[article.claimed("gbak-a"), Stated(f"{rate:g} MB/s for both", "line 101", rate, "MB/s")],
    )  # fmt: skip
    percent = article.percent("gbak-b")
    services = given("services", disk_rate(article, SERVICES), "disk rate, Services API", "MB/s")
    tcp = given("tcp", rate, "disk rate, TCP and local", "MB/s")
    readings = [
        (services / tcp - 1).shown("as speed", unit="%", digits=1, signed=True),
        (1 - tcp / services).shown("as time saved", unit="%", digits=1),
    ]
    yield check(
        "0.4", "Services API against TCP", agrees(any(abs(row.value - percent) <= percent / 10 for row in readings)),
        {"disagrees": "Neither reading of the two disk rates comes to the stated percentage."},
        computed=readings, claims=["gbak-b"], stated=[article.claimed("gbak-b")],
    )  # fmt: skip


def time_or_speed(article: Article) -> Iterator[Check]:
    claims = ["gbak-a", "gbak-b", "gbak-d"]
    local = given("local", article.percent("gbak-a"), "local against TCP", "%")
    services = given("services", article.percent("gbak-b"), "Services API against TCP", "%")
    time = (1 - (100 - services) / (100 - local)).shown("time: Services API below local", unit="%", digits=1)
    speed = ((100 + services) / (100 + local)).shown("speed: Services API / local", unit="×", digits=3)
    low, high = article.claim("gbak-d").details["percent_range"]
    saves = rounded(services.value, 0) == high
    as_time, as_speed = (saves and rounded(value, 0) == low for value in (time.value, (speed.value - 1) * 100))
    yield check(
        "0.5", "Time or speed?", Result.UNCLEAR if as_time == as_speed else Result.AGREES,
        {"unclear": f"As time the Services API saves {time.value:.1f} to {services.value:.0f} %, as speed it is "
                    f"{plain(speed.rounded)} to {1 + services.value / 100:.2f} times as fast; neither is exactly the "
                    f"stated {low:g} to {high:g} %."},
        computed=[
            (1 - local / 100).shown("time, local / TCP"), (1 - services / 100).shown("time, Services API / TCP"), time,
            (1 + local / 100).shown("speed, local / TCP"), (1 + services / 100).shown("speed, Services API / TCP"),
            speed, (1 - (100 + local) / (100 + services)).shown("which is less time by", unit="%", digits=1),
        ],
        claims=claims, stated=[article.claimed(claim) for claim in claims],
    )  # fmt: skip


def load_of_cpu(article: Article) -> Iterator[Check]:
    each = article.observed("cpu load per process")
    total = article.observed("total cpu load", dbms="Firebird")
    other = article.observed("cpu load", dbms="Firebird")
    server, gbak = (given(name, each, "cpu load per process", "%") for name in ("server", "gbak"))
    both = ((server + gbak) / 100).shown("both", unit="%", digits=0)
    yield check(
        "0.6", "CPU load of Firebird", agrees(both.rounded == total == other),
        {"disagrees": "Three sentences give different totals for the same load; the third also says memory where the "
                      "graph is CPU."},
        computed=[both],
        stated=[
            Stated(f"about {each:g} % for each of two processes", "line 75", each, "%"),
            Stated(f"about {total:g} % in total", "line 101", total, "%"),
            Stated(f"about {other:g} % or less", "line 93", other, "%"),
        ],
    )  # fmt: skip


def sizes_and_rates(article: Article) -> Iterator[Check]:
    length, database = article.number("verbose_backup"), article.database("cfg-gbak")
    rates = ((disk_rate(article, BOTH), "TCP and local"), (disk_rate(article, SERVICES), "Services API"))
    times = [
        (given("size", database[field], f"size of the {what}", "GB") * 1024
         / given("rate", rate, f"disk rate, {by}", "MB/s")).shown(f"{verb} at {plain(rate)} MB/s", unit="s", digits=0)
        for verb, what, field in (("reading", "database", "size_gb"), ("writing", "backup", "backup_size_gb"))
        for rate, by in rates
    ]  # fmt: skip
    values = [row.value for row in times]
    yield check(
        "0.7", "Backup time implied by the disk rates",
        Result.DERIVED if min(values) <= 60 * length <= max(values) else Result.DISAGREES,
        {"derived": "An order of magnitude only: whether the rate counts reading, writing or both is not said, so it "
                    "is no result."},
        computed=times, stated=[Stated(f"a backup of {length:g} minutes", "line 53")],
    )  # fmt: skip
    pages = given("pages", float(article.parameters("cfg-gbak", "cache size")[0]), "cache", "pages")
    page = given("page", database["page_size_bytes"], "page size", "bytes")
    backup = given("backup", database["backup_size_gb"], "size of the backup", "GB")
    whole = given("database", database["size_gb"], "size of the database", "GB")
    yield check(
        "0.8", "Cache in bytes, backup against database", Result.DERIVED,
        "Not stated in the article; both follow from what it states.",
        computed=[
            (pages * page / constant(1024) ** 2).shown("cache", unit="MB", digits=0),
            (backup / whole).shown("backup / database", digits=3),
        ],
    )  # fmt: skip


def words(article: Article) -> Iterator[Check]:
    first, later = article.stated("two_cpus_first"), article.stated("two_cpus_later")
    yield check(
        "0.9", "Gain from a second CPU", agrees(first.printed == later.printed),
        {"disagrees": "First expected, later taken back when the other graphs are seen; the author says so himself."},
        stated=[first, later],
    )  # fmt: skip
    printed = article.stated("method_numbers")
    marks = len({mark.strip() for mark in printed.printed.split(",")})
    methods = len(article.details("wl-gbak")["methods"])
    counts: list[Shown] = [
        given("number", count, what).shown(what, digits=0)
        for count, what in ((marks, "different numbers"), (methods, "methods"))
    ]
    yield check(
        "0.10", "Numbers of the methods", Result.AGREES if marks == methods else Result.UNCLEAR,
        {"unclear": "All carry the same number, an artefact of formatting; here they are numbered in their order."},
        computed=counts, stated=[printed],
    )  # fmt: skip


TOPICS = {
    "Backup speed": [
        costs_of_output, count_of_records, protocols, time_or_speed, load_of_cpu, sizes_and_rates, words,
    ],
}  # fmt: skip
