"""Sections that any article may have: observations, lost documents, machines, configurations, later findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, cast
from urllib.parse import urlencode

from benchagent.configfiles.units import GIB
from django.urls import reverse

from runs.charts.base import BarGroup, Figure, bars, single_bar
from runs.configs import Difference, diff, durability_of
from runs.configs.diff import SettingCell as Setting
from runs.formatting import exact, natural
from runs.models import Aggregate, Config, HardwareProfile, Metric, Workload
from runs.publications.document import FactRow, ObservationRow, Spec
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    Content,
    Facts,
    NamedTable,
    PartSpec,
    Rows,
    Section,
    TextCell,
    Words,
    cell,
    computed,
    origin_of,
    stored,
    table,
)
from runs.tables import Column, Table, TableCell, fact_rows


class FactTable(PartSpec):
    """Two machines that one fact describes under the keys `first` and `second`, beside each other."""

    part: Literal["machines-of-fact"] = "machines-of-fact"
    first: str
    second: str
    heads: tuple[str, str]
    table: str

    def section(self, material: Material) -> Section:
        for fact in material.statements.facts:
            if {self.first, self.second} <= fact.details.keys():
                machines = (fact.details[self.first], fact.details[self.second])
                rows: Rows = []
                for row in fact_rows([{name: str(value) for name, value in stated.items()} for stated in machines]):
                    one, other = row.values
                    mark = "" if one == other or _total(one) == _total(other) is not None else "differs"
                    rows.append([_PARTS.get(row.label, row.label), one, TextCell(text=other, mark=mark)])
                shown = table(["Part", *self.heads], rows)
                return Section(self.id, self.title, self.lead, tables=[NamedTable(self.table, shown, fact.how)])
        return Section(self.id, self.title)


_PARTS = {"os": "Operating system", "cpu": "Processor", "memory": "Memory", "disk": "Disks"}


def _total(words: str) -> int | None:
    """A size in GB: 2G * 4 is 8."""
    match = re.fullmatch(r"(\d+)G(?: \* (\d+))?", words)
    return int(match[1]) * int(match[2] or 1) if match else None


def observations(material: Material) -> Section:
    rows: Rows = [
        [seen.metric, material.words(seen.factors), _value(seen), seen.unit, seen.qualifier]
        for seen in material.statements.observations
    ]
    shown = table(["Quantity", "Where", Column("Value"), "Unit", "As said"], rows)
    return Section.of_table("observations", "Values that belong to no single run", shown, name="Observations")


NO_REPEATS = (
    "The article prints these without their repeats: how much the repeats differ is not known, so there are no "
    "intervals and no verdicts."
)


def aggregates(material: Material) -> Section:
    """Printed means and medians without repeats, a table for each workload and metric; a column for each factor."""
    tables: dict[tuple[Workload, Metric], list[Aggregate]] = {}
    for row in material.alone:
        tables.setdefault((row.workload, row.metric), []).append(row)
    return Section(
        "aggregates", "Means and medians as printed", NO_REPEATS,
        tables=[
            NamedTable(f"{workload.name}: {metric.label}", _aggregates_table(material, rows, metric))
            for (workload, metric), rows in tables.items()
        ],
    )  # fmt: skip


def _aggregates_table(material: Material, rows: Sequence[Aggregate], metric: Metric) -> Table:
    """A row for each, with its system and factors, and a column for each statistic."""
    statistics = list(dict.fromkeys(row.statistic for row in rows))
    beside = list(dict.fromkeys(name for row in rows for name in row.details if name != "factors"))
    body: dict[str, list[list[Content]]] = {}
    for row in rows:
        system = row.dbms_version.name if row.dbms_version else ""
        what = ", ".join(filter(None, [system, material.words(row.factors)]))
        numbers = [stored(row) if row.statistic == statistic else None for statistic in statistics]
        details = [row.details.get(name, "") for name in beside]
        body.setdefault(what, []).append(
            [what, *numbers, *(Amount(float(value)) if _is_number(value) else spelt(value) for value in details)]
        )
    in_order = [row for what in sorted(body, key=natural) for row in body[what]]
    are_numbers = {name: all(_is_number(row.details.get(name, 0)) for row in rows) for name in beside}
    columns = [Column(label(name), metric.unit) for name in statistics]
    columns += [Column(label(name), numeric=are_numbers[name]) for name in beside]
    return table(["What", *columns], in_order)


def _value(seen: ObservationRow) -> Content:
    if seen.value is not None:
        return stored(seen)
    if seen.value_min is not None and seen.value_max is not None:
        low, high = (Amount(end, measured_in=seen.unit) for end in (seen.value_min, seen.value_max))
        return (low, " to ", high)
    return seen.value_text


def missing(material: Material) -> Section:
    """Documents that are lost; lost pictures stand in the list of figures."""
    rows: Rows = [
        [item.id, item.kind, item.content, TableCell(gap="the link is lost")]
        for item in material.statements.missing
        if item.document
    ]
    lead = "The article links to them; the text at hand has lost the link."
    return Section.of_table(
        "missing", "Lost documents", table(["Name", "Kind", "What it held", "Now"], rows), lead=lead
    )


def findings(material: Material) -> Section:
    """Recovered from other pages, or inferred by us: never mixed with what the article prints."""
    facts, tables = [], []
    for fact in material.statements.facts:
        title, values = _sentence(fact.title), fact.details.get("values")
        if isinstance(values, list) and values and all(isinstance(value, dict) for value in values):
            columns = [
                Column(label(name.removesuffix("_gb")), "GB" if name.endswith("_gb") else "") for name in values[0]
            ]
            rows: Rows = [
                [Amount(float(value), provenance=fact.provenance) for value in row.values()] for row in values
            ]
            tables.append(NamedTable(title, table(columns, rows), fact.how))
        else:
            facts.append(Facts(title, _pairs(fact), badge=fact.provenance, note=fact.how))
    return Section(
        id="findings",
        title="Not in the article: recovered and inferred",
        lead="Recovered: stated on another public page. Inferred: worked out by us from what is printed.",
        facts=facts,
        tables=tables,
    )


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]


_BOOKKEEPING = frozenset({"publication", "concerns", "tag", "what", "how", "title", "note_for_importer"})


def _pairs(fact: FactRow) -> list[tuple[str, Words]]:
    inner = fact.details.get("data")
    entries = {**(inner if isinstance(inner, dict) else {}), **{k: v for k, v in fact.details.items() if k != "data"}}
    return [
        (label(name), (Amount(float(value), provenance=fact.provenance),) if _is_number(value) else spelt(value))
        for name, value in entries.items()
        if name not in _BOOKKEEPING and value not in (None, "")
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


_LABELS = {"cpu": "Processor", "ram": "Memory", "os": "Operating system", "dbms": "Systems"}


def label(name: str) -> str:
    return _LABELS.get(name) or _sentence(name.replace("_", " "))


def spelt(value: Any) -> str:
    """Nested facts as one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {spelt(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(spelt, value))
    return exact(float(value)) if _is_number(value) else str(value)


def machines(material: Material) -> Section:
    facts = ("Operating system", "Processor", "Memory", "Motherboard", "Disks", "Note")
    rows: Rows = [list(row) for row in zip(facts, *map(_machine, material.hardware), strict=True)]
    shown = table(["Fact", *(machine.name for machine in material.hardware)], rows)
    return Section(
        id="machines",
        title="Machine" if len(material.hardware) == 1 else "Machines",
        tables=[NamedTable("Hardware as the article states it", shown)] if material.hardware else [],
        links=[(machine.name, reverse("hardware-detail", args=[machine.slug])) for machine in material.hardware],
    )


def _machine(hardware: HardwareProfile) -> list[Content]:
    disks = []
    for disk in hardware.storage.all():
        stated = (disk.mount_point, disk.medium_label, disk.bus, disk.model, disk.raid)
        disks.append(" ".join(dict.fromkeys(part for part in stated if part)) or disk.name)
    memory = f"{exact(hardware.ram_bytes / GIB)} GB" if hardware.ram_bytes else ""
    facts = (hardware.os, hardware.cpu_model, memory, hardware.motherboard, "; ".join(disks))
    return [*(cell(fact or None, gap="not stated in the article") for fact in facts), hardware.note]


# Schema


def schema(material: Material) -> Section:
    """The section of the last schema: an article has one."""
    if not material.statements.schemas:
        return Section("schema", "Schema")
    schema = material.statements.schemas[-1]
    rows: Rows = []
    for column in schema.columns:
        name, definition = str(column.get("name")), str(column.get("definition", ""))
        keys = ["primary key"] if name in schema.primary_key else []
        for index in schema.indexes:
            if name in (str(part).split(" ")[0] for part in index.get("columns", [])):
                keys.append(str(index.get("name")))
        rows.append([TextCell(text=name, code=True), TextCell(text=definition, code=True), ", ".join(keys)])
    tables = schema.tables if isinstance(schema.tables, str) else ", ".join(str(table) for table in schema.tables)
    key = f"Primary key ({', '.join(schema.primary_key)})" if schema.primary_key else ""
    indexes = [
        f"{'unique ' if index.get('unique') else ''}index {index.get('name')} ({', '.join(index.get('columns', []))})"
        for index in schema.indexes
    ]
    return Section.of_table(
        "schema", "Schema", table(["Column", "Definition", "Keys"], rows),
        lead="; ".join(part for part in (key, *indexes) if part), name=f"Columns of each table: {tables}",
    )  # fmt: skip


class ObservedSpec(Spec):
    """A chart of the observations with this unit."""

    id: str
    name: str
    unit: str
    better: Literal["higher", "lower", "none"] = "none"

    def figure(self, material: Material) -> Figure | None:
        groups: list[BarGroup] = []
        rows: Rows = []
        for seen in material.statements.observations:
            if seen.unit == self.unit and seen.value is not None:
                where, amount = material.words(seen.factors), stored(seen)
                label = f"{where}: {seen.metric}" if seen.unit == "%" else where or seen.metric
                is_about = any(word in seen.qualifier for word in ("about", "approx"))
                about = "≤ about " if is_about and "or less" in seen.qualifier else "≈ " if is_about else ""
                words = f"{about}{exact(seen.value)}"
                groups.append(single_bar(label, seen.value, text=words, origin=origin_of([amount])))
                rows.append([label, amount, seen.qualifier])
        if not groups:
            return None
        chart = bars(label=self.name, unit=self.unit, better=self.better, groups=groups)
        shown = table(["Where", Column("Value", self.unit), "As said"], rows)
        alt = ", ".join(f"{group['label']} {exact(group['value'] or 0)}" for group in groups)
        return Figure(self.id, f"{self.name}, {self.unit}", chart, shown, f"Bars: {alt}.")


class Observed(PartSpec):
    """`say` names what the fastest and slowest rates are of, in the unit of the first chart."""

    part: Literal["observed"] = "observed"
    figures: list[ObservedSpec]
    say: tuple[str, str, str] | None = None

    def section(self, material: Material) -> Section:
        unit, lead = self.figures[0].unit, cast(Words, self.lead)
        said = [stored(seen, unit=unit) for seen in material.statements.observations if seen.unit == unit]
        rates = sorted((rate for rate in said if rate.value), key=lambda rate: rate.value)
        if len(rates) > 1 and self.say:
            before, between, after = self.say
            lead = (before, rates[-1], between, rates[0], after)
        return Section(
            self.id, self.title, lead, [figure for spec in self.figures if (figure := spec.figure(material))]
        )


# Configurations: line by line as printed, what differs by meaning, what a commit promises and why

NOT_TOLD = "What a commit promises is not known: "
DIFFERENCE_WORDS = {
    Difference.EQUAL: "",
    Difference.CHANGED: "differs",
    Difference.ONLY_IN: "not printed of all",
    Difference.UNKNOWN: "not known",
}


def configurations(material: Material) -> Section:
    """Parameters in order, duplicates and flags kept; what stands twice is marked."""
    printed = [config for config in material.configs if config.parameters.all()]
    tables = [_config_table(material, config) for config in printed]
    links = []
    if len(printed) > 1:
        tables.insert(0, _differences(printed))
        query = urlencode([("config", config.slug) for config in printed])
        links = [("Every difference", f"{reverse('config-diff')}?{query}")]
    bare = []
    for config in material.configs:
        if config not in printed and config.note:
            used_by = ", ".join(version.name for version in config.applies_to.all())
            pairs: list[tuple[str, Words]] = [("Used by", used_by), ("Stated", config.note)]
            bare.append(Facts(config.name, pairs, "", "", *promise(material, config)))
    return Section("configurations", "Configurations as printed", tables=tables, links=links, facts=bare)


def promise(material: Material, config: Config) -> tuple[str, str]:
    """(class, reason): what the article states of its runs, and what the settings themselves say."""
    stated = next((run for run in material.runs if run.config_id == config.pk and run.durability), None)
    judged = durability_of(config)
    if judged.durability is not None:
        return str(judged.durability), judged.reason
    return (stated.durability, stated.durability_reason) if stated else ("", f"{NOT_TOLD}{judged.reason}")


def _config_table(material: Material, config: Config) -> NamedTable:
    """As in the file: sections stand on lines of their own."""
    parameters = list(config.parameters.all())
    times = Counter((parameter.section, parameter.name) for parameter in parameters)
    rows: Rows = []
    section = ""
    for parameter in parameters:
        if parameter.section != section:
            section = parameter.section
            rows.append([TextCell(text=f"[{section}]", code=True), None])
        is_flag, is_twice = parameter.value is None, times[parameter.section, parameter.name] > 1
        text = "(flag)" if is_flag else f"{parameter.value} {parameter.unit}".strip()
        value = TextCell(text=text, code=not is_flag, mark="given twice" if is_twice else "", note=parameter.comment)
        rows.append([TextCell(text=parameter.name, code=True), value])
    lines = len(parameters)
    count: list[str | Amount] = [computed(lines, "count of the lines", digits=0), f" line{'s' * (lines != 1)}"]
    if len(times) != lines:
        count += [", ", computed(len(times), "count of the names", digits=0), " different parameters"]
    durability, reason = promise(material, config)
    return NamedTable(
        config.file_name or config.name, table(["Parameter", "Value"], rows), count, narrow=True,
        href=reverse("config", args=[config.slug]), durability=durability, durability_reason=reason,
    )  # fmt: skip


def _differences(configs: Sequence[Config]) -> NamedTable:
    """Settings that differ, by name within one engine, by meaning across engines."""
    rows: Rows = [
        [row.label, *map(_setting, row.cells, configs), TextCell(mark=DIFFERENCE_WORDS[row.status])]
        for row in diff(configs)
        if row.status != Difference.EQUAL
    ]
    shown = table(["Setting", *(config.file_name or config.name for config in configs), "Difference"], rows)
    note = "by meaning, where the systems name a thing differently"
    return NamedTable("What differs between them", shown, note, wide=True)


def _setting(setting: Setting, config: Config) -> Content:
    if setting.absent or not setting.is_set:
        # An article prints what it has changed: what it does not print has the engine's own value, or is not told.
        return "no such setting" if setting.absent else "not printed"
    used = {row.name for row in config.parameters.all()}
    names = [name for name in setting.names if name in used or name.replace("_", "-") in used]
    return TextCell(text=setting.text, code=True, note=", ".join(names))
