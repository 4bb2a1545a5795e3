"""Two against each other: one against another, what each setting did, here against published, what differs."""

from __future__ import annotations

from collections.abc import Iterable

from benchagent.catalog import Role

from runs.answers.answer import Amount, Answer, Changed, Effect, LevelChange, Published, begun, change_of
from runs.answers.ranking import ONE_ONLY
from runs.answers.words.gaps import refusal_words
from runs.answers.words.levels import against_words, by_level_words
from runs.compare.asked import A_B, Question
from runs.compare.comparison import Comparison
from runs.compare.effects import printed_pairs
from runs.compare.facts import NEVER_TAKEN, fact_value
from runs.compare.grouping import day_of
from runs.compare.groups import Group
from runs.compare.guard import bare_field, condition_words, refusal
from runs.compare.levels import Key, Levels, Series
from runs.stats import Kind

PUBLICATION = "publication"


def a_against_b(comparison: Comparison, question: Question) -> Answer:
    """The first that is asked for against the second: groups by their keys, or values of a fact."""
    base = comparison.baseline
    if comparison.levels:
        return _series_against(comparison, comparison.levels, question)
    valued = [group for group in comparison.groups if group.dots]
    if base is None or len(valued) < 2:
        return begun(comparison, question, missing=[ONE_ONLY])

    def named(text: str) -> Group | None:
        return next((group for group in valued if text in (group.key, fact_value(group, question.fact))), None)

    if unknown := [text for text in (question.a, question.b) if text and named(text) is None]:
        return begun(comparison, question, missing=[f"Nothing with values here is “{unknown[0]}”."])
    first = (named(question.a) if question.a else None) or next(group for group in valued if group.key != base.key)
    second = (named(question.b) if question.b else None) or base
    if second.key == first.key:
        second = next(group for group in valued if group.key != first.key)
    return _groups_against(comparison, question, first, second)


def newest_against_baseline(comparison: Comparison, groups: Iterable[Group]) -> Answer:
    """The newest against the baseline, of what was measured on several days: nobody asks which day wins."""
    base = comparison.baseline
    newest = max((group for group in groups if group.dots), key=lambda group: day_of(group.runs[0]), default=None)
    question = Question(kind=A_B)
    if base is None or newest is None or newest.key == base.key:
        return begun(comparison, question)
    return _groups_against(comparison, question, newest, base)


def _groups_against(comparison: Comparison, question: Question, group: Group, base: Group) -> Answer:
    verdict = comparison.verdicts.of(group, base)
    differing = comparison.verdicts.differences_of(group, base)
    refused = refusal(differing)
    claim = LevelChange(
        label="", ratio=change_of(verdict, refused=f"no ratio, {refused}" if refused else "not judged"),
        runs=[*group.run_ids, *base.run_ids],
    )  # fmt: skip
    return begun(
        comparison, question, claims=[claim], sure=_is_sure(claim.ratio), first=group.label, second=base.label,
        not_alike="" if refused else condition_words(differing, comparison.named),
    )  # fmt: skip


def _series_against(comparison: Comparison, levels: Levels, question: Question) -> Answer:
    names, order = levels.names, levels.order
    if unknown := [
        text for text in (question.a, question.b) if text and not any(_is_named(levels, key, text) for key in order)
    ]:
        return begun(comparison, question, missing=[f"Nothing that is compared here is “{unknown[0]}”."])
    first = next((key for key in order if _is_named(levels, key, question.a)), None)
    first = first or next(key for key in order if key != levels.base)
    second = next((key for key in order if _is_named(levels, key, question.b)), levels.base)
    if second == first:
        second = next(key for key in order if key != first)
    if levels.between(first, second) is None:
        second = levels.base
    series = levels.between(first, second) or Series(names[first], [])
    overall = change_of(series.overall, refused="no two levels in common")
    of_levels = [
        LevelChange(
            label=row.label, ratio=change_of(row.against.verdict, refused=against_words(row.against)),
            runs=[run for group in (*row.groups, *row.bases) for run in group.run_ids],
        )
        for row in series.rows
        if row.pairs
    ]  # fmt: skip
    runs = list(dict.fromkeys(run for level in of_levels for run in level.runs))
    return begun(
        comparison, question, claims=[LevelChange(label="", ratio=overall, runs=runs), *of_levels],
        sure=_is_sure(overall), over=f"{len(series.with_ratio)} levels of {levels.held_words}",
        first=names[first], second=names[second], by_level=by_level_words(series),
    )  # fmt: skip


def _is_named(levels: Levels, key: Key, asked: str) -> bool:
    """Whether a value of what is compared is asked for, or the key of one of its groups."""
    if not asked:
        return False
    return asked in key or any(group.key == asked for group, series in levels.group_series if series == key)


def _is_sure(change: Amount) -> bool:
    return change.verdict in (Kind.BETTER, Kind.WORSE, Kind.DIFFERENT, Kind.EQUIVALENT, Kind.TOO_SMALL)


def effects(comparison: Comparison, question: Question) -> Answer:
    """The largest first."""
    claims = []
    for setting in comparison.effects:
        row = setting.row
        claims.append(
            Effect(
                label=setting.setting, start=setting.start, end=setting.end, pairs=len(row.pairs),
                ratio=change_of(row.against.verdict, refused=refusal_words(row.against)),
                runs=[run for group in (*row.groups, *row.bases) for run in group.run_ids],
            )
        )  # fmt: skip
    claims.sort(key=lambda claim: -abs((claim.ratio.value or 1.0) - 1))
    missing = [] if claims else ["No two groups differ in one setting of their configurations and in nothing else."]
    sure = any(_is_sure(claim.ratio) for claim in claims)
    return begun(comparison, question, claims=claims, missing=missing, sure=sure)


def published(comparison: Comparison, question: Question) -> Answer:
    """Each group that was measured here beside the printed one of the same system that was asked the same."""
    claims, verdicts = [], comparison.verdicts
    for group, beside in printed_pairs(comparison.groups):
        refused = refusal(verdicts.differences_of(group, beside))
        ratio = change_of(None if refused else verdicts.of(group, beside), refused=refused or "not judged")
        runs = [*group.run_ids, *beside.run_ids]
        claims.append(Published(label=group.label, here=group.centre, printed=beside.centre, runs=runs, ratio=ratio))
    missing = [] if claims else ["Nothing here was measured as something that is published was: re-run its experiment."]
    sure = any(claim.ratio.value is not None for claim in claims)
    return begun(comparison, question, claims=claims, missing=missing, sure=sure)


def changed(comparison: Comparison, question: Question) -> Answer:
    """What the guard tells of two groups, what matters first."""
    groups = comparison.groups
    if len(groups) != 2:
        return begun(comparison, question, missing=["Choose two groups, or two runs."])
    first, second = groups
    runs = [*first.run_ids, *second.run_ids]
    differing = [each for each in comparison.verdicts.differences_of(first, second) if each.a != each.b]
    claims = [Changed(label=each.label, a=each.a, b=each.b, role=each.role, runs=runs) for each in differing]
    told = {each.field for each in differing}
    # What is compared is no condition of the comparison: the guard does not speak of the versions.
    for fact in comparison.varying:
        a, b = (fact.words[group.facts[fact.field]] for group in groups)
        if fact.field not in NEVER_TAKEN and bare_field(fact.field) not in told and a != b:
            claims.insert(0, Changed(label=fact.label, a=a, b=b, role=Role.QUESTION, runs=runs))
    missing = [] if claims else ["Nothing that is recorded of them differs."]
    return begun(
        comparison, question, claims=claims, missing=missing, sure=bool(claims), first=first.label, second=second.label
    )
