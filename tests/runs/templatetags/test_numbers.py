"""Numbers of a page say where they come from."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from runs import formatting
from runs.templatetags.publications import computed_html, number_html


def render(text: str, **context: object) -> str:
    return Template("{% load publications %}" + text).render(Context(context))


def test_it_shows_a_stored_number_with_its_provenance():
    shown = number_html(3.65166075, unit="MB/s", printed="3,65166075", provenance="printed", source="line 152")
    assert 'value="3.65166075"' in shown
    assert 'data-provenance="printed"' in shown
    assert "printed as “3,65166075”; line 152" in shown.replace("Printed", "printed")
    assert ">3.65166075\u202fMB/s</data>" in shown
    assert 'tabindex="0"' in shown


def test_it_says_the_stored_value_where_it_rounds():
    assert "stored as 3.65166075" in number_html(3.65166075, digits=2)
    assert ">3.65</data>" in number_html(3.65166075, digits=2)


@pytest.mark.parametrize(
    ("value", "printed", "shown"),
    [
        (0.8, "0.80", "0.80"),
        (424.5, "424,5", "424.5"),
        (566448.0, "566.448", "566,448"),
        (10.8, "", "10.8"),
        (-1184.0, "-1184", "−1,184"),
        (1813.969025, "1813,969025", "1,813.969025"),
        (28.0, "about 28", "28"),
    ],
)
def test_it_keeps_the_digits_that_the_source_prints(value, printed, shown):
    assert formatting.printed(value, printed) == shown


def test_it_shows_a_computed_number_with_its_formula():
    shown = render('{% computed value "407.97 / 494.73 − 1" unit="%" digits=2 %}', value=-17.53683827)
    assert 'value="-17.54"' in shown
    assert 'data-formula="407.97 / 494.73 − 1"' in shown
    assert ">−17.54\u202f%</data>" in shown
    assert 'data-exact="-17.53683827' in shown


def test_a_formula_may_be_words():
    assert ">59.87\u202f×</data>" in computed_html(59.869, "size ratio in words", unit="×", digits=2)


def test_the_tab_key_can_pass_by():
    assert 'tabindex="-1"' in number_html(1.0, tab=False)
    assert 'tabindex="-1"' in computed_html(1.0, "1", tab=False)


def test_it_escapes_what_sources_print():
    assert "<b>" not in number_html(1.0, source="<b>")
    assert "<b>" not in computed_html(1.0, "<b>")


def test_what_rounds_to_zero_has_no_sign():
    """Was: −0.0 % per doubling."""
    assert [formatting.percent(share, signed=True) for share in (-0.0004, 0.0, 0.0004)] == ["0.0\u202f%"] * 3
    assert formatting.decimal(-0.001, 2) == "0.00"
    assert formatting.percent(-0.175, signed=True) == "−17.5\u202f%"
