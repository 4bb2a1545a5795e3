"""What a text must contain for a regular expression to match in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchagent.importers import Marking, importers
from benchagent.importers.literals import literals_of, search

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"tps = \d+ \(excluding", {" (excluding"}),
        (r"(?:Average|Least) number|clients: \d", {" number", "clients: "}),
        (r"a(?:bc|de)+\d", {"bc", "de"}),
        # Nothing of this has to be there.
        (r"(?:abc)?\d*", {""}),
        (r"abc|\d", {""}),
        (r"(?!abc)(?<=abc)", {""}),
        (r"(?i)abc", {""}),
        (r"(?i:abcdef)", {""}),
        (r"(?i:abcdef) xy", {" xy"}),
        (r"^abc$\ndefg", {"\ndefg"}),
    ],
)
def test_it_takes_the_longest_of_what_has_to_be_there(pattern: str, words: set[str]):
    assert literals_of(re.compile(pattern, re.MULTILINE)) == words


@pytest.mark.parametrize("importer", [each for each in importers() if isinstance(each, Marking)], ids=lambda i: i.TOOL)
def test_it_finds_the_marks_of_each_tool_where_the_expression_does(importer: Marking):
    texts = [path.read_text(errors="replace") for path in sorted(DATA.rglob("*")) if path.is_file()]
    begins = [search(importer.MARKS, text) and search(importer.MARKS, text).start() for text in texts]
    assert any(begin is not None for begin in begins)
    assert begins == [(match := importer.MARKS.search(text)) and match.start() for text in texts]


def test_most_marks_need_not_be_looked_for_in_a_file_of_another_tool():
    marks = [each.MARKS for each in importers() if isinstance(each, Marking)]
    text = (DATA / "gbak" / "backup_ts.txt").read_text()
    assert sum(any(word in text for word in literals_of(pattern)) for pattern in marks) < len(marks) / 4
