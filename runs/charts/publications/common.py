"""Sections that any article may have: observations, lost documents, machines, configurations, later findings."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from runs.charts.base import Cell, Column, Table
from runs.charts.numbers import exact
from runs.charts.publications.amounts import Amount, TextCell, Words, computed, number_cell, stored, text, word_columns
from runs.charts.publications.material import Material
from runs.charts.publications.parts import Facts, NamedTable, Section
from runs.models import Config, HardwareProfile, Observation, StorageDevice

GIB = 1024**3
# Short facts stand beside the author's name, lists in panels of their own.
SHORT_DETAILS = ("goal", "machine")
LONG_DETAILS = ("caveats", "conclusions")


def head_facts(material: Material) -> list[Facts]:
    """Caveats and conclusions, as far as the publication's details hold them."""
    details = material.publication.details
    return [
        Facts(label(name), [("", line) for line in _lines(details[name])]) for name in LONG_DETAILS if details.get(name)
    ]


def short_facts(material: Material) -> list[tuple[str, str]]:
    details = material.publication.details
    return [(label(name), str(details[name])) for name in SHORT_DETAILS if details.get(name)]


def _lines(value: Any) -> list[str]:
    return [str(line) for line in value] if isinstance(value, list | tuple) else [str(value)]


def observations(material: Material) -> Section:
    columns = [*word_columns("Quantity", "Where"), Column("Value"), *word_columns("Unit", "As said")]
    rows = [
        [text(seen.metric), text(material.words(seen.factors)), value_cell(seen), text(seen.unit), text(seen.qualifier)]
        for seen in material.observations
    ]
    return Section(
        id="observations",
        title="Values that belong to no single run",
        tables=[NamedTable("Observations", Table(columns, rows))] if rows else [],
    )


def value_cell(seen: Observation) -> Cell:
    if seen.value is not None:
        return number_cell(stored(seen))
    ends = [Amount(seen.details[name]) for name in ("value_min", "value_max") if name in seen.details]
    return TextCell(words=(ends[0], " to ", ends[1])) if len(ends) == 2 else Cell(text=seen.value_text)


def missing(material: Material) -> Section:
    """Documents that are lost; lost pictures stand in the list of figures."""
    columns = word_columns("Name", "Kind", "What it held", "Now")
    rows = [
        [text(item.source_id), text(item.kind), text(item.content), Cell(gap="the link is lost")]
        for item in material.missing
        if item.is_document
    ]
    return Section(
        id="missing",
        title="Lost documents",
        lead="The article links to them; the text at hand has lost the link.",
        tables=[NamedTable("Lost documents", Table(columns, rows))] if rows else [],
    )


def findings(material: Material) -> Section:
    """Recovered from other pages, or inferred by us: never mixed with what the article prints."""
    found = [
        Facts(_sentence(fact.title), _pairs(fact.details), badge=fact.provenance, note=fact.how)
        for fact in material.facts
    ]
    return Section(
        id="findings",
        title="Not in the article: recovered and inferred",
        lead="Recovered: stated on another public page. Inferred: worked out by us from what is printed.",
        facts=found,
    )


def _sentence(title: str) -> str:
    return title[:1].upper() + title[1:]


_BOOKKEEPING = frozenset({"publication", "concerns", "tag", "what", "how", "title", "note_for_importer"})


def _pairs(details: dict[str, Any]) -> list[tuple[str, str]]:
    inner = details.get("data")
    entries = {**(inner if isinstance(inner, dict) else {}), **{k: v for k, v in details.items() if k != "data"}}
    return [
        (label(name), spelt(value))
        for name, value in entries.items()
        if name not in _BOOKKEEPING and value not in (None, "")
    ]


_LABELS = {"cpu": "Processor", "ram": "Memory", "os": "Operating system", "dbms": "Systems"}


def label(name: str) -> str:
    return _LABELS.get(name) or _sentence(name.replace("_", " "))


