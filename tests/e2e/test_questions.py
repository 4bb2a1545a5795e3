"""Questions of a DBA, each answered from the home page in at most three clicks, by a sentence and a chart."""

from __future__ import annotations

import re
from functools import partial

import pytest

from tests.e2e.asked import MOST_CLICKS, QUESTIONS, Asked, Journey, store
from tests.e2e.conftest import Site
from tests.whole import whole_but

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def answers(site: Site) -> Site:
    """The site with results that answer; published ones it has."""
    store(partial(site.send, "POST", "/api/v1/results/"))
    return site


def test_there_are_twenty_three():
    assert len({asked.words for asked in QUESTIONS}) == 23


@pytest.mark.parametrize("asked", whole_but(tuple(QUESTIONS[::3]), QUESTIONS), ids=lambda asked: asked.words)
def test_it_is_answered_in_three_clicks(answers: Site, page, asked: Asked):
    journey = Journey(page, answers.url)
    journey.begin()
    asked.walk(journey)
    assert journey.clicks <= MOST_CLICKS
    assert journey.sentence(asked.sentence), page.locator("main").inner_text()[:3000]
    drawn = {id: words for id, words in journey.drawn.items() if id.startswith(asked.chart)}
    assert any(re.search(asked.shows, words) for words in drawn.values()), journey.drawn
