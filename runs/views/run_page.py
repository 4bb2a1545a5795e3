"""What the page of one run shows: what the run is, what it measured, whether it counts. Each is read as it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from benchagent.catalog import METRICS, factor_label

from runs.access import changes
from runs.access.rules import source_of
from runs.charts.base import Figure
from runs.charts.latency import heat_figure, percentile_figure
from runs.charts.run import figures, memory_figure
from runs.dbms import unverified
from runs.models import Change, Measurement, Run
from runs.models.choices import RunState
from runs.models.visible import Reader, may_open, sees_all
from runs.run import derived, engine_report, quality, series, standing
from runs.run.artefacts import artefacts_of
from runs.run.attachments import attachments_of
from runs.run.derived import Derived
from runs.run.durability import judgement
from runs.run.facets import factor_facets, ordered_measurements, origin, setting_rows, time_line
from runs.run.latency import latency_of, map_of
from runs.run.number import headline_numbers, implausible, why_no_number
from runs.run.series import Series
from runs.tables import Table


class About:
    """What a run is: its workload's factors, its settings, its files, how and when it came about."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.factors = factor_facets(run)
        self.settings = setting_rows(run)
        self.origin = origin(run)
        self.steps = time_line(run)
        self.files = artefacts_of(run)
        self.notes = run.annotations.all()
        self.unverified = unverified(run.dbms_version.dbms.slug) if run.context.get("connection") else ""

    @property
    def changes(self) -> list[Change]:
        """Its own, and those of what decides who may see it; newest first."""
        source = source_of(self.run)
        of_source = changes.history(source) if source and source != self.run else ()
        return sorted([*changes.history(self.run), *of_source], key=lambda change: change.at, reverse=True)


class Measured:
    """What a run measured: numbers, charts, and what its DBMS counted."""

    def __init__(self, run: Run, samples: Sequence[Series]) -> None:
        self.run, self.samples = run, samples
        # What a run had when it was cut short is among its numbers, and no result.
        cut_short = run.state in (RunState.FAILED, RunState.CANCELLED, RunState.LOST)
        self.result = [] if cut_short else headline_numbers(run)

    @cached_property
    def numbers(self) -> list[Measurement]:
        """What the run is about comes first."""
        return list(dict.fromkeys([*self.result, *ordered_measurements(self.run)]))

    @cached_property
    def figures(self) -> list[Figure]:
        return figures(self.run, self.samples)

    @cached_property
    def latency_figures(self) -> list[Figure]:
        latency, heat = latency_of([self.run]), map_of([self.run])
        shown = [percentile_figure([("This run", 0, latency)])] if latency else []
        if heat:
            title = "Transactions by latency over time"
            shown.append(heat_figure(heat, [self.run], id="latency-map", title=title))
        return shown

    @cached_property
    def sampled(self) -> str:
        return series.sampled(self.run)

    @cached_property
    def so_far(self) -> list[tuple[str, float]]:
        return derived.so_far(self.run)

    @cached_property
    def derived(self) -> Derived:
        return derived.of_run(self.run, self.samples)

    @cached_property
    def engine(self) -> engine_report.EngineReport:
        return engine_report.of_run(self.run)

    @cached_property
    def memory_figure(self) -> Figure | None:
        return memory_figure(self.run)

    @cached_property
    def attachments(self) -> list[tuple[str, Table]]:
        return attachments_of(self.run)


class Counting:
    """Whether a run counts, how it stands among its repeats, and what speaks against it."""

    def __init__(self, run: Run, measured: Measured, reader: Reader) -> None:
        self.run = run
        self.standing = standing.of_run(run, measured.result[0], reader) if measured.result and run.counts else None
        self.before = standing.run_before(run, reader)
        self.gap = "" if run.is_open else why_no_number(run)
        missing = run.missing_metric
        self.missing_metric = METRICS[missing].label if missing in METRICS else factor_label(missing)
        self.implausible = [why for row in run.measurements.all() if (why := implausible(row))]
        self.durability = judgement(run)
        self.original = run.copy_of if run.copy_of and may_open(reader, run.copy_of) else None
        self.may_let_count = sees_all(reader) or not run.is_marked_by_rules
        self.not_judged = quality.not_judged(run, measured.samples)
