"""`benchagent connections`: named connections to servers that somebody else runs."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent.arguments import by_name
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.cli.commands import Actions
from benchagent.dbms.external import Visit, visit
from benchagent.dbms.external.connections import UNKNOWN_VERSION, Connections, from_answers
from benchagent.dbms.external.server import reachable
from benchagent.errors import JobError
from benchagent.java import JavaToolchain
from benchagent.job.dryrun import planned
from benchagent.link import identity
from benchagent.machine.process import Children
from benchagent.paths import AgentDirs
from benchagent.protocol import NOT_SAMPLED
from benchagent.workloads import workload as workload_of

NOT_VERIFIED = "not verified against a live server"
PAIR = "AGENT/OBSERVATION"
SCRIPT = "script"


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    actions = Actions(commands, common, "connections", _list, "name servers that somebody else runs")
    actions.add("list", _list, "list their names (the default action)")

    add = actions.add("add", _add, "name one; url, user and password are asked for", "name")
    add.add_argument("--dbms", required=True, choices=[slug for slug in DBMSS if reachable(slug)])
    words = 'a JSON file with "url", "user", "password" and "schema", or - for standard input, instead of being asked'
    add.add_argument("--from", dest="source", metavar="FILE", help=words)
    add.add_argument("--observed-by", metavar=PAIR, default="", help="who samples the server's machine")
    words = "the address leads through a tunnel or into a container: no folder of the server is looked at here"
    add.add_argument("--elsewhere", action="store_true", help=words)

    password = actions.add("password", _password, "replace its password, which is asked for", "name")
    words = 'a JSON file with "password", or - for standard input, instead of being asked'
    password.add_argument("--from", dest="source", metavar="FILE", help=words)

    words = "name the agent on the server's machine that samples it, and its observation; without: nobody does"
    pair = actions.add("pair", _pair, words, "name")
    pair.add_argument("observed_by", metavar=PAIR, nargs="?", default="")

    check = actions.add("check", _check, "connect, and say what is there; changes nothing", "name")
    check.add_argument("--workload", choices=list(WORKLOADS), help="show what this workload would do")
    words = "print all SQL and commands that would be sent, then send none"
    check.add_argument("--dry-run", action="store_true", help=words)
    words = "of the workload, instead of its default; any number of times"
    check.add_argument("--factor", metavar="NAME=VALUE", action="append", default=[], dest="factors", help=words)
    check.add_argument("--script", metavar="FILE", help="what the workload `script` would do with this script")

    actions.add("clean", _clean, "drop the tables that the agent has left there", "name")
    actions.add("remove", _remove, "forget a connection", "name")


def _list(_options: argparse.Namespace, dirs: AgentDirs) -> None:
    for connection in Connections(dirs.root).listed():
        entry, words = DBMSS[connection.dbms], [connection.name]
        words += [entry.name, *([] if connection.version == UNKNOWN_VERSION else [connection.version])]
        words += [connection.unusable] if connection.unusable else []
        words += [NOT_VERIFIED] if entry.unverified else []
        words += [f"observed by {connection.observed_by}"] if connection.observed_by else []
        print("  ".join(words))


def _add(options: argparse.Namespace, dirs: AgentDirs) -> None:
    name, connections = options.name, Connections(dirs.root)
    if any(known.name == name for known in connections.listed()):
        raise JobError(
            f"there is a connection {name!r} already: `benchagent connections password {name}` replaces its password; "
            f"to name another server, `benchagent connections remove {name}` first"
        )
    answers = _read(options.source) if options.source else _asked()
    made = from_answers(name, options.dbms, answers)
    connections.add(replace(made, observed_by=options.observed_by, elsewhere=options.elsewhere))
    print(f"connection {name} added; try it with `benchagent connections check {name}`")


def _password(options: argparse.Namespace, dirs: AgentDirs) -> None:
    connections = Connections(dirs.root)
    connections.get(options.name)
    if options.source:
        password = str(_read(options.source).get("password") or "")
    else:
        _need_terminal()
        password = getpass.getpass("new password: ")
    connections.set_password(options.name, password)
    print(f"connection {options.name} has the new password; try it with `benchagent connections check {options.name}`")


def _pair(options: argparse.Namespace, dirs: AgentDirs) -> None:
    Connections(dirs.root).pair(options.name, options.observed_by)
    print(f"connection {options.name}: {f'observed by {options.observed_by}' if options.observed_by else NOT_SAMPLED}")


def _read(source: str) -> Mapping[str, Any]:
    try:
        answers = json.loads(sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        # Words of the parser may hold a piece of the file.
        raise JobError(f"{source} cannot be read as JSON ({type(error).__name__})") from None
    if not isinstance(answers, dict):
        raise JobError(f'{source} has to be an object with "url", "user", "password" and "schema"')
    return answers


def _need_terminal() -> None:
    if not sys.stdin.isatty():
        raise JobError("there is no terminal to ask at: answer by --from FILE, or --from - on standard input")


def _asked() -> dict[str, str]:
    _need_terminal()
    answers = {
        "url": input("JDBC URL: "),
        "user": input("user: "),
        "schema": input("schema or database of the agent's own (made if it is not there): "),
    }
    return {**answers, "password": getpass.getpass("password: ")}


def _remove(options: argparse.Namespace, dirs: AgentDirs) -> None:
    Connections(dirs.root).remove(options.name)
    print(f"connection {options.name} removed; what the agent made on the server is still there")


def _check(options: argparse.Namespace, dirs: AgentDirs) -> None:
    slug = options.workload or (SCRIPT if options.script else None)
    factors = _factors(options, slug)
    with _visited(options.name, dirs) as server:
        version = server.version or UNKNOWN_VERSION
        Connections(dirs.root).note_version(options.name, version)
        print(f"connection {options.name}: {DBMSS[server.asker.connection.dbms].name} {version} answers")
        watched, short = server.watched, server.shortage()
        if watched.folders or server.space_query:
            print(f"free space watched{f': {short}' if short else ''}")
        elif not watched.unwatched:
            print("no free space to watch: the database is in memory")
        if watched.unwatched:
            print(watched.unwatched)
        prepared = server.preparation()
        print("schema: the agent's own" if not prepared else "schema: can be made the agent's own")
        if not options.dry_run and not slug:
            return
        chosen = workload_of(slug, WORKLOADS[slug].version) if slug else None
        parts = list(planned(chosen, server, dirs.engines, factors)) if chosen else []
        asked, first = ([f"{sql};" for sql in listed] for listed in (server.asked, prepared))
        for phase, lines in [("\nasked of the server", asked), ("before a run", first), *parts]:
            print(f"{phase}:")
            for line in lines or ["(nothing)"]:
                print(f"  {line}")


def _factors(options: argparse.Namespace, slug: str | None) -> dict[str, str]:
    """Raises `JobError` for one that the workload has not."""
    names = {factor.name for factor in WORKLOADS[slug].factors} if slug else set()
    pairs = [(name, value) for name, _, value in (pair.partition("=") for pair in options.factors)]
    try:
        given = by_name("--factor", pairs)
    except ValueError as error:
        raise JobError(str(error)) from error
    if wrong := [pair for pair in options.factors if "=" not in pair] + [name for name in given if name not in names]:
        there = ", ".join(sorted(names)) or "none without --workload"
        raise JobError(f"--factor {wrong[0]}: has to be NAME=VALUE; the factors are: {there}")
    return {**given, "script_text": _text_of(options.script)} if options.script else given


def _text_of(script: str) -> str:
    try:
        return Path(script).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise JobError(f"--script {script}: cannot be read: {error}") from None


def _clean(options: argparse.Namespace, dirs: AgentDirs) -> None:
    with _visited(options.name, dirs) as server:
        count = server.drop_own()
        print(f"connection {options.name}: {'nothing was left' if not count else 'what the agent had made is gone'}")


@contextmanager
def _visited(name: str, dirs: AgentDirs) -> Iterator[Visit]:
    """A look at the server, with a folder and processes of its own for as long as it lasts."""
    with tempfile.TemporaryDirectory(dir=dirs.tmp) as made:
        folder = Path(made)
        (folder / "tmp").mkdir()
        children = Children(folder)
        try:
            connections = Connections(dirs.root)
            connection, agent_id = connections.get(name), identity.agent_id(dirs.identity)
            try:
                seen = visit(connection, agent_id, JavaToolchain(dirs.cache), children, folder)
            except JobError as error:
                connections.note_failure(name, str(error).removeprefix(f"connection {name}: "))
                raise
            yield seen
        finally:
            children.kill_all()
