"""A loop of calls maps no memory for each of them, however deep it stands."""

from __future__ import annotations

import queue
import resource

from benchsite.web import Threads

LOOPS = 100
# Frames above the loop: more than two pieces of 16 kB hold.
DEPTHS = range(0, 400, 10)


def call(frames: int) -> None:
    if frames:
        call(frames - 1)


def loop_below(frames: int) -> None:
    if frames:
        loop_below(frames - 1)
    else:
        for _ in range(LOOPS):
            call(20)


class Task:
    """As a request, it is served by a thread of the web server."""

    def __init__(self) -> None:
        self.faults: queue.Queue[int] = queue.Queue()

    def service(self) -> None:
        before = faults()
        for frames in DEPTHS:
            loop_below(frames)
        self.faults.put(faults() - before)


def faults() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def test_a_loop_of_calls_maps_no_memory_for_each():
    threads, task = Threads(), Task()
    threads.set_thread_count(1)
    threads.add_task(task)
    # Without room there are some 700: calls of loops that stand before the end of a piece.
    assert task.faults.get(timeout=60) < LOOPS
    threads.shutdown()
