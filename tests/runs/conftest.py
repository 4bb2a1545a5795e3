"""What tests of runs find stored: the table of an article, or all publications that come with the program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.models import Publication
from tests.runs.cells import make_article


@pytest.fixture
def article(db) -> Publication:
    return make_article()


@pytest.fixture(scope="module")
def literature(kept, publish) -> Iterator[None]:
    """Stored once for all tests of a file; `published` stores it for one."""
    with kept():
        publish()
        yield
