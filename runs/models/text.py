"""Text that comes from outside: made storable on both databases. Secrets: `benchagent.redaction`."""

from __future__ import annotations


def clean(value: object, limit: int) -> str:
    """Text cut to a column's length; without NUL and lone surrogates, which a database refuses."""
    if value is None:
        return ""
    text = str(value).replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return text[:limit]
