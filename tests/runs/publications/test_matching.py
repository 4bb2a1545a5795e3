"""Re-runs beside what was published: matched cells only, the same quantity, gaps with their reasons."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from runs.compare.published import matches_of
from runs.models import Experiment, Publication, Run
from runs.models.shapes import Match
from runs.publications.folder import own
from runs.publications.material import Material
from runs.publications.page import reproductions, reruns
from runs.templatetags.publications import rich_cell
from tests.runs.cells import add_number, dbms, make_article, make_run

pytestmark = pytest.mark.django_db
BACKUPS = {"gbak_tcp": (100.0, 102.0, 98.0), "gbak_local": (80.0, 81.0, 79.0)}
LOCAL = Match("local against TCP", "backup_s", {"method": "gbak_local"}, {"method": "gbak_tcp"}, claim="gbak-a")


@pytest.fixture
def article() -> Publication:
    publication = make_article()
    publication.content = {"article": own()[publication.slug].article.model_dump(mode="json")}
    publication.save(update_fields=["content"])
    for name, source_id in (("PostgreSQL 8.3", "pg-8.3"), ("MySQL 5.0", "mysql-5.0"), ("DB2 9.7", "db2-9.7")):
        version = dbms(name)
        version.source_id = source_id
        version.save(update_fields=["source_id"])
    return publication


def experiment(publication: Publication, *matches: Match) -> Experiment:
    plan = {"publication": publication.slug, "published": [match.as_json() for match in matches]}
    return Experiment.objects.create(slug="again", name="Again", plan=plan)


def add(found: Experiment, system: str, *values: float, number: str = "tps", **fields: Any) -> None:
    for repeat, value in enumerate(values, 1):
        make_run(system, value, number=number, experiment=found, repeat=repeat, **fields)


def state(publication: Publication, kind: str, **row: Any) -> None:
    publication.content.setdefault("statements", {}).setdefault(kind, []).append(row)
    publication.save(update_fields=["content"])


def claim(publication: Publication, source_id: str, **fields: Any) -> None:
    values = {"metric": "tps", "sense": "A faster", "side_a": {}, "side_b": {}, "summary": "said"}
    state(publication, "claims", id=source_id, **{**values, **fields})


def rows(found: Experiment, publication: Publication) -> list[list[str]]:
    runs = list(Run.objects.present().filter(experiment=found).for_lists())
    table = reproductions.table(found, runs, Material(publication)).table
    return [[str(rich_cell(cell)) for cell in row] for row in table.rows]


def test_it_sets_its_mean_beside_the_published_median_of_the_same_unit(article):
    match = Match("PostgreSQL", "tps", {"dbms": "postgresql"}, theirs={"version": "pg-8.3"}, their_metric="tps",
                  differs="windows of 10 s here")  # fmt: skip
    found = experiment(article, match)
    add(found, "PostgreSQL 15.2", 1000, 1016, 1032, durability="power_loss")
    ((_, published, here, ratio, differs),) = rows(found, article)
    assert 'value="508"' in published
    assert "n\u00a0=\u00a05" in published
    assert 'data-formula="geometric_mean(1000, 1016, 1032)"' in here
    assert "n\u00a0=\u00a03" in here
    assert " to " in here
    assert 'data-formula="1015.916004 / 508"' in ratio
    assert ">2.00" in ratio
    assert "PostgreSQL 15.2 here, PostgreSQL 8.3 there; windows of 10 s here" in differs


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"factors": {"duration_s": 10}}, "Window: 10 s here against 120 s there"),
        ({"factors": {"duration_s": 60}, "checks": [{"name": "machine_alone", "ok": False, "detail": "34 % of CPU"}]},
         "Checks: repeat 1: 34 % of CPU"),
        ({"factors": {"duration_s": 60}, "durability": "none"}, "Durability: not durable against survives power loss"),
    ],
)  # fmt: skip
def test_what_no_comparison_would_set_against_each_other_has_no_ratio(article, fields, why):
    Run.objects.filter(publication=article).update(durability="power_loss")
    for workload in {run.workload for run in Run.objects.filter(publication=article)}:
        workload.change(details={"duration_minutes": 2})
    claim(article, "tpcb-a", side_a={"dbms": "pg-8.3"}, percent=26)
    ours: dict[str, Any] = {"metric": "tps", "ours": {"dbms": "postgresql"}}
    absolute = Match("PostgreSQL", **ours, theirs={"version": "pg-8.3"}, their_metric="tps")
    relation = Match("PostgreSQL", **ours, base={"dbms": "postgresql"}, claim="tpcb-a")
    found = experiment(article, absolute, relation)
    add(found, "PostgreSQL 15.2", 1000, 1010, **({"durability": "power_loss"} | fields))
    for _, published, here, ratio, _ in rows(found, article):
        assert "data-gap" not in published + here
        assert f"no ratio: {why}" in ratio
        assert "data-formula" not in ratio


def test_what_may_be_compared_keeps_its_ratio(article):
    test = {"factors": {"duration_s": 60}, "checks": [{"name": "machine_alone", "ok": True, "detail": ""}]}
    found = experiment(
        article, Match("PostgreSQL", "tps", {"dbms": "postgresql"}, theirs={"version": "pg-8.3"}, their_metric="tps")
    )
    add(found, "PostgreSQL 15.2", 1016, durability="power_loss", **test)
    ((*_, ratio, _),) = rows(found, article)
    assert ">2.00" in ratio


def test_a_relation_is_of_the_cells_of_one_experiment(article):
    match = Match("MySQL against PostgreSQL", "tps", {"dbms": "mysql"}, {"dbms": "postgresql"},
                  theirs={"version": "mysql-5.0"}, their_base={"version": "pg-8.3"}, their_metric="tps")  # fmt: skip
    found = experiment(article, match)
    add(found, "PostgreSQL 15.2", 1000, durability="power_loss")
    add(found, "MySQL 5.5", 500, durability="power_loss")
    make_run("MySQL 5.5", 9999)  # of nobody's re-run
    ((_, published, here, ratio, _),) = rows(found, article)
    assert ">0.22" in published
    assert ">0.50" in here
    assert "n\u00a0=\u00a01 and 1" in here
    assert ">2.23" in ratio


def test_it_refuses_a_relation_of_commits_that_promise_different_things(article):
    match = Match("MySQL against PostgreSQL", "tps", {"dbms": "mysql"}, {"dbms": "postgresql"})
    found = experiment(article, match)
    add(found, "PostgreSQL 15.2", 1000, durability="power_loss")
    add(found, "MySQL 5.5", 500, durability="none")
    ((_, published, here, ratio, _),) = rows(found, article)
    assert "not in the article" in published
    assert "no ratio: Durability" in here
    assert ratio == "<td></td>"


def test_it_marks_what_cannot_have_waited_for_its_disk_and_sets_it_against_nothing(article):
    doubt = "9000 TPS that write, 4 terminals × 200 syncs/s of the device = 800: cannot have waited for this disk"
    pairs = {"dbms": "mysql"}, {"dbms": "postgresql"}
    found = experiment(article, Match("MySQL", "tps", pairs[0]), Match("MySQL against PostgreSQL", "tps", *pairs))
    add(found, "PostgreSQL 15.2", 1000, durability="power_loss")
    add(found, "MySQL 5.5", 9000, durability="power_loss", durability_doubt=doubt)
    alone, relation = rows(found, article)
    assert doubt in alone[4]
    assert "no ratio: Durability: survives power loss, contradicted" in relation[2]


def test_a_percentage_that_says_neither_time_nor_speed_is_read_both_ways(article):
    claim(article, "gbak-a", metric="backup time/speed", percent=26)
    found = experiment(article, LOCAL)
    for method, values in BACKUPS.items():
        add(found, "Firebird 3.0", *values, number="backup_s", factors={"method": method})
    ((_, published, here, ratio, _),) = rows(found, article)
    assert "26" in published
    assert ">1.25" in here  # 100 s / 80 s: less time is more speed
    assert ">0.99" in ratio  # of 1.26
    assert "if it means speed" in ratio
    assert ">0.92" in ratio  # of 1 / 0.74
    assert "if it means time" in ratio


def test_a_range_is_answered_by_inside_or_outside(article):
    claim(article, "gbak-d", metric="backup time/speed", details={"percent_range": [20, 40]})
    found = experiment(article, Match("s", "backup_s", LOCAL.ours, LOCAL.base, claim="gbak-d"))
    for method, values in BACKUPS.items():
        add(found, "Firebird 3.0", *values, number="backup_s", factors={"method": method})
    assert "within" in rows(found, article)[0][3]


def test_seconds_more_of_an_observation_are_a_relation(article):
    about = "on a backup of 6 minutes"
    state(article, "observations", metric="extra time", unit="s", qualifier=about, value_min=3, value_max=4)
    match = Match("-v against none", "backup_s", {"verbose": "on"}, {"verbose": "off"}, extra="extra time",
                  extra_on_s=360, percent=True)  # fmt: skip
    found = experiment(article, match)
    add(found, "Firebird 3.0", 10.0, number="backup_s", factors={"verbose": "off"})
    add(found, "Firebird 3.0", 10.1, number="backup_s", factors={"verbose": "on"})
    ((_, published, here, ratio, _),) = rows(found, article)
    assert "on a backup of 6 minutes" in published
    assert "360 / (360 + 4)" in published
    assert "−1.0" in here
    assert "within" in ratio


def test_a_relation_of_two_sizes_tells_what_the_databases_took(article):
    match = Match("small against large", "tps", {"warehouses": 28}, {"warehouses": 125})
    found = experiment(article, match)
    for warehouses, size in ((28, 300_000_000), (125, 1_320_000_000)):
        run = make_run("Firebird 3.0", 100 / warehouses, experiment=found, factors={"warehouses": warehouses})
        add_number(run, size, name="db_size_bytes", phase="load", unit="bytes")
    assert "database of 300 MB against 1,320 MB here" in rows(found, article)[0][4]


def test_what_was_not_measured_is_a_gap_with_its_reason(article):
    claim(article, "other", ratio=4.0)
    found = experiment(
        article,
        Match("gone", claim="other", gap="no server of it could be had here"),
        Match("failed", "tps", {"dbms": "mysql"}, theirs={"version": "mysql-5.0"}, their_metric="tps"),
        Match("absent", "tps", {"dbms": "sqlite"}),
    )
    add(found, "MySQL 5.5", 7, state="failed", message="The disk is full")
    here = [row[2] for row in rows(found, article)]
    assert "no server of it could be had here" in here[0]
    assert "The disk is full" in here[1]
    assert "not a cell of this experiment" in here[2]


def test_another_unit_is_not_compared(article):
    match = Match("s", "ops", {"dbms": "mysql"}, theirs={"version": "mysql-5.0"}, their_metric="tps")
    found = experiment(article, match)
    run = make_run("MySQL 5.5", None, experiment=found)
    add_number(run, 7, name="ops", unit="operations/s")
    assert "not comparable" in rows(found, article)[0][3]


def test_a_damaged_match_is_left_out_and_what_is_not_known_of_one_is_passed_by(article):
    found = experiment(article)
    found.plan["published"] = [
        "x",
        {"metric": "tps"},
        {"label": "a", "unknown": 1},
        {"label": "b", "ours": {"cpus": 2}},
    ]
    found.save()
    matches = matches_of(Experiment.objects.get(pk=found.pk))
    assert [(match.label, match.ours) for match in matches] == [("a", {}), ("b", {"cpus": 2})]


def test_the_chart_of_an_article_pools_no_two_experiments(article):
    older = Experiment.objects.create(slug="older", name="Again", plan={"publication": article.slug})
    add(older, "PostgreSQL 15.2", 1, 2)
    other = Experiment.objects.create(slug="other", name="Another part", plan={"publication": article.slug})
    add(other, "PostgreSQL 15.2", 10)
    add(other, "MySQL 5.5", 50)
    latest = experiment(article)
    add(latest, "PostgreSQL 15.2", 1000, 1016, 1032)
    found = reruns.repeating(article.slug, AnonymousUser())
    slot = reruns.slot(article.slug, own()[article.slug].page.rerun, found, {})
    drawn = {group["label"]: group["median"] for group in slot.figures[0].spec["groups"]}
    assert drawn == {"PostgreSQL 15.2": 1016, "MySQL 5.5": 50}


def test_its_chart_draws_what_was_in_memory_apart(article):
    found = experiment(article)
    add(found, "PostgreSQL 15.2", 1000, durability="power_loss")
    add(found, "HSQLDB 2.7", 9000, durability="memory")
    slot = reruns.slot(article.slug, own()[article.slug].page.rerun, [found], {})
    drawn = {figure.id: [group["label"] for group in figure.spec["groups"]] for figure in slot.figures}
    name = f"rerun-{article.slug}"
    assert drawn == {name: ["PostgreSQL 15.2"], f"{name}-apart": ["HSQLDB 2.7, in memory"]}


def test_both_pages_show_it(article, client):
    match = Match("PostgreSQL of the article", "tps", {"dbms": "postgresql"}, theirs={"version": "pg-8.3"},
                  their_metric="tps")  # fmt: skip
    found = experiment(article, match)
    add(found, "PostgreSQL 15.2", 1016)
    for address in (found.get_absolute_url(), article.get_absolute_url()):
        page = client.get(address).content.decode()
        assert "PostgreSQL of the article" in page
        assert "1016 / 508" in page


def test_gaps_of_the_plan_stand_among_the_results_and_beside_the_claims(article, client):
    claim(article, "tpcb-a", summary="DB2 more than 4 times", side_a={"dbms": "db2-9.7"})
    found = experiment(article)
    add(found, "PostgreSQL 15.2", 1016)
    found.plan["gaps"] = [["DB2 9.7", "no server of it", "db2-9.7"], ["MySQL 5.5", "not installed"]]
    found.save()
    page = client.get(found.get_absolute_url()).content.decode()
    matrix, _, beside = page.partition('id="published"')
    assert matrix.index("1,016") < matrix.index("no server of it") < matrix.index("not installed")
    assert "no claim of it alone" in beside
    for told in (beside, client.get(article.get_absolute_url()).content.decode()):
        row = told.partition(">Again</a></h3>")[2].partition(">DB2 9.7</th>")[2].partition("</tr>")[0]
        assert "DB2 more than 4 times" in row and "no server of it" in row


def test_what_has_no_number_on_either_side_has_a_line_for_each_reason(article):
    gone = [Match(f"query {number}", "tps", {"dbms": "oracle"}) for number in range(3)]
    found = experiment(article, *gone, Match("PostgreSQL", "tps", {"dbms": "postgresql"}))
    add(found, "PostgreSQL 15.2", 1016)
    found.plan["gaps"] = [["Yaffil 892", "no server"], ["InterBase 7", "no server"]]
    labels = [row[0] for row in rows(found, article)]
    assert [label.partition(">")[2].partition("<")[0] for label in labels] == [
        "PostgreSQL", "query 0, query 1, query 2", "Yaffil 892, InterBase 7",
    ]  # fmt: skip


def test_an_experiment_without_matches_says_so(article, client):
    found = experiment(article)
    add(found, "PostgreSQL 15.2", 1016)
    assert "No cell of this experiment is matched" in client.get(found.get_absolute_url()).content.decode()
