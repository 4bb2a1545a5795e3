from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from benchagent.catalog import WORKLOADS
from django.urls import reverse
from django.utils.html import escape

from agents.models import Agent, Job
from agents.plans.plan import check, plan_words
from agents.refusals import FieldErrors
from agents.reruns import firebird, rerun
from agents.reruns.parts import Wanted
from agents.reruns.rerun import EXPERIMENTS
from runs.models import Experiment, Run
from runs.publications.folder import own
from runs.results.brought_plan import read_plan

pytestmark = pytest.mark.django_db
PARTS = [(slug, part) for slug, one in EXPERIMENTS.items() for part in one.parts]


def engine(dbms: str, version: str, *, available: bool = True) -> dict[str, object]:
    return {"dbms": dbms, "version": version, "available": available, "reason": "" if available else "no", "path": ""}


@pytest.fixture
def equipped(machine) -> Agent:
    """An agent with every engine that a part wants, and the two slow storages."""
    agent = machine().agent
    wanted = {one for _, part in PARTS for one in part.engines}
    agent.engines = [engine(one.dbms, f"{one.version or '9'}.1") for one in wanted]
    facts = {"disks": ["vda"], "medium": "virtual", "model": None, "bus": None, "capacity_bytes": 1, "free_bytes": 1}
    agent.places = [
        {**facts, "name": "default", "device": "vda1", "emulated": "", "problem": ""},
        {**facts, "name": "second", "device": "loop6", "emulated": "emulated: 500 MB/s", "problem": ""},
        {**facts, "name": "slow", "device": "loop7", "emulated": "emulated: 60 MB/s", "problem": ""},
    ]
    agent.save()
    return agent


@pytest.mark.parametrize(("slug", "part"), PARTS, ids=[f"{slug}-{part.slug}" for slug, part in PARTS])
def test_every_part_is_a_plan_that_can_be_started(slug, part, equipped):
    prepared = rerun.prepare(EXPERIMENTS[slug], part, equipped)
    check(prepared.plan)
    beside = {"gaps": list(map(list, prepared.gaps)), "published": [m.as_json() for m in prepared.published]}
    assert read_plan(sent := json.loads(json.dumps(prepared.plan.as_json() | beside))) == sent, "as a bundle brings it"
    assert prepared.gaps == part.gaps
    assert rerun.prepare(EXPERIMENTS[slug], part, equipped, quick=True).plan.repeats == 1
    factors = {factor.name for factor in WORKLOADS[part.workload].factors}
    if part.workload == "backup":  # runs to its end: there is no warm-up
        assert not {"warm_up_s", "duration_s"} & factors
    else:
        assert (part.factors["warm_up_s"], part.factors["duration_s"]) == (10, 10)


GBAK, SIZES, BOTH = {"dataset_mb": [1_000]}, [8, 10, 12, 14, 16, 19, 23, 28, 125], ["", "slow"]
METHODS = ["gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same"]
CELLS = {
    "methods-super": (3, 6, {**GBAK, "method": METHODS, "verbose": ["off", "on"], "cpus": [2, 1]}),
    "methods-superclassic": (3, 4, {**GBAK, "method": METHODS, "verbose": [""], "cpus": [2]}),
    "engines": (5, 9, {"scale_factor": [10]}),
    "group-commit": (3, 4, {"group_commit": ["off", "2", "3"], "background_maintenance": ["on", "off"]}),
    "memory": (3, 2, {"scale_factor": [10]}),
    "sizes": (1, 18, {"warehouses": SIZES, "data_storage": BOTH, "memory_limit_mb": [160]}),
    "superclassic": (1, 2, {"warehouses": [8, 23], "memory_limit_mb": [160]}),
    "insert-printed": (2, 4, {"preloaded": ["full", "empty"], "data_storage": BOTH}),
    "select-printed": (2, 4, {"load": ["select_narrow", "select_wide"], "data_storage": BOTH}),
    "insert-tuned": (2, 8, {"preloaded": ["full", "empty"], "data_storage": BOTH}),
    "select-tuned": (2, 8, {"load": ["select_narrow", "select_wide"], "data_storage": BOTH}),
}
ENGINES = ["derby", "derby", "derby", "firebird", "hsqldb", "mariadb", "mysql", "postgresql", "sqlite"]


