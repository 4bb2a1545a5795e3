"""Runs side by side: page and rows."""

from __future__ import annotations

import re

import pytest

from runs.configs.creating import Parameter, config_of
from runs.models import Run
from runs.run.diff import sections
from tests.runs.cells import add_number, all_runs, machine, make_run

pytestmark = pytest.mark.django_db


def pair() -> list[Run]:
    first = make_run(
        "SQLite 3.53", 500, on=machine(), effective_settings=[["synchronous", "2"], ["cache_size", "-2000"]]
    )  # fmt: skip
    second = make_run(
        "SQLite 3.54", 400, on=machine(),
        effective_settings=[["synchronous", "1"], ["cache_size", "-2000"], ["new", "1"]],
        factors={"scale_factor": 10, "terminals": 8},
    )  # fmt: skip
    add_number(first, 2.0, name="latency_p99_ms")
    add_number(second, 2.1, name="latency_p99_ms")
    return [first, second]


def rows(**options) -> dict[str, dict[str, tuple[list[str], bool, str]]]:
    return {
        section.title: {row.label: (row.values, row.differs, row.change) for row in section.rows}
        for section in sections(sorted(all_runs(), key=lambda run: run.created_at), **options)
    }


def test_it_shows_what_differs_and_counts_what_is_alike():
    pair()
    said = rows()
    assert said["What was run"]["DBMS"] == (["SQLite 3.53", "SQLite 3.54"], True, "")
    assert said["Factors"] == {"Terminals": (["4", "8"], True, "")}
    assert said["Settings in force"] == {"synchronous": (["2", "1"], True, ""), "new": (["", "1"], False, "")}
    assert said["Machine"] == {}
    assert said["Numbers"] == {"Throughput": (["500 TPS", "400 TPS"], True, "−20.0\u202f%")}


def test_a_check_that_holds_of_one_alone_is_a_difference():
    """Seen: "1 of 28 facts differ" of a flat hour and one that lost 15 %, as their means were alike."""
    first, second = pair()
    steady = {"name": "steady_state", "ok": True, "detail": "neither warm-up nor drift"}
    Run.objects.filter(pk=first.pk).update(checks=[steady])
    Run.objects.filter(pk=second.pk).update(checks=[steady | {"ok": False, "detail": "not steady: drifts"}])
    assert rows()["Checks"] == {"What does not hold": (["nothing", "not steady: drifts"], True, "")}
    Run.objects.update(checks=[steady])
    assert rows()["Checks"] == {}


def test_no_ratio_is_told_of_what_a_comparison_gives_none_of(client):
    """Was: "−35.0 % differs" of windows of 10 s and 600 s, below two equal heads."""
    window, host = {"scale_factor": 10, "terminals": 4}, machine()
    first = make_run("SQLite 3.53", 900, on=host, factors={**window, "duration_s": 10})
    second = make_run("SQLite 3.53", 600, on=host, factors={**window, "duration_s": 600})
    html = client.get(f"/runs/diff/?run={first.id}&run={second.id}").content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "There is no ratio: Measured window: 10 s against 600 s." in text
    assert rows(no_ratios={"tps": ""})["Numbers"]["Throughput"] == (["900 TPS", "600 TPS"], True, "no ratio")
    assert "−33.3" not in text
    assert re.search(r", measured window 10 s .*, measured window 600 s ", text.partition("Factors")[0])


def test_the_heads_of_two_runs_name_the_configuration_that_tells_them_apart(client):
    """Was: "PostgreSQL 18.0, repeat 1" above both, at one minute."""
    runs = []
    for value in ("on", "off"):
        parameters = [Parameter("jit", value)]
        config, _ = config_of("postgresql", "PostgreSQL", parameters, provenance="uploaded")
        runs.append(make_run("PostgreSQL 18.0", 900, config=config, on=machine()))
    html = client.get(f"/runs/diff/?run={runs[0].id}&run={runs[1].id}").content.decode()
    heads = re.findall(r'<th scope="col"><a.*?</th>', html)
    assert ["jit=on" in heads[0], "jit=off" in heads[1]] == [True, True]


