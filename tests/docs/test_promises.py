"""What docs promise about data and safety has a test named beside it, as a comment that readers do not see."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchsite.backup import AGENT_FILES, SPOOL
from tests.conftest import REPOSITORY

PAGES = sorted((REPOSITORY / "docs" / "operate").glob("*.md"))
NAMED = re.compile(r"<!-- (tests/\S+?)::(\w+) -->")
# Words with which a page says that nothing is lost, left, overwritten or shown.
PROMISE = re.compile(
    r"kill -9|acknowledged|(loses?|leaves?|restores|keeps) (nothing|no file)|nothing .{0,40}(lost|missing|left)|"
    r"is not overwritten|survives the end|others can read is refused|no other token|dropped when the job ends|"
    r"has mode 0600|are read, and|synchronised|on the disk before",
    re.IGNORECASE,
)
# Words with which a page says what nobody can do, for the pages that are about that.
SAFETY = re.compile(
    r"nobody (changes|registers|locks)|never reaches|answers? (in )?40[134]|answer(ed|s) (410|413|429)|mode 0600 |"
    r"good for one agent|unpacked|no thread|does not start|a script cannot|secrets\*|purge for good|no link|"
    r"by Landlock|own DBMS alone|CSRF|not active|loopback address only|trusts whom|refuse or pass over|only the runs|"
    r"is killed loses|struck through|by `\[redacted\]`|0600|that holds one is refused",
    re.IGNORECASE,
)
USE = REPOSITORY / "docs" / "use"
SAFETY_PAGES = [
    *(REPOSITORY / "docs" / "operate" / f"{name}.md" for name in ("access", "operations", "external-servers")),
    *(USE / f"{name}.md" for name in ("script", "uploads", "benchctl", "configs")),
    USE / "importers" / "README.md",
]
BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*[-*|] ?\S)")


def blocks(page: Path) -> list[str]:
    """Paragraphs, items of lists, rows of tables; a comment in a line of its own belongs to what stands above it."""
    return BLOCKS.split(page.read_text().replace("\n<!--", " <!--"))


def promises() -> list[tuple[str, str]]:
    """Of safety in prose: the tables say what a word in them means."""
    said = [(page.name, block, PROMISE) for page in PAGES for block in blocks(page)]
    said += [(page.name, block, SAFETY) for page in SAFETY_PAGES for block in blocks(page) if block[0] not in "|`"]
    return list(dict.fromkeys((name, block) for name, block, words in said if words.search(NAMED.sub("", block))))


@pytest.mark.parametrize(("page", "block"), promises(), ids=lambda text: text[:60])
def test_what_is_promised_about_data_and_safety_has_a_test_named_beside_it(page: str, block: str):
    assert NAMED.search(block), f"{page} promises without a test: {block}"


def test_every_test_that_is_named_is_there():
    named = {match for page in {*PAGES, *SAFETY_PAGES} for match in NAMED.findall(page.read_text())}
    assert len(named) >= 80
    for path, name in sorted(named):
        file = REPOSITORY / path
        assert file.exists(), f"docs name {path}, which is not there"
        known = {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}
        assert name in known, f"docs name {path}::{name}, which is not there"


def test_what_is_to_be_kept_of_an_agents_folder_is_in_its_backup():
    text = (REPOSITORY / "docs" / "operate" / "operations.md").read_text()
    section = text.partition("### What lies in an agent's folder")[2].partition("\n## ")[0]
    rows = [row.strip("|").split("|") for row in section.splitlines() if row.startswith("| `")]
    kept = [row[0] for row in rows if not row[-1].strip().startswith("no") and "again" not in row[-1]]
    assert set(re.findall(r"`(\w+\.(?:json|sqlite3))`", " ".join(kept))) == {*AGENT_FILES, SPOOL}
    backup = text.partition("## Backup")[2].partition("\n## ")[0]
    assert all(f"`{name}`" in backup for name in (*AGENT_FILES, SPOOL))
