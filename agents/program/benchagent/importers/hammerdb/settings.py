"""Settings of HammerDB's dictionary as the CLI tells them: `diset` answers and `print dict`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.base import Scalar
from benchagent.importers.hammerdb.names import SETTINGS
from benchagent.redaction import names_a_secret

_CHANGED = re.compile(
    r"^(?:hammerdb>)?\s*Changed (?P<section>\w+):(?P<name>\w+) from (?P<old>.*?) to (?P<new>.*?) for (?P<dbms>[\w ]+)$"
)
_SAME = re.compile(
    r"^(?:hammerdb>)?\s*Value (?P<new>.*?) for (?P<section>\w+):(?P<name>\w+)"
    r" is the same as existing value (?P<old>.*?), no change"
)
# The command itself, where a transcript or a script does not show its answer.
_TOLD = re.compile(
    r"^(?:hammerdb>)?\s*diset\s+(?P<section>connection|tpcc|tpch)\s+(?P<name>\w+)\s+(?P<new>[\w.-]+)\s*(?:;?\s*#.*)?$"
)
_SECTION = re.compile(r"^\s*(?P<section>connection|tpcc|tpch)\s*\{\s*$")
_PRINTED = re.compile(r"^\s+(?P<name>\w+)\s*=\s*(?P<new>.*?)\s*$")
_PREFIX = re.compile(r"^(?:ora|mssqls|db2|mysql|maria|pg|redis|tpcc|tpch)_")


@dataclass
class Settings:
    """What is known of the dictionary so far. A value whose history contradicts itself is known no more."""

    values: dict[tuple[str, str], str] = field(default_factory=dict)
    doubtful: set[tuple[str, str]] = field(default_factory=set)
    section: str = ""

    def take(self, line: str) -> bool:
        """Whether the line was about settings."""
        if match := _CHANGED.match(line) or _SAME.match(line):
            key = (match["section"], match["name"])
            known = self.values.get(key)
            if known is not None and known not in (match["old"], match["new"]):
                self.doubtful.add(key)
            self.values[key] = match["new"]
            return True
        if match := _TOLD.match(line):
            self.values[(match["section"], match["name"])] = match["new"]
            return True
        if match := _SECTION.match(line):
            self.section = match["section"]
            return True
        if self.section and (match := _PRINTED.match(line)):
            self.values[(self.section, match["name"])] = match["new"]
            return True
        if line.strip() == "}":
            self.section = ""
        return False

    def parameters(self, benchmark: str) -> dict[str, Scalar]:
        """Of `tpcc` or `tpch`, in the catalogue's words and units; secrets and addresses never."""
        found: dict[str, Scalar] = {}
        for (section, name), text in self.values.items():
            plain = _PREFIX.sub("", _PREFIX.sub("", name))
            known = SETTINGS.get(plain)
            if section != benchmark or known is None or names_a_secret(name) or (section, name) in self.doubtful:
                continue
            value = scalar(text)
            parameter, factor = known
            if factor != 1 and not (isinstance(value, int) and not isinstance(value, bool)):
                continue
            found[parameter] = value * factor if isinstance(value, int) and factor != 1 else value
        return found


def scalar(text: str) -> Scalar:
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else text
