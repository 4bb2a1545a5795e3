"""firebird-terabyte-2015: the load, and the sizes as the text writes them."""

from __future__ import annotations

from runs.publications.checks.model import (
    Check,
    Computed,
    Input,
    MissingInputError,
    Result,
    Shape,
    Stated,
    all_of,
    compute,
    decimals,
    judge,
    judge_bounds,
    rounded,
)
from runs.publications.checks.rows import Point, Rows, Rule, number_of

TOPIC = "Load"
MB_PER_GB = 1024
GIB = 1024**3
# "No drop": losing less than a twentieth.
NO_DROP_PERCENT = 5


def load_speed(rows: Rows) -> Check:
    """MB/s = GB × 1024 / s against every printed rate, to its last printed digit."""
    times = {point.size_gb: point for point in rows.points("load_time")}
    computed, worst = [], 0.0
    for point in rows.points("load_speed"):
        digits = max(2, decimals(point.value))
        time = times.get(point.size_gb)
        if time is None:
            raise MissingInputError(f"the load time at {point.size_gb:g} GB")
        one = compute(
            "size × 1024 / time", Shape("MB/s", digits, label=f"{point.size_gb:.10g} GB"),
            size=Input("database size", point.size_gb, "GB"), time=Input("load time", time.value, "s"),
        )  # fmt: skip
        computed.append(one)
        worst = max(worst, abs(one.rounded - point.value) * 10**digits)
    first = times[min(times)]
    other = compute(
        "size × 1000 / time", Shape("MB/s", 3, label="the first with 1 GB = 1000 MB"),
        size=Input("database size", first.size_gb, "GB"), time=Input("load time", first.value, "s"),
    )  # fmt: skip
    # A rate may be one off in its last digit.
    agrees = worst < 1.5
    return Check(
        "MB/s from size and time", Result.AGREES if agrees else Result.DISAGREES,
        "Every printed rate is the size times 1024 over the time, to its last digit or one off: GB are of 1024 MB."
        if agrees else "Not every printed rate is the size times 1024 over the time.",
        [Stated(f"{len(computed)} printed rates", "table of the load")], [*computed, other],
    )  # fmt: skip


def _small(points: list[Point]) -> list[Point]:
    """The numbered tests of the first series; the largest database has no number there."""
    found = points[:-1]
    if len(found) < 2:
        raise MissingInputError("the first series")
    return found


def _values(points: list[Point], what: str, unit: str) -> Input:
    return Input(what, [point.value for point in points], unit)


def spread(rows: Rows) -> Check:
    speeds = _small(rows.points("load_speed"))
    rates = _values(speeds, "load speed of every test", "MB/s")
    sizes = Input("sizes", [point.size_gb for point in speeds], "GB")
    times = _values(_small(rows.points("load_time")), "load times", "s")
    return Check(
        "Load speed of the first series", Result.DERIVED, "Statistics of the printed rates; none is stated.", [],
        [
            compute("min(rates)", Shape("MB/s", 8, label="lowest"), rates=rates),
            compute("max(rates)", Shape("MB/s", 8, label="highest"), rates=rates),
            compute("mean(rates)", Shape("MB/s", 6, label="mean"), rates=rates),
            compute("median(rates)", Shape("MB/s", 9, label="median"), rates=rates),
            compute("sum(sizes) × 1024 / sum(times)", Shape("MB/s", 6, label="all data over all time"), sizes=sizes,
                    times=times),
        ],
    )  # fmt: skip


def stated_range(rows: Rows) -> Check:
    speeds = _small(rows.points("load_speed"))
    low, high = rows.bounds("average load speed")
    rates = _values(speeds, "load speed of every test", "MB/s")
    mean = compute("mean(rates)", Shape("MB/s", 2, label="mean"), rates=rates)
    inside = [point.value for point in speeds if low.number <= point.value <= high.number]
    near = [point.value for point in speeds if low.number <= rounded(point.value, 1) <= high.number]
    counts = [
        compute("count(inside)", Shape("", 0, label=label), inside=Input(label, values, "MB/s"))
        for label, values in (("within the stated range", inside), ("within it when rounded to its digits", near))
    ]
    within = judge_bounds(mean.value, low=low.number, high=high.number)
    loose = "though single tests lie outside of it" if len(near) < len(speeds) else "and so does every test"
    return Check(
        "Average load speed", within, f"The mean lies within the stated range, {loose}: loose wording.",
        [Stated(f"between {low.value:g} and {high.value:g} MB/s", "line 152")], [mean, *counts],
    )  # fmt: skip


