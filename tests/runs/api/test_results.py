"""POST /api/v1/results/"""

from __future__ import annotations

import copy
import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs.models import ApiToken, Config, Dbms, HardwareProfile, Measurement, Metric, Run, Upload, Workload
from runs.run import series
from tests.runs.builders import UPLOAD_ID, document

pytestmark = pytest.mark.django_db
URL = "/api/v1/results/"


def test_it_stores_every_repeat_as_a_run(post):
    response = post(document())
    assert response.status_code == 201
    body = response.json()
    assert body["id"] == UPLOAD_ID
    assert [run["repeat"] for run in body["runs"]] == [1, 2]
    assert [run["url"] for run in body["runs"]] == [f"http://testserver/runs/{run['id']}/" for run in body["runs"]]
    first, second = (Run.objects.get(id=run["id"]) for run in body["runs"])
    assert (first.state, first.provenance, first.durability) == ("finished", "uploaded", "power_loss")
    assert first.measured_on.isoformat() == "2026-05-04"
    assert first.cell_key == second.cell_key != ""
    assert first.upload.document["dbms"] == {"name": "PostgreSQL", "version": "15.8"}


def test_what_is_deleted_and_sent_again_says_so_and_can_be_restored(post, client, bearer):
    run_id = post(document()).json()["runs"][0]["id"]
    assert client.delete(f"/api/v1/runs/{run_id}/", headers=bearer("upload")).status_code == 204
    again = post(document())
    assert (again.status_code, f"/api/v1/runs/{run_id}/restore/" in again.json()["detail"]) == (409, True)
    (answer,) = post([document()]).json()["results"]
    assert (answer["status"], answer["http"]) == ("deleted", 409)
    restore = {run["id"]: run["restore_url"] for run in answer["runs"] if "restore_url" in run}
    assert [*restore] == [run_id]
    assert client.post(restore[run_id], headers=bearer("upload")).status_code == 200
    assert post(document()).status_code == 200


def test_it_stores_metrics_with_unit_direction_and_phase(post):
    post(document())
    values = {
        (row.run.repeat, row.metric.name, row.metric.unit, row.metric.better, row.phase): row.value
        for row in Measurement.objects.select_related("run", "metric")
    }
    assert values == {
        (1, "tps", "TPS", "higher", "run"): 100.5,
        (1, "cache_hit", "", "higher", "run"): 0.5,
        (2, "tps", "TPS", "higher", "run"): 102,
        (2, "load_s", "s", "lower", "load"): 3,
    }
    assert set(Measurement.objects.values_list("provenance", flat=True)) == {"uploaded"}


def test_it_stores_the_largest_and_the_smallest_numbers(post):
    ends = [1e18, 1e18, 5e-324, -1e18]
    metrics = [{"name": f"m{index}", "value": value, "unit": ""} for index, value in enumerate(ends)]
    repeat = {"metrics": metrics, "series": [{"name": "drift", "unit": "", "values": ends}]}
    assert post(document(repeats=[repeat], factors={"huge": ends[0], "tiny": ends[2]})).status_code == 201
    run = Run.objects.get()
    assert series.read(run, "drift").values == ends
    assert [row.value for row in run.measurements.order_by("metric__name")] == ends
    assert (run.factor("huge"), run.factor("tiny")) == (ends[0], ends[2])


def test_a_declared_role_decides_what_may_be_compared(post, client):
    """Queue lengths: a condition where both senders say so, else another question; a known name is never weaker."""
    repeats = [{"metrics": {"tps": tps}} for tps in (100, 101, 102)]

    def sent(length: int, role: str) -> str:
        factor = {"value": length, "unit": "messages"} | ({"role": role} if role else {})
        body = document(id=str(uuid.uuid4()), factors={"queue": factor, "terminals": 4}, repeats=repeats)
        return f"run={'&run='.join(run['id'] for run in post(body).json()['runs'])}"

    def compared(*runs: str):
        groups = client.get(f"/api/v1/compare/?{'&'.join(runs)}").json()["groups"]
        return next(group for group in groups if not group["is_baseline"])

    short, long, silent = sent(10, "condition"), sent(99, "condition"), sent(500, "")

    named = compared(short, long)
    assert named["refused"] is None and named["ratio"] is not None
    assert [(one["field"], one["role"]) for one in named["differences"]] == [("queue", "condition")]
    assert compared(short, silent)["refused"] == "Queue: 500 messages against 10 messages"
    run = client.get(f"/api/v1/runs/{short.partition('&')[0].removeprefix('run=')}/").json()
    assert run["factor_roles"] == {"queue": "condition", "terminals": "condition"}


