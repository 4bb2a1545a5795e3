"""An article that is added by files alone: from a folder, and as a ZIP file from the web."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from runs.models import HardwareProfile, Publication, Run
from runs.publications import folder
from runs.publications.document import statements_of
from runs.publications.folder import DATA, MAX_ZIP_BYTES, Folder, FolderError, read_zip
from runs.publications.importer import import_folders
from runs.publications.page.page import Page
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.django_db
EXAMPLE = REPOSITORY / "docs" / "use" / "publication-example"
SLUG = "buffer-size-2020"
PAGE = f"/publications/{SLUG}/"


def files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in EXAMPLE.iterdir()}


def changed(name: str, change) -> dict[str, bytes]:
    document = json.loads(files()[name])
    change(document)
    return {**files(), name: json.dumps(document).encode()}


def zipped(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return out.getvalue()


def upload(client, content: bytes):
    return client.post("/publications/import/", {"file": SimpleUploadedFile("article.zip", content)})


def faults(content: bytes) -> list[str]:
    with pytest.raises(FolderError) as caught:
        read_zip(io.BytesIO(content), len(content))
    return caught.value.faults


def test_a_folder_becomes_a_page_with_charts_gaps_checks_and_a_way_to_compare(client):
    call_command("import_publication", EXAMPLE, verbosity=0)
    html = client.get(PAGE).content.decode()
    words = re.sub(r"<[^>]*>", "", html).replace("\u202f", " ")

    spec = json.loads(re.search(r'<script id="buffers-chart-data" type="application/json">(.*?)</script>', html)[1])
    assert [(one["value"], one["dots"]) for one in spec["groups"]] == [
        (800, [801.25, 798.75]),
        (1000.5, [1000.5]),
        (None, []),
    ]
    assert html.count('data-gap title="not known: the value was in a picture that is lost"') >= 2
    assert 'id="figure-buffer-chart"' in html
    assert (
        '<span class="result" data-result="agrees">agrees</span>'
        in html.partition('id="check-1"')[2].partition("</li>")[0]
    )
    assert "25.1 % = median(1000.5) / median(801.25, 798.75) − 1" in words
    assert 'data-result="gap"' in html.partition('id="check-2"')[2].partition("</li>")[0]
    assert "a <em>larger</em> buffer" in html
    link = re.search(r'href="(/compare/\?cell=[^"]+)"', html)[1].replace("&amp;", "&")
    assert [group["n"] for group in client.get(f"{link}&format=json").json()["groups"]] == [2, 1, 0]
    assert client.get(f"/api/v1{PAGE}").json()["check_results"] == {"agrees": 1, "gap": 1}
    assert client.get(f"{PAGE[:-1]}.csv").status_code == 200
    assert client.get("/publications/").content.decode().count(PAGE) == 1


def test_its_re_run_fills_the_schedule_form(client):
    import_folders(Folder.at(EXAMPLE))
    for query, filled in (({}, ""), ({"figure": "buffer-chart"}, "&figure=buffer-chart")):
        answer = client.get(f"/schedule/article/{SLUG}/", query)
        assert answer.url.startswith(f"/schedule/?workload=tpcb&publication={SLUG}{filled}&terminals=4")


def test_a_second_import_changes_nothing_and_a_changed_file_what_it_says(client):
    assert import_folders(Folder.at(EXAMPLE)).rows_changed > 10
    assert import_folders(Folder.at(EXAMPLE)).changes == {}
    import_folders(Folder.of(changed("results.json", lambda data: data["claims"][0].update(percent=40))))
    assert statements_of(Publication.objects.get(slug=SLUG)).claims[0].percent == 40
    import_folders(Folder.of(changed("checks.json", lambda data: data["checks"][0].update(result="disagrees"))))
    assert [one["result"] for one in Publication.objects.get(slug=SLUG).checks] == ["disagrees", "gap"]


def test_an_operator_imports_a_zip_file(client, operator):
    client.force_login(operator)
    answer = upload(client, zipped({f"buffer/{name}": content for name, content in files().items()}))
    assert (answer.status_code, answer.url) == (302, PAGE)
    assert client.get(PAGE).status_code == 200


def test_an_operator_deletes_it_with_all_that_is_its_own(client, operator):
    client.force_login(operator)
    import_folders(Folder.at(EXAMPLE))
    assert "Only its files bring it back." in client.get(PAGE).content.decode()  # none were kept
    assert client.post(f"{PAGE}delete/", follow=True).status_code == 200
    assert not Publication.objects.exists() and not Run.objects.exists() and not HardwareProfile.objects.exists()
    assert import_folders(Folder.at(EXAMPLE)).rows_changed > 10


def test_an_operator_brings_a_deleted_one_back_under_its_addresses_or_lets_go_of_its_files(client, operator):
    client.force_login(operator)
    upload(client, zipped(files()))
    runs = set(Run.objects.values_list("pk", flat=True))
    client.post(f"{PAGE}delete/")
    assert not Publication.objects.exists()
    assert client.get(f"/publications/{SLUG}.zip").status_code == 404
    assert f"{PAGE}restore/" in client.get("/publications/").content.decode()

    assert client.post(f"{PAGE}restore/").url == PAGE
    assert (client.get(PAGE).status_code, set(Run.objects.values_list("pk", flat=True))) == (200, runs)
    assert f"{PAGE}restore/" not in client.get("/publications/").content.decode()
    assert client.post(f"{PAGE}forget/").status_code == 404  # it is not deleted

    client.post(f"{PAGE}delete/")
    client.post(f"{PAGE}forget/")
    assert client.post(f"{PAGE}restore/").status_code == 404
    assert upload(client, zipped(files())).status_code == 302


@pytest.mark.parametrize("slug", [SLUG, "tpcb-2010"])
def test_its_files_are_taken_along(slug, client, published):
    call_command("import_publication", EXAMPLE, verbosity=0)
    assert f"/publications/{slug}.zip" in client.get(f"/publications/{slug}/").content.decode()
    with zipfile.ZipFile(io.BytesIO(client.get(f"/publications/{slug}.zip").content)) as archive:
        taken = {name: archive.read(name) for name in archive.namelist()}
    source = EXAMPLE if slug == SLUG else DATA / slug
    assert taken == {path.name: path.read_bytes() for path in source.iterdir()}


def spoilt() -> dict[str, tuple[bytes, str]]:
    """Name -> (archive, how its error begins)."""
    no_results = {name: content for name, content in files().items() if name != "results.json"}
    return {
        "no zip": (b"PK nonsense", "no ZIP file that can be read"),
        "missing file": (zipped(no_results), "results.json: missing"),
        "another file": (zipped({**files(), "run.py": b""}), "run.py: not a file"),
        "twice": (zipped({"a/results.json": b"{}", "results.json": b"{}"}), "results.json: stands twice"),
        "no JSON": (zipped({**files(), "page.json": b"{"}), "page.json: no JSON"),
        "not UTF-8": (zipped({**files(), "article.md": b"\xff"}), "article.md: 'utf-8' codec"),
        "NaN": (zipped({**files(), "checks.json": b'{"checks": NaN}'}), "checks.json: no JSON: NaN is not"),
        "huge number": (zipped({**files(), "checks.json": b'{"checks": 1e999}'}), "checks.json: checks must be"),
        "a NUL": (
            zipped(changed("results.json", lambda data: data["claims"][0].update(summary="\0"))),
            "results.json: claims[0].summary holds a NUL",
        ),
        "nested": (zipped({**files(), "page.json": b"[" * 200_000}), "page.json: "),
        "no day": (
            zipped(changed("results.json", lambda data: data["publication"].update(date="2009-03"))),
            "results.json: publication.date: A date is required: YYYY-MM-DD.",
        ),
        "a key of a part": (
            zipped(changed("page.json", lambda data: data["parts"][2].update(pie=1))),
            "page.json: parts[2].frames.pie: Unknown key. Known here: id",
        ),
        "a key of a factor": (
            zipped(changed("results.json", lambda data: data["runs"][0].update(factors={"a": {"value": 1, "b": 2}}))),
            "results.json: runs[0].factors.a.b: Unknown key. Known here: value, unit, role.",
        ),
        "unknown key": (
            zipped(changed("results.json", lambda data: data["runs"][0].update(speed=3))),
            "results.json: runs[0].speed: Unknown key. Known here: id, version",
        ),
        "wrong type": (
            zipped(changed("results.json", lambda data: data["runs"][0]["metrics"][0].update(value="fast"))),
            "results.json: runs[0].metrics[0].value: A finite number is required.",
        ),
        "unknown version": (
            zipped(changed("results.json", lambda data: data["runs"][0].update(version="pg-99"))),
            "results.json: runs[0].version: pg-99 is not one of the versions",
        ),
        "unknown part": (
            zipped(changed("page.json", lambda data: data["parts"].append({"part": "pie"}))), "page.json: parts[7]: ",
        ),
        "unknown heading": (
            zipped({**files(), "article.md": files()["article.md"].replace(b"# Goal", b"# Goals")}),
            "article.md: the heading 'Goals' is none of",
        ),
        "no address": (
            zipped({**files(), "article.md": files()["article.md"].replace(b"https:", b"javascript:")}),
            "article.md: publisher_url",
        ),
        "check twice": (
            zipped(changed("checks.json", lambda data: data["checks"][1].update(number="1"))),
            "checks.json: 1: this number stands twice",
        ),
        "frame of nothing": (
            zipped(changed("page.json", lambda data: data["parts"][2].update(frames=["other"]))),
            "page.json: parts[2].frames: other is not one of the figures with a frame",
        ),
        "a statement": (
            zipped(changed("results.json", lambda data: data["publication"]["details"].update(stated=["8 GB"]))),
            "results.json: publication.details.stated[0]: An object is required.",
        ),
        "a range": (
            zipped(changed("results.json", lambda data: data["claims"][0]["details"].update(percent_range=[20]))),
            "results.json: claims[0].details.percent_range[1]: This field is required.",
        ),
        "headline": (
            zipped(changed("page.json", lambda data: data["answer"]["headlines"][0].update(check="9"))),
            "page.json: answer.headlines[0]: neither a check nor a claim is called '9'",
        ),
        "answer": (
            zipped({**files(), "article.md": files()["article.md"].replace(b"rerun:", b"figure:none")}),
            "article.md: the answer 'The same as a new experiment': none is not one of the figures",
        ),
        "one of our own": (
            zipped(changed("results.json", lambda data: data["publication"].update(slug="tpcb-2010"))),
            "results.json: publication.slug: tpcb-2010 comes with the program",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", spoilt())
def test_a_bad_zip_names_file_and_field_and_stores_nothing(client, operator, name):
    content, beginning = spoilt()[name]
    assert any(fault.startswith(beginning) for fault in faults(content)), faults(content)
    client.force_login(operator)
    answer = upload(client, content)
    assert answer.status_code == 422
    assert not Publication.objects.exists() and not Run.objects.exists()


def test_what_no_rule_foresees_is_refused_with_the_reason(client, operator, monkeypatch):
    def failing_page(publication, user):
        raise AttributeError("what nobody thought of")

    monkeypatch.setattr("runs.publications.importer.Page", failing_page)
    client.force_login(operator)
    answer = upload(client, zipped(files()))
    assert answer.status_code == 422
    assert "its page cannot be shown (failing page): AttributeError" in answer.content.decode()
    assert not Publication.objects.exists() and not Run.objects.exists()


def test_a_bomb_is_left_as_soon_as_it_is_too_large(monkeypatch):
    bomb = zipped({**files(), "article.md": b" " * (folder.MAX_FILE_BYTES + 1)})
    assert len(bomb) < 50_000
    read = []
    monkeypatch.setattr(folder, "MAX_FILE_BYTES", 10_000)
    real = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: read.append(n) or real(self, n))
    assert faults(bomb) == ["article.md: more than 10000 bytes when unpacked"]
    assert set(read) == {10_001}  # no file is asked for more


def test_an_archive_that_is_too_large_is_not_opened():
    with pytest.raises(FolderError, match="larger than"):
        read_zip(io.BytesIO(b""), MAX_ZIP_BYTES + 1)


def test_each_part_of_ratios_has_its_own_place_and_heading(client):
    """Seen: every one was called "Ratios as claimed" and stood at #ratios, whatever page.json said."""
    own = {"part": "ratios", "id": "gains", "title": "Gains of a large buffer"}
    import_folders(Folder.of(changed("page.json", lambda page: page["parts"].append(own))))
    html = client.get(PAGE).content.decode()
    ids = re.findall(r'<section class="[^"]*" id="([\w-]+)"', html)
    assert "gains" in ids and ids.count("ratios") == 1
    assert '<h2 id="gains-title">Gains of a large buffer' in html
    assert len(re.findall(r'id="(?:gains|ratios)-chart-data"', html)) == 2


