"""The web worker: gunicorn's processes around waitress's connections (docs/decisions/0010).

One loop reads requests and writes answers; a thread works only on a request that is there as a whole and is free once
its answer is made. So clients take their time at nobody's cost, and here stands how much time that is.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
import time
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import create_server, wasyncore
from waitress.buffers import OverflowableBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask

from benchsite.frames import with_room
from runs.space import FULL_ERRORS, LACKS_ROOM

# A client whose turn it is (to begin, to send, to read) has so long, and a second more for each 8 kB that move.
PATIENCE_S = 10.0
SLOWEST_BYTES_PER_S = 8 * 1024
# Per worker. When they are taken, who has waited longest for its client makes room.
CONNECTIONS = 400
SPOOL_BYTES = 2 * 1024**3
# A body that is too large is read to its end and thrown away, so that the client hears why; not one larger than this.
POLITE_BYTES = 256 * 1024**2
HEADER_BYTES = 64 * 1024
# Of a body in memory; the rest lies in a temporary file, which leaves so much of the disk to the database.
MEMORY_BYTES = 128 * 1024
LEFT_BYTES = 4 * 1024**2
# Of an answer: pages are shown on a full disk too.
ANSWER_MEMORY_BYTES = 1024**2
# A thread gives Python away for each row that it reads or writes, and gets it back so long after another thread began
# to compute (an import, a page). With Python's 5 ms, an upload of 50 rows held SQLite's write lock for 0.1 s.
SWITCH_S = 0.0005


class Body(OverflowableBuffer):  # type: ignore[misc]
    """What a request sends; given up, because it is too large or the disk too small, it is only counted."""

    given_up = lacks_room = False

    def __len__(self) -> int:
        return self.length if self.given_up else super().__len__()

    def append(self, data: bytes) -> None:
        length = len(self)
        if not self.given_up:
            try:
                self.lacks_room = length + len(data) >= self.overflow and not has_room(len(data))
                if not self.lacks_room:
                    super().append(data)
                    return
            except OSError as error:
                if error.errno not in FULL_ERRORS:
                    raise
                self.lacks_room = True
        self.give_up(length + len(data))

    def give_up(self, length: int) -> None:
        self.close()
        self.given_up, self.length, self.buf, self.strbuf = True, length, None, b""


def has_room(size_bytes: int) -> bool:
    return shutil.disk_usage(tempfile.gettempdir()).free - LEFT_BYTES >= size_bytes


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """A body beyond the limit of its route, or the room on the disk, is not kept: the site is told, and refuses."""

    limit_bytes = 0
    expect_continue: bool

    def parse_header(self, header: bytes) -> None:
        super().parse_header(header)
        if self.body_rcv is None:
            return
        # gunicorn loads this module before Django is set up.
        from benchsite.limits import limit_bytes

        self.body_rcv.buf = Body(MEMORY_BYTES)
        self.body_rcv.buf.lacks_room = self.content_length > MEMORY_BYTES and not has_room(self.content_length)
        session = f"{settings.SESSION_COOKIE_NAME}=" in self.headers.get("COOKIE", "")
        known = session or "AUTHORIZATION" in self.headers
        self.limit_bytes = limit_bytes(self.path.encode("latin-1").decode("utf-8", "replace"), known=known)

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if self.body_rcv is None or self.error:
            return consumed
        size_bytes, body = max(self.content_length, self.body_bytes_received), self.body_rcv.buf
        if size_bytes > self.limit_bytes or body.lacks_room:
            if not body.given_up:
                body.give_up(len(body))
            self.headers["CONNECTION"] = "close"
            if size_bytes > POLITE_BYTES or self.expect_continue:
                self.headers["CONTENT_LENGTH"] = str(size_bytes)
                self.expect_continue = False
                self.completed = True
        return consumed

    @property
    def spooled_bytes(self) -> int:
        return len(self.body_rcv.buf) if self.body_rcv and not self.body_rcv.buf.given_up else 0


class Task(WSGITask):  # type: ignore[misc]
    def get_environment(self) -> dict[str, Any]:
        body = self.request.body_rcv
        return {**super().get_environment(), LACKS_ROOM: body is not None and body.buf.lacks_room}


class Connection(HTTPChannel):  # type: ignore[misc]
    """Knows since when it waits for its client."""

    parser_class = Parser
    task_class = Task
    served = 0
    moved_bytes = 0
    turn = ("idle", -1)
    turn_began_at = 0.0
    moved_before_bytes = 0

    def recv(self, size: int) -> bytes:
        data: bytes = super().recv(size)
        self.moved_bytes += len(data)
        return data

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent: int = super().send(data, do_close=do_close)
        self.moved_bytes += sent
        return sent

    def service(self) -> None:
        super().service()
        self.served += 1

    def overdue_s(self, now: float) -> float:
        """How long ago the client's time was over, negative before; never while it is our turn."""
        request = "request" if self.request is not None else "idle"
        turn = "answer" if self.total_outbufs_len else "work" if self.requests else request
        if (turn, self.served) != self.turn:
            self.turn, self.turn_began_at, self.moved_before_bytes = (turn, self.served), now, self.moved_bytes
        if turn == "work":
            return -math.inf
        moved_bytes = self.moved_bytes - self.moved_before_bytes
        return now - self.turn_began_at - PATIENCE_S - moved_bytes / SLOWEST_BYTES_PER_S

    @property
    def spooled_bytes(self) -> int:
        unfinished = [self.request] if self.request is not None else []
        return sum(request.spooled_bytes for request in (*self.requests, *unfinished))


