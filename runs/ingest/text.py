"""Text that comes from outside: made storable on both databases, secrets taken out."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
_SECRET_NAME = re.compile(
    r"passw|pwd|secret|token|credential|private[_-]?key|api[_-]?key|access[_-]?key", re.IGNORECASE
)
_SECRET_IN_LINE = re.compile(
    r"(?P<name>[\w.-]*(?:passw|pwd|secret|token)[\w.-]*)(?P<sep>\s*[=:]\s*|\s+)(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&]+)",
    re.IGNORECASE,
)


def clean(value: object, limit: int) -> str:
    """Text cut to a column's length; without NUL and lone surrogates, which a database refuses."""
    if value is None:
        return ""
    text = str(value).replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    return text[:limit]


def redact(name: str, value: str | None) -> str | None:
    """The value of a setting, unless its name says that it is a secret."""
    if value and _SECRET_NAME.search(name):
        return REDACTED
    return value


def redact_line(line: str) -> str:
    """A command line without the values that follow password-like names."""
    return _SECRET_IN_LINE.sub(lambda match: f"{match['name']}{match['sep']}{REDACTED}", line)
