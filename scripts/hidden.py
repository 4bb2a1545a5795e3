"""Run a command where nothing of this machine's databases and Java can be seen: `hidden.py COMMAND ARGUMENT...`

As root on a Debian, in a mount namespace of its own: folders and programs of Java, Maven, Node, PostgreSQL, MariaDB,
Firebird and Redis are hidden, and every shared library but those of Debian's base system and of this Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

INSIDE = "--inside"
UNSHARED = ["unshare", "--mount", "--propagation", "private"]
PROGRAMS = [
    *("java", "javac", "mvn", "node", "npm"),
    *("postgres", "initdb", "pg_ctl", "psql", "pgbench"),
    *("mariadbd", "mysqld", "mariadb", "mysql"),
    *("firebird", "fbguard", "isql-fb", "gbak"),
    *("redis-server", "redis-cli", "valkey-server", "valkey-cli"),
]
FOLDERS = [
    *("/usr/lib/jvm", "/opt/java", "/usr/share/maven"),
    *("/usr/lib/postgresql", "/usr/lib/mysql", "/usr/lib/firebird", "/opt/firebird"),
]
BASE_TOOL = "apt"
TOOLS = ("git", "make", "mount")


def main() -> None:
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    if command[0] != INSIDE:
        os.execvp(UNSHARED[0], [*UNSHARED, sys.executable, __file__, INSIDE, *command])
    with tempfile.TemporaryDirectory(prefix="benchsite-hidden-") as empty:
        hide(Path(empty))  # what is mounted stays when its name is gone
    os.environ.pop("JAVA_HOME", None)
    os.execvp(command[1], command[1:])


def impossible() -> str:
    """Why nothing can be hidden here; empty when it can."""
    if sys.platform != "linux":
        return "mount namespaces are Linux's"
    if os.geteuid() != 0:
        return "hiding programs needs root"
    if absent := [program for program in ("unshare", "git", "ldconfig", "dpkg-query") if shutil.which(program) is None]:
        return f"{' and '.join(absent)} not installed"
    if subprocess.run([*UNSHARED, "true"], capture_output=True, check=False).returncode != 0:
        return "this machine allows no mount namespace"
    return ""


def hide(empty: Path) -> None:
    """Empty folders, and files that nobody can run or load, mounted over what is there. Ends with the namespace."""
    nothing = empty / "not-there"
    nothing.touch(mode=0o644)
    (empty / "folder").mkdir()
    libraries = hidden_libraries()
    for folder in filter(os.path.isdir, FOLDERS):
        bind(empty / "folder", Path(folder))
    for program in PROGRAMS:
        while present := shutil.which(program):
            bind(nothing, Path(os.path.realpath(present)))
    for library in sorted(libraries):
        bind(nothing, library)


def bind(source: Path, target: Path) -> None:
    subprocess.run(["mount", "--bind", str(source), str(target)], check=True)


def hidden_libraries() -> set[Path]:
    """What the linker would find by itself, without what an engine may count on."""
    listed = re.findall(r" => (/\S+)", output("ldconfig", "-p"))
    python = [sys.executable, *Path(sysconfig.get_path("stdlib")).rglob("*.so"), *Path(sys.prefix).rglob("*.so")]
    tools = filter(None, map(shutil.which, TOOLS))
    needed = re.findall(r" => (/\S+)", output("ldd", *map(str, python), *tools))
    return real(listed) - real(needed) - real(output("dpkg-query", "-L", *base_packages()).splitlines())


def base_packages() -> set[str]:
    """What every Debian has: the packages marked so, apt, and what these depend on."""
    fields = "${Package}|${Essential}|${Priority}|${Pre-Depends}, ${Depends}\n"
    lines = output("dpkg-query", "-W", "-f", fields).splitlines()
    depends, waiting = {}, {BASE_TOOL}
    for line in lines:
        package, essential, priority, words = line.split("|", 3)
        depends[package] = set(re.findall(r"(?:^|[,|]) *([a-z0-9][a-z0-9.+-]+)", words))
        if "yes" in essential or priority == "required":
            waiting.add(package)
    base: set[str] = set()
    while waiting:
        base |= waiting
        waiting = set().union(*(depends[package] for package in waiting)) & depends.keys() - base
    return base


def real(paths: Iterable[str]) -> set[Path]:
    return {Path(os.path.realpath(path)) for path in paths}


def output(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout


if __name__ == "__main__":
    main()
