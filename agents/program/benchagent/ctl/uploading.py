"""`benchctl upload` and `benchctl import`: files to the server, and what a person says about them."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchagent.arguments import by_name
from benchagent.configfiles import recognise
from benchagent.ctl.api import Api, config_path, connect
from benchagent.ctl.files import LocalFile, Tools, described, own_tools, read, read_all, split_documents, walk
from benchagent.ctl.output import (
    ProgressLine,
    UsageError,
    columns_of,
    counted,
    how_far,
    print_json,
    print_line,
    print_table,
    shortened,
    table_lines,
)
from benchagent.ctl.parts import MOST_BYTES, send_files
from benchagent.ctl.past import Names, details_in_name, merged, why_not
from benchagent.importers import Report, as_json, inspect
from benchagent.importers.report import becomes_a_run, missing_details
from benchagent.link.client import Refused
from benchagent.protocol import STORAGE_ROLES
from benchagent.redaction import redact_text

# Experiments as bundles: docs/reference/bundle.md.


def export(options: argparse.Namespace) -> int:
    target = Path(options.file)
    if target.exists() and not options.overwrite:
        raise UsageError(f"{target} is there already: give another name, or --overwrite")
    content = connect().download(f"/experiments/{quote(options.experiment, safe='')}/bundle/")
    target.write_bytes(content)
    print_line(f"{target}: {len(content):,} bytes")
    return 0


def import_bundle(options: argparse.Namespace) -> int:
    file = Path(options.file)
    try:
        file.open("rb").close()
    except OSError as error:
        raise UsageError(f"{options.file} cannot be read: {error.strerror}") from error
    visibility = [("visibility", options.visibility)] if options.visibility else []
    answer = send_files(connect(), "/bundles/", [(file.name, file)], visibility)
    print_line(f"{'stored' if answer.get('created') else 'it was there already'}: {counted(answer['runs'])}")
    print(answer.get("url"))
    return 0


# Which files were uploaded to which server, by content, so that a broken import goes on where it stopped.


class Uploaded:
    """One line a file: server, SHA-256. Appended at once; a line that is cut is forgotten."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._path = config_path().with_name("benchctl-uploaded.txt")
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        known = (re.fullmatch(rf"{re.escape(server)} (\S{{64}})", line) for line in lines)
        self._known = {match[1] for match in known if match}

    def has(self, digest: str) -> bool:
        return digest in self._known

    def add(self, digests: Iterable[str]) -> None:
        new = [digest for digest in digests if digest not in self._known]
        if not new:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(f"{self._server} {digest}\n" for digest in new)
        self._known.update(new)


EXIT_PARTLY = 1
# Of more runs the addresses of their batches are printed.
MOST_ADDRESSES = 20
DONE = ("stored", "there already", "restored", "corrected", "skipped", "dry run", "no result by itself")
MAX_DOCUMENTS_AT_ONCE, MAX_FILES_AT_ONCE, MOST_BYTES_AT_ONCE = 200, 500, 100 * 1024**2
NOT_UNDERSTOOD = "not_understood"
TOO_LARGE = "larger than 32 MB: part its repeats into several documents with the same `batch`, which are pooled"
# How many files with one message are named, and how many characters of a name any terminal shows.
NAMES_SAID, LEAST_NAME = 3, 12
# A described tool is tried on so many characters of its output.
MAX_EXAMPLE = 90_000
ASK_EVERY_S = 1.0
# Before that a rate says nothing about what is left.
LEAST_RATE_S = 2.0


@dataclass
class Outcome:
    """What became of one group of files."""

    files: list[str]
    state: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    message: str = ""
    items: list[dict[str, Any]] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def done(self) -> bool:
        understood = {item["file"] for item in self.items if item["status"] != NOT_UNDERSTOOD}
        return self.state in DONE and understood == {item["file"] for item in self.items}

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "url": self.url or None, "message": self.message or None}


MTIME, DAY = "mtime", re.compile(r"\d{4}-\d{2}-\d{2}")
SLUG = re.compile(r"[a-z0-9_-]+")
STORAGE = "ROLE=DEVICE[:MEDIUM]"


