"""docs/method/comparability.md: each factor's role, as the catalogue has it."""

from __future__ import annotations

import re

from benchagent.catalog import FACTORS, WORKLOADS, Role
from benchagent.catalog.values import OTHER_ROLES

from tests.conftest import REPOSITORY

TEXT = (REPOSITORY / "docs/method/comparability.md").read_text()


def test_a_factor_has_one_role_in_every_workload():
    roles = {(factor.name, factor.role, factor.span) for entry in WORKLOADS.values() for factor in entry.factors}

    assert len(roles) == len(FACTORS)
    assert not FACTORS.keys() & OTHER_ROLES.keys()


def test_the_table_is_that_of_the_catalogue():
    rows = []
    for name, factor in FACTORS.items():
        of = [slug for slug, entry in WORKLOADS.items() if name in {one.name for one in entry.factors}]
        span = f", up to {factor.span:g} times" if factor.role == Role.PROCEDURE else ""
        rows.append(f"| `{name}` | {factor.role}{span} | {'all' if len(of) == len(WORKLOADS) else ', '.join(of)} |")

    assert re.findall(r"^\| `\w+` \| (?:question|condition|procedure).*$", TEXT, re.MULTILINE) == rows


def test_it_lists_what_is_known_of_the_names_of_others():
    for heading, role in (("Conditions", Role.CONDITION), ("Procedures, up to 10 times", Role.PROCEDURE)):
        (names,) = re.findall(rf"^{heading}: (.+?)\.$", TEXT, re.MULTILINE | re.DOTALL)
        assert set(re.findall(r"`(\w+)`", names)) == {name for name, known in OTHER_ROLES.items() if known == role}
