"""Tables of runs: grids by two factors, the methods of a workload, runs outside of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from runs.models import Metric, Run
from runs.publications.material import Material
from runs.publications.page.claims import figure_words, set_apart
from runs.publications.page.parts import (
    NamedTable,
    PartSpec,
    Section,
    TextCell,
    Words,
    computed,
    number_cell,
    stored,
    text,
    word_columns,
)
from runs.run.number import number_of
from runs.tables import Column, Table, TableCell


def _cell(runs: Sequence[Run]) -> TableCell:
    numbers = [stored(run.measurements.all()[0]) for run in runs if run.measurements.all()]
    if len(numbers) == 1:
        return number_cell(numbers[0])
    if numbers:
        return TextCell(words=[part for number in numbers for part in (number, " ")][:-1])
    reasons = dict.fromkeys(run.missing_reason for run in runs if run.missing_reason)
    return TableCell(gap="; ".join(reasons) or "not measured")


class Grid(PartSpec):
    """Runs of some workloads that have a factor, by rows and columns: "system", "workload" or a factor's name.

    `claims` is the head of a column of what the article claims of the factor `columns` in each row. `lost` says why
    values are missing; `say_claims` begins a sentence with all claims that have no amount.
    """

    part: Literal["grid"] = "grid"
    table: str = ""
    workloads: list[str] = []
    rows: list[str]
    columns: str
    head: str = ""
    lost: str = ""
    claims: str = ""
    # The two values of the factor that are set against each other, with `claims`.
    against: tuple[str, str] = ("", "")
    say_claims: str = ""
    frames: tuple[str, ...] = ()
    beside: bool = False

    def section(self, material: Material) -> Section:
        runs = [run for run in material.runs if not self.workloads or run.workload.source_id in self.workloads]
        factors = [name for name in (*self.rows, self.columns) if name not in ("system", "workload")]
        runs = [run for run in runs if all(run.factor(name) is not None for name in factors)]
        if not runs:
            return Section(self.id, self.title)

        cells: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            row = " on ".join(_said(material, run, name) for name in self.rows)
            cells.setdefault((row, _said(material, run, self.columns)), []).append(run)
        rows, columns = dict.fromkeys(row for row, _ in cells), dict.fromkeys(column for _, column in cells)
        body = [[text(row), *(_cell(cells.get((row, column), [])) for column in columns)] for row in rows]
        heads = word_columns(self.head, *columns)
        if self.claims:
            heads += word_columns(self.claims)
            apart = set_apart(material.statements.claims, self.columns, self.against)
            by_system = {
                str(claim.side_a.get("dbms")): claim for claim in apart
                if claim.side_a.get("workload") == runs[0].workload.source_id
            }  # fmt: skip
            for version, line in zip(dict.fromkeys(run.dbms_version.source_id for run in runs), body, strict=True):
                claim = by_system.get(version)
                line.append(TextCell(words=figure_words(claim)) if claim else TableCell(gap="not stated"))
        wanted = ", ".join(dict.fromkeys(material.name(run.missing_metric) for run in runs if run.missing_metric))
        return Section(
            self.id, self.title, self._lead(material, runs), frames=self.frames, beside=self.beside,
            tables=[NamedTable(self.table or wanted or self.title, Table(heads, body))],
        )  # fmt: skip

    def _lead(self, material: Material, runs: Sequence[Run]) -> Words:
        if self.lost:
            lost = sum(not run.measurements.all() for run in runs)
            missing = computed(lost, f"count of {len(runs)} cells whose value is missing", digits=0)
            count = computed(len(runs), "count of the cells", digits=0)
            return (missing, " of ", count, f" cells have no value: {self.lost}")
        summaries = [
            claim.summary for claim in material.statements.claims if claim.ratio is None and claim.percent is None
        ]
        return f"{self.say_claims}: {'; '.join(summaries)}." if self.say_claims and summaries else self.lead


def _said(material: Material, run: Run, name: str) -> str:
    if name == "system":
        return run.dbms_version.name
    return run.workload.name if name == "workload" else material.words({"": run.factor(name)})


class Methods(PartSpec):
    """The methods of the publication's workloads, with their commands."""

    part: Literal["methods"] = "methods"

    def section(self, material: Material) -> Section:
        rows = [
            [
                text(method.get("label")),
                TextCell(text=str(method.get("command", "")), code=True),
                text(method.get("target_disk")),
            ]
            for method in material.methods
        ]
        columns = word_columns("Method", "Command", "Backup on")
        return Section.of_table(self.id, self.title, columns, rows, lead=self.lead, table="Methods")


class Control(PartSpec):
    """Runs without the factor of the grid that do have numbers, or had some until they were marked invalid."""

    part: Literal["control"] = "control"
    without: str

    def section(self, material: Material) -> Section:
        outside = [run for run in material.runs if run.factor(self.without) is None]
        valued = [run for run in outside if run.measurements.all() or run.invalid_at]
        metrics = list(dict.fromkeys(measurement.metric for run in valued for measurement in run.measurements.all()))
        columns = [Column(metric.label, metric.unit) for metric in metrics] or [Column("Numbers", numeric=False)]
        rows = []
        for run in valued:
            server = "; ".join(str(factor.value) for factor in run.factors.all()) or run.dbms_version.name
            rows.append([text(server), *_numbers(run, metrics)])
        sql = next((str(run.workload.details.get("sql", "")) for run in valued), "")
        return Section.of_table(
            self.id, self.title, [Column("Server", numeric=False), *columns], rows,
            lead=f"{sql}: the same on every server." if sql else self.lead,
        )  # fmt: skip


def _numbers(run: Run, metrics: Sequence[Metric]) -> list[TableCell]:
    if not metrics:
        return [TableCell(gap=run.missing_reason)]
    numbers = [number_of(run, metric.name, metric.unit) for metric in metrics]
    return [
        number_cell(stored(number) if number else None, gap=run.missing_reason or "not printed") for number in numbers
    ]
