"""cubrid-mysql-ssd-2011: two systems on HDD and SSD. The absolute values were pictures; the ratios remain as claims."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from runs.charts.base import Cell, Column, Table
from runs.models import Claim, DataSchema, Run
from runs.publications.page import grids
from runs.publications.page.amounts import TextCell, text, word_columns
from runs.publications.page.claim_words import figure_words
from runs.publications.page.material import Material
from runs.publications.page.parts import NamedTable, Section
from runs.publications.page.ratios import claimed_ratio, ratio_section

DISK = "disk"
FAST, SLOW = "SSD", "HDD"
# Workload kinds are told apart by their source id; title and the article's time graph of each.
TESTS = (
    ("wl-cubrid-insert", "insert", "INSERT, I/O-bound", "cubrid-fig3"),
    ("wl-cubrid-select-cpu", "select-cpu", "SELECT, CPU-bound", "cubrid-fig5"),
    ("wl-cubrid-select-io", "select-io", "SELECT, I/O-bound", "cubrid-fig7"),
)
SELECTS = ("wl-cubrid-select-cpu", "wl-cubrid-select-io")


def sections(material: Material) -> list[Section]:
    return [
        _ratios(material), _two_machines(material), *(_test(material, *one) for one in TESTS), _both(material),
        *(_schema(one) for one in material.schemas),
    ]  # fmt: skip


def _order(source_id: str) -> int:
    found = [place for place, (workload, *_) in enumerate(TESTS) if workload == source_id]
    return found[0] if found else len(TESTS)


def disk_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that set one system on SSD against the same system and workload on HDD, in the order of the tests."""

    def rest(side: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in side.items() if name != DISK}

    found = [
        claim
        for claim in claims
        if claim.side_a.get(DISK) == FAST and claim.side_b.get(DISK) == SLOW
        and rest(claim.side_a) == rest(claim.side_b) and claimed_ratio(claim) is not None
    ]  # fmt: skip
    return sorted(found, key=lambda claim: _order(str(claim.side_a.get("workload"))))


def _ratios(material: Material) -> Section:
    found = disk_claims(material.claims)
    return ratio_section(material, found, label=f"{FAST} / {SLOW}, TPS")


# Machines


def _two_machines(material: Material) -> Section:
    """The lost table of both machines, from the page that states them."""
    fact = next((one for one in material.facts if "hdd_machine" in one.details), None)
    if fact is None:
        return Section("two-machines", "The two machines")
    slow, fast = fact.details["hdd_machine"], fact.details["ssd_machine"]
    names = {"os": "Operating system", "cpu": "Processor", "memory": "Memory", "disk": "Disks"}
    rows = [
        [
            text(names.get(name, name)), TextCell(text=str(slow.get(name, ""))),
            TextCell(text=str(fast.get(name, "")), mark="" if _same(slow.get(name), fast.get(name)) else "differs"),
        ]
        for name in dict.fromkeys([*slow, *fast])
    ]  # fmt: skip
    table = Table(word_columns("Part", f"{SLOW} server", f"{FAST} server"), rows)
    return Section(
        "two-machines", "The two machines",
        "Not in the article's text: recovered from the slides of the test. More differs than the disks, so a ratio "
        "between the servers is not the work of the disks alone.",
        tables=[NamedTable("Both servers, recovered from another page", table, fact.how)],
    )  # fmt: skip


def _same(one: object, other: object) -> bool:
    """Equal as written, or equal sizes: 2G * 4 is 8G."""
    return one == other or (_total(str(one)) is not None and _total(str(one)) == _total(str(other)))


def _total(words: str) -> int | None:
    found = re.fullmatch(r"(\d+)G(?: \* (\d+))?", words)
    return int(found[1]) * int(found[2] or 1) if found else None


# Results


def _runs(material: Material, *workloads: str) -> list[Run]:
    return [run for run in material.runs if run.workload.source_id in workloads and run.factor(DISK) is not None]


def _test(material: Material, workload: str, id: str, title: str, over_time: str) -> Section:
    runs = _runs(material, workload)
    claims = {
        str(one.side_a.get("dbms")): one
        for one in disk_claims(material.claims)
        if one.side_a.get("workload") == workload
    }
    table = grids.grid(
        runs, row=lambda run: run.dbms_version.name, column=lambda run: str(run.factor(DISK)), head="System"
    )
    versions = list(dict.fromkeys(run.dbms_version.source_id for run in runs))
    rows = [[*row, _ratio_cell(claims.get(version))] for row, version in zip(table.rows, versions, strict=True)]
    columns = [*table.columns, Column(f"{FAST} / {SLOW} as claimed", numeric=False)]
    return Section(
        id, title, grids.lost_words(runs, "the table was a picture."),
        tables=[NamedTable(f"Average TPS, {title}", Table(columns, rows))] if rows else [],
        frames=(over_time,), beside=True,
    )  # fmt: skip


def _ratio_cell(claim: Claim | None) -> Cell:
    return TextCell(words=figure_words(claim)) if claim else Cell(gap="not stated")


def _both(material: Material) -> Section:
    runs = _runs(material, *SELECTS)
    table = grids.grid(
        runs, row=lambda run: f"{run.dbms_version.name} on {run.factor(DISK)}", column=lambda run: run.workload.name,
        head="System and disk",
    )  # fmt: skip
    above = [one.summary for one in material.claims if claimed_ratio(one) is None]
    return Section(
        "select-both", "Both SELECT tests", f"Claimed without a number: {'; '.join(above)}." if above else "",
        tables=[NamedTable("Average TPS, CPU-bound and I/O-bound", table)] if runs else [],
        frames=("cubrid-fig9",), beside=True,
    )  # fmt: skip


# Schema


def _schema(schema: DataSchema) -> Section:
    names = [str(one.get("name")) for one in schema.columns]
    rows = [
        [_code(name), _code(str(one.get("definition", ""))), text(_keys(schema, name))]
        for name, one in zip(names, schema.columns, strict=True)
    ]
    tables = schema.tables if isinstance(schema.tables, str) else ", ".join(str(one) for one in schema.tables)
    key = f"Primary key ({', '.join(schema.primary_key)})" if schema.primary_key else ""
    indexes = [
        f"{'unique ' if one.get('unique') else ''}index {one.get('name')} ({', '.join(one.get('columns', []))})"
        for one in schema.indexes
    ]
    body = Table(word_columns("Column", "Definition", "Keys"), rows)
    return Section(
        id="schema",
        title="Schema",
        lead="; ".join(part for part in (key, *indexes) if part),
        tables=[NamedTable(f"Columns of each table: {tables}", body)] if rows else [],
    )


def _code(words: str) -> TextCell:
    return TextCell(text=words, code=True)


def _keys(schema: DataSchema, column: str) -> str:
    found = ["primary key"] if column in schema.primary_key else []
    for index in schema.indexes:
        if any(str(one).split(" ")[0] == column for one in index.get("columns", [])):
            found.append(str(index.get("name")))
    return ", ".join(found)