def test_its_cells_repeats_and_sizes_are_those_that_the_pages_and_documents_tell(equipped):
    found = {}
    for slug, part in PARTS:
        plan = rerun.prepare(EXPERIMENTS[slug], part, equipped).plan
        cells = plan.cells()
        told = CELLS[part.slug][2]
        values = {name: list(dict.fromkeys(cell.factors.get(name, "") for cell in cells)) for name in told}
        found[part.slug] = (plan.repeats, len(cells), values)
    assert found == CELLS
    engines = EXPERIMENTS["tpcb-2010"].part("engines").engines
    assert sorted(one.dbms for one in engines) == ENGINES


def test_the_largest_database_has_eight_times_the_memory_limit_safely():
    warehouse_mb = 10.6
    assert firebird.SMALLEST * warehouse_mb < 0.55 * firebird.LIMIT_MB
    assert firebird.MIDDLE * warehouse_mb > 1.85 * firebird.LIMIT_MB
    assert firebird.LARGEST * warehouse_mb > 8.2 * firebird.LIMIT_MB


def test_the_six_queries_are_put_to_the_largest_database(equipped):
    experiment = EXPERIMENTS["firebird-terabyte-2015"]
    plan = rerun.prepare(experiment, experiment.part("sizes"), equipped).plan
    asked = {cell.factors["warehouses"]: cell.factors.get("queries") for cell in plan.cells()}
    assert [warehouses for warehouses, queries in asked.items() if queries == "yes"] == [firebird.LARGEST]


@pytest.mark.parametrize(("slug", "part"), PARTS, ids=[f"{slug}-{part.slug}" for slug, part in PARTS])
def test_it_names_a_figure_of_its_article(slug, part):
    assert slug in own()
    if part.figure:
        assert own()[slug].article.figure(part.figure)


def test_an_engine_that_the_machine_lacks_becomes_a_gap_with_the_reason(equipped):
    equipped.engines = [engine("postgresql", "15.18"), engine("mysql", "5.5.34", available=False)]
    experiment = EXPERIMENTS["tpcb-2010"]
    prepared = rerun.prepare(experiment, experiment.part("engines"), equipped)
    assert [one.label for one in prepared.plan.engines] == ["PostgreSQL 15.18"]
    reasons = {gap.label: gap.reason for gap in prepared.gaps}
    assert "has none that can be used" in reasons["MySQL 5.5"]
    assert "no server of it could be had" in reasons["DB2 9.7"]


def test_a_newer_derby_is_run_beside_those_of_the_article(equipped):
    """Seen: Derby, second in the article, as two gaps on a machine that has 10.16."""
    equipped.engines = [engine("postgresql", "15.18"), engine("derby", "10.16.1.1")]
    experiment = EXPERIMENTS["tpcb-2010"]

    prepared = rerun.prepare(experiment, experiment.part("engines"), equipped)

    assert [one.label for one in prepared.plan.engines] == ["PostgreSQL 15.18", "Apache Derby 10.16.1.1"]
    newer = next(one for one in prepared.published if one.label == "TPS of Derby 10.16")
    assert newer.theirs["version"] == "derby-10.6" and not newer.gap


def test_a_longer_window_is_measured_where_the_form_says_so(equipped, client, operator):
    """Seen: windows of 10 s alone, against the article's of 120 s, between which there never is a ratio."""
    client.force_login(operator)
    page = "/schedule/article/tpcb-2010/"
    assert 'name="window_s" value="120"' in client.get(page, {"window_s": "120"}).content.decode()

    client.post(page, {"part": "group-commit", "window_s": "120"})

    (experiment,) = Experiment.objects.filter(plan__publication="tpcb-2010")
    assert experiment.plan["factors"]["duration_s"] == 120
    assert client.get(page, {"window_s": "long"}).status_code == 200