def test_several_systems_repeats_and_metrics_are_told_apart_on_every_part(client):
    """Seen: latencies under the heading of throughput, a median of 0 without a value, two systems as one line."""

    def change(data):
        versions = [dict(data["versions"][0], id=f"pg-{number}-walk", version=number) for number in ("13.1", "14.1")]
        data["versions"] += versions
        data["configs"][0]["applies_to"] += [version["id"] for version in versions]
        data["metrics"].append({"name": "latency_mean_ms", "unit": "ms", "label": "Latency", "better": "lower"})
        run = data["runs"][0]
        data["runs"] = [
            run | {
                "id": f"{version['id']}-{size}-{repeat}", "version": version["id"], "repeat": repeat,
                "factors": {"size_gb": size, "disk": "SSD"},
                "metrics": [
                    {"name": "latency_mean_ms", "unit": "ms", "value": 7, "as_printed": "7"},
                    {"name": "tps", "unit": "TPS", "value": 100 * factor + repeat, "as_printed": "x"},
                ],
            }
            for factor, version in enumerate(versions, 1) for size in (1, 10) for repeat in (1, 2, 3)
        ]  # fmt: skip
        data["runs"].append(
            run | {
                "id": "none", "version": versions[0]["id"], "factors": {"size_gb": 30, "disk": "SSD"}, "metrics": [],
                "missing": {"metric": "tps", "reason": "never measured"},
            }
        )  # fmt: skip

    parts = [
        {"part": "bars", "id": "bars", "repeats": True},
        {"part": "medians", "id": "medians"},
        {"part": "grid", "id": "grid", "rows": ["size_gb"], "columns": "system"},
        {
            "part": "curves",
            "id": "curves",
            "workload_kind": "tpcb",
            "figures": [{"id": "c", "title": "C", "metric": "tps"}],
        },
    ]
    given = changed("results.json", change) | {"page.json": json.dumps({"parts": parts}).encode()}
    import_folders(
        Folder.of({name: content for name, content in given.items() if name in ("results.json", "page.json")})
    )
    shown = {section.id: section for section in Page(Publication.objects.get(slug=SLUG), AnonymousUser()).sections}
    assert [line["points"] for line in shown["curves"].figures[0].spec["series"]] == [
        [(1, 102), (10, 102)],
        [(1, 202), (10, 202)],
    ]
    numbers = {name: shown[name].tables[0].table.rows for name in ("bars", "grid", "medians")}
    assert 0 not in [each.value for each in numbers["bars"][-1][1:]]
    assert [part.value for part in numbers["grid"][0][1].words if part != " "] == [101, 102, 103]
    assert len(numbers["medians"]) == len(shown["medians"].baselines) == 4