@pytest.mark.parametrize(
    ("factors", "field", "words"),
    [
        ({"scale_factor": {"value": 1, "role": "condition"}}, "factors.scale_factor.role", "is a question here"),
        ({"duration_s": {"value": 1, "role": "condition"}}, "factors.duration_s.role", "is a procedure here"),
        ({"queue": {"value": 1, "role": "axis"}}, "factors.queue.role", "question, condition, procedure"),
    ],
)
def test_it_refuses_a_role_that_is_weaker_than_that_of_a_known_name(post, factors, field, words):
    response = post(document(factors=factors))

    assert response.status_code == 400
    assert list(response.json()) == [field]
    assert words in response.json()[field][0]
    assert post(document(factors={"terminals": {"value": 4, "role": "question"}})).status_code == 201


def test_it_keeps_a_configuration_in_order_with_duplicates_and_flags_and_without_secrets(post):
    post(document())
    config = Run.objects.get(repeat=1).config
    assert [(p.section, p.name, p.value, p.comment) for p in config.parameters.all()] == [
        ("", "shared_buffers", "4GB", ""),
        ("", "shared_buffers", "8GB", "the last one counts"),
        ("", "ssl_passphrase_password", "[redacted]", ""),
        ("mysqld", "skip_name_resolve", None, ""),
    ]
    assert "hunter2" not in json.dumps(Upload.objects.get().document)


def test_it_finds_what_it_knows_instead_of_making_it_twice(post):
    post(document())
    again = document(id=str(uuid.uuid4()), dbms={"name": "postgresql", "version": "15.8"}, workload="pgbench-tpcb")
    assert post(again).status_code == 201
    assert (Dbms.objects.count(), HardwareProfile.objects.count(), Workload.objects.count()) == (1, 1, 1)
    assert (Config.objects.count(), Metric.objects.filter(name="tps").count()) == (1, 1)
    assert Run.objects.values("cell_key").distinct().count() == 1


def test_it_makes_a_row_for_another_version_of_a_workload(post):
    post(document())
    changed = document(id=str(uuid.uuid4()), workload={"slug": "pgbench-tpcb", "name": "x", "version": "2"})
    assert post(changed).status_code == 201
    assert sorted(Workload.objects.values_list("slug", "version")) == [("pgbench-tpcb", "1"), ("pgbench-tpcb-v2", "2")]


def test_the_first_run_with_a_number_says_what_a_new_workload_is_judged_by(post):
    """A run that ended before it had numbers decides nothing."""
    workload = {"slug": "redis", "name": "redis-benchmark", "version": "1"}
    assert post(document(workload=workload, outcome="aborted", message="Ctrl-C", repeats=[{}])).status_code == 201
    assert Workload.objects.get().primary_metric == ""
    numbers = {"get_ops_per_s": {"value": 51020, "unit": "ops/s"}, "latency_max_ms": {"value": 3, "unit": "ms"}}
    assert post(document(id=str(uuid.uuid4()), workload=workload, repeats=[{"metrics": numbers}])).status_code == 201
    assert Workload.objects.get().primary_metric == "get_ops_per_s"
    assert set(Run.objects.values_list("primary_value", flat=True)) == {None, 51020}


def test_a_new_workload_is_judged_by_its_throughput_wherever_that_stands(post):
    """Was: of 22 query times and what they come to in an hour the first query's."""
    numbers = {"q01_s": {"value": 2.1, "unit": "s"}, "queries_per_hour": {"value": 1990, "unit": "queries/h"}}
    workload = {"slug": "tpch-like", "name": "TPC-H-like", "version": "1"}
    assert post(document(workload=workload, repeats=[{"metrics": numbers}])).status_code == 201
    assert Workload.objects.get().primary_metric == "queries_per_hour"


def test_it_takes_a_workload_of_the_catalogue_by_its_slug(post):
    assert post(document(workload="tpcb")).status_code == 201
    assert Run.objects.first().workload.primary_metric == "tps"


def test_it_takes_a_known_machine_by_its_slug_and_refuses_other_facts_for_it(post):
    post(document())
    slug = HardwareProfile.objects.get().slug
    assert post(document(id=str(uuid.uuid4()), hardware=slug)).status_code == 201
    other = document(id=str(uuid.uuid4()), hardware={"name": "x", "slug": slug, "cpu_model": "Other"})
    response = post(other)
    assert (response.status_code, response.json()) == (400, {"hardware.cpu_model": [f"The machine {slug} has Xeon."]})