def test_what_an_engine_would_have_answered_is_a_gap_with_the_same_reason(equipped):
    equipped.engines = [engine("postgresql", "15.18"), engine("derby", "10.6.2.1")]
    experiment = EXPERIMENTS["tpcb-2010"]
    found = {one.label: one for one in rerun.prepare(experiment, experiment.part("engines"), equipped).published}
    for label in ("TPS of MySQL", "MySQL against PostgreSQL", "TPS of Derby 10.3"):
        assert found[label].gap and found[label].theirs and not found[label].ours
    assert not found["TPS of Derby 10.6"].gap


def test_a_part_without_any_engine_tells_its_gaps_beside_the_claims(equipped, client, publish):
    publish()
    equipped.engines = []
    experiment = EXPERIMENTS["cubrid-mysql-ssd-2011"]
    prepared = rerun.prepare(experiment, experiment.part("select-printed"), equipped)
    reasons = {gap.label: escape(gap.reason) for gap in prepared.gaps}
    started = rerun.start(prepared, user=None)
    assert not started.runs.exists()
    grid = client.get(started.get_absolute_url()).content.decode()
    rows = grid.partition('id="gaps"')[2].partition("</tbody>")[0]
    assert reasons["MySQL 5.5"] in rows.partition("MySQL 5.5")[2].partition("</tr>")[0]
    article = client.get(reverse("publication", args=["cubrid-mysql-ssd-2011"])).content.decode()
    for page in (grid, article):
        told = page.partition(f">{started.name}</a></h3>")[2]
        row = told.partition(">CUBRID 2008 R3.0</th>")[2].partition("</tr>")[0]
        assert "about 4.2 times" in row and reasons["CUBRID 2008 R3.0"] in row
        row = told.partition("SELECT, I/O-bound: agent&#x27;s own storage against slow")[2].partition("</tr>")[0]
        assert reasons["MySQL 5.5"] in row


@pytest.mark.parametrize(("wanted", "version"), [("", "15.18"), ("15", "15.18"), ("9", "9.6.24"), ("9.6.24", "9.6.24")])
def test_it_takes_the_newest_version_that_fits(wanted, version, equipped):
    equipped.engines = [engine("postgresql", one) for one in ("9.2.2", "15.18", "9.6.24")]
    assert Wanted("postgresql", wanted).on(equipped).version == version
    assert Wanted("postgresql", "1").on(equipped) is None


def test_the_page_shows_parts_and_gaps_and_starts_what_is_ticked(equipped, client, operator):
    address = reverse("article-experiment", args=["tpcb-2010"])
    page = client.get(address).content.decode()
    assert "engines of then and now" in page
    assert "DB2 9.7" in page
    client.force_login(operator)
    answer = client.post(address, {"part": ["group-commit"], "quick": "1"})
    experiment = Experiment.objects.get()
    assert answer.url == reverse("experiment", args=[experiment.slug])
    assert experiment.plan["sweep"] == {"group_commit": ["off", "2", "3"]}
    assert (experiment.plan["publication"], experiment.plan["figure"]) == ("tpcb-2010", "tpcb-commit-groups")
    runs = Run.objects.filter(experiment=experiment)
    groups = [job.spec["factors"]["group_commit"] for job in Job.objects.order_by("run__order_index")]
    assert groups == ["off", "2", "3", "off"]
    assert runs.count() == 4


def test_the_page_tells_values_with_units_and_what_other_cells_do(equipped, client):
    def told(slug: str, part: str) -> dict[str, str]:
        page = client.get(reverse("article-experiment", args=[slug])).content.decode()
        section = page.partition(f'data-part="{part}"')[2].partition("</section>")[0]
        return {label: unescape(words) for label, words in re.findall("<dt>([^<]+)</dt><dd>([^<]*)</dd>", section)}

    gbak = told("gbak-backup-2007", "methods-super")
    assert gbak["Data set"] == "1 GB"
    same = "agent's own storage (gbak, Services API, same disk only)"
    assert gbak["Backup on storage"] == f"second (emulated); {same}"
    sizes = told("firebird-terabyte-2015", "sizes")
    assert (sizes["Memory limit"], sizes["Data on storage"]) == ("160 MB", "agent's own storage · slow (emulated)")
    assert sizes["Warehouses"].endswith("28 warehouses · 125 warehouses")
    assert sizes["The six queries"] == "with queries (125 warehouses only)"