def ram(rows: Rows) -> Check:
    limit = ram_gb(rows)
    speeds = _small(rows.points("load_speed"))
    below = [point for point in speeds if point.size_gb <= limit]
    above = [point for point in speeds if point.size_gb > limit]
    if not below or not above:
        raise MissingInputError("sizes on both sides of RAM")
    low = _values(below, "load speed, sizes below RAM", "MB/s")
    high = _values(above, "load speed, sizes above RAM", "MB/s")
    change = compute("mean(above) / mean(below) − 1", Shape("%", 2, True), above=high, below=low)
    ends = compute(
        "last / first − 1", Shape("%", 2, True, label="last against first"),
        last=Input("load speed, last test", speeds[-1].value, "MB/s"),
        first=Input("load speed, first test", speeds[0].value, "MB/s"),
    )  # fmt: skip
    return Check(
        "Load speed when RAM is passed", judge_bounds(change.value, low=-NO_DROP_PERCENT),
        "A rough statement that holds; the smallest databases load fastest all the same.",
        [Stated("no drop when the database passes RAM", "line 152")],
        [
            compute("mean(below)", Shape("MB/s", 4, label="below RAM"), below=low),
            compute("mean(above)", Shape("MB/s", 4, label="above RAM"), above=high), change, ends,
        ],
    )  # fmt: skip


def ram_gb(rows: Rows) -> float:
    size = rows.machine("hw-firebird-sata").ram_bytes
    return number_of(size, "the memory of the machine") / GIB


def _big(rows: Rows) -> tuple[Input, Input, Input]:
    """Size, time and rate of the largest load."""
    speed, time = rows.points("load_speed")[-1], rows.points("load_time")[-1]
    return (
        Input("size of the largest database", speed.size_gb, "GB"),
        Input("its load time", time.value, "s"),
        Input("its printed load speed", speed.value, "MB/s"),
    )


def big_speed(rows: Rows) -> Check:
    size, time, printed = _big(rows)
    stated = rows.stated("big_load_speed")
    one = compute("size × 1024 / time", Shape("MB/s", 9), size=size, time=time)
    text = judge(stated.number, one.value)
    table = abs(one.rounded - printed.number) < 1.5e-9
    return Check(
        "Load speed of the largest database", all_of(text, Result.AGREES if table else Result.DISAGREES),
        "Text and table agree with size and time; the last printed digit is one too low.",
        [stated, Stated(f"{printed.number:.9f} MB/s in the table", "table of the load")], [one],
    )  # fmt: skip


def big_time(rows: Rows) -> Check:
    _, time, _ = _big(rows)
    hours, days = rows.stated("big_load_hours"), rows.stated("big_load_days")
    computed = [
        compute("time / 3600", Shape("h", 3), time=time),
        compute("time / 3600 / 24", Shape("days", 4), time=time),
    ]
    verdicts = [_cut_or_rounded(stated, one) for stated, one in zip((hours, days), computed, strict=True)]
    return Check(
        "Load time in hours and days", all_of(*verdicts), "Both are the printed seconds; the days are cut off.",
        [hours, days], computed,
    )  # fmt: skip


def _cut_or_rounded(stated: Stated, computed: Computed) -> Result:
    """A number that was cut after its last digit agrees too."""
    value = stated.number
    digits = decimals(value)
    cut = int(computed.value * 10**digits + 1e-9) / 10**digits
    return Result.AGREES if cut == value else judge(value, computed.value)


