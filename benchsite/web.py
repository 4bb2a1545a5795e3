"""The web worker: gunicorn's processes around waitress's connections (docs/decisions/0010).

One loop reads requests and writes answers; a thread works only on a request that is there as a whole and is free once
its answer is made. So clients take their time at nobody's cost, and here stands how much time that is.
"""

from __future__ import annotations

import io
import math
import os
import time
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import BaseWSGIServer
from waitress.task import ThreadedTaskDispatcher

# A client whose turn it is (to begin, to send, to read) has so long, and a second more for each 8 kB that move.
PATIENCE_S = 10.0
SLOWEST_BYTES_PER_S = 8 * 1024
# Per worker. When they are taken, who has waited longest for its client makes room.
CONNECTIONS = 400
SPOOL_BYTES = 1024**3
# A body that is too large is read to its end and thrown away, so that the client hears why; not one larger than this.
POLITE_BYTES = 256 * 1024**2
HEADER_BYTES = 64 * 1024
# Of a body or an answer in memory; the rest lies in a temporary file.
MEMORY_BYTES = 128 * 1024


class Nowhere:
    """In place of the buffer of a body that is not kept."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def append(self, data: bytes) -> None:
        self.length += len(data)

    def getfile(self) -> io.BytesIO:
        return io.BytesIO()

    def close(self) -> None:
        pass


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """A body beyond the limit of its route is not kept: the site sees its length, and refuses."""

    limit_bytes: int | None = None
    expect_continue: bool

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if not self.headers_finished or self.body_rcv is None or self.error:
            return consumed
        if self.limit_bytes is None:
            # gunicorn loads this module before Django is set up.
            from benchsite.bodies import limit_bytes

            session = f"{settings.SESSION_COOKIE_NAME}=" in self.headers.get("COOKIE", "")
            known = session or "AUTHORIZATION" in self.headers
            self.limit_bytes = limit_bytes(self.path.encode("latin-1").decode("utf-8", "replace"), known=known)
        size_bytes = max(self.content_length, self.body_bytes_received)
        if size_bytes > self.limit_bytes:
            if not isinstance(self.body_rcv.buf, Nowhere):
                self.body_rcv.buf.close()
                self.body_rcv.buf = Nowhere(self.body_bytes_received)
                self.headers["CONNECTION"] = "close"
            if size_bytes > POLITE_BYTES or self.expect_continue:
                self.headers["CONTENT_LENGTH"] = str(size_bytes)
                self.expect_continue = False
                self.completed = True
        return consumed

    @property
    def spooled_bytes(self) -> int:
        return len(self.body_rcv.buf) if self.body_rcv and not isinstance(self.body_rcv.buf, Nowhere) else 0


class Connection(HTTPChannel):  # type: ignore[misc]
    """Knows since when it waits for its client."""

    parser_class = Parser
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


class WebWorker(Worker):  # type: ignore[misc]
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        # waitress's: file descriptor -> listener, trigger or connection.
        self.map: dict[int, Any] = {}

    def run(self) -> None:
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        create_server(
            self.wsgi,
            map=self.map,
            _dispatcher=dispatcher,
            sockets=[listener.sock for listener in self.sockets],
            ident=None,
            # Ours, below, are stricter.
            channel_timeout=3600,
            connection_limit=2 * CONNECTIONS,
            max_request_body_size=2**62,
            max_request_header_size=HEADER_BYTES,
            inbuf_overflow=MEMORY_BYTES,
            outbuf_overflow=MEMORY_BYTES,
            # No thread waits for its answer to be read.
            outbuf_high_watermark=2**62,
            recv_bytes=64 * 1024,
            asyncore_use_poll=True,
            # Whose word counts is asked by TRUSTED_PROXIES.
            clear_untrusted_proxy_headers=False,
        )
        servers = [each for each in self.map.values() if isinstance(each, BaseWSGIServer)]
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
        for server in [each for each in self.map.values() if isinstance(each, BaseWSGIServer)]:
            server.pull_trigger()