def spelt(value: Any) -> str:
    """Nested facts as one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {spelt(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(spelt(one) for one in value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return exact(float(value))
    return str(value)


def machines(material: Material) -> Section:
    rows = ("Operating system", "Processor", "Memory", "Motherboard", "Disks", "Note")
    columns = [Column("Fact", numeric=False), *(Column(one.name, numeric=False) for one in material.hardware)]
    cells = [_machine(one) for one in material.hardware]
    body = [[text(name), *(machine[index] for machine in cells)] for index, name in enumerate(rows)]
    return Section(
        id="machines",
        title="Machine" if len(material.hardware) == 1 else "Machines",
        tables=[NamedTable("Hardware as the article states it", Table(columns, body))] if cells else [],
    )


def _machine(hardware: HardwareProfile) -> list[Cell]:
    disks = "; ".join(disk_words(disk) for disk in hardware.storage.all())
    memory = f"{exact(hardware.ram_bytes / GIB)} GB" if hardware.ram_bytes else ""
    stated = (hardware.os, hardware.cpu_model, memory, hardware.motherboard, disks)
    facts = [Cell(text=fact) if fact else Cell(gap="not stated in the article") for fact in stated]
    return [*facts, text(hardware.note)]


def disk_words(disk: StorageDevice) -> str:
    stated = (disk.mount_point, disk.medium_label, disk.bus, disk.model, disk.raid)
    return " ".join(dict.fromkeys(part for part in stated if part)) or disk.name


def configurations(material: Material) -> Section:
    """Parameters in order, duplicates and flags kept; what stands twice is marked; what a commit promises."""
    promises = {run.config_id: (run.durability, run.durability_reason) for run in material.runs if run.durability}
    shown = [_config_table(one, *promises.get(one.pk, ("", ""))) for one in material.configs if one.parameters.all()]
    bare = [
        Facts(
            one.name, [("Used by", ", ".join(v.name for v in one.applies_to.all())), ("Stated", one.note)],
            durability=promises.get(one.pk, ("", ""))[0], durability_reason=promises.get(one.pk, ("", ""))[1],
        )
        for one in material.configs
        if not one.parameters.all() and one.note
    ]  # fmt: skip
    return Section(
        id="configurations", title="Configurations as printed", tables=shown, facts=bare,
        links=_differences([one for one in material.configs if one.parameters.all()]),
    )  # fmt: skip


def _differences(configs: list[Config]) -> list[tuple[str, str]]:
    """To the page that sets them side by side, where there are two or more and there is such a page."""
    if len(configs) < 2:
        return []
    try:
        url = reverse("config-diff")
    except NoReverseMatch:
        return []
    query = urlencode([("config", one.slug) for one in configs])
    return [("Differences, setting by setting", f"{url}?{query}")]


def _config_table(config: Config, durability: str, reason: str) -> NamedTable:
    """As in the file: sections stand on lines of their own."""
    parameters = list(config.parameters.all())
    times = Counter((one.section, one.name) for one in parameters)
    rows: list[list[Cell]] = []
    section = ""
    for one in parameters:
        if one.section != section:
            section = one.section
            rows.append([TextCell(text=f"[{section}]", code=True), Cell()])
        twice = "given twice" if times[one.section, one.name] > 1 else ""
        value = "(flag)" if one.value is None else f"{one.value} {one.unit}".strip()
        rows.append([_code(one.name), TextCell(text=value, code=one.value is not None, mark=twice, note=one.comment)])
    return NamedTable(
        config.file_name or config.name, Table(word_columns("Parameter", "Value"), rows),
        _count(len(parameters), times),
        narrow=True, href=_config_url(config), durability=durability, durability_reason=reason,
    )  # fmt: skip


def _count(lines: int, times: Counter[tuple[str, str]]) -> Words:
    count = computed(lines, "count of the lines", digits=0)
    words = f" line{'s' * (lines != 1)}"
    if len(times) == lines:
        return (count, words)
    return (count, f"{words}, ", computed(len(times), "count of the names", digits=0), " different parameters")


def _config_url(config: Config) -> str:
    try:
        return reverse("config", args=[config.slug])
    except NoReverseMatch:
        return ""


def _code(words: str) -> TextCell:
    return TextCell(text=words, code=True)