def test_it_answers_200_to_the_same_body_and_409_to_another(post):
    first = post(document())
    again = post(json.dumps(document(), indent=3, sort_keys=True))
    assert (again.status_code, again.json()) == (200, first.json())
    assert post(document(note="other")).status_code == 409
    assert (Upload.objects.count(), Run.objects.count()) == (1, 2)


def test_it_stores_nothing_of_a_document_that_fails_late(post):
    taken = str(uuid.uuid4())
    post(document(repeats=[{"id": taken, "metrics": {"tps": 1}}]))
    second = document(id=str(uuid.uuid4()), dbms={"name": "New", "version": "1"}, repeats=[{"metrics": {"tps": 1}}])
    second["repeats"].append({"id": taken, "metrics": {"tps": 1}})
    response = post(second)
    assert (response.status_code, response.json()) == (400, {"repeats[1].id": ["Another run has this id."]})
    assert (Upload.objects.count(), Run.objects.count(), Dbms.objects.filter(name="New").count()) == (1, 1, 0)


def test_it_notes_the_use_of_a_token_once_a_minute(post):
    """In SQLite each note waits for whoever writes, and for the disk."""
    post(document())
    used = ApiToken.objects.get().last_used_at
    assert Upload.objects.get().token.last_used_at == used
    post(document(id=str(uuid.uuid4())))
    assert ApiToken.objects.get().last_used_at == used
    before = used - timedelta(seconds=61)
    ApiToken.objects.update(last_used_at=before)
    post(document(id=str(uuid.uuid4())))
    assert ApiToken.objects.get().last_used_at > before


@pytest.mark.parametrize("header", ["Bearer bst_wrong", "Bearer", "Bearer \u00e9", "bearer x y"])
def test_it_refuses_an_unknown_token(client, header):
    response = client.post(URL, document(), content_type="application/json", headers={"Authorization": header})
    assert response.status_code == 401
    assert list(response.json()) == ["detail"]


def _without(name: str) -> dict[str, Any]:
    body = document()
    del body[name]
    return body


@pytest.mark.parametrize("name", ["schema_version", "id", "workload", "dbms", "hardware", "repeats"])
def test_it_names_what_is_missing(post, name):
    response = post(_without(name))
    assert (response.status_code, response.json()) == (400, {name: ["This field is required."]})