def thousands_point(rows: Rows) -> Check:
    """The point in the printed seconds: read as decimal or as thousands, which one gives the stated speed?"""
    size, time, _ = _big(rows)
    printed, speed = rows.stated("big_load_time"), rows.stated("big_load_speed")
    digits = printed.printed.replace(".", "")
    if not digits.isdigit():
        raise MissingInputError("the printed load time")
    readings = {
        "as a thousands point": float(digits),
        "as a decimal point": float(printed.printed),
    }
    computed = [
        compute("size × 1024 / read", Shape("MB/s", 2, label=label), size=size, read=Input("load time", value, "s"))
        for label, value in readings.items()
    ]
    stored = time.number
    fits = judge(speed.number, computed[0].value) == Result.AGREES and stored == float(digits)
    return Check(
        "A point that parts thousands", Result.AGREES if fits else Result.DISAGREES,
        "Only with the point read as Portuguese writes thousands does the stated speed follow.",
        [printed, speed], computed,
    )  # fmt: skip


def terabytes(rows: Rows) -> Check:
    size, _, _ = _big(rows)
    stated, other = rows.stated("big_size_tb"), rows.stated("big_size_tb_rounded")
    binary = compute("size / 1024", Shape("TB", 6, label="1 TB = 1024 GB"), size=size)
    decimal = compute("size × 1024 ^ 3 / 1000 ^ 4", Shape("TB", 6, label="1 TB = 1000⁴ bytes"), size=size)
    verdict = all_of(_cut_or_rounded(stated, binary), _cut_or_rounded(other, binary))
    return Check(
        "The size in TB", verdict, "The TB is binary; the conclusions cut it after one digit.",
        [stated, other], [binary, decimal],
    )  # fmt: skip


def misprint(rows: Rows) -> Check:
    size, _, _ = _big(rows)
    stated = rows.stated("big_size_misprint")
    value = stated.number
    in_tb = compute("size / 1024", Shape("TB", 4, label="in TB"), size=size)
    in_gb = compute("size", Shape("GB", 6, label="in GB"), size=size)
    return Check(
        "The size to which the database grew", judge(value, in_gb.value),
        "A misprint: GB stands where TB is meant, and the digits are off in the last places.", [stated], [in_gb, in_tb],
    )  # fmt: skip


def loader(rows: Rows) -> Check:
    slow, fast = rows.bounds("instantaneous insert speed")
    share = rows.stated_input("fast_share")
    mean = compute(
        "1 / (share / 100 / fast + (1 − share / 100) / slow)", Shape("MB/s", 3), share=share, fast=fast, slow=slow
    )
    rates = [point.value for point in _small(rows.points("load_speed"))]
    # Both speeds are "up to" and "about": a fifth off is near.
    near = 0.8 * min(rates) <= mean.value <= 1.2 * max(rates)
    return Check(
        "The loader's two speeds", Result.AGREES if near else Result.DISAGREES,
        "The mean over both parts comes near the measured averages: plausible.",
        [Stated(f"{share.value:g} % at up to {fast.value:g} MB/s, the rest at about {slow.value:g} MB/s", "text")],
        [mean],
    )  # fmt: skip


def tests(rows: Rows) -> Check:
    stated = rows.stated("tests")
    sata = Input("sizes of the SATA series", [p.size_gb for p in _small(rows.points("load_time"))], "GB")
    ssd = sorted({float(size) for run in rows.material.runs if run.factor("disk") == "SSD"
                  and isinstance(size := run.factor("size_gb"), int | float)})  # fmt: skip
    again = Input("sizes of the SSD series", ssd, "GB", "lost_in_picture")
    computed = [
        compute("count(sata)", Shape("", 0, label="SATA, without the largest"), sata=sata),
        compute("count(ssd)", Shape("", 0, label="SSD"), ssd=again),
    ]
    agree = all(one.value == stated.value for one in computed)
    return Check(
        "Number of tests", Result.AGREES if agree else Result.DISAGREES,
        "The SSD series repeats the first one without the largest database.", [stated], computed,
    )  # fmt: skip


CHECKS = {
    "2.0": Rule(load_speed),
    "2.1": Rule(spread),
    "2.2": Rule(stated_range, Result.AGREES),
    "2.3": Rule(ram, Result.AGREES),
    "2.4": Rule(big_speed, Result.AGREES),
    "2.5": Rule(big_time, Result.AGREES),
    "2.6": Rule(thousands_point, Result.AGREES),
    "2.7": Rule(terabytes, Result.AGREES),
    "2.8": Rule(misprint, Result.DISAGREES),
    "2.9": Rule(loader, Result.AGREES),
    "2.10": Rule(tests, Result.AGREES),
}
