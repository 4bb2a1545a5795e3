"""cubrid-mysql-ssd-2011: the ratios, and what text and comments say."""

from __future__ import annotations

from runs.publications.checks.model import Check, Input, Result, Shape, Stated, compute, judge
from runs.publications.checks.rows import Rows, Rule, number_of

TOPIC = "Ratios and text"
SELECT_CPU = "wl-cubrid-select-cpu"


def which_test(rows: Rows) -> Check:
    pairs = [(f"cubrid-select-io-{one}", f"cubrid-insert-{one}") for one in ("cubrid", "mysql")]
    computed = [
        compute(
            "insert / select", Shape("×", 2, label=f"{_system(select.rpartition('-')[2])}: INSERT against SELECT"),
            insert=Input("stated ratio, INSERT", rows.ratio(insert), "×"),
            select=Input("stated ratio, SELECT I/O-bound", rows.ratio(select), "×"),
        )
        for select, insert in pairs
    ]  # fmt: skip
    same = all(one.rounded == 1 for one in computed)
    claims = tuple(one for pair in pairs for one in pair)
    return Check(
        "Which test the conclusion means", Result.AGREES if same else Result.UNCLEAR,
        "The conclusion's I/O-bound gain is that of the SELECT test alone; INSERT, called I/O-bound too, had others.",
        [_claimed(rows, one) for one in claims], computed, claims=claims,
    )  # fmt: skip


def _system(name: str) -> str:
    return {"cubrid": "CUBRID", "mysql": "MySQL"}[name]


def _claimed(rows: Rows, claim: str) -> Stated:
    """The claim with whom it is about: its own words are often "about 5 times" only."""
    one = rows.claimed(claim)
    load, _, name = claim.removeprefix("cubrid-").rpartition("-")
    bound = {"insert": "INSERT", "select-cpu": "SELECT CPU-bound", "select-io": "SELECT I/O-bound"}.get(load, load)
    return Stated(f"{_system(name)}, {bound}: {one.text}", one.where)


def machines(rows: Rows) -> Check:
    """The CPU-bound test measures the machines; what is left of the I/O-bound ratios without that difference."""
    computed = []
    for name in ("cubrid", "mysql"):
        change = Input("CPU-bound, SSD machine against HDD machine", rows.percent(f"cubrid-select-cpu-{name}"), "%")
        gain = Input("I/O-bound, stated", rows.ratio(f"cubrid-select-io-{name}"), "×")
        computed += [
            compute("1 + change / 100", Shape("×", 2, label=f"{_system(name)}: CPU-bound"), change=change),
            compute("gain / (1 + change / 100)", Shape("×", 2, label=f"{_system(name)}: I/O-bound without it"),
                    gain=gain, change=change),
        ]  # fmt: skip
    claims = (
        "cubrid-select-cpu-cubrid",
        "cubrid-select-cpu-mysql",
        "cubrid-select-io-cubrid",
        "cubrid-select-io-mysql",
    )
    return Check(
        "The difference of the machines divided out", Result.DERIVED,
        "Not in the article: it shows why both disks belong into the same machine.",
        [_claimed(rows, one) for one in claims[:2]], computed, claims=claims,
    )  # fmt: skip


def blame(rows: Rows) -> Check:
    """Whoever reads pages that all stay in the buffer does not wait for a disk."""
    change = Input("CPU-bound, SSD machine against HDD machine", rows.percent("cubrid-select-cpu-cubrid"), "%")
    one = compute("change / 100", Shape("%", 0, True), change=change)
    without_disk = "stay in the buffer" in str(rows.workload(SELECT_CPU).get("search_range", ""))
    return Check(
        "Lower because of the SSD?", Result.DISAGREES if without_disk else Result.UNCLEAR,
        "The wording blames the disk; the same text says that this test measures everything else.",
        [rows.stated("io_blame")], [one], claims=("cubrid-select-cpu-cubrid",),
    )  # fmt: skip


def comments(rows: Rows) -> Check:
    announced = number_of(rows.material.publication.details.get("comments"), "the announced comments")
    counted = rows.stated_input("comments_counted")
    one = compute("counted", Shape("", 0, label="counted"), counted=counted)
    return Check(
        "Number of comments", judge(announced, one.value), "As many are there as are announced.",
        [Stated(f"{announced:g} comments", "head of the comments", announced)], [one],
    )  # fmt: skip


def engine(rows: Rows) -> Check:
    said = [rows.stated(one) for one in ("engine", "engine_comment", "engine_corrected")]
    differ = said[0].printed != said[1].printed
    settled = said[2].printed == said[0].printed
    return Check(
        "InnoDB or MyISAM?", Result.DISAGREES if differ else Result.AGREES,
        "A comment of the translator says otherwise; he corrects it himself." if settled else "It stays open.", said,
    )  # fmt: skip


def alias(rows: Rows) -> Check:
    """Is the version under both names one version here?"""
    said = rows.stated("version_alias")
    versions = {run.dbms_version for run in rows.material.runs if run.dbms_version.source_id.startswith("cubrid")}
    names = [
        f"{one.version} {one.note} {' '.join(map(str, getattr(one, 'aliases', None) or []))}" for one in versions
    ]  # fmt: skip
    known = any(said.printed in one for one in names)
    return Check(
        "One version, two names", Result.AGREES if known else Result.UNCLEAR,
        "Both names stand for one version here." if known else "The second name is not known here.", [said], [],
    )  # fmt: skip


def about(rows: Rows) -> Check:
    claims = [one for one in rows.material.claims if one.ratio is not None]
    valued = [run for run in rows.material.runs if any(run.measurements.all())]
    rough = [one for one in claims if one.approximate]
    count = compute(
        "count(ratios)", Shape("", 0, label="ratios that are about"),
        ratios=Input("stated ratios", [float(one.ratio or 0) for one in rough], "×"),
    )  # fmt: skip
    return Check(
        "Ratios without values", Result.AGREES if valued else Result.GAP,
        "All ratios are approximate, and no absolute value is left to check them against.",
        [_claimed(rows, one.source_id) for one in rough], [count], claims=tuple(one.source_id for one in rough),
    )  # fmt: skip


CHECKS = {
    "3.8": Rule(which_test, Result.UNCLEAR),
    "3.9": Rule(machines),
    "3.10": Rule(blame, Result.DISAGREES),
    "3.11": Rule(comments, Result.AGREES),
    "3.12": Rule(engine, Result.DISAGREES),
    "3.13": Rule(alias),
    "3.14": Rule(about, Result.GAP),
}
