"""Files and folders that were named on the command line, and `benchctl inspect`, which shows what they hold."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchagent.ctl.output import UsageError, plain_number, print_json
from benchagent.importers import Report, SourceFile, Status, as_json, inspect, streaming
from benchagent.importers.described import Described
from benchagent.importers.described import described as of_yaml
from benchagent.importers.report import headline
from benchagent.importers.source import NotUnderstood

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_SNIFFED_BYTES = 128 * 1024 * 1024
# What was tested, as options name it.
TESTED = ("build", "commit", "branch", "commit_number", "parents")


def described(options: argparse.Namespace) -> dict[str, Any]:
    """Tags and what was tested, as the API takes them of an import and of a plan; what is not given is left out."""
    tested = {name: getattr(options, name) for name in TESTED if getattr(options, name)}
    return {name: value for name, value in (("tags", options.tag), ("tested", tested)) if value}


@dataclass(frozen=True)
class LocalFile:
    path: Path
    file: SourceFile

    @property
    def digest(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def read_all(paths: Iterable[str]) -> list[LocalFile]:
    """Every file that is named or lies below a named folder. Raises UsageError."""
    return [read(path, name) for path, name in walk(paths)]


def walk(paths: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Files with the name that the server is told: their path below the folder that all named ones share."""
    named = [Path(os.path.abspath(given)) for given in paths]  # noqa: PTH100  # links stay as they are
    for path in named:
        if not path.is_dir() and not path.is_file():
            raise UsageError(f"{path}: no such file or folder")
    base = os.path.commonpath([path if path.is_dir() else path.parent for path in named]) if named else ""
    for path in named:
        files = sorted(_below(path)) if path.is_dir() else [path]
        yield from ((file, file.relative_to(base).as_posix()) for file in files)


def _below(folder: Path) -> Iterator[Path]:
    """Files below a folder, without hidden ones and without following links out of it."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(root) / name
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                yield path


def read(path: Path, name: str) -> LocalFile:
    """A log that is read as a stream may be of any size. Raises UsageError, also for what else is too large."""
    try:
        file = SourceFile.of(name, path)
        if file.size_bytes > MAX_FILE_BYTES and streaming(file) is None:
            raise UsageError(f"{path}: larger than {MAX_FILE_BYTES // 1024 // 1024} MB")
        return LocalFile(path, file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def result_documents(file: SourceFile) -> list[dict[str, Any]] | None:
    """The documents of the upload schema in a file, alone, as list or under "results"; None when it holds others."""
    try:
        if file.size_bytes > MAX_SNIFFED_BYTES or not file.head.data[:2048].lstrip().startswith((b"{", b"[")):
            return None
        content = json.loads(file.text)
    except (ValueError, RecursionError, NotUnderstood):
        return None
    if isinstance(content, dict) and "results" in content and "schema_version" not in content:
        content = content["results"]
    documents = content if isinstance(content, list) else [content]
    whole = documents and all(isinstance(document, dict) and "schema_version" in document for document in documents)
    return documents if whole else None


def split_documents(files: Iterable[LocalFile]) -> tuple[list[tuple[LocalFile, list[dict[str, Any]]]], list[LocalFile]]:
    """The files of result documents, each with what it holds; all others."""
    held = [(local, result_documents(local.file)) for local in files]
    documents = [(local, documents) for local, documents in held if documents is not None]
    return documents, [local for local, documents in held if documents is None]


# `benchctl inspect`: what the importers understand of files, without server and account.

EXIT_NOT_UNDERSTOOD = 1


# Descriptions with what they are made to.
Tools = Sequence[tuple[str, Described]]


def own_tools(paths: Iterable[str]) -> Tools:
    """Descriptions of tools as text, and what they are made to. Raises UsageError."""
    tools = []
    for path in paths:
        try:
            text = Path(path).read_text(encoding="utf-8")
            tools.append((text, of_yaml(text)))
        except (OSError, ValueError) as error:
            raise UsageError(f"--tool {path}: {error}") from error
    return tools


def show(options: argparse.Namespace) -> int:
    with TemporaryDirectory() as folder:
        standard_input = Path(folder, "stdin")
        if "-" in options.files:
            with standard_input.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
        return _shown(options, [str(standard_input) if name == "-" else name for name in options.files])


def _shown(options: argparse.Namespace, paths: Sequence[str]) -> int:
    tools = [tool for _, tool in own_tools(options.tool)]
    files = [(local, result_documents(local.file)) for local in read_all(paths)]
    understood = iter(inspect([local.file for local, documents in files if documents is None], own_tools=tools))
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
        _show(entries, verbose=options.verbose)
    return EXIT_NOT_UNDERSTOOD if any(entry["status"] == Status.NOT_UNDERSTOOD for entry in entries) else 0


def _document(local: LocalFile, document: dict[str, Any]) -> dict[str, Any]:
    """A document of the upload schema, shown like a tool's report; the server is the one who checks it."""
    entry = as_json(local.file, Report(tool="result document", status=Status.COMPLETE))
    factors = document.get("factors")
    workload = document.get("workload")
    entry["parameters"] = factors if isinstance(factors, dict) else {}
    entry["subject"]["workload"] = workload.get("slug") if isinstance(workload, dict) else None
    return entry


