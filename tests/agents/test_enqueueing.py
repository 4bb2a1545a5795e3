from __future__ import annotations

import threading
import time

import pytest
from django.db import transaction
from kombu.exceptions import OperationalError

from agents import enqueueing


@pytest.fixture
def real_hints():
    """Keeps the fixture `hinted` away: here the sender itself is tested."""


class Broker:
    """Stands where the broker is: slow, failing, and noting what it got."""

    def __init__(self) -> None:
        self.got: list[tuple[str, tuple[object, ...]]] = []
        self.open = threading.Event()
        self.error: Exception | None = None

    def send(self, task, args):
        self.open.wait(60)
        if self.error:
            error, self.error = self.error, None
            raise error
        self.got.append((task, args))

    def wait_for(self, count: int) -> list[tuple[str, tuple[object, ...]]]:
        deadline = time.monotonic() + 30
        while len(self.got) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.got


@pytest.fixture
def broker(real_hints, monkeypatch):
    broker = Broker()
    monkeypatch.setattr(enqueueing, "send", broker.send)
    monkeypatch.setattr(enqueueing, "sender", enqueueing.Sender())
    return broker


@pytest.mark.django_db(transaction=True)
def test_it_sends_after_the_commit_only(broker):
    broker.open.set()
    with transaction.atomic():
        enqueueing.enqueue(enqueueing.DISPATCH)
        time.sleep(0.1)
        assert broker.got == []
    assert broker.wait_for(1) == [(enqueueing.DISPATCH, ())]


@pytest.mark.django_db(transaction=True)
def test_it_sends_nothing_of_a_transaction_that_failed(broker):
    broker.open.set()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        enqueueing.enqueue(enqueueing.DISPATCH)
        raise ZeroDivisionError
    enqueueing.enqueue(enqueueing.SWEEP)
    assert broker.wait_for(1) == [(enqueueing.SWEEP, ())]


@pytest.mark.django_db(transaction=True)
def test_it_does_not_wait_for_a_broker_that_stands_still_and_joins_equal_hints(broker):
    started = time.monotonic()
    enqueueing.enqueue(enqueueing.SWEEP)
    time.sleep(0.1)  # the thread now waits with it for the broker
    for _ in range(20):
        enqueueing.enqueue(enqueueing.DISPATCH)
    enqueueing.enqueue(enqueueing.SUMMARISE, "a")
    assert time.monotonic() - started < 30
    broker.open.set()
    assert broker.wait_for(3) == [(enqueueing.SWEEP, ()), (enqueueing.DISPATCH, ()), (enqueueing.SUMMARISE, ("a",))]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [OperationalError("gone"), OSError("gone"), RuntimeError("what?")])
def test_it_goes_on_after_a_broker_that_refused(broker, error):
    broker.open.set()
    broker.error = error
    enqueueing.enqueue(enqueueing.SWEEP)
    time.sleep(0.1)
    enqueueing.enqueue(enqueueing.DISPATCH)
    assert broker.wait_for(1) == [(enqueueing.DISPATCH, ())]
