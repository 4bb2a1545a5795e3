"""Checks of what publications state against their own numbers, computed anew at every request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from runs.publications.checks import (
    cubrid,
    cubrid_configs,
    firebird_indexes,
    firebird_load,
    firebird_queries,
    firebird_size,
    firebird_tables,
    gbak,
    tpcb,
)
from runs.publications.checks.formula import FormulaError
from runs.publications.checks.model import Check, MissingInputError, Result
from runs.publications.checks.rows import Material, Rows, Rule

# By what the ids of a publication's claims begin with: a copy of its data under another name is checked too.
FAMILIES: dict[str, Sequence[ModuleType]] = {
    "gbak": (gbak,),
    "tpcb": (tpcb,),
    "firebird": (firebird_load, firebird_size, firebird_tables, firebird_indexes, firebird_queries),
    "cubrid": (cubrid_configs, cubrid),
}


def checks_of(material: Material) -> list[Check]:
    """Every check of a publication, in the order of its text, from rows that are read already: no query of its own."""
    rows = Rows(material)
    prefixes = {claim.source_id.partition("-")[0] for claim in material.claims}
    return [
        replace(_checked(rule, rows), number=number, topic=family.TOPIC)
        for prefix, families in FAMILIES.items()
        if prefix in prefixes
        for family in families
        for number, rule in family.CHECKS.items()
    ]


def _checked(rule: Rule, rows: Rows) -> Check:
    """A check whose rows are gone says so, one whose rows have changed says no more than its result."""
    try:
        found = rule.check(rows)
    except (MissingInputError, FormulaError) as error:
        title = rule.check.__name__.replace("_", " ").capitalize()
        return Check(title, Result.GAP, f"Cannot be computed: {error} is not there.")
    if rule.written_for in (None, found.result):
        return found
    return replace(found, explanation=f"With these rows: {found.result}. The article's own give another result.")
