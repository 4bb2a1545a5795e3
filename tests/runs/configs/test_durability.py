"""Classes of durability that stored runs have: in memory apart from the rest, and claims that cannot be true."""

from __future__ import annotations

import csv
import io
from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone
from django.utils.html import escape

from runs import results
from runs.models import Run
from runs.results.names import resolve_metrics
from runs.run.durability import NOT_OBSERVED, judgement
from runs.run.likeness import alike
from tests.runs.builders import document, job_result, machine, scheduled, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db

DETAIL = "1000 TPS, 4 terminals × 200 syncs/s of the device = 800: cannot have waited for this disk"
WAITED = {"name": "waited_for_disk", "ok": True, "detail": "700 TPS, 4 terminals × 200 syncs/s of the device = 800"}
TOO_FAST = {"name": "waited_for_disk", "ok": False, "detail": DETAIL}


@pytest.mark.parametrize(("check", "doubt", "ranks"), [(WAITED, "", "power_loss"), (TOO_FAST, DETAIL, "dbms_crash")])
def test_a_run_of_an_older_agent_keeps_what_was_measured_against_its_class(check, doubt, ranks):
    run = scheduled(hardware=machine())
    Run.objects.filter(pk=run.pk).update(state="collecting")

    results.finish_run(run=run, outcome="finished", message="", at=timezone.now(), result=job_result(checks=[check]))

    run.refresh_from_db()
    assert (run.durability, bool(run.durability_doubt)) == (ranks, bool(doubt))
    assert doubt in run.durability_doubt
    assert judgement(run).promised.durability == "power_loss"


def test_runs_of_before_get_their_class_and_their_doubt():
    reason = "the database is in memory: nothing outlives the process"
    memory = make_run("H2 2", 100, durability="none", durability_reason=reason)
    risky = make_run("PostgreSQL 18", 100, durability="none", durability_reason="fsync=off: a crash may corrupt all")
    fast = make_run("SQLite 3", 100, durability="power_loss", checks=[TOO_FAST])
    sound = make_run("Derby 10", 100, durability="power_loss", checks=[WAITED])

    factors = {"load": "select_wide"}
    reads = make_run("MariaDB 10.11", 100, durability="power_loss", checks=[TOO_FAST], factors=factors)

    migration = import_module("runs.migrations.0005_durability_memory_and_doubt")
    migration.in_memory(apps, None)
    migration.doubts(apps, None)

    found = {run.pk: (run.durability, run.durability_doubt) for run in Run.objects.all()}
    assert found[memory.pk] == ("memory", "")
    assert found[risky.pk] == ("none", "")
    assert found[fast.pk] == ("power_loss", DETAIL)
    assert found[reads.pk] == ("power_loss", "")
    assert found[sound.pk] == ("power_loss", "")


PROMISED = {"durability": "power_loss", "reason": "each commit syncs Derby's log"}
IN_MEMORY = {"durability": "dbms_crash", "reason": "log and data: tmpfs is in the machine's memory"}
UNSEEN = {"durability": "", "reason": "nobody counted syncs"}
FOUR = {"terminals": 4, "duration_s": 5}
UNWAITED = {"durability": "dbms_crash", "reason": "60,126 commits by 20 flushes of 4 terminals: most did not wait"}


def finished(**durability) -> Run:
    run = scheduled(hardware=machine())
    Run.objects.filter(pk=run.pk).update(state="collecting")
    told = {"durability": "power_loss", "reason": "as an agent says", **durability}
    result = job_result(durability=told)
    results.finish_run(run=run, outcome="finished", message="", at=timezone.now(), result=result)
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("storage", "observed", "ranks", "contradicted"),
    [
        ({"durability": "power_loss", "reason": "each sync empties its cache"}, UNSEEN, "power_loss", False),
        (IN_MEMORY, UNSEEN, "dbms_crash", False),
        ({"durability": "", "reason": "which disk is beneath it is not told"}, UNWAITED, "dbms_crash", True),
    ],
)
def test_the_weakest_of_three_statements_ranks_and_a_contradiction_ranks_nowhere(
    client, storage, observed, ranks, contradicted
):
    run = finished(promised=PROMISED, storage=storage, observed=observed)
    assert (run.durability, bool(run.durability_doubt)) == (ranks, contradicted)

    page = client.get(run.get_absolute_url()).content.decode()
    panel = page.split('id="durability"')[1].split("</dl>")[0]
    assert f"Class: {run.get_durability_display()}, as far as is known." in panel
    for statement in (PROMISED, storage, observed):
        assert escape(statement["reason"]) in panel
    assert ("Contradicted, so ranked with no other run" in panel) is contradicted
    told = client.get(f"/api/v1/runs/{run.id}/").json()["durability_statements"]
    assert told["promised"] == PROMISED
    assert told["storage"] == {**storage, "durability": storage["durability"] or None}
    assert bool(told["contradiction"]) is contradicted
    (row,) = csv.DictReader(
        io.StringIO(b"".join(client.get("/api/v1/runs/", {"format": "csv"}).streaming_content).decode())
    )
    assert row["durability_promised"] == f"power_loss: {PROMISED['reason']}"
    assert row["durability_storage"] == f"{storage['durability'] or 'not known'}: {storage['reason']}"


