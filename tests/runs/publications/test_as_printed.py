"""What an article prints is taken as it prints it: units, spellings, settings, and what kind of number stands where."""

from __future__ import annotations

import csv
import io
import json

import pytest

from runs.publications.folder import Folder
from runs.publications.importer import import_folders
from tests.runs.publications.test_fifth import PAGE, SLUG, changed, faults, files, zipped

pytestmark = pytest.mark.django_db


def of_first_number(**changes):
    return zipped(changed("results.json", lambda data: data["runs"][0]["metrics"][0].update(changes)))


def test_a_way_of_writing_a_time_is_no_unit():
    """Seen: "PostgreSQL 13.3 (5,025 hh:mm:ss)"."""

    def change(data):
        data["metrics"][0]["unit"] = "hh:mm:ss"

    assert any(
        fault.startswith("results.json: metrics[0].unit: 'hh:mm:ss' is a way of writing a time")
        for fault in faults(zipped(changed("results.json", change)))
    )


@pytest.mark.parametrize(("value", "spelling"), [(602.5, "602"), (13.0, "12.4"), (1234.0, "1.235")])
def test_a_value_that_is_not_its_spelling_is_named(value: float, spelling: str):
    content = of_first_number(value=value, as_printed=spelling)

    words = f"results.json: runs[0].metrics[0].as_printed: '{spelling}' is not the value {value:g}"
    assert words in faults(content)


@pytest.mark.parametrize(("value", "spelling"), [
    (1234.5, "1 234,5"), (1234.0, "1,234"), (1.234, "1,234"), (1234.0, "1.234"), (1234567.0, "1,234,567"),
    (0.8, "0,80"), (45.0, "≈ 45"), (5025.0, "1:23:45"), (29.9, "29,9"),
])  # fmt: skip
def test_a_value_may_be_spelt_in_each_way(value: float, spelling: str):
    import_folders(Folder.of(changed(
        "results.json", lambda data: data["runs"][0]["metrics"][0].update(value=value, as_printed=spelling)
    )))  # fmt: skip


def test_its_file_rounds_what_is_computed_and_gives_each_end_of_a_range_its_unit(client):
    """Seen: 0.6799999999999999, and a range whose lower end has no unit."""

    def change(data):
        data["claims"] = [data["claims"][0] | {"percent": -32, "ratio": None, "details": {}}]
        data["observations"] = [{"metric": "throughput", "unit": "TPS", "value_min": 12, "value_max": 14}]

    page = {"parts": [{"part": "claimed-ratios"}, {"part": "bounds"}, {"part": "observations"}]}
    given = changed("results.json", change)
    import_folders(Folder.of({"results.json": given["results.json"], "page.json": json.dumps(page).encode()}))

    rows = list(csv.DictReader(io.StringIO(client.get(f"/publications/{SLUG}.csv").content.decode())))
    assert [(row["value"], row["unit"]) for row in rows if row["column"] == "As a ratio"] == [("0.68", "×")]
    assert [row["unit"] for row in rows if row["value"] in ("12", "14")] == ["TPS"] * 4


def test_numbers_of_several_kinds_in_one_table_say_their_kind(client):
    """Seen: "5,025 2,410 602.5" in one cell: seconds, and MB/min on two disks."""

    def change(data):
        data["metrics"].append({"name": "load_time", "unit": "s", "label": "Load time", "better": "lower"})
        first = data["runs"][0]
        machine = next(each for each in data["hardware"] if each["id"] == first["hardware"])
        machine["storage"] += [{"id": f"disk-{name}", "name": name} for name in ("nvme0", "sda")]
        data["workloads"].append(data["workloads"][0] | {"id": "load", "name": "Load", "primary_metric": "load_time"})
        tps = [
            first | {"id": f"on-{name}", "factors": {"size_gb": 50}, "storage": {"data": f"disk-{name}"}}
            for name in ("nvme0", "sda")
        ]
        loaded = {"name": "load_time", "unit": "s", "value": 5025, "as_printed": "5025"}
        load = tps[0] | {"id": "loaded", "workload": "load", "metrics": [loaded]}
        data["runs"] += [*tps, load]

    page = {"parts": [{"part": "grid", "id": "grid", "rows": ["size_gb"], "columns": "system"}]}
    given = changed("results.json", change)
    import_folders(Folder.of({"results.json": given["results.json"], "page.json": json.dumps(page).encode()}))

    html = client.get(PAGE).content.decode().partition('id="grid"')[2].partition("</section>")[0]
    assert "Load time" in html.partition("<tbody>")[2] and "on sda" in html and "on nvme0" in html


def test_a_setting_that_is_not_printed_is_called_so_and_what_two_of_three_print_is_not_in_one_only(client, published):
    html = client.get("/publications/tpcb-2010/").content.decode().partition('id="configurations"')[2]

    table = html.partition("What differs between them")[2].partition("</table>")[0]
    assert "not printed" in table and "not set" not in table and "in one only" not in table


def test_headings_without_a_word_are_left_out(client):
    only_goal = files()["article.md"].partition(b"# Machine")[0]
    import_folders(Folder.of(files() | {"article.md": only_goal, "page.json": b"{}"}))

    story = client.get(PAGE).content.decode().partition('id="story"')[2].partition("</section>")[0]
    assert "<dt>Goal</dt>" in story and "<dt>Caveats</dt>" not in story and "<dt>Machine</dt>" not in story
