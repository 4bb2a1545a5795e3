"""docs/reference/engine-counters.md: what the adapters say, and they say something about each counter."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest
from benchagent import plugins
from benchagent.catalog import DBMSS
from benchagent.dbms.counters import PARTS, EngineCounters

from scripts import statistics_table
from scripts.statistics_table import page, variants
from tests.conftest import REPOSITORY

VARIANTS = [
    pytest.param(one, id=f"{slug} {label}".strip())
    for slug, kinds in variants().items()
    for label, one in kinds.items()
]


def test_the_table_is_current():
    """After a change: `scripts/statistics_table.py > docs/reference/engine-counters.md`."""
    assert (REPOSITORY / "docs" / "reference" / "engine-counters.md").read_text() == page()


def test_it_has_every_dbms():
    points = entry_points(group=plugins.ENGINES)
    ours = {point.name for point in points if point.dist and point.dist.name == plugins.OURS}
    assert list(variants()) == [slug for slug in DBMSS if slug in ours]


def test_an_engine_of_a_plug_in_is_no_part_of_it(monkeypatch):
    """Seen: with one installed no test was collected."""
    before = variants()
    monkeypatch.setattr(statistics_table, "DBMSS", {**DBMSS, "h2pg": DBMSS["h2"]})
    assert variants().keys() == before.keys()


@pytest.mark.parametrize("source", VARIANTS)
def test_every_statistic_has_a_source_or_a_reason_why_there_is_none(source: EngineCounters):
    assert set(source.sources) | set(source.none) == set(PARTS)
    assert not set(source.sources) & set(source.none)
    assert all(words.strip() for words in [*source.sources.values(), *source.none.values()])


@pytest.mark.parametrize("source", VARIANTS)
def test_what_has_a_source_is_asked_for_and_nothing_else(source: EngineCounters):
    """Of the parts that can be told without a server; the counters are compared with what runs delivered."""
    asked = {
        "waits": source.waiting or type(source).waited_s is not EngineCounters.waited_s,
        "maintenance": source.maintenance_queries(["t"]),
        "plans": source.plan_queries("SELECT 1"),
    }
    assert {part for part, queries in asked.items() if queries} == set(source.sources) & set(asked)
