from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any

from benchagent.catalog import Durability
from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs.incoming.values import int_if_whole
from runs.models.base import UUIDModel
from runs.models.batches import Batch, Labelled
from runs.models.choices import (
    ACTIVE_STATES,
    DURABILITY_CHOICES,
    ENDED_STATES,
    OPEN_STATES,
    TRANSITIONS,
    Precision,
    Provenance,
    RunState,
    StorageRole,
    Visibility,
)
from runs.models.experiments import Experiment
from runs.models.shapes import CheckRow, Statistics
from runs.models.stored import StoredJSON
from runs.models.subjects import Config, DbmsVersion, HardwareProfile, StorageDevice, Workload
from runs.models.uploads import Upload
from runs.models.visible import VisibleQuerySet

# `Run.deleted_at` of what is stored and not shown yet (`runs.results.staged`).
STAGED_AT = datetime(1970, 1, 1, tzinfo=UTC)
# What only the page of a run and exports read of it.
_NOT_IN_ROWS = (
    "effective_settings", "ignored_settings", "driver", "dataset", "command_lines", "warnings", "per_terminal",
    "statistics", "latency_histogram", "info",
)  # fmt: skip
# What rows show of what a run refers to.
_IN_ROWS = {
    "workload": ("slug", "name", "version", "kind", "primary_metric"),
    "dbms_version": ("slug", "name", "version", "architecture", "dbms"),
    "dbms_version__dbms": ("slug", "name"),
    "config": ("slug", "name"),
    "hardware": ("slug", "name"),
    "experiment": ("slug", "name", "demonstration"),
    "publication": ("slug", "title_en"),
    "owner": ("username",),
    "batch": ("label", "tags", "tested", "created_at"),
}

# Only its page shows it; each row of a run would read all of it anew.
_OF_THE_ARTICLE = ("publication__content", "publication__checks")
# What no comparison asks of runs.
_NOT_COMPARED = ("command_lines", "warnings", "per_terminal", "info", "note")


class _CountOf(models.Subquery):
    template = "(SELECT COUNT(*) FROM (%(subquery)s) _counted)"
    output_field = models.IntegerField()


# The check that marks a run invalid where it does not hold (`runs.run.agreement`).
NUMBERS_AGREE = "numbers_agree"
# Checks that do not hold of what must not be trusted without a look, in a word; `durability_doubt` has its own.
DOUBTS = {"machine_alone": "disturbed", "terminals_fair": "unfair", "steady_state": "unsteady"}


class RunQuerySet(VisibleQuerySet["Run"]):
    def present(self) -> RunQuerySet:
        """Without the deleted ones, which can be restored."""
        return self.filter(deleted_at=None)

    def with_values(self) -> RunQuerySet:
        """Finished, valid runs: the only ones that enter medians, verdicts and charts of comparisons."""
        return self.present().filter(state=RunState.FINISHED, invalid_at=None)

    def counts_by(self, field: str) -> dict[Any, int]:
        """Value of `field` -> how many of these runs have it."""
        return dict(self.order_by().values(field).annotate(runs=models.Count("pk")).values_list(field, "runs"))

    def counts_up_to(self, most: int, field: str, of: Iterable[models.Model] | None = None) -> dict[Any, int]:
        """The same for a foreign key, never beyond `most` + 1 of each: a fixed cost, however many runs there are.

        `of`: what it refers to, where not all of it is asked for.
        """
        model: Any = self.model._meta.get_field(field).related_model
        rows = model.objects.all() if of is None else model.objects.filter(pk__in=[row.pk for row in of])
        of_each = self.filter(**{field: models.OuterRef("pk")}).order_by().values("created_at")[: most + 1]
        return dict(rows.annotate(counted=_CountOf(of_each)).values_list("pk", "counted"))

    def for_lists(self) -> RunQuerySet:
        """Everything a row or a chart of many runs reads, in a fixed number of queries."""
        return (
            self.select_related(
                "workload", "dbms_version__dbms", "config", "hardware", "experiment", "publication", "owner", "batch"
            )
            .defer(*_OF_THE_ARTICLE)
            .prefetch_related("factors", "measurements__metric", "storage__device")
        )

    def for_comparisons(self) -> RunQuerySet:
        """The same for up to a thousand runs: what several of them refer to is read once."""
        return (
            self.select_related("publication")
            .defer(*_OF_THE_ARTICLE, *_NOT_COMPARED)
            .prefetch_related(
                models.Prefetch("experiment", Experiment.objects.defer("plan")),
                "workload", "dbms_version__dbms", "config", "hardware", "batch",
                "factors", "measurements__metric", "storage__device",
            )
        )  # fmt: skip

    def for_rows(self) -> RunQuerySet:
        """The same for rows of a list, which show little of each run: without what only its page and exports read."""
        own = [field.name for field in self.model._meta.concrete_fields if field.name not in _NOT_IN_ROWS]
        return self.for_lists().only(*own, *(f"{link}__{name}" for link, names in _IN_ROWS.items() for name in names))

    def move(self, run_id: Any, *, to: str, **changes: Any) -> bool:
        """Move a run to a state if the table of transitions allows it from where it is now.

        A conditional update: false means another worker was first, or the run is somewhere else.
        """
        origins = [state for state, targets in TRANSITIONS.items() if to in targets]
        changes.setdefault("state_changed_at", timezone.now())
        return self.filter(id=run_id, state__in=origins).update(state=to, **changes) == 1


