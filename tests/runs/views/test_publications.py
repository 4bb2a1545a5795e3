"""The pages of the four articles, on the data that the importer brings."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from runs.literature.importer import import_literature
from runs.models import Claim, IndexStat, Measurement, MissingItem, Publication, Run, TableStat, delete_softly

pytestmark = pytest.mark.django_db

ARTICLES = ["cubrid-mysql-ssd-2011", "firebird-terabyte-2015", "gbak-backup-2007", "tpcb-2010"]
LOST = "the value was in a picture that is lost"


@pytest.fixture(autouse=True)
def literature(db):
    import_literature()


def page(client, slug: str) -> str:
    response = client.get(f"/publications/{slug}/")
    assert response.status_code == 200
    return response.content.decode()


def specs(html: str) -> dict[str, dict]:
    found = re.findall(r'<script id="([\w-]+)-data" type="application/json">(.*?)</script>', html, re.DOTALL)
    return {name: json.loads(text) for name, text in found}


class Tables(HTMLParser):
    """`cells[section]` are the cells of its tables: (tag, attributes, text)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: dict[str, list[tuple[str, dict, str]]] = {}
        self.section = ""
        self.open: tuple[str, dict] | None = None
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "section":
            self.section = attributes.get("id", self.section)
        if tag in ("td", "th"):
            self.open, self.text = (tag, attributes), ""

    def handle_data(self, data):
        if self.open:
            self.text += data

    def handle_endtag(self, tag):
        if self.open and tag == self.open[0]:
            self.cells.setdefault(self.section, []).append((*self.open, " ".join(self.text.split())))
            self.open = None


def gaps(html: str, section: str) -> list[str]:
    return [attributes["title"] for _, attributes, _ in Tables(html).cells.get(section, []) if "data-gap" in attributes]


def texts(html: str, section: str) -> list[str]:
    return [text for _, _, text in Tables(html).cells.get(section, [])]


def test_it_lists_the_four_articles_with_what_is_known_and_lost_of_each(client):
    html = client.get("/publications/").content.decode()

    for slug in ARTICLES:
        assert f'href="/publications/{slug}/"' in html
    assert "33 runs with values" in html and "35 runs" not in html
    assert '<span class="lost">22 lost</span>' in html


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_names_author_place_date_language_and_original_title(client, slug):
    publication = Publication.objects.get(slug=slug)

    html = page(client, slug)

    assert publication.title_original in html and publication.title_en in html
    assert publication.author in html
    assert f'<time datetime="{publication.published_on}">' in html
    assert {"cs": "Czech", "pt": "Portuguese", "ru": "Russian"}[publication.language] in html
    for line in [publication.details["goal"], *publication.details["conclusions"], *publication.details["caveats"]]:
        assert line.replace("'", "&#x27;") in html


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_lists_every_lost_figure_and_document_as_a_gap(client, slug):
    items = MissingItem.objects.filter(publication__slug=slug)

    html = page(client, slug)

    assert len(gaps(html, "missing")) == items.count()
    for item in items:
        assert item.source_id in html


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_shows_every_claim_with_its_baseline(client, slug):
    claims = Claim.objects.filter(publication__slug=slug)

    found = texts(page(client, slug), "claims")

    for claim in claims:
        assert any(cell.startswith(claim.summary) for cell in found), claim.source_id


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_shows_no_lost_value_as_zero_in_a_chart(client, slug):
    for name, spec in specs(page(client, slug)).items():
        if spec["type"] == "bars":
            assert 0 not in [group["value"] for group in spec["groups"]], name
        if spec["type"] == "lines":
            assert 0 not in [y for line in spec["series"] for _, y in line["points"]], name


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_holds_every_number_of_the_publication_s_runs(client, slug):
    html = page(client, slug)

    shown = {float(number) for number in re.findall(r'data-value="([^"]+)"', html)}
    facts = html.replace(",", "")
    for number in Measurement.objects.filter(run__publication__slug=slug):
        assert number.value in shown or f"<dd>{number.value:g}</dd>" in facts, number


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_says_in_each_chart_s_table_what_the_chart_says(client, slug):
    html = page(client, slug)

    for name, spec in specs(html).items():
        details = re.search(rf'<details id="{name}-numbers".*?</details>', html, re.DOTALL)
        assert details is not None
        table = {float(number) for number in re.findall(r'data-value="([^"]+)"', details[0])}
        if spec["type"] == "bars":
            drawn = {x for group in spec["groups"] for x in (group["value"], *group["dots"]) if x is not None}
        elif spec["type"] == "lines":
            drawn = {x for line in spec["series"] for point in line["points"] for x in point if x is not None}
        else:
            drawn = {x for part in spec["parts"] for x in part["values"]}
        assert drawn <= table, name


