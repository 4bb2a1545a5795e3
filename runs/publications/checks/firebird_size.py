"""firebird-terabyte-2015: throughput over size."""

from __future__ import annotations

from itertools import pairwise

from runs.publications.checks.firebird_load import ram_gb
from runs.publications.checks.model import Check, Input, MissingInputError, Result, Shape, all_of, compute, judge
from runs.publications.checks.rows import Point, Rows, Rule, number_of

TOPIC = "Throughput over size"
UNIT = "business operations/s"


def _input(point: Point) -> Input:
    return Input(f"throughput at {point.size_gb:.10g} GB", point.value, UNIT)


def _nearest(points: list[Point], size_gb: float) -> Point:
    return min(points, key=lambda point: abs(point.size_gb - size_gb))


def _side(rows: Rows, claim: str, side: str) -> float:
    """The size that a side of a claim names, in GB as the text rounds it."""
    text = str(getattr(rows.claim(claim), side).get("size_gb", ""))
    try:
        return float(text)
    except ValueError:
        raise MissingInputError(f"the size in {claim}") from None


def degradation(rows: Rows) -> Check:
    """Every size against the smallest and against the one before."""
    points = rows.points("performance")
    first = points[0]
    against = [
        compute("now / smallest − 1", Shape("%", 2, True, label=f"{point.size_gb:.10g} GB against the smallest"),
                now=_input(point), smallest=_input(first))
        for point in points[1:]
    ]  # fmt: skip
    steps = [
        compute("now / before − 1", Shape("%", 2, True, label=f"{after.size_gb:.10g} GB, step"), now=_input(after),
                before=_input(before))
        for before, after in pairwise(points)
    ]  # fmt: skip
    falls = all(one.value < 0 for one in steps)
    return Check(
        "Loss at every size", Result.DERIVED,
        "Every step loses." if falls else "Not every step loses.", [], [*against, *steps],
    )  # fmt: skip


def twenty_percent(rows: Rows) -> Check:
    points = rows.points("performance")
    before = _nearest(points, _side(rows, "firebird-a", "side_b"))
    after = _nearest(points, _side(rows, "firebird-a", "side_a"))
    loss = compute("after / before − 1", Shape("%", 2, True), after=_input(after), before=_input(before))
    verdict = judge(rows.percent("firebird-a"), loss.value)
    words = {
        Result.ROUNDED_UP: "Less is lost than stated; at one digit both are the same.",
        Result.ROUNDED_DOWN: "More is lost than stated; at one digit both are the same.",
        Result.AGREES: "The loss is as stated.",
    }
    return Check(
        f"Loss from {before.size_gb:.10g} to {after.size_gb:.10g} GB", verdict,
        words.get(verdict, "The loss is another one."), [rows.claimed("firebird-a")], [loss], claims=("firebird-a",),
    )  # fmt: skip


def sixty_times(rows: Rows) -> Check:
    claim = rows.claim("firebird-b")
    points = rows.points("performance")
    small, big = _nearest(points[:-1], _side(rows, "firebird-b", "side_b")), points[-1]
    size = compute("big / small", Shape("×", 2, label="size"), big=_size(big), small=_size(small))
    loss = compute("before / after", Shape("×", 4, label="throughput"), before=_input(small), after=_input(big))
    stated_size = number_of(claim.details.get("size_ratio"), "the size ratio")
    points_agree = [
        Result.AGREES if claim.details.get(name) == int(point.value) else Result.DISAGREES
        for name, point in (("points_b", small), ("points_a", big))
    ]
    verdict = all_of(judge(stated_size, size.value), judge(rows.ratio("firebird-b"), loss.value), *points_agree)
    return Check(
        "The step to the largest database", verdict,
        "Both factors follow from the tables; the two scores are cut to whole numbers.",
        [rows.claimed("firebird-b")], [size, loss], claims=("firebird-b",),
    )  # fmt: skip


