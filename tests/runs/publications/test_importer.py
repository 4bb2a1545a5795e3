"""The published results: counted, with their provenance, the same after every import."""

from __future__ import annotations

import statistics
import uuid
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Count

from runs.models import (
    Aggregate,
    Config,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Measurement,
    Publication,
    Run,
    Workload,
    delete_softly,
)
from runs.publications.article import article_of
from runs.publications.document import statements_of
from runs.publications.folder import own
from runs.publications.importer import import_own

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(publish):
    publish()


def test_it_holds_everything_that_the_articles_hold(imported):
    every = [statements_of(publication) for publication in Publication.objects.all()]
    facts = Counter(fact.provenance.value for statements in every for fact in statements.facts)

    def stated(kind: str) -> int:
        return sum(len(getattr(statements, kind)) for statements in every)

    documents = sum(item.document for statements in every for item in statements.missing)
    counts = {
        "publications": Publication.objects.count(),
        "runs with values": Run.objects.filter(state="finished").count(),
        "runs without values": Run.objects.filter(state="value_missing").count(),
        "aggregates": Aggregate.objects.count(),
        "observations": stated("observations"),
        "claims": stated("claims"),
        "missing figures": stated("missing") - documents,
        "missing documents": documents,
        "systems": DbmsVersion.objects.count(),
        "machines": HardwareProfile.objects.count(),
        "configs": Config.objects.count(),
        "workloads": Workload.objects.count(),
        "schemas": stated("schemas"),
        "table statistics": stated("table_stats"),
        "index statistics": stated("index_stats"),
        "query statistics": stated("query_stats"),
        "recovered facts": facts["recovered"],
        "inferred facts": facts["inferred"],
    }
    assert counts == {
        "publications": 4,
        "runs with values": 58,
        "runs without values": 56,
        "aggregates": 6,
        "observations": 14,
        "claims": 35,
        "missing figures": 20,
        "missing documents": 1,
        "systems": 18,
        "machines": 6,
        "configs": 8,
        "workloads": 10,
        "schemas": 2,
        "table statistics": 9,
        "index statistics": 9,
        "query statistics": 6,
        "recovered facts": 7,
        "inferred facts": 5,
    }


def test_it_holds_every_printed_number_with_its_spelling(imported):
    wanted = {
        (row.id, number.name, number.unit, number.value, number.as_printed)
        for folder in own().values()
        for row in folder.results.runs
        for number in row.metrics
    }
    found = set(
        Measurement.objects.values_list("run__source_id", "metric__name", "metric__unit", "value", "as_printed")
    )
    assert found == {
        (source, name, "TPS" if name == "tps" else unit, value, printed)
        for source, name, unit, value, printed in wanted
    }
    assert len(found) == 72


def test_it_says_where_every_number_comes_from(imported):
    found = dict(Run.objects.values_list("provenance").annotate(Count("id")))
    # 28 cells of the run-together table; the 2 empty cells were printed empty.
    assert found == {"reconstructed": 28, "printed": 30 + 2, "lost_in_picture": 54}
    assert dict(Measurement.objects.values_list("provenance").annotate(Count("id"))) == {
        "reconstructed": 28,
        "printed": 44,
    }


def test_a_lost_value_is_a_run_with_a_reason_and_without_a_number(imported):
    lost = Run.objects.filter(state="value_missing")
    assert Measurement.objects.filter(run__in=lost).count() == 0
    assert dict(lost.values_list("missing_reason").annotate(Count("id"))) == {
        "the value was in a picture that is lost": 54,
        "the printed cell is empty, reason not given": 2,
    }
    empty = lost.filter(missing_reason__contains="not given")
    assert {(run.dbms_version.name, run.repeat) for run in empty} == {
        ("Apache Derby 10.6", 4),
        ("Apache Derby 10.6", 5),
    }


def test_printed_medians_are_no_runs_and_equal_ours(imported):
    for aggregate in Aggregate.objects.all():
        values = Measurement.objects.filter(run__in=aggregate.of.all()).values_list("value", flat=True)
        assert statistics.median(values) == aggregate.value
    assert sorted(Aggregate.objects.values_list("value", flat=True)) == [114, 508, 594, 875, 1192, 2363]


def test_repeats_of_a_cell_share_its_key_and_other_cells_have_another(imported):
    sizes = sorted(row["n"] for row in Run.objects.values("cell_key").annotate(n=Count("id")))
    # Seven cells of five repeats (Derby 10.6 with its empty ones), everything else stands alone.
    assert sizes == [1] * (114 - 35) + [5] * 7