def test_it_draws_the_six_systems_of_the_tpcb_article(client):
    drawn = specs(page(client, "tpcb-2010"))["systems-chart"]["groups"]

    assert [group["value"] for group in drawn] == [508, 2363, 114, 594, 1192, 875]
    assert [len(group["dots"]) for group in drawn] == [5, 5, 5, 5, 5, 3]


def test_it_prints_the_repeats_table_with_its_two_empty_cells_and_medians(client):
    html = page(client, "tpcb-2010")

    # Once in the table of the chart, once in the article's own table.
    assert (
        gaps(html, "systems")
        == ["the printed cell is empty, reason not given"] * 2
        + ["not known: the printed cell is empty, reason not given"] * 2
    )
    table = texts(html, "systems")
    first = table.index("run 1")
    assert table[first + 1 : first + 7] == ["465", "2,304", "109", "612", "1,022", "855"]
    medians = table.index("median Printed")
    assert table[medians + 1 : medians + 7] == ["508", "2363", "114", "594", "1192", "875"]


def test_it_shows_the_commit_groups_and_the_one_without_a_number(client):
    drawn = specs(page(client, "tpcb-2010"))["commit-groups-chart"]["groups"]

    assert [(group["label"], group["value"]) for group in drawn] == [
        ("commit group not set", 2363), ("commit group 2", 2424), ("commit group 3", None),
    ]  # fmt: skip
    assert drawn[2]["gap"].startswith("no number printed, only:")


def test_it_follows_a_deleted_repeat_and_the_next_import(client):
    delete_softly(Run.objects.get(source_id="tpcb-pg-8.3-r3"))
    without = specs(page(client, "tpcb-2010"))["systems-chart"]["groups"][0]
    import_literature()
    again = specs(page(client, "tpcb-2010"))["systems-chart"]["groups"][0]

    assert (without["value"], len(without["dots"])) == (488.5, 4)
    assert (again["value"], len(again["dots"])) == (508, 5)


def test_it_links_the_systems_to_the_compare_page(client):
    html = page(client, "tpcb-2010")
    section = html.partition('id="systems"')[2]
    link = re.search(r'href="(/compare/\?cell=[^"]+)"', section)
    assert link is not None

    groups = client.get(link[1].replace("&amp;", "&") + "&format=json").json()["groups"]

    assert [group["median"] for group in groups] == [508, 2363, 114, 594, 1192, 875]
    assert [group["n"] for group in groups] == [5, 5, 5, 5, 5, 3]
    assert [len(group["gaps"]) for group in groups] == [0, 0, 0, 0, 0, 2]


def test_it_marks_the_ram_on_the_curves_of_the_firebird_article(client):
    drawn = specs(page(client, "firebird-terabyte-2015"))
    curves = {name: spec for name, spec in drawn.items() if spec["type"] == "lines"}

    assert len(curves) == 5
    for name, spec in curves.items():
        assert spec["marks"] == [{"axis": "x", "value": 16.0, "label": "RAM 16 GB"}], name
        big = max(x for x, _ in spec["series"][0]["points"]) > 1000
        assert spec["x"]["scale"] == ("log" if big else "linear"), name


def test_it_shows_the_ssd_series_as_gaps(client):
    html = page(client, "firebird-terabyte-2015")
    drawn = specs(html)

    for name in ("wl-firebird-load-load_speed", "wl-firebird-oltp-performance"):
        (gap,) = drawn[name]["gaps"]
        assert (gap["label"], len(gap["xs"]), gap["reason"]) == ("SSD", 11, LOST)
        assert [line["label"] for line in drawn[name]["series"]] == ["SATA RAID1"]
        table = re.search(rf'<details id="{name}-numbers".*?</details>', html, re.DOTALL)
        assert table is not None
        assert table[0].count(f'<td data-gap title="{LOST}">') == 11


def test_it_computes_the_loss_against_the_smallest_size(client):
    html = page(client, "firebird-terabyte-2015")
    points = specs(html)["wl-firebird-oltp-performance-relative"]["series"][0]["points"]

    assert points[0] == [9.04, 100]
    assert points[10][1] == pytest.approx(82.46, abs=0.005)
    assert points[11][1] == pytest.approx(34.23, abs=0.005)
    assert "−17.5 % at 30.3 GB, −65.8 % at 1,814 GB against 9.04 GB" in html


