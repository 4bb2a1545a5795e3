"""HammerDB: CLI logs (v3 to v6), schema builds, transaction counters, time profiles, answers of `jobs`, job reports."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.hammerdb.counter import counter_reports
from benchagent.importers.hammerdb.jobs import job_reports, json_of
from benchagent.importers.hammerdb.log import log_reports
from benchagent.importers.hammerdb.together import put_together

TOOL = "hammerdb"

_MARK = re.compile(
    r"TEST RESULT\s*: System achieved"
    r"|HammerDB CLI v"
    r"|^Hammerdb (?:Log|Transaction Counter Log) @"
    r"|Hammerdb Time Profile Report @"
    r"|^[ \t]*hammerdb>"
    r"|\d [\w ]{1,40} (?:tpm|qph) @ \w{3} \w{3} "
    r"|Vuser \d+(?: created (?:MONITOR )?- WAIT IDLE|:RUNNING|:FINISHED (?:SUCCESS|FAILED)"
    r"|:(?:Beginning rampup|Timing test|Processing \d+ transactions|CREATING TPC|query \d+ completed in))"
    r"|Geometric mean of query times returning rows \(\d+\) is"
    r"|>>>>> (?:VIRTUAL USER \d+|SUMMARY OF \d+ ACTIVE VIRTUAL USERS|PROC: [A-Z]+\s*$)",
    re.MULTILINE,
)


def claims(file: SourceFile) -> bool:
    return json_of(file) is not None or _MARK.search(file.text) is not None


def read(file: SourceFile) -> Sequence[Report]:
    content = json_of(file)
    if content is not None:
        return job_reports(content)
    found = [*log_reports(file), *counter_reports(file)]
    if not found:
        raise NotUnderstood("no run, schema build, transaction counter or time profile in it")
    return found


combine = put_together
