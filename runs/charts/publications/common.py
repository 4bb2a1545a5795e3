"""Sections that any article may have: claims, observations, lost figures, machines, configurations, later findings."""

from __future__ import annotations

from collections import Counter
from typing import Any

from runs.charts.base import Cell, Column, Table
from runs.charts.numbers import exact
from runs.charts.publications.parts import Facts, Material, NamedTable, Section, TextCell, text, word_columns
from runs.models import Claim, Config, HardwareProfile, Observation, StorageDevice

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


def claims(material: Material) -> Section:
    """Relative statements as the article makes them: never turned into numbers that were not printed."""
    columns = word_columns("What", "Compared with", "Quantity", "Claim", "In words", "Our check")
    rows = [
        [
            text(material.words(claim.side_a)), text(material.words(claim.side_b)), text(material.name(claim.metric)),
            TextCell(text=amount(claim), mark="ambiguous" if claim.ambiguous else ""),
            TextCell(text=claim.summary, note=claim.sense), _check(claim),
        ]
        for claim in material.claims
    ]  # fmt: skip
    return Section(
        id="claims",
        title="What the article claims",
        lead="Each relative statement with its baseline, and a check against the article's own numbers.",
        tables=[NamedTable("Claims", Table(columns, rows))] if rows else [],
    )


NO_BREAK = "\u00a0"


def amount(claim: Claim, *, signed: bool = False) -> str:
    """About 5 ×, −17 %, >4 ×; "no amount given" where the article gives none."""
    figure = _figure(claim, signed)
    if not figure:
        return "no amount given"
    about = "about " if claim.approximate and figure[0] not in "<>≤≥" else ""
    return (about + figure).replace(" ", NO_BREAK)


def _figure(claim: Claim, signed: bool) -> str:
    if claim.ratio is not None:
        return f"{exact(claim.ratio)} ×"
    if claim.percent is not None:
        sign = "+" if signed and claim.percent > 0 else ""
        return f"{sign}{exact(claim.percent)} %" if claim.percent else "equal"
    details = claim.details
    if "ratio_as_printed" in details:
        return f"{details['ratio_as_printed']} ×".replace("<=", "≤").replace(">=", "≥")
    if "percent_as_printed" in details:
        return f"{details['percent_as_printed']} %"
    if "percent_range" in details:
        return f"{'–'.join(exact(one) for one in details['percent_range'])} %"
    return ""


def _check(claim: Claim) -> Cell:
    """What the article's own numbers say to the claim, where they say anything."""
    check = claim.details.get("check")
    if not check:
        return Cell()
    agrees = check.get("result") == "agrees"
    return TextCell(
        text="agrees" if agrees else "",
        mark="" if agrees else str(check.get("result")),
        note=str(check.get("computed", "")),
    )


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
        return Cell(seen.value, text=exact(seen.value))
    return Cell(text=seen.value_text)


def missing(material: Material) -> Section:
    columns = word_columns("Name", "Kind", "What it held", "Now")
    rows = [
        [text(item.source_id), text(item.kind), text(item.content), Cell(gap=_lost(item.is_document))]
        for item in material.missing
    ]
    return Section(
        id="missing",
        title="What is lost",
        lead="Figures and documents that the article refers to and that no longer exist. Their values are gaps.",
        tables=[NamedTable("Lost figures and documents", Table(columns, rows))] if rows else [],
    )


def _lost(is_document: bool) -> str:
    return "the link is lost" if is_document else "the picture is lost"


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
    """Parameters in order, duplicates and flags kept; what stands twice is marked."""
    shown = [_config_table(config) for config in material.configs if config.parameters.all()]
    bare = [
        Facts(config.name, [("Used by", ", ".join(v.name for v in config.applies_to.all())), ("Stated", config.note)])
        for config in material.configs
        if not config.parameters.all() and config.note
    ]
    return Section(id="configurations", title="Configurations as printed", tables=shown, facts=bare)


def _config_table(config: Config) -> NamedTable:
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
    lines = f"{len(parameters)} line{'s' * (len(parameters) != 1)}"
    count = lines if len(times) == len(parameters) else f"{lines}, {len(times)} different parameters"
    return NamedTable(
        config.file_name or config.name, Table(word_columns("Parameter", "Value"), rows), count, narrow=True
    )


def _code(words: str) -> TextCell:
    return TextCell(text=words, code=True)