def test_it_stacks_data_and_indexes_of_the_nine_tables(client):
    spec = specs(page(client, "firebird-terabyte-2015"))["tables-chart"]

    stats = list(TableStat.objects.all())
    assert spec["rows"] == [row.table for row in stats]
    assert spec["parts"][0]["values"] == [row.table_size_mb for row in stats]
    assert spec["parts"][1]["values"] == [row.indices_size_mb for row in stats]


def test_it_marks_the_indexes_deeper_than_three(client):
    cells = texts(page(client, "firebird-terabyte-2015"), "indexes")

    deep = [row.index for row in IndexStat.objects.filter(depth__gt=3)]
    assert cells.count("4 deep") == len(deep) == 2
    assert {cells[cells.index(name) + 2] for name in deep} == {"4 deep"}


def test_it_prints_the_six_queries_with_their_plans(client):
    html = page(client, "firebird-terabyte-2015")

    assert len(specs(html)["queries-chart"]["groups"]) == 6
    assert html.count("PLAN ") == 6
    assert "10,285" in texts(html, "queries")


def test_it_shows_the_twenty_lost_backup_times_as_a_grid_of_gaps(client):
    html = page(client, "gbak-backup-2007")

    assert gaps(html, "times") == [f"not known: {LOST}"] * 20
    assert "Yaffil 892" in texts(html, "times")
    assert texts(html, "times").count("Services API, same disk") == 1


def test_it_charts_the_observed_rates_and_loads(client):
    drawn = specs(page(client, "gbak-backup-2007"))

    assert [group["value"] for group in drawn["observed-rate"]["groups"]] == [5.3, 7.3]
    assert [group["value"] for group in drawn["observed-cpu"]["groups"]] == [45, 97, 95, 100]
    assert drawn["observed-cpu"]["groups"][0]["text"] == "≈ 45"


def test_it_shows_the_twelve_lost_cells_of_the_ssd_article(client):
    assert gaps(page(client, "cubrid-mysql-ssd-2011"), "values") == [f"not known: {LOST}"] * 12


def test_it_draws_the_claimed_ratios_as_claims_with_a_line_at_one(client):
    spec = specs(page(client, "cubrid-mysql-ssd-2011"))["ratios-chart"]

    assert [group["value"] for group in spec["groups"]] == [5, 2.5, 4.2, 2.8, pytest.approx(0.83), pytest.approx(1.06)]
    assert all(group["claim"] and group["dots"] == [] for group in spec["groups"])
    assert spec["groups"][4]["text"].replace("\u00a0", " ") == "≈ −17 %"
    assert spec["marks"][0]["value"] == 1


def test_it_prints_both_configurations_line_by_line(client):
    html = page(client, "cubrid-mysql-ssd-2011")

    assert "21 lines, 20 different parameters" in html and "52 lines" in html
    cells = texts(html, "configurations")
    assert cells.count("data_buffer_pages") == 2
    assert next(cell for cell in cells if cell.startswith(("25000", "262144"))) == "25000 given twice"
    assert cells[cells.index("skip_name_resolve") + 1] == "(flag)"


def test_it_shows_schema_and_recovered_machines_with_their_provenance(client):
    html = page(client, "cubrid-mysql-ssd-2011")

    assert "character varying(1000)" in texts(html, "schema")
    assert "CentOS 5.2 x86_64" in html
    findings = html.partition('id="findings"')[2]
    assert findings.count('data-provenance="recovered"') == 3
    assert findings.count('data-provenance="inferred"') == 1


def test_it_shows_a_publication_that_it_has_no_special_page_for(client):
    Publication.objects.filter(slug="tpcb-2010").update(slug="another-article")

    drawn = specs(page(client, "another-article"))

    assert [len(spec["groups"]) for spec in drawn.values()] == [7]


def test_it_knows_no_other_publication(client):
    assert client.get("/publications/no-such-article/").status_code == 404


def test_it_takes_only_get(client):
    assert client.post("/publications/").status_code == 405
    assert client.post("/publications/tpcb-2010/").status_code == 405


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_reads_a_page_in_a_bounded_number_of_queries(client, slug, django_assert_max_num_queries):
    with django_assert_max_num_queries(42):
        page(client, slug)