def subject(options: argparse.Namespace) -> dict[str, Any]:
    """The options as the API's `subject`. Raises UsageError."""
    details: dict[str, Any] = {}
    if options.hardware:
        # What cannot be a slug is the name of a machine, made where it is new.
        known = SLUG.fullmatch(options.hardware)
        details["hardware"] = options.hardware if known else {"name": options.hardware}
    if options.dbms:
        name, _, version = options.dbms.strip().rpartition(" ")
        if not name or not any(character.isdigit() for character in version):
            raise UsageError(f'--dbms {options.dbms!r}: say name and version, as "PostgreSQL 15.14"')
        details["dbms"] = {"name": name.strip(), "version": version}
    if options.workload:
        details["workload"] = {"slug": options.workload}
    if options.config:
        details["config"] = _config(options.config)
    if options.storage:
        try:
            devices = by_name("--storage", map(_storage, options.storage))
        except ValueError as error:
            raise UsageError(str(error)) from error
        details["storage"] = [{"role": role, "device": _device(text)} for role, text in devices.items()]
    if options.measured_on:
        if options.measured_on != MTIME and not DAY.fullmatch(options.measured_on):
            raise UsageError(f"--measured-on {options.measured_on!r}: say a day, as 2026-11-20, or {MTIME}")
        details["measured_on"] = options.measured_on
    for name in ("visibility", "label", "note"):
        if getattr(options, name):
            details[name] = getattr(options, name)
    return _in_order(details | described(options), options, [])


def _in_order(details: dict[str, Any], options: argparse.Namespace, items: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """With the place of what was tested, and of the commits that files name, among those of `--commits`."""
    if options.commits is None:
        return details
    if "tested" in details:
        details = {**details, "tested": options.commits.ordered(details["tested"])}
    named = {item["tested"]["commit"] for item in items if item.get("tested", {}).get("commit")}
    numbers = {commit: number for commit in named if (number := options.commits.number(commit))}
    return details | ({"commit_numbers": numbers} if numbers else {})


def _config(given: Sequence[str]) -> Any:
    """The slug of a known configuration, or files, which are sent without their secrets."""
    files = [Path(name) for name in given if Path(name).is_file()]
    if not files:
        if len(given) > 1 or not given[0].replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"--config {' '.join(given)}: neither a file nor the slug of a configuration")
        return given[0]
    if len(files) < len(given):
        raise UsageError("--config: files and slugs cannot be mixed")
    sent = []
    for path in files:
        text = path.read_bytes().decode("utf-8", "replace")
        kind = recognise(text)
        print_line(f"{path}: {f'read as {kind}' if kind else 'sent as it is'}, secrets taken out")
        sent.append({"name": path.name, "text": redact_text(text)})
    return {"files": sent}


def _storage(text: str) -> tuple[str, str]:
    role, separator, device = text.partition("=")
    if not separator or not device or role not in STORAGE_ROLES:
        raise UsageError(f"--storage {text!r}: say {STORAGE}, the role being one of {', '.join(STORAGE_ROLES)}")
    return role, device


def _device(text: str) -> str | dict[str, str]:
    """A device that is known by its name; with a medium one that is added where the machine has none of this name."""
    name, separator, medium = text.rpartition(":")
    return {"name": name, "medium": medium} if separator and name and medium else text


def import_files(options: argparse.Namespace, *, dry_run: bool = False) -> list[Outcome]:
    """One import of all named files; result documents are stored as they are."""
    details, tools = subject(options), own_tools(options.tool)
    documents, rest = split_documents(read_all(options.files))
    api = None if dry_run else connect()
    outcomes = [_documents(api, local, held, options) for local, held in documents]
    if rest:
        outcomes.append(_files(api, rest, details, tools, options))
    if documents and details:
        words = ", ".join(details)
        print_line(
            f"result documents are stored as they say themselves: {words} of the command line is of other files only"
        )
    return outcomes


def upload(options: argparse.Namespace) -> int:
    outcomes = import_files(options, dry_run=options.dry_run)
    code = _finish(options, outcomes)
    if not options.json:
        states: Counter[str] = Counter()
        for outcome in outcomes:
            states[outcome.state] += len(outcome.files)
        print_line(", ".join(f"{counted(count, 'file')} {state}" for state, count in states.items()) or "no files")
    return code


