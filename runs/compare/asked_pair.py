"""Which two are meant where one is asked against another: series, or groups, by their values and keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from runs.compare.asked import A_B, Missing, Question
from runs.compare.facts import DATE, MOMENT, NEVER_TAKEN, fact_value
from runs.compare.grouping import position_of
from runs.compare.groups import Group
from runs.compare.levels import Key, Levels
from runs.formatting import grouped


def asked_pair(
    question: Question, groups: Sequence[Group], base: Group, levels: Levels | None
) -> tuple[Key, Key] | Missing:
    """The first and the second: of `levels` the keys of two series, else of two `groups` that have values. Without a
    first it is the first that is no baseline, without a second the baseline; of the only two values of the fact one.
    """
    base_key, fact = levels.base if levels else (base.key,), question.fact
    values = dict.fromkeys(fact_value(group, fact) for group in groups) if fact else {}
    if fact and len(values) < 2:
        return Missing("varying", names=[fact])
    if len(values) == 2 and not question.a and not question.b:
        of_base = fact_value(base, fact)
        question = question.model_copy(update={"a": next(each for each in values if each != of_base), "b": of_base})
    called: dict[Key, list[str]]
    if levels:
        called = {key: [*key] for key in levels.order}
        for group, key in levels.group_series:
            called[key].append(group.key)
    else:
        of_fact = {group.key: [fact_value(group, fact)] if fact else [] for group in groups}
        called = {(group.key,): [*of_fact[group.key], group.key, fact_value(group, "dbms")] for group in groups}
    asked = [_meant(text, groups, fact) for text in (question.a, question.b)]
    # As two profiles of a machine that has a new kernel.
    if asked[0] == asked[1] and question.a != question.b:
        return Missing("varying", names=[fact])
    first, second = (next((key for key, names in called.items() if text and text in names), None) for text in asked)
    if unknown := [text for text, key in zip(asked, (first, second), strict=True) if text and key is None]:
        there = dict.fromkeys(names[0] for names in called.values())
        return Missing("unknown", names=[unknown[0], *there])
    first = first or next(key for key in called if key != base_key)
    second = second or base_key
    second = next(key for key in called if key != first) if second == first else second
    if levels or not fact:
        return first, second
    # Of several groups that a value of the fact names, the two that are most alike in all else, of these the nearest to
    # each other in time, and of these the newest.
    at = {group.key: position_of(group.facts[MOMENT]) for group in groups}
    named = [[group for group in groups if text in (group.key, fact_value(group, fact))] for text in asked]
    pairs = [(one, other) for one, other in product(*named) if one.key != other.key]
    one, other = min(
        pairs,
        key=lambda pair: (_unlike(*pair), abs(int(at[pair[0].key]) - int(at[pair[1].key])), -at[pair[0].key]),
        default=(None, None),
    )
    return ((one.key,), (other.key,)) if one and other else (first, second)


def of_named(question: Question, groups: Sequence[Group]) -> list[Group]:
    """Those of the two values of the fact that are named, as who names two asks of nobody else; none where not both are
    its values.
    """
    meant = {_meant(text, groups, question.fact) for text in (question.a, question.b)}
    named = [group for group in groups if question.fact and fact_value(group, question.fact) in meant]
    return named if len({fact_value(group, question.fact) for group in named}) > 1 else []


def with_fact(question: Question, groups: Sequence[Group]) -> Question:
    """Two systems that are named are systems, whether that is said or not."""
    of_systems = question.model_copy(update={"fact": question.fact or "dbms"})
    return of_systems if question.kind == A_B and of_named(of_systems, groups) else question


def without_values(question: Question, groups: Sequence[Group]) -> list[Missing]:
    """What is missing of the two that are named: nothing here is called so, or several things are, or what is has no
    value, and why.
    """
    lost, unknown, fact = list[tuple[str, str]](), list[str](), question.fact
    called_by_text = {text: _called(text, groups, fact) for text in (question.a, question.b) if text}
    several = {text: called for text, called in called_by_text.items() if len(called) > 1}
    for text in dict.fromkeys(_meant(text, groups, fact) for text in called_by_text if text not in several):
        called = [each for each in groups if text in (fact_value(each, fact), fact_value(each, "dbms"), each.key)]
        if not called:
            unknown.append(text)
        elif not any(group.dots for group in called):
            lost.append(("; ".join(dict.fromkeys(group.gap or "" for group in called)), text))
    there = dict.fromkeys(fact_value(group, fact or "dbms") for group in groups)
    return [
        *(Missing("value_of", names=[reason, *texts]) for reason, texts in grouped(lost).items()),
        *(Missing("which", names=[text, *sorted(called)]) for text, called in several.items()),
        *(Missing("unknown", names=[text, *there]) for text in unknown[:1]),
        *(Missing("unknown_too", names=[text]) for text in unknown[1:]),
    ]


def _unlike(one: Group, other: Group) -> int:
    """In how many facts they differ, but for when they were measured and what follows from others."""
    names = {*one.facts, *other.facts} - NEVER_TAKEN - {DATE, MOMENT, "batch"}
    return sum(fact_value(one, name) != fact_value(other, name) for name in names)


def _meant(text: str, groups: Sequence[Group], fact: str) -> str:
    """The value that is the only one called so, else the text itself."""
    called = _called(text, groups, fact)
    return called.pop() if len(called) == 1 else text


def _called(text: str, groups: Sequence[Group], fact: str) -> set[str]:
    """The version of an address, those of a DBMS that is named without one, the disks of a name, else of a medium, or
    the machine of an address.
    """
    versions = {
        fact_value(group, "dbms")
        for group in groups
        for version in [group.all_runs[0].dbms_version]
        if version.slug == text or text.lower() in (version.dbms.name.lower(), version.dbms.slug)
    }
    disks = {fact_value(group, fact) for group in groups} if fact.startswith("storage") else set()
    machines = ((group, group.all_runs[0].hardware) for group in groups) if fact == "hardware" else ()
    named = {fact_value(group, fact) for group, machine in machines if machine and machine.slug == text}
    words_by_disk = {disk: disk.lower().removesuffix(")").split(" (") for disk in disks}
    by_name = {disk for disk, words in words_by_disk.items() if text.lower() == words[0]}
    of_medium = {disk for disk, words in words_by_disk.items() if text.lower() in words[1:]}
    return versions or named or by_name or of_medium