def test_prose_is_no_html(client):
    bad = b'<script>alert(1)</script> ![x](https://example.org/x.png) [y](javascript:alert(1)) <b onclick="x">z</b>'
    text = files()["article.md"].replace(b"How many more", bad + b" How many more")
    import_folders(Folder.of({**files(), "article.md": text}))
    html = client.get(PAGE).content.decode().partition('id="story"')[2].partition("</section>")[0]
    assert "&lt;script&gt;" in html
    assert not re.search(r"<script|<img|<b |href=.javascript", html)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data.update(topics=[]), "checks.json: topics: Unknown key. Known here: checks."),
        (lambda data: data["checks"][0]["computed"][0].update(digits=9**9), "1: digits must be from 0 to 12"),
        (lambda data: data["checks"][0]["computed"][0].update(of="runs()"), "checks[0].computed[0].of: Unknown key"),
        (lambda data: data["checks"][0].update(result="true"), "checks.json: checks[0].result: "),
    ],
)
def test_checks_are_rows_that_hold_what_was_computed_and_nothing_to_compute(change, fault):
    content = zipped(changed("checks.json", change))
    assert any(fault in each for each in faults(content)), faults(content)


def test_the_command_says_what_is_wrong(tmp_path):
    for name, content in changed("results.json", lambda data: data.pop("publication")).items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=r"results.json: publication: This field is required."):
        call_command("import_publication", tmp_path)


def test_a_version_keeps_the_id_that_another_publication_gave_it():
    import_folders(Folder.at(EXAMPLE))

    def change(data):
        data["publication"]["slug"] = "another"
        text = json.dumps(data).replace("pg-12-buffer", "postgres-12")
        data.clear()
        data.update(json.loads(text))

    with pytest.raises(
        FolderError, match=r"versions\[0\].id: PostgreSQL 12.2 is 'pg-12-buffer' in another publication"
    ):
        import_folders(Folder.of(changed("results.json", change)))
    assert not Publication.objects.filter(slug="another").exists()


def test_an_article_of_rows_alone_shows_all_of_them(client):
    """Also the queries, beside whose table the frame of a lost picture stands where the article has one."""
    folder = Folder.of({"results.json": (DATA / "firebird-terabyte-2015" / "results.json").read_bytes()})
    import_folders(folder)
    html = client.get(f"/publications/{folder.slug}/").content.decode()
    assert 'id="queries-chart"' in html
    assert 'class="panel frame"' not in html
