"""What was measured here beside what an article prints: as the plan of a re-run names it, else asked the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple
from uuid import UUID

from benchagent.catalog import Role, factor_role, factor_span
from pydantic import TypeAdapter

from runs.compare.configurations import differences_between
from runs.compare.groups import Group
from runs.compare.guard import WINDOW, Difference
from runs.models import Aggregate, Experiment, Metric, Publication, Run
from runs.models.shapes import CellFacts, Match
from runs.run.facets import FACTOR

_MATCHES = TypeAdapter(list[Match])
# What an article calls a disk that its runs have as a device.
_DISK = ("disk", "storage")
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
        if name in _DISK and run.factor(name) is None:
            return str(wanted) in chain.from_iterable(_names_of_disks(run).values())
        return run.factor(name) == (None if wanted == "" else wanted)

    return all(fits(name, wanted) for name, wanted in facts.items())


def _names_of_disks(run: Run) -> dict[str, tuple[str, str]]:
    """What its disks are called and of which medium they are, by their roles."""
    return {use.role: (use.device.name, use.device.medium_label) for use in run.storage_rows}


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
    """Each group that was measured here, with the printed one that its plan names, else with the one of the same system
    that is most alike: asked the same, then of its version, then under the same conditions. What is alike in all of it
    stands first. Where its value is lost the pair has none; what is unlike stands for nothing that is lost.

    Of a system that was never asked the same each stands with what is nearest: the guard says what differs.
    """
    every = list(groups)
    planned = planned_pairs(every)
    planned_keys = {group.key for group, _ in planned}
    own = [group for group in every if group.dots and group.key not in planned_keys and not _is_printed(group)]
    printed = [group for group in every if _is_printed(group)]
    asked = {group.key: _factors_of(group, Role.QUESTION) for group in (*own, *printed)}
    asked_here, asked_there = defaultdict[UUID, set[Asked]](set), defaultdict[UUID, set[Asked]](set)
    for group in own:
        asked_here[_system(group)].add(asked[group.key])
    for group in printed:
        asked_there[_system(group)].add(asked[group.key])
    alike, unlike = list[tuple[Group, Group]](), list[tuple[Group, Group]]()
    for group in own:
        system = _system(group)
        is_asked_alike = bool(asked_here[system] & asked_there[system])
        besides = [
            (_unlikeness(group, each, len(asked[group.key] ^ asked[each.key])), each)
            for each in printed
            if _system(each) == system and (asked[group.key] == asked[each.key] or not is_asked_alike)
        ]
        besides = [(far, each) for far, each in besides if each.dots or far[:3] == ALIKE]
        if besides:
            far, beside = min(besides, key=lambda each: (each[0], not each[1].dots))
            (alike if far[:3] == ALIKE else unlike).append((group, beside))
    return [*planned, *sorted(alike, key=lambda pair: not pair[1].dots), *unlike]


def printed_alone(groups: Iterable[Group], metric: Metric) -> list[tuple[Group, Aggregate]]:
    """Each group that was measured here with the mean or median that an article prints, without repeats, of the same
    workload and version at the factors that it names.
    """
    own = [group for group in groups if group.dots and not _is_printed(group)]
    workloads = {group.all_runs[0].workload_id for group in own}
    rows = Aggregate.objects.filter(of=None, metric=metric, workload__in=workloads)
    printed = list(rows.select_related("publication", "dbms_version__dbms")) if own else []
    return [
        (group, row)
        for group in own
        for row in printed
        if row.dbms_version and row.dbms_version.name == group.all_runs[0].dbms_version.name
        and row.workload_id == group.all_runs[0].workload_id
        and all(group.all_runs[0].factor(name) == value for name, value in row.factors.items())
    ]  # fmt: skip


class Stated(NamedTuple):
    """What an article claims of two groups that were measured here: the first as a multiple of the second."""

    group: Group
    base: Group
    ratio: float
    words: str


def claimed_pairs(groups: Iterable[Group], metric: str) -> list[Stated]:
    """The claims of the articles among these groups that say of this metric how many times as much one side has, with
    the groups measured here that are its two sides, alike in all else. One of several systems or methods names none.
    """
    every = list(groups)
    own = [group for group in every if group.dots and not _is_printed(group)]
    articles = {run.publication for group in every for run in group.all_runs[:1] if run.publication}
    found = []
    for claim in (each for article in articles for each in _claims_of(article) if each.get("metric") == metric):
        ratio = _ratio_claimed(claim)
        sides: list[CellFacts] = [side for name in ("side_a", "side_b") if isinstance(side := claim.get(name), dict)]
        if ratio is None or len(sides) < 2:
            continue
        first, second = ([group for group in own if _is_side(group, side)] for side in sides)
        found += [
            Stated(group, base, ratio, str(claim.get("summary", "")))
            for group in first for base in second
            if group.key != base.key and _are_alike_but_for(group, base, sides)
        ]  # fmt: skip
    return found


def _claims_of(article: Publication) -> list[dict[str, Any]]:
    statements = article.content.get("statements")
    claims = statements.get("claims") if isinstance(statements, dict) else None
    return [claim for claim in claims if isinstance(claim, dict)] if isinstance(claims, list) else []


def _ratio_claimed(claim: Mapping[str, Any]) -> float | None:
    """A / B; None of one that is turned, has a bound or range only, or no amount."""
    ratio, percent = claim.get("ratio"), claim.get("percent")
    if re.match(r"\w+ B / ", str(claim.get("sense", ""))):
        return None
    if isinstance(ratio, int | float):
        return float(ratio)
    return 1 + percent / 100 if isinstance(percent, int | float) and percent > -100 else None


def _is_side(group: Group, side: CellFacts) -> bool:
    facts = {"version" if name == "dbms" else name: value for name, value in side.items()}
    return is_chosen_there(group.all_runs[0], facts)


def _are_alike_but_for(group: Group, base: Group, sides: Sequence[CellFacts]) -> bool:
    """Whether nothing that was asked or named tells two groups of one machine apart but what the sides do."""
    one, other = (each.all_runs[0] for each in (group, base))
    apart = {name for side in sides for name, value in side.items() if sides[0].get(name) != sides[1].get(name)}
    asked = ({name: value for name, value in run.factor_values.items() if name not in apart} for run in (one, other))
    same = [next(asked) == next(asked), one.hardware_id == other.hardware_id, one.batch_id == other.batch_id]
    is_version = "dbms" in apart or one.dbms_version_id == other.dbms_version_id
    return all(same) and is_version and ("workload" in apart or one.workload_id == other.workload_id)


Asked = frozenset[tuple[str, str]]
ALIKE = (0, False, 0)


def _unlikeness(group: Group, beside: Group, asked_else: int) -> tuple[int, bool, int, int]:
    """How far a printed group is from one that was measured here: `asked_else` in what was asked, then in its version,
    then in what is a condition and in the media of its disks, then in what these are called; of the window and the
    terminals the guard speaks.
    """
    is_another = group.all_runs[0].dbms_version.name != beside.all_runs[0].dbms_version.name
    of_both = (_factors_of(each, Role.CONDITION) for each in (group, beside))
    here, there = (_names_of_disks(each.all_runs[0]) for each in (group, beside))
    disks = [(here[role], there[role]) for role in here.keys() & there.keys()]
    names = sum(one != other for (one, _), (other, _) in disks)
    media = sum(one != other and bool(one and other) for (_, one), (_, other) in disks)
    return asked_else, is_another, len(set.symmetric_difference(*map(set, of_both))) + media, names


def _is_printed(group: Group) -> bool:
    return group.all_runs[0].publication_id is not None


def _system(group: Group) -> UUID:
    return group.all_runs[0].dbms_version.dbms_id


def _factors_of(group: Group, role: Role) -> Asked:
    """The factors that are this to a comparison, of those that vary."""
    declared = group.conditions.declared
    factors = [(name, name.removeprefix(FACTOR)) for name in group.facts if name.startswith(FACTOR)]
    return frozenset(
        (name, group.facts[name])
        for name, bare in factors
        if factor_role(bare, *filter(None, [declared.get(bare)])) == role
    )