def _show(entries: Sequence[dict[str, Any]], *, verbose: bool) -> None:
    parts = Counter(entry["part_of"] for entry in entries if entry["part_of"])
    for entry in entries:
        if entry["part_of"] and not verbose:
            continue
        tool = " ".join(filter(None, (entry["tool"], entry["tool_version"])))
        print(f"{entry['file']}: {' · '.join(filter(None, (tool, entry['status'].replace('_', ' '))))}")
        if entry["part_of"]:
            print(f"  part of {entry['part_of']}")
            continue
        # A file of several runs has its parts once.
        lines = _lines(entry, parts.pop(entry["file"], 0), verbose=verbose)
        for label, text in lines:
            print(f"  {label:<11}{text}")
    states = [entry["status"] for entry in entries if not entry["part_of"]]
    words = [f"{states.count(status)} {status.replace('_', ' ')}" for status in Status if states.count(status)]
    print(f"{len({entry['file'] for entry in entries})} files: {', '.join(words) or 'nothing'}")


def _lines(entry: dict[str, Any], parts: int, *, verbose: bool) -> list[tuple[str, str]]:
    """What counts first; figures, series and all warnings only where they are asked for."""
    subject, metrics, warnings = entry["subject"], entry["metrics"], entry["warnings"]
    result = [f"{metric['name']} {plain_number(metric['value'])} {metric['unit']}" for metric in headline(metrics)]
    about = [subject["workload"], " ".join(filter(None, (subject["dbms"], subject["dbms_version"])))]
    lines = [
        ("result", ", ".join(result)),
        ("reason", entry["reason"] or ""),
        ("subject", ", ".join(filter(None, about))),
        ("factors", ", ".join(f"{name}={value}" for name, value in entry["parameters"].items())),
        ("with", f"{parts} more file{'' if parts == 1 else 's'} of the same run" if parts else ""),
    ]
    series = [f"{each['name']} ({each['points']} × {each['interval']:g} s)" for each in entry["series"]]
    if verbose:
        for metric in metrics:
            phase = "" if metric["phase"] == "run" else f" ({metric['phase']})"
            lines.append(("", f"{metric['name']:<34}{plain_number(metric['value']):>16} {metric['unit']}{phase}"))
        lines.append(("series", ", ".join(series)))
        lines += [("warning", warning) for warning in warnings]
    else:
        lines += [("warning", warning) for warning in warnings[:1]]
        rest = [(len(metrics) - len(result), "figure"), (len(series), "series"), (len(warnings) - 1, "warning")]
        words = [f"{count} {word}{'' if count == 1 or word == 'series' else 's'}" for count, word in rest if count > 0]
        lines.append(("more", f"{', '.join(words)} (-v)" if words else ""))
    return [(label, text) for label, text in lines if text]
