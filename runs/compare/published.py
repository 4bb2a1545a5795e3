"""What was measured here beside what an article prints: as the plan of a re-run names it, else asked the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from benchagent.catalog import Role, factor_role, factor_span
from pydantic import TypeAdapter

from runs.compare.configurations import differences_between
from runs.compare.groups import Group
from runs.compare.guard import WINDOW, Difference
from runs.models import Experiment, Run
from runs.models.shapes import CellFacts, Match
from runs.run.facets import FACTOR

_MATCHES = TypeAdapter(list[Match])
# Checks of a run that do not hold: something else kept the machine busy, or a few terminals did the work of all.
_DISTURBED = ("machine_alone", "terminals_fair")


def matches_of(experiment: Experiment) -> list[Match]:
    """Which of its cells answer which published figure: never guessed, its plan carries it."""
    return _MATCHES.validate_python(experiment.plan.get("published", []))


def is_chosen_here(run: Run, facts: CellFacts) -> bool:
    """Whether these facts choose the run of an experiment."""

    def fits(name: str, wanted: str | float) -> bool:
        if name == "dbms":
            return run.dbms_version.dbms.slug == wanted
        if name == "version":
            return f"{run.dbms_version.version}.".startswith(f"{wanted}.")
        # A run does not name an optional factor that nobody varied: it is as if it were empty.
        return (run.factor(name) or "") == wanted

    return all(fits(name, wanted) for name, wanted in facts.items())


def is_chosen_there(run: Run, facts: CellFacts) -> bool:
    """Whether these facts choose the published run."""

    def fits(name: str, wanted: str | float) -> bool:
        if name in ("version", "workload"):
            return (run.dbms_version if name == "version" else run.workload).source_id == wanted
        return run.factor(name) == (None if wanted == "" else wanted)

    return all(fits(name, wanted) for name, wanted in facts.items())


def differences_from_published(here: Sequence[Run], there: Sequence[Run]) -> list[Difference]:
    """What to know before what a re-run measured is set against the figure that its plan names: by the rules of every
    comparison, and where a run was disturbed or its window is of another length, there is no ratio.

    The workload and what is asked are those that the match names; an article measures them in its own way.
    """
    reasons = [
        Difference("checks", "Checks", words, words, "blocks")
        for run in here
        for check in run.checks
        if check.get("name") in _DISTURBED and not check.get("ok")
        for words in [f"repeat {run.repeat}: {check.get('detail')}"]
    ]
    for each in differences_between(here, there):
        is_kept = each.field == "durability" or each.role == Role.PROCEDURE
        reasons.append(each if is_kept else replace(each, severity="note"))
    lengths = [sorted(filter(None, map(_window_s, runs))) for runs in (here, there)]
    if all(lengths) and max(*lengths[0], *lengths[1]) > factor_span(WINDOW) * min(*lengths[0], *lengths[1]):
        windows = f"{lengths[0][0]:g} s here", f"{lengths[1][0]:g} s there"
        reasons.append(Difference(WINDOW, "Window", *windows, "blocks", Role.PROCEDURE))
    return list(dict.fromkeys(reasons))


def _window_s(run: Run) -> float | None:
    """The window of what was measured: articles say it of their workload."""
    if isinstance(own := run.factor(WINDOW), int | float):
        return float(own)
    minutes = run.workload.details.get("duration_minutes")
    return 60.0 * minutes if isinstance(minutes, int | float) else None


def planned_pairs(groups: Iterable[Group]) -> list[tuple[Group, Group]]:
    """Each group of a re-run, with the published one that its plan names."""
    valued = [group for group in groups if group.dots]
    printed = [group for group in valued if group.all_runs[0].publication]
    ids = {pk for group in valued if (pk := group.all_runs[0].experiment_id)}
    plans = {plan.pk: plan for plan in Experiment.objects.filter(pk__in=ids)} if printed and ids else {}
    pairs = []
    for group in valued:
        first = group.all_runs[0]
        plan = plans.get(first.experiment_id) if first.experiment_id else None
        figures = [match for match in matches_of(plan) if _is_of(match, first)] if plan else []
        article = plan.plan.get("publication") if plan else ""
        theirs = [each for each in printed if _slug(each.all_runs[0]) == article]
        pairs += [
            (group, beside) for figure in figures for beside in theirs
            if is_chosen_there(beside.all_runs[0], figure.theirs)
        ][:1]  # fmt: skip
    return pairs


def _is_of(match: Match, run: Run) -> bool:
    """Whether it sets the run itself, and no relation of it, against published runs."""
    is_figure = bool(match.ours and match.theirs and not match.base and not match.gap)
    return is_figure and is_chosen_here(run, match.ours)


def _slug(run: Run) -> str:
    return run.publication.slug if run.publication else ""


def planned_differences(groups: Iterable[Group]) -> Mapping[tuple[str, str], list[Difference]]:
    """Of each pair that a plan names, by the keys of its groups."""
    pairs = planned_pairs(groups)
    return {(group.key, beside.key): differences_from_published(group.runs, beside.runs) for group, beside in pairs}


def printed_pairs(groups: Iterable[Group]) -> list[tuple[Group, Group]]:
    """Each group that was measured here, with the printed one that its plan names, else with that of the same system
    that was asked the same. Of a system that was never asked the same each stands with what is nearest: the guard says
    what differs.
    """
    every = list(groups)
    pairs = planned_pairs(every)
    planned = {group.key for group, _ in pairs}
    asked_of: dict[UUID, list[tuple[Group, frozenset[object]]]] = {}
    here_of: dict[UUID, list[tuple[Group, frozenset[object]]]] = {}
    for group in every:
        if group.dots and group.key not in planned:
            first = group.all_runs[0]
            by_system = asked_of if first.publication_id else here_of
            by_system.setdefault(first.dbms_version.dbms_id, []).append((group, _asked(group)))
    for system, here in here_of.items():
        printed = asked_of.get(system, [])
        is_asked_alike = bool({asked for _, asked in here} & {asked for _, asked in printed})
        for group, asked in here:
            alike = [each for each in printed if each[1] == asked] if is_asked_alike else printed
            if alike:
                pairs.append((group, min(alike, key=lambda each: len(each[1] ^ asked))[0]))
    return pairs


def _asked(group: Group) -> frozenset[object]:
    """What was asked of its system; of the window and the terminals the guard speaks."""
    declared = group.conditions.declared
    factors = [(name, name.removeprefix(FACTOR)) for name in group.facts if name.startswith(FACTOR)]
    return frozenset(
        (name, group.facts[name])
        for name, bare in factors
        if factor_role(bare, *filter(None, [declared.get(bare)])) == Role.QUESTION
    )
