"""What an upload promises of a commit by the settings that came with it: in force, else as given, else as stated."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import Client

from runs.models import Run
from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db
OFF = [{"name": "fsync", "value": "off"}]
SETS = "BEGIN; SET LOCAL synchronous_commit=off; UPDATE t SET n = n + 1; END;"
FILES = {"files": [{"name": "postgresql.conf", "text": "fsync = off\nshared_buffers = 8GB\n"}]}
# Each was ranked first and "survives power loss".
WEAKER: dict[str, tuple[str, dict[str, Any]]] = {
    "config": ("none", {"config": OFF}),
    "file": ("none", {"config": FILES}),
    "script": ("bounded_loss", {"factors": {"script_text": SETS}}),
    "unlogged": ("none", {"factors": {"script_text": "CREATE UNLOGGED TABLE t (n int)"}}),
    "script file": ("bounded_loss", {"artefacts": [{"name": "mix.SQL", "text": SETS}]}),
    "command": ("none", {"command_lines": ["postgres -D /srv/pg -c fsync=off"]}),
    "in force": ("none", {"effective_settings": {"fsync": "off"}}),
}


def sent(value: float, **changes: Any) -> Run:
    repeats = [{"metrics": {"tps": value}}]
    made = document(id=str(uuid4()), repeats=repeats, **({"config": [], "durability": "power_loss"} | changes))
    return Run.objects.get(pk=store_upload(document=made).runs[0].pk)


@pytest.mark.parametrize("case", WEAKER)
def test_a_weaker_setting_counts_against_what_is_stated(case: str, client: Client):
    durability, given = WEAKER[case]
    sound, weak = sent(1_000.5), sent(1_990.5, **given)
    assert weak.durability == durability
    assert "stated: power loss" in weak.durability_doubt
    answer = client.get("/api/v1/compare/", {"run": [sound.pk, weak.pk]}).json()
    assert {tuple(group["values"]): group["ranked"] for group in answer["groups"]} == {
        (1_000.5,): True,
        (1_990.5,): False,
    }
    assert "data-doubt" in client.get(weak.get_absolute_url()).content.decode()


def test_what_is_in_force_counts_before_what_was_given():
    run = sent(1_000.5, config=OFF, effective_settings={"fsync": "on", "synchronous_commit": "on"})
    assert (run.durability, run.durability_doubt) == ("power_loss", "")


def test_what_was_given_counts_where_nothing_is_stated():
    made = document(config=OFF, repeats=[{"metrics": {"tps": 1_000.5}}])
    del made["durability"]
    run = Run.objects.get(pk=store_upload(document=made).runs[0].pk)
    assert (run.durability, run.durability_doubt) == ("none", "")


@pytest.mark.parametrize(
    "given",
    [
        {"files": [{"name": "postgresql.conf", "text": "work_mem = 4MB\nshared_buffers = 12GX\n"}]},
        [{"name": "work_mem", "value": "4MB"}, {"name": "shared_buffers", "value": "12GX"}],
    ],
)
def test_a_unit_that_no_server_reads_is_said(given: Any):
    assert not any("unit" in words for words in sent(1_000.5, config=FILES).warnings)
    (said,) = (words for words in sent(1_000.5, config=given).warnings if "unit" in words)
    assert "shared_buffers" in said and "12GX" in said


def test_a_comment_sets_nothing():
    assert sent(1_000.5, factors={"script_text": "-- SET synchronous_commit=off\nSELECT 1"}).durability_doubt == ""


def test_a_latency_map_leaves_what_is_known_of_the_commits():
    made = document(
        config=OFF, repeats=[{"metrics": {"tps": 1_000.5}, "latency_map": {"interval_s": 1, "counts": [[4, 9]]}}]
    )
    run = Run.objects.get(pk=store_upload(document=made).runs[0].pk)
    assert {"durability", "latency_map"} <= run.statistics.keys()


@pytest.mark.parametrize("case", WEAKER)
def test_judge_reads_the_settings_of_what_is_stored(case: str):
    durability, given = WEAKER[case]
    run = sent(1_990.5, **given)
    Run.objects.filter(pk=run.pk).update(
        durability="power_loss", durability_doubt="", durability_reason="", statistics={}
    )
    call_command("judge")
    run.refresh_from_db()
    assert run.durability == durability and run.durability_doubt
