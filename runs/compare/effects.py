"""Pairs of groups that differ in one setting alone, and what each setting did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log
from statistics import fmean
from types import MappingProxyType

from benchagent.catalog import Durability
from benchagent.importers.source import seconds_of, size_bytes_of

from runs.compare.configurations import given_by_config, setting_words, swept
from runs.compare.facts import NEVER_TAKEN, Fact, distinguishing, fact_value, fact_values
from runs.compare.groups import Contrast, Group, are_comparable
from runs.compare.guard import Difference, blocking, differences
from runs.compare.levels import LevelRow
from runs.formatting import natural
from runs.run.circumstances import NOT_GIVEN
from runs.run.facets import FACTOR
from runs.run.likeness import SETTING
from runs.stats import ALPHA, Ratio, levels_that_count, ratio, ratios_of_levels
from runs.stats.effects import MainEffect, main_effects
from runs.stats.levels import Pair

# Facts that vary with the configuration alone.
_OF_A_CONFIGURATION = frozenset({"config", "batch"}) | NEVER_TAKEN

_OFF = frozenset({"off", "none", "no", "false", "disabled"})


@dataclass(frozen=True)
class SettingPairs:
    """A setting from one value to another: the pairs of groups that differ in it alone, as one level.

    `rests`: of each pair what else is set, in words by its name. `estimate`: by least squares over so many
    `configurations` that differ in several settings, without pairs.
    """

    setting: str
    start: str
    end: str
    row: LevelRow
    rests: list[dict[str, str]]
    estimate: Ratio | None = None
    configurations: int = 0

    @property
    def counted(self) -> SettingPairs:
        """With the pairs that count among several, by their repeats."""
        pairs = self.row.pairs
        at = levels_that_count([ratio(group.judged, base.judged) for group, base in pairs]) or range(len(pairs))
        return replace(
            self, row=replace(self.row, pairs=[pairs[each] for each in at]), rests=[self.rests[each] for each in at]
        )

    @property
    def only_with(self) -> list[str]:
        """What varies elsewhere and is the same in all pairs, so that nothing is known of its other values."""
        first = self.rests[0] if self.rests else {}
        return [words for name, words in first.items() if len({rest[name] for rest in self.rests}) == 1]

    def ends(self, tests: int) -> list[tuple[str, Ratio, int]]:
        """The least and the most that it does, each with what is set beside it, and of how many pairs, where it surely
        is not the same beside everything; else empty. `tests`: of so many settings that is asked. Intervals hold for
        all of them together.

        Beside is one other setting where it surely differs by that one and, beside each value of that, by nothing
        else; and all that is set where no single one is.
        """
        if not self.rests:
            return []
        names = distinguishing({name: [rest[name] for rest in self.rests] for name in self.rests[0]})
        whole = self._beside(names)
        ratios, p_alike = ratios_of_levels([*whole.values()])
        if p_alike is None or p_alike >= ALPHA / tests:
            return []
        found, pairs_of = dict(zip(whole, ratios, strict=True)), whole
        surest = ALPHA / tests
        for name in names:
            parts = self._beside([name])
            of_parts, p_of_parts = ratios_of_levels([*parts.values()])
            within = [ratios_of_levels([*self._beside(names, {name: value}).values()])[1] for value in parts]
            is_it_alone = all(p is None or p >= ALPHA / tests for p in within)
            if p_of_parts is not None and p_of_parts < surest and is_it_alone:
                found, pairs_of, surest = dict(zip(parts, of_parts, strict=True)), parts, p_of_parts
        confidence = 1 - ALPHA / (tests * len(found))
        least, *_, most = sorted(found.items(), key=lambda each: each[1].value)
        return [(words, ratio.at(confidence), len(pairs_of[words])) for words, ratio in (least, most)]

    def _beside(self, names: Sequence[str], only: Mapping[str, str] = MappingProxyType({})) -> dict[str, list[Pair]]:
        """The repeats of these pairs by what these others are set to, the same of both; nights of it are one. `only`
        those with this among it.
        """
        beside: dict[str, list[Pair]] = {}
        for rest, (group, base) in zip(self.rests, self.row.pairs, strict=True):
            if only.items() <= rest.items():
                beside.setdefault(", ".join(rest[name] for name in names), []).append(Pair(group.judged, base.judged))
        return beside


def setting_effects(groups: Sequence[Group], varying: Sequence[Fact]) -> list[SettingPairs]:
    """By pairs of groups that differ in one setting alone; by least squares over all configurations where these say
    twice as much of a setting, or it has no pair, as in screening designs and fractions of a factorial.
    """
    settings = _settings(groups, varying)
    by_pairs, by_squares = [*_by_pairs(groups, *settings)], _by_least_squares(groups, *settings)
    # Nights of one pair are one.
    pairs_of = {(each.setting, each.end): len({(*rest.values(),) for rest in each.rests}) for each in by_pairs}
    is_more = any(effect.variance * pairs_of.get((each.setting, each.end), 0) <= 1 for each, effect in by_squares)
    return [each for each, _ in by_squares] if is_more else [each.counted for each in by_pairs]


def have_effects(groups: Sequence[Group], varying: Sequence[Fact]) -> bool:
    """Whether `setting_effects` finds any."""
    settings = _settings(groups, varying)
    return any(_by_pairs(groups, *settings)) or bool(_by_least_squares(groups, *settings))


def _by_least_squares(
    groups: Sequence[Group], settings_of: Mapping[str, Mapping[str, str]], names: Sequence[str],
    facts: Mapping[str, Fact],
) -> list[tuple[SettingPairs, MainEffect]]:  # fmt: skip
    """Each value of each setting against its first, of what the design tells; empty where some configurations may not
    be compared. A version, a machine, a size and what else varies have a mean of their own.
    """
    restated = {f"{FACTOR}{name.replace(' ', '_')}" for name in names}
    besides = [field for field in facts if field not in restated]
    rows: dict[tuple[object, ...], dict[tuple[str, ...], list[Group]]] = {}
    for group in groups:
        if group.key in settings_of and min(group.judged, default=0.0) > 0:
            block = (group.all_runs[0].dbms_version_id, *fact_values(group, besides))
            own = tuple(settings_of[group.key].get(name, NOT_GIVEN) for name in names)
            rows.setdefault(block, {}).setdefault(own, []).append(group)
    for of_block in rows.values():
        if not are_comparable([*chain.from_iterable(of_block.values())]):
            return []
    values = [_smallest_first({own[at] for of_block in rows.values() for own in of_block}) for at in range(len(names))]
    columns = [(at, value) for at, of_name in enumerate(values) for value in of_name[1:]]
    configurations = sum(map(len, rows.values()))
    # A mean for each block and a term for each value leave no configuration for the error.
    if len(rows) + len(columns) >= configurations:
        return []
    design = [
        [*(float(own[at] == value) for at, value in columns), *(float(block == other) for other in [*rows][1:])]
        for block, of_block in rows.items() for own in of_block
    ]  # fmt: skip
    measured = [of_own for of_block in rows.values() for of_own in of_block.values()]
    logs = [fmean(fmean(map(log, group.judged)) for group in of_own) for of_own in measured]
    told = []
    for (at, value), effect in zip(columns, main_effects(design, logs), strict=False):
        if effect:
            ends = (value, values[at][0])
            sides = [
                [group for of_block in rows.values() for own, of_own in of_block.items() if own[at] == end
                 for group in of_own] for end in ends
            ]  # fmt: skip
            row = LevelRow(names[at], {}, sides[0], sides[1], [], Contrast())
            told.append((SettingPairs(names[at], ends[1], value, row, [], effect.ratio, configurations), effect))
    return told


def _settings(
    groups: Sequence[Group], varying: Sequence[Fact]
) -> tuple[dict[str, dict[str, str]], list[str], dict[str, Fact]]:
    """What each group with values sets, by its key; the settings that vary; and what else does, by field."""
    run_of = {group.key: group.all_runs[0] for group in groups if group.dots}
    settings_of_config = given_by_config(run_of.values())
    facts = {
        fact.field: fact
        for fact in varying
        if not fact.field.startswith(SETTING) and fact.field not in _OF_A_CONFIGURATION
    }
    settings_of = {key: settings_of_config[run.config] for key, run in run_of.items()}
    names = swept(settings_of_config.values())
    for switch in [fact for fact in facts.values() if fact.is_switch and fact.label not in names]:
        del facts[switch.field]
        names = [*names, switch.label]
        settings_of = {
            group.key: {**settings_of[group.key], switch.label: fact_value(group, switch.field)}
            for group in groups if group.key in settings_of
        }  # fmt: skip
    return settings_of, names, facts


def _by_pairs(
    groups: Sequence[Group], settings_of: Mapping[str, Mapping[str, str]], names: Sequence[str],
    facts: Mapping[str, Fact],
) -> Iterator[SettingPairs]:  # fmt: skip
    """Each value of each setting against the first of its values that was measured beside the same; none where no two
    groups differ in it alone.
    """
    for name in names:
        others = [other for other in names if other != name]
        # A factor of the same name states the setting once more.
        besides = [field for field in facts if field != f"{FACTOR}{name.replace(' ', '_')}"]
        by_rest: dict[tuple[object, ...], dict[str, list[Group]]] = {}
        for group in groups:
            if group.key in settings_of:
                settings = settings_of[group.key]
                rest = [settings.get(other) for other in others]
                key = (*rest, group.all_runs[0].dbms_version_id, *fact_values(group, besides))
                by_rest.setdefault(key, {}).setdefault(settings.get(name, NOT_GIVEN), []).append(group)
        values = _smallest_first({value for of_value in by_rest.values() for value in of_value})
        for at, value in enumerate(values):
            rows = ((start, _level(name, by_rest.values(), start, value)) for start in values[:at])
            if first := next(((start, row) for start, row in rows if row), None):
                start, row = first
                rests = [
                    {other: setting_words(other, settings_of[group.key].get(other)) for other in others}
                    | {field: facts[field].in_legend(fact_value(group, field)) for field in besides}
                    for group, _ in row.pairs
                ]
                yield SettingPairs(name, start, value, row, rests)


def _smallest_first(values: Iterable[str]) -> list[str]:
    """128MB before 4GB and 30s before 5min, where all are sizes or times; what is not given, the default, is first, and
    then what is off: a setting is turned on.
    """
    in_order = sorted(
        values, key=lambda value: (value not in (NOT_GIVEN, "default"), value.lower() not in _OFF, natural(value))
    )
    given_values = [value for value in in_order if value != NOT_GIVEN]
    for read in (size_bytes_of, lambda value: seconds_of(value.replace("min", "m"))):
        amounts = {value: amount for value in given_values if (amount := read(value)) is not None}
        if len(amounts) == len(given_values):
            return sorted(in_order, key=lambda value: amounts.get(value, -1.0))
    return in_order


def _level(name: str, of_rest: Iterable[Mapping[str, Sequence[Group]]], start: str, end: str) -> LevelRow | None:
    """None without a pair. Pairs that may not be compared are left out; where none may, the row says why.

    Another promise of a commit is what the setting was turned for: it ranks nothing, and is told with the ratio.
    """
    both = ((of_value[end], of_value[start]) for of_value in of_rest if start in of_value and end in of_value)
    pairs = [pair for groups, bases in both for pair in _of_one_batch(groups, bases)]
    if not pairs:
        return None
    allowed: list[tuple[Group, Group]] = []
    promises: dict[Difference, None] = {}
    reasons: list[Difference] = []
    for group, base in pairs:
        differing = differences(group.conditions, base.conditions)
        found = blocking(differing)
        sides = (group.conditions, base.conditions)
        # What a commit is worth, on a disk, told by both and contradicted by nothing that was counted.
        is_told = all(side.durability not in ("", Durability.MEMORY) and not side.doubt for side in sides)
        others = [each for each in found if each.field != "durability" or not is_told]
        if others:
            reasons = reasons or found
        else:
            allowed.append((group, base))
            # That of some pairs is not that of others: where one side is not known this is told, too.
            of_pair = [each for each in differing if each.field == "durability" and each.a != each.b]
            promises |= dict.fromkeys(replace(each, severity="note") for each in of_pair)
    shown, against = allowed or pairs, Contrast([*promises] if allowed else reasons)
    return LevelRow(name, {}, [group for group, _ in shown], [base for _, base in shown], shown, against)


def _of_one_batch(groups: Sequence[Group], bases: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Those that were measured together, as each night; where each has batches of its own, the first of both."""
    by_batch: dict[str, list[Group]] = {}
    for base in bases:
        by_batch.setdefault(fact_value(base, "batch"), []).append(base)
    # Each base once: two groups of one batch that are set against one base are no two pairs.
    together = [(group, of_batch.pop(0)) for group in groups if (of_batch := by_batch.get(fact_value(group, "batch")))]
    return together or [(groups[0], bases[0])]
