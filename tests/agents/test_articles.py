from __future__ import annotations

import pytest
from benchagent.catalog import WORKLOADS
from django.urls import reverse

from agents import rerun, schedule
from agents.articles import EXPERIMENTS
from agents.models import Agent, Job
from agents.rerun import Wanted
from runs.literature.articles import ARTICLES
from runs.models import Experiment, Run

pytestmark = pytest.mark.django_db
PARTS = [(slug, part) for slug, one in EXPERIMENTS.items() for part in one.parts]


def engine(dbms: str, version: str, *, available: bool = True) -> dict[str, object]:
    return {"dbms": dbms, "version": version, "available": available, "reason": "" if available else "no", "path": ""}


@pytest.fixture
def equipped(machine) -> Agent:
    """An agent with every engine that a part wants, and a second storage."""
    agent = machine().agent
    wanted = {one for _, part in PARTS for one in part.engines}
    agent.engines = [engine(one.dbms, f"{one.version or '9'}.1") for one in wanted]
    place = {"name": "slow", "device": "loop7", "disks": ["vda"], "medium": "virtual", "model": None, "bus": None}
    agent.places = [{**place, "emulated": "emulated: 60 MB/s", "capacity_bytes": 1, "free_bytes": 1, "problem": ""}]
    agent.save()
    return agent


@pytest.mark.parametrize(("slug", "part"), PARTS, ids=[f"{slug}-{part.slug}" for slug, part in PARTS])
def test_every_part_is_a_plan_that_can_be_started(slug, part, equipped):
    prepared = rerun.prepare(EXPERIMENTS[slug], part, equipped)
    assert prepared.plan is not None
    schedule.check(prepared.plan)
    assert prepared.gaps == part.gaps
    assert rerun.prepare(EXPERIMENTS[slug], part, equipped, quick=True).plan.repeats == 1
    window = {factor.name: part.factors.get(factor.name, factor.default) for factor in WORKLOADS[part.workload].factors}
    if "warm_up_s" in window:
        assert window["warm_up_s"] >= 10
        assert window["duration_s"] >= 10


@pytest.mark.parametrize(("slug", "part"), PARTS, ids=[f"{slug}-{part.slug}" for slug, part in PARTS])
def test_it_names_a_figure_of_its_article(slug, part):
    assert slug in ARTICLES
    if part.figure:
        ARTICLES[slug].figure(part.figure)


def test_an_engine_that_the_machine_lacks_becomes_a_gap_with_the_reason(equipped):
    equipped.engines = [engine("postgresql", "15.18"), engine("mysql", "5.5.34", available=False)]
    experiment = EXPERIMENTS["tpcb-2010"]
    prepared = rerun.prepare(experiment, experiment.part("engines"), equipped)
    assert [one.label for one in prepared.plan.engines] == ["PostgreSQL 15.18"]
    reasons = {gap.label: gap.reason for gap in prepared.gaps}
    assert "has none that can be used" in reasons["MySQL 5.5"]
    assert "no server of it" in reasons["DB2 9.7"]


@pytest.mark.parametrize(("wanted", "version"), [("", "15.18"), ("15", "15.18"), ("9", "9.6.24"), ("9.6.24", "9.6.24")])
def test_it_takes_the_newest_version_that_fits(wanted, version, equipped):
    equipped.engines = [engine("postgresql", one) for one in ("9.2.2", "15.18", "9.6.24")]
    assert Wanted("postgresql", wanted).on(equipped).version == version
    assert Wanted("postgresql", "1").on(equipped) is None


def test_the_page_shows_parts_and_gaps_and_starts_what_is_ticked(equipped, client, operator):
    address = reverse("article-experiment", args=["tpcb-2010"])
    page = client.get(address).content.decode()
    assert "eight engines" in page
    assert "DB2 9.7" in page
    client.force_login(operator)
    answer = client.post(address, {"part": ["group-commit"], "quick": "1"})
    experiment = Experiment.objects.get()
    assert answer.url == reverse("experiment", args=[experiment.slug])
    assert experiment.plan["sweep"] == {"group_commit": ["off", "2", "3"]}
    assert (experiment.plan["publication"], experiment.plan["figure"]) == ("tpcb-2010", "tpcb-commit-groups")
    runs = Run.objects.filter(experiment=experiment)
    groups = [job.spec["factors"]["group_commit"] for job in Job.objects.order_by("run__order_index")]
    assert groups == ["off", "2", "3"]
    assert runs.count() == 3


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
    assert targets == {"gbak_tcp": "slow", "gbak_local": "slow", "gbak_services": "slow", "gbak_services_same": None}


def test_my_cnf_as_printed_and_tuned_have_names_that_tell_them_apart(equipped):
    experiment = EXPERIMENTS["cubrid-mysql-ssd-2011"]
    names = set()
    for slug in ("select-printed", "select-tuned"):
        started = rerun.start(rerun.prepare(experiment, experiment.part(slug), equipped, quick=True), user=None)
        names |= {run.config.name for run in started.runs.all()}
    assert names == {"MySQL, printed my.cnf", "MySQL, tuned my.cnf", "PostgreSQL, tuned"}


def test_an_unknown_article_is_not_found(client):
    assert client.get(reverse("article-experiment", args=["no-such"])).status_code == 404
