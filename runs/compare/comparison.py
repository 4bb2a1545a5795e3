"""A comparison: its groups, and what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import QueryDict

from runs.compare.asked import Question
from runs.compare.configurations import setting_facts
from runs.compare.effects import SettingPairs
from runs.compare.facts import DATE, DISK_OF, Columns, Fact
from runs.compare.grouping import BATCH
from runs.compare.groups import Group
from runs.compare.levels import Levels
from runs.compare.panels import Axes, Curve, Panel, drawn_groups, panels_of, relative
from runs.compare.verdicts import Verdicts
from runs.formatting import listed
from runs.models import ChangePoint, Metric, Run, SeriesBatch
from runs.models.choices import AlertState
from runs.run.facets import Facet
from runs.stats import PRACTICAL_THRESHOLD, Noise, Pair, Ratio, noise_by_machine
from runs.stats.watch import Watched, watched

# A page names so many values of a fact that varies.
MOST_VALUES = 12
# A heading names so many systems.
MOST_SYSTEMS_NAMED = 4


@dataclass(frozen=True)
class Comparison:
    """`metric` is None when no run of the set has any number. `baseline` is the group that the others are set against.

    `named`: fields that the labels of the groups tell. `asked_threshold`: what a reader set for all metrics.
    `verdicts`: of all that the page sets against each other, judged together. `pooled` says what is pooled beyond
    batches on request (`grouping`), empty where nothing is. `unsaid`: the settings of the baseline, which hold where
    the name of a configuration does not say others. `left_out`: runs beyond what is compared at once; `not_here`: those
    that the address names and that are deleted or not for the reader. `levels`: where groups are set against each other
    at equal levels, and not all against the one baseline; `equal`: else those at which several values of the ranked
    fact were measured, which are judged by their groups. `effects`: of settings, where a question asks for them.
    `best_groups`: of each curve the best, else all; where not all was measured alike, of the places where it was
    (`alike_in`). `whole`: what it was before a reader fixed or pooled facts. `axes`: of what is drawn. `controls`: the
    address with what its question implies, where one was asked for.
    """

    metric: Metric | None
    metrics: list[Metric]
    groups: list[Group]
    baseline: Group | None
    common: list[Facet]
    varying: list[Fact]
    named: list[str]
    asked_threshold: float | None = None
    verdicts: Verdicts = field(default_factory=Verdicts)
    grouping: str = BATCH
    pooled: str = ""
    unsaid: str = ""
    left_out: int = 0
    not_here: int = 0
    levels: Levels | None = None
    equal: Levels | None = None
    effects: list[SettingPairs] = field(default_factory=list)
    question: Question = field(default_factory=Question)
    best_groups: list[Group] = field(default_factory=list)
    alike_in: list[str] = field(default_factory=list)
    whole: Comparison | None = None
    controls: QueryDict = field(default_factory=QueryDict)
    axes: Axes = field(default_factory=lambda: Axes(""))

    @cached_property
    def drawn(self) -> list[Group]:
        return drawn_groups(self.groups, self.axes.fixed)

    @cached_property
    def noises(self) -> dict[str, Noise[float] | None]:
        """The noise of all groups, by machine."""
        return noise_by_machine((group.machine, group.judged) for group in self.groups)

    def pair(self, group: Group, base: Group) -> Pair:
        """The repeats of two groups, as they are judged."""
        return Pair(group.judged, base.judged, self.noises[group.machine], self.noises[base.machine])

    @cached_property
    def settings(self) -> dict[str, tuple[Fact, dict[str, str]]]:
        """The settings that differ among configurations, as facts, with their values by the keys of groups."""
        return setting_facts({group.key: group.all_runs[0] for group in self.groups})

    @cached_property
    def effect_ends(self) -> list[list[tuple[str, Ratio, int]]]:
        """Of each of the effects the least and the most that it does (`SettingPairs.ends`)."""
        return [effect.ends(len(self.effects)) for effect in self.effects]

    @cached_property
    def said_twice(self) -> set[str]:
        """The factors that name a storage where its device tells the same of each of its values: of what failed the
        device is not known.
        """
        columns, varying = Columns(self.groups), {fact.field for fact in self.varying}
        return {
            name for name, device in DISK_OF.items()
            if {name, device} <= varying and (known := columns.known(device)).alike(name, device)
            and {*known[name]} == {*columns[name]}
        }  # fmt: skip

    @cached_property
    def panels(self) -> list[Panel]:
        """In the metric's unit."""
        return panels_of(self.drawn, self.axes, self.question.fact, self.places if self.axes.x == DATE else {})

    @property
    def curves(self) -> list[Curve]:
        """The curves of all panels."""
        return [curve for panel in self.panels for curve in panel.curves]

    @cached_property
    def changes(self) -> dict[str, Watched]:
        """Where each curve over dates changes for good, by its name, as the page of a benchmark finds it: nothing of a
        curve that came to zero.
        """
        return {
            curve.name: watched(curve.logs, self.threshold) if len(curve.logs) == len(curve.levels) else Watched()
            for curve in self.curves
        }

    @cached_property
    def places(self) -> dict[UUID, tuple[UUID, Any]]:
        """The benchmark of each batch, and its place there, by its first run."""
        rows = SeriesBatch.objects.filter(run__in=[run.pk for run in self.all_runs])
        rows = rows.only("benchmark", "run", "commit_number", "version_order", "measured_at")
        return {row.run_id: (row.benchmark_id, row.place) for row in rows if row.run_id}

    @cached_property
    def expected_runs(self) -> set[UUID]:
        """The first run of each batch since which, as people say, a change of the metric is expected."""
        expected = ChangePoint.objects.filter(
            alert__state=AlertState.EXPECTED, at__batch__in={run.batch_id for run in self.all_runs},
            benchmark__metric=self.metric,
        )  # fmt: skip
        return {pk for pk in expected.values_list("at__run", flat=True) if pk}

    @cached_property
    def shown_panels(self) -> list[Panel]:
        """As they are drawn: per cent where the axes say so."""
        return relative(self.panels, self.axes.y_as, self.baseline)

    @cached_property
    def systems(self) -> list[str]:
        """The names of the DBMSs."""
        return list(dict.fromkeys(group.all_runs[0].dbms_version.dbms.name for group in self.groups))

    @property
    def subject(self) -> str:
        """What is compared, for a heading: "Throughput of H2 and SQLite"."""
        count = len(self.systems)
        systems = listed(self.systems) if count <= MOST_SYSTEMS_NAMED else f"{count} systems"
        return f"{self.metric.label if self.metric else 'No numbers'} of {systems}"

    @property
    def threshold(self) -> float:
        """A share of 1: a smaller difference is too small to matter."""
        of_metric = self.metric.threshold if self.metric else PRACTICAL_THRESHOLD
        return of_metric if self.asked_threshold is None else self.asked_threshold

    @property
    def better(self) -> str:
        """Higher, lower, or none, as of what has no number."""
        return self.metric.better if self.metric else "none"

    @property
    def threshold_percent(self) -> str:
        return f"{self.threshold * 100:.6g}"

    @property
    def valued(self) -> list[Group]:
        """The groups with a value."""
        return [group for group in self.groups if group.dots]

    @cached_property
    def columns(self) -> Columns:
        """The facts of these."""
        return Columns(self.valued)

    @cached_property
    def ranked_columns(self) -> Columns:
        """The facts of those of them that are ranked."""
        return Columns([group for group in self.valued if group.ranked])

    @property
    def failed(self) -> dict[str, Group]:
        """The groups without a value, to which no run will bring one, by their labels."""
        return {group.label: group for group in self.groups if not group.dots and not group.is_to_come}

    @property
    def ranked(self) -> list[Group]:
        return [group for group in self.groups if group.ranked]

    @property
    def all_runs(self) -> list[Run]:
        return [run for group in self.groups for run in group.all_runs]

    @property
    def varying_words(self) -> dict[str, str]:
        """The values of each fact that varies by its label; many are counted, and what two facts say alike of every
        group is said once.
        """
        by_label: dict[str, str] = {}
        seen: set[tuple[str, ...]] = set()
        for fact in (fact for fact in self.varying if fact.field not in self.said_twice):
            of_groups = tuple(fact.words[group.facts[fact.field]] for group in self.groups)
            if of_groups not in seen:
                seen.add(of_groups)
                words, more = [fact.words[value] for value in fact.values], len(fact.values) - MOST_VALUES
                # Names of batches and configurations have parts.
                between = "; " if any(" · " in word for word in words) else " · "
                by_label[fact.label] = f"{between.join(words[:MOST_VALUES])}{f' and {more} more' if more > 0 else ''}"
        return by_label