def import_folder(options: argparse.Namespace) -> int:
    """Folder by folder, so that the files of one run are together; what was stored before is skipped."""
    details, tools = subject(options), own_tools(options.tool)
    if not Path(options.folder).is_dir():
        raise UsageError(f"{options.folder}: no such folder")
    paths = list(walk([options.folder]))
    api = None if options.dry_run else connect(patient=True)
    memory = Uploaded(api.server if api else "")
    folders = [list(files) for _, files in groupby(sorted(paths), key=lambda path: path[0].parent)]
    sizes = [sum(path.stat().st_size for path, _ in files) for files in folders]
    progress, began, done, files_done = ProgressLine(), time.monotonic(), 0, 0
    outcomes: list[Outcome] = []
    try:
        for files, size in zip(folders, sizes, strict=True):
            passed_s = time.monotonic() - began
            far = how_far(done, sum(sizes), done / passed_s if passed_s > LEAST_RATE_S else 0)
            progress.show(f"{files_done} of {len(paths)} files, {far}: {Path(files[0][1]).parent}")
            # One folder at a time in memory.
            read_now = [read(path, name) for path, name in files]
            for said, named in _by_names(read_now, options.names):
                if said is None:
                    for name in (local.file.name for local in named):
                        words = f"its name does not fit --names: {why_not(name, options.names)}"
                        outcomes.append(Outcome([name], "not understood", message=words))
                else:
                    outcomes += _folder(api, named, merged(details, said), memory, tools, options=options)
            done, files_done = done + size, files_done + len(files)
    finally:
        # Also of one that was interrupted, or whose server has gone.
        progress.end()
        code = _finish(options, outcomes)
        if not options.json:
            _sum_up(outcomes, done, time.monotonic() - began)
        if files_done < len(paths):
            print_line(
                f"{len(paths) - files_done} of {len(paths)} files are left: the same command goes on where this ended"
            )
    return code


def _sum_up(outcomes: Sequence[Outcome], size: int, passed_s: float) -> None:
    rows = []
    for state in dict.fromkeys(outcome.state for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.state == state]
        runs = sum(len(outcome.runs) for outcome in own)
        rows.append((state, str(sum(len(outcome.files) for outcome in own)), str(runs or "")))
    if rows:
        print()
        print_table(rows, heading=("STATE", "FILES", "RUNS"))
    print_line(f"{how_far(size, size, 0).partition(' of ')[2]} in {passed_s:,.1f} s")


def _by_names(files: Sequence[LocalFile], names: Names | None) -> list[tuple[dict[str, Any] | None, list[LocalFile]]]:
    """Files whose names tell the same, with what they tell; None of those that do not fit."""
    if names is None:
        return [({}, [*files])]
    groups: dict[str, tuple[dict[str, Any] | None, list[LocalFile]]] = {}
    for local in files:
        said = details_in_name(local.file.name, names)
        groups.setdefault(json.dumps(said, sort_keys=True), (said, []))[1].append(local)
    return list(groups.values())


def _folder(
    api: Api | None, files: Sequence[LocalFile], details: dict[str, Any], memory: Uploaded, tools: Tools,
    *, options: argparse.Namespace,
) -> list[Outcome]:  # fmt: skip
    new = [local for local in files if options.again or not memory.has(local.digest)]
    outcomes = [Outcome([local.file.name], "skipped", message="uploaded before") for local in files if local not in new]
    documents, rest = split_documents(new)
    for local, held in documents:
        outcomes.append(_sent(memory, [local], partial(_documents, api, local, held, options)))
    read = inspect([local.file for local in rest], own_tools=[tool for _, tool in tools])
    reports = (reports for _, reports in read)
    kinds = _kinds(list(zip(rest, reports, strict=True)), details)
    reasons = {file.name: reports[0].refusal for file, reports in read}
    for kind in ("not understood", "no result by itself"):
        for local in chain(*kinds.get(kind, [])):
            reason = reasons[local.file.name] if kind == "not understood" else ""
            outcomes.append(Outcome([local.file.name], kind, message=reason))
    # What is complete is not held up by what lacks something.
    for kind in ("complete", "lacking"):
        for wanted in _at_once(kinds.get(kind, [])):
            send = partial(_files, api, wanted, details, tools, options)
            outcomes.append(_sent(memory, wanted, send))
    return outcomes


def _at_once(runs: Iterable[list[LocalFile]]) -> Iterator[list[LocalFile]]:
    """The files of as many whole runs as one import takes: what comes in two is not pooled."""
    held: list[LocalFile] = []
    held_bytes = 0
    for files in runs:
        size_bytes = sum(local.path.stat().st_size for local in files)
        if held and (len(held) + len(files) > MAX_FILES_AT_ONCE or held_bytes + size_bytes > MOST_BYTES_AT_ONCE):
            yield held
            held, held_bytes = [], 0
        held, held_bytes = [*held, *files], held_bytes + size_bytes
    if held:
        yield held