REPEAT = {"metrics": {"tps": 1}}
NUMBER = "A finite number is required."


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"schema_version": "x"}, "schema_version"),
        ({"id": "not-a-uuid"}, "id"),
        ({"id": None}, "id"),
        ({"id": []}, "id"),
        ({"surprise": 1}, "surprise"),
        ({"workload": 5}, "workload.detail"),
        ({"workload": "nobody-knows"}, "workload"),
        ({"workload": {"name": "x"}}, "workload.slug"),
        ({"workload": {"slug": "with space", "name": "x"}}, "workload.slug"),
        ({"workload": {"slug": "x", "name": "x", "colour": "red"}}, "workload.colour"),
        ({"dbms": "PostgreSQL"}, "dbms"),
        ({"dbms": {"name": "PostgreSQL"}}, "dbms.version"),
        ({"dbms": {"name": "", "version": "1"}}, "dbms.name"),
        ({"dbms": {"name": "x" * 201, "version": "1"}}, "dbms.name"),
        ({"dbms": {"name": ["x"], "version": "1"}}, "dbms.name"),
        ({"hardware": None}, "hardware"),
        ({"hardware": {"name": "x", "cpu_cores": -1}}, "hardware.cpu_cores"),
        ({"hardware": {"name": "x", "ram_bytes": 2**64}}, "hardware.ram_bytes"),
        ({"config": 5}, "config"),
        ({"config": {"files": []}}, "config.files"),
        ({"config": {"settings": [{"name": "fsync", "value": "on"}]}}, "config.files"),
        ({"config": [{"name": "x"}]}, "config[0].value"),
        ({"config": [{"name": "x", "value": {}}]}, "config[0].value"),
        ({"factors": []}, "factors"),
        ({"factors": {"scale": True}}, "factors.scale"),
        ({"factors": {"scale": {"value": 1, "units": "x"}}}, "factors.scale"),
        ({"factors": {"x" * 81: 1}}, "factors"),
        ({"measured_on": "yesterday"}, "measured_on"),
        ({"measured_on": 20260504}, "measured_on"),
        ({"measured_on": "2025"}, "measured_on"),
        ({"measured_on": "2025-05"}, "measured_on"),
        ({"measured_on": "2025-W20"}, "measured_on"),
        ({"started_at": "2025-W20"}, "started_at"),
        ({"started_at": "2025-05"}, "started_at"),
        ({"started_at": "2026-13-01T00:00:00Z"}, "started_at"),
        ({"durability": "strong"}, "durability"),
        ({"note": {"a": 1}}, "note"),
        ({"context": [1]}, "context"),
        ({"info": "text"}, "info"),
        ({"repeats": []}, "repeats"),
        ({"repeats": {}}, "repeats"),
        ({"repeats": [5]}, "repeats[0]"),
        ({"repeats": [{}]}, "repeats[0].metrics"),
        ({"repeats": [{"metrics": [], "series": []}]}, "repeats[0].metrics"),
        ({"repeats": [REPEAT, {"metrics": {"tps": "fast"}}]}, "repeats[1].metrics.tps.value"),
        ({"repeats": [{"metrics": [{"name": "tps", "value": True}]}]}, "repeats[0].metrics[0].value"),
        ({"repeats": [{"metrics": [{"name": "own", "value": 1}]}]}, "repeats[0].metrics[0].unit"),
        ({"repeats": [{"metrics": [{"name": "tps", "value": 1, "unit": "ms"}]}]}, "repeats[0].metrics[0].unit"),
        (
            {"repeats": [{"metrics": {"latency_p99_ms": {"value": 1, "unit": "s"}}}]},
            "repeats[0].metrics.latency_p99_ms.unit",
        ),
        ({"repeats": [{"metrics": [{"name": "tps", "value": 1}] * 2}]}, "repeats[0].metrics"),
        ({"repeats": [{"metrics": "tps"}]}, "repeats[0].metrics"),
        ({"repeats": [{"series": [{"name": "tps", "values": []}]}]}, "repeats[0].series[0].values"),
        ({"repeats": [{"series": [{"name": "tps", "values": [1, "x"]}]}]}, "repeats[0].series[0].values"),
        (
            {"repeats": [{"series": [{"name": "tps", "values": [1], "interval_s": 0}]}]},
            "repeats[0].series[0].interval_s",
        ),
        ({"repeats": [{"series": [{"name": "tps", "values": [1], "t0_s": 1e300}]}]}, "repeats[0].series[0].t0_s"),
        ({"repeats": [{**REPEAT, "id": 1.5}]}, "repeats[0].id"),
        ({"repeats": [{**REPEAT, "id": UPLOAD_ID}] * 2}, "repeats"),
        ({"note": "a\x00b"}, "note"),
        ({"note": "\ud800"}, "note"),
        ({"info": {"a\x00": 1}}, "info"),
        ({"info": {"n": 10**30}}, "info.n"),
    ],
)
def test_it_names_the_wrong_field(post, change, field):
    response = post(document(**change))
    assert response.status_code == 400
    assert list(response.json()) == [field.removesuffix(".detail")], response.json()
    assert Upload.objects.count() == Run.objects.count() == 0


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400, "1" * 5000])
def test_it_refuses_numbers_that_are_not_finite(post, value):
    text = json.dumps(document()).replace("100.5", value)
    response = post(text)
    assert response.status_code == 400
    assert Upload.objects.count() == 0


@pytest.mark.parametrize(
    "body",
    [
        "", "{", "null", "5", '"text"', "[]", '{"results": []}', '{"results": {}}', '{"results": [{}], "more": 1}',
        b"\xff\xfe\x00", b"\x80abc", "{}" * 2, "[" * 100_000, '{"a":' * 100_000,
        '{"info": ' + "[" * 50 + "]" * 50 + "}",
    ],
)  # fmt: skip
def test_it_answers_400_to_what_is_no_document(post, body):
    response = post(body)
    assert response.status_code == 400
    assert response.json()


def test_who_wraps_settings_in_an_object_is_told_of_the_list(post):
    """Was: "config.files: This field is required" alone."""
    said = post(document(config={"settings": [{"name": "fsync", "value": "on"}]})).json()
    assert said == {"config.files": ["Required, or give the settings as a list: [{name, value}]."]}


