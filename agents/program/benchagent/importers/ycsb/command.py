"""What a command line or a list of properties says of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.base import Scalar, Subject
from benchagent.redaction import redact_text

_LINE = re.compile(
    r"(?:^Command line: ?(?P<told>.*)$|(?P<shell>(?:\S*/)?(?:ycsb(?:\.sh|\.bat)?|go-ycsb) +(?:load|run|-load|-t)\b.*)$"
    r"|(?P<java>\S*java\S* .*(?:ycsb\.Client)\b.*)$)"
)
_PROPERTY = re.compile(r'^"(?P<name>[\w.]+)"="(?P<value>[^"]*)"$')
_WORKLOAD = re.compile(r"workloads?[/_\\]?(?P<letter>[a-f])\b|workload(?P<other>[a-f])(?![a-z])")
_JDBC = re.compile(r"jdbc:(?P<dbms>postgresql|mysql|mariadb|oracle|sqlserver|db2|firebirdsql|sqlite)\b")
_DBMS = {"sqlserver": "mssql", "firebirdsql": "firebird"}
# YCSB's properties -> parameters.
NAMES = {
    "threadcount": "terminals", "threads": "terminals", "recordcount": "table_size_rows",
    "operationcount": "operations", "target": "rate_limit_ops_per_s", "maxexecutiontime": "duration_s",
    "fieldcount": "fields", "fieldlength": "field_length_bytes", "readproportion": "read_proportion",
    "updateproportion": "update_proportion", "insertproportion": "insert_proportion",
    "scanproportion": "scan_proportion", "readmodifywriteproportion": "read_modify_write_proportion",
    "requestdistribution": "request_distribution",
}  # fmt: skip


# Longer lines are no command lines, and would cost the square of their length.
MAX_COMMAND = 4000


@dataclass
class Told:
    """Phase "", "load" or "run"; the redacted command line; parameters."""

    phase: str = ""
    line: str = ""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    letter: str = ""
    dbms: str = ""

    def take(self, text: str) -> bool:
        if len(text) > MAX_COMMAND:
            return False
        if match := _PROPERTY.match(text.strip()):
            self._property(match["name"], match["value"])
            return True
        match = _LINE.search(text.strip())
        if match is None:
            return False
        self._command(match["told"] or match["shell"] or match["java"] or "")
        return True

    def _property(self, name: str, value: str) -> None:
        if name == "dotransactions":
            self.phase = "run" if value == "true" else "load"
        else:
            self._parameter(name, value)

    def _parameter(self, name: str, value: str) -> None:
        """A placeholder such as `xxx` or `$threads` is no number."""
        parsed = _scalar(value)
        if name in NAMES and (name == "requestdistribution" or not isinstance(parsed, str)):
            self.parameters[NAMES[name]] = parsed

    def _command(self, line: str) -> None:
        self.line = redact_text(line.strip())
        words = line.split()
        if "-load" in words or "load" in words[:3]:
            self.phase = "load"
        elif "-t" in words or "run" in words[:3]:
            self.phase = "run"
        for place, word in enumerate(words[:-1]):
            if word in ("-threads", "-target", "--threads", "--target"):
                self._parameter(word.lstrip("-"), words[place + 1])
            name, separator, value = words[place + 1].partition("=")
            if word == "-p" and separator:
                self._parameter(name, value)
        if match := _WORKLOAD.search(line):
            self.letter = match["letter"] or match["other"]
        if match := _JDBC.search(line):
            self.dbms = _DBMS.get(match["dbms"], match["dbms"])

    def subject(self) -> Subject:
        letter = self.letter
        name = f"YCSB workload {letter.upper()}" if letter else "YCSB"
        return Subject(workload=f"ycsb-{letter}" if letter else "ycsb", workload_name=name, dbms=self.dbms)


def _scalar(text: str) -> Scalar:
    if text.isascii() and text.isdecimal() and len(text) < 18:
        return int(text)
    try:
        return float(text) if re.fullmatch(r"\d+\.\d+", text) else text
    except ValueError:
        return text
