"""The forms beneath a preview: what each column of a table is, and what the files do not say."""

from __future__ import annotations

from collections.abc import Mapping as Answers
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from benchagent.catalog import Role as FactorRole
from benchagent.catalog import factor_role
from benchagent.importers import SourceFile, importers
from benchagent.importers.plain_csv import TOOL, Column, Role, Rows, guess
from benchagent.importers.plain_csv.table import table_of
from django import forms
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from runs.access.rules import nameable
from runs.imports.columns import mapping_of
from runs.incoming.forms import LabelFields
from runs.machines.facts import names_apart
from runs.models import Artefact, Config, FileImport, HardwareProfile, StorageDevice
from runs.models.choices import DURABILITY_CHOICES, StorageRole, Visibility
from runs.run import artefacts

SAMPLES, LOOKED_AT = 3, 1000
HEAD_BYTES = 1024 * 1024
ROLES = [(role.value, role.value.replace("_", " ")) for role in Role]
ROWS = [(Rows.RUNS.value, "one run"), (Rows.SAMPLES.value, "one sample of the same run")]
# What another value of a factor is to a comparison.
COMPARED_AS = [
    ("", "by its name"), (FactorRole.QUESTION.value, "another question: no ratio"),
    (FactorRole.CONDITION.value, "a condition: named beside the ratio"),
    (FactorRole.PROCEDURE.value, "procedure, as a length"),
]  # fmt: skip
DIRECTIONS = [("", "by its name"), ("higher", "higher is better"), ("lower", "lower is better"), ("none", "neither")]
# What a select can hold and a person can look through.
MOST_CHOICES = 300
# So many entries of a preview have a tick each: a form of more fields than `DATA_UPLOAD_MAX_NUMBER_FIELDS` is refused.
MOST_TICKED = 500
# What is read of the project's own tools.
READ: tuple[tuple[str, str], ...] = (
    ("pgbench", "output with or without progress, per-transaction and aggregate logs of all threads, 9.x to 18"),
    ("sysbench", "0.4 to 1.1, any progress format, checkpoints, histograms; OLTP, fileio, cpu"),
    ("HammerDB", "CLI logs of v3 to v6, time profiles, transaction counters, job reports"),
    ("go-tpc", "plain, table and JSON output"),
    ("BenchBase", "summary, params, results, samples and raw files of a run, together"),
    ("YCSB", "load and run phases, histograms, time series"),
    ("fio", "JSON, JSON+ and normal output, logs"),
    ("gbak", "verbose output and statistics of backup and restore"),
    ("redis-benchmark", "report, -q and CSV of Redis 2 to 8 and Valkey, a run of each test"),
    ("memtier", "tables and JSON, of all commands and of each"),
    ("mysqlslap", "report and CSV, a run of each concurrency and engine"),
    ("tpcc-mysql", "result, constraints, intervals; tpcc_load"),
    ("BenchmarkSQL", "log of version 5 and 6"),
    ("ClickBench", "the JSON of a system's result"),
    ("DBT-3", "scores of the report, q_time.csv"),
    ("query times", "lists as “Q1: 0.046 s”, of several streams too, and CSV under a heading with the unit"),
    ("JMeter", "JTL as CSV or XML, aggregate and summary report, statistics.json, console and log"),
    ("NoSQLBench", "metrics at the end of the log, the CSV of a timer"),
    ("Phoronix", "composite.xml of a result of the Test Suite"),
    ("py-tpcc, cassandra-stress, DBT-2, YCSB-cpp", "their results"),
    ("k6, Locust, db_bench, TSBS, cockroach workload, Swingbench", "their results, each described in YAML"),
    ("Rally, OpenSearch Benchmark, scylla-bench, latte, mongo-perf", "their results, each described in YAML"),
    ("diskspd, iozone, pg_test_fsync, pg_test_timing", "of storage and clocks, without a DBMS"),
)
STORAGE_ROLES = (StorageRole.DATA, StorageRole.LOG, StorageRole.BACKUP)
# What a menu of devices offers beside those that are known; no slug has its sign.
NEW_DISK = "+new"


def readable_tools() -> list[tuple[str, str]]:
    """What can be dropped, for the page that asks for it; plug-ins' tools say themselves what is read of them.

    Importers are loaded here, not at the start of each program: that takes a quarter of the CPU of a web process's.
    """
    more = [(importer.TOOL, importer.READS) for importer in importers() if hasattr(importer, "READS")]
    return [*READ, *more, ("CSV", "any table with a header; you say which column is what")]


