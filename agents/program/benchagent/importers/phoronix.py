"""Phoronix Test Suite: `composite.xml` of a result, a run of every test and system in it.

The form is that of the suite's own schema `result-file.xsd` and of results of version 10. Beside the results of tests
stand others without an identifier: how long a test took to install and how large it is, what sensors measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

from benchagent.importers.report import MAX_FACTOR, Metric, Report, Scalar, Subject, dbms_called, entries, unit_of
from benchagent.importers.source import NotUnderstood, SourceFile, decoded, number, slug, whole_or_text, xml_of
from benchagent.importers.tables import reports_of
from benchagent.redaction import redact_text

TOOL = "Phoronix"
_MARK = re.compile(r"<PhoronixTestSuite>")
_ENVIRONMENT = "environment_variables"
_NAMES = {
    "tps": "tps", "transactions per second": "tps", "queries per second": "qps",
    "requests per second": "requests_per_s", "operations per second": "ops_per_s", "ops/sec": "ops_per_s",
    "op/s": "ops_per_s",
}  # fmt: skip
_TIMES = {"ms": "latency_avg_ms", "seconds": "result_s"}
_FACTORS = {"scaling_factor": "scale_factor", "clients": "terminals", "threads": "terminals"}


def claims(file: SourceFile) -> bool:
    return file.text.lstrip().startswith("<") and _MARK.search(file.text) is not None


def read(file: SourceFile) -> Sequence[Report]:
    root = xml_of(file.text)
    version = re.search(r"v(\d[\w.]*)", root.findtext("Generated/TestClient") or "")
    systems = {each.findtext("Identifier") or "": each for each in root.iter("System")}
    of_system = cache(lambda name: _of_system(systems.get(name), version[1] if version else ""))
    tests = [result for result in root.iter("Result") if (result.findtext("Identifier") or "").strip()]
    others = [each for each in tests if (each.findtext("DisplayFormat") or "").strip() not in ("", "BAR_GRAPH")]
    if others:
        file.remarks.append(
            f"{len(others)} results that are no single value (curves, pictures, passed or not) are not read"
        )
    return reports_of(
        (result for result in tests if result not in others),
        lambda result: [*_reports(result, of_system)],
        TOOL, "no test in it has a value; send the composite.xml of a result",
    )  # fmt: skip


def _details(of: ElementTree.Element | None) -> dict[str, str]:
    """The texts that the suite itself keeps as JSON, by their names."""
    text = (of.findtext("JSON") or "").strip() if of is not None else ""
    content = decoded(text)[0] if text.startswith("{") else {}
    return {slug(key): value for key, value in content.items() if isinstance(value, str) and value}


def _of_system(system: ElementTree.Element | None, version: str) -> Report:
    """What a report says of its system, whatever the test: its parts, and with which options the tests were built.

    `Processor: Example 9 (8 Cores), Memory: 32GB` -> what each part is called, and what it is.
    """
    details = _details(system)
    facts = {name: text for name, text in details.items() if len(text) <= MAX_FACTOR and name != _ENVIRONMENT}
    for name in ("Hardware", "Software"):
        text = " ".join((system.findtext(name) or "").split()) if system is not None else ""
        parts = (part.partition(": ") for part in re.split(r", (?=[A-Z][A-Za-z -]{1,30}: )", text))
        facts |= {slug(key): value for key, separator, value in parts if separator and value}
    stamp = (system.findtext("TimeStamp") or "").strip() if system is not None else ""
    is_stamp = re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", stamp)
    return Report(
        TOOL, tool_version=version, parameters=entries(details, _ENVIRONMENT),
        subject=Subject(hardware={name: redact_text(text) for name, text in facts.items()}),
        started_at=stamp.replace(" ", "T") if is_stamp else "",
    )  # fmt: skip


def _reports(result: ElementTree.Element, of_system: Callable[[str], Report]) -> Iterator[Report]:
    def text_of(name: str) -> str:
        return " ".join((result.findtext(name) or "").split())

    test, title, scale = text_of("Identifier"), text_of("Title"), text_of("Scale")
    # A test that failed has no scale.
    has_value = any((entry.findtext("Value") or "").strip() for entry in result.iter("Entry"))
    if not title or (has_value and not scale):
        raise NotUnderstood(f"a result without its {'scale' if title else 'title'}: {title or test}")
    parameters: dict[str, Scalar] = {}
    for part in text_of("Description").split(" - "):
        name, separator, value = part.partition(": ")
        if separator:
            parameters[_FACTORS.get(slug(name), slug(name))] = whole_or_text(value.strip())
        elif part:
            parameters["variant"] = part
    parameters["test_profile"] = test
    better = {"HIB": "higher", "LIB": "lower"}.get(text_of("Proportion"), "none")
    names = _NAMES | (_TIMES if better == "lower" else {})
    name = names.get(scale.casefold(), "result")
    unit = unit_of(name)[0] if name != "result" else scale[:30]
    profile = re.sub(r"-[\d.]+$", "", test.rpartition("/")[2])
    dbms = dbms_called("postgresql" if profile == "pgbench" else profile)
    for entry in result.iter("Entry"):
        system, value = entry.findtext("Identifier") or "", (entry.findtext("Value") or "").strip()
        failure, metrics = "", tuple[Metric, ...]()
        if value:
            metrics = (Metric(name, unit, number(value), better=better),)
            # It is the mean of its tries.
            tries = [number(part) for part in (entry.findtext("RawString") or "").split(":") if part.strip()]
            mean = math.fsum(tries) / len(tries) if tries else number(value)
            # A whole number is printed without what was behind its point.
            rounding = 0.006 if "." in value else 1.0
            if not math.isclose(mean, number(value), rel_tol=0.01, abs_tol=rounding):
                raise NotUnderstood(f"{title[:60]}: {value} is not the mean of its {len(tries)} tries")
        else:
            error = _details(entry).get("error", "")[:300]
            failure = f"the test gave no value: {error}" if error else "the test gave no value"
        report = of_system(system)
        yield replace(
            report, failure=failure, metrics=metrics,
            parameters=parameters | ({"system": system} if system else {}) | report.parameters,
            subject=replace(
                report.subject, workload=f"phoronix-{slug(profile or title, '-', 60)}", dbms=dbms,
                workload_name=f"{title} (Phoronix)", dbms_version=text_of("AppVersion") if dbms else "",
            ),
        )  # fmt: skip
