"""An invalid run stays on its page, struck through, and counts nowhere else; who said so and why is kept."""

from __future__ import annotations

import csv
import io

import pytest
from django.http import Http404

from runs import machines
from runs.charts import compare as charts
from runs.charts.experiment import fingerprint, overview
from runs.compare import reports
from runs.compare.compare import compare
from runs.models import Change, Publication, Run
from runs.results import editing
from tests.runs.cells import all_runs, machine, make_run

pytestmark = pytest.mark.django_db
WHY = "the disk was full"


@pytest.fixture
def runs(contributor) -> list[Run]:
    """Three repeats; the first, twice as fast as the others, will turn out to be wrong."""
    return [
        make_run("SQLite 3.53", value, repeat=n, owner=contributor, on=machine())
        for n, value in enumerate((800, 400, 410), 1)
    ]


@pytest.fixture
def wrong(runs, operator) -> Run:
    editing.invalidate(runs[0], reason=WHY, by=operator)
    return runs[0]


def group(runs: list[Run] | None = None):
    return compare(runs or all_runs()).groups[0]


def test_a_run_that_was_purged_meanwhile_is_not_there(runs, operator):
    Run.objects.filter(pk=runs[0].pk).delete()
    with pytest.raises(Http404):
        editing.invalidate(runs[0], reason=WHY, by=operator)
    with pytest.raises(Http404):
        editing.edit(runs[0], editing.RunEdit(note="x"), by=operator)


def test_it_leaves_medians_verdicts_and_charts_and_says_why(wrong):
    found = group()
    assert (found.values, found.median) == ([400, 410], 405)
    assert [gap.reason for gap in found.gaps] == [f"marked invalid: {WHY}"]
    (figure,) = charts.bars_figures(compare(all_runs()))
    assert figure.spec["groups"][0]["dots"] == [400, 410]
    assert f"marked invalid: {WHY}" in [cell.gap for row in figure.table.rows for cell in row]


def test_exports_list_it_as_left_out_with_the_reason(client, wrong):
    rows = list(csv.DictReader(io.StringIO(client.get("/compare.csv?dbms=sqlite").content.decode())))
    assert (rows[0]["n"], rows[0]["values"], rows[0]["gaps"]) == ("2", "400 410", f"marked invalid: {WHY}")
    body = client.get("/compare/?dbms=sqlite&format=json").json()["groups"][0]
    assert body["missing"] == [{"run": str(wrong.id), "repeat": 1, "reason": f"marked invalid: {WHY}"}]
    run = client.get(f"/api/v1/runs/{wrong.id}/").json()
    assert run["invalid"]["reason"] == WHY
    api = client.get("/api/v1/compare/?dbms=sqlite").json()["groups"][0]
    assert (api["values"], api["gaps"]) == ([400, 410], [f"marked invalid: {WHY}"])


def test_its_page_shows_it_struck_through_with_who_and_why(client, wrong, operator):
    html = client.get(f"/runs/{wrong.id}/").content.decode()
    assert "<s>SQLite 3.53&nbsp;· TPC-B profile</s>" in html
    assert "<s>800</s>" in html
    assert WHY in html
    assert operator.username in html


def test_lists_strike_it_through_and_sort_it_last_by_value(client, wrong):
    html = client.get("/runs/?ordering=-value").content.decode()
    assert html.count("<tr data-invalid>") == 1
    assert "<s>800 TPS</s>" in html
    assert html.index("410 TPS") < html.index("400 TPS") < html.index("800 TPS")
    assert "<s>800 TPS</s>" in client.get("/").content.decode()


def test_the_matrix_of_an_experiment_strikes_it_through(wrong):
    assert overview(all_runs())["comparison"].groups[0].values == [400, 410]
    before = fingerprint(all_runs())
    editing.validate(wrong, by=None)
    assert fingerprint(all_runs()) != before


def test_the_best_results_of_a_machine_do_without_it(wrong, viewer):
    best = machines.best_results(machine(), viewer)
    assert [(one.value, one.runs) for one in best] == [(410, 2)]


def test_reports_and_frames_do_without_it(client, wrong, contributor):
    reports.create(title="r", note="", query="dbms=sqlite", visibility="public", owner=contributor)
    assert client.get("/reports/r/").context["comparison"].groups[0].values == [400, 410]
    assert client.get("/api/v1/reports/r/").json()["comparison"]["groups"][0]["n"] == 2
    spec = client.get("/embed/compare/?dbms=sqlite").context["parts"][0].spec
    assert spec["groups"][0]["dots"] == [400, 410]
    assert WHY in client.get(f"/embed/runs/{wrong.id}/").content.decode()


def test_it_comes_back(client, wrong, operator):
    client.force_login(operator)
    page = client.post(f"/runs/{wrong.id}/validate/", follow=True)
    assert "counts again" in page.content.decode()
    assert sorted(group().values) == [400, 410, 800]
    assert [(one.old, one.new, one.by) for one in Change.objects.order_by("id")] == [
        (None, WHY, operator), (WHY, None, operator),
    ]  # fmt: skip


def test_the_form_marks_it_and_keeps_who_did(client, runs, contributor):
    client.force_login(contributor)
    page = client.post(f"/runs/{runs[0].id}/invalidate/", {"reason": WHY}, follow=True)
    assert page.redirect_chain == [(f"/runs/{runs[0].id}/", 302)]
    run = Run.objects.get(pk=runs[0].pk)
    assert (run.invalid_reason, run.invalid_by) == (WHY, contributor)


@pytest.mark.parametrize("reason", ["", "  ", None])
def test_a_reason_is_required(client, runs, contributor, reason):
    client.force_login(contributor)
    page = client.post(f"/runs/{runs[0].id}/invalidate/", {} if reason is None else {"reason": reason}, follow=True)
    assert "Say why" in page.content.decode()
    body = {} if reason is None else {"reason": reason}
    answer = client.post(f"/api/v1/runs/{runs[0].id}/invalidate/", body, content_type="application/json")
    assert (answer.status_code, list(answer.json())) == (400, ["reason"])
    assert group().n == 3


def test_a_password_in_the_reason_is_not_kept(runs):
    editing.invalidate(runs[0], reason="started with password=hunter2", by=None)
    assert "hunter2" not in Run.objects.get(pk=runs[0].pk).invalid_reason
    assert not Change.objects.filter(new__icontains="hunter2").exists()


@pytest.fixture(scope="module")
def literature(kept, publish):
    """The four articles, once for the tests of this file that ask for them."""
    with kept():
        publish()
        yield


@pytest.mark.parametrize("slug", ["tpcb-2010", "firebird-terabyte-2015", "gbak-backup-2007", "cubrid-mysql-ssd-2011"])
def test_a_publication_shows_it_as_a_gap_in_every_chart_and_table(client, literature, slug):
    publication = Publication.objects.get(slug=slug)
    run = publication.runs.filter(state="finished").order_by("order_index", "source_id").first()
    if run is None:
        run = publication.runs.order_by("order_index", "source_id").first()
    editing.invalidate(run, reason=WHY, by=None)
    response = client.get(f"/publications/{slug}/")
    assert response.status_code == 200
    assert f"marked invalid: {WHY}" in response.content.decode()
    assert client.get(f"/api/v1/publications/{slug}/").status_code == 200
