"""Unlike things are no repeats of each other: what one batch holds under the same factors is parted, with a word."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from runs.models import Experiment, Run, User
from runs.run import standing
from runs.run.likeness import conditions, is_alike
from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db
BATCH = str(uuid4())
LOW, HIGH = (1_000.5, 1_010.5, 1_020.5), (2_000.5, 2_010.5, 2_020.5)
# What two documents of one batch say; all six repeats were one group, without a word.
UNLIKE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "durability": ({"durability": "power_loss"}, {"durability": "none"}),
    "tool": ({"driver": {"name": "pgbench"}}, {"driver": {"name": "sysbench"}}),
    "protocol": ({"driver": {"protocol": "simple"}}, {"driver": {"protocol": "prepared"}}),
    "client": ({"driver": {"transport": "network"}}, {"driver": {"transport": "socket"}}),
    "isolation": ({"driver": {"isolation": "serializable"}}, {"driver": {"isolation": "READ_COMMITTED"}}),
    "isolation by settings": (
        {"driver": {"isolation": "serializable"}},
        {"effective_settings": {"default_transaction_isolation": "read committed"}},
    ),
    "settings": (
        {"effective_settings": {"shared_buffers": "128MB"}},
        {"effective_settings": {"shared_buffers": "16GB"}},
    ),
    "dates": ({"measured_on": "2020-05-04"}, {"measured_on": "2026-05-04"}),
}
ALIKE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "spelling": (
        {"effective_settings": {"shared_buffers": "1GB"}, "driver": {"isolation": "READ_COMMITTED"}},
        {"effective_settings": {"shared_buffers": "1024MB"}, "driver": {"isolation": "read committed"}},
    ),
    "spelling of switches and tools": (
        {"effective_settings": {"wal_compression": "on"}, "driver": {"name": "pgbench", "protocol": "prepared"}},
        {"effective_settings": {"wal_compression": "true"}, "driver": {"name": "PgBench", "protocol": "Prepared"}},
    ),
    "numbers as text": ({"factors": {"terminals": 4}}, {"factors": {"terminals": "4"}}),
    "paths and ports": (
        {"effective_settings": {"data_directory": "/srv/a", "port": "5432", "temp_tablespaces": "a"}},
        {"effective_settings": {"data_directory": "/srv/b", "port": "5433", "temp_tablespaces": "b"}},
    ),
    "midnight": (
        {"measured_on": None, "started_at": "2026-05-04T23:50:00Z"},
        {"measured_on": None, "started_at": "2026-05-05T00:20:00Z"},
    ),
}  # fmt: skip
ONE_SIDED = {"driver": {"isolation": "serializable"}}


def stored(values: tuple[float, ...], **changes: Any) -> list[Run]:
    """Without a configuration, which would be part of the key."""
    made = document(id=str(uuid4()), batch=BATCH, repeats=[{"metrics": {"tps": value}} for value in values])
    del made["config"], made["durability"]
    made = {name: value for name, value in (made | changes).items() if value is not None}
    return store_upload(document=made).runs


def groups(client: Client, **params: Any) -> list[dict[str, Any]]:
    answer = client.get("/api/v1/compare/", {"batch": BATCH, **params})
    assert answer.status_code == 200, answer.content
    return answer.json()["groups"]


def values(of: list[dict[str, Any]]) -> list[tuple[float, ...]]:
    return sorted(tuple(sorted(group["values"])) for group in of)


@pytest.mark.parametrize("case", UNLIKE)
def test_unlike_results_of_one_batch_are_two_groups(case: str, client: Client):
    first, second = UNLIKE[case]
    runs = [*stored(LOW, **first), *stored(HIGH, **second)]
    assert len({run.cell_key for run in runs}) == 1
    of = groups(client)
    assert values(of) == [LOW, HIGH]
    assert len({group["label"] for group in of}) == 2 and not any("#" in group["label"] for group in of)


@pytest.mark.parametrize("case", [case for case in UNLIKE if case != "dates"])
@pytest.mark.parametrize("grouping", ["all", "label", "version", "date"])
def test_a_reader_who_pools_batches_pools_only_what_is_alike(grouping: str, case: str, client: Client):
    first, second = UNLIKE[case]
    said = {"label": "nightly", "tested": {"commit": "abc"}}
    for values_, more in ((LOW, first), (HIGH, second)):
        stored(values_[:2], batch=str(uuid4()), **said, **more)
        stored(values_[2:], batch=str(uuid4()), **said, **more)
    assert values(groups(client, batch="", dbms="postgresql", group=grouping)) == [LOW, HIGH]


def test_a_reader_who_wants_all_days_gets_them(client: Client):
    first, second = UNLIKE["dates"]
    stored(LOW, **first), stored(HIGH, **second)
    assert values(groups(client, group="all")) == [(*LOW, *HIGH)]


@pytest.mark.parametrize("case", ALIKE)
def test_what_is_only_written_otherwise_is_one_group(case: str, client: Client):
    first, second = ALIKE[case]
    stored(LOW, **first), stored(HIGH, **second)
    assert values(groups(client)) == [(*LOW, *HIGH)]


def test_what_is_stated_and_what_is_not_is_pooled_with_a_word(client: Client):
    stored(LOW), stored(HIGH, **ONE_SIDED)
    answer = client.get("/api/v1/compare/", {"batch": BATCH}).json()
    assert values(answer["groups"]) == [(*LOW, *HIGH)]
    assert any("Isolation level" in words for words in answer["warnings"])


def test_what_does_not_tell_in_what_two_groups_differ_stands_alone(client: Client):
    first, second = UNLIKE["isolation"]
    stored(LOW, **first), stored(HIGH, **second), stored((1_500.5,))
    of = groups(client)
    assert values(of) == [LOW, (1_500.5,), HIGH]
    assert any("not stated" in group["label"] for group in of)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_what_tells_something_else_is_pooled_with_neither_of_two_whatever_comes_first(order: Any, client: Client):
    """Was: of three that tell one thing each, the one that says nothing of the tool joined whichever came before it."""
    told: list[dict[str, Any]] = [{"driver": {"name": "pgbench"}}, ONE_SIDED, {"driver": {"name": "sysbench"}}]
    for at in order:
        stored((1_000.5 + at, 1_010.5 + at, 1_020.5 + at), **told[at])
    assert len(groups(client)) == 3


def test_an_experiment_over_midnight_is_one(client: Client):
    runs = [*stored(LOW, measured_on="2026-05-04"), *stored(HIGH, measured_on="2026-05-06")]
    experiment = Experiment.objects.create(name="Nightly", slug="nightly")
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(experiment=experiment)
    assert values(groups(client)) == [(*LOW, *HIGH)]


def test_a_failed_run_stays_with_its_cell_and_parts_none(client: Client):
    first, second = UNLIKE["isolation"]
    stored(LOW, **first), stored(HIGH, **second)
    stored((1.5,), outcome="failed", message="lost its connection")
    assert values(groups(client)) == [LOW, HIGH]


def test_a_group_does_not_claim_more_than_its_commits_keep(client: Client):
    """As seen: "not durable" on a group, "survives power loss" under "the same in all groups"."""
    first, second = UNLIKE["durability"]
    stored(LOW, **first), stored(HIGH, **second)
    answer = client.get("/api/v1/compare/", {"batch": BATCH}).json()
    assert {group["durability"]: group["ranked"] for group in answer["groups"]} == {"power_loss": True, "none": False}
    assert "Durability" not in answer["common"]


def test_a_run_stands_against_those_it_is_pooled_with(operator: User):
    first, second = UNLIKE["settings"]
    (run, *_), others = stored(LOW, **first), stored(HIGH, **second)
    assert standing.of_run(run, run.measurements.get(), operator).words.startswith("2 other repeats: 1,010–1,020")
    (after,) = stored((2_005.5,), measured_on="2026-06-01", batch=str(uuid4()), **second)
    before = standing.run_before(after, operator)
    assert before in others


def test_runs_that_tell_different_things_are_alike():
    runs = stored(LOW[:1], driver={"name": "pgbench"}) + stored(HIGH[:1], driver={"isolation": "serializable"})
    assert is_alike(*map(conditions, runs)) and is_alike({}, {"tool": "pgbench"})


def test_what_parts_one_cell_is_known_of_all_others_that_tell_it(client: Client):
    """One cell was measured with two tools; the others of the first tool were "tool not set" and met nothing."""
    for version, size, tool, values_ in (
        ("17.0", 10, "pgbench", LOW), ("17.0", 40, "pgbench", LOW), ("17.0", 40, "sysbench", HIGH),
        ("18.0", 10, "pgbench", HIGH), ("18.0", 40, "pgbench", HIGH),
    ):  # fmt: skip
        dbms = {"name": "PostgreSQL", "version": version}
        stored(values_, dbms=dbms, factors={"size_gb": size}, driver={"name": tool})
    answer = client.get("/api/v1/answers/", {"batch": BATCH, "ask": "best"}).json()
    levels = [claim["label"] for claim in answer["claims"] if claim["kind"] == "level"]
    assert levels == ["10 GB · pgbench", "40 GB · pgbench"]
    assert answer["claims"][1]["ratio"]["value"] == pytest.approx(2, rel=0.02)