class Threads(ThreadedTaskDispatcher):  # type: ignore[misc]
    def handler_thread(self, thread_no: int) -> None:
        with_room(super().handler_thread, thread_no)


class Dispatcher:
    """Threads for what reads and as many for what writes: who waits for the database's write lock delays no page."""

    def __init__(self, threads: int) -> None:
        self.reading, self.writing = Threads(), Threads()
        self.reading.set_thread_count(threads)
        self.writing.set_thread_count(threads)

    def add_task(self, connection: Connection) -> None:
        reads = getattr(connection.requests[0], "command", "") in ("GET", "HEAD", "OPTIONS")
        (self.reading if reads else self.writing).add_task(connection)


class WebWorker(Worker):  # type: ignore[misc]
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        # waitress's: file descriptor -> listener, trigger or connection.
        self.map: dict[int, Any] = {}

    def run(self) -> None:
        sys.setswitchinterval(SWITCH_S)
        create_server(
            self.wsgi,
            map=self.map,
            _dispatcher=Dispatcher(self.cfg.threads),
            sockets=[listener.sock for listener in self.sockets],
            ident=None,
            # Ours, below, are stricter.
            channel_timeout=3600,
            connection_limit=2 * CONNECTIONS,
            max_request_body_size=2**62,
            max_request_header_size=HEADER_BYTES,
            outbuf_overflow=ANSWER_MEMORY_BYTES,
            # No thread waits for its answer to be read.
            outbuf_high_watermark=2**62,
            recv_bytes=64 * 1024,
            asyncore_use_poll=True,
            # Whose word counts is asked by TRUSTED_PROXIES.
            clear_untrusted_proxy_headers=False,
        )
        servers = self.servers
        for server in servers:
            server.channel_class = Connection
        looked_at = 0.0
        while self.alive and os.getppid() == self.ppid:
            self.notify()
            wasyncore.loop(timeout=1, use_poll=True, map=self.map, count=1)
            now = time.monotonic()
            if now - looked_at > 1 or len(self.map) > CONNECTIONS + 2 * len(servers):
                looked_at = now
                self.make_room(now)
        for server in servers:
            wasyncore.dispatcher.close(server)
        self.finish(time.monotonic() + self.cfg.graceful_timeout - 0.5)

    @property
    def servers(self) -> list[BaseWSGIServer]:
        return [each for each in self.map.values() if isinstance(each, BaseWSGIServer)]

    @property
    def connections(self) -> list[Connection]:
        return [each for each in self.map.values() if isinstance(each, Connection)]

    def make_room(self, now: float) -> None:
        """Close whose client took too long, then, while too many are left or they hold too much, the slowest."""
        waiting = sorted(self.connections, key=lambda connection: connection.overdue_s(now))
        spooled_bytes, left = sum(connection.spooled_bytes for connection in waiting), len(waiting)
        while waiting:
            slowest = waiting.pop()
            overdue_s = slowest.overdue_s(now)
            if overdue_s == -math.inf or (overdue_s < 0 and left <= CONNECTIONS and spooled_bytes <= SPOOL_BYTES):
                break
            spooled_bytes, left = spooled_bytes - slowest.spooled_bytes, left - 1
            slowest.handle_close()

    def finish(self, until: float) -> None:
        """Requests that are there as a whole are answered."""
        while time.monotonic() < until:
            for connection in self.connections:
                if not connection.requests and not connection.total_outbufs_len:
                    connection.handle_close()
            if not self.connections:
                return
            wasyncore.loop(timeout=0.1, use_poll=True, map=self.map, count=1)

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        for server in self.servers:
            server.pull_trigger()
