"""Phoronix Test Suite: `composite.xml` of a result, a run of every test and system in it.

The form is that of the suite's own schema `result-file.xsd` and of results of version 10. Beside the results of tests
stand others without an identifier: how long a test took to install and how large it is, what sensors measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from benchagent.importers.report import MAX_FACTOR, Metric, Report, Scalar, Status, Subject, dbms_called, unit_of
from benchagent.importers.source import NotUnderstood, SourceFile, decoded, number, slug, whole_or_text
from benchagent.redaction import redact_text

TOOL = "Phoronix"
_MARK = re.compile(r"<PhoronixTestSuite>")
# A document type could make much of little, or read other files: no result has one.
_REFUSED = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
# The display of a test that has one value; others are curves, pictures, passed or failed.
_ONE_VALUE = ("", "BAR_GRAPH")
_ENVIRONMENT = "environment_variables"
_BETTER = {"HIB": "higher", "LIB": "lower"}
_NAMES = {
    "tps": "tps", "transactions per second": "tps", "queries per second": "qps",
    "requests per second": "requests_per_s", "operations per second": "ops_per_s", "ops/sec": "ops_per_s",
    "op/s": "ops_per_s",
}  # fmt: skip
_DBMS = {"pgbench": "postgresql"}
_FACTORS = {"scaling_factor": "scale_factor", "clients": "terminals", "threads": "terminals"}


def claims(file: SourceFile) -> bool:
    return file.text.lstrip().startswith("<") and _MARK.search(file.text) is not None


def read(file: SourceFile) -> Sequence[Report]:
    if _REFUSED.search(file.text):
        raise NotUnderstood("XML with a document type or entities")
    try:
        root = ElementTree.fromstring(file.text.strip())  # noqa: S314  # without document type and entities
    except (ElementTree.ParseError, ValueError) as error:
        raise NotUnderstood(f"broken XML: {error}") from error
    client = root.findtext("Generated/TestClient") or ""
    version = re.search(r"v(\d[\w.]*)", client)
    systems = {each.findtext("Identifier") or "": each for each in root.iter("System")}
    tool_version = version[1] if version else ""
    tests = [result for result in root.iter("Result") if (result.findtext("Identifier") or "").strip()]
    others = [result for result in tests if (result.findtext("DisplayFormat") or "").strip() not in _ONE_VALUE]
    if others:
        file.told.append(
            f"{len(others)} results that are no single value (curves, pictures, passed or not) are not read"
        )
    reports = [report for result in tests if result not in others for report in _reports(result, tool_version, systems)]
    if not reports:
        raise NotUnderstood("no test in it has a value; send the composite.xml of a result")
    return reports


def _details(of: ElementTree.Element | None) -> dict[str, str]:
    """The texts that the suite itself keeps as JSON, by their names."""
    text = (of.findtext("JSON") or "").strip() if of is not None else ""
    content = decoded(text)[0] if text.startswith("{") else {}
    return {slug(key): value for key, value in content.items() if isinstance(value, str) and value}


def _machine(system: ElementTree.Element | None) -> dict[str, Scalar]:
    """`Processor: Example 9 (8 Cores), Memory: 32GB` -> what each part is called, and what it is."""
    told = {name: text for name, text in _details(system).items() if len(text) <= MAX_FACTOR and name != _ENVIRONMENT}
    for name in ("Hardware", "Software"):
        text = " ".join((system.findtext(name) or "").split()) if system is not None else ""
        parts = (part.partition(": ") for part in re.split(r", (?=[A-Z][A-Za-z -]{1,30}: )", text))
        told |= {slug(key): value for key, separator, value in parts if separator and value}
    return {name: redact_text(text) for name, text in told.items()}


def _reports(result: ElementTree.Element, version: str, systems: dict[str, ElementTree.Element]) -> Iterator[Report]:
    def said(name: str) -> str:
        return " ".join((result.findtext(name) or "").split())

    test, title, scale = said("Identifier"), said("Title"), said("Scale")
    if not title or not scale:
        raise NotUnderstood("a result without its title or its scale")
    parameters: dict[str, Scalar] = {}
    for part in said("Description").split(" - "):
        name, separator, value = part.partition(": ")
        if separator:
            parameters[_FACTORS.get(slug(name), slug(name))] = whole_or_text(value.strip())
        elif part:
            parameters["variant"] = part
    if test:
        parameters["test_profile"] = test
    better = _BETTER.get(said("Proportion"), "none")
    name = "latency_avg_ms" if scale == "ms" and better == "lower" else _NAMES.get(scale.casefold(), "result")
    if scale.casefold() == "seconds" and better == "lower":
        name = "result_s"
    unit = unit_of(name)[0] if name != "result" else scale[:30]
    profile = re.sub(r"-[\d.]+$", "", test.rpartition("/")[2])
    known = dbms_called(_DBMS.get(profile, profile))
    for entry in result.iter("Entry"):
        system, value = entry.findtext("Identifier") or "", (entry.findtext("Value") or "").strip()
        status, reason = Status.FAILED, ""
        metrics: tuple[Metric, ...] = ()
        if not value:
            error = _details(entry).get("error", "")[:300]
            reason = f"the test gave no value: {error}" if error else "the test gave no value"
        else:
            measured = number(value)
            _check(title, measured, entry.findtext("RawString") or "")
            status, reason, metrics = Status.COMPLETE, "", (Metric(name, unit, measured, better=better),)
        on = systems.get(system)
        stamp = (on.findtext("TimeStamp") or "").strip() if on is not None else ""
        yield Report(
            tool=TOOL, tool_version=version, status=status, reason=reason, metrics=metrics,
            parameters=parameters | ({"system": system} if system else {}) | _environment(on),
            subject=Subject(
                workload=f"phoronix-{slug(profile or title, '-', 60)}", workload_name=f"{title} (Phoronix)", dbms=known,
                dbms_version=said("AppVersion") if known else "", hardware=_machine(on),
            ),
            started_at=stamp.replace(" ", "T") if re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", stamp) else "",
        )  # fmt: skip


def _environment(system: ElementTree.Element | None) -> dict[str, Scalar]:
    """With which options the test was built, where they were set."""
    return {name: text for name, text in _details(system).items() if name == _ENVIRONMENT}


def _check(title: str, value: float, raw: str) -> None:
    """The value is the mean of its tries. Raises NotUnderstood."""
    tries = [number(each) for each in raw.split(":") if each.strip()]
    if tries and not math.isclose(math.fsum(tries) / len(tries), value, rel_tol=0.01, abs_tol=0.006):
        raise NotUnderstood(f"{title[:60]}: {value:g} is not the mean of its {len(tries)} tries")
