from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from benchagent.cli import main


class Working:
    """A worker whose job ends when it is told to."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.begun, self.ended = threading.Event(), threading.Event()

    def run(self) -> None:
        self.begun.set()
        self.ended.wait(10)

    def finish(self) -> None:
        self.told.append("finish")
        os.kill(os.getpid(), signal.SIGTERM)

    def stop(self) -> None:
        self.told.append("stop")
        self.ended.set()


@pytest.fixture
def handlers() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("finish_first", "told"), [(True, ["finish", "stop"]), (False, ["stop"])])
def test_a_signal_finishes_the_job_or_gives_it_up_and_a_second_one_gives_it_up(handlers, finish_first, told):
    worker = Working()

    def ask() -> None:
        worker.begun.wait(10)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=ask).start()
    assert main._until_signal(worker, finish_first=finish_first) == 0
    assert worker.told == told
