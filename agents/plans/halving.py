"""Between two points of a benchmark, in steps: the middle is measured in turn with both ends, then the half that moved.

The points are the versions between the two that their agent has; where both have one version, the settings that differ,
of which each point takes one more over from the new end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from benchagent.redaction import redact_value
from django.core.exceptions import PermissionDenied
from django.db import transaction

from agents.machines import Engine
from agents.models import Agent, Bisection, BisectionPlan, BisectionPoint
from agents.plans import schedule
from agents.plans.bisect import REPEATS, differing, measured_by_one_agent, versions_between
from agents.plans.matrix import Sets
from agents.plans.plan import Plan
from agents.refusals import FieldErrors
from runs.answers.answer import Part
from runs.answers.words.verdicts import verdict_words
from runs.formatting import percent
from runs.models import Experiment, Measurement, Run, User
from runs.models.choices import OPEN_STATES, RunState, Visibility
from runs.run.number import primary_number
from runs.stats import WINNERS, Kind, Verdict, geometric_mean, judge

# All combinations of the settings that still differ are thought of, and three of them run.
MOST_SETTINGS = 8
MOST_SHOWN = 50
SURE = (*WINNERS, Kind.DIFFERENT)
# So often a step is measured where its ends are too noisy to be told apart; what it has measured before counts.
MOST_ROUNDS = 3


def begin(old: Run, new: Run, *, user: User) -> Bisection:
    """Schedule the first step; of a search that goes on already, asked for twice, nothing. Raises FieldErrors,
    PermissionDenied.
    """
    agent, a, b = measured_by_one_agent(old, new)
    common = dict(b["settings"])
    if a["dbms_version"] != b["dbms_version"]:
        versions = versions_between(agent, b["dbms"], a["dbms_version"], b["dbms_version"])
        points: list[BisectionPoint] = [{"version": version, "settings": common} for version in versions]
    else:
        changed = differing(dict(a["settings"]), common, MOST_SETTINGS)
        settings = [
            common | {name: old for name, (old, _) in [*changed.items()][at:]} for at in range(len(changed) + 1)
        ]
        points = [{"version": b["dbms_version"], "settings": each} for each in settings]
    if len(points) < 3:
        raise FieldErrors(engines=f"Nothing lies between them: {difference(points)} is all that differs.")
    minutes = [f"{run.measured_at:%Y-%m-%d %H:%M} UTC" for run in (old, new)]
    days = [minute.partition(" ")[0] for minute in minutes]
    hidden = [run.visibility for run in (old, new) if run.visibility != Visibility.PUBLIC]
    plan: BisectionPlan = {
        "workload": b["workload"], "factors": dict(b["factors"]), "dbms": b["dbms"],
        "visibility": hidden[0] if hidden else Visibility.PUBLIC,
    }  # fmt: skip
    bisection = Bisection(
        owner=user, agent=agent, plan=plan, points=points, low=0, high=len(points) - 1,
        name=f"Between {' and '.join(days if len({*days}) > 1 else minutes)}",
    )  # fmt: skip
    with transaction.atomic():
        Agent.objects.select_for_update().get(pk=agent.pk)
        for other in Bisection.objects.filter(owner=user, agent=agent, outcome=""):
            if (other.plan, other.points) == (plan, points):
                return other
        bisection.experiment = schedule.start(_plan(bisection), user=user)
        bisection.save()
    return bisection


def go_on() -> int:
    """The next step of those whose last one has ended. Returns how many went on or ended."""
    waiting = Bisection.objects.filter(outcome="").values_list("pk", flat=True)
    return sum(_step(pk) for pk in waiting)


def _step(pk: UUID) -> bool:
    with transaction.atomic():
        bisection = Bisection.objects.select_for_update(of=("self",)).select_related("experiment", "owner").get(pk=pk)
        experiment = bisection.experiment
        if bisection.outcome or (experiment and experiment.runs.filter(state__in=OPEN_STATES).exists()):
            return False
        try:
            bisection.outcome = _decide(bisection, experiment) if experiment else "Its experiment was deleted."
            if not bisection.outcome:
                with transaction.atomic():
                    bisection.experiment = schedule.start(_plan(bisection), user=bisection.owner)
        except (FieldErrors, PermissionDenied) as error:
            bisection.outcome = str(error)
        except (KeyError, IndexError):
            bisection.outcome = "What it was to measure is damaged."
        bisection.save()
    return True


def _decide(bisection: Bisection, experiment: Experiment) -> str:
    """Narrow it to the half that moved more. -> why it ends here; empty where a further step, or this one, follows."""
    if experiment.runs.filter(state=RunState.CANCELLED).exists():
        return "It was cancelled."
    low, middle, high = bisection.low, bisection.middle, bisection.high
    rounds = [step["experiment"] for step in bisection.steps if (step["low"], step["high"]) == (low, high)]
    rounds.append(experiment.slug)
    numbers = [_numbers(rounds, bisection.points[at]) for at in (low, middle, high)]
    values = [[number.value for number in each] for each in numbers]
    if not all(values):
        return "A version or setting brought no number: see its experiment."
    metric = numbers[0][0].metric
    whole = judge(values[2], values[0], better=metric.better, threshold=metric.threshold)
    means = [math.log(geometric_mean(each) or 1.0) for each in values]
    first, second = means[1] - means[0], means[2] - means[1]
    bisection.steps.append(
        {
            "experiment": experiment.slug, "low": low, "middle": middle, "high": high,
            "first": math.expm1(first), "second": math.expm1(second),
        }
    )  # fmt: skip
    if whole.kind in (Kind.UNDECIDED, Kind.TOO_FEW) and len(rounds) < MOST_ROUNDS:
        return ""
    if whole.kind not in SURE:
        return f"Its ends do not surely differ when they are measured again: {verdict_words(whole)}."
    if _toward(first, whole) >= _toward(second, whole):
        bisection.high = middle
    else:
        bisection.low = middle
    if bisection.high - bisection.low > 1:
        return ""
    return f"It is {difference(bisection.points[bisection.low : bisection.high + 1])}."


def _toward(moved: float, whole: Verdict) -> float:
    """How far a half has moved in the direction of the whole."""
    return moved if whole.ratio and whole.ratio.value > 1 else -moved


def _numbers(experiments: Sequence[str], point: BisectionPoint) -> list[Measurement]:
    rows = Run.objects.with_values().filter(experiment__slug__in=experiments).select_related("job", "workload")
    at_point = (
        run
        for run in rows.prefetch_related("measurements__metric", "factors")
        if (run.job.spec["dbms_version"], dict(run.job.spec["settings"])) == (point["version"], point["settings"])
    )
    return [number for run in at_point if (number := primary_number(run)) and number.value > 0]


def difference(points: Sequence[BisectionPoint]) -> str:
    """How the first and the last point differ, in words: 15.3 → 15.9, or fsync on → off."""
    old, new = unlike(points)
    words = [f"{old['version']} → {new['version']}"] if old["version"] != new["version"] else []
    words += [f"{name} {old['settings'][name]} → {value}" for name, value in new["settings"].items()]
    return ", ".join(words)


def unlike(points: Sequence[BisectionPoint]) -> tuple[BisectionPoint, BisectionPoint]:
    """The first and the last point, each with the settings alone that differ; no secrets."""
    changed = _changed(points[0], points[-1])
    old, new = (
        BisectionPoint(
            version=point["version"],
            settings={name: redact_value(name, point["settings"][name]) or "" for name in changed},
        )
        for point in (points[0], points[-1])
    )
    return old, new


class Half(Part):
    """Half of a step: what differs between its ends, and by how much it moved, as a share of 1."""

    words: str
    moved: float

    @property
    def moved_words(self) -> str:
        return percent(self.moved, signed=True)


class Step(Part):
    """A step that has ended. `experiment`: its slug."""

    experiment: str
    halves: list[Half]


def steps_of(bisection: Bisection) -> list[Step]:
    shown = []
    for step in bisection.steps:
        first, second = _halves(bisection.points, step["low"], step["middle"], step["high"])
        halves = [Half(words=first, moved=step["first"]), Half(words=second, moved=step["second"])]
        shown.append(Step(experiment=step["experiment"], halves=halves))
    return shown


def present_halves(bisection: Bisection) -> tuple[str, str]:
    """What differs between the ends of both halves that are being measured."""
    return _halves(bisection.points, bisection.low, bisection.middle, bisection.high)


def _halves(points: Sequence[BisectionPoint], low: int, middle: int, high: int) -> tuple[str, str]:
    return difference(points[low : middle + 1]), difference(points[middle : high + 1])


def _changed(old: BisectionPoint, new: BisectionPoint) -> list[str]:
    return [name for name, value in new["settings"].items() if old["settings"][name] != value]


def _plan(bisection: Bisection) -> Plan:
    """Both ends and the middle, in turn."""
    base = bisection.plan
    low, middle, high = (bisection.points[at] for at in (bisection.low, bisection.middle, bisection.high))
    dbms = base["dbms"]
    halves = [_changed(low, middle), _changed(middle, high)]
    swept = {name: (low["settings"][name], high["settings"][name]) for half in halves for name in half}
    kept = tuple((name, value) for name, value in high["settings"].items() if name not in swept)
    return Plan(
        workload=base["workload"], factors=base["factors"], repeats=REPEATS, agent=bisection.agent,
        engines=tuple(dict.fromkeys(Engine(dbms, point["version"]) for point in (low, middle, high))),
        settings={dbms: kept}, swept={dbms: swept} if swept else {}, exclude=_excluded(halves, swept),
        visibility=base["visibility"], name=f"{bisection.name}, step {len(bisection.steps) + 1}",
    )  # fmt: skip


def _excluded(halves: Sequence[Sequence[str]], swept: Mapping[str, tuple[str, str]]) -> tuple[Sets, ...]:
    """All combinations but the old end, the new end, and the first half new with the second old."""
    old, new = ({name: values[at] for name, values in swept.items()} for at in (0, 1))
    left_out: list[Sets] = []
    for half in halves:
        for one, other in pairwise(half):
            left_out += [{one: old[one], other: new[other]}, {one: new[one], other: old[other]}]
    if all(halves):
        first, second = halves[0][0], halves[1][0]
        left_out.append({first: old[first], second: new[second]})
    return tuple(left_out)
