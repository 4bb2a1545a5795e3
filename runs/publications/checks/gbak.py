"""gbak-backup-2007: percentages, disk rates and CPU loads against each other."""

from __future__ import annotations

from runs.publications.checks.model import Check, Input, Result, Shape, Stated, compute, judge, judge_bounds, rounded
from runs.publications.checks.rows import Rows, Rule

TOPIC = "Backup speed"
# A rate from which a percentage differs by more than this share of itself is not explained by rounding.
SLACK = 0.1
SMALL_PERCENT = 2


def verbose(rows: Rows) -> Check:
    low, high = rows.bounds("extra time")
    length = rows.stated_input("verbose_backup")
    shares = [
        compute("extra / (60 × minutes)", Shape("%", 2, label=label), extra=extra, minutes=length)
        for label, extra in (("at least", low), ("at most", high))
    ]
    small = judge_bounds(max(one.value for one in shares), high=SMALL_PERCENT)
    stated = Stated(f"{low.value:g}–{high.value:g} s on {length.value:g} minutes: irrelevant", "line 53")
    words = "About one percent" if small == Result.AGREES else "Not small any more"
    return Check(
        "Cost of verbose output", small, f"{words}: less than the spread between repeats can be expected to be.",
        [stated], shares,
    )  # fmt: skip


def count_rate(rows: Rows) -> Check:
    rate, elapsed = rows.measured("gbak-count", "disk_transfer_rate"), rows.measured("gbak-count", "elapsed")
    size = Input("size of the largest table", rows.database("cfg-gbak", "largest_table", "size_gb"), "GB")
    seconds = Input("elapsed time of count(*)", elapsed.value, "s")
    decimal, binary = (
        compute(f"size × {base} / seconds", Shape("MB/s", 2, label=f"1 GB = {base} MB"), size=size, seconds=seconds)
        for base in (1000, 1024)
    )
    fits = [one for one in (decimal, binary) if judge(rate.value, one.value) == Result.AGREES]
    return Check(
        "Disk rate of count(*)", Result.AGREES if fits else Result.DISAGREES,
        f"The rate follows from size and time; {' and '.join(one.label for one in fits) or 'neither base'} fits it.",
        [Stated(f"about {rate.value:g} MB/s", "line 122", rate.value, "MB/s")], [decimal, binary],
    )  # fmt: skip


def local_and_tcp(rows: Rows) -> Check:
    claim = rows.percent("gbak-a")
    seen = rows.observed("disk read-write speed", method=["tcp", "local"])
    rate = Input("average disk rate of local and of TCP", seen.number, "MB/s")
    gain = compute("rate_local / rate_tcp − 1", Shape("%", 0, signed=True), rate_local=rate, rate_tcp=rate)
    return Check(
        "Local protocol against TCP", judge(claim, gain.value),
        "One average rate is given for both; equal work at an equal rate takes equal time, unless the rate is an "
        "average over methods or servers.",
        [rows.claimed("gbak-a"), Stated(f"{rate.value:g} MB/s for both", "line 101", rate.number, "MB/s")], [gain],
        claims=("gbak-a",), topic="disk rates",
    )  # fmt: skip


def _rates(rows: Rows) -> tuple[Input, Input]:
    slow = rows.observed("disk read-write speed", method=["tcp", "local"])
    fast = rows.observed("disk read-write speed", method=["se"])
    return Input("disk rate, TCP and local", slow.value, "MB/s"), Input("disk rate, Services API", fast.value, "MB/s")


def services_api(rows: Rows) -> Check:
    claim, (slow, fast) = rows.percent("gbak-b"), _rates(rows)
    speed = compute("services / tcp − 1", Shape("%", 1, True, label="as speed"), services=fast, tcp=slow)
    time = compute("1 − tcp / services", Shape("%", 1, label="as time saved"), services=fast, tcp=slow)
    near = any(abs(one.value - claim) <= SLACK * claim for one in (speed, time))
    return Check(
        "Services API against TCP", Result.AGREES if near else Result.DISAGREES,
        "Neither reading of the two disk rates comes to the stated percentage.",
        [rows.claimed("gbak-b")], [speed, time], claims=("gbak-b",), topic="disk rates",
    )  # fmt: skip


def time_or_speed(rows: Rows) -> Check:
    """Both readings of the two percentages of Firebird 1.5.3, and what each makes of the general statement."""
    local = Input("local against TCP", rows.percent("gbak-a"), "%")
    services = Input("Services API against TCP", rows.percent("gbak-b"), "%")
    given = {"local": local, "services": services}
    computed = [
        compute("1 − local / 100", Shape("", 2, label="time, local / TCP"), local=local),
        compute("1 − services / 100", Shape("", 2, label="time, Services API / TCP"), services=services),
        compute("1 − (100 − services) / (100 − local)", Shape("%", 1, label="time: Services API below local"), **given),
        compute("1 + local / 100", Shape("", 2, label="speed, local / TCP"), local=local),
        compute("1 + services / 100", Shape("", 2, label="speed, Services API / TCP"), services=services),
        compute("(100 + services) / (100 + local)", Shape("×", 3, label="speed: Services API / local"), **given),
        compute("1 − (100 + local) / (100 + services)", Shape("%", 1, label="which is less time by"), **given),
    ]
    low, high = (float(one) for one in rows.claim("gbak-d").details.get("percent_range") or (0, 0))
    as_time = (computed[2].value, services.number)
    as_speed = ((computed[5].value - 1) * 100, services.number)
    exact = [ends for ends in (as_time, as_speed) if rounded(ends[0], 0) == low and rounded(ends[1], 0) == high]
    said = [rows.claimed(one) for one in ("gbak-a", "gbak-b", "gbak-d")]
    return Check(
        "Time or speed?", Result.AGREES if len(exact) == 1 else Result.UNCLEAR,
        f"As time the Services API saves {as_time[0]:.0f} to {as_time[1]:.0f} %, as speed it gains {as_speed[0]:.0f} "
        f"to {as_speed[1]:.0f} %; neither is exactly the stated {low:g} to {high:g} %.",
        said, computed, claims=("gbak-a", "gbak-b", "gbak-d"),
    )  # fmt: skip


