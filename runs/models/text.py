"""Text that comes from outside: made storable on both databases. Secrets: `benchagent.redaction`."""

from __future__ import annotations

from benchagent.redaction import REDACTED
from benchagent.redaction import redact_text as redact_line
from benchagent.redaction import redact_value as redact

__all__ = ["REDACTED", "clean", "redact", "redact_line"]


def clean(value: object, limit: int) -> str:
    """Text cut to a column's length; without NUL and lone surrogates, which a database refuses."""
    if value is None:
        return ""
    text = str(value).replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return text[:limit]
