"""What is said of a run without a number, in a cell of a table."""

from __future__ import annotations

import pytest

from runs.formatting import MOST_TELLING, telling_line
from runs.models import Run
from runs.run.number import why_no_number
from tests.runs.cells import make_run
from tests.runs.pages import page

MYSQL = """MariaDB did not start: 2026-11-29 19:00:01 0 [Note] Starting MariaDB 10.11.6 as process 12
2026-11-29 19:00:01 0 [Note] InnoDB: Using Linux native AIO
2026-11-29 19:00:02 0 [ERROR] mariadbd: unknown variable 'innodb_cash_size=1'
2026-11-29 19:00:02 0 [ERROR] Aborting"""
POSTGRESQL = """PostgreSQL did not start: 2026-11-29 19:00:01.123 GMT [4711] LOG:  unrecognized parameter "x"
2026-11-29 19:00:01.124 GMT [4711] FATAL:  configuration file contains errors"""


@pytest.mark.parametrize(("message", "line"), [
    (MYSQL, "MariaDB did not start: [ERROR] mariadbd: unknown variable 'innodb_cash_size=1'"),
    (POSTGRESQL, 'PostgreSQL did not start: LOG:  unrecognized parameter "x"'),
    ("the disk is full", "the disk is full"),
    ("terminal 3 ended: Connection refused\n  at a.b.C", "terminal 3 ended: Connection refused"),
    ("gbak ended with 1:\ngbak: ERROR: no permission", "gbak ended with 1: gbak: ERROR: no permission"),
    ("", ""),
])  # fmt: skip
def test_of_a_log_it_is_the_first_line_that_tells_what_went_wrong(message, line):
    assert telling_line(message) == line
    assert why_no_number(Run(state="failed", message=message)) == (f"failed: {line}" if line else "failed")


def test_it_is_short_however_long_a_line_is():
    assert len(telling_line("x" * 20_000)) == MOST_TELLING


@pytest.mark.django_db
def test_the_page_of_the_run_has_the_whole_message_folded(client):
    """Seen: the log of an engine that did not start stood whole in cells of tables."""
    run = make_run("MariaDB", None, state="failed", message=MYSQL)
    html = page(client, run)
    assert html.count("Using Linux native AIO") == 1
    assert html.index("<summary>The whole message</summary>") < html.index("Using Linux native AIO")