def _kinds(
    read: Sequence[tuple[LocalFile, Sequence[Report]]], details: dict[str, Any]
) -> dict[str, list[list[LocalFile]]]:
    """The files of each run by what can become of them."""
    runs: dict[str, list[tuple[LocalFile, Sequence[Report]]]] = {}
    for local, reports in read:
        holder = next((report.part_of for report in reports if report.part_of), local.file.name)
        runs.setdefault(holder, []).append((local, reports))
    kinds: dict[str, list[list[LocalFile]]] = {}
    for parts in runs.values():
        items = [as_json(local.file, report) for local, reports in parts for report in reports]
        if all(item["part_of"] or item["status"] == NOT_UNDERSTOOD for item in items):
            kind = "not understood"
        elif not any(becomes_a_run(item, details) for item in items):
            kind = "no result by itself"
        else:  # the server asks for the machine of all files alike
            kind = "lacking" if missing_details(items, details).keys() - {"hardware"} else "complete"
        kinds.setdefault(kind, []).append([local for local, _ in parts])
    return kinds


def _sent(memory: Uploaded, files: Sequence[LocalFile], send: Callable[[], Outcome]) -> Outcome:
    """What is stored is remembered. In a folder of many, one refusal does not end the rest."""
    try:
        outcome = send()
    except Refused as error:
        if error.status in (401, 403):
            raise
        return Outcome([local.file.name for local in files], "refused", message=error.detail)
    if outcome.state in ("stored", "there already", "corrected"):
        memory.add(local.digest for local in files)
    return outcome


def _restored(api: Api, outcome: Outcome, *, wanted: bool) -> Outcome:
    """Bring back the runs that the server has deleted, if that is wanted; else say that they are deleted."""
    gone = [run["id"] for run in outcome.runs if run.get("restore_url")]
    if not gone:
        return outcome
    if wanted:
        for run_id in gone:
            api.post(f"/runs/{quote(run_id)}/restore/", None)
        return outcome if outcome.message else replace(outcome, state="restored")
    words = f"{counted(len(outcome.runs))} stored before, {len(gone)} deleted on the server: --restore brings them back"
    return replace(outcome, state="deleted", message="\n".join(filter(None, (outcome.message, words))))


def _corrected(api: Api, answer: dict[str, Any], details: dict[str, Any], outcome: Outcome, *, wanted: bool) -> Outcome:
    """Change label, tags or commit of files that are stored already, if that is wanted; else say how they differ."""
    stored = answer.get("described") or {}
    said = {name: details[name] for name in ("label", "tags", "tested") if name in details and name in stored}
    if "tested" in said:
        said["tested"] = {**stored["tested"], **said["tested"]}
    new = {name: value for name, value in said.items() if value != stored[name]}
    outcome = _otherwise(answer.get("subject") or {}, details, outcome)
    if not new:
        return outcome
    if wanted:
        api.patch(f"/batches/{quote(str(answer['id']))}/", new)
        return replace(outcome, state="corrected")
    words = "; ".join(f"{name}: stored {json.dumps(stored[name])}, said {json.dumps(new[name])}" for name in new)
    message = f"there already, and nothing was changed: {words} (--correct changes it)"
    return replace(outcome, message="\n".join(filter(None, (outcome.message, message))))


def _otherwise(stored: dict[str, Any], details: dict[str, Any], outcome: Outcome) -> Outcome:
    """With how what is said of the measured differs from what was said of it before."""
    words = [
        f"{name}: stored {_in_words(stored[name])}, said {_in_words(details[name])}"
        for name in ("dbms", "workload", "measured_on")
        if name in stored and name in details and stored[name] != details[name]
    ]
    if not words:
        return outcome
    message = f"there already, and what was measured is not changed: {'; '.join(words)}"
    return replace(outcome, message=message)


def _in_words(value: Any) -> str:
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _documents(
    api: Api | None, local: LocalFile, documents: list[dict[str, Any]], options: argparse.Namespace
) -> Outcome:
    for document in documents if options.commits is not None else ():
        if isinstance(document.get("tested"), dict):
            document["tested"] = options.commits.ordered(document["tested"])
    if api is None:
        return Outcome([local.file.name], "dry run", message=f"{len(documents)} result documents")
    runs: list[dict[str, Any]] = []
    problems: list[str] = []
    warnings: list[str] = []
    new = False
    for numbers in _requests(documents):
        if _bytes_of(documents[numbers[0]]) > MOST_BYTES:
            problems.append(f"document {numbers[0] + 1}: {TOO_LARGE}")
            continue
        answer = api.post("/results/", {"results": [documents[number] for number in numbers]})
        for number, stored in zip(numbers, answer.get("results", []), strict=False):
            new |= stored.get("status") == "created"
            warnings += stored.get("warnings", [])
            if stored.get("status") in ("created", "same", "deleted"):
                runs += stored.get("runs") or [{"id": stored.get("id"), "url": stored.get("url")}]
            else:
                wrong = stored.get("errors") or stored.get("detail") or stored
                problems.append(f"document {number + 1}: {json.dumps(wrong)}")
    state = "refused" if problems else "stored" if new else "there already"
    told = list(dict.fromkeys(warnings))
    outcome = Outcome([local.file.name], state, runs=runs, message="\n".join(problems), warnings=told)
    return _restored(api, outcome, wanted=options.restore)


