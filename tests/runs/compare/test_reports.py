"""A comparison under a short address, with words, and as a chart in other pages."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import product
from uuid import UUID

import pytest
from benchagent import __version__
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import escape

from runs.access.rules import change_visibility
from runs.compare import reports
from runs.formatting import times
from runs.models import Change, Publication, Report, Run
from runs.results.purge import purge
from tests.runs.answers.test_answers import World
from tests.runs.cells import batch, machine, make_article, make_repeats, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> list[Run]:
    return [run for system in ("SQLite 3.53", "PostgreSQL 17") for run in make_repeats(system, (400, 410, 420))]


@pytest.fixture
def query(runs) -> str:
    return "&".join(f"run={run.id}" for run in runs) + "&baseline=sqlite-3-53&metric=tps"


@pytest.fixture
def saved(query, contributor) -> Report:
    return reports.create(
        title="Which is faster?", note="First.\n\nSecond.", query=query, visibility="public", owner=contributor
    )


def test_a_comparison_is_saved_from_its_page_and_shown_with_its_words(client, contributor, query):
    client.force_login(contributor)
    assert f"/reports/new/?{query}".replace("&", "&amp;") in client.get(f"/compare/?{query}").content.decode()
    assert client.get(f"/reports/new/?{query}").status_code == 200
    form = {"title": "Which is faster?", "note": "First.\n\nSecond.", "query": query, "visibility": "public"}
    page = client.post("/reports/new/", form, follow=True)
    assert page.redirect_chain == [("/reports/which-is-faster/", 302)]
    html = page.content.decode()
    assert "<p>First.</p>" in html
    assert 'data-group="postgresql-17"' in html
    assert "Which is faster?" in client.get("/reports/").content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": ""}, "required"),
        ({"query": ""}, "required"),
        ({"query": "metric=tps"}, "No run is chosen"),
        ({"query": "run=x"}, "not the id of a run"),
        ({"query": "no=such"}, "no such filter"),
        ({"query": "dbms=x&threshold=x"}, "not a number of per cent"),
        ({"visibility": "secret"}, "valid choice"),
    ],
)
def test_what_cannot_be_shown_is_not_saved(client, contributor, query, changes, words):
    client.force_login(contributor)
    form = {"title": "x", "note": "", "query": query, "visibility": "public"} | changes
    page = client.post("/reports/new/", form)
    assert page.status_code == 422
    assert words in page.content.decode()
    assert not Report.objects.exists()


def test_the_numbers_are_those_of_now(client, saved, runs):
    before = client.get("/api/v1/reports/which-is-faster/").json()["comparison"]
    assert [group["n"] for group in before["groups"]] == [3, 3]
    Run.objects.filter(pk=runs[0].pk).update(deleted_at="2026-01-01T00:00:00Z")
    after = client.get("/api/v1/reports/which-is-faster/").json()["comparison"]
    assert [group["n"] for group in after["groups"]] == [2, 3]


def test_a_reader_sets_another_baseline(client, saved):
    page = client.get("/reports/which-is-faster/?baseline=postgresql-17")
    assert page.context["comparison"].baseline.key == "postgresql-17"
    assert client.get("/reports/which-is-faster/").context["comparison"].baseline.key == "sqlite-3-53"


def test_a_reader_sets_another_threshold_and_a_wrong_one_is_none(client, saved):
    assert (
        "Below 7&nbsp;% a difference is too small"
        in client.get(f"{saved.get_absolute_url()}?threshold=7").content.decode()
    )
    assert (
        "Below 3&nbsp;% a difference is too small"
        in client.get(f"{saved.get_absolute_url()}?threshold=x").content.decode()
    )


def test_it_leaves_out_what_a_reader_may_not_see(client, saved, runs, operator, contributor):
    Run.objects.filter(pk__in=[run.pk for run in runs[3:]]).update(visibility="private", owner=operator)
    assert "PostgreSQL 17" not in client.get("/reports/which-is-faster/").content.decode()
    client.force_login(operator)
    assert "PostgreSQL 17" in client.get("/reports/which-is-faster/").content.decode()
    assert "PostgreSQL 17" not in client.get("/embed/reports/which-is-faster/").content.decode()


@pytest.fixture
def frozen(client, saved, contributor) -> Report:
    client.force_login(contributor)
    assert client.post("/reports/which-is-faster/freeze/").status_code == 302
    client.logout()
    saved.refresh_from_db()
    return saved


def test_a_frozen_report_keeps_numbers_charts_and_version(client, frozen, runs):
    Run.objects.filter(pk=runs[0].pk).update(deleted_at="2026-01-01T00:00:00Z")
    html = client.get("/reports/which-is-faster/").content.decode()
    # A picture that is saved of it says so (static/js/saving.js); it had the day of saving alone, and no answer.
    assert "<strong data-frozen-at>Frozen" in html and "data-answer>" in html
    assert f"with Benchsite {__version__}" in html
    assert 'id="figure-0-data"' in html or 'type="application/json"' in html
    answer = client.get("/api/v1/reports/which-is-faster/").json()
    (ratio,) = [group["ratio"] for group in answer["comparison"]["groups"] if group["ratio"]]
    assert times(ratio["value"]) in html, "as everywhere: it had four digits"
    assert [group["n"] for group in answer["comparison"]["groups"]] == [3, 3]
    assert (answer["frozen_version"], bool(answer["frozen_at"])) == (__version__, True)
    live = client.get("/api/v1/reports/which-is-faster/?live=1").json()["comparison"]
    assert [group["n"] for group in live["groups"]] == [2, 3]
    page = client.get("/reports/which-is-faster/?live=1")
    assert "As it was frozen" in page.content.decode()
    assert [group.n for group in page.context["comparison"].groups] == [2, 3]


def test_a_report_shows_the_question_that_it_answers_and_its_frame_frozen_or_not(client, saved, query, contributor):
    """Was: nothing but its name stood above the answer, and a frozen one had no frame to copy."""
    question = client.get(f"/compare/?{query}").context["question"]
    client.force_login(contributor)
    for _ in range(2):
        html = client.get("/reports/which-is-faster/").content.decode()
        assert html.index(f"data-question>{escape(question)}<") < html.index('class="headline"')
        assert "http://testserver/embed/reports/which-is-faster/" in html
        client.post("/reports/which-is-faster/freeze/")
    assert "<strong data-frozen-at>Frozen" in html


def test_a_frozen_report_says_what_became_of_its_runs(client, frozen, runs, contributor, operator):
    """Was: the old numbers without a word."""
    path = "/api/v1/reports/which-is-faster/"
    assert (client.get(path).json()["since_frozen"], client.get(f"{path}?live=1").json()["since_frozen"]) == (
        None,
        None,
    )
    after = timezone.now() + timedelta(seconds=2)
    Run.objects.filter(pk=runs[0].pk).update(invalid_at=after, invalid_reason="wrong window", invalid_by=contributor)
    Run.objects.filter(pk__in=[run.pk for run in runs[4:]]).update(deleted_at=after)
    answer = client.get(path).json()
    said = "Since it was frozen 1 of its 6 runs was marked invalid (wrong window), 2 were deleted."
    assert answer["since_frozen"] == {
        "runs": 6, "invalid": {str(runs[0].id): "wrong window"}, "deleted": sorted(str(run.id) for run in runs[4:]),
        "words": said,
    }  # fmt: skip
    assert [group["n"] for group in answer["comparison"]["groups"]] == [3, 3]
    for page in ("/reports/which-is-faster/", "/embed/reports/which-is-faster/"):
        assert said in client.get(page).content.decode()
    assert f"<span data-since>{said}</span>" in client.get("/reports/which-is-faster/").content.decode()
    assert client.get("/embed/reports/which-is-faster/").context["source_words"] == "TPC-B profile, version 1"

    Run.objects.filter(pk=runs[5].pk).update(visibility="private", owner=operator)
    assert client.get(path).json()["since_frozen"] is None
    assert "Since it was frozen" not in client.get("/reports/which-is-faster/").content.decode()


def test_what_was_marked_invalid_before_it_was_frozen_is_no_news(client, saved, runs, contributor):
    Run.objects.filter(pk=runs[0].pk).update(invalid_at="2026-01-01T00:00:00Z", invalid_reason="wrong window")
    client.force_login(contributor)
    client.post("/reports/which-is-faster/freeze/")
    assert client.get("/api/v1/reports/which-is-faster/").json()["since_frozen"] is None


def test_what_has_no_number_is_frozen_as_not_known(client, saved, contributor):
    Run.objects.filter(dbms_version__name="PostgreSQL 17").update(state="failed", message="disk full")
    client.force_login(contributor)
    page = client.post("/reports/which-is-faster/freeze/", follow=True)
    assert page.status_code == 200
    assert re.search(r"data-gap[^>]*>not known: [^<]*disk full", page.content.decode())


def test_a_frame_of_a_report_tells_its_answer_as_the_page_does(client, saved, contributor):
    """Was: the name of the report alone, and nothing of what names of configurations do not say."""
    said = client.get("/reports/which-is-faster/").context["headline"]
    assert said and escape(said) in client.get("/embed/reports/which-is-faster/").content.decode()
    client.force_login(contributor)
    client.post("/reports/which-is-faster/freeze/")
    assert escape(said) in client.get("/embed/reports/which-is-faster/").content.decode()


def test_frozen_numbers_are_shown_only_to_who_may_open_all_their_runs(client, frozen, runs, operator):
    Run.objects.filter(pk=runs[5].pk).update(visibility="private", owner=operator)
    for path in ("/reports/which-is-faster/", "/embed/reports/which-is-faster/"):
        html = client.get(path).content.decode()
        # A whole number: "410" alone may stand in the id of a run.
        assert "SQLite 3.53" not in html and not re.search(r"\b410\b", html)
    assert client.get("/api/v1/reports/which-is-faster/").json()["comparison"] is None
    client.force_login(operator)
    assert "SQLite 3.53" in client.get("/reports/which-is-faster/").content.decode()
    # A frame shows what a stranger may see, whoever is logged in.
    assert "SQLite 3.53" not in client.get("/embed/reports/which-is-faster/").content.decode()


def test_numbers_frozen_while_private_stay_with_the_author(client, saved, runs, contributor, operator, administrator):
    Run.objects.filter(pk=runs[5].pk).update(visibility="private", owner=contributor)
    client.force_login(contributor)
    client.post("/reports/which-is-faster/freeze/")
    Run.objects.update(visibility="public")
    for person, seen in ((contributor, True), (administrator, True), (operator, False)):
        client.force_login(person)
        assert ("PostgreSQL 17" in client.get("/reports/which-is-faster/").content.decode()) is seen
    client.force_login(contributor)
    client.post("/reports/which-is-faster/freeze/", follow=True)
    client.logout()
    assert "PostgreSQL 17" in client.get("/reports/which-is-faster/").content.decode()


def test_a_purged_run_leaves_the_frozen_numbers(client, frozen, runs, administrator):
    purge(runs[0], by=administrator)
    frozen.refresh_from_db()
    assert frozen.frozen is None


def test_only_its_author_freezes_and_unfreezes(client, frozen, viewer, operator, contributor):
    for person, status in ((None, 302), (viewer, 403)):
        client.logout() if person is None else client.force_login(person)
        assert client.post("/reports/which-is-faster/freeze/", {"thaw": "1"}).status_code == status
        frozen.refresh_from_db()
        assert frozen.frozen
    client.force_login(contributor)
    client.post("/reports/which-is-faster/freeze/", {"thaw": "1"})
    frozen.refresh_from_db()
    assert frozen.frozen is None


ATTACKS = """
<script>alert(1)</script> <img src=x onerror=alert(1)> <svg/onload=alert(1)>
[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](java&#10;script:x)
[i](//spy.example/) [k](runs/)
![f](https://spy.example/pixel.png) <javascript:alert(1)> [g](https://good.example "t\" onclick=alert(1)")

[h]: javascript:alert(1)
[h]

| <b onclick=x>i</b> | ``<script>`` |
|:--|--:|
| 1 | 2 |
"""


def test_words_are_markdown_and_nothing_of_them_runs(client, saved, contributor):
    reports.edit(saved, title="x", note=f"# Asked\n\n**bold** and [own](/runs/)\n{ATTACKS}", by=contributor)
    html = client.get("/reports/which-is-faster/").content.decode()
    words = html[html.index('class="panel prose"') :]
    words = words[: words.index("</section>")]
    assert "<h2>Asked</h2>" in words and "<strong>bold</strong>" in words and "<table>" in words
    assert '<a href="/runs/" rel="nofollow noopener">own</a>' in words
    tags = set(re.findall(r"<(\w+)", words))
    assert tags <= {"h2", "p", "strong", "a", "br", "table", "thead", "tbody", "tr", "th", "td", "code"}
    assert {href.split(":")[0] for href in re.findall(r'href="([^"]*)"', words)} <= {"/runs/", "https"}
    assert not re.search(r"<[^>]*\s(on\w+|style|src|title)=", words)
    listed = client.get("/reports/").content.decode()
    assert "<script>alert" not in listed and "Asked" in listed


def test_editing_keeps_the_address_and_the_old_words(client, saved, contributor):
    client.force_login(contributor)
    client.post("/reports/which-is-faster/edit/", {"title": "Neither", "note": "Changed."})
    saved.refresh_from_db()
    assert (saved.slug, saved.name, saved.note) == ("which-is-faster", "Neither", "Changed.")
    noted = {change.field: (change.old, change.by) for change in Change.objects.all()}
    assert noted == {"title": ("Which is faster?", contributor), "words": ("First.\n\nSecond.", contributor)}


def test_a_deleted_report_offers_its_owner_an_undo(client, saved, contributor):
    client.force_login(contributor)
    gone = client.post("/reports/which-is-faster/delete/", follow=True)
    assert (gone.status_code, "Undo" in gone.content.decode()) == (410, True)
    assert client.get("/api/v1/reports/").json()["count"] == 0
    assert client.get("/embed/reports/which-is-faster/").status_code == 404
    back = client.post("/reports/which-is-faster/restore/", follow=True)
    assert "The report is back" in back.content.decode()


def test_a_report_called_new_has_an_address_of_its_own(query, contributor):
    made = reports.create(title="New", note="", query=query, visibility="public", owner=contributor)
    assert made.slug == "report-new"


def test_the_query_is_kept_without_what_only_the_address_says(query, contributor):
    kept = QueryDict(reports.checked_query(f"{query}&format=json", contributor))
    assert "format" not in kept
    assert len(kept.getlist("run")) == 6


@pytest.mark.parametrize("path", ["compare/?{query}", "reports/which-is-faster/", "runs/{run}/"])
def test_a_chart_may_be_framed_and_needs_nothing_inline(client, saved, runs, query, path):
    response = client.get("/embed/" + path.format(query=query, run=runs[0].id))
    html = response.content.decode()
    assert response.status_code == 200
    assert "X-Frame-Options" not in response
    assert "frame-ancestors *" in response["Content-Security-Policy"]
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert "Source: Benchsite" in html
    assert "<table" in html
    assert "csrf" not in html


def test_a_frame_without_a_chart_says_whether_it_has_runs(client, query):
    """Was: "the runs are not public" of a trade-off between one metric."""
    assert "choose another view or metric" in client.get(f"/embed/compare/?{query}&view=tradeoff").content.decode()
    assert "the runs are deleted or not public" in client.get("/embed/compare/?label=none").content.decode()


def test_a_frame_names_the_article_of_its_runs_else_workload_and_machine(client, runs, query):
    """Was: "Source: Benchsite, 30 runs"."""
    Run.objects.update(hardware=machine("Rack 9"))
    article = make_article()
    Publication.objects.update(author="Radim Kolář")
    one = article.runs.first()
    for path in ("compare/?publication=tpcb-2010", f"runs/{one.id}/"):
        words = client.get(f"/embed/{path}").context["source_words"]
        assert words == "“100 MB TPC-B test of databases”, Radim Kolář, 2010"
    of_workload = client.get(f"/embed/compare/?{query}").context["source_words"]
    assert of_workload == "TPC-B profile, version 1, Rack 9"
    assert client.get(f"/embed/compare/?{query}&run={one.id}").context["source_words"] == "TPC-B profile, version 1"


@pytest.mark.parametrize("path", ["/", "/runs/", "/login/", "/compare/", "/reports/"])
def test_other_pages_may_not_be_framed(client, path):
    response = client.get(path)
    assert response["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


@pytest.mark.parametrize(("seen", "status"), [("public", 200), ("unlisted", 200), ("private", 404)])
def test_an_embed_shows_what_a_stranger_may_see_also_to_the_owner(client, saved, runs, contributor, seen, status):
    change_visibility(target=saved, visibility=seen, by=contributor)
    Run.objects.update(visibility=seen, owner=contributor)
    client.force_login(contributor)
    assert client.get("/embed/reports/which-is-faster/").status_code == status
    assert client.get(f"/embed/runs/{runs[0].id}/").status_code == status
    assert client.get(f"/embed/compare/?run={runs[0].id}").status_code == status


def test_the_page_offers_the_frame_to_copy(client, saved, query, runs):
    html = client.get(f"/compare/?{query}").content.decode()
    assert '&lt;iframe src="http://testserver/embed/compare/?run=' in html
    page = client.get("/reports/which-is-faster/").content.decode()
    assert "http://testserver/embed/reports/which-is-faster/" in page
    assert f"http://testserver/embed/runs/{runs[0].id}/" in client.get(f"/runs/{runs[0].id}/").content.decode()


def test_a_report_of_before_batches_keeps_its_groups_and_says_so(client, contributor):
    """Its numbers pooled all repeats of a cell; a new one pools what was measured together, and keeps that."""
    for number in (1, 2):
        for value in (400, 410, 420):
            make_run("SQLite 3.53", value + number, batch=batch(UUID(int=number), label=f"night {number}"))
    query = "dbms=sqlite&metric=tps"
    before = Report.objects.create(slug="old", name="Old", query=query, visibility="public", owner=contributor)
    after = reports.create(title="New", note="", query=query, visibility="public", owner=contributor)

    old, new = (client.get(report.get_absolute_url()) for report in (before, after))

    assert [group.n for group in old.context["comparison"].groups] == [6]
    assert "Saved when every repeat of a cell was pooled" in old.content.decode()
    assert [group.n for group in new.context["comparison"].groups] == [3, 3]
    assert "Saved when" not in new.content.decode()
    assert [group.n for group in client.get("/reports/old/?group=batch").context["comparison"].groups] == [3, 3]


def test_a_value_of_zero_is_frozen_as_zero(client, contributor):
    """Was: its geometric mean, which there is none of."""
    zeros = make_repeats("MySQL 8", (0, 0, 0))
    query = "&".join(f"run={run.id}" for run in zeros)
    kept = reports.create(title="Zero", note="", query=query, visibility="public", owner=contributor)
    client.force_login(contributor)
    html = client.post(f"/reports/{kept.slug}/freeze/", follow=True).content.decode()
    assert re.search(r'data-label="Value" data-value="0.0"><span class="main">0<', html)


def test_a_report_of_more_levels_than_its_page_shows_is_frozen_with_all(client, contributor, monkeypatch):
    """Seen: 500, as the link to all ratios needs the request."""
    monkeypatch.setattr("runs.views.compare.MOST_LEVELS", 2)
    world = World()
    for system, terminals in product(("A", "B"), (1, 2, 4, 8)):
        world.add(1000, dbms={"name": system, "version": "1"}, factors={"terminals": terminals})
    kept = {"note": "", "query": world.store(), "visibility": "public", "owner": contributor}
    report = reports.create(title="Of many levels", **kept)
    client.force_login(contributor)
    assert "All 4 ratios" in client.get("/reports/of-many-levels/").content.decode()

    page = client.post("/reports/of-many-levels/freeze/", follow=True)

    report.refresh_from_db()
    assert page.status_code == 200 and all(f"{count} terminal" in report.frozen["drawn"][1] for count in (1, 2, 4, 8))