def cpu(rows: Rows) -> Check:
    each = rows.observed("cpu load per process")
    total = rows.observed("total cpu load", dbms="Firebird")
    other = rows.observed("cpu load", dbms="Firebird")
    both = compute("(server + gbak) / 100", Shape("%", 0, label="both"), server=each, gbak=each)
    values = {both.rounded, total.number, other.number}
    return Check(
        "CPU load of Firebird", Result.AGREES if len(values) == 1 else Result.DISAGREES,
        "Three sentences give different totals for the same load; the third also says memory where the graph is CPU.",
        [
            Stated(f"about {each.value:g} % for each of two processes", "line 75", each.number, "%"),
            Stated(f"about {total.value:g} % in total", "line 101", total.number, "%"),
            Stated(f"about {other.value:g} % or less", "line 93", other.number, "%"),
        ],
        [both],
    )  # fmt: skip


def implied_times(rows: Rows) -> Check:
    slow, fast = _rates(rows)
    read = Input("size of the database", rows.database("cfg-gbak", "size_gb"), "GB")
    write = Input("size of the backup", rows.database("cfg-gbak", "backup_size_gb"), "GB")
    computed = [
        compute("size × 1024 / rate", Shape("s", 0, label=f"{verb} at {rate.value:g} MB/s"), size=size, rate=rate)
        for verb, size in (("reading", read), ("writing", write))
        for rate in (slow, fast)
    ]
    length = rows.stated_input("verbose_backup")
    minutes = [one.value / 60 for one in computed]
    near = min(minutes) <= length.number <= max(minutes)
    return Check(
        "Backup time implied by the disk rates", Result.DERIVED if near else Result.DISAGREES,
        "An order of magnitude only: whether the rate counts reading, writing or both is not said, so it is no result.",
        [Stated(f"a backup of {length.value:g} minutes", "line 53")], computed,
    )  # fmt: skip


def cache_and_backup(rows: Rows) -> Check:
    pages = Input("cache", float(rows.parameters("cfg-gbak", "cache size")[0]), "pages")
    page = Input("page size", rows.database("cfg-gbak", "page_size_bytes"), "bytes")
    read = Input("size of the database", rows.database("cfg-gbak", "size_gb"), "GB")
    write = Input("size of the backup", rows.database("cfg-gbak", "backup_size_gb"), "GB")
    return Check(
        "Cache in bytes, backup against database", Result.DERIVED,
        "Not stated in the article; both follow from what it states.",
        [],
        [
            compute("pages × page / 1024 ^ 2", Shape("MB", 0, label="cache"), pages=pages, page=page),
            compute("backup / database", Shape("", 3, label="backup / database"), backup=write, database=read),
        ],
    )  # fmt: skip


def two_cpus(rows: Rows) -> Check:
    first, later = rows.stated("two_cpus_first"), rows.stated("two_cpus_later")
    same = first.printed == later.printed
    return Check(
        "Gain from a second CPU", Result.AGREES if same else Result.DISAGREES,
        "First expected, later taken back when the other graphs are seen; the author says so himself.",
        [first, later],
    )  # fmt: skip


def method_numbers(rows: Rows) -> Check:
    numbers = rows.stated("method_numbers")
    marks = [one.strip() for one in numbers.printed.split(",")]
    methods = rows.workload("wl-gbak").get("methods") or []
    different, counted = (
        compute("number", Shape("", 0, label=label), number=Input(label, float(len(found))))
        for label, found in (("different numbers", set(marks)), ("methods", methods))
    )
    proper = len(set(marks)) == len(methods)
    return Check(
        "Numbers of the methods", Result.AGREES if proper else Result.UNCLEAR,
        "All carry the same number, an artefact of formatting; here they are numbered in their order.",
        [numbers],
        [different, counted],
    )  # fmt: skip


CHECKS = {
    "0.1": Rule(verbose),
    "0.2": Rule(count_rate, Result.AGREES),
    "0.3": Rule(local_and_tcp, Result.DISAGREES),
    "0.4": Rule(services_api, Result.DISAGREES),
    "0.5": Rule(time_or_speed, Result.UNCLEAR),
    "0.6": Rule(cpu, Result.DISAGREES),
    "0.7": Rule(implied_times, Result.DERIVED),
    "0.8": Rule(cache_and_backup),
    "0.9": Rule(two_cpus, Result.DISAGREES),
    "0.10": Rule(method_numbers, Result.UNCLEAR),
}
