from __future__ import annotations

import time

import pytest
from benchagent.link.client import Client
from benchagent.link.sender import Sender
from benchagent.link.spool import Spool

from tests.benchagent.fake_server import FakeServer, wait_until
from tests.benchagent.link.test_spool import claimed, finish_item, second

RUN = "run-1"


@pytest.fixture
def cancels() -> list[tuple[str, str, str]]:
    return []


@pytest.fixture
def sender(client: Client, spool: Spool, cancels):
    spool.add_job(claimed(RUN), time.time())
    made = Sender(client, spool, lambda *words: cancels.append(words), interval_s=0.05)
    made.start()
    yield made
    made.stop()
    made.join(60)


def measure(spool: Spool, seconds: range) -> None:
    for t in seconds:
        spool.add_second(RUN, second(t, 10 + t), {"tps": 10.0 + t})


def test_it_sends_while_the_job_runs(sender: Sender, spool: Spool, server: FakeServer):
    measure(spool, range(3))
    wait_until(lambda: server.series(RUN, "tps") == [10, 11, 12])
    measure(spool, range(3, 5))
    wait_until(lambda: server.series(RUN, "tps") == [10, 11, 12, 13, 14])


def test_it_loses_nothing_in_an_outage(sender: Sender, spool: Spool, server: FakeServer):
    measure(spool, range(2))
    wait_until(lambda: len(server.series(RUN, "tps")) == 2)
    server.stop()
    measure(spool, range(2, 6))
    spool.finish(RUN, finish_item())
    assert not sender.flush(0.3)
    server.start_again()
    wait_until(lambda: server.finish(RUN))
    assert server.series(RUN, "tps") == [10, 11, 12, 13, 14, 15]
    assert sender.flush(2)


def test_it_sends_the_same_batch_again_when_the_answer_was_lost(sender: Sender, spool: Spool, server: FakeServer):
    server.lose_answers = 3
    measure(spool, range(4))
    spool.finish(RUN, finish_item())
    wait_until(lambda: not spool.undelivered())
    assert server.series(RUN, "tps") == [10, 11, 12, 13]
    assert len(server.items(RUN, "finish")) == 1
    assert len([path for path, _ in server.requests if path.endswith("/batch/")]) > len(server.batches[RUN])


def test_it_sends_what_an_earlier_life_left(client: Client, spool: Spool, server: FakeServer):
    spool.add_job(claimed(RUN), time.time())
    measure(spool, range(2))
    spool.next_batch(RUN)  # formed, perhaps sent, never acknowledged
    spool.finish(RUN, finish_item("lost"))
    Sender(client, spool, lambda *_: None).send_all()
    assert server.series(RUN, "tps") == [10, 11]
    assert (server.finish(RUN) or {})["outcome"] == "lost"


def test_it_gives_up_a_run_of_which_the_server_has_lost_a_batch(sender, spool, server: FakeServer, caplog):
    measure(spool, range(1))
    wait_until(lambda: server.batches.get(RUN))
    server.batches[RUN].clear()
    measure(spool, range(1, 2))
    wait_until(lambda: not spool.undelivered())
    assert "out of order" in caplog.text
    assert not server.batches[RUN]


def test_it_reports_a_cancel_that_an_acknowledgement_carries(sender, spool, server: FakeServer, cancels):
    server.cancelled.add(RUN)
    measure(spool, range(1))
    wait_until(lambda: cancels)
    assert cancels[0] == (RUN, "cancelled", "cancelled on the server")


def test_it_stops_sending_a_run_that_is_gone_and_goes_on_with_others(sender, spool, server: FakeServer, cancels):
    server.gone.add(RUN)
    measure(spool, range(1))
    spool.add_job(claimed("run-2"), time.time())
    spool.add_state("run-2", "preparing", 1.0)
    wait_until(lambda: server.states("run-2") == ["preparing"] and cancels)
    assert "no such run" in cancels[0][2]
    assert not [job for job in spool.undelivered() if job.run_id == RUN]
