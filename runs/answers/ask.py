"""From a comparison to the answer of its question, and to the other questions that its data can answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from benchagent.catalog import METRICS, Role, factor_role
from django.http import QueryDict

from runs.answers import curves, history, pairs
from runs.answers.answer import Answer, Standing, Step, begun, change_of
from runs.answers.places import NO_PLACE, Place, place_of
from runs.answers.ranking import ranked
from runs.compare import asked, judging
from runs.compare.asked import Missing, Question, RankedAt
from runs.compare.axes import (
    CURVE,
    LEAST_OF_A_CURVE,
    are_days_apart,
    are_releases,
    arrange,
    levels_while_alike,
    most_levels,
    of_a_release,
)
from runs.compare.baseline import DEFAULT_BASELINE
from runs.compare.compare import with_metric
from runs.compare.comparison import Comparison
from runs.compare.effects import have_effects
from runs.compare.facts import (
    CORES,
    DATE,
    DISK_OF,
    MOMENT,
    NEVER_TAKEN,
    NO_FACT,
    SYSTEM,
    Columns,
    fact_value,
    fact_values,
    is_name,
)
from runs.compare.grouping import position_of
from runs.compare.levels import FEWEST_GROUPS
from runs.compare.panels import CLIENT, CLIENTS, Axes, zero_words
from runs.compare.verdicts import by_value
from runs.formatting import grouped
from runs.machines.facts import MACHINE_LABELS
from runs.run.facets import CONTEXT, FACTOR
from runs.run.likeness import DAY
from runs.stats import Kind
from runs.stats.curves import LEAST_FOR_KNEE, LEAST_VALUES_FOR_KNEE
from runs.stats.steps import LEAST_DAYS

# What is asked beside throughput, or the time of a backup, the first that is there; of latencies also those of one kind
# of operation, as tools tell them (`read_latency_p99_ms`).
_BESIDE = ("latency_p99_ms", "latency_p95_ms", "latency_mean_ms", "latency_avg_ms", "restore_s")
# What a person calls a disk, beside its device.
_DISKS = {f"{FACTOR}disk", *DISK_OF}
# Of what senders named themselves so many are asked for.
MOST_OWN = 4


def answer_of(comparison: Comparison) -> Answer:
    """The answer to the question that the address asks, else to the one that fits best."""
    question = comparison.question
    if not question.kind:
        question = Question(kind=_kind_by_rule(comparison))
    if not comparison.groups:
        return begun(comparison, question, lacking=[Missing("run")])
    if question.kind != asked.CHANGED and not any(group.dots for group in comparison.groups):
        reasons = dict.fromkeys(gap.reason for group in comparison.groups for gap in group.gaps)
        return begun(comparison, question, lacking=[Missing("number", names=[*reasons])])
    if question.kind in (asked.BEST, asked.LOAD) and not question.fact:
        question = question.model_copy(update={"fact": judging.told_apart_by(comparison, comparison.levels)})
    answers = {
        asked.BEST: ranked, asked.RANK: ranked, asked.LOAD: ranked, asked.A_B: pairs.a_against_b,
        asked.EFFECTS: pairs.effects, asked.PUBLISHED: pairs.published, asked.CHANGED: pairs.changed,
        **dict.fromkeys(asked.OF_CURVES, curves.of_curves), **dict.fromkeys(asked.OF_DATES, _over_dates),
    }  # fmt: skip
    answer = answers[question.kind](comparison, question)
    if answer.sure and question.kind in asked.OF_RANKS:
        answer = _with_what_is_worse(comparison, answer)
    is_best_by_rule = question.kind == asked.BEST and not comparison.question.kind
    # Of one alone nobody asks whether it is the best.
    if is_best_by_rule and len(answer.claims) < 2 and comparison.levels is None:
        return _over_size(comparison) or answer
    return answer


def _with_what_is_worse(comparison: Comparison, answer: Answer) -> Answer:
    """With the metric that is asked for beside, where the first of few groups is surely worse than the next by it, as
    the page of that metric judges them.
    """
    of_groups = [claim.group for claim in answer.claims if isinstance(claim, Standing) and claim.group]
    beside = (metric for name in _beside(comparison, answer.question.fact)[:1] for metric in comparison.metrics
              if metric.name == name and metric.better != "none")  # fmt: skip
    metric = next(beside, None)
    if metric is None or len(of_groups) < 2 or len(comparison.groups) > judging.MOST_IN_A_MATRIX:
        return answer
    other = with_metric(comparison, metric)
    pairs = judging.pairs_to_judge(by_value(other.groups, metric), None)
    verdict = judging.judge(other, pairs)[0].of(*of_groups[:2])
    is_worse = verdict is not None and verdict.kind == Kind.WORSE
    return answer.model_copy(update={"worse_by": (metric.label, change_of(verdict))}) if is_worse else answer


def _kind_by_rule(comparison: Comparison) -> str:
    """Nobody asks which day wins of what was measured on many days, nor of one system which number of clients does."""
    axes = comparison.axes
    if axes.x == DATE or {*comparison.named} <= {"batch", DAY}:
        return asked.SINCE
    levels, told_apart = comparison.levels, judging.told_apart_by(comparison, comparison.levels)
    is_chosen = bool(told_apart) and comparison.controls.get("compared", "") == told_apart
    if told_apart.removeprefix(FACTOR) in ("", *CLIENTS) and not is_chosen:
        if axes.asks_of_levels and levels and levels.ranks_nothing:
            return asked.LOSS
        if axes.kind == CLIENT and axes.x == told_apart and comparison.better == "higher":
            return asked.SCALES
    is_one_curve = axes.kind == CLIENT and len(comparison.curves) == 1
    return asked.SCALES if is_one_curve and comparison.better == "higher" else asked.BEST


def _over_size(comparison: Comparison) -> Answer | None:
    """What is lost over sizes, which is asked of one system rather than its best size; two sizes of a curve are enough,
    and so is a number that nobody knows. None where no curve has them.
    """
    axes = comparison.axes
    sizes = (question for name in axes.facts for question in _over(name, comparison))
    x = axes.x if axes.asks_of_levels else next((each.x for each in sizes if each.kind == asked.LOSS), "")
    if not x:
        return None
    question = Question(kind=asked.LOSS, x=x)
    is_drawn = x == axes.x
    if not is_drawn:
        axes = arrange(comparison, QueryDict(urlencode({"x": x})))
        comparison = replace(comparison, axes=axes, question=question)
    if all(curve.missing for curve in comparison.curves):
        return None
    # Of two sizes, which are no curve of the page, it has not judged the loss.
    return curves.of_curves(comparison if is_drawn else judging.judged(comparison), question)


def _over_dates(comparison: Comparison, question: Question) -> Answer:
    axes = comparison.axes
    curves_of_days = comparison.curves if axes.x == DATE else []
    if question.kind == asked.NEWER:
        return history.newer(comparison, curves_of_days, question)
    answer = history.since(comparison, curves_of_days, question)
    if comparison.question.kind or any(isinstance(claim, Step) for claim in answer.claims):
        return answer
    if comparison.levels:
        return ranked(comparison, Question(kind=asked.BEST, fact=judging.told_apart_by(comparison, comparison.levels)))
    # With too few batches to tell a change the newest is set against the one before it.
    base = comparison.baseline
    names = [name for name in (*axes.series, axes.panels) if name and axes.x == DATE]
    own = fact_values(base, names) if base else ()
    beside = [group for group in comparison.groups if fact_values(group, names) == own]
    is_history = len({group.key for group in beside if group.dots}) >= LEAST_OF_A_CURVE
    against = pairs.newest_against_before(comparison, beside) if is_history else None
    return against or ranked(comparison, Question(kind=asked.BEST))


def offered(comparison: Comparison, answer: Answer) -> list[Answer]:
    """Each question that the data can answer, but for the one that was, with what its words need."""
    if comparison.metric is None or len(comparison.valued) < 2:
        return []
    own, facts = comparison.metric.name, comparison.axes.facts
    seen = {_subject(answer.question, own, answer.ranked_at)}
    pair = (answer.first, answer.second) if answer.question.kind == asked.A_B else ()
    answerable = [*_rankings(comparison)] if comparison.better != "none" else []
    answerable += [(question, "") for question in _of_no_ranks(comparison)]
    questions = []
    for question, ranked_at in answerable:
        subject = _subject(question, own, ranked_at)
        if subject not in seen and (question.a, question.b) != pair:
            seen.add(subject)
            x = NO_PLACE
            if question.kind in asked.OF_CURVES:
                x = place_of(Axes(view=CURVE, x=question.x, facts=facts), comparison.groups)
                x = Place(MACHINE_LABELS[question.x], "", CLIENT) if question.x in CORES else x
            of_other = next((each for each in comparison.metrics if each.name == question.metric != own), None)
            told = {"first": question.a, "second": question.b, "ranked_at": ranked_at}
            questions.append(begun(comparison, question, x, of_other, **told))
    return questions


def _subject(question: Question, metric: str, ranked_at: RankedAt) -> tuple[str, str, str, str]:
    """Which system is best, or loads fastest, ranks the systems: one question, however it is called. Which comes to
    most anywhere is another than which has more at equal levels.
    """
    if question.kind in asked.OF_RANKS:
        # Which disk is best is asked once, by the name of a storage or by its device.
        fact = "storage:data" if question.fact in _DISKS else question.fact or "dbms"
        return (asked.RANK, fact, question.metric or metric, ranked_at)
    return (question.kind, question.fact, question.x or question.metric or metric, "")


def _of_no_ranks(comparison: Comparison) -> Iterator[Question]:
    columns, facts, over = comparison.columns, comparison.axes.facts, list[str]()
    for name in facts:
        # A size that is stated twice, as scale and in GB, is one question.
        if (questions := [*_over(name, comparison)]) and not any(columns.alike(name, x) for x in over):
            over.append(name)
            yield from questions
            if name == comparison.axes.x and _turns(comparison):
                yield Question(kind=asked.SCALES, x=name)
    if _differ_in_cores(comparison):
        yield Question(kind=asked.SCALES, x=CORES[0])
    # Where each system has a configuration of its own, no two groups differ in one setting.
    several = not columns.follow(["config"], ["dbms"]) and not are_days_apart(comparison, "config")
    may_differ = several or any(fact.is_switch for fact in facts.values())
    if may_differ and have_effects(comparison.valued, comparison.varying):
        yield Question(kind=asked.EFFECTS)
    # Batches of one day are batches.
    has_releases = are_releases(columns)
    free = {*facts, SYSTEM} - of_a_release(columns) if has_releases else facts.keys()
    days = most_levels(DATE, free, columns)
    # Each release is set against the one before it.
    if days >= (LEAST_OF_A_CURVE if has_releases else 2 * LEAST_DAYS):
        yield Question(kind=asked.SINCE)
        yield from (Question(kind=asked.SINCE, metric=other) for other in _beside(comparison, "dbms", values=1))
    if days >= LEAST_OF_A_CURVE:
        yield Question(kind=asked.NEWER, than=DEFAULT_BASELINE)
    if len({bool(group.all_runs[0].publication_id) for group in comparison.valued}) > 1:
        yield Question(kind=asked.PUBLISHED)
    if len(comparison.groups) == 2:
        yield Question(kind=asked.CHANGED)
    yield from filter(None, (_two_batches(comparison), _two_branches(comparison)))
    # Beside which version of all is best: what the newest has changed.
    versions = {fact_value(group, "dbms"): group.all_runs[0].dbms_version.place for group in comparison.valued}
    if len(comparison.systems) == 1 and len(versions) > 2 and not are_days_apart(comparison, "dbms"):
        *_, before, newest = sorted(versions, key=lambda version: versions[version])
        yield Question(kind=asked.A_B, fact="dbms", a=newest, b=before)


def _two_batches(comparison: Comparison) -> Question | None:
    """The newer against the older, where something was measured in both, whatever else was then: a kernel, a commit."""
    columns = comparison.columns
    free = [name for name in comparison.axes.facts if not name.startswith((CONTEXT, "tested"))]
    batches = sorted(comparison.valued, key=lambda group: position_of(group.facts[MOMENT]))
    if len(batches) < FEWEST_GROUPS or len({*columns["batch"]}) != 2 or most_levels("batch", free, columns) < 2:
        return None
    fact = "label" if columns.alike("label", "batch") else "batch"
    older, newer = dict.fromkeys(fact_value(group, fact) for group in batches)
    return Question(kind=asked.A_B, fact=fact, a=newer, b=older)


def _two_branches(comparison: Comparison) -> Question | None:
    """What was measured in turn: the branch that was on most of its days, against that of most days."""
    if judging.BRANCH not in comparison.axes.facts:
        return None
    days = grouped((fact_value(group, judging.BRANCH), fact_value(group, DATE)) for group in comparison.valued)
    of_branch = {branch: {*of} for branch, of in days.items() if branch != NO_FACT}
    main = max(of_branch, key=lambda branch: len(of_branch[branch]), default="")
    shared = {branch: len(of & of_branch[main]) for branch, of in of_branch.items() if branch != main}
    other = max(shared, key=lambda branch: shared[branch], default="")
    is_beside = bool(other) and shared[other] >= LEAST_OF_A_CURVE
    return Question(kind=asked.A_B, fact=judging.BRANCH, a=other, b=main) if is_beside else None


def _turns(comparison: Comparison) -> bool:
    """Whether a curve over sizes or another number is surely best between its ends, or worst."""
    axes = comparison.axes
    if not axes.asks_of_levels or comparison.better == "none":
        return False
    place = place_of(axes, comparison.groups)
    return any(along.turn for along in curves.curves_along(comparison, place, comparison.curves))


def _rankings(comparison: Comparison) -> Iterator[tuple[Question, RankedAt]]:
    """Those that have an answer, with how they rank."""
    of_ranked, facts = comparison.ranked_columns, comparison.axes.facts
    several_systems = "dbms" in facts and len(set(of_ranked["dbms"])) > 1
    ranks_systems = several_systems and not are_days_apart(comparison, "dbms")
    questions = [Question(kind=asked.BEST, fact="dbms")] if ranks_systems else []
    for name in (name for name in facts if name not in comparison.said_twice):
        bare = name.removeprefix(FACTOR)
        # Nobody asks which seed wins, and what a switch did is asked of all of them together.
        is_other = bare == name or bare in CLIENTS or name in NEVER_TAKEN or is_name(name) or facts[name].is_switch
        declared = [group.conditions.declared.get(bare, "") for group in comparison.valued]
        is_condition = not is_other and factor_role(bare, *declared) == Role.CONDITION
        is_ranked = name in judging.RANKED or name.startswith(CONTEXT) or is_condition
        # A configuration that each system has of its own, or a disk each machine, is no other question than which one.
        several = len({value for value in of_ranked[name] if value != NO_FACT}) > 1
        places = ["dbms", *(["hardware"] if name == "storage:data" else [])]
        is_own = any(of_ranked.follow([name], [place]) for place in places)
        if is_ranked and several and not is_own and not are_days_apart(comparison, name):
            questions.append(Question(kind=asked.RANK, fact=name))
    for first in questions[:1]:
        questions += [first.model_copy(update={"metric": other}) for other in _beside(comparison, first.fact)]
    of_load = {metric.name: metric for metric in comparison.metrics if metric.name in asked.LOAD_METRICS}
    load = next((name for name in asked.LOAD_METRICS if name in of_load), "")
    # One loading has a time and a rate: either answers it.
    if load and ranks_systems and comparison.metric not in of_load.values():
        questions.append(Question(kind=asked.LOAD, metric=load))
    columns, at_levels, at = Columns(comparison.drawn), Question(kind=asked.RANK, fact="dbms"), ""
    for question in [*questions[:1], *([at_levels] if ranks_systems else []), *questions[1:]]:
        # Which system is best at equal levels is another question only than which comes to most anywhere.
        if question == at_levels and at != "best":
            continue
        if (ranked_at := judging.ranked_as(comparison, question, columns)) is not None:
            at = at or ranked_at
            yield question, ranked_at


def _beside(comparison: Comparison, fact: str, *, values: int = 2) -> list[str]:
    """A latency beside a rate, a restore beside a backup, and the primary metric beside all others: more throughput is
    often bought with latency, and a fast backup with a slow restore. Then what its sender named, as cost and energy. Of
    those that so many values of the fact have.
    """
    metric = comparison.metric.name if comparison.metric else ""
    primary = [group.all_runs[0].workload.primary_metric for group in comparison.groups]
    told: dict[str, set[str]] = {}
    name_by_pk = {each.pk: each.name for each in comparison.metrics}
    for group in comparison.groups:
        for pk in {row.metric_id for run in group.runs for row in run.measurements.all()}:
            told.setdefault(name_by_pk[pk], set()).add(fact_value(group, fact))
    others = dict.fromkeys(each.name for each in comparison.metrics if each != comparison.metric)
    names = [name for name in others if len(told.get(name, ())) >= values]
    wanted = [*dict.fromkeys(primary)]
    if metric in primary and not metric.endswith(_BESIDE):
        # That of the operation that is counted before those of others.
        of_tools = sorted(names, key=lambda name: (name.partition("_")[0] != metric.partition("_")[0], name))
        wanted = [name for beside in _BESIDE for name in (beside, *of_tools) if name.endswith(beside)]
    first = [name for name in wanted if name in names][:1]
    own = [name for name in names if name not in METRICS and not name.endswith(_BESIDE) and name not in first]
    return [*first, *own[:MOST_OWN]]


def _differ_in_cores(comparison: Comparison) -> bool:
    """Whether machines of one processor, of three numbers of cores, are all that differs."""
    facts, columns = comparison.axes.facts, comparison.columns
    if comparison.better != "higher" or not columns.follow([*facts], ["hardware"]):
        return False
    machines = {group.all_runs[0].hardware for group in comparison.valued}
    cores = grouped((each.cpu_model, each.cpu_cores) for each in machines if each and each.cpu_cores)
    return any(len({*of_model}) >= LEAST_OF_A_CURVE for of_model in cores.values())


def _over(name: str, comparison: Comparison) -> Iterator[Question]:
    """What is lost over a size or another number, or how far something scales over clients, where groups promise the
    same and a curve has two levels.
    """
    facts, columns = comparison.axes.facts, comparison.columns
    axes = Axes(view=CURVE, x=name, facts=facts)
    if not axes.kind:
        return
    known = {fact_value(group, name) for group in columns.groups if group.ranked}
    # Without a fixed rate, of which the factor is 0, it is another question.
    numbers = facts[name].numbers.items()
    number_by_level = {
        level: number for level, number in numbers if level in known and (number or not zero_words(name))
    }
    curves = [levels & number_by_level.keys() for levels in levels_while_alike(name, facts.keys(), columns)]
    if max(map(len, curves), default=0) < 2:
        return
    if axes.asks_of_levels:
        first, *_, last = sorted(number_by_level, key=lambda level: number_by_level[level])
        loss = Question(kind=asked.LOSS, x=name, start=number_by_level[first], end=number_by_level[last])
        # Where nothing was measured at both ends, each curve is asked between its own.
        is_whole = any({first, last} <= levels for levels in curves)
        yield loss if is_whole else loss.model_copy(update={"start": None, "end": None})
    scales = axes.kind == CLIENT and comparison.better == "higher"
    if scales:
        yield Question(kind=asked.SCALES, x=name)
    # A knee is looked for per doubling, which leads to no level of 0.
    doubled = max(sum(number_by_level[level] > 0 for level in levels) for levels in curves)
    values = doubled * max(len(group.judged) for group in columns.groups)
    if (axes.asks_of_levels or scales) and doubled >= LEAST_FOR_KNEE and values >= LEAST_VALUES_FOR_KNEE:
        yield Question(kind=asked.FALLS_OFF, x=name)
