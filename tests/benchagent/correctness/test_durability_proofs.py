"""docs/method/correctness.md lists the tests that prove what each engine's commits are worth: they have to be there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import pytest
from benchagent.catalog import DBMSS, Durability

from agents.reruns.rerun import EXPERIMENTS
from tests.benchagent.dbms.crash import CLEARLY_FEWER, COMMITS

PAGE = "docs/method/correctness.md"
PLACE = re.compile(r"^`(tests/[\w/]+\.py)::(\w+)`$")
# What the two proofs are made with, of servers and of engines inside the load generator.
KILL = "check_none_lost"
NONE_LOST, NOT_TRIED = "none lost", "–"
SYNCED, NOT_SYNCED = f"≥ {COMMITS}", f"< {CLEARLY_FEWER}"
TRACES = {SYNCED: "check_each_commit_waits", NOT_SYNCED: "check_commits_do_not_wait"}
NAMES = [entry.name for entry in DBMSS.values()]


@dataclass(frozen=True)
class Proof:
    engine: str
    version_and_settings: str
    durability: str
    kill: str
    trace: str
    place: str

    def is_of(self, engine: str, words: Iterable[str]) -> bool:
        """`words`: how its version begins, values of its settings."""
        return self.engine == engine and all(
            re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", self.version_and_settings) for word in words
        )

    def calls(self, repository: Path) -> set[str]:
        found = PLACE.match(self.place)
        assert found, f"{self.place} names no test"
        functions = _functions(repository / found[1])
        assert found[2] in functions, f"{found[1]} has no {found[2]}"
        return _called(functions, found[2])


@cache
def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(path.read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _called(functions: dict[str, ast.FunctionDef], name: str) -> set[str]:
    """Names that a function calls, and those that its helpers in the same module call."""
    calls = [node.func for node in ast.walk(functions[name]) if isinstance(node, ast.Call)]
    found = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
    for helper in found & functions.keys() - {name}:
        found |= _called(functions, helper)
    return found


@pytest.fixture(scope="module")
def proofs(repository: Path) -> list[Proof]:
    section = (repository / PAGE).read_text().split("## Durability", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")]
    # The first table tells of the class's three statements, the second of the proofs.
    proofs = [row for row in rows if len(row) == len(fields(Proof))][1:]
    return [_proof(*(cell.strip() for cell in row)) for row in proofs]


def _proof(engine: str, settings: str, *rest: str) -> Proof:
    name = next(name for name in NAMES if f"{engine} ".startswith(f"{name} "))
    return Proof(name, f"{engine.removeprefix(name)} {settings}", *rest)


def test_it_has_a_proof_for_every_engine_that_the_agent_can_start(proofs: list[Proof]):
    assert {proof.engine for proof in proofs} == {entry.name for entry in DBMSS.values() if not entry.unverified}


def test_it_has_a_proof_for_every_version_and_mode_that_the_experiments_run(proofs: list[Proof]):
    for part in (part for experiment in EXPERIMENTS.values() for part in experiment.parts):
        for wanted in part.engines:
            mode = dict(part.settings.get(wanted.dbms, ())).get("ServerMode", "")
            words = [word for word in (wanted.version, mode) if word]
            assert any(proof.is_of(DBMSS[wanted.dbms].name, words) for proof in proofs), (wanted, mode)


def test_it_has_a_proof_for_the_version_of_mysql_whose_log_has_threads_of_its_own(proofs: list[Proof]):
    assert any(proof.is_of("MySQL", ["8.0"]) for proof in proofs)


def test_every_row_names_a_test_that_makes_the_proofs_it_claims(proofs: list[Proof], repository: Path):
    for proof in proofs:
        called = proof.calls(repository)
        assert KILL in called or proof.kill == NOT_TRIED, proof
        assert TRACES[proof.trace] in called, proof


def test_every_engine_was_killed(proofs: list[Proof]):
    for engine in {proof.engine for proof in proofs}:
        assert any(proof.engine == engine and proof.kill == NONE_LOST for proof in proofs), engine


def test_a_class_that_survives_power_loss_is_one_that_syncs_each_commit(proofs: list[Proof]):
    assert {proof.durability for proof in proofs} <= set(Durability)
    for proof in proofs:
        assert proof.trace == (SYNCED if proof.durability == Durability.POWER_LOSS else NOT_SYNCED), proof


def test_the_first_proof_does_not_tell_what_the_second_does(proofs: list[Proof]):
    """Both lose nothing to a kill -9 and yet wait for no disk: the page cache outlives the process."""
    for engine in ("SQLite", "PostgreSQL"):
        weak = [proof for proof in proofs if proof.engine == engine and proof.durability != Durability.POWER_LOSS]
        assert [(proof.kill, proof.trace) for proof in weak] == [(NONE_LOST, NOT_SYNCED)]
