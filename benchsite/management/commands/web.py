from __future__ import annotations

import logging
import shutil
import signal
import sys
import tempfile
from typing import Any

import waitress
from benchagent.arguments import refuse_repeated
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse

from benchsite.backup import finish
from benchsite.limits import BODY_BYTES, PARTS
from benchsite.schema import end_on_other_tables
from runs import space

logger = logging.getLogger(__name__)

# Settings of waitress (docs/decisions/0010): it reads each request to its end before a thread works on it, and threads
# never wait for a client to read an answer, which is kept in a temporary file.
SERVER = {
    "threads": 16,
    "channel_timeout": 30,
    "cleanup_interval": 5,
    "asyncore_use_poll": True,
    "max_request_header_size": 64 * 1024,
    # It refuses what has so many bytes, and says then who it is: that is where the address for larger files stands.
    "max_request_body_size": BODY_BYTES + 1,
    "ident": f"Benchsite (larger files in parts: {PARTS})",
    "inbuf_overflow": 128 * 1024,
    "outbuf_high_watermark": 1024**3,
    # Which proxies are believed is said by TRUSTED_PROXIES (benchsite/limits.py).
    "clear_untrusted_proxy_headers": False,
}
MOST_CONNECTIONS, LEAST_CONNECTIONS = 500, 16
# For SQLite's write lock; then who sends is told to come again. Each waiting request holds a thread.
SQLITE_WAIT_S = 5


def connection_limit(free_bytes: int) -> int:
    """So many that their bodies, which lie on the disk until they are whole, leave the reserve free.

    They may take half of the room above it: a second server can stand beside this one.
    """
    room_bytes = free_bytes - settings.DISK_RESERVE_MB * space.MB
    return min(MOST_CONNECTIONS, max(LEAST_CONNECTIONS, room_bytes // 2 // BODY_BYTES))


class Command(BaseCommand):
    help = "Serve the site until SIGTERM; requests that are under way then get 5 s to end."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        refuse_repeated(parser)
        parser.add_argument("--listen", nargs="+", default=["127.0.0.1:8000"], metavar="ADDRESS:PORT")

    def handle(self, *args: Any, listen: list[str], **options: Any) -> None:
        finish(settings.STATE)
        end_on_other_tables()
        database = settings.DATABASES["default"]
        if "sqlite3" in database["ENGINE"]:
            database["OPTIONS"]["timeout"] = SQLITE_WAIT_S
        from benchsite.wsgi import application

        # This loads every page (0.6 s of CPU), so the first requests do not wait for it.
        reverse("home")
        signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit())
        settings.STATE.tmp.mkdir(exist_ok=True)
        connections = connection_limit(shutil.disk_usage(tempfile.gettempdir()).free)
        held_mb = connections * BODY_BYTES // space.MB
        logger.info("at most %d connections, whose bodies hold at most %d MB of the disk", connections, held_mb)
        waitress.serve(application, listen=" ".join(listen), connection_limit=connections, **SERVER)
