"""`benchctl inspect`: what the importers understand of files, without server and account."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from benchagent.ctl.files import LocalFile, read_all, result_documents
from benchagent.ctl.output import plain_number, print_json
from benchagent.importers import Report, Status, as_json, inspect

EXIT_NOT_UNDERSTOOD = 1
MAX_METRICS_SHOWN = 24


def run(options: argparse.Namespace) -> int:
    files = [(local, result_documents(local.file)) for local in read_all(options.files)]
    understood = iter(inspect([local.file for local, documents in files if documents is None]))
    entries: list[dict[str, Any]] = []
    for local, documents in files:
        if documents is None:
            file, reports = next(understood)
            entries += [as_json(file, report) for report in reports]
        else:
            entries += [_document(local, document) for document in documents]
    if options.json:
        print_json(entries)
    else:
        _show(entries)
    return EXIT_NOT_UNDERSTOOD if any(entry["status"] == Status.NOT_UNDERSTOOD for entry in entries) else 0


def _document(local: LocalFile, document: dict[str, Any]) -> dict[str, Any]:
    """A document of the upload schema, shown like a tool's report; the server is the one who checks it."""
    entry = as_json(local.file, Report(tool="result document", status=Status.COMPLETE))
    factors = document.get("factors")
    workload = document.get("workload")
    entry["parameters"] = factors if isinstance(factors, dict) else {}
    entry["subject"]["workload"] = workload.get("slug") if isinstance(workload, dict) else None
    return entry


def _show(entries: Sequence[dict[str, Any]]) -> None:
    for entry in entries:
        tool = " ".join(filter(None, (entry["tool"], entry["tool_version"])))
        print(f"{entry['file']}: {' · '.join(filter(None, (tool, entry['status'].replace('_', ' '))))}")
        if entry["part_of"]:
            print(f"  part of {entry['part_of']}")
            continue
        for label, text in _lines(entry):
            print(f"  {label:<11}{text}")
    print(_count(entries))


def _lines(entry: dict[str, Any]) -> list[tuple[str, str]]:
    subject = entry["subject"]
    said = [subject["workload"], " ".join(filter(None, (subject["dbms"], subject["dbms_version"])))]
    lines = [("reason", entry["reason"] or ""), ("subject", ", ".join(filter(None, said)))]
    lines.append(("parameters", ", ".join(f"{name}={value}" for name, value in entry["parameters"].items())))
    metrics = entry["metrics"]
    for metric in metrics[:MAX_METRICS_SHOWN]:
        phase = "" if metric["phase"] == "run" else f" ({metric['phase']})"
        lines.append(("", f"{metric['name']:<34}{plain_number(metric['value']):>16} {metric['unit']}{phase}"))
    if len(metrics) > MAX_METRICS_SHOWN:
        lines.append(("", f"… and {len(metrics) - MAX_METRICS_SHOWN} more (--json shows all)"))
    series = [f"{each['name']} ({each['points']} × {each['interval']:g} s)" for each in entry["series"]]
    lines.append(("series", ", ".join(series)))
    lines += [("warning", warning) for warning in entry["warnings"]]
    return [(label, text) for label, text in lines if text]


def _count(entries: Sequence[dict[str, Any]]) -> str:
    states = [entry["status"] for entry in entries if not entry["part_of"]]
    words = [f"{states.count(status)} {status.replace('_', ' ')}" for status in Status if states.count(status)]
    return f"{len({entry['file'] for entry in entries})} files: {', '.join(words) or 'nothing'}"