class ColumnForm(forms.Form):
    """What one column of a table is; what was answered stands over what was said or guessed of it before."""

    role = forms.ChoiceField(label="{} is", choices=ROLES)
    name = forms.CharField(label="Name of {}", required=False, max_length=100)
    unit = forms.CharField(label="Unit of {}", required=False, max_length=30)
    scale = forms.FloatField(
        label="Factor that turns {} into this unit", widget=forms.TextInput(attrs={"inputmode": "decimal"})
    )
    better = forms.ChoiceField(label="Which direction of {} is better", required=False, choices=DIRECTIONS)
    compared = forms.ChoiceField(
        label="What another value of {} is to a comparison", required=False, choices=COMPARED_AS
    )
    use_required_attribute = False

    def __init__(self, column: Column, samples: list[str], answers: Answers[str, str], prefix: str) -> None:
        known = {
            "role": column.role.value, "name": column.name[:100], "unit": column.unit, "scale": f"{column.scale:g}",
            "better": column.better or "", "compared": column.compared_as,
        }  # fmt: skip
        given = {f"{prefix}-{name}": value for name, value in known.items()}
        super().__init__(given | dict(answers.items()), prefix=prefix)
        self.heading, self.samples, self.phase = column.heading, samples, column.phase
        for field in self.fields.values():
            field.widget.attrs["aria-label"] = str(field.label).replace("{}", column.heading)

    def clean_scale(self) -> float:
        scale: float = self.cleaned_data["scale"]
        if scale <= 0:
            raise ValidationError("A number above 0 is required, as 0.001.")
        return scale

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        role, name = given.get("role"), given.get("name", "")
        if role in (Role.METRIC, Role.FACTOR) and not name:
            self.add_error("name", "Give it a name, as tps or terminals.")
        given["compared"] = compared = given.get("compared", "") if role == Role.FACTOR else ""
        if compared and (known := factor_role(name, compared)) != compared:
            self.add_error("compared", f"{name} is a {known} here, and cannot be a {compared}.")
        return given

    @property
    def column(self) -> Column:
        given = self.cleaned_data
        return Column(
            self.heading, Role(given["role"]), given["name"], given["unit"], given["scale"], given["better"] or None,
            given["compared"], self.phase,
        )  # fmt: skip


class TableForm(forms.Form):
    """What a row of a file with a table is, and each of its `columns`. `given`: as somebody has said it before."""

    rows = forms.ChoiceField(choices=ROWS, widget=forms.Select(attrs={"class": "fit"}))

    def __init__(self, kept: Artefact, given: Any, answers: Answers[str, str]) -> None:
        # Whole lines of the beginning: columns are shown by them, and a page is not made of a large file.
        content = artefacts.content(kept, HEAD_BYTES)
        file = SourceFile(kept.name, content if len(content) < HEAD_BYTES else content[: content.rfind(b"\n") + 1])
        self.file, self.mapping, table = file.name, mapping_of(given) if given else guess(file), table_of(file)
        prefix, by_heading = f"csv{kept.position}", {column.heading: column for column in self.mapping.columns}
        super().__init__({f"{prefix}-rows": self.mapping.rows.value} | dict(answers.items()), prefix=prefix)
        self.columns = []
        for index, (heading, cells) in enumerate(zip(table.headings, table.columns, strict=True) if table else ()):
            # The first that differ: `10, 10, 10` would say less than `10`.
            samples = [*islice(dict.fromkeys(islice(cells, LOOKED_AT)), SAMPLES)]
            column = by_heading.get(heading) or Column(heading, Role.IGNORE)
            self.columns.append(ColumnForm(column, samples, answers, f"{prefix}-{index}"))

    def as_json(self) -> dict[str, Any]:
        """The mapping. Raises ValidationError naming the column."""
        if not self.is_valid():
            raise ValidationError(f"{self.file}: {' '.join(map(str, self.errors['rows']))}")
        for form in self.columns:
            if not form.is_valid():
                wrong = "; ".join(f"{name}: {' '.join(map(str, words))}" for name, words in form.errors.items())
                raise ValidationError(f"{self.file}, column {form.heading}: {wrong}")
        columns = tuple(form.column for form in self.columns)
        return replace(self.mapping, rows=Rows(self.cleaned_data["rows"]), columns=columns).as_json()


def tables(taken: FileImport, answers: Answers[str, str] | None = None) -> list[TableForm]:
    """The tables among the files of an import, with what is known or guessed of their columns, or was just answered."""
    names = {item["file"] for item in taken.items if item["tool"] == TOOL}
    if not names:
        return []
    mappings = taken.subject.get("mapping", {})
    kept = [file for file in taken.artefacts.order_by("position") if file.name in names]
    return [TableForm(file, mappings.get(file.name), answers or {}) for file in kept]


