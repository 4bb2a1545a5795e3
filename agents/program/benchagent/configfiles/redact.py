"""Secrets out of a configuration file, the rest of it unchanged."""

from __future__ import annotations

from benchagent.configfiles.model import Entry, Line, LineKind
from benchagent.redaction import REDACTED, names_a_secret, redact_text


def redacted_line(line: Line) -> str:
    """The text of a line without its secrets: values of secret names, addresses with passwords, comments."""
    if line.kind is LineKind.NOT_UNDERSTOOD:
        return _unknown(line.text)
    if line.kind is not LineKind.SETTINGS:
        return redact_text(line.text)
    text, place = [], 0
    for entry in line.entries:
        if entry.span is None:
            continue
        begin, end = entry.span
        text += [line.text[place:begin], _value(entry, line.text[begin:end])]
        place = end
    rest = line.text[place:]
    return "".join([*text, redact_text(rest) if place else _flags(line, rest)])


def _value(entry: Entry, given: str) -> str:
    if not names_a_secret(entry.name):
        return redact_text(given)
    if not given or REDACTED in given:
        return given
    quote = given[0] if given[0] in "'\"" and given[-1] == given[0] and len(given) > 1 else ""
    return f"{quote}{REDACTED}{quote}"


def _flags(line: Line, text: str) -> str:
    """A name alone is left as it is; what stands behind it may be a comment."""
    begin = text.find(line.entries[0].name) + len(line.entries[0].name) if line.entries else 0
    return text[:begin] + redact_text(text[begin:])


def _unknown(text: str) -> str:
    """`password hunter2` is no parameter, but a secret."""
    name = text.split(maxsplit=1)[0] if text.split() else ""
    if not name or not names_a_secret(name) or "=" in name:
        return redact_text(text)
    begin = text.index(name) + len(name)
    ending = text[len(text.rstrip()) :]
    return f"{text[:begin]} {REDACTED}{ending}" if text[begin:].strip() else text


def redacted_text(text: str, format: str) -> str:
    """A file whose format may not be known yet ("") without its secrets."""
    from benchagent.configfiles import parse, recognise, redacted

    known = format or recognise(text) or "plain"
    return redacted(parse(text, known)).render()
