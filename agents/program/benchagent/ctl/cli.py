"""The command `benchctl`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import shtab
import truststore

from benchagent import __version__
from benchagent.arguments import ArgumentParser, above_zero
from benchagent.catalog import QUESTIONS
from benchagent.ctl import account, asking, bisecting, comparing, files, gate, lab, lists, past, running, uploading
from benchagent.ctl.files import TESTED
from benchagent.ctl.output import UsageError, print_line
from benchagent.ctl.running import EXIT_INTERRUPTED, EXIT_REFUSED
from benchagent.link.client import InsecureUrl, Refused, Unreachable

EXIT_USAGE, EXIT_UNREACHABLE = 2, 4


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    truststore.inject_into_ssl()
    try:
        status: int = options.command(options)
        return status
    except (UsageError, InsecureUrl) as error:
        print_line(f"benchctl: {error}")
        return EXIT_USAGE
    except Refused as error:
        print_line(f"benchctl: the server refused ({error.status}): {error.detail}")
        return EXIT_REFUSED
    except Unreachable as error:
        print_line(f"benchctl: {error}")
        return EXIT_UNREACHABLE
    except KeyboardInterrupt:
        print_line("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`benchctl runs | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(prog="benchctl", description="Results, comparisons and experiments of a Benchsite.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    login = commands.add_parser("login", help="remember a server and a token")
    login.add_argument("--server", metavar="URL", help="https://… (http only to this machine)")
    words = "- reads the token from standard input, NAME an environment variable"
    login.add_argument("--token", metavar="-|NAME", help=words)
    words = "file with the authority that signed the server's certificate, where the system does not know it"
    login.add_argument("--ca", metavar="FILE", help=words)
    login.set_defaults(command=account.login)
    commands.add_parser("logout", help="forget the server and the token").set_defaults(command=account.logout)
    whoami = commands.add_parser("whoami", help="who the server takes you for, and what the token may do")
    whoami.add_argument("--json", action="store_true")
    whoami.set_defaults(command=account.whoami)

    inspect = commands.add_parser("inspect", help="show what files hold; needs no server and no account")
    inspect.add_argument("files", nargs="+", metavar="FILE", help="file, or folder with files; - is standard input")
    inspect.add_argument("-v", "--verbose", action="store_true", help="all figures, series, warnings and parts")
    inspect.add_argument("--json", action="store_true")
    inspect.add_argument("--tool", action="append", default=[], metavar="FILE", help=TOOL_HELP)
    inspect.set_defaults(command=files.show)

    upload = commands.add_parser("upload", help="store files of tools, or result documents, as runs")
    upload.add_argument("files", nargs="+", metavar="FILE")
    _add_subject(upload)
    upload.set_defaults(command=uploading.upload)

    _add_gate(commands)
    importing = commands.add_parser("import", help="store a whole folder, going on where an earlier import stopped")
    importing.add_argument("folder", metavar="DIR")
    importing.add_argument("--names", type=past.pattern, metavar="PATTERN", help=past.NAMES_HELP)
    importing.add_argument("--again", action="store_true", help="also what was uploaded before")
    _add_subject(importing)
    importing.set_defaults(command=uploading.import_folder)

    export = commands.add_parser("export", help="an experiment with its results and files, for another server")
    export.add_argument("experiment", metavar="EXPERIMENT", help="its slug")
    export.add_argument("file", metavar="FILE")
    export.add_argument("--overwrite", action="store_true")
    export.set_defaults(command=uploading.export)

    bundle = commands.add_parser("import-bundle", help="store what `export` wrote on another server")
    bundle.add_argument("file", metavar="FILE")
    bundle.add_argument("--visibility", choices=("public", "unlisted", "private"), help="default: private")
    bundle.set_defaults(command=uploading.import_bundle)

    _add_reading(commands)
    _add_lab(commands)
    _add_experiments(commands)
    shtab.add_argument_to(parser, "--print-completion", help="completion for a shell: eval it, or keep it in a file")
    return parser


def _add_gate(commands: Any) -> None:
    gating = commands.add_parser("gate", help="store results and judge each cell against a baseline, for a pipeline")
    gating.add_argument("files", nargs="*", metavar="FILE")
    words = "measure base and head in turn on an agent: a plan of two engines or two configurations, base first"
    gating.add_argument("--run", metavar="PLAN.json", help=words)
    gating.add_argument("--poll", type=float, default=running.POLL_S, help=argparse.SUPPRESS)
    words = "of the main branch: last:10 (the default), days:30, label:…, version:…, commit:…"
    gating.add_argument("--than", "--against", metavar="BASELINE", default="last:10", help=words)
    words = "judge by it, as latency_p99_ms; repeatable; else by the main metric of each workload alone"
    gating.add_argument("--metric", action="append", default=[], metavar="NAME", help=words)
    words = "a smaller change matters not; else 3 %% of a rate, more of latencies"
    gating.add_argument("--allow", type=float, metavar="PERCENT", help=words)
    gating.add_argument("--format", choices=gate.FORMATS, default="table")
    _add_subject(gating, shape=False)
    gating.set_defaults(command=gate.run)


def _add_subject(parser: argparse.ArgumentParser, *, shape: bool = True) -> None:
    """What a person says about files."""
    parser.add_argument("--tool", action="append", default=[], metavar="FILE", help=f"{TOOL_HELP}; kept on the site")
    parser.add_argument("--restore", action="store_true", help="what was stored before and is deleted on the server")
    words = "give what is stored already the label, tags and commit that are said now"
    parser.add_argument("--correct", action="store_true", help=words)
    parser.add_argument("--hardware", metavar="NAME", help='slug of a known machine, or a name as "Lab 3"')
    parser.add_argument("--dbms", metavar='"NAME VERSION"', help='what the files do not say, as "PostgreSQL 15.14"')
    parser.add_argument("--config", action="append", metavar="FILE|SLUG", help="configuration of the DBMS; repeatable")
    parser.add_argument("--workload", metavar="SLUG")
    words = "the day, as 2026-11-20; or mtime: that of the files' last change; default: as the files say"
    parser.add_argument("--measured-on", metavar="DAY|mtime", help=words)
    words = "data, log, temp or backup; with a medium, as data=hdd0:hdd, a new device is added; repeatable"
    parser.add_argument("--storage", action="append", metavar=uploading.STORAGE, help=words)
    _add_described(parser)
    words = "the order of commits: a file with what `git rev-list BRANCH` prints, - reads standard input"
    parser.add_argument("--commits", type=past.Commits, metavar="FILE", help=words)
    if shape:
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--dry-run", action="store_true", help="read the files and send nothing")


def _add_described(parser: argparse.ArgumentParser) -> None:
    """What is said of all runs that were measured together."""
    parser.add_argument("--visibility", choices=("public", "unlisted", "private"), help="default: the server's setting")
    parser.add_argument("--label", metavar="TEXT", help="stands in legends where it tells one batch from another")
    parser.add_argument("--note", metavar="TEXT")
    parser.add_argument("--tag", action="append", metavar="WORD", help="to find it by; repeatable")
    for name in TESTED:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help="that was tested")


def _add_reading(commands: Any) -> None:
    _add_list(commands, "runs", words="filters of the API, as dbms=postgresql")

    compare = commands.add_parser("compare", help="judge cells against a baseline; for a CI with --fail-if")
    compare.add_argument("what", nargs="+", metavar="RUN|CELL", help="id of a run, or key of a cell or its beginning")
    baseline = compare.add_mutually_exclusive_group(required=True)
    baseline.add_argument("--baseline", metavar="RUN|CELL")
    words = "the newest run of the same cell that these filters of `runs` choose, as branch=main; repeatable"
    baseline.add_argument("--baseline-filter", action="append", metavar="NAME=VALUE", help=words)
    compare.add_argument("--since", type=comparing.days, metavar="30d", help="of --baseline-filter: not older")
    words = "what is pooled: label, version, date or all; default: repeats of one batch"
    compare.add_argument("--group", choices=("batch", "label", "version", "date", "all"), help=words)
    compare.add_argument("--metric", metavar="NAME", help="default: the workload's own")
    words = "a difference below this is too small to matter; default: that of the metric"
    compare.add_argument("--threshold", type=float, metavar="PERCENT", help=words)
    names = ", ".join(f"{name} ({status})" for name, status in comparing.EXIT_OF.items())
    words = f"verdicts that set the exit status: {names}"
    compare.add_argument("--fail-if", type=comparing.verdicts, metavar="VERDICT[,…]", help=words)
    compare.add_argument("--json", action="store_true")
    compare.set_defaults(command=comparing.run)

    ask = commands.add_parser("ask", help="a question about runs, answered in words, claims and what is missing")
    words = f"{', '.join(QUESTIONS)}; without it the one that fits best"
    ask.add_argument("what", nargs="+", metavar="[QUESTION] NAME=VALUE|RUN", help=f"QUESTION: {words}")
    words = f"verdicts of claims that set the exit status, as of compare; without a claim it is {asking.EXIT_NO_ANSWER}"
    ask.add_argument("--fail-if", type=comparing.verdicts, metavar="VERDICT[,…]", help=words)
    ask.add_argument("--since", type=comparing.days, metavar="30d", help="of runs that are not older")
    ask.add_argument("--json", action="store_true")
    ask.set_defaults(command=asking.run)

    words = "filters of the list of runs, as dbms=postgresql; or the id of one, with its changes"
    benchmarks = _add_list(commands, "benchmarks", words=words, command=lists.benchmarks)
    benchmarks.add_argument(
        "--than", metavar="BASELINE", help="last:10 (the default), days:30, label:…, version:…, commit:…"
    )


def _add_list(commands: Any, name: str, *, words: str = "", command: Any = lists.show) -> argparse.ArgumentParser:
    """A command that lists; `words` say what it filters by, where it does."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=lists.LISTS[name].help)
    if words:
        parser.add_argument("filters", nargs="*", metavar="NAME=VALUE", help=words)
    parser.add_argument("--limit", type=above_zero, default=lists.DEFAULT_LIMIT, metavar="N")
    parser.add_argument("--all", action="store_true")
    words = "these columns, by the names of the API's answer, as id,dbms.version,metrics.tps"
    parser.add_argument("--fields", type=lambda text: text.split(","), metavar="NAME[,…]", help=words)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true")
    shape.add_argument("--csv", action="store_true")
    parser.set_defaults(command=command, list=name, filters=[])
    return parser


