"""The id of the request that a line of the log belongs to. Imports nothing of ours: logging is set up first of all."""

from __future__ import annotations

import logging
from contextvars import ContextVar

current_request: ContextVar[str] = ContextVar("current_request", default="")


class WithRequest(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = f" [{current_request.get()}]" if current_request.get() else ""
        return True
