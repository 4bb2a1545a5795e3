"""The documentation names what the code registers, and nothing that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.importers import importers

from tests.conftest import REPOSITORY

PAGES = sorted([REPOSITORY / "README.md", REPOSITORY / "CHANGELOG.md", *REPOSITORY.glob("docs/**/*.md")])


def headings(page: str) -> set[str]:
    text = (REPOSITORY / "docs" / page).read_text()
    return set(re.findall(r"^## (.+)$", text, re.MULTILINE))


def test_it_has_a_heading_for_every_registered_dbms_and_no_other():
    assert headings("reference/engines.md") == {entry.name for entry in DBMSS.values()}


def test_it_has_a_heading_for_every_registered_workload_and_no_other():
    assert headings("method/workloads.md") == set(WORKLOADS)


def test_it_documents_every_factor_with_its_default():
    text = (REPOSITORY / "docs" / "method" / "workloads.md").read_text()
    for workload in WORKLOADS.values():
        for factor in workload.factors:
            assert f"| `{factor.name}` | {factor.default} |" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_it_links_only_to_files_that_exist(page: Path):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_its_prose_has_lines_of_120_characters_at_most(page: Path):
    """Tables, pictures, code and the names of tests in comments apart; what is generated is not read line by line."""
    if page.parent.name == "reference":
        return
    prose = re.sub(r"^```.*?^```|<!--.*?-->|^[|!].*?$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if len(line.rstrip()) > 120] == []


def test_it_names_the_two_commands_first():
    commands = re.findall(r"^make (\w+)", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    assert commands[:2] == ["up", "test"]


def test_it_lists_every_tool_whose_files_are_read():
    readme = (REPOSITORY / "README.md").read_text().split("are recognised by content")[0].rpartition("\n\n")[2]
    table = (REPOSITORY / "docs/use/importers/README.md").read_text()
    for importer in importers():
        assert importer.TOOL.casefold() in readme.casefold()
        own_page = f"]({importer.TOOL.casefold()}.md) |" in table
        assert own_page or re.search(rf"(?m)^\| [^|]*{importer.TOOL}\b[^|]* \|.*\]\(described\.md\) \|$", table)