def test_what_was_seen_beyond_a_weak_promise_parts_no_repeats():
    """As measured under a load: of twelve runs without a wait for the disk one was slow enough to flush each commit,
    and stood as another series."""
    lossy = {"durability": "bounded_loss", "reason": "synchronous_commit is off"}
    quick, slow = (finished(promised=lossy, storage=UNSEEN, observed=seen) for seen in (UNWAITED, PROMISED))
    swallowed = finished(promised=PROMISED, storage=UNSEEN, observed=UNWAITED)
    obeyed = finished(promised=PROMISED, storage=UNSEEN, observed=PROMISED)
    assert len(alike([quick, slow], by_day=False)) == 1
    assert len(alike([swallowed, obeyed], by_day=False)) == 2


def test_a_statement_that_says_what_none_can_say_is_refused():
    with pytest.raises(ValueError, match="forever"):
        finished(promised={"durability": "forever", "reason": ""}, storage=IN_MEMORY, observed=UNSEEN)


def test_runs_that_state_nothing_say_so(client):
    run = make_run("Derby 10", 100, durability="", durability_reason="")
    page = client.get(run.get_absolute_url()).content.decode()
    panel = page.split('id="durability"')[1].split("</div>")[0]
    assert "Not known: nothing says what a commit promised" in panel
    # Said once, not of each of the three statements.
    assert "<dl" not in panel
    assert client.get(f"/api/v1/runs/{run.id}/").json()["durability_statements"]["observed"]["durability"] is None


def test_runs_of_before_lose_a_class_that_their_rows_speak_against():
    made = {
        "tmpfs": make_run("Derby 10", 100, durability="power_loss"),
        "disk": make_run("Derby 10", 100, durability="power_loss"),
        "journal": make_run("SQLite 3", 100, durability="power_loss"),
        "unwaited": make_run(
            "PostgreSQL 18", 12_000, durability="power_loss", factors={"terminals": 4, "duration_s": 5}
        ),
        "waited": make_run("PostgreSQL 18", 900, durability="power_loss", factors=FOUR),
    }
    Run.objects.filter(pk=made["journal"].pk).update(
        effective_settings=[["journal_mode", "delete"], ["synchronous", "FULL"]]
    )
    for name, file_system in (("tmpfs", "tmpfs"), ("disk", "ext4")):
        profile = machine(hostname=f"m-{name}")
        device = profile.add_device(name=name, file_system=file_system, write_cache="write back")
        made[name].storage.create(role="log", device=device)
    for name, shared in (("unwaited", 3_006.3), ("waited", 2.6)):
        (metric,) = resolve_metrics(["commits_per_flush"]).values()
        made[name].measurements.create(metric=metric, value=shared, phase="run", provenance="measured")

    import_module("runs.migrations.0012_durability_of_storage").judge(apps, None)

    rows = {name: Run.objects.get(pk=run.pk) for name, run in made.items()}
    assert {name: (run.durability, bool(run.durability_doubt)) for name, run in rows.items()} == {
        "tmpfs": ("dbms_crash", False),
        "disk": ("power_loss", False),
        "journal": ("dbms_crash", False),
        "unwaited": ("power_loss", True),
        "waited": ("power_loss", False),
    }
    assert "in the machine's memory" in rows["tmpfs"].durability_reason


DEVICE = {"role": "log", "device": {"name": "scratch", "file_system": "tmpfs", "medium": "ram"}}


@pytest.mark.parametrize(
    ("sent", "ranks", "against", "reason"),
    [
        ({"durability": "power_loss"}, "power_loss", "", "as whoever sent it states"),
        ({"durability": None}, "", "", ""),
        ({"durability": None, "effective_settings": [["fsync", "off"]]}, "none", "", "fsync=off"),
        (
            {"durability": "power_loss", "effective_settings": [["fsync", "off"]]},
            "none", "stated: power loss; by its settings: fsync=off", "fsync=off",
        ),
        ({"durability": "power_loss", "storage": [DEVICE]}, "dbms_crash", "", "scratch (tmpfs) is in the machine's"),
    ],
)  # fmt: skip
def test_an_upload_promises_what_it_states_and_what_it_does_not_state_is_not_known(
    client, sent, ranks, against, reason
):
    body = {name: value for name, value in document(**sent).items() if value is not None}
    run = store_upload(document=body).runs[0]
    run.refresh_from_db()
    assert (run.durability, run.durability_doubt[: len(against) or None]) == (ranks, against)
    assert reason in run.durability_reason
    told = client.get(f"/api/v1/runs/{run.id}/").json()["durability_statements"]
    assert told["observed"] == {"durability": None, "reason": NOT_OBSERVED.reason}


def test_an_article_promises_what_it_states_and_nothing_more():
    run = make_run("CUBRID 8", 100, durability="bounded_loss", durability_reason="async_commit=yes")
    Run.objects.filter(pk=run.pk).update(provenance="printed")
    told = judgement(Run.objects.get(pk=run.pk))
    assert [told.promised.durability, told.storage.durability, told.observed.durability] == ["bounded_loss", None, None]
