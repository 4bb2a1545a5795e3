"""docs/use/script.md: its example can be run, and it names every kind of value."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from benchagent.workloads.script.parse import parse
from benchagent.workloads.script.values import COLUMNS, DRAWN, VARIABLES


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "use" / "script.md").read_text()


def test_its_example_is_a_script(page: str):
    lines = [line for line in page.splitlines() if line.startswith("    ") or not line]
    script = parse(dedent("\n".join(lines)))
    assert [found.name for found in script.transactions] == ["transfer", "look"]
    assert len(script.questions) == 2


def test_it_names_every_kind_of_value(page: str):
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for kinds, place in ((DRAWN, "both"), (VARIABLES, "variables"), (COLUMNS, "columns")):
        for kind in kinds:
            assert any(f"`{kind}(" in row and f"| {place} |" in row for row in rows), kind