def test_no_ratio_is_told_of_a_metric_of_which_a_comparison_gives_none(client):
    """Was: "+50.0 %" of the maximum of windows of 60 s and 66 s, of which the longer has the higher one."""
    window, host = {"scale_factor": 10, "terminals": 4}, machine()
    sides = [make_run("SQLite 3.53", 900, on=host, factors={**window, "duration_s": seconds}) for seconds in (60, 66)]
    for run, longest in zip(sides, (200, 300), strict=True):
        add_number(run, longest / 10, name="latency_p99_ms")
        add_number(run, longest, name="latency_max_ms")
    html = client.get("/runs/diff/?" + "&".join(f"run={run.id}" for run in sides)).content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", html).split())
    assert "no ratio: Measured window: 60 s against 66 s" in text and "There is no ratio" not in text
    assert text.count("+50.0") == 1


def test_a_number_names_its_phase_only_where_several_have_it(client):
    first, second = pair()
    for run, seconds in ((first, 5), (second, 9)):
        add_number(run, seconds, name="load_s", phase="load")
        add_number(run, seconds, name="cpu", phase="load")
        add_number(run, seconds * 2, name="cpu", phase="warm_up")
    assert {"load_s", "cpu, load", "cpu, warm-up"} <= rows()["Numbers"].keys()
    html = client.get(f"/runs/diff/?run={first.id}&run={second.id}").content.decode()
    (lead,) = re.findall(r"\d+ of \d+ facts differ[^.]*", html)
    assert lead == "7 of 17 facts differ; 1 is known of only some of them"


def test_it_shows_everything_when_asked():
    pair()
    said = rows(everything=True)
    assert said["Settings in force"]["cache_size"] == (["-2000", "-2000"], False, "")
    assert said["Numbers"]["latency_p99_ms"] == (["2 ms", "2.1 ms"], False, "+5.0\u202f%")
    assert said["Machine"]["CPU"][0] == ["Two quiet cores", "Two quiet cores"]


def test_of_two_systems_it_counts_the_settings_that_only_one_has_and_shows_numbers_first(client):
    """Seen: PostgreSQL against H2, 75 rows "only in one" between the factors and the result."""
    first = make_run("SQLite 3.53", 500, effective_settings=[["synchronous", "2"], ["cache_size", "-2000"]])
    second = make_run("H2 2.4", 400, effective_settings=[["CACHE_SIZE", "16384"]])
    (settings,) = (section for section in sections([first, second]) if section.title == "Settings in force")
    assert (settings.rows, settings.foreign) == ([], 3)
    assert len(rows(everything=True)["Settings in force"]) == 3
    html = client.get(f"/runs/diff/?run={first.id}&run={second.id}").content.decode()
    assert "3 settings that only one of the systems has" in html and "only in one" not in html
    assert html.index('rowgroup" colspan="4">Numbers') < html.index("Settings in force")


def test_its_page_marks_differences_by_a_sign_and_a_word(client):
    first, second = pair()
    html = client.get(f"/runs/diff/?run={first.id}&run={second.id}").content.decode()
    assert html.count('<tr data-differs><th scope="row"><span class="differs" aria-hidden="true">≠</span>') == 4
    assert html.count('<span class="badge">differs</span>') == 4 and "only in one" in html
    assert "cache_size" not in html
    assert "cache_size" in client.get(f"/runs/diff/?run={first.id}&run={second.id}&all=1").content.decode()


def test_it_says_what_it_was_not_given(client):
    first, second = pair()
    Run.objects.filter(pk=second.pk).update(visibility="private")
    response = client.get(f"/runs/diff/?run={first.id}&run={second.id}&run=nonsense")
    assert response.status_code == 404
    html = response.content.decode()
    assert str(second.id) in html and "nonsense" in html and "Two runs are needed" in html
    assert "1 runs" not in html
    assert client.get("/runs/diff/").status_code == 200


def test_a_run_leads_to_what_changed_since_the_one_before(client):
    first = make_run("SQLite 3.53", 500, repeat=1)
    second = make_run("SQLite 3.53", 400, repeat=2)
    assert f"/runs/diff/?run={first.id}&amp;run={second.id}" in client.get(second.get_absolute_url()).content.decode()
    assert "/runs/diff/?" not in client.get(first.get_absolute_url()).content.decode()
