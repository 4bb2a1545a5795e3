"""What servers write about a setting that they do not take."""

from __future__ import annotations

import re

_PATTERNS = [
    re.compile(pattern)
    for pattern in (
        r'unrecognized configuration parameter "(?P<name>[^"]+)"',
        r'invalid value for parameter "(?P<name>[^"]+)": "(?P<value>[^"]*)"',
        r'(?P<value>\S+)(?: \w+)? is outside the valid range for parameter "(?P<name>[^"]+)"',
        r'Unsupported connection setting "(?P<name>[^"]+)"',
        r"unknown variable '(?P<name>[^'=]+)",
        r"unknown option '--(?P<name>[^'=]+)",
        r"Error while setting value '(?P<value>[^']*)' to '(?P<name>[^']+)'",
        # As `refused_words` says it.
        r"not started: (?P<name>[^\s=]+)(?:=(?P<value>.*))? was refused",
    )
]


def refused_setting(words: str) -> tuple[str, str | None] | None:
    """Name and value of the setting that these words of a server refuse; no value where it does not have the name."""
    found = next(filter(None, (pattern.search(words) for pattern in _PATTERNS)), None)
    return (found["name"], found.groupdict().get("value")) if found else None


def refused_words(words: str) -> str:
    """The setting that these words refuse, as `refused_setting` reads them: "work_mem=8 was refused"; else empty."""
    name, value = refused_setting(words) or ("", None)
    return f"{name}{'' if value is None else f'={value}'} was refused" if name else ""
