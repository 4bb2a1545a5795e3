"""The page shows what its rows give: a copy of the data with one change shows another figure."""

from __future__ import annotations

import re

import pytest

from tests.runs.publications.changed import import_changed

pytestmark = pytest.mark.django_db
PAGE = "/publications/firebird-terabyte-2015/"


def check(client, number: str) -> str:
    """The text of a check as the page shows it, tags and narrow spaces gone."""
    page = client.get(PAGE).content.decode()
    found = re.search(rf'<li class="check panel" id="check-{re.escape(number)}">(.*?)\n  </li>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).replace("\u202f", " ").split())


def import_with(run_id: str, change) -> None:
    import_changed(
        "firebird-terabyte-2015", lambda data: change(next(one for one in data["runs"] if one["id"] == run_id))
    )


def test_it_shows_stated_computed_and_result(client, publish):
    publish()
    text = check(client, "2.11")
    assert "practically 20 %" in text
    assert "−17.54 % = 407.97 / 494.73 − 1" in text
    assert "rounded up" in text
    text = check(client, "2.12")
    assert "59.87 ×" in text
    assert "2.4093 ×" in text
    assert "agrees" in text
    assert "15.5 to 17.3 GB −4.84 %" in check(client, "2.15")


def test_one_changed_value_shows_another_loss(client, publish):
    publish()
    assert "−17.54 %" in client.get(PAGE).content.decode().replace("\u202f", " ")
    import_with("firebird-sata-oltp-11", lambda run: run["metrics"][0].update(value=450.0, as_printed="450,00"))
    assert "−9.04 % = 450 / 494.73 − 1" in check(client, "2.11")
    assert "disagrees" in check(client, "2.11")
    assert "−17.54 %" not in client.get(PAGE).content.decode().replace("\u202f", " ")


def test_one_changed_size_shows_another_loss(client, publish):
    """The size of 30.3 GB in a copy is 40 GB: thirty GB are then the one before, and nothing falls by 17.54 % to it."""
    publish()
    import_with("firebird-sata-oltp-11", lambda run: run["factors"]["size_gb"].update(value=40.0))
    assert "−17.30 % = 409.14 / 494.73 − 1" in check(client, "2.11")
    assert "−17.54 %" not in check(client, "2.11")


def test_results_are_words_and_shapes_not_colour_alone(client, publish):
    publish()
    page = client.get(PAGE).content.decode()
    shown = re.findall(r'<span class="result" data-result="([^"]+)">([^<]+)</span>', page)
    assert len(shown) == 38
    assert all(result == words.strip() for result, words in shown)
