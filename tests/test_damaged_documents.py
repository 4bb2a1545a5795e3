"""Whatever stands in a JSON column, every page opens: what is damaged there costs its own line."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from benchagent.protocol import Check
from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.fields.json import KeyTransform

from agents.models import Agent, Job, ObserverOrder
from agents.reruns import rerun
from runs.incoming.typed import reader_of
from runs.listing.rows import exported
from runs.models import FileImport, Publication, Report, Run
from runs.models.shapes import PlanDocument
from runs.models.stored import StoredJSON, sound
from tests.access.rows import TABLE
from tests.access.rules import PEOPLE
from tests.access.world import World, built
from tests.agents.conftest import RESULT
from tests.runs.cells import make_run
from tests.whole import whole, whole_but

COLUMNS = [
    (model, field)
    for model in apps.get_models()
    for field in model._meta.local_fields
    if isinstance(field, models.JSONField)
]
PEOPLE_BY_NAME = {who.name: who for who in PEOPLE}
READING = [row for row in TABLE if row.method == "GET" and row.route not in ("api-schema", "api-docs", "readyz")]
# Documents are read in Python. The little that SQL asks of them is asked of both databases: of a value, a dictionary,
# and a place within each document.
HELD = ("²", {"x": []})
NONSENSE = (*HELD, [{"x": 5}], 5, [], -1.5, True, {}, ["²"], [[5, "²"]])
STATISTICS = {
    "counters": {"buffer_hits": 5, "log_bytes": 7.5},
    "none": {"waits": "not told"},
    "waits": {"IO": 0.5},
    "tables": [{"table": "a", "rows": 5, "size_bytes": 8192, "index_bytes": 10}],
    "indexes": [{"index": "i", "table": "a", "depth": 4}],
    "maintenance": [
        {"what": "vacuum", "age_s": 5.5, "detail": "x"},
        {"what": "analyze", "age_s": None, "detail": "never"},
    ],
    "queries": [
        {
            "query": 1,
            "sql": "SELECT 1",
            "plan": "p",
            "state": "cold",
            "elapsed_s": 1.5,
            "row_count": 3,
            "count": 3,
            "fetches": 9,
            "reads": 1,
        }
    ],
    "consistency": [{"condition": "c", "when": "after", "violations": 0}],
    "marks": [{"name": "slow_part", "t": 5, "rows": 3}],
    "transaction_types": {
        "new_order": {"transactions": 5, "p50_us": 5, "max_us": 9},
        "payment": {"transactions": 5, "p95_us": 5},
    },
    "warm_up_queries": {
        "queries": [{"name": "warm:a", "t": 1.5, "elapsed_s": 1.0}],
        "memory": [{"t": 0.5, "bytes": 5000}, {"t": 1.7, "bytes": 9000}],
    },
    "conditions": {"caches": "cold"},
    "latency_map": {"interval_s": 1, "counts": [[3, 5], [4, 1]]},
    "durability": {
        "promised": {"durability": "power_loss", "reason": "x"},
        "storage": {"durability": "", "reason": "y"},
        "observed": {"durability": "", "reason": "z"},
        "contradiction": "",
    },
    "observer": {"warning": "w", "agent": "a"},
}
CLOCK = {"offset_s": 0.1, "uncertainty_s": 0.1}
SUBJECT = {
    "dbms": {"name": "X", "version": "1"}, "hardware": {"name": "m"}, "factors": {"a": 5}, "tags": ["x"],
    "tested": {"build": "b"}, "mapping": {"a.csv": {"value": {"metric": "tps"}}}, "leave_out": [5], "note": "n",
}  # fmt: skip
PLACE = {
    "name": "slow", "device": "sdb", "disks": ["sdb"], "medium": "HDD", "model": None, "bus": None, "emulated": "",
    "capacity_bytes": 5, "free_bytes": 3, "problem": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def rich(publish, django_db_blocker):
    """The site of the table of access with articles, a re-run of one, and something in nearly every JSON column."""
    with django_db_blocker.unblock(), transaction.atomic():
        publish()
        with built() as world:
            for things in world.things.values():
                things["publication"] = "tpcb-2010"
            agent = Agent.objects.get()
            agent.places = [PLACE]
            agent.observations = [{"name": "dbhost", "what": "process", "device": "sda", "problem": ""}]
            agent.save()
            article = rerun.EXPERIMENTS["tpcb-2010"]
            rerun.start(rerun.prepare(article, article.parts[0], agent), user=None)
            Run.objects.filter(publication=None).update(
                checks=RESULT["checks"], per_terminal=[5, 6], statistics=STATISTICS, tested={"build": "b1"},
                effective_settings=[["a", "1"], ["b", "2"]], ignored_settings=["c"], driver={"name": "loadgen"},
                dataset={"warehouses": 3}, command_lines=["java"], warnings=["slow"], info={"who": ["me"]},
            )  # fmt: skip
            progress = {"files": ["a.log"], "size_bytes": 5, "step": "keep", "file": "a.log"}
            FileImport.objects.update(subject=SUBJECT, progress=progress)
            for job in Job.objects.all():
                ObserverOrder.objects.create(
                    job=job, agent=agent, agent_name="bench1", name="dbhost", load_clock=CLOCK, clock=CLOCK
                )
            slug = world.things["public"]["report"]
            world.client(PEOPLE_BY_NAME["owner"]).post(f"/reports/{slug}/freeze/")
            assert Report.objects.get(slug=slug).frozen
            yield world
        transaction.set_rollback(True)


def store(document_for: Callable[[Any], Any]) -> None:
    """In every row of every JSON column what `document_for` makes of the richest document there."""
    with connection.cursor() as cursor:
        for model, field in COLUMNS:
            rows = [row for row in model._base_manager.values_list(field.name, flat=True) if row]
            richest = max(rows, key=lambda row: len(json.dumps(row, default=str)), default=None)
            table, column = model._meta.db_table, connection.ops.quote_name(field.column)
            cursor.execute(f"UPDATE {table} SET {column} = %s", [json.dumps(document_for(richest))])


def places_in(document: Any, path: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    yield path
    parts = document.items() if isinstance(document, dict) else enumerate(document) if type(document) is list else ()
    for name, part in parts:
        yield from places_in(part, (*path, name))


def with_nonsense(document: Any, chance: random.Random) -> Any:
    """The document with nonsense in one of its places."""
    (*way, last), nonsense = chance.choice(list(places_in([document]))[1:]), chance.choice(NONSENSE)
    changed = json.loads(json.dumps([document]))
    inner = changed
    for step in way:
        inner = inner[step]
    inner[last] = nonsense
    return changed[0]


def failed_pages(world: World) -> list[str]:
    failed = []
    for row in READING:
        who = PEOPLE_BY_NAME["owner's token, read" if row.kind == "api" else "administrator"]
        client = world.client(who, raise_request_exception=False)
        with transaction.atomic():
            response = client.get(row.path.format(**world.things["public"]))
            if response.status_code >= 500 and row.route != "readyz":
                failed.append(row.path)
            transaction.set_rollback(True)
    return failed


@pytest.mark.django_db
@pytest.mark.parametrize("nonsense", [*HELD, *whole(*NONSENSE[len(HELD) :])], ids=json.dumps)
def test_it_opens_every_page_with_nonsense_for_every_document(rich, nonsense):
    with transaction.atomic():
        store(lambda _: nonsense)
        assert failed_pages(rich) == []
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", whole_but((0,), range(20)))
def test_it_opens_every_page_with_nonsense_within_every_document(rich, seed):
    chance = random.Random(seed)
    with transaction.atomic():
        store(lambda document: with_nonsense(document, chance))
        assert failed_pages(rich) == []
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_it_opens_an_article_whose_figures_are_gone(rich):
    with transaction.atomic():
        asked = set()
        for publication in Publication.objects.filter(content__has_key="article"):
            article = publication.content["article"]
            asked |= {answer["figure"] for each in article["questions"] for answer in each["answers"]} - {""}
            Publication.objects.filter(pk=publication.pk).update(content={"article": article | {"figures": []}})
            page = rich.client(PEOPLE_BY_NAME["administrator"]).get(publication.get_absolute_url())
            assert page.status_code == 200
        assert asked
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_it_says_what_is_damaged_of_a_draft_whose_columns_are_told(rich):
    with transaction.atomic():
        FileImport.objects.update(subject={"visibility": "²"}, stored_at=None)
        address = "/imports/{import}/".format(**rich.things["public"])
        page = rich.client(PEOPLE_BY_NAME["owner"]).post(f"{address}columns/")
        told = '<div class="notice notice-bad" role="alert"><p>visibility: '
        assert (page.status_code, told in page.content.decode()) == (422, True)
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_it_reads_every_document_as_it_was_written(rich):
    """What is left out on reading would be gone when its row is saved."""
    changed, count = [], 0
    with connection.cursor() as cursor:
        for model, field in COLUMNS:
            cursor.execute(f"SELECT {connection.ops.quote_name(field.column)} FROM {model._meta.db_table}")
            for (raw,) in cursor.fetchall():
                count += 1
                read = field.from_db_value(raw, None, connection)
                if raw is not None and read != json.loads(raw, cls=field.decoder):
                    changed.append((field, raw))
    assert (changed, count > 1_000) == ([], True)


@pytest.mark.django_db
def test_a_part_that_is_read_by_its_key_loses_what_is_damaged():
    run = make_run("SQLite 3.53", 5, statistics={"durability": {"promised": [], "storage": {"reason": "a disk"}}})
    part = Run.objects.annotate(part=KeyTransform("durability", "statistics")).get(pk=run.pk).part
    assert part == Run.objects.get(pk=run.pk).statistics.get("durability")
    header, row = exported(Run.objects.for_rows().filter(pk=run.pk))
    assert row[header.index("durability_promised")].startswith("not known")


def test_it_knows_the_shape_of_every_json_column():
    assert [(model, field) for model, field in COLUMNS if not isinstance(field, StoredJSON)] == []


@pytest.mark.parametrize(
    ("shape", "damaged", "whole"),
    [
        (list[tuple[str, str]], [["a", "b"], ["a", 5], 5, ["c", "d"]], [["a", "b"], ["c", "d"]]),
        (dict[str, float], {"a": 1, "b": "x"}, {"a": 1}),
        (list[Check], [{"name": "x"}, {"name": "y", "ok": True, "detail": ""}, "z"],
         [{"name": "y", "ok": True, "detail": ""}]),
        (PlanDocument, {"published": 5, "name": "n", "gaps": [["a", "b", "c"], 7]},
         {"name": "n", "gaps": [["a", "b", "c"]]}),
        (PlanDocument, "nonsense", {}),
        (PlanDocument, {"of_another_version": [{"x": 1}], "repeats": "²"}, {"of_another_version": [{"x": 1}]}),
    ],
)  # fmt: skip
def test_it_loses_what_is_damaged_and_nothing_else(shape, damaged, whole):
    before = json.dumps(damaged)
    assert sound(damaged, reader_of(shape).validate_python, dict) == whole
    assert json.dumps(damaged) == before