def test_the_configuration_files_are_kept_line_by_line(imported):
    cubrid = Config.objects.get(source_id="cfg-cubrid-cubrid")
    buffers = cubrid.parameters.filter(name="data_buffer_pages").values_list("position", "value")
    assert list(buffers) == [(2, "25000"), (16, "262144")]
    mysql = Config.objects.get(source_id="cfg-cubrid-mysql")
    assert (cubrid.parameters.count(), mysql.parameters.count()) == (21, 52)
    flags = set(mysql.parameters.filter(value=None).values_list("name", flat=True))
    assert {"skip_name_resolve", "innodb_file_per_table", "log_long_format"} <= flags
    assert len(flags) == 7
    assert mysql.parameters.get(name="innodb_buffer_pool_size").comment == "50 ~ 70% of main memory"
    assert [p.name for p in mysql.parameters.all()][:3] == ["socket", "user", "port"]


def test_factors_have_units_and_storage_has_roles(imported):
    run = Run.objects.get(source_id="firebird-sata-oltp-3")
    assert {factor.name: (factor.value, factor.unit) for factor in run.factors.all()} == {
        "disk": ("SATA RAID1", ""),
        "size_gb": (13, "GB"),
        "test_no": (3, ""),
        "threads": (20, "threads"),
    }
    assert [(use.role, use.device.name) for use in run.storage.all()] == [("data", "SATA RAID1")]
    same_disk = Run.objects.get(source_id="gbak-fb-1.5.3-se_1hdd")
    assert {use.role: use.device.name for use in same_disk.storage.all()} == {"data": "D:", "backup": "D:"}


def test_claims_are_never_numbers_of_runs(imported):
    every = [claim for row in Publication.objects.all() for claim in statements_of(row).claims]
    claims = {claim.id: claim for claim in every}
    claim = claims["firebird-b"]
    assert (claim.ratio, claim.percent, claim.details["size_ratio"]) == (2.4, None, 60)
    assert claims["tpcb-a"].details["ratio_as_printed"] == ">4"
    assert claims["gbak-d"].details["percent_range"] == [20, 40]


def test_a_commit_of_the_articles_promises_what_they_say(imported):
    found = dict(Run.objects.exclude(durability="").values_list("publication__slug", "durability").distinct())
    assert found == {"tpcb-2010": "power_loss", "cubrid-mysql-ssd-2011": "bounded_loss"}


def test_a_second_import_changes_nothing():
    assert import_own().rows_changed > 200
    again = import_own()
    assert again.changes == {}
    out = StringIO()
    call_command("import_publication", stdout=out)
    assert out.getvalue() == "publications: 0 rows changed\n"


def test_it_shares_systems_with_what_is_there(db):
    Dbms.objects.create(slug="postgresql", name="PostgreSQL", vendor="PGDG")
    import_own()
    assert Dbms.objects.filter(name="PostgreSQL").count() == 1
    assert DbmsVersion.objects.get(source_id="pg-8.3").dbms.slug == "postgresql"


def test_it_takes_another_slug_where_somebody_has_it(db):
    Workload.objects.create(slug="wl-tpcb", name="mine")
    import_own()
    assert Workload.objects.get(source_id="wl-tpcb").slug == "wl-tpcb-2"
    assert import_own().rows_changed == 0


def test_it_restores_deleted_runs(imported):
    run = Run.objects.get(source_id="tpcb-pg-8.3-r1")
    delete_softly(run)
    assert Run.objects.present().count() == 113
    assert import_own().changes == {("run", "restored"): 1}
    assert Run.objects.present().count() == 114


def test_it_can_leave_deleted_runs_deleted_as_every_start_does(imported):
    delete_softly(Run.objects.get(source_id="tpcb-pg-8.3-r1"))
    assert import_own(keep_deleted=True).rows_changed == 0
    assert Run.objects.present().count() == 113


def test_it_corrects_what_was_changed(imported):
    run = Run.objects.get(source_id="tpcb-pg-8.3-r1")
    run.measurements.update(value=1)
    run.factors.filter(name="threads").delete()
    Run.objects.filter(source_id="tpcb-pg-8.3-r2").delete()
    article = run.publication
    article.content["statements"]["claims"][0]["summary"] = "x"
    article.save()
    assert import_own().changes == {
        ("run", "created"): 1,
        ("run", "updated"): 1,
        ("publication", "updated"): 1,
        # The deleted run had left its printed median.
        ("aggregate", "linked"): 1,
    }
    assert import_own().changes == {}


def test_links_stay_the_same_in_every_installation(imported):
    run = Run.objects.get(source_id="tpcb-pg-8.3-r1")
    assert run.id == uuid.UUID("8f0f46d2-cfa2-5c5e-b781-9cc2694d3cee")


def test_the_texts_are_facts_and_not_the_articles(imported):
    for publication in Publication.objects.all():
        article = article_of(publication)
        assert publication.details["licence"]
        assert article.machine and article.caveats and article.conclusions
        assert all(len(sentence) < 300 for sentence in [article.goal, *article.caveats, *article.conclusions])
