from __future__ import annotations

import pytest

from agents import models
from agents.models import Job
from agents.plans import schedule
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(machine) -> Job:
    machine()
    return schedule.start(plan_of(), user=None).runs.get().job


def append(job, offset, text):
    job.append_log(offset=offset, text=text)
    job.save()


def test_it_joins_pieces_by_their_byte_offset(job):
    append(job, 0, "größer\n")
    append(job, len("größer\n".encode()), "next\n")
    assert job.log_tail() == "größer\nnext\n"
    assert job.log_bytes == 14


def test_it_stores_a_repeated_piece_once_and_of_a_longer_one_the_rest(job):
    append(job, 0, "abc")
    append(job, 0, "abc")
    append(job, 1, "bcde")
    assert job.log_tail() == "abcde"


def test_it_goes_on_behind_a_gap(job):
    append(job, 0, "a\n")
    append(job, 100, "b\n")
    assert job.log_tail() == "a\nb\n"


def test_it_shows_the_last_whole_lines(job):
    text = "".join(f"line {number}\n" for number in range(1000))
    append(job, 0, text)
    tail = job.log_tail(max_chars=100)
    assert len(tail) <= 100
    assert tail.endswith("line 998\nline 999\n")
    assert tail.startswith("line 9")


def test_it_bounds_the_whole_log(job, monkeypatch):
    monkeypatch.setattr(models, "MAX_LOG_BYTES", 1000)
    for offset in range(0, 3000, 300):
        append(job, offset, "x" * 300)
    stored = "".join(job.log_chunks.values_list("text", flat=True))
    assert stored.count("x") == 1000
    assert stored.count(models.LOG_TRUNCATED) == 1
