"""The forms beneath a preview: what each column of a table is, and what the files do not say."""

from __future__ import annotations

from collections.abc import Mapping as Answers
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from benchagent.catalog import Role as FactorRole
from benchagent.catalog import factor_role
from benchagent.importers import SourceFile, importers
from benchagent.importers.plain_csv import TOOL, Column, Mapping, Role, Rows, guess
from benchagent.importers.plain_csv.table import table_of
from django import forms
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from runs.access.rules import nameable
from runs.imports.columns import mapping_of
from runs.incoming.forms import LabelFields
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


def readable_tools() -> list[tuple[str, str]]:
    """What can be dropped, for the page that asks for it; plug-ins' tools say themselves what is read of them.

    Importers are loaded here, not at the start of each program: that takes a quarter of the CPU of a web process's.
    """
    more = [(importer.TOOL, importer.READS) for importer in importers() if hasattr(importer, "READS")]
    return [*READ, *more, ("CSV", "any table with a header; you say which column is what")]


@dataclass(frozen=True)
class MappedColumn:
    """One column with some of its values, and what it is taken for. `prefix` begins the names of its fields.

    `scale`: its factor as text, as it was typed where it is no number.
    """

    prefix: str
    column: Column
    samples: list[str]
    scale: str = ""


@dataclass(frozen=True)
class MappedTable:
    """A file with a table. `prefix` begins the names of its fields."""

    prefix: str
    file: str
    mapping: Mapping
    columns: list[MappedColumn]


def tables(taken: FileImport, answers: Answers[str, str] | None = None) -> list[MappedTable]:
    """The tables among the files of an import, with what is known or guessed of their columns, or was just answered."""
    names = {item["file"] for item in taken.items if item["tool"] == TOOL}
    if not names:
        return []
    mappings = taken.subject.get("mapping", {})
    kept = [file for file in taken.artefacts.order_by("position") if file.name in names]
    return [_table(file, mappings.get(file.name), answers or {}) for file in kept]


def _table(kept: Artefact, given: Any, answers: Answers[str, str]) -> MappedTable:
    """`given`: its mapping, as JSON, where somebody has said it. Answers stand over it, right or wrong."""
    # Whole lines of the beginning: columns are shown by them, and a page is not made of a large file.
    content = artefacts.content(kept, HEAD_BYTES)
    file = SourceFile(kept.name, content if len(content) < HEAD_BYTES else content[: content.rfind(b"\n") + 1])
    mapping = mapping_of(given) if given else guess(file)
    by_heading = {column.heading: column for column in mapping.columns}
    table, prefix, columns = table_of(file), f"csv{kept.position}", []
    for index, (heading, cells) in enumerate(zip(table.headings, table.columns, strict=True) if table else ()):
        # The first that differ: `10, 10, 10` would say less than `10`.
        samples = [*islice(dict.fromkeys(islice(cells, LOOKED_AT)), SAMPLES)]
        column = by_heading.get(heading) or Column(heading, Role.IGNORE)
        columns.append(_answered_column(f"{prefix}-{index}", column, samples, answers))
    rows = answers.get(f"{prefix}-rows", mapping.rows.value)
    mapping = replace(mapping, rows=Rows(rows) if rows in list(Rows) else mapping.rows)
    return MappedTable(prefix, file.name, mapping, columns)


def _answered_column(prefix: str, was: Column, samples: list[str], answers: Answers[str, str]) -> MappedColumn:
    role = answers.get(f"{prefix}-role", was.role.value)
    column = Column(
        was.heading, Role(role) if role in list(Role) else was.role,
        name=answers.get(f"{prefix}-name", was.name).strip()[:100],
        unit=answers.get(f"{prefix}-unit", was.unit).strip()[:30],
        scale=was.scale,
        better=answers.get(f"{prefix}-better", was.better or "") or None,
        compared_as=answers.get(f"{prefix}-compared", was.compared_as),
    )  # fmt: skip
    return MappedColumn(prefix, column, samples, answers.get(f"{prefix}-scale", f"{was.scale:g}"))


def answered(taken: FileImport, answers: Answers[str, str]) -> dict[str, Any]:
    """file -> mapping as JSON, from the fields of a form. Raises ValidationError naming the column."""
    mappings = {}
    for table in tables(taken, answers):
        if answers.get(f"{table.prefix}-rows", table.mapping.rows.value) not in list(Rows):
            raise ValidationError(f"{table.file}: a row is one of {', '.join(Rows)}.")
        columns = tuple(_column(table.file, column, answers) for column in table.columns)
        mappings[table.file] = replace(table.mapping, columns=columns).as_json()
    return mappings


