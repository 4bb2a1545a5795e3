"""Configurations of an article: line by line as printed, what differs by meaning, what a commit promises and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse

from runs.configs import Difference, DiffRow, diff, durability_of
from runs.configs.diff import SettingCell as Setting
from runs.models import Config
from runs.publications.material import Material
from runs.publications.page.parts import Facts, NamedTable, Section, TextCell, Words, computed, text, word_columns
from runs.tables import Table, TableCell

NOT_TOLD = "What a commit promises is not known: "
DIFFERENCE_WORDS = {
    Difference.EQUAL: "",
    Difference.CHANGED: "differs",
    Difference.ONLY_IN: "in one only",
    Difference.UNKNOWN: "not known",
}


def configurations(material: Material) -> Section:
    """Parameters in order, duplicates and flags kept; what stands twice is marked."""
    printed = [one for one in material.configs if one.parameters.all()]
    tables = [_config_table(material, one) for one in printed]
    links = []
    if len(printed) > 1:
        tables.insert(0, _differences(printed))
        query = urlencode([("config", one.slug) for one in printed])
        links = [("Every difference", f"{reverse('config-diff')}?{query}")]
    return Section(
        id="configurations", title="Configurations as printed", tables=tables, links=links,
        facts=[_bare(material, one) for one in material.configs if one not in printed and one.note],
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
    times = Counter((one.section, one.name) for one in parameters)
    rows: list[list[TableCell]] = []
    section = ""
    for one in parameters:
        if one.section != section:
            section = one.section
            rows.append([TextCell(text=f"[{section}]", code=True), TableCell()])
        twice = "given twice" if times[one.section, one.name] > 1 else ""
        value = "(flag)" if one.value is None else f"{one.value} {one.unit}".strip()
        name = TextCell(text=one.name, code=True)
        rows.append([name, TextCell(text=value, code=one.value is not None, mark=twice, note=one.comment)])
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
    """By name within one engine, by meaning across engines; what is equal is left out."""
    rows = [row for row in diff(configs) if row.status != Difference.EQUAL]
    names = [config.file_name or config.name for config in configs]
    table = Table(word_columns("Setting", *names, "Difference"), [_difference(row, configs) for row in rows])
    note = "by meaning, where the systems name a thing differently"
    return NamedTable("What differs between them", table, note, wide=True)


def _difference(row: DiffRow, configs: Sequence[Config]) -> list[TableCell]:
    settings = (_setting(one, config) for one, config in zip(row.cells, configs, strict=True))
    return [text(row.label), *settings, TextCell(mark=DIFFERENCE_WORDS[row.status])]


def _setting(setting: Setting, config: Config) -> TableCell:
    if setting.absent:
        return TextCell(text="no such setting")
    if not setting.is_set:
        return TextCell(text="not set")
    used = {one.name for one in config.parameters.all()}
    names = [name for name in setting.names if name in used or name.replace("_", "-") in used]
    return TextCell(text=setting.text, code=True, note=", ".join(names))
