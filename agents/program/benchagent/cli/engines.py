"""The commands `benchagent engines …`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchagent import catalog
from benchagent.cli.commands import Actions, UsageError, print_line
from benchagent.dbms import discover
from benchagent.dbms.base import EngineContext
from benchagent.engines import Engine, catalogue, installed, read_record
from benchagent.engines.install import add_built, download, install, remove
from benchagent.engines.sources import InstallError, apt_update
from benchagent.java import EngineJars, JavaToolchain
from benchagent.paths import AgentDirs

# What is told of what can be added; jars have neither sizes nor a note.
ADDABLE = {"name": "", "dbms": "", "download_bytes": 0, "unpacked_bytes": 0, "licence": "", "why": "", "note": ""}


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    actions = Actions(commands, common, "engines", _list, "the DBMSs of this machine: list, add, remove")
    listing = actions.add("list", _list, "what is here, and what can be added")
    listing.add_argument("--json", action="store_true", help="as JSON")
    adding = actions.add("install", _install, "add engines or drivers, as mysql-5.5.34 or derby-10.6.2.1")
    adding.add_argument("engine", nargs="+")
    adding.add_argument("--from", type=Path, dest="source", metavar="DIR", help="take the files from a folder")
    adding.add_argument("--apt-update", action="store_true", help="as root: fetch apt's package lists first")
    built = actions.add("add", _add, "add a server that you have built: PostgreSQL, MySQL or MariaDB")
    built.add_argument("folder", type=Path, metavar="DIR", help="what `make install` made; it is copied")
    words = "what the server says of itself, and what tells this build apart, as 18.6-f3eb639a"
    built.add_argument("--version", type=_version, required=True, metavar="TEXT", help=words)
    fetching = actions.add("fetch", _fetch, "only download the files, to carry them to a machine without a network")
    fetching.add_argument("engine", nargs="+")
    fetching.add_argument("--to", type=Path, required=True, metavar="DIR")
    removing = actions.add("remove", _remove, "delete engines that were added")
    removing.add_argument("engine", nargs="+")


# What there is


def _list(options: argparse.Namespace, dirs: AgentDirs) -> None:
    listing = inventory(JavaToolchain(dirs.cache), dirs)
    if options.json:
        print(json.dumps(listing, indent=1, ensure_ascii=False))
        return
    for facts in listing["found"]:
        state = "available" if facts["available"] else f"not available: {facts['reason']}"
        print(f"{catalog.DBMSS[facts['dbms']].name} {facts['version']}  {facts['path']}  {state}")
    if listing["installed"]:
        print("\ninstalled by this agent (`benchagent engines remove NAME` deletes one):")
    for entry in listing["installed"]:
        words = f"{entry['name']}  {entry['version']}  {entry['size_bytes'] / 1e6:.0f} MB  {entry['licence']}"
        print("  " + "  ".join(part for part in (words, entry["path"], entry["note"]) if part))
    print("\ncan be added with `benchagent engines install NAME`:")
    for entry in listing["can_be_added"]:
        sizes = f"{entry['download_bytes'] / 1e6:.0f} MB" if entry["download_bytes"] else "jars"
        print(f"  {entry['name']}  {sizes}  {entry['licence']}  {entry['why']}".rstrip())


def inventory(toolchain: JavaToolchain, dirs: AgentDirs) -> dict[str, list[dict[str, Any]]]:
    """`found`: engines that runs can use. `installed`: trees below STATE/engines. `can_be_added`: the rest."""
    marks = frozenset(mark.name for mark in dirs.engines.iterdir())
    rest: list[Engine | EngineJars] = [
        *(engine for name, engine in catalogue().items() if not read_record(dirs.engines / name)),
        *(group for group in toolchain.engine_groups() if not group.default and group.name not in marks),
    ]
    return {
        "found": [dict(facts) for facts in discover(EngineContext(toolchain, marks, dirs.jobs, dirs.engines))],
        "installed": [
            {
                "name": engine.name,
                "dbms": engine.dbms,
                "version": engine.version,
                "path": str(engine.home),
                "size_bytes": sum(path.lstat().st_size for path in engine.home.rglob("*") if not path.is_dir()),
                "licence": engine.record.get("licence", ""),
                "note": engine.record.get("note", ""),
            }
            for engine in installed(dirs.engines)
        ],
        "can_be_added": [{name: getattr(each, name, none) for name, none in ADDABLE.items()} for each in rest],
    }


# Adding and removing


def _install(options: argparse.Namespace, dirs: AgentDirs) -> None:
    toolchain = JavaToolchain(dirs.cache)
    names = _named(options, toolchain)
    if options.apt_update:
        apt_update()
    for name in names:
        if name in catalogue():
            engine = catalogue()[name]
            made = install(engine, dirs.engines, print_line, options.source)
            for driver in engine.drivers:
                _fetch_jars(driver, toolchain, options.source)
            print(f"{name}: {catalog.DBMSS[made.dbms].name} {made.version} is in {made.home}")
        else:
            group = _fetch_jars(name, toolchain, options.source)
            if not group.driver:
                toolchain.prepare([group], print_line)
            (dirs.engines / name).touch()
            print(f"{name} added")


def _version(text: str) -> str:
    if not re.fullmatch(r"\d[\w.+-]{0,79}", text):
        raise argparse.ArgumentTypeError("begin with a digit; letters, digits and . _ + - may follow")
    return text


def _add(options: argparse.Namespace, dirs: AgentDirs) -> None:
    made = add_built(options.folder, options.version, dirs.engines)
    print(f"{made.name}: {catalog.DBMSS[made.dbms].name} {made.version} is in {made.home}")


def _fetch(options: argparse.Namespace, dirs: AgentDirs) -> None:
    toolchain = JavaToolchain(dirs.cache)
    for name in _named(options, toolchain):
        groups = [name]
        if name in catalogue():
            download(catalogue()[name], options.to, print_line)
            groups = list(catalogue()[name].drivers)
        options.to.mkdir(parents=True, exist_ok=True)
        for group in (_jar_group(part, toolchain) for part in groups):
            for jar, path in zip(group.jars, toolchain.store.files(group.jars, print_line), strict=True):
                (options.to / jar.file_name).write_bytes(path.read_bytes())
        print(f"the files of {name} are in {options.to}")


def _remove(options: argparse.Namespace, dirs: AgentDirs) -> None:
    here = [path.name for path in dirs.engines.glob("[!.]*")]  # also what is no longer in the list
    for name in _named(options, JavaToolchain(dirs.cache), also=here):
        mark = dirs.engines / name
        if mark.is_file():
            mark.unlink()
        elif not remove(name, dirs.engines):
            raise InstallError(f"{name} is not installed")
        print(f"{name} removed")


def _named(options: argparse.Namespace, toolchain: JavaToolchain, *, also: Sequence[str] = ()) -> list[str]:
    """The engines that were named, looked at before anything is done. Raises `UsageError`."""
    names = list(dict.fromkeys([*catalogue(), *(group.name for group in toolchain.engine_groups()), *also]))
    if wrong := [name for name in options.engine if name not in names]:
        raise UsageError(f"no engine {wrong[0]!r}; there are: {', '.join(names)}")
    return list(options.engine)


def _jar_group(name: str, toolchain: JavaToolchain) -> EngineJars:
    return next(group for group in toolchain.engine_groups() if group.name == name)


def _fetch_jars(name: str, toolchain: JavaToolchain, source: Path | None) -> EngineJars:
    group = _jar_group(name, toolchain)
    if source is not None:
        toolchain.store.adopt(group.jars, source)
    toolchain.store.files(group.jars, print_line)
    return group