def test_it_refuses_other_content_types(client, bearer):
    response = client.post(URL, "a=1", content_type="application/x-www-form-urlencoded", headers=bearer("upload"))
    assert response.status_code == 415


def test_it_refuses_a_body_over_the_limit(post, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert post(document()).status_code == 413


def test_it_bounds_the_number_of_repeats(post):
    response = post(document(repeats=[REPEAT] * 1001))
    assert (response.status_code, list(response.json())) == (400, ["repeats"])


NASTY: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, 10**50, 1e308, "", "x", "\x00", "\ud800", "x" * 300, "2026-01-01", [], [None], {},
    {"a": 1}, [[]], {"value": None}, {"": ""}, [1, 2], "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00",
    UPLOAD_ID, "tpcb",
]  # fmt: skip


def _mutate(generator: random.Random, node: Any) -> Any:
    """The same tree with one place changed, doubled, dropped or renamed."""
    if isinstance(node, dict) and node and generator.random() < 0.85:
        key = generator.choice(sorted(node))
        action = generator.random()
        if action < 0.1:
            return {name: value for name, value in node.items() if name != key}
        if action < 0.2:
            return {
                (generator.choice(["", "x", "\x00", "id", "5"]) if name == key else name): value
                for name, value in node.items()
            }
        return {**node, key: _mutate(generator, node[key])}
    if isinstance(node, list) and node and generator.random() < 0.85:
        index = generator.randrange(len(node))
        return [*node[:index], _mutate(generator, node[index]), *node[index + 1 :]]
    return copy.deepcopy(generator.choice(NASTY))


def test_it_never_answers_500_to_a_changed_document(post):
    generator = random.Random(2026)
    seen: dict[int, int] = {}
    for _ in range(150):
        body = document(id=str(uuid.UUID(int=generator.getrandbits(128))))
        for _ in range(generator.randint(1, 2)):
            body = _mutate(generator, body)
        response = post(json.dumps(body))
        seen[response.status_code] = seen.get(response.status_code, 0) + 1
        assert response.status_code in (200, 201, 400, 409), (response.status_code, body)
        if response.status_code == 400:
            assert response.json(), body
    assert seen[400] > 50
    assert seen[201] > 5


@pytest.mark.parametrize("levels", [101, 480, 900, 100_000])
def test_it_refuses_what_is_nested_too_deeply(post, levels):
    answer = post(json.dumps(document(info="@")).replace('"@"', f"{'[' * levels}{']' * levels}"))
    assert answer.status_code == 400
    assert answer.json() == {"detail": "The body is not valid JSON: nested more than 100 levels deep"}


REFUSED = [
    ("tps", -5, None, "tps must be between 0 and 1,000,000,000,000, not -5."),
    ("tps", 1.7e308, None, "tps must be between 0 and 1,000,000,000,000, not 1.7e+308."),
    ("restarts", 1.7e308, "", "restarts must be between -1e+18 and 1e+18, not 1.7e+308."),
    ("load_s", -1, None, "load_s must be between 0 and 315,576,000, not -1."),
    ("latency_p99_ms", 1e12, None, "latency_p99_ms must be between 0 and 315,576,000,000, not 1,000,000,000,000."),
    ("latency_p999", -0.5, "us", "latency_p999 must be between 0 and 3.15576e+14, not -0.5."),
    ("my_rate", -1, "frames/s", "my_rate must be between 0 and 1,000,000,000,000, not -1."),
    ("buffer_hit_percent", 100.5, None, "buffer_hit_percent must be between 0 and 100, not 100.5."),
    ("db_size_bytes", -1, None, "db_size_bytes must be between 0 and 1e+18, not -1."),
    ("tps", -5, "tx/h", None),
    ("growth", 250, "%", None),
    ("delta_memory", -1184, "bytes", None),
]


