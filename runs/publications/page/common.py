"""Sections that any article may have: observations, lost documents, machines, configurations, later findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import urlencode

from django.urls import reverse

from runs.charts.base import Figure, bars, single_bar
from runs.configs import Difference, diff, durability_of
from runs.configs.diff import SettingCell as Setting
from runs.formatting import exact
from runs.models import Config, HardwareProfile
from runs.publications.document import FactRow, ObservationRow, Spec
from runs.publications.material import Material
from runs.publications.page.parts import (
    Amount,
    Facts,
    NamedTable,
    PartSpec,
    Section,
    TextCell,
    Words,
    computed,
    number_cell,
    origin_of,
    stored,
    text,
    word_columns,
)
from runs.tables import Column, Table, TableCell

GIB = 1024**3


class FactTable(PartSpec):
    """Two machines that one fact describes under the keys `first` and `second`, beside each other."""

    part: Literal["machines-of-fact"] = "machines-of-fact"
    first: str
    second: str
    heads: tuple[str, str]
    table: str

    def section(self, material: Material) -> Section:
        fact = next(
            (fact for fact in material.statements.facts if {self.first, self.second} <= fact.details.keys()), None
        )
        if fact is None:
            return Section(self.id, self.title)
        first, second = fact.details[self.first], fact.details[self.second]
        rows = [
            [
                text(_PARTS.get(name, name)), TextCell(text=str(first.get(name, ""))),
                TextCell(
                    text=str(second.get(name, "")),
                    mark="" if _same(first.get(name), second.get(name)) else "differs",
                ),
            ]
            for name in dict.fromkeys([*first, *second])
        ]  # fmt: skip
        table = Table(word_columns("Part", *self.heads), rows)
        return Section(self.id, self.title, self.lead, tables=[NamedTable(self.table, table, fact.how)])


_PARTS = {"os": "Operating system", "cpu": "Processor", "memory": "Memory", "disk": "Disks"}


def _same(first: object, second: object) -> bool:
    """Equal as written, or equal sizes: 2G * 4 is 8G."""
    return first == second or (_total(str(first)) is not None and _total(str(first)) == _total(str(second)))


def _total(words: str) -> int | None:
    match = re.fullmatch(r"(\d+)G(?: \* (\d+))?", words)
    return int(match[1]) * int(match[2] or 1) if match else None


def observations(material: Material) -> Section:
    columns = [*word_columns("Quantity", "Where"), Column("Value"), *word_columns("Unit", "As said")]
    rows = [
        [text(seen.metric), text(material.words(seen.factors)), _value(seen), text(seen.unit), text(seen.qualifier)]
        for seen in material.statements.observations
    ]
    return Section.of_table("observations", "Values that belong to no single run", columns, rows, table="Observations")


def _value(seen: ObservationRow) -> TableCell:
    if seen.value is not None:
        return number_cell(stored(seen))
    if seen.value_min is not None and seen.value_max is not None:
        return TextCell(words=(Amount(seen.value_min), " to ", Amount(seen.value_max)))
    return TableCell(text=seen.value_text)


def missing(material: Material) -> Section:
    """Documents that are lost; lost pictures stand in the list of figures."""
    columns = word_columns("Name", "Kind", "What it held", "Now")
    rows = [
        [text(item.id), text(item.kind), text(item.content), TableCell(gap="the link is lost")]
        for item in material.statements.missing
        if item.document
    ]
    lead = "The article links to them; the text at hand has lost the link."
    return Section.of_table("missing", "Lost documents", columns, rows, lead=lead)


def findings(material: Material) -> Section:
    """Recovered from other pages, or inferred by us: never mixed with what the article prints."""
    return Section(
        id="findings",
        title="Not in the article: recovered and inferred",
        lead="Recovered: stated on another public page. Inferred: worked out by us from what is printed.",
        facts=[
            Facts(_sentence(fact.title), _pairs(fact), badge=fact.provenance, note=fact.how)
            for fact in material.statements.facts
            if not _rows_of(fact)
        ],
        tables=[_listing(fact) for fact in material.statements.facts if _rows_of(fact)],
    )


def _rows_of(fact: FactRow) -> list[dict[str, Any]]:
    """The rows of a fact that is a list of alike things."""
    values = fact.details.get("values")
    return values if isinstance(values, list) and all(isinstance(value, dict) for value in values) else []


def _listing(fact: FactRow) -> NamedTable:
    rows = _rows_of(fact)
    columns = [Column(label(name.removesuffix("_gb")), "GB" if name.endswith("_gb") else "") for name in rows[0]]
    body = [[number_cell(Amount(float(value), provenance=fact.provenance)) for value in row.values()] for row in rows]
    return NamedTable(_sentence(fact.title), Table(columns, body), fact.how)


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
    facts = map(text, ("Operating system", "Processor", "Memory", "Motherboard", "Disks", "Note"))
    columns = word_columns("Fact", *(machine.name for machine in material.hardware))
    body = [[*row] for row in zip(facts, *map(_machine, material.hardware), strict=True)]
    return Section(
        id="machines",
        title="Machine" if len(material.hardware) == 1 else "Machines",
        tables=[NamedTable("Hardware as the article states it", Table(columns, body))] if material.hardware else [],
        links=[(machine.name, reverse("hardware-detail", args=[machine.slug])) for machine in material.hardware],
    )


def _machine(hardware: HardwareProfile) -> list[TableCell]:
    disks = []
    for disk in hardware.storage.all():
        stated = (disk.mount_point, disk.medium_label, disk.bus, disk.model, disk.raid)
        disks.append(" ".join(dict.fromkeys(part for part in stated if part)) or disk.name)
    memory = f"{exact(hardware.ram_bytes / GIB)} GB" if hardware.ram_bytes else ""
    facts = (hardware.os, hardware.cpu_model, memory, hardware.motherboard, "; ".join(disks))
    cells = [TableCell(text=fact) if fact else TableCell(gap="not stated in the article") for fact in facts]
    return [*cells, text(hardware.note)]


# Schema


def schema(material: Material) -> Section:
    """The section of the last schema: an article has one."""
    if not material.statements.schemas:
        return Section("schema", "Schema")
    schema = material.statements.schemas[-1]
    rows = []
    for column in schema.columns:
        name, definition = str(column.get("name")), str(column.get("definition", ""))
        keys = ["primary key"] if name in schema.primary_key else []
        for index in schema.indexes:
            if name in (str(part).split(" ")[0] for part in index.get("columns", [])):
                keys.append(str(index.get("name")))
        rows.append([TextCell(text=name, code=True), TextCell(text=definition, code=True), text(", ".join(keys))])
    tables = schema.tables if isinstance(schema.tables, str) else ", ".join(str(table) for table in schema.tables)
    key = f"Primary key ({', '.join(schema.primary_key)})" if schema.primary_key else ""
    indexes = [
        f"{'unique ' if index.get('unique') else ''}index {index.get('name')} ({', '.join(index.get('columns', []))})"
        for index in schema.indexes
    ]
    return Section.of_table(
        "schema", "Schema", word_columns("Column", "Definition", "Keys"), rows,
        lead="; ".join(part for part in (key, *indexes) if part), table=f"Columns of each table: {tables}",
    )  # fmt: skip


class ObservedSpec(Spec):
    """A chart of the observations with this unit."""

    id: str
    name: str
    unit: str
    better: Literal["higher", "lower", "none"] = "none"


class Observed(PartSpec):
    """`say` names what the fastest and slowest rates are of, in the unit of the first chart."""

    part: Literal["observed"] = "observed"
    figures: list[ObservedSpec]
    say: tuple[str, str, str] | None = None

    def section(self, material: Material) -> Section:
        figures = [figure for spec in self.figures if (figure := _bars(material, spec))]
        unit = self.figures[0].unit
        rates = [
            stored(seen, unit=unit) for seen in material.statements.observations if seen.unit == unit and seen.value
        ]
        lead: Words = self.lead
        if len(rates) > 1 and self.say:
            before, between, after = self.say
            rates.sort(key=lambda rate: rate.value)
            lead = (before, rates[-1], between, rates[0], after)
        return Section(self.id, self.title, lead, figures)


def _bars(material: Material, spec: ObservedSpec) -> Figure | None:
    groups, rows, sentences = [], [], []
    for seen in material.statements.observations:
        if seen.unit != spec.unit or seen.value is None:
            continue
        where, amount = material.words(seen.factors), stored(seen)
        label = f"{where}: {seen.metric}" if seen.unit == "%" else where or seen.metric
        about = "≈ " if any(word in seen.qualifier for word in ("about", "approx")) else ""
        words = f"{about}{exact(seen.value)}"
        groups.append(single_bar(label, seen.value, text=words, origin=origin_of([amount])))
        rows.append([text(label), number_cell(amount), text(seen.qualifier)])
        sentences.append(f"{label} {exact(seen.value)}")
    if not groups:
        return None
    table = Table([*word_columns("Where"), Column("Value", spec.unit), *word_columns("As said")], rows)
    chart = bars(label=spec.name, unit=spec.unit, better=spec.better, groups=groups)
    return Figure(spec.id, f"{spec.name}, {spec.unit}", chart, table, f"Bars: {', '.join(sentences)}.")


# Configurations: line by line as printed, what differs by meaning, what a commit promises and why

NOT_TOLD = "What a commit promises is not known: "
DIFFERENCE_WORDS = {
    Difference.EQUAL: "",
    Difference.CHANGED: "differs",
    Difference.ONLY_IN: "in one only",
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
    return Section(
        id="configurations", title="Configurations as printed", tables=tables, links=links,
        facts=[_bare(material, config) for config in material.configs if config not in printed and config.note],
    )  # fmt: skip


def promise(material: Material, config: Config) -> tuple[str, str]:
    """(class, reason): what the article states of its runs, and what the settings themselves say."""
    stated = next((run for run in material.runs if run.config_id == config.pk and run.durability), None)
    judged = durability_of(config)
    if judged.durability is not None:
        return str(judged.durability), judged.reason
    return (stated.durability, stated.durability_reason) if stated else ("", f"{NOT_TOLD}{judged.reason}")


def _bare(material: Material, config: Config) -> Facts:
    durability, reason = promise(material, config)
    used_by = ", ".join(version.name for version in config.applies_to.all())
    pairs: list[tuple[str, Words]] = [("Used by", used_by), ("Stated", config.note)]
    return Facts(config.name, pairs, durability=durability, durability_reason=reason)


def _config_table(material: Material, config: Config) -> NamedTable:
    """As in the file: sections stand on lines of their own."""
    parameters = list(config.parameters.all())
    times = Counter((parameter.section, parameter.name) for parameter in parameters)
    rows: list[list[TableCell]] = []
    section = ""
    for parameter in parameters:
        if parameter.section != section:
            section = parameter.section
            rows.append([TextCell(text=f"[{section}]", code=True), TableCell()])
        twice = "given twice" if times[parameter.section, parameter.name] > 1 else ""
        value = "(flag)" if parameter.value is None else f"{parameter.value} {parameter.unit}".strip()
        name = TextCell(text=parameter.name, code=True)
        rows.append([name, TextCell(text=value, code=parameter.value is not None, mark=twice, note=parameter.comment)])
    durability, reason = promise(material, config)
    return NamedTable(
        config.file_name or config.name, Table(word_columns("Parameter", "Value"), rows),
        _count(len(parameters), times), narrow=True, href=reverse("config", args=[config.slug]), durability=durability,
        durability_reason=reason,
    )  # fmt: skip


def _count(lines: int, times: Counter[tuple[str, str]]) -> Words:
    words: Words = (computed(lines, "count of the lines", digits=0), f" line{'s' * (lines != 1)}")
    if len(times) == lines:
        return words
    return (*words, ", ", computed(len(times), "count of the names", digits=0), " different parameters")


def _differences(configs: Sequence[Config]) -> NamedTable:
    """Settings that differ, by name within one engine, by meaning across engines."""
    rows = [
        [text(row.label), *map(_setting, row.cells, configs), TextCell(mark=DIFFERENCE_WORDS[row.status])]
        for row in diff(configs)
        if row.status != Difference.EQUAL
    ]
    names = [config.file_name or config.name for config in configs]
    table = Table(word_columns("Setting", *names, "Difference"), rows)
    note = "by meaning, where the systems name a thing differently"
    return NamedTable("What differs between them", table, note, wide=True)


def _setting(setting: Setting, config: Config) -> TableCell:
    if setting.absent:
        return TextCell(text="no such setting")
    if not setting.is_set:
        return TextCell(text="not set")
    used = {row.name for row in config.parameters.all()}
    names = [name for name in setting.names if name in used or name.replace("_", "-") in used]
    return TextCell(text=setting.text, code=True, note=", ".join(names))