def _size(point: Point) -> Input:
    return Input("database size", point.size_gb, "GB")


def whole_range(rows: Rows) -> Check:
    points = rows.points("performance")
    small, big = points[0], points[-1]
    given = {"after": _input(big), "before": _input(small)}
    return Check(
        "From the smallest to the largest", Result.DERIVED, "Not stated in the article.", [],
        [
            compute("big / small", Shape("×", 2, label="size"), big=_size(big), small=_size(small)),
            compute("before / after", Shape("×", 4, label="throughput divided by"), **given),
            compute("after / before − 1", Shape("%", 2, True, label="throughput"), **given),
        ],
    )  # fmt: skip


def per_doubling(rows: Rows) -> Check:
    points = rows.points("performance")
    stretches = ((points[0], points[-2]), (points[-2], points[-1]))
    return Check(
        "Loss per doubling of the size", Result.DERIVED,
        "Not stated; it makes stretches of the curve comparable.", [],
        [
            compute(
                "(after / before) ^ (1 / log2(big / small)) − 1",
                Shape("%", 2, True, label=f"{small.size_gb:.10g} to {big.size_gb:.10g} GB"),
                after=_input(big), before=_input(small), big=_size(big), small=_size(small),
            )
            for small, big in stretches
        ],
    )  # fmt: skip


def ram_step(rows: Rows) -> Check:
    """Is the largest step of the first series the one that passes RAM?"""
    points, limit = rows.points("performance")[:-1], ram_gb(rows)
    steps = sorted(pairwise(points), key=lambda pair: pair[1].value / pair[0].value)
    passing = [pair for pair in steps if pair[0].size_gb <= limit < pair[1].size_gb]
    computed = [
        compute("now / before − 1", Shape("%", 2, True, label=f"{before.size_gb:.10g} to {after.size_gb:.10g} GB"),
                now=_input(after), before=_input(before))
        for before, after in steps[:2]
    ]  # fmt: skip
    memory = compute("ram", Shape("GB", 0, label="memory"), ram=Input("memory of the machine", limit, "GB"))
    there = bool(passing) and passing[0] == steps[0]
    return Check(
        "The step at the size of RAM", Result.UNCLEAR if there else Result.AGREES,
        "The largest step of the first series falls exactly where RAM is passed: small, but visible in its own data."
        if there else "The largest step of the first series is another one than where RAM is passed.",
        [rows.stated("ram_step")], [*computed, memory],
    )  # fmt: skip


def ssd(rows: Rows) -> Check:
    valued = [
        one for run in rows.material.runs if run.factor("disk") == "SSD"
        for one in run.measurements.all() if one.metric.name == "performance"
    ]  # fmt: skip
    if valued:
        raise MissingInputError("a rule for SSD values: none was printed")
    return Check(
        "The SSD against SATA", Result.GAP,
        "No value of the SSD series is left, and the size to which the factor belongs is not said.",
        [rows.claimed("firebird-d")], [], claims=("firebird-d",),
    )  # fmt: skip


def raid(rows: Rows) -> Check:
    heading = rows.stated("raid_heading")
    recovered = str(rows.fact("Hardware of the Firebird test").details.get("disk", ""))
    level = heading.printed.rpartition(" ")[2]
    same = bool(level) and level in recovered.replace("RAID 1", "RAID1")
    return Check(
        "The RAID level", Result.AGREES if same else Result.UNCLEAR,
        f"The description names no level, the headings do; another page says: {recovered}.",
        [rows.stated("raid_text"), heading], [],
    )  # fmt: skip


CHECKS = {
    "2.11": Rule(twenty_percent),
    "2.11a": Rule(degradation),
    "2.12": Rule(sixty_times, Result.AGREES),
    "2.13": Rule(whole_range),
    "2.14": Rule(per_doubling),
    "2.15": Rule(ram_step),
    "2.16": Rule(ssd),
    "2.17": Rule(raid),
}