@pytest.mark.parametrize(("name", "value", "unit", "words"), REFUSED)
def test_it_refuses_by_name_what_a_metric_cannot_be(post, name, value, unit, words):
    """In metrics and in series; what is no time, rate or count may be below 0, and a growth above 100 %."""
    told = {} if unit is None else {"unit": unit}
    metric = {"name": name, "value": value, **told}
    answer = post(document(repeats=[{"metrics": [{"name": "tps", "value": 1}]}, {"metrics": [metric]}]))
    assert answer.json() == ({"repeats[1].metrics[0].value": [words]} if words else answer.json())
    sampled = {"name": name, "values": [1, None, value, 2], **told}
    again = post(document(id=str(uuid.uuid4()), repeats=[{"series": [sampled]}]))
    assert again.json() == ({"repeats[0].series[0].values[2]": [words]} if words else again.json())
    assert [answer.status_code, again.status_code] == ([400, 400] if words else [201, 201])


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"measured_on": "9999-12-31"}, "measured_on", "Must be between 1970-01-01 and "),
        ({"measured_on": "1066-10-14"}, "measured_on", "Must be between 1970-01-01 and "),
        ({"started_at": "9999-12-31T23:59:59Z"}, "started_at", "Must be between 1970-01-01 and "),
        (
            {"started_at": "2026-05-04T12:00:00Z", "finished_at": "2026-05-04T11:59:59Z"},
            "finished_at",
            "It is before started_at.",
        ),
        ({"factors": {"terminals": -4}}, "factors.terminals", "Must be 0 or more, not -4."),
        ({"factors": {"scale_factor": {"value": "-1"}}}, "factors.scale_factor", "Must be 0 or more, not -1."),
        ({"factors": {"terminals": 1.7e308}}, "factors.terminals", "Must be between -1e+18 and 1e+18."),
    ],
)
def test_it_refuses_by_name_what_was_never(post, given, field, words):
    answer = post(document(**given))
    assert answer.status_code == 400
    ((name, (said,)),) = answer.json().items()
    assert (name, said.startswith(words)) == (field, True), answer.json()


def test_it_says_that_repeats_lie_many_times_apart(post):
    """Also where the other repeats of the batch came before."""
    batch, second = str(uuid.uuid4()), str(uuid.uuid4())
    calm = post(document(batch=batch)).json()
    assert "warnings" not in calm
    answer = post(document(id=second, batch=batch, repeats=[{"metrics": {"tps": 5700}}])).json()
    assert [words.partition(",")[0] for words in answer["warnings"]] == ["3 repeats of one cell go from 100.5 to 5"]
    (other,) = post([document(id=str(uuid.uuid4()), batch=batch, repeats=[{"metrics": {"tps": 12}}])]).json()["results"]
    assert "475-fold" in other["warnings"][0]


def test_it_says_what_counts_nowhere_though_it_is_stored(post):
    """Seen: 201 and nothing else, of 3 % of errors and of a p95 above the p99."""
    failed = {"metrics": {"tps": 100, "errors": 300, "transactions": 9_700}}
    wrong = {"metrics": {"tps": 100, "latency_p95_ms": 9, "latency_p99_ms": 3}}
    answer = post(document(repeats=[failed, {"metrics": {"tps": 100.5}}, failed, wrong]))
    assert answer.status_code == 201
    of_errors, of_itself = answer.json()["warnings"]
    assert of_errors.startswith("repeats 1 and 3 count nowhere: failed: ")
    assert of_itself.startswith("repeat 4 counts nowhere: marked invalid: contradicts itself: latency_p95_ms 9 above")
    tried = document(id=str(uuid.uuid4()), label="b", outcome="failed", message="disk full", repeats=[{"metrics": {}}])
    assert "warnings" not in post(tried).json()


def test_what_was_stated_and_is_not_pooled_is_no_doubt(post):
    """Was: "nothing that was stated tells them apart", of two isolation levels."""
    batch = str(uuid.uuid4())

    def sent(level: str, *values: float) -> Any:
        driver, repeats = {"name": "own", "isolation": level}, [{"metrics": {"tps": value}} for value in values]
        return post(document(id=str(uuid.uuid4()), batch=batch, driver=driver, repeats=repeats)).json()

    assert "warnings" not in sent("read committed", 3000, 3010)
    assert "warnings" not in sent("serializable", 800, 810)
    assert "3 repeats of one cell go from 80 to 810 tps" in sent("serializable", 80)["warnings"][0]


def test_a_time_without_a_zone_is_warned_of(post):
    """Was: only the page of each run said it."""
    times = {"started_at": "2026-05-05T03:15:00", "finished_at": "2026-05-05T03:25:00Z"}
    made = [document(id=str(uuid.uuid4()), **times, repeats=[{"metrics": {"tps": tps}}]) for tps in (101.5, 102.25)]
    for each in made:
        del each["measured_on"]
    first = post(made[0]).json()
    assert first["warnings"] == ["No zone is given: started_at is taken as UTC."]
    (of_many,) = post({"results": [made[1]]}).json()["results"]
    assert first["warnings"][0] in of_many["warnings"]