def _add_lab(commands: Any) -> None:
    agents = _add_list(commands, "agents", command=lab.agents)
    act = agents.add_mutually_exclusive_group()
    act.add_argument("--pause", metavar="AGENT", help="it gets no new run")
    act.add_argument("--resume", metavar="AGENT")
    agents.add_argument("--reason", metavar="TEXT", help="of the pause")
    agents.add_argument("--until", metavar="TIME", help="of the pause, as 2026-12-01T08:00Z; default: until resumed")
    reservations = _add_list(commands, "reservations", command=lab.reservations)
    act = reservations.add_mutually_exclusive_group()
    act.add_argument("--add", metavar="AGENT", help="it begins nothing that would not end before")
    act.add_argument("--end", metavar="ID")
    reservations.add_argument("--from", dest="begins", metavar="TIME", help="default: now")
    reservations.add_argument("--until", metavar="TIME", help="as 2026-12-01T08:00Z; default: until somebody ends it")
    reservations.add_argument("--reason", metavar="TEXT", help="what for")
    errand = commands.add_parser("errand", help="have an agent install an engine, name or measure a storage, …")
    errand.add_argument("agent", metavar="AGENT")
    errand.add_argument("words", nargs="+", metavar="WORD", help="as engines install firebird-3.0; or update")
    errand.add_argument("--poll", type=float, default=running.POLL_S, metavar="SECONDS", help=argparse.SUPPRESS)
    errand.set_defaults(command=lab.errand)
    _add_list(commands, "queue")
    _add_list(commands, "experiments")
    templates = _add_list(commands, "templates", command=lab.templates)
    templates.add_argument("--agent", metavar="SLUG", help="what this one would run of each, and what it lacks")
    schedules = _add_list(commands, "schedules", command=lab.schedules)
    act = schedules.add_mutually_exclusive_group()
    act.add_argument("--add", metavar="EXPERIMENT", help="run its plan again at --cron or --at")
    for name in ("pause", "resume", "delete"):
        act.add_argument(f"--{name}", metavar="SCHEDULE")
    schedules.add_argument("--cron", metavar="FIELDS", help='five fields, as "0 22 * * *"')
    schedules.add_argument("--timezone", default="UTC", metavar="NAME", help="of --cron, as Europe/Prague")
    schedules.add_argument("--at", metavar="TIME", help="once, as 2026-12-01T22:00Z")
    schedules.add_argument("--ends", metavar="TIME", help="the last time it may be due")
    schedules.add_argument("--name", metavar="TEXT", help="default: the experiment's")


