"""Own runs beside what is printed: the same version on the same disk first, and what is lost is called lost."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.models import DbmsVersion, Publication, Run
from tests.runs.answers.test_answers import World, ask, page

pytestmark = pytest.mark.django_db
OWN = {"name": "Author box", "cpu_model": "Example", "ram_bytes": 64 * 2**30}


def measured_again(workload: str, metric: str, unit: str, cells: dict[tuple[str, str], tuple[float, dict[str, Any]]]):
    """Own cells of a published workload: (system, version) -> (value, factors)."""
    world = World(noise=0.005)
    for (name, version), (value, factors) in cells.items():
        world.add(
            value, metric=metric, unit=unit, workload=workload, dbms={"name": name, "version": version}, hardware=OWN,
            factors=factors, measured_on="2026-11-28",
        )  # fmt: skip
    return world.store()


def test_a_version_stands_beside_the_printed_one_of_its_number(published):
    """Seen: Derby 10.6 as 0.974 of what is printed of 10.3, where 10.6 is printed and 1.30 was true."""
    tpcb = {"scale_factor": 10, "size_mb": 100, "threads": 4}
    cells = {("Apache Derby", "10.3"): (1550, tpcb), ("Apache Derby", "10.6"): (1137, tpcb)}
    measured_again("wl-tpcb", "tps", "TPS", cells)

    claims = ask("workload=wl-tpcb", "ask=published")["claims"]

    pairs = {claim["label"].partition(" · ")[0]: claim["beside"].partition(" · ")[0] for claim in claims}
    assert pairs == {"Apache Derby 10.3": "Apache Derby 10.3", "Apache Derby 10.6": "Apache Derby 10.6"}
    assert [round(claim["ratio"]["value"], 1) for claim in claims] == [1.3, 1.3]


def test_a_disk_stands_beside_its_own_kind_and_what_is_lost_is_called_lost(published):
    """Seen: first of all an SSD as 10.4 × of the printed SATA disks; the printed values of the SSD are lost."""
    printed = Client().get("/api/v1/runs/?publication=firebird-terabyte-2015&workload=wl-firebird-oltp&page_size=100")
    of_sata = next(run["factors"] for run in printed.json()["results"] if run["factors"]["size_gb"] == 9.04)
    for disk, value in (("SSD", 5145), ("SATA RAID1", 643)):
        cell = {("Firebird", "2.5.2 SuperServer"): (value, of_sata | {"disk": disk})}
        measured_again("wl-firebird-oltp", "performance", "business operations/s", cell)

    told = ask("workload=wl-firebird-oltp", "ask=published")

    first, lost = told["claims"]
    assert "SATA" in first["label"] and "SATA" in first["beside"] and first["printed"] == 494.73
    assert "SSD" in lost["label"] and "SSD" in lost["beside"] and lost["ratio"]["value"] is None
    assert "picture that is lost" in lost["ratio"]["why"] and lost["ratio"]["why"] in told["words"]


def test_where_all_that_was_asked_the_same_is_lost_that_is_said(published):
    """Seen: "Nothing here was asked the same as something published", of what was."""
    cells = {("CUBRID", "R3.0"): (800, {"disk": "HDD", "threads": 40})}
    measured_again("wl-cubrid-insert", "tps", "TPS", cells)

    told = ask("workload=wl-cubrid-insert", "ask=published")

    assert "asked the same" not in told["words"] and "picture that is lost" in told["words"], told["words"]


def test_a_system_is_named_by_the_address_that_the_api_gives(published):
    tpcb = "publication=tpcb-2010"
    slugs = {run["dbms"]["slug"] for run in Client().get(f"/api/v1/runs/?{tpcb}").json()["results"]}
    derby, postgresql = (next(slug for slug in slugs if name in slug) for name in ("derby-10-3", "postgresql"))

    told = ask(tpcb, f"ask=a_b&fact=dbms&a={derby}&b={postgresql}")

    assert told["claims"] and "Apache Derby 10.3" in told["words"] and "PostgreSQL 8.3" in told["words"], told["words"]


def two_disks_of_cubrid() -> str:
    """On one machine CUBRID inserts 3.0 times as much on the SSD, of which its article claims 5 times."""
    world = World(noise=0.005)
    for disk, tps in (("HDD", 800), ("SSD", 2400)):
        world.add(
            tps, workload="wl-cubrid-insert", dbms={"name": "CUBRID", "version": "2008 R3.0"}, hardware=OWN,
            factors={"disk": disk, "threads": 40}, measured_on="2026-11-28",
        )  # fmt: skip
    world.store()
    return "workload=wl-cubrid-insert"


def test_what_an_article_claims_is_set_against_the_ratio_of_own_runs(published):
    """Seen: no way to ask whether a claim still holds of uploaded runs."""
    told = ask(two_disks_of_cubrid(), "ask=published")

    (claim,) = [each for each in told["claims"] if each["kind"] == "claimed"]
    assert claim["claimed"] == 5 and claim["claim"]
    assert claim["ratio"]["low"] < 3 < claim["ratio"]["high"] < 3.2
    assert "SSD" in claim["label"] and "HDD" in claim["beside"]
    assert "5\u202f× is claimed" in told["words"]


def test_what_a_sentence_has_no_room_for_stands_in_a_table(published):
    """Seen: "12 more in the table", of which the page had none."""
    tpcb = {"scale_factor": 10, "size_mb": 100, "threads": 4}
    systems = {("Apache Derby", "10.3"): 1550, ("Apache Derby", "10.6"): 1137, ("PostgreSQL", "8.3"): 660,
               ("MySQL", "5.0"): 148, ("Oracle", "10R2"): 772}  # fmt: skip
    measured_again("wl-tpcb", "tps", "TPS", {system: (tps, tpcb) for system, tps in systems.items()})

    html = page("workload=wl-tpcb", "ask=published")

    assert "2 more in the table" in html
    table = html.partition("Measured here against what is printed")[2].partition("</table>")[0]
    assert table.partition("<tbody>")[2].count("<tr>") == len(systems) and "Oracle 10R2" in table


def test_ratios_to_single_values_are_not_sure(published):
    """Seen: `sure`, where each verdict was "too few repeats"."""
    printed = Client().get("/api/v1/runs/?publication=firebird-terabyte-2015&workload=wl-firebird-oltp&page_size=100")
    of_sata = next(run["factors"] for run in printed.json()["results"] if run["factors"]["size_gb"] == 9.04)
    cell = {("Firebird", "2.5.2 SuperServer"): (643, of_sata | {"disk": "SATA RAID1"})}
    measured_again("wl-firebird-oltp", "performance", "business operations/s", cell)

    told = ask("workload=wl-firebird-oltp", "ask=published")

    assert [claim["ratio"]["verdict"] for claim in told["claims"]] == ["too_few"] and not told["sure"]


def two_disks_as_devices(article: Publication) -> str:
    """An article of two disks and own runs of 1.3 times as much on each, of which it claims 2.5 times on the SSD."""
    for machine, factor in (("printed", 1.0), ("here", 1.3)):
        world, disks = World(noise=0.005), [("hdd", 1200), ("ssd", 3000)]
        devices = [{"name": disk, "medium": disk} for disk, _ in disks]
        for disk, tps in disks:
            storage = [{"role": "data", "device": disk}]
            world.add(factor * tps, hardware=OWN | {"name": machine, "storage": devices}, storage=storage)
        world.store()
    Run.objects.filter(hardware__name="printed").update(publication=article)
    DbmsVersion.objects.update(source_id="pg")
    sides = {side: {"dbms": "pg", "storage": disk} for side, disk in (("side_a", "ssd"), ("side_b", "hdd"))}
    article.content = {"statements": {"claims": [{"metric": "tps", "ratio": 2.5, "summary": "faster", **sides}]}}
    article.save()
    return "workload=tpcb"


def test_a_disk_that_is_a_device_stands_beside_its_own_kind_and_a_claim_may_name_it(article):
    """Seen: own runs on an SSD as 3.26 × of what is printed of the HDD; of the claim nothing was said."""
    told = ask(two_disks_as_devices(article), "ask=published")

    claimed = [claim for claim in told["claims"] if claim["kind"] == "claimed"]
    printed = [claim for claim in told["claims"] if claim["kind"] == "published"]
    disks = [[label.rpartition(" · ")[2] for label in (claim["label"], claim["beside"])] for claim in printed]
    assert disks == [["hdd", "hdd"], ["ssd", "ssd"]]
    assert [claim["ratio"]["value"] for claim in printed] == pytest.approx([1.3, 1.3], rel=0.02)
    assert [claim["ratio"]["value"] for claim in claimed] == pytest.approx([2.5], rel=0.02)
    assert "2.5\u202f× is claimed" in told["words"]