def _requests(documents: Sequence[dict[str, Any]]) -> Iterator[range]:
    """Numbers of those that go together: as many as a request takes, one that is too large alone."""
    first, held_bytes = 0, 0
    for number, document in enumerate(documents):
        held_bytes += _bytes_of(document)
        if number > first and (number - first == MAX_DOCUMENTS_AT_ONCE or held_bytes > MOST_BYTES):
            yield range(first, number)
            first, held_bytes = number, _bytes_of(document)
    yield range(first, len(documents))


def _bytes_of(document: dict[str, Any]) -> int:
    """In a request, with what stands around it."""
    return len(json.dumps(document)) + len('{"results": []}')


def _files(
    api: Api | None, files: Sequence[LocalFile], details: dict[str, Any], tools: Tools, options: argparse.Namespace
) -> Outcome:
    names = [local.file.name for local in files]
    if api is None:
        read = inspect([local.file for local in files], own_tools=[tool for _, tool in tools])
        counts = Counter(report.status for _, reports in read for report in reports)
        words = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in counts.items())
        return Outcome(names, "dry run", message=words)
    for text, tool in tools:  # the server keeps each with the first file that it reads as its example
        if example := next((local.file.text for local in files if tool.claims(local.file)), ""):
            api.post("/tools/", {"text": text, "example": example[:MAX_EXAMPLE]})
    answer = _read(api, send_files(api, "/imports/", [(local.file.name, local.path) for local in files]))
    state = "there already"
    if answer.get("state") == "failed":
        message = f"the server could not read them: {answer.get('problem')}"
        return Outcome(names, "refused", url=str(answer.get("url", "")), message=message)
    items = answer.get("items", [])
    if details.get("measured_on") == MTIME:
        details = {name: value for name, value in details.items() if name != "measured_on"}
        details["files"] = _days_of_change(files, answer.get("files", []), items)
    details, unread = _in_order(details, options, items), _reasons(items)
    if answer.get("state") != "stored":
        try:
            answer |= api.post(f"/imports/{answer['id']}/store/", {"subject": details})
            state = "stored"
        except Refused as error:
            if error.status != 400:
                raise
            url = str(answer.get("url", ""))
            if items and all(item["status"] == NOT_UNDERSTOOD for item in items):
                unread.append(f"the server makes no result of them, as it says there, too: {url}")
                return Outcome(names, "not understood", url=url, message="\n".join(unread), items=items)
            if "items" in answer.get("needs", []):  # nothing that anybody says makes a result of it
                state = "not understood" if unread else "no result by itself"
                return Outcome(names, state, url=url, message="\n".join(unread), items=items)
            complete = f"complete it at {url}, or say it with options (benchctl upload --help)"
            # The server knows no options.
            new = [f"--storage {STORAGE} adds a device, as data=hdd0:hdd"] if "storage[" in error.detail else []
            message = "\n".join([*unread, error.detail, *new, complete])
            lacking, warnings = answer.get("needs", []), answer.get("warnings", [])
            return Outcome(names, "incomplete", url=url, message=message, items=items, needs=lacking, warnings=warnings)
    runs, items = answer.get("runs", []), answer.get("items", [])
    url, warnings = str(answer.get("url", "")), answer.get("warnings", [])
    outcome = Outcome(names, state, runs=runs, url=url, items=items, warnings=warnings)
    if state == "there already":
        outcome = _corrected(api, answer, details, outcome, wanted=options.correct)
    outcome = _restored(api, outcome, wanted=options.restore)
    return replace(outcome, message="\n".join(filter(None, (*unread, outcome.message))))


