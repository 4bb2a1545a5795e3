"""Re-runs beside what was published: a table per experiment, with the reproduction ratio of each matched figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.compare.panels import SIZE_METRIC
from runs.models import Experiment, Run
from runs.models.choices import Provenance
from runs.publications import matching
from runs.publications.document import ClaimRow
from runs.publications.matching import Match, Relation, Side, published_side
from runs.publications.material import Material
from runs.publications.page.claims import MEANINGS, claimed_ratio, figure_words, readings_of
from runs.publications.page.parts import (
    INTERVAL,
    Amount,
    NamedTable,
    TextCell,
    Words,
    computed,
    listed,
    stored,
    text,
    word_columns,
)
from runs.run.memory import MB
from runs.stats import Interval
from runs.tables import Table, TableCell

HEAD = ("What", "Published", "Here", "Here / published", "What differs")
NOTE = (
    "Here / published is the reproduction ratio: 1 is the same. A relation says how many times as fast one is as the "
    "other. Here: geometric means, with their interval from three repeats on. Published: medians, as printed."
)
WELCH = "exp(difference of the means of ln ± t × standard error, Welch), of the same values as"
COUNT = ", n\u00a0=\u00a0"
GIB = 1024**3
SIZE_FACTORS = frozenset({"warehouses"})


@dataclass(frozen=True)
class Reading:
    """A published number as it can be compared; `high` is the other end where the article gives a range."""

    low: Amount
    high: Amount | None = None
    words: str = ""


@dataclass(frozen=True)
class Answer:
    """What the re-run gives: `amount` is None for a gap."""

    amount: Amount | None
    words: Words = ""
    gap: str = ""
    notes: tuple[str, ...] = ()


def tables(experiments: Sequence[Experiment], material: Material) -> dict[object, NamedTable]:
    """A table for each latest experiment of a name that has matches or gaps: two re-runs are never taken together."""
    latest = latest_of_each([experiment for experiment in experiments if is_told(experiment)])
    runs: dict[object, list[Run]] = {experiment.pk: [] for experiment in latest}
    for run in Run.objects.present().filter(experiment__in=latest).for_lists():
        runs[run.experiment_id].append(run)
    return {experiment.pk: table(experiment, runs[experiment.pk], material) for experiment in latest}


def latest_of_each(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The latest experiment of each name: the same part, run again. They come the latest first."""
    latest: dict[str, Experiment] = {}
    for experiment in experiments:
        latest.setdefault(str(experiment.plan.get("name") or experiment.name), experiment)
    return list(latest.values())


def is_told(experiment: Experiment) -> bool:
    """Whether there is anything to set beside what was published."""
    return bool(matching.matches_of(experiment) or matching.gaps_of(experiment))


def table(experiment: Experiment, runs: Sequence[Run], material: Material) -> NamedTable:
    rows = []
    # What has no number on either side, by the reason of ours: several of one reason are one line.
    empty: dict[str, list[list[TableCell]]] = {}
    for match in matching.matches_of(experiment):
        row = _row(match, runs, material)
        if row[1].gap and row[2].gap:
            empty.setdefault(row[2].gap, []).append(row)
        else:
            rows.append(row)
    for gap in matching.gaps_of(experiment):  # an engine that could not be run, beside what the article claims of it
        claims = "; ".join(_summary_of(material, claim) for claim in material.statements.claims_on(gap.version))
        claimed = text(claims) if claims else TableCell(gap="no claim of it alone")
        row = [text(gap.label), claimed, TableCell(gap=gap.reason), TableCell(), TableCell()]
        if claims:
            rows.append(row)
        else:
            empty.setdefault(gap.reason, []).append(row)
    for alike in empty.values():
        rows.append([text(", ".join(row[0].text for row in alike)), *alike[0][1:]])
    return NamedTable(
        experiment.name, Table(word_columns(*HEAD), rows), f"{NOTE} {_machines(runs, material.runs)}".strip(),
        href=experiment.get_absolute_url(),
    )  # fmt: skip


def _summary_of(material: Material, claim: ClaimRow) -> str:
    """With the load and the two disks that its sides name: beside another claim it needs them."""
    loads = {run.workload.source_id: run.workload.name for run in material.runs}
    load = loads.get(str(claim.side_a.get("workload", "")), "")
    disks = [str(side["disk"]) for side in (claim.side_a, claim.side_b) if "disk" in side]
    context = ", ".join(part for part in (load, " against ".join(dict.fromkeys(disks))) if part)
    return f"{context}: {claim.summary}" if context else claim.summary