def answered(taken: FileImport, answers: Answers[str, str]) -> dict[str, Any]:
    """file -> mapping as JSON, from the fields of a form. Raises ValidationError naming the column."""
    return {table.file: table.as_json() for table in tables(taken, answers)}


class SubjectForm(LabelFields):
    """-> `subject()`, the object that the API takes too."""

    hardware = forms.ChoiceField(label="Machine", required=False)
    new_hardware = forms.CharField(
        label="or a new machine", required=False, max_length=200, help_text="its name; facts can be added on its page"
    )
    dbms_name = forms.CharField(label="DBMS", required=False, max_length=200)
    dbms_version = forms.CharField(label="Version", required=False, max_length=120)
    workload = forms.CharField(label="Workload", required=False, max_length=100, help_text="what was run")
    config = forms.ChoiceField(label="Configuration", required=False)
    config_text = forms.CharField(
        label="or paste a configuration file", required=False, max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="postgresql.conf, my.cnf, firebird.conf, …; passwords are taken out",
    )  # fmt: skip
    new_disk = forms.CharField(label="The new disk", required=False, max_length=200, help_text="its name, as nvme1")
    new_disk_medium = forms.CharField(
        label="Its medium",
        required=False,
        max_length=60,
        help_text="nvme, ssd, hdd, …; more facts on its machine’s page",
    )
    durability = forms.ChoiceField(
        label="What a commit promised", required=False, choices=[("", "not stated"), *DURABILITY_CHOICES]
    )
    measured_on = forms.DateField(
        label="Measured on", required=False, widget=forms.DateInput(attrs={"type": "date"}),
        help_text="all files that do not say it",
    )  # fmt: skip
    visibility = forms.ChoiceField(label="Who may see it", choices=Visibility.choices)
    note = forms.CharField(label="Note", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, data: Any = None, *, taken: FileImport) -> None:
        super().__init__(data, initial=_initial(taken.subject))
        self.taken = taken
        # Machines and configurations that only somebody else's private runs use are not named.
        machines = nameable(HardwareProfile.objects.filter(merged_into=None), taken.owner or AnonymousUser())
        configs = nameable(Config.objects.all(), taken.owner or AnonymousUser())
        rows = StorageDevice.objects.filter(hardware__in=machines).order_by("hardware__name", "name")
        names = rows.values_list("slug", "hardware__slug", "name")[:MOST_CHOICES]
        called = names_apart(dict(_rows(machines)))
        devices = [(slug, f"{called.get(of, of)}: {name}") for slug, of, name in names]
        self.fields["hardware"].choices = [("", "choose a machine"), *called.items()]  # type: ignore[attr-defined]
        self.fields["config"].choices = [("", "not stated"), *_rows(configs)]  # type: ignore[attr-defined]
        of_machine = {name: slug for slug, of, name in names if of == taken.subject.get("hardware")}
        for role in STORAGE_ROLES:
            choices = [("", "not stated"), (NEW_DISK, "the new disk"), *devices]
            self.fields[f"storage_{role.value}"] = forms.ChoiceField(
                label=f"{role.label} on", required=False, choices=choices
            )
        known = {slug: slug for slug, _ in devices} | of_machine
        self.initial.update(_initial_disks(taken.subject.get("storage", []), known))

    def clean(self) -> dict[str, Any]:
        for chosen, typed, words in (
            ("hardware", "new_hardware", "Another machine is chosen"),
            ("config", "config_text", "A stored configuration is chosen"),
        ):
            if self.cleaned_data.get(chosen) and self.cleaned_data.get(typed):
                self.add_error(typed, f"{words}: choose none, or leave this empty.")
        is_wanted = NEW_DISK in (self.cleaned_data.get(f"storage_{role.value}") for role in STORAGE_ROLES)
        if is_wanted and not self.cleaned_data.get("new_disk"):
            self.add_error("new_disk", "Say what the new disk is called.")
        elif self.cleaned_data.get("new_disk") and not is_wanted:
            self.add_error("new_disk", "Choose “the new disk” for data, log or backup, or leave this empty.")
        return self.cleaned_data

    @property
    def storage_fields(self) -> list[forms.BoundField]:
        return [*(self[f"storage_{role.value}"] for role in STORAGE_ROLES), self["new_disk"], self["new_disk_medium"]]

    def subject(self) -> dict[str, Any]:
        """What was said; fields left empty are not said."""
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        as_given = ("durability", "visibility", "note", "hardware", "config")
        subject: dict[str, Any] = {name: given[name] for name in as_given if name in given}
        # What is not ticked is left out.
        kept = set(self.data.getlist("keep")) if hasattr(self.data, "getlist") else set()
        if "keep_rest" in self.data:
            kept |= {str(item["index"]) for item in ticked_together(self.taken.items)}
        subject["leave_out"] = [item["index"] for item in self.taken.items if str(item["index"]) not in kept]
        expected = set(self.data.getlist("expected")) if hasattr(self.data, "getlist") else set()
        if indexes := [item["index"] for item in self.taken.items if str(item["index"]) in expected]:
            subject["failures_expected"] = indexes
        if "new_hardware" in given:
            subject["hardware"] = {"name": given["new_hardware"]}
        if "dbms_name" in given or "dbms_version" in given:
            subject["dbms"] = {"name": given.get("dbms_name", ""), "version": given.get("dbms_version", "")}
        if of_files := self._of_files():
            subject["files"] = of_files
        if "workload" in given:
            subject["workload"] = {"slug": slugify(given["workload"]), "name": given["workload"]}
        if "measured_on" in given:
            subject["measured_on"] = given["measured_on"].isoformat()
        if "config_text" in given:
            subject["config"] = {"files": [{"name": "pasted", "text": given["config_text"]}]}
        devices = [(role.value, given.get(f"storage_{role.value}")) for role in STORAGE_ROLES]
        new = {"name": given.get("new_disk"), "medium": given.get("new_disk_medium", "")}
        others = [use for use in self.taken.subject.get("storage", []) if use["role"] not in dict(devices)]
        subject["storage"] = others + [
            {"role": role, "device": new if device == NEW_DISK else device} for role, device in devices if device
        ]
        return subject | self.described()

    def _of_files(self) -> dict[str, dict[str, Any]]:
        """What was said of each file beside its entry of the preview."""
        of_files: dict[str, dict[str, Any]] = {}
        for item in self.taken.items:
            name, version, day, apart = (
                str(self.data.get(f"{field}-{item['index']}", "")).strip()
                for field in ("name", "version", "day", "apart")
            )
            dbms = {field: text for field, text in (("name", name), ("version", version)) if text}
            said = {"dbms": dbms, "measured_on": day, "factors": _factors(apart)}
            if stated := {field: value for field, value in said.items() if value}:
                of_files.setdefault(item["file"], {}).update(stated)
        return of_files