def _days_of_change(
    files: Sequence[LocalFile], kept: Sequence[dict[str, Any]], items: Sequence[dict[str, Any]]
) -> dict[str, dict[str, str]]:
    """What is said of each file that does not tell its day, by its name on the server: `2-NAME` of a second one."""
    dated = {item["file"] for item in items if item.get("started_at")}
    pairs = [(own["name"], local) for own, local in zip(kept, files, strict=False)]
    return {
        name: {"measured_on": datetime.fromtimestamp(local.path.stat().st_mtime, UTC).date().isoformat()}
        for name, local in pairs
        if name not in dated and name.endswith(local.file.name)
    }


def _reasons(items: Iterable[dict[str, Any]]) -> list[str]:
    """Why files, or results in them, were not understood."""
    lines = [f"{item['file']}: {item['reason']}" for item in items if item["status"] == NOT_UNDERSTOOD]
    more = [f"and {len(lines) - NAMES_SAID} more results that were not understood"] if len(lines) > NAMES_SAID else []
    return [*lines[:NAMES_SAID], *more]


def _read(api: Api, answer: dict[str, Any]) -> dict[str, Any]:
    """The import when its files are read: the server leaves large ones to a worker."""
    progress = ProgressLine()
    while answer.get("state") == "reading":
        state = answer.get("progress", {})
        doing = "keeps" if state.get("step") == "keep" else "reads"
        far = how_far(int(state.get("read_bytes", 0)), int(state.get("size_bytes", 0)), state.get("bytes_per_s", 0))
        progress.show(f"the server {doing} {state.get('file') or 'them soon'}: {far}")
        time.sleep(ASK_EVERY_S)
        answer = api.get(f"/imports/{answer['id']}/")
    progress.end()
    return answer


def _finish(options: argparse.Namespace, outcomes: Sequence[Outcome]) -> int:
    if options.json:
        print_json([outcome.as_json() for outcome in outcomes])
    else:
        show(outcomes)
    return 0 if all(outcome.done for outcome in outcomes) else EXIT_PARTLY


def show(outcomes: Sequence[Outcome]) -> None:
    runs = [run for outcome in outcomes for run in outcome.runs]
    if copies := sum("copy_of" in run for run in runs):
        print_line(
            f"{copies} of {counted(len(runs))}: a copy of a result that is stored, shown there and counted nowhere"
        )
    shown = [outcome for outcome in outcomes if outcome.state != "skipped" or len(outcomes) == 1]
    if shown:
        _print_outcomes(shown, columns_of(sys.stdout))
    if runs and len(outcomes) == 1:
        # An older server tells no batch.
        of_runs = [str(run.get("url") or run.get("id")) for run in runs]
        of_batches = [str(run.get("batch") or own) for run, own in zip(runs, of_runs, strict=True)]
        print("\n".join(of_runs if len(runs) <= MOST_ADDRESSES else dict.fromkeys(of_batches)))
    for words in dict.fromkeys(chain(*(outcome.warnings for outcome in outcomes))):
        print_line(f"warning: {words}")
    # What many files have in common is said once.
    explained = [outcome for outcome in shown if outcome.message and outcome.state not in ("skipped", "dry run")]
    for message in dict.fromkeys(outcome.message for outcome in explained):
        names = [outcome.files[0] for outcome in explained if outcome.message == message]
        more = f" and {len(names) - NAMES_SAID} more" if len(names) > NAMES_SAID else ""
        print_line(f"{', '.join(names[:NAMES_SAID])}{more}:\n  " + "\n  ".join(message.split("\n")))


def _print_outcomes(outcomes: Sequence[Outcome], columns: int | None) -> None:
    """A table; on a terminal that is too narrow for it the names are cut, and each address has a line of its own."""
    heading = ("FILES", "STATE", "RUNS", "IMPORT")

    def rows(room: int) -> list[tuple[str, str, str, str]]:
        listed = []
        for outcome in outcomes:
            first, *others = outcome.files
            more = f" and {len(others)} more" if others else ""
            name = shortened(first, max(room - len(more), LEAST_NAME)) + more
            listed.append((name, outcome.state, str(len(outcome.runs) or ""), outcome.url))
        return listed

    lines = table_lines(rows(sys.maxsize), heading=heading)
    if columns is None or max(map(len, lines)) <= columns:
        print("\n".join(lines))
        return
    rest = max(len(outcome.state) for outcome in outcomes) + len("  " + "  RUNS")
    title, *lines = table_lines([row[:3] for row in rows(columns - rest)], heading=heading[:3])
    print(title)
    for line, outcome in zip(lines, outcomes, strict=True):
        print(line + (f"\n  {outcome.url}" if outcome.url else ""))
