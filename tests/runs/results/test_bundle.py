"""Experiments that leave one Benchsite and come to another, whole or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
import zipfile
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from benchagent.ctl.cli import EXIT_REFUSED, EXIT_USAGE, main
from django.contrib.auth.models import AnonymousUser

from runs.models import Artefact, Experiment, Run, RunStorage, Upload
from runs.results import bundle
from runs.run import artefacts
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
PLAN = {
    "workload": "tpcb", "engines": [["sqlite", "3.50.1"]], "repeats": 2, "factors": {"terminals": 4},
    "sweep": {"scale_factor": [1, 2]}, "settings": {"sqlite": [["synchronous", "FULL"]]}, "name": "Nightly",
}  # fmt: skip

BEGAN = datetime(2026, 5, 1, 9, tzinfo=UTC)
TOLD = {
    "waits": {"WALSync": 1.5},
    "none": {"indexes": "not told", "log_bytes": "not counted"},
    "tables": [{"table": "accounts", "rows": 9}],
}


@pytest.fixture
def experiment(contributor) -> Experiment:
    made = Experiment.objects.create(slug="nightly", name="Nightly", created_by=contributor, plan=PLAN, note="as ever")
    for system in ("SQLite 3.53", "PostgreSQL 17"):
        for repeat, tps in enumerate((400, 410), 1):
            run = make_run(system, tps)
            Run.objects.filter(pk=run.pk).update(
                experiment=made, repeat=repeat, order_index=repeat, started_at=BEGAN, dataset={"seed": repeat},
                command_lines=[f"postgres -p {repeat}"],
                finished_at=BEGAN + timedelta(minutes=repeat), warnings=["1 flush took longer"],
                statistics={**TOLD, "counters": {"block_reads": 7 * repeat}},
                checks=[{"name": "disk_rate", "ok": True, "detail": "as measured"}],
            )  # fmt: skip
            artefacts.keep(name="engine.log", content=b"ready\npassword=geheim1234\n", run=run)
    return made


@pytest.fixture
def packed(experiment) -> bytes:
    return bundle.export(experiment, AnonymousUser(), address="https://a.example/experiments/nightly/")


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


def changed(packed: bytes, change: Any) -> bytes:
    """The bundle after `change(manifest, parts)`, with checksums that fit."""
    parts = unpacked(packed)
    manifest = json.loads(parts.pop("manifest.json"))
    change(manifest, parts)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    manifest["files"] = [entry | {"sha256": sums.get(entry["path"], entry["sha256"])} for entry in manifest["files"]]
    return zipped({"manifest.json": json.dumps(manifest).encode(), **parts})


def test_it_brings_what_the_engine_told_and_what_was_checked(packed, operator, client):
    made, _ = bundle.take_in(packed, owner=operator, visibility="public")
    for run in made.runs.all():
        assert run.statistics == {**TOLD, "counters": {"block_reads": 7 * run.repeat}}
        assert {"name": "disk_rate", "ok": True, "detail": "as measured"} in run.checks
        assert run.warnings == ["1 flush took longer"]
        assert (run.order_index, run.finished_at) == (run.repeat, BEGAN + timedelta(minutes=run.repeat))
        assert (run.dataset, run.command_lines) == ({"seed": run.repeat}, [f"postgres -p {run.repeat}"])
    html = client.get(made.runs.first().get_absolute_url()).content.decode()
    assert "WALSync" in html
    assert "as measured" in html


@pytest.mark.parametrize(
    "told",
    [{"statistics": {"counters": "many"}}, {"statistics": {"tables": [1]}}, {"checks": [{"name": "x"}]},
     {"statistics": {"maintenance": [{"what": "vacuum", "age_s": "long"}]}}, {"order_index": 0},
     {"finished_at": "1999-01-01T00:00:00Z"}, {"finished_at": "soon"}],
)  # fmt: skip
def test_statistics_of_another_form_are_refused_and_nothing_is_stored(packed, operator, told):
    def change(manifest, parts):
        document = json.loads(parts["results/0001.json"])
        document["repeats"][0] |= told
        parts["results/0001.json"] = json.dumps(document).encode()

    before = Run.objects.count()
    with pytest.raises(bundle.BadBundle):
        bundle.take_in(changed(packed, change), owner=operator)
    assert Run.objects.count() == before


def test_it_brings_plan_results_and_files_and_says_where_from(packed, operator):
    made, created = bundle.take_in(packed, owner=operator, visibility="public")
    assert (created, made.plan, made.created_by, made.visibility) == (True, PLAN, operator, "public")
    assert made.note.startswith("From https://a.example/experiments/nightly/, exported 20")
    runs = list(made.runs.for_lists().order_by("dbms_version__name", "repeat"))
    assert [(run.dbms_version.name, run.repeat, run.primary_value) for run in runs] == [
        ("PostgreSQL 17", 1, 400), ("PostgreSQL 17", 2, 410), ("SQLite 3.53", 1, 400), ("SQLite 3.53", 2, 410),
    ]  # fmt: skip
    assert {run.provenance for run in runs} == {"uploaded"}
    assert {run.info["bundle"]["source"] for run in runs} == {"https://a.example/experiments/nightly/"}
    assert len({run.cell_key for run in runs}) == 2
    kept = Artefact.objects.filter(upload__runs__in=runs).distinct()
    assert kept.count() == 4
    assert all(artefacts.content(file).startswith(b"ready") for file in kept)


def test_the_same_bundle_is_taken_once_and_ids_are_never_those_of_the_bundle(packed, operator, contributor, experiment):
    before = set(Run.objects.values_list("pk", flat=True))
    first, _ = bundle.take_in(packed, owner=operator)
    again, created = bundle.take_in(packed, owner=operator)
    assert (again, created, first.runs.count()) == (first, False, 4)
    other, created = bundle.take_in(packed, owner=contributor)
    assert created and other != first
    assert first.pk != experiment.pk and before.isdisjoint(first.runs.values_list("pk", flat=True))
    assert experiment.runs.count() == 4


def test_it_says_when_its_runs_were_measured(experiment, operator):
    """A day that contradicts the start, as could be stored once, does not keep the bundle from being taken in."""
    start = datetime(2026, 3, 5, 12, tzinfo=UTC)
    Run.objects.filter(experiment=experiment).update(started_at=start, measured_on=date(2026, 3, 9))
    made = bundle.export(experiment, AnonymousUser(), address="https://a.example/experiments/nightly/")
    taken, _ = bundle.take_in(made, owner=operator)
    assert {(run.measured_at, run.measured_on) for run in taken.runs.all()} == {(start, None)}


def test_its_experiment_was_started_where_it_was_measured(experiment, operator, client):
    """Was: "started" at the time of the import, once an operator had accepted it."""
    start = datetime(2026, 3, 5, 12, tzinfo=UTC)
    Run.objects.filter(experiment=experiment).update(started_at=start)
    taken, _ = bundle.take_in(bundle.export(experiment, AnonymousUser(), address="https://a.example/"), owner=operator)
    assert taken.created_at == start
    client.force_login(operator)
    assert "brought here, started" in client.get(taken.get_absolute_url()).content.decode()


def test_it_is_private_unless_it_is_said_otherwise(packed, operator):
    made, _ = bundle.take_in(packed, owner=operator, visibility="everybody")
    assert {made.visibility, *made.runs.values_list("visibility", flat=True)} == {"private"}


def test_it_holds_no_secret_and_nothing_that_its_maker_may_not_see(experiment, operator):
    Experiment.objects.update(plan=PLAN | {"connection": "postgres://me:geheim1234@host/db"})
    hidden = experiment.runs.first()
    Run.objects.filter(pk=hidden.pk).update(visibility="private", owner=operator)
    Run.objects.exclude(pk=hidden.pk).update(command_lines=["pgbench postgres://me:geheim1234@host/db"])
    parts = unpacked(bundle.export(experiment, AnonymousUser(), address="https://a.example/"))
    assert b"geheim1234" not in b"".join(parts.values())
    documents = [json.loads(content) for name, content in parts.items() if name.startswith("results/")]
    assert sum(len(document["repeats"]) for document in documents) == 3


def _not_named(manifest, parts):
    parts["results/0009.json"] = b"{}"


def _named(path):
    def change(manifest, parts):
        parts[path] = b"x"
        manifest["files"].append({"path": path, "sha256": "x"})

    return change


def _bad_result(manifest, parts):
    document = json.loads(parts["results/0002.json"])
    document["repeats"][0]["metrics"][0]["value"] = -1
    parts["results/0002.json"] = json.dumps(document).encode()


def _unknown_key(manifest, parts):
    document = json.loads(parts["results/0002.json"]) | {"owner": "ada"}
    parts["results/0002.json"] = json.dumps(document).encode()


def _other_version(manifest, parts):
    manifest["version"] = 2


def _of_the_plan(**fields):
    def change(manifest, parts):
        manifest["experiment"]["plan"] |= fields

    return change


def _half_a_character(manifest, parts):
    manifest["files"].append({"path": "files/0001/001-\ud800", "sha256": "x"})


def _first_result(content):
    def change(manifest, parts):
        parts["results/0001.json"] = content

    return change


def _bomb(manifest, parts):
    name = "files/0001/001-bomb"
    parts[name] = bytes(bundle.MAX_TOTAL_BYTES + 1)
    manifest["files"].append({"path": name, "sha256": "x"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_not_named, "does not name"), (_named("../../evil"), "which no bundle holds"),
        (_named("/etc/cron.d/x"), "which no bundle holds"), (_bad_result, "is not taken"),
        (_unknown_key, "is not taken"), (_other_version, "version 2"), (_bomb, "larger than 64 MB"),
        (_of_the_plan(note="\ud800"), "plan.note is not valid"), (_of_the_plan(note="\x00"), "plan.note holds a NUL"),
        (_of_the_plan(note={"\ud800": 1}), "plan.note has a key"), (_half_a_character, "not valid Unicode"),
        (_of_the_plan(repeats=50, sweep={"scale_factor": [*range(1, 12)]}), r"plan\.repeats: 550"),
        (_first_result(b'{"repeats": []}'), "is not taken"), (_first_result(b"\xff no json"), r"results/0001\.json"),
        (_first_result(b'{"repeats": [{"statistics": {"counters": {"\\ud800": "x"}}}]}'), "has a key"),
    ],
)  # fmt: skip
def test_of_what_is_not_whole_nothing_is_stored(packed, operator, change, words):
    before = Run.objects.count(), Upload.objects.count(), Experiment.objects.count(), RunStorage.objects.count()
    with pytest.raises(bundle.BadBundle, match=words):
        bundle.take_in(changed(packed, change), owner=operator)
    assert before == (
        Run.objects.count(), Upload.objects.count(), Experiment.objects.count(), RunStorage.objects.count(),
    )  # fmt: skip


def test_a_changed_file_a_cut_one_and_what_is_none_are_refused(packed, operator):
    parts = unpacked(packed)
    parts["results/0001.json"] = parts["results/0001.json"].replace(b"400", b"900")
    broken = bytearray(packed)
    broken[len(broken) // 2] ^= 0xFF
    for content in (
        zipped(parts),
        packed[:-200],
        bytes(broken),
        b"",
        b"PK",
        zipped({}),
        zipped({"manifest.json": b"[]"}),
    ):
        with pytest.raises(bundle.BadBundle):
            bundle.take_in(content, owner=operator)
    assert not Upload.objects.exists()


def test_ids_visibility_and_batches_of_others_mean_nothing(packed, operator, experiment):
    """Whatever ids a bundle names: they are replaced."""
    victim = experiment.runs.first()

    def claim(manifest, parts):
        document = json.loads(parts["results/0001.json"])
        document |= {"id": str(victim.pk), "batch": str(victim.batch_id), "visibility": "public"}
        document["repeats"][0]["id"] = str(victim.pk)
        parts["results/0001.json"] = json.dumps(document).encode()

    made, _ = bundle.take_in(changed(packed, claim), owner=operator)
    assert made.runs.count() == 4 and set(made.runs.values_list("visibility", flat=True)) == {"private"}
    assert set(made.runs.values_list("batch", flat=True)) == {made.pk}
    victim.refresh_from_db()
    assert victim.experiment == experiment


def test_it_travels_over_rest_and_pages(client, experiment, packed, bearer, operator):
    answer = client.get("/api/v1/experiments/nightly/bundle/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert "nightly.benchsite.zip" in answer["Content-Disposition"]
    file = io.BytesIO(packed)
    file.name = "x.zip"
    stored = client.post("/api/v1/bundles/", {"file": file, "visibility": "public"}, headers=bearer("upload"))
    assert (stored.status_code, stored.json()["runs"], stored.json()["created"]) == (201, 4, True)
    file.seek(0)
    assert client.post("/api/v1/bundles/", {"file": file}, headers=bearer("upload")).status_code == 200
    assert client.post("/api/v1/bundles/", {"file": file}, headers=bearer("read")).status_code == 403
    client.force_login(operator)
    file.seek(0)
    page = client.post("/imports/bundle/", {"file": file, "visibility": "private"}, follow=True).content.decode()
    assert "https://a.example/experiments/nightly/" in page and "Export as bundle" in page


def test_its_plan_fills_the_schedule_form(client, packed, operator):
    made, _ = bundle.take_in(packed, owner=operator, visibility="public")
    form = client.get(f"/schedule/?experiment={made.slug}").context["form"]
    assert (form["scale_factor"].value(), form["terminals"].value(), form["repeats"].value()) == ("1, 2", "4", 2)
    assert (form["engines"].value(), form["name"].value()) == (["sqlite:3.50.1"], "Nightly")
    assert form.initial["settings_sqlite"] == "synchronous = FULL"


def test_benchctl_takes_it_along_and_brings_it(live_server, experiment, api_token, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read", "upload"))
    file = tmp_path / "nightly.zip"
    assert main(["export", "nightly", str(file)]) == 0
    assert main(["export", "nightly", str(file)]) == EXIT_USAGE, "nothing is written over"
    assert main(["export", "nowhere", str(tmp_path / "x.zip")]) == EXIT_REFUSED
    assert main(["import-bundle", str(file), "--visibility", "public"]) == 0
    assert capsys.readouterr().out.strip() == f"{live_server.url}/experiments/nightly-2/"
    brought = Experiment.objects.get(slug="nightly-2")
    assert (brought.runs.count(), brought.visibility) == (4, "public")
    file.write_bytes(file.read_bytes()[:-100])
    assert main(["import-bundle", str(file)]) == EXIT_REFUSED


def test_a_bomb_is_refused_before_it_takes_memory(packed, operator, monkeypatch):
    monkeypatch.setattr(bundle, "BOMB_BYTES", 1024**2)
    bomb = changed(packed, lambda manifest, parts: parts.update({next(n for n in parts if n[0] == "f"): bytes(2**25)}))
    tracemalloc.start()
    with pytest.raises(bundle.BadBundle, match="more than 50 times as large as it is packed"):
        bundle.take_in(bomb, owner=operator)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 16 * 1024**2


def test_of_an_experiment_that_is_too_large_no_file_is_read(experiment, monkeypatch):
    Artefact.objects.update(size_bytes=bundle.MAX_TOTAL_BYTES + 1)
    monkeypatch.setattr(artefacts, "content", lambda file: pytest.fail("read"))
    with pytest.raises(bundle.BadBundle, match="larger than 64 MB"):
        bundle.export(experiment, AnonymousUser(), address="")


def test_one_at_a_time_is_made_or_read_and_who_comes_meanwhile_is_told_to_come_again(
    client, experiment, packed, bearer
):
    with bundle.one_at_a_time():
        asked = client.get("/api/v1/experiments/nightly/bundle/")
        sent = client.post("/api/v1/bundles/", {"file": io.BytesIO(packed)}, headers=bearer("upload"))
    for answer in (asked, sent):
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert "Another bundle is being made or read" in answer.json()["detail"]
    assert client.get("/api/v1/experiments/nightly/bundle/").status_code == 200


@pytest.mark.parametrize(
    ("field", "value"),
    [("published", 5), ("published", True), ("gaps", 7), ("publication", "no slug!"), ("figure", 5), ("repeats", "²"),
     ("published", [{"label": "x", "ours": "abc"}]), ("repeats", 51), ("repeats", 0), ("repeats", None),
     ("workload", "x" * 121), ("name", "x" * 201), ("note", "x" * 10_001), ("tags", ["two words"]),
     ("tested", {"x": "y"}), ("visibility", "everybody"), ("agent", "../x"), ("factors", {"terminals": 0}),
     ("factors", {"terminals": "many"}),
     ("sweep", {"scale_factor": [1, 1]}), ("sweep", {"scale_factor": []}), ("extra", [{"scale_factor": -1}]),
     ("overrides", [["scale_factor", 1, {"terminals": 10**9}]])],
)  # fmt: skip
def test_it_refuses_a_plan_that_no_form_would_make(packed, operator, field, value):
    shown = "factors" if field in ("sweep", "extra", "overrides") else field
    with pytest.raises(bundle.BadBundle, match=rf"plan\.{shown}"):
        bundle.take_in(changed(packed, _of_the_plan(**{field: value})), owner=operator)
    assert Experiment.objects.count() == 1


def test_it_keeps_what_another_site_knows(packed, operator):
    theirs = _of_the_plan(workload="theirs", factors={"of_theirs": 5}, new_key=[1])
    made, _ = bundle.take_in(changed(packed, theirs), owner=operator)
    assert (made.plan["workload"], made.plan["factors"], made.plan["new_key"]) == ("theirs", {"of_theirs": 5}, [1])


def test_it_stands_apart_on_its_article_until_an_operator_accepts_it(published, packed, contributor, operator, client):
    def change(manifest: Any, parts: Any) -> None:
        manifest["experiment"] |= {"name": "Forged", "demonstration": True}
        manifest["experiment"]["plan"] |= {
            "publication": "tpcb-2010", "published": [{"label": "Forged line", "ours": {"dbms": "sqlite"}}],
        }  # fmt: skip

    made, _ = bundle.take_in(changed(packed, change), owner=contributor, visibility="public")
    page = client.get("/publications/tpcb-2010/")
    assert page.context["page"].brought == [made]
    assert page.context["page"].slot.experiments == []
    assert b"Forged line" not in page.content
    home = client.get("/")
    assert made not in home.context["experiments"]
    assert home.context["demonstration"] != made
    client.force_login(contributor)
    assert client.post(f"/experiments/{made.slug}/accept/").status_code == 403
    client.force_login(operator)
    assert client.post(f"/experiments/{made.slug}/accept/").status_code == 302
    page = client.get("/publications/tpcb-2010/").context["page"]
    assert (page.brought, page.slot.experiments) == ([], [made])
    assert client.get(made.get_absolute_url()).context["accepted"].by == operator
    client.post(f"/experiments/{made.slug}/accept/", {"undo": "1"})
    page = client.get("/publications/tpcb-2010/").context["page"]
    assert (page.brought, page.slot.experiments) == ([made], [])
    assert client.post("/experiments/nightly/accept/", {"undo": "1"}).status_code == 404, "it was measured here"