def _row(match: Match, runs: Sequence[Run], material: Material) -> list[TableCell]:
    there, readings = _published(match, material)
    answer = _answer(match, runs)
    here, ratios, products = TableCell(gap=answer.gap), TableCell(), ""
    if answer.amount:
        here = TextCell(words=answer.words)
        words = [part for reading in readings for part in ("; ", *_ratio(answer.amount, reading))]
        refused = _refusal(match, runs, material)
        ratios = TextCell(words=words[1:]) if readings else TableCell(gap="no amount is published")
        if readings and refused:
            ratios = TableCell(gap=f"no ratio: {refused}")
        products = f"{_names(matching.side(runs, match.ours, match.metric))} here"
        if (
            match.theirs
            and not match.claim
            and (theirs := _names(published_side(material, match.theirs, match.their_metric)))
        ):
            products += f", {theirs} there"
    differs = "; ".join(part for part in (products, match.differs, *answer.notes) if part)
    return [text(match.label), there, here, ratios, text(differs)]


def _refusal(match: Match, runs: Sequence[Run], material: Material) -> str:
    """Why a match has no ratio. All that the article measured with a claim's DBMSs speaks for the claim."""
    ours = [matching.side(runs, facts, match.metric) for facts in (match.ours, match.base) if facts]
    theirs = [
        published_side(material, facts, match.their_metric) for facts in (match.theirs, match.their_base) if facts
    ]
    if claim := material.statements.claim(match.claim):
        named = [run for run in material.runs if run.dbms_version.source_id in claim.versions]
        theirs = [Side(named, claim.metric, published=True)]
    return matching.refusal(ours, theirs)


def _names(side: Side) -> str:
    """The names of the products that have a number."""
    return ", ".join(dict.fromkeys(run.dbms_version.name for run in side.counted))


# What was published


def _published(match: Match, material: Material) -> tuple[TableCell, list[Reading]]:
    if match.claim:
        claim = material.statements.claim(match.claim)
        if claim is None:
            return TableCell(gap="the claim is not stored"), []
        return TextCell(words=figure_words(claim), note=claim.summary), _readings(claim)
    if match.extra:
        return _published_extra(match, material)
    return _published_value(match, material) if match.theirs else (TableCell(gap="not in the article"), [])


def _published_value(match: Match, material: Material) -> tuple[TableCell, list[Reading]]:
    """The median of the published runs that the match names, or its relation to that of others."""
    side = published_side(material, match.theirs, match.their_metric)
    if match.their_base:
        relation = Relation(side, published_side(material, match.their_base, match.their_metric))
        if relation.value is None:
            return TableCell(gap=relation.gap), []
        amount = computed(relation.value, relation.formula, unit="×", digits=2)
        return TextCell(words=(amount, *_in_percent(match, relation))), [Reading(amount)]
    if side.centre is None:
        return TableCell(gap=side.gap), []
    amount = _centre(side)
    return TextCell(words=(amount, f"{COUNT}{len(side.values)}")), [Reading(amount)]


def _published_extra(match: Match, material: Material) -> tuple[TableCell, list[Reading]]:
    """Seconds more on so many: a relation of speeds, from the longest to the shortest time."""
    seen = next((each for each in material.statements.observations if each.metric == match.extra), None)
    if seen is None or seen.value_max is None or seen.value_min is None:
        return TableCell(gap="the observation is not stored"), []
    most, least = (Amount(float(end), seen.unit) for end in (seen.value_max, seen.value_min))
    on_s = match.extra_on_s
    slow, fast = (
        computed(on_s / (on_s + end.value), f"{on_s:g} / ({on_s:g} + {end.value:g})", unit="×", digits=3)
        for end in (most, least)
    )
    words = (least, " to ", most, f" {seen.metric} {seen.qualifier}: ", slow, " to ", fast)
    return TextCell(words=words), [Reading(slow, fast)]


