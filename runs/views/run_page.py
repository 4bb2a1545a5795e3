"""What the page of one run shows: what the run is, what it measured, whether it counts. Each is read as it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from runs.access import changes
from runs.access.rules import source_of
from runs.charts.latency import heat_figure, percentile_figure
from runs.charts.run import figures, memory_figure
from runs.dbms import unverified
from runs.models import Change, Measurement, Run
from runs.models.choices import RunState
from runs.models.visible import Reader, may_open, sees_all
from runs.run import derived, engine_report, quality, series, standing
from runs.run.artefacts import artefacts_of
from runs.run.attachments import attachments_of
from runs.run.durability import judgement
from runs.run.facets import factor_facets, ordered_measurements, origin, setting_rows, time_line
from runs.run.latency import latency_of, map_of
from runs.run.number import headline_numbers, implausible, missing_label, why_no_number
from runs.run.series import Series


class About:
    """What a run is: its workload's factors, its settings, its files, how and when it came about."""

    def __init__(self, run: Run, reader: Reader) -> None:
        self.run = run
        self.factors = factor_facets(run)
        self.settings = setting_rows(run)
        self.origin = origin(run)
        self.steps = time_line(run)
        self.files = artefacts_of(run, reader)
        self.notes = run.annotations.all()
        self.unverified = unverified(run.dbms_version.dbms.slug) if run.context.get("connection") else ""

    @property
    def changes(self) -> list[Change]:
        """Its own, and those of what decides who may see it; newest first."""
        source = source_of(self.run)
        of_source = changes.history(source) if source and source != self.run else ()
        return sorted([*changes.history(self.run), *of_source], key=lambda change: change.at, reverse=True)


def result_of(run: Run) -> list[Measurement]:
    """What a run had when it was cut short is among its numbers, and no result."""
    cut_short = run.state in (RunState.FAILED, RunState.CANCELLED, RunState.LOST)
    return [] if cut_short else headline_numbers(run)


class Measured:
    """What a run measured: numbers, charts, and what its DBMS counted."""

    def __init__(self, run: Run, samples: Sequence[Series]) -> None:
        self.samples, self.result, self.so_far = samples, result_of(run), derived.so_far(run)
        # What the run is about comes first.
        self.numbers = list(dict.fromkeys([*self.result, *ordered_measurements(run)]))
        self.figures = figures(run, samples)
        self.sampled = series.sampled(run) if run.is_open else ""
        latency, heat = latency_of([run]), map_of([run])
        self.latency_figures = [percentile_figure([("This run", 0, latency)])] if latency else []
        if heat:
            title = "Transactions by latency over time"
            self.latency_figures.append(heat_figure(heat, [run], id="latency-map", title=title))
        self.derived = derived.of_run(run, samples)
        self.engine, self.memory_figure = engine_report.EngineReport(run.statistics), memory_figure(run)
        self.attachments = attachments_of(run)


class Counting:
    """Whether a run counts, how it stands among its repeats, and what speaks against it."""

    def __init__(self, run: Run, measured: Measured, reader: Reader) -> None:
        self.run = run
        self.standing = standing.of_run(run, measured.result[0], reader) if measured.result and run.counts else None
        self.before = standing.run_before(run, reader)
        self.repeats = urlencode([("cell", key) for key in standing.cell_keys(run)])
        self.gap = "" if run.is_open else why_no_number(run)
        self.missing_metric = missing_label(run)
        self.implausible = [why for row in run.measurements.all() if (why := implausible(row))]
        self.durability = judgement(run)
        self.original = run.copy_of if run.copy_of and may_open(reader, run.copy_of) else None
        self.may_let_count = sees_all(reader) or not run.is_marked_by_rules
        self.not_judged = quality.not_judged(run, measured.samples)
