"""The page shows what its rows give: a copy of the data with one change shows another figure."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.django_db
PAGE = "/publications/firebird-terabyte-2015/"


def check(client, number: str) -> str:
    """The text of a check as the page shows it, tags and narrow spaces gone."""
    page = client.get(PAGE).content.decode()
    found = re.search(rf'<li class="check panel" id="check-{re.escape(number)}">(.*?)\n  </li>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]*>", " ", found[1]).replace("\u202f", " ").split())


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


def test_results_are_words_and_shapes_not_colour_alone(client, publish):
    publish()
    page = client.get(PAGE).content.decode()
    shown = re.findall(r'<span class="result" data-result="([^"]+)">([^<]+)</span>', page)
    assert len(shown) == 38
    assert all(result == words.strip() for result, words in shown)