def _readings(claim: ClaimRow) -> list[Reading]:
    """A percentage that says neither time nor speed is read both ways."""
    if read := readings_of(claim):
        readings = []
        for means in reversed(MEANINGS):
            speeds = sorted(
                (reading.speed for reading in read if reading.means == means), key=lambda speed: speed.value
            )
            readings.append(Reading(speeds[0], speeds[-1] if len(speeds) > 1 else None, f"if it means {means}"))
        return readings
    if claim.percent == 0:
        return [Reading(computed(1.0, "1 + 0 / 100", unit="×", digits=2))]
    amount = claimed_ratio(claim)
    return [Reading(replace(amount, unit="×"))] if amount else []


# What was measured here


def _answer(match: Match, runs: Sequence[Run]) -> Answer:
    if match.gap:
        return Answer(None, gap=match.gap)
    side = matching.side(runs, match.ours, match.metric)
    if match.base:
        return _relation(match, Relation(side, matching.side(runs, match.base, match.metric)))
    if side.centre is None:
        return Answer(None, gap=side.gap)
    amount = _centre(side)
    interval = _interval(side.interval, f"{INTERVAL} {listed(side.values)}", side.unit)
    return Answer(amount, (amount, *interval, f"{COUNT}{len(side.values)}"), notes=tuple(side.notes))


def _relation(match: Match, relation: Relation) -> Answer:
    if relation.gap or relation.value is None:
        return Answer(None, gap=relation.gap or "no ratio: a value is zero")
    amount = computed(relation.value, relation.formula, unit="×", digits=2)
    interval = _interval(relation.interval, f"{WELCH} {relation.formula}", "×", digits=2)
    count = f"{COUNT}{len(relation.of.values)} and {len(relation.base.values)}"
    notes = (*relation.notes, *_sizes(match, relation))
    return Answer(amount, (amount, *_in_percent(match, relation), *interval, count), notes=notes)


def _sizes(match: Match, relation: Relation) -> tuple[str, ...]:
    """What the databases of two sizes took here: the plan names sizes before they are known."""
    if not SIZE_FACTORS & match.ours.keys():
        return ()
    of, base = (side.also(SIZE_METRIC).centre for side in (relation.of, relation.base))
    if of is None or base is None:
        return ()
    against = "" if of == base else f" against {base / MB:,.0f} MB"
    return (f"database of {of / MB:,.0f} MB{against} here",)


def _in_percent(match: Match, relation: Relation) -> Words:
    if not match.percent or relation.value is None:
        return ()
    change = computed(100 * (relation.value - 1), f"{relation.formula} − 1", unit="%", digits=1, signed=True)
    return (" (", change, ")")


def _centre(side: Side) -> Amount:
    """Published values keep the digits of their source."""
    number = side.numbers[0]
    value = side.centre or 0.0
    digits = _digits(value) if number.provenance == Provenance.MEASURED else None
    if len(side.numbers) == 1:
        return replace(stored(number, unit=side.unit), digits=digits)
    return computed(value, side.formula, unit=side.unit, digits=digits)


def _digits(value: float) -> int:
    """Decimals for about four significant digits."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2


def _interval(interval: Interval | None, formula: str, unit: str, digits: int | None = None) -> Words:
    if interval is None:
        return ()
    low, high = (
        computed(end, formula, unit=unit, digits=_digits(end) if digits is None else digits)
        for end in (interval.low, interval.high)
    )
    return (" (", low, " to ", high, ")")


# Their ratio


def _ratio(here: Amount, reading: Reading) -> Words:
    words = f" {reading.words}" if reading.words else ""
    if here.unit != reading.low.unit:
        return (f"not comparable: {here.unit} here, {reading.low.unit} there",)
    if reading.high is None:
        there = reading.low.value
        return (computed(here.value / there, f"{here.value:.10g} / {there:.10g}", unit="×", digits=2), words)
    inside = "within" if reading.low.value <= here.value <= reading.high.value else "outside"
    return (f"{inside} ", reading.low, " to ", reading.high, words)


def _machines(ours: Sequence[Run], theirs: Sequence[Run]) -> str:
    sentences = []
    for where, runs in (("Here", ours), ("There", theirs)):
        machines = []
        for machine in dict.fromkeys(run.hardware for run in runs if run.hardware):
            memory = f"{machine.ram_bytes / GIB:.3g} GB memory" if machine.ram_bytes else ""
            machines.append(", ".join(part for part in (machine.name, machine.cpu_model, memory) if part))
        sentences += [f"{where}: {'; '.join(dict.fromkeys(machines))}."] if machines else []
    return " ".join(sentences)
