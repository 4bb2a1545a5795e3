"""cubrid-mysql-ssd-2011: two systems on HDD and SSD. The absolute values were pictures; the ratios remain as claims."""

from __future__ import annotations

from collections.abc import Sequence

from runs.charts.base import BarGroup, Cell, Column, Figure, Table, bars
from runs.charts.publications import grids
from runs.charts.publications.common import NO_BREAK, amount
from runs.charts.publications.parts import Material, NamedTable, Section, TextCell, text, word_columns
from runs.models import Claim, DataSchema

DISK = "disk"
FAST, SLOW = "SSD", "HDD"


def sections(material: Material) -> list[Section]:
    return [_ratios(material), _values(material), *(_schema(one) for one in material.schemas)]


def _values(material: Material) -> Section:
    runs = [run for run in material.runs if run.factor(DISK) is not None]
    if not runs:
        return Section("values", "Throughput")
    table = grids.grid(
        runs, row=lambda run: f"{run.workload.name}: {run.dbms_version.name}", column=lambda run: str(run.factor(DISK)),
        head="Workload and system",
    )  # fmt: skip
    lead = f"{grids.lost(runs)} of {len(runs)} cells have no value: the article shows them as pictures that are lost."
    wanted = ", ".join(dict.fromkeys(material.name(run.missing_metric) for run in runs if run.missing_metric))
    return Section("values", "Throughput, cell by cell", lead, tables=[NamedTable(wanted or "Throughput", table)])


def claimed_ratio(claim: Claim) -> float | None:
    """SSD / HDD as a factor, for the length of a bar only; the claim's own words stand beside it."""
    if claim.ratio is not None:
        return claim.ratio
    return 1 + claim.percent / 100 if claim.percent is not None else None


def _disk_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that set one system on SSD against the same system and workload on HDD."""

    def rest(side: dict[str, object]) -> dict[str, object]:
        return {name: value for name, value in side.items() if name != DISK}

    return [
        claim
        for claim in claims
        if claim.side_a.get(DISK) == FAST and claim.side_b.get(DISK) == SLOW
        and rest(claim.side_a) == rest(claim.side_b) and claimed_ratio(claim) is not None
    ]  # fmt: skip


def _ratios(material: Material) -> Section:
    claims = _disk_claims(material.claims)
    if not claims:
        return Section("ratios", "SSD against HDD")
    systems = list(dict.fromkeys(str(claim.side_a.get("dbms")) for claim in claims))
    groups: list[BarGroup] = [
        {
            "label": _label(material, claim), "color": systems.index(str(claim.side_a.get("dbms"))),
            "value": claimed_ratio(claim), "interval": None, "dots": [], "gap": None, "ranked": True, "claim": True,
            "text": amount(claim, signed=True).replace(f"about{NO_BREAK}", f"≈{NO_BREAK}"),
        }
        for claim in claims
    ]  # fmt: skip
    spec = bars(label=f"{FAST} / {SLOW}", unit="", better="higher", groups=groups)
    spec["marks"] = [{"axis": "x", "value": 1.0, "label": "no difference"}]
    table = Table(
        [*word_columns("Workload and system", "As claimed"), Column("As a factor"), *word_columns("In words")],
        [
            [text(_label(material, one)), text(amount(one, signed=True)), Cell(claimed_ratio(one)), text(one.summary)]
            for one in claims
        ],
    )  # fmt: skip
    title = f"{FAST} / {SLOW} ratio, as claimed"
    said = ", ".join(f"{_label(material, claim)} {amount(claim, signed=True)}" for claim in claims)
    note = "Hatched: published relative values. No absolute value stands behind them."
    return Section(
        "ratios", f"What the {FAST} gains", _ratio_lead(material, claims),
        figures=[Figure("ratios-chart", title, spec, table, f"Bars: {said}.", note=note)],
    )  # fmt: skip


def _label(material: Material, claim: Claim) -> str:
    side = {name: value for name, value in claim.side_a.items() if name != DISK}
    workload = material.words({"": side.pop("workload", "")})
    return f"{workload}: {material.words(side)}"


def _ratio_lead(material: Material, claims: Sequence[Claim]) -> str:
    ordered = sorted(claims, key=lambda claim: claimed_ratio(claim) or 0.0)
    worst, best = (f"{amount(one, signed=True)} ({_label(material, one)})" for one in (ordered[0], ordered[-1]))
    return f"From {worst} to {best}. No absolute value survives."


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
        title=f"Schema: {tables}",
        lead="; ".join(part for part in (key, *indexes) if part),
        tables=[NamedTable(f"{len(rows)} columns of each table", body)] if rows else [],
    )


def _code(words: str) -> TextCell:
    return TextCell(text=words, code=True)


def _keys(schema: DataSchema, column: str) -> str:
    found = ["primary key"] if column in schema.primary_key else []
    for index in schema.indexes:
        if any(str(one).split(" ")[0] == column for one in index.get("columns", [])):
            found.append(str(index.get("name")))
    return ", ".join(found)
