"""Tables of runs: grids by two factors, the methods of a workload, runs outside of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from runs.answers.words import articles as words
from runs.models import Run
from runs.publications.material import Material
from runs.publications.page.claims import figure_words, set_apart
from runs.publications.page.parts import (
    Amount,
    Content,
    NamedTable,
    PartSpec,
    Rows,
    Section,
    TextCell,
    Words,
    cell,
    computed,
    stored,
    table,
)
from runs.run.number import number_of, primary_number
from runs.tables import Column, TableCell


class Grid(PartSpec):
    """Runs of some workloads that have a factor, by rows and columns: "system", "workload" or a factor's name.

    A cell holds the primary number of each of its runs.
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
        factors = {*self.rows, self.columns} - {"system", "workload"}
        runs = [
            run
            for run in material.runs
            if (not self.workloads or run.workload.source_id in self.workloads)
            and all(run.factor(name) is not None for name in factors)
        ]
        if not runs:
            return Section(self.id, self.title)
        cells: dict[str, dict[str, list[Run]]] = {}
        for run in runs:
            row = " on ".join(_value_in_words(material, run, name) for name in self.rows)
            cells.setdefault(row, {}).setdefault(_value_in_words(material, run, self.columns), []).append(run)
        columns = dict.fromkeys(_value_in_words(material, run, self.columns) for run in runs)
        is_of_several = len({number.metric for run in runs if (number := primary_number(run))}) > 1
        body: Rows = [
            [row, *(_numbers(of.get(column, []), is_of_several=is_of_several) for column in columns)]
            for row, of in cells.items()
        ]
        heads = [self.head, *columns]
        if self.claims:
            heads.append(self.claims)
            by_system = {
                str(claim.side_a.get("dbms")): TextCell(words=figure_words(claim))
                for claim in set_apart(material.statements.claims, self.columns, self.against)
                if claim.side_a.get("workload") == runs[0].workload.source_id
            }
            for version, line in zip(dict.fromkeys(run.dbms_version.source_id for run in runs), body, strict=True):
                line.append(by_system.get(version) or TableCell(gap="not stated"))
        shown = (number.metric.name if (number := primary_number(run)) else run.missing_metric for run in runs)
        wanted = ", ".join(dict.fromkeys(material.name(name) for name in shown if name))
        return Section(
            self.id, self.title, self._lead(material, runs), frames=self.frames, beside=self.beside,
            tables=[NamedTable(self.table or wanted or self.title, table(heads, body))],
        )  # fmt: skip

    def _lead(self, material: Material, runs: Sequence[Run]) -> Words:
        if self.lost:
            lost = sum(not run.measurements.all() for run in runs)
            missing = computed(lost, f"count of {len(runs)} cells whose value is missing", digits=0)
            count = computed(len(runs), "count of the cells", digits=0)
            return words.lost_cells(missing, count, self.lost)
        summaries = [
            claim.summary for claim in material.statements.claims if claim.ratio is None and claim.percent is None
        ]
        return f"{self.say_claims}: {'; '.join(summaries)}." if self.say_claims and summaries else self.lead


def _value_in_words(material: Material, run: Run, name: str) -> str:
    if name == "system":
        return run.dbms_version.name
    return run.workload.name if name == "workload" else material.words({"": run.factor(name)})


def _numbers(runs: Sequence[Run], *, is_of_several: bool) -> Content:
    """The primary one of each run of a cell, or why there is none; with its metric and unit in a table `is_of_several`,
    and with its disk where the runs of the cell were measured on several.
    """
    numbers = [(run, number) for run in runs if (number := primary_number(run))]
    if not numbers:
        reasons = dict.fromkeys(run.missing_reason for run in runs if run.missing_reason)
        return TableCell(gap="; ".join(reasons) or "not measured")
    disks = [", ".join(dict.fromkeys(use.device.short_name for use in run.storage.all())) for run, _ in numbers]
    words: list[str | Amount] = []
    for (_, number), disk in zip(numbers, disks, strict=True):
        on = f" on {disk}" if disk and len({*disks}) > 1 else ""
        words.append(f"{number.metric.label} " if is_of_several else "")
        words += [stored(number, unit=number.metric.unit if is_of_several else ""), on]
        words.append("; " if is_of_several or len({*disks}) > 1 else " ")
    shown = [word for word in words[:-1] if word]
    return shown[0] if len(shown) == 1 else shown


class Methods(PartSpec):
    """The methods of the publication's workloads, with their commands."""

    part: Literal["methods"] = "methods"

    def section(self, material: Material) -> Section:
        rows: Rows = [
            [
                str(method.get("label") or ""), TextCell(text=str(method.get("command", "")), code=True),
                str(method.get("target_disk") or ""),
            ]
            for method in material.methods
        ]  # fmt: skip
        shown = table(["Method", "Command", "Backup on"], rows)
        return Section.of_table(self.id, self.title, shown, lead=self.lead, name="Methods")


class Control(PartSpec):
    """Runs without the factor of the grid that do have numbers, or had some until they were marked invalid."""

    part: Literal["control"] = "control"
    without: str

    def section(self, material: Material) -> Section:
        outside = [run for run in material.runs if run.factor(self.without) is None]
        valued = [run for run in outside if run.measurements.all() or run.invalid_at]
        metrics = dict.fromkeys(measurement.metric for run in valued for measurement in run.measurements.all())
        rows: Rows = []
        for run in valued:
            server = "; ".join(str(factor.value) for factor in run.factors.all()) or run.dbms_version.name
            numbers = [number_of(run, metric.name, metric.unit) for metric in metrics] or [None]
            why_not = run.missing_reason or ("not printed" if metrics else "")
            rows.append([server, *(cell(stored(number) if number else None, gap=why_not) for number in numbers)])
        sql = next((str(run.workload.details.get("sql", "")) for run in valued), "")
        columns = [Column(metric.label, metric.unit) for metric in metrics] or [Column("Numbers", numeric=False)]
        return Section.of_table(
            self.id, self.title, table(["Server", *columns], rows),
            lead=f"{sql}: the same on every server." if sql else self.lead,
        )  # fmt: skip
