"""Checks of what publications state against their own numbers, computed anew at every request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType

from runs.literature.checks import (
    cubrid,
    firebird_load,
    firebird_queries,
    firebird_size,
    firebird_tables,
    gbak,
    tpcb,
)
from runs.literature.checks.formula import FormulaError
from runs.literature.checks.model import Check, MissingInputError, Result
from runs.literature.checks.rows import Material, Rows

# By what the ids of a publication's claims begin with: a copy of its data under another name is checked too.
FAMILIES: dict[str, Sequence[ModuleType]] = {
    "gbak": (gbak,),
    "tpcb": (tpcb,),
    "firebird": (firebird_load, firebird_size, firebird_tables, firebird_queries),
    "cubrid": (cubrid,),
}


def checks_of(material: Material) -> list[Check]:
    """Every check of a publication, in the order of its text, from rows that are read already: no query of its own."""
    rows = Rows(material)
    prefixes = {claim.source_id.partition("-")[0] for claim in material.claims}
    return [
        replace(_checked(check, rows), number=number, topic=family.TOPIC)
        for prefix, families in FAMILIES.items()
        if prefix in prefixes
        for family in families
        for number, check in family.CHECKS.items()
    ]


def _checked(check: Callable[[Rows], Check], rows: Rows) -> Check:
    """A check whose rows are gone says so, and the page stays."""
    try:
        return check(rows)
    except (MissingInputError, FormulaError) as error:
        title = check.__name__.replace("_", " ").capitalize()
        return Check(title, Result.GAP, f"Cannot be computed: {error} is not there.")
