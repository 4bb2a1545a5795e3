"""The table of checks in docs/method/correctness.md: those that the agent makes, and which of them fail a run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from benchagent.job import checks

from tests.conftest import REPOSITORY

AGENT = Path(checks.__file__).parents[1]
PARTS = {"name", "ok", "detail"}
FAILS, WARNS = "fails", "warns"


def table() -> dict[str, str]:
    """By name of a check: what a broken one does to the run."""
    text = (REPOSITORY / "docs" / "method" / "correctness.md").read_text().split("| check |", 1)[1].split("\n\n", 1)[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {name: row[-1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}


def made() -> Iterator[str]:
    """Names of the checks in the agent's sources, but for those that are put together there."""
    for path in AGENT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
                if found.keys() == PARTS and isinstance(found["name"], ast.Constant):
                    yield found["name"].value


def judged(function: str) -> set[str]:
    """Checks that a function of `checks` makes of what the load generator reported; each is a function of that name."""
    functions = {node.name: node for node in ast.parse(Path(checks.__file__).read_text()).body if is_function(node)}
    called = {node.id for node in ast.walk(functions[function]) if isinstance(node, ast.Name)}
    return called & functions.keys() & set(made())


def is_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


def test_it_lists_every_check_that_the_agent_makes():
    names = set(made())
    assert {"balances", "rate_kept", "restored", "counts_agree"} <= names
    assert names <= table().keys()


def test_it_says_which_of_them_fail_a_run():
    told = table()
    assert {told[name] for name in judged("integrity")} == {FAILS}
    assert {told[name].split(":")[0] for name in judged("suspicions")} == {WARNS}