def _column(file: str, mapped: MappedColumn, answers: Answers[str, str]) -> Column:
    column, place = mapped.column, f"{file}, column {mapped.column.heading}"
    role = answers.get(f"{mapped.prefix}-role", column.role.value)
    if role not in list(Role):
        raise ValidationError(f"{place}: “{role}” is none of {', '.join(Role)}.")
    if column.role in (Role.METRIC, Role.FACTOR) and not column.name:
        raise ValidationError(f"{place}: give it a name, as tps or terminals.")
    try:
        scale = float(mapped.scale)
    except ValueError:
        scale = 0.0
    if not 0 < scale < float("inf"):
        raise ValidationError(f"{place}: the factor must be a number above 0, as 0.001.")
    compared_as = column.compared_as if role == Role.FACTOR else ""
    if compared_as not in ("", *FactorRole):
        raise ValidationError(f"{place}: “{compared_as}” is none of {', '.join(FactorRole)}.")
    if compared_as and (known := factor_role(column.name, compared_as)) != compared_as:
        raise ValidationError(f"{place}: {column.name} is a {known} here, and cannot be a {compared_as}.")
    return replace(column, scale=scale, compared_as=compared_as)


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
    durability = forms.ChoiceField(
        label="What a commit promised", required=False, choices=[("", "not stated"), *DURABILITY_CHOICES]
    )
    measured_on = forms.DateField(
        label="Measured on", required=False, widget=forms.DateInput(attrs={"type": "date"}),
        help_text="where the files do not say it",
    )  # fmt: skip
    visibility = forms.ChoiceField(label="Who may see it", choices=Visibility.choices)
    label = forms.CharField(
        required=False, max_length=120, help_text="stands in legends where it tells one batch from another"
    )
    note = forms.CharField(label="Note", required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, data: Any = None, *, taken: FileImport) -> None:
        super().__init__(data, initial=_initial(taken.subject))
        self.taken = taken
        # Machines and configurations that only somebody else's private runs use are not named.
        machines = nameable(HardwareProfile.objects.filter(merged_into=None), taken.owner or AnonymousUser())
        configs = nameable(Config.objects.all(), taken.owner or AnonymousUser())
        rows = StorageDevice.objects.filter(hardware__in=machines).order_by("hardware__name", "name")
        names = rows.values_list("slug", "hardware__name", "name")[:MOST_CHOICES]
        devices = [("", "not stated"), *((slug, f"{machine}: {name}") for slug, machine, name in names)]
        self.fields["hardware"].choices = [("", "choose a machine"), *_rows(machines)]  # type: ignore[attr-defined]
        self.fields["config"].choices = [("", "not stated"), *_rows(configs)]  # type: ignore[attr-defined]
        by_role = {use.get("role"): str(use["device"]) for use in reversed(taken.subject.get("storage", []))}
        for role in STORAGE_ROLES:
            name = f"storage_{role.value}"
            self.fields[name] = forms.ChoiceField(label=f"{role.label} on", required=False, choices=devices)
            self.initial[name] = by_role.get(role.value, "")

    def clean(self) -> dict[str, Any]:
        for chosen, typed, words in (
            ("hardware", "new_hardware", "Another machine is chosen"),
            ("config", "config_text", "A stored configuration is chosen"),
        ):
            if self.cleaned_data.get(chosen) and self.cleaned_data.get(typed):
                self.add_error(typed, f"{words}: choose none, or leave this empty.")
        return self.cleaned_data

    def _of_files(self) -> dict[str, Any]:
        """The version of each file that was given beside its entry of the preview."""
        said = ((item["file"], str(self.data.get(f"version-{item['index']}", ""))) for item in self.taken.items)
        return {file: {"dbms": {"version": version.strip()}} for file, version in said if version.strip()}

    @property
    def storage_fields(self) -> list[forms.BoundField]:
        return [self[f"storage_{role.value}"] for role in STORAGE_ROLES]

    def subject(self) -> dict[str, Any]:
        """What was said; fields left empty are not said."""
        given = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        as_given = ("durability", "visibility", "note", "hardware", "config")
        subject: dict[str, Any] = {name: given[name] for name in as_given if name in given}
        # Every item has a tick; what is not ticked is left out.
        kept = set(self.data.getlist("keep")) if hasattr(self.data, "getlist") else set()
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
        if storage := [{"role": role, "device": device} for role, device in devices if device]:
            subject["storage"] = storage
        return subject | self.described()


def _rows(queryset: Any) -> list[tuple[str, str]]:
    return list(queryset.order_by("name").values_list("slug", "name")[:MOST_CHOICES])


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
