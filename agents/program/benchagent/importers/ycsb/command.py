"""What a command line or a list of properties says of a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.commands import Commands
from benchagent.importers.report import Scalar, Subject, dbms_called

_PROPERTY = re.compile(r'"([\w.]+)"="([^"]*)"')
_WORKLOAD = re.compile(r"workloads?[/_\\]?(?P<letter>[a-f])\b|workload(?P<other>[a-f])(?![a-z])")
# The class of a binding (`-db site.ycsb.db.CassandraCQLClient`), or its name behind `load` or `run` (`mongodb-async`).
_BINDING = re.compile(r"-db +(?:[\w.]*\.)?(?P<class>\w+)|(?:^|\s)(?:load|run) +(?P<name>[a-z][\w-]*)")
_JDBC = re.compile(r"jdbc:(?P<dbms>postgresql|mysql|mariadb|oracle|sqlserver|db2|firebirdsql|sqlite)\b")
# Its options, and the properties that `-p` sets.
_COMMANDS = Commands(
    ("ycsb", "Command line:"),
    form=r"(?:^Command line:|(?:^|(?<=[\s/$#>'\"]))(?:ycsb(?:\.sh|\.bat)?|go-ycsb) +(?=-?(?:load|run|t)\b)"
    r"|\S*java\S* (?=.*ycsb\.Client\b))",
    numbers={
        "threadcount -threads --threads": "terminals", "recordcount": "table_size_rows", "operationcount": "operations",
        "target -target --target": "rate_limit_ops_per_s", "maxexecutiontime": "duration_s", "fieldcount": "fields",
        "fieldlength": "field_length_bytes", "readproportion": "read_proportion",
        "updateproportion": "update_proportion", "insertproportion": "insert_proportion",
        "scanproportion": "scan_proportion", "readmodifywriteproportion": "read_modify_write_proportion",
    },
    texts={
        "requestdistribution": "request_distribution",
        # `dotransactions` is the phase, `workload` the class of all workloads; the rest is how YCSB reports.
        "dotransactions workload exportfile exporter measurementtype measurement.interval command outputstyle "
        "hdrhistogram.percentiles histogram.buckets timeseries.granularity db.driver dropdata label": "",
        "-p -P -db -cp": "",
    },
    switches={"-load -t -s": ""},
    has_letters=False,
)  # fmt: skip


def dbms_of_binding(name: str) -> str:
    """`CassandraCQLClient`, `mongodb-async`, `HBaseClient12` -> the slug of the DBMS; empty of `JdbcDBClient`."""
    stem = re.match(r"[a-z]*?(?=(?:nosqldb|cql|db|kv|ycsb|async)?\d*client|[-\d]|$)", name.lower())
    called = stem[0] if stem else ""
    return dbms_called(called) or dbms_called(f"{called}db")


def called(text: str) -> str:
    """The command line or the property (`"threadcount"="4"`) that stands in a line; empty where none does."""
    return text.strip() if _PROPERTY.fullmatch(text.strip()) else _COMMANDS.find(text.strip())


@dataclass
class Command:
    """What the lines that `called` finds say together: phase "", "load" or "run"; the command line; parameters."""

    phase: str = ""
    line: str = ""
    parameters: dict[str, Scalar] = field(default_factory=dict)
    letter: str = ""
    dbms: str = ""

    def add(self, text: str) -> None:
        if property_ := _PROPERTY.fullmatch(text):
            self._set(*property_.groups())
            return
        self.line = text.removeprefix("Command line:").strip()
        options = [*_COMMANDS.options(text.replace("Command line:", "ycsb"))]
        words = [option or word for option, word in options]
        if "-load" in words or "load" in words[:2]:
            self.phase = "load"
        elif "-t" in words or "run" in words[:2]:
            self.phase = "run"
        for option, value in options:
            name, _, setting = value.partition("=")
            if option == "-p":
                self._set(name, setting)
            elif option.endswith(("-threads", "-target")):
                self._set(option, value)
        if workload := _WORKLOAD.search(text):
            self.letter = workload["letter"] or workload["other"]
        if jdbc := _JDBC.search(text):
            self.dbms = dbms_called(jdbc["dbms"])
        elif binding := _BINDING.search(text):
            self.dbms = dbms_of_binding(binding["class"] or binding["name"]) or self.dbms

    def _set(self, name: str, value: str) -> None:
        if name == "dotransactions":
            self.phase = "run" if value == "true" else "load"
        self.parameters |= _COMMANDS.factors(name, value)

    def subject(self) -> Subject:
        name = f"YCSB workload {self.letter.upper()}" if self.letter else "YCSB"
        return Subject(f"ycsb-{self.letter}" if self.letter else "ycsb", name, dbms=self.dbms)