def test_it_says_that_a_second_machine_of_a_name_was_made(post):
    """Facts that contradict a machine named by its slug are refused; by its name alone it is another one."""
    first = {"name": "db 1", "cpu_model": "EPYC 9354", "cpu_cores": 32}
    assert "warnings" not in post(document(hardware=first)).json()
    body = document(id=str(uuid.uuid4()), hardware={**first, "cpu_cores": 64})
    (words,) = post(body).json()["warnings"]
    assert words.startswith("db 1 is a second machine of this name, db-1-2, as db-1 has other facts")
    assert "cpu_cores 32 there, 64 here" in words
    assert "warnings" not in post(document(id=str(uuid.uuid4()), hardware={**first, "cpu_cores": 64}, label="b")).json()
    for kernel in ("6.12", "6.18"):
        updated = document(id=str(uuid.uuid4()), hardware={**first, "cpu_cores": 64, "kernel": kernel})
        assert "warnings" not in post(updated).json(), "series and answers go on with a new kernel"
    refused = post(document(id=str(uuid.uuid4()), hardware={**first, "slug": "db-1", "cpu_cores": 64}))
    assert refused.status_code == 400 and "hardware.cpu_cores" in refused.json()


def test_facts_that_are_not_stated_contradict_no_machine_of_the_name(post):
    """Was: `benchctl upload --hardware "Bench Box 8"` made a second one, as the name alone states no facts."""

    def machine_of(**stated: Any) -> HardwareProfile:
        answer = post(document(id=str(uuid.uuid4()), hardware={"name": "Bench Box 8", **stated})).json()
        run = Run.objects.get(pk=answer["runs"][0]["id"])
        assert run.hardware
        return run.hardware

    first = machine_of(cpu_model="EPYC 9354", cpu_cores=32)
    assert machine_of() == first
    assert machine_of(cpu_model="EPYC 9354", os="Debian 13").os == "Debian 13"
    assert HardwareProfile.objects.count() == 1
    other = machine_of(cpu_cores=64)
    assert other != first and machine_of(cpu_cores=64, kernel="6.12") == other
    disk = {"name": "nvme0", "medium": "nvme"}
    on_disk = machine_of(cpu_cores=32, storage=[disk])
    assert on_disk == first and machine_of(cpu_cores=32, storage=[disk | {"medium": "ssd"}]) != first
    # Which of them is meant the name alone does not tell.
    assert machine_of(kernel="6.1") not in (first, other)


@pytest.mark.parametrize(("given", "version"), [
    ("v16.4", "16.4"), ("V 16.4", "16.4"), ("version 16.4", "16.4"), (" PostgreSQL 16.4", "16.4"),
    ("postgres 16.4", "16.4"), ("16.4 (Debian 16.4-1.pgdg120+2)", "16.4"),
    ("PostgreSQL 16.4 (Debian 16.4-1.pgdg120+2) on x86_64-pc-linux-gnu, compiled by gcc 12.2.0, 64-bit", "16.4"),
    ("16.4", "16.4"), ("9.6 (patched)", "9.6 (patched)"), ("18devel", "18devel"), ("vanilla", "vanilla"),
    ("PostgreSQL", "PostgreSQL"), ("8.0.36-28", "8.0.36-28"),
])  # fmt: skip
def test_a_version_is_its_number_however_it_is_written(post, given, version):
    """Seen: 16.4 and v16.4 were two systems."""
    run_id = post(document(dbms={"name": "PostgreSQL", "version": given})).json()["runs"][0]["id"]
    run = Run.objects.get(pk=run_id)
    assert run.dbms_version.version == version
    assert run.upload.document["dbms"]["version"] == given, "kept as it was given"


@pytest.mark.parametrize(("name", "given", "version"), [
    ("MariaDB", "11.4.4-MariaDB", "11.4.4"), ("mariadb", "10.11.6-MariaDB-0+deb12u1-log", "10.11.6"),
    ("MariaDB", "5.5.5-10.11.6-MariaDB-1:10.11.6+maria~ubu2204", "10.11.6"), ("MariaDB", "11.4.4", "11.4.4"),
    ("MySQL", "8.0.36-28", "8.0.36-28"), ("PostgreSQL", "16.4-MariaDB", "16.4-MariaDB"),
])  # fmt: skip
def test_what_a_server_calls_its_version_is_the_number_that_people_say(post, name, given, version):
    """Seen: MariaDB's own "11.4.4-MariaDB", as HammerDB prints it, stood as a system beside "MariaDB 11.4.4"."""
    run_id = post(document(dbms={"name": name, "version": given})).json()["runs"][0]["id"]
    assert Run.objects.get(pk=run_id).dbms_version.version == version