def _add_experiments(commands: Any) -> None:
    schedule = commands.add_parser("schedule", help="start an experiment on a registered machine")
    schedule.add_argument("--file", metavar="PLAN.json", help="the plan as the API takes it; - reads standard input")
    schedule.add_argument("--template", metavar="SLUG", help="with what else is said in the place of its own")
    schedule.add_argument("--part", metavar="NAME", help="of a template that has several")
    schedule.add_argument("--workload", metavar="SLUG")
    schedule.add_argument("--engine", action="append", metavar="DBMS:VERSION[@CONNECTION]", help="repeatable")
    schedule.add_argument("--factor", action="append", metavar="NAME=NUMBER[,…]", help="each value is run; repeatable")
    schedule.add_argument("--config", action="append", metavar="SLUG", help="stored configuration; repeatable")
    words = "setting of the engine, each value is run; repeatable; of several engines as postgresql:NAME=…"
    schedule.add_argument("--set", action="append", metavar="NAME=VALUE[,…]", help=words)
    _add_described(schedule)
    schedule.set_defaults(command=running.schedule)

    repeat = commands.add_parser("repeat", help="start the plan of an experiment again")
    repeat.add_argument("experiment", metavar="EXPERIMENT")
    repeat.set_defaults(command=running.repeat)
    for starting in (schedule, repeat):
        starting.add_argument("--repeats", type=above_zero, metavar="N")
        starting.add_argument("--agent", metavar="SLUG")
        starting.add_argument("--name", metavar="TEXT")
        words = "wait for the end; the exit status says how it ended"
        starting.add_argument("--watch", action="store_true", help=words)

    cancel = commands.add_parser("cancel", help="cancel runs, or what is left of experiments; what was measured stays")
    cancel.add_argument("what", nargs="+", metavar="EXPERIMENT|RUN")
    cancel.set_defaults(command=running.cancel)

    watch = commands.add_parser("watch", help="wait for a run or an experiment; the exit status says how it ended")
    watch.add_argument("what", metavar="EXPERIMENT|RUN")
    watch.set_defaults(command=running.watch)

    bisect = commands.add_parser("bisect", help="find what moved a benchmark between two runs of one agent, in steps")
    bisect.add_argument("what", nargs="+", metavar="RUN RUN|BISECTION")
    words = "wait for the end; the exit status is 0 where one version or setting is left"
    bisect.add_argument("--watch", action="store_true", help=words)
    bisect.set_defaults(command=bisecting.run)

    for waiting in (schedule, repeat, watch, bisect):
        waiting.add_argument("--timeout", type=float, metavar="SECONDS", help="give up waiting after this time")
        waiting.add_argument("--poll", type=float, default=running.POLL_S, metavar="SECONDS", help=argparse.SUPPRESS)
        waiting.add_argument("--json", action="store_true")


TOOL_HELP = "a tool described in YAML, asked before all that are known; can be given again"
