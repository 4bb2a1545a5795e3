"""Whatever a file holds, parsing and writing it gives the same bytes, and every value stands where its span says."""

from __future__ import annotations

import random

import pytest
from benchagent.configfiles import FORMATS, parse, recognise, redacted, render

from tests.benchagent.configfiles.samples import SAMPLES, printed
from tests.benchagent.importers.mutations import mutations
from tests.whole import whole

PER_SAMPLE = 28  # times seven samples: 196 damaged files of each seed, each read by all seven formats
TOKENS = ["a", "b=", "= ", "'", '"', "#", ";", "\\", "\\\n", "\n", "\r\n", "\r", "\t", " ", "[x]", "[", "{", "}", "(",
          ")", ",", "!include x", "include 'y'", "password=z", "é", "\x00", "\x0c", "\u2028", "\ufeff", "*.", "1GB",
          ":"]  # fmt: skip


def check(text: str) -> None:
    for name in FORMATS:
        parsed = parse(text, name)
        assert parsed.render() == text, name
        for line in parsed.lines:
            for entry in line.entries:
                assert (entry.span is None) == (entry.given is None)
                if entry.span and "\n" not in line.text.rstrip("\r\n") and "\\" not in line.text:
                    assert line.text[slice(*entry.span)] == entry.given, (name, line)
        hidden = redacted(parsed)
        assert redacted(hidden).render() == hidden.render(), name
        assert len(hidden.entries) == len(parsed.entries) or "password" in text


@pytest.mark.parametrize("seed", [7, *whole(8, 9)])
@pytest.mark.parametrize("sample", SAMPLES)
def test_it_keeps_every_byte_of_damaged_files(sample, seed):
    for _, data in mutations(SAMPLES[sample].encode(), seed=seed, count=PER_SAMPLE):
        check(data.decode("latin-1"))


def test_it_keeps_every_byte_of_nonsense():
    source = random.Random(3)
    for _ in range(400):
        check("".join(source.choices(TOKENS, k=source.randrange(40))))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_it_keeps_line_ends_and_a_missing_last_one(sample, end):
    text = SAMPLES[sample].rstrip("\n").replace("\n", "\r\n" if end == "\r\n" else "\n") + end
    assert parse(text, sample).render() == text
    same = [(one.name, one.value, one.section) for one in parse(text, sample).entries]
    assert same == [(one.name, one.value, one.section) for one in parse(SAMPLES[sample], sample).entries]


@pytest.mark.parametrize(
    ("config", "name", "count"), [("cfg-cubrid-cubrid", "cubrid", 21), ("cfg-cubrid-mysql", "my_cnf", 52)]
)
def test_it_writes_and_reads_both_files_of_the_cubrid_article(config, name, count):
    entries = printed(config)
    assert len(entries) == count
    text = render(entries, name)
    read = parse(text, name)
    assert read.render() == text
    assert [(one.section, one.name, one.given, one.comment) for one in read.entries] == [
        (one.section, one.name, one.given, one.comment) for one in entries
    ]
    assert recognise(text) == name
    assert not read.problems


@pytest.mark.parametrize("sample", SAMPLES)
def test_it_writes_parameters_that_it_reads_back(sample):
    entries = parse(SAMPLES[sample], sample).entries
    again = parse(render(entries, sample), sample).entries
    assert [(one.name, one.value) for one in again] == [(one.name, one.value) for one in entries]


def test_it_stays_fast_on_hostile_text():
    for text in ("a" + " " * 200_000 + "b", "(" * 100_000, "x = (\n" * 20_000, "'" * 100_001, "\\\n" * 50_000):
        for name in FORMATS:
            assert parse(text, name).render() == text