def _factors(text: str) -> dict[str, Any]:
    """`shared_buffers=8GB, nodes=3` as factors; words without a sign are a variant."""
    factors: dict[str, Any] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, sign, value = (piece.strip() for piece in part.rpartition("="))
        factors[name if sign and name else "variant"] = int(value) if value.isdecimal() else value
    return factors


def factors_text(factors: Answers[str, Any]) -> str:
    return ", ".join(
        f"{name}={value['value'] if isinstance(value, dict) else value}" for name, value in factors.items()
    )


def ticked_together(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a preview does not show: one tick stores all of it."""
    return [item for item in items if not item["part_of"]][MOST_TICKED:]


def _rows(queryset: Any) -> list[tuple[str, str]]:
    return list(queryset.order_by("name").values_list("slug", "name")[:MOST_CHOICES])


def _initial_disks(storage: Sequence[dict[str, Any]], known: Answers[str, str]) -> dict[str, Any]:
    """`known`: the slug of each device by what it may be called. The first that is not known is the new one."""
    initial: dict[str, Any] = {}
    for use in storage:
        device = use["device"] if isinstance(use["device"], dict) else {"name": use["device"]}
        chosen = known.get(device["name"], "")
        if not chosen and initial.setdefault("new_disk", device["name"]) == device["name"]:
            initial["new_disk_medium"], chosen = device.get("medium", ""), NEW_DISK
        initial[f"storage_{use['role']}"] = chosen
    return initial


def _initial(subject: dict[str, Any]) -> dict[str, Any]:
    hardware, config = subject.get("hardware"), subject.get("config")
    return {
        "hardware": hardware if isinstance(hardware, str) else "",
        "new_hardware": hardware.get("name", "") if isinstance(hardware, dict) else "",
        "dbms_name": subject.get("dbms", {}).get("name", ""),
        "dbms_version": subject.get("dbms", {}).get("version", ""),
        "workload": subject.get("workload", {}).get("name", ""),
        "config": config if isinstance(config, str) else "",
        "durability": subject.get("durability", ""),
        "measured_on": subject.get("measured_on"),
        "visibility": subject.get("visibility", settings.DEFAULT_VISIBILITY),
        "note": subject.get("note", ""),
        "label": subject.get("label", ""),
        "tags": " ".join(subject.get("tags", [])),
        **subject.get("tested", {}),
    }
