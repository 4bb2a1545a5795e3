"""Runs that are scheduled here and measured by an agent: made, moved, filled, observed by a second agent, finished."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import UUID

from benchagent import histogram
from benchagent.catalog import WORKLOADS, Durability, plausible_range, refusal
from benchagent.catalog.durability import Statement, judge
from benchagent.protocol import NOT_SAMPLED, OBSERVED_MAXIMA, OBSERVED_MEANS, JobResult, JobSpec, SamplesItem
from benchagent.redaction import redact_text, redact_value
from django.db import transaction

from runs.access import changes
from runs.access.rules import default_visibility
from runs.configs.creating import resolve_config
from runs.dbms import resolve_dbms_version
from runs.machines.profiles import device_named
from runs.models import (
    Batch,
    Config,
    Experiment,
    HardwareProfile,
    Measurement,
    Run,
    RunFactor,
    RunStorage,
    SeriesChunk,
    StateChange,
    User,
    cell_key,
)
from runs.models.base import clean
from runs.models.choices import ENDED_STATES, Provenance, RunState, StorageRole
from runs.models.runs import NUMBERS_AGREE
from runs.results.names import batch_of, resolve_metrics, resolve_workload
from runs.run import agreement, durability, latency, quality, series
from runs.run.number import refresh_primary

LONG_TEXT = 100_000
# The agent's check of the class "survives power loss": TPS against what the device can sync.
WAITED_CHECK = "waited_for_disk"
WARNING_LIMIT = 1000


def scheduled_run(
    spec: JobSpec,
    *,
    experiment: Experiment | None,
    order_index: int | None,
    hardware: HardwareProfile | None,
    demonstration: bool = False,
    owner: User | None = None,
    visibility: str = "",
    config: Config | None = None,
    called: str = "",
    batch: Batch | None = None,
) -> Run:
    """The queued run of a job. Raises UnknownName for what the catalogue does not have.

    `config`: the stored configuration that its settings are of; without it that which holds them, or a new one.
    `called`: what people call its settings. A run of an experiment belongs to who started that and is seen by whom
    that is seen; `owner` and `visibility` (empty: the setting's default) are for a run without one, as is `batch`: that
    of the run of which it is a repeat.
    """
    if experiment is not None:
        owner, visibility = experiment.created_by, experiment.visibility
    with transaction.atomic():
        run = Run(
            id=UUID(spec["run_id"]),
            batch=batch or batch_of(experiment.pk if experiment else UUID(spec["run_id"]), owner=owner),
            experiment=experiment,
            workload=resolve_workload(spec["workload"]),
            dbms_version=resolve_dbms_version(spec["dbms"], spec["dbms_version"]),
            config=config or resolve_config(spec["dbms"], spec["settings"], called=called, by=owner),
            hardware=hardware,
            state=RunState.QUEUED,
            provenance=Provenance.MEASURED,
            demonstration=demonstration,
            repeat=spec["repeat"],
            order_index=order_index,
            owner=owner,
            visibility=visibility or default_visibility(),
            context={"connection": spec["connection"]} if "connection" in spec else {},
        )
        units = {factor.name: factor.unit for factor in WORKLOADS[spec["workload"]].factors}
        factors = [RunFactor.of(run, name, value, units.get(name, "")) for name, value in spec["factors"].items()]
        run.cell_key = cell_key(run, storage={}, factors={factor.name: factor.value for factor in factors})
        run.set_measured_at()
        run.save(force_insert=True)
        RunFactor.objects.bulk_create(factors)
        StateChange.objects.create(run=run, state=RunState.QUEUED, at=run.created_at)
        return run


def record_state(*, run_id: Any, state: str, at: datetime, message: str = "") -> bool:
    """Move a run if its present state allows it, and note when. False: it did not, nothing was written."""
    changes: dict[str, Any] = {"state_changed_at": at}
    if state == RunState.PREPARING:
        changes["started_at"] = changes["measured_at"] = at
    if state in ENDED_STATES:
        changes["finished_at"] = at
    if message:
        changes["message"] = clean(message, LONG_TEXT)
    with transaction.atomic():
        if not Run.objects.move(run_id, to=state, **changes):
            return False
        StateChange.objects.create(run_id=run_id, state=state, at=at, message=clean(message, LONG_TEXT))
        if state in ENDED_STATES:
            Batch.objects.refile(Run.objects.filter(pk=run_id))
        return True


def end_waiting(keys: Collection[Any], *, state: RunState, at: datetime, message: str) -> int:
    """Those of these runs that wait; the caller holds their jobs. Returns how many."""
    runs = Run.objects.filter(pk__in=keys, state=RunState.QUEUED)
    waiting = list(runs.values_list("pk", flat=True))
    message = clean(message, LONG_TEXT)
    with transaction.atomic():
        count = runs.update(state=state, state_changed_at=at, finished_at=at, message=message)
        rows = (StateChange(run_id=key, state=state, at=at, message=message) for key in waiting)
        StateChange.objects.bulk_create(rows)
        Batch.objects.refile(Run.objects.filter(pk__in=waiting))
    return count


def append_samples(*, run: Run, item: SamplesItem) -> None:
    """Store one delivery of samples. A delivery that is there already changes nothing.

    Raises ValueError for times or values that are no finite numbers, and for values that the metric cannot have.
    """
    values = item["values"]
    _check_samples(item)
    if not values:
        return
    with transaction.atomic():
        metric = resolve_metrics([clean(item["metric"], 120)])[clean(item["metric"], 120)]
        chunk = series.new_chunk(
            run=run, metric=metric, chunk=item["chunk"], t0_s=item["t0_s"], interval_s=item["interval_s"], values=values
        )
        SeriesChunk.objects.bulk_create([chunk], ignore_conflicts=True)


def _check_samples(item: SamplesItem) -> None:
    t0_s, interval_s = item["t0_s"], item["interval_s"]
    if not (math.isfinite(t0_s) and math.isfinite(interval_s) and interval_s > 0):
        raise ValueError(f"t0_s and interval_s must be finite, interval_s above 0: {t0_s}, {interval_s}")
    if not 0 <= t0_s / interval_s + len(item["values"]) <= series.MAX_SAMPLES:
        raise ValueError(f"a series holds at most {series.MAX_SAMPLES} samples")
    allowed = plausible_range(item["metric"])
    for index, value in enumerate(item["values"]):
        if value is not None and value not in allowed:
            raise ValueError(f"values[{index}]: {refusal(item['metric'], value)}")


def finish_run(*, run: Run, outcome: str, message: str, at: datetime, result: JobResult) -> None:
    """End a run with everything its agent knows of it, in one transaction. A repeated call changes nothing.

    Raises ValueError naming a metric with a value that it cannot have; nothing is stored then.

    The late result of a run that was given up as lost is accepted, also when the agent calls it lost itself.
    """
    with transaction.atomic():
        if not record_state(run_id=run.id, state=outcome, at=at, message=message):
            run.refresh_from_db()
            if not (run.state == RunState.LOST and outcome == RunState.LOST):
                return
        run.refresh_from_db()
        _store_facts(run, result, message)
        _store_measurements(run, result)
        _store_storage(run, result)
        run.set_cell_key()
        run.save(update_fields=["cell_key"])
        refresh_primary(Run.objects.filter(pk=run.pk))
        series.merge(run)
        judge_run(run)


def _store_facts(run: Run, result: JobResult, message: str) -> None:
    run.effective_settings = [[name, redact_value(name, value)] for name, value in result["effective_settings"]]
    run.ignored_settings = list(result["ignored_settings"])
    run.driver = {**result["driver"], "product": result["product"]} if result["product"] else dict(result["driver"])
    if build := dbms_build(result["product"], run.dbms_version.version):
        run.tested = {**run.tested, "dbms_build": build}
    run.dataset = dict(result["dataset"])
    run.command_lines = [redact_text(line) for line in result["command_lines"]]
    run.checks = [dict(check) for check in result["checks"]]
    not_in_force = f"not in force as given: {'; '.join(run.ignored_settings)}" if run.ignored_settings else ""
    run.warnings = [*result["warnings"], *filter(None, [not_in_force])]
    run.per_terminal = list(result["per_terminal"])
    run.statistics = dict(result.get("statistics", {}))
    _store_durability(run, result)
    run.latency_histogram = result["histogram"] or ""
    run.message = clean(message, LONG_TEXT)
    run.save()


def judge_run(run: Run) -> bool:
    """What its own numbers say against a run that has finished, in place of what was said before. -> whether that is
    new. What failed is told already."""
    if run.state != RunState.FINISHED:
        return False
    add_computed(run, quality.fairness(run.per_terminal), quality.OF_TERMINALS)
    facts = quality.RunFacts.of(run, series.read_all(run, names=quality.EVENTS))
    checks = quality.judged(facts)
    replaced = [check for check in run.checks if check.get("name") in (*quality.NAMES, NUMBERS_AGREE)]
    earlier = quality.warnings(replaced)
    before = (run.checks, run.warnings)
    run.warnings = [*(words for words in run.warnings if words not in earlier), *quality.warnings(checks)]
    if against := agreement.numbers_agree(facts, percentiles_ms(run), agreement.dates_apart(run)):
        checks.append(against)
    run.checks = [*(check for check in run.checks if check not in replaced), *map(dict, checks)]
    run.save(update_fields=["checks", "warnings"])
    _mark_by_rules(run, against["detail"] if against else "", [check for check in replaced if check not in checks])
    return (run.checks, run.warnings) != before


def _mark_by_rules(run: Run, reason: str, no_more: Sequence[Mapping[str, Any]]) -> None:
    """Invalid because it contradicts itself, or not any more. What somebody let count again stays as it is."""
    reasons = [check["detail"] for check in no_more if check.get("name") == NUMBERS_AGREE]
    if reason and run.invalid_at is None and not reasons and not changes.history(run).filter(field="invalid").exists():
        run.mark_by_rules(reason)
    elif not reason and run.invalid_at and run.invalid_reason in reasons:
        run.invalid_at, run.invalid_reason = None, ""
    else:
        return
    run.save(update_fields=["invalid_at", "invalid_reason", "invalid_by"])
    refresh_primary(Run.objects.filter(pk=run.pk))


def percentiles_ms(run: Run) -> dict[str, float]:
    """As its histogram has them; empty where there is none that can be read."""
    try:
        return latency.percentiles_ms(histogram.decode(run.latency_histogram))
    except ValueError:
        return {}


def add_computed(run: Run, values: Mapping[str, float], note: str) -> int:
    """Add those of the catalogue's metrics that the run does not have. -> how many."""
    present = set(run.measurements.filter(phase="run").values_list("metric__name", flat=True))
    metrics = resolve_metrics(values)
    new = [
        Measurement(run=run, metric=metrics[name], value=value, provenance=Provenance.COMPUTED, note=note)
        for name, value in values.items()
        if name not in present
    ]
    Measurement.objects.bulk_create(new)
    return len(new)


def _store_durability(run: Run, result: JobResult) -> None:
    """What an older agent sends is what is promised; the storage and its own check of the disk's rate are known too."""
    fact = result["durability"]
    if fact is None or fact["durability"] not in {"", *Durability}:
        return
    if "promised" in fact and "storage" in fact and "observed" in fact:
        judged = durability.of_rows(fact)
    else:
        uses = {use["role"]: use["device"] for use in result["storage"]}
        devices = run.hardware.storage.filter(name__in=uses.values()) if run.hardware else []
        by_name = {device.name: device for device in devices}
        held = durability.of_devices((role, by_name[name]) for role, name in uses.items() if name in by_name)
        failed = (check["detail"] for check in result["checks"] if check["name"] == WAITED_CHECK and not check["ok"])
        against = next(failed, "")
        observed = Statement(Durability.DBMS_CRASH, against) if against else durability.NOT_OBSERVED
        judged = judge(Statement.of_row(fact), held, observed)
    for name, value in durability.columns_of(judged).items():
        setattr(run, name, clean(value, LONG_TEXT))
    run.statistics = {**run.statistics, durability.KEY: durability.kept(judged)}


def dbms_build(product: str, version: str) -> str:
    """What the DBMS reports about itself beyond its version: "Apache Derby 10.16.1.1 - (1901046)" is build 1901046."""
    return clean(product.partition(version)[2].strip(" .-()"), 200) if version else ""


def _store_measurements(run: Run, result: JobResult) -> None:
    metrics = result["metrics"]
    for index, metric in enumerate(metrics):
        if why := refusal(metric["name"], metric["value"]):
            raise ValueError(f"result.metrics[{index}]: {why}")
    rows = resolve_metrics(clean(metric["name"], 120) for metric in metrics)
    # The last of two values with the same name and phase counts.
    latest = {(clean(metric["name"], 120), clean(metric["phase"], 20) or "run"): metric["value"] for metric in metrics}
    run.measurements.all().delete()
    Measurement.objects.bulk_create(
        Measurement(run=run, metric=rows[name], phase=phase, value=value, provenance=Provenance.MEASURED)
        for (name, phase), value in latest.items()
    )


def _store_storage(run: Run, result: JobResult) -> None:
    profile = run.hardware
    if profile is None:
        return
    uses = {use["role"]: use for use in result["storage"] if use["role"] in StorageRole.values}
    run.storage.all().delete()
    RunStorage.objects.bulk_create(
        RunStorage(run=run, role=role, device=device_named(profile, use["device"]), path=clean(use["path"], 500))
        for role, use in uses.items()
    )


@dataclass(frozen=True)
class Observed:
    """`clock`, `load_clock`: ClockFacts of observer and load generator, empty where unknown; `over`: no more will come.

    `problem`: why there are no samples, or not all.
    """

    agent: str
    observation: str
    problem: str
    clock: Mapping[str, float]
    load_clock: Mapping[str, float]
    over: bool

    @property
    def words(self) -> str:
        offset = self.offset
        clock = f"{1000 * offset[0]:.1f} ms ± {1000 * offset[1]:.1f} ms" if offset else "not known"
        return f"server sampled by agent {self.agent} on its machine ({self.observation}); clock offset {clock}"

    @property
    def offset(self) -> tuple[float, float] | None:
        """What was added to the observer's clock for the load generator's, and how wrong that may be, in s."""
        if not self.clock or not self.load_clock:
            return None
        return (
            self.clock["offset_s"] - self.load_clock["offset_s"],
            self.clock["uncertainty_s"] + self.load_clock["uncertainty_s"],
        )


def note_observer(*, run: Run, observed: Observed) -> None:
    """Put it into a run that has ended. May be called again, with more."""
    with transaction.atomic():
        sampled = _measured(run)
        if any(sampled.values()):
            words = observed.words
            if observed.over:
                seconds = len([t_s for t_s, _ in series.read(run, "tps").points() if t_s >= run.window_s[0]])
                count = len(sampled.get("server_cpu_cores", []))
                part = f"the server was sampled in {count} of {seconds} measured seconds" if count < seconds else ""
                warning = "; ".join(filter(None, (part, observed.problem)))
            else:
                warning = "samples of the server are still to come"
        else:
            problem = observed.problem or ("nothing came" if observed.over else "nothing has come yet")
            words, warning = NOT_SAMPLED, f"{NOT_SAMPLED}: {problem}"
        _store_observed(run, observed, words, clean(warning, WARNING_LIMIT))
        figures = {name: fmean(values) for name, values in sampled.items() if values and name in OBSERVED_MEANS}
        figures |= {name: max(values) for name, values in sampled.items() if values and name in OBSERVED_MAXIMA}
        metrics = resolve_metrics(figures)
        for name, value in figures.items():
            Measurement.objects.update_or_create(
                run=run, metric=metrics[name], phase="run",
                defaults={"value": value, "provenance": Provenance.MEASURED},
            )  # fmt: skip
        series.merge(run)


def _measured(run: Run) -> dict[str, list[float]]:
    """The values of the measured seconds by metric, gaps left out."""
    begin_s = run.window_s[0]
    wanted = {*OBSERVED_MEANS, *OBSERVED_MAXIMA}
    return {
        sampled.name: [value for t_s, value in sampled.points() if value is not None and t_s >= begin_s]
        for sampled in series.read_all(run)
        if sampled.name in wanted
    }


def _store_observed(run: Run, observed: Observed, words: str, warning: str) -> None:
    """Replaces what was said before: by the agent of the load, or here."""
    before = run.statistics.get("observer", {}).get("warning", "")
    observer: dict[str, str | float] = {
        "agent": observed.agent, "observation": observed.observation, "warning": warning
    }  # fmt: skip
    if observed.offset:
        observer["clock_offset_s"], observer["clock_uncertainty_s"] = observed.offset
    conditions = {**run.statistics.get("conditions", {}), "server_sampling": words}
    run.statistics = {**run.statistics, "conditions": conditions, "observer": observer}
    others = [text for text in run.warnings if text != before and not text.startswith(NOT_SAMPLED)]
    run.warnings = [*others, warning] if warning else others
    run.save(update_fields=["statistics", "warnings"])