def test_a_version_that_is_stored_with_its_v_stays_the_same_system(post):
    first = Run.objects.get(pk=post(document()).json()["runs"][0]["id"]).dbms_version
    type(first).objects.filter(pk=first.pk).update(version="v15.8")
    second = post(document(id=str(uuid.uuid4()), label="again")).json()["runs"][0]["id"]
    assert Run.objects.get(pk=second).dbms_version_id == first.pk


@pytest.mark.parametrize(("name", "unit", "value"), [
    ("tps", "kTPS", 12_500), ("tps", "KTPS", 12_500), ("tps", "k tx/s", 12_500), ("tps", "MTPS", 12_500_000),
])  # fmt: skip
def test_thousands_of_a_rate_are_that_rate(post, name, unit, value):
    metrics = [{"name": name, "unit": unit, "value": 12.5}]
    series = [{"name": name, "unit": unit, "values": [12.5, None, 12.75]}]
    run_id = post(document(repeats=[{"metrics": metrics, "series": series}])).json()["runs"][0]["id"]
    row = Measurement.objects.get(run=run_id)
    assert (row.metric.unit, row.value) == (Metric.objects.get(name=name).unit, value)
    assert row.as_printed == f"12.5 {unit}"
    told = series_of(Run.objects.get(pk=run_id), name)
    assert told == [value, None, value / 12.5 * 12.75]


def series_of(run: Run, name: str) -> list[float | None]:
    return series.read(run, name).values


@pytest.mark.parametrize(("name", "given", "stored"), [
    ("target_size_mb", {"value": 10, "unit": "GB"}, (10_000, "MB")),
    ("target_size_mb", {"value": 1, "unit": "GiB"}, (1073.741824, "MB")),
    ("size_gb", {"value": 98_000, "unit": "MB"}, (98, "GB")),
    ("size_gb", {"value": 98, "unit": "GB"}, (98, "GB")),
    ("duration_s", {"value": 5, "unit": "min"}, (300, "s")),
    ("terminals", {"value": 16, "unit": "connections"}, (16, "connections")),
    ("customers", {"value": 2, "unit": "GB"}, (2, "GB")),
])  # fmt: skip
def test_a_size_or_time_of_a_factor_is_in_the_unit_of_its_name(post, name, given, stored):
    run_id = post(document(factors={name: given})).json()["runs"][0]["id"]
    row = Run.objects.get(pk=run_id).factors.get(name=name)
    assert (row.number, row.unit) == stored


def test_it_says_that_repeats_in_one_request_are_in_batches_of_their_own(post):
    """Was: only of those that came in two requests."""

    def warned(**more) -> list[int]:
        """How many warnings each of two results got that came together."""
        sent = [document(id=str(uuid.uuid4()), repeats=[{"metrics": {"tps": tps}}], **more) for tps in (101.5, 103.25)]
        return [len(told.get("warnings", [])) for told in post(sent).json()["results"]]

    assert warned() == [0, 1]
    assert warned(batch=str(uuid.uuid4()), label="together") == [0, 0]


def test_it_says_that_repeats_of_a_moment_ago_are_in_another_batch(post):
    """Seen: repeats that were sent one by one were each a result of its own, pooled with none."""
    body = document(repeats=[{"metrics": {"tps": 101.5}}])
    assert "warnings" not in post(body).json()
    alone = {"repeats": [{"metrics": {"tps": 103.25}}]}
    (words,) = post(document(id=str(uuid.uuid4()), **alone)).json()["warnings"]
    assert words.startswith("repeats of the same cell were stored within the last hour in another import or batch")
    started = [datetime(2026, 5, day, hour, tzinfo=UTC) for day, hour in ((5, 9), (6, 9), (6, 23))]
    of_days = [document(id=str(uuid.uuid4()), started_at=f"{at}", finished_at=f"{at}", **alone) for at in started]
    for each in of_days:
        del each["measured_on"]
    assert [post(each).json().get("warnings") for each in of_days] == [None, None, [words]]
    assert "warnings" not in post(document(id=str(uuid.uuid4()), label="patched", **alone)).json()
    Run.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert "warnings" not in post(document(id=str(uuid.uuid4()), repeats=[{"metrics": {"tps": 99.75}}])).json()
