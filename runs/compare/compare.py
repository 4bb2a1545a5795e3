"""Any set of runs as groups that can be compared: one per cell, every repeat kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date
from itertools import chain, product
from uuid import UUID

from benchagent.catalog import EXTREMES, METRICS, Durability
from django.http import QueryDict

from runs.compare.asked import LOAD, LOAD_METRICS, NEWER, OF_CURVES, SINCE, read, with_controls
from runs.compare.asked_pair import with_fact
from runs.compare.axes import CURVE, LATENCY, ON_AXES, TIME, arrange
from runs.compare.comparison import Comparison
from runs.compare.configurations import not_in_force, share_equal, short_names, under_several_names, with_one_name
from runs.compare.facts import (
    CORES,
    DATE,
    DISK_OF,
    MOMENT,
    NEVER_TAKEN,
    POOLED,
    RELEASE,
    SET,
    SYSTEM,
    Fact,
    Naming,
    fact_value,
    fact_values,
    in_words,
    name_cells,
)
from runs.compare.grouping import BATCH, GROUPINGS, Cell, batch_facets, cells_of, day_of, moments, pooled_words
from runs.compare.groups import Group, Printed, by_histograms, pooled, repeats_of, summed_up
from runs.compare.guard import bare_field, conditions_of, fetch_settings
from runs.compare.judging import judged, told_apart_by
from runs.compare.levels import NO_LEVELS
from runs.compare.panels import COLOURS, Axes, series_colors, stands_at
from runs.compare.select import Selection
from runs.compare.verdicts import Verdicts
from runs.formatting import natural, release_line
from runs.machines.facts import MACHINE_LABELS, shown, told_apart
from runs.models import Aggregate, HardwareProfile, Measurement, Metric, Run, RunFactor, SeriesBatch
from runs.results.document import EACH
from runs.run.facets import DATASET, DURABILITY_ORDER, FACTOR, RECORDED, STORAGE, Facet, facets
from runs.run.likeness import SETTING

MOST_METRICS = 4
# So many values are named of what there is instead of what was asked for.
MOST_ALTERNATIVES = 20
NO_SETS: Mapping[UUID, tuple[str, str]] = {}
NO_ADDRESS = QueryDict()


def compare_selection(selection: Selection) -> Comparison:
    comparison = compare(
        selection.runs, selection.address, threshold=selection.threshold, base_runs=selection.base,
        set_of=selection.set_of,
    )  # fmt: skip
    return replace(comparison, left_out=selection.left_out, not_here=selection.not_here)


def compare(
    runs: Iterable[Run], address: QueryDict = NO_ADDRESS, *, threshold: float | None = None,
    base_runs: Set[UUID] = frozenset(), set_of: Mapping[UUID, tuple[str, str]] = NO_SETS,
) -> Comparison:  # fmt: skip
    """Groups the runs by cell and batch and sets each group against the baseline's.

    `runs` come from `Run.objects.present().for_lists()`. The `address` says what is asked, and how that is shown:
    `metric` is a name; empty or unknown takes the workload's primary metric, else the most common one. `baseline` is a
    group's key; empty or unknown takes the first group with values, of those with one of `base_runs` where there are
    such. `order` "best" sorts by geometric mean, best first; else the order is that of the experiment or source.
    `group` is one of `GROUPINGS`: empty or unknown pools within a batch only. `threshold`, from which a difference
    matters, is that of the metric where none is given. `set_of`: number and words of each run's set, a fact of its
    group; runs of two sets are never pooled.
    """
    question, _ = read(address)
    controls = with_controls(address, question)
    metric, baseline = next(iter(controls.getlist("metric")), ""), controls.get("baseline")
    grouping = controls.get("group", "") if controls.get("group") in GROUPINGS else BATCH
    present = [run for run in runs if run.deleted_at is None]
    _in_one_unit(present)
    fetch_settings(present)
    one_under = under_several_names(present)
    share_equal(present, one_under)
    # Asked how fast it loads, nothing else is an answer.
    wanted = LOAD_METRICS if question.kind == LOAD and metric not in LOAD_METRICS else [metric] if metric else ()
    metrics, chosen = _metrics(present, wanted)
    cells = cells_of(present, grouping, set_of)
    named = {question.fact, *(name for axis in ("x", "series", "panels") for name in controls.getlist(axis))}
    # Cores of two processors are no levels of one curve.
    named |= {"cpu_model"} if named & {*CORES} else set()
    facets_of_cells, facets_read = _facets_of(cells, grouping, set_of, named & MACHINE_LABELS.keys())
    naming = name_cells(facets_of_cells, [bool(cell.counted) for cell in cells])
    groups = by_histograms(_groups(cells, naming, facets_read, chosen), chosen)
    # In the order of the cells: a question that puts the best first names them as others do.
    base = _baseline(groups, baseline, base_runs)
    cells_with_values = ((group.all_runs[0], bool(group.dots)) for group in groups)
    idle = not_in_force(run for run in present if run.counts)
    short, unsaid = short_names(cells_with_values, base.all_runs[0].config if base else None, idle)
    if short:
        for cell in facets_of_cells:
            if words := short.get(cell["config"].value) if "config" in cell else None:
                cell["config"] = replace(cell["config"], words=words, text=words)
        naming = in_words(naming, facets_of_cells)
        groups = [
            replace(group, label=label, conditions=group.conditions.with_config_called(short))
            for group, label in zip(groups, naming.labels, strict=True)
        ]
    if one_under:
        groups = [
            replace(group, conditions=with_one_name(group.conditions, group.all_runs[0].config, one_under))
            for group in groups
        ]
    # What a question puts in order is set against the same baseline as without it.
    place = {} if address.get("order") else {group.key: at for at, group in enumerate(groups)}
    groups = _ranked(groups, chosen, controls.get("order", ""))
    question = with_fact(question, groups)
    controls = with_controls(controls, question)
    comparison = Comparison(
        chosen, metrics, groups, None, [*naming.common, *_recorded_alike(groups)], naming.varying,
        named=[bare_field(field) for field in naming.fields], asked_threshold=threshold, grouping=grouping,
        pooled=pooled_words(cells, grouping), question=question, controls=controls,
        unsaid=unsaid if "config" in naming.fields else "",
    )  # fmt: skip
    comparison = _of_releases(_over_a_setting(comparison))
    if "fix" in controls or "pool" in controls:
        comparison = _at_chosen_levels(comparison)
    comparison = _with_named_ends(replace(comparison, axes=arrange(comparison)))
    groups = _coloured(comparison)
    in_order = sorted(groups, key=lambda group: place.get(group.key, 0))
    return judged(replace(comparison, groups=groups, baseline=_baseline(in_order, baseline, base_runs)))


def _over_a_setting(comparison: Comparison) -> Comparison:
    """With the settings that configurations differ in as facts where one of them is x: as a reader says, or where a
    curve is drawn or asked about and no other number varies.
    """
    controls = comparison.controls
    x, is_curve = controls.get("x", ""), controls.get("view") == CURVE or comparison.question.kind in OF_CURVES
    if not (x.startswith(SETTING) or (not x and is_curve and not arrange(comparison).x)):
        return comparison
    settings = comparison.settings
    levels = {field: len(fact.numbers) for field, (fact, _) in settings.items() if fact.is_number}
    x = x or max(levels, key=lambda field: levels[field], default="")
    if x not in settings:
        return comparison
    controls = controls.copy()
    controls["x"] = x
    groups = [
        replace(group, facts={**group.facts, **{field: value[group.key] for field, (_, value) in settings.items()}})
        for group in comparison.groups
    ]
    others = [fact for fact in comparison.varying if fact.field not in settings]
    varying = [*others, *(fact for fact, _ in settings.values())]
    return replace(comparison, groups=groups, varying=varying, controls=controls)


def _of_releases(comparison: Comparison) -> Comparison:
    """Over dates with the line of its release as a fact of each batch, where older ones are measured on beside a newer
    one: what is said of one is of its own batches, as on the page of its benchmark.
    """
    has_versions = any(fact.field == "dbms" for fact in comparison.varying)
    if not has_versions or comparison.question.kind not in ("", SINCE, NEWER):
        return comparison
    rows = SeriesBatch.objects.filter(run__in=[run.pk for run in comparison.all_runs])
    rows = rows.filter(benchmark__metric=comparison.metric).exclude(benchmark__release_of=None)
    older = dict(rows.values_list("run", "benchmark__branch"))
    if not older or arrange(comparison).x != DATE:
        return comparison
    lines = [next((older[run.pk] for run in group.all_runs if run.pk in older), "") for group in comparison.groups]
    versions = [group.all_runs[0].dbms_version for group in comparison.groups]
    called = {}
    for dbms in {version.dbms for version in versions}:
        of_dbms = [(line, version) for line, version in zip(lines, versions, strict=True) if version.dbms == dbms]
        _, newest = max((own.place, own.version) for _, own in of_dbms)
        called[dbms] = release_line(newest, {own.version for line, own in of_dbms if line} - {newest})
    groups = [
        replace(group, facts={**group.facts, RELEASE: f"{version.dbms.name} {line or called[version.dbms]}"})
        for group, line, version in zip(comparison.groups, lines, versions, strict=True)
    ]
    values = sorted({group.facts[RELEASE] for group in groups}, key=natural)
    fact = Fact(RELEASE, "Release line", values, {}, {})
    return replace(comparison, groups=groups, varying=[*comparison.varying, fact])


def _with_named_ends(comparison: Comparison) -> Comparison:
    """With the numbers of the levels that the question names with their unit, `from=16GB`."""
    fact, controls, question = comparison.axes.x_fact, comparison.controls, comparison.question
    if fact is None:
        return comparison
    start, end = (
        fact.number_of(controls.get(name, "")) if number is None else number
        for name, number in (("from", question.start), ("to", question.end))
    )
    return replace(comparison, question=question.model_copy(update={"start": start, "end": end}))


def _recorded_alike(groups: Sequence[Group]) -> list[Facet]:
    """Circumstances that all groups tell alike, such as the load generator."""
    alike = []
    for field, label in RECORDED.items():
        told = {group.conditions.words.get(field, "") for group in groups}
        if len(told) == 1 and (words := told.pop()):
            alike.append(Facet(field, label, words, words, words, words))
    return alike


def _baseline(groups: Sequence[Group], key: str | None, base_runs: Set[UUID]) -> Group | None:
    with_values = [group for group in groups if group.dots]
    of_base = (group for group in with_values if any(run.id in base_runs for run in group.runs))
    by_key = (group for group in with_values if group.key == key)
    # Against zero nothing has a ratio: only a reader chooses that.
    above_zero = (group for group in with_values if any(value > 0 for value in group.values))
    return next(chain(by_key, of_base, above_zero, with_values), None)


def _metrics(runs: Sequence[Run], wanted: Sequence[str]) -> tuple[list[Metric], Metric | None]:
    """All that any of the runs has a number of, the most common first; and the first of the names that is there, else
    the workload's primary one. Where its unit was changed some day, in the unit of today.
    """
    rows_by_metric: dict[int, list[Measurement]] = {}
    days: dict[int, set[date]] = {}
    for run in (run for run in runs if run.counts):
        day = {run.measured_at.date()} if run.measured_at else set[date]()
        for row in run.measurements.all():
            rows_by_metric.setdefault(row.metric_id, []).append(row)
            days.setdefault(row.metric_id, set()).update(day)

    def first(metric: Metric) -> tuple[object, ...]:
        # What only its tool knows, as one step of a load, comes after what everybody compares; a maximum tells least.
        count, is_extreme = len(rows_by_metric[metric.pk]), metric.name in EXTREMES
        return -count, metric.better == "none", metric.name not in METRICS, is_extreme, metric.name, metric.unit

    metrics = sorted((rows[0].metric for rows in rows_by_metric.values()), key=first)
    primary = Counter(run.workload.primary_metric for run in runs if run.counts).most_common()
    names = (*wanted, *(name for name, _ in primary))
    chosen = next(chain((metric for name in names for metric in metrics if metric.name == name), metrics), None)
    for metric in metrics:
        before = days[chosen.pk] if chosen and metric.name == chosen.name else set()
        if before and len(days[metric.pk]) > 1 and min(days[metric.pk]) > max(before):
            chosen = metric
    return metrics, chosen


def _in_one_unit(runs: Sequence[Run]) -> None:
    """A factor that some give in GB and others in MB stands in the largest of these units, on axes, in names and where
    cells are told apart: 1,000 MB are 1 GB, and 1 MB is not.
    """
    rows_by_name, converted = dict[str, list[RunFactor]](), set[UUID]()
    for run in runs:
        for factor in run.factor_rows:
            if factor.number is not None and factor.unit:
                rows_by_name.setdefault(factor.name, []).append(factor)
    for rows in rows_by_name.values():
        units = {row.unit for row in rows}
        sizes = next((each for each in EACH if units <= each.keys()), None)
        if sizes is None or len(units) < 2:
            continue
        largest = max(units, key=lambda unit: sizes[unit])
        for row in rows:
            number = (row.number or 0.0) * sizes[row.unit] / sizes[largest]
            row.number, row.unit = float(f"{number:.12g}"), largest
            converted.add(row.run_id)
    for run in runs:
        if run.pk in converted:
            run.set_cell_key()


def _facets_of(
    cells: Sequence[Cell], grouping: str, set_of: Mapping[UUID, tuple[str, str]], of_machines: Iterable[str]
) -> tuple[list[dict[str, Facet]], dict[UUID, dict[str, Facet]]]:
    """What names each cell; and the facets as they were read of one run of each, by its id. `of_machines`: what is
    asked of these, such as their processor; else their names stand for all of it.
    """
    # A run that ended knows more, such as that its database was in memory: it names its cell.
    naming_runs = [next((run for run in cell.telling if run.durability), cell.telling[0]) for cell in cells]
    facets_read = {run.id: facets(run) for run in naming_runs} | _machines_apart(cells)
    of_cells = []
    for cell, run, of_batch in zip(cells, naming_runs, batch_facets(cells, grouping), strict=True):
        of_set = {}
        if cell.runs[0].id in set_of:
            number, words = set_of[cell.runs[0].id]
            of_set = {SET: Facet(SET, "Set", number, words, words, f"set-{number}")}
        of_cells.append(facets_read[run.id] | of_batch | of_set | _of_machine(run.hardware, of_machines))
    _know_alike(of_cells, naming_runs)
    return of_cells, facets_read


def _of_machine(machine: HardwareProfile | None, names: Iterable[str]) -> dict[str, Facet]:
    texts = {name: text for name in names if machine and (text := shown(machine, name))}
    return {name: Facet(name, MACHINE_LABELS[name], text, text, text, text) for name, text in texts.items()}


def _machines_apart(cells: Sequence[Cell]) -> dict[UUID, dict[str, Facet]]:
    """The facets of runs on machines of one name that are told apart, with the facts in which they differ."""
    days: dict[HardwareProfile, set[date]] = {}
    runs = [(run, run.hardware) for cell in cells for run in cell.telling if run.hardware]
    for run, machine in runs:
        days.setdefault(machine, set()).add(day_of(run))
    apart, found = told_apart(days), {}
    for run, machine in runs:
        if words := apart.get(machine.slug):
            own = facets(run)
            own["hardware"] = replace(own["hardware"], value=words, words=words, text=words, key=words)
            found[run.id] = own
    return found


def _groups(
    cells: Sequence[Cell], naming: Naming, facets_read: Mapping[UUID, Mapping[str, Facet]], metric: Metric | None
) -> list[Group]:
    """One for each cell, named by as few facts as tell them apart."""
    printed = _printed([run for cell in cells for run in cell.runs], metric)
    repeats = [repeats_of(cell.runs, metric) for cell in cells]
    moment_of = moments({key: dots[0].run for key, (dots, _) in zip(naming.keys, repeats, strict=True) if dots})
    groups, name = [], metric.name if metric else ""
    for at, (cell, (dots, gaps)) in enumerate(zip(cells, repeats, strict=True)):
        key, values, counted = naming.keys[at], naming.values[at], [dot.run for dot in dots]
        every = [*counted, *(gap.run for gap in gaps)]
        day = str(day_of(every[0]))
        groups.append(
            Group(
                key=key,
                label=naming.labels[at],
                factors={fact.label: values[fact.field] for fact in naming.varying},
                facts={
                    **values,
                    DATE: day,
                    MOMENT: moment_of.get(key, day),
                    SYSTEM: every[0].dbms_version.dbms.name,
                },
                all_runs=every,
                dots=dots,
                gaps=gaps,
                conditions=conditions_of(counted or cell.runs, facets_read, metric=name),
                printed=[row for run_ids, row in printed if any(run.id in run_ids for run in cell.runs)],
                **summed_up(dots, name),
            )
        )
    return groups


def _know_alike(of_cells: Sequence[dict[str, Facet]], runs: Sequence[Run]) -> None:
    """What a run cannot tell, such as its disk, as it has not ended or came to no number here, is no difference where
    those of its batch tell the same that were asked of the same system and disks: of any system where machine and disk
    are told. What has not ended is like all others.
    """
    cells = [*zip(of_cells, runs, strict=True)]
    lacking = [(cell, run) for cell, run in cells if run.is_open or (run.experiment_id and not run.counts)]
    known: dict[tuple[object, ...], dict[str, dict[str, Facet]]] = {}

    def scopes(cell: Mapping[str, Facet], run: Run) -> tuple[tuple[object, ...], ...]:
        disks = (run.batch_id, *(cell[name].value for name in DISK_OF if name in cell))
        return (*disks, run.dbms_version_id, run.config_id), disks, ()

    for cell, run in cells if lacking else ():
        for scope, (name, facet) in product(scopes(cell, run), cell.items()):
            known.setdefault(scope, {}).setdefault(name, {})[facet.value] = facet
    for cell, run in lacking:
        of_system, of_disks, of_all = (
            {name: next(iter(told.values())) for name, told in known[scope].items() if len(told) == 1}
            for scope in scopes(cell, run)
        )
        alike = of_all if run.is_open else {}
        alike |= {name: facet for name, facet in of_disks.items() if name == "hardware" or name.startswith(STORAGE)}
        alike |= {name: facet for name, facet in of_system.items() if not name.startswith((FACTOR, DATASET))}
        cell |= {name: facet for name, facet in alike.items() if name not in cell}


def _printed(runs: Sequence[Run], metric: Metric | None) -> list[tuple[set[UUID], Printed]]:
    """What their publications print of these runs, each with the ids of its runs."""
    publications = {run.publication_id for run in runs if run.publication_id}
    if metric is None or not publications:
        return []
    printed = []
    for row in Aggregate.objects.filter(publication__in=publications, metric=metric).prefetch_related("of"):
        run_ids = {run.id for run in row.of.all()}
        words = row.as_printed or f"{row.value:g}"
        printed.append((run_ids, Printed(row.statistic, row.value, words, len(run_ids))))
    return printed


def _ranked(groups: Sequence[Group], metric: Metric | None, order: str) -> list[Group]:
    """Ranked are those of the strongest class, and those that state none: what is in memory with its like only; by
    latency only what lost few repeats.

    The others stand apart, at the end, class by class; groups without a value last when sorted by value.
    """
    promised = {group.key: group.conditions.durability for group in groups}
    strength = {key: DURABILITY_ORDER.get(durability, 0) for key, durability in promised.items()}
    with_values = [group for group in groups if group.dots]
    promising = (group for group in with_values or groups if promised[group.key] and not group.doubt)
    strongest = min((strength[group.key] for group in promising), default=0)
    unstated = any(not promised[group.key] and not group.doubt for group in with_values)
    ranked = []
    for group in groups:
        alone = bool(group.doubt) or (promised[group.key] == Durability.MEMORY and unstated)
        survivors = group.has_only_survivors(metric)
        is_ranked = not alone and not survivors and strength[group.key] <= strongest
        ranked.append(group if is_ranked else replace(group, ranked=False, of_survivors=survivors))

    def position(group: Group) -> tuple[object, ...]:
        position = (not group.ranked, 0 if group.ranked else strength[group.key], bool(group.doubt))
        if order != "best" or metric is None:
            return position
        return (*position, group.centre is None, (group.centre or 0.0) * (1 if metric.better == "lower" else -1))

    return sorted(ranked, key=position)


def _at_chosen_levels(comparison: Comparison) -> Comparison:
    """Without the groups that a reader fixes away, and with those taken together that differ in what is pooled.

    Groups of two classes of durability are never pooled.
    """
    axes = arrange(comparison)
    if not axes.fixed and not axes.pooled:
        return comparison
    names = [name for name in axes.facts if name not in axes.pooled and name not in NEVER_TAKEN and name != DATE]
    pools: dict[tuple[str, ...], list[Group]] = {}
    for group in comparison.groups:
        if stands_at(group, axes.fixed):
            key = (group.durability_words, *fact_values(group, names)) if axes.pooled else (group.key,)
            pools.setdefault(key, []).append(group)
    headings = [fact.label for fact in comparison.varying if fact.field in axes.pooled]
    groups = []
    for pool in pools.values():
        group = pooled(pool)
        if len(pool) > 1:
            shown = [name for name in names if name not in axes.fixed and name not in axes.follow]
            label = " · ".join(axes.facts[name].in_legend(fact_value(group, name)) for name in shown)
            group = replace(
                group,
                label=label or "all",
                conditions=conditions_of(
                    group.runs or group.all_runs, metric=comparison.metric.name if comparison.metric else ""
                ),
            )
        # The day stays that of the first: it is a place on an axis.
        facts = {**group.facts, **dict.fromkeys(axes.pooled, POOLED), DATE: group.facts[DATE]}
        groups.append(replace(group, facts=facts, factors={**group.factors, **dict.fromkeys(headings, POOLED)}))
    varying, common = [], [*comparison.common]
    for fact in comparison.varying:
        values = list(dict.fromkeys(group.facts[fact.field] for group in groups))
        words = {**fact.words, POOLED: POOLED}
        if len(values) == 1:
            text = words[value := values[0]]
            common.append(Facet(fact.field, fact.label, value, text, text, value))
        else:
            varying.append(replace(fact, values=values, words=words))
    return replace(comparison, groups=groups, varying=varying, common=common, whole=comparison)


def _coloured(comparison: Comparison) -> list[Group]:
    """With the index of the palette: that of its curve, where curves are drawn; its own, where its time or its
    latencies are; else by the fact that is ranked.

    More groups than colours are coloured by what their names tell (the disk, the DBMS, of many versions the system),
    else all alike: a palette that starts again says that strangers belong together, and one without a legend nothing.
    """
    groups, axes, asked = comparison.groups, comparison.axes, comparison.question.fact
    if axes.view in ON_AXES:
        colors = series_colors(comparison.drawn, axes, asked)
        return [replace(group, color=colors.get(fact_values(group, axes.series), 0) % COLOURS) for group in groups]
    if axes.view in (TIME, LATENCY):
        # Each is a line of its own there.
        places = {group.key: at for at, group in enumerate(comparison.valued)}
        return [replace(group, color=places.get(group.key, 0) % COLOURS) for group in groups]
    if not asked and not (ranked := told_apart_by(comparison, None)).startswith(FACTOR):
        asked = ranked
    if len(groups) <= COLOURS and not asked:
        return [replace(group, color=index) for index, group in enumerate(groups)]
    # The DBMS first, then what has names; sizes and counts are an axis, not a colour.
    order = sorted(
        comparison.varying, key=lambda fact: (fact.field != asked, fact.field != "dbms", fact.values[0][:1].isdigit())
    )
    told = [
        fact.field for fact in order if all(fact.in_legend(group.facts[fact.field]) in group.label for group in groups)
    ]
    for field in chain.from_iterable((field, SYSTEM) if field == "dbms" else (field,) for field in told):
        values = list(dict.fromkeys(group.facts[field] for group in groups))
        if 1 < len(values) <= COLOURS:
            return [replace(group, color=values.index(group.facts[field])) for group in groups]
    return groups


def with_metric(comparison: Comparison, metric: Metric) -> Comparison:
    """The same groups with their values of another metric, to be drawn beside: without verdicts and headline."""
    groups = []
    for group in comparison.groups:
        dots, gaps = repeats_of(group.all_runs, metric)
        runs = [each.run for each in (*dots, *gaps)]
        numbers = summed_up(dots, metric.name)
        groups.append(replace(group, all_runs=runs, dots=dots, gaps=gaps, printed=(), against=None, **numbers))
    groups = by_histograms(groups, metric)
    base = next((group for group in groups if comparison.baseline and group.key == comparison.baseline.key), None)
    return replace(
        comparison, metric=metric, groups=groups, baseline=base, verdicts=Verdicts(), levels=None,
        whole=with_metric(comparison.whole, metric) if comparison.whole else None,
    )  # fmt: skip


def by_each_metric(comparison: Comparison) -> list[Comparison]:
    """The comparison by each metric that its address names, four at most, the first of them first."""
    by_name = {metric.name: metric for metric in reversed(comparison.metrics)}
    wanted = [by_name[name] for name in dict.fromkeys(comparison.controls.getlist("metric")) if name in by_name]
    others = [metric for metric in wanted if metric != comparison.metric]
    return [comparison, *(with_metric(comparison, metric) for metric in others[: MOST_METRICS - 1])]


def unread(params: QueryDict, comparison: Comparison, axes: Axes) -> dict[str, list[str]]:
    """Parameter -> what its address asks for and there is not: it was drawn as if nothing had been asked."""
    levels = comparison.levels
    question, problems = read(params)
    facts = [
        *(fact.field for fact in comparison.varying),
        *(facet.field for facet in comparison.common if facet.field not in RECORDED),
    ]
    # Where what a question implies or goes over is one value only, the answer says what is missing.
    answered = {"x"} if question.x in facts else set()
    problems |= {name: words for name, words in axes.problems.items() if name in params and name not in answered}
    x = axes.x_fact
    for name in {"from", "to"} & problems.keys() if x and x.is_number else ():
        text = params.get(name, "")
        if x and x.number_of(text) is not None:
            del problems[name]
        elif x:
            values = _some([x.words.get(value, value) for value in x.values])
            problems[name] = [f"“{text}” is no number and no level of {x.label}. There are: {values}."]
    if question.fact and question.fact not in facts:
        problems["fact"] = [f"There is no fact “{question.fact}”. There are: {_some(facts)}."]
    compared, baseline = params.get("compared", ""), params.get("baseline", "")
    if compared not in ("", NO_LEVELS) and (levels is None or all(compared != fact.field for fact in levels.compared)):
        there = [fact.field for fact in levels.choices] if levels else []
        problems["compared"] = [f"“{compared}” is not comparable level by level. There are: {_some(there)}."]
    if params.get("group", "") not in ("", *GROUPINGS):
        problems["group"] = [f"There is no grouping “{params['group']}”. There are: {', '.join(GROUPINGS)}."]
    names = list(dict.fromkeys(metric.name for metric in comparison.metrics))
    if unknown := [name for name in params.getlist("metric") if name and name not in names]:
        problems["metric"] = [f"No run has the metric “{unknown[0]}”. There are: {_some(names)}."]
    keys = [group.key for group in comparison.valued]
    if baseline and baseline not in keys:
        problems["baseline"] = [f"There is no group “{baseline}” with values. There are: {_some(keys)}."]
    return problems


def _some(names: Sequence[str]) -> str:
    further = len(names) - MOST_ALTERNATIVES
    return ", ".join(names[:MOST_ALTERNATIVES]) + (f" and {further} more" if further > 0 else "") or "none"
