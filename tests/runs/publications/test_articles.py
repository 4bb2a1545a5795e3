"""What is told of each article: every figure with its state, every question with an answer, as plain data."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from runs.publications.article import Article, FigureState
from runs.publications.folder import own
from tests.runs.pages import spec

ARTICLES: dict[str, Article] = {slug: folder.article for slug, folder in own().items() if folder.article}
STATES = {
    "gbak-backup-2007": {"lost": 3, "printed": 2},
    "tpcb-2010": {"printed": 3, "added": 1},
    "firebird-terabyte-2015": {"redrawn": 4, "half": 2, "lost": 2, "printed": 5},
    "cubrid-mysql-ssd-2011": {"recovered": 1, "lost": 8, "printed": 3},
}


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_lists_every_lost_picture_of_the_data_as_a_figure(slug):
    lost = {row.id for row in own()[slug].results.missing if not row.document}
    listed = [figure.id for figure in ARTICLES[slug].figures]

    assert lost <= set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_gives_each_figure_the_state_that_is_left_of_it(slug):
    states = [figure.state for figure in ARTICLES[slug].figures]

    assert {str(state): states.count(state) for state in set(states)} == STATES[slug]


def test_it_says_which_figures_of_the_firebird_article_are_redrawn_half_or_lost():
    states = {figure.id.partition("_")[0]: figure.state for figure in ARTICLES["firebird-terabyte-2015"].figures}

    assert {name for name, state in states.items() if state == FigureState.REDRAWN} == {
        "firebird", "perf4", "perf5", "perf7",
    }  # fmt: skip
    assert {name for name, state in states.items() if state == FigureState.HALF} == {"perf10", "perf11"}
    assert {name for name, state in states.items() if state == FigureState.LOST} == {"carrega", "heating"}


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_keeps_a_frame_with_axes_and_series_of_each_lost_chart(slug):
    for figure in ARTICLES[slug].figures:
        if figure.state == FigureState.LOST and "table" not in figure.form:
            assert figure.frame is not None, figure.id
            assert figure.frame.x.label and figure.frame.y.label and figure.frame.series, figure.id
            assert figure.rerun is not None, figure.id
        if figure.frame is not None and figure.frame.rows:
            assert (len(figure.frame.rows), len(figure.frame.columns), figure.frame.y_right is not None) == (4, 3, True)


def test_it_knows_what_is_a_translation_and_what_a_repost():
    kinds = {slug: article.source.kind for slug, article in ARTICLES.items()}

    assert kinds == {
        "gbak-backup-2007": "original", "tpcb-2010": "original", "firebird-terabyte-2015": "repost",
        "cubrid-mysql-ssd-2011": "translation",
    }  # fmt: skip
    for article in ARTICLES.values():
        assert bool(article.source.of) == bool(article.source.of_url) == (article.source.kind != "original")


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_answers_every_question_with_a_field_a_figure_or_a_re_run(slug):
    article = ARTICLES[slug]

    for question in article.questions:
        assert question.answers, question.asked
        for answer in question.answers:
            ways = [answer.run_field, answer.figure, answer.place, answer.rerun]
            assert sum(bool(way) for way in ways) == 1, answer.words
            assert not answer.figure or article.figure(answer.figure)


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_is_plain_data_for_the_api(slug):
    again = json.loads(json.dumps(ARTICLES[slug].as_json()))

    assert again["goal"] == ARTICLES[slug].goal
    assert [figure["state"] for figure in again["figures"]] == [str(one.state) for one in ARTICLES[slug].figures]


@pytest.mark.parametrize("slug", ARTICLES)
def test_it_tells_in_short_sentences_of_our_own(slug):
    article = ARTICLES[slug]

    for line in [article.goal, article.machine, *article.method, *article.caveats, *article.conclusions]:
        assert line.endswith(".") and len(line) < 330, line
        assert not re.search(r"[Ѐ-ӿ]", line), line


@pytest.mark.django_db
def test_the_page_of_the_backups_says_where_it_contradicts_itself_and_what_is_the_most(published, client):
    """Seen: "5.3 MB/s with the slowest" of two methods that the text sets apart by 26 %, "≈ 95" of "95 or less", and a
    tile whose baseline is not that of its table.
    """
    html = client.get("/publications/gbak-backup-2007/").content.decode()
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
    assert re.search(
        r"5\.3 MB/s with TCP and with the local protocol alike\. Yet .* faster of the two: check 0\.3\.", text
    )
    shown = [group["text"] for group in spec(html, "observed-cpu")["groups"]]
    assert "≤ about 95" in shown and "≈ 97" in shown
    assert "the same disk slower than another one, the baseline" in text