class Run(UUIDModel, Labelled):
    """One repeat of one cell. Repeats of a cell share `cell_key`; those of one batch are pooled."""

    cell_key = models.CharField(max_length=64, db_index=True, blank=True)
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="runs")
    experiment = models.ForeignKey(Experiment, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs")
    upload = models.ForeignKey(Upload, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs")
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.CASCADE, null=True, blank=True, related_name="runs"
    )
    # The id that the publication's data gives it; empty for everything else.
    source_id = models.CharField(max_length=120, blank=True, db_index=True)

    # Indexed with the order of lists (Meta).
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="runs", db_index=False)
    dbms_version = models.ForeignKey(DbmsVersion, on_delete=models.PROTECT, related_name="runs", db_index=False)
    config = models.ForeignKey(
        Config, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_index=False
    )
    hardware = models.ForeignKey(
        HardwareProfile, on_delete=models.PROTECT, null=True, blank=True, related_name="runs", db_index=False
    )

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs"
    )
    # Kept here too, so that lists need no join: experiment or upload say it, `runs.access.rules` changes both.
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)

    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.QUEUED)
    state_changed_at = models.DateTimeField(default=timezone.now)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.MEASURED)
    demonstration = models.BooleanField(default=False)
    repeat = models.PositiveIntegerField(default=1)
    # Position within the experiment, from 1: runs are made interleaved, A B A B.
    order_index = models.PositiveIntegerField(null=True, blank=True)

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # A date without a time stays a date.
    measured_on = models.DateField(null=True, blank=True)
    # When it was measured, from the best that is known of it (`set_measured_at`): lists, filters, series and questions
    # go by it. Null for a value of a publication, which does not say it.
    measured_at = models.DateTimeField(null=True, blank=True, editable=False)

    durability = models.CharField(max_length=20, choices=DURABILITY_CHOICES, blank=True)
    durability_reason = models.TextField(blank=True)
    # What was measured against the class: the run is shown with it and ranked nowhere. Empty where nothing was.
    durability_doubt = models.TextField(blank=True)
    effective_settings = StoredJSON(shape=list[tuple[str, str]], default=list, blank=True)
    ignored_settings = StoredJSON(shape=list[str], default=list, blank=True)
    driver = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    dataset = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    command_lines = StoredJSON(shape=list[str], default=list, blank=True)
    checks = StoredJSON(shape=list[CheckRow], default=list, blank=True)
    warnings = StoredJSON(shape=list[str], default=list, blank=True)
    per_terminal = StoredJSON(shape=list[int], default=list, blank=True)
    # What the DBMS told about itself: benchagent.protocol.EngineReport.
    statistics = StoredJSON(shape=Statistics, default=dict, blank=True)
    # Latencies of the measured window: HdrHistogram V2, compressed, base64 (HdrHistogram's own wire format).
    latency_histogram = models.TextField(blank=True)
    # The sender's own facts: `context` breaks a series (it is part of cell_key), `info` does not.
    context = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    info = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    message = models.TextField(blank=True)

    # The measurement that lists show and sort by (`runs.run.number`): null where there is none or it does not count.
    primary_value = models.FloatField(null=True, blank=True, editable=False)

    # Literature: a value that the source does not hold is a gap with its reason, never a zero.
    missing_metric = models.CharField(max_length=120, blank=True)
    missing_reason = models.TextField(blank=True)

    # Marked invalid: stays on its page struck through, leaves every median, verdict and chart; can be restored.
    invalid_at = models.DateTimeField(null=True, blank=True)
    invalid_reason = models.TextField(blank=True)
    invalid_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # The run that holds the same result and was there before: of two only one counts (`runs.results.copies`).
    copy_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="copies")
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "order_index", "repeat", "id"]
        indexes = [
            models.Index(fields=["-created_at", "order_index", "repeat", "id"], name="run_newest"),
            models.Index(fields=["workload", "-created_at"], name="run_newest_of_workload"),
            models.Index(fields=["dbms_version", "-created_at"], name="run_newest_of_dbms"),
            models.Index(fields=["hardware", "-created_at"], name="run_newest_of_hardware"),
            models.Index(fields=["config", "-created_at"], name="run_newest_of_config"),
            models.Index(fields=["state", "-created_at"], name="run_newest_of_state"),
            models.Index(fields=["provenance", "-created_at"], name="run_newest_of_provenance"),
            models.Index(fields=["primary_value"], name="run_value"),
            models.Index(fields=["started_at"], name="run_started"),
            models.Index(fields=["measured_at"], name="run_measured_at"),
            models.Index(fields=["tags"], name="run_tags"),
            models.Index(fields=["label"], name="run_label"),
            # Of the few that the list of what was deleted reads.
            models.Index(fields=["-deleted_at"], condition=models.Q(deleted_at__isnull=False), name="run_deleted"),
        ]  # fmt: skip
        constraints = [
            models.UniqueConstraint(
                fields=["publication", "source_id"],
                condition=~models.Q(source_id=""),
                name="run_source_id_per_publication",
            )
        ]

    def __str__(self) -> str:
        return f"{self.workload.name} on {self.dbms_version.name}, repeat {self.repeat}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.id])

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE_STATES

    @property
    def counts(self) -> bool:
        """Whether its numbers enter medians, verdicts and charts: the same rule as `with_values`."""
        return self.state == RunState.FINISHED and self.invalid_at is None and self.deleted_at is None

    @property
    def doubts(self) -> list[tuple[str, str]]:
        """(word, why) of what speaks against its number, by the checks of a finished run."""
        checks = self.checks if self.counts else ()
        return [
            (DOUBTS[check["name"]], str(check.get("detail", "")))
            for check in checks
            if check.get("name") in DOUBTS and not check.get("ok")
        ]

    @property
    def invalid_words(self) -> str:
        return self.invalid_reason if self.copy_of_id else f"marked invalid: {self.invalid_reason}"

    @property
    def is_marked_by_rules(self) -> bool:
        """Invalid because of what it holds, not only because somebody says so."""
        contradicted = any(check.get("name") == NUMBERS_AGREE and not check.get("ok") for check in self.checks)
        return self.invalid_at is not None and (contradicted or self.copy_of_id is not None)

    def mark_by_rules(self, reason: str) -> None:
        """In memory, as whoever stores it does."""
        self.invalid_at, self.invalid_reason, self.invalid_by = timezone.now(), reason, None
        self.primary_value = None

    @property
    def effective_label(self) -> str:
        """Its own, else its batch's; the next two likewise. With the batch prefetched (`for_lists`)."""
        return self.label or self.batch.label

    @property
    def effective_tags(self) -> list[str]:
        return sorted({*self.tag_list, *self.batch.tag_list})

    @property
    def effective_tested(self) -> dict[str, str]:
        return {**self.batch.tested, **self.tested}

    def set_start(self, start: datetime | date) -> None:
        """A date without a time stays a date."""
        if isinstance(start, datetime):
            self.started_at = start
        else:
            self.started_at, self.measured_on = None, start

    def set_measured_at(self) -> None:
        """After each change of what it is made from: the start, else the day, else when the run was stored."""
        if self.started_at is not None:
            self.measured_at = self.started_at
        elif self.measured_on is not None:
            self.measured_at = datetime.combine(self.measured_on, time.min, UTC)
        else:
            self.measured_at = None if self.publication_id else self.created_at

    @property
    def measured_at_precision(self) -> Precision:
        """How well `measured_at` is known."""
        if self.started_at is not None:
            return Precision.TIME
        if self.measured_on is not None:
            return Precision.DAY
        return Precision.UNKNOWN if self.publication_id else Precision.STORED

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED_STATES

    # What a run was stored with, as one page reads it: a comparison asks for each many times.

    @cached_property
    def factor_rows(self) -> list[RunFactor]:
        return list(self.factors.all())

    @cached_property
    def storage_rows(self) -> list[RunStorage]:
        return list(self.storage.all())

    def factor(self, name: str) -> float | str | None:
        """Value of a factor, from the prefetched rows; None when the run has no such factor."""
        return next((factor.value for factor in self.factors.all() if factor.name == name), None)

    @property
    def factor_values(self) -> dict[str, float | str]:
        return {factor.name: factor.value for factor in self.factors.all()}

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers of the measured phase, by name; from the prefetched rows."""
        return {row.metric.name: row.value for row in self.measurements.all() if row.phase == "run"}

    @property
    def window_s(self) -> tuple[float, float]:
        """Begin and end of what was measured, from the begin of the warm-up."""
        return window_of(self.factor_values)

    def set_cell_key(self) -> None:
        """Needs factors and storage saved."""
        self.cell_key = cell_key(
            self, storage={use.role: use.device for use in self.storage.all()}, factors=self.factor_values
        )


def window_of(factors: Mapping[str, float | str]) -> tuple[float, float]:
    """Begin and end of what is measured, in s from the begin of the warm-up; without a length all that follows."""
    begin, lasts = (factors.get(name) for name in ("warm_up_s", "duration_s"))
    begin_s = float(begin) if isinstance(begin, int | float) else 0.0
    return begin_s, begin_s + lasts if isinstance(lasts, int | float) and lasts else math.inf


def cell_key(run: Run, *, storage: Mapping[str, StorageDevice], factors: Mapping[str, float | str]) -> str:
    """Hash of everything that makes two runs repeats of each other. Of the run its own columns count, saved or not."""
    document: list[Any] = [
        run.workload.slug, run.workload.version, run.dbms_version.slug, run.config.slug if run.config else "",
        run.hardware.slug if run.hardware else "", {role: device.slug for role, device in storage.items()},
        {name: int_if_whole(value) for name, value in factors.items()},
    ]  # fmt: skip
    if run.context:
        document.append(run.context)
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


LONGEST_TEXT = 300


class RunFactor(models.Model):
    """A factor's value of one run: a row, so that filters, sorting and groups use an index. Number or text."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="factors", db_index=False)
    name = models.CharField(max_length=80)
    number = models.FloatField(null=True, blank=True)
    text = models.CharField(max_length=LONGEST_TEXT, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    # benchagent.catalog.Role, as its sender declares it; empty: what its name is known to be.
    role = models.CharField(max_length=10, blank=True, default="")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="factor_per_run")]
        indexes = [models.Index(fields=["name", "number"]), models.Index(fields=["name", "text"])]

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"

    @classmethod
    def of(cls, run: Run, name: str, value: float | str, unit: str = "", role: str = "") -> RunFactor:
        """Unsaved: a number where it is one, else text; documents and plans have been read, their text is storable."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return cls(run=run, name=name, number=float(value), unit=unit, role=role)
        text = str(value)
        if len(text) > LONGEST_TEXT:
            # Two scripts may begin alike: what is cut off is told by its hash.
            mark = f"… #{hashlib.sha256(text.encode()).hexdigest()[:12]}"
            text = text[: LONGEST_TEXT - len(mark)] + mark
        return cls(run=run, name=name, text=text, unit=unit, role=role)

    @property
    def value(self) -> float | str:
        return self.text if self.number is None else int_if_whole(self.number)


class RunStorage(models.Model):
    """Which device held data, log, temporary files or backup in this run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="storage", db_index=False)
    role = models.CharField(max_length=10, choices=StorageRole.choices)
    device = models.ForeignKey(StorageDevice, on_delete=models.PROTECT, related_name="uses")
    path = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["role"]
        constraints = [models.UniqueConstraint(fields=["run", "role"], name="storage_role_per_run")]

    def __str__(self) -> str:
        return f"{self.role}: {self.device}"

    @property
    def in_memory(self) -> bool:
        """True where the device holds nothing of the role, because the database is in memory."""
        return self.run.durability == Durability.MEMORY and self.role in (StorageRole.DATA, StorageRole.LOG)


class StateChange(models.Model):
    """When a run entered a state: the time line of its page."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="state_changes")
    state = models.CharField(max_length=20, choices=RunState.choices)
    at = models.DateTimeField()
    message = models.TextField(blank=True)

    class Meta:
        ordering = ["at", "id"]

    def __str__(self) -> str:
        return f"{self.state} at {self.at:%H:%M:%S}"


class Annotation(UUIDModel):
    """What somebody noted at a second of a run. `at_s` counts from the begin of the warm-up, as series do."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="annotations")
    at_s = models.FloatField()
    text = models.CharField(max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["at_s", "created_at", "id"]

    def __str__(self) -> str:
        return f"{self.at_s:g} s: {self.text}"


def delete_softly(run: Run) -> bool:
    rows = Run.objects.filter(id=run.id)
    Batch.objects.refile(rows)
    return rows.filter(deleted_at=None).update(deleted_at=timezone.now()) == 1


def restore(run: Run) -> bool:
    rows = Run.objects.filter(id=run.id)
    Batch.objects.refile(rows)
    return rows.exclude(deleted_at=None).update(deleted_at=None) == 1