def test_a_figure_of_the_article_leads_to_the_parts_that_fill_it(equipped, client, publish):
    publish()
    page = client.get(reverse("article-experiment", args=["tpcb-2010"]), {"figure": "tpcb-commit-groups"})
    ticked = re.findall(r'name="part" value="([^"]+)" checked', page.content.decode())
    assert ticked == ["group-commit"]
    answer = client.get(reverse("article-experiment", args=["tpcb-2010"]), {"figure": "tpcb-over-time"})
    assert answer.url.startswith(f"{reverse('schedule')}?workload=tpcb&publication=tpcb-2010&figure=tpcb-over-time")
    assert client.get(reverse("article-experiment", args=["tpcb-2010"]), {"figure": "none"}).status_code == 404


def test_the_second_storage_is_swept_where_there_is_one(equipped):
    experiment = EXPERIMENTS["firebird-terabyte-2015"]
    part = experiment.part("sizes")
    assert rerun.prepare(experiment, part, equipped).plan.sweep["data_storage"] == ("", "slow")
    equipped.places = []
    assert "data_storage" not in rerun.prepare(experiment, part, equipped).plan.sweep


def test_gbak_writes_to_the_second_storage_but_for_the_method_that_is_about_one_disk(equipped):
    experiment = EXPERIMENTS["gbak-backup-2007"]
    plan = rerun.prepare(experiment, experiment.part("methods-super"), equipped).plan
    targets = {cell.factors["method"]: cell.factors.get("backup_storage") for cell in plan.cells()}
    there = dict.fromkeys(("gbak_tcp", "gbak_local", "gbak_services"), "second")
    assert targets == {**there, "gbak_services_same": None}
    equipped.places.pop(1)
    plan = rerun.prepare(experiment, experiment.part("methods-super"), equipped).plan
    assert {cell.factors.get("backup_storage") for cell in plan.cells()} == {"slow", None}
    equipped.places = []
    plan = rerun.prepare(experiment, experiment.part("methods-super"), equipped).plan
    assert not {name for cell in plan.cells() for name in cell.factors if name.endswith("_storage")}


def test_my_cnf_as_printed_and_tuned_have_names_that_tell_them_apart(equipped):
    experiment = EXPERIMENTS["cubrid-mysql-ssd-2011"]
    names = set()
    for slug in ("select-printed", "select-tuned"):
        started = rerun.start(rerun.prepare(experiment, experiment.part(slug), equipped, quick=True), user=None)
        names |= {run.config.name for run in started.runs.all()}
    assert names == {"MySQL, printed my.cnf", "MySQL, tuned my.cnf", "PostgreSQL, tuned"}


def test_an_unknown_article_is_not_found(client):
    assert client.get(reverse("article-experiment", args=["no-such"])).status_code == 404


def test_switches_are_cells_beside_the_methods_and_told_as_such(equipped):
    experiment = EXPERIMENTS["gbak-backup-2007"]
    plan = rerun.prepare(experiment, experiment.part("methods-super"), equipped).plan
    cells = [tuple(cell.factors[name] for name in ("method", "verbose", "cpus")) for cell in plan.cells()]
    plain = [(method, "off", 2) for method in METHODS]
    assert cells == [*plain, ("gbak_tcp", "on", 2), ("gbak_tcp", "off", 1)]
    assert plan.run_count == len(cells) * plan.repeats
    told = dict(plan_words(plan))
    assert (told["Verbose"], told["CPUs"]) == (
        "-v off; -v on (gbak over TCP only)",
        "2 CPUs; 1 CPU (gbak over TCP only)",
    )
    assert plan.as_json()["extra"] == [{"method": "gbak_tcp", "verbose": "on"}, {"method": "gbak_tcp", "cpus": 1}]
    wrong = replace(plan, extra=({"method": "gbak_tcp", "verbose": "loud"}, {"method": "gbak_tcp", "colour": "red"}))
    with pytest.raises(FieldErrors) as caught:
        check(wrong)
    assert list(caught.value.errors) == ["factors.colour", "factors.verbose"]
