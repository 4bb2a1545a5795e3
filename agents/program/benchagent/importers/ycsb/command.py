"""What a command line or a list of properties says of a run."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from benchagent.importers.report import Scalar, Subject, dbms_called, further
from benchagent.importers.source import MAX_COMMAND, whole_or_text

_LINE = re.compile(
    r"(?:^Command line: ?(?P<arguments>.*)$"
    r"|(?P<shell>(?:\S*/)?(?:ycsb(?:\.sh|\.bat)?|go-ycsb) +(?:load|run|-load|-t)\b.*)$"
    r"|(?P<java>\S*java\S* .*(?:ycsb\.Client)\b.*)$)"
)
_PROPERTY = re.compile(r'^"(?P<name>[\w.]+)"="(?P<value>[^"]*)"$')
_WORKLOAD = re.compile(r"workloads?[/_\\]?(?P<letter>[a-f])\b|workload(?P<other>[a-f])(?![a-z])")
_JDBC = re.compile(r"jdbc:(?P<dbms>postgresql|mysql|mariadb|oracle|sqlserver|db2|firebirdsql|sqlite)\b")
# YCSB's properties -> parameters.
_NAMES = {
    "threadcount": "terminals", "threads": "terminals", "recordcount": "table_size_rows",
    "operationcount": "operations", "target": "rate_limit_ops_per_s", "maxexecutiontime": "duration_s",
    "fieldcount": "fields", "fieldlength": "field_length_bytes", "readproportion": "read_proportion",
    "updateproportion": "update_proportion", "insertproportion": "insert_proportion",
    "scanproportion": "scan_proportion", "readmodifywriteproportion": "read_modify_write_proportion",
    "requestdistribution": "request_distribution",
}  # fmt: skip
# How YCSB reports; `dotransactions` is its phase, `workload` the class of all workloads.
_REPORTING = {
    "dotransactions", "workload", "exportfile", "exporter", "measurementtype", "measurement.interval", "command",
    "outputstyle", "hdrhistogram.percentiles", "histogram.buckets", "timeseries.granularity", "db.driver", "dropdata",
    "label",
}  # fmt: skip


@dataclass
class Command:
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
            if match["name"] == "dotransactions":
                self.phase = "run" if match["value"] == "true" else "load"
            else:
                self._parameter(match["name"], match["value"])
            return True
        match = _LINE.search(text.strip())
        if match is None:
            return False
        line = match["arguments"] or match["shell"] or match["java"] or ""
        self.line = line.strip()
        words = line.split()
        if "-load" in words or "load" in words[:3]:
            self.phase = "load"
        elif "-t" in words or "run" in words[:3]:
            self.phase = "run"
        for word, following in itertools.pairwise(words):
            if word in ("-threads", "-target", "--threads", "--target"):
                self._parameter(word.lstrip("-"), following)
            name, separator, value = following.partition("=")
            if word == "-p" and separator:
                self._parameter(name, value)
        if workload := _WORKLOAD.search(line):
            self.letter = workload["letter"] or workload["other"]
        if jdbc := _JDBC.search(line):
            self.dbms = dbms_called(jdbc["dbms"])
        return True

    def _parameter(self, name: str, value: str) -> None:
        """A placeholder such as `xxx` or `$threads` is no number."""
        if name not in _NAMES and value and not value.startswith("$"):
            self.parameters |= further({name: value}, _REPORTING)
        elif name == "requestdistribution" or (name in _NAMES and re.fullmatch(r"[0-9]+\.[0-9]+", value)):
            self.parameters[_NAMES[name]] = value if name == "requestdistribution" else float(value)
        elif name in _NAMES and isinstance(parsed := whole_or_text(value), int):
            self.parameters[_NAMES[name]] = parsed

    def subject(self) -> Subject:
        name = f"YCSB workload {self.letter.upper()}" if self.letter else "YCSB"
        return Subject(f"ycsb-{self.letter}" if self.letter else "ycsb", name, dbms=self.dbms)
